//! The compacted form: a boundary, the summary, and relinked copies of what is kept, appended to the session.

use std::collections::{BTreeMap, HashMap};

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    BlockKind, BlockRef, Branch, Bytes, Record, SourceIndex, Speaker, Visibility,
};

use super::copies::{copy_id, copy_message_id};
use super::path::PLACEHOLDER;
use crate::fold::{Kept, check_rules, open_end};
use crate::format::{Edit, Format, Resume, Spliced};
use crate::ids::derive;
use crate::json::{Tape, Value, write_string};
use crate::masks::Masks;
use crate::patch::{Patch, one_line};

/// How the texts of a copied line stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// As in the original.
    Verbatim,
    /// Results are replaced by the placeholder that the agent itself sends.
    Cleared,
}

/// A line to be copied.
struct Copy {
    /// The line that would be sent, by its place among the records.
    record: usize,
    /// The line whose bytes are copied: the first of which the other is a copy.
    base: usize,
    texts: Texts,
}

/// Writes the compacted session.
///
/// # Errors
/// `InvalidInput` for a file without a conversation, `Bug` when the result would not be read as meant.
pub(super) fn splice(
    format: &dyn Format,
    source: &dyn Bytes,
    index: &SourceIndex,
    spans: &Segmentation,
    edit: &Edit,
) -> Result<Spliced> {
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    if edit.is_empty() {
        return Ok(Spliced { bytes: bytes.into_owned(), index: index.clone() });
    }
    let leaf = leaf(index)
        .ok_or_else(|| Error::invalid_input("a session without a conversation cannot be compacted"))?;
    let copies = plan(index, spans, &Kept::new(index, spans, edit));
    let mut tail = Tail::new(source, index, edit, leaf)?;
    let mut out = open_end(&bytes);
    tail.boundary(&mut out);
    // The agent starts reading at the last message: with attachments alone, that is the summary.
    let attachments_only = !copies.iter().any(|copy| is_message(index, copy.record));
    if !attachments_only {
        tail.summary(&edit.summary, &mut out);
    }
    for copy in &copies {
        tail.copy(copy, &mut out)?;
    }
    if attachments_only {
        tail.summary(&edit.summary, &mut out);
    }
    tail.replacements(&mut out)?;
    let index = check(format, index, &out, &copies)?;
    Ok(Spliced { bytes: out, index })
}

/// How the agent goes on with the compacted session.
pub(super) fn resume(index: &SourceIndex, edit: &Edit) -> Option<Resume> {
    let leaf = leaf(index)?;
    let session = if edit.is_empty() { leaf.session.clone()? } else { session_id(edit, leaf) };
    Some(Resume {
        file_name: format!("{session}.jsonl"),
        command: format!("claude --resume {session}"),
        directory: leaf.cwd.clone(),
    })
}

fn session_id(edit: &Edit, leaf: &Record) -> String {
    let old = leaf.session.as_deref().unwrap_or_default();
    derive("strongroom/claude-code/session", &[&edit.seed, old.as_bytes()])
}

/// The last line that would be sent.
fn leaf(index: &SourceIndex) -> Option<&Record> {
    index.records.iter().rev().find(|record| record.id.is_some() && is_sent(record))
}

fn is_sent(record: &Record) -> bool {
    record.blocks.iter().any(|block| block.visibility == Visibility::Context)
}

/// The lines to be copied: kept summaries of others first, then the rest in order, the lines of one message together.
fn plan(index: &SourceIndex, spans: &Segmentation, kept: &Kept) -> Vec<Copy> {
    let mut texts: BTreeMap<usize, Texts> = BTreeMap::new();
    for (at, block) in index.blocks() {
        if block.visibility == Visibility::Context && kept.keeps(at) {
            texts.insert(place(at), Texts::Verbatim);
        }
    }
    for span in &spans.spans {
        if let Some(record) = cleared_result(index, &span.blocks, &texts) {
            texts.entry(record).or_insert(Texts::Cleared);
        }
    }
    let records: Vec<usize> = in_order(index, texts.keys().copied().collect());
    let copy = |record: usize| Copy {
        record,
        base: base(index, record),
        texts: texts.get(&record).copied().unwrap_or(Texts::Verbatim),
    };
    last_of_each_id(index, &records).into_iter().map(copy).collect()
}

/// Of lines that share an id the agent loads the last one alone, so only that one is copied.
fn last_of_each_id(index: &SourceIndex, records: &[usize]) -> Vec<usize> {
    let id = |record: usize| index.records.get(record).and_then(|record| record.id.as_deref());
    let last: BTreeMap<&str, usize> =
        records.iter().filter_map(|&record| Some((id(record)?, record))).collect();
    records
        .iter()
        .copied()
        .filter(|&record| id(record).and_then(|id| last.get(id)).is_none_or(|&last| last == record))
        .collect()
}

fn place(at: BlockRef) -> usize {
    usize::try_from(at.record).unwrap_or(usize::MAX)
}

/// The line of a result that a microcompaction cleared and whose call is kept.
fn cleared_result(index: &SourceIndex, blocks: &[BlockRef], kept: &BTreeMap<usize, Texts>) -> Option<usize> {
    let with = |visibility: Visibility, result: bool| {
        blocks.iter().rev().find(move |&&at| {
            index.block(at).is_some_and(|block| {
                let is_result = matches!(block.kind, BlockKind::Result(_));
                let is_call = matches!(block.kind, BlockKind::Call(_));
                block.visibility == visibility && if result { is_result } else { is_call }
            })
        })
    };
    let call = with(Visibility::Context, false)?;
    if !kept.contains_key(&place(*call)) || with(Visibility::Context, true).is_some() {
        return None;
    }
    let result = blocks.iter().rev().find(|&&at| {
        let active =
            index.record(at).is_some_and(|record| record.branch == Branch::Active && record.id.is_some());
        active
            && at.record > call.record
            && index.block(at).is_some_and(|block| matches!(block.kind, BlockKind::Result(_)))
    })?;
    Some(place(*result))
}

/// Summaries first; the lines of one API message stand together, as the agent needs them.
fn in_order(index: &SourceIndex, records: Vec<usize>) -> Vec<usize> {
    let is_summary = |at: &usize| {
        index
            .records
            .get(*at)
            .is_some_and(|record| record.blocks.iter().any(|block| block.kind == BlockKind::Summary))
    };
    let (mut order, rest): (Vec<usize>, Vec<usize>) = records.into_iter().partition(is_summary);
    let message = |at: usize| index.records.get(at).and_then(|record| record.message_id.as_deref());
    let mut members: HashMap<&str, Vec<usize>> = HashMap::new();
    for &at in &rest {
        if let Some(id) = message(at) {
            members.entry(id).or_default().push(at);
        }
    }
    for at in rest {
        match message(at) {
            Some(id) => order.extend(members.remove(id).unwrap_or_default()),
            None => order.push(at),
        }
    }
    message_last(index, order)
}

fn is_message(index: &SourceIndex, at: usize) -> bool {
    index.records.get(at).is_some_and(|record| match record.label.as_str() {
        "assistant" => true,
        // A line that the harness wrote in the user's name may be one that the agent does not start from.
        "user" => record.blocks.iter().any(|block| block.speaker != Speaker::Harness),
        _ => false,
    })
}

/// Attachments behind the last message would not be loaded: they move in front of it, and of the calls it answers.
fn message_last(index: &SourceIndex, mut order: Vec<usize>) -> Vec<usize> {
    let Some(last) = order.iter().rposition(|&at| is_message(index, at)) else { return order };
    let trailing = order.split_off(last + 1);
    let record = |place: usize| order.get(place).and_then(|&at| index.records.get(at));
    let is_result = |place: usize| {
        record(place).is_some_and(|record| {
            record.blocks.iter().any(|block| matches!(block.kind, BlockKind::Result(_)))
        })
    };
    let mut place = last;
    while place > 0 && is_result(place) {
        place -= 1;
    }
    let message = |place: usize| record(place).and_then(|record| record.message_id.as_deref());
    while place > 0 && message(place).is_some() && message(place - 1) == message(place) {
        place -= 1;
    }
    order.splice(place..place, trailing);
    order
}

/// The first line that says what the line `at` says.
fn base(index: &SourceIndex, at: usize) -> usize {
    let Some(record) = index.records.get(at) else { return at };
    let Some(event) = record.blocks.iter().find_map(|block| block.copy_of) else { return at };
    let same = |first: &Record| {
        first.id.is_some()
            && first.label == record.label
            && first.blocks.iter().any(|block| block.copy_of == Some(event))
    };
    let original = index.record(event).filter(|first| first.id.is_some() && first.label == record.label);
    let original = original.map(|_| place(event)).or_else(|| index.records.iter().take(at).position(same));
    original.unwrap_or(at)
}

/// What is appended.
struct Tail<'s> {
    source: &'s dyn Bytes,
    index: &'s SourceIndex,
    masks: Masks<'s>,
    session: String,
    boundary: String,
    /// The members that every line of the session repeats, as they are spelled.
    envelope: Vec<u8>,
    timestamp: Vec<u8>,
    leaf: String,
    /// The uuid of the line before.
    previous: String,
    /// The new id of each copied line by its old one.
    renamed: HashMap<String, String>,
}

/// Members of the envelope that our lines repeat from the line they follow.
const ENVELOPE: [&str; 8] =
    ["isSidechain", "agentId", "userType", "entrypoint", "cwd", "version", "gitBranch", "teamName"];

impl<'s> Tail<'s> {
    fn new(source: &'s dyn Bytes, index: &'s SourceIndex, edit: &'s Edit, leaf: &Record) -> Result<Self> {
        let line = source.read(leaf.range)?;
        let mut tape = Tape::new();
        tape.scan(&line).map_err(|damage| Error::bug(format!("a line that was read before: {damage}")))?;
        let value = tape
            .root(&line, leaf.range.start())
            .ok_or_else(|| Error::bug("a scanned line without a value"))?;
        let session = session_id(edit, leaf);
        let mut envelope = Vec::new();
        for key in ENVELOPE {
            if let Some(member) = value.get(key) {
                envelope.extend_from_slice(format!(",\"{key}\":").as_bytes());
                envelope.extend_from_slice(member.raw());
            }
        }
        let timestamp = value
            .get("timestamp")
            .map_or(br#""1970-01-01T00:00:00.000Z""#.to_vec(), |time| time.raw().to_vec());
        let leaf = leaf.id.clone().unwrap_or_default();
        let boundary =
            derive("strongroom/claude-code/boundary", &[&edit.seed, session.as_bytes(), leaf.as_bytes()]);
        let previous = boundary.clone();
        Ok(Self {
            source,
            index,
            masks: Masks::new(index, edit),
            session,
            boundary,
            envelope,
            timestamp,
            leaf,
            previous,
            renamed: HashMap::new(),
        })
    }

    fn boundary(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"parentUuid":null,"logicalParentUuid":"#);
        write_string(out, &self.leaf);
        out.extend_from_slice(&self.envelope);
        out.extend_from_slice(br#","sessionId":"#);
        write_string(out, &self.session);
        let head = r#","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info""#;
        out.extend_from_slice(head.as_bytes());
        let tokens = self
            .index
            .usage
            .last()
            .map_or(String::new(), |usage| format!(",\"preTokens\":{}", usage.context_tokens));
        out.extend_from_slice(format!(",\"compactMetadata\":{{\"trigger\":\"manual\"{tokens}}}").as_bytes());
        self.close(&self.boundary, out);
    }

    fn summary(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let id = copy_id(&self.boundary, "summary");
        out.extend_from_slice(br#"{"parentUuid":"#);
        write_string(out, &self.previous);
        out.extend_from_slice(&self.envelope);
        out.extend_from_slice(br#","sessionId":"#);
        write_string(out, &self.session);
        out.extend_from_slice(br#","type":"user","message":{"role":"user","content":"#);
        write_string(out, text);
        out.extend_from_slice(br#"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true"#);
        self.close(&id, out);
        self.previous = id;
    }

    fn close(&self, id: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(br#","uuid":"#);
        write_string(out, id);
        out.extend_from_slice(br#","timestamp":"#);
        out.extend_from_slice(&self.timestamp);
        out.extend_from_slice(b"}\n");
    }

    fn copy(&mut self, copy: &Copy, out: &mut Vec<u8>) -> Result<()> {
        let Some(record) = self.index.records.get(copy.base) else { return Ok(()) };
        let line = self.source.read(record.range)?;
        let mut tape = Tape::new();
        tape.scan(&line).map_err(|damage| Error::bug(format!("a line that was read before: {damage}")))?;
        let value = tape
            .root(&line, record.range.start())
            .ok_or_else(|| Error::bug("a scanned line without a value"))?;
        let root = record.id.as_deref().unwrap_or_default();
        let id = copy_id(&self.boundary, root);
        for at in [copy.base, copy.record] {
            let old = self.index.records.get(at).and_then(|record| record.id.clone());
            self.renamed.extend(old.map(|old| (old, id.clone())));
        }
        let mut patch = self.relink(value, &id);
        if copy.texts == Texts::Cleared {
            clear_results(value, record, &mut patch);
        }
        for block in (0u32..).take(record.blocks.len()) {
            let at = BlockRef { record: u32::try_from(copy.base).unwrap_or(u32::MAX), block };
            let masks = self.masks.of(self.source, self.index, at)?;
            patch.mask(self.index, masks.iter());
        }
        out.extend(one_line(patch.apply(&line, record.range.start())));
        out.push(b'\n');
        self.previous = id;
        Ok(())
    }

    fn relink(&self, value: Value<'_>, id: &str) -> Patch {
        let mut patch = Patch::default();
        let renamed = |old: Value<'_>| old.string().and_then(|old| self.renamed.get(old.as_ref()).cloned());
        let source = value.get("sourceToolAssistantUUID").and_then(renamed);
        let links = [
            ("uuid", Some(id)),
            ("parentUuid", Some(self.previous.as_str())),
            ("sessionId", Some(self.session.as_str())),
            ("sourceToolAssistantUUID", source.as_deref()),
            ("logicalParentUuid", None),
        ];
        for (key, new) in links {
            let mut literal = Vec::new();
            match new {
                Some(new) => write_string(&mut literal, new),
                None => literal.extend_from_slice(b"null"),
            }
            let members: Vec<Value<'_>> =
                value.entries().filter(|(name, _)| name.is(key)).map(|(_, value)| value).collect();
            if members.is_empty() && matches!(key, "uuid" | "parentUuid" | "sessionId") {
                let mut member = format!("\"{key}\":").into_bytes();
                member.extend(literal);
                member.push(b',');
                patch.insert(value.range().start() + 1, member);
            } else {
                for member in members {
                    patch.replace(member.range(), literal.clone());
                }
            }
        }
        if let Some(message) = value.get("message").and_then(|message| message.get("id"))
            && let Some(old) = message.string()
        {
            let mut literal = Vec::new();
            write_string(&mut literal, &copy_message_id(&self.boundary, &old));
            patch.replace(message.range(), literal);
        }
        patch
    }

    /// Says again, for the new session, which results stand in files.
    fn replacements(&self, out: &mut Vec<u8>) -> Result<()> {
        for record in self.index.records.iter().filter(|record| record.label == "content-replacement") {
            let line = self.source.read(record.range)?;
            let mut tape = Tape::new();
            if tape.scan(&line).is_err() {
                continue;
            }
            let session = tape.root(&line, record.range.start()).and_then(|value| value.get("sessionId"));
            let mut patch = Patch::default();
            if let Some(session) = session.filter(|session| !session.is(&self.session)) {
                let mut literal = Vec::new();
                write_string(&mut literal, &self.session);
                patch.replace(session.range(), literal);
                out.extend(patch.apply(&line, record.range.start()));
                out.push(b'\n');
            }
        }
        Ok(())
    }
}

fn clear_results(value: Value<'_>, record: &Record, patch: &mut Patch) {
    for block in record.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Result(_))) {
        if let Some(content) = value.pointer(&block.pointer).and_then(|part| part.get("content")) {
            let mut literal = Vec::new();
            write_string(&mut literal, PLACEHOLDER);
            patch.replace(content.range(), literal);
        }
    }
}

/// Reads the result again: what would be sent is the summary and the copies, each known as a copy.
fn check(format: &dyn Format, before: &SourceIndex, out: &dyn Bytes, copies: &[Copy]) -> Result<SourceIndex> {
    let after = format.index(out)?;
    let appended = after.records.iter().skip(before.records.len());
    let sent = after.records.iter().filter(|record| is_sent(record)).count();
    let sent_now = appended.clone().filter(|record| is_sent(record)).count();
    if sent != sent_now {
        return Err(Error::bug(format!("{} lines before the boundary would still be sent", sent - sent_now)));
    }
    let is_copy = |record: &&Record| record.blocks.iter().any(|block| block.copy_of.is_some());
    let known = appended.filter(is_copy).count();
    if known < copies.len() {
        return Err(Error::bug(format!(
            "{} of {} copies would not be known as copies",
            copies.len() - known,
            copies.len()
        )));
    }
    let conflicts =
        |index: &SourceIndex| index.findings.iter().filter(|finding| finding.code == "uuid-conflict").count();
    if conflicts(&after) > conflicts(before) {
        return Err(Error::bug("an id of a copied line is not new"));
    }
    check_rules(before, &after)?;
    Ok(after)
}
