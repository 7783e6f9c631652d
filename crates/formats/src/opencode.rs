//! Exports of `OpenCode`: a session's `info` and its messages, each with parts; a part of a tool is a call with what it
//! returned.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Cut, Ending, Finding, Level, Record, RecordKind,
    ResultFacts, SideItem, SideKind, SourceIndex, Speaker, Usage, Visibility,
};

use crate::document::{self, Adapter, Member, Paths, unknown};
use crate::json::{Kind, Value};
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

const PATHS: Paths = &[&["messages", "*"]];

/// Parts that say nothing: marks of steps and states of files, the agent that was named, a mark of a compaction.
const MARKS: [&str; 7] = ["step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction"];

/// How the error of a call begins that was not run or not ended, in the program's own words.
const ENDINGS: [(&str, Ending); 4] = [
    ("The user rejected permission to use this specific tool call", Ending::Refused),
    ("The user has specified a rule which prevents you from using this specific tool call", Ending::Refused),
    ("The user dismissed this question", Ending::Refused),
    ("Tool execution aborted", Ending::Interrupted),
];

/// What the program says behind the output of a command without an exit code.
const SHELL_ENDINGS: [(&str, Ending); 2] =
    [("after exceeding timeout", Ending::TimedOut), ("User aborted the command", Ending::Interrupted)];

/// What begins the program's own words behind an output.
const SHELL_MARKS: [&str; 2] = ["<shell_metadata>", "<bash_metadata>"];

/// Reads an export.
///
/// # Errors
/// As [`document::index_at`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    let mut reader = Reader::default();
    let mut index = document::index_at("opencode", PATHS, source, &mut reader)?;
    let places: BTreeMap<&str, u32> =
        index.records.iter().zip(0u32..).map(|(record, at)| (record.pointer.as_str(), at)).collect();
    let at = |pointer: &str| places.get(pointer).copied();
    index.usage = reader
        .usage
        .iter()
        .filter_map(|(pointer, usage)| Some(Usage { record: at(pointer)?, ..*usage }))
        .collect();
    index.side_items = reader
        .children
        .iter()
        .map(|(child, pointer)| SideItem {
            kind: SideKind::Child { agent: child.clone() },
            places: vec![format!("{child}.json")],
            record: at(pointer),
        })
        .collect();
    Ok(index)
}

#[derive(Debug, Default)]
struct Reader {
    session: Option<String>,
    directory: Option<String>,
    /// Whether another agent has begun the session.
    child: bool,
    /// The index of the first message that is still sent.
    first: usize,
    /// Token counts by the pointers of the messages that carry them.
    usage: Vec<(String, Usage)>,
    /// Sessions of child agents with the pointers of the messages that name them first.
    children: BTreeMap<String, String>,
}

impl Adapter for Reader {
    fn begin(&mut self, root: Value<'_>) {
        let info = root.get("info");
        self.session = info.and_then(|info| owned(info, "id"));
        self.directory = info.and_then(|info| owned(info, "directory"));
        self.child = info.is_some_and(|info| owned(info, "parentID").is_some());
        self.first = first_sent(root);
    }

    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let Member::Message(value) = member else { return };
        let (Some(info), Some(parts)) = (value.get("info"), value.get("parts")) else {
            return unknown(record, value, "a message without info or parts", findings);
        };
        self.envelope(info, record);
        let role = info.string_at("role").unwrap_or_default();
        record.label = format!("message/{role}");
        let speaker = match role.as_ref() {
            "user" if self.child => Speaker::Agent,
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            other => {
                let why = format!("a message with the unknown role {other:?}");
                return unknown(record, value, &why, findings);
            }
        };
        record.kind = RecordKind::Message;
        for (at, part) in parts.elements().enumerate() {
            self.part((part, &format!("/parts/{at}")), speaker, record, findings);
        }
        failure(info, record);
        if is_summary(info) {
            record.kind = RecordKind::Boundary;
            let texts = record.blocks.iter_mut().filter(|block| block.kind == BlockKind::Text);
            texts.for_each(|block| {
                block.kind = BlockKind::Summary;
                block.speaker = Speaker::Derived;
            });
        }
        record.blocks.sort_by_key(|block| block.range);
        let place = record.pointer.rsplit('/').next().and_then(|part| part.parse::<usize>().ok());
        if place.is_some_and(|place| place < self.first) {
            let sent = record.blocks.iter_mut().filter(|block| block.visibility == Visibility::Context);
            sent.for_each(|block| block.visibility = Visibility::Past);
        }
    }
}

impl Reader {
    fn envelope(&mut self, info: Value<'_>, record: &mut Record) {
        record.id = owned(info, "id");
        record.session = owned(info, "sessionID").or_else(|| self.session.clone());
        record.agent = record.session.clone().filter(|_| self.child);
        record.cwd = info
            .path(&["path", "cwd"])
            .and_then(Value::string)
            .map(Into::into)
            .or_else(|| self.directory.clone());
        let created = info.path(&["time", "created"]).and_then(Value::integer);
        record.time = created.map(Timestamp::from_ms);
        let count = |path: &[&str]| {
            info.path(path).and_then(Value::integer).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
        };
        let cached_tokens = count(&["tokens", "cache", "read"]);
        let context_tokens =
            count(&["tokens", "input"]) + cached_tokens + count(&["tokens", "cache", "write"]);
        if context_tokens > 0 {
            let output_tokens = count(&["tokens", "output"]);
            let usage = Usage { record: 0, context_tokens, output_tokens, cached_tokens };
            self.usage.push((record.pointer.clone(), usage));
        }
    }

    fn part(
        &mut self,
        (part, pointer): (Value<'_>, &str),
        speaker: Speaker,
        record: &mut Record,
        findings: &mut Vec<Finding>,
    ) {
        let kind = part.string_at("type").unwrap_or_default();
        let blocks = &mut record.blocks;
        let from = blocks.len();
        match kind.as_ref() {
            "text" => text(part, pointer, speaker, blocks),
            "reasoning" => {
                text(part, pointer, speaker, blocks);
                blocks.iter_mut().skip(from).for_each(|block| block.kind = BlockKind::Thinking);
            }
            "tool" => {
                if let Some(child) = part.path(&["state", "metadata", "sessionId"]).and_then(Value::string) {
                    self.children.entry(child.into()).or_insert_with(|| record.pointer.clone());
                }
                tool(part, pointer, blocks);
            }
            "file" => {
                let media_type = owned(part, "mime").unwrap_or_default();
                blocks.push(block(BlockKind::Attachment { media_type }, part, pointer.to_owned(), speaker));
            }
            "subtask" => string(part, "prompt", pointer, Speaker::Harness, blocks),
            mark if MARKS.contains(&mark) => {}
            other => {
                let why = format!("a part of unknown type {other:?}");
                findings.push(finding(Level::Note, "unknown-part", None, pointer, why.clone()));
                let own = block(BlockKind::Opaque(why), part, pointer.to_owned(), speaker);
                blocks.push(Block { text: vec![plain_text(part)], ..own });
            }
        }
    }
}

/// The index of the first message that is still sent: what stands before the last summary that was finished is not,
/// but for the tail that its compaction names.
fn first_sent(root: Value<'_>) -> usize {
    let messages = || root.get("messages").into_iter().flat_map(Value::elements);
    let last = messages().filter_map(|message| message.get("info")).filter(|info| is_summary(*info)).last();
    let Some(asked) = last.and_then(|info| owned(info, "parentID")) else { return 0 };
    let place =
        |id: &str| messages().position(|message| message.path(&["info", "id"]).is_some_and(|own| own.is(id)));
    let Some(at) = place(&asked) else { return 0 };
    let parts = messages().nth(at).and_then(|message| message.get("parts"));
    let tail = parts.into_iter().flat_map(Value::elements).find_map(|part| owned(part, "tail_start_id"));
    tail.and_then(|tail| place(&tail)).filter(|tail| *tail < at).unwrap_or(at)
}

/// Whether a message is a summary that was finished.
fn is_summary(info: Value<'_>) -> bool {
    let is_null = |value: Value<'_>| value.kind() == Kind::Null;
    info.get("summary").and_then(Value::bool) == Some(true)
        && info.get("finish").is_some_and(|finish| !is_null(finish))
        && info.get("error").is_none_or(is_null)
}

/// A text. What the program made up is its own; what is ignored is not sent.
fn text(part: Value<'_>, pointer: &str, speaker: Speaker, blocks: &mut Vec<Block>) {
    let set = |key: &str| part.get(key).and_then(Value::bool) == Some(true);
    let speaker = if set("synthetic") { Speaker::Harness } else { speaker };
    let from = blocks.len();
    match part.get("text").filter(|text| text.kind() == Kind::String && text.raw().len() > 2) {
        Some(text) if speaker == Speaker::User => user_text(text, text, &format!("{pointer}/text"), blocks),
        Some(text) => blocks.push(text_block(text, text, format!("{pointer}/text"), speaker)),
        None => {}
    }
    if set("ignored") {
        blocks.iter_mut().skip(from).for_each(|block| block.visibility = Visibility::Aside);
    }
}

fn string(part: Value<'_>, key: &str, pointer: &str, speaker: Speaker, blocks: &mut Vec<Block>) {
    if let Some(text) = part.get(key).filter(|text| text.kind() == Kind::String && text.raw().len() > 2) {
        blocks.push(text_block(text, text, format!("{pointer}/{key}"), speaker));
    }
}

/// A message that failed says why.
fn failure(info: Value<'_>, record: &mut Record) {
    let said = info.path(&["error", "data", "message"]).filter(|text| text.kind() == Kind::String);
    if let Some(text) = said {
        let pointer = "/info/error/data/message".to_owned();
        record.blocks.push(text_block(text, text, pointer, Speaker::Harness));
    }
}

/// A call with what it returned, and the data about it.
fn tool(part: Value<'_>, pointer: &str, blocks: &mut Vec<Block>) {
    let id = owned(part, "callID");
    let state = part.get("state").filter(|state| state.kind() == Kind::Object);
    let input = state.and_then(|state| state.get("input"));
    let facts = CallFacts {
        id: id.clone(),
        tool: owned(part, "tool").unwrap_or_default(),
        arguments: input.map_or(Arguments::Missing, |input| Arguments::Json(input.range())),
    };
    let whole = input.or_else(|| part.get("tool")).unwrap_or(part);
    let place = if input.is_some() { format!("{pointer}/state/input") } else { format!("{pointer}/tool") };
    blocks.push(block(BlockKind::Call(facts), whole, place, Speaker::Assistant));
    let Some(state) = state else { return };
    if let Some((key, text)) = ["output", "error"].iter().find_map(|key| Some((*key, state.get(key)?))) {
        let facts = result(state, text, id.clone());
        let own = block(BlockKind::Result(facts), text, format!("{pointer}/state/{key}"), Speaker::Tool);
        blocks.push(Block {
            text: content_texts(text),
            visibility: if is_cleared(state) { Visibility::Past } else { Visibility::Context },
            ..own
        });
    }
    if let Some(data) = state.get("metadata").filter(|data| data.kind() == Kind::Object) {
        let facts = BlockKind::SideData { call_id: id };
        let own = block(facts, data, format!("{pointer}/state/metadata"), Speaker::Tool);
        blocks.push(Block { visibility: Visibility::Aside, text: vec![plain_text(data)], ..own });
    }
    for (at, file) in state.get("attachments").into_iter().flat_map(Value::elements).enumerate() {
        let media_type = owned(file, "mime").unwrap_or_default();
        let place = format!("{pointer}/state/attachments/{at}");
        blocks.push(block(BlockKind::Attachment { media_type }, file, place, Speaker::Tool));
    }
}

/// Whether the agent sends a placeholder instead of the result.
fn is_cleared(state: Value<'_>) -> bool {
    state.path(&["time", "compacted"]).is_some_and(|time| time.kind() != Kind::Null)
}

fn result(state: Value<'_>, text: Value<'_>, call_id: Option<String>) -> ResultFacts {
    let failed = state.get("status").is_some_and(|status| status.is("error"));
    let exit = state.path(&["metadata", "exit"]).and_then(Value::integer);
    let set = |key: &str| state.path(&["metadata", key]).and_then(Value::bool) == Some(true);
    let said = text.string().unwrap_or_default();
    let ending = match exit {
        Some(_) => Ending::Returned,
        None if failed => ending(&said, &ENDINGS, |text, words| text.starts_with(words)),
        None => shell_ending(&said),
    };
    let ending = if failed && set("interrupted") { Ending::Interrupted } else { ending };
    let mut cuts = Vec::new();
    if set("truncated") {
        let whole = state.path(&["metadata", "outputPath"]).and_then(Value::string);
        cuts.push(Cut::Truncated(match whole {
            Some(path) => format!("the whole output was saved to {path}"),
            None => "the output was cut".to_owned(),
        }));
    }
    if is_cleared(state) {
        cuts.push(Cut::Placeholder("the result is no longer sent".to_owned()));
    }
    ResultFacts {
        call_id,
        error: Some(failed),
        exit_code: exit.and_then(|code| i32::try_from(code).ok()),
        ending,
        cuts,
    }
}

/// The words that the program puts behind an output count only there, and only where it has no exit code.
fn shell_ending(said: &str) -> Ending {
    let own = SHELL_MARKS.iter().filter_map(|mark| said.rsplit_once(mark)).map(|(_, own)| own).next();
    own.map_or(Ending::Returned, |own| ending(own, &SHELL_ENDINGS, |text, words| text.contains(words)))
}

fn ending(text: &str, table: &[(&str, Ending)], fits: impl Fn(&str, &str) -> bool) -> Ending {
    let row = table.iter().find(|(words, _)| fits(text, words));
    row.map_or(Ending::Returned, |(_, ending)| ending.clone())
}
