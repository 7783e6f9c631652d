//! One module per command.

mod ask;
mod check;
mod checkpoint;
mod claim;
mod compact;
mod conflicts;
mod encrypt;
mod erase;
mod explain;
mod export;
mod gc;
mod hook;
mod import;
mod install;
mod keys;
mod ledger;
mod lost;
mod mcp;
mod prove;
mod redact;
mod replay;
mod retention;
mod search;
mod sessions;
mod show;
mod summarizer;
mod tier;
mod verify;

use std::path::Path;

use clap::CommandFactory as _;
use strongroom::answer::{Gap, Strictness};
use strongroom::archive::Archive;
use strongroom::ask::{self as asking, AskOptions, Asked};
use strongroom::files::read_all;
use strongroom::ledger::{Severity, worst};
use strongroom::policy::Policy;
use strongroom::transcript::{SessionFiles, Transcript};
use strongroom::{Error, Result};

use crate::args::{Args, Command};
use crate::exit::End;
use crate::{out, place};

pub(crate) use hook::{is_hook, unread_hook};
pub use summarizer::chosen as summariser;

/// Runs the command that was typed.
pub(crate) fn run(args: &Args) -> Result<End> {
    match &args.command {
        Command::Compact(own) => compact::run(args, own),
        Command::Show(own) => show::run(args, own),
        Command::Ask(own) => ask::run(args, own),
        Command::Search(own) => search::run(args, own),
        Command::Ledger(own) => ledger::run(args, own),
        Command::Claim(own) => claim::run(args, own),
        Command::Conflicts(own) => conflicts::run(args, own),
        Command::Replay(own) => replay::run(args, own),
        Command::Explain(own) => explain::run(args, own),
        Command::Import(own) => import::run(args, own),
        Command::Sessions(own) => sessions::run(args, own),
        Command::Export(own) => export::run(args, own),
        Command::Verify(own) => verify::run(args, own),
        Command::Retention(own) => retention::run(args, own),
        Command::Gc(own) => gc::run(args, own),
        Command::Tier(own) => tier::run(args, own),
        Command::Encrypt(own) => encrypt::run(args, own),
        Command::Erase(own) => erase::run(args, own),
        Command::Redact(own) => redact::run(args, own),
        Command::Checkpoint(own) => checkpoint::run(args, own),
        Command::Prove(own) => prove::run(args, own),
        Command::Check(own) => check::run(args, own),
        Command::Lost(own) => lost::run(args, own),
        Command::Mcp(own) => mcp::run(args, own),
        Command::Hook(own) => Ok(hook::run(args, own)),
        Command::Install(own) => install::run(args, own),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "strongroom", &mut script);
            out::raw(&script)?;
            Ok(End::Done)
        }
    }
}

/// Refuses what takes originals away, here `what`, unless the flag or the policy gives the right to.
fn check_may_delete(what: &str, by_flag: bool, policy: &Policy) -> Result<()> {
    if by_flag || policy.may_delete() {
        return Ok(());
    }
    Err(Error::refused(format!("{what} needs --i-may-delete, or a policy with may-delete = true")))
}

/// Says where what was taken away may still stand.
fn tell_cleared(cleared: Result<()>) {
    if let Err(error) = cleared {
        out::warning(&format!(
            "not everything that was taken away is cleared yet ({}); strongroom gc --act clears it",
            error.chain()
        ));
    }
}

/// The policy: the named file, or the defaults.
fn policy(args: &Args) -> Result<Policy> {
    let Some(path) = &args.policy else { return Ok(Policy::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::invalid_input(format!("policy {} cannot be read", path.display())).caused_by(error)
    })?;
    Policy::parse(&text, &path.display().to_string())
}

/// The session of `file`, made ready to be asked; `-` is standard input.
fn session(
    args: &Args,
    file: &Path,
    format: Option<&str>,
    strictness: Strictness,
) -> Result<(Asked, AskOptions)> {
    let archive = place::open_for_reading(args)?;
    let files = if file == Path::new("-") {
        let bytes = read_all(&mut std::io::stdin().lock())?;
        SessionFiles::of(Transcript::from_bytes("standard input", bytes, format)?)
    } else {
        asking::open(file, format, archive.as_ref())?
    };
    let mut asked = Asked::default();
    asked.add(files, archive.as_ref())?;
    Ok((asked, options(archive.as_ref(), strictness)))
}

fn options(archive: Option<&Archive>, strictness: Strictness) -> AskOptions {
    AskOptions { strictness, fingerprint_key: archive.map_or([0; 32], Archive::fingerprint_key) }
}

const fn strictness(strict: bool) -> Strictness {
    if strict { Strictness::Strict } else { Strictness::Assume }
}

/// An object in one line of JSON.
fn as_json(form: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(form).map_err(|error| Error::bug("a form is no JSON").caused_by(error))
}

/// How a command ends that must be complete: what is missing is an honest no, what is damaged or gone is worse.
fn end_of(gaps: &[Gap], asked: &Asked) -> End {
    match worst(gaps) {
        _ if !asked.lost().is_empty() => End::Unavailable,
        Some(Severity::Damaged) => End::Unavailable,
        Some(Severity::Missing) => End::No,
        None => End::Done,
    }
}
