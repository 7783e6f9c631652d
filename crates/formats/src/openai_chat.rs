//! Chat messages in `OpenAI`'s form: a bare list, or a request body with `messages`.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Finding, Level, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker,
};

use crate::document::{self, Member, unknown};
use crate::elide::{self, Rules, turns};
use crate::format::{Edit, Format, Resume};
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// The format `openai-chat`.
#[derive(Debug)]
pub(crate) struct OpenAiChat;

impl Format for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        document::index(self.name(), source, RULES.lists, &mut |member, record, findings| {
            if let Member::Message(value) = member {
                message(value, record, findings);
            }
        })
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Vec<u8>> {
        elide::splice(self, &RULES, source, (index, spans), edit)
    }

    fn resume(&self, _index: &SourceIndex, _edit: &Edit) -> Option<Resume> {
        None
    }
}

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let role = value.string_at("role").unwrap_or_default();
    record.kind = RecordKind::Message;
    record.label = format!("message/{role}");
    record.id = owned(value, "id");
    let blocks = &mut record.blocks;
    match role.as_ref() {
        "user" => content(value, Speaker::User, blocks, findings),
        "system" | "developer" => content(value, Speaker::Operator, blocks, findings),
        "assistant" => assistant(value, blocks, findings),
        "tool" | "function" => blocks.push(result(value, &role)),
        _ if value.kind() != Kind::Object => unknown(record, value, "a message that is no object", findings),
        other => unknown(record, value, &format!("a message with the unknown role {other:?}"), findings),
    }
}

fn assistant(value: Value<'_>, blocks: &mut Vec<Block>, findings: &mut Vec<Finding>) {
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = value.get(key).filter(|text| text.kind() == Kind::String) {
            let thinking = text_block(text, text, format!("/{key}"), Speaker::Assistant);
            blocks.push(Block { kind: BlockKind::Thinking, ..thinking });
        }
    }
    content(value, Speaker::Assistant, blocks, findings);
    if let Some(refusal) = value.get("refusal").filter(|refusal| refusal.kind() == Kind::String) {
        blocks.push(text_block(refusal, refusal, "/refusal".to_owned(), Speaker::Assistant));
    }
    for (at, call) in value.get("tool_calls").into_iter().flat_map(Value::elements).enumerate() {
        let pointer = format!("/tool_calls/{at}");
        match call.get("function").or_else(|| call.get("custom")) {
            Some(inside) => blocks.push(tool_call(call, inside, owned(call, "id"), pointer)),
            None => blocks.push(opaque(
                call,
                pointer,
                "a tool call of unknown type",
                Speaker::Assistant,
                findings,
            )),
        }
    }
    if let Some(call) = value.get("function_call").filter(|call| call.kind() == Kind::Object) {
        blocks.push(tool_call(call, call, owned(call, "name"), "/function_call".to_owned()));
    }
}

fn tool_call(whole: Value<'_>, inside: Value<'_>, id: Option<String>, pointer: String) -> Block {
    let arguments = match (inside.get("arguments"), inside.get("input")) {
        (Some(arguments), _) => match arguments.text_range() {
            Some(text) => Arguments::JsonInString(text.range),
            None if arguments.kind() == Kind::Null => Arguments::Missing,
            None => Arguments::Json(arguments.range()),
        },
        (None, Some(input)) => {
            input.text_range().map_or(Arguments::Json(input.range()), |text| Arguments::Text(text.range))
        }
        (None, None) => Arguments::Missing,
    };
    let tool = owned(inside, "name").unwrap_or_default();
    block(BlockKind::Call(CallFacts { id, tool, arguments }), whole, pointer, Speaker::Assistant)
}

/// A tool's message. It answers by call id; the older function message answers by the function's name.
fn result(value: Value<'_>, role: &str) -> Block {
    let call_id =
        owned(value, "tool_call_id").or_else(|| owned(value, "name").filter(|_| role == "function"));
    let cuts = value.get("content").map(outcome::cuts).unwrap_or_default();
    let facts = BlockKind::Result(ResultFacts { call_id, cuts, ..ResultFacts::default() });
    match value.get("content") {
        Some(content) => Block {
            text: content_texts(content),
            ..block(facts, content, "/content".to_owned(), Speaker::Tool)
        },
        None => block(facts, value, String::new(), Speaker::Tool),
    }
}

fn content(value: Value<'_>, speaker: Speaker, blocks: &mut Vec<Block>, findings: &mut Vec<Finding>) {
    let Some(content) = value.get("content") else { return };
    match content.kind() {
        Kind::String => text(content, content, "/content", speaker, blocks),
        Kind::Array => {
            for (at, part) in content.elements().enumerate() {
                content_part(part, format!("/content/{at}"), speaker, blocks, findings);
            }
        }
        Kind::Null => {}
        Kind::True | Kind::False | Kind::Number | Kind::Object => {
            let why = "content that is neither text nor a list";
            blocks.push(opaque(content, "/content".to_owned(), why, speaker, findings));
        }
    }
}

fn content_part(
    part: Value<'_>,
    pointer: String,
    speaker: Speaker,
    blocks: &mut Vec<Block>,
    findings: &mut Vec<Finding>,
) {
    let kind = part.string_at("type").unwrap_or_default();
    let inside =
        ["text", "refusal"].iter().find_map(|key| part.get(key)).filter(|text| text.kind() == Kind::String);
    match (kind.as_ref(), inside) {
        ("text" | "input_text" | "output_text" | "refusal", Some(inside)) => {
            text(part, inside, &pointer, speaker, blocks);
        }
        ("image_url" | "input_audio" | "file" | "video_url", _) => {
            let media_type = media_type(part).unwrap_or_else(|| kind.into_owned());
            blocks.push(block(BlockKind::Attachment { media_type }, part, pointer, speaker));
        }
        _ if part.kind() == Kind::String => text(part, part, &pointer, speaker, blocks),
        (other, _) => {
            let why = format!("a content part of unknown type {other:?}");
            blocks.push(opaque(part, pointer, &why, speaker, findings));
        }
    }
}

/// The media type of an image by value, from its data URL.
fn media_type(part: Value<'_>) -> Option<String> {
    let url = part.path(&["image_url", "url"])?;
    let head = url.raw().get(1..url.raw().len().min(80))?;
    let head = std::str::from_utf8(head).ok()?.strip_prefix("data:")?;
    head.split([';', ',']).next().map(str::to_owned)
}

fn text(whole: Value<'_>, inside: Value<'_>, pointer: &str, speaker: Speaker, blocks: &mut Vec<Block>) {
    if speaker == Speaker::User {
        user_text(whole, inside, pointer, blocks);
    } else if inside.raw().len() > 2 {
        blocks.push(text_block(whole, inside, pointer.to_owned(), speaker));
    }
}

fn opaque(
    value: Value<'_>,
    pointer: String,
    why: &str,
    speaker: Speaker,
    findings: &mut Vec<Finding>,
) -> Block {
    findings.push(finding(Level::Note, "unknown-part", None, &pointer, why.to_owned()));
    let own = block(BlockKind::Opaque(why.to_owned()), value, pointer, speaker);
    Block { text: vec![plain_text(value)], ..own }
}

/// The summary stands behind the instructions.
const RULES: Rules = Rules {
    leads: |message| {
        message.string_at("role").is_some_and(|role| matches!(role.as_ref(), "system" | "developer"))
    },
    violations,
    ..Rules::MESSAGES
};

/// Counts what the API would refuse, by rule.
pub(crate) fn violations(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
    let mut found: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut count = |rule: &'static str, times: usize| *found.entry(rule).or_default() += times;
    let mut open: Vec<&str> = Vec::new();
    for turn in turns(index) {
        if !matches!(turn.role, "tool" | "function") {
            count("every call is answered before the next message", open.len());
            open.clear();
        }
        open.extend(&turn.calls);
        for id in turn.answers {
            match open.iter().position(|call| *call == id) {
                Some(at) => drop(open.remove(at)),
                None => count("every tool message follows its call", 1),
            }
        }
    }
    found
}
