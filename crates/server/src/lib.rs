//! Evidence questions over the Model Context Protocol.
//!
//! The question this crate answers: *how do a question and an answer travel over MCP?*
//!
//! It knows tools, their parameters, the size of an answer and two transports. It does not know transcripts, storage,
//! the terminal, the clock or the environment: a [`strongroom::desk::Desk`] comes in ready, and so do address and
//! token.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

mod words;

mod params;

mod reply;

mod tools;

mod handler;

pub mod serve;

pub use handler::Evidence;
