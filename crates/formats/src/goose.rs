//! Sessions of goose: a line of metadata and a line for each message, or an export with `conversation`.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Finding, Form, Level, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker, Visibility,
};

use crate::document::{self, Member, unknown};
use crate::elide::{self, Layout, Rules, unpaired};
use crate::format::{Edit, Format, Spliced, refuse_empty};
use crate::json::{Kind, Tape, Value};
use crate::lines::{RECORD_BYTES_MAX, index_records};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// The format `goose`.
#[derive(Debug)]
pub(crate) struct Goose;

impl Format for Goose {
    fn name(&self) -> &'static str {
        "goose"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        refuse_empty(source)?;
        match layout(source)? {
            Layout::Lines => lines(self.name(), source),
            Layout::Document => {
                let mut cwd = None;
                let mut index =
                    document::index(self.name(), source, RULES.lists, &mut |member, record, findings| {
                        match member {
                            Member::Message(value) => message(value, record, findings),
                            Member::Field(value) if record.pointer == "/working_dir" => {
                                cwd = value.string().map(Into::into);
                            }
                            Member::Field(_) => {}
                        }
                    })?;
                index.records.iter_mut().for_each(|record| record.cwd.clone_from(&cwd));
                Ok(index)
            }
        }
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        const LINES: Rules = Rules { layout: Layout::Lines, ..RULES };
        let rules = if layout(source)? == Layout::Lines { &LINES } else { &RULES };
        elide::splice(self, rules, source, (index, spans), edit)
    }
}

/// The summary is the first message; only the agent sees it, as goose does it itself.
const RULES: Rules = Rules {
    lists: &["conversation", "messages"],
    leads: |value| value.get("working_dir").is_some(),
    summary,
    outputs: &[&["toolResult", "value", "content"], &["toolResult", "value"], &["toolResult", "error"]],
    violations: |index| -> BTreeMap<&'static str, usize> { unpaired(index) },
    ..Rules::MESSAGES
};

fn summary(messages: &[Value<'_>], text: &[u8]) -> Vec<u8> {
    let created =
        messages.iter().find_map(|message| message.get("created")).map_or(b"0".as_slice(), Value::raw);
    [
        br#"{"role":"user","created":"#,
        created,
        br#","content":[{"type":"text","text":"#,
        text,
        br#"}],"metadata":{"userVisible":false,"agentVisible":true}}"#,
    ]
    .concat()
}

/// A session on lines begins with its metadata, which holds no messages.
fn layout(source: &dyn Bytes) -> Result<Layout> {
    let head = source.read(ByteRange::new(0, source.len().min(RECORD_BYTES_MAX)))?;
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut tape = Tape::new();
    let first = tape.scan(line).ok().and_then(|_| tape.root(line, 0));
    let is_whole = |value: Value<'_>| RULES.lists.iter().any(|key| value.get(key).is_some());
    Ok(match first {
        Some(value) if value.kind() == Kind::Object && !is_whole(value) => Layout::Lines,
        _ => Layout::Document,
    })
}

fn lines(format: &'static str, source: &dyn Bytes) -> Result<SourceIndex> {
    let mut cwd: Option<String> = None;
    index_records(format, Form::Elide, source, &mut |value, record, findings| {
        if value.get("role").is_none() && value.get("working_dir").is_some() {
            record.kind = RecordKind::Meta;
            "metadata".clone_into(&mut record.label);
            cwd = owned(value, "working_dir");
        } else {
            message(value, record, findings);
        }
        record.cwd.clone_from(&cwd);
    })
}

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let role = value.string_at("role").unwrap_or_default();
    let flag = |key: &str| value.path(&["metadata", key]).and_then(Value::bool);
    // What only the agent sees was written by the program, from other messages.
    let speaker = match role.as_ref() {
        _ if flag("userVisible") == Some(false) && flag("agentVisible") == Some(true) => Speaker::Derived,
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return unknown(record, value, &format!("a message with the unknown role {role:?}"), findings),
    };
    record.kind = RecordKind::Message;
    record.label = format!("message/{role}");
    record.id = owned(value, "id");
    let seconds = value.get("created").and_then(Value::integer);
    record.time = seconds.map(|at| strongroom_core::time::Timestamp::from_ms(at.saturating_mul(1000)));
    for (at, part) in value.get("content").into_iter().flat_map(Value::elements).enumerate() {
        content_part(part, format!("/content/{at}"), speaker, record, findings);
    }
    if flag("agentVisible") == Some(false) {
        record.blocks.iter_mut().for_each(|block| block.visibility = Visibility::Past);
    }
}

fn content_part(
    part: Value<'_>,
    pointer: String,
    speaker: Speaker,
    record: &mut Record,
    findings: &mut Vec<Finding>,
) {
    let kind = part.string_at("type").unwrap_or_default();
    let inside = ["text", "thinking", "msg"].into_iter().find_map(|key| part.get(key));
    let inside = inside.filter(|inside| inside.kind() == Kind::String);
    let blocks = &mut record.blocks;
    match (kind.as_ref(), inside) {
        ("text", Some(text)) if speaker == Speaker::User => user_text(part, text, &pointer, blocks),
        ("text", Some(text)) => {
            let own = text_block(part, text, pointer, speaker);
            let kind = if speaker == Speaker::Derived { BlockKind::Summary } else { BlockKind::Text };
            blocks.push(Block { kind, ..own });
        }
        ("thinking" | "redactedThinking", inside) => {
            let own = block(BlockKind::Thinking, part, pointer, Speaker::Assistant);
            blocks.push(Block { text: inside.and_then(Value::text_range).into_iter().collect(), ..own });
        }
        ("toolRequest" | "frontendToolRequest", _) => blocks.push(call(part, pointer)),
        ("toolResponse", _) => blocks.push(result(part, pointer)),
        ("image", _) => {
            let media_type = owned(part, "mimeType").unwrap_or_else(|| "image".to_owned());
            blocks.push(block(BlockKind::Attachment { media_type }, part, pointer, speaker));
        }
        (
            "summarizationRequested"
            | "contextLengthExceeded"
            | "conversationCompacted"
            | "systemNotification"
            | "toolConfirmationRequest"
            | "actionRequired",
            inside,
        ) => {
            let own = block(BlockKind::Text, part, pointer, Speaker::Harness);
            let text = inside.and_then(Value::text_range).into_iter().collect();
            blocks.push(Block { visibility: Visibility::Aside, text, ..own });
        }
        (other, _) => {
            let why = format!("a content part of unknown type {other:?}");
            findings.push(finding(Level::Note, "unknown-part", record.line, &pointer, why.clone()));
            let own = block(BlockKind::Opaque(why), part, pointer, speaker);
            blocks.push(Block { text: vec![plain_text(part)], ..own });
        }
    }
}

fn call(part: Value<'_>, pointer: String) -> Block {
    let held = part.get("toolCall").map(|call| call.get("value").unwrap_or(call));
    let arguments = held.and_then(|held| held.get("arguments"));
    let arguments = arguments.filter(|arguments| arguments.kind() != Kind::Null);
    let arguments = arguments.map_or(Arguments::Missing, |held| Arguments::Json(held.range()));
    let tool = held.and_then(|held| owned(held, "name")).unwrap_or_default();
    let facts = CallFacts { id: owned(part, "id"), tool, arguments };
    block(BlockKind::Call(facts), part, pointer, Speaker::Assistant)
}

fn result(part: Value<'_>, pointer: String) -> Block {
    let held = part.get("toolResult");
    let value = held.and_then(|held| held.get("value"));
    let failed = held.and_then(|held| held.get("status")).map(|status| status.is("error"));
    let flag = value.and_then(|value| value.get("isError")).and_then(Value::bool);
    let mut facts =
        ResultFacts { call_id: owned(part, "id"), error: flag.or(failed), ..ResultFacts::default() };
    let content = value.map(|value| value.get("content").unwrap_or(value));
    let content = content.or_else(|| held.and_then(|held| held.get("error")));
    if let Some(content) = content {
        facts.cuts = outcome::cuts(content);
    }
    let own = block(BlockKind::Result(facts), part, pointer, Speaker::Tool);
    Block { text: content.map(content_texts).unwrap_or_default(), ..own }
}
