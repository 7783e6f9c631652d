//! `find`, `sed`, `awk`, patches and git's own options: programs that read by name and write by argument.

use std::sync::LazyLock;

use regex::Regex;

use super::super::{Call, Guard, Tracer};
use super::{Arg, Shape, input_text, rest};
use crate::effect::{EffectKind, Target};

pub(super) fn find(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let words = rest(call);
    let starts_end =
        words.iter().position(|word| word.text.starts_with(['-', '(', '!'])).unwrap_or(words.len());
    let mut starts: Vec<Arg> = words.get(..starts_end).unwrap_or_default().to_vec();
    if starts.is_empty() {
        starts.push(Arg::literal("."));
    }
    let mut at = starts_end;
    while let Some(word) = words.get(at) {
        at += 1;
        match word.text.as_str() {
            "-delete" => under_starts(tracer, &starts, EffectKind::FsDelete, call.guard),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let tail = words.get(at..).unwrap_or_default();
                let end =
                    tail.iter().position(|word| word.text == ";" || (word.text == "+")).unwrap_or(tail.len());
                let saved = tracer.state.cwd.clone();
                if word.text.ends_with("dir") {
                    tracer.state.cwd = match starts.as_slice() {
                        [start] => {
                            tracer.directory(&Arg { text: format!("{}/*", start.text), shape: Shape::Glob })
                        }
                        _ => crate::place::Cwd::Unknown,
                    };
                }
                execute(tracer, &starts, tail.get(..end).unwrap_or_default());
                tracer.state.cwd = saved;
                at += end;
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                if let Some(file) = words.get(at) {
                    let (target, scope) = tracer.path_target(file);
                    tracer.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard);
                }
            }
            _ => {}
        }
    }
    under_starts(tracer, &starts, EffectKind::FsRead, call.guard);
    true
}

fn under_starts(tracer: &mut Tracer<'_>, starts: &[Arg], kind: EffectKind, guard: Guard) {
    for start in starts {
        let shape = if start.shape == Shape::Dynamic { Shape::Dynamic } else { Shape::Glob };
        let (target, scope) = tracer.path_target(&Arg { text: format!("{}/*", start.text), shape });
        tracer.emit_at(kind, target, Some(scope), guard);
    }
}

/// The command of `-exec`, for each start with its members in place of `{}`.
fn execute(tracer: &mut Tracer<'_>, starts: &[Arg], command: &[Arg]) {
    for start in starts {
        let shape = if start.shape == Shape::Dynamic { Shape::Dynamic } else { Shape::Glob };
        let member = |word: &Arg| {
            if word.text.contains("{}") {
                Arg { text: word.text.replace("{}", &format!("{}/*", start.text)), shape }
            } else {
                word.clone()
            }
        };
        let words: Vec<Arg> = command.iter().map(member).collect();
        tracer.command(&words, Guard::POSSIBLE, &super::Input::None);
    }
}

pub(super) fn sed(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let in_place = invocation.options.iter().any(|(name, _)| {
        name == "-i" || name == "-I" || name.starts_with("--in-place") || name.starts_with("-i.")
    });
    let mut operands = invocation.operands.clone();
    if in_place && operands.first().is_some_and(|word| word.text.is_empty()) {
        operands.remove(0);
    }
    let mut scripts: Vec<Arg> = invocation.values(&["-e", "--expression"]).into_iter().cloned().collect();
    let from_file = !invocation.values(&["-f", "--file"]).is_empty();
    if scripts.is_empty() && !from_file && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    for script in &scripts {
        for found in sed_reaches(&script.text) {
            match found {
                Reach::Write(file) => {
                    let (target, scope) = tracer.path_target(&Arg::literal(file));
                    tracer.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard);
                }
                Reach::Run => tracer.opaque(Target::Unknown, call.guard),
            }
        }
    }
    if from_file {
        tracer.opaque(Target::Unknown, call.guard);
    }
    let kind = if in_place { EffectKind::FsWrite } else { EffectKind::FsRead };
    for file in &operands {
        let (target, scope) = tracer.path_target(file);
        tracer.emit_at(kind, target, Some(scope), call.guard);
    }
    if operands.is_empty() {
        let kind = if in_place { EffectKind::FsWrite } else { EffectKind::None };
        tracer.emit(kind, Target::Unknown, call.guard);
    }
    true
}

/// What a sed script reaches outside its stream.
#[derive(Debug, PartialEq, Eq)]
enum Reach {
    Write(String),
    Run,
}

fn sed_reaches(script: &str) -> Vec<Reach> {
    let mut found = Vec::new();
    let chars: Vec<char> = script.chars().collect();
    let mut at = 0;
    while let Some(&char) = chars.get(at) {
        at += 1;
        match char {
            's' | 'y' => at = substitution(&chars, at, &mut found),
            '/' => at = delimited(&chars, at, '/'),
            '\\' => {
                let delimiter = chars.get(at).copied().unwrap_or('/');
                at = delimited(&chars, at + 1, delimiter);
            }
            'w' | 'W' => {
                found.push(Reach::Write(line_rest(&chars, at).trim().to_owned()));
                at = line_end(&chars, at);
            }
            'e' => {
                found.push(Reach::Run);
                at = line_end(&chars, at);
            }
            'a' | 'i' | 'c' | 'r' | 'R' | '#' => at = line_end(&chars, at),
            'b' | 't' | 'T' | ':' => {
                while chars.get(at).is_some_and(|char| !matches!(char, ';' | '\n' | '}')) {
                    at += 1;
                }
            }
            _ => {}
        }
    }
    found
}

fn substitution(chars: &[char], at: usize, found: &mut Vec<Reach>) -> usize {
    let Some(&delimiter) = chars.get(at) else { return at };
    let mut end = delimited(chars, delimited(chars, at + 1, delimiter), delimiter);
    while let Some(&flag) = chars.get(end) {
        match flag {
            'w' => {
                found.push(Reach::Write(line_rest(chars, end + 1).trim().to_owned()));
                return line_end(chars, end);
            }
            'e' => found.push(Reach::Run),
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
            _ => break,
        }
        end += 1;
    }
    end
}

/// The place behind the next unescaped delimiter.
fn delimited(chars: &[char], mut at: usize, delimiter: char) -> usize {
    let mut class = false;
    while let Some(&char) = chars.get(at) {
        at += 1;
        match char {
            '\\' => at += 1,
            '[' if delimiter == '/' => class = true,
            ']' => class = false,
            _ if char == delimiter && !class => return at,
            '\n' => class = false,
            _ => {}
        }
    }
    at
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars.iter().skip(at).position(|char| *char == '\n').map_or(chars.len(), |end| at + end)
}

fn line_rest(chars: &[char], at: usize) -> String {
    chars.iter().skip(at).take(line_end(chars, at).saturating_sub(at)).collect()
}

static AWK_OUTPUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bprintf?\b[^;\n}>|]*>{1,2}").ok());
static AWK_RUN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bsystem\s*\(|\|\s*"|"\s*\||\|\s*getline|\|&"#).ok());

pub(super) fn awk(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let invocation = &call.invocation;
    let from_file = !invocation.values(&["-f", "--file"]).is_empty();
    let program = if from_file { None } else { invocation.operands.first() };
    let files = invocation.operands.get(usize::from(!from_file)..).unwrap_or_default();
    if let Some(program) = program {
        awk_program(tracer, &program.text, call.guard);
    }
    if from_file {
        tracer.opaque(Target::Unknown, call.guard);
    }
    let in_place = invocation.has("-i") && invocation.operands.iter().any(|word| word.text == "inplace");
    for file in files.iter().filter(|word| !word.text.contains('=')) {
        let (target, scope) = tracer.path_target(file);
        let kind = if in_place { EffectKind::FsWrite } else { EffectKind::FsRead };
        tracer.emit_at(kind, target, Some(scope), call.guard);
    }
    tracer.emit(EffectKind::None, Target::Unknown, call.guard);
    true
}

fn awk_program(tracer: &mut Tracer<'_>, program: &str, guard: Guard) {
    let blank = blank_strings(program);
    if let Some(output) = AWK_OUTPUT.as_ref() {
        for found in output.find_iter(&blank) {
            let behind = program.get(found.end()..).unwrap_or_default().trim_start();
            let name = behind.strip_prefix('"').and_then(|text| text.split_once('"')).map(|(name, _)| name);
            let (target, scope) = match name {
                Some(name) => tracer.path_target(&Arg::literal(name)),
                None => (Target::Unknown, crate::effect::Scope::Unknown),
            };
            tracer.emit_at(EffectKind::FsWrite, target, Some(scope), guard);
        }
    }
    if AWK_RUN.as_ref().is_some_and(|run| run.is_match(&blank)) {
        tracer.opaque(Target::Unknown, guard);
    }
}

/// The program with the contents of strings and patterns blanked, byte for byte.
fn blank_strings(program: &str) -> String {
    let mut out = String::with_capacity(program.len());
    let mut inside = false;
    let mut escaped = false;
    for char in program.chars() {
        let quote = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        if quote {
            inside = !inside;
            out.push('"');
        } else if inside {
            out.extend(std::iter::repeat_n('x', char.len_utf8()));
        } else {
            out.push(char);
        }
    }
    out
}

pub(super) fn apply_patch(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let argument = call.invocation.operands.first().map(|word| word.text.clone());
    let Some(patch) = argument.or_else(|| input_text(call.input).map(str::to_owned)) else {
        let (target, scope) = tracer.here();
        tracer.emit_at(EffectKind::FsWrite, target, scope, call.guard);
        return true;
    };
    tracer.patch(&patch, call.guard);
    true
}

impl Tracer<'_> {
    /// The effects of a patch in the `*** Begin Patch` form.
    pub(in super::super) fn patch(&mut self, patch: &str, guard: Guard) {
        let touched = crate::patch::touched(patch);
        if touched.is_empty() {
            self.emit_at(EffectKind::FsWrite, Target::Unknown, None, Guard::POSSIBLE);
        }
        for one in touched {
            let (target, scope) = self.path_target(&Arg::literal(one.path));
            let path = target.words().to_owned();
            self.emit_at(one.kind, target, Some(scope), guard);
            if let Some(text) = one.text {
                self.artifacts.keep(&path, text);
            }
        }
    }
}

/// Configuration that makes git run other programs.
pub(super) fn git(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    const RUNNING: &[&str] = &[
        "alias.",
        "fsmonitor",
        "sshcommand",
        "hookspath",
        "diff.external",
        "textconv",
        "filter.",
        "credential.helper",
    ];
    for value in call.invocation.values(&["-c"]) {
        let lower = value.text.to_ascii_lowercase();
        let pager = (lower.contains("pager") || lower.contains("editor"))
            && !lower.ends_with("=cat")
            && !lower.ends_with("=true")
            && !lower.ends_with("=:")
            && !lower.ends_with('=');
        if pager
            || (RUNNING.iter().any(|word| lower.contains(word))
                && !lower.ends_with("=/dev/null")
                && !lower.ends_with('='))
        {
            tracer.opaque(Target::Named(value.text.clone()), call.guard);
            let script = value.text.split_once('=').map_or("", |(_, script)| script);
            let script = Arg { text: script.trim_start_matches('!').to_owned(), shape: value.shape };
            if !lower.starts_with("core.hookspath") {
                tracer.nested(&script, Guard::POSSIBLE);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_write_or_run_are_found() {
        assert_eq!(sed_reaches("s/a/b/w out.txt"), [Reach::Write("out.txt".into())]);
        assert_eq!(sed_reaches("1,3w f"), [Reach::Write("f".into())]);
        assert_eq!(sed_reaches("s/a/date/e"), [Reach::Run]);
        assert_eq!(sed_reaches("s|we|ewe|g;s/w/e/;10,20p"), []);
        assert_eq!(sed_reaches("/we/d; $!N; s/\\/w/x/"), []);
        assert_eq!(sed_reaches("1i\\we were"), []);
    }
}
