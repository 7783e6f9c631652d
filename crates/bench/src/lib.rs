//! `EvidenceBench`: questions with gold answers, and what compactors answer to them.
//!
//! The question this crate answers: *after a compaction, what can still be proved, and who says something that is
//! not so?*
//!
//! It makes questions from the fields of the agents' own JSON and from patterns of its own. It shares no parser, no
//! extractor and no classifier with what it measures; Strongroom is reached through its public interface, and only
//! to answer. No clock, no randomness: the same transcripts and the same seed give the same questions, byte for byte.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

pub mod seed;

pub mod leaf;

pub mod session;

pub mod read;

pub mod question;

mod phrases;

pub mod family;

pub mod variant;

pub mod corpus;

pub mod budget;

pub mod tokens;

pub mod reply;

pub mod product;

pub mod score;

pub mod messages;

pub mod literal;

pub mod baseline;

mod loss;

pub mod protocol;

pub mod compactor;

pub mod decay;

pub mod run;

pub mod tally;

pub mod report;

pub mod plot;

pub mod judge;
