//! Which bytes a mask hides: every rendition of an event, not only the one it was made for.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Block, BlockRef, Bytes, SourceIndex};

use crate::content::{raw_range, text};
use crate::format::{Edit, Mask};
use crate::json::{decode, write_escaped};

/// The masks of an edit, by the event they hide a part of: each applies to every rendition of it.
#[derive(Debug)]
pub(crate) struct Masks<'e> {
    by_event: BTreeMap<BlockRef, Vec<(BlockRef, &'e Mask)>>,
}

impl<'e> Masks<'e> {
    /// Finds the block that each mask was made for.
    pub(crate) fn new(index: &SourceIndex, edit: &'e Edit) -> Self {
        let mut by_event: BTreeMap<BlockRef, Vec<(BlockRef, &'e Mask)>> = BTreeMap::new();
        for mask in &edit.masks {
            let at = index.records.partition_point(|record| record.range.end() <= mask.range.start());
            let blocks = index.records.get(at).map(|record| record.blocks.as_slice()).unwrap_or_default();
            for (block, n) in blocks.iter().zip(0u32..).filter(|(block, _)| block.range.contains(mask.range))
            {
                let own = BlockRef { record: u32::try_from(at).unwrap_or(u32::MAX), block: n };
                by_event.entry(block.copy_of.unwrap_or(own)).or_default().push((own, mask));
            }
        }
        Self { by_event }
    }

    /// The masks of the block `at`, with the ranges they have there.
    ///
    /// # Errors
    /// As [`Bytes::read`].
    pub(crate) fn of(&self, source: &dyn Bytes, index: &SourceIndex, at: BlockRef) -> Result<Vec<Mask>> {
        let Some(block) = index.block(at) else { return Ok(Vec::new()) };
        let known = self.by_event.get(&block.copy_of.unwrap_or(at)).map(Vec::as_slice).unwrap_or_default();
        let mut masks = Vec::new();
        for (made_for, mask) in known {
            let Some(other) = index.block(*made_for) else { continue };
            let ranges =
                if *made_for == at { vec![mask.range] } else { translate(source, other, block, mask.range)? };
            let hide = |range| Mask { range, replacement: mask.replacement.clone() };
            masks.extend(ranges.into_iter().map(hide));
        }
        Ok(masks)
    }
}

/// The places in `to` of what stands at `range` in `from`, another rendition of the same event.
fn translate(source: &dyn Bytes, from: &Block, to: &Block, range: ByteRange) -> Result<Vec<ByteRange>> {
    if source.read(from.range)? == source.read(to.range)? {
        let offset = range.start() - from.range.start();
        return Ok(vec![ByteRange::new(offset, offset + range.len()).shifted(to.range.start())]);
    }
    for (one, two) in from.text.iter().zip(&to.text).filter(|(one, _)| one.range.contains(range)) {
        let bytes = source.read(one.range)?;
        let raw = |end: u64| ByteRange::new(0, end - one.range.start()).of(&bytes).unwrap_or_default();
        let decoded = decode(raw(range.start())).len()..decode(raw(range.end())).len();
        if text(source, *one)? == text(source, *two)? {
            return Ok(vec![raw_range(source, *two, decoded)?]);
        }
    }
    spelled_alike(source, to, &decode(&source.read(range)?))
}

/// Where `words` stand in `to`, as they are, escaped, or escaped twice.
fn spelled_alike(source: &dyn Bytes, to: &Block, words: &str) -> Result<Vec<ByteRange>> {
    let bytes = source.read(to.range)?;
    let mut found: Vec<ByteRange> = Vec::new();
    let mut needle = words.as_bytes().to_vec();
    for _ in 0..3 {
        let length = u64::try_from(needle.len()).unwrap_or_default();
        let starts = memchr::memmem::find_iter(&bytes, &needle).filter_map(|at| u64::try_from(at).ok());
        let places = starts.map(|at| ByteRange::new(at, at + length).shifted(to.range.start()));
        found.extend(places.filter(|_| length > 0));
        let once = String::from_utf8_lossy(&needle).into_owned();
        needle.clear();
        write_escaped(&mut needle, &once);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
