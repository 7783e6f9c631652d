//! The blocks of a word: distances between them, or a bit for each block, whichever is shorter.

use crate::blocks::{Blocks, row_bytes};
use crate::wire;

/// Appends the blocks of a word, in order, of `count` blocks there are.
pub(crate) fn put(out: &mut Vec<u8>, blocks: &[u32], count: u32) {
    let mut distances = Vec::new();
    let mut next = 0;
    for &block in blocks {
        wire::put(&mut distances, u64::from(block - next));
        next = block + 1;
    }
    let is_row = distances.len() > row_bytes(count);
    if is_row {
        let mut row = Blocks::none(count);
        blocks.iter().for_each(|&block| row.insert(block));
        distances = row.row().to_vec();
    }
    wire::put(out, u64::try_from(distances.len()).unwrap_or(u64::MAX) << 1 | u64::from(is_row));
    out.extend(distances);
}

/// The blocks of a word as they stand.
#[derive(Clone, Copy)]
pub(crate) enum Posting<'s> {
    Distances(&'s [u8]),
    Row(&'s [u8]),
}

/// Takes the blocks of a word from the front of `bytes`.
pub(crate) fn take<'s>(bytes: &mut &'s [u8]) -> Option<Posting<'s>> {
    let head = wire::take(bytes)?;
    let len = usize::try_from(head >> 1).ok()?;
    let (own, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(if head & 1 == 1 { Posting::Row(own) } else { Posting::Distances(own) })
}

impl Posting<'_> {
    /// Adds the blocks to `found`.
    pub(crate) fn add_to(self, found: &mut Blocks) {
        match self {
            Self::Row(row) => found.extend(row),
            Self::Distances(mut bytes) => {
                let mut next = 0u32;
                while let Some(distance) = wire::take(&mut bytes).and_then(|own| u32::try_from(own).ok()) {
                    let block = next.saturating_add(distance);
                    found.insert(block);
                    next = block.saturating_add(1);
                }
            }
        }
    }
}
