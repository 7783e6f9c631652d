//! Trouble that lasts: since when a session's transcript could not be taken into custody, and why.
//!
//! One small file per session, in the archive's directory, named by a hash.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strongroom::digest::Digest;
use strongroom::files::replace;
use strongroom::time::Timestamp;

/// The folder of these files in the archive's directory.
const FOLDER: &str = "hooks";

/// Where the trouble of a session is kept.
#[derive(Debug)]
pub(super) struct Troubles {
    path: PathBuf,
}

/// The trouble of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Since when.
    pub(super) since: Timestamp,
    /// Why, the last time.
    pub(super) why: String,
    /// Whether the user was told this before.
    pub(super) told: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    schema: u32,
    since_ms: i64,
    why: String,
}

impl Troubles {
    /// That of the session `session`, whose transcript is `transcript`, with the archive in `dir`.
    pub(super) fn of(dir: &Path, session: &str, transcript: &Path) -> Self {
        let name = transcript.as_os_str().as_encoded_bytes();
        let digest = Digest::of_parts("strongroom/hook-trouble/1", [session.as_bytes(), name]);
        Self { path: dir.join(FOLDER).join(format!("{}.json", digest.short(16))) }
    }

    /// The trouble; `None` where there is none, or none that can be read.
    pub(super) fn read(&self) -> Option<Trouble> {
        let stored: Stored = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        Some(Trouble { since: Timestamp::from_ms(stored.since_ms), why: stored.why, told: true })
    }

    /// Notes that there is trouble; what began earlier goes on. Where the archive's directory cannot be written,
    /// nothing is noted: then the user is told every time, and the archive itself shows what is missing.
    pub(super) fn note(&self, now: Timestamp, why: &str) -> Trouble {
        let before = self.read();
        let since = before.as_ref().map_or(now, |before| before.since);
        let told = before.is_some_and(|before| before.why == why);
        if !told {
            let stored = Stored { schema: 1, since_ms: since.as_ms(), why: why.to_owned() };
            let folder = self.path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
            if let Some(bytes) = serde_json::to_vec(&stored).ok().filter(|_| folder) {
                drop(replace(&self.path, &bytes, &mut || ()));
            }
        }
        Trouble { since, why: why.to_owned(), told }
    }

    /// The trouble is over.
    pub(super) fn clear(&self) {
        // Where there is none, there is nothing to remove.
        drop(std::fs::remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_lasts_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let troubles = Troubles::of(dir.path(), "../../s", Path::new("/t.jsonl"));
        let first = troubles.note(Timestamp::from_ms(1), "full");
        assert_eq!((first.since, first.told), (Timestamp::from_ms(1), false));
        let second = troubles.note(Timestamp::from_ms(2), "full");
        assert_eq!((second.since, second.told), (Timestamp::from_ms(1), true));
        assert!(!troubles.note(Timestamp::from_ms(3), "locked").told);
        troubles.clear();
        assert_eq!(troubles.read(), None);
        assert_eq!(std::fs::read_dir(dir.path().join(FOLDER)).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_no_trouble_of_its_own() {
        let troubles = Troubles::of(Path::new("/proc/no-such-place"), "s", Path::new("/t.jsonl"));
        assert!(!troubles.note(Timestamp::from_ms(1), "full").told);
        troubles.clear();
    }
}
