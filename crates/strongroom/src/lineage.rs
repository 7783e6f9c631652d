//! Lineage: from a compacted transcript back to the record of the compaction that made it.
//!
//! A tag, a hash or a neighbour in the transcript is only a key to look up. What is believed is the archive's
//! record, and only when the spans it kept stand in the transcript too: a pointer pasted from another session
//! leads nowhere.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};
use strongroom_core::digest::{ContentKey, Digest, Tag};
use strongroom_core::error::Result;
use strongroom_core::pointer::{Pointer, find_in};
use strongroom_core::span::{SpanIndex, SpanKind};
use strongroom_core::summary::{FIRST_WORDS, OPENING};
use strongroom_core::transcript::Speaker;
use strongroom_core::vault::{CompactionRecord, Registry};

use crate::reading::DecodedSpan;

/// What a transcript holds of an earlier compaction of ours.
#[derive(Debug, Default)]
pub struct Traced {
    /// The newest compaction found, with its marks in the transcript.
    pub lineage: Option<Lineage>,
    /// Summaries without a record here: foreign ones, and text that looks like ours.
    pub unknown_summaries: Vec<SpanIndex>,
}

/// An earlier compaction and its marks.
#[derive(Debug)]
pub struct Lineage {
    /// The record.
    pub record: CompactionRecord,
    /// The spans that are its summary, or an older one of ours.
    pub summaries: BTreeSet<SpanIndex>,
    /// Spans whose content was replaced by a stub, with the pointer to the original.
    pub stubs: BTreeMap<SpanIndex, Pointer>,
    /// Spans that were kept, and so stand in the compacted source too.
    pub kept: BTreeSet<SpanIndex>,
}

/// The text that stands in place of a reclaimed content.
pub fn stub(ordinal: u32) -> String {
    format!("{OPENING}#{ordinal}")
}

fn read_stub(text: &str) -> Option<u32> {
    text.strip_prefix(OPENING)?.strip_prefix('#')?.parse().ok()
}

/// Looks for the newest compaction of ours in the spans of a transcript.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub fn trace(spans: &[DecodedSpan<'_>], registry: &dyn Registry) -> Result<Traced> {
    let summaries: Vec<&DecodedSpan<'_>> = spans.iter().filter(|span| may_be_summary(span)).collect();
    let mut found: Vec<(CompactionRecord, Option<SpanIndex>)> = Vec::new();
    let mut unknown = Vec::new();
    for span in &summaries {
        match record_of(span, registry)? {
            Some(record) if is_of(&record, spans) => found.push((record, Some(span.index()))),
            _ => unknown.push(span.index()),
        }
    }
    let marked = !unknown.is_empty() || spans.iter().any(|span| stub_in(span).is_some());
    if found.is_empty() && marked {
        found.extend(record_by_neighbours(spans, registry)?.map(|record| (record, None)));
    }
    found.sort_by_key(|(record, _)| record.generation);
    let Some((record, _)) = found.last().cloned() else {
        return Ok(Traced { lineage: None, unknown_summaries: unknown });
    };
    let summaries: BTreeSet<SpanIndex> = found.iter().filter_map(|&(_, at)| at).collect();
    let (kept, stubs) = marks(spans, &record, &summaries);
    Ok(Traced { lineage: Some(Lineage { record, summaries, stubs, kept }), unknown_summaries: unknown })
}

/// A summary by its envelope, or prose that opens exactly like one of ours.
pub fn may_be_summary(span: &DecodedSpan<'_>) -> bool {
    match span.kind() {
        SpanKind::Derived => true,
        SpanKind::Utterance => {
            let blocks = &span.content.blocks;
            blocks
                .iter()
                .any(|block| block.block.speaker == Speaker::User && block.text.starts_with(FIRST_WORDS))
        }
        SpanKind::Thinking
        | SpanKind::Call
        | SpanKind::OrphanResult
        | SpanKind::Attachment
        | SpanKind::Meta
        | SpanKind::Opaque => false,
    }
}

/// The number of the stub that stands in `span`. Words of the user are never replaced, so never a stub.
pub fn stub_in(span: &DecodedSpan<'_>) -> Option<u32> {
    let mut replaceable = span.content.blocks.iter().filter(|block| block.block.speaker != Speaker::User);
    replaceable.find_map(|block| read_stub(&block.text))
}

fn record_of(span: &DecodedSpan<'_>, registry: &dyn Registry) -> Result<Option<CompactionRecord>> {
    let mut tags: Vec<Tag> = Vec::new();
    for block in &span.content.blocks {
        tags.extend(registry.by_summary(Digest::of(block.text.as_bytes()))?);
        if block.text.starts_with(OPENING) {
            tags.extend(find_in(&block.text).into_iter().take(1).map(|pointer| pointer.tag));
        }
    }
    for tag in tags {
        if let Some(record) = registry.by_tag(tag)? {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// Whether at least half of the spans that `record` kept stand in the transcript.
fn is_of(record: &CompactionRecord, spans: &[DecodedSpan<'_>]) -> bool {
    let keys: BTreeSet<ContentKey> = spans.iter().map(|span| span.key).collect();
    let present = record.neighbours.iter().filter(|key| keys.contains(key)).count();
    2 * present >= record.neighbours.len()
}

/// A record by the spans around a lost summary. A transcript in which a reclaimed span still stands was not made by
/// that compaction: it is what was compacted.
fn record_by_neighbours(
    spans: &[DecodedSpan<'_>],
    registry: &dyn Registry,
) -> Result<Option<CompactionRecord>> {
    let context = spans.iter().filter(|span| span.in_context());
    let keys: Vec<ContentKey> = context.map(|span| span.key).collect();
    let all: BTreeSet<ContentKey> = spans.iter().map(|span| span.key).collect();
    for (tag, _) in registry.by_neighbours(&keys)? {
        if let Some(record) = registry.by_tag(tag)?
            && !record.neighbours.is_empty()
            && !record.spans.iter().any(|span| all.contains(&span.content))
            && is_of(&record, spans)
        {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// Finds the kept spans and the stubs between them. Both lists are in order, so their longest common part is what was
/// kept. A stub counts only before the last kept span: what came after the compaction cannot have been replaced
/// by it.
fn marks(
    spans: &[DecodedSpan<'_>],
    record: &CompactionRecord,
    summaries: &BTreeSet<SpanIndex>,
) -> (BTreeSet<SpanIndex>, BTreeMap<SpanIndex, Pointer>) {
    let context: Vec<&DecodedSpan<'_>> =
        spans.iter().filter(|span| span.in_context() && !summaries.contains(&span.index())).collect();
    let keys: Vec<ContentKey> = context.iter().map(|span| span.key).collect();
    let mut kept = BTreeSet::new();
    for operation in capture_diff_slices(Algorithm::Myers, &record.neighbours, &keys) {
        if let DiffOp::Equal { new_index, len, .. } = operation {
            kept.extend(context.iter().skip(new_index).take(len).map(|span| span.index()));
        }
    }
    let known: BTreeSet<u32> = record.spans.iter().map(|span| span.ordinal).collect();
    let last = kept.last().copied();
    let before = |span: &&&DecodedSpan<'_>| {
        record.neighbours.is_empty() || last.is_some_and(|last| span.index() < last)
    };
    let stubs = context
        .iter()
        .filter(before)
        .filter(|span| !kept.contains(&span.index()))
        .filter_map(|span| {
            let ordinal =
                stub_in(span).or_else(|| stub_inside(span)).filter(|ordinal| known.contains(ordinal))?;
            Some((span.index(), Pointer { tag: record.tag, ordinal: Some(ordinal) }))
        })
        .collect();
    (kept, stubs)
}

/// The number of a stub that stands in place of a paste, inside words of the user.
fn stub_inside(span: &DecodedSpan<'_>) -> Option<u32> {
    span.content.blocks.iter().find_map(|block| {
        let rest = block.text.split(OPENING).nth(1)?.strip_prefix('#')?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    })
}
