//! Programs that run the command behind their own words.

use std::rc::Rc;

use super::{Guard, Input, Tracer};
use crate::commands::{Arg, Shape, Unwrapped, Way};
use crate::effect::{EffectKind, Privilege, Target};
use crate::place::base_name;

/// Options of wrappers that hold a whole command line.
const STRINGS: &[(&str, &[&str])] = &[
    ("env", &["-S", "--split-string"]),
    ("flock", &["-c", "--command"]),
    ("script", &["-c", "--command", "-qc", "-qec", "-qefc"]),
];

/// Options of wrappers that name the directory the command runs in.
const DIRECTORIES: &[(&str, &[&str])] = &[
    ("env", &["-C", "--chdir"]),
    ("sudo", &["-D", "--chdir"]),
    ("uv", &["--directory"]),
    ("poetry", &["-C", "--directory"]),
    ("conda", &["--cwd"]),
    ("npm", &["--prefix", "-C"]),
    ("pnpm", &["-C", "--dir"]),
    ("systemd-run", &["--working-directory"]),
];

/// The value of an option in `words`, apart or behind `=`.
fn option(words: &[Arg], table: &[(&str, &[&str])]) -> Option<Arg> {
    let (first, rest) = words.split_first()?;
    let name = base_name(&first.text);
    let options = table.iter().find(|(program, _)| *program == name).map(|(_, options)| *options)?;
    for (at, word) in rest.iter().enumerate() {
        if !word.text.starts_with('-')
            && at > 0
            && rest.get(at - 1).is_some_and(|own| !own.text.starts_with('-'))
        {
            return None;
        }
        if options.contains(&word.text.as_str()) {
            return rest.get(at + 1).cloned();
        }
        let glued =
            word.text.split_once('=').filter(|(own, _)| own.starts_with("--") && options.contains(own));
        if let Some((_, value)) = glued {
            return Some(Arg { text: value.to_owned(), shape: word.shape });
        }
    }
    None
}

impl Tracer<'_> {
    /// Runs the command line that stands in an option of a wrapper, where one does.
    pub(super) fn runs_string(&mut self, words: &[Arg], guard: Guard) -> bool {
        let Some(script) = option(words, STRINGS) else { return false };
        if script.shape == Shape::Dynamic {
            self.opaque(Target::Unknown, guard);
        }
        self.own_file(words, guard);
        let saved = self.state.clone();
        self.depth += 1;
        self.source(&script.text, guard);
        self.depth -= 1;
        self.state = saved;
        true
    }

    /// The file that a wrapper makes for itself.
    fn own_file(&mut self, words: &[Arg], guard: Guard) {
        let Some((first, rest)) = words.split_first() else { return };
        let operand = |word: &&Arg| !word.text.starts_with('-');
        let file = match base_name(&first.text) {
            "flock" => rest.iter().find(operand).filter(|word| word.text.parse::<u32>().is_err()),
            "script" => rest.iter().rfind(operand).filter(|word| !word.text.contains(' ')),
            _ => None,
        };
        if let Some(file) = file {
            let (target, scope) = self.path_target(file);
            self.emit_at(EffectKind::FsWrite, target, Some(scope), guard);
        }
    }

    pub(super) fn wrapped(&mut self, words: &[Arg], unwrapped: &Unwrapped<'_>, guard: Guard, input: &Input) {
        let wrapper = unwrapped.wrapper;
        let saved = (self.state.privilege, Rc::clone(&self.state.vars));
        let here = option(words, DIRECTORIES).map(|_| self.state.cwd.clone());
        if wrapper.is(Way::Root) {
            self.state.privilege = Privilege::Root;
        }
        if let Some(folder) = option(words, DIRECTORIES) {
            self.state.cwd = self.directory(&folder);
        }
        for assignment in &unwrapped.assignments {
            if let Some((name, value)) = assignment.split_once('=') {
                self.set_variable(name, Some(value.to_owned()));
            }
        }
        self.own_file(words, guard);
        let inner = unwrapped.inner.clone();
        let guard = if wrapper.is(Way::Unsure) { Guard::POSSIBLE } else { guard };
        if inner.is_empty() && !wrapper.is(Way::Root) {
            self.emit(EffectKind::EnvRead, Target::Unknown, guard);
        } else if inner.is_empty() {
            self.opaque(Target::Unknown, guard);
        }
        let stdin = wrapper.is(Way::Stdin);
        let commands = if stdin { self.fed(words, inner) } else { vec![inner] };
        self.depth += 1;
        for inner in commands {
            self.command(&inner, guard, if stdin { &Input::Piped } else { input });
        }
        self.depth -= 1;
        (self.state.privilege, self.state.vars) = saved;
        if let Some(here) = here {
            self.state.cwd = here;
        }
    }

    /// The commands of `xargs` or `parallel`, with what they read in its place.
    fn fed(&mut self, words: &[Arg], mut inner: Vec<Arg>) -> Vec<Vec<Arg>> {
        let given = inner.iter().position(|word| word.text == ":::").map(|at| {
            let given = inner.split_off(at);
            given.get(1..).unwrap_or_default().to_vec()
        });
        let printed = self.printed.take();
        let from_file = option(words, &[("xargs", &["-a", "--arg-file"])]).is_some();
        let unknown = || vec![Arg { text: "$stdin".to_owned(), shape: Shape::Dynamic }];
        let fed = given.or(printed.filter(|_| !from_file)).unwrap_or_else(unknown);
        let mark = replaced(words);
        if inner.iter().any(|word| word.text.contains(&mark)) {
            return fed.iter().map(|own| inner.iter().map(|word| put(word, &mark, own)).collect()).collect();
        }
        inner.extend(fed);
        vec![inner]
    }
}

/// What stands for a line in the command: the value of `-I`, else `{}`.
fn replaced(words: &[Arg]) -> String {
    let apart = option(words, &[("xargs", &["-I"]), ("parallel", &["-I"])]).map(|word| word.text);
    let glued = words.iter().find_map(|word| word.text.strip_prefix("-I").filter(|rest| !rest.is_empty()));
    apart.or_else(|| glued.map(str::to_owned)).unwrap_or_else(|| "{}".to_owned())
}

/// A word with `own` in place of `mark`.
fn put(word: &Arg, mark: &str, own: &Arg) -> Arg {
    if !word.text.contains(mark) {
        return word.clone();
    }
    let shape = if word.shape == Shape::Literal { own.shape } else { word.shape };
    Arg { text: word.text.replace(mark, &own.text), shape }
}
