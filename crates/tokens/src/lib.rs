//! *How many tokens is this text?* Counts by `o200k_base`, exactly.
//!
//! ```text
//! text --pieces--> runs that no token crosses --table--> one token, or --merge--> byte pairs
//! ```
//!
//! The vocabulary is a hash table in the program itself, laid out by the build script: nothing is loaded, and a process
//! pays for the pages that its text touches. Which runs no token crosses is a pattern over Unicode general categories,
//! read here by hand; they come from the tables of `regex-syntax`, which the pattern's own definition relies on.

mod class;

mod pieces;

mod table;

mod merge;

use merge::Merger;
use pieces::Pieces;

/// Counts the tokens of `text`, without special tokens: a text that spells one is counted as text.
pub fn count(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut merger = Merger::default();
    Pieces::of(text)
        .map(|piece| if table::rank(bytes, &piece).is_some() { 1 } else { merger.count(bytes, &piece) })
        .sum()
}
