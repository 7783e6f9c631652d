//! Logs of the Agent Client Protocol: the messages of JSON-RPC between an editor and an agent, both directions, one on
//! a line.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Ending, Finding, Form, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker, TextRange,
};

use crate::json::{Kind, Value};
use crate::lines::read_records;
use crate::outcome;
use crate::part::{block, owned, plain_text, unknown, user_text};
use crate::stream::{self, Holds, Step, Whole};

/// Where the piece of a chunk stands.
const CHUNK: &[&str] = &["params", "update", "content", "text"];

/// What is told in chunks, by the kind of the update.
const CHUNKS: [(&str, Whole); 3] = [
    ("user_message_chunk", Whole::Said(Speaker::User)),
    ("agent_message_chunk", Whole::Said(Speaker::Assistant)),
    ("agent_thought_chunk", Whole::Thought),
];

/// What the agent has the editor do, and the tool that it amounts to.
const ACTS: [(&str, &str); 7] = [
    ("fs/write_text_file", "write_text_file"),
    ("fs/read_text_file", "read_text_file"),
    ("terminal/create", "terminal/create"),
    ("terminal/output", "terminal/output"),
    ("terminal/wait_for_exit", "terminal/wait_for_exit"),
    ("terminal/kill", "terminal/kill"),
    ("terminal/release", "terminal/release"),
];

/// Reads a log.
///
/// # Errors
/// As [`Bytes::read`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    let mut reader = Reader::default();
    let mut parts = read_records(source, &mut |value, record, at| reader.read(value, record, at))?;
    // A call whose arguments never came stands where it was begun.
    for (_, (at, call)) in std::mem::take(&mut reader.begun) {
        if let Some(record) = usize::try_from(at).ok().and_then(|at| parts.records.get_mut(at)) {
            record.kind = RecordKind::Message;
            record.blocks.insert(0, call);
        }
    }
    stream::join(&mut parts, &reader.steps, CHUNK);
    Ok(parts.into_index("acp", Form::Fold, source, reader.findings))
}

/// A request that waits for its answer.
#[derive(Debug)]
enum Asked {
    /// A session: its directory.
    Session(Option<String>),
    /// The user's leave for a call, and the options that refuse it.
    Leave {
        call: String,
        refusing: BTreeSet<String>,
    },
    /// An act of the editor for the agent.
    Act(String),
    Other,
}

#[derive(Debug, Default)]
struct Reader {
    session: Option<String>,
    cwd: Option<String>,
    /// Requests by their ids. Both sides count for themselves, and the later one is answered first.
    asked: BTreeMap<String, Vec<Asked>>,
    /// Calls whose arguments have not come.
    begun: BTreeMap<String, (u32, Block)>,
    /// The tools of calls.
    tools: BTreeMap<String, String>,
    refused: BTreeSet<String>,
    steps: BTreeMap<u32, Step>,
    findings: Vec<Finding>,
}

impl Reader {
    fn read(&mut self, value: Value<'_>, mut record: Record, at: u32) -> Record {
        let method = value.string_at("method").unwrap_or_default();
        record.label = if method.is_empty() { "answer".to_owned() } else { format!("rpc/{method}") };
        record.kind = RecordKind::Meta;
        let params = value.get("params").unwrap_or(value);
        let from = self.findings.len();
        match method.as_ref() {
            "" => self.answered(value, &mut record),
            "session/update" => self.update(params, &mut record, at),
            _ => self.requested(&method, value, params, &mut record),
        }
        self.findings.iter_mut().skip(from).for_each(|finding| finding.line = record.line);
        if record.kind == RecordKind::Meta && !record.blocks.is_empty() {
            record.kind = RecordKind::Message;
        }
        record.blocks.sort_by_key(|block| block.range);
        record.session = owned(params, "sessionId").or_else(|| self.session.clone());
        self.session.clone_from(&record.session);
        record.cwd.clone_from(&self.cwd);
        record
    }

    fn requested(&mut self, method: &str, value: Value<'_>, params: Value<'_>, record: &mut Record) {
        let id = value.get("id").map(|id| String::from_utf8_lossy(id.raw()).into_owned());
        let act = ACTS.iter().find(|(name, _)| *name == method);
        let asked = match (method, act) {
            ("session/new" | "session/load" | "session/resume", _) => Asked::Session(owned(params, "cwd")),
            ("session/request_permission", _) => leave(params),
            ("session/prompt", _) => {
                prompt(params, record);
                Asked::Other
            }
            (_, Some((_, tool))) => {
                let name = format!(
                    "{method} {}:{}",
                    record.line.unwrap_or_default(),
                    id.as_deref().unwrap_or_default()
                );
                let facts = CallFacts {
                    id: Some(name.clone()),
                    tool: (*tool).to_owned(),
                    arguments: Arguments::Json(params.range()),
                };
                record.blocks.push(block(
                    BlockKind::Call(facts),
                    params,
                    "/params".to_owned(),
                    Speaker::Assistant,
                ));
                Asked::Act(name)
            }
            _ => Asked::Other,
        };
        if let Some(id) = id {
            self.asked.entry(id).or_default().push(asked);
        }
    }

    fn update(&mut self, params: Value<'_>, record: &mut Record, at: u32) {
        let update = params.get("update").unwrap_or(params);
        let kind = update.string_at("sessionUpdate").unwrap_or_default();
        record.label = format!("update/{kind}");
        let chunk = CHUNKS.iter().find(|(name, _)| *name == kind);
        match (kind.as_ref(), chunk) {
            (_, Some((name, whole))) => self.chunk(update, (name, whole), record, at),
            ("tool_call", _) => self.called(update, record, at),
            ("tool_call_update", _) => self.called_again(update, record),
            _ if kind.is_empty() => {
                let why = "an update without a kind".to_owned();
                self.findings.push(unknown(record, update, "", why));
            }
            _ => {
                self.steps.insert(at, Step::Silent);
            }
        }
    }

    fn chunk(&mut self, update: Value<'_>, (kind, whole): (&str, &Whole), record: &mut Record, at: u32) {
        let content = update.get("content").unwrap_or(update);
        let text = content.get("text").filter(|text| text.kind() == Kind::String);
        let Some(text) = text else {
            let media_type = owned(content, "mimeType").unwrap_or_else(|| "content".to_owned());
            let who = if *whole == Whole::Said(Speaker::User) { Speaker::User } else { Speaker::Assistant };
            let pointer = "/params/update/content".to_owned();
            return record.blocks.push(block(BlockKind::Attachment { media_type }, content, pointer, who));
        };
        let message = owned(update, "messageId").unwrap_or_default();
        let holds = if text.raw().len() > 2 { Holds::Text } else { Holds::Nothing };
        let name = format!("{kind} {message}");
        self.steps.insert(at, Step::Piece { name, whole: Some(whole.clone()), holds });
    }

    /// A call. Its arguments may come later, and what it returned may stand here already.
    fn called(&mut self, update: Value<'_>, record: &mut Record, at: u32) {
        let id = owned(update, "toolCallId").unwrap_or_default();
        let tool = tool(update);
        self.tools.insert(id.clone(), tool);
        if given(update).is_some() {
            record.blocks.push(self.call(&id, update));
        } else {
            let own = self.call(&id, update);
            self.begun.insert(id.clone(), (at, own));
        }
        self.returned(&id, update, record);
    }

    fn called_again(&mut self, update: Value<'_>, record: &mut Record) {
        let id = owned(update, "toolCallId").unwrap_or_default();
        if given(update).is_some() && self.begun.remove(&id).is_some() {
            record.blocks.push(self.call(&id, update));
        }
        self.returned(&id, update, record);
    }

    fn call(&self, id: &str, update: Value<'_>) -> Block {
        let arguments = given(update);
        let facts = CallFacts {
            id: Some(id.to_owned()),
            tool: self.tools.get(id).cloned().unwrap_or_default(),
            arguments: arguments.map_or(Arguments::Missing, |given| Arguments::Json(given.range())),
        };
        let whole = arguments.or_else(|| update.get("toolCallId")).unwrap_or(update);
        block(BlockKind::Call(facts), whole, "/params/update".to_owned(), Speaker::Assistant)
    }

    /// What a call returned, where the update ends it; before that it is progress, which the last replaces.
    fn returned(&mut self, id: &str, update: Value<'_>, record: &mut Record) {
        let error = match update.string_at("status").as_deref() {
            Some("completed") => false,
            Some("failed") => true,
            _ => return,
        };
        let mut facts =
            ResultFacts { call_id: Some(id.to_owned()), error: Some(error), ..ResultFacts::default() };
        if self.refused.contains(id) {
            facts.ending = Ending::Refused;
        }
        let content = update.get("content").filter(|content| content.elements().next().is_some());
        let output = update.get("rawOutput").filter(|output| output.kind() != Kind::Null);
        let own = content.or(output).or_else(|| update.get("status")).unwrap_or(update);
        let text = match (content, output) {
            (Some(content), _) => texts(content),
            (None, Some(output)) => vec![plain_text(output)],
            (None, None) => Vec::new(),
        };
        facts.cuts = content.or(output).map(outcome::cuts).unwrap_or_default();
        let own = block(BlockKind::Result(facts), own, "/params/update".to_owned(), Speaker::Tool);
        record.blocks.push(Block { text, ..own });
    }

    /// An answer goes to the last request of its id that waits.
    fn answered(&mut self, value: Value<'_>, record: &mut Record) {
        let id = value.get("id").map(|id| String::from_utf8_lossy(id.raw()).into_owned()).unwrap_or_default();
        let Some(asked) = self.asked.get_mut(&id).and_then(Vec::pop) else { return };
        let result = value.get("result").filter(|result| result.kind() == Kind::Object);
        match asked {
            Asked::Session(cwd) => {
                self.cwd = cwd.or_else(|| self.cwd.take());
                self.session =
                    result.and_then(|result| owned(result, "sessionId")).or_else(|| self.session.take());
            }
            Asked::Leave { call, refusing } => {
                let option = result.and_then(|result| result.path(&["outcome", "optionId"])?.string());
                if option.is_none_or(|option| refusing.contains(option.as_ref())) {
                    self.refused.insert(call);
                }
            }
            Asked::Act(name) => record.blocks.push(acted(value, name)),
            Asked::Other => {}
        }
    }
}

/// What the user asks for.
fn prompt(params: Value<'_>, record: &mut Record) {
    for (at, part) in params.get("prompt").into_iter().flat_map(Value::elements).enumerate() {
        let pointer = format!("/params/prompt/{at}");
        let kind = part.string_at("type").unwrap_or_default();
        if let Some(text) = part.get("text").filter(|text| kind == "text" && text.kind() == Kind::String) {
            user_text(part, text, &pointer, &mut record.blocks);
            continue;
        }
        let media_type = owned(part, "mimeType")
            .or_else(|| part.path(&["resource", "mimeType"])?.string().map(Into::into));
        let media_type = media_type.unwrap_or_else(|| kind.into_owned());
        let own = block(BlockKind::Attachment { media_type }, part, pointer, Speaker::User);
        let text = part.path(&["resource", "text"]).and_then(Value::text_range);
        record.blocks.push(Block { text: text.into_iter().collect(), ..own });
    }
}

/// What came of an act of the editor.
fn acted(value: Value<'_>, call_id: String) -> Block {
    let error = value.get("error").filter(|error| error.kind() == Kind::Object);
    let result = value.get("result");
    let status = result.and_then(|result| result.get("exitStatus").or(Some(result)));
    let exit_code =
        status.and_then(|status| status.get("exitCode")?.integer()).and_then(|code| i32::try_from(code).ok());
    let facts = ResultFacts {
        call_id: Some(call_id),
        error: Some(error.is_some()),
        exit_code,
        ..ResultFacts::default()
    };
    let text = error.and_then(|error| error.get("message"));
    let text = text.or_else(|| ["content", "output"].iter().find_map(|key| result?.get(key)));
    let own = text.or(error).or(result).unwrap_or(value);
    let own = block(BlockKind::Result(facts), own, "/result".to_owned(), Speaker::Tool);
    Block { text: text.and_then(Value::text_range).into_iter().collect(), ..own }
}

/// The question whether a call may be run.
fn leave(params: Value<'_>) -> Asked {
    let call =
        params.path(&["toolCall", "toolCallId"]).and_then(Value::string).unwrap_or_default().into_owned();
    let options = params.get("options").into_iter().flat_map(Value::elements);
    let refusing =
        options.filter(|option| option.string_at("kind").is_some_and(|kind| kind.starts_with("reject")));
    Asked::Leave { call, refusing: refusing.filter_map(|option| owned(option, "optionId")).collect() }
}

/// The arguments of a call, where they are more than an empty object.
fn given(update: Value<'_>) -> Option<Value<'_>> {
    let input = update.get("rawInput").filter(|input| input.kind() != Kind::Null)?;
    let empty = input.kind() == Kind::Object && input.entries().next().is_none();
    (!empty).then_some(input)
}

/// The tool's own name, where the agent adds it; else the kind of tool, else the title that is shown.
fn tool(update: Value<'_>) -> String {
    let extra = update.get("_meta").into_iter().flat_map(Value::entries).map(|(_, own)| own);
    let own = update.get("_meta").into_iter().chain(extra).find_map(|own| owned(own, "toolName"));
    let kind = || owned(update, "kind").filter(|kind| kind != "other");
    own.or_else(kind).or_else(|| owned(update, "title")).unwrap_or_default()
}

/// The texts of a call's content: of blocks, and of changes the new text.
fn texts(content: Value<'_>) -> Vec<TextRange> {
    let text = |part: Value<'_>| {
        let own = part.path(&["content", "text"]).or_else(|| part.path(&["content", "resource", "text"]));
        own.or_else(|| part.get("newText"))?.text_range()
    };
    content.elements().filter_map(text).collect()
}
