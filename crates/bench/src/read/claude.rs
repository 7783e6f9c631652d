//! Session logs of Claude Code.

use serde_json::Value;

use crate::session::{Draft, Kind, Outcome, Speaker};

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Reads one line.
pub(super) fn record(draft: &mut Draft, no: u32, value: &Value) {
    match text(value, "type") {
        "system" if text(value, "subtype") == "compact_boundary" => boundary(draft, no),
        "user" | "assistant" if flag(value, "isCompactSummary") => {
            let leaves = draft.below(no, "/message/content");
            draft.event(no, Speaker::Derived, Kind::Said, leaves);
        }
        "user" | "assistant" if flag(value, "isSidechain") => {}
        "user" => user(draft, no, value),
        "assistant" if !flag(value, "isApiErrorMessage") => assistant(draft, no, value),
        "summary" => draft.foreign_past |= no > 1 && draft.events.is_empty(),
        "progress" => progress(draft, no, value),
        _ => {}
    }
}

fn boundary(draft: &mut Draft, no: u32) {
    draft.boundaries.push(no);
    draft.foreign_past |= draft.events.is_empty();
}

fn user(draft: &mut Draft, no: u32, value: &Value) {
    let content = value.pointer("/message/content");
    let results = content.and_then(Value::as_array).into_iter().flatten();
    let paired = results.filter(|part| text(part, "type") == "tool_result").count();
    if value.get("toolUseResult").is_some() && paired == 0 {
        // Something was returned, and nothing says to which call.
        draft.unreadable.push(no);
    }
    let own = |text: &str| if flag(value, "isMeta") { Speaker::Harness } else { super::prose::speaker(text) };
    match content {
        Some(Value::String(said)) => {
            let leaves = draft.below(no, "/message/content");
            draft.event(no, own(said), Kind::Said, leaves);
        }
        Some(Value::Array(parts)) => {
            for (at, part) in parts.iter().enumerate() {
                let pointer = format!("/message/content/{at}");
                match text(part, "type") {
                    "text" => {
                        let leaves = draft.below(no, &format!("{pointer}/text"));
                        draft.event(no, own(text(part, "text")), Kind::Said, leaves);
                    }
                    "tool_result" => result(draft, no, part, &pointer),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn result(draft: &mut Draft, no: u32, part: &Value, pointer: &str) {
    let id = text(part, "tool_use_id").to_owned();
    let outcome = if flag(part, "is_error") { Outcome::Failed } else { Outcome::Worked };
    let content = format!("{pointer}/content");
    let texts = draft.below(no, &content);
    let leaves = texts.into_iter().filter(|&at| {
        let end = draft.leaves.get(at).map_or("", |leaf| leaf.pointer.as_str());
        end == content || end.ends_with("/text")
    });
    let leaves: Vec<usize> = leaves.collect();
    draft.event(no, Speaker::Tool, Kind::Result { id: id.clone(), outcome }, leaves);
    // Side data of the line repeats the result for the screen.
    let side = draft.below(no, "/toolUseResult");
    draft.repeats.extend(side.into_iter().map(|leaf| (leaf, id.clone())));
}

fn assistant(draft: &mut Draft, no: u32, value: &Value) {
    let parts = value.pointer("/message/content").and_then(Value::as_array);
    for (at, part) in parts.into_iter().flatten().enumerate() {
        let pointer = format!("/message/content/{at}");
        match text(part, "type") {
            "text" => {
                let leaves = draft.below(no, &format!("{pointer}/text"));
                draft.event(no, Speaker::Assistant, Kind::Said, leaves);
            }
            "thinking" => {
                let leaves = draft.below(no, &format!("{pointer}/thinking"));
                draft.event(no, Speaker::Assistant, Kind::Thinking, leaves);
            }
            "tool_use" => super::messages::tool_use(draft, no, part, &pointer),
            _ => {}
        }
    }
}

/// Output that is shown while a command runs repeats what its result will hold.
fn progress(draft: &mut Draft, no: u32, value: &Value) {
    if value.pointer("/data/type").and_then(Value::as_str) == Some("bash_progress") {
        let id = text(value, "parentToolUseID").to_owned();
        let side = draft.below(no, "/data");
        draft.repeats.extend(side.into_iter().map(|leaf| (leaf, id.clone())));
    }
}
