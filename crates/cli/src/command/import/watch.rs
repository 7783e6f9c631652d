//! `strongroom import --watch`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strongroom::Result;
use strongroom::import::{Progress, Taken, import, import_sessions};
use strongroom::watch::{Change, Follower};

use super::Intake;
use super::scope::Scope;
use crate::exit::End;
use crate::out;

/// The shortest time between two looks.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The longest.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How many times as long as it has worked it rests: a tenth of a processor is the most it takes, where no look takes
/// longer than [`PAUSE_MAX`] allows for.
const REST: u32 = 9;

/// Follows what is in scope until it is ended from outside. The archive is whole at every moment, so that ending it is
/// safe.
pub(super) fn run(intake: &Intake<'_>, scope: &Scope, json: bool) -> Result<End> {
    let mut follower = Follower::default();
    follower.look(scope.files()?);
    // What was written between the import and the first look is in neither.
    let mut late: BTreeSet<PathBuf> = scope.files()?.into_iter().collect();
    loop {
        let begun = Instant::now();
        let scope = scope.again();
        let changes = follower.look(scope.files().unwrap_or_default());
        for (path, change) in &changes {
            tell(path, change, json)?;
        }
        let changed = changes.into_iter().filter(|(_, change)| *change != Change::Gone).map(|(path, _)| path);
        late.extend(changed);
        take_in(intake, &scope, &std::mem::take(&mut late), json)?;
        std::thread::sleep(pause(begun.elapsed()));
    }
}

fn pause(worked: Duration) -> Duration {
    worked.saturating_mul(REST).clamp(PAUSE_MIN, PAUSE_MAX)
}

/// Takes in what changed; what did not is passed by, because the archive knows its size and time.
fn take_in(intake: &Intake<'_>, scope: &Scope, changed: &BTreeSet<PathBuf>, json: bool) -> Result<()> {
    let mut said = Ok(());
    let mut step = |step: Progress<'_>| match step {
        Progress::File(path, Taken::Imported) => {
            said = line(path, "imported", "is in custody as it is now", json);
        }
        Progress::File(path, Taken::Failed(error)) => {
            out::warning(&format!("{} could not be taken in: {error}", path.display()));
        }
        Progress::File(..) | Progress::Found(..) | Progress::Bytes(_) | Progress::Missing(..) => {}
    };
    for path in changed {
        let files = std::slice::from_ref(path);
        match scope {
            // A file that went away since is told at the next look.
            Scope::Paths(_) => drop(import(intake.archive, files, intake.options(), &mut step)),
            Scope::All(_) => {
                import_sessions(intake.archive, &[(path.clone(), 0)], intake.options(), &mut step);
            }
        }
    }
    said
}

fn tell(path: &Path, change: &Change, json: bool) -> Result<()> {
    if change.loses() && !json {
        out::warning(&format!("{} {}; what was imported stays", path.display(), change.words()));
        return Ok(());
    }
    line(path, kind(change), &change.words(), json)
}

const fn kind(change: &Change) -> &'static str {
    match change {
        Change::New => "new",
        Change::Moved(_) => "moved",
        Change::Grew(_) => "grew",
        Change::Shrank(_) => "shrank",
        Change::Replaced => "replaced",
        Change::Rewritten => "rewritten",
        Change::Gone => "gone",
    }
}

fn line(path: &Path, kind: &str, words: &str, json: bool) -> Result<()> {
    if json {
        return out::line(
            &serde_json::json!({ "schema": 1, "file": path, "change": kind, "words": words }).to_string(),
        );
    }
    out::line(&format!("{} {words}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_as_long_as_it_may_and_no_longer() {
        assert_eq!(pause(Duration::ZERO), PAUSE_MIN);
        assert_eq!(pause(Duration::from_secs(1)), Duration::from_secs(9));
        assert_eq!(pause(Duration::MAX), PAUSE_MAX);
    }
}
