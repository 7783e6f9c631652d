//! JSON with byte offsets: a tolerant scanner that writes a flat tape.
//!
//! The scanner never recurses and never allocates per value: it walks the bytes once and notes, for every value,
//! its kind, its byte range and where its next sibling stands. It accepts what real transcripts hold and strict
//! readers refuse: `NaN`, `Infinity`, lone surrogate escapes, integers of any size, duplicate keys.

mod scan;
mod string;
mod value;

pub use scan::{DEPTH_MAX, Damage, Oddity, Reason, Tape, VALUES_MAX};
pub(crate) use string::Offsets;
pub use string::{decode, decode_plain, raw_within, write_escaped, write_string};
pub use value::{Kind, Value};

#[cfg(test)]
mod tests;
