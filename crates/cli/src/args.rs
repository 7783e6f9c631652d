//! Words typed.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};
use strongroom::policy::Writer;
use strongroom::tokens::Budget;

/// A compactor for agent transcripts that never loses evidence.
///
/// Exit codes: 0 done (refusals included); 1 an honest no (budget not met, an answer other than supported, a record
/// that was never there); 2 usage, also a name that is wrong; 3 damaged, gone or unavailable.
#[derive(Debug, Parser)]
#[command(name = "strongroom", version, max_term_width = 100)]
pub(crate) struct Args {
    /// The archive's directory [default: `$XDG_DATA_HOME/strongroom`]
    #[arg(long, global = true, env = "STRONGROOM_DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,

    /// A policy file: evidence demand, retention, waivers, holds
    #[arg(long, global = true, env = "STRONGROOM_POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<PathBuf>,

    /// The key file that opens the archive, where it is encrypted with one
    #[arg(
        long, global = true, env = "STRONGROOM_KEY_FILE", hide_env_values = true, value_name = "FILE",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) key_file: Option<PathBuf>,

    /// A file that holds the passphrase of an encrypted archive
    #[arg(
        long, global = true, env = "STRONGROOM_PASSPHRASE_FILE", hide_env_values = true, value_name = "FILE",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) passphrase_file: Option<PathBuf>,

    /// A command that prints the passphrase of an encrypted archive
    #[arg(
        long, global = true, env = "STRONGROOM_PASSPHRASE_COMMAND", hide_env_values = true, value_name = "COMMAND",
        value_hint = ValueHint::CommandString
    )]
    pub(crate) passphrase_command: Option<String>,

    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Who put this command where it stands
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub(crate) installed_by: Option<String>,

    /// What runs this command again, where that is not the running program.
    #[arg(skip)]
    pub(crate) program: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shorten a transcript; every original stays retrievable
    Compact(CompactArgs),
    /// Print the original behind a pointer
    Show(ShowArgs),
    /// Answer an evidence question with citations
    Ask(AskArgs),
    /// Find where exactly this text stands in everything that was archived, or show that it is nowhere
    Search(SearchArgs),
    /// List what was done, in order, with outcome, evidence and what was rolled back
    Ledger(LedgerArgs),
    /// Check a sentence against what is recorded
    Claim(ClaimArgs),
    /// List what disagrees: summaries, claims, values that changed
    Conflicts(ConflictsArgs),
    /// Give the exact calls back, in order; --check tells which may be repeated
    Replay(ReplayArgs),
    /// Show class, evidence, provenance and verdict of each span
    Explain(ExplainArgs),
    /// Take files or whole trees into custody
    Import(ImportArgs),
    /// List the sources in custody
    Sessions(SessionsArgs),
    /// Write the newest state of a source, byte for byte
    Export(ExportArgs),
    /// Check the archive
    Verify(VerifyArgs),
    /// Tell what is kept how long, what is held, and which summaries lose their originals when
    Retention(RetentionArgs),
    /// Plan the deletion of originals whose retention has ended; --act deletes them
    Gc(GcArgs),
    /// Keep originals that nobody asks for in a store of objects: a directory, S3, Google Cloud Storage or Azure
    Tier(TierArgs),
    /// Encrypt the archive where it lies, or change what opens it
    Encrypt(EncryptArgs),
    /// Plan the erasure of a source or of an original, whatever its retention; --act erases it
    Erase(EraseArgs),
    /// Take bytes out of an original; the rest of it stays provable
    Redact(RedactArgs),
    /// Print a checkpoint of the journal, signed; kept elsewhere, it pins everything until now
    Checkpoint(CheckpointArgs),
    /// Write a bundle that proves an original or an answer to somebody who has no archive
    Prove(ProveArgs),
    /// Check a bundle, without an archive
    Check(CheckArgs),
    /// Show what the compactions in transcripts have lost and invented
    Lost(LostArgs),
    /// Answer evidence questions over the Model Context Protocol, on standard input and output or over HTTP
    Mcp(McpArgs),
    /// Answer an agent's hook: keep its transcript, give back what a compaction took from it
    Hook(HookArgs),
    /// Put the hooks and the MCP server into an agent's settings, or take them out again
    Install(InstallArgs),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompactArgs {
    /// The transcript; - reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// How much the agent may send afterwards: a share of what it sends now, or tokens
    #[arg(long, default_value = "20%")]
    pub(crate) budget: Budget,

    /// Compact only when the agent would send more than this: tokens, or a share of --window; below it the input comes
    /// back byte for byte
    #[arg(long, value_name = "TOKENS|PERCENT")]
    pub(crate) above: Option<Budget>,

    /// The agent's context window; shares are then of it, and not of what the agent sends now
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<Budget>,

    /// Where to write; - is standard output [default: FILE.compacted.EXT beside the input, - for -]
    #[arg(long, short, value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,

    /// Write the smallest reachable form when the budget cannot be met
    #[arg(long)]
    pub(crate) best_effort: bool,

    /// Work without an archive: only proved narrative is reclaimed
    #[arg(long)]
    pub(crate) without_archive: bool,

    /// Whether secrets are hidden in the compacted form
    #[arg(long, value_enum, default_value_t = SecretsArg::Mask)]
    pub(crate) secrets: SecretsArg,

    /// Who writes the prose of the summary: exec:COMMAND, openai:MODEL, anthropic:MODEL, or built-in for nobody. Each
    /// sentence is proved or struck; which spans go is not theirs to say [default: what the policy says]
    #[arg(long, value_name = "WHO", conflicts_with = "without_archive")]
    pub(crate) summarizer: Option<Writer>,

    /// Write under the name the agent expects and print the command that goes on with it
    #[arg(long, conflicts_with = "out")]
    pub(crate) resume: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SecretsArg {
    /// Hide them in the view; originals stay in custody
    Mask,
    /// Leave them
    Keep,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// A pointer as it stands in a summary: sr1:…[#span]
    pub(crate) pointer: String,

    /// Print the exact bytes
    #[arg(long)]
    pub(crate) raw: bool,

    /// Print secrets
    #[arg(long)]
    pub(crate) reveal: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// A typed query such as 'changes system-config', or a plain question
    #[arg(required = true)]
    pub(crate) question: Vec<String>,

    /// The transcript whose session is asked [default: the sessions of this directory in the archive]
    #[arg(long = "in", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,

    /// Ask every session in the archive
    #[arg(long, conflicts_with = "file")]
    pub(crate) all: bool,

    /// Make no assumptions about test runners and unprivileged processes
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// The text, byte for byte; case counts
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,

    /// Only this source, the sources below this directory, or those of this session
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Vec<String>,

    /// The most texts that are listed [default: 20]
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) limit: Option<NonZero<usize>>,

    /// List every text
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    /// The transcript; - reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// More terms of the query language, such as 'target:*conf*' or '-scope:temp'
    #[arg(allow_hyphen_values = true)]
    pub(crate) terms: Vec<String>,

    /// Only these kinds, or kinds below them: fs, fs.write, vcs.remote …; reads only where asked for
    #[arg(long)]
    pub(crate) kind: Vec<String>,

    /// Only these scopes: project, temp, home, system, outside, remote, container, db, cloud
    #[arg(long)]
    pub(crate) scope: Vec<String>,

    /// Only these outcomes: ok, reported-ok, failed, no-effect, refused, interrupted, dry-run, unknown
    #[arg(long)]
    pub(crate) outcome: Vec<String>,

    /// Only definite or only possible effects
    #[arg(long)]
    pub(crate) certainty: Option<String>,

    /// From this record (L12), time, or compaction:N on
    #[arg(long)]
    pub(crate) from: Option<String>,

    /// Up to this record, time, or compaction:N
    #[arg(long)]
    pub(crate) to: Option<String>,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClaimArgs {
    /// The sentence, such as 'the tests pass' or 'we never pushed to main'
    #[arg(required = true)]
    pub(crate) sentence: Vec<String>,

    /// The transcript whose session is asked [default: the sessions of this directory in the archive]
    #[arg(long = "in", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,

    /// Make no assumptions about test runners and unprivileged processes
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConflictsArgs {
    /// The transcript; - reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a flag as it is typed")]
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// The transcript; - reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// More terms of the query language, such as 'arg:*conf*'
    #[arg(allow_hyphen_values = true)]
    pub(crate) terms: Vec<String>,

    /// Only calls of these tools
    #[arg(long)]
    pub(crate) tool: Vec<String>,

    /// Only calls with effects of these kinds, reads included
    #[arg(long)]
    pub(crate) kind: Vec<String>,

    /// From this record (L12), time, or compaction:N on
    #[arg(long)]
    pub(crate) from: Option<String>,

    /// Up to this record, time, or compaction:N
    #[arg(long)]
    pub(crate) to: Option<String>,

    /// Tell which calls are done and must not be repeated, which may be, and which cannot be known
    #[arg(long, conflicts_with = "script")]
    pub(crate) check: bool,

    /// Print the shell calls as a POSIX script of functions that nothing calls
    #[arg(long)]
    pub(crate) script: bool,

    /// Print secrets
    #[arg(long)]
    pub(crate) reveal: bool,

    /// Make no assumptions about test runners and unprivileged processes
    #[arg(long)]
    pub(crate) strict: bool,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The transcript
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Only this span
    #[arg(long)]
    pub(crate) span: Option<u32>,

    /// The format, where its content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(crate) struct ImportArgs {
    /// Files and directories
    #[arg(required_unless_present = "all", conflicts_with = "all", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// The sessions of every agent in its standard place, with child agents and side files
    #[arg(long)]
    pub(crate) all: bool,

    /// Read files again that look unchanged
    #[arg(long)]
    pub(crate) recheck: bool,

    /// Index everything for search as well, which takes some times as long; a search without it indexes what it needs
    #[arg(long)]
    pub(crate) index: bool,

    /// Go on: take in what sessions grow by, and tell what shrinks, is replaced or goes away; Ctrl-C ends it
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionsArgs {
    /// List what stands in the standard place of every agent instead, and whether it is in custody
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The source's name or the beginning of its id, as sessions prints them
    pub(crate) source: String,

    /// Where to write [default: standard output]
    #[arg(long, short, value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Read every original back and compare it with its hash
    #[arg(long)]
    pub(crate) read_data: bool,

    /// A checkpoint that was kept elsewhere: the journal must still begin with it
    #[arg(long, value_name = "CHECKPOINT", value_hint = ValueHint::FilePath)]
    pub(crate) since: Option<PathBuf>,

    /// The key that must have signed it: the key itself, or a file
    #[arg(long, value_name = "KEY", requires = "since")]
    pub(crate) public_key: Option<String>,

    /// Tell what became of the files that were imported
    #[arg(long)]
    pub(crate) sources: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RetentionArgs {
    /// Only this source, by name or the beginning of its id, as sessions prints them
    pub(crate) source: Option<String>,

    /// Keep it longer, from now on: 180d, or indefinite; nothing is ever kept shorter
    #[arg(long, value_name = "LENGTH", requires = "source")]
    pub(crate) extend: Option<String>,

    /// Forbid deleting any of it until the hold is taken off
    #[arg(long, value_enum, requires = "source", requires = "reason", conflicts_with = "release")]
    pub(crate) hold: Option<HoldArg>,

    /// Why it is held
    #[arg(long, value_name = "WORDS", requires = "hold")]
    pub(crate) reason: Option<String>,

    /// Take the hold off
    #[arg(long, requires = "source")]
    pub(crate) release: bool,

    /// Take off a legal hold too
    #[arg(long, requires = "release")]
    pub(crate) i_may_release: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HoldArg {
    /// A rule of the house
    Governance,
    /// A court, an authority, a contract
    Legal,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Delete what the plan names
    #[arg(long)]
    pub(crate) act: bool,

    /// Say that deleting is yours to decide; a policy with may-delete says so once for all
    #[arg(long, requires = "act")]
    pub(crate) i_may_delete: bool,

    /// Today's date in UTC, such as 2026-11-30, as you know it from elsewhere, where the clock is in doubt
    #[arg(long, value_name = "DATE", requires = "act")]
    pub(crate) today: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TierArgs {
    #[command(subcommand)]
    pub(crate) act: TierAct,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TierAct {
    /// Show what is in the database and what is in the cold tier, and whether that can be reached
    Status,
    /// Make a store the cold tier; keys are read from the environment, as AWS_…, GOOGLE_… or AZURE_…
    Set {
        #[arg(help = "file:///DIRECTORY, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX")]
        url: String,

        /// How long reading from it may take at most, such as 5s or 12h, where that is known better than measured
        #[arg(long, value_name = "TIME")]
        latency: Option<String>,
    },
    /// Plan what to move there; --act moves it
    Move {
        /// Originals of sources that have had no new state for so long, such as 30d
        #[arg(long, value_name = "TIME")]
        older_than: String,

        /// Move what the plan names
        #[arg(long)]
        act: bool,
    },
    /// Plan what to bring back; --act brings it back
    Back {
        /// The source, by name or id; without it, everything
        source: Option<String>,

        /// Bring back what the plan names
        #[arg(long)]
        act: bool,
    },
    /// Take objects away that nothing needs: of what was erased, brought back, or moved by half
    Sweep,
}

#[expect(clippy::struct_field_names, reason = "each is a flag as it is typed")]
#[derive(Debug, clap::Args)]
pub(crate) struct EncryptArgs {
    /// Make a key file first, outside the archive, and use it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) new_key_file: Option<PathBuf>,

    /// Change the lock of an encrypted archive to the passphrase in this file
    #[arg(long, value_name = "FILE", conflicts_with = "new_key_file", value_hint = ValueHint::FilePath)]
    pub(crate) new_passphrase_file: Option<PathBuf>,

    /// Change the lock of an encrypted archive to the passphrase that this command prints
    #[arg(
        long, value_name = "COMMAND", conflicts_with_all = ["new_key_file", "new_passphrase_file"],
        value_hint = ValueHint::CommandString
    )]
    pub(crate) new_passphrase_command: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EraseArgs {
    /// The source, by name or the beginning of its id, as sessions prints them
    #[arg(required_unless_present = "content", conflicts_with = "content")]
    pub(crate) source: Option<String>,

    /// Erase the pieces behind a pointer, or the piece with this digest, in all sources
    #[arg(long, value_name = "POINTER|DIGEST")]
    pub(crate) content: Option<String>,

    /// Erase what belongs to the source too: child agents, side files, and what a compaction made of it
    #[arg(long)]
    pub(crate) related: bool,

    /// Why; it stands in the journal, and in place of what was erased
    #[arg(long, value_name = "WORDS", required_if_eq("act", "true"))]
    pub(crate) reason: Option<String>,

    /// Who orders it [default: `$USER`]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown", hide_env_values = true)]
    pub(crate) by: String,

    /// Erase what the plan names; there is no way back
    #[arg(long)]
    pub(crate) act: bool,

    /// Say that deleting is yours to decide; a policy with may-delete says so once for all
    #[arg(long, requires = "act")]
    pub(crate) i_may_delete: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    /// A pointer to one span, sr1:…#span, or a source as sessions prints it
    pub(crate) what: String,

    /// Which of its exact bytes, as show --raw and export print them: A..B, the end not included
    #[arg(long, value_name = "A..B", required_unless_present = "text", conflicts_with = "text")]
    pub(crate) bytes: Option<String>,

    /// Every place in it where this text stands; - reads the text from standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,

    /// Why; it stands in the journal, and in place of the bytes
    #[arg(long, value_name = "WORDS")]
    pub(crate) reason: String,

    /// Who orders it [default: `$USER`]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown", hide_env_values = true)]
    pub(crate) by: String,

    /// Say that deleting is yours to decide; a policy with may-delete says so once for all
    #[arg(long)]
    pub(crate) i_may_delete: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckpointArgs {
    /// The key that signs
    #[arg(long, env = "STRONGROOM_KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,

    /// Make a key first, in FILE and FILE.pub, outside the archive
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) new_key: Option<PathBuf>,

    /// The name under which a new key signs
    #[arg(long, default_value = "strongroom", requires = "new_key")]
    pub(crate) name: String,

    /// Where to write [default: standard output]
    #[arg(long, short, value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProveArgs {
    /// A pointer such as sr1:…#3, or a source as sessions prints it
    pub(crate) what: Option<String>,

    /// Prove the answer to this question instead
    #[arg(long, value_name = "QUERY", requires = "file", conflicts_with = "what")]
    pub(crate) ask: Option<String>,

    /// The transcript whose session is asked; it is taken into custody first
    #[arg(long = "in", value_name = "FILE", requires = "ask", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    /// Make no assumptions about test runners and unprivileged processes
    #[arg(long)]
    pub(crate) strict: bool,

    /// The key that signs
    #[arg(long, env = "STRONGROOM_KEY", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,

    /// Where to write
    #[arg(long, short, value_name = "BUNDLE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The bundle
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) bundle: PathBuf,

    /// The key that must have signed it: the key itself, or a file
    #[arg(long, value_name = "KEY")]
    pub(crate) public_key: Option<String>,

    /// Print the originals too
    #[arg(long)]
    pub(crate) show: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LostArgs {
    /// Transcripts and directories [default: the sessions of every agent in its standard place]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// Write a page that shows everything, each item with its record
    #[arg(long, value_name = "PAGE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Print every session and every item
    #[arg(long)]
    pub(crate) all: bool,

    /// The format, where content should not decide
    #[arg(long)]
    pub(crate) format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    /// A transcript or folder that may be asked; nothing else can be [default: the archive, and the sessions of Claude
    /// Code and Codex in their standard places, of which those of this directory are asked]
    #[arg(long = "in", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) places: Vec<PathBuf>,

    /// Listen here instead, on this machine alone: 127.0.0.1:7000, or a port. A bearer token is needed: that of
    /// --token-file, of `$STRONGROOM_MCP_TOKEN`, or a new one, printed once
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<String>,

    /// A file that holds the token
    #[arg(long, value_name = "FILE", requires = "http", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The event, as the agent names it, such as `PreCompact`; one that needs no answer gets none [default: the one
    /// that the payload names]
    pub(crate) event: Option<String>,

    /// The agent whose hook it is
    #[arg(long, value_enum, default_value_t = AgentArg::ClaudeCode)]
    pub(crate) agent: AgentArg,

    /// What happens when a transcript that is about to be compacted cannot be taken into custody
    #[arg(long, value_enum, default_value_t = OnFailureArg::Report)]
    pub(crate) on_failure: OnFailureArg,

    /// The longest evidence card, in tokens
    #[arg(long, default_value_t = 1_200, value_name = "TOKENS")]
    pub(crate) budget: u64,

    /// How long the agent is kept waiting, in seconds
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) deadline: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AgentArg {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnFailureArg {
    /// The user is told, and the agent compacts
    Report,
    /// The agent is asked not to compact
    Block,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: AgentArg,

    /// Whose settings
    #[arg(long, value_enum, default_value_t = ScopeArg::User)]
    pub(crate) scope: ScopeArg,

    /// Take out again what install put in
    #[arg(long)]
    pub(crate) uninstall: bool,

    /// Print what would change and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// What the hook does when a transcript cannot be taken into custody before a compaction
    #[arg(long, value_enum, default_value_t = OnFailureArg::Report)]
    pub(crate) on_failure: OnFailureArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScopeArg {
    /// Those of the user, for every project
    User,
    /// Those of the project in this directory
    Project,
}
