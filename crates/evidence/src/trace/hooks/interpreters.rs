//! Interpreters: code from an argument, from standard input, or from a script written earlier.

use super::super::{Call, Guard, Input, Proof, Tracer};
use super::{input_text, rest, skip_options};
use crate::code::{self, Language};
use crate::commands::{self, Arg, Shape};
use crate::effect::{EffectKind, Target};
use crate::place::base_name;

pub(super) fn python(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let mut words = rest(call);
    while let Some((first, tail)) = words.split_first() {
        match first.text.as_str() {
            "-m" => return module(tracer, call, tail),
            "-c" => {
                code_argument(tracer, call, Language::Python, tail.first());
                return true;
            }
            "-W" | "-X" => words = tail.get(1..).unwrap_or_default(),
            "-V" | "-VV" => return version(tracer, call),
            "-" => break,
            text if text.starts_with("-c") && text.len() > 2 => {
                let code = Arg { text: text.get(2..).unwrap_or_default().to_owned(), shape: first.shape };
                code_argument(tracer, call, Language::Python, Some(&code));
                return true;
            }
            text if text.starts_with('-') && text.len() > 1 => {
                if text.ends_with('c') && !text.starts_with("--") {
                    code_argument(tracer, call, Language::Python, tail.first());
                    return true;
                }
                words = tail;
            }
            _ => return python_file(tracer, call, first, tail),
        }
    }
    from_input(tracer, call, Language::Python);
    true
}

fn version(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    tracer.emit(EffectKind::EnvRead, Target::Unknown, call.guard);
    true
}

/// `python -m MODULE` is the module's own command where the table knows it.
fn module(tracer: &mut Tracer<'_>, call: &Call<'_>, words: &[Arg]) -> bool {
    let Some(name) = words.first() else { return false };
    let known = commands::table().knows(&name.text) || matches!(name.text.as_str(), "pip" | "uv");
    if name.shape == Shape::Literal && known && !name.text.contains('/') {
        tracer.command(words, call.guard, call.input);
    } else {
        tracer.opaque(Target::Named(name.text.clone()), call.guard);
    }
    true
}

fn python_file(tracer: &mut Tracer<'_>, call: &Call<'_>, file: &Arg, words: &[Arg]) -> bool {
    match base_name(&file.text) {
        "manage.py" => {
            let mut django = vec![Arg::literal("django")];
            django.extend(words.iter().cloned());
            tracer.command(&django, call.guard, call.input);
        }
        "setup.py" if words.iter().any(|word| matches!(word.text.as_str(), "install" | "develop")) => {
            tracer.emit(EffectKind::PkgMutate, Target::Named("setup.py".to_owned()), call.guard);
        }
        "setup.py" => {
            tracer.emit(EffectKind::ExecCode, Target::Named("setup.py".to_owned()), Guard::POSSIBLE);
        }
        _ => script_file(tracer, call, Language::Python, file),
    }
    true
}

/// The words behind the one that names the script or is its text.
fn words_behind<'c>(call: &Call<'c>, word: &Arg) -> &'c [Arg] {
    let at = call.words.iter().position(|own| own == word);
    at.and_then(|at| call.words.get(at + 1..)).unwrap_or_default()
}

fn script_file(tracer: &mut Tracer<'_>, call: &Call<'_>, language: Language, file: &Arg) {
    if file.shape != Shape::Literal {
        return tracer.opaque(Target::Unknown, call.guard);
    }
    let path = tracer.resolve(&file.text).path;
    match tracer.artifacts.text(&path).map(str::to_owned) {
        Some(text) => {
            let code = code::with_arguments(language, &text, words_behind(call, file));
            tracer.within_artifact(&text, |own| own.run_code(language, &code, call.guard));
        }
        None => tracer.opaque(Target::Named(file.text.clone()), call.guard),
    }
}

fn code_argument(tracer: &mut Tracer<'_>, call: &Call<'_>, language: Language, code: Option<&Arg>) {
    match code {
        Some(code) if code.shape != Shape::Dynamic => {
            let dash = Arg::literal("-");
            let own = if call.words.contains(code) { code } else { &dash };
            let text = code::with_arguments(language, &code.text, words_behind(call, own));
            tracer.run_code(language, &text, call.guard);
        }
        Some(code) => {
            tracer.run_code(language, &code.text, Guard::POSSIBLE);
            tracer.opaque(Target::Unknown, call.guard);
        }
        None => tracer.opaque(Target::Unknown, call.guard),
    }
}

fn from_input(tracer: &mut Tracer<'_>, call: &Call<'_>, language: Language) {
    match call.input {
        Input::Text(code) => code_argument(tracer, call, language, Some(code)),
        Input::Piped | Input::None => tracer.opaque(Target::Unknown, call.guard),
    }
}

pub(super) fn node(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let code = call.invocation.value(&["-e", "-p", "--eval", "--print"]);
    let words = skip_options(
        rest(call),
        &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--env-file",
            "-C",
            "-e",
            "-p",
            "--eval",
            "--print",
            "-P",
            "--project",
        ],
    );
    if code.is_some() {
        code_argument(tracer, call, Language::Script, code);
    } else if call.invocation.has("-v") || call.invocation.has("--version") {
        return version(tracer, call);
    } else if call.invocation.has("--check") || call.invocation.has("-c") {
        tracer.emit(EffectKind::FsRead, Target::Unknown, call.guard);
    } else if call.invocation.has("--test") {
        let test = [Arg::literal("mocha")];
        tracer.command(&test, call.guard, call.input);
    } else if let Some(file) = words.first().filter(|word| word.text != "-") {
        run_package(tracer, call, file, words);
    } else {
        from_input(tracer, call, Language::Script);
    }
    true
}

/// `node node_modules/.bin/jest` is jest.
fn run_package(tracer: &mut Tracer<'_>, call: &Call<'_>, file: &Arg, words: &[Arg]) {
    let name =
        base_name(&file.text).trim_end_matches(".js").trim_end_matches(".mjs").trim_end_matches(".cjs");
    if file.text.contains("node_modules/") && commands::table().knows(name) {
        let mut own = vec![Arg::literal(name)];
        own.extend(words.iter().skip(1).cloned());
        return tracer.command(&own, call.guard, call.input);
    }
    script_file(tracer, call, Language::Script, file);
}

/// `bun -e CODE` and `bun FILE.ts`; their package commands are in the table.
pub(super) fn runtime(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let words = rest(call);
    match words.first().map(|word| word.text.as_str()) {
        Some("-e" | "--eval" | "eval") => code_argument(tracer, call, Language::Script, words.get(1)),
        Some(file) if [".ts", ".js", ".tsx", ".mjs"].iter().any(|ending| file.ends_with(ending)) => {
            script_file(tracer, call, Language::Script, &Arg::literal(file));
        }
        _ => return false,
    }
    true
}

pub(super) fn other(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let words = rest(call);
    if matches!(words.first().map(|word| word.text.as_str()), Some("-v" | "-V" | "--version")) {
        return version(tracer, call);
    }
    let invocation = &call.invocation;
    let code = invocation.values(&["-e", "-E", "-r"]);
    let tells = invocation.options.iter().any(|(name, _)| {
        matches!(name.as_str(), "-m" | "-i" | "--info" | "--ini" | "--modules") || name.starts_with("--r")
    });
    if invocation.program == "php" && tells && code.is_empty() {
        tracer.emit(EffectKind::EnvRead, Target::Unknown, call.guard);
        return true;
    }
    let in_place = invocation.options.iter().any(|(name, _)| name == "-i" || name.starts_with("-i."));
    let syntax_only = matches!(invocation.program.as_str(), "perl" | "ruby" | "php")
        && words.first().is_some_and(|w| matches!(w.text.as_str(), "-c" | "-wc" | "-l"));
    if syntax_only {
        tracer.emit(EffectKind::FsRead, Target::Unknown, call.guard);
        return true;
    }
    if in_place {
        write_operands(tracer, call);
    }
    match (code.as_slice(), invocation.operands.first()) {
        ([], Some(file)) => script_file(tracer, call, Language::Other, file),
        ([], None) => from_input(tracer, call, Language::Other),
        (codes, _) => {
            for code in codes {
                if !is_filter(&invocation.program, &code.text) {
                    code_argument(tracer, call, Language::Other, Some(code));
                }
            }
        }
    }
    true
}

fn write_operands(tracer: &mut Tracer<'_>, call: &Call<'_>) {
    for file in &call.invocation.operands {
        let (target, scope) = tracer.path_target(file);
        tracer.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard);
    }
}

/// Perl one-liners that only transform lines: no word in them can reach the outside.
fn is_filter(program: &str, code: &str) -> bool {
    const REACHING: &[&str] = &[
        "system", "exec", "open", "unlink", "rename", "mkdir", "rmdir", "qx", "`", "eval", "require", "use ",
        "socket", "kill", "fork", "chmod", "chown", "link", "truncate", "do ", "syscall", "utime", "dbmopen",
        "(?{", "print {", "select", "File", "IO", "/e", "}e", "ee", "|",
    ];
    program == "perl" && !REACHING.iter().any(|word| code.contains(word))
}

pub(super) fn shell(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let operands = call.invocation.operands.as_slice();
    let behind = operands.get(1..).unwrap_or_default();
    if let Some(script) = call.invocation.value(&["-c"]) {
        // The first word behind the script is its name.
        let script = script.clone();
        tracer.nested_with(&script, behind, call.guard);
        return true;
    }
    if call.invocation.has("-n") {
        tracer.emit(EffectKind::FsRead, Target::Unknown, call.guard);
        return true;
    }
    match operands.first() {
        Some(file) if !call.invocation.has("-s") => {
            let path = tracer.resolve(&file.text).path;
            match tracer.artifacts.text(&path).map(str::to_owned) {
                Some(text) => {
                    let guard = Guard { proof: Proof::Masked, ..call.guard };
                    let script = Arg::literal(&text);
                    tracer.within_artifact(&text, |own| own.nested_with(&script, behind, guard));
                }
                None => tracer.opaque(Target::Named(file.text.clone()), call.guard),
            }
        }
        _ => match (input_text(call.input), call.input) {
            (Some(text), _) => tracer.nested_with(&Arg::literal(text), operands, call.guard),
            (None, Input::Text(script)) => tracer.nested_with(&script.clone(), operands, call.guard),
            (None, Input::None | Input::Piped) => tracer.opaque(Target::Unknown, call.guard),
        },
    }
    true
}
