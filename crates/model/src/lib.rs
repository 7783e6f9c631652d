//! Summarisers elsewhere: a command, or a model behind an endpoint.
//!
//! The question this crate answers: *how does a request for prose get there, and how does a draft come back?*
//!
//! It waits no longer and reads no more than its limits say. It knows no transcript, no archive, no terminal and no
//! environment: commands, addresses and keys are arguments, and a key stands in nothing that it says.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

pub mod limits;

pub mod key;

pub mod command;

mod events;

pub mod dialect;

pub mod endpoint;
