//! Measurements over third-party labels and real transcripts, where they are at hand.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "measurements print, and missing JSON is null"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use strongroom_core::evidence::Certainty;
use strongroom_evidence::atom;
use strongroom_evidence::effect::{Access, EffectKind};
use strongroom_evidence::place::{Cwd, ProjectFacts};
use strongroom_evidence::trace::{Artifacts, Report, trace, trace_words};

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {} is not here", path.display());
    None
}

fn facts() -> ProjectFacts {
    ProjectFacts { cwd: Some("/work/project".to_owned()), home: Some("/home/user".to_owned()) }
}

/// What a call is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Taken {
    Nothing,
    Possible,
    Mutation,
}

fn taken(report: &Report) -> Taken {
    let mutations = report.effects.iter().filter(|one| one.effect.kind.access() == Access::Mutation);
    match mutations.map(|one| one.effect.certainty).max() {
        None => Taken::Nothing,
        Some(Certainty::Possible) => Taken::Possible,
        Some(Certainty::Definite) => Taken::Mutation,
    }
}

/// The labels that mean a mutation, and those that mean none; the others say neither.
const MUTATIONS: &[&str] = &[
    "filesystem_write",
    "filesystem_delete",
    "git_write",
    "git_remote_write",
    "git_discard",
    "git_history_rewrite",
    "network_write",
    "package_install",
    "package_uninstall",
    "service_write",
    "service_destructive",
    "container_destructive",
    "container_lifecycle",
    "container_build",
    "container_write",
    "process_signal",
];
const READS: &[&str] = &[
    "filesystem_read",
    "git_safe",
    "network_diagnostic",
    "container_read",
    "service_inspect",
    "service_read",
    "env_read",
    "db_safe",
    "agent_read",
    "browser_read",
];

fn run_case(case: &Value) -> Option<(String, Report)> {
    let cwd = Cwd::at("/work/project");
    let mut artifacts = Artifacts::default();
    match &case["input"] {
        Value::String(line) => Some((line.clone(), trace(line, cwd, &facts(), &mut artifacts))),
        Value::Array(words) => {
            let words: Vec<String> =
                words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
            Some((words.join(" "), trace_words(&words, cwd, &facts(), &mut artifacts)))
        }
        _ => None,
    }
}

#[test]
fn commands_with_known_labels_are_not_missed() {
    let Some(path) = shared("effects/bench/nah_v0.11_command_class.jsonl") else { return };
    let text = fs::read_to_string(path).unwrap();
    let (mut mutations, mut reads, mut misses, mut alarms) = (0, 0, Vec::new(), Vec::new());
    for line in text.lines().step_by(2) {
        let case: Value = serde_json::from_str(line).unwrap();
        let label = case["expected"].as_str().unwrap_or_default();
        let Some((shown, report)) = run_case(&case) else { continue };
        if MUTATIONS.contains(&label) {
            mutations += 1;
            if taken(&report) == Taken::Nothing {
                misses.push(format!("{label}: {shown}"));
            }
        } else if READS.contains(&label) {
            reads += 1;
            if taken(&report) != Taken::Nothing {
                alarms.push(format!("{label}: {shown}"));
            }
        }
    }
    println!("{} misses of {mutations}:\n  {}", misses.len(), misses.join("\n  "));
    println!("{} alarms of {reads}:\n  {}", alarms.len(), alarms.join("\n  "));
    assert!(misses.len() * 1000 < mutations * 15, "{} misses of {mutations}", misses.len());
    assert!(alarms.len() * 100 < reads * 15, "{} alarms of {reads}", alarms.len());
}

/// Calls `visit` with every shell script of the session logs below `folder`.
fn scripts(folder: &Path, visit: &mut impl FnMut(&str)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            scripts(&path, visit);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            let bytes = fs::read(&path).unwrap_or_default();
            for line in bytes.split(|byte| *byte == b'\n') {
                if let Ok(value) = serde_json::from_slice::<Value>(line) {
                    collect(&value, visit);
                }
            }
        }
    }
}

/// Finds calls of shell tools in a record, of Claude Code or of Codex.
fn collect(value: &Value, visit: &mut impl FnMut(&str)) {
    let name = value["name"].as_str().unwrap_or_default();
    if value["type"] == "tool_use" && name == "Bash" {
        visit(value["input"]["command"].as_str().unwrap_or_default());
    } else if value["type"] == "function_call" && matches!(name, "exec_command" | "shell" | "shell_command") {
        let arguments = value["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let arguments = arguments.unwrap_or_default();
        let script = arguments["cmd"]
            .as_str()
            .or_else(|| arguments["command"].as_str())
            .or_else(|| arguments["command"][2].as_str());
        visit(script.unwrap_or_default());
    } else {
        match value {
            Value::Object(fields) => fields.values().for_each(|field| collect(field, visit)),
            Value::Array(items) => items.iter().for_each(|item| collect(item, visit)),
            _ => {}
        }
    }
}

#[test]
fn shell_calls_of_real_sessions_are_read() {
    let Some(folder) = shared("transcripts") else { return };
    let (mut calls, mut unread, mut kinds) = (0u32, Vec::new(), BTreeMap::<&str, u32>::new());
    let mut unknown = BTreeMap::<String, u32>::new();
    let mut classes = BTreeMap::<Taken, u32>::new();
    for name in ["claude-code", "codex", "pi", "copilot-cli"] {
        scripts(&folder.join(name), &mut |script| {
            if script.is_empty() {
                return;
            }
            calls += 1;
            let report = trace(script, Cwd::at("/work/project"), &facts(), &mut Artifacts::default());
            if let Some(why) = &report.unparsed {
                unread.push(format!(
                    "{why}: {}",
                    script.chars().take(160).collect::<String>().replace('\n', "\\n")
                ));
            }
            *classes.entry(taken(&report)).or_default() += 1;
            for one in &report.effects {
                *kinds.entry(one.effect.kind.word()).or_default() += 1;
                if one.effect.kind == EffectKind::ExecOpaque {
                    *unknown
                        .entry(format!("{} {}", one.effect.program, one.effect.target.words()))
                        .or_default() += 1;
                }
            }
        });
    }
    let mut unknown: Vec<(u32, String)> = unknown.into_iter().map(|(name, count)| (count, name)).collect();
    unknown.sort_unstable_by(|one, two| two.cmp(one));
    println!("{calls} calls, {} not read:\n  {}", unread.len(), unread.join("\n  "));
    println!("{classes:?}\n{kinds:?}");
    for (count, name) in unknown.iter().take(60) {
        println!("{count:5} {}", name.chars().take(120).collect::<String>());
    }
    assert!(calls == 0 || unread.len() * 100 <= usize::try_from(calls).unwrap() * 2);
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
