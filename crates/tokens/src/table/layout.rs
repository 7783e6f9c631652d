//! The layout of the vocabulary, which the build script writes and the counter reads.
//!
//! A slot is 16 bytes, little-endian: the key of a token, its rank and length in one number, and its place among the
//! bytes of long tokens. Up to eight bytes are their own key. Of longer tokens the key is a hash, so that their bytes
//! are compared too. A token stands in the first free slot from its home on.

use std::ops::Range;

/// The number of slots; some 200,000 are taken, so that most searches look into one.
pub(crate) const SLOTS: usize = 1 << 19;

/// The bytes of a slot.
pub(crate) const SLOT: usize = 16;

/// Tokens of up to this many bytes are their own key.
pub(crate) const SHORT: usize = 8;

/// An odd number without pattern, by which a product spreads its factor over the upper bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Up to eight bytes of `bytes` as a number, zeros behind them.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The key of the word `at` in `text`.
pub(crate) fn key(text: &[u8], at: &Range<usize>) -> u64 {
    if at.len() > SHORT {
        return long_key(text.get(at.clone()).unwrap_or_default());
    }
    // Eight bytes are read at once where there are as many, and those behind the word dropped.
    match text.get(at.start..at.start + SHORT).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) if !at.is_empty() => u64::from_le_bytes(*bytes) & (u64::MAX >> (64 - 8 * at.len())),
        _ => word(text.get(at.clone()).unwrap_or_default()),
    }
}

fn long_key(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<SHORT>();
    let words = words.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let mixed = words.fold(0, |key: u64, word| (key ^ word).wrapping_mul(SPREAD).rotate_left(29));
    (mixed ^ word(rest)).wrapping_mul(SPREAD)
}

/// The slot at which the search for a key begins.
pub(crate) fn home(key: u64, len: usize) -> usize {
    let mixed = (key ^ key >> 32).wrapping_add(len as u64).wrapping_mul(SPREAD);
    ((mixed >> 40) as usize) % SLOTS
}
