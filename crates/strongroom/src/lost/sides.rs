//! The two sides of a boundary: what the agent would have sent just before it, and just after.
//!
//! The bodies are read once. For each side the head of the file is only indexed, so that its format decides what
//! would have been sent at that time.

use std::collections::BTreeSet;

use strongroom_core::digest::ContentKey;
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Block, BlockKind, BlockRef, Branch, Bytes, Record, RecordKind, SourceIndex, Speaker, Visibility,
};
use strongroom_evidence::content::BlockContent;

use super::History;
use crate::reading::{ReadSpan, Reading};
use crate::transcript::Transcript;

/// How a boundary takes content away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A summary, or nothing, stands in place of the conversation.
    Replaced,
    /// Single results are sent as a placeholder from here on.
    Cleared,
}

/// The records that take content away from the main agent, copies left out.
pub(super) fn boundaries(transcript: &Transcript) -> Vec<(u32, Step)> {
    let step = |record: &Record| match record.kind {
        _ if record.agent.is_some() => None,
        RecordKind::Boundary => Some(Step::Replaced),
        _ if strongroom_formats::CLEARINGS.contains(&record.label.as_str()) => Some(Step::Cleared),
        _ => None,
    };
    let records = transcript.index().records.iter().zip(0u32..);
    records.filter_map(|(record, at)| Some((at, step(record)?))).collect()
}

/// The first bytes of a source, made whole where it is one document.
struct Head<'a> {
    source: &'a dyn Bytes,
    /// How many bytes of the source.
    len: u64,
    /// What closes the lists and objects that are open there.
    closing: Vec<u8>,
}

impl<'a> Head<'a> {
    fn of(transcript: &'a Transcript, end: u64) -> Result<Self> {
        let source = transcript.source();
        if !is_document(transcript) {
            return Ok(Self { source, len: end, closing: Vec::new() });
        }
        let bytes = source.read(ByteRange::new(0, end))?;
        let kept = bytes.trim_ascii_end();
        let kept = kept.strip_suffix(b",").unwrap_or(kept);
        let len = u64::try_from(kept.len()).unwrap_or(end);
        Ok(Self { source, len, closing: closing(kept) })
    }
}

/// Whether the records are members of one JSON document, of which a beginning alone is none.
fn is_document(transcript: &Transcript) -> bool {
    let records = &transcript.index().records;
    records.iter().all(|record| record.line.is_none())
        && records.iter().any(|record| !record.pointer.is_empty())
}

/// What closes the lists and objects that are open at the end of `bytes`, the innermost first.
fn closing(bytes: &[u8]) -> Vec<u8> {
    let mut open = Vec::new();
    let (mut inside, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            _ if inside => {}
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b']' | b'}' => drop(open.pop()),
            _ => {}
        }
    }
    open.reverse();
    open
}

impl Bytes for Head<'_> {
    fn len(&self) -> u64 {
        self.len + Bytes::len(&self.closing)
    }

    fn read(&self, range: ByteRange) -> Result<std::borrow::Cow<'_, [u8]>> {
        let end = range.end().min(Bytes::len(self));
        if end <= self.len {
            return self.source.read(ByteRange::new(range.start(), end));
        }
        let start = range.start().min(self.len);
        let mut bytes = self.source.read(ByteRange::new(start, self.len))?.into_owned();
        let from = range.start().saturating_sub(self.len);
        bytes.extend_from_slice(&self.closing.read(ByteRange::new(from, end - self.len))?);
        Ok(bytes.into())
    }
}

/// What would be sent at one time.
#[derive(Debug)]
struct Side {
    /// The blocks that are sent, as themselves or as a copy.
    sent: BTreeSet<BlockRef>,
    tokens: u64,
    history: History,
}

impl Side {
    fn of(transcript: &Transcript, end: u64) -> Result<Self> {
        let head = Head::of(transcript, end)?;
        if end == 0 {
            return Ok(Self { sent: BTreeSet::new(), tokens: 0, history: History::Elsewhere });
        }
        let index = transcript.format().index(&head)?;
        let sent = index.blocks().filter(|(_, block)| block.visibility == Visibility::Context);
        Ok(Self {
            sent: sent.map(|(at, block)| block.copy_of.unwrap_or(at)).collect(),
            tokens: Reading::context_of(&head, &index)?.0,
            history: history(&index),
        })
    }
}

/// How much of the conversation an index holds.
fn history(index: &SourceIndex) -> History {
    if index.findings.iter().any(|finding| finding.code == strongroom_formats::CUT_HISTORY) {
        return History::Cut;
    }
    let mut open = BTreeSet::new();
    for (_, block) in index.blocks() {
        let sent = block.visibility == Visibility::Context;
        match &block.kind {
            BlockKind::Call(facts) if sent => open.extend(facts.id.as_deref()),
            // An answer that is no longer sent is in the file all the same.
            BlockKind::Result(facts) => {
                facts.call_id.as_deref().map(|id| open.remove(id));
            }
            // What the user interrupted stays without an answer.
            BlockKind::Text if sent && block.speaker == Speaker::User => open.clear(),
            _ => {}
        }
    }
    if open.is_empty() { History::Whole } else { History::OpenEnd }
}

/// A span, and of it the blocks that are spoken of.
#[derive(Debug, Clone)]
pub(super) struct Part<'r, 'a> {
    pub(super) span: &'r ReadSpan<'a>,
    pub(super) blocks: Vec<&'r BlockContent<'a>>,
}

impl<'r, 'a> Part<'r, 'a> {
    /// All of a span.
    pub(super) fn whole(span: &'r ReadSpan<'a>) -> Self {
        Self { span, blocks: span.content.blocks.iter().collect() }
    }

    fn of(span: &'r ReadSpan<'a>, wanted: impl Fn(BlockRef) -> bool) -> Option<Self> {
        let blocks: Vec<_> = span.content.blocks.iter().filter(|block| wanted(block.at)).collect();
        (!blocks.is_empty()).then_some(Self { span, blocks })
    }

    /// Whether the block is one of them.
    pub(super) fn has(&self, at: BlockRef) -> bool {
        self.blocks.iter().any(|block| block.at == at)
    }

    /// The call, if it is one of them.
    pub(super) fn call(&self) -> Option<&'r BlockContent<'a>> {
        self.blocks.iter().copied().find(|block| matches!(block.block.kind, BlockKind::Call(_)))
    }
}

/// Both sides of one boundary.
#[derive(Debug)]
pub(super) struct Sides<'r, 'a> {
    pub(super) whole: &'r Reading<'a>,
    pub(super) boundary: u32,
    pub(super) step: Step,
    before: Side,
    after: Side,
}

impl<'r, 'a> Sides<'r, 'a> {
    /// Everything before the boundary, and everything before the first answer behind it: its summary, what the
    /// harness attached again, and what the user wrote next.
    pub(super) fn of(whole: &'r Reading<'a>, (boundary, step): (u32, Step)) -> Result<Self> {
        let transcript = whole.transcript;
        let records = &transcript.index().records;
        let at = usize::try_from(boundary).unwrap_or(usize::MAX);
        let start = records.get(at).map_or(0, |record| record.range.start());
        let mut later = records.iter().skip(at.saturating_add(1));
        let turn = later.find(|record| is_turn(record));
        // What is cleared is cleared for the next answer, which must be there to be reached.
        let end = turn.map_or(transcript.source().len(), |turn| match step {
            Step::Replaced => turn.range.start(),
            Step::Cleared => turn.range.end(),
        });
        let (before, after) = (Side::of(transcript, start)?, Side::of(transcript, end)?);
        Ok(Self { whole, boundary, step, before, after })
    }

    /// Tokens before and after.
    pub(super) fn tokens(&self) -> (u64, u64) {
        (self.before.tokens, self.after.tokens)
    }

    /// How much of what stood before is in the file.
    pub(super) fn history(&self) -> History {
        self.before.history
    }

    /// The spans that begin before the boundary, sent or not.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &'r ReadSpan<'a>> {
        let boundary = self.boundary;
        self.whole.spans.iter().take_while(move |span| span.content.span.record < boundary)
    }

    /// What was sent before.
    pub(super) fn sent_before(&self) -> impl Iterator<Item = Part<'r, 'a>> {
        self.earlier().filter_map(|span| Part::of(span, |at| self.before.sent.contains(&at)))
    }

    /// What had been said on the path to the boundary and was not sent any more before it.
    pub(super) fn older(&self) -> impl Iterator<Item = Part<'r, 'a>> {
        let own = |span: &&ReadSpan<'a>| {
            span.content
                .blocks
                .iter()
                .all(|block| block.record.branch == Branch::Active && block.record.agent.is_none())
        };
        self.earlier().filter(own).filter_map(|span| Part::of(span, |at| !self.before.sent.contains(&at)))
    }

    /// What is sent after.
    pub(super) fn left(&self) -> impl Iterator<Item = Part<'r, 'a>> {
        let is_old = |at: BlockRef| self.step == Step::Replaced || at.record < self.boundary;
        let sent = move |at: BlockRef| self.after.sent.contains(&at) && is_old(at);
        self.whole.spans.iter().filter_map(move |span| Part::of(span, sent))
    }

    /// What was sent before and is not sent after.
    pub(super) fn gone(&self) -> Vec<Part<'r, 'a>> {
        // Some agents write what they keep once more, as a record of its own.
        let again: BTreeSet<ContentKey> = self
            .left()
            .filter(|part| part.span.content.span.record >= self.boundary)
            .map(|part| part.span.key)
            .collect();
        let lost = |at: BlockRef| self.before.sent.contains(&at) && !self.after.sent.contains(&at);
        let gone = self.earlier().filter(|span| !again.contains(&span.key));
        gone.filter_map(|span| Part::of(span, lost)).collect()
    }
}

/// Whether the record is an answer.
fn is_turn(record: &Record) -> bool {
    let answers = |block: &Block| {
        block.copy_of.is_none()
            && block.speaker == Speaker::Assistant
            && matches!(block.kind, BlockKind::Text | BlockKind::Thinking | BlockKind::Call(_))
    };
    record.agent.is_none() && record.kind == RecordKind::Message && record.blocks.iter().any(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_of_a_document_is_closed_outside_of_its_strings() {
        for (bytes, closed) in
            [(r#"{"messages":[{"a":"]}\"[{"}"#, "]}"), (r#"[{"a":[1,2]}"#, "]"), ("[]", ""), ("", "")]
        {
            assert_eq!(String::from_utf8(closing(bytes.as_bytes())).unwrap(), closed, "{bytes}");
        }
    }

    #[test]
    fn a_head_is_read_across_its_end() {
        let source: &[u8] =
            br#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;
        let transcript = Transcript::from_bytes("t", source.to_vec(), Some("openai-chat")).unwrap();
        let second = transcript.index().records[1].range.start();
        let head = Head::of(&transcript, second).unwrap();
        let whole = head.read(ByteRange::new(0, Bytes::len(&head))).unwrap().into_owned();
        assert_eq!(whole, br#"{"messages":[{"role":"user","content":"a"}]}"#);
        for start in 0..whole.len() {
            for end in start..=whole.len() {
                let range = ByteRange::new(start.try_into().unwrap(), end.try_into().unwrap());
                assert_eq!(head.read(range).unwrap(), &whole[start..end]);
            }
        }
    }
}
