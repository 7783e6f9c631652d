//! Reading: the agent's own JSON becomes a [`Session`], by nothing but its fields.

mod claude;
mod codex;
mod messages;
mod prose;

use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::leaf::{inner_leaves, leaves};
use crate::session::{Draft, Format, Session};

/// Reads the transcript `bytes`; `None` where it is in none of the formats.
pub fn session(name: &str, bytes: Vec<u8>) -> Option<Session> {
    let format = format_of(&bytes)?;
    let mut draft = Draft::default();
    if format.has_lines() {
        for (at, range) in lines(&bytes).into_iter().enumerate() {
            let no = u32::try_from(at + 1).unwrap_or(u32::MAX);
            take_record(
                &mut draft,
                &bytes,
                no,
                range,
                match format {
                    Format::ClaudeCode => claude::record,
                    _ => codex::record,
                },
            );
        }
    } else {
        messages::document(&mut draft, &bytes, format)?;
    }
    Some(Session::new(name, format, bytes, draft))
}

/// Reads the transcript at `path`, named by its place below `root`.
///
/// # Errors
/// When the file cannot be read.
pub fn file(root: &Path, path: &Path) -> std::io::Result<Option<Session>> {
    let bytes = std::fs::read(path)?;
    let below = path.strip_prefix(root).unwrap_or(path);
    let name =
        if below.as_os_str().is_empty() { Path::new(path.file_name().unwrap_or_default()) } else { below };
    Ok(session(&name.to_string_lossy(), bytes))
}

/// Reads what stands on one line: one value, or several.
fn take_record(
    draft: &mut Draft,
    bytes: &[u8],
    no: u32,
    range: Range<usize>,
    read: fn(&mut Draft, u32, &Value),
) {
    draft.records.push(range.clone());
    let offset = range.start;
    let Some(text) = bytes.get(range).and_then(|line| std::str::from_utf8(line).ok()) else {
        draft.unreadable.push(no);
        return;
    };
    for raw in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let Ok(raw) = raw else {
            draft.unreadable.push(no);
            break;
        };
        draft.first = draft.leaves.len();
        let found = leaves(text, raw, no, offset);
        let inner: Vec<_> =
            found.iter().filter(|leaf| is_arguments(&leaf.pointer)).flat_map(inner_leaves).collect();
        draft.leaves.extend(found);
        draft.leaves.extend(inner);
        read(draft, no, &lenient(raw.get()));
    }
}

/// Whether the string at `pointer` holds the arguments of a call as JSON.
fn is_arguments(pointer: &str) -> bool {
    pointer.ends_with("/arguments")
}

/// The value of a JSON text; strings that cannot be decoded become empty.
fn lenient(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let bare = text.replace("\\ud", "\\\\ud").replace("\\uD", "\\\\uD");
        serde_json::from_str(&bare).unwrap_or(Value::Null)
    })
}

/// Lines that are not blank keep their numbers.
fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len())) {
        if start < bytes.len() {
            found.push(start..end);
        }
        start = end + 1;
    }
    found
}

fn format_of(bytes: &[u8]) -> Option<Format> {
    let ranges = lines(bytes);
    for range in ranges.into_iter().take(50) {
        let line = bytes.get(range).unwrap_or_default();
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        let has = |key: &str| value.get(key).is_some();
        if has("messages") {
            break;
        }
        if has("payload") && has("type") && has("timestamp") {
            return Some(Format::Codex);
        }
        if has("sessionId") && has("type") || has("message") && has("uuid") {
            return Some(Format::ClaudeCode);
        }
    }
    let value: Value = serde_json::from_slice(bytes).ok()?;
    messages::format_of(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_told_leaves_a_session_open() {
        let codex = |payloads: &[&str]| {
            let lines = payloads.iter().map(|payload| {
                format!(
                    r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{payload}}}"#
                )
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        let call = r#"{"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"}"#;
        let output = r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#;
        let shown = r#"{"type":"exec_command_end","call_id":"c2"}"#;
        let shown = codex(&[call, shown]).replacen("response_item", "event_msg", 2).replacen(
            "event_msg",
            "response_item",
            1,
        );
        for (text, open) in [
            (codex(&[call, output]), false),
            (codex(&[call, r#"{"role":"user","content":[]}"#]), true),
            (shown, true),
            (
                r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"b"}]"#.into(),
                true,
            ),
            (r#"[{"role":"system","content":"a"},{"role":"session_meta"}]"#.into(), true),
            (r#"[{"role":"system","content":"a"},{"role":"user","content":"b"}]"#.into(), false),
        ] {
            let read = session("t", text.clone().into_bytes()).unwrap();
            assert_eq!(read.has_holes(), open, "{text}");
        }
    }
}
