//! What a call does beside what its rule says.

use strongroom_core::evidence::Certainty;

use super::{Call, Guard, Input, Tracer, values};
use crate::commands::{Arg, Shape};
use crate::effect::{Access, EffectKind, Scope, Target};
use crate::place::base_name;

impl Tracer<'_> {
    /// What goes with an effect of the table: a repository in system scope is files there, and the name that is
    /// asked for carries what was computed into it.
    pub(super) fn beside(&mut self, kind: EffectKind, call: &Call<'_>, guard: Guard) {
        let (here, scope) = self.here();
        let local = kind.is_under("vcs") && kind != EffectKind::VcsRemote;
        if local && kind.access() == Access::Mutation && scope == Some(Scope::System) {
            self.emit_at(EffectKind::FsWrite, here, scope, guard);
        }
        let data = call.invocation.operands.iter().find(|word| self.is_computed(word));
        if let (EffectKind::NetRead, Some(word)) = (kind, data) {
            let guard = guard.at(Certainty::Possible);
            self.emit(EffectKind::NetSend, Target::Named(word.text.clone()), guard);
        }
    }

    /// Whether a part of a word is the output of a command, directly or through a variable.
    pub(super) fn is_computed(&self, word: &Arg) -> bool {
        let named = |name: &String| word.text.contains(&format!("${name}"));
        word.shape == Shape::Dynamic
            && (word.text.contains("$(")
                || word.text.contains('`')
                || self.state.vars.iter().any(|(name, value)| value.is_none() && named(name)))
    }

    /// Files that come or go beside those that a rule names.
    pub(super) fn extras(&mut self, call: &Call<'_>) {
        self.note_link(call);
        let program = call.invocation.program.as_str();
        for extra in EXTRAS.iter().filter(|extra| extra.on.contains(&program)) {
            let asked = extra.any.is_empty() || extra.any.iter().any(|name| given(call, name));
            if !asked || !extra.sub.is_empty() && call.invocation.operand(0) != Some(extra.sub) {
                continue;
            }
            let guard = call.guard.at(extra.certainty);
            for arg in extra_places(extra, call) {
                let (target, scope) = self.path_target(&arg);
                self.emit_at(extra.kind, target, Some(scope), guard);
            }
        }
        self.packed(call);
        self.commanded(call);
    }

    /// A file under a name that the system chooses.
    pub(super) fn temporary_file(&mut self, call: &Call<'_>) {
        let words = call.words.get(1..).unwrap_or_default();
        let (target, scope) = match values::temporary(words) {
            Some(pattern) => self.path_target(&pattern),
            None => (Target::Unknown, Scope::Unknown),
        };
        let dry = given(call, "-u") || given(call, "--dry-run");
        let kind = if dry { EffectKind::FsRead } else { EffectKind::FsWrite };
        self.emit_at(kind, target, Some(scope), call.guard);
    }

    /// Where the link leads that is about to be made.
    fn note_link(&mut self, call: &Call<'_>) {
        self.linked = None;
        let operands = call.invocation.operands.as_slice();
        if call.invocation.program != "ln" {
            return;
        }
        if let ([to, link], false) = (operands, given(call, "-t")) {
            if to.shape != Shape::Literal || link.shape != Shape::Literal {
                return;
            }
            let from = self.resolve(&link.text).path;
            let folder = from.rsplit_once('/').map_or(".", |(folder, _)| folder);
            let fixed = self.places.is_fixed(&to.text) || !given(call, "-s");
            let to = if fixed { self.resolve(&to.text).path } else { format!("{folder}/{}", to.text) };
            self.linked = Some(crate::place::normalise(&to));
        }
        // A folder as last operand gets the link inside.
        let inside = match operands {
            [only] => Some((only, ".".to_owned())),
            [to, folder] if folder.text.ends_with(['/', '.']) => Some((to, folder.text.clone())),
            _ => None,
        };
        let folder = value(call, "-t").map(|folder| folder.text);
        if let Some((to, folder)) = folder.and_then(|own| Some((operands.first()?, own))).or(inside) {
            let link = Arg { text: format!("{folder}/{}", base_name(&to.text)), shape: to.shape };
            let saved = self.linked.take();
            let (target, scope) = self.path_target(&link);
            self.emit_at(EffectKind::FsLink, target, Some(scope), call.guard.at(Certainty::Possible));
            self.linked = saved;
        }
    }

    /// Compressors put a file beside each operand and take the operand away.
    fn packed(&mut self, call: &Call<'_>) {
        let program = call.invocation.program.as_str();
        let Some((_, ending)) = PACKERS.iter().find(|(names, _)| names.contains(&program)) else { return };
        if ["-c", "--stdout", "-l", "--list", "-t", "--test"].iter().any(|name| given(call, name)) {
            return;
        }
        let unpacks = program.starts_with("un") || program.starts_with("gun") || program.starts_with("bun");
        let unpacks = unpacks || given(call, "-d") || given(call, "--decompress");
        let keeps = given(call, "-k") || given(call, "--keep") || (*ending == ".zst" && !given(call, "--rm"));
        let ending = value(call, "-S").map_or((*ending).to_owned(), |own| own.text);
        for operand in &call.invocation.operands {
            if !keeps {
                let (target, scope) = self.path_target(operand);
                self.emit_at(EffectKind::FsDelete, target, Some(scope), call.guard);
            }
            let made = match operand.text.rsplit_once('.') {
                _ if given(call, "-r") => within(&operand.text),
                Some((stem, _)) if unpacks => Arg { text: stem.to_owned(), shape: operand.shape },
                _ => Arg { text: format!("{}{ending}", operand.text), shape: operand.shape },
            };
            let (target, scope) = self.path_target(&made);
            self.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard);
        }
    }

    /// Files that the commands of an editor or of a database client name.
    fn commanded(&mut self, call: &Call<'_>) {
        let program = call.invocation.program.as_str();
        let Some((_, words)) = COMMANDS.iter().find(|(name, _)| *name == program) else { return };
        let input = match call.input {
            Input::Text(text) => text.text.as_str(),
            Input::None | Input::Piped => "",
        };
        let operands = call.invocation.operands.iter().flat_map(|word| word.text.lines());
        let files: Vec<String> = operands
            .chain(input.lines())
            .filter_map(|line| line.trim().split_once(' '))
            .filter(|(word, _)| words.contains(word))
            .filter_map(|(_, rest)| rest.split_whitespace().last().map(str::to_owned))
            .collect();
        for file in files {
            let (target, scope) = self.path_target(&Arg::literal(file.trim_matches(['\'', '"'])));
            self.emit_at(EffectKind::FsWrite, target, Some(scope), call.guard);
        }
    }
}

/// Where the files of `extra` are.
fn extra_places(extra: &Extra, call: &Call<'_>) -> Vec<Arg> {
    let operands = call.invocation.operands.as_slice();
    let skipped = usize::from(!extra.sub.is_empty());
    let operands = operands.get(skipped..).unwrap_or_default();
    match extra.place {
        Place::Here => vec![within(".")],
        Place::Beside => operands.last().map(beside).into_iter().collect(),
        Place::Option => extra.any.iter().filter_map(|name| value(call, name)).collect(),
        Place::Operands => operands.to_vec(),
        Place::Rest => operands.get(1..).unwrap_or_default().to_vec(),
        Place::Prefix(options, default) => {
            let given = options.iter().find_map(|name| value(call, name));
            let second = operands.get(1).filter(|_| options.is_empty()).cloned();
            vec![beside(&given.or(second).unwrap_or_else(|| Arg::literal(default)))]
        }
        Place::Backup => backups(call),
        Place::Local => operands.iter().filter(|word| is_local(word)).cloned().collect(),
    }
}

/// Files that come or go beside those that a rule names.
struct Extra {
    on: &'static [&'static str],
    /// The sub-command; empty for any.
    sub: &'static str,
    /// Options one of which must be there; empty for always.
    any: &'static [&'static str],
    kind: EffectKind,
    certainty: Certainty,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// Below the working directory.
    Here,
    /// In the directory of the last operand.
    Beside,
    /// The values of the options.
    Option,
    /// The operands.
    Operands,
    /// The operands behind the first.
    Rest,
    /// Files whose names begin like an option's value, or like the second operand, or like this.
    Prefix(&'static [&'static str], &'static str),
    /// The operands with what the option `-i` puts behind them.
    Backup,
    /// The operands that are paths and no addresses.
    Local,
}

const NONE: &[&str] = &[];
const EDITS: &[&str] = &["sed", "perl", "ruby"];
const COPIES: &[&str] = &["cp", "mv", "install", "ln"];
const SAFE: &[&str] = &["-b", "--backup", "-S", "--suffix"];
const PREFIX: &[&str] = &["-f", "--prefix"];
const SNAPSHOT: &[&str] = &["-g", "--listed-incremental", "--index-file"];

const fn extra(
    on: &'static [&'static str],
    any: &'static [&'static str],
    kind: EffectKind,
    place: Place,
) -> Extra {
    Extra { on, sub: "", any, kind, certainty: Certainty::Definite, place }
}

const fn of_git(sub: &'static str, place: Place) -> Extra {
    let certainty = Certainty::Possible;
    Extra { on: &["git"], sub, any: NONE, kind: EffectKind::FsWrite, certainty, place }
}

const EXTRAS: &[Extra] = &[
    Extra {
        on: COPIES,
        sub: "",
        any: SAFE,
        kind: EffectKind::FsWrite,
        certainty: Certainty::Possible,
        place: Place::Beside,
    },
    extra(&["tar"], &["--remove-files"], EffectKind::FsDelete, Place::Operands),
    extra(&["tar"], SNAPSHOT, EffectKind::FsWrite, Place::Option),
    extra(&["zip"], &["-m", "--move"], EffectKind::FsDelete, Place::Rest),
    extra(&["zip"], NONE, EffectKind::FsWrite, Place::Prefix(&["-O"], ".")),
    extra(&["split"], NONE, EffectKind::FsWrite, Place::Prefix(NONE, "x")),
    extra(&["csplit"], NONE, EffectKind::FsWrite, Place::Prefix(PREFIX, "xx")),
    extra(EDITS, &["-i", "--in-place"], EffectKind::FsWrite, Place::Backup),
    of_git("merge", Place::Here),
    of_git("cherry-pick", Place::Here),
    of_git("revert", Place::Here),
    of_git("rebase", Place::Here),
    of_git("am", Place::Here),
    of_git("bisect", Place::Here),
    of_git("worktree", Place::Local),
    of_git("push", Place::Local),
];

/// Compressors by name, and the ending they give.
const PACKERS: &[(&[&str], &str)] = &[
    (&["gzip", "gunzip", "pigz"], ".gz"),
    (&["bzip2", "bunzip2"], ".bz2"),
    (&["xz", "unxz"], ".xz"),
    (&["lzma", "unlzma"], ".lzma"),
    (&["zstd", "unzstd"], ".zst"),
    (&["compress", "uncompress"], ".Z"),
];

/// Commands that write the file behind them.
const COMMANDS: &[(&str, &[&str])] = &[
    ("ed", &["w", "W", "wq"]),
    ("ex", &["w", "w!", "wq", ":w"]),
    ("sqlite3", &[".output", ".once", ".backup", ".save", ".clone", ".excel", ".log"]),
];

/// Whether an option stands in a call, alone, bundled, or with its value glued to it.
fn given(call: &Call<'_>, name: &str) -> bool {
    let long = name.starts_with("--");
    call.invocation.has(name)
        || call.words.iter().skip(1).any(|word| {
            let text = word.text.as_str();
            if long {
                text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            } else {
                text.starts_with(name) && !text.starts_with("--")
            }
        })
}

/// The value of an option: the next word, or what is glued to it.
fn value(call: &Call<'_>, name: &str) -> Option<Arg> {
    let words = call.words;
    let at = words.iter().position(|word| word.text == name);
    if let Some(next) = at.and_then(|at| words.get(at + 1)) {
        return Some(next.clone());
    }
    words.iter().find_map(|word| {
        let rest = word.text.strip_prefix(name)?;
        let rest = if name.starts_with("--") { rest.strip_prefix('=')? } else { rest };
        (!rest.is_empty()).then(|| Arg { text: rest.to_owned(), shape: word.shape })
    })
}

/// Everything in a folder.
fn within(folder: &str) -> Arg {
    Arg { text: format!("{folder}/*"), shape: Shape::Glob }
}

/// Everything in the folder of a path.
fn beside(arg: &Arg) -> Arg {
    let folder = arg.text.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let shape = if arg.shape == Shape::Dynamic { Shape::Dynamic } else { Shape::Glob };
    Arg { text: format!("{folder}/*"), shape }
}

/// A path on this machine, as `git` takes one for a repository.
fn is_local(word: &Arg) -> bool {
    let text = word.text.as_str();
    text.starts_with(['/', '.', '~']) || (text.contains('/') && !text.contains(':') && text.starts_with('.'))
}

/// The names under which an edit in place keeps the old files: `sed -i.bak`, `perl -pi.orig`.
fn backups(call: &Call<'_>) -> Vec<Arg> {
    let words = call.words.iter().skip(1);
    let suffix = words.filter_map(|word| {
        let text = word.text.as_str();
        let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        text.strip_prefix("--in-place=").or_else(|| short?.split_once('i').map(|(_, suffix)| suffix))
    });
    let mut suffix = suffix;
    let Some(suffix) = suffix.find(|suffix| !suffix.is_empty()) else { return Vec::new() };
    let named = |operand: &Arg| Arg { text: format!("{}{suffix}", operand.text), shape: operand.shape };
    call.invocation
        .operands
        .iter()
        .filter(|operand| !operand.text.contains(char::is_whitespace))
        .map(named)
        .collect()
}
