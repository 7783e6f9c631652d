//! Sessions of the Copilot CLI: events `{type, data, id, parentId, timestamp}`, one on a line.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, BlockRef, Branch, Bytes, CallFacts, Cut, Ending, Finding, Form, Level,
    Record, RecordKind, ResultFacts, SourceIndex, Speaker, Usage, Visibility,
};

use crate::format::refuse_empty;
use crate::json::{Kind, Value};
use crate::lines::read_records;
use crate::outcome::{self, leading_number};
use crate::part::{block, content_texts, finding, owned, text_block, time_of, unknown, user_text};

/// Reads a session.
///
/// # Errors
/// `InvalidInput` for an empty source, and as [`Bytes::read`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    refuse_empty(source)?;
    let mut reader = Reader::default();
    let mut parts = read_records(source, &mut |value, record, at| reader.read(value, record, at))?;
    for step in &reader.steps {
        step.apply(&mut parts.records);
    }
    let index = parts.into_index("copilot-cli", Form::Fold, source, reader.findings);
    Ok(SourceIndex { usage: reader.usage, ..index })
}

/// What an event does to the events before it.
#[derive(Debug)]
enum Step {
    /// What was said before record `at` is no longer sent.
    Past { at: usize },
    /// The events from record `from` to record `at` were taken back.
    Rewound { from: usize, at: usize },
}

impl Step {
    fn apply(&self, records: &mut [Record]) {
        let (from, to, branch) = match *self {
            Self::Past { at } => (0, at, Branch::Active),
            Self::Rewound { from, at } => (from, at, Branch::Abandoned),
        };
        for record in records.iter_mut().take(to).skip(from) {
            if branch == Branch::Abandoned {
                record.branch = branch;
            }
            for block in record.blocks.iter_mut().filter(|block| block.visibility == Visibility::Context) {
                block.visibility = Visibility::Past;
            }
        }
    }
}

/// How an event is read.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Start,
    User,
    System,
    Assistant,
    Reasoning,
    Requested,
    Started,
    Completed,
    Permission,
    /// The program says the text at this key.
    Notice(&'static str),
    Usage,
    Compacted,
    Cleared,
    Rewound,
    /// A part of the conversation was dropped, and nothing says which.
    Dropped,
    Handed,
}

/// Events that say something. Other events of a known family are settings, progress or copies.
const EVENTS: [(&str, Reading); 24] = [
    ("session.start", Reading::Start),
    ("session.resume", Reading::Start),
    ("session.context_changed", Reading::Start),
    ("user.message", Reading::User),
    ("system.message", Reading::System),
    ("assistant.message", Reading::Assistant),
    ("assistant.reasoning", Reading::Reasoning),
    ("tool.user_requested", Reading::Requested),
    ("tool.execution_start", Reading::Started),
    ("tool.execution_complete", Reading::Completed),
    ("permission.completed", Reading::Permission),
    ("system.notification", Reading::Notice("content")),
    ("session.info", Reading::Notice("message")),
    ("session.warning", Reading::Notice("message")),
    ("session.error", Reading::Notice("message")),
    ("abort", Reading::Notice("reason")),
    ("assistant.usage", Reading::Usage),
    ("session.compaction_complete", Reading::Compacted),
    ("session.context_cleared", Reading::Cleared),
    ("session.snapshot_rewind", Reading::Rewound),
    ("session.truncation", Reading::Dropped),
    ("session.handoff", Reading::Handed),
    ("subagent.failed", Reading::Notice("error")),
    ("session.task_complete", Reading::Notice("summary")),
];

const FAMILIES: [&str; 20] = [
    "session.",
    "user.",
    "system.",
    "assistant.",
    "tool.",
    "hook.",
    "permission.",
    "subagent.",
    "skill.",
    "command.",
    "commands.",
    "user_input.",
    "elicitation.",
    "external_tool.",
    "exit_plan_mode.",
    "pending_messages.",
    "mcp.",
    "sampling.",
    "capabilities.",
    "model.",
];

/// Tools behind whose output the program says how the command ended.
const SHELLS: [&str; 8] = [
    "bash",
    "read_bash",
    "write_bash",
    "stop_bash",
    "powershell",
    "read_powershell",
    "write_powershell",
    "stop_powershell",
];

/// The codes of a failed call, and what they say of the run.
const CODES: [(&str, Ending); 6] = [
    ("denied", Ending::Refused),
    ("rejected", Ending::Refused),
    ("cancelled", Ending::Interrupted),
    ("canceled", Ending::Interrupted),
    ("aborted", Ending::Interrupted),
    ("timeout", Ending::TimedOut),
];

#[derive(Debug, Default)]
struct Reader {
    session: Option<String>,
    cwd: Option<String>,
    /// The records by the ids of their events.
    events: BTreeMap<String, usize>,
    /// The first rendition of each call, with its tool.
    calls: BTreeMap<String, (BlockRef, String)>,
    /// Calls that were not permitted.
    refused: BTreeSet<String>,
    steps: Vec<Step>,
    findings: Vec<Finding>,
    usage: Vec<Usage>,
}

impl Reader {
    fn read(&mut self, value: Value<'_>, mut record: Record, at: u32) -> Record {
        let kind = value.string_at("type").unwrap_or_default();
        kind.as_ref().clone_into(&mut record.label);
        record.kind = RecordKind::Meta;
        record.id = owned(value, "id");
        record.time = value.get("timestamp").and_then(time_of);
        record.agent = owned(value, "agentId");
        let data = value.get("data").filter(|data| data.kind() == Kind::Object);
        let reading = EVENTS.iter().find(|(name, _)| *name == kind).map(|(_, reading)| *reading);
        match (reading, data) {
            (Some(reading), Some(data)) => self.event(reading, data, &mut record, at),
            _ if FAMILIES.iter().any(|family| kind.starts_with(family)) || kind == "abort" => {}
            _ => {
                let why = format!("an event of unknown type {kind:?}");
                self.findings.push(unknown(&mut record, value, "", why));
            }
        }
        if record.kind == RecordKind::Meta && !record.blocks.is_empty() {
            record.kind = RecordKind::Message;
        }
        record.blocks.sort_by_key(|block| block.range);
        self.note_calls(&mut record, at);
        record.session.clone_from(&self.session);
        record.cwd.clone_from(&self.cwd);
        if let (Some(id), Ok(at)) = (record.id.clone(), usize::try_from(at)) {
            self.events.insert(id, at);
        }
        record
    }

    fn event(&mut self, reading: Reading, data: Value<'_>, record: &mut Record, at: u32) {
        let place = usize::try_from(at).unwrap_or(usize::MAX);
        match reading {
            Reading::Start => self.start(data),
            Reading::User => user(data, record),
            Reading::System => said(data, "content", Speaker::Operator, &mut record.blocks),
            Reading::Assistant => assistant(data, record),
            Reading::Reasoning => thinking(data, "content", &mut record.blocks),
            Reading::Requested => record.blocks.push(started(data, Speaker::User)),
            Reading::Started => record.blocks.push(started(data, Speaker::Assistant)),
            Reading::Completed => record.blocks.push(self.completed(data)),
            Reading::Permission => self.permission(data),
            Reading::Notice(key) => said(data, key, Speaker::Harness, &mut record.blocks),
            Reading::Usage => self.usage.extend(usage(data, at)),
            Reading::Compacted => {
                record.kind = RecordKind::Boundary;
                if data.get("success").and_then(Value::bool) != Some(false) {
                    self.steps.push(Step::Past { at: place });
                    summary(data, "summaryContent", record);
                }
            }
            Reading::Cleared => {
                record.kind = RecordKind::Boundary;
                self.steps.push(Step::Past { at: place });
            }
            Reading::Rewound => self.rewound(data, place, record),
            Reading::Dropped => {
                let why = "a part of the conversation was dropped here, and the session does not say which";
                self.findings.push(finding(Level::Note, "dropped", record.line, "", why.to_owned()));
            }
            Reading::Handed => summary(data, "summary", record),
        }
    }

    fn start(&mut self, data: Value<'_>) {
        self.session = owned(data, "sessionId").or_else(|| self.session.take());
        let place = data.get("context").unwrap_or(data);
        self.cwd = owned(place, "cwd").or_else(|| self.cwd.take());
    }

    /// A call is told twice, when it is asked for and when it starts: the later is a copy.
    fn note_calls(&mut self, record: &mut Record, at: u32) {
        for (own, n) in record.blocks.iter_mut().zip(0u32..) {
            let BlockKind::Call(facts) = &own.kind else { continue };
            let Some(id) = facts.id.clone() else { continue };
            match self.calls.get(&id) {
                Some((first, _)) => {
                    own.copy_of = Some(*first);
                    own.visibility = Visibility::Aside;
                }
                None => {
                    self.calls.insert(id, (BlockRef { record: at, block: n }, facts.tool.clone()));
                }
            }
        }
    }

    fn completed(&self, data: Value<'_>) -> Block {
        let call_id = owned(data, "toolCallId");
        let error = data.get("success").and_then(Value::bool).map(|success| !success);
        let mut facts = ResultFacts { call_id, error, ..ResultFacts::default() };
        let id = facts.call_id.as_deref().unwrap_or_default();
        let code = data.path(&["error", "code"]).and_then(Value::string).unwrap_or_default();
        if self.refused.contains(id) {
            facts.ending = Ending::Refused;
        } else if let Some((_, ending)) = CODES.iter().find(|(name, _)| *name == code) {
            facts.ending = ending.clone();
        }
        let content = [("result", "content"), ("error", "message")]
            .iter()
            .find_map(|(outer, inner)| Some((data.path(&[outer, inner])?, format!("/data/{outer}/{inner}"))));
        let Some((content, pointer)) = content else {
            return block(BlockKind::Result(facts), data, "/data".to_owned(), Speaker::Tool);
        };
        if self.calls.get(id).is_some_and(|(_, tool)| SHELLS.contains(&tool.as_str())) {
            shell_end(&content.string().unwrap_or_default(), &mut facts);
        }
        facts.cuts.extend(outcome::cuts(content));
        let own = block(BlockKind::Result(facts), content, pointer, Speaker::Tool);
        Block { text: content_texts(content), ..own }
    }

    fn permission(&mut self, data: Value<'_>) {
        let kind = data.path(&["result", "kind"]).and_then(Value::string).unwrap_or_default();
        if kind.starts_with("denied") {
            self.refused.extend(owned(data, "toolCallId"));
        }
    }

    /// Everything behind the named event is taken back.
    fn rewound(&mut self, data: Value<'_>, at: usize, record: &mut Record) {
        record.kind = RecordKind::Boundary;
        let kept = owned(data, "upToEventId").and_then(|id| self.events.get(&id).copied());
        let Some(kept) = kept else {
            let why = "a rewind to an event that is not in the file";
            return self.findings.push(finding(Level::Warning, "rewind", record.line, "", why.to_owned()));
        };
        self.steps.push(Step::Rewound { from: kept + 1, at });
    }
}

fn said(data: Value<'_>, key: &str, speaker: Speaker, blocks: &mut Vec<Block>) {
    if let Some(text) = data.get(key).filter(|text| text.kind() == Kind::String && text.raw().len() > 2) {
        blocks.push(text_block(text, text, format!("/data/{key}"), speaker));
    }
}

fn thinking(data: Value<'_>, key: &str, blocks: &mut Vec<Block>) {
    let from = blocks.len();
    said(data, key, Speaker::Assistant, blocks);
    blocks.iter_mut().skip(from).for_each(|block| block.kind = BlockKind::Thinking);
}

/// A prompt. Below a child agent it is the parent that prompts.
fn user(data: Value<'_>, record: &mut Record) {
    if record.agent.is_some() {
        return said(data, "content", Speaker::Agent, &mut record.blocks);
    }
    if let Some(text) = data.get("content").filter(|text| text.kind() == Kind::String) {
        user_text(text, text, "/data/content", &mut record.blocks);
    }
    for (at, part) in data.get("attachments").into_iter().flat_map(Value::elements).enumerate() {
        let media_type = owned(part, "type").unwrap_or_default();
        let pointer = format!("/data/attachments/{at}");
        record.blocks.push(block(BlockKind::Attachment { media_type }, part, pointer, Speaker::User));
    }
}

fn assistant(data: Value<'_>, record: &mut Record) {
    record.message_id = owned(data, "messageId");
    said(data, "content", Speaker::Assistant, &mut record.blocks);
    thinking(data, "reasoningText", &mut record.blocks);
    for (at, call) in data.get("toolRequests").into_iter().flat_map(Value::elements).enumerate() {
        let facts = CallFacts {
            id: owned(call, "toolCallId"),
            tool: owned(call, "name").unwrap_or_default(),
            arguments: arguments(call.get("arguments")),
        };
        let pointer = format!("/data/toolRequests/{at}");
        record.blocks.push(block(BlockKind::Call(facts), call, pointer, Speaker::Assistant));
    }
}

fn started(data: Value<'_>, speaker: Speaker) -> Block {
    let facts = CallFacts {
        id: owned(data, "toolCallId"),
        tool: owned(data, "toolName").unwrap_or_default(),
        arguments: arguments(data.get("arguments")),
    };
    block(BlockKind::Call(facts), data, "/data".to_owned(), speaker)
}

fn arguments(value: Option<Value<'_>>) -> Arguments {
    match value {
        None => Arguments::Missing,
        Some(value) => match value.text_range() {
            Some(text) => Arguments::JsonInString(text.range),
            None => Arguments::Json(value.range()),
        },
    }
}

/// Reads the line that the program puts behind the output of a shell.
fn shell_end(text: &str, facts: &mut ResultFacts) {
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let Some(inside) = last.strip_prefix('<').and_then(|line| line.strip_suffix('>')) else { return };
    let shell = inside.split_once("shellId: ").map_or("", |(_, rest)| rest);
    let shell = shell.split([' ', ',']).next().unwrap_or_default();
    if let Some((_, code)) = inside.split_once(" completed with exit code ") {
        facts.exit_code = leading_number(code);
    } else if inside.contains(" is still running") {
        facts.ending = Ending::Background(shell.to_owned());
        facts.cuts.push(Cut::Truncated("the command was still running".to_owned()));
    }
}

fn summary(data: Value<'_>, key: &str, record: &mut Record) {
    record.kind = RecordKind::Boundary;
    said(data, key, Speaker::Derived, &mut record.blocks);
    record.blocks.iter_mut().for_each(|block| block.kind = BlockKind::Summary);
}

fn usage(data: Value<'_>, record: u32) -> Option<Usage> {
    let count =
        |key: &str| data.get(key).and_then(Value::integer).and_then(|count| u64::try_from(count).ok());
    Some(Usage {
        record,
        context_tokens: count("inputTokens")?,
        output_tokens: count("outputTokens")?,
        cached_tokens: count("cacheReadTokens").unwrap_or(0),
    })
}
