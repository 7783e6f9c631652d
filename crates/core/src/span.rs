//! Spans and groups: one event each, cut from the index by vendor-neutral rules.
//!
//! Every byte of a source belongs to exactly one span or to named framing.

use std::collections::BTreeMap;

use crate::range::{ByteRange, RangeSet};
use crate::transcript::{Block, BlockKind, BlockRef, Form, RecordKind, SourceIndex, Visibility};

/// The 0-based number of a span within its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanIndex(pub u32);

/// The number of a group: spans that can only move together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIndex(pub u32);

/// What kind of event a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// Somebody says something.
    Utterance,
    /// Reasoning of the model.
    Thinking,
    /// A call with its results.
    Call,
    /// A result whose call is not in the source.
    OrphanResult,
    /// An image or file.
    Attachment,
    /// A summary.
    Derived,
    /// Settings, progress, titles.
    Meta,
    /// Bytes that could not be read.
    Opaque,
}

/// One event, or a call with its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its place among the spans of the source.
    pub index: SpanIndex,
    /// What it is.
    pub kind: SpanKind,
    /// Its blocks, renditions included, in order of their bytes; empty for records without blocks.
    pub blocks: Vec<BlockRef>,
    /// The index of the record it starts in.
    pub record: u32,
    /// Its bytes.
    pub ranges: RangeSet,
    /// The group it moves with.
    pub group: GroupIndex,
    /// Whether a call in it has no result.
    pub open: bool,
}

/// The spans of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segmentation {
    /// In order of their first byte.
    pub spans: Vec<Span>,
    /// The number of groups.
    pub groups: u32,
}

impl Segmentation {
    /// The span `index`, if there is one.
    pub fn span(&self, index: SpanIndex) -> Option<&Span> {
        self.spans.get(usize::try_from(index.0).ok()?)
    }

    /// Checks that spans and framing cover every byte of `index` exactly once; says what is wrong otherwise.
    ///
    /// # Errors
    /// A sentence naming the first range that is covered twice or not at all.
    pub fn check_cover(&self, index: &SourceIndex) -> Result<(), String> {
        let mut all: Vec<ByteRange> = index.framing.iter().map(|framing| framing.range).collect();
        all.extend(self.spans.iter().flat_map(|span| span.ranges.as_slice()));
        all.retain(|range| !range.is_empty());
        all.sort_unstable();
        let mut at = 0;
        for range in all {
            if range.start() != at {
                return Err(format!("byte {at} is followed by range {range:?}"));
            }
            at = range.end();
        }
        if at == index.len {
            Ok(())
        } else {
            Err(format!("bytes {at}..{} are in no span and no framing", index.len))
        }
    }
}

/// Cuts a source into spans and groups.
pub fn segment(index: &SourceIndex) -> Segmentation {
    let events = Events::collect(index);
    let groups = events.groups(index);
    events.spans(index, &groups)
}

/// Blocks assigned to events; an event becomes a span.
struct Events {
    /// For each block in order: its place and the number of its event.
    assigned: Vec<(BlockRef, usize)>,
    /// For each event: its kind.
    kinds: Vec<SpanKind>,
    /// For each event: a call without a result so far.
    open: Vec<bool>,
}

impl Events {
    fn collect(index: &SourceIndex) -> Self {
        let mut events = Self { assigned: Vec::new(), kinds: Vec::new(), open: Vec::new() };
        let mut places: BTreeMap<BlockRef, usize> = BTreeMap::new();
        let mut calls = Pairing::default();
        for (at, block) in index.blocks() {
            let agent = index.record(at).and_then(|record| record.agent.as_deref());
            let original = block.copy_of.and_then(|original| places.get(&original).copied());
            let event = original.or_else(|| calls.event_of(agent, block)).unwrap_or_else(|| {
                events.kinds.push(kind_of(&block.kind));
                events.open.push(matches!(block.kind, BlockKind::Call(_)));
                events.kinds.len() - 1
            });
            if original.is_none() {
                calls.note(agent, block, event);
                if let (BlockKind::Result(_), Some(open)) = (&block.kind, events.open.get_mut(event)) {
                    *open = false;
                }
            }
            places.insert(at, event);
            events.assigned.push((at, event));
        }
        events
    }

    /// Numbers the groups: events of one message that hold calls, and in the fold form all events of a record.
    fn groups(&self, index: &SourceIndex) -> Vec<usize> {
        let mut union = Union::new(self.kinds.len());
        let mut message_calls: BTreeMap<&str, usize> = BTreeMap::new();
        let mut records: BTreeMap<u32, usize> = BTreeMap::new();
        for &(at, event) in &self.assigned {
            let Some((record, block)) = index.record(at).zip(index.block(at)) else { continue };
            let moves_with_calls = match block.kind {
                BlockKind::Call(_) | BlockKind::Result(_) | BlockKind::SideData { .. } => true,
                BlockKind::Thinking => block.text.is_empty(),
                BlockKind::Text
                | BlockKind::Paste
                | BlockKind::Attachment { .. }
                | BlockKind::Summary
                | BlockKind::Opaque(_) => false,
            };
            // A boundary that lists the items it keeps stands for many events, which move on their own.
            let one_event = record.kind != RecordKind::Boundary;
            if one_event && (index.form == Form::Fold || moves_with_calls) {
                let first = *records.entry(at.record).or_insert(event);
                union.join(first, event);
            }
            if let (true, Some(id)) = (moves_with_calls, record.message_id.as_deref()) {
                let first = *message_calls.entry(id).or_insert(event);
                union.join(first, event);
            }
        }
        (0..self.kinds.len()).map(|event| union.find(event)).collect()
    }

    fn spans(&self, index: &SourceIndex, groups: &[usize]) -> Segmentation {
        let mut ranges: Vec<Vec<ByteRange>> = vec![Vec::new(); self.kinds.len()];
        let mut blocks: Vec<Vec<BlockRef>> = vec![Vec::new(); self.kinds.len()];
        let mut drafts: Vec<Span> = Vec::new();
        let mut assigned = self.assigned.iter().peekable();
        for (record, at) in index.records.iter().zip(0u32..) {
            let mut own: Vec<(BlockRef, usize)> = Vec::new();
            while let Some(&&(block, event)) = assigned.peek() {
                if block.record != at {
                    break;
                }
                own.push((block, event));
                assigned.next();
            }
            let Some(&(_, primary)) = own.first() else {
                let kind = if record.kind == RecordKind::Opaque { SpanKind::Opaque } else { SpanKind::Meta };
                drafts.push(draft(kind, Vec::new(), at, vec![record.range]));
                continue;
            };
            let others: RangeSet = own
                .iter()
                .filter(|(_, event)| *event != primary)
                .filter_map(|(block, _)| index.block(*block).map(|block| block.range))
                .collect();
            for &(block, event) in &own {
                if let Some(list) = blocks.get_mut(event) {
                    list.push(block);
                }
                if let (true, Some(list), Some(block)) =
                    (event != primary, ranges.get_mut(event), index.block(block))
                {
                    list.push(block.range);
                }
            }
            if let Some(list) = ranges.get_mut(primary) {
                list.extend(others.gaps_in(record.range).as_slice());
            }
        }
        let mut group_of_span: Vec<Option<usize>> = vec![None; drafts.len()];
        for (event, (ranges, blocks)) in ranges.into_iter().zip(blocks).enumerate() {
            let (Some(first), Some(kind)) = (blocks.first().copied(), self.kinds.get(event).copied()) else {
                continue;
            };
            let mut span = draft(kind, blocks, first.record, ranges);
            span.open = self.open.get(event).copied().unwrap_or(false);
            drafts.push(span);
            group_of_span.push(groups.get(event).copied());
        }
        number(drafts, group_of_span)
    }
}

fn draft(kind: SpanKind, blocks: Vec<BlockRef>, record: u32, ranges: Vec<ByteRange>) -> Span {
    let ranges = ranges.into_iter().collect();
    Span { index: SpanIndex(0), kind, blocks, record, ranges, group: GroupIndex(0), open: false }
}

/// Puts spans in order of their first byte and numbers spans and groups.
fn number(drafts: Vec<Span>, groups: Vec<Option<usize>>) -> Segmentation {
    let mut drafts: Vec<(Span, Option<usize>)> = drafts.into_iter().zip(groups).collect();
    drafts.sort_by_key(|(span, _)| (span.ranges.start(), span.record));
    let mut numbers: BTreeMap<usize, u32> = BTreeMap::new();
    let mut next = 0;
    let mut spans = Vec::with_capacity(drafts.len());
    for ((mut span, group), at) in drafts.into_iter().zip(0u32..) {
        let fresh = next;
        let group = group.map_or(fresh, |group| *numbers.entry(group).or_insert(fresh));
        next += u32::from(group == fresh);
        span.index = SpanIndex(at);
        span.group = GroupIndex(group);
        spans.push(span);
    }
    Segmentation { spans, groups: next }
}

fn kind_of(kind: &BlockKind) -> SpanKind {
    match kind {
        BlockKind::Text | BlockKind::Paste => SpanKind::Utterance,
        BlockKind::Thinking => SpanKind::Thinking,
        BlockKind::Call(_) => SpanKind::Call,
        BlockKind::Result(_) | BlockKind::SideData { .. } => SpanKind::OrphanResult,
        BlockKind::Attachment { .. } => SpanKind::Attachment,
        BlockKind::Summary => SpanKind::Derived,
        BlockKind::Opaque(_) => SpanKind::Opaque,
    }
}

/// Pairs results with calls: by id, the nearest preceding call of the same agent that has no result yet, else
/// the nearest preceding one. Ids are not unique in real transcripts.
#[derive(Default)]
struct Pairing {
    calls: BTreeMap<(String, String), Vec<PairedCall>>,
}

struct PairedCall {
    event: usize,
    answered: bool,
}

impl Pairing {
    fn key(agent: Option<&str>, id: &str) -> (String, String) {
        (agent.unwrap_or_default().to_owned(), id.to_owned())
    }

    fn event_of(&mut self, agent: Option<&str>, block: &Block) -> Option<usize> {
        match &block.kind {
            BlockKind::Result(facts) => {
                let calls = self.calls.get_mut(&Self::key(agent, facts.call_id.as_deref()?))?;
                let at = calls.iter().rposition(|call| !call.answered).or(calls.len().checked_sub(1))?;
                let call = calls.get_mut(at)?;
                call.answered = true;
                Some(call.event)
            }
            BlockKind::SideData { call_id } => {
                let calls = self.calls.get(&Self::key(agent, call_id.as_deref()?))?;
                calls.iter().rfind(|call| call.answered).or(calls.last()).map(|call| call.event)
            }
            BlockKind::Text
            | BlockKind::Paste
            | BlockKind::Thinking
            | BlockKind::Call(_)
            | BlockKind::Attachment { .. }
            | BlockKind::Summary
            | BlockKind::Opaque(_) => None,
        }
    }

    fn note(&mut self, agent: Option<&str>, block: &Block, event: usize) {
        if let BlockKind::Call(facts) = &block.kind
            && let Some(id) = facts.id.as_deref()
        {
            self.calls.entry(Self::key(agent, id)).or_default().push(PairedCall { event, answered: false });
        }
    }
}

/// Disjoint sets with path halving.
struct Union(Vec<usize>);

impl Union {
    fn new(len: usize) -> Self {
        Self((0..len).collect())
    }

    fn find(&mut self, mut at: usize) -> usize {
        while let Some(&up) = self.0.get(at) {
            if up == at {
                break;
            }
            let above = self.0.get(up).copied().unwrap_or(up);
            if let Some(own) = self.0.get_mut(at) {
                *own = above;
            }
            at = above;
        }
        at
    }

    fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.find(one), self.find(two));
        let (low, high) = (one.min(two), one.max(two));
        if let Some(own) = self.0.get_mut(high) {
            *own = low;
        }
    }
}

/// Whether the agent would send any block of `span` with its next request.
pub fn in_context(index: &SourceIndex, span: &Span) -> bool {
    span.blocks.iter().any(|&at| index.block(at).is_some_and(|block| block.visibility == Visibility::Context))
}
