//! Trajectories of mini-swe-agent: messages whose actions stand in a fence, in tool calls, or beside the message.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Cut, Ending, Finding, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker,
};

use crate::chat;
use crate::document::{self, Adapter, Member, Paths, unknown};
use crate::json::{Kind, Value};
use crate::outcome::leading_number;
use crate::part::{block, content_texts, digits_before, owned, push_said, raw_part, text_block};

const PATHS: Paths = &[&["*"], &["messages", "*"]];

/// The words after three backticks that make a fence an action.
const FENCES: [&str; 2] = ["mswea_bash_command", "bash"];

/// What an action that names no tool runs in: a shell of its own.
const SHELL: &str = "shell";

/// Reads a trajectory.
///
/// # Errors
/// As [`document::index_at`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    document::index_at("mini-swe-agent", PATHS, source, &mut Reader::default())
}

#[derive(Debug, Default)]
struct Reader {
    /// The directory every action starts in.
    cwd: Option<String>,
    /// Whether each message is followed by an observation.
    observed: Vec<bool>,
    /// The ids of actions without a call id that are answered next.
    open: Vec<String>,
    messages: usize,
    /// Whether the model has spoken: before, role user is the task.
    begun: bool,
}

impl Adapter for Reader {
    fn begin(&mut self, root: Value<'_>) {
        self.cwd = root.path(&["info", "config", "environment"]).and_then(|place| owned(place, "cwd"));
        let list = if root.kind() == Kind::Array { Some(root) } else { root.get("messages") };
        let messages = || list.into_iter().flat_map(Value::elements);
        self.observed = messages().skip(1).map(is_observation).collect();
    }

    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        match member {
            Member::Message(value) => self.message(value, record, findings),
            Member::Field(value) if record.pointer == "/info" => {
                if let Some(text) = value.get("submission").filter(|text| text.kind() == Kind::String) {
                    record.kind = RecordKind::Message;
                    "submission".clone_into(&mut record.label);
                    record.blocks.push(text_block(text, text, "/submission".to_owned(), Speaker::Harness));
                }
            }
            Member::Field(_) => {}
        }
    }
}

impl Reader {
    fn message(&mut self, value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let observed = self.observed.get(self.messages).copied().unwrap_or(false);
        self.messages += 1;
        let role = value.string_at("role").unwrap_or_default();
        let kind = value.string_at("type").unwrap_or_default();
        record.kind = RecordKind::Message;
        record.label = format!("message/{role}");
        record.cwd.clone_from(&self.cwd);
        match (role.as_ref(), kind.as_ref()) {
            ("system", _) => chat::content(value, Speaker::Operator, &mut record.blocks, findings),
            ("assistant", _) => self.assistant(value, observed, record, findings),
            ("tool", _) | (_, "function_call_output") => record.blocks.push(result(value, None)),
            ("user", _) if !self.begun => {
                chat::content(value, Speaker::User, &mut record.blocks, findings);
            }
            ("user", _) if is_observation(value) && !self.open.is_empty() => {
                let id = self.open.remove(0);
                record.blocks.push(result(value, Some(id)));
            }
            ("user" | "exit", _) => chat::content(value, Speaker::Harness, &mut record.blocks, findings),
            _ if value.get("output").is_some_and(|output| output.kind() == Kind::Array) => {
                self.response(value, record, findings);
            }
            _ if value.kind() != Kind::Object => {
                unknown(record, value, "a message that is no object", findings);
            }
            (other, _) => {
                unknown(record, value, &format!("a message with the unknown role {other:?}"), findings);
            }
        }
    }

    fn assistant(
        &mut self,
        value: Value<'_>,
        observed: bool,
        record: &mut Record,
        findings: &mut Vec<Finding>,
    ) {
        self.begun = true;
        self.open.clear();
        let has_calls = value.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some());
        if has_calls {
            return chat::assistant(value, &mut record.blocks, findings);
        }
        if value.path(&["extra", "actions"]).is_some() {
            chat::content(value, Speaker::Assistant, &mut record.blocks, findings);
            return self.actions(value, record);
        }
        let content = value.get("content").filter(|content| content.kind() == Kind::String && observed);
        let text = content.and_then(Value::string).unwrap_or_default();
        match content.zip(only_fence(&text)) {
            Some((content, fence)) => {
                self.open.push(record.pointer.clone());
                fenced(content, &fence, record);
            }
            None => chat::content(value, Speaker::Assistant, &mut record.blocks, findings),
        }
    }

    /// Actions that the harness noted beside the message.
    fn actions(&mut self, value: Value<'_>, record: &mut Record) {
        let actions = value.path(&["extra", "actions"]);
        for (at, action) in actions.into_iter().flat_map(Value::elements).enumerate() {
            let own = format!("{}/extra/actions/{at}", record.pointer);
            let id = owned(action, "tool_call_id");
            if id.is_none() {
                self.open.push(own.clone());
            }
            let arguments = match action.text_range() {
                Some(text) => Arguments::Text(text.range),
                None => Arguments::Json(action.range()),
            };
            let facts = CallFacts { id: id.or(Some(own)), tool: SHELL.to_owned(), arguments };
            let pointer = format!("/extra/actions/{at}");
            record.blocks.push(block(BlockKind::Call(facts), action, pointer, Speaker::Assistant));
        }
        record.blocks.sort_by_key(|block| block.range);
    }

    /// An answer of the Responses API: its texts, and the actions that the harness took from it.
    fn response(&mut self, value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        self.begun = true;
        self.open.clear();
        "message/assistant".clone_into(&mut record.label);
        for (at, item) in value.get("output").into_iter().flat_map(Value::elements).enumerate() {
            let from = record.blocks.len();
            chat::content(item, Speaker::Assistant, &mut record.blocks, findings);
            for block in record.blocks.iter_mut().skip(from) {
                block.pointer = format!("/output/{at}{}", block.pointer);
            }
        }
        self.actions(value, record);
    }
}

/// Whether a message tells what an action did.
fn is_observation(message: Value<'_>) -> bool {
    if message.path(&["extra", "returncode"]).is_some() {
        return true;
    }
    let content = message.string_at("content").unwrap_or_default();
    let is_user = message.get("role").is_some_and(|role| role.is("user"));
    is_user && ["<returncode>", TIMED_OUT].iter().any(|begin| content.starts_with(begin))
}

/// What the harness says of an action that ran too long.
const TIMED_OUT: &str = "The last command <command>";

/// A fence with its marks, and the script in it.
struct Fence {
    whole: std::ops::Range<usize>,
    script: std::ops::Range<usize>,
}

/// The fence of a message that has exactly one: the harness refuses others.
fn only_fence(text: &str) -> Option<Fence> {
    let mut found = None;
    let mut from = 0;
    while let Some(fence) = next_fence(text, from) {
        from = fence.whole.end;
        if found.replace(fence).is_some() {
            return None;
        }
    }
    found
}

fn next_fence(text: &str, from: usize) -> Option<Fence> {
    let mut from = from;
    loop {
        let start = from + text.get(from..)?.find("```")?;
        from = start + 3;
        let rest = text.get(from..)?;
        let Some(word) = FENCES.iter().find(|word| rest.starts_with(**word)) else { continue };
        let line = rest.find('\n')?;
        if !rest.get(word.len()..line)?.trim().is_empty() {
            continue;
        }
        let script = from + line + 1;
        let end = script + text.get(script..)?.find("\n```")?;
        return Some(Fence { whole: start..end + 4, script: script..end });
    }
}

/// The blocks of a message with an action: what is said before, the action, what is said behind.
fn fenced(content: Value<'_>, fence: &Fence, record: &mut Record) {
    let Some(inside) = content.text_range() else { return };
    let (whole, script) = (raw_part(content, fence.whole.clone()), raw_part(content, fence.script.clone()));
    let pointer = "/content";
    let says = || (BlockKind::Text, Speaker::Assistant);
    push_said(&mut record.blocks, says(), inside, 0..whole.start, pointer);
    let arguments = Arguments::Text(ByteRange::new(script.start, script.end).shifted(inside.range.start()));
    let facts = CallFacts { id: Some(record.pointer.clone()), tool: SHELL.to_owned(), arguments };
    let call = (BlockKind::Call(facts), Speaker::Assistant);
    push_said(&mut record.blocks, call, inside, whole.clone(), pointer);
    if let Some(call) = record.blocks.last_mut() {
        call.text.clear();
    }
    push_said(&mut record.blocks, says(), inside, whole.end..inside.range.len(), pointer);
}

/// What an action did. `id` is the action's where the message names none.
fn result(value: Value<'_>, id: Option<String>) -> Block {
    let content = ["content", "output"].iter().find_map(|key| value.get(key));
    let mut facts = ResultFacts {
        call_id: ["tool_call_id", "call_id"].iter().find_map(|key| owned(value, key)).or(id),
        ..ResultFacts::default()
    };
    let text = content.and_then(Value::string).unwrap_or_default();
    let code = value.path(&["extra", "returncode"]).and_then(Value::integer);
    let written = text.strip_prefix("<returncode>").and_then(leading_number);
    facts.exit_code = code.and_then(|code| i32::try_from(code).ok()).or(written);
    let why = value.get("extra").and_then(|extra| owned(extra, "exception_info")).unwrap_or_default();
    if why == "action was not executed" {
        facts = ResultFacts { ending: Ending::Refused, exit_code: None, ..facts };
    } else if why.contains("timed out after") || text.starts_with(TIMED_OUT) {
        facts.ending = Ending::TimedOut;
    }
    let elided = content.and_then(|content| digits_before(content.raw(), " characters elided"));
    let raw = value.path(&["extra", "raw_output"]).filter(|raw| raw.kind() == Kind::String);
    match (elided, raw, content) {
        (Some(_), Some(raw), _) => {
            let texts = raw.text_range().into_iter().collect();
            Block { text: texts, ..block(BlockKind::Result(facts), value, String::new(), Speaker::Tool) }
        }
        (elided, _, Some(content)) => {
            facts.cuts.extend(elided.map(|count| Cut::Truncated(format!("{count} characters elided"))));
            let own = block(BlockKind::Result(facts), content, pointer_of(value).to_owned(), Speaker::Tool);
            Block { text: output_texts(content, &text), ..own }
        }
        (_, _, None) => block(BlockKind::Result(facts), value, String::new(), Speaker::Tool),
    }
}

fn pointer_of(value: Value<'_>) -> &'static str {
    if value.get("content").is_some() { "/content" } else { "/output" }
}

/// The output without the marks around it, where these stand at both ends.
fn output_texts(content: Value<'_>, text: &str) -> Vec<strongroom_core::transcript::TextRange> {
    const OPEN: &str = "<output>\n";
    let start = text.find(OPEN).map(|at| at + OPEN.len()).filter(|_| text.starts_with("<returncode>"));
    let end = text.strip_suffix("</output>").map(str::len);
    let inside = content.text_range().zip(start.zip(end)).filter(|(_, (start, end))| start <= end);
    let Some((inside, (start, end))) = inside else { return content_texts(content) };
    let raw = raw_part(content, start..end);
    let range = ByteRange::new(raw.start, raw.end).shifted(inside.range.start());
    vec![strongroom_core::transcript::TextRange { range, ..inside }]
}
