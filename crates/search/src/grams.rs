//! Runs of four bytes, each by a hash: a row of blocks for every value of the hash.

use crate::blocks::{Blocks, row_bytes};

/// The bits of the hash.
const HASH_BITS: u32 = 15;

/// How many values the hash has.
pub(crate) const ROWS: usize = 1 << HASH_BITS;

/// The length of a run.
const RUN_BYTES: usize = 4;

/// A longer needle is known by the runs at its beginning.
const RUNS_MAX: usize = 512;

/// The hash of every run of `text`, in order.
fn hashes(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut run = 0u32;
    let all = text.iter().map(move |byte| {
        run = (run << 8) | u32::from(*byte);
        (run.wrapping_mul(0x9e37_79b1) >> (u32::BITS - HASH_BITS)) as usize
    });
    all.skip(RUN_BYTES - 1)
}

/// The runs of one block, a bit for each value of the hash.
#[derive(Debug, Clone)]
pub(crate) struct BlockGrams(Vec<u64>);

impl BlockGrams {
    pub(crate) fn new() -> Self {
        Self(vec![0; ROWS / 64])
    }

    pub(crate) fn add(&mut self, text: &[u8]) {
        for hash in hashes(text) {
            if let Some(word) = self.0.get_mut(hash / 64) {
                *word |= 1 << (hash % 64);
            }
        }
    }

    /// The values that occur.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let of_word = |(word, first): (u64, usize)| ones(word).map(move |bit| first + bit);
        self.0.iter().copied().zip((0..).step_by(64)).flat_map(of_word)
    }
}

/// The places of the bits that are set.
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(at)
    })
}

/// The rows of `blocks`, one after the other.
pub(crate) fn rows(blocks: &[BlockGrams]) -> Vec<u8> {
    let count = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
    let width = row_bytes(count);
    let mut rows = vec![0; ROWS * width];
    for (at, block) in blocks.iter().enumerate() {
        for hash in block.iter() {
            if let Some(byte) = rows.get_mut(hash * width + at / 8) {
                *byte |= 1 << (at % 8);
            }
        }
    }
    rows
}

/// Copies the rows `from`, of so many blocks, into the rows `to`, where block `n` is `place(n)` now, if it is there.
pub(crate) fn copy(from: (&[u8], u32), to: &mut [u8], to_count: u32, place: &[Option<u32>]) {
    let (from_width, to_width) = (row_bytes(from.1), row_bytes(to_count));
    if from_width == 0 || to_width == 0 {
        return;
    }
    for (old, new) in from.0.chunks_exact(from_width).zip(to.chunks_exact_mut(to_width)) {
        for (byte, first) in old.iter().zip((0..).step_by(8)) {
            for bit in ones(u64::from(*byte)) {
                let Some(&Some(block)) = place.get(first + bit) else { continue };
                if let Some(byte) = new.get_mut((block / 8) as usize) {
                    *byte |= 1 << (block % 8);
                }
            }
        }
    }
}

/// Keeps those of `kept` that have every run of `needle`.
pub(crate) fn retain(rows: &[u8], count: u32, needle: &[u8], kept: &mut Blocks) {
    let width = row_bytes(count);
    for hash in hashes(needle).take(RUNS_MAX) {
        kept.retain(rows.get(hash * width..(hash + 1) * width).unwrap_or_default());
    }
}
