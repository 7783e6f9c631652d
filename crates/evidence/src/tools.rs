//! What calls of tools do: shells are followed, the rest is a table, unknown tools go by the verb of their name.

use std::sync::LazyLock;

use serde::Deserialize;
use std::collections::BTreeMap;
use strongroom_core::evidence::Certainty;
use strongroom_core::transcript::ArgumentTree;

use crate::code::Language;
use crate::effect::{Access, EffectKind, Scope, Target};
use crate::place::{Cwd, ProjectFacts};
use crate::shell::windows::Dialect;
use crate::trace::{self, Artifacts, Report};

/// A call of a tool, with what it is read against.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a ArgumentTree,
    /// The working directory.
    pub cwd: Cwd,
    /// The project.
    pub places: &'a ProjectFacts,
}

/// What a call does. `artifacts` remembers the scripts it writes.
pub fn examine(call: &ToolCall<'_>, artifacts: &mut Artifacts) -> Report {
    let name = plain_name(call.tool);
    let mut report = match table().row(&name) {
        _ if is_own(call.tool) => Report::default(),
        Some(row) => row.examine(call, artifacts),
        None => by_verb(call.tool),
    };
    if call.arguments.malformed {
        report.unparsed.get_or_insert_with(|| "the arguments are malformed".to_owned());
        report.push(EffectKind::ExecOpaque, Target::Unknown, Scope::Unknown, Certainty::Possible);
    }
    if report.programs.is_empty() {
        report.programs.push(call.tool.to_owned());
    }
    for effect in &mut report.effects {
        if effect.effect.program.is_empty() {
            call.tool.clone_into(&mut effect.effect.program);
        }
    }
    report
}

/// The script or recipe that a call shows as a whole, by the name it is asked for.
pub fn shown_recipe<'c>(call: &ToolCall<'c>) -> Option<&'c str> {
    let row = table().row(&plain_name(call.tool))?;
    let arguments = call.arguments;
    let shown = if row.run.is_empty() {
        let reads = row.effects.first().and_then(|effect| effect.strip_prefix("fs.read "));
        reads.and_then(|slot| slot.split('|').find_map(|pointer| arguments.string(pointer)))
    } else {
        let script = first(arguments, &row.run).map(str::trim).unwrap_or_default();
        let file = script.strip_prefix("cat ").map(str::trim);
        file.filter(|file| !file.contains(|char: char| char.is_whitespace() || "|;&<>$*'\"".contains(char)))
    };
    let partial = ["/offset", "/limit", "/view_range/0", "/start_line", "/line_range"];
    let whole = || partial.iter().all(|pointer| arguments.string(pointer).is_none());
    shown.filter(|file| is_recipe(file) && whole())
}

/// Keeps the text of the script or recipe `file` that a call showed.
pub fn note_read(call: &ToolCall<'_>, file: &str, text: &str, artifacts: &mut Artifacts) {
    const LINES_MAX: usize = 1_500;
    let text = text.split("\n\n<system-reminder>").next().unwrap_or_default();
    if text.lines().count() < LINES_MAX {
        let path = call.places.resolve(&call.cwd, file).path;
        artifacts.keep(&path, unnumbered(text));
    }
}

/// Whether a file may be run by name.
fn is_recipe(path: &str) -> bool {
    const NAMES: &[&str] = &["Makefile", "makefile", "GNUmakefile", "package.json"];
    const ENDINGS: &[&str] = &[".sh", ".bash", ".py", ".js", ".mjs", ".ts", ".pl", ".rb", ".sql", ".mk"];
    NAMES.contains(&crate::place::base_name(path)) || ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// A text without the line numbers that a tool puts before every line: `   12→text`, `12<TAB>text`.
fn unnumbered(text: &str) -> String {
    let cut = |line: &str| -> Option<String> {
        let line = line.trim_start_matches(' ');
        let digits = line.find(|char: char| !char.is_ascii_digit()).filter(|&end| end > 0)?;
        let rest = line.get(digits..)?;
        rest.strip_prefix('\u{2192}').or_else(|| rest.strip_prefix('\t')).map(str::to_owned)
    };
    let lines: Option<Vec<String>> = text.lines().map(cut).collect();
    lines.map_or_else(|| text.to_owned(), |lines| lines.join("\n") + "\n")
}

/// Raises what a call does by its tool's server, which says that it changes something. What a server says is not to be
/// trusted, so it lowers nothing.
pub fn raise(report: &mut Report, tool: &str) {
    if !report.effects.iter().any(|one| one.effect.kind.access() == Access::Mutation) {
        let target = Target::Named(tool.to_owned());
        report.push(EffectKind::ToolMutate, target, Scope::Unknown, Certainty::Possible);
    }
}

/// The shell of an agent between its calls.
///
/// Some harnesses keep one shell, others start afresh, and a record that states the directory may lag behind.
#[derive(Debug, Clone, Default)]
pub struct ShellPlace {
    left: Option<Cwd>,
    stated: Option<String>,
}

impl ShellPlace {
    /// The directory a call of `tool` starts in, whose record states `stated`.
    pub fn start(&self, tool: &str, stated: Option<&str>, places: &ProjectFacts) -> Cwd {
        let Some(stated) = stated else { return self.left.clone().unwrap_or(Cwd::Start) };
        let keeps = table().persistent.iter().any(|own| *own == plain_name(tool));
        let same = self.stated.as_deref() == Some(stated);
        let left = self.left.as_ref().filter(|_| keeps && same).filter(|left| match left {
            Cwd::OneOf(paths) => paths.iter().all(|path| places.scope(path) == Scope::Project),
            Cwd::Start | Cwd::Unknown => false,
        });
        let stated = Cwd::at(places.resolve(&Cwd::Start, stated).path);
        match left {
            Some(left) => stated.or(left.clone()),
            None => stated,
        }
    }

    /// Notes where a call left the shell: `cwd` where it ran to its end, nothing where it failed.
    pub fn leave(&mut self, stated: Option<&str>, cwd: Option<Cwd>) {
        self.left = match stated {
            Some(_) => cwd,
            None => cwd.map(|cwd| cwd.or(Cwd::Start)),
        };
        self.stated = stated.map(str::to_owned);
    }
}

/// Whether a tool's calls are shell scripts.
pub fn is_shell(tool: &str) -> bool {
    table().row(&plain_name(tool)).is_some_and(|row| !row.run.is_empty())
}

/// Whether a tool is one of ours, as harnesses name the tools of a server: by the server's name and the tool's.
///
/// What it returns is made from the session, and so is no evidence of it.
pub fn is_own(tool: &str) -> bool {
    let name = plain_name(tool);
    let parts = name.rsplit_once("__").or_else(|| name.rsplit_once('.'));
    parts.is_some_and(|(server, own)| {
        server.contains("strongroom") && table().own.iter().any(|name| name == own)
    })
}

/// What a call of a shell asks it to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A script, as it was typed.
    Script(String),
    /// A program with its arguments, word by word.
    Words(Vec<String>),
}

/// What a call asks a shell to run; `None` of a tool that is no shell, and of a call that names nothing.
pub fn command(tool: &str, arguments: &ArgumentTree) -> Option<Command> {
    let row = table().row(&plain_name(tool)).filter(|row| !row.run.is_empty())?;
    if let Some(script) = first(arguments, &row.run) {
        return Some(Command::Script(script.to_owned()));
    }
    let words = row.run.iter().map(|pointer| arguments.strings(pointer)).find(|words| !words.is_empty())?;
    Some(match words.as_slice() {
        [only] if only.contains(' ') => Command::Script((*only).to_owned()),
        words => Command::Words(words.iter().map(|word| (*word).to_owned()).collect()),
    })
}

/// The name without the prefixes that harnesses put before it, in lower case.
fn plain_name(tool: &str) -> String {
    let name = tool.strip_prefix("functions.").or_else(|| tool.strip_prefix("default_api:")).unwrap_or(tool);
    name.to_lowercase()
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    /// Shell tools whose calls go on in one shell.
    persistent: Vec<String>,
    /// What stands in front of the names of tools that work on this machine.
    local: Vec<String>,
    /// The tools of this project's own server.
    own: Vec<String>,
    tool: Vec<Row>,
    verbs: Verbs,
}

#[derive(Debug, Default, Deserialize)]
struct Verbs {
    read: Vec<String>,
    read_last: Vec<String>,
    change: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    on: Vec<String>,
    run: Vec<String>,
    code: Vec<String>,
    cwd: Vec<String>,
    patch: Vec<String>,
    #[serde(rename = "do")]
    effects: Vec<String>,
    text: Vec<String>,
    edit: Vec<String>,
    verb: String,
    verbs: BTreeMap<String, Vec<String>>,
    asks: Vec<String>,
    named: Vec<String>,
    shell: ShellKind,
}

/// The shell that runs the scripts of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ShellKind {
    #[default]
    Posix,
    PowerShell,
    Cmd,
}

fn table() -> &'static Table {
    static TABLE: LazyLock<Table> =
        LazyLock::new(|| toml::from_str(include_str!("tables/tools.toml")).unwrap_or_default());
    &TABLE
}

impl Table {
    fn row(&self, name: &str) -> Option<&Row> {
        let bare = self.local.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()));
        let named = |name: &str| self.tool.iter().find(|row| row.on.iter().any(|own| own == name));
        named(name).or_else(|| named(bare?))
    }
}

/// The string at a pointer of a list of effects; free text is none where it cannot be a path.
fn named<'a>(arguments: &'a ArgumentTree, pointer: &str) -> Option<&'a str> {
    let text = arguments.string(pointer)?;
    (!pointer.is_empty() || !text.trim().is_empty() && !text.contains(['\n', '\'', '"', '`'])).then_some(text)
}

fn first<'a>(arguments: &'a ArgumentTree, pointers: &[String]) -> Option<&'a str> {
    pointers.iter().find_map(|pointer| arguments.string(pointer))
}

impl Row {
    fn examine(&self, call: &ToolCall<'_>, artifacts: &mut Artifacts) -> Report {
        if !self.run.is_empty() {
            return self.shell(call, artifacts);
        }
        if let Some(code) = first(call.arguments, &self.code) {
            return trace::trace_code(Language::Python, code, call.cwd.clone(), call.places, artifacts);
        }
        if !self.named.is_empty() {
            return by_verb(first(call.arguments, &self.named).unwrap_or(call.tool));
        }
        if let Some(patch) = first(call.arguments, &self.patch) {
            return trace::trace_patch(patch, call.cwd.clone(), call.places, artifacts);
        }
        let mut report = Report::default();
        for effect in self.chosen(call.arguments) {
            self.effect(effect, call, artifacts, &mut report);
        }
        if report.effects.is_empty() {
            report.push(
                EffectKind::ToolMutate,
                Target::Named(call.tool.to_owned()),
                Scope::Unknown,
                Certainty::Possible,
            );
        }
        report
    }

    /// The effects that the arguments choose.
    fn chosen(&self, arguments: &ArgumentTree) -> &[String] {
        if !self.verb.is_empty() {
            let verb = arguments.string(&self.verb).unwrap_or_default();
            return self.verbs.get(verb).map(Vec::as_slice).unwrap_or_default();
        }
        if self.asks.is_empty() {
            return &self.effects;
        }
        let asked = first(arguments, &self.asks).is_some_and(|text| !text.is_empty());
        let (some, none) = self.effects.split_at(self.effects.len().saturating_sub(1));
        if asked { some } else { none }
    }

    fn effect(&self, effect: &str, call: &ToolCall<'_>, artifacts: &mut Artifacts, report: &mut Report) {
        let Some((word, slot)) = effect.split_once(' ') else { return };
        let certainty = if word.ends_with('?') { Certainty::Possible } else { Certainty::Definite };
        let Some(kind) = EffectKind::from_word(word.trim_end_matches('?')) else { return };
        let named = match slot.strip_prefix('=') {
            Some(fixed) => Some(fixed),
            None => slot.split('|').find_map(|pointer| named(call.arguments, pointer)),
        };
        let Some(named) = named else {
            let scope = if kind.is_under("fs") { Scope::Unknown } else { scope_of(kind, "") };
            return report.push(kind, Target::Unknown, scope, certainty);
        };
        if !kind.is_under("fs") {
            return report.push(kind, Target::Named(named.to_owned()), scope_of(kind, named), certainty);
        }
        let resolved = call.places.resolve(&call.cwd, named);
        let path = resolved.path.clone();
        let target = Target::Path { resolved: resolved.path, written: named.to_owned() };
        report.push(kind, target, resolved.scope, certainty);
        self.remember(&path, kind, call.arguments, artifacts);
    }

    /// Keeps the text of a written file, or follows an edit of one.
    fn remember(&self, path: &str, kind: EffectKind, arguments: &ArgumentTree, artifacts: &mut Artifacts) {
        if kind == EffectKind::FsRead {
            return;
        }
        if let Some(text) = first(arguments, &self.text) {
            return artifacts.keep(path, text.to_owned());
        }
        match artifacts.text(path).and_then(|text| self.edited(text, arguments)) {
            Some(text) => artifacts.keep(path, text),
            None => artifacts.forget(path),
        }
    }

    /// The text after the replacements that the arguments ask for; `None` where one of them does not fit.
    fn edited(&self, text: &str, arguments: &ArgumentTree) -> Option<String> {
        const EDITS_MAX: usize = 256;
        let places = std::iter::once(String::new()).chain((0..EDITS_MAX).map(|at| format!("/edits/{at}")));
        let mut text = text.to_owned();
        let mut fits = false;
        for place in places {
            let given = |pointer: &String| arguments.string(&format!("{place}{pointer}"));
            let pair = self.edit.chunks_exact(2).find_map(|pair| match pair {
                [old, new] => given(old).zip(given(new)),
                _ => None,
            });
            let Some((old, new)) = pair else {
                if place.is_empty() {
                    continue;
                }
                break;
            };
            if old.is_empty() || !text.contains(old) {
                return None;
            }
            let all = ["/replace_all", "/replaceAll"]
                .iter()
                .any(|flag| arguments.flag(&format!("{place}{flag}")) == Some(true));
            text = if all { text.replace(old, new) } else { text.replacen(old, new, 1) };
            fits = true;
        }
        fits.then_some(text)
    }

    fn shell(&self, call: &ToolCall<'_>, artifacts: &mut Artifacts) -> Report {
        let cwd = match first(call.arguments, &self.cwd) {
            Some(directory) => Cwd::at(call.places.resolve(&call.cwd, directory).path),
            None => call.cwd.clone(),
        };
        let lists = self.run.iter().map(|pointer| call.arguments.strings(pointer));
        let words = lists.into_iter().find(|words| !words.is_empty()).unwrap_or_default();
        let script = first(call.arguments, &self.run).map(str::to_owned);
        let background = call.arguments.flag("/run_in_background") == Some(true);
        let dialect = match self.shell {
            ShellKind::Posix => None,
            ShellKind::PowerShell => Some(Dialect::PowerShell),
            ShellKind::Cmd => Some(Dialect::Cmd),
        };
        let mut report = match (script, words.as_slice()) {
            (Some(script), _) if dialect.is_some() => {
                let dialect = dialect.unwrap_or(Dialect::PowerShell);
                trace::trace_windows(&script, dialect, cwd, call.places, artifacts)
            }
            (Some(script), _) => trace::trace(&script, cwd, call.places, artifacts),
            // A single word with spaces is a script that was put into a list.
            (None, [only]) if only.contains(' ') => trace::trace(only, cwd, call.places, artifacts),
            (None, []) => {
                let mut report = Report::default();
                report.push(EffectKind::ExecOpaque, Target::Unknown, Scope::Unknown, Certainty::Possible);
                report
            }
            (None, words) => {
                let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                trace::trace_words(&words, cwd, call.places, artifacts)
            }
        };
        if background {
            for traced in &mut report.effects {
                traced.proof = trace::Proof::Later;
            }
            let program = report.programs.first().cloned().unwrap_or_default();
            report.push(EffectKind::ProcSpawn, Target::Named(program), Scope::Outside, Certainty::Definite);
        }
        report
    }
}

fn scope_of(kind: EffectKind, named: &str) -> Scope {
    match kind {
        EffectKind::NetRead | EffectKind::NetSend => {
            let after = named.split_once("://").map_or("", |(_, rest)| rest);
            Scope::Remote(after.split(['/', '?', ' ']).next().unwrap_or_default().to_ascii_lowercase())
        }
        EffectKind::ProcSignal | EffectKind::ProcSpawn => Scope::Outside,
        EffectKind::SysSchedule | EffectKind::EnvRead => Scope::System,
        _ => Scope::Unknown,
    }
}

/// Unknown tools: the first word of the name tells; what it does not tell is possible.
fn by_verb(tool: &str) -> Report {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let own = own.rsplit(['.', '/', ':']).next().unwrap_or(own);
    let words = name_words(own);
    let verbs = &table().verbs;
    let has = |list: &[String], word: Option<&String>| word.is_some_and(|word| list.contains(word));
    // Nouns and verbs look alike (`get_order`), so behind the first word only a joined verb counts.
    let joined = words.windows(2).any(|pair| match pair {
        [link, verb] => matches!(link.as_str(), "and" | "or" | "then") && verbs.change.contains(verb),
        _ => false,
    });
    let changes = has(&verbs.change, words.first());
    let reads =
        !joined && (has(&verbs.read, words.first()) || (has(&verbs.read_last, words.last()) && !changes));
    let mut report = Report::default();
    let target = Target::Named(tool.to_owned());
    if reads {
        report.push(EffectKind::None, target, Scope::Unknown, Certainty::Definite);
    } else {
        let certainty = if changes { Certainty::Definite } else { Certainty::Possible };
        report.push(EffectKind::ToolMutate, target, Scope::Unknown, certainty);
    }
    report
}

/// The words of a name in lower case: split at separators and before capitals.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for char in name.chars() {
        let starts = char.is_uppercase() && lower;
        lower = char.is_lowercase();
        if !char.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if let (true, Some(word)) = (char.is_alphanumeric(), words.last_mut()) {
            word.extend(char.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use strongroom_core::range::ByteRange;
    use strongroom_core::transcript::{Argument, Scalar};

    fn tree(leaves: &[(&str, &str)]) -> ArgumentTree {
        let leaf = |(pointer, text): &(&str, &str)| Argument {
            pointer: (*pointer).to_owned(),
            value: Scalar::String((*text).to_owned()),
            range: ByteRange::new(0, 0),
        };
        ArgumentTree { leaves: leaves.iter().map(leaf).collect(), malformed: false }
    }

    fn run(tool: &str, leaves: &[(&str, &str)], artifacts: &mut Artifacts) -> Vec<String> {
        let places = ProjectFacts { cwd: Some("/app".to_owned()), home: None };
        let arguments = tree(leaves);
        let call = ToolCall { tool, arguments: &arguments, cwd: Cwd::at("/app"), places: &places };
        let report = examine(&call, artifacts);
        let word = |one: &trace::Traced| {
            let possible = if one.effect.certainty == Certainty::Possible { "?" } else { "" };
            format!("{}{possible} {} {}", one.effect.kind.word(), one.effect.target.words(), one.effect.scope)
        };
        report.effects.iter().map(word).collect()
    }

    #[test]
    fn our_own_tools_are_known_by_server_and_name() {
        for own in ["mcp__strongroom__evidence_ask", "mcp__plugin_strongroom_strongroom__evidence_claim"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["evidence_ask", "mcp__github__evidence_ask", "mcp__strongroom__write_file", "Bash"] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn the_table_reads() {
        let table: Table = toml::from_str(include_str!("tables/tools.toml")).unwrap();
        for row in &table.tool {
            let all = row.effects.iter().chain(row.verbs.values().flatten());
            for effect in all {
                let word = effect.split(' ').next().unwrap().trim_end_matches('?');
                assert!(EffectKind::from_word(word).is_some(), "{effect}");
            }
        }
    }

    /// A tool, its arguments, and the effects it has.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

    #[test]
    fn tools_do_what_their_rows_say() {
        let cases: &[Case] = &[
            ("Write", &[("/file_path", "/etc/x"), ("/content", "a")], &["fs.write /etc/x system"]),
            ("Edit", &[("", "/etc/x")], &["fs.write /etc/x system"]),
            ("edit", &[("", "4:4\nrm /etc/y\nend_of_edit")], &["fs.write ? unknown"]),
            ("aider_commit", &[("", "1a2b3c4 fix")], &["vcs.commit ? unknown"]),
            ("Read", &[("/file_path", "src/a")], &["fs.read /app/src/a project"]),
            ("str_replace_editor", &[("/command", "view"), ("/path", "a")], &["fs.read /app/a project"]),
            ("str_replace_editor", &[("/command", "create"), ("/path", "a")], &["fs.write /app/a project"]),
            (
                "str_replace_editor",
                &[("/command", "odd"), ("/path", "a")],
                &["tool.mutate? str_replace_editor unknown"],
            ),
            (
                "shell",
                &[("/command/0", "bash"), ("/command/1", "-lc"), ("/command/2", "rm a")],
                &["fs.delete /app/a project"],
            ),
            ("exec_command", &[("/cmd", "rm a"), ("/workdir", "/tmp")], &["fs.delete /tmp/a temp"]),
            ("write_stdin", &[("/session_id", "1"), ("/chars", "")], &["none ? unknown"]),
            ("write_stdin", &[("/session_id", "1"), ("/chars", "y\n")], &["exec.opaque? 1 unknown"]),
            (
                "apply_patch",
                &[("", "*** Begin Patch\n*** Delete File: a\n*** End Patch")],
                &["fs.delete /app/a project"],
            ),
            ("TodoWrite", &[], &["agent.state ? unknown"]),
            ("mcp__github__create_issue", &[], &["tool.mutate mcp__github__create_issue unknown"]),
            ("mcp__github__issue_read", &[], &["none mcp__github__issue_read unknown"]),
            ("getUserDetails", &[], &["none getUserDetails unknown"]),
            ("find_and_update", &[], &["tool.mutate? find_and_update unknown"]),
            ("frobnicate", &[], &["tool.mutate? frobnicate unknown"]),
            ("developer__shell", &[("/command", "rm a")], &["fs.delete /app/a project"]),
            ("mcp__filesystem__write_file", &[("/path", "/etc/x")], &["fs.write /etc/x system"]),
            (
                "mcp__github__create_file",
                &[("/path", "x")],
                &["tool.mutate mcp__github__create_file unknown"],
            ),
            ("run_command", &[("/CommandLine", "rm a"), ("/Cwd", "/tmp")], &["fs.delete /tmp/a temp"]),
            ("powershell", &[("/command", "Remove-Item a")], &["fs.delete /app/a project"]),
            ("use_mcp_tool", &[("/tool_name", "create_issue")], &["tool.mutate create_issue unknown"]),
            ("use_mcp_tool", &[("/tool_name", "get_issue")], &["none get_issue unknown"]),
            (
                "save_memory",
                &[("/fact", "x")],
                &["agent.state ? unknown", "fs.append? ~/.gemini/GEMINI.md home"],
            ),
            ("multi_replace_file_content", &[("/TargetFile", "a")], &["fs.write /app/a project"]),
            ("_create_branch", &[], &["tool.mutate _create_branch unknown"]),
        ];
        for (tool, leaves, expected) in cases {
            assert_eq!(run(tool, leaves, &mut Artifacts::default()), *expected, "{tool} {leaves:?}");
        }
    }

    #[test]
    fn what_a_server_says_of_its_tool_only_raises() {
        let mut reads = by_verb("get_issue");
        raise(&mut reads, "get_issue");
        assert_eq!(reads.effects.last().unwrap().effect.kind, EffectKind::ToolMutate);
        let mut changes = by_verb("create_issue");
        raise(&mut changes, "create_issue");
        assert_eq!(changes.effects.len(), 1);
        assert_eq!(changes.effects[0].effect.kind, EffectKind::ToolMutate);
    }

    #[test]
    fn a_recipe_that_was_read_is_followed_when_it_runs() {
        let places = ProjectFacts { cwd: Some("/app".to_owned()), home: None };
        let mut artifacts = Artifacts::default();
        let show = |tool: &str, leaves: &[(&str, &str)], text: &str, artifacts: &mut Artifacts| {
            let arguments = tree(leaves);
            let call = ToolCall { tool, arguments: &arguments, cwd: Cwd::at("/app"), places: &places };
            if let Some(file) = shown_recipe(&call) {
                note_read(&call, file, text, artifacts);
            }
        };
        let makefile = "     1\u{2192}OUT = /etc/x\n     2\u{2192}all: clean\n     3\u{2192}\t@cp a $(OUT)\n     4\u{2192}clean:\n     5\u{2192}\trm -f b\n";
        show("Read", &[("/file_path", "/app/Makefile")], makefile, &mut artifacts);
        let ran = run("Bash", &[("/command", "make")], &mut artifacts);
        let changes: Vec<&String> =
            ran.iter().filter(|one| !one.contains("read") && !one.starts_with("none")).collect();
        assert_eq!(changes, ["fs.delete /app/b project", "fs.write /etc/x system"]);
        show("Bash", &[("/command", "cat package.json")], "{\"scripts\":{\"x\":\"rm c\"}}", &mut artifacts);
        let ran = run("Bash", &[("/command", "npm run x")], &mut artifacts);
        assert_eq!(ran, ["fs.delete /app/c project"]);
        run("Write", &[("/file_path", "/app/package.json"), ("/content", "{}")], &mut artifacts);
        let ran = run("Bash", &[("/command", "npm run x")], &mut artifacts);
        assert!(ran.iter().all(|one| one.starts_with("exec.code?")), "{ran:?}");
        show("Read", &[("/file_path", "run.sh"), ("/limit", "2")], "rm d\n", &mut artifacts);
        assert_eq!(
            run("Bash", &[("/command", "sh run.sh")], &mut artifacts),
            ["exec.opaque? run.sh unknown"]
        );
    }

    #[test]
    fn several_edits_of_a_kept_script_are_followed() {
        let mut artifacts = Artifacts::default();
        let script = "import os\nos.remove('a')\nos.remove('b')\n";
        run("Write", &[("/file_path", "/app/x.py"), ("/content", script)], &mut artifacts);
        let edits = [
            ("/file_path", "/app/x.py"),
            ("/edits/0/old_string", "'a'"),
            ("/edits/0/new_string", "'c'"),
            ("/edits/1/old_string", "'b'"),
            ("/edits/1/new_string", "'d'"),
        ];
        run("MultiEdit", &edits, &mut artifacts);
        let effects = run("Bash", &[("/command", "python x.py")], &mut artifacts);
        assert_eq!(effects[..2], ["fs.delete /app/c project", "fs.delete /app/d project"]);
    }

    #[test]
    fn a_script_that_was_written_and_edited_is_followed_when_it_runs() {
        let mut artifacts = Artifacts::default();
        run(
            "Write",
            &[("/file_path", "/app/x.py"), ("/content", "import os\nos.remove('a')\n")],
            &mut artifacts,
        );
        run(
            "Edit",
            &[("/file_path", "x.py"), ("/old_string", "'a'"), ("/new_string", "'b'")],
            &mut artifacts,
        );
        let effects = run("Bash", &[("/command", "python x.py")], &mut artifacts);
        assert_eq!(effects, ["fs.delete /app/b project", "exec.code? ? unknown"]);
        run(
            "Edit",
            &[("/file_path", "x.py"), ("/old_string", "nowhere"), ("/new_string", "'b'")],
            &mut artifacts,
        );
        assert_eq!(
            run("Bash", &[("/command", "python x.py")], &mut artifacts),
            ["exec.opaque? x.py unknown"]
        );
    }
}
