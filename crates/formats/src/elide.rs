//! The elide form: contents of reclaimed spans are replaced, shells stay, the summary is one message.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, BlockRef, Bytes, Record, RecordKind, SourceIndex,
};

use crate::format::{Edit, Format};
use crate::json::{Kind, Tape, Value, write_string};
use crate::patch::Patch;

/// Stands where a stub is empty: the APIs refuse empty texts.
const EMPTY_STUB: &str = "[reclaimed]";

/// What differs between the two APIs.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Roles that the summary stands behind when they lead the list.
    pub(crate) leading: &'static [&'static str],
    /// Counts what the API would refuse.
    pub(crate) violations: fn(&SourceIndex) -> BTreeMap<&'static str, usize>,
}

/// Writes the compacted document.
///
/// # Errors
/// `Bug` when the result would break a rule of the API that the input kept, and as [`Bytes::read`].
pub(crate) fn splice(
    format: &dyn Format,
    rules: &Rules,
    source: &dyn Bytes,
    (index, spans): (&SourceIndex, &Segmentation),
    edit: &Edit,
) -> Result<Vec<u8>> {
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    if edit.is_empty() {
        return Ok(bytes.into_owned());
    }
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let text = bytes.get(mark..).unwrap_or_default();
    let mut tape = Tape::new();
    tape.scan(text)
        .map_err(|damage| Error::invalid_input(format!("the document cannot be edited: {damage}")))?;
    let root = tape.root(text, u64::try_from(mark).unwrap_or_default());
    let root = root.ok_or_else(|| Error::bug("a scanned document without a value"))?;
    let mut writer = Writer::new(root, index);
    for (span, stub) in &edit.reclaimed {
        let blocks = spans.span(*span).map(|span| span.blocks.as_slice()).unwrap_or_default();
        let stub = if stub.is_empty() { EMPTY_STUB } else { stub };
        for &at in blocks {
            writer.reclaim(at, stub);
        }
    }
    writer.remove_thinking();
    let replaced =
        edit.replaced_summaries.iter().filter_map(|span| spans.span(*span)).map(|span| span.record).collect();
    writer.summarise(&edit.summary, &replaced, rules.leading);
    writer.patch.mask(index, edit.masks.iter());
    let out = writer.patch.apply(&bytes, 0);
    check(format, rules, index, &out)?;
    Ok(out)
}

/// Compares what the API would refuse before and after.
fn check(format: &dyn Format, rules: &Rules, before: &SourceIndex, out: &dyn Bytes) -> Result<()> {
    let after = format.index(out)?;
    let (old, new) = ((rules.violations)(before), (rules.violations)(&after));
    match new.iter().find(|(rule, count)| old.get(*rule).copied().unwrap_or(0) < **count) {
        Some((rule, count)) => {
            Err(Error::bug(format!("the compacted document breaks a rule of the API {count} times: {rule}")))
        }
        None => Ok(()),
    }
}

struct Writer<'v> {
    index: &'v SourceIndex,
    /// The elements of the list of messages.
    messages: Vec<Value<'v>>,
    /// The range of the list.
    list: Option<ByteRange>,
    /// The values of all records by their first byte.
    values: BTreeMap<u64, Value<'v>>,
    /// The contents of messages and their parts by their first byte.
    parts: BTreeMap<u64, Value<'v>>,
    /// Thinking blocks to be removed: the record and the place in its content.
    thinking: BTreeMap<u32, Vec<usize>>,
    patch: Patch,
}

impl<'v> Writer<'v> {
    fn new(root: Value<'v>, index: &'v SourceIndex) -> Self {
        let list = if root.kind() == Kind::Array { Some(root) } else { root.get("messages") };
        let messages: Vec<Value<'v>> = list.into_iter().flat_map(Value::elements).collect();
        let fields = root.entries().map(|(_, value)| value);
        let values =
            fields.chain(messages.iter().copied()).map(|value| (value.range().start(), value)).collect();
        let list = list.map(Value::range);
        let keys = ["content", "reasoning", "reasoning_content"];
        let contents =
            messages.iter().flat_map(|message| keys.into_iter().filter_map(|key| message.get(key)));
        let parts = contents.flat_map(|content| std::iter::once(content).chain(content.elements()));
        let parts = parts.map(|part| (part.range().start(), part)).collect();
        Self { index, messages, list, values, parts, thinking: BTreeMap::new(), patch: Patch::default() }
    }

    fn value(&self, record: &Record) -> Option<Value<'v>> {
        self.values.get(&record.range.start()).copied()
    }

    fn reclaim(&mut self, at: BlockRef, stub: &str) {
        let Some(block) = self.index.block(at) else { return };
        match &block.kind {
            BlockKind::Text | BlockKind::Paste | BlockKind::Summary => {
                return self.replace_texts(block, stub);
            }
            BlockKind::Call(facts) => return self.empty_arguments(facts.arguments),
            BlockKind::Thinking
            | BlockKind::Result(_)
            | BlockKind::SideData { .. }
            | BlockKind::Attachment { .. }
            | BlockKind::Opaque(_) => {}
        }
        let Some(part) = self.parts.get(&block.range.start()).copied() else { return };
        match &block.kind {
            BlockKind::Result(_) => self.replace_result(part, stub),
            BlockKind::Attachment { .. } | BlockKind::Opaque(_) if block.pointer.contains("/content/") => {
                self.patch.replace(part.range(), text_part(part, stub));
            }
            BlockKind::Thinking if part.kind() == Kind::String => self.replace_texts(block, ""),
            BlockKind::Thinking => {
                if let Some(place) =
                    block.pointer.strip_prefix("/content/").and_then(|place| place.parse().ok())
                {
                    self.thinking.entry(at.record).or_default().push(place);
                }
            }
            _ => {}
        }
    }

    fn replace_texts(&mut self, block: &Block, stub: &str) {
        for (text, stub) in block.text.iter().zip([stub].into_iter().chain(std::iter::repeat(EMPTY_STUB))) {
            self.patch.replace_text(text.range, stub);
        }
    }

    fn empty_arguments(&mut self, arguments: Arguments) {
        match arguments {
            Arguments::Json(range) | Arguments::JsonInString(range) => self.patch.replace(range, "{}"),
            Arguments::Text(range) => self.patch.replace(range, ""),
            Arguments::Missing => {}
        }
    }

    /// A string stays a string, a list becomes one text part. Contents of server tools are sealed and stay.
    fn replace_result(&mut self, part: Value<'_>, stub: &str) {
        let is_server = part
            .string_at("type")
            .is_some_and(|kind| kind.ends_with("_tool_result") && kind != "mcp_tool_result");
        let content = part.get("content").unwrap_or(part);
        match content.kind() {
            _ if is_server => {}
            Kind::Array => {
                let last = content.elements().last().unwrap_or(content);
                let mut list = b"[".to_vec();
                list.extend(text_part(last, stub));
                list.push(b']');
                self.patch.replace(content.range(), list);
            }
            Kind::String | Kind::Null => {
                let mut literal = Vec::new();
                write_string(&mut literal, stub);
                self.patch.replace(content.range(), literal);
            }
            Kind::True | Kind::False | Kind::Number | Kind::Object => {}
        }
    }

    /// Removes thinking where the API allows it: in a turn that a later prompt has ended, and never the last part.
    fn remove_thinking(&mut self) {
        let speaks = |record: &Record| {
            record.label == "message/user"
                && !record.blocks.iter().any(|block| matches!(block.kind, BlockKind::Result(_)))
        };
        let last_prompt = self
            .index
            .records
            .iter()
            .zip(0u32..)
            .filter(|(record, _)| speaks(record))
            .map(|(_, at)| at)
            .last();
        for (record, mut places) in std::mem::take(&mut self.thinking) {
            let ended = last_prompt.is_some_and(|prompt| record < prompt);
            let at = BlockRef { record, block: 0 };
            let content = self.index.record(at).and_then(|record| self.value(record)?.get("content"));
            let parts: Vec<Value<'_>> = content.into_iter().flat_map(Value::elements).collect();
            places.sort_unstable();
            places.dedup();
            if ended && places.len() < parts.len() {
                self.patch.remove_members(&parts, &places);
            }
        }
    }

    /// Puts the summary in its place: that of an earlier one, else behind the leading messages.
    fn summarise(&mut self, summary: &str, replaced: &BTreeSet<u32>, leading: &[&str]) {
        let starts: BTreeSet<u64> = replaced
            .iter()
            .filter_map(|&record| self.index.record(BlockRef { record, block: 0 }))
            .map(|record| record.range.start())
            .collect();
        let old: Vec<usize> = self.places(|message| starts.contains(&message.range().start()));
        let mut gone = old.as_slice();
        let mut message = br#"{"role":"user","content":"#.to_vec();
        write_string(&mut message, summary);
        message.push(b'}');
        match (old.split_first(), summary.is_empty()) {
            (_, true) => {}
            (Some((first, rest)), false) => {
                gone = rest;
                if let Some(old) = self.messages.get(*first) {
                    self.patch.replace(old.range(), message);
                }
            }
            (None, false) => self.insert(message, leading),
        }
        if !gone.is_empty() {
            self.patch.remove_members(&self.messages, gone);
        }
    }

    fn places(&self, wanted: impl Fn(&Value<'_>) -> bool) -> Vec<usize> {
        self.messages.iter().enumerate().filter(|(_, message)| wanted(message)).map(|(at, _)| at).collect()
    }

    /// Inserts a message behind the leading ones, spaced like the messages around it.
    fn insert(&mut self, mut message: Vec<u8>, leading: &[&str]) {
        let leads =
            |value: &Value<'_>| value.string_at("role").is_some_and(|role| leading.contains(&role.as_ref()));
        let place = self.messages.iter().take_while(|value| leads(value)).count();
        match (self.messages.get(place), self.messages.last(), self.list) {
            (Some(next), ..) => {
                message.push(b',');
                message.extend_from_slice(&self.space_before(place));
                self.patch.insert(next.range().start(), message);
            }
            (None, Some(last), _) => {
                let mut separated = b",".to_vec();
                separated.extend_from_slice(&self.space_before(place - 1));
                separated.extend_from_slice(&message);
                self.patch.insert(last.range().end(), separated);
            }
            (None, None, Some(list)) => self.patch.insert(list.start() + 1, message),
            (None, None, None) => {}
        }
    }

    /// The whitespace in front of the message at `place`.
    fn space_before(&self, place: usize) -> Cow<'v, [u8]> {
        let Some(message) = self.messages.get(place) else { return Cow::Borrowed(b"") };
        message.space_before()
    }
}

/// A text part in the place of `part`, whose cache mark it keeps.
fn text_part(part: Value<'_>, stub: &str) -> Vec<u8> {
    let mut out = br#"{"type":"text","text":"#.to_vec();
    write_string(&mut out, stub);
    if let Some(mark) = part.get("cache_control") {
        out.extend_from_slice(br#","cache_control":"#);
        out.extend_from_slice(mark.raw());
    }
    out.push(b'}');
    out
}

/// The messages of a document with the ids they call and answer, in order.
pub(crate) struct Turn<'i> {
    pub(crate) role: &'i str,
    pub(crate) calls: Vec<&'i str>,
    pub(crate) answers: Vec<&'i str>,
    pub(crate) blocks: &'i [Block],
}

/// The messages of an index.
pub(crate) fn turns(index: &SourceIndex) -> Vec<Turn<'_>> {
    let messages =
        index.records.iter().filter(|record| record.kind == RecordKind::Message && record.label != "system");
    messages
        .map(|record| Turn {
            role: record.label.strip_prefix("message/").unwrap_or_default(),
            calls: record.blocks.iter().filter_map(call_id).collect(),
            answers: record.blocks.iter().filter_map(answered_id).collect(),
            blocks: &record.blocks,
        })
        .collect()
}

/// The id of a call.
pub(crate) fn call_id(block: &Block) -> Option<&str> {
    match &block.kind {
        BlockKind::Call(facts) => facts.id.as_deref(),
        _ => None,
    }
}

/// The call a result answers.
pub(crate) fn answered_id(block: &Block) -> Option<&str> {
    match &block.kind {
        BlockKind::Result(facts) => facts.call_id.as_deref(),
        _ => None,
    }
}
