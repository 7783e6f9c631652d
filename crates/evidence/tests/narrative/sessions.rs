//! Sessions of several agents, read as far as the proof of narrative needs it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strongroom_core::transcript::{BlockKind, Speaker};

/// A piece of a session, at its line (or step) and its block in that.
pub(crate) struct Block {
    pub(crate) line: usize,
    pub(crate) part: usize,
    pub(crate) said: Said,
}

pub(crate) enum Said {
    Prose {
        kind: BlockKind,
        speaker: Speaker,
        text: String,
    },
    /// A call with its results: the text of both.
    Call {
        id: String,
        text: String,
    },
    /// The harness or the operator speaks, or it is sealed; `ends` the turn.
    Other {
        ends: bool,
    },
}

/// One file of a project, or one conversation of it.
pub(crate) struct Session {
    pub(crate) path: String,
    pub(crate) blocks: Vec<Block>,
}

/// Reads one record, or one document, into a session.
pub(crate) type Adapter = fn(&mut Reader, &Value);

/// The folders below `transcripts` that are measured, and how each is read.
pub(crate) const PROJECTS: &[(&str, Adapter)] = &[
    ("claude-code/EntityProcess__agentv", claude),
    ("claude-code/JanDeDobbeleer__oh-my-posh", claude),
    ("claude-code/entireio__cli", claude),
    ("claude-code/obra__episodic-memory", claude),
    ("codex/EntityProcess__agentv", codex),
    ("copilot-cli/EntityProcess__agentv", copilot),
    ("openhands-v0/All-Hands-AI__OpenHands", openhands),
    ("pi/badlogic__pi-mono", pi),
    ("swe-agent/SWE-agent__SWE-agent", swe_agent),
    ("tau-bench/sierra-research__tau-bench", tau),
];

#[derive(Default)]
pub(crate) struct Reader {
    line: usize,
    blocks: Vec<Block>,
    calls: HashMap<String, usize>,
    /// Records that forks have copied.
    seen: BTreeSet<String>,
}

impl Reader {
    fn push(&mut self, said: Said) {
        let part = self.blocks.iter().rev().take_while(|block| block.line == self.line).count();
        if let Said::Call { id, .. } = &said {
            self.calls.insert(id.clone(), self.blocks.len());
        }
        self.blocks.push(Block { line: self.line, part, said });
    }

    fn prose(&mut self, kind: BlockKind, speaker: Speaker, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        if !text.trim().is_empty() {
            self.push(Said::Prose { kind, speaker, text: text.to_owned() });
        }
    }

    fn call(&mut self, id: &Value, tool: &Value, arguments: &Value) {
        let mut text = format!("{}\n", string(tool));
        scalars(arguments, &mut text);
        self.push(Said::Call { id: string(id), text });
    }

    fn result(&mut self, id: &Value, output: &Value) {
        let Some(&at) = self.calls.get(&string(id)) else { return };
        if let Said::Call { text, .. } = &mut self.blocks[at].said {
            scalars(output, text);
        }
    }

    fn user(&mut self, text: &Value) {
        const HARNESS: &[&str] =
            &["<", "Caveat:", "[Request interrupted", "# AGENTS.md", "This session is being"];
        let start = text.as_str().unwrap_or_default().trim_start();
        if HARNESS.iter().any(|mark| start.starts_with(mark)) {
            self.push(Said::Other { ends: true });
        } else {
            self.prose(BlockKind::Text, Speaker::User, text);
        }
    }
}

fn string(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The scalars of a value, one on a line.
fn scalars(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => fields.values().for_each(|field| scalars(field, text)),
        Value::Array(items) => items.iter().for_each(|item| scalars(item, text)),
        Value::String(own) if own.starts_with('{') => match serde_json::from_str::<Value>(own) {
            Ok(inside) => scalars(&inside, text),
            Err(_) => text.push_str(own),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&string(value));
            text.push('\n');
        }
    }
}

fn claude(reader: &mut Reader, record: &Value) {
    let content = &record["message"]["content"];
    let copied = record["uuid"].as_str().is_some_and(|id| !reader.seen.insert(id.to_owned()));
    if copied || record["isSidechain"] == true {
        return;
    }
    match record["type"].as_str() {
        Some("assistant") => {
            for block in content.as_array().into_iter().flatten() {
                match block["type"].as_str() {
                    Some("text") => reader.prose(BlockKind::Text, Speaker::Assistant, &block["text"]),
                    Some("thinking") if block["thinking"] == "" => reader.push(Said::Other { ends: false }),
                    Some("thinking") => {
                        reader.prose(BlockKind::Thinking, Speaker::Assistant, &block["thinking"]);
                    }
                    Some("tool_use") => reader.call(&block["id"], &block["name"], &block["input"]),
                    _ => {}
                }
            }
        }
        Some("user") if record["isMeta"] == true || record["isCompactSummary"] == true => {
            reader.push(Said::Other { ends: true });
        }
        Some("user") => match content {
            Value::Array(blocks) => {
                for block in blocks {
                    match block["type"].as_str() {
                        Some("tool_result") => reader.result(&block["tool_use_id"], &block["content"]),
                        Some("text") => reader.user(&block["text"]),
                        _ => reader.push(Said::Other { ends: true }),
                    }
                }
            }
            _ => reader.user(content),
        },
        _ => {}
    }
}

fn codex(reader: &mut Reader, record: &Value) {
    let payload = &record["payload"];
    if record["type"] != "response_item" {
        return;
    }
    match payload["type"].as_str() {
        Some("message") => {
            for part in payload["content"].as_array().into_iter().flatten() {
                match payload["role"].as_str() {
                    Some("assistant") => reader.prose(BlockKind::Text, Speaker::Assistant, &part["text"]),
                    Some("user") => reader.user(&part["text"]),
                    _ => reader.push(Said::Other { ends: true }),
                }
            }
        }
        Some("reasoning") => reader.push(Said::Other { ends: false }),
        Some("function_call") => reader.call(&payload["call_id"], &payload["name"], &payload["arguments"]),
        Some("custom_tool_call") => reader.call(&payload["call_id"], &payload["name"], &payload["input"]),
        Some("function_call_output" | "custom_tool_call_output") => {
            reader.result(&payload["call_id"], &payload["output"]);
        }
        _ => {}
    }
}

fn copilot(reader: &mut Reader, record: &Value) {
    let data = &record["data"];
    match record["type"].as_str() {
        Some("user.message") => reader.user(&data["content"]),
        Some("system.message") => reader.push(Said::Other { ends: true }),
        Some("assistant.message") => {
            reader.prose(BlockKind::Thinking, Speaker::Assistant, &data["reasoningText"]);
            reader.prose(BlockKind::Text, Speaker::Assistant, &data["content"]);
            for call in data["toolRequests"].as_array().into_iter().flatten() {
                reader.call(&call["toolCallId"], &call["name"], &call["arguments"]);
            }
        }
        Some("tool.execution_complete") => reader.result(&data["toolCallId"], &data["result"]["content"]),
        _ => {}
    }
}

fn pi(reader: &mut Reader, record: &Value) {
    let message = &record["message"];
    let role = message["role"].as_str().unwrap_or_default();
    if role == "toolResult" {
        reader.result(&message["toolCallId"], &message["content"]);
        return;
    }
    for block in message["content"].as_array().into_iter().flatten() {
        match (role, block["type"].as_str()) {
            ("user", Some("text")) => reader.user(&block["text"]),
            ("assistant", Some("text")) => reader.prose(BlockKind::Text, Speaker::Assistant, &block["text"]),
            ("assistant", Some("thinking")) => {
                reader.prose(BlockKind::Thinking, Speaker::Assistant, &block["thinking"]);
            }
            ("assistant", Some("toolCall")) => reader.call(&block["id"], &block["name"], &block["arguments"]),
            _ => reader.push(Said::Other { ends: true }),
        }
    }
}

fn openhands(reader: &mut Reader, record: &Value) {
    for (step, event) in record["history"].as_array().into_iter().flatten().enumerate() {
        let arguments = if event["args"].is_object() { &event["args"] } else { event };
        match event["action"].as_str() {
            Some("message" | "finish") if event["source"] == "user" || step == 0 => {
                reader.push(Said::Other { ends: true });
            }
            Some("message" | "finish") => {
                reader.prose(BlockKind::Text, Speaker::Assistant, &arguments["content"]);
            }
            Some("system") => reader.push(Said::Other { ends: true }),
            Some(action) => {
                reader.prose(BlockKind::Text, Speaker::Assistant, &arguments["thought"]);
                let mut bare = arguments.clone();
                if let Some(fields) = bare.as_object_mut() {
                    fields.remove("thought");
                }
                reader.call(&Value::from(step), &Value::from(action), &bare);
            }
            None => {
                let cause =
                    if event["cause"].is_null() { Value::from(step - 1) } else { event["cause"].clone() };
                reader.result(&cause, &event["content"]);
            }
        }
    }
}

fn swe_agent(reader: &mut Reader, document: &Value) {
    for (step, turn) in document["trajectory"].as_array().into_iter().flatten().enumerate() {
        reader.line = step + 1;
        reader.prose(BlockKind::Text, Speaker::Assistant, &turn["thought"]);
        reader.call(&Value::from(step), &Value::from("shell"), &turn["action"]);
        reader.result(&Value::from(step), &turn["observation"]);
    }
}

fn tau(reader: &mut Reader, dialogue: &Value) {
    for message in dialogue["traj"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("user") => reader.user(&message["content"]),
            Some("assistant") => {
                reader.prose(BlockKind::Text, Speaker::Assistant, &message["content"]);
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    reader.call(&call["id"], &call["function"]["name"], &call["function"]["arguments"]);
                }
            }
            Some("tool") => reader.result(&message["tool_call_id"], &message["content"]),
            _ => reader.push(Said::Other { ends: true }),
        }
    }
}

/// The sessions of a project, in the order of their paths.
pub(crate) fn read(transcripts: &Path, project: &str, adapter: Adapter) -> Vec<Session> {
    let mut paths = Vec::new();
    files(&transcripts.join(project), &mut paths);
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for path in paths {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
        let name = path.strip_prefix(transcripts).unwrap_or(&path).to_string_lossy().into_owned();
        let mut reader = Reader { seen: std::mem::take(&mut seen), ..Reader::default() };
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            for (at, line) in text.lines().enumerate() {
                reader.line = at + 1;
                if let Ok(record) = serde_json::from_str(line) {
                    adapter(&mut reader, &record);
                }
            }
        } else {
            match serde_json::from_str(&text) {
                Ok(Value::Array(documents)) => {
                    for (at, document) in documents.iter().enumerate() {
                        reader.line = at + 1;
                        adapter(&mut reader, document);
                        // Nothing of the next dialogue belongs to this one.
                        reader.push(Said::Other { ends: true });
                    }
                }
                Ok(document) => adapter(&mut reader, &document),
                Err(_) => {}
            }
        }
        seen = reader.seen;
        all.push(Session { path: name, blocks: reader.blocks });
    }
    all
}

fn files(folder: &Path, paths: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            files(&path, paths);
        } else if matches!(ending.as_str(), "jsonl" | "json" | "traj") {
            paths.push(path);
        }
    }
}
