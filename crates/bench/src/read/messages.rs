//! Request bodies: lists of messages of Chat Completions and of the Messages API.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::leaf::{inner_leaves, leaves};
use crate::session::{Argument, Draft, Format, Kind, Outcome, Speaker};

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list(value: &Value) -> Option<&Vec<Value>> {
    value.as_array().or_else(|| value.get("messages").and_then(Value::as_array))
}

/// The format of a document; `None` where it holds no messages.
pub(super) fn format_of(value: &Value) -> Option<Format> {
    let messages = list(value)?;
    let has_role = messages.iter().any(|message| !text(message, "role").is_empty());
    let openai = |message: &Value| {
        matches!(text(message, "role"), "system" | "developer" | "tool")
            || message.get("tool_calls").is_some()
    };
    let anthropic = |message: &Value| {
        let parts = message.get("content").and_then(Value::as_array);
        parts
            .into_iter()
            .flatten()
            .any(|part| matches!(text(part, "type"), "tool_use" | "tool_result" | "thinking"))
    };
    if !has_role {
        return None;
    }
    if value.get("system").is_some() || messages.iter().any(anthropic) {
        return Some(Format::AnthropicMessages);
    }
    messages.iter().any(openai).then_some(Format::OpenAiChat)
}

/// Reads a document; a message is a record.
pub(super) fn document(draft: &mut Draft, bytes: &[u8], format: Format) -> Option<()> {
    let whole = std::str::from_utf8(bytes).ok()?;
    let raw: &RawValue = serde_json::from_str(whole).ok()?;
    let value: Value = serde_json::from_str(whole).ok()?;
    let prefix = if value.is_array() { "" } else { "/messages" };
    let mut found = leaves(whole, raw, 0, 0);
    let inner: Vec<_> =
        found.iter().filter(|leaf| super::is_arguments(&leaf.pointer)).flat_map(inner_leaves).collect();
    found.extend(inner);
    for leaf in &mut found {
        let at = leaf.pointer.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
        let at = at.and_then(|rest| rest.split('/').next()?.parse::<u32>().ok());
        leaf.record = at.map_or(0, |at| at + 1);
    }
    found.sort_by_key(|leaf| leaf.record);
    draft.records.push(0..bytes.len());
    let messages = list(&value)?;
    let mut rest = found.into_iter().peekable();
    while let Some(leaf) = rest.next_if(|leaf| leaf.record == 0) {
        draft.leaves.push(leaf);
    }
    for (at, message) in messages.iter().enumerate() {
        let no = u32::try_from(at + 1).unwrap_or(u32::MAX);
        draft.first = draft.leaves.len();
        while let Some(leaf) = rest.next_if(|leaf| leaf.record <= no) {
            draft.leaves.push(leaf);
        }
        let pointer = format!("{prefix}/{at}");
        match format {
            Format::AnthropicMessages => anthropic(draft, no, message, &pointer),
            _ => openai(draft, no, message, &pointer),
        }
    }
    Some(())
}

fn openai(draft: &mut Draft, no: u32, message: &Value, pointer: &str) {
    let leaves = draft.below(no, &format!("{pointer}/content"));
    let said = message.get("content").and_then(Value::as_str);
    match text(message, "role") {
        "tool" => {
            let id = text(message, "tool_call_id").to_owned();
            let kind = Kind::Result { id, outcome: Outcome::Unknown };
            draft.event(no, Speaker::Tool, kind, leaves);
        }
        "assistant" if said.is_some() => draft.event(no, Speaker::Assistant, Kind::Said, leaves),
        "user" => {
            let speaker = said.map_or(Speaker::Harness, super::prose::speaker);
            draft.event(no, speaker, Kind::Said, leaves);
        }
        "system" | "developer" => draft.event(no, Speaker::Operator, Kind::Said, leaves),
        "assistant" => {}
        _ => draft.unreadable.push(no),
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (at, call) in calls.into_iter().flatten().enumerate() {
        let own = format!("{pointer}/tool_calls/{at}/function/arguments");
        let arguments = draft.arguments(no, &format!("{own}#"));
        let tool = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = Kind::Call { id: text(call, "id").to_owned(), tool, arguments };
        let leaves = draft.below(no, &own);
        draft.event(no, Speaker::Assistant, kind, leaves);
    }
}

fn anthropic(draft: &mut Draft, no: u32, message: &Value, pointer: &str) {
    let user = text(message, "role") == "user";
    let own = |said: &str| if user { super::prose::speaker(said) } else { Speaker::Assistant };
    let Some(parts) = message.get("content").and_then(Value::as_array) else {
        let leaves = draft.below(no, &format!("{pointer}/content"));
        draft.event(no, own(text(message, "content")), Kind::Said, leaves);
        return;
    };
    for (at, part) in parts.iter().enumerate() {
        let pointer = format!("{pointer}/content/{at}");
        match text(part, "type") {
            "text" => {
                let leaves = draft.below(no, &format!("{pointer}/text"));
                draft.event(no, own(text(part, "text")), Kind::Said, leaves);
            }
            "thinking" => {
                let leaves = draft.below(no, &format!("{pointer}/thinking"));
                draft.event(no, Speaker::Assistant, Kind::Thinking, leaves);
            }
            "tool_use" => tool_use(draft, no, part, &pointer),
            "tool_result" => {
                let failed = part.get("is_error").and_then(Value::as_bool).unwrap_or(false);
                let outcome = if failed { Outcome::Failed } else { Outcome::Worked };
                let leaves = draft.below(no, &format!("{pointer}/content"));
                let kind = Kind::Result { id: text(part, "tool_use_id").to_owned(), outcome };
                draft.event(no, Speaker::Tool, kind, leaves);
            }
            _ => {}
        }
    }
}

/// A call of the Messages API.
pub(super) fn tool_use(draft: &mut Draft, no: u32, part: &Value, pointer: &str) {
    let arguments: Vec<Argument> = draft.arguments(no, &format!("{pointer}/input"));
    let leaves = arguments.iter().map(|own| own.leaf).collect();
    let (id, tool) = (text(part, "id").to_owned(), text(part, "name").to_owned());
    draft.event(no, Speaker::Assistant, Kind::Call { id, tool, arguments }, leaves);
}
