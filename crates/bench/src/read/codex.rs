//! Rollouts of Codex.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::session::{Draft, Kind, Outcome, Speaker};

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Reads one line.
pub(super) fn record(draft: &mut Draft, no: u32, value: &Value) {
    let Some(payload) = value.get("payload") else { return };
    match text(value, "type") {
        "response_item" => item(draft, no, payload),
        "event_msg" => shown(draft, no, payload),
        "compacted" => {
            draft.boundaries.push(no);
            draft.foreign_past |= draft.events.is_empty();
        }
        _ => {}
    }
}

fn item(draft: &mut Draft, no: u32, payload: &Value) {
    let id = text(payload, "call_id").to_owned();
    match text(payload, "type") {
        "message" => message(draft, no, payload),
        "function_call" => {
            let arguments = draft.arguments(no, "/payload/arguments#");
            call(draft, no, payload, arguments);
        }
        "custom_tool_call" => {
            let arguments = draft.arguments(no, "/payload");
            let arguments = arguments.into_iter().filter(|own| own.name == "input").collect();
            call(draft, no, payload, arguments);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let leaves = draft.below(no, "/payload/output");
            let outcome = outcome(draft, &leaves);
            draft.event(no, Speaker::Tool, Kind::Result { id, outcome }, leaves);
        }
        // Something was recorded, and nothing says what.
        "" => draft.unreadable.push(no),
        _ => {}
    }
}

fn call(draft: &mut Draft, no: u32, payload: &Value, arguments: Vec<crate::session::Argument>) {
    let id = text(payload, "call_id").to_owned();
    let tool = format!("{}{}", text(payload, "namespace"), text(payload, "name"));
    let mut leaves: Vec<usize> = arguments.iter().map(|own| own.leaf).collect();
    leaves.extend(draft.at(no, "/payload/arguments"));
    draft.event(no, Speaker::Assistant, Kind::Call { id, tool, arguments }, leaves);
}

fn message(draft: &mut Draft, no: u32, payload: &Value) {
    let parts = payload.get("content").and_then(Value::as_array);
    for (at, part) in parts.into_iter().flatten().enumerate() {
        let leaves = draft.below(no, &format!("/payload/content/{at}/text"));
        let speaker = match text(payload, "role") {
            "assistant" => Speaker::Assistant,
            "user" => super::prose::speaker(text(part, "text")),
            _ => Speaker::Operator,
        };
        draft.event(no, speaker, Kind::Said, leaves);
    }
}

/// What the screen shows of a call repeats it.
fn shown(draft: &mut Draft, no: u32, payload: &Value) {
    let id = text(payload, "call_id").to_owned();
    if !id.is_empty() {
        if matches!(text(payload, "type"), "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end") {
            draft.ended.push(id.clone());
        }
        let side = draft.below(no, "/payload");
        draft.repeats.extend(side.into_iter().map(|leaf| (leaf, id.clone())));
    }
}

static EXIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?m)^(?:Process exited with code|Exit code:) (-?\d+)$|"exit_code": ?(-?\d+)"#).ok()
});

fn outcome(draft: &Draft, leaves: &[usize]) -> Outcome {
    let output =
        leaves.first().and_then(|&leaf| draft.leaves.get(leaf)).map_or("", |leaf| leaf.text.as_str());
    // What follows the header is the program's own output.
    let header = output.split("Output:\n").next().unwrap_or(output);
    let found = EXIT.as_ref().and_then(|pattern| pattern.captures(header));
    match found.and_then(|found| found.get(1).or(found.get(2)).map(|code| code.as_str() == "0")) {
        Some(true) => Outcome::Worked,
        Some(false) => Outcome::Failed,
        None => Outcome::Unknown,
    }
}
