//! The elide form: contents of reclaimed spans are replaced, shells stay, the summary is one message.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, BlockRef, Bytes, Record, RecordKind, SourceIndex, Visibility,
};

use crate::document::list_of;
use crate::format::{Edit, Format, Spliced};
use crate::json::{Kind, Tape, Value, write_string};
use crate::masks::Masks;
use crate::patch::Patch;

/// Stands where a stub is empty: the APIs refuse empty texts.
const EMPTY_STUB: &str = "[reclaimed]";

/// Where the messages of a source stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In a list of one document.
    Document,
    /// Each on a line.
    Lines,
}

/// What differs between request bodies.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) layout: Layout,
    /// Members of the top level that are the list of messages; a bare list is one itself.
    pub(crate) lists: &'static [&'static str],
    /// Whether a message leads: the summary stands behind those at the front of the list.
    pub(crate) leads: fn(Value<'_>) -> bool,
    /// The summary, a string literal, as a message of the list that is given.
    pub(crate) summary: fn(&[Value<'_>], &[u8]) -> Vec<u8>,
    /// What stands around the text of a part that is put in the place of others.
    pub(crate) part: [&'static str; 2],
    /// The ways from a result to the content that goes; where none leads anywhere, the result is the content.
    pub(crate) outputs: &'static [&'static [&'static str]],
    /// The member that holds the text where the content of a result is an object; without one, objects stay.
    pub(crate) output_member: Option<&'static str>,
    /// Counts what the API would refuse.
    pub(crate) violations: fn(&SourceIndex) -> BTreeMap<&'static str, usize>,
}

impl Rules {
    /// Bodies with `messages` whose parts are `{"type":"text"}`.
    pub(crate) const MESSAGES: Self = Self {
        layout: Layout::Document,
        lists: &["messages"],
        leads: |_| false,
        summary: user_message,
        part: [r#"{"type":"text","text":"#, "}"],
        outputs: &[&["content"]],
        output_member: None,
        violations: unpaired,
    };

    /// The same, each message on a line.
    pub(crate) const LINES: Self = Self { layout: Layout::Lines, lists: &[], ..Self::MESSAGES };
}

/// `{"role":"user","content":…}`.
pub(crate) fn user_message(_: &[Value<'_>], summary: &[u8]) -> Vec<u8> {
    [br#"{"role":"user","content":"#, summary, b"}"].concat()
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
) -> Result<Spliced> {
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    if edit.is_empty() {
        return Ok(Spliced { bytes: bytes.into_owned(), index: index.clone() });
    }
    let tapes = scan(&bytes, index, rules.layout)?;
    let mut roots = Vec::with_capacity(tapes.len());
    for (tape, range) in &tapes {
        roots.extend(tape.root(range.of(&bytes).unwrap_or_default(), range.start()));
    }
    let mut writer = Writer::new(&roots, index, rules);
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
    writer.summarise(&edit.summary, &replaced);
    writer.patch.mask(index, edit.masks.iter());
    let masks = Masks::new(index, edit);
    for (at, _) in index.blocks().filter(|(_, block)| block.copy_of.is_some() && !edit.masks.is_empty()) {
        writer.patch.mask(index, masks.of(source, index, at)?.iter());
    }
    let out = writer.patch.apply(&bytes, 0);
    let index = check(format, rules, index, &out)?;
    Ok(Spliced { bytes: out, index })
}

/// Scans the document, or every line that can be read.
fn scan(bytes: &[u8], index: &SourceIndex, layout: Layout) -> Result<Vec<(Tape, ByteRange)>> {
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let ranges = match layout {
        Layout::Document => vec![ByteRange::new(mark, index.len)],
        Layout::Lines => index.records.iter().map(|record| record.range).collect(),
    };
    let mut tapes = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut tape = Tape::new();
        match tape.scan(range.of(bytes).unwrap_or_default()) {
            Ok(_) => tapes.push((tape, range)),
            Err(_) if layout == Layout::Lines => {}
            Err(damage) => {
                return Err(Error::invalid_input(format!("the document cannot be edited: {damage}")));
            }
        }
    }
    Ok(tapes)
}

/// Compares what the API would refuse before and after.
fn check(format: &dyn Format, rules: &Rules, before: &SourceIndex, out: &dyn Bytes) -> Result<SourceIndex> {
    let after = format.index(out)?;
    let (old, new) = ((rules.violations)(before), (rules.violations)(&after));
    match new.iter().find(|(rule, count)| old.get(*rule).copied().unwrap_or(0) < **count) {
        Some((rule, count)) => {
            Err(Error::bug(format!("the compacted document breaks a rule of the API {count} times: {rule}")))
        }
        None => Ok(after),
    }
}

struct Writer<'v> {
    index: &'v SourceIndex,
    rules: &'v Rules,
    /// The elements of the list of messages.
    messages: Vec<Value<'v>>,
    /// The range of the list.
    list: Option<ByteRange>,
    /// The values of all records by their first byte.
    values: BTreeMap<u64, Value<'v>>,
    /// Places of messages that are nothing but thinking, to be removed.
    gone: Vec<usize>,
    /// Thinking to be removed, by the first byte of the list it stands in: the record, the list, and the places.
    thinking: BTreeMap<u64, (u32, Value<'v>, Vec<usize>)>,
    patch: Patch,
}

impl<'v> Writer<'v> {
    fn new(roots: &[Value<'v>], index: &'v SourceIndex, rules: &'v Rules) -> Self {
        let root = roots.first().copied().filter(|_| rules.layout == Layout::Document);
        let list = root.and_then(|root| list_of(root, rules.lists));
        let messages: Vec<Value<'v>> = match rules.layout {
            Layout::Document => list.into_iter().flat_map(Value::elements).collect(),
            Layout::Lines => roots.to_vec(),
        };
        let fields = root.into_iter().flat_map(Value::entries).map(|(_, value)| value);
        let values =
            fields.chain(messages.iter().copied()).map(|value| (value.range().start(), value)).collect();
        Self {
            index,
            rules,
            messages,
            list: list.map(Value::range),
            values,
            gone: Vec::new(),
            thinking: BTreeMap::new(),
            patch: Patch::default(),
        }
    }

    /// The value of a block, with the list it is an element of.
    fn value(&self, at: BlockRef, block: &Block) -> Option<(Option<Value<'v>>, Value<'v>)> {
        let record = self.values.get(&self.index.record(at)?.range.start()).copied()?;
        let mut list = None;
        let mut value = record;
        while value.range() != block.range {
            let mut inside = value.elements().chain(value.entries().map(|(_, value)| value));
            let next = inside.find(|inside| inside.range().contains(block.range))?;
            list = (value.kind() == Kind::Array).then_some(value);
            value = next;
        }
        Some((list, value))
    }

    fn reclaim(&mut self, at: BlockRef, stub: &str) {
        let Some(block) = self.index.block(at) else { return };
        if matches!(block.kind, BlockKind::Text | BlockKind::Paste | BlockKind::Summary) {
            return self.replace_texts(block, stub);
        }
        let Some((list, value)) = self.value(at, block) else { return };
        match &block.kind {
            BlockKind::Call(facts) => self.empty_arguments(value, facts.arguments),
            BlockKind::Result(_) => self.replace_result(block, value, stub),
            BlockKind::SideData { .. } => self.patch.replace(value.range(), literal(stub)),
            BlockKind::Attachment { .. } | BlockKind::Opaque(_) if list.is_some() => {
                self.patch.replace(value.range(), self.text_part(value, stub));
            }
            BlockKind::Thinking if value.kind() == Kind::String => self.replace_texts(block, ""),
            BlockKind::Thinking => self.drop_thinking(at, list, value),
            _ => {}
        }
    }

    /// Notes thinking that is to go. An item that is bound to the one behind it by an id stays.
    fn drop_thinking(&mut self, at: BlockRef, list: Option<Value<'v>>, value: Value<'v>) {
        if let Some(list) = list {
            let place = list.elements().position(|element| element.range() == value.range());
            let entry = self.thinking.entry(list.range().start());
            entry.or_insert_with(|| (at.record, list, Vec::new())).2.extend(place);
            return;
        }
        let start = value.range().start();
        let Ok(place) = self.messages.binary_search_by_key(&start, |message| message.range().start()) else {
            return;
        };
        let bound = |value: &Value<'_>| value.get("id").is_some();
        let is_free = !bound(&value) && !self.messages.get(place + 1).is_some_and(bound);
        if is_free && self.has_ended(at.record) {
            self.gone.push(place);
        }
    }

    fn replace_texts(&mut self, block: &Block, stub: &str) {
        for (text, stub) in block.text.iter().zip([stub].into_iter().chain(std::iter::repeat(EMPTY_STUB))) {
            self.patch.replace_text(text.range, stub);
        }
    }

    fn empty_arguments(&mut self, call: Value<'_>, arguments: Arguments) {
        match arguments {
            // What a hosted tool did has a shape of its own, which the API checks.
            Arguments::Json(range) if call.get("arguments").is_none() && is_shaped(call, range) => {
                self.hollow(call.entries().map(|(_, value)| value).find(|value| value.range() == range));
            }
            Arguments::Json(range) | Arguments::JsonInString(range) | Arguments::JsonInJson(range) => {
                self.patch.replace(range, "{}");
            }
            Arguments::Text(range) => self.patch.replace(range, ""),
            Arguments::Plain(_) | Arguments::Pieces(..) | Arguments::Missing => {}
        }
    }

    /// Empties every string in a value but those that tell what it is.
    fn hollow(&mut self, value: Option<Value<'_>>) {
        let mut todo: Vec<Value<'_>> = value.into_iter().collect();
        while let Some(value) = todo.pop() {
            if let Some(text) = value.text_range() {
                self.patch.replace(text.range, "");
            }
            todo.extend(value.elements());
            todo.extend(value.entries().filter(|(key, _)| !key.is("type")).map(|(_, value)| value));
        }
    }

    /// A string stays a string, a list becomes one text part. Contents of server tools are sealed and stay.
    fn replace_result(&mut self, block: &Block, part: Value<'_>, stub: &str) {
        let is_server = part
            .string_at("type")
            .is_some_and(|kind| kind.ends_with("_tool_result") && kind != "mcp_tool_result");
        let content = self.rules.outputs.iter().find_map(|way| part.path(way)).unwrap_or(part);
        match content.kind() {
            _ if is_server => {}
            Kind::Array if content.elements().any(|part| part.get("text").is_none() && is_output(part)) => {
                self.replace_texts(block, stub);
            }
            Kind::Array => {
                let last = content.elements().last().unwrap_or(content);
                let mut list = b"[".to_vec();
                list.extend(self.text_part(last, stub));
                list.push(b']');
                self.patch.replace(content.range(), list);
            }
            Kind::String | Kind::Null => self.patch.replace(content.range(), literal(stub)),
            Kind::Object => {
                if let Some(member) = self.rules.output_member {
                    let object = [format!("{{\"{member}\":").as_bytes(), &literal(stub), b"}"].concat();
                    self.patch.replace(content.range(), object);
                }
            }
            Kind::True | Kind::False | Kind::Number => {}
        }
    }

    /// Whether a later prompt has ended the turn that the record is part of.
    fn has_ended(&self, record: u32) -> bool {
        let speaks = |record: &Record| {
            let role = record.label.rsplit('/').next().unwrap_or_default();
            matches!(role, "user" | "human")
                && record.kind == RecordKind::Message
                && !record.blocks.iter().any(|block| matches!(block.kind, BlockKind::Result(_)))
        };
        self.index
            .records
            .iter()
            .rposition(speaks)
            .is_some_and(|at| u32::try_from(at).is_ok_and(|at| record < at))
    }

    /// Removes thinking where the API allows it: in a turn that a later prompt has ended, and never the last part.
    fn remove_thinking(&mut self) {
        for (_, (record, list, mut places)) in std::mem::take(&mut self.thinking) {
            let parts: Vec<Value<'_>> = list.elements().collect();
            places.sort_unstable();
            places.dedup();
            if self.has_ended(record) && places.len() < parts.len() {
                self.patch.remove_members(&parts, &places);
            }
        }
    }

    /// Puts the summary in its place: that of an earlier one, else behind the leading messages.
    fn summarise(&mut self, summary: &str, replaced: &BTreeSet<u32>) {
        let starts: BTreeSet<u64> = replaced
            .iter()
            .filter_map(|&record| self.index.record(BlockRef { record, block: 0 }))
            .map(|record| record.range.start())
            .collect();
        let mut old: Vec<usize> = self.places(|message| starts.contains(&message.range().start()));
        let message = (self.rules.summary)(&self.messages, &literal(summary));
        match (old.first().copied(), summary.is_empty()) {
            (_, true) => {}
            (Some(first), false) => {
                old.remove(0);
                if let Some(old) = self.messages.get(first) {
                    self.patch.replace(old.range(), message);
                }
            }
            (None, false) => self.insert(message),
        }
        old.append(&mut self.gone);
        old.sort_unstable();
        old.dedup();
        if !old.is_empty() {
            self.patch.remove_members(&self.messages, &old);
        }
    }

    fn places(&self, wanted: impl Fn(&Value<'_>) -> bool) -> Vec<usize> {
        self.messages.iter().enumerate().filter(|(_, message)| wanted(message)).map(|(at, _)| at).collect()
    }

    /// Inserts a message behind the leading ones, spaced like the messages around it.
    fn insert(&mut self, mut message: Vec<u8>) {
        let place = self.messages.iter().take_while(|value| (self.rules.leads)(**value)).count();
        let between: &[u8] = if self.rules.layout == Layout::Lines { b"\n" } else { b"," };
        match (self.messages.get(place), self.messages.last(), self.list) {
            (Some(next), ..) => {
                message.extend_from_slice(between);
                message.extend_from_slice(&self.space_before(place));
                self.patch.insert(next.range().start(), message);
            }
            (None, Some(last), _) => {
                let mut separated = between.to_vec();
                separated.extend_from_slice(&self.space_before(place.saturating_sub(1)));
                separated.extend_from_slice(&message);
                self.patch.insert(last.range().end(), separated);
            }
            (None, None, Some(list)) => self.patch.insert(list.start() + 1, message),
            (None, None, None) => {}
        }
    }

    /// A text part in the place of `part`, whose cache mark it keeps.
    fn text_part(&self, part: Value<'_>, stub: &str) -> Vec<u8> {
        let [before, after] = self.rules.part;
        let mut out = before.as_bytes().to_vec();
        write_string(&mut out, stub);
        if let Some(mark) = part.get("cache_control") {
            out.extend_from_slice(br#","cache_control":"#);
            out.extend_from_slice(mark.raw());
        }
        out.extend_from_slice(after.as_bytes());
        out
    }

    /// The whitespace in front of the message at `place`.
    fn space_before(&self, place: usize) -> Cow<'v, [u8]> {
        let Some(message) = self.messages.get(place) else { return Cow::Borrowed(b"") };
        message.space_before()
    }
}

/// A text as a string literal.
pub(crate) fn literal(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_string(&mut out, text);
    out
}

/// Whether the arguments at `range` are what an item of a hosted tool holds under a name of its own.
fn is_shaped(call: Value<'_>, range: ByteRange) -> bool {
    let own = |key: &str| call.get(key).is_some_and(|value| value.range() == range);
    ["action", "operation", "queries"].into_iter().any(own)
}

/// Whether a part is what a program put out, or what a search found.
fn is_output(part: Value<'_>) -> bool {
    ["stdout", "logs", "filename"].into_iter().any(|key| part.get(key).is_some())
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

/// Counts calls without a result and results without a call in what would be sent.
pub(crate) fn unpaired(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
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
