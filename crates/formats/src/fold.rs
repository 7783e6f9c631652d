//! What the fold form has in common: which blocks are carried over, and how lines are appended.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::{GroupIndex, Segmentation, SpanIndex, in_context};
use strongroom_core::transcript::{Block, BlockRef, Bytes, SourceIndex, Visibility};

use crate::content::{raw_range, text};
use crate::elide::{answered_id, call_id};
use crate::format::{Edit, Mask};
use crate::json::decode;

/// Which blocks are carried over behind the boundary.
#[derive(Debug)]
pub(crate) struct Kept {
    groups: BTreeSet<GroupIndex>,
    group_of: HashMap<BlockRef, GroupIndex>,
}

impl Kept {
    /// A group goes only as a whole: where one of its spans is kept, all are.
    pub(crate) fn new(index: &SourceIndex, spans: &Segmentation, edit: &Edit) -> Self {
        let reclaimed = edit.reclaimed.iter().map(|(span, _)| *span);
        let gone: BTreeSet<SpanIndex> = reclaimed.chain(edit.replaced_summaries.iter().copied()).collect();
        let stays = spans.spans.iter().filter(|span| in_context(index, span) && !gone.contains(&span.index));
        let groups = stays.map(|span| span.group).collect();
        let all = spans.spans.iter().flat_map(|span| span.blocks.iter().map(|&at| (at, span.group)));
        Self { groups, group_of: all.collect() }
    }

    /// Whether the block `at`, which would be sent, is carried over.
    pub(crate) fn keeps(&self, at: BlockRef) -> bool {
        self.group_of.get(&at).is_some_and(|group| self.groups.contains(group))
    }
}

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
            let range =
                if *made_for == at { Some(mask.range) } else { translate(source, other, block, mask.range)? };
            masks.extend(range.map(|range| Mask { range, replacement: mask.replacement.clone() }));
        }
        Ok(masks)
    }
}

/// The place in `to` of what stands at `range` in `from`, another rendition of the same event.
fn translate(source: &dyn Bytes, from: &Block, to: &Block, range: ByteRange) -> Result<Option<ByteRange>> {
    if source.read(from.range)? == source.read(to.range)? {
        let offset = range.start() - from.range.start();
        return Ok(Some(ByteRange::new(offset, offset + range.len()).shifted(to.range.start())));
    }
    for (one, two) in from.text.iter().zip(&to.text).filter(|(one, _)| one.range.contains(range)) {
        let bytes = source.read(one.range)?;
        let raw = |end: u64| ByteRange::new(0, end - one.range.start()).of(&bytes).unwrap_or_default();
        let decoded = decode(raw(range.start())).len()..decode(raw(range.end())).len();
        if text(source, *one)? == text(source, *two)? {
            return raw_range(source, *two, decoded).map(Some);
        }
    }
    Ok(None)
}

/// The start of the output: the input, with a final line feed.
pub(crate) fn open_end(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out
}

/// Counts calls without a result and results without a call in what would be sent.
pub(crate) fn violations(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
    let mut called: BTreeMap<&str, usize> = BTreeMap::new();
    let mut answered: BTreeSet<&str> = BTreeSet::new();
    for (_, block) in index.blocks().filter(|(_, block)| block.visibility != Visibility::Aside) {
        answered.extend(answered_id(block));
    }
    let mut found = BTreeMap::from([("calls without a result", 0), ("results without a call", 0)]);
    let mut count = |rule| *found.entry(rule).or_default() += 1;
    for (_, block) in index.blocks().filter(|(_, block)| block.visibility == Visibility::Context) {
        if let Some(id) = call_id(block) {
            *called.entry(id).or_default() += 1;
            if !answered.contains(id) {
                count("calls without a result");
            }
        }
        if answered_id(block).is_some_and(|id| !called.contains_key(id)) {
            count("results without a call");
        }
    }
    found
}

/// Refuses a result that breaks more rules than its input did.
///
/// # Errors
/// `Bug`, naming the rule.
pub(crate) fn check_rules(before: &SourceIndex, after: &SourceIndex) -> Result<()> {
    let (old, new) = (violations(before), violations(after));
    match new.iter().find(|(rule, count)| old.get(*rule).copied().unwrap_or(0) < **count) {
        Some((rule, count)) => Err(Error::bug(format!("the compacted session has {count} {rule}"))),
        None => Ok(()),
    }
}
