//! Targets and scopes of effects.

use super::Tracer;
use crate::commands::{Arg, Invocation, RuleEffect, Shape, Slot};
use crate::effect::{EffectKind, EffectKind as K, Scope, Target};
use crate::place::{Cwd, Resolved};

impl Tracer<'_> {
    pub(super) fn resolve(&self, written: &str) -> Resolved {
        let mut resolved = self.places.resolve(&self.state.cwd, written);
        match self.artifacts.through_links(&resolved.path) {
            Some(path) if path == resolved.path => {}
            Some(path) => {
                resolved.scope = self.places.resolve(&Cwd::Start, &path).scope;
                resolved.path = path;
            }
            None => resolved.scope = Scope::Unknown,
        }
        resolved
    }

    /// The file that a write through a link reaches.
    pub(super) fn linked_target(&self, kind: EffectKind, target: &Target) -> Option<(Target, Scope)> {
        let Target::Path { resolved, written } = target else { return None };
        let follows = matches!(kind, K::FsWrite | K::FsAppend | K::FsMeta) && self.state.place.is_none();
        let to = self.artifacts.link(resolved).filter(|_| follows)?;
        let found = self.resolve(&to);
        Some((Target::Path { resolved: found.path, written: written.clone() }, found.scope))
    }

    /// The target and scope that an argument names as a path.
    pub(super) fn path_target(&self, arg: &Arg) -> (Target, Scope) {
        match arg.shape {
            Shape::Literal => {
                let resolved = self.resolve(&arg.text);
                // A directory of which only a pattern is known makes everything in it one.
                match resolved.path.split_once('*') {
                    Some((fixed, _)) if !arg.text.contains('*') => {
                        (Target::Under(directory_of(fixed).to_owned()), resolved.scope)
                    }
                    _ => {
                        (Target::Path { resolved: resolved.path, written: arg.text.clone() }, resolved.scope)
                    }
                }
            }
            Shape::Glob => {
                let fixed = arg.text.split(['*', '?', '[']).next().unwrap_or_default();
                let mut resolved = self.resolve(directory_of(fixed));
                if let Some((known, _)) = resolved.path.split_once('*') {
                    resolved.path = directory_of(known).to_owned();
                }
                let leaves = arg.text.contains("/..");
                (Target::Under(resolved.path), if leaves { Scope::Unknown } else { resolved.scope })
            }
            Shape::Dynamic => self.dynamic_target(&arg.text),
        }
    }

    /// A word with an unknown part: what stands before it may still tell the directory.
    fn dynamic_target(&self, text: &str) -> (Target, Scope) {
        let fixed = text.split(['$', '`', '{', '%']).next().unwrap_or_default();
        match fixed.rfind('/') {
            Some(end) if end > 0 && !text.contains("..") => {
                let resolved = self.resolve(fixed.get(..end).unwrap_or_default());
                (Target::Under(resolved.path), resolved.scope)
            }
            _ => (Target::Unknown, Scope::Unknown),
        }
    }

    /// The targets of a rule's effect.
    pub(super) fn targets(
        &self,
        effect: &RuleEffect,
        call: &Invocation,
        used: usize,
    ) -> Vec<(Target, Option<Scope>)> {
        let operands = call.operands.get(used..).unwrap_or_default();
        let picked: Vec<Arg> = match &effect.slot {
            Slot::Operands => operands.to_vec(),
            Slot::First => operands.first().cloned().into_iter().collect(),
            Slot::Last => operands.last().cloned().into_iter().collect(),
            Slot::Rest => operands.get(1..).unwrap_or_default().to_vec(),
            Slot::Init => operands.split_last().map(|(_, init)| init.to_vec()).unwrap_or_default(),
            Slot::Second => operands.get(1).cloned().into_iter().collect(),
            Slot::Behind => {
                let at = call.behind_dashes.unwrap_or(used).max(used);
                call.operands.get(at..).unwrap_or_default().to_vec()
            }
            Slot::Option(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                call.values(&names).into_iter().cloned().collect()
            }
            Slot::Key(key) => operands.iter().filter_map(|word| Self::keyed(word, key)).collect(),
            Slot::Here => return vec![self.here()],
            Slot::Nothing => return vec![self.unnamed(effect.kind, call)],
            Slot::Path(path) => {
                let (target, scope) = self.path_target(&Arg::literal(path.clone()));
                return vec![(target, Some(scope))];
            }
            Slot::Words | Slot::All => {
                let operands = if effect.slot == Slot::All { call.operands.as_slice() } else { operands };
                if effect.kind == K::VcsRemote && operands.iter().any(|word| word.shape == Shape::Dynamic) {
                    return vec![self.unnamed(effect.kind, call)];
                }
                let words: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
                let unnamed = || effect.otherwise.clone().unwrap_or_else(|| call.program.clone());
                let words = if words.is_empty() { unnamed() } else { words.join(" ") };
                let scope = self.scope_in_call(effect.kind, &words, call);
                return vec![(Target::Named(words), Some(scope))];
            }
        };
        if !effect.kind.is_under("fs") {
            let named = |arg: Arg| {
                let scope = self.scope_in_call(effect.kind, &arg.text, call);
                (Target::Named(arg.text), Some(scope))
            };
            return some_or(picked.into_iter().map(named).collect(), || self.unnamed(effect.kind, call));
        }
        let own = |arg: &Arg| match self.path_target(arg) {
            // Whatever git changes in a working tree lies in it.
            (Target::Unknown, _) if call.program == "git" => self.here(),
            (target, scope) => (target, Some(scope)),
        };
        some_or(picked.iter().map(own).collect(), || self.here())
    }

    fn keyed(word: &Arg, key: &str) -> Option<Arg> {
        word.text.strip_prefix(key).map(|text| Arg { text: text.to_owned(), shape: word.shape })
    }

    fn unnamed(&self, kind: EffectKind, call: &Invocation) -> (Target, Option<Scope>) {
        (Target::Unknown, Some(self.scope_in_call(kind, "", call)))
    }

    pub(super) fn here(&self) -> (Target, Option<Scope>) {
        let resolved = self.resolve(".");
        match self.state.cwd {
            Cwd::Unknown => (Target::Unknown, Some(Scope::Unknown)),
            Cwd::Start | Cwd::OneOf(_) => (Target::Under(resolved.path), Some(resolved.scope)),
        }
    }

    /// Where an effect of `kind` takes place, as far as the kind and the target's words tell.
    pub(super) fn scope_of(&self, kind: EffectKind, words: &str) -> Scope {
        self.scope_in_call(
            kind,
            words,
            &Invocation { program: self.program.clone(), ..Invocation::default() },
        )
    }

    fn scope_in_call(&self, kind: EffectKind, words: &str, call: &Invocation) -> Scope {
        if let Some(place) = &self.state.place {
            return place.clone();
        }
        match kind {
            K::VcsConfig if call.has("--global") => Scope::Home,
            K::VcsConfig if call.has("--system") => Scope::System,
            K::VcsRemote if matches!(call.program.as_str(), "gh" | "hub") => {
                Scope::Remote("github.com".to_owned())
            }
            K::VcsRemote => Scope::Remote(words.split(' ').next().unwrap_or_default().to_owned()),
            K::NetSend | K::NetRead => Scope::Remote(host(words)),
            K::PkgMutate => package_scope(call),
            K::SvcState if call.program == "docker" => Scope::Container(words.to_owned()),
            K::SvcState
            | K::SysConfig
            | K::SysAccount
            | K::SysDevice
            | K::SysSchedule
            | K::EnvRead
            | K::SecretRead => Scope::System,
            K::ProcSpawn | K::ProcSignal => Scope::Outside,
            K::DbWrite | K::DbSchema | K::DbPerm | K::DbRead => Scope::Database(database(call)),
            K::CloudMutate | K::CloudRead => Scope::Cloud(cloud(call)),
            K::VcsIndex
            | K::VcsCommit
            | K::VcsSwitch
            | K::VcsHistory
            | K::VcsConfig
            | K::VcsRead
            | K::None => self.resolve(".").scope,
            K::FsWrite
            | K::FsAppend
            | K::FsDelete
            | K::FsMove
            | K::FsMeta
            | K::FsLink
            | K::FsDiscard
            | K::FsRead => Scope::Unknown,
            K::ToolMutate | K::HumanHandoff | K::ExecCode | K::ExecOpaque | K::AgentState | K::AgentSpawn => {
                Scope::Unknown
            }
        }
    }
}

fn some_or<T>(list: Vec<T>, other: impl FnOnce() -> T) -> Vec<T> {
    if list.is_empty() { vec![other()] } else { list }
}

/// The directory part of the fixed beginning of a pattern.
fn directory_of(fixed: &str) -> &str {
    match fixed.rfind('/') {
        Some(0) => "/",
        Some(end) => fixed.get(..end).unwrap_or(fixed),
        None => ".",
    }
}

/// The host in the first URL or `user@host:` of some words.
pub(super) fn host(words: &str) -> String {
    let after = words.split_once("://").map_or(words, |(_, rest)| rest);
    let authority = after.split(['/', '?', ' ']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase()
}

/// Where packages go, by package manager.
fn package_scope(call: &Invocation) -> Scope {
    const SYSTEM: &[&str] = &[
        "apt",
        "apt-key",
        "apt-mark",
        "add-apt-repository",
        "dpkg",
        "dpkg-reconfigure",
        "yum",
        "apk",
        "rpm",
        "pacman",
        "yay",
        "zypper",
        "brew",
        "snap",
        "flatpak",
        "choco",
        "winget",
        "port",
        "nix-env",
        "emerge",
        "update-alternatives",
        "alternatives",
        "softwareupdate",
        "pkg",
        "mas",
        "xbps-install",
        "corepack",
    ];
    const HOME: &[&str] = &[
        "rustup", "nvm", "fnm", "volta", "pyenv", "rbenv", "asdf", "mise", "sdk", "conda", "scoop",
        "juliaup", "ghcup",
    ];
    const PROJECT: &[&str] = &[
        "npm", "pnpm", "yarn", "bun", "cargo", "go", "uv", "poetry", "pdm", "pipenv", "rye", "hatch", "pixi",
        "composer", "pod",
    ];
    let own = |list: &[&str]| list.contains(&call.program.as_str());
    let installs_tools = matches!(call.operand(0), Some("install" | "uninstall" | "binstall"));
    let global = own(&["npm", "pnpm", "yarn", "bun"]) && (call.has("-g") || call.has("--global"));
    if own(SYSTEM) || global || (call.program == "uv" && call.has("--system")) {
        Scope::System
    } else if own(HOME)
        || call.has("--user")
        || (own(&["cargo", "go"]) && installs_tools)
        || call.operand(0) == Some("tool")
    {
        Scope::Home
    } else if own(PROJECT) {
        Scope::Project
    } else {
        Scope::Unknown
    }
}

fn database(call: &Invocation) -> String {
    let named = call.value(&["-d", "--dbname", "-D", "--database", "-h", "--host", "-c"]);
    named.map(|arg| arg.text.clone()).unwrap_or_default()
}

fn cloud(call: &Invocation) -> String {
    let named = call.value(&[
        "--context",
        "--kube-context",
        "--project",
        "--profile",
        "--subscription",
        "-n",
        "--namespace",
    ]);
    named.map_or_else(|| call.program.clone(), |arg| arg.text.clone())
}

/// The environment that a call names itself: a whole word of an argument or of an assigned value.
pub(super) fn environment(words: &[Arg], bound: &[(String, Option<Arg>)]) -> Option<&'static str> {
    const NAMES: &[(&str, &str)] = &[
        ("prod", "prod"),
        ("production", "prod"),
        ("staging", "staging"),
        ("stage", "staging"),
        ("stg", "staging"),
        ("dev", "dev"),
        ("development", "dev"),
        ("localhost", "dev"),
        ("test", "test"),
        ("testing", "test"),
    ];
    let texts = words.iter().skip(1).map(|word| word.text.as_str());
    let values = bound.iter().filter_map(|(_, value)| value.as_ref().map(|arg| arg.text.as_str()));
    let named = |text: &str| {
        let parts = text.split(|char: char| !char.is_ascii_alphanumeric());
        let mut parts = parts.filter(|part| !part.is_empty());
        parts.find_map(|part| {
            NAMES.iter().find(|(name, _)| part.eq_ignore_ascii_case(name)).map(|(_, tag)| *tag)
        })
    };
    let hostlike = |text: &&str| text.len() <= 200 && !text.contains('\n');
    let mut found = texts.chain(values).filter(hostlike).filter_map(named);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}
