//! What the fold form has in common: which blocks are carried over, and how lines are appended.

use std::collections::{BTreeSet, HashMap};

use strongroom_core::error::{Error, Result};
use strongroom_core::span::{GroupIndex, Segmentation, SpanIndex, in_context};
use strongroom_core::transcript::{BlockRef, SourceIndex};

use crate::elide::unpaired;
use crate::format::Edit;

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

/// The start of the output: the input, with a final line feed.
pub(crate) fn open_end(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out
}

/// Refuses a result that breaks more rules than its input did.
///
/// # Errors
/// `Bug`, naming the rule.
pub(crate) fn check_rules(before: &SourceIndex, after: &SourceIndex) -> Result<()> {
    let (old, new) = (unpaired(before), unpaired(after));
    match new.iter().find(|(rule, count)| old.get(*rule).copied().unwrap_or(0) < **count) {
        Some((rule, count)) => Err(Error::bug(format!("the compacted session has {count} {rule}"))),
        None => Ok(()),
    }
}
