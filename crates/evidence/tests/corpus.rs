//! Measurements over third-party labels and real transcripts, where they are at hand.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "measurements print, and missing JSON is null"
)]

#[path = "corpus/commands.rs"]
mod commands;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::atom;
use strongroom_evidence::content::Next;
use strongroom_evidence::narrative;

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {} is not here", path.display());
    None
}

#[test]
fn atoms_of_real_outputs_are_extracted() {
    let Some(folder) = shared("transcripts/codex") else { return };
    let mut text = String::new();
    collect_text(&folder, &mut text);
    let start = Instant::now();
    let atoms = atom::extract(&text);
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a speed")]
    let speed = text.len() as f64 / 1e6 / seconds.max(1e-9);
    println!("{} atoms in {} bytes, {speed:.0} MB/s", atoms.len(), text.len());
    assert!(text.is_empty() || atoms.len() > text.len() / 1_000);
    assert!(atoms.iter().all(|atom| text.get(atom.range.clone()).is_some()));
}

/// Joins the outputs of tools below `folder`, at most 8 MB.
fn collect_text(folder: &Path, text: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if text.len() > 8_000_000 {
            return;
        }
        if path.is_dir() {
            collect_text(&path, text);
            continue;
        }
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            if let Ok(value) = serde_json::from_str::<Value>(line)
                && let Some(output) = value["payload"]["output"].as_str()
            {
                text.push_str(output);
                text.push('\n');
            }
        }
    }
}

/// A span of the conversation in a session log of Claude Code or Codex, in order.
enum Said {
    Text(String),
    /// Empty where it is sealed.
    Thinking(String),
    /// The call's id and text, its results included.
    Call(String, String),
    /// Somebody else speaks.
    Other,
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

/// Adds a result to its call.
fn answer(all: &mut [Said], id: &Value, output: &Value) {
    let id = string(id);
    let own = all.iter_mut().rev().find_map(|said| match said {
        Said::Call(call, text) if *call == id => Some(text),
        _ => None,
    });
    if let Some(text) = own {
        scalars(output, text);
    }
}

fn called(id: &Value, tool: &Value, arguments: &Value) -> Said {
    let mut text = format!("{}\n", string(tool));
    scalars(arguments, &mut text);
    Said::Call(string(id), text)
}

fn read_claude(block: &Value, all: &mut Vec<Said>) {
    match block["type"].as_str() {
        Some("text") => all.push(Said::Text(string(&block["text"]))),
        Some("thinking") => all.push(Said::Thinking(string(&block["thinking"]))),
        Some("tool_use") => all.push(called(&block["id"], &block["name"], &block["input"])),
        Some("tool_result") => answer(all, &block["tool_use_id"], &block["content"]),
        _ => {}
    }
}

fn read_codex(payload: &Value, all: &mut Vec<Said>) {
    match payload["type"].as_str() {
        Some("message") if payload["role"] == "assistant" => {
            all.push(Said::Text(string(&payload["content"][0]["text"])));
        }
        Some("message") => all.push(Said::Other),
        Some("reasoning") => all.push(Said::Thinking(String::new())),
        Some("function_call") => {
            all.push(called(&payload["call_id"], &payload["name"], &payload["arguments"]));
        }
        Some("custom_tool_call") => {
            all.push(called(&payload["call_id"], &payload["name"], &payload["input"]));
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            answer(all, &payload["call_id"], &payload["output"]);
        }
        _ => {}
    }
}

fn said(value: &Value, all: &mut Vec<Said>) {
    let content = &value["message"]["content"];
    match value["type"].as_str() {
        Some("assistant") => {
            for block in content.as_array().into_iter().flatten() {
                read_claude(block, all);
            }
        }
        Some("user") => match content.as_array() {
            Some(blocks) if blocks.iter().all(|block| block["type"] == "tool_result") => {
                for block in blocks {
                    read_claude(block, all);
                }
            }
            _ => all.push(Said::Other),
        },
        Some("response_item") => read_codex(&value["payload"], all),
        _ => {}
    }
}

fn sessions(folder: &Path, visit: &mut impl FnMut(Vec<Said>)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sessions(&path, visit);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let mut all = Vec::new();
            for line in text.lines() {
                if let Ok(value) = serde_json::from_str::<Value>(line) {
                    said(&value, &mut all);
                }
            }
            visit(all);
        }
    }
}

/// The spans of a session that are proved narrative, with their rules.
fn proved(session: &[Said]) -> Vec<(&'static str, String)> {
    let mut next = vec![Next::Other; session.len()];
    let mut following = Next::Other;
    for (said, slot) in session.iter().zip(&mut next).rev() {
        *slot = following.clone();
        match said {
            Said::Call(_, text) => following = Next::Call(text.as_str().into()),
            Said::Other => following = Next::Other,
            Said::Text(_) | Said::Thinking(_) => {}
        }
    }
    let (mut previous, mut all) = ("", Vec::new());
    for (said, next) in session.iter().zip(&next) {
        let (text, kind) = match said {
            Said::Text(text) => (text, BlockKind::Text),
            Said::Thinking(text) => (text, BlockKind::Thinking),
            Said::Call(_, text) => {
                previous = text;
                continue;
            }
            Said::Other => {
                previous = "";
                continue;
            }
        };
        let rule = narrative::prove(text, &kind, Speaker::Assistant, next, previous);
        all.extend(rule.map(|rule| (rule, text.replace('\n', " / "))));
    }
    all
}

#[test]
fn narrative_is_proved_in_real_sessions() {
    let Some(folder) = shared("transcripts") else { return };
    let (mut spans, mut narrative) = (0, 0);
    for name in [
        "claude-code/EntityProcess__agentv",
        "claude-code/JanDeDobbeleer__oh-my-posh",
        "claude-code/entireio__cli",
        "claude-code/obra__episodic-memory",
        "codex",
    ] {
        let (mut own, mut all) = (0, Vec::new());
        sessions(&folder.join(name), &mut |session| {
            own += session.len();
            all.extend(proved(&session));
        });
        let mut rules = BTreeMap::<&str, u32>::new();
        for (rule, _) in &all {
            *rules.entry(rule).or_default() += 1;
        }
        println!("{name}: {own} spans, {} proved narrative, {rules:?}", all.len());
        for (_, text) in all.iter().step_by((all.len() / 30).max(1)) {
            println!("    {text}");
        }
        let plain = all.iter().filter(|(rule, _)| *rule != "covered-step");
        assert!(plain.into_iter().all(|(_, text)| text.chars().all(|char| !char.is_ascii_digit())));
        spans += own;
        narrative += all.len();
    }
    println!("overall: {narrative} of {spans} spans");
    // No more than one span in nine is an announcement or an acknowledgement at all; the others report.
    assert!(narrative * 100 >= spans * 5, "{narrative} of {spans} spans are proved narrative");
}
