//! Messages in the form of `OpenAI`'s chat API, as request bodies and the logs of many harnesses hold them.

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Finding, Level, Record, RecordKind, ResultFacts, Speaker,
};

use crate::document::unknown;
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// Reads a message in `OpenAI`'s form.
pub(crate) fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
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

/// Reads what the model says and calls.
pub(crate) fn assistant(value: Value<'_>, blocks: &mut Vec<Block>, findings: &mut Vec<Finding>) {
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
    calls(value, Speaker::Assistant, blocks, findings);
    if let Some(call) = value.get("function_call").filter(|call| call.kind() == Kind::Object) {
        blocks.push(tool_call(call, call, owned(call, "name"), "/function_call".to_owned()));
    }
}

/// Reads the `tool_calls` of a message.
pub(crate) fn calls(
    value: Value<'_>,
    speaker: Speaker,
    blocks: &mut Vec<Block>,
    findings: &mut Vec<Finding>,
) {
    for (at, call) in value.get("tool_calls").into_iter().flat_map(Value::elements).enumerate() {
        let pointer = format!("/tool_calls/{at}");
        let inside = ["function", "custom"].iter().find_map(|key| call.get(key));
        let flat = ["function", "name"].iter().any(|key| call.string_at(key).is_some()).then_some(call);
        match inside.filter(|inside| inside.kind() == Kind::Object).or(flat) {
            Some(inside) => {
                let own = tool_call(call, inside, owned(call, "id"), pointer);
                blocks.push(Block { speaker, ..own });
            }
            None => blocks.push(opaque(call, pointer, "a tool call of unknown type", speaker, findings)),
        }
    }
}

/// A call whose name and arguments stand in `inside`.
pub(crate) fn tool_call(whole: Value<'_>, inside: Value<'_>, id: Option<String>, pointer: String) -> Block {
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
    let tool = owned(inside, "name")
        .or_else(|| owned(inside, "function"))
        .or_else(|| owned(inside, "function_name"))
        .unwrap_or_default();
    block(BlockKind::Call(CallFacts { id, tool, arguments }), whole, pointer, Speaker::Assistant)
}

/// A tool's message. It answers by call id; the older function message answers by the function's name.
pub(crate) fn result(value: Value<'_>, role: &str) -> Block {
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

/// Reads the content of a message: a text, or a list of parts.
pub(crate) fn content(
    value: Value<'_>,
    speaker: Speaker,
    blocks: &mut Vec<Block>,
    findings: &mut Vec<Finding>,
) {
    if let Some(content) = value.get("content") {
        said(content, "/content", speaker, blocks, findings);
    }
}

/// Reads a text or a list of parts, which stands at `pointer`.
pub(crate) fn said(
    content: Value<'_>,
    pointer: &str,
    speaker: Speaker,
    blocks: &mut Vec<Block>,
    findings: &mut Vec<Finding>,
) {
    match content.kind() {
        Kind::String => text(content, content, pointer, speaker, blocks),
        Kind::Array => {
            for (at, part) in content.elements().enumerate() {
                content_part(part, format!("{pointer}/{at}"), speaker, blocks, findings);
            }
        }
        Kind::Null => {}
        Kind::True | Kind::False | Kind::Number | Kind::Object => {
            let why = "content that is neither text nor a list";
            blocks.push(opaque(content, pointer.to_owned(), why, speaker, findings));
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
    if let ("reasoning" | "thinking", Some(said)) = (kind.as_ref(), part.get(&kind)) {
        let own = block(BlockKind::Thinking, part, pointer, speaker);
        return blocks.push(Block { text: said.text_range().into_iter().collect(), ..own });
    }
    let inside =
        ["text", "refusal"].iter().find_map(|key| part.get(key)).filter(|text| text.kind() == Kind::String);
    match (kind.as_ref(), inside) {
        ("text" | "input_text" | "output_text" | "refusal", Some(inside)) => {
            text(part, inside, &pointer, speaker, blocks);
        }
        (
            "image_url" | "input_audio" | "file" | "video_url" | "image" | "audio" | "video" | "document",
            _,
        ) => {
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
