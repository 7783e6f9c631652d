//! `strongroom import`.

use std::path::PathBuf;

use strongroom::Result;
use strongroom::import::{ImportOptions, Progress, Recheck, Taken, import};

use crate::args::{Args, ImportArgs};
use crate::exit::End;
use crate::{clock, out, place, progress};

#[derive(Default)]
struct Tally {
    imported: u64,
    unchanged: u64,
    passed_over: u64,
    failed: u64,
}

pub(super) fn run(args: &Args, own: &ImportArgs) -> Result<End> {
    let archive = place::open_for_writing(args)?;
    let policy = super::policy(args)?;
    let recheck = if own.recheck { Recheck::Read } else { Recheck::Trust };
    let options = ImportOptions { policy: &policy, now: clock::now(), recheck };
    let mut tally = Tally::default();
    let bar = progress::bytes(0);
    import(&archive, &own.paths, options, &mut |step| match step {
        Progress::Found(_, bytes) => bar.set_length(bytes),
        Progress::Bytes(bytes) => bar.inc(bytes),
        Progress::File(path, taken) => {
            bar.set_message(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            tally.count(path, taken, own.paths.iter().any(|named| named == path));
        }
    })?;
    bar.finish_and_clear();
    if let Some(words) = cleanup(&own.paths) {
        out::warning(&words);
    }
    if args.json {
        let body = serde_json::json!({
            "schema": 1, "imported": tally.imported, "unchanged": tally.unchanged,
            "passed_over": tally.passed_over, "failed": tally.failed,
        });
        out::line(&body.to_string())?;
    } else {
        out::line(&format!(
            "{} imported, {} unchanged, {} passed over, {} failed",
            tally.imported, tally.unchanged, tally.passed_over, tally.failed
        ))?;
    }
    Ok(if tally.failed > 0 { End::Unavailable } else { End::Done })
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

impl Tally {
    /// A file that was named by itself is worth a word when it is no transcript.
    fn count(&mut self, path: &std::path::Path, taken: &Taken, named: bool) {
        match taken {
            Taken::Imported => self.imported += 1,
            Taken::Unchanged => self.unchanged += 1,
            Taken::PassedOver(why) => {
                self.passed_over += 1;
                if named {
                    out::warning(&format!("passed over {}: {why}", path.display()));
                }
            }
            Taken::Failed(error) => {
                self.failed += 1;
                out::warning(&format!("{} could not be taken in: {error}", path.display()));
            }
        }
    }
}
