//! The calls of real session logs, each with what it is read against.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Argument, ArgumentTree, Scalar};
use strongroom_evidence::place::ProjectFacts;
use strongroom_evidence::tools::{self, ShellPlace, ToolCall};
use strongroom_evidence::trace::{Artifacts, Report};

/// A call that was read.
pub(crate) struct Called<'c> {
    /// The file, from the folder of transcripts.
    pub(crate) source: &'c str,
    /// The line in it, from one.
    pub(crate) line: usize,
    /// The tool's name.
    pub(crate) tool: &'c str,
    /// The working directory.
    pub(crate) cwd: String,
    /// The arguments as text.
    pub(crate) text: String,
    /// What it does.
    pub(crate) report: Report,
}

/// The session logs below `folder`, in order.
pub(crate) fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

/// Reads one log and shows every call of it once.
pub(crate) fn read(source: &str, path: &Path, visit: &mut impl FnMut(Called<'_>)) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut session = Session::default();
    for (at, line) in text.lines().enumerate() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        session.note_place(&value);
        let mut found = Vec::new();
        find_calls(&value, &mut found);
        for call in found {
            session.call(source, at + 1, &call, visit);
        }
    }
}

/// A call as it stands in a log.
struct Raw {
    id: String,
    tool: String,
    arguments: Value,
    agent: String,
}

#[derive(Default)]
struct Session {
    places: ProjectFacts,
    cwd: Option<String>,
    memory: BTreeMap<String, (Artifacts, ShellPlace)>,
    seen: Vec<String>,
}

impl Session {
    /// Keeps the working directory that a record states.
    fn note_place(&mut self, value: &Value) {
        let stated = ["/cwd", "/payload/cwd", "/data/context/cwd"].iter();
        let Some(cwd) = stated.filter_map(|at| value.pointer(at)).find_map(Value::as_str) else { return };
        self.cwd = Some(cwd.to_owned());
        self.places.cwd.get_or_insert_with(|| cwd.to_owned());
    }

    fn call(&mut self, source: &str, line: usize, call: &Raw, visit: &mut impl FnMut(Called<'_>)) {
        if !call.id.is_empty() && self.seen.contains(&call.id) {
            return;
        }
        self.seen.push(call.id.clone());
        let mut arguments = ArgumentTree { leaves: Vec::new(), malformed: false };
        leaves(String::new(), &call.arguments, &mut arguments.leaves);
        let (artifacts, shell) = self.memory.entry(call.agent.clone()).or_default();
        let cwd = shell.start(&call.tool, self.cwd.as_deref(), &self.places);
        let shown = format!("{cwd:?}");
        let request = ToolCall { tool: &call.tool, arguments: &arguments, cwd, places: &self.places };
        let report = tools::examine(&request, artifacts);
        if tools::is_shell(&call.tool) {
            let left = report.cwd.clone().filter(|_| call.agent.is_empty());
            shell.leave(self.cwd.as_deref(), left);
        }
        let text = call.arguments.to_string();
        visit(Called { source, line, tool: &call.tool, cwd: shown, text, report });
    }
}

fn leaves(pointer: String, value: &Value, out: &mut Vec<Argument>) {
    let scalar = match value {
        Value::Object(fields) => {
            return fields.iter().for_each(|(key, value)| leaves(format!("{pointer}/{key}"), value, out));
        }
        Value::Array(items) => {
            return items
                .iter()
                .enumerate()
                .for_each(|(at, value)| leaves(format!("{pointer}/{at}"), value, out));
        }
        Value::String(text) => Scalar::String(text.clone()),
        Value::Number(number) => Scalar::Number(number.to_string()),
        Value::Bool(flag) => Scalar::Bool(*flag),
        Value::Null => Scalar::Null,
    };
    out.push(Argument { pointer, value: scalar, range: ByteRange::new(0, 0) });
}

/// The calls of a record: Claude Code, Codex, Copilot CLI and pi name them differently.
fn find_calls(value: &Value, out: &mut Vec<Raw>) {
    let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
    let agent = text(&value["agentId"]);
    for block in value["message"]["content"].as_array().into_iter().flatten() {
        let arguments = match block["type"].as_str() {
            Some("tool_use") => &block["input"],
            Some("toolCall") => &block["arguments"],
            _ => continue,
        };
        let (id, tool) = (text(&block["id"]), text(&block["name"]));
        out.push(Raw { id, tool, arguments: arguments.clone(), agent: agent.clone() });
    }
    let payload = &value["payload"];
    let raw = match (value["type"].as_str(), payload["type"].as_str()) {
        (Some("tool.execution_start"), _) => {
            let data = &value["data"];
            (&data["toolCallId"], &data["toolName"], data["arguments"].clone())
        }
        (Some("response_item"), Some("function_call")) => {
            let arguments = serde_json::from_str(payload["arguments"].as_str().unwrap_or_default());
            (&payload["call_id"], &payload["name"], arguments.unwrap_or_default())
        }
        (Some("response_item"), Some("custom_tool_call")) => {
            (&payload["call_id"], &payload["name"], payload["input"].clone())
        }
        _ => return,
    };
    out.push(Raw { id: text(raw.0), tool: text(raw.1), arguments: raw.2, agent });
}
