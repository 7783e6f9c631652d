//! *Which blocks of text can hold these bytes?* An index that passes over most blocks and never one that holds them.
//!
//! ```text
//! texts of a block --words, grams--> Builder --> Segment --bytes--> Segment      needle --> candidate blocks
//! ```
//!
//! A segment knows two things of each block: its words, and a hash of every run of four bytes. A block that lacks one
//! of a needle's words or runs does not hold the needle; what is left has to be read. It knows blocks by number and
//! carries a note for each, whose meaning is its user's: nothing here knows of transcripts, archives or files.

mod blocks;

pub mod wire;

mod words;

mod grams;

mod postings;

mod vocabulary;

mod segment;

mod build;

mod merge;

pub use blocks::Blocks;
pub use build::Builder;
pub use merge::{Part, merge};
pub use segment::{Damaged, Segment};
