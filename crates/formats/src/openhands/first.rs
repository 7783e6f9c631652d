//! Events of the first generation: actions with `args`, observations with `content` and `extras`.

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Ending, Finding, Record, RecordKind, ResultFacts, Speaker,
    Visibility,
};

use super::view::Condensation;
use crate::document::unknown;
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, owned, plain_text, text_block, time_of, user_text};

/// Reads events one after the other.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Actions so far: those without ids are numbered.
    actions: u32,
    /// The last call, which an observation without a cause answers.
    last: Option<String>,
}

/// Actions that say something, with the member that holds the words.
const SAYS: [(&str, &[&str]); 5] = [
    ("message", &["content"]),
    ("system", &["content"]),
    ("think", &["thought"]),
    ("finish", &["final_thought", "thought"]),
    ("reject", &["thought"]),
];

/// Actions and observations of the program itself.
const META: [&str; 12] = [
    "null",
    "recall",
    "change_agent_state",
    "agent_state_changed",
    "condensation_request",
    "pause",
    "resume",
    "start",
    "stop",
    "initialize",
    "add_task",
    "modify_task",
];

impl Reader {
    /// Fills `record` from the event `value`.
    pub(super) fn read(
        &mut self,
        value: Value<'_>,
        record: &mut Record,
        findings: &mut Vec<Finding>,
    ) -> Option<Condensation> {
        record.time = value.get("timestamp").and_then(time_of).or_else(|| naive_time(value));
        record.id = value
            .get("id")
            .map(|id| id.string().unwrap_or_else(|| String::from_utf8_lossy(id.raw())).into_owned());
        record.kind = RecordKind::Message;
        self.nested(value, "", record, findings)
    }

    /// Adds the blocks of the event `value` at `pointer`.
    pub(super) fn nested(
        &mut self,
        value: Value<'_>,
        pointer: &str,
        record: &mut Record,
        findings: &mut Vec<Finding>,
    ) -> Option<Condensation> {
        let is_own = pointer.is_empty();
        let (action, observation) = (owned(value, "action"), owned(value, "observation"));
        let name = action.as_deref().or(observation.as_deref()).unwrap_or_default();
        if is_own {
            record.label = format!("{}/{name}", if action.is_some() { "action" } else { "observation" });
        }
        match (action.as_deref(), observation.as_deref()) {
            (Some("condensation"), _) => return Some(condensation(value, pointer, record)),
            (Some(name), _) => self.action(value, name, pointer, record),
            (None, Some("recall")) => recall(value, pointer, record),
            (None, Some(name)) if META.contains(&name) => {
                if is_own {
                    record.kind = RecordKind::Meta;
                }
            }
            (None, Some(name)) => self.observation(value, name, pointer, record),
            (None, None) if is_own => unknown(record, value, "an event of no kind", findings),
            (None, None) => {}
        }
        None
    }

    fn action(&mut self, value: Value<'_>, name: &str, pointer: &str, record: &mut Record) {
        let args = value.get("args").filter(|args| args.kind() == Kind::Object);
        let (members, inside) = args.map_or((value, String::new()), |args| (args, "/args".to_owned()));
        let pointer = format!("{pointer}{inside}");
        if META.contains(&name) {
            if inside.is_empty() || pointer == "/args" {
                record.kind = RecordKind::Meta;
            }
            return;
        }
        if let Some((_, keys)) = SAYS.iter().find(|(kind, _)| *kind == name) {
            let held = keys.iter().find_map(|key| {
                let text = members.get(key)?;
                (text.kind() == Kind::String && text.raw().len() > 2).then_some((*key, text))
            });
            if let Some((key, text)) = held {
                say(text, format!("{pointer}/{key}"), speaker(value, name), record);
            }
            return;
        }
        self.call((value, name), (args, members), &pointer, record);
    }

    fn call(
        &mut self,
        (value, name): (Value<'_>, &str),
        (args, members): (Option<Value<'_>>, Value<'_>),
        pointer: &str,
        record: &mut Record,
    ) {
        self.actions += 1;
        let id = value.get("id").map_or_else(
            || format!("action {}", self.actions),
            |id| format!("event {}", String::from_utf8_lossy(id.raw())),
        );
        self.last = Some(id.clone());
        let is_mcp = name.contains("mcp");
        let tool = owned(members, "name").filter(|_| is_mcp).unwrap_or_else(|| name.to_owned());
        let held = members.get("arguments").filter(|_| is_mcp).or(args).unwrap_or(members);
        let arguments = Arguments::Json(held.range());
        let facts = CallFacts { id: Some(id), tool, arguments };
        let voice = if value.get("source").is_some_and(|source| source.is("user")) {
            Speaker::User
        } else {
            Speaker::Assistant
        };
        record.blocks.push(block(BlockKind::Call(facts), members, pointer.to_owned(), voice));
        // Among other events a call takes up its arguments as a whole, with the thought in them.
        let thought = members.get("thought").filter(|thought| thought.raw().len() > 2);
        if let Some(thought) = thought.filter(|_| pointer.len() <= "/args".len()) {
            say(thought, format!("{pointer}/thought"), voice, record);
        }
    }

    fn observation(&mut self, value: Value<'_>, name: &str, pointer: &str, record: &mut Record) {
        let cause = value.get("cause").filter(|cause| cause.kind() != Kind::Null);
        let call_id = cause
            .map(|cause| format!("event {}", String::from_utf8_lossy(cause.raw())))
            .or_else(|| self.last.take());
        let facts =
            outcome_of(value, name, ResultFacts { call_id: call_id.clone(), ..ResultFacts::default() });
        if let Some(cwd) = value.path(&["extras", "metadata", "working_dir"]).and_then(Value::string) {
            record.cwd = Some(cwd.into_owned()).filter(|cwd| !cwd.is_empty());
        }
        let content = value.get("content").filter(|content| content.kind() == Kind::String);
        let place = content.unwrap_or(value);
        let key = if content.is_some() { "/content" } else { "" };
        let own = block(BlockKind::Result(facts), place, format!("{pointer}{key}"), Speaker::Tool);
        record.blocks.push(Block { text: content.and_then(Value::text_range).into_iter().collect(), ..own });
        let extras = value.get("extras").filter(|extras| content.is_some() && extras.raw().len() > 2);
        if let Some(extras) = extras {
            let own =
                block(BlockKind::SideData { call_id }, extras, format!("{pointer}/extras"), Speaker::Tool);
            let text = vec![plain_text(extras)];
            record.blocks.push(Block { visibility: Visibility::Aside, text, ..own });
        }
    }
}

/// Times are written without a zone; they are taken as UTC.
fn naive_time(value: Value<'_>) -> Option<strongroom_core::time::Timestamp> {
    let text = value.string_at("timestamp")?;
    let instant: jiff::Timestamp = format!("{text}Z").parse().ok()?;
    Some(strongroom_core::time::Timestamp::from_ms(instant.as_millisecond()))
}

fn speaker(value: Value<'_>, action: &str) -> Speaker {
    match value.string_at("source").as_deref() {
        _ if action == "system" => Speaker::Operator,
        Some("user") => Speaker::User,
        Some("environment") => Speaker::Harness,
        // Evaluations leave the source out: what has no thought behind it was the task.
        None if action == "message" && value.get("thought").is_none() && value.get("args").is_none() => {
            Speaker::Unknown
        }
        _ => Speaker::Assistant,
    }
}

fn say(text: Value<'_>, pointer: String, speaker: Speaker, record: &mut Record) {
    if speaker == Speaker::User {
        user_text(text, text, &pointer, &mut record.blocks);
    } else if text.kind() == Kind::String {
        record.blocks.push(text_block(text, text, pointer, speaker));
    }
}

/// What the program recalled for the agent.
fn recall(value: Value<'_>, pointer: &str, record: &mut Record) {
    if let Some(text) = value.get("content").filter(|text| text.kind() == Kind::String) {
        record.blocks.push(text_block(text, text, format!("{pointer}/content"), Speaker::Harness));
    }
}

fn condensation(value: Value<'_>, pointer: &str, record: &mut Record) -> Condensation {
    let args = value.get("args").unwrap_or(value);
    record.kind = RecordKind::Boundary;
    let summary = args.get("summary").filter(|text| text.kind() == Kind::String && text.raw().len() > 2);
    if let Some(text) = summary {
        let own = text_block(text, text, format!("{pointer}/args/summary"), Speaker::Derived);
        record.blocks.push(Block { kind: BlockKind::Summary, ..own });
    }
    let number = |key: &str| args.get(key).and_then(Value::integer);
    match (number("forgotten_events_start_id"), number("forgotten_events_end_id")) {
        (Some(from), Some(to)) => Condensation::Range(from, to),
        _ => Condensation::Events(ids(args)),
    }
}

/// The ids of forgotten events, as they are written.
pub(super) fn ids(value: Value<'_>) -> Vec<String> {
    let list = value.get("forgotten_event_ids").into_iter().flat_map(Value::elements);
    list.map(|id| id.string().unwrap_or_else(|| String::from_utf8_lossy(id.raw())).into_owned()).collect()
}

/// Completes a result from what stands beside it.
fn outcome_of(value: Value<'_>, name: &str, mut facts: ResultFacts) -> ResultFacts {
    let code = [&["extras", "metadata", "exit_code"][..], &["extras", "exit_code"], &["exit_code"]]
        .into_iter()
        .find_map(|path| value.path(path)?.integer());
    facts.exit_code = code.and_then(|code| i32::try_from(code).ok());
    if facts.exit_code == Some(-1) {
        // The command still ran when its time for output was over.
        facts.exit_code = None;
        facts.ending = Ending::Background("terminal".to_owned());
    }
    match name {
        "error" => facts.error = Some(true),
        "user_rejected" => facts.ending = Ending::Refused,
        _ if value.get("success").and_then(Value::bool) == Some(false) => facts.error = Some(true),
        _ => {}
    }
    if let Some(content) = value.get("content") {
        facts.cuts = outcome::cuts(content);
    }
    facts
}
