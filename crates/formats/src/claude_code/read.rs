//! From a line to a record: kind, speaker, blocks, and the links between lines.

use std::collections::BTreeMap;

use strongroom_core::transcript::{
    Block, BlockKind, Finding, Level, Record, RecordKind, SideItem, SideKind, Speaker, Usage, Visibility,
};

use super::attachment;
use super::result;
use crate::anthropic::{self, Voice};
use crate::json::{Kind, Value};
use crate::part::{block, finding, owned, plain_text, push_part, text_block, time_of};

/// What a line is in the chain of uuids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// Not in the chain.
    #[default]
    None,
    /// A user line.
    User,
    /// An assistant line.
    Assistant,
    /// A compaction boundary.
    Boundary,
    /// Anything else with a uuid: progress, system, attachment.
    Other,
}

/// Whose conversation a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Home {
    /// The session itself.
    #[default]
    Main,
    /// A side chain or a team mate.
    Foreign,
}

/// The links of one line.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// Its place among the records.
    pub(super) at: u32,
    pub(super) role: Role,
    pub(super) home: Home,
    /// Whether the harness wrote it in the user's name.
    pub(super) meta: bool,
    pub(super) parent: Option<String>,
    pub(super) logical_parent: Option<String>,
    pub(super) source_assistant: Option<String>,
    /// `headUuid` and `anchorUuid` of messages that a boundary keeps.
    pub(super) preserved: Option<(String, String)>,
    /// Calls and attachments whose text a microcompaction cleared.
    pub(super) cleared: Vec<String>,
}

/// A prompt that was queued while the agent worked, or delivered.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) record: u32,
    pub(super) text: String,
}

/// Reads lines one after the other and remembers what binds them.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) links: Vec<Link>,
    pub(super) findings: Vec<Finding>,
    pub(super) side_items: Vec<SideItem>,
    pub(super) queued: Vec<Prompt>,
    pub(super) delivered: Vec<Prompt>,
    usage: BTreeMap<String, Usage>,
}

/// Line types that hold settings, titles and bookkeeping, and nobody's words.
const META_TYPES: [&str; 27] = [
    "summary",
    "custom-title",
    "ai-title",
    "last-prompt",
    "mode",
    "permission-mode",
    "tag",
    "pr-link",
    "frame-link",
    "agent-name",
    "agent-setting",
    "agent-color",
    "file-history-snapshot",
    "content-replacement",
    "worktree-state",
    "task-summary",
    "title",
    "sanitization_notice",
    "progress",
    "marble-origami-commit",
    "attribution-snapshot",
    "speculation-accept",
    "bridge-session",
    "session-metadata",
    "usage",
    "fork-context-ref",
    "cost-state",
];

/// A copy of what was sent to the API. The conversation in it stands in lines of its own; what else it holds can be
/// searched, and is never sent again.
fn request_copy(value: Value<'_>, record: &mut Record) {
    record.kind = RecordKind::Message;
    "api-request-blob".clone_into(&mut record.label);
    let own = block(BlockKind::SideData { call_id: None }, value, String::new(), Speaker::Harness);
    record.blocks.push(Block { visibility: Visibility::Aside, text: vec![plain_text(value)], ..own });
}

impl Reader {
    /// The usage of each API message, in order of the records that carry it; that of relinked copies belongs to no
    /// request of their own.
    pub(super) fn usage(&self, is_relinked: impl Fn(u32) -> bool) -> Vec<Usage> {
        let mut all: Vec<Usage> =
            self.usage.values().copied().filter(|usage| !is_relinked(usage.record)).collect();
        all.sort_by_key(|usage| usage.record);
        all
    }

    /// Reads the line `value`, which is record `at`.
    pub(super) fn read(&mut self, value: Value<'_>, record: Record, at: u32) -> Record {
        let mut record = envelope(value, record);
        let kind = value.string_at("type").unwrap_or_default();
        let mut link = Link { at, ..link(value) };
        match kind.as_ref() {
            "user" | "assistant" => self.message(value, &kind, &mut link, &mut record),
            "system" => system(value, &mut link, &mut record),
            "attachment" => self.attachment(value, &mut record, at),
            "queue-operation" => self.queue_operation(value, &mut record, at),
            "message" => self.plain_message(value, &mut record),
            "api-request-blob" => request_copy(value, &mut record),
            known if META_TYPES.contains(&known) => {
                record.kind = RecordKind::Meta;
                record.label = with_subtype(known, value.path(&["data", "type"]));
                self.nested_agent(value, record.session.as_deref(), at);
            }
            _ => self.unknown(value, &mut record),
        }
        let index = usize::try_from(at).unwrap_or(usize::MAX);
        if self.links.len() <= index {
            self.links.resize_with(index + 1, Link::default);
        }
        if let Some(slot) = self.links.get_mut(index) {
            *slot = link;
        }
        record
    }

    fn find(&mut self, code: &'static str, record: &Record, pointer: &str, message: String) {
        let level = if code == "record-without-message" { Level::Warning } else { Level::Note };
        self.findings.push(finding(level, code, record.line, pointer, message));
    }

    fn unknown(&mut self, value: Value<'_>, record: &mut Record) {
        let name = match value.kind() {
            Kind::Object => owned(value, "type")
                .map_or("record without type".to_owned(), |kind| format!("record type {kind:?}")),
            _ => "value that is no object".to_owned(),
        };
        let why = format!("unknown {name}");
        record.label = owned(value, "type").unwrap_or_default();
        self.find("unknown-record", record, "", why.clone());
        record.blocks.push(unread(value, why));
    }

    fn message(&mut self, value: Value<'_>, kind: &str, link: &mut Link, record: &mut Record) {
        link.role = match (link.role, kind) {
            (Role::None, _) => Role::None,
            (_, "user") => Role::User,
            _ => Role::Assistant,
        };
        kind.clone_into(&mut record.label);
        let Some(message) = value.get("message").filter(|message| message.kind() == Kind::Object) else {
            self.find(
                "record-without-message",
                record,
                "",
                format!("a record of type {kind:?} without a message"),
            );
            record.blocks.push(unread(value, format!("a record of type {kind:?} without a message")));
            return;
        };
        record.kind = RecordKind::Message;
        if let Some(key) = message.duplicate_key() {
            self.find(
                "duplicate-key",
                record,
                "/message",
                format!("the key {key:?} stands twice; the last counts"),
            );
        }
        record.message_id = owned(message, "id");
        if kind == "assistant" {
            self.assistant(value, message, link, record);
        } else {
            self.user(value, message, link, record);
        }
    }

    fn assistant(&mut self, value: Value<'_>, message: Value<'_>, link: &Link, record: &mut Record) {
        let synthetic = message.get("model").is_some_and(|model| model.is("<synthetic>"));
        let speaker = if synthetic { Speaker::Harness } else { Speaker::Assistant };
        self.content(message, speaker, record);
        if value.get("isApiErrorMessage").and_then(Value::bool) == Some(true) {
            set_visibility(&mut record.blocks, Visibility::Aside);
        }
        if let (Some(usage), Some(id), false, Home::Main) =
            (message.get("usage"), &record.message_id, synthetic, link.home)
        {
            let count = |key: &str| {
                usage.get(key).and_then(Value::integer).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
            };
            let keys = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
            let context_tokens = keys.iter().fold(0u64, |sum, key| sum.saturating_add(count(key)));
            let usage = Usage {
                record: link.at,
                context_tokens,
                output_tokens: count("output_tokens"),
                cached_tokens: count("cache_read_input_tokens"),
            };
            self.usage.insert(id.clone(), usage);
        }
    }

    fn user(&mut self, value: Value<'_>, message: Value<'_>, link: &Link, record: &mut Record) {
        let flag = |key: &str| value.get(key).and_then(Value::bool) == Some(true);
        let summary = flag("isCompactSummary");
        let speaker = match link.home {
            _ if summary => Speaker::Derived,
            _ if link.meta || is_of_program(value) => Speaker::Harness,
            Home::Foreign => Speaker::Agent,
            Home::Main => Speaker::User,
        };
        let content = message.get("content");
        match content.filter(|content| speaker == Speaker::User && content.kind() == Kind::String) {
            Some(content) if is_command(content) => command(content, &mut record.blocks),
            _ => self.content(message, speaker, record),
        }
        if summary {
            for block in record.blocks.iter_mut().filter(|block| block.kind == BlockKind::Text) {
                block.kind = BlockKind::Summary;
            }
        }
        demote_notices(content, &mut record.blocks);
        if speaker == Speaker::User {
            self.note_prompt(content, link.at);
        }
        self.results(value, message, record, link.at);
    }

    fn note_prompt(&mut self, content: Option<Value<'_>>, at: u32) {
        let whole = content.and_then(|content| match content.kind() {
            Kind::String => content.string(),
            Kind::Array => content.elements().find_map(|part| part.string_at("text")),
            Kind::Null | Kind::True | Kind::False | Kind::Number | Kind::Object => None,
        });
        if let Some(text) = whole {
            self.delivered.push(Prompt { record: at, text: text.into_owned() });
        }
    }

    fn content(&mut self, message: Value<'_>, speaker: Speaker, record: &mut Record) {
        if let Some(content) = message.get("content") {
            let voice = Voice { speaker, line: record.line };
            anthropic::content(content, "/message/content", voice, &mut record.blocks, &mut self.findings);
        }
    }

    /// Completes the results of a user line from its side data, which becomes a block of its own.
    fn results(&mut self, value: Value<'_>, message: Value<'_>, record: &mut Record, at: u32) {
        let side = value.get("toolUseResult");
        let mut call_id = owned(value, "sourceToolUseID");
        let mut places = Vec::new();
        let mut parts = message.get("content").into_iter().flat_map(Value::elements);
        for block in &mut record.blocks {
            let BlockKind::Result(facts) = &mut block.kind else { continue };
            let part = parts.find(|part| part.range() == block.range);
            let side_file = part.and_then(|part| result::complete(facts, part, side));
            call_id = facts.call_id.clone().or(call_id);
            places.extend(side_file.map(|file| (facts.call_id.clone(), file)));
        }
        for (call, file) in places {
            self.side_items.extend(result::side_item(record.session.as_deref(), call.as_deref(), &file, at));
        }
        if let Some(side) = side.filter(|side| side.kind() != Kind::Null) {
            self.add_child(child_item(side, record.session.as_deref(), at));
            let facts = BlockKind::SideData { call_id };
            let own = block(facts, side, "/toolUseResult".to_owned(), Speaker::Tool);
            record.blocks.push(Block { visibility: Visibility::Aside, text: vec![plain_text(side)], ..own });
        }
    }

    /// Progress of a child agent repeats what it says and does: its own transcript must be there to be asked.
    fn nested_agent(&mut self, value: Value<'_>, session: Option<&str>, at: u32) {
        let Some(data) = value.get("data").filter(|data| data.get("message").is_some()) else { return };
        self.add_child(child_item(data, session, at));
    }

    /// One transcript is one item, however many lines name it.
    fn add_child(&mut self, item: Option<SideItem>) {
        let known = |item: &SideItem| self.side_items.iter().any(|own| own.kind == item.kind);
        let fresh = item.filter(|item| !known(item));
        self.side_items.extend(fresh);
    }

    fn attachment(&mut self, value: Value<'_>, record: &mut Record, at: u32) {
        let Some(inside) = value.get("attachment") else { return self.unknown(value, record) };
        let kind = inside.string_at("type").unwrap_or_default();
        record.label = format!("attachment/{kind}");
        if let Some(blocks) = attachment::blocks(inside, &kind, record.agent.is_some()) {
            record.kind = if blocks.is_empty() { RecordKind::Meta } else { RecordKind::Message };
            record.blocks = blocks;
            if record.blocks.iter().any(|block| block.speaker == Speaker::User) {
                self.note_prompt(inside.get("prompt"), at);
            }
            return;
        }
        let why = format!("unknown attachment type {kind:?}");
        self.find("unknown-record", record, "/attachment", why.clone());
        record.blocks.push(unread(inside, why));
    }

    fn queue_operation(&mut self, value: Value<'_>, record: &mut Record, at: u32) {
        let operation = value.string_at("operation").unwrap_or_default();
        record.label = format!("queue-operation/{operation}");
        record.kind = RecordKind::Meta;
        if let Some(content) =
            value.get("content").filter(|content| content.kind() == Kind::String && operation == "enqueue")
        {
            record.kind = RecordKind::Message;
            let harness = is_command(content) || content.raw().starts_with(b"\"<");
            let speaker = if harness { Speaker::Harness } else { Speaker::User };
            let voice = Voice { speaker, line: record.line };
            anthropic::content(content, "/content", voice, &mut record.blocks, &mut self.findings);
            set_visibility(&mut record.blocks, Visibility::Aside);
            self.queued.push(Prompt { record: at, text: content.string().unwrap_or_default().into_owned() });
        }
    }

    /// A line `{"type":"message","role":…,"text":…}` of a sanitised export.
    fn plain_message(&mut self, value: Value<'_>, record: &mut Record) {
        let speaker = match value.string_at("role").as_deref() {
            Some("user") => Speaker::User,
            Some("assistant") => Speaker::Assistant,
            _ => Speaker::Unknown,
        };
        "message".clone_into(&mut record.label);
        match value.get("text").filter(|text| text.kind() == Kind::String) {
            Some(text) => {
                record.kind = RecordKind::Message;
                let voice = Voice { speaker, line: record.line };
                anthropic::content(text, "/text", voice, &mut record.blocks, &mut self.findings);
            }
            None => self.unknown(value, record),
        }
    }
}

fn envelope(value: Value<'_>, record: Record) -> Record {
    Record {
        id: owned(value, "uuid"),
        time: value.get("timestamp").and_then(time_of),
        cwd: owned(value, "cwd"),
        session: owned(value, "sessionId"),
        agent: owned(value, "agentId"),
        ..record
    }
}

fn link(value: Value<'_>) -> Link {
    let flag = |key: &str| value.get(key).and_then(Value::bool) == Some(true);
    let has = |key: &str| value.get(key).is_some_and(|value| value.kind() == Kind::String);
    let foreign = flag("isSidechain") || has("agentId") || has("teamName");
    Link {
        at: 0,
        role: if has("uuid") { Role::Other } else { Role::None },
        home: if foreign { Home::Foreign } else { Home::Main },
        meta: flag("isMeta"),
        parent: owned(value, "parentUuid"),
        logical_parent: owned(value, "logicalParentUuid"),
        source_assistant: owned(value, "sourceToolAssistantUUID"),
        preserved: None,
        cleared: Vec::new(),
    }
}

fn system(value: Value<'_>, link: &mut Link, record: &mut Record) {
    let subtype = value.string_at("subtype").unwrap_or_default();
    record.label = with_subtype("system", value.get("subtype"));
    record.kind = RecordKind::Meta;
    match subtype.as_ref() {
        "compact_boundary" => {
            record.kind = RecordKind::Boundary;
            link.role = Role::Boundary;
            let segment = value.path(&["compactMetadata", "preservedSegment"]);
            link.preserved = segment
                .and_then(|segment| Some((owned(segment, "headUuid")?, owned(segment, "anchorUuid")?)));
        }
        "microcompact_boundary" => {
            let metadata = value.get("microcompactMetadata");
            let lists = ["compactedToolIds", "clearedAttachmentUUIDs"]
                .map(|key| metadata.and_then(|metadata| metadata.get(key)));
            link.cleared = lists
                .into_iter()
                .flatten()
                .flat_map(Value::elements)
                .filter_map(Value::string)
                .map(Into::into)
                .collect();
        }
        _ => {
            let content = value.get("content").filter(|content| content.kind() == Kind::String);
            if let Some(content) = content.filter(|content| content.raw().len() > 2) {
                let text = text_block(content, content, "/content".to_owned(), Speaker::Harness);
                record.blocks.push(Block { visibility: Visibility::Aside, ..text });
            }
        }
    }
}

/// What wrote a user's line that no user wrote, as the envelope names it.
const PROGRAMS: [&str; 2] = ["hook", "harness"];

fn is_of_program(value: Value<'_>) -> bool {
    value.get("rowSource").is_some_and(|source| PROGRAMS.iter().any(|program| source.is(program)))
}

fn with_subtype(kind: &str, subtype: Option<Value<'_>>) -> String {
    match subtype.and_then(Value::string) {
        Some(subtype) => format!("{kind}/{subtype}"),
        None => kind.to_owned(),
    }
}

/// A block for what is readable but not understood: searchable, attributed to nobody.
fn unread(value: Value<'_>, why: String) -> Block {
    let own = block(BlockKind::Opaque(why), value, String::new(), Speaker::Unknown);
    Block { visibility: Visibility::Aside, text: vec![plain_text(value)], ..own }
}

fn set_visibility(blocks: &mut [Block], visibility: Visibility) {
    for block in blocks {
        block.visibility = visibility;
    }
}

/// What the harness writes as a user's text: slash commands, shell escapes, notices.
const COMMAND_TAGS: [&str; 10] = [
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
];

/// Texts the harness writes when the user stops the agent.
const NOTICES: [&str; 2] =
    ["[Request interrupted by user", "Caveat: The messages below were generated by the user"];

fn begins(content: Value<'_>, words: &[&str]) -> bool {
    let inside = content.raw().get(1..).unwrap_or_default();
    words.iter().any(|word| inside.starts_with(word.as_bytes()))
}

fn is_command(content: Value<'_>) -> bool {
    begins(content, &COMMAND_TAGS)
}

/// A slash command is harness text, except the arguments, which the user typed.
fn command(content: Value<'_>, out: &mut Vec<Block>) {
    let raw = content.raw().get(1..content.raw().len().saturating_sub(1)).unwrap_or_default();
    let find = |tag: &[u8]| memchr::memmem::find(raw, tag);
    let typed = find(b"<command-args>").map(|at| at + b"<command-args>".len()).zip(find(b"</command-args>"));
    let typed =
        typed.filter(|&(from, to)| raw.get(from..to).is_some_and(|text| !text.trim_ascii().is_empty()));
    let (Some((from, to)), Some(inside)) = (typed, content.text_range()) else {
        out.push(text_block(content, content, "/message/content".to_owned(), Speaker::Harness));
        return;
    };
    let wide = |offset: usize| u64::try_from(offset).unwrap_or(u64::MAX);
    for (part, speaker) in
        [(0..from, Speaker::Harness), (from..to, Speaker::User), (to..raw.len(), Speaker::Harness)]
    {
        let before = out.len();
        push_part(out, BlockKind::Text, inside, wide(part.start)..wide(part.end), "/message/content");
        for block in out.iter_mut().skip(before) {
            block.speaker = speaker;
        }
    }
}

/// Takes the user's name off texts that the harness writes as a user.
fn demote_notices(content: Option<Value<'_>>, blocks: &mut [Block]) {
    let Some(content) = content else { return };
    let mut parts = content.elements();
    for block in blocks.iter_mut().filter(|block| block.speaker == Speaker::User) {
        let whole = content.range() == block.range;
        let part = if whole { Some(content) } else { parts.find(|part| part.range() == block.range) };
        let text =
            part.and_then(|part| if part.kind() == Kind::String { Some(part) } else { part.get("text") });
        if text.is_some_and(|text| {
            begins(text, &NOTICES) || (text.range() != content.range() && is_command(text))
        }) {
            block.speaker = Speaker::Harness;
        }
    }
}

/// The transcript of a child agent that a result names.
fn child_item(side: Value<'_>, session: Option<&str>, at: u32) -> Option<SideItem> {
    let agent = owned(side, "agentId").filter(|agent| result::is_plain_name(agent))?;
    let file = format!("agent-{agent}.jsonl");
    let session = session.filter(|session| result::is_plain_name(session));
    let places = session
        .map(|session| format!("{session}/subagents/{file}"))
        .into_iter()
        .chain([file.clone()])
        .collect();
    Some(SideItem { kind: SideKind::Child { agent }, places, record: Some(at) })
}
