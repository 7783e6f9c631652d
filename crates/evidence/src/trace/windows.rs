//! Follows lines of PowerShell and of `cmd` by the verbs of their commands; what no verb tells is possible.

use strongroom_core::evidence::Certainty;

use super::{Guard, Tracer};
use crate::commands::{Arg, Shape};
use crate::effect::{EffectKind as K, Scope, Target};
use crate::place::base_name;
use crate::shell::Mode;
use crate::shell::windows::{self, Command, Dialect, Form, Word};

/// Which words of a command its effect is on.
#[derive(Clone, Copy)]
enum On {
    /// The first path.
    First,
    /// All paths.
    Paths,
    /// The last path, or the destination.
    Last,
    /// Nothing that can be named.
    Nothing,
}

/// Commands by their names, and what they do.
type Listed = (&'static [&'static str], &'static [(K, On)]);

/// Commands of PowerShell and `cmd`, with their short names, and what they do.
const COMMANDS: &[Listed] = &[
    (
        &["remove-item", "ri", "rm", "rmdir", "rd", "del", "erase", "clear-recyclebin"],
        &[(K::FsDelete, On::Paths)],
    ),
    (
        &["set-content", "sc", "out-file", "clear-content", "clc", "export-csv", "epcsv"],
        &[(K::FsWrite, On::First)],
    ),
    (&["export-clixml", "start-transcript", "save-module", "tee-object", "tee"], &[(K::FsWrite, On::First)]),
    (&["add-content", "ac"], &[(K::FsAppend, On::First)]),
    (&["new-item", "ni", "mkdir", "md", "new-temporaryfile"], &[(K::FsWrite, On::First)]),
    (
        &["copy-item", "cpi", "copy", "cp", "xcopy", "robocopy"],
        &[(K::FsRead, On::First), (K::FsWrite, On::Last)],
    ),
    (&["move-item", "mi", "move", "mv"], &[(K::FsMove, On::First), (K::FsWrite, On::Last)]),
    (&["rename-item", "rni", "ren", "rename"], &[(K::FsMove, On::First), (K::FsWrite, On::Last)]),
    (
        &["set-itemproperty", "sp", "new-itemproperty", "remove-itemproperty", "set-acl"],
        &[(K::FsMeta, On::First)],
    ),
    (&["attrib", "icacls", "takeown", "unblock-file"], &[(K::FsMeta, On::First)]),
    (&["mklink"], &[(K::FsLink, On::First)]),
    (&["expand-archive"], &[(K::FsWrite, On::Last)]),
    (&["compress-archive"], &[(K::FsWrite, On::Last)]),
    (&["reg"], &[(K::SysConfig, On::Nothing)]),
    (
        &["set-executionpolicy", "setx", "bcdedit", "netsh", "set-date", "set-timezone"],
        &[(K::SysConfig, On::Nothing)],
    ),
    (
        &["register-scheduledtask", "unregister-scheduledtask", "schtasks", "at"],
        &[(K::SysSchedule, On::Nothing)],
    ),
    (
        &["start-service", "stop-service", "restart-service", "set-service", "new-service"],
        &[(K::SvcState, On::Nothing)],
    ),
    (
        &["new-localuser", "remove-localuser", "set-localuser", "add-localgroupmember"],
        &[(K::SysAccount, On::Nothing)],
    ),
    (&["stop-process", "spps", "kill", "taskkill"], &[(K::ProcSignal, On::Nothing)]),
    (
        &["start-process", "saps", "start", "start-job", "sajb"],
        &[(K::ProcSpawn, On::Nothing), (K::ExecOpaque, On::Nothing)],
    ),
    (
        &["install-module", "uninstall-module", "update-module", "install-package"],
        &[(K::PkgMutate, On::Nothing)],
    ),
    (&["install-windowsfeature", "enable-windowsoptionalfeature"], &[(K::PkgMutate, On::Nothing)]),
    (&["send-mailmessage"], &[(K::NetSend, On::Nothing)]),
    (
        &["write-output", "write-host", "write-error", "write-verbose", "write-warning", "echo", "rem"],
        &[(K::None, On::Nothing)],
    ),
    (
        &["out-null", "out-string", "out-host", "out-default", "set-variable", "sv", "set-strictmode"],
        &[(K::None, On::Nothing)],
    ),
    (
        &["ls", "dir", "gci", "cat", "gc", "type", "gi", "select", "where", "?", "sort", "measure"],
        &[(K::FsRead, On::Paths)],
    ),
    (
        &["sls", "ft", "fl", "group", "gm", "ps", "gps", "pwd", "gl", "ver", "tree", "more", "findstr"],
        &[(K::FsRead, On::Paths)],
    ),
];

/// Verbs of cmdlets that only look.
const READING: &[&str] = &[
    "get",
    "select",
    "where",
    "sort",
    "measure",
    "test",
    "compare",
    "format",
    "convertto",
    "convertfrom",
    "group",
    "resolve",
    "split",
    "join",
    "find",
    "show",
    "search",
    "read",
    "wait",
    "convert",
    "debug",
    "trace",
];

/// Words that only order what stands in their blocks.
const ORDERING: &[&str] = &[
    "if",
    "else",
    "elseif",
    "foreach",
    "for",
    "while",
    "do",
    "until",
    "switch",
    "try",
    "catch",
    "finally",
    "function",
    "return",
    "begin",
    "process",
    "end",
    "param",
    "foreach-object",
    "%",
    "where-object",
    "measure-command",
    "break",
    "continue",
    "exit",
    "throw",
];

/// Drives that hold no files.
const DRIVES: &[&str] = &["env:", "variable:", "function:", "alias:"];

impl Tracer<'_> {
    /// Follows a script of one of the shells of Windows.
    pub(super) fn windows(&mut self, text: &str, dialect: Dialect, guard: Guard) {
        if self.depth >= super::DEPTH_MAX {
            return self.opaque(Target::Unknown, guard);
        }
        match windows::commands(text, dialect) {
            Ok(commands) => {
                self.depth += 1;
                let last = commands.len().saturating_sub(1);
                for (at, command) in commands.iter().enumerate() {
                    let guard = if at == last { guard } else { guard.masked() };
                    self.windows_command(command, dialect, guard);
                }
                self.depth -= 1;
            }
            Err(why) => {
                self.report.unparsed.get_or_insert(why.to_string());
                self.opaque(Target::Unknown, guard);
            }
        }
    }

    fn windows_command(&mut self, command: &Command, dialect: Dialect, guard: Guard) {
        self.report.commands += 1;
        for (mode, word) in &command.redirects {
            let kind = if *mode == Mode::Append { K::FsAppend } else { K::FsWrite };
            if !word.text.eq_ignore_ascii_case("$null") && !word.text.eq_ignore_ascii_case("nul") {
                let (target, scope) = self.path_target(&arg(word));
                self.emit_at(kind, target, Some(scope), guard);
            }
        }
        let known: Vec<Word> = command.words.iter().map(|word| self.filled(word)).collect();
        let words = self.behind_assignment(&known);
        let (Some(first), rest) = (words.first(), words.get(1..).unwrap_or_default()) else { return };
        for block in words.iter().filter(|word| word.form == Form::Block) {
            let possible = Guard::POSSIBLE;
            self.windows(&block.text, dialect, possible);
        }
        let name = base_name(&first.text).to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        if first.form == Form::Block || ORDERING.contains(&name) {
            return;
        }
        if first.form != Form::Bare {
            return self.expression(first, guard);
        }
        self.note_program(&first.text);
        self.rule = None;
        if !self.moves(name, rest) && !self.asks_web(name, rest, guard) && !self.listed(name, rest, guard) {
            self.other_command(name, words, guard);
        }
    }

    /// The words behind `$name =`; a literal there is kept as the value of the name.
    fn behind_assignment<'w>(&mut self, words: &'w [Word]) -> &'w [Word] {
        let [name, sign, rest @ ..] = words else { return words };
        if !name.text.starts_with('$') || !matches!(sign.text.as_str(), "=" | "+=") {
            return words;
        }
        let value = match rest {
            [only] if only.form == Form::Quoted && sign.text == "=" => Some(Arg::literal(&only.text)),
            _ => None,
        };
        self.set_value(&name.text.to_ascii_lowercase(), value);
        rest
    }

    /// A word with the values of the variables in it, where all of them are known.
    fn filled(&self, word: &Word) -> Word {
        let mut text = word.text.clone();
        if word.form != Form::Open {
            return word.clone();
        }
        let mut names: Vec<(&String, &Arg)> =
            self.state.vars.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))).collect();
        names.retain(|(name, _)| name.starts_with('$'));
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, value) in names {
            text = text.replace(name.as_str(), &value.text);
        }
        let form = if text.contains(['$', '%', '@', '`', '(']) { Form::Open } else { Form::Quoted };
        Word { text: if form == Form::Open { word.text.clone() } else { text }, form }
    }

    /// A value alone does nothing; a call of a method may do anything.
    fn expression(&mut self, first: &Word, guard: Guard) {
        let calls = first.form == Form::Open && (first.text.contains('(') || first.text.contains("::"));
        if calls {
            self.opaque(Target::Unknown, guard);
        } else {
            self.emit(K::None, Target::Unknown, guard);
        }
    }

    fn moves(&mut self, name: &str, rest: &[Word]) -> bool {
        if !matches!(name, "cd" | "chdir" | "set-location" | "sl" | "push-location" | "pushd") {
            return false;
        }
        let to = paths(rest).into_iter().find(|to| !to.text.eq_ignore_ascii_case("/d"));
        self.state.cwd = to.map_or(crate::place::Cwd::Unknown, |to| self.directory(&to));
        self.emit(K::None, Target::Unknown, Guard::OUTER);
        true
    }

    fn asks_web(&mut self, name: &str, rest: &[Word], guard: Guard) -> bool {
        if !matches!(name, "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" | "wget" | "curl") {
            return false;
        }
        let given = |name: &str| value(rest, name);
        let method = given("-method").map_or("get".to_owned(), |own| own.text.to_ascii_lowercase());
        let sends = !matches!(method.as_str(), "get" | "head" | "options") || given("-body").is_some();
        let kind = if sends || given("-infile").is_some() { K::NetSend } else { K::NetRead };
        let url =
            given("-uri").or_else(|| paths(rest).into_iter().next()).map(|own| own.text).unwrap_or_default();
        let scope = Scope::Remote(super::target::host(&url));
        self.emit_at(kind, Target::Named(url), Some(scope), guard);
        if let Some(file) = given("-outfile") {
            let (target, scope) = self.path_target(&file);
            self.emit_at(K::FsWrite, target, Some(scope), guard);
        }
        true
    }

    fn listed(&mut self, name: &str, rest: &[Word], guard: Guard) -> bool {
        let Some((_, effects)) = COMMANDS.iter().find(|(names, _)| names.contains(&name)) else {
            return false;
        };
        // What goes into a variable goes into no file.
        let held = name.starts_with("tee") && value(rest, "-variable").is_some();
        let dry = held || rest.iter().any(|word| word.text.eq_ignore_ascii_case("-whatif"));
        let paths = paths(rest);
        for (kind, on) in *effects {
            let kind = if dry { K::EnvRead } else { *kind };
            let picked: Vec<Arg> = match on {
                On::First => paths.first().cloned().into_iter().collect(),
                On::Paths => paths.clone(),
                On::Last => {
                    let named = value(rest, "-destination").or_else(|| value(rest, "-destinationpath"));
                    let named = named.or_else(|| value(rest, "-newname"));
                    named.or_else(|| paths.last().cloned()).into_iter().collect()
                }
                On::Nothing => Vec::new(),
            };
            if picked.is_empty() {
                let certainty = if kind == K::ExecOpaque { Certainty::Possible } else { Certainty::Definite };
                self.emit(kind, Target::Unknown, guard.at(certainty));
            }
            for path in picked {
                self.on_path(kind, &path, guard);
            }
        }
        true
    }

    /// An effect on a path, or on what a drive without files holds.
    fn on_path(&mut self, kind: K, path: &Arg, guard: Guard) {
        let lower = path.text.to_ascii_lowercase();
        if DRIVES.iter().any(|drive| lower.starts_with(drive)) {
            return self.emit(K::None, Target::Unknown, guard);
        }
        if lower.starts_with("hk") && lower.contains(':') {
            let kind = if kind == K::FsRead { K::EnvRead } else { K::SysConfig };
            return self.emit_at(kind, Target::Named(path.text.clone()), Some(Scope::System), guard);
        }
        let (target, scope) = self.path_target(path);
        self.emit_at(kind, target, Some(scope), guard);
    }

    /// Cmdlets that only look by their verb, programs that the tables know, and anything else.
    fn other_command(&mut self, name: &str, words: &[Word], guard: Guard) {
        let verb = name.split_once('-').map(|(verb, _)| verb);
        if verb.is_some_and(|verb| READING.contains(&verb)) {
            return self.emit(K::EnvRead, Target::Unknown, guard);
        }
        let args: Vec<Arg> = words.iter().map(arg).collect();
        if crate::commands::table().knows(&crate::commands::table().parse(&args).program) {
            return self.command(&args, guard, &super::Input::None);
        }
        self.opaque(Target::Named(words.first().map(|word| word.text.clone()).unwrap_or_default()), guard);
    }

    /// `powershell -Command …`, `cmd /c …` in another shell.
    pub(super) fn runs_windows(&mut self, words: &[Arg], guard: Guard) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        let name = base_name(&first.text).to_ascii_lowercase();
        let dialect = match name.strip_suffix(".exe").unwrap_or(&name) {
            "powershell" | "pwsh" => Dialect::PowerShell,
            "cmd" => Dialect::Cmd,
            _ => return false,
        };
        let marks = |word: &Arg| {
            let lower = word.text.to_ascii_lowercase();
            matches!(lower.as_str(), "-command" | "-c" | "/c" | "//c" | "/k" | "-commandwithargs")
        };
        let Some(at) = rest.iter().position(marks) else { return false };
        let script = rest.get(at + 1..).unwrap_or_default();
        if script.iter().any(|word| word.shape == Shape::Dynamic) {
            self.opaque(Target::Unknown, guard);
        }
        let text = script.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let saved = self.state.clone();
        self.windows(&text, dialect, guard);
        self.state = saved;
        true
    }
}

fn arg(word: &Word) -> Arg {
    let shape = match word.form {
        Form::Open | Form::Block => Shape::Dynamic,
        Form::Bare if word.text.contains(['*', '?']) => Shape::Glob,
        Form::Bare | Form::Quoted => Shape::Literal,
    };
    // A path is written with either stroke.
    let relative = !word.text.starts_with(['/', '-']) && !word.text.contains("://");
    let text = if relative { word.text.replace('\\', "/") } else { word.text.clone() };
    Arg { text, shape }
}

/// Parameters whose value is no path.
const VALUES: &[&str] = &[
    "-erroraction",
    "-ea",
    "-value",
    "-itemtype",
    "-type",
    "-encoding",
    "-filter",
    "-include",
    "-exclude",
    "-width",
    "-first",
    "-last",
    "-pattern",
    "-property",
    "-method",
    "-body",
    "-headers",
    "-contenttype",
    "-outfile",
    "-name",
    "-destination",
    "-destinationpath",
    "-newname",
    "-delimiter",
    "-depth",
    "-variable",
    "-timeoutsec",
    "-infile",
];

/// The operands of a command, the values of its path parameters among them.
fn paths(words: &[Word]) -> Vec<Arg> {
    let mut all = Vec::new();
    let mut skip = false;
    for word in words {
        let lower = word.text.to_ascii_lowercase();
        if std::mem::take(&mut skip) {
            continue;
        }
        if word.form == Form::Bare && lower.starts_with('-') {
            skip = VALUES.contains(&lower.as_str());
        } else if word.form != Form::Block && !is_switch(word) {
            all.extend(lists(word));
        }
    }
    all
}

/// `/s` and `/q` of `cmd`.
fn is_switch(word: &Word) -> bool {
    word.form == Form::Bare && word.text.starts_with('/') && word.text.len() <= 3
}

/// `a,b` is two words.
fn lists(word: &Word) -> Vec<Arg> {
    let whole = arg(word);
    if word.form != Form::Bare {
        return vec![whole];
    }
    let parts = whole.text.split(',').filter(|part| !part.is_empty());
    parts.map(|part| Arg { text: part.to_owned(), shape: whole.shape }).collect()
}

fn value(words: &[Word], name: &str) -> Option<Arg> {
    let at = words.iter().position(|word| word.text.eq_ignore_ascii_case(name))?;
    words.get(at + 1).map(arg)
}
