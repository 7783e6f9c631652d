//! What a span proves, and the answers that follow from it.
//!
//! The question this crate answers: *what does this span prove, and what do all spans together say to a question?*
//!
//! It knows atoms, effects, tool and command tables, the ledger and the query language. It does not know
//! storage, plans or vendors' formats: adapters hand it decoded text and argument trees.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

pub mod content;

pub mod effect;

pub mod place;

pub mod cues;

pub mod atom;

pub mod rules;

pub mod secrets;

pub mod narrative;

pub mod shell;

pub mod commands;

pub mod sql;

pub mod code;

pub mod patch;

pub mod trace;

pub mod tools;

pub mod outcome;

pub mod examine;

pub mod session;

pub mod unions;

pub mod query;

pub mod answer;
