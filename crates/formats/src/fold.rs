//! What the fold form has in common: which blocks are carried over, and how lines are appended.

use std::collections::{BTreeSet, HashMap};

use strongroom_core::error::{Error, Result};
use strongroom_core::span::{GroupIndex, Segmentation, SpanIndex, in_context};
use strongroom_core::transcript::{BlockRef, Bytes, Record, SourceIndex, Visibility};

use crate::elide::{literal, unpaired};
use crate::format::Edit;
use crate::json::Tape;
use crate::patch::Patch;

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

/// Whether any part of the record would be sent.
pub(crate) fn is_sent(record: &Record) -> bool {
    record.blocks.iter().any(|block| block.visibility == Visibility::Context)
}

/// The time of the last line that has one, as it is spelled.
///
/// # Errors
/// As [`Bytes::read`].
pub(crate) fn last_time(source: &dyn Bytes, index: &SourceIndex) -> Result<Vec<u8>> {
    let timed = index.records.iter().rev().find(|record| record.time.is_some());
    let Some(record) = timed else { return Ok(br#""1970-01-01T00:00:00.000Z""#.to_vec()) };
    let line = source.read(record.range)?;
    let mut tape = Tape::new();
    tape.scan(&line).map_err(|damage| Error::bug(format!("a line that was read before: {damage}")))?;
    let time = tape.root(&line, 0).and_then(|value| value.get("timestamp"));
    Ok(time.map(|time| time.raw().to_vec()).unwrap_or_default())
}

/// A log whose first line, of the type `kind`, names at the first of `paths` what `rename` makes of the old name, and
/// at the others too where they say the same.
///
/// # Errors
/// `InvalidInput` when the first line is no such line.
pub(crate) fn renamed_in_first_line(
    log: &[u8],
    kind: &str,
    paths: &[&[&str]],
    rename: &dyn Fn(&str) -> String,
) -> Result<Vec<u8>> {
    let missing = || Error::invalid_input(format!("a log whose first line is no {kind} cannot be resumed"));
    let end = memchr::memchr(b'\n', log).unwrap_or(log.len());
    let line = log.get(..end).unwrap_or_default();
    let mark = if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let text = line.get(mark..).unwrap_or_default();
    let mut tape = Tape::new();
    tape.scan(text).map_err(|damage| missing().caused_by(damage.to_string()))?;
    let root = tape.root(text, u64::try_from(mark).unwrap_or_default()).ok_or_else(missing)?;
    let root = root.get("type").filter(|own| own.is(kind)).and(Some(root)).ok_or_else(missing)?;
    let name = paths.first().and_then(|path| root.path(path)).ok_or_else(missing)?;
    let renamed = literal(&rename(&name.string().unwrap_or_default()));
    let mut patch = Patch::default();
    for own in paths.iter().filter_map(|path| root.path(path)).filter(|own| own.raw() == name.raw()) {
        patch.replace(own.range(), renamed.clone());
    }
    Ok(patch.apply(log, 0))
}
