//! The shell's own state, and shells elsewhere.

use std::rc::Rc;

use super::super::{Call, Guard, Input, Tracer};
use super::{input_text, joined, rest, skip_options};
use crate::commands::{Arg, Shape};
use crate::effect::{EffectKind, Scope, Target};
use crate::place::{Cwd, base_name};

pub(super) fn change_directory(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let to = rest(call).iter().find(|word| !matches!(word.text.as_str(), "-P" | "-L" | "--" | "-e" | "-@"));
    // Where a search path for directories is set, a plain name may lie anywhere on it.
    let searched = tracer.state.vars.contains_key("CDPATH")
        && to.is_some_and(|to| !to.text.starts_with(['/', '.', '~']));
    let next = match to {
        _ if searched => Cwd::Unknown,
        None => Cwd::at(tracer.resolve("~").path),
        Some(to) if to.text == "-" => tracer.state.previous.clone().unwrap_or(Cwd::Unknown),
        Some(to) => tracer.directory(to),
    };
    tracer.state.previous = Some(std::mem::replace(&mut tracer.state.cwd, next));
    tracer.emit(EffectKind::None, Target::Unknown, call.guard);
    true
}

pub(super) fn temporary_file(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    tracer.temporary_file(call);
    true
}

pub(super) fn push_directory(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let old = tracer.state.cwd.clone();
    tracer.state.stack.push(old);
    change_directory(tracer, call)
}

pub(super) fn pop_directory(tracer: &mut Tracer<'_>, _call: &Call<'_>) -> bool {
    tracer.state.cwd = tracer.state.stack.pop().unwrap_or(Cwd::Unknown);
    true
}

pub(super) fn set_options(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    for word in rest(call) {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--");
        tracer.state.errexit |= (short && text.contains('e')) || text == "errexit";
        tracer.state.pipefail |= text == "pipefail";
        tracer.state.errexit &= !(text.starts_with('+') && text.contains('e'));
    }
    tracer.emit(EffectKind::None, Target::Unknown, call.guard);
    true
}

/// Names that get a value which is not known.
pub(super) fn poison(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    for word in rest(call) {
        tracer.set_variable(&word.text, None);
    }
    tracer.emit(EffectKind::None, Target::Unknown, call.guard);
    true
}

pub(super) fn evaluate(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let script = joined(rest(call));
    if script.shape == Shape::Dynamic {
        tracer.opaque(Target::Unknown, call.guard);
    }
    tracer.source(&script.text, call.guard);
    true
}

pub(super) fn alias(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    for word in rest(call) {
        if let Some((name, text)) = word.text.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
            Rc::make_mut(&mut tracer.state.aliases).insert(name.to_owned(), text.to_owned());
        }
    }
    false
}

pub(super) fn unalias(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    for word in rest(call) {
        Rc::make_mut(&mut tracer.state.aliases).remove(&word.text);
    }
    false
}

/// `trap SCRIPT SIGNAL…`: at the end of the shell the script runs, on a signal it may.
pub(super) fn trap(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let words = rest(call).strip_prefix([Arg::literal("--")].as_slice()).unwrap_or(rest(call));
    let Some((script, signals)) = words.split_first().filter(|(script, _)| !script.text.starts_with('-'))
    else {
        tracer.emit(EffectKind::None, Target::Unknown, call.guard);
        return true;
    };
    let ends = signals.iter().any(|signal| matches!(signal.text.as_str(), "EXIT" | "0"));
    let guard = if ends { call.guard.masked() } else { Guard::POSSIBLE };
    // What is defined until then may change what the script does.
    tracer.opaque(Target::Named(script.text.clone()), guard);
    tracer.nested(script, guard);
    true
}

/// Files that only set up an environment.
const ENVIRONMENTS: &[&str] = &[
    "activate",
    "activate.fish",
    "nvm.sh",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".bash_profile",
    ".zprofile",
    ".env",
    ".envrc",
    "conda.sh",
    "env",
    "setenv",
    "os-release",
    "bash_completion",
    "asdf.sh",
    "sdkman-init.sh",
    ".env.local",
    "lsb-release",
];

pub(super) fn source_file(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let Some(file) = rest(call).first() else { return false };
    let path = tracer.resolve(&file.text).path;
    if let Some(text) = tracer.artifacts.text(&path).map(str::to_owned) {
        let saved = tracer.state.params.clone();
        if let Some(words) = rest(call).get(1..).filter(|words| !words.is_empty()) {
            tracer.state.params = Some(words.into());
        }
        tracer.within_artifact(&text, |own| own.source(&text, call.guard));
        tracer.state.params = saved;
    } else if ENVIRONMENTS.contains(&base_name(&file.text)) {
        let (target, scope) = tracer.path_target(file);
        tracer.emit_at(EffectKind::FsRead, target, Some(scope), call.guard);
    } else {
        tracer.opaque(Target::Named(file.text.clone()), call.guard);
    }
    true
}

pub(super) fn remote_shell(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    const VALUES: &[&str] = &[
        "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-e", "-I", "-m", "-Q", "-S",
        "-W", "-w", "-B", "-O",
    ];
    let words = skip_options(rest(call), VALUES);
    let Some((host, command)) = words.split_first() else {
        tracer.emit(EffectKind::EnvRead, Target::Unknown, call.guard);
        return true;
    };
    let name = super::super::target::host(host.text.trim_start_matches("ssh://"))
        .split(':')
        .next()
        .unwrap_or_default()
        .to_owned();
    // What stands at the standard input goes to the other machine.
    if !matches!(call.input, Input::None) {
        let scope = Some(Scope::Remote(name.clone()));
        let guard = call.guard.at(strongroom_core::evidence::Certainty::Possible);
        tracer.emit_at(EffectKind::NetSend, Target::Named(host.text.clone()), scope, guard);
    }
    // Options may still stand behind the host.
    let command = skip_options(command, VALUES);
    elsewhere(tracer, Scope::Remote(name), |tracer| match (command, input_text(call.input)) {
        ([], Some(text)) => tracer.source(text, call.guard),
        ([], None) => tracer.opaque(Target::Unknown, call.guard),
        (words, _) => tracer.nested(&joined(words), call.guard),
    });
    true
}

/// Runs `body` with all effects in another place, where no path is known.
fn elsewhere(tracer: &mut Tracer<'_>, place: Scope, body: impl FnOnce(&mut Tracer<'_>)) {
    let saved = tracer.state.clone();
    tracer.state.place = Some(place);
    tracer.state.cwd = Cwd::Unknown;
    tracer.state.stayed = None;
    tracer.state.previous = None;
    tracer.state.params = None;
    tracer.state.vars = Rc::default();
    tracer.state.functions = Rc::default();
    tracer.state.aliases = Rc::default();
    body(tracer);
    tracer.state = saved;
}

const DOCKER_VALUES: &[&str] = &[
    "-e",
    "--env",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--env-file",
    "--index",
    "-v",
    "--volume",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--entrypoint",
    "-m",
    "--memory",
    "--mount",
    "-l",
    "--label",
    "--restart",
    "--platform",
    "--cpus",
    "--gpus",
    "-h",
    "--hostname",
    "--add-host",
    "--device",
    "--shm-size",
    "--ulimit",
    "--cap-add",
    "--cap-drop",
    "--security-opt",
    "--tmpfs",
    "--log-driver",
    "--log-opt",
    "--pull",
    "--ip",
    "--dns",
    "--pid",
    "--ipc",
    "--userns",
    "--detach-keys",
    "--volumes-from",
    "--link",
    "--expose",
    "--cidfile",
    "--net",
    "--stop-signal",
];
const DOCKER_GLOBALS: &[&str] = &[
    "-H",
    "--host",
    "--context",
    "-c",
    "--config",
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--profile",
    "--env-file",
    "--project-directory",
    "-l",
    "--log-level",
    "--ansi",
    "--parallel",
];

pub(super) fn container(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let mut words = skip_options(rest(call), DOCKER_GLOBALS);
    if call.invocation.operand(0) == Some("compose")
        && words.first().is_some_and(|word| word.text == "compose")
    {
        words = skip_options(words.get(1..).unwrap_or_default(), DOCKER_GLOBALS);
    } else if words.first().is_some_and(|word| word.text == "container") {
        words = words.get(1..).unwrap_or_default();
    }
    let Some((verb, options)) =
        words.split_first().filter(|(verb, _)| matches!(verb.text.as_str(), "exec" | "run"))
    else {
        return false;
    };
    let operands = skip_options(options, DOCKER_VALUES);
    let Some((name, inner)) = operands.split_first() else { return false };
    let place = Scope::Container(name.text.clone());
    if verb.text == "run" {
        tracer.emit_at(
            EffectKind::SvcState,
            Target::Named(name.text.clone()),
            Some(place.clone()),
            call.guard,
        );
        mounts(tracer, options.get(..options.len() - operands.len()).unwrap_or_default());
    }
    elsewhere(tracer, place, |tracer| {
        if inner.is_empty() {
            tracer.opaque(Target::Unknown, call.guard);
        } else {
            tracer.command(inner, call.guard, call.input);
        }
    });
    true
}

/// Directories of this machine that a container can write to.
fn mounts(tracer: &mut Tracer<'_>, options: &[Arg]) {
    for (at, word) in options.iter().enumerate() {
        if !matches!(word.text.as_str(), "-v" | "--volume") {
            continue;
        }
        let Some(value) = options.get(at + 1) else { continue };
        let host = value.text.split(':').next().unwrap_or_default();
        if host.starts_with(['/', '.', '~', '$']) && !value.text.ends_with(":ro") {
            let (target, scope) = tracer.path_target(&Arg { text: format!("{host}/*"), shape: Shape::Glob });
            tracer.emit_at(EffectKind::FsWrite, target, Some(scope), Guard::POSSIBLE);
        }
    }
}

pub(super) fn pod(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    if call.invocation.operand(0) != Some("exec") {
        return false;
    }
    let pod = call.invocation.operand(1).unwrap_or_default().to_owned();
    let at = rest(call).iter().position(|word| word.text == "--");
    let inner = at.and_then(|at| rest(call).get(at + 1..)).unwrap_or_default();
    let inner = if at.is_none() { call.invocation.operands.get(2..).unwrap_or_default() } else { inner };
    elsewhere(tracer, Scope::Container(pod), |tracer| {
        if inner.is_empty() {
            tracer.opaque(Target::Unknown, call.guard);
        } else {
            tracer.command(inner, call.guard, call.input);
        }
    });
    true
}

/// `su -c SCRIPT`, `nix-shell --run SCRIPT`.
pub(super) fn other_user(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    let words = rest(call);
    let at = words.iter().position(|word| matches!(word.text.as_str(), "-c" | "--command" | "--run"));
    let privilege = tracer.state.privilege;
    if call.invocation.program == "su" {
        tracer.state.privilege = crate::effect::Privilege::Root;
    }
    match (at.and_then(|at| words.get(at + 1)), call.input) {
        (Some(script), _) | (None, Input::Text(script)) => tracer.nested(script, call.guard),
        (None, Input::None | Input::Piped) => tracer.opaque(Target::Unknown, call.guard),
    }
    tracer.state.privilege = privilege;
    true
}
