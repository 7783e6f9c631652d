//! What every format must hold: total reading, cover, identity, legal splices, attribution from the envelope.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests stop where something is not as it must be, and say what they skip"
)]

#[path = "conformance/corpus.rs"]
mod corpus;
#[path = "conformance/read_only.rs"]
mod read_only;
#[path = "conformance/reading.rs"]
mod reading;
#[path = "conformance/rules.rs"]
mod rules;
#[path = "conformance/splicing.rs"]
mod splicing;
