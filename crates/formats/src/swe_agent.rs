//! Trajectories of SWE-agent: `history`, the messages of the run, and `trajectory`, its steps.
//!
//! Both hold the same texts. The history is the conversation in its order; a step tells the directory of its action,
//! and is a record of its own only where the history lacks it.

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Cut, Finding, Level, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker,
};

use crate::chat;
use crate::document::{self, Adapter, Member, Paths, unknown};
use crate::json::{Kind, Tape, Value};
use crate::part::{block, content_texts, finding, owned, raw_part, text_block};

const PATHS: Paths = &[&["history", "*"], &["trajectory", "*"]];

/// Reads a trajectory.
///
/// # Errors
/// As [`document::index_at`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    document::index_at("swe-agent", PATHS, source, &mut Reader::default())
}

/// What follows the name of a command of the interface.
#[derive(Clone, Copy)]
enum Rest {
    /// One word: a path.
    Word,
    /// Anything.
    All,
}

/// Commands of the interface that agents type like programs. Every other action is a script of the shell.
const COMMANDS: [(&str, Rest); 34] = [
    ("open", Rest::Word),
    ("create", Rest::Word),
    ("filemap", Rest::Word),
    ("decompile", Rest::Word),
    ("disassemble", Rest::Word),
    ("view_image", Rest::Word),
    ("edit", Rest::All),
    ("insert", Rest::All),
    ("append", Rest::All),
    ("set_cursors", Rest::All),
    ("str_replace_editor", Rest::All),
    ("goto", Rest::All),
    ("scroll_up", Rest::All),
    ("scroll_down", Rest::All),
    ("search_dir", Rest::All),
    ("search_file", Rest::All),
    ("find_file", Rest::All),
    ("submit", Rest::All),
    ("exit_forfeit", Rest::All),
    ("exit_cost", Rest::All),
    ("exit_context", Rest::All),
    ("exit_error", Rest::All),
    ("exit_format", Rest::All),
    ("skip", Rest::All),
    ("connect_start", Rest::All),
    ("connect_sendline", Rest::All),
    ("connect_exec", Rest::All),
    ("connect_stop", Rest::All),
    ("debug_start", Rest::All),
    ("debug_continue", Rest::All),
    ("debug_step", Rest::All),
    ("debug_exec", Rest::All),
    ("debug_add_breakpoint", Rest::All),
    ("debug_stop", Rest::All),
];

/// A step of the trajectory, as far as the history needs it.
#[derive(Debug, Default)]
struct Step {
    action: String,
    /// The directory the action began in.
    cwd: Option<String>,
    /// The inside of the observation's literal.
    observation: Vec<u8>,
    /// Whether the history holds it.
    told: bool,
}

#[derive(Debug, Default)]
struct Reader {
    steps: Vec<Step>,
    /// For each message of the history: the step it takes.
    taken: Vec<Option<usize>>,
    /// The step whose observation comes next.
    current: Option<usize>,
    /// The ids of the calls that are answered next.
    open: Vec<String>,
    /// Whether the model has spoken: before, role user is the task.
    begun: bool,
    messages: usize,
}

impl Adapter for Reader {
    fn begin(&mut self, root: Value<'_>) {
        self.steps = steps(root);
        let mut next = 0;
        for message in root.get("history").into_iter().flat_map(Value::elements) {
            let action = message.string_at("action").filter(|_| !is_demonstration(message));
            let found = action.and_then(|action| {
                let same = |step: &Step| step.action.trim() == action.trim();
                self.steps.get(next..)?.iter().position(same)
            });
            self.taken.push(found.map(|ahead| next + ahead));
            if let Some(ahead) = found {
                if let Some(step) = self.steps.get_mut(next + ahead) {
                    step.told = true;
                }
                next += ahead + 1;
            }
        }
    }

    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        match member {
            Member::Message(value) if record.pointer.starts_with("/trajectory/") => {
                self.step(value, record, findings);
            }
            Member::Message(value) => self.message(value, record, findings),
            Member::Field(value) if record.pointer == "/info" => submission(value, record),
            Member::Field(_) => {}
        }
    }
}

impl Reader {
    fn message(&mut self, value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let at = self.messages;
        self.messages += 1;
        let role = value.string_at("role").unwrap_or_default();
        record.kind = RecordKind::Message;
        record.label = format!("message/{role}");
        if is_demonstration(value) {
            "message/demonstration".clone_into(&mut record.label);
            return chat::content(value, Speaker::Operator, &mut record.blocks, findings);
        }
        match role.as_ref() {
            "system" => chat::content(value, Speaker::Operator, &mut record.blocks, findings),
            "assistant" => self.assistant(value, at, record, findings),
            "user" if !self.begun => chat::content(value, Speaker::User, &mut record.blocks, findings),
            "user" | "tool" => self.observation(value, record, findings),
            _ if value.kind() != Kind::Object => {
                unknown(record, value, "a message that is no object", findings);
            }
            other => unknown(record, value, &format!("a message with the unknown role {other:?}"), findings),
        }
    }

    fn assistant(&mut self, value: Value<'_>, at: usize, record: &mut Record, findings: &mut Vec<Finding>) {
        self.begun = true;
        self.open.clear();
        self.current = self.taken.get(at).copied().flatten();
        record.cwd = self.current.and_then(|step| self.steps.get(step)).and_then(|step| step.cwd.clone());
        if value.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some()) {
            chat::assistant(value, &mut record.blocks, findings);
            self.open.extend(record.blocks.iter().filter_map(call_id));
            return;
        }
        let action = value.get("action").filter(|action| action.kind() == Kind::String);
        let Some(action) = action.filter(|action| !is_blank(*action)) else {
            return chat::content(value, Speaker::Assistant, &mut record.blocks, findings);
        };
        match value.get("thought").filter(|thought| thought.kind() == Kind::String) {
            Some(thought) if is_blank(thought) => {}
            Some(thought) => {
                record.blocks.push(text_block(thought, thought, "/thought".to_owned(), Speaker::Assistant));
            }
            None => chat::content(value, Speaker::Assistant, &mut record.blocks, findings),
        }
        let id = record.pointer.clone();
        record.blocks.push(action_call(action, id.clone(), "/action"));
        record.blocks.sort_by_key(|block| block.range);
        self.open.push(id);
    }

    /// What the environment says to an action; without one it is the harness that complains.
    fn observation(&mut self, value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let named = value.get("tool_call_ids").into_iter().flat_map(Value::elements);
        let named: Vec<String> = named.filter_map(Value::string).map(Into::into).collect();
        let ids = if named.is_empty() { std::mem::take(&mut self.open) } else { named };
        let Some((first, more)) = ids.split_first() else {
            return chat::content(value, Speaker::Harness, &mut record.blocks, findings);
        };
        let Some(content) = value.get("content") else { return };
        let facts = ResultFacts {
            call_id: Some(first.clone()),
            cuts: self.cut(content).into_iter().collect(),
            ..ResultFacts::default()
        };
        let result = block(BlockKind::Result(facts), content, "/content".to_owned(), Speaker::Tool);
        record.blocks.push(Block { text: content_texts(content), ..result });
        if !more.is_empty() {
            let why = format!("one observation answers {} calls", ids.len());
            findings.push(finding(Level::Note, "shared-result", None, "/content", why));
        }
    }

    /// What the message lacks of the observation that the step recorded.
    fn cut(&mut self, content: Value<'_>) -> Option<Cut> {
        let step = self.current.take().and_then(|step| self.steps.get(step))?;
        let whole = step.observation.trim_ascii();
        let there = whole.is_empty() || memchr::memmem::find(content.raw(), whole).is_some();
        (!there).then(|| Cut::Truncated("the message differs from the observation of its step".to_owned()))
    }

    /// A step that the history does not tell is read on its own.
    fn step(&mut self, value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        "step".clone_into(&mut record.label);
        let place = record.pointer.rsplit('/').next().and_then(|place| place.parse::<usize>().ok());
        let Some(step) = place.and_then(|place| self.steps.get(place)) else { return };
        if step.told {
            return;
        }
        record.kind = RecordKind::Message;
        record.cwd.clone_from(&step.cwd);
        let text = |key: &str| value.get(key).filter(|text| text.kind() == Kind::String && !is_blank(*text));
        if let Some(thought) = text("thought") {
            record.blocks.push(text_block(thought, thought, "/thought".to_owned(), Speaker::Assistant));
        }
        if let Some(action) = text("action") {
            record.blocks.push(action_call(action, record.pointer.clone(), "/action"));
            let why = "the history does not hold this step, so its place in the order is not known";
            findings.push(finding(Level::Note, "step-apart", None, "", why.to_owned()));
        }
        if let Some(observation) = value.get("observation").filter(|value| value.kind() == Kind::String) {
            let call_id = Some(record.pointer.clone());
            let facts = BlockKind::Result(ResultFacts { call_id, ..ResultFacts::default() });
            let own = block(facts, observation, "/observation".to_owned(), Speaker::Tool);
            record.blocks.push(Block { text: content_texts(observation), ..own });
        }
        record.blocks.sort_by_key(|block| block.range);
    }
}

fn is_demonstration(message: Value<'_>) -> bool {
    message.get("is_demo").and_then(Value::bool) == Some(true)
        || message.get("message_type").is_some_and(|kind| kind.is("demonstration"))
}

fn is_blank(text: Value<'_>) -> bool {
    text.string().is_none_or(|text| text.trim().is_empty())
}

fn call_id(block: &Block) -> Option<String> {
    match &block.kind {
        BlockKind::Call(facts) => facts.id.clone(),
        _ => None,
    }
}

/// The steps. A state that is a JSON text was taken before the action, one that is an object behind it.
fn steps(root: Value<'_>) -> Vec<Step> {
    let mut behind = None;
    let step = |value: Value<'_>| {
        let state = value.get("state");
        let (before, after) = match state.map(Value::kind) {
            Some(Kind::String) => (state.and_then(working_directory), None),
            _ => (behind.take(), state.and_then(|state| owned(state, "working_dir"))),
        };
        behind = after;
        let raw = value.get("observation").map(Value::raw).unwrap_or_default();
        Step {
            action: owned(value, "action").unwrap_or_default(),
            cwd: before,
            observation: raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default().to_vec(),
            told: false,
        }
    };
    root.get("trajectory").into_iter().flat_map(Value::elements).map(step).collect()
}

fn working_directory(state: Value<'_>) -> Option<String> {
    let text = state.string()?;
    let mut tape = Tape::new();
    tape.scan(text.as_bytes()).ok()?;
    owned(tape.root(text.as_bytes(), 0)?, "working_dir")
}

/// An action that was typed: a command of the interface, or a script of the shell.
fn action_call(action: Value<'_>, id: String, pointer: &str) -> Block {
    let text = action.string().unwrap_or_default();
    let body = text.trim();
    let name = body.split(char::is_whitespace).next().unwrap_or_default();
    let known = COMMANDS.iter().find(|(command, _)| *command == name);
    let start = text.len() - text.trim_start().len();
    let (tool, part) = match known {
        None => ("bash", start..start + body.len()),
        Some((name, rest)) => {
            let all = body.get(name.len()..).unwrap_or_default();
            let from = start + name.len() + (all.len() - all.trim_start().len());
            (*name, word(all.trim_start(), *rest, from))
        }
    };
    let range = action.text_range().map(|inside| {
        let raw = raw_part(action, part);
        strongroom_core::range::ByteRange::new(raw.start, raw.end).shifted(inside.range.start())
    });
    let arguments = range.filter(|range| !range.is_empty()).map_or(Arguments::Missing, Arguments::Text);
    let facts = CallFacts { id: Some(id), tool: tool.to_owned(), arguments };
    block(BlockKind::Call(facts), action, pointer.to_owned(), Speaker::Assistant)
}

/// Where the argument stands: the first word without its quotes, or everything.
fn word(rest: &str, kind: Rest, from: usize) -> std::ops::Range<usize> {
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
    match (kind, quote) {
        (Rest::All, _) => from..from + rest.len(),
        (Rest::Word, Some(quote)) => {
            let inside = rest.get(1..).unwrap_or_default();
            from + 1..from + 1 + inside.find(quote).unwrap_or(inside.len())
        }
        (Rest::Word, None) => from..from + rest.find(char::is_whitespace).unwrap_or(rest.len()),
    }
}

/// The patch that was handed in.
fn submission(info: Value<'_>, record: &mut Record) {
    if let Some(text) = info.get("submission").filter(|text| text.kind() == Kind::String) {
        record.kind = RecordKind::Message;
        "submission".clone_into(&mut record.label);
        record.blocks.push(text_block(text, text, "/submission".to_owned(), Speaker::Harness));
    }
}
