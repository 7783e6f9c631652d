//! The events of `--output-format stream-json`, one on a line: a record of a run, which nothing resumes.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Finding, Form, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker,
};

use crate::document::unknown;
use crate::elide::{Rules, unpaired};
use crate::json::Value;
use crate::lines::index_records;
use crate::outcome;
use crate::part::{block, content_texts, owned, plain_text, text_block, time_of, user_text};

/// The types of events.
pub(super) const EVENTS: [&str; 6] = ["init", "message", "tool_use", "tool_result", "error", "result"];

/// Calls keep their names and results their ids; the summary is a message behind the first line.
pub(super) const RULES: Rules = Rules {
    leads: |event| event.get("type").is_some_and(|kind| kind.is("init")),
    summary: |_, text| [br#"{"type":"message","role":"user","content":"#, text, b"}"].concat(),
    outputs: &[&["output"], &["error", "message"]],
    violations: |index| -> BTreeMap<&'static str, usize> { unpaired(index) },
    ..Rules::LINES
};

/// Reads a stream into an index.
///
/// # Errors
/// As [`Bytes::read`].
pub(super) fn index(format: &'static str, source: &dyn Bytes) -> Result<SourceIndex> {
    let mut session = None;
    index_records(format, Form::Elide, source, &mut |value, record, findings| {
        session = owned(value, "session_id").or_else(|| session.take());
        record.session.clone_from(&session);
        event(value, record, findings);
    })
}

fn event(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let kind = value.string_at("type").unwrap_or_default();
    record.time = value.get("timestamp").and_then(time_of);
    record.label = format!("stream/{kind}");
    record.kind = RecordKind::Message;
    match kind.as_ref() {
        "init" | "result" => record.kind = RecordKind::Meta,
        "message" => message(value, record),
        "tool_use" => record.blocks.push(call(value)),
        "tool_result" => record.blocks.push(result(value)),
        "error" => {
            if let Some(text) = value.get("message").filter(|text| text.text_range().is_some()) {
                record.blocks.push(text_block(text, text, "/message".to_owned(), Speaker::Harness));
            }
        }
        other => unknown(record, value, &format!("an event of the unknown type {other:?}"), findings),
    }
}

fn message(value: Value<'_>, record: &mut Record) {
    let role = value.string_at("role").unwrap_or_default();
    record.label = format!("message/{role}");
    let Some(content) = value.get("content").filter(|content| content.text_range().is_some()) else { return };
    if role == "user" {
        user_text(content, content, "/content", &mut record.blocks);
    } else {
        record.blocks.push(text_block(content, content, "/content".to_owned(), Speaker::Assistant));
    }
}

fn call(value: Value<'_>) -> Block {
    let held = value.get("parameters");
    let arguments = held.map_or(Arguments::Missing, |held| Arguments::Json(held.range()));
    let tool = owned(value, "tool_name").unwrap_or_default();
    let facts = CallFacts { id: owned(value, "tool_id"), tool, arguments };
    block(BlockKind::Call(facts), value, String::new(), Speaker::Assistant)
}

fn result(value: Value<'_>) -> Block {
    let failed = value.get("status").map(|status| !status.is("success"));
    let mut facts = ResultFacts { call_id: owned(value, "tool_id"), error: failed, ..ResultFacts::default() };
    let output = value.get("output").or_else(|| value.path(&["error", "message"]));
    if let Some(output) = output {
        facts.cuts = outcome::cuts(output);
    }
    let text = output.map(|output| match content_texts(output) {
        texts if texts.is_empty() => vec![plain_text(output)],
        texts => texts,
    });
    let own = block(BlockKind::Result(facts), value, String::new(), Speaker::Tool);
    Block { text: text.unwrap_or_default(), ..own }
}
