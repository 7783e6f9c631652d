//! Types, gate, deposit, bind and summary check.
//!
//! The question this crate answers: *may this span be shortened, and what must hold before it is?*
//!
//! It knows spans, classes, pointers, receipts and the truth table between them. It does not know files,
//! clocks, randomness, JSON, vendors, shells or SQL: everything outside comes in through [`vault::Vault`],
//! [`vault::Registry`] and [`transcript::Bytes`].
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

pub mod error;

pub mod parallel;

pub mod digest;
pub mod range;
pub mod time;

pub mod transcript;

pub mod span;

pub mod evidence;

pub mod policy;

pub mod vault;

pub mod pointer;

pub mod index;

pub mod gate;

pub mod plan;

pub mod deposit;

pub mod judge;

pub mod summary;

pub mod bind;

pub mod compacted;
