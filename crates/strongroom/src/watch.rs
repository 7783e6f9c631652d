//! Following files that others write: what became of each since the last look.
//!
//! A file is known by its path. That it is still the same one is told by device and inode and by a hash of its first
//! bytes: a file that was written anew in place keeps its inode, and one that was put back by a copy keeps its bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use strongroom_archive::source::ItemFacts;
use strongroom_core::digest::Digest;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes as _;

use crate::files::{FileBytes, facts_at};

/// How much of the beginning of a file is compared, in bytes.
const HEAD_BYTES: u64 = 4096;

/// What became of a file since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    New,
    /// It was there under this path, where it is not any more.
    Moved(PathBuf),
    /// It has this many more bytes, behind the same beginning.
    Grew(u64),
    /// It has this many bytes less.
    Shrank(u64),
    /// Another file stands there now, with another beginning.
    Replaced,
    /// It begins and is as long as before, and was written.
    Rewritten,
    /// It is not there any more, nor anywhere else that is looked at.
    Gone,
}

impl Change {
    /// Whether bytes that were there at the last look may be gone.
    pub const fn loses(&self) -> bool {
        matches!(self, Self::Shrank(_) | Self::Replaced | Self::Rewritten | Self::Gone)
    }

    /// The change in words.
    pub fn words(&self) -> String {
        match self {
            Self::New => "is new".to_owned(),
            Self::Moved(from) => format!("was {}", from.display()),
            Self::Grew(bytes) => format!("grew by {bytes} bytes"),
            Self::Shrank(bytes) => format!("shrank by {bytes} bytes"),
            Self::Replaced => "was replaced by another file".to_owned(),
            Self::Rewritten => "was written over".to_owned(),
            Self::Gone => "is gone".to_owned(),
        }
    }
}

/// What a file, a session in a database or a folder of events was at a look.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    facts: ItemFacts,
    /// The hash of its first bytes, and how many they are; of what is no file, and is known by its facts alone, nothing.
    head: Option<(Digest, u64)>,
}

impl Seen {
    const fn identity(&self) -> (u64, u64) {
        (self.facts.device, self.facts.inode)
    }

    const fn len(&self) -> u64 {
        self.facts.size_bytes
    }
}

/// Remembers what files were.
#[derive(Debug, Clone, Default)]
pub struct Follower {
    seen: BTreeMap<PathBuf, Seen>,
}

impl Follower {
    /// Looks at `paths`, all that is followed, and tells what changed, in the order of the paths. A file that cannot be
    /// read is looked at again the next time.
    pub fn look(&mut self, paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, Change)> {
        let mut now: BTreeMap<PathBuf, Seen> = BTreeMap::new();
        for path in paths {
            if let Some(seen) = seen(&path, self.seen.get(&path)) {
                now.insert(path, seen);
            }
        }
        let changes = changes(&self.seen, &now);
        self.seen = now;
        changes
    }
}

/// What `path` is; its head is read only where it may have changed.
fn seen(path: &Path, before: Option<&Seen>) -> Option<Seen> {
    if path.is_symlink() {
        return None;
    }
    let now = Seen { facts: facts_at(path)?, head: before.and_then(|before| before.head) };
    if before == Some(&now) || !path.is_file() {
        return Some(now);
    }
    let len = now.len().min(HEAD_BYTES);
    Some(Seen { head: head(path, len), ..now })
}

fn head(path: &Path, len: u64) -> Option<(Digest, u64)> {
    let source = FileBytes::open(path).ok()?;
    let bytes = source.read(ByteRange::new(0, len.min(source.len()))).ok()?;
    let own = u64::try_from(bytes.len()).ok()?;
    Some((Digest::of(&bytes), own))
}

fn changes(before: &BTreeMap<PathBuf, Seen>, now: &BTreeMap<PathBuf, Seen>) -> Vec<(PathBuf, Change)> {
    let mut homes: BTreeMap<(u64, u64), &PathBuf> = BTreeMap::new();
    for (path, seen) in before {
        let stays = now.get(path).is_some_and(|now| now.identity() == seen.identity());
        if !stays {
            homes.insert(seen.identity(), path);
        }
    }
    let mut found = Vec::new();
    let mut moved: BTreeSet<&PathBuf> = BTreeSet::new();
    for (path, seen) in now {
        let change = match before.get(path) {
            Some(before) => change(path, before, seen),
            None => match homes.get(&seen.identity()) {
                // An inode is given again to new files: the bytes must be the old ones too.
                Some(&from) if before.get(from).is_some_and(|before| is_same_beginning(path, before)) => {
                    moved.insert(from);
                    Some(Change::Moved(from.clone()))
                }
                _ => Some(Change::New),
            },
        };
        found.extend(change.map(|change| (path.clone(), change)));
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path) && !moved.contains(path));
    found.extend(gone.map(|path| (path.clone(), Change::Gone)));
    found.sort_by(|one, two| one.0.cmp(&two.0));
    found
}

fn change(path: &Path, before: &Seen, now: &Seen) -> Option<Change> {
    if before == now {
        return None;
    }
    if before.head.is_some() && !is_same_beginning(path, before) {
        // What is shorter than the beginning that was compared has lost bytes, whatever is left.
        return Some(if now.len() < before.len() && before.identity() == now.identity() {
            Change::Shrank(before.len() - now.len())
        } else {
            Change::Replaced
        });
    }
    let stays = before.head.is_none() || now.identity() == before.identity();
    Some(match now.len().cmp(&before.len()) {
        std::cmp::Ordering::Greater => Change::Grew(now.len() - before.len()),
        std::cmp::Ordering::Less => Change::Shrank(before.len() - now.len()),
        std::cmp::Ordering::Equal if stays => Change::Rewritten,
        std::cmp::Ordering::Equal => Change::Replaced,
    })
}

/// Whether the file at `path` begins as `before` did.
fn is_same_beginning(path: &Path, before: &Seen) -> bool {
    before.head.is_some_and(|(digest, len)| head(path, len) == Some((digest, len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        dir: tempfile::TempDir,
        follower: Follower,
    }

    impl Place {
        fn new() -> Self {
            let mut place = Self { dir: tempfile::tempdir().unwrap(), follower: Follower::default() };
            place.write("s.jsonl", "one\ntwo\n");
            assert_eq!(place.look(), [("s.jsonl".to_owned(), Change::New)]);
            assert_eq!(place.look(), []);
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.path(name), text).unwrap();
        }

        fn look(&mut self) -> Vec<(String, Change)> {
            let files = crate::import::transcripts(&[self.dir.path().to_owned()]).unwrap();
            let changes = self.follower.look(files.into_iter().map(|(path, _)| path));
            let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            changes.into_iter().map(|(path, change)| (name(path), change)).collect()
        }

        #[track_caller]
        fn sees(&mut self, expected: Change) {
            assert_eq!(self.look(), [("s.jsonl".to_owned(), expected)]);
            assert_eq!(self.look(), []);
        }
    }

    #[test]
    fn growth_and_loss_are_told_apart() {
        let mut place = Place::new();
        place.write("s.jsonl", "one\ntwo\nthree\n");
        place.sees(Change::Grew(6));
        place.write("s.jsonl", "one\n");
        place.sees(Change::Shrank(10));
        place.write("s.jsonl", "");
        place.sees(Change::Shrank(4));
        place.write("s.jsonl", "one\n");
        place.sees(Change::Grew(4));
        place.write("s.jsonl", "two\nthree\n");
        place.sees(Change::Replaced);
        std::fs::remove_file(place.path("s.jsonl")).unwrap();
        place.sees(Change::Gone);
    }

    #[test]
    fn a_file_that_was_put_there_anew_is_another_one() {
        let mut place = Place::new();
        place.write("new", "six\ntwo\n");
        std::fs::rename(place.path("new"), place.path("s.jsonl")).unwrap();
        place.sees(Change::Replaced);
        place.write("new", "six\ntwo\nthree\n");
        std::fs::rename(place.path("new"), place.path("s.jsonl")).unwrap();
        place.sees(Change::Grew(6));
    }

    #[test]
    fn a_rotated_file_is_told_under_both_names() {
        let mut place = Place::new();
        std::fs::rename(place.path("s.jsonl"), place.path("s.jsonl.1")).unwrap();
        place.write("s.jsonl", "four\n");
        let from = place.path("s.jsonl");
        let expected =
            [("s.jsonl".to_owned(), Change::Replaced), ("s.jsonl.1".to_owned(), Change::Moved(from))];
        assert_eq!(place.look(), expected);
        assert_eq!(place.look(), []);
    }
}
