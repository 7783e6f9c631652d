//! Messages of `LangChain`, in the three forms its packages dump them: `messages_to_dict`, `dumpd`, and flat.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, BlockRef, Bytes, CallFacts, Finding, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker, Visibility,
};

use crate::anthropic::{self, Voice};
use crate::document::{self, Member, unknown};
use crate::elide::{self, Rules, call_id};
use crate::format::{Edit, Format, Spliced};
use crate::json::{Kind, Value};
use crate::openai_chat;
use crate::outcome;
use crate::part::{block, content_texts, owned, plain_text};

/// The format `langchain`.
#[derive(Debug)]
pub(crate) struct LangChain;

impl Format for LangChain {
    fn name(&self) -> &'static str {
        "langchain"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        let mut index =
            document::index(self.name(), source, RULES.lists, &mut |member, record, findings| {
                if let Member::Message(value) = member {
                    message(value, record, findings);
                }
            })?;
        mark_twins(&mut index.records);
        Ok(index)
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        elide::splice(self, &RULES, source, (index, spans), edit)
    }
}

/// The summary stands behind the instructions, in the form of the other messages.
const RULES: Rules = Rules {
    leads: |message| matches!(dump(message).map(|dump| dump.role), Some(Role::Operator)),
    summary,
    violations: openai_chat::violations,
    ..Rules::MESSAGES
};

fn summary(messages: &[Value<'_>], text: &[u8]) -> Vec<u8> {
    match messages.iter().find_map(|message| dump(*message)).map(|dump| dump.form) {
        Some(Form::Constructor) => [
            br#"{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"#,
            text,
            br#","type":"human"}}"#,
        ]
        .concat(),
        Some(Form::Data) => {
            [br#"{"type":"human","data":{"content":"#, text, br#","type":"human"}}"#].concat()
        }
        Some(Form::Flat) | None => [br#"{"type":"human","content":"#, text, b"}"].concat(),
    }
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    Operator,
    Tool,
    Chat,
    /// An instruction to leave out another message.
    Removal,
}

/// The names of messages: as types, and as classes.
const ROLES: [(&str, &str, Role); 8] = [
    ("human", "HumanMessage", Role::User),
    ("ai", "AIMessage", Role::Assistant),
    ("system", "SystemMessage", Role::Operator),
    ("developer", "DeveloperMessage", Role::Operator),
    ("tool", "ToolMessage", Role::Tool),
    ("function", "FunctionMessage", Role::Tool),
    ("chat", "ChatMessage", Role::Chat),
    ("remove", "RemoveMessage", Role::Removal),
];

/// How a message was dumped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `{"lc":1,"id":[…],"kwargs":{…}}`.
    Constructor,
    /// `{"type":…,"data":{…}}`.
    Data,
    /// The members themselves.
    Flat,
}

/// A message with its members.
#[derive(Clone, Copy)]
struct Dump<'v> {
    form: Form,
    role: Role,
    name: &'static str,
    members: Value<'v>,
    pointer: &'static str,
}

fn dump(value: Value<'_>) -> Option<Dump<'_>> {
    let (form, members, pointer) = match (value.get("kwargs"), value.get("data")) {
        (Some(members), _) if value.get("lc").is_some() => (Form::Constructor, members, "/kwargs"),
        (_, Some(members)) if members.kind() == Kind::Object => (Form::Data, members, "/data"),
        _ => (Form::Flat, value, ""),
    };
    let name = match form {
        Form::Constructor => value.get("id")?.elements().last()?.string()?,
        Form::Data | Form::Flat => value.string_at("type")?,
    };
    let name = name.strip_suffix("Chunk").unwrap_or(&name);
    let (name, _, role) = ROLES.iter().find(|(kind, class, _)| name == *kind || name == *class)?;
    Some(Dump { form, role: *role, name, members, pointer })
}

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let Some(dump) = dump(value) else {
        let kind = value.string_at("type").unwrap_or_default();
        return unknown(record, value, &format!("a message of the unknown type {kind:?}"), findings);
    };
    record.kind = RecordKind::Message;
    record.label = format!("message/{}", dump.name);
    record.id = owned(dump.members, "id");
    let blocks = &mut record.blocks;
    match dump.role {
        Role::User => content(dump, Speaker::User, blocks, findings),
        Role::Operator => content(dump, Speaker::Operator, blocks, findings),
        Role::Assistant => {
            content(dump, Speaker::Assistant, blocks, findings);
            calls(dump, blocks);
        }
        Role::Tool => result(dump, blocks),
        Role::Chat => content(dump, chat_speaker(dump.members), blocks, findings),
        Role::Removal => record.kind = RecordKind::Meta,
    }
    record.blocks.sort_by_key(|block| block.range);
}

fn chat_speaker(members: Value<'_>) -> Speaker {
    match members.string_at("role").as_deref() {
        Some("user" | "human") => Speaker::User,
        Some("assistant" | "ai" | "model") => Speaker::Assistant,
        Some("system" | "developer") => Speaker::Operator,
        _ => Speaker::Unknown,
    }
}

fn content(dump: Dump<'_>, speaker: Speaker, blocks: &mut Vec<Block>, findings: &mut Vec<Finding>) {
    let Some(content) = dump.members.get("content") else { return };
    let pointer = format!("{}/content", dump.pointer);
    let voice = Voice { speaker, line: None };
    if content.kind() != Kind::Array {
        if content.raw().len() > 2 {
            anthropic::content(content, &pointer, voice, blocks, findings);
        }
        return;
    }
    for (at, part) in content.elements().enumerate() {
        let pointer = format!("{pointer}/{at}");
        let kind = part.string_at("type").unwrap_or_default();
        match kind.as_ref() {
            "tool_call" | "tool_call_chunk" | "server_tool_call" => {
                blocks.push(call(part, part, pointer, &["args"]));
            }
            "reasoning" | "reasoning_content" => {
                let text = part.get("reasoning").and_then(Value::text_range);
                let own = block(BlockKind::Thinking, part, pointer, speaker);
                blocks.push(Block { text: text.into_iter().collect(), ..own });
            }
            "image_url" | "audio" | "video" | "input_audio" => {
                let media_type = owned(part, "mime_type").unwrap_or_else(|| kind.into_owned());
                blocks.push(block(BlockKind::Attachment { media_type }, part, pointer, speaker));
            }
            _ => anthropic::part(part, pointer, voice, blocks, findings),
        }
    }
}

/// Where the calls of a message stand, and in it the name and the arguments; the first is what is sent.
const CALLS: [(&[&str], &[&str], &[&str]); 3] = [
    (&["tool_calls"], &[], &["args"]),
    (&["invalid_tool_calls"], &[], &["args"]),
    (&["additional_kwargs", "tool_calls"], &["function"], &["arguments"]),
];

fn calls(dump: Dump<'_>, blocks: &mut Vec<Block>) {
    for (list, inside, arguments) in CALLS {
        let elements = dump.members.path(list).into_iter().flat_map(Value::elements);
        for (at, value) in elements.enumerate() {
            let pointer = format!("{}/{}/{at}", dump.pointer, list.join("/"));
            blocks.push(call(value, value.path(inside).unwrap_or(value), pointer, arguments));
        }
    }
}

fn call(whole: Value<'_>, inside: Value<'_>, pointer: String, arguments: &[&str]) -> Block {
    let arguments = inside.path(arguments).map_or(Arguments::Missing, |held| match held.text_range() {
        Some(text) => Arguments::JsonInString(text.range),
        None if held.kind() == Kind::Null => Arguments::Missing,
        None => Arguments::Json(held.range()),
    });
    let facts =
        CallFacts { id: owned(whole, "id"), tool: owned(inside, "name").unwrap_or_default(), arguments };
    block(BlockKind::Call(facts), whole, pointer, Speaker::Assistant)
}

fn result(dump: Dump<'_>, blocks: &mut Vec<Block>) {
    let members = dump.members;
    let id =
        owned(members, "tool_call_id").or_else(|| owned(members, "name").filter(|_| dump.name == "function"));
    let error = members.string_at("status").map(|status| status == "error");
    let mut facts = ResultFacts { call_id: id.clone(), error, ..ResultFacts::default() };
    if let Some(content) = members.get("content") {
        facts.cuts = outcome::cuts(content);
        let pointer = format!("{}/content", dump.pointer);
        let own = block(BlockKind::Result(facts), content, pointer, Speaker::Tool);
        blocks.push(Block { text: content_texts(content), ..own });
    }
    if let Some(artifact) = members.get("artifact").filter(|artifact| artifact.kind() != Kind::Null) {
        let facts = BlockKind::SideData { call_id: id };
        let own = block(facts, artifact, format!("{}/artifact", dump.pointer), Speaker::Tool);
        let text = vec![plain_text(artifact)];
        blocks.push(Block { visibility: Visibility::Aside, text, ..own });
    }
}

/// A call stands in a message up to three times: under one id it is one.
fn mark_twins(records: &mut [Record]) {
    for (record, at) in records.iter_mut().zip(0u32..) {
        let mut first: BTreeMap<String, BlockRef> = BTreeMap::new();
        for (block, n) in record.blocks.iter_mut().zip(0u32..) {
            let Some(id) = call_id(block).map(str::to_owned) else { continue };
            match first.get(&id) {
                Some(original) => {
                    block.copy_of = Some(*original);
                    block.visibility = Visibility::Aside;
                }
                None => {
                    first.insert(id, BlockRef { record: at, block: n });
                }
            }
        }
    }
}
