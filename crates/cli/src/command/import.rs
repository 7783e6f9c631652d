//! `strongroom import`.

mod scope;

mod tally;

mod watch;

use std::path::PathBuf;

use strongroom::Result;
use strongroom::archive::Archive;
use strongroom::import::{ImportOptions, Progress, Recheck};
use strongroom::policy::Policy;
use strongroom::search::bring_up_to_date;

use crate::args::{Args, ImportArgs};
use crate::exit::End;
use crate::{clock, out, place, progress};

use scope::Scope;
use tally::Tally;

pub(super) fn run(args: &Args, own: &ImportArgs) -> Result<End> {
    let archive = place::open_for_writing(args)?;
    let policy = super::policy(args)?;
    let recheck = if own.recheck { Recheck::Read } else { Recheck::Trust };
    let scope = Scope::of(own);
    let tally = once(&Intake { archive: &archive, policy: &policy, recheck }, &scope)?;
    if let Some(words) = cleanup(&scope.roots()) {
        out::warning(&words);
    }
    if own.index {
        bring_index_up_to_date(&archive);
    }
    tally.print(&scope, args.json)?;
    if own.watch {
        return watch::run(
            &Intake { archive: &archive, policy: &policy, recheck: Recheck::Trust },
            &scope,
            args.json,
        );
    }
    Ok(if tally.failed > 0 { End::Unavailable } else { End::Done })
}

/// Indexes what the archive holds, to be searched. An archive without an index is slower to search and otherwise the same.
fn bring_index_up_to_date(archive: &Archive) {
    if let Err(error) = bring_up_to_date(archive) {
        out::warning(&format!("the search index could not be brought up to date: {}", error.chain()));
    }
}

/// Where sessions go, and how.
struct Intake<'a> {
    archive: &'a Archive,
    policy: &'a Policy,
    recheck: Recheck,
}

impl Intake<'_> {
    fn options(&self) -> ImportOptions<'_> {
        ImportOptions { policy: self.policy, now: clock::now(), recheck: self.recheck }
    }
}

/// Takes in everything there is, and shows how far it is.
fn once(intake: &Intake<'_>, scope: &Scope) -> Result<Tally> {
    let mut tally = Tally::default();
    let bar = progress::bytes(0);
    scope.import(intake.archive, intake.options(), &mut |step| match step {
        Progress::Found(_, bytes) => bar.set_length(bytes),
        Progress::Bytes(bytes) => bar.inc(bytes),
        Progress::File(path, taken) => {
            bar.set_message(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            tally.count(path, taken, scope.names(path));
        }
        Progress::Missing(path, missing) => tally.missing(path, missing),
    })?;
    bar.finish_and_clear();
    Ok(tally)
}

/// After how many days Claude Code deletes a transcript where its settings do not say.
const CLEANUP_DAYS: u64 = 30;

/// What is to be said when transcripts come from where Claude Code deletes them.
fn cleanup(paths: &[PathBuf]) -> Option<String> {
    let claude =
        place::agent_home("CLAUDE_CONFIG_DIR").or_else(|| place::home().map(|home| home.join(".claude")))?;
    let sessions = std::fs::canonicalize(claude.join("projects")).ok()?;
    let real = paths.iter().filter_map(|path| std::fs::canonicalize(path).ok());
    if !real.into_iter().any(|path| path.starts_with(&sessions) || sessions.starts_with(&path)) {
        return None;
    }
    let settings = std::fs::read_to_string(claude.join("settings.json")).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap_or_default();
    let days = settings.get("cleanupPeriodDays").and_then(serde_json::Value::as_u64).unwrap_or(CLEANUP_DAYS);
    Some(format!(
        "Claude Code deletes its transcripts after {days} days (cleanupPeriodDays); what was imported stays here, what comes later does not: import again, or install claude-code"
    ))
}
