//! Events of the second generation: each names its `kind`.

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Ending, Finding, Record, RecordKind, ResultFacts, Speaker,
    Visibility,
};

use super::first::ids;
use super::view::Condensation;
use crate::anthropic::{self, Voice};
use crate::document::unknown;
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, owned, plain_text, text_block, time_of};

/// Events that hold nobody's words.
const META: [&str; 9] = [
    "ConversationStateUpdateEvent",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "PauseEvent",
    "TokenEvent",
    "LLMCompletionLogEvent",
    "ConversationErrorEvent",
    "InterruptEvent",
    "StreamingDeltaEvent",
];

/// Fills `record` from the event `value`.
pub(super) fn read(
    value: Value<'_>,
    record: &mut Record,
    findings: &mut Vec<Finding>,
) -> Option<Condensation> {
    let kind = value.string_at("kind").unwrap_or_default();
    record.time = value.get("timestamp").and_then(|time| {
        let text = time.string()?;
        let instant: jiff::Timestamp = format!("{text}Z").parse().ok()?;
        Some(strongroom_core::time::Timestamp::from_ms(instant.as_millisecond()))
    });
    record.time = record.time.or_else(|| value.get("timestamp").and_then(time_of));
    record.id = owned(value, "id");
    record.kind = RecordKind::Message;
    kind.as_ref().clone_into(&mut record.label);
    match kind.as_ref() {
        "SystemPromptEvent" => system(value, record),
        "MessageEvent" => message(value, record, findings),
        "ActionEvent" => action(value, record),
        "ObservationEvent" => observation(value, record),
        "UserRejectObservation" => {
            let text = value.get("rejection_reason");
            answer(value, text, Ending::Refused, record);
        }
        "AgentErrorEvent" => answer(value, value.get("error"), Ending::Returned, record),
        "Condensation" => {
            record.kind = RecordKind::Boundary;
            let summary =
                value.get("summary").filter(|text| text.kind() == Kind::String && text.raw().len() > 2);
            if let Some(text) = summary {
                let own = text_block(text, text, "/summary".to_owned(), Speaker::Derived);
                record.blocks.push(Block { kind: BlockKind::Summary, ..own });
            }
            return Some(Condensation::Events(ids(value)));
        }
        known if META.contains(&known) => record.kind = RecordKind::Meta,
        other => unknown(record, value, &format!("an event of the unknown kind {other:?}"), findings),
    }
    record.blocks.sort_by_key(|block| (block.range.start(), std::cmp::Reverse(block.range.end())));
    None
}

fn system(value: Value<'_>, record: &mut Record) {
    let prompt = value.get("system_prompt");
    let text = prompt
        .and_then(|prompt| if prompt.kind() == Kind::Object { prompt.get("text") } else { Some(prompt) });
    if let Some(text) = text.filter(|text| text.kind() == Kind::String) {
        record.blocks.push(text_block(text, text, "/system_prompt".to_owned(), Speaker::Operator));
    }
}

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let speaker = match value.string_at("source").as_deref() {
        Some("user") => Speaker::User,
        Some("agent") => Speaker::Assistant,
        Some("environment" | "hook") => Speaker::Harness,
        _ => Speaker::Unknown,
    };
    if let Some(content) = value.path(&["llm_message", "content"]) {
        let voice = Voice { speaker, line: record.line };
        anthropic::content(content, "/llm_message/content", voice, &mut record.blocks, findings);
    }
}

fn action(value: Value<'_>, record: &mut Record) {
    // All calls of one answer go together.
    record.message_id = owned(value, "llm_response_id");
    for (at, part) in value.get("thought").into_iter().flat_map(Value::elements).enumerate() {
        if let Some(text) = part.get("text").filter(|text| text.raw().len() > 2) {
            record.blocks.push(text_block(part, text, format!("/thought/{at}"), Speaker::Assistant));
        }
    }
    let reasoning = value.get("reasoning_content").filter(|text| text.kind() == Kind::String);
    if let Some(text) = reasoning.filter(|text| text.raw().len() > 2) {
        let own = text_block(text, text, "/reasoning_content".to_owned(), Speaker::Assistant);
        record.blocks.push(Block { kind: BlockKind::Thinking, ..own });
    }
    let arguments = match (value.get("action"), value.path(&["tool_call", "arguments"])) {
        (Some(action), _) if action.kind() == Kind::Object => {
            (Arguments::Json(action.range()), "/action", action)
        }
        (_, Some(held)) => match held.text_range() {
            Some(text) => (Arguments::JsonInString(text.range), "/tool_call/arguments", held),
            None => (Arguments::Json(held.range()), "/tool_call/arguments", held),
        },
        _ => (Arguments::Missing, "", value),
    };
    let (arguments, pointer, place) = arguments;
    let tool = owned(value, "tool_name").unwrap_or_default();
    let facts = CallFacts { id: owned(value, "tool_call_id"), tool, arguments };
    record.blocks.push(block(BlockKind::Call(facts), place, pointer.to_owned(), Speaker::Assistant));
}

fn observation(value: Value<'_>, record: &mut Record) {
    let Some(held) = value.get("observation") else {
        return answer(value, None, Ending::Returned, record);
    };
    let call_id = owned(value, "tool_call_id");
    let code =
        held.get("exit_code").or_else(|| held.path(&["metadata", "exit_code"])).and_then(Value::integer);
    let mut facts = ResultFacts {
        call_id,
        error: held.get("is_error").and_then(Value::bool),
        exit_code: code.and_then(|code| i32::try_from(code).ok()).filter(|code| *code != -1),
        ..ResultFacts::default()
    };
    if held.get("timeout").and_then(Value::bool) == Some(true) {
        facts.ending = Ending::TimedOut;
    }
    record.cwd = held.path(&["metadata", "working_dir"]).and_then(Value::string).map(Into::into);
    let content = held.get("content").or_else(|| held.get("output"));
    let texts = content.map(content_texts).unwrap_or_default();
    if let Some(content) = content {
        facts.cuts = outcome::cuts(content);
    }
    let own = block(BlockKind::Result(facts), held, "/observation".to_owned(), Speaker::Tool);
    let text = if texts.is_empty() { vec![plain_text(held)] } else { texts };
    record.blocks.push(Block { text, visibility: Visibility::Context, ..own });
}

/// A result that is only words: a refusal, or an error of the agent's own call.
fn answer(value: Value<'_>, text: Option<Value<'_>>, ending: Ending, record: &mut Record) {
    let call_id = owned(value, "tool_call_id");
    let error = (ending == Ending::Returned).then_some(true);
    let facts = ResultFacts { call_id, error, ending, ..ResultFacts::default() };
    let own = block(BlockKind::Result(facts), text.unwrap_or(value), String::new(), Speaker::Tool);
    record.blocks.push(Block { text: text.and_then(Value::text_range).into_iter().collect(), ..own });
}
