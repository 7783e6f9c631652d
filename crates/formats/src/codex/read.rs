//! From a line to a record.

use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Block, BlockKind, Finding, Level, Record, RecordKind, Speaker, Usage, Visibility,
};

use crate::json::{Kind, Value};
use crate::part::{block, finding, owned, plain_text, text_block, time_of, unknown, user_text};
use crate::responses::{self, COPIED_FROM, Owner, set_visibility};

/// What a line does to the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Step {
    /// Nothing.
    #[default]
    None,
    /// An item is appended; `true` where it is the first of a user's turn.
    Item { starts_turn: bool },
    /// The history is replaced by the items of this line.
    Replaced,
    /// The history is replaced by the last messages of the user and the summary of this line.
    Summarised,
    /// The last turns are taken back.
    RolledBack(u64),
}

/// The outcome of a call that an event tells.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) call_id: String,
    pub(super) exit_code: Option<i32>,
    pub(super) error: Option<bool>,
}

/// A masked copy in a replaced history and the line it names.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) range: ByteRange,
    pub(super) line: u32,
}

/// Reads lines one after the other.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) steps: Vec<Step>,
    pub(super) findings: Vec<Finding>,
    pub(super) usage: Vec<Usage>,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) copied: Vec<Copied>,
    owner: Owner,
    session: Option<String>,
    cwd: Option<String>,
    /// The total of the last token count, to tell a repeated count from a new one.
    total_tokens: Option<i64>,
}

/// Events that hold nobody's words.
const META_EVENTS: [&str; 34] = [
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "turn_aborted",
    "context_compacted",
    "thread_name_updated",
    "entered_review_mode",
    "exited_review_mode",
    "session_configured",
    "thread_goal_updated",
    "background_event",
    "stream_error",
    "warning",
    "error",
    "deprecation_notice",
    "plan_update",
    "turn_diff",
    "item_started",
    "item_completed",
    "web_search_begin",
    "exec_command_begin",
    "patch_apply_begin",
    "mcp_tool_call_begin",
    "undo_started",
    "undo_completed",
    "thread_settings_applied",
    "thread_settings",
    "shutdown_complete",
    "mcp_startup_update",
    "mcp_startup_complete",
    "skills_update_available",
    "model_reroute",
    "guardian_assessment",
];

/// Events about a call: the call's outcome and copies of its output for the screen.
const CALL_EVENTS: [&str; 9] = [
    "exec_command_end",
    "patch_apply_end",
    "mcp_tool_call_end",
    "view_image_tool_call",
    "image_generation_end",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "collab_agent_spawn_end",
    "collab_waiting_end",
];

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            steps: Vec::new(),
            findings: Vec::new(),
            usage: Vec::new(),
            outcomes: Vec::new(),
            copied: Vec::new(),
            owner: Owner::Person,
            session: None,
            cwd: None,
            total_tokens: None,
        }
    }

    /// Whether the rollout is a child agent's.
    pub(super) fn is_child(&self) -> bool {
        self.owner == Owner::Agent
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Reads the line `value`, which is record `at`.
    pub(super) fn read(&mut self, value: Value<'_>, mut record: Record, at: u32) -> Record {
        record.time = value.get("timestamp").and_then(time_of);
        let kind = value.string_at("type").unwrap_or_default();
        let payload = value.get("payload").filter(|payload| payload.kind() == Kind::Object);
        let step = match (kind.as_ref(), payload) {
            ("session_meta", Some(payload)) => self.session_meta(payload, &mut record),
            ("turn_context", Some(payload)) => {
                self.cwd = owned(payload, "cwd").or_else(|| self.cwd.take());
                meta(&mut record, "turn_context")
            }
            ("response_item", Some(payload)) => self.item(payload, &mut record),
            ("event_msg", Some(payload)) => self.event(payload, &mut record, at),
            ("compacted", Some(payload)) => self.compacted(payload, &mut record),
            ("world_state" | "inter_agent_communication", Some(payload)) => {
                other(payload, &kind, &mut record)
            }
            ("message", None) => plain_message(value, &mut record),
            ("session_meta", None) => meta(&mut record, "session_meta"),
            _ => self.unknown(value, "", &format!("record type {kind:?}"), &mut record),
        };
        record.session.clone_from(&self.session);
        record.cwd.clone_from(&self.cwd);
        let index = usize::try_from(at).unwrap_or(usize::MAX);
        if self.steps.len() <= index {
            self.steps.resize_with(index + 1, Step::default);
        }
        if let Some(slot) = self.steps.get_mut(index) {
            *slot = step;
        }
        record
    }

    fn unknown(&mut self, value: Value<'_>, pointer: &str, name: &str, record: &mut Record) -> Step {
        self.findings.push(unknown(record, value, pointer, format!("unknown {name}")));
        Step::None
    }

    /// The first line is the session's own; later ones were copied from a parent or written by a resume.
    fn session_meta(&mut self, payload: Value<'_>, record: &mut Record) -> Step {
        record.id = owned(payload, "id");
        if self.session.is_none() {
            self.session.clone_from(&record.id);
            let spawned = payload.path(&["source", "subagent"]).is_some();
            self.owner = if spawned { Owner::Agent } else { Owner::Person };
        }
        self.cwd = owned(payload, "cwd").or_else(|| self.cwd.take());
        if let Some(text) =
            payload.path(&["base_instructions", "text"]).filter(|text| text.kind() == Kind::String)
        {
            let own = text_block(text, text, "/payload/base_instructions/text".to_owned(), Speaker::Operator);
            record.blocks.push(Block { visibility: Visibility::Aside, ..own });
        }
        meta(record, "session_meta")
    }

    fn item(&mut self, payload: Value<'_>, record: &mut Record) -> Step {
        let kind = payload.string_at("type").unwrap_or_default();
        record.label = format!("response_item/{kind}");
        record.id = owned(payload, "id");
        match responses::blocks(payload, "/payload", self.owner, record.line, &mut self.findings) {
            Some(blocks) => {
                record.kind = if blocks.is_empty() { RecordKind::Meta } else { RecordKind::Message };
                record.blocks = blocks;
                let speaks = |block: &Block| matches!(block.speaker, Speaker::User | Speaker::Agent);
                Step::Item { starts_turn: kind == "message" && record.blocks.iter().any(speaks) }
            }
            None => self.unknown(payload, "/payload", &format!("item type {kind:?}"), record),
        }
    }

    fn event(&mut self, payload: Value<'_>, record: &mut Record, at: u32) -> Step {
        let kind = payload.string_at("type").unwrap_or_default();
        let step = match kind.as_ref() {
            "user_message" => self.twin(payload, "message", Speaker::User, record),
            "agent_message" => self.twin(payload, "message", Speaker::Assistant, record),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.twin(payload, "text", Speaker::Assistant, record)
            }
            "token_count" => self.token_count(payload, at, record),
            "thread_rolled_back" => {
                meta(record, "");
                let turns = payload
                    .get("num_turns")
                    .and_then(Value::integer)
                    .and_then(|turns| u64::try_from(turns).ok());
                Step::RolledBack(turns.unwrap_or_default())
            }
            "web_search_end" => {
                record.kind = RecordKind::Message;
                record.blocks = responses::web_search(payload, "/payload");
                set_visibility(&mut record.blocks, Visibility::Aside);
                Step::None
            }
            known if CALL_EVENTS.contains(&known) => self.call_event(payload, known, record),
            known if META_EVENTS.contains(&known) => meta(record, ""),
            _ => self.unknown(payload, "/payload", &format!("event type {kind:?}"), record),
        };
        record.label = format!("event_msg/{kind}");
        step
    }

    /// A copy for the screen of what an item says.
    fn twin(&mut self, payload: Value<'_>, key: &str, speaker: Speaker, record: &mut Record) -> Step {
        record.kind = RecordKind::Message;
        if let Some(text) = payload.get(key).filter(|text| text.kind() == Kind::String) {
            let pointer = format!("/payload/{key}");
            match (speaker, self.owner) {
                (Speaker::User, Owner::Person) => user_text(text, text, &pointer, &mut record.blocks),
                (Speaker::User, Owner::Agent) => {
                    record.blocks.push(text_block(text, text, pointer, Speaker::Agent));
                }
                _ => record.blocks.push(text_block(text, text, pointer, speaker)),
            }
            if key == "text" {
                record.blocks.iter_mut().for_each(|block| block.kind = BlockKind::Thinking);
            }
            set_visibility(&mut record.blocks, Visibility::Aside);
        }
        Step::None
    }

    fn token_count(&mut self, payload: Value<'_>, at: u32, record: &mut Record) -> Step {
        let count = |keys: &[&str]| payload.path(keys).and_then(Value::integer);
        let total = count(&["info", "total_token_usage", "total_tokens"]);
        let last =
            |key: &str| count(&["info", "last_token_usage", key]).and_then(|count| u64::try_from(count).ok());
        if let (Some(context_tokens), Some(output_tokens)) = (last("input_tokens"), last("output_tokens"))
            && total != self.total_tokens
        {
            let cached_tokens = last("cached_input_tokens").unwrap_or(0);
            self.usage.push(Usage { record: at, context_tokens, output_tokens, cached_tokens });
        }
        self.total_tokens = total;
        meta(record, "")
    }

    fn call_event(&mut self, payload: Value<'_>, kind: &str, record: &mut Record) -> Step {
        let call_id = owned(payload, "call_id");
        let exit_code =
            payload.get("exit_code").and_then(Value::integer).and_then(|code| i32::try_from(code).ok());
        let failed = match kind {
            "patch_apply_end" => payload.get("success").and_then(Value::bool).map(|success| !success),
            "mcp_tool_call_end" => payload.get("result").map(|result| {
                let flag = result.path(&["Ok", "isError"]).or_else(|| result.path(&["Ok", "is_error"]));
                result.get("Err").is_some() || flag.and_then(Value::bool) == Some(true)
            }),
            _ => None,
        };
        self.outcomes.extend(call_id.clone().map(|call_id| Outcome { call_id, exit_code, error: failed }));
        record.kind = RecordKind::Message;
        let own = block(BlockKind::SideData { call_id }, payload, "/payload".to_owned(), Speaker::Tool);
        record.blocks.push(Block { visibility: Visibility::Aside, text: vec![plain_text(payload)], ..own });
        Step::None
    }

    fn compacted(&mut self, payload: Value<'_>, record: &mut Record) -> Step {
        record.kind = RecordKind::Boundary;
        "compacted".clone_into(&mut record.label);
        let message = payload
            .get("message")
            .filter(|message| message.kind() == Kind::String && message.raw().len() > 2);
        if let Some(message) = message {
            let own = text_block(message, message, "/payload/message".to_owned(), Speaker::Derived);
            record.blocks.push(Block { kind: BlockKind::Summary, ..own });
        }
        let Some(history) =
            payload.get("replacement_history").filter(|history| history.kind() == Kind::Array)
        else {
            return Step::Summarised;
        };
        // With a replacement history the message is not sent.
        set_visibility(&mut record.blocks, Visibility::Past);
        for (at, value) in history.elements().enumerate() {
            let pointer = format!("/payload/replacement_history/{at}");
            let blocks = responses::blocks(value, &pointer, self.owner, record.line, &mut self.findings);
            let line =
                value.get(COPIED_FROM).and_then(Value::integer).and_then(|line| u32::try_from(line).ok());
            self.copied.extend(line.map(|line| Copied { range: value.range(), line }));
            let why = "an item of unknown type";
            if blocks.is_none() {
                self.findings.push(finding(
                    Level::Note,
                    "unknown-part",
                    record.line,
                    &pointer,
                    why.to_owned(),
                ));
            }
            record.blocks.extend(blocks.unwrap_or_else(|| {
                vec![block(BlockKind::Opaque(why.to_owned()), value, pointer, Speaker::Unknown)]
            }));
        }
        record.blocks.sort_by_key(|block| block.range);
        Step::Replaced
    }
}

fn other(payload: Value<'_>, kind: &str, record: &mut Record) -> Step {
    let text = ["content", "message", "text"].iter().find_map(|key| payload.get(key));
    if let Some(text) = text.filter(|text| text.kind() == Kind::String && kind != "world_state") {
        let own = text_block(text, text, "/payload".to_owned(), Speaker::Agent);
        record.blocks.push(Block { visibility: Visibility::Aside, ..own });
    }
    meta(record, kind)
}

fn meta(record: &mut Record, label: &str) -> Step {
    record.kind = if record.blocks.is_empty() { RecordKind::Meta } else { RecordKind::Message };
    label.clone_into(&mut record.label);
    Step::None
}

/// A line `{"type":"message","role":…,"text":…}` of a sanitised export.
fn plain_message(value: Value<'_>, record: &mut Record) -> Step {
    let text = value.get("text").filter(|text| text.kind() == Kind::String);
    record.kind = RecordKind::Message;
    "message".clone_into(&mut record.label);
    if let Some(text) = text {
        match value.string_at("role").as_deref() {
            Some("user") => user_text(text, text, "/text", &mut record.blocks),
            Some("assistant") => {
                record.blocks.push(text_block(text, text, "/text".to_owned(), Speaker::Assistant));
            }
            _ => record.blocks.push(text_block(text, text, "/text".to_owned(), Speaker::Unknown)),
        }
    }
    Step::Item { starts_turn: false }
}
