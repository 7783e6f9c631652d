//! Logs of the events of AG-UI, one on a line, or as the stream of server-sent events that carries them.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{
    Block, BlockKind, BlockRef, Bytes, CallFacts, Finding, Form, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker, Visibility,
};

use crate::chat;
use crate::json::{Kind, Value};
use crate::lines::read_records;
use crate::outcome;
use crate::part::{block, content_texts, owned, text_block, unknown};
use crate::stream::{self, Holds, Step, Whole};

/// Where the pieces of texts and arguments stand.
const DELTA: &[&str] = &["delta"];

/// How an event is read.
#[derive(Debug, Clone, Copy)]
enum Reading {
    /// A piece of what a message says.
    Said,
    Thought,
    Call,
    Result,
    /// All messages there are.
    Snapshot,
    Started,
    /// The program says the text at this key.
    Notice(&'static str),
    /// Settings, state, progress.
    Silent,
}

/// The events, by how their types begin. The first that fits counts.
const EVENTS: [(&str, Reading); 18] = [
    ("TEXT_MESSAGE_", Reading::Said),
    ("REASONING_MESSAGE_", Reading::Thought),
    ("THINKING_TEXT_MESSAGE_", Reading::Thought),
    ("TOOL_CALL_RESULT", Reading::Result),
    ("TOOL_CALL_", Reading::Call),
    ("MESSAGES_SNAPSHOT", Reading::Snapshot),
    ("RUN_STARTED", Reading::Started),
    ("RUN_ERROR", Reading::Notice("message")),
    ("RUN_FINISHED", Reading::Silent),
    ("SUBAGENT_ERROR", Reading::Notice("message")),
    ("SUBAGENT_", Reading::Silent),
    ("STATE_", Reading::Silent),
    ("STEP_", Reading::Silent),
    ("ACTIVITY_", Reading::Silent),
    ("REASONING_", Reading::Silent),
    ("THINKING_", Reading::Silent),
    ("RAW", Reading::Silent),
    ("CUSTOM", Reading::Silent),
];

/// Reads a log.
///
/// # Errors
/// As [`Bytes::read`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    let mut reader = Reader::default();
    let mut parts = read_records(source, &mut |value, record, at| reader.read(value, record, at))?;
    stream::join(&mut parts, &reader.steps, DELTA);
    again(source, &mut parts.records)?;
    Ok(parts.into_index("ag-ui", Form::Fold, source, reader.findings))
}

#[derive(Debug, Default)]
struct Reader {
    thread: Option<String>,
    /// The message that a chunk without a name goes on with.
    last: String,
    steps: BTreeMap<u32, Step>,
    findings: Vec<Finding>,
}

impl Reader {
    fn read(&mut self, value: Value<'_>, mut record: Record, at: u32) -> Record {
        let kind = value.string_at("type").unwrap_or_default();
        record.label = format!("event/{kind}");
        record.kind = RecordKind::Meta;
        record.time = value.get("timestamp").and_then(Value::integer).map(Timestamp::from_ms);
        let reading = EVENTS.iter().find(|(begin, _)| kind.starts_with(begin)).map(|(_, reading)| *reading);
        let from = self.findings.len();
        match reading {
            Some(Reading::Said) => self.piece(value, "messageId", said(value), at),
            Some(Reading::Thought) => self.piece(value, "messageId", Some(Whole::Thought), at),
            Some(Reading::Call) => {
                let tool = owned(value, "toolCallName").map(Whole::Call);
                self.piece(value, "toolCallId", tool, at);
            }
            Some(Reading::Result) => record.blocks.extend(result(value)),
            Some(Reading::Snapshot) => self.messages(value.get("messages"), "/messages", &mut record),
            Some(Reading::Started) => {
                self.thread = owned(value, "threadId").or_else(|| self.thread.take());
                self.messages(value.path(&["input", "messages"]), "/input/messages", &mut record);
            }
            Some(Reading::Notice(key)) => {
                let text = value.get(key).filter(|text| text.kind() == Kind::String);
                record
                    .blocks
                    .extend(text.map(|text| text_block(text, text, format!("/{key}"), Speaker::Harness)));
            }
            Some(Reading::Silent) => {
                self.steps.insert(at, Step::Silent);
            }
            None => {
                let why = format!("an event of unknown type {kind:?}");
                self.findings.push(unknown(&mut record, value, "", why));
            }
        }
        self.findings.iter_mut().skip(from).for_each(|finding| finding.line = record.line);
        if record.kind == RecordKind::Meta && !record.blocks.is_empty() {
            record.kind = RecordKind::Message;
        }
        record.session.clone_from(&self.thread);
        record
    }

    fn piece(&mut self, value: Value<'_>, id: &str, whole: Option<Whole>, at: u32) {
        let name = owned(value, id).unwrap_or_else(|| self.last.clone());
        self.last.clone_from(&name);
        let text =
            value.get("delta").is_some_and(|delta| delta.kind() == Kind::String && delta.raw().len() > 2);
        let holds = if text { Holds::Text } else { Holds::Nothing };
        self.steps.insert(at, Step::Piece { name, whole, holds });
    }

    /// Messages as a whole. Each names itself, so that those that were told piece by piece are known.
    fn messages(&mut self, messages: Option<Value<'_>>, at: &str, record: &mut Record) {
        for (n, message) in messages.into_iter().flat_map(Value::elements).enumerate() {
            let from = record.blocks.len();
            let role = message.string_at("role").unwrap_or_default();
            match (role.as_ref(), speaker(&role)) {
                ("tool", _) => record.blocks.extend(result(message)),
                ("activity", _) => {}
                ("reasoning", _) => {
                    chat::content(message, Speaker::Assistant, &mut record.blocks, &mut self.findings);
                    record.blocks.iter_mut().skip(from).for_each(|block| block.kind = BlockKind::Thinking);
                }
                (_, speaker) => {
                    chat::content(message, speaker, &mut record.blocks, &mut self.findings);
                    record.blocks.extend(calls(message));
                }
            }
            for block in record.blocks.iter_mut().skip(from) {
                block.pointer = format!("{at}/{n}{}", block.pointer);
            }
        }
    }
}

/// Who says a message, where the event names it.
fn said(value: Value<'_>) -> Option<Whole> {
    let kind = value.string_at("type")?;
    let role = value.string_at("role");
    let begins = role.is_some() || kind.ends_with("_START");
    begins.then(|| Whole::Said(speaker(&role.unwrap_or("assistant".into()))))
}

fn speaker(role: &str) -> Speaker {
    match role {
        "user" => Speaker::User,
        "system" | "developer" => Speaker::Operator,
        "assistant" => Speaker::Assistant,
        _ => Speaker::Unknown,
    }
}

fn calls(message: Value<'_>) -> Vec<Block> {
    let calls = message.get("toolCalls").into_iter().flat_map(Value::elements).enumerate();
    calls
        .map(|(at, call)| {
            let inside = call.get("function").unwrap_or(call);
            chat::tool_call(call, inside, owned(call, "id"), format!("/toolCalls/{at}"))
        })
        .collect()
}

/// What a tool returned.
fn result(value: Value<'_>) -> Option<Block> {
    let content = value.get("content")?;
    let error = value.get("error").filter(|error| error.kind() == Kind::String).map(|_| true);
    let facts = ResultFacts {
        call_id: owned(value, "toolCallId"),
        error,
        cuts: outcome::cuts(content),
        ..ResultFacts::default()
    };
    let own = block(BlockKind::Result(facts), content, "/content".to_owned(), Speaker::Tool);
    Some(Block { text: content_texts(content), ..own })
}

/// Marks in the lists of messages what was told before: calls and results by their ids, and what was said, where it
/// says the same.
fn again(source: &dyn Bytes, records: &mut [Record]) -> Result<()> {
    let mut known: BTreeMap<Key, Vec<BlockRef>> = BTreeMap::new();
    for at in 0..records.len() {
        let Some(record) = records.get(at) else { continue };
        let listed = matches!(record.label.as_str(), "event/MESSAGES_SNAPSHOT" | "event/RUN_STARTED");
        let mut copies = Vec::new();
        // The second of two equal messages in a list is the second that was told.
        let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
        for (n, own) in record.blocks.iter().enumerate() {
            let Some(key) = key(source, own)? else { continue };
            let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let told = known.entry(key.clone()).or_default();
            let count = counts.entry(key).or_default();
            match told.get(*count).filter(|_| listed) {
                Some(first) => copies.push((n, *first)),
                None => told.push(BlockRef { record: narrow(at), block: narrow(n) }),
            }
            *count += 1;
        }
        let Some(record) = records.get_mut(at) else { continue };
        for (n, first) in copies {
            if let Some(own) = record.blocks.get_mut(n) {
                own.copy_of = Some(first);
                own.visibility = Visibility::Aside;
            }
        }
    }
    Ok(())
}

/// By what a block is known: what it is, who speaks, what it says.
type Key = (String, Speaker, String);

fn key(source: &dyn Bytes, own: &Block) -> Result<Option<Key>> {
    let mut text = String::new();
    for part in &own.text {
        text.push_str(&crate::content::text(source, *part)?);
    }
    Ok(match &own.kind {
        BlockKind::Call(CallFacts { id: Some(id), .. }) => Some((format!("call {id}"), own.speaker, text)),
        BlockKind::Result(ResultFacts { call_id: Some(id), .. }) => {
            Some((format!("result {id}"), own.speaker, text))
        }
        BlockKind::Text | BlockKind::Paste | BlockKind::Thinking => {
            Some(("said".to_owned(), own.speaker, text))
        }
        _ => None,
    })
}
