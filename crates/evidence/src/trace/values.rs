//! What variables, parameters and substitutions stand for, where that can be said.

use super::{Input, Tracer};
use crate::commands::{Arg, Shape};
use crate::place::{Cwd, base_name};
use crate::shell::{self, Mode, Node, Statement, Word};

impl Tracer<'_> {
    /// The value of a variable or of a positional parameter.
    pub(super) fn variable(&self, name: &str) -> Option<Arg> {
        if let Ok(number) = name.parse::<usize>() {
            let params = self.state.params.as_ref()?;
            let at = number.checked_sub(1)?;
            return Some(params.get(at).cloned().unwrap_or_else(|| Arg::literal("")));
        }
        if let Some(value) = self.state.vars.get(name) {
            return value.clone();
        }
        if self.state.place.is_some() {
            return None;
        }
        let text = match name {
            "HOME" => self.places.home.clone().unwrap_or_else(|| "~".to_owned()),
            "TMPDIR" => "/tmp".to_owned(),
            "PWD" => self.working_directory()?,
            "OLDPWD" => match &self.state.previous {
                Some(Cwd::OneOf(paths)) if paths.len() == 1 => paths.first().cloned()?,
                _ => return None,
            },
            _ => return None,
        };
        Some(Arg::literal(text))
    }

    fn working_directory(&self) -> Option<String> {
        match &self.state.cwd {
            Cwd::OneOf(paths) if paths.len() == 1 => paths.first().cloned(),
            Cwd::Start => Some(".".to_owned()),
            Cwd::OneOf(_) | Cwd::Unknown => None,
        }
    }

    /// The words that a lone variable stands for: all parameters, or the parts of its value.
    pub(super) fn split(&self, name: &str) -> Option<Vec<Arg>> {
        if matches!(name, "@" | "*") {
            return self.state.params.as_ref().map(|params| params.to_vec());
        }
        let value = self.variable(name)?;
        if value.text.is_empty() {
            return Some(Vec::new());
        }
        let pattern = super::expand::is_pattern(&value.text) && value.shape == Shape::Literal;
        let shape = if pattern { Shape::Glob } else { value.shape };
        let parts = value.text.split_whitespace();
        Some(parts.map(|part| Arg { text: part.to_owned(), shape }).collect())
    }

    /// The value of an expansion by its spelling: `${NAME%.c}`, `$(mktemp)`.
    pub(super) fn computed(&self, spelled: &str) -> Option<Arg> {
        if let Some(inner) = spelled.strip_prefix("${").and_then(|text| text.strip_suffix('}')) {
            return self.parameter(inner);
        }
        let inner = match spelled.strip_prefix("$(") {
            Some(rest) => rest.strip_suffix(')')?,
            None => spelled.strip_prefix('`')?.strip_suffix('`')?,
        };
        let script = shell::parse(inner).ok()?;
        let [only] = script.0.as_slice() else { return None };
        match self.output_of(only) {
            Input::Text(arg) if arg.shape != Shape::Dynamic => {
                Some(Arg { text: arg.text.trim_end_matches('\n').to_owned(), ..arg })
            }
            Input::Text(_) | Input::None | Input::Piped => None,
        }
    }

    /// `NAME%pattern` and its like, of a value that is known.
    fn parameter(&self, inner: &str) -> Option<Arg> {
        let end =
            inner.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(inner.len());
        let (name, operation) = inner.split_at_checked(end)?;
        let value = self.variable(name)?;
        let keep = |text: &str| Some(Arg { text: text.to_owned(), shape: value.shape });
        if operation.is_empty() {
            return keep(&value.text);
        }
        if let Some(other) = operation.strip_prefix(":-").or_else(|| operation.strip_prefix(":=")) {
            let plain = !other.contains(['$', '`', '"', '\'']);
            return if value.text.is_empty() {
                plain.then(|| Arg::literal(other))
            } else {
                keep(&value.text)
            };
        }
        if let Some(pattern) = operation.strip_prefix('%') {
            let (longest, pattern) = greedy(pattern, '%');
            return keep(without_end(&value.text, pattern, longest)?);
        }
        if let Some(pattern) = operation.strip_prefix('#') {
            let (longest, pattern) = greedy(pattern, '#');
            return keep(without_start(&value.text, pattern, longest)?);
        }
        None
    }

    /// The output of a statement, where it is literal or a pattern.
    pub(super) fn output_of(&self, stage: &Statement) -> Input {
        let Node::Simple(simple) = &stage.node else { return Input::Piped };
        let words: Vec<Arg> = simple.words.iter().flat_map(|word| self.values(word)).collect();
        let Some((program, rest)) = words.split_first() else { return Input::Piped };
        let stdin = stage.redirects.iter().rev().find(|redirect| redirect.mode == Mode::Text);
        let text = match (program.text.as_str(), stdin) {
            ("echo", _) => Some(echoed(rest)),
            ("printf", _) => formatted(rest),
            ("pwd", _) => self.working_directory().map(Arg::literal),
            ("mktemp", _) => temporary(rest),
            ("seq", _) => counted(rest),
            ("basename", _) => plain(rest).and_then(|words| match words {
                [path] => Some(Arg::literal(base_name(&path.text))),
                [path, ending] => {
                    let name = base_name(&path.text);
                    Some(Arg::literal(name.strip_suffix(ending.text.as_str()).unwrap_or(name)))
                }
                _ => None,
            }),
            ("dirname", _) => plain(rest).and_then(|words| match words {
                [path] => Some(Arg::literal(path.text.rsplit_once('/').map_or(".", |(folder, _)| folder))),
                _ => None,
            }),
            ("cat", Some(redirect)) if rest.iter().all(|word| word.text == "-") => {
                Some(self.joined(&redirect.word))
            }
            ("cat", None) => self.contents(rest),
            _ => None,
        };
        text.map_or(Input::Piped, Input::Text)
    }

    /// The text of a file whose text is known.
    fn contents(&self, files: &[Arg]) -> Option<Arg> {
        let [file] = plain(files)? else { return None };
        self.artifacts.text(&self.resolve(&file.text).path).map(Arg::literal)
    }

    /// The operands that a stage prints for the next one, where they are known as words or patterns.
    pub(super) fn printed(&self, stage: &Statement) -> Option<Vec<Arg>> {
        let Node::Simple(simple) = &stage.node else { return None };
        let words: Vec<Arg> = simple.words.iter().flat_map(|word: &Word| self.values(word)).collect();
        let (program, rest) = words.split_first()?;
        let anything = || vec![Arg { text: "*".to_owned(), shape: Shape::Glob }];
        let below = |folder: &Arg| Arg {
            text: format!("{}/*", folder.text),
            shape: if folder.shape == Shape::Dynamic { Shape::Dynamic } else { Shape::Glob },
        };
        let operands = || rest.iter().filter(|word| !word.text.starts_with('-'));
        match base_name(&program.text) {
            "find" => {
                let starts: Vec<Arg> = rest
                    .iter()
                    .take_while(|word| !word.text.starts_with(['-', '(', '!']))
                    .map(below)
                    .collect();
                Some(if starts.is_empty() { anything() } else { starts })
            }
            "ls" if operands().all(|word| word.shape == Shape::Literal) => Some(anything()),
            "ls" => Some(operands().cloned().collect()),
            "git" if matches!(rest.first().map(|word| word.text.as_str()), Some("ls-files" | "diff")) => {
                Some(anything())
            }
            "grep" | "rg" if rest.iter().any(|word| is_listing(&word.text)) => {
                let folders: Vec<Arg> = operands().skip(1).map(below).collect();
                Some(if folders.is_empty() { anything() } else { folders })
            }
            "fd" | "fdfind" => Some(anything()),
            _ => match self.output_of(stage) {
                Input::Text(arg) if arg.shape != Shape::Dynamic => {
                    let words = arg.text.split_whitespace();
                    Some(words.map(|word| Arg { text: word.to_owned(), shape: arg.shape }).collect())
                }
                Input::Text(_) | Input::None | Input::Piped => None,
            },
        }
    }
}

/// Programs that pass some of their lines on as they are.
const PASSING: &[&str] =
    &["grep", "rg", "sort", "head", "tail", "uniq", "tac", "shuf", "egrep", "fgrep", "cat"];

/// Whether a stage only chooses among the lines it gets.
pub(super) fn passes(stage: &Statement) -> bool {
    let Node::Simple(simple) = &stage.node else { return false };
    let name = simple.words.first().and_then(|word| word.parts.first());
    matches!(name, Some(shell::Part::Bare(name)) if PASSING.contains(&name.as_str()))
}

/// `grep -l`, `rg --files-with-matches`.
fn is_listing(option: &str) -> bool {
    let short = option.starts_with('-') && !option.starts_with("--") && option.contains(['l', 'L']);
    short || matches!(option, "--files" | "--files-with-matches" | "--files-without-match")
}

fn plain(words: &[Arg]) -> Option<&[Arg]> {
    words.iter().all(|word| word.shape == Shape::Literal && !word.text.starts_with('-')).then_some(words)
}

fn joined_with_spaces(words: &[&Arg]) -> Arg {
    let shape = words.iter().map(|word| word.shape).fold(Shape::Literal, |one, two| match (one, two) {
        (Shape::Dynamic, _) | (_, Shape::Dynamic) => Shape::Dynamic,
        (Shape::Glob, _) | (_, Shape::Glob) => Shape::Glob,
        (Shape::Literal, Shape::Literal) => Shape::Literal,
    });
    Arg { text: words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "), shape }
}

fn echoed(words: &[Arg]) -> Arg {
    let is_option = |word: &Arg| matches!(word.text.as_str(), "-e" | "-n" | "-en" | "-ne" | "-E");
    let shown: Vec<&Arg> = words.iter().skip_while(|word| is_option(word)).collect();
    let escapes = words.iter().take_while(|word| is_option(word)).any(|word| word.text.contains('e'));
    let arg = joined_with_spaces(&shown);
    if escapes { Arg { text: unescaped(&arg.text), ..arg } } else { arg }
}

/// `printf FORMAT WORD…` with `%s`, `%d` and the usual escapes.
fn formatted(words: &[Arg]) -> Option<Arg> {
    const ROUNDS_MAX: usize = 64;
    let (format, rest) = words.split_first()?;
    let mut text = String::new();
    let mut given = rest.iter();
    for _ in 0..ROUNDS_MAX {
        let mut chars = format.text.chars();
        let mut used = false;
        while let Some(char) = chars.next() {
            if char != '%' {
                text.push(char);
                continue;
            }
            match chars.next()? {
                '%' => text.push('%'),
                's' | 'd' => {
                    used = true;
                    text.push_str(given.next().map_or("", |word| word.text.as_str()));
                }
                _ => return None,
            }
        }
        if !used || given.len() == 0 {
            break;
        }
    }
    let all: Vec<&Arg> = words.iter().collect();
    Some(Arg { text: unescaped(&text), shape: joined_with_spaces(&all).shape })
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}

/// Where `mktemp` makes its file: a template, in a directory, or the directory for temporary files.
pub(super) fn temporary(words: &[Arg]) -> Option<Arg> {
    let shown: Vec<&Arg> = words.iter().filter(|word| !word.text.starts_with('-')).collect();
    let named = |option: &str| words.iter().position(|word| word.text == option);
    let folder = named("-p").or_else(|| named("-t")).and_then(|at| words.get(at + 1));
    let glued = words.iter().find_map(|word| word.text.strip_prefix("--tmpdir="));
    let known = words.iter().all(|word| word.shape != Shape::Dynamic);
    let text = match (folder, glued, shown.last()) {
        (Some(folder), _, _) if named("-p").is_some() => format!("{}/tmp.*", folder.text),
        (_, Some(folder), _) => format!("{folder}/tmp.*"),
        (None, None, Some(template)) => format!("{}*", template.text.trim_end_matches(['X', '.'])),
        (Some(_), None, _) | (None, None, None) => "/tmp/tmp.*".to_owned(),
    };
    known.then_some(Arg { text, shape: Shape::Glob })
}

fn counted(words: &[Arg]) -> Option<Arg> {
    const COUNT_MAX: i64 = 64;
    let numbers: Option<Vec<i64>> = plain(words)?.iter().map(|word| word.text.parse().ok()).collect();
    let (first, step, last) = match numbers?.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    let enough = step > 0 && last.checked_sub(first)?.checked_div(step)? < COUNT_MAX;
    let step = usize::try_from(step).ok().filter(|_| enough)?;
    let all: Vec<String> = (first..=last).step_by(step).map(|number| number.to_string()).collect();
    Some(Arg::literal(all.join("\n")))
}

/// How much a pattern takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Take {
    Least,
    Most,
}

fn greedy(pattern: &str, mark: char) -> (Take, &str) {
    pattern.strip_prefix(mark).map_or((Take::Least, pattern), |rest| (Take::Most, rest))
}

/// `${NAME%pattern}` for literal patterns and for those with one star at either end.
fn without_end<'t>(text: &'t str, pattern: &str, take: Take) -> Option<&'t str> {
    if let Some(mark) = pattern.strip_suffix('*') {
        let place = if take == Take::Most { text.find(literal(mark)?) } else { text.rfind(literal(mark)?) };
        return Some(place.and_then(|at| text.get(..at)).unwrap_or(text));
    }
    Some(text.strip_suffix(literal(pattern)?).unwrap_or(text))
}

fn without_start<'t>(text: &'t str, pattern: &str, take: Take) -> Option<&'t str> {
    if let Some(mark) = pattern.strip_prefix('*') {
        let mark = literal(mark)?;
        let place = if take == Take::Most { text.rfind(mark) } else { text.find(mark) };
        return Some(place.and_then(|at| text.get(at + mark.len()..)).unwrap_or(text));
    }
    Some(text.strip_prefix(literal(pattern)?).unwrap_or(text))
}

fn literal(pattern: &str) -> Option<&str> {
    (!pattern.is_empty() && !pattern.contains(['*', '?', '[', '$', '\\', '"', '\''])).then_some(pattern)
}
