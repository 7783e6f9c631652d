//! Effects: what a tool call did or may have done.

use std::fmt;
use std::sync::Arc;

use strongroom_core::digest::Digest;
use strongroom_core::evidence::Certainty;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $access:ident;)*) => {
        /// What kind of effect, hierarchical by the dots of its word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EffectKind { $($(#[$doc])* $name,)* }

        impl EffectKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word for this kind in queries, tables and output.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Whether it changes anything.
            pub const fn access(self) -> Access {
                match self { $(Self::$name => Access::$access,)* }
            }

            /// The kind with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.word() == word)
            }

            /// Whether this kind is `word` or lies below it: `fs.write` is under `fs`.
            pub fn is_under(self, word: &str) -> bool {
                self.word().strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
        }
    };
}

/// Whether a kind of effect changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// It only reads.
    Read,
    /// It mutates, or may.
    Mutation,
}

kinds! {
    /// A file is written or truncated.
    FsWrite = "fs.write", Mutation;
    /// A file is appended to.
    FsAppend = "fs.append", Mutation;
    /// A file is deleted.
    FsDelete = "fs.delete", Mutation;
    /// A file is moved.
    FsMove = "fs.move", Mutation;
    /// Mode, owner or times change.
    FsMeta = "fs.meta", Mutation;
    /// A link is made.
    FsLink = "fs.link", Mutation;
    /// Uncommitted edits are thrown away.
    FsDiscard = "fs.discard", Mutation;
    /// The index of a repository changes.
    VcsIndex = "vcs.index", Mutation;
    /// A commit is made.
    VcsCommit = "vcs.commit", Mutation;
    /// Another branch is checked out, or a branch or tag is made here.
    VcsSwitch = "vcs.switch", Mutation;
    /// History is rewritten.
    VcsHistory = "vcs.history", Mutation;
    /// A remote repository changes.
    VcsRemote = "vcs.remote", Mutation;
    /// The configuration of a repository changes.
    VcsConfig = "vcs.config", Mutation;
    /// Packages are installed, updated or removed.
    PkgMutate = "pkg.mutate", Mutation;
    /// A process is started that goes on.
    ProcSpawn = "proc.spawn", Mutation;
    /// A process is signalled.
    ProcSignal = "proc.signal", Mutation;
    /// A service is started, stopped, enabled or reloaded.
    SvcState = "svc.state", Mutation;
    /// System configuration changes by a command.
    SysConfig = "sys.config", Mutation;
    /// Accounts or groups change.
    SysAccount = "sys.account", Mutation;
    /// Devices, mounts or kernel state change.
    SysDevice = "sys.device", Mutation;
    /// Scheduled jobs change.
    SysSchedule = "sys.schedule", Mutation;
    /// Rows of a database change.
    DbWrite = "db.write", Mutation;
    /// The schema of a database changes.
    DbSchema = "db.schema", Mutation;
    /// Rights in a database change.
    DbPerm = "db.perm", Mutation;
    /// A cloud resource changes.
    CloudMutate = "cloud.mutate", Mutation;
    /// Data is sent: a message, an upload, a POST.
    NetSend = "net.send", Mutation;
    /// An API or MCP tool changes its domain.
    ToolMutate = "tool.mutate", Mutation;
    /// A person is asked, or the work is handed over.
    HumanHandoff = "human.handoff", Mutation;
    /// Code runs whose effects are not all known.
    ExecCode = "exec.code", Mutation;
    /// Something runs of which nothing is known.
    ExecOpaque = "exec.opaque", Mutation;
    /// A file or directory is read.
    FsRead = "fs.read", Read;
    /// A repository is read.
    VcsRead = "vcs.read", Read;
    /// The network is read.
    NetRead = "net.read", Read;
    /// A database is read.
    DbRead = "db.read", Read;
    /// Cloud state is read.
    CloudRead = "cloud.read", Read;
    /// Environment or system state is read.
    EnvRead = "env.read", Read;
    /// A secret is read.
    SecretRead = "secret.read", Read;
    /// The state of the agent itself changes: plans, to-do lists.
    AgentState = "agent.state", Read;
    /// A child agent is started.
    AgentSpawn = "agent.spawn", Mutation;
    /// Nothing.
    None = "none", Read;
}

/// What an effect touches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A path, resolved lexically where the working directory is known.
    Path {
        /// The normalised path.
        resolved: String,
        /// The path as written.
        written: String,
    },
    /// Everything below a path, or what a glob in it matches.
    Under(String),
    /// A named thing that is no path: a ref, package, unit, host, URL, relation, resource.
    Named(String),
    /// Not known.
    Unknown,
}

impl Target {
    /// The target in output; `?` where it is not known.
    pub fn words(&self) -> &str {
        match self {
            Self::Path { resolved, .. } => resolved,
            Self::Under(text) | Self::Named(text) => text,
            Self::Unknown => "?",
        }
    }
}

/// Where an effect takes place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Below the project's root.
    Project,
    /// Temporary directories.
    Temp,
    /// The user's home directory.
    Home,
    /// The system.
    System,
    /// Another place on this machine that is none of the others.
    Outside,
    /// Another machine.
    Remote(String),
    /// A container.
    Container(String),
    /// A database.
    Database(String),
    /// A cloud account or cluster.
    Cloud(String),
    /// Not decided.
    Unknown,
}

impl Scope {
    /// The word for this scope in queries and output.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Temp => "temp",
            Self::Home => "home",
            Self::System => "system",
            Self::Outside => "outside",
            Self::Remote(_) => "remote",
            Self::Container(_) => "container",
            Self::Database(_) => "db",
            Self::Cloud(_) => "cloud",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// With which rights an effect was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// The user's own.
    User,
    /// Raised, e.g. by `sudo`.
    Root,
}

/// How a call ended, as far as it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The record proves success: an exit code or success text that covers this effect.
    Ok,
    /// The tool returned without error flag or failure text.
    ReportedOk,
    /// The record proves failure.
    Failed,
    /// It ran and changed nothing.
    NoEffect,
    /// The user or a policy refused it.
    Refused,
    /// It was stopped.
    Interrupted,
    /// A dry run.
    DryRun,
    /// Not known.
    Unknown,
}

impl Outcome {
    /// The word for this outcome in queries and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ReportedOk => "reported-ok",
            Self::Failed => "failed",
            Self::NoEffect => "no-effect",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::DryRun => "dry-run",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it supports "it was done".
    pub const fn is_positive(self) -> bool {
        matches!(self, Self::Ok | Self::ReportedOk)
    }

    /// Whether it shows that nothing was done.
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::Failed | Self::NoEffect | Self::Refused | Self::DryRun)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The assumption under which what an opaque run can have done is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// Known runners write only below project, caches and temp and send nothing.
    A1,
    /// An unprivileged process cannot change system scope.
    A2,
    /// Nothing outside the recorded calls is spoken of.
    A3,
}

impl Assumption {
    /// The assumption in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::A1 => {
                "A1: known runners (tests, compilers, package scripts, commit hooks) write only below project, caches and temp and send nothing"
            }
            Self::A2 => "A2: an unprivileged process cannot change system scope",
            Self::A3 => "A3: nothing outside the recorded calls is spoken of",
        }
    }
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What kind.
    pub kind: EffectKind,
    /// What it touches.
    pub target: Target,
    /// Where.
    pub scope: Scope,
    /// How certain it is that it was tried.
    pub certainty: Certainty,
    /// With which rights.
    pub privilege: Privilege,
    /// How it ended.
    pub outcome: Outcome,
    /// `prod`, `staging`, `dev` or `test`, with evidence in the call; `None` where nothing says so.
    pub environment: Option<String>,
    /// The program in a shell line, or the tool.
    pub program: String,
    /// Why an opaque run is bounded: it can have touched nothing outside what the assumption names.
    pub bounded_by: Option<Assumption>,
    /// Where in its call it comes from.
    pub origin: Origin,
}

/// Where in its call an effect comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The 1-based number of the command in the call; 0 of a tool that is no shell.
    pub step: usize,
    /// The commands of the call that must have succeeded before it ran: those in front of `&&`, or of `set -e`.
    pub requires: Arc<[usize]>,
    /// The hash of the text that was run, where the session holds it: of the script, recipe or statements.
    pub artifact: Option<Digest>,
}
