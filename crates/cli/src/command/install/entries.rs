//! What goes where, agent by agent.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strongroom::{Error, Result};

use super::target::State;
use super::{hooks, server, toml};
use crate::args::{AgentArg, Args, InstallArgs, OnFailureArg, ScopeArg};
use crate::place;

/// By what our entries are known: words in every command that we put anywhere.
pub(super) const MARK: [&str; 2] = ["--installed-by", "strongroom"];

/// A hook that we put in: the event, when it fires, and the longest it may take, in seconds. It is longer than our own
/// deadline, so that we can still say what happened.
struct Wanted {
    event: &'static str,
    matcher: Option<&'static str>,
    timeout_s: u64,
    /// Our own deadline, where it is not the usual one.
    deadline_s: Option<u64>,
}

const fn wanted(event: &'static str, matcher: Option<&'static str>) -> Wanted {
    Wanted { event, matcher, timeout_s: 15, deadline_s: None }
}

const CLAUDE_CODE: &[Wanted] = &[
    wanted("PreCompact", None),
    wanted("PostCompact", None),
    wanted("SessionStart", Some("compact|resume|fork")),
    wanted("UserPromptSubmit", None),
    wanted("Stop", None),
    wanted("SessionEnd", None),
];

/// Codex gives the end of a session three seconds at most.
const CODEX: &[Wanted] = &[
    wanted("PreCompact", None),
    wanted("PostCompact", None),
    wanted("SessionStart", Some("compact|resume")),
    wanted("UserPromptSubmit", None),
    wanted("Stop", None),
    Wanted { event: "SessionEnd", matcher: None, timeout_s: 3, deadline_s: Some(2) },
];

/// Our entries in one file.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) path: PathBuf,
    entries: Entries,
}

/// Our entries, by the form of the file.
#[derive(Debug, Clone)]
pub(super) enum Entries {
    /// Groups of hooks, by event, in a JSON file.
    Hooks(Vec<(String, Value)>),
    /// An MCP server in a JSON file.
    Server(Option<Value>),
    /// An MCP server in a TOML file.
    TomlServer(Option<Value>),
}

impl Entries {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Hooks(groups) => groups.is_empty(),
            Self::Server(entry) | Self::TomlServer(entry) => entry.is_none(),
        }
    }
}

impl Edit {
    /// The file with our entries, each once.
    ///
    /// # Errors
    /// `InvalidInput` when the file is not what it should be.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        match &self.entries {
            Entries::Hooks(groups) => hooks::put(bytes, groups),
            Entries::Server(entry) => server::put(bytes, entry.as_ref()),
            Entries::TomlServer(entry) => toml::put(bytes, entry.as_ref()),
        }
    }

    /// The file without our entries.
    ///
    /// # Errors
    /// `InvalidInput` when the file is not what it should be.
    pub(super) fn take(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        match &self.entries {
            Entries::Hooks(_) => hooks::take(bytes),
            Entries::Server(_) => server::take(bytes),
            Entries::TomlServer(_) => toml::take(bytes),
        }
    }

    /// Our entries as they stand in the file.
    pub(super) fn own(&self, bytes: &[u8]) -> Entries {
        match &self.entries {
            Entries::Hooks(_) => Entries::Hooks(hooks::own(bytes)),
            Entries::Server(_) => Entries::Server(server::own(bytes)),
            Entries::TomlServer(_) => Entries::TomlServer(toml::own(bytes)),
        }
    }

    /// The same edit with other entries.
    pub(super) fn with(&self, entries: Entries) -> Self {
        Self { path: self.path.clone(), entries }
    }

    /// What it puts in, in a word.
    pub(super) const fn what(&self) -> &'static str {
        match &self.entries {
            Entries::Hooks(_) => "hooks",
            Entries::Server(_) | Entries::TomlServer(_) => "mcp server",
        }
    }

    /// Why it may not work although it is there.
    pub(super) fn doubts(&self, after: &State) -> Vec<String> {
        let off = match &self.entries {
            Entries::Hooks(_) => hooks::are_off(after.bytes()).then_some("disableAllHooks is on"),
            Entries::Server(_) => None,
            Entries::TomlServer(_) => toml::hooks_are_off(after.bytes()).then_some("features.hooks is off"),
        };
        let words = |why: &str| format!("{}: {why}, so that no hook runs", self.path.display());
        off.map(words).into_iter().collect()
    }
}

/// The edits that `install` makes.
///
/// # Errors
/// `InvalidInput` when no home directory is known.
pub(super) fn edits(args: &Args, own: &InstallArgs) -> Result<Vec<Edit>> {
    let program = Program::of(args, own)?;
    let table = match own.agent {
        AgentArg::ClaudeCode => CLAUDE_CODE,
        AgentArg::Codex => CODEX,
    };
    let groups = table.iter().map(|hook| (hook.event.to_owned(), program.group(own, hook))).collect();
    let (hooks, server) = places(own)?;
    let server = match own.agent {
        AgentArg::ClaudeCode => {
            Edit { path: server, entries: Entries::Server(Some(program.server("stdio"))) }
        }
        AgentArg::Codex => Edit { path: server, entries: Entries::TomlServer(Some(program.server(""))) },
    };
    Ok(vec![Edit { path: hooks, entries: Entries::Hooks(groups) }, server])
}

/// The files of hooks and of MCP servers.
fn places(own: &InstallArgs) -> Result<(PathBuf, PathBuf)> {
    let home = || place::home().ok_or_else(|| Error::invalid_input("no home directory is known"));
    let here = || {
        std::env::current_dir()
            .map_err(|error| Error::unavailable("the current directory cannot be read").caused_by(error))
    };
    Ok(match (own.agent, own.scope) {
        (AgentArg::ClaudeCode, ScopeArg::User) => match place::agent_home("CLAUDE_CONFIG_DIR") {
            Some(dir) => (dir.join("settings.json"), dir.join(".claude.json")),
            None => (home()?.join(".claude/settings.json"), home()?.join(".claude.json")),
        },
        (AgentArg::ClaudeCode, ScopeArg::Project) => {
            (here()?.join(".claude/settings.json"), here()?.join(".mcp.json"))
        }
        (AgentArg::Codex, ScopeArg::User) => {
            let dir =
                place::agent_home("CODEX_HOME").map_or_else(|| home().map(|home| home.join(".codex")), Ok)?;
            (dir.join("hooks.json"), dir.join("config.toml"))
        }
        (AgentArg::Codex, ScopeArg::Project) => {
            (here()?.join(".codex/hooks.json"), here()?.join(".codex/config.toml"))
        }
    })
}

/// How we are called.
struct Program {
    /// The program: where it stands, or its name alone in a project that others share.
    path: String,
    /// What stands behind it in every call.
    words: Vec<String>,
}

impl Program {
    fn of(args: &Args, own: &InstallArgs) -> Result<Self> {
        let path = match own.scope {
            ScopeArg::Project => "strongroom".to_owned(),
            ScopeArg::User => text(&own_place(args)?)?,
        };
        let mut words = Vec::new();
        let named = [
            ("--dir", &args.dir),
            ("--policy", &args.policy),
            ("--key-file", &args.key_file),
            ("--passphrase-file", &args.passphrase_file),
        ];
        for (flag, value) in named {
            if let Some(value) = value {
                words.push(flag.to_owned());
                words.push(text(&std::path::absolute(value).unwrap_or_else(|_| value.clone()))?);
            }
        }
        if let Some(command) = &args.passphrase_command {
            words.extend(["--passphrase-command".to_owned(), command.clone()]);
        }
        words.extend(MARK.map(str::to_owned));
        Ok(Self { path, words })
    }

    fn group(&self, own: &InstallArgs, hook: &Wanted) -> Value {
        let mut words = vec![self.path.clone()];
        words.extend(self.words.iter().cloned());
        words.extend(["hook".to_owned(), hook.event.to_owned()]);
        if own.agent == AgentArg::Codex {
            words.extend(["--agent", "codex"].map(str::to_owned));
        }
        if own.on_failure == OnFailureArg::Block && hook.event == "PreCompact" {
            words.extend(["--on-failure", "block"].map(str::to_owned));
        }
        if let Some(deadline) = hook.deadline_s {
            words.extend(["--deadline".to_owned(), deadline.to_string()]);
        }
        let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let handler = json!({ "type": "command", "command": command.join(" "), "timeout": hook.timeout_s });
        match hook.matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
            None => json!({ "hooks": [handler] }),
        }
    }

    /// The entry of the MCP server.
    fn server(&self, kind: &str) -> Value {
        let mut words = self.words.clone();
        words.push("mcp".to_owned());
        if kind.is_empty() {
            json!({ "command": self.path, "args": words })
        } else {
            json!({ "type": kind, "command": self.path, "args": words })
        }
    }
}

/// Where the program stands that runs this command.
fn own_place(args: &Args) -> Result<PathBuf> {
    args.program
        .clone()
        .map_or_else(std::env::current_exe, Ok)
        .map_err(|error| Error::unavailable("this program's place is not known").caused_by(error))
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::invalid_input(format!("{} is no UTF-8 text, which settings are", path.display()))
    })
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Whether a command is one that we put in.
pub(super) fn is_ours(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.windows(2).any(|pair| pair == MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("/usr/bin/strongroom"), "/usr/bin/strongroom");
        assert_eq!(quoted("/home/a b/it's"), "'/home/a b/it'\\''s'");
    }

    #[test]
    fn only_marked_commands_are_ours() {
        assert!(is_ours("/x/strongroom --installed-by strongroom hook Stop"));
        assert!(!is_ours("strongroom hook Stop"));
        assert!(!is_ours("echo --installed-by someone strongroom"));
    }
}
