//! What commands are taken for, against third-party labels and real sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use strongroom_core::evidence::Certainty;
use strongroom_evidence::commands;
use strongroom_evidence::effect::{Access, EffectKind};
use strongroom_evidence::place::{Cwd, ProjectFacts};
use strongroom_evidence::trace::{Artifacts, Report, trace, trace_words};

use testkit::figure::{figure, percent, share};
use testkit::shared::shared;

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

fn run(line: &str) -> Report {
    trace(line, Cwd::at("/work/project"), &facts(), &mut Artifacts::default())
}

/// What a label says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Mutation,
    Read,
}

/// The first 16 hex digits of the hash of a command.
fn key(line: &str) -> String {
    let digest = Sha256::digest(line.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Rows whose label was read by hand and does not hold.
fn set_aside() -> BTreeSet<&'static str> {
    let lines = include_str!("set_aside.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split(' ').next()).collect()
}

/// How a bench came out.
#[derive(Debug, Default)]
struct Score {
    mutations: usize,
    definite: usize,
    reads: usize,
    misses: Vec<String>,
    alarms: Vec<String>,
    aside: usize,
}

impl Score {
    fn add(&mut self, label: Label, line: &str, report: &Report) {
        let taken = taken(report);
        match label {
            Label::Mutation => {
                self.mutations += 1;
                self.definite += usize::from(taken == Taken::Mutation);
                if taken == Taken::Nothing {
                    self.misses.push(line.to_owned());
                }
            }
            Label::Read => {
                self.reads += 1;
                if taken != Taken::Nothing {
                    self.alarms.push(line.to_owned());
                }
            }
        }
    }

    /// Takes out misses that were read by hand, at most 3 % of all rows.
    fn audited(mut self) -> Self {
        let aside = set_aside();
        let before = self.misses.len();
        self.misses.retain(|line| !aside.contains(key(line).as_str()));
        self.aside = before - self.misses.len();
        assert!(self.aside * 100 <= (self.mutations + self.reads) * 3, "{} rows set aside", self.aside);
        self
    }

    fn print(&self, name: &str, alarms: &str) {
        let all = self.mutations + self.reads;
        let misses = share(self.misses.len(), self.mutations);
        let aside = share(self.aside, all);
        figure(&format!("{name}: mutations called read or none"), misses, "< 0.5 %");
        figure(&format!("{name}: rows set aside, each with its reason"), aside, "at most 3 %");
        figure(&format!("{name}: reads called a mutation"), share(self.alarms.len(), self.reads), alarms);
        println!("  missed: {}", self.misses.join("\n  missed: "));
        println!("  called definite: {}", share(self.definite, self.mutations));
    }

    fn assert_few_misses(&self) {
        assert!(
            self.misses.len() * 200 < self.mutations,
            "{} misses of {}",
            self.misses.len(),
            self.mutations
        );
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
    "container_exec",
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
    match &case["input"] {
        Value::String(line) => Some((line.clone(), run(line))),
        Value::Array(words) => {
            let words: Vec<String> =
                words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
            let report = trace_words(&words, Cwd::at("/work/project"), &facts(), &mut Artifacts::default());
            Some((words.join(" "), report))
        }
        _ => None,
    }
}

fn rows(path: &str) -> Option<Vec<Value>> {
    let text = fs::read_to_string(shared(path)?).ok()?;
    Some(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

#[test]
fn commands_with_known_labels_are_not_missed() {
    let Some(rows) = rows("effects/bench/nah_v0.11_command_class.jsonl") else { return };
    let mut score = Score::default();
    for case in &rows {
        let label = case["expected"].as_str().unwrap_or_default();
        let Some((shown, report)) = run_case(case) else { continue };
        if MUTATIONS.contains(&label) {
            score.add(Label::Mutation, &shown, &report);
        } else if READS.contains(&label) {
            score.add(Label::Read, &shown, &report);
        }
    }
    let score = score.audited();
    score.print("nah", "< 15 %");
    println!("  alarm: {}", score.alarms.join("\n  alarm: "));
    score.assert_few_misses();
    assert!(score.alarms.len() * 100 < score.reads * 15, "{} alarms of {}", score.alarms.len(), score.reads);
}

#[test]
fn commands_with_weak_labels_are_not_missed() {
    let Some(rows) = rows("effects/bench/tldr_weak_labels.jsonl") else { return };
    let mut score = Score::default();
    for row in &rows {
        let line = row["cmd"].as_str().unwrap_or_default();
        let label = if row["weak"] == "SE" { Label::Mutation } else { Label::Read };
        score.add(label, line, &run(line));
    }
    let score = score.audited();
    score.print("tldr", "none stated");
    score.assert_few_misses();
    assert!(score.alarms.len() * 100 < score.reads * 20, "{} alarms of {}", score.alarms.len(), score.reads);
}

#[test]
fn actions_of_a_cloud_go_by_their_access_level() {
    let Some(path) = shared("effects/bench/aws_iam_access_levels.csv") else { return };
    let text = fs::read_to_string(path).unwrap();
    let mut score = Score::default();
    for row in text.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [service, _, verb, level] = fields.as_slice() else { panic!("{row}") };
        let label = if matches!(*level, "Read" | "List") { Label::Read } else { Label::Mutation };
        let line = format!("aws {service} {verb}");
        score.add(label, &line, &run(&line));
    }
    score.print("AWS access levels", "none stated");
    score.assert_few_misses();
    assert!(score.definite * 100 > score.mutations * 98);
    assert!(score.alarms.len() * 100 < score.reads * 5, "{} alarms of {}", score.alarms.len(), score.reads);
}

/// Lines for keys that need operands to be what their class says.
const LINES: &[(&str, &[&str])] = &[
    ("ffmpeg", &["ffmpeg -i a.mp4 b.mp4"]),
    ("openssl req", &["openssl req -newkey rsa -keyout k.pem -out c.pem"]),
    ("openssl genrsa", &["openssl genrsa -out k.pem"]),
    // The class holds where nothing is run.
    ("npx tsx", &["npx tsx --version"]),
    ("aws sts", &["aws sts get-caller-identity"]),
    ("aws * describe/get/list", &["aws ec2 describe-x", "aws iam get-x", "aws iam list-x"]),
    ("dpkg", &["dpkg -l"]),
    ("xargs kill", &["kill 1"]),
    ("conda run", &["conda run -n e conda install x"]),
    ("dd", &["dd if=a of=b"]),
    ("pg_restore/psql < dump", &["pg_restore -d x dump"]),
    ("mount/umount/mkfs/fdisk", &["mount /dev/sdb1 /mnt", "umount /mnt", "mkfs /dev/sdb1", "fdisk /dev/sdb"]),
    (".", &[". ./env.sh"]),
    ("ssh HOST CMD", &["ssh h ls"]),
    ("xargs CMD", &["xargs ls"]),
    ("eval/bash -c/sh -c", &["eval ls", "bash -c ls", "sh -c ls"]),
    ("perl -pi -e", &["perl -pi -e 's/a/b/' f"]),
];

/// The lines that a key stands for: words with `/` are alternatives, notes in brackets are none.
fn lines_of(key: &str) -> Vec<String> {
    if let Some((_, lines)) = LINES.iter().find(|(own, _)| *own == key) {
        return lines.iter().map(|&line| line.to_owned()).collect();
    }
    let plain: String = key.split('(').map(|part| part.rsplit(')').next().unwrap_or_default()).collect();
    if plain.contains(" > ") || plain.contains(" | ") {
        return vec![plain.replace("URL", "http://h/x")];
    }
    let mut lines = vec![String::new()];
    for word in plain.split_whitespace() {
        let parts: Vec<&str> = word.split(['/', '|']).filter(|part| !part.is_empty()).collect();
        lines =
            lines.iter().flat_map(|line| parts.iter().map(move |part| format!("{line} {part}"))).collect();
    }
    lines.into_iter().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn observed_commands_have_rules_with_their_access() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in ["commands.csv", "commands_extra.csv"] {
        let Some(path) = shared(&format!("effects/{file}")) else { return };
        let text = fs::read_to_string(path).unwrap();
        for row in text.lines().skip(1) {
            let mut fields = row.split(',');
            let command = if file == "commands.csv" { fields.nth(1) } else { fields.next() };
            let class = fields.find(|field| !field.starts_with(|char: char| char.is_ascii_digit()));
            let (Some(command), Some(class)) = (command, class) else { continue };
            for line in lines_of(command) {
                seen += 1;
                let report = run(&line);
                let holds = match class {
                    "none" | "read" => taken(&report) == Taken::Nothing,
                    "write" | "delete" | "perm" | "move" => taken(&report) == Taken::Mutation,
                    "possible" => taken(&report) != Taken::Nothing,
                    _ => report.effects.iter().all(|one| !is_unknown(&one.effect)),
                };
                if !holds {
                    wrong.push(format!("{line} ({class}): {:?}", report.effects));
                }
            }
        }
    }
    println!("{seen} lines of observed commands, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

/// Finds calls of shell tools in a record of Claude Code, Codex, pi or Copilot.
fn collect(value: &Value, visit: &mut impl FnMut(&str)) {
    let name = value["name"].as_str().unwrap_or_default();
    let kind = value["type"].as_str().unwrap_or_default();
    match kind {
        "tool_use" if name == "Bash" => visit(value["input"]["command"].as_str().unwrap_or_default()),
        "toolCall" if name == "bash" => visit(value["arguments"]["command"].as_str().unwrap_or_default()),
        "function_call" if matches!(name, "exec_command" | "shell" | "shell_command") => {
            let arguments =
                value["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let arguments = arguments.unwrap_or_default();
            let script = arguments["cmd"]
                .as_str()
                .or_else(|| arguments["command"].as_str())
                .or_else(|| arguments["command"][2].as_str());
            visit(script.unwrap_or_default());
        }
        "tool.execution_start" if value["data"]["toolName"] == "bash" => {
            visit(value["data"]["arguments"]["command"].as_str().unwrap_or_default());
        }
        _ => match value {
            Value::Object(fields) => fields.values().for_each(|field| collect(field, visit)),
            Value::Array(items) => items.iter().for_each(|item| collect(item, visit)),
            _ => {}
        },
    }
}

/// Whether nothing is known of a program that has no place of its own.
fn is_unknown(effect: &strongroom_evidence::effect::Effect) -> bool {
    effect.kind == EffectKind::ExecOpaque
        && !effect.target.words().contains('/')
        && !effect.program.is_empty()
        && !commands::table().knows(&effect.program)
        && effect.target.words() == effect.program
}

/// What the shell calls of real sessions are taken for.
#[derive(Debug, Default)]
struct Calls {
    all: usize,
    unread: Vec<String>,
    unknown: usize,
    classes: BTreeMap<Taken, usize>,
    /// Possible effects that are no runs of known runners, by program, with an example.
    open: BTreeMap<String, (usize, String)>,
    suspects: usize,
}

impl Calls {
    fn add(&mut self, script: &str) {
        if script.is_empty() {
            return;
        }
        self.all += 1;
        let report = run(script);
        let shown: String =
            script.chars().take(120).map(|char| if char == '\n' { ' ' } else { char }).collect();
        if let Some(why) = &report.unparsed {
            self.unread.push(format!("{why}: {shown}"));
        }
        self.unknown += usize::from(report.effects.iter().any(|one| is_unknown(&one.effect)));
        let class = taken(&report);
        *self.classes.entry(class).or_default() += 1;
        let open = |one: &&strongroom_evidence::trace::Traced| {
            one.effect.kind.access() == Access::Mutation && one.effect.bounded_by.is_none()
        };
        let programs: BTreeSet<&str> =
            report.effects.iter().filter(open).map(|one| one.effect.program.as_str()).collect();
        if class == Taken::Possible && !programs.is_empty() {
            self.suspects += 1;
            for program in programs {
                let entry = self.open.entry(program.to_owned()).or_insert((0, shown.clone()));
                entry.0 += 1;
            }
        }
    }
}

/// Reads that are called definite mutations are not among the open ones; a sample read by hand had none.
#[test]
fn shell_calls_of_real_sessions_are_read() {
    let Some(folder) = shared("transcripts") else { return };
    let mut calls = Calls::default();
    for name in ["claude-code", "codex", "pi", "copilot-cli"] {
        scripts(&folder.join(name), &mut |script| calls.add(script));
    }
    let mut open: Vec<_> =
        calls.open.iter().map(|(program, (count, shown))| (count, program, shown)).collect();
    open.sort_unstable_by(|one, two| two.cmp(one));
    let nothing = calls.classes.get(&Taken::Nothing).copied().unwrap_or_default();
    println!(
        "{} calls, {} not read, {} with an unknown program, {:?}; at most {} alarms ({} of what reads)",
        calls.all,
        calls.unread.len(),
        calls.unknown,
        calls.classes,
        calls.suspects,
        percent(calls.suspects, nothing + calls.suspects)
    );
    let read = calls.all - calls.unknown;
    figure("shell calls of real sessions classified, not unknown", share(read, calls.all), ">= 99 %");
    let alarms = share(calls.suspects, nothing + calls.suspects);
    figure("shell calls of real sessions that read, called a mutation, at most", alarms, "< 5 %");
    for (count, program, shown) in open.iter().take(60) {
        println!("{count:5} {program:20} {shown}");
    }
    assert!(calls.unread.len() * 1000 <= calls.all * 2, "{}", calls.unread.join("\n"));
    assert!(calls.unknown * 100 <= calls.all);
    assert!(calls.suspects * 20 <= nothing + calls.suspects);
}
