//! Sessions made ready once, and again when something they were read from has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strongroom_archive::Archive;
use strongroom_archive::source::ItemFacts;
use strongroom_core::digest::{Digest, RevisionId};
use strongroom_core::error::{Error, Result};
use strongroom_core::transcript::{Bytes, SideItem, SideKind};

use super::catalog::{Held, Session};
use super::{SCOPE_BYTES_MAX, SCOPE_FILES_MAX};
use crate::ask::Asked;
use crate::custody::{facts, restore};
use crate::files::names_below;
use crate::transcript::{SessionFiles, Transcript};

/// What a session was read from, so that a change is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// The main file first, then every file that belongs to it or would, were it there.
    Files(Vec<(PathBuf, ItemFacts)>),
    Revision(RevisionId),
}

/// Whether what was read depends on the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Leaning {
    /// It does not.
    None,
    /// It holds summaries, whose originals are looked for in the archive; its journal then, where there was one.
    Journal(Option<(u64, Digest)>),
}

/// A session that is ready.
#[derive(Debug)]
struct Ready {
    asked: Arc<Asked>,
    origin: Origin,
    /// Where files of the session would lie.
    side_items: Vec<SideItem>,
    leaning: Leaning,
    bytes: u64,
    used: u64,
}

/// One session; held while it is made ready, so that nobody does it twice.
type Slot = Arc<Mutex<Option<Ready>>>;

#[derive(Debug, Default)]
pub(super) struct Cache {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    by_name: BTreeMap<String, Slot>,
    /// Counts uses.
    clock: u64,
}

impl Cache {
    /// `session`, ready to be asked as it is now.
    pub(super) fn ready(&self, session: &Session, archive: Option<&Archive>) -> Result<Arc<Asked>> {
        let (slot, now) = self.slot(&session.name);
        let mut place = lock(&slot);
        if let Some(ready) = place.as_mut().filter(|ready| ready.is_current(session, archive)) {
            ready.used = now;
            return Ok(Arc::clone(&ready.asked));
        }
        *place = None;
        let ready = Ready::make(session, archive, now)?;
        let asked = Arc::clone(&ready.asked);
        // What was out of reach may not be when it is asked for again.
        if !archive.is_some_and(Archive::met_silence) {
            *place = Some(ready);
        }
        drop(place);
        self.forget_oldest();
        Ok(asked)
    }

    fn slot(&self, name: &str) -> (Slot, u64) {
        let mut slots = lock(&self.slots);
        slots.clock += 1;
        let now = slots.clock;
        (Arc::clone(slots.by_name.entry(name.to_owned()).or_default()), now)
    }

    /// Drops the sessions that were not asked for longest, until the rest is within bounds.
    fn forget_oldest(&self) {
        let mut slots = lock(&self.slots);
        // A session that is being made ready is in use.
        let mut kept: Vec<(u64, u64, String)> = slots
            .by_name
            .iter()
            .filter_map(|(name, slot)| {
                let place = slot.try_lock().ok()?;
                place.as_ref().map(|ready| (ready.used, ready.bytes, name.clone()))
            })
            .collect();
        kept.sort_unstable();
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        let mut count = kept.len();
        // The one just made ready stays, however large it is.
        for (_, own, name) in kept.iter().take(kept.len().saturating_sub(1)) {
            if bytes <= SCOPE_BYTES_MAX && count <= SCOPE_FILES_MAX {
                break;
            }
            slots.by_name.remove(name);
            bytes -= own;
            count -= 1;
        }
    }
}

/// A poisoned lock holds a session that was ready, or none.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ready {
    fn is_current(&self, session: &Session, archive: Option<&Archive>) -> bool {
        let now = match (&session.held, &session.custody) {
            (Held::File(path), _) => Origin::Files(files_of(path, &self.side_items)),
            (Held::Archive, Some(source)) => Origin::Revision(source.latest.id),
            (Held::Archive, None) => return false,
        };
        self.origin == now && (self.leaning == Leaning::None || self.leaning == journal(archive))
    }

    fn make(session: &Session, archive: Option<&Archive>, used: u64) -> Result<Self> {
        let (files, origin) = match &session.held {
            Held::File(path) => {
                // What is looked at before reading is older than what is read, never newer.
                let main = facts(Some(path), session.bytes);
                let files = SessionFiles::open(path, None)?;
                let mut origin = files_of(path, &files.main.index().side_items);
                if let Some((_, own)) = origin.first_mut() {
                    *own = main;
                }
                as_read(&mut origin, &files);
                (files, Origin::Files(origin))
            }
            Held::Archive => from_archive(session, archive)?,
        };
        let side_items = files.main.index().side_items.clone();
        let journal = journal(archive);
        let mut asked = Asked::default();
        asked.add(files, archive)?;
        // What came from the archive may have been erased there since.
        let leans = asked.holds_summaries() || matches!(origin, Origin::Revision(_));
        let leaning = if leans { journal } else { Leaning::None };
        Ok(Self { asked: Arc::new(asked), origin, side_items, leaning, bytes: session.bytes, used })
    }
}

/// Gives the files beside the main one the sizes at which they were read: what grew meanwhile is read again.
fn as_read(origin: &mut [(PathBuf, ItemFacts)], files: &SessionFiles) {
    for (path, own) in origin.iter_mut().skip(1) {
        let child = files.children.iter().find(|child| child.path() == Some(path));
        let output = files.outputs.iter().find(|output| output.path == *path);
        let len = child.map(|child| child.source().len());
        own.size_bytes =
            len.or_else(|| output.map(|output| Bytes::len(&output.bytes))).unwrap_or(own.size_bytes);
    }
}

fn from_archive(session: &Session, archive: Option<&Archive>) -> Result<(SessionFiles, Origin)> {
    let gone = || Error::not_found(format!("{} is not in this archive", session.name));
    let (archive, source) = archive.zip(session.custody.as_ref()).ok_or_else(gone)?;
    let revision = archive.latest_revision(source.meta.id)?.ok_or_else(gone)?;
    let (bytes, gone) = restore(archive, &revision)?;
    let transcript = Transcript::from_bytes(session.name.clone(), bytes, Some(&source.meta.format))?;
    Ok((SessionFiles { gone, ..SessionFiles::of(transcript) }, Origin::Revision(revision.id)))
}

/// The archive's journal now.
fn journal(archive: Option<&Archive>) -> Leaning {
    let checkpoint = archive.and_then(|archive| archive.checkpoint().ok());
    Leaning::Journal(checkpoint.map(|checkpoint| (checkpoint.size, checkpoint.root)))
}

/// The main file and the files beside it as they are now; one that is not there has no size and no time.
fn files_of(main: &Path, side_items: &[SideItem]) -> Vec<(PathBuf, ItemFacts)> {
    let root = main.parent().unwrap_or(Path::new("."));
    let mut paths = vec![main.to_owned()];
    for item in side_items {
        for place in &item.places {
            match item.kind {
                SideKind::ChildDirectory => {
                    let names = names_below(root, place);
                    paths.extend(names.iter().map(|name| root.join(place).join(name)));
                }
                SideKind::Child { .. } | SideKind::Output { .. } => paths.push(root.join(place)),
            }
        }
    }
    paths.into_iter().map(|path| (path.clone(), facts(Some(&path), 0))).collect()
}

#[cfg(test)]
mod tests {
    use strongroom_archive::Cloud;

    use super::*;
    use crate::desk::catalog::Catalog;
    use crate::desk::{Custody, Places, Usual};

    /// A session of one message, with the mark of a child agent where one is named.
    fn line(text: &str, agent: Option<&str>) -> String {
        let own = agent.map_or(String::new(), |agent| format!(r#""agentId":"{agent}","#));
        format!(
            r#"{{"parentUuid":null,"isSidechain":{},{own}"sessionId":"s1","cwd":"/p","type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{text}"}}"#,
            agent.is_some()
        ) + "\n"
    }

    #[test]
    fn a_session_is_made_ready_again_only_when_a_file_of_it_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("s1.jsonl");
        std::fs::write(&main, line("first", None)).unwrap();
        let places = Places {
            archive: dir.path().join("none"),
            roots: vec![dir.path().to_owned()],
            custody: Custody::All,
            usual: Usual::Everything,
            secret: None,
            cloud: Cloud::default(),
        };
        let (catalog, cache) = (Catalog::default(), Cache::default());
        let ready = || {
            let sessions = catalog.sessions(&places, None).unwrap();
            assert_eq!(sessions.len(), 1, "{sessions:?}");
            cache.ready(&sessions[0], None).unwrap()
        };
        let (one, two) = (ready(), ready());
        assert!(Arc::ptr_eq(&one, &two));
        std::fs::write(&main, line("first", None) + &line("second", None)).unwrap();
        let grown = ready();
        assert_eq!((one.records(), grown.records()), (1, 2));
        assert!(Arc::ptr_eq(&grown, &ready()));
        std::fs::create_dir_all(dir.path().join("s1/subagents")).unwrap();
        let child = dir.path().join("s1/subagents/agent-a1.jsonl");
        std::fs::write(&child, line("third", Some("a1"))).unwrap();
        let with_child = ready();
        assert_eq!(with_child.records(), 3);
        std::fs::write(&child, line("third", Some("a1")) + &line("fourth", Some("a1"))).unwrap();
        assert_eq!(ready().records(), 4);
    }

    #[test]
    fn what_was_asked_for_last_stays_ready() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::default();
        let session = |n: usize| {
            let path = dir.path().join(format!("{n}.jsonl"));
            std::fs::write(&path, line("words", None)).unwrap();
            Session {
                id: None,
                name: path.display().to_string(),
                format: "claude-code".to_owned(),
                cwd: None,
                // As large as a third of what stays ready.
                bytes: SCOPE_BYTES_MAX / 3,
                at: strongroom_core::time::Timestamp::from_ms(0),
                held: Held::File(path),
                custody: None,
            }
        };
        for n in 0..5 {
            cache.ready(&session(n), None).unwrap();
        }
        let names: Vec<String> = lock(&cache.slots).by_name.keys().cloned().collect();
        let expected: Vec<String> = (2..5).map(|n| session(n).name).collect();
        assert_eq!(names, expected);
    }
}
