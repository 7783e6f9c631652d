//! Commands whose meaning lies in their arguments: interpreters, remote shells, stream editors, clients.

mod clients;
mod editors;
mod interpreters;
mod session;

use super::{Call, Guard, Input, Tracer};
use crate::commands::{Arg, Shape};

/// A hook; it tells whether it said everything there is to say.
type Hook = fn(&mut Tracer<'_>, &Call<'_>) -> bool;

const HOOKS: &[(&str, Hook)] = &[
    ("cd", session::change_directory),
    ("pushd", session::push_directory),
    ("popd", session::pop_directory),
    ("set", session::set_options),
    ("read", session::poison),
    ("mapfile", session::poison),
    ("readarray", session::poison),
    ("unset", session::poison),
    ("getopts", session::poison),
    ("eval", session::evaluate),
    ("alias", session::alias),
    ("unalias", session::unalias),
    ("mktemp", session::temporary_file),
    ("trap", session::trap),
    (".", session::source_file),
    ("ssh", session::remote_shell),
    ("docker", session::container),
    ("kubectl", session::pod),
    ("su", session::other_user),
    ("nix-shell", session::other_user),
    ("python", interpreters::python),
    ("node", interpreters::node),
    ("ts-node", interpreters::node),
    ("bun", interpreters::runtime),
    ("deno", interpreters::runtime),
    ("ruby", interpreters::other),
    ("perl", interpreters::other),
    ("php", interpreters::other),
    ("lua", interpreters::other),
    ("Rscript", interpreters::other),
    ("bash", interpreters::shell),
    ("find", editors::find),
    ("sed", editors::sed),
    ("awk", editors::awk),
    ("apply_patch", editors::apply_patch),
    ("applypatch", editors::apply_patch),
    ("git", editors::git),
    ("curl", clients::curl),
    ("wget", clients::wget),
    ("http", clients::httpie),
    ("gh", clients::github),
    ("glab", clients::github),
    ("psql", clients::psql),
    ("mysql", clients::mysql),
    ("sqlite3", clients::sqlite),
];

/// Runs the hook of a program, where it has one. `false` leaves the call to the table.
pub(super) fn run(tracer: &mut Tracer<'_>, call: &Call<'_>) -> bool {
    if call.words.len() == 2 && super::is_help(call.words) {
        return false;
    }
    let hook = HOOKS.iter().find(|(name, _)| *name == call.invocation.program);
    hook.is_some_and(|(_, hook)| hook(tracer, call))
}

/// The words behind the program.
fn rest<'c>(call: &Call<'c>) -> &'c [Arg] {
    call.words.get(1..).unwrap_or_default()
}

/// Joins words as a shell does that gets them as one string.
fn joined(words: &[Arg]) -> Arg {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let known = words.iter().all(|word| word.shape != Shape::Dynamic);
    Arg { text, shape: if known { Shape::Literal } else { Shape::Dynamic } }
}

/// Drops options, and the values of those in `values`, from the front of `words`.
fn skip_options<'w>(words: &'w [Arg], values: &[&str]) -> &'w [Arg] {
    let mut rest = words;
    while let Some((first, tail)) = rest.split_first() {
        if first.text == "--" {
            return tail;
        }
        if !first.text.starts_with('-') || first.text.len() < 2 {
            break;
        }
        rest = if values.contains(&first.text.as_str()) { tail.get(1..).unwrap_or_default() } else { tail };
    }
    rest
}

/// The literal text at the standard input.
fn input_text(input: &Input) -> Option<&str> {
    match input {
        Input::Text(arg) if arg.shape != Shape::Dynamic => Some(&arg.text),
        Input::Text(_) | Input::None | Input::Piped => None,
    }
}

impl Tracer<'_> {
    /// Follows a script with its own parameters, in a copy of the state.
    fn nested_with(&mut self, script: &Arg, words: &[Arg], guard: Guard) {
        let saved = self.state.params.replace(words.into());
        self.nested(script, guard);
        self.state.params = saved;
    }

    /// Follows a script given as an argument, in a copy of the state.
    fn nested(&mut self, script: &Arg, guard: Guard) {
        if script.shape == Shape::Dynamic {
            // Unknown parts stand in the text as they are spelled, so that what is literal is still followed.
            self.opaque(crate::effect::Target::Unknown, guard);
        }
        let saved = self.state.clone();
        self.source(&script.text, guard);
        self.state = saved;
    }
}
