//! Follows a shell script through its statements and lists what it does.
//!
//! Guards say how certain a statement runs and whether the exit code of the whole proves it; the state
//! holds working directory, variables and functions. What is not understood becomes a possible effect of
//! unknown kind, never none.

mod beside;
mod expand;
mod hooks;
mod loops;
mod recipes;
mod target;
mod values;
mod windows;
mod wrap;

use std::collections::BTreeMap;
use std::rc::Rc;

use strongroom_core::digest::Digest;
use strongroom_core::evidence::Certainty;

use crate::code::{self, Language};
use crate::commands::{self, Arg, Invocation, Rule, Shape};
use crate::effect::{Access, Assumption, Effect, EffectKind, Origin, Outcome, Privilege, Scope, Target};
use crate::place::{Cwd, ProjectFacts};
use crate::shell::windows::Dialect;
use crate::shell::{self, Link, Mode, Node, Redirect, Script, Simple, Statement, Wait};

/// Texts of scripts that were written in the session, by resolved path.
#[derive(Debug, Clone, Default)]
pub struct Artifacts {
    texts: BTreeMap<String, String>,
    /// Links that were made, each with where it leads, where that is known.
    links: BTreeMap<String, Option<String>>,
}

/// The largest script that is remembered, in bytes.
const ARTIFACT_MAX_BYTES: usize = 1 << 20;

impl Artifacts {
    /// Remembers the whole text of a file.
    pub fn keep(&mut self, path: &str, text: String) {
        if text.len() <= ARTIFACT_MAX_BYTES {
            self.texts.insert(path.to_owned(), text);
        }
    }

    /// Forgets a file that changed in an unknown way.
    pub fn forget(&mut self, path: &str) {
        self.texts.remove(path);
    }

    /// The text of a file as it was last written.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Where the link at `path` leads, where that is known.
    fn link(&self, path: &str) -> Option<String> {
        self.links.get(path).cloned().flatten()
    }

    fn is_open_link(&self, path: &str) -> bool {
        self.links.get(path).is_some_and(Option::is_none)
    }

    /// Where a path leads through links that were made in the session; `None` where that is not known.
    fn through_links(&self, path: &str) -> Option<String> {
        const HOPS_MAX: usize = 8;
        let mut path = path.to_owned();
        for _ in 0..HOPS_MAX {
            let passed =
                self.links.iter().find(|(link, _)| path != **link && crate::place::is_inside(&path, link));
            let Some((link, to)) = passed else { return Some(path) };
            let rest = path.get(link.len()..).unwrap_or_default();
            path = crate::place::normalise(&format!("{}{rest}", to.as_ref()?));
        }
        None
    }
}

/// Whether success of the whole proves success of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The exit code of the whole covers it.
    Covered,
    /// The exit code says nothing about it.
    Masked,
    /// It happens before the command runs, whatever the exit code.
    Before,
    /// The call returns while it still runs.
    Later,
}

/// Whether an effect hangs on a change of directory that nothing in the script proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hinge {
    /// It does not.
    Free,
    /// Its scope is this one if every change succeeded.
    Moved(Scope),
    /// It happens only if a change failed.
    Stayed,
}

/// An effect with what can prove it.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The effect; its outcome is `Unknown`, or `DryRun`.
    pub effect: Effect,
    /// What the exit code proves.
    pub proof: Proof,
    /// Whether it hangs on a change of directory.
    pub hinge: Hinge,
    /// The rule that found it, with its texts.
    pub rule: Option<&'static Rule>,
}

/// What a script does.
#[derive(Debug, Default)]
pub struct Report {
    /// The effects, reads included, in order.
    pub effects: Vec<Traced>,
    /// The programs that run, through wrappers.
    pub programs: Vec<String>,
    /// How many simple commands there are.
    pub commands: usize,
    /// Why the script could not be read, where it could not.
    pub unparsed: Option<String>,
    /// The working directory behind it.
    pub cwd: Option<Cwd>,
}

/// Follows `script` from `cwd`.
pub fn trace(script: &str, cwd: Cwd, places: &ProjectFacts, artifacts: &mut Artifacts) -> Report {
    let mut tracer = Tracer::new(cwd, places, artifacts);
    tracer.source(script, Guard::OUTER);
    tracer.finish()
}

/// Follows a script of one of the shells of Windows.
pub fn trace_windows(
    script: &str,
    dialect: Dialect,
    cwd: Cwd,
    places: &ProjectFacts,
    artifacts: &mut Artifacts,
) -> Report {
    let mut tracer = Tracer::new(cwd, places, artifacts);
    tracer.windows(script, dialect, Guard::OUTER);
    tracer.finish()
}

/// Follows a command given as separate words.
pub fn trace_words(words: &[String], cwd: Cwd, places: &ProjectFacts, artifacts: &mut Artifacts) -> Report {
    let mut tracer = Tracer::new(cwd, places, artifacts);
    let words: Vec<Arg> = words.iter().map(Arg::literal).collect();
    tracer.command(&words, Guard::OUTER, &Input::None);
    tracer.finish()
}

/// Follows code of a language that is no shell.
pub fn trace_code(
    language: Language,
    text: &str,
    cwd: Cwd,
    places: &ProjectFacts,
    artifacts: &mut Artifacts,
) -> Report {
    let mut tracer = Tracer::new(cwd, places, artifacts);
    tracer.report.commands = 1;
    tracer.run_code(language, text, Guard::OUTER);
    tracer.finish()
}

/// Follows a patch in the `*** Begin Patch` form.
pub fn trace_patch(patch: &str, cwd: Cwd, places: &ProjectFacts, artifacts: &mut Artifacts) -> Report {
    let mut tracer = Tracer::new(cwd, places, artifacts);
    tracer.report.commands = 1;
    tracer.patch(patch, Guard::OUTER);
    tracer.finish()
}

impl Report {
    /// Adds an effect of a tool that is no shell.
    pub fn push(&mut self, kind: EffectKind, target: Target, scope: Scope, certainty: Certainty) {
        self.commands = self.commands.max(1);
        let effect = Effect {
            kind,
            target,
            scope,
            certainty,
            privilege: Privilege::User,
            outcome: Outcome::Unknown,
            environment: None,
            program: String::new(),
            bounded_by: None,
            origin: Origin::default(),
        };
        self.effects.push(Traced { effect, proof: Proof::Covered, hinge: Hinge::Free, rule: None });
    }
}

#[derive(Debug, Clone, Copy)]
struct Guard {
    certainty: Certainty,
    proof: Proof,
}

impl Guard {
    const OUTER: Self = Self { certainty: Certainty::Definite, proof: Proof::Covered };

    const fn masked(self) -> Self {
        match self.proof {
            Proof::Later => self,
            Proof::Covered | Proof::Masked | Proof::Before => Self { proof: Proof::Masked, ..self },
        }
    }

    const fn detached(self) -> Self {
        Self { proof: Proof::Later, ..self }
    }

    /// It may run, and the exit code says nothing about it.
    const POSSIBLE: Self = Self { certainty: Certainty::Possible, proof: Proof::Masked };

    fn at(self, certainty: Certainty) -> Self {
        Self { certainty: self.certainty.min(certainty), ..self }
    }
}

/// What stands at the standard input of a command.
#[derive(Debug, Clone)]
enum Input {
    /// The terminal, or nothing.
    None,
    /// This text.
    Text(Arg),
    /// The output of another command, or a file.
    Piped,
}

/// What a subshell copies.
#[derive(Debug, Clone)]
struct State {
    cwd: Cwd,
    /// Where the shell would be if a change of directory had failed that the script does not check.
    stayed: Option<Cwd>,
    stack: Vec<Cwd>,
    /// The directory before the last change, for `cd -`.
    previous: Option<Cwd>,
    vars: Rc<BTreeMap<String, Option<Arg>>>,
    /// The positional parameters, where they are known.
    params: Option<Rc<[Arg]>>,
    functions: Rc<BTreeMap<String, Rc<Statement>>>,
    aliases: Rc<BTreeMap<String, String>>,
    errexit: bool,
    pipefail: bool,
    place: Option<Scope>,
    privilege: Privilege,
}

/// The deepest nesting of functions, scripts in scripts and wrappers.
const DEPTH_MAX: usize = 8;
/// How many statements are followed, loops unrolled, before the rest counts as unknown.
const STATEMENTS_MAX: usize = 20_000;

struct Tracer<'a> {
    places: &'a ProjectFacts,
    artifacts: &'a mut Artifacts,
    state: State,
    report: Report,
    depth: usize,
    followed: usize,
    program: String,
    environment: Option<&'static str>,
    rule: Option<&'static Rule>,
    /// What the stage before prints, as operands for a program that reads them.
    printed: Option<Vec<Arg>>,
    /// How many pipelines it stands in.
    piped: usize,
    /// Where the link leads that is being made.
    linked: Option<String>,
    /// The commands that have succeeded where this one runs.
    requires: Vec<usize>,
    /// The text that is being run, where it is that of a file.
    artifact: Option<Digest>,
}

impl<'a> Tracer<'a> {
    fn new(cwd: Cwd, places: &'a ProjectFacts, artifacts: &'a mut Artifacts) -> Self {
        let state = State {
            cwd,
            stayed: None,
            stack: Vec::new(),
            previous: None,
            vars: Rc::default(),
            params: None,
            functions: Rc::default(),
            aliases: Rc::default(),
            errexit: false,
            pipefail: false,
            place: None,
            privilege: Privilege::User,
        };
        let (report, program) = (Report::default(), String::new());
        Self {
            places,
            artifacts,
            state,
            report,
            depth: 0,
            followed: 0,
            program,
            environment: None,
            rule: None,
            printed: None,
            piped: 0,
            linked: None,
            requires: Vec::new(),
            artifact: None,
        }
    }

    fn finish(self) -> Report {
        let cwd = match self.state.stayed {
            Some(stayed) => self.state.cwd.or(stayed),
            None => self.state.cwd,
        };
        Report { cwd: Some(cwd), ..self.report }
    }

    /// Whether the working directory is one that is there: where the session started, or above it.
    fn surely_exists(&self) -> bool {
        let Cwd::OneOf(paths) = &self.state.cwd else { return false };
        let root = self.places.cwd.as_deref().map(crate::place::normalise);
        let home = self.places.home.as_deref().map(crate::place::normalise);
        let known = |path: &String| {
            [&root, &home]
                .iter()
                .any(|own| own.as_ref().is_some_and(|own| crate::place::is_inside(own, path)))
        };
        paths.iter().all(|path| path == "/tmp" || known(path))
    }

    /// What comes behind a change of directory runs even if it failed. Its complaint would stand in the output,
    /// unless that is thrown away or cut.
    fn may_have_stayed(&mut self, statement: &Statement, before: Cwd) {
        if self.piped > 0 || moves_silently(statement) {
            self.state.cwd = self.state.cwd.clone().or(before);
            return;
        }
        self.state.stayed = Some(match self.state.stayed.take() {
            Some(earlier) => before.or(earlier),
            None => before,
        });
    }

    /// Follows the text of a script.
    fn source(&mut self, text: &str, guard: Guard) {
        if self.depth >= DEPTH_MAX {
            return self.opaque(Target::Unknown, guard);
        }
        match shell::parse(text) {
            Ok(script) => {
                self.depth += 1;
                self.script(&script, guard);
                self.depth -= 1;
            }
            Err(why) => {
                self.report.unparsed.get_or_insert(why.to_string());
                self.state.cwd = Cwd::Unknown;
                self.opaque(Target::Unknown, guard);
            }
        }
    }

    fn script(&mut self, script: &Script, guard: Guard) {
        let last = script.0.len().saturating_sub(1);
        let outer = self.requires.len();
        for (at, statement) in script.0.iter().enumerate() {
            let covered = at == last || self.state.errexit;
            let before = self.state.cwd.clone();
            self.statement(statement, if covered { guard } else { guard.masked() }, &Input::None);
            let settled = self.state.errexit || ends_or_moves(statement) || self.surely_exists();
            if self.state.cwd != before && !settled {
                self.may_have_stayed(statement, before);
            }
            if self.state.errexit {
                self.require_last();
            }
        }
        self.requires.truncate(outer);
    }

    /// What follows runs only where the last command succeeded.
    fn require_last(&mut self) {
        let last = self.report.commands;
        if last > 0 && self.requires.last() != Some(&last) {
            self.requires.push(last);
        }
    }

    fn statement(&mut self, statement: &Statement, guard: Guard, input: &Input) {
        self.followed += 1;
        if self.followed > STATEMENTS_MAX {
            if self.followed == STATEMENTS_MAX + 1 {
                self.opaque(Target::Unknown, guard);
            }
            return;
        }
        let guard = match statement.wait {
            Wait::Waits => guard,
            Wait::Background => guard.detached(),
        };
        let input = self.redirects(&statement.redirects, guard).unwrap_or_else(|| input.clone());
        let before = self.report.effects.len();
        self.node(&statement.node, guard, &input);
        self.keep_heredoc(statement, &input);
        if statement.wait == Wait::Background {
            let busy = self.report.effects.get(before..).is_some_and(|own| {
                own.iter().any(|one| {
                    matches!(
                        one.effect.kind,
                        EffectKind::ExecCode | EffectKind::ExecOpaque | EffectKind::ProcSpawn
                    )
                })
            });
            if busy {
                self.emit(EffectKind::ProcSpawn, Target::Named(self.program.clone()), guard);
            }
        }
    }

    fn node(&mut self, node: &Node, guard: Guard, input: &Input) {
        match node {
            Node::Simple(simple) => self.simple(simple, guard, input),
            Node::Chain(first, rest) => self.chain(first, rest, guard, input),
            Node::Pipe(stages) => self.pipe(stages, guard, input),
            Node::Group(script) => self.script(script, guard),
            Node::Subshell(script) => {
                let saved = self.state.clone();
                self.script(script, guard);
                self.state = saved;
            }
            Node::Branches(always, maybe) => {
                self.script(always, guard.masked());
                for branch in maybe {
                    self.branch(|own| own.script(branch, Guard::POSSIBLE));
                }
            }
            Node::Loop(condition, body) => self.repeat(condition, body, guard),
            Node::Each(name, words, body) => self.each(name, words.as_deref(), body, guard),
            Node::Function(names, body) => {
                for name in names {
                    let body = Rc::new((**body).clone());
                    Rc::make_mut(&mut self.state.functions).insert(name.clone(), body);
                }
            }
            Node::Words(words) => {
                for word in words {
                    self.expand(word, guard);
                }
            }
        }
    }

    /// Runs `body` as something that may not happen: what it changes in the state is unknown behind it.
    fn branch(&mut self, body: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        body(self);
        let cwd = self.state.cwd.clone().or(before.cwd);
        self.state.cwd = cwd;
        for (name, value) in Rc::make_mut(&mut self.state.vars) {
            if before.vars.get(name) != Some(value) {
                *value = None;
            }
        }
        self.state.errexit &= before.errexit;
    }

    fn chain(&mut self, first: &Statement, rest: &[(Link, Statement)], guard: Guard, input: &Input) {
        let alternative = rest.iter().any(|(link, _)| *link == Link::Or);
        let own = if alternative { guard.masked() } else { guard };
        let start = self.state.cwd.clone();
        self.statement(first, own, input);
        let mut certain = true;
        let outer = self.requires.len();
        for (link, statement) in rest {
            certain &= *link == Link::And;
            match link {
                Link::And if certain => {
                    self.require_last();
                    self.statement(statement, own, &Input::None);
                }
                Link::And => {
                    self.branch(|tracer| tracer.statement(statement, Guard::POSSIBLE, &Input::None));
                }
                Link::Or if leaves(statement) => {}
                Link::Or => {
                    let after = self.state.cwd.clone();
                    // A change of directory that failed left everything as it was.
                    let moved = rest.len() == 1 && is_move(first);
                    self.state.cwd = if moved { start.clone() } else { after.clone().or(start.clone()) };
                    let begin = self.state.cwd.clone();
                    self.statement(statement, Guard::POSSIBLE, &Input::None);
                    let stayed = self.state.cwd == begin;
                    self.state.cwd = if stayed { after } else { after.or(self.state.cwd.clone()) };
                }
            }
        }
        self.requires.truncate(outer);
    }

    fn pipe(&mut self, stages: &[Statement], guard: Guard, input: &Input) {
        let mut input = input.clone();
        let mut printed = None;
        let last = stages.len().saturating_sub(1);
        for (at, stage) in stages.iter().enumerate() {
            let saved = self.state.clone();
            let covered = at == last || self.state.pipefail;
            self.printed.clone_from(&printed);
            self.piped += 1;
            self.statement(stage, if covered { guard } else { guard.masked() }, &input);
            self.piped -= 1;
            self.printed = None;
            input = self.output_of(stage);
            printed = printed.filter(|_| values::passes(stage)).or_else(|| self.printed(stage));
            self.state = saved;
        }
    }

    fn simple(&mut self, simple: &Simple, guard: Guard, input: &Input) {
        self.report.commands += 1;
        let mut bound = Vec::new();
        for (name, word) in &simple.assignments {
            self.run_scripts(word, guard);
            let value = self.joined(word);
            bound.push((name.clone(), (value.shape != Shape::Dynamic).then_some(value)));
        }
        let words: Vec<Arg> = simple.words.iter().flat_map(|word| self.expand(word, guard)).collect();
        self.environment = target::environment(&words, &bound);
        let declares = words.first().is_some_and(|word| {
            matches!(word.text.as_str(), "export" | "declare" | "local" | "readonly" | "typeset")
        });
        if words.is_empty() || declares {
            Rc::make_mut(&mut self.state.vars).extend(bound);
            return;
        }
        // An assignment in front of a command holds for the command alone.
        let before: Vec<(String, Option<Option<Arg>>)> =
            bound.iter().map(|(name, _)| (name.clone(), self.state.vars.get(name).cloned())).collect();
        if !bound.is_empty() {
            Rc::make_mut(&mut self.state.vars).extend(bound);
        }
        self.command(&words, guard, input);
        for (name, value) in before {
            let vars = Rc::make_mut(&mut self.state.vars);
            match value {
                Some(value) => vars.insert(name, value),
                None => vars.remove(&name),
            };
        }
    }

    /// Runs expanded words as a command.
    fn command(&mut self, words: &[Arg], guard: Guard, input: &Input) {
        let Some(first) = words.first() else { return };
        if self.depth >= DEPTH_MAX || first.shape != Shape::Literal || first.text.is_empty() {
            self.note_program(&first.text);
            self.unknown_changes(words, guard);
            return self.opaque(Target::Unknown, guard);
        }
        if self.run_alias(words, guard) {
            return;
        }
        if let Some(body) = self.state.functions.get(&first.text).cloned() {
            return self.call_function(&body, words, guard, input);
        }
        let table = commands::table();
        let looks_up = first.text == "command"
            && words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"));
        if looks_up {
            self.note_program("command");
            return self.emit(EffectKind::EnvRead, Target::Unknown, guard);
        }
        if self.runs_string(words, guard) || self.runs_windows(words, guard) {
            return;
        }
        if let Some(unwrapped) = table.unwrap_command(words) {
            self.wrapped(words, &unwrapped, guard, input);
            // What it wraps comes first; who asks for the wrapper itself finds it, too.
            return self.note_wrapper(&first.text);
        }
        let invocation = table.parse(words);
        self.note_program(&invocation.program);
        let call = Call { words, invocation, guard, input };
        self.rule = None;
        self.depth += 1;
        let saved = self.state.cwd.clone();
        let moved = self.enter_directory(&call);
        if self.recipe(&call) {
            self.rule = None;
        } else if hooks::run(self, &call) {
            self.extras(&call);
        } else {
            self.by_table(&call);
        }
        if moved {
            self.state.cwd = saved;
        }
        self.depth -= 1;
        self.rule = None;
    }

    /// Runs what a name was made to stand for. A script expands aliases only where the shell was told to, so it
    /// may run; `true` where nothing else can be meant.
    fn run_alias(&mut self, words: &[Arg], guard: Guard) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        let Some(text) = self.state.aliases.get(&first.text).cloned() else { return false };
        let rest: Vec<String> = rest.iter().map(spelled).collect();
        let script = format!("{text} {}", rest.join(" "));
        let saved = Rc::clone(&self.state.aliases);
        Rc::make_mut(&mut self.state.aliases).remove(&first.text);
        self.branch(|own| own.source(&script, guard.at(Certainty::Possible).masked()));
        self.state.aliases = saved;
        let known = commands::table().knows(&first.text) || self.state.functions.contains_key(&first.text);
        if !known {
            self.unknown_changes(words, guard);
        }
        !known
    }

    fn set_variable(&mut self, name: &str, value: Option<String>) {
        Rc::make_mut(&mut self.state.vars).insert(name.to_owned(), value.map(Arg::literal));
    }

    fn note_program(&mut self, name: &str) {
        name.clone_into(&mut self.program);
        self.note_wrapper(name);
    }

    fn note_wrapper(&mut self, name: &str) {
        if !self.report.programs.iter().any(|own| own == name) {
            self.report.programs.push(name.to_owned());
        }
    }

    fn call_function(&mut self, body: &Statement, words: &[Arg], guard: Guard, input: &Input) {
        let saved = self.state.params.clone();
        self.state.params = Some(words.get(1..).unwrap_or_default().into());
        self.depth += 1;
        self.statement(body, guard, input);
        self.depth -= 1;
        self.state.params = saved;
    }

    /// Options that make a program work elsewhere.
    fn enter_directory(&mut self, call: &Call<'_>) -> bool {
        const DIRECTORIES: &[(&str, &[&str])] = &[
            ("git", &["-C", "--work-tree"]),
            ("make", &["-C", "--directory"]),
            ("npm", &["--prefix", "-C"]),
            ("yarn", &["--cwd"]),
            ("pnpm", &["-C", "--dir"]),
            ("bun", &["--cwd"]),
            ("go", &["-C"]),
            ("terraform", &["-chdir"]),
            ("uv", &["--directory"]),
            ("patch", &["-d", "--directory"]),
            ("just", &["-d"]),
            ("cargo", &["-C"]),
            ("docker", &["--project-directory"]),
        ];
        let options = DIRECTORIES
            .iter()
            .find(|(program, _)| *program == call.invocation.program)
            .map(|(_, options)| *options);
        let Some(directory) = options.and_then(|options| call.invocation.value(options)) else {
            return false;
        };
        self.state.cwd = self.directory(directory);
        true
    }

    fn directory(&self, arg: &Arg) -> Cwd {
        if arg.shape == Shape::Dynamic {
            return Cwd::Unknown;
        }
        match &self.state.cwd {
            Cwd::OneOf(bases) if !crate::place::is_absolute(&arg.text) => {
                let mut all = bases
                    .iter()
                    .map(|base| Cwd::at(crate::place::normalise(&format!("{base}/{}", arg.text))));
                let first = all.next().unwrap_or(Cwd::Unknown);
                all.fold(first, Cwd::or)
            }
            own if crate::place::is_absolute(&arg.text) || *own == Cwd::Start => {
                Cwd::at(self.places.resolve(own, &arg.text).path)
            }
            _ => Cwd::Unknown,
        }
    }

    /// What the table says of a call.
    fn by_table(&mut self, call: &Call<'_>) {
        if is_help(call.words) || shows_usage(call.words) {
            return self.emit(EffectKind::EnvRead, Target::Unknown, call.guard);
        }
        let table = commands::table();
        if let Some((rule, used)) = table.find(&call.invocation) {
            self.rule = Some(rule);
            if !rule.dry {
                self.extras(call);
            }
            for effect in rule.effects() {
                let guard = call.guard.at(effect.certainty);
                for (target, scope) in self.targets(effect, &call.invocation, used) {
                    self.emit_at(effect.kind, target, scope, guard);
                }
                self.beside(effect.kind, call, guard);
            }
            return;
        }
        self.unknown_program(call);
    }

    fn unknown_program(&mut self, call: &Call<'_>) {
        let Some(first) = call.words.first() else { return };
        if asks_for_help(call.words) {
            return self.emit(EffectKind::EnvRead, Target::Unknown, call.guard);
        }
        if first.text.contains('/') {
            let path = self.resolve(&first.text).path;
            if let Some(text) = self.artifacts.text(&path).map(str::to_owned) {
                let words = call.words.get(1..).unwrap_or_default();
                return self
                    .within_artifact(&text, |own| own.run_text(&first.text, &text, words, call.guard));
            }
        }
        self.opaque(Target::Named(first.text.clone()), call.guard);
    }

    /// Runs the text of a script that was written earlier.
    fn run_text(&mut self, name: &str, text: &str, words: &[Arg], guard: Guard) {
        match Language::of_file(name, text) {
            Some(Language::Shell) => self.run_script(text, words, guard.masked()),
            Some(language) => self.run_code(language, &code::with_arguments(language, text, words), guard),
            None => self.opaque(Target::Named(name.to_owned()), guard),
        }
    }

    /// Follows a script with its positional parameters, in a copy of the state.
    fn run_script(&mut self, text: &str, words: &[Arg], guard: Guard) {
        let saved = self.state.clone();
        self.state.params = Some(words.into());
        self.source(text, guard);
        self.state = saved;
    }

    fn run_code(&mut self, language: Language, text: &str, guard: Guard) {
        let found = code::scan(language, text);
        for sink in &found.sinks {
            let guard = guard
                .at(sink.certainty)
                .masked_unless(guard.proof == Proof::Covered && sink.certainty == Certainty::Definite);
            let (target, scope) = match &sink.target {
                Some(path) if sink.kind.is_under("fs") => {
                    let shape = if path.contains('{') { Shape::Dynamic } else { Shape::Literal };
                    self.path_target(&Arg { text: path.clone(), shape })
                }
                Some(name) => (Target::Named(name.clone()), self.scope_of(sink.kind, name)),
                None => (Target::Unknown, self.state.place.clone().unwrap_or(Scope::Unknown)),
            };
            self.emit_at(sink.kind, target, Some(scope), guard);
        }
        for (command, certainty) in &found.commands {
            if command.is_empty() {
                self.opaque(Target::Unknown, Guard::POSSIBLE);
            } else {
                let saved = self.state.clone();
                self.source(command, guard.at(*certainty).masked());
                self.state = saved;
            }
        }
        for (sql, certainty) in &found.sql {
            let sql = if sql.is_empty() { "unknown" } else { sql };
            self.sql(sql, "", guard.at(*certainty).masked());
        }
        if !found.closed {
            self.emit_at(
                EffectKind::ExecCode,
                Target::Unknown,
                Some(Scope::Unknown),
                guard.at(Certainty::Possible),
            );
        }
    }

    fn sql(&mut self, text: &str, database: &str, guard: Guard) {
        let statements = crate::sql::effects(text);
        let scope = Scope::Database(database.to_owned());
        for effect in statements {
            let target = effect.object.map_or(Target::Unknown, Target::Named);
            self.emit_at(effect.kind, target, Some(scope.clone()), guard.at(effect.certainty));
        }
    }

    fn redirects(&mut self, redirects: &[Redirect], guard: Guard) -> Option<Input> {
        let mut input = None;
        for redirect in redirects {
            match redirect.mode {
                Mode::Text => {
                    self.run_scripts(&redirect.word, guard);
                    input = Some(Input::Text(self.joined(&redirect.word)));
                }
                Mode::Descriptor => {}
                Mode::Read => {
                    let arg = self.expand(&redirect.word, guard).into_iter().next();
                    input = Some(arg.map_or(Input::Piped, |arg| self.input_file(&arg, guard)));
                }
                Mode::Write | Mode::Append | Mode::ReadWrite => self.output_file(redirect, guard),
            }
        }
        input
    }

    fn input_file(&mut self, arg: &Arg, guard: Guard) -> Input {
        let (target, scope) = self.path_target(arg);
        let text = match &target {
            Target::Path { resolved, .. } => self.artifacts.text(resolved).map(str::to_owned),
            _ => None,
        };
        self.emit_at(EffectKind::FsRead, target, Some(scope), guard);
        text.map_or(Input::Piped, |text| Input::Text(Arg::literal(text)))
    }

    fn output_file(&mut self, redirect: &Redirect, guard: Guard) {
        let Some(arg) = self.expand(&redirect.word, guard).into_iter().next() else { return };
        if let Some(host) = arg.text.strip_prefix("/dev/tcp/").or_else(|| arg.text.strip_prefix("/dev/udp/"))
        {
            let host = host.split('/').next().unwrap_or_default().to_owned();
            return self.emit_at(
                EffectKind::NetSend,
                Target::Named(host.clone()),
                Some(Scope::Remote(host)),
                guard,
            );
        }
        let kind = if redirect.mode == Mode::Append { EffectKind::FsAppend } else { EffectKind::FsWrite };
        let guard = if redirect.mode == Mode::ReadWrite { Guard::POSSIBLE } else { guard };
        let (target, scope) = self.path_target(&arg);
        self.emit_at(kind, target, Some(scope), Guard { proof: Proof::Before, ..guard });
    }

    /// Remembers `cat > FILE <<EOF` and `echo … > FILE`.
    fn keep_heredoc(&mut self, statement: &Statement, input: &Input) {
        let Node::Simple(simple) = &statement.node else { return };
        let writes: Vec<&Redirect> =
            statement.redirects.iter().filter(|one| matches!(one.mode, Mode::Write | Mode::Append)).collect();
        let words: Vec<Arg> = simple.words.iter().flat_map(|word| self.values(word)).collect();
        let program = words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let (arg, mode) = match (writes.as_slice(), program) {
            ([only], "cat" | "echo" | "printf") => (self.values(&only.word).into_iter().next(), only.mode),
            ([], "tee") => (words.get(1).cloned(), Mode::Write),
            _ => return,
        };
        let text = match (program, input) {
            ("cat" | "tee", Input::Text(text)) if words.len() == 1 + usize::from(program == "tee") => {
                text.clone()
            }
            ("echo" | "printf", _) => match self.output_of(statement) {
                Input::Text(text) => text,
                Input::None | Input::Piped => return,
            },
            _ => return,
        };
        let Some(arg) = arg.filter(|arg| arg.shape == Shape::Literal && text.shape != Shape::Dynamic) else {
            return;
        };
        let path = self.resolve(&arg.text).path;
        let old = match mode {
            Mode::Append => match self.artifacts.text(&path) {
                Some(old) => format!("{old}\n"),
                None => return,
            },
            _ => String::new(),
        };
        self.artifacts.keep(&path, format!("{old}{}", text.text));
    }

    fn opaque(&mut self, target: Target, guard: Guard) {
        self.emit_at(EffectKind::ExecOpaque, target, None, guard.at(Certainty::Possible));
    }

    fn emit(&mut self, kind: EffectKind, target: Target, guard: Guard) {
        self.emit_at(kind, target, None, guard);
    }

    fn emit_at(&mut self, kind: EffectKind, target: Target, scope: Option<Scope>, guard: Guard) {
        if kind.access() == Access::Mutation && is_sink_device(&target) {
            return;
        }
        let (target, scope) = match self.linked_target(kind, &target) {
            Some((target, scope)) => (target, Some(scope)),
            None => (target, scope),
        };
        let elsewhere = self.alternatives(kind, &target);
        let scope = match (&self.state.place, scope) {
            (Some(place), _) => place.clone(),
            (None, _) if self.goes_astray(kind, &target) => Scope::Unknown,
            (None, Some(_)) if is_whole_machine(kind, &target) => Scope::System,
            (None, Some(scope)) => scope,
            (None, None) => self.scope_of(kind, target.words()),
        };
        self.follow_change(kind, &target);
        let agrees = elsewhere.iter().all(|(_, own, _)| *own == scope);
        let hinge = if agrees { Hinge::Free } else { Hinge::Moved(scope.clone()) };
        let open = if agrees { scope } else { Scope::Unknown };
        self.push(kind, (target.clone(), open), guard, hinge);
        for (target, scope, hinge) in elsewhere {
            self.push(kind, (target, scope), Guard::POSSIBLE, hinge);
        }
        self.remote_system(kind, &target, guard);
    }

    fn origin(&self) -> Origin {
        Origin {
            step: self.report.commands,
            requires: self.requires.as_slice().into(),
            artifact: self.artifact,
        }
    }

    /// Runs `body` as what the text of a file does.
    fn within_artifact<T>(&mut self, text: &str, body: impl FnOnce(&mut Self) -> T) -> T {
        // A hash would let a secret be guessed.
        let hash = crate::secrets::find(text).is_empty().then(|| Digest::of(text.as_bytes()));
        let outer = std::mem::replace(&mut self.artifact, hash);
        let value = body(self);
        self.artifact = outer;
        value
    }

    fn push(&mut self, kind: EffectKind, (target, scope): (Target, Scope), guard: Guard, hinge: Hinge) {
        let assumption = self.rule.and_then(|rule| rule.assume.as_deref()).and_then(assumption);
        let opaque = matches!(kind, EffectKind::ExecCode | EffectKind::ExecOpaque);
        let named =
            matches!(scope, Scope::Remote(_) | Scope::Container(_) | Scope::Database(_) | Scope::Cloud(_));
        let dry = self.rule.is_some_and(|rule| rule.dry);
        let effect = Effect {
            kind,
            target,
            scope,
            certainty: guard.certainty,
            privilege: self.state.privilege,
            outcome: if dry { Outcome::DryRun } else { Outcome::Unknown },
            environment: self.environment.filter(|_| named).map(str::to_owned),
            program: self.program.clone(),
            bounded_by: assumption.filter(|_| opaque),
            origin: self.origin(),
        };
        let effect = match effect.bounded_by {
            Some(_) if self.state.place.is_none() => Effect { scope: Scope::Project, ..effect },
            _ => effect,
        };
        self.report.effects.push(Traced { effect, proof: guard.proof, hinge, rule: self.rule });
    }

    /// The targets that a change of a file has if the shell stands elsewhere than is likely.
    fn alternatives(&self, kind: EffectKind, target: &Target) -> Vec<(Target, Scope, Hinge)> {
        let changes = kind.is_under("fs") && kind.access() == Access::Mutation && self.state.place.is_none();
        let own: &[String] = match &self.state.cwd {
            Cwd::OneOf(paths) if changes => paths,
            Cwd::OneOf(_) | Cwd::Start | Cwd::Unknown => return Vec::new(),
        };
        // From a place without a path, a path is what is written, which the first target says already.
        let others = own.iter().skip(1).filter(|base| crate::place::is_absolute(base));
        let mut bases: Vec<(Cwd, Hinge)> = others.map(|base| (Cwd::at(base), Hinge::Free)).collect();
        match &self.state.stayed {
            Some(Cwd::OneOf(paths)) => bases.extend(paths.iter().map(|path| (Cwd::at(path), Hinge::Stayed))),
            Some(stayed) => bases.push((stayed.clone(), Hinge::Stayed)),
            None => {}
        }
        let Some(written) = self.relative(target, own) else { return Vec::new() };
        let mut all: Vec<(Target, Scope, Hinge)> = Vec::new();
        for (base, hinge) in bases {
            let resolved = self.places.resolve(&base, &written);
            let other = match target {
                Target::Under(_) => Target::Under(resolved.path),
                _ => Target::Path { resolved: resolved.path, written: written.clone() },
            };
            let known = all.iter().any(|(own, ..)| *own == other);
            if !known && other.words() != target.words() {
                all.push((other, resolved.scope, hinge));
            }
        }
        all
    }

    /// A target as a path from the working directory, where it depends on it.
    fn relative(&self, target: &Target, own: &[String]) -> Option<String> {
        match target {
            Target::Path { written, .. } => (!self.places.is_fixed(written)).then(|| written.clone()),
            Target::Under(path) => {
                let inside = own.iter().find(|own| crate::place::is_inside(path, own))?;
                path.get(inside.len()..).map(|rest| format!("./{rest}"))
            }
            Target::Named(_) | Target::Unknown => None,
        }
    }

    /// A file in system scope of another machine is configuration of that machine.
    fn remote_system(&mut self, kind: EffectKind, target: &Target, guard: Guard) {
        let Some(place @ Scope::Remote(_)) = self.state.place.clone() else { return };
        let changes = kind.is_under("fs") && kind.access() == Access::Mutation;
        if let (true, Target::Path { resolved: path, .. } | Target::Under(path)) = (changes, target)
            && ProjectFacts::default().scope(path) == Scope::System
        {
            self.emit_at(EffectKind::SysConfig, Target::Named(path.clone()), Some(place), guard);
        }
    }

    /// Whether what is written may land elsewhere: through a link, or anywhere below the root.
    fn goes_astray(&self, kind: EffectKind, target: &Target) -> bool {
        let writes = matches!(kind, EffectKind::FsWrite | EffectKind::FsAppend | EffectKind::FsMeta);
        match target {
            Target::Path { resolved, .. } => {
                writes
                    && (self.artifacts.is_open_link(resolved)
                        || (resolved == "/" && kind != EffectKind::FsMeta))
            }
            Target::Under(path) => path == "/" && matches!(kind, EffectKind::FsWrite | EffectKind::FsAppend),
            Target::Named(_) | Target::Unknown => false,
        }
    }

    /// The arguments of a program whose name is not known: it may change each path in system scope that they name.
    fn unknown_changes(&mut self, words: &[Arg], guard: Guard) {
        for word in words.iter().skip(1) {
            let path = word.text.split_once('=').map_or(word.text.as_str(), |(_, value)| value);
            let (target, scope) = self.path_target(&Arg { text: path.to_owned(), shape: word.shape });
            let system =
                scope == Scope::System || matches!(&target, Target::Path { resolved, .. } if resolved == "/");
            if system && crate::place::is_absolute(path) {
                let guard = guard.at(Certainty::Possible).masked();
                self.emit_at(EffectKind::FsWrite, target, Some(scope), guard);
            }
        }
    }

    /// Keeps what is remembered of files in step with an effect.
    fn follow_change(&mut self, kind: EffectKind, target: &Target) {
        if kind.access() == Access::Read || self.state.place.is_some() {
            return;
        }
        match target {
            Target::Path { resolved, .. } => {
                if kind == EffectKind::FsLink {
                    let to = self.linked.take();
                    self.artifacts.links.insert(resolved.clone(), to);
                } else if matches!(kind, EffectKind::FsDelete | EffectKind::FsMove) {
                    self.artifacts.links.remove(resolved);
                }
                if kind.is_under("fs") && kind != EffectKind::FsMeta {
                    self.artifacts.forget(resolved);
                }
            }
            Target::Under(base) if kind.is_under("fs") => {
                self.artifacts.texts.retain(|path, _| !crate::place::is_inside(path, base));
            }
            Target::Under(_) | Target::Named(_) | Target::Unknown => {}
        }
    }
}

/// Whether an effect on the root directory takes in everything below it.
fn is_whole_machine(kind: EffectKind, target: &Target) -> bool {
    let taken = matches!(kind, EffectKind::FsDelete | EffectKind::FsMove | EffectKind::FsMeta);
    taken
        && match target {
            Target::Path { resolved: path, .. } | Target::Under(path) => path == "/",
            Target::Named(_) | Target::Unknown => false,
        }
}

impl Guard {
    const fn masked_unless(self, keep: bool) -> Self {
        if keep { self } else { self.masked() }
    }
}

/// A command about to run.
struct Call<'c> {
    words: &'c [Arg],
    invocation: Invocation,
    guard: Guard,
    input: &'c Input,
}

fn assumption(word: &str) -> Option<Assumption> {
    match word {
        "A1" => Some(Assumption::A1),
        "A2" => Some(Assumption::A2),
        "A3" => Some(Assumption::A3),
        _ => None,
    }
}

/// A word as it is typed, so that a shell reads it back as the same word.
fn spelled(word: &Arg) -> String {
    match word.shape {
        Shape::Literal => format!("'{}'", word.text.replace('\'', "'\\''")),
        Shape::Glob | Shape::Dynamic => word.text.clone(),
    }
}

/// `--help` and `--version` as first argument.
fn is_help(words: &[Arg]) -> bool {
    words.get(1).is_some_and(|word| matches!(word.text.as_str(), "--help" | "--version")) && words.len() == 2
}

/// `PROGRAM SUB… --help` of a program that is known. Behind a word that runs something else the question is for that.
fn shows_usage(words: &[Arg]) -> bool {
    const RUNS: &[&str] = &["run", "exec", "x", "dlx", "shutdown", "halt"];
    let last = words.last().map(|word| word.text.as_str());
    matches!(last, Some("--help" | "-h"))
        && asks_for_help(words)
        && !words.iter().any(|word| RUNS.contains(&word.text.as_str()))
}

/// `PROGRAM SUB… --help`: nothing but plain words before it.
fn asks_for_help(words: &[Arg]) -> bool {
    let Some((last, rest)) = words.split_last() else { return false };
    let plain = |word: &Arg| {
        word.shape == Shape::Literal
            && word.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let names = rest.iter().all(plain) && !rest.is_empty() && rest.len() <= 3;
    let alone = rest.len() == 1
        && matches!(last.text.as_str(), "-V" | "-help" | "-version" | "-?" | "version" | "--usage");
    (alone || matches!(last.text.as_str(), "--help" | "-h" | "help" | "--version"))
        && names
        && !rest.iter().any(|word| word.text.starts_with('-'))
}

fn is_sink_device(target: &Target) -> bool {
    match target {
        Target::Path { resolved, .. } => {
            matches!(
                resolved.as_str(),
                "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/stdin" | "NUL"
            ) || resolved.starts_with("/dev/fd/")
        }
        Target::Under(_) | Target::Named(_) | Target::Unknown => false,
    }
}

/// Whether a statement is a change of directory alone.
fn is_move(statement: &Statement) -> bool {
    let Node::Simple(simple) = &statement.node else { return false };
    let name = simple.words.first().and_then(|word| word.parts.first());
    matches!(name, Some(shell::Part::Bare(name)) if name == "cd" || name == "pushd")
}

/// Whether a change of directory in a statement can have failed, or been left out, without a word in the output.
fn moves_silently(statement: &Statement) -> bool {
    match &statement.node {
        Node::Simple(_) => is_move(statement) && !statement.redirects.is_empty(),
        // What stands behind `&&` is left out when what stands before it fails, which need not say so.
        Node::Chain(first, rest) => {
            moves_silently(first) || !is_move(first) || rest.iter().any(|(_, own)| is_move(own))
        }
        Node::Group(script) => script.0.iter().any(moves_silently),
        Node::Subshell(_) | Node::Pipe(_) | Node::Function(..) | Node::Words(_) => false,
        Node::Branches(..) | Node::Loop(..) | Node::Each(..) => true,
    }
}

/// Whether a statement ends the script or only changes the directory under a condition that ends it.
fn ends_or_moves(statement: &Statement) -> bool {
    match &statement.node {
        Node::Chain(_, rest) => rest.last().is_some_and(|(link, last)| *link == Link::Or && leaves(last)),
        _ => false,
    }
}

/// Whether a statement leaves the script: `exit`, `return`.
fn leaves(statement: &Statement) -> bool {
    let Node::Simple(simple) = &statement.node else { return false };
    let name = simple.words.first().and_then(|word| word.parts.first());
    matches!(name, Some(shell::Part::Bare(name)) if name == "exit" || name == "return")
}

#[cfg(test)]
mod tests;
