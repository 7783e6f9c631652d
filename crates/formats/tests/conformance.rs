//! What every format must hold: total reading, cover, identity, legal splices, attribution from the envelope.

#[path = "conformance/corpus.rs"]
mod corpus;
#[path = "conformance/reading.rs"]
mod reading;
#[path = "conformance/splicing.rs"]
mod splicing;
