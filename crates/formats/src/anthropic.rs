//! The content blocks of the Anthropic Messages API, as request bodies and Claude Code lines hold them.

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Finding, Level, ResultFacts, Speaker, TextRange,
};

use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// Who speaks in one message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice {
    /// Whose the texts are.
    pub(crate) speaker: Speaker,
    /// The physical line, for findings.
    pub(crate) line: Option<u32>,
}

/// How a content part is read.
#[derive(Clone, Copy)]
enum Reading {
    Text,
    Thinking,
    Call,
    Result,
    Attachment,
    Summary,
    /// Understood, and nothing is said in it.
    Marker,
}

/// The content parts of the API by their `type`.
const PARTS: [(&str, Reading); 25] = [
    ("text", Reading::Text),
    ("thinking", Reading::Thinking),
    ("redacted_thinking", Reading::Thinking),
    ("tool_use", Reading::Call),
    ("server_tool_use", Reading::Call),
    ("mcp_tool_use", Reading::Call),
    ("tool_result", Reading::Result),
    ("mcp_tool_result", Reading::Result),
    ("web_search_tool_result", Reading::Result),
    ("web_fetch_tool_result", Reading::Result),
    ("code_execution_tool_result", Reading::Result),
    ("bash_code_execution_tool_result", Reading::Result),
    ("text_editor_code_execution_tool_result", Reading::Result),
    ("tool_search_tool_result", Reading::Result),
    ("advisor_tool_result", Reading::Result),
    ("image", Reading::Attachment),
    ("document", Reading::Attachment),
    ("file", Reading::Attachment),
    ("container_upload", Reading::Attachment),
    ("search_result", Reading::Attachment),
    ("compaction", Reading::Summary),
    ("tool_reference", Reading::Marker),
    ("fallback", Reading::Marker),
    ("connector_text", Reading::Text),
    ("mid_conv_system", Reading::Text),
];

/// Reads the content of a message at `pointer`: a string or a list of parts.
pub(crate) fn content(
    content: Value<'_>,
    pointer: &str,
    voice: Voice,
    out: &mut Vec<Block>,
    findings: &mut Vec<Finding>,
) {
    match content.kind() {
        Kind::String => text(content, content, pointer, voice, out),
        Kind::Array => {
            for (at, value) in content.elements().enumerate() {
                part(value, format!("{pointer}/{at}"), voice, out, findings);
            }
        }
        Kind::Null => {}
        Kind::True | Kind::False | Kind::Number | Kind::Object => {
            let why = "content that is neither text nor a list";
            out.push(opaque(content, pointer.to_owned(), why, voice, findings));
        }
    }
}

/// Reads one part of a content.
pub(crate) fn part(
    value: Value<'_>,
    pointer: String,
    voice: Voice,
    out: &mut Vec<Block>,
    findings: &mut Vec<Finding>,
) {
    if value.kind() == Kind::String {
        return text(value, value, &pointer, voice, out);
    }
    let kind = value.string_at("type").unwrap_or_default();
    let reading = PARTS.iter().find(|(name, _)| *name == kind).map(|(_, reading)| *reading);
    match reading {
        Some(Reading::Text) => match value.get("text").filter(|text| text.kind() == Kind::String) {
            Some(inside) => text(value, inside, &pointer, voice, out),
            None => out.push(opaque(value, pointer, "a text part without text", voice, findings)),
        },
        Some(Reading::Thinking) => {
            let text =
                value.get("thinking").and_then(Value::text_range).filter(|text| !text.range.is_empty());
            let thinking = block(BlockKind::Thinking, value, pointer, voice.speaker);
            out.push(Block { text: text.into_iter().collect(), ..thinking });
        }
        Some(Reading::Call) => out.push(call(value, pointer, voice.speaker)),
        Some(Reading::Result) => out.push(result(value, pointer)),
        Some(Reading::Attachment) => out.push(attachment(value, pointer, voice.speaker)),
        Some(Reading::Summary) => {
            let summary = block(BlockKind::Summary, value, pointer, Speaker::Derived);
            out.push(Block { text: value.get("content").map(content_texts).unwrap_or_default(), ..summary });
        }
        Some(Reading::Marker) => {
            let why = format!("a {kind} part, which says nothing");
            out.push(block(BlockKind::Opaque(why), value, pointer, Speaker::Harness));
        }
        None => {
            let why = format!("a content part of unknown type {kind:?}");
            out.push(opaque(value, pointer, &why, voice, findings));
        }
    }
}

/// A text of the message. In a user's message, reminders that the harness put there are not the user's words.
fn text(whole: Value<'_>, inside: Value<'_>, pointer: &str, voice: Voice, out: &mut Vec<Block>) {
    if voice.speaker != Speaker::User {
        out.push(text_block(whole, inside, pointer.to_owned(), voice.speaker));
    } else if inside.raw().starts_with(b"\"<system-reminder>") {
        out.push(text_block(whole, inside, pointer.to_owned(), Speaker::Harness));
    } else {
        user_text(whole, inside, pointer, out);
    }
}

fn call(value: Value<'_>, pointer: String, speaker: Speaker) -> Block {
    let arguments = value.get("input").map_or(Arguments::Missing, |input| Arguments::Json(input.range()));
    let tool = owned(value, "name").unwrap_or_default();
    block(BlockKind::Call(CallFacts { id: owned(value, "id"), tool, arguments }), value, pointer, speaker)
}

fn result(value: Value<'_>, pointer: String) -> Block {
    let mut facts = ResultFacts {
        call_id: owned(value, "tool_use_id"),
        error: value.get("is_error").and_then(Value::bool),
        ..ResultFacts::default()
    };
    let content = value.get("content");
    if let Some(content) = content {
        outcome::complete(&mut facts, content);
    }
    let text = content.map(result_texts).unwrap_or_default();
    Block { text, ..block(BlockKind::Result(facts), value, pointer, Speaker::Tool) }
}

/// The texts of a result; a result of a server tool is an object, whose bytes are the text.
fn result_texts(content: Value<'_>) -> Vec<TextRange> {
    let texts = content_texts(content);
    let holds_data = content.kind() == Kind::Object
        || content
            .elements()
            .any(|part| part.string_at("type").is_some_and(|kind| kind.ends_with("_result")));
    if texts.is_empty() && holds_data { vec![plain_text(content)] } else { texts }
}

fn attachment(value: Value<'_>, pointer: String, speaker: Speaker) -> Block {
    let source = value.get("source");
    let media_type = source
        .and_then(|source| owned(source, "media_type").or_else(|| owned(source, "type")))
        .or_else(|| owned(value, "type"))
        .unwrap_or_default();
    let text = source
        .filter(|source| source.get("type").is_some_and(|kind| kind.is("text")))
        .and_then(|source| source.get("data"))
        .or_else(|| value.get("content"));
    let own = block(BlockKind::Attachment { media_type }, value, pointer, speaker);
    Block { text: text.and_then(Value::text_range).into_iter().collect(), ..own }
}

fn opaque(value: Value<'_>, pointer: String, why: &str, voice: Voice, findings: &mut Vec<Finding>) -> Block {
    findings.push(finding(Level::Note, "unknown-part", voice.line, &pointer, why.to_owned()));
    let own = block(BlockKind::Opaque(why.to_owned()), value, pointer, voice.speaker);
    Block { text: vec![plain_text(value)], ..own }
}
