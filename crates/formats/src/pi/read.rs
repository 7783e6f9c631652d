//! From a line to a record.

use std::collections::BTreeMap;

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Cut, Ending, Finding, Level, Record, RecordKind, ResultFacts,
    Speaker, Usage, Visibility,
};

use crate::copies::COPIED_FROM;
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{
    block, content_texts, finding, owned, plain_text, text_block, time_of, unknown, user_text,
};

/// What a line is in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// Not in the tree: the header, and what cannot be read.
    #[default]
    None,
    /// An entry.
    Entry,
    /// A compaction, with what it keeps of the entries before it.
    Compaction(Kept),
}

/// Where what a compaction keeps begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kept {
    /// At the entry with this id; where there is none, nothing is kept.
    From(Option<String>),
    /// At this entry of the file, counted from 0 with the header: the oldest form.
    At(usize),
}

/// A line as an entry.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) role: Role,
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
}

/// Reads lines one after the other.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// By place among the records.
    pub(super) entries: BTreeMap<usize, Entry>,
    pub(super) findings: Vec<Finding>,
    pub(super) usage: Vec<Usage>,
    /// Copies and the lines they name.
    pub(super) copied: BTreeMap<usize, u32>,
    session: Option<String>,
    cwd: Option<String>,
}

/// Entries that hold settings and names, and nobody's words.
const META: [&str; 9] = [
    "model_change",
    "thinking_level_change",
    "label",
    "session_info",
    "title",
    "custom",
    "leaf",
    "mode_change",
    "service_tier_change",
];

/// The kind of message by which a summary that stays is carried over.
pub(super) const CARRIED_SUMMARY: &str = "strongroom.summary";

impl Reader {
    /// Reads the line `value`, which is record `at`.
    pub(super) fn read(&mut self, value: Value<'_>, mut record: Record, at: u32) -> Record {
        let place = usize::try_from(at).unwrap_or(usize::MAX);
        let kind = value.string_at("type").unwrap_or_default();
        record.time = value.get("timestamp").and_then(time_of);
        record.id = owned(value, "id");
        kind.as_ref().clone_into(&mut record.label);
        let mut role = Role::Entry;
        match kind.as_ref() {
            "session" => {
                role = Role::None;
                record.kind = RecordKind::Meta;
                self.session = record.id.clone().or_else(|| self.session.take());
                self.cwd = owned(value, "cwd").or_else(|| self.cwd.take());
            }
            "message" => self.message(value, &mut record, at),
            "compaction" => {
                role = Role::Compaction(kept(value));
                record.kind = RecordKind::Boundary;
                summary(value, "/summary", &mut record.blocks);
            }
            "branch_summary" => {
                record.kind = RecordKind::Message;
                summary(value, "/summary", &mut record.blocks);
            }
            "custom_message" => custom(value, "", &mut record, &mut self.findings),
            known if META.contains(&known) => record.kind = RecordKind::Meta,
            _ => self.unknown(value, &mut record, &format!("entry type {kind:?}")),
        }
        record.session.clone_from(&self.session);
        record.cwd.clone_from(&self.cwd);
        let line = value.get(COPIED_FROM).and_then(Value::integer).and_then(|line| u32::try_from(line).ok());
        self.copied.extend(line.map(|line| (place, line)));
        let parent = owned(value, "parentId");
        self.entries.insert(place, Entry { role, id: record.id.clone(), parent });
        record
    }

    fn unknown(&mut self, value: Value<'_>, record: &mut Record, name: &str) {
        self.findings.push(unknown(record, value, "", format!("unknown {name}")));
    }

    fn message(&mut self, value: Value<'_>, record: &mut Record, at: u32) {
        let Some(message) = value.get("message").filter(|message| message.kind() == Kind::Object) else {
            return self.unknown(value, record, "message entry without a message");
        };
        let role = message.string_at("role").unwrap_or_default();
        record.kind = RecordKind::Message;
        record.label = format!("message/{role}");
        let blocks = &mut record.blocks;
        match role.as_ref() {
            "user" => content(message, "/message", Speaker::User, record, &mut self.findings),
            "system" | "developer" => {
                content(message, "/message", Speaker::Operator, record, &mut self.findings);
            }
            "assistant" => {
                content(message, "/message", Speaker::Assistant, record, &mut self.findings);
                self.usage.extend(usage(message, at));
            }
            "toolResult" => {
                blocks.push(result(message));
                blocks.extend(details(message));
            }
            "bashExecution" => shell(message, record),
            "custom" | "hookMessage" => custom(message, "/message", record, &mut self.findings),
            "branchSummary" | "compactionSummary" => summary(message, "/message/summary", blocks),
            other => {
                let name = format!("message role {other:?}");
                self.unknown(value, record, &name);
            }
        }
    }
}

fn kept(value: Value<'_>) -> Kept {
    let index = value.get("firstKeptEntryIndex").and_then(Value::integer);
    match index.and_then(|index| usize::try_from(index).ok()) {
        Some(index) => Kept::At(index),
        None => Kept::From(owned(value, "firstKeptEntryId")),
    }
}

fn summary(value: Value<'_>, pointer: &str, blocks: &mut Vec<Block>) {
    let text = value.get("summary").filter(|text| text.kind() == Kind::String && text.raw().len() > 2);
    if let Some(text) = text {
        let own = text_block(text, text, pointer.to_owned(), Speaker::Derived);
        blocks.push(Block { kind: BlockKind::Summary, ..own });
    }
}

/// What an extension says to the model; a summary that was carried over stays one.
fn custom(value: Value<'_>, pointer: &str, record: &mut Record, findings: &mut Vec<Finding>) {
    record.kind = RecordKind::Message;
    content(value, pointer, Speaker::Harness, record, findings);
    if value.get("customType").is_some_and(|kind| kind.is(CARRIED_SUMMARY)) {
        for block in record.blocks.iter_mut().filter(|block| block.kind == BlockKind::Text) {
            block.kind = BlockKind::Summary;
            block.speaker = Speaker::Derived;
        }
    }
}

fn content(
    message: Value<'_>,
    pointer: &str,
    speaker: Speaker,
    record: &mut Record,
    findings: &mut Vec<Finding>,
) {
    let Some(content) = message.get("content") else { return };
    let pointer = format!("{pointer}/content");
    if content.kind() == Kind::String {
        return text(content, content, pointer, speaker, &mut record.blocks);
    }
    for (at, part) in content.elements().enumerate() {
        let pointer = format!("{pointer}/{at}");
        let kind = part.string_at("type").unwrap_or_default();
        let blocks = &mut record.blocks;
        match (kind.as_ref(), part.get("text"), part.get("thinking")) {
            ("text", Some(inside), _) => text(part, inside, pointer, speaker, blocks),
            ("thinking" | "redactedThinking", _, inside) => {
                let text = inside.and_then(Value::text_range).filter(|text| !text.range.is_empty());
                let own = block(BlockKind::Thinking, part, pointer, speaker);
                blocks.push(Block { text: text.into_iter().collect(), ..own });
            }
            ("toolCall", ..) => blocks.push(call(part, pointer)),
            ("image", ..) => {
                let media_type = owned(part, "mimeType").unwrap_or_else(|| "image".to_owned());
                blocks.push(block(BlockKind::Attachment { media_type }, part, pointer, speaker));
            }
            (other, ..) => {
                let why = format!("a content part of unknown type {other:?}");
                findings.push(finding(Level::Note, "unknown-part", record.line, &pointer, why.clone()));
                let own = block(BlockKind::Opaque(why), part, pointer, speaker);
                blocks.push(Block { text: vec![plain_text(part)], ..own });
            }
        }
    }
}

fn text(whole: Value<'_>, inside: Value<'_>, pointer: String, speaker: Speaker, blocks: &mut Vec<Block>) {
    if speaker == Speaker::User {
        user_text(whole, inside, &pointer, blocks);
    } else if inside.raw().len() > 2 {
        blocks.push(text_block(whole, inside, pointer, speaker));
    }
}

fn call(part: Value<'_>, pointer: String) -> Block {
    let arguments = part.get("arguments").map_or(Arguments::Missing, |held| match held.text_range() {
        Some(text) => Arguments::JsonInString(text.range),
        None => Arguments::Json(held.range()),
    });
    let tool = owned(part, "name").unwrap_or_default();
    let facts = CallFacts { id: owned(part, "id"), tool, arguments };
    block(BlockKind::Call(facts), part, pointer, Speaker::Assistant)
}

/// Words at the end of a failed result.
const FAILED_WITH: &str = "Command exited with code ";

/// Words in a failed result and how its run ended.
const ENDINGS: [(&str, Ending); 3] = [
    ("Command timed out after ", Ending::TimedOut),
    ("Command aborted", Ending::Interrupted),
    ("Operation aborted", Ending::Interrupted),
];

fn result(message: Value<'_>) -> Block {
    let error = message.get("isError").and_then(Value::bool);
    let call_id = owned(message, "toolCallId");
    let mut facts = ResultFacts { call_id, error, ..ResultFacts::default() };
    let Some(content) = message.get("content") else {
        return block(BlockKind::Result(facts), message, "/message".to_owned(), Speaker::Tool);
    };
    if error == Some(true) {
        let last = content.elements().last().and_then(|part| part.string_at("text")).or(content.string());
        let last = last.as_deref().and_then(|text| text.trim_end().lines().last()).unwrap_or_default();
        facts.exit_code = last.strip_prefix(FAILED_WITH).and_then(outcome::leading_number);
        if let Some((_, ending)) = ENDINGS.iter().find(|(words, _)| last.starts_with(words)) {
            facts.ending = ending.clone();
        }
    }
    facts.cuts = outcome::cuts(content);
    facts.cuts.extend(truncation(message));
    let own = block(BlockKind::Result(facts), content, "/message/content".to_owned(), Speaker::Tool);
    Block { text: content_texts(content), ..own }
}

/// What the side data of a result says of what was cut.
fn truncation(message: Value<'_>) -> Option<Cut> {
    let truncation = message.path(&["details", "truncation"])?;
    truncation.get("truncated").and_then(Value::bool).filter(|truncated| *truncated)?;
    let count = |key| truncation.get(key).and_then(Value::integer).unwrap_or_default();
    let (kept, all) = (count("outputLines"), count("totalLines"));
    Some(Cut::Truncated(format!("{kept} of {all} lines")))
}

/// What only the screen shows of a result, e.g. the difference an edit made.
fn details(message: Value<'_>) -> Option<Block> {
    let details = message.get("details").filter(|details| details.raw().len() > 2)?;
    let facts = BlockKind::SideData { call_id: owned(message, "toolCallId") };
    let own = block(facts, details, "/message/details".to_owned(), Speaker::Tool);
    Some(Block { visibility: Visibility::Aside, text: vec![plain_text(details)], ..own })
}

/// A command that the user ran: a call and its result in one line.
fn shell(message: Value<'_>, record: &mut Record) {
    // A copy has an id of its own, and the time of the message.
    let time = message.get("timestamp").map(Value::raw).map(String::from_utf8_lossy);
    let id = Some(format!("bashExecution {}", time.unwrap_or_default()));
    let command = message.get("command").and_then(Value::text_range);
    let arguments = command.map_or(Arguments::Missing, |text| Arguments::Text(text.range));
    let place = message.get("command").unwrap_or(message);
    let facts = CallFacts { id: id.clone(), tool: "bash".to_owned(), arguments };
    let call = block(BlockKind::Call(facts), place, "/message/command".to_owned(), Speaker::User);
    let code = message.get("exitCode").and_then(Value::integer).and_then(|code| i32::try_from(code).ok());
    let mut facts = ResultFacts { call_id: id, exit_code: code, ..ResultFacts::default() };
    if message.get("cancelled").and_then(Value::bool) == Some(true) {
        facts.ending = Ending::Interrupted;
    }
    if message.get("truncated").and_then(Value::bool) == Some(true) {
        facts.cuts.push(Cut::Truncated("truncated output".to_owned()));
    }
    let mut found = vec![call];
    if let Some(output) = message.get("output") {
        let own = block(BlockKind::Result(facts), output, "/message/output".to_owned(), Speaker::Tool);
        found.push(Block { text: output.text_range().into_iter().collect(), ..own });
    }
    if message.get("excludeFromContext").and_then(Value::bool) == Some(true) {
        found.iter_mut().for_each(|block| block.visibility = Visibility::Aside);
    }
    found.sort_by_key(|block| block.range);
    record.blocks = found;
}

fn usage(message: Value<'_>, record: u32) -> Option<Usage> {
    let usage = message.get("usage")?;
    let count = |key: &str| {
        usage.get(key).and_then(Value::integer).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    };
    let cached_tokens = count("cacheRead");
    let context_tokens = count("input").saturating_add(cached_tokens).saturating_add(count("cacheWrite"));
    let own = Usage { record, context_tokens, output_tokens: count("output"), cached_tokens };
    (context_tokens > 0).then_some(own)
}
