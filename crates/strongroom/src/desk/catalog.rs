//! What can be asked: sessions in files below the roots, and sources in the archive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use strongroom_archive::Archive;
use strongroom_archive::source::{ItemFacts, StoredSource};
use strongroom_core::digest::RevisionId;
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Bytes as _;
use strongroom_core::vault::Revision;

use super::{Custody, Places};
use crate::custody::{facts, restore};
use crate::files::FileBytes;
use crate::import::transcripts;
use crate::transcript::Transcript;

/// How much of a source is read to learn whose it is, in bytes.
const HEAD_BYTES: u64 = 1 << 18;

/// The shortest part of a session id that names it, in characters.
const PART_CHARS_MIN: usize = 6;

/// How many candidates an error lists.
const CANDIDATES_MAX: usize = 5;

/// A session that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The id that its records name.
    pub id: Option<String>,
    /// The absolute path of its main transcript, or another name in the archive.
    pub name: String,
    /// The format's name.
    pub format: String,
    /// The working directory its records name first.
    pub cwd: Option<PathBuf>,
    /// The bytes of its main transcript.
    pub bytes: u64,
    /// When the file was last written, or the archive took it in.
    pub at: Timestamp,
    /// Where it is read from.
    pub held: Held,
    /// Its source in the archive, where it is in custody.
    pub custody: Option<StoredSource>,
}

/// Where a session is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// The file itself, with the files beside it.
    File(PathBuf),
    /// The archive.
    Archive,
}

/// Whose a source is, by its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Head {
    format: String,
    session: Option<String>,
    cwd: Option<PathBuf>,
    child: bool,
}

/// Remembers the beginnings of sources.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    files: Mutex<BTreeMap<PathBuf, (ItemFacts, Option<Head>)>>,
    revisions: Mutex<BTreeMap<RevisionId, Option<Head>>>,
}

impl Catalog {
    /// Everything below `places`, newest first; a session that stands both in a file and in the archive once.
    pub(super) fn sessions(&self, places: &Places, archive: Option<&Archive>) -> Result<Vec<Session>> {
        let mut stored: BTreeMap<String, StoredSource> = BTreeMap::new();
        for source in archive.map_or(Ok(Vec::new()), Archive::sources)? {
            stored.insert(source.meta.name.clone(), source);
        }
        let mut found: Vec<(Session, bool)> = Vec::new();
        for root in &places.roots {
            // A root that is not there yet holds nothing.
            for (path, len) in transcripts(std::slice::from_ref(root)).unwrap_or_default() {
                found.extend(self.file(&path, len, &mut stored));
            }
        }
        let wanted = |source: &StoredSource| {
            places.custody == Custody::All
                || places.roots.iter().any(|root| Path::new(&source.meta.name).starts_with(root))
        };
        if let Some(archive) = archive {
            for source in stored.into_values().filter(wanted) {
                found.extend(self.archived(archive, source)?);
            }
        }
        Ok(main_ones(found))
    }

    fn file(
        &self,
        path: &Path,
        len: u64,
        stored: &mut BTreeMap<String, StoredSource>,
    ) -> Option<(Session, bool)> {
        let now = facts(Some(path), len);
        let known = lock(&self.files).get(path).cloned();
        let head = match known {
            // A file that grew has the same beginning.
            Some((before, head)) if head.is_some() && is_same_file(before, now) => head,
            Some((before, head)) if before == now => head,
            _ => {
                let head = head_of_file(path);
                lock(&self.files).insert(path.to_owned(), (now, head.clone()));
                head
            }
        }?;
        let name = crate::custody::name_of(path);
        let custody = stored.remove(&name);
        let session = Session {
            id: head.session,
            name,
            format: head.format,
            cwd: head.cwd,
            bytes: now.size_bytes,
            at: Timestamp::from_ms(now.mtime_ms),
            held: Held::File(path.to_owned()),
            custody,
        };
        Some((session, head.child))
    }

    fn archived(&self, archive: &Archive, source: StoredSource) -> Result<Option<(Session, bool)>> {
        let known = lock(&self.revisions).get(&source.latest.id).cloned();
        let head = if let Some(head) = known {
            head
        } else {
            let head = head_of_source(archive, &source)?;
            lock(&self.revisions).insert(source.latest.id, head.clone());
            head
        };
        Ok(head.map(|head| {
            let session = Session {
                id: head.session,
                name: source.meta.name.clone(),
                format: head.format,
                cwd: head.cwd,
                bytes: source.latest.len,
                at: source.latest.at,
                held: Held::Archive,
                custody: Some(source),
            };
            (session, head.child)
        }))
    }
}

/// A poisoned lock holds what was there before: whole entries.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_same_file(before: ItemFacts, now: ItemFacts) -> bool {
    (before.inode, before.device) == (now.inode, now.device) && before.size_bytes <= now.size_bytes
}

/// Leaves out the transcripts of child agents whose session is here: they are asked with it. Newest first.
fn main_ones(mut found: Vec<(Session, bool)>) -> Vec<Session> {
    let mains: Vec<String> =
        found.iter().filter(|(_, child)| !child).filter_map(|(session, _)| session.id.clone()).collect();
    found.retain(|(session, child)| !child || !session.id.as_ref().is_some_and(|id| mains.contains(id)));
    let mut sessions: Vec<Session> = found.into_iter().map(|(session, _)| session).collect();
    sessions.sort_by(|one, two| (two.at, &one.name).cmp(&(one.at, &two.name)));
    sessions.dedup_by(|one, two| one.name == two.name);
    sessions
}

/// `None` of what is no transcript.
fn head_of_file(path: &Path) -> Option<Head> {
    let source = FileBytes::open_content(path).ok()?;
    let format = strongroom_formats::detect(&source).ok()?.name();
    let bytes = source.read(ByteRange::new(0, source.len().min(HEAD_BYTES))).ok()?.into_owned();
    Some(head(bytes, source.len(), format))
}

fn head_of_source(archive: &Archive, source: &StoredSource) -> Result<Option<Head>> {
    let format = source.meta.format.as_str();
    if strongroom_formats::by_name(format).is_none() {
        return Ok(None);
    }
    let Some(revision) = archive.latest_revision(source.meta.id)? else { return Ok(None) };
    let pieces = revision.pieces.iter().take(1).copied().collect::<Vec<_>>();
    let len = pieces.iter().map(|(_, len)| len).sum();
    let (bytes, lost) = restore(archive, &Revision { pieces, len, ..revision.clone() })?;
    let bytes = if lost.is_empty() { bytes } else { Vec::new() };
    Ok(Some(head(bytes, revision.len, format)))
}

/// What the beginning of a source of `len` bytes says; what it does not say is not known.
fn head(mut bytes: Vec<u8>, len: u64, format: &str) -> Head {
    let whole = u64::try_from(bytes.len()).is_ok_and(|own| own >= len);
    if !whole {
        // A line that is cut would be read as damage.
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(end);
    }
    let begun = Transcript::from_bytes("", bytes, Some(format)).ok();
    let first =
        begun.as_ref().and_then(|begun| begun.index().records.iter().find(|record| record.session.is_some()));
    Head {
        format: format.to_owned(),
        session: begun.as_ref().and_then(Transcript::session).map(str::to_owned),
        cwd: begun.as_ref().and_then(Transcript::cwd).map(PathBuf::from),
        child: first.is_some_and(|record| record.agent.is_some()),
    }
}

/// The session that `text` names by its name or the end of one, or all that it names by their id or the beginning of
/// one: a session that was compacted stands in several files.
///
/// # Errors
/// `NotFound` when there is none, `InvalidInput` when it could mean different sessions.
pub(super) fn named<'s>(sessions: &'s [Session], text: &str) -> Result<Vec<&'s Session>> {
    let part = text.chars().count() >= PART_CHARS_MIN;
    let ways: [&dyn Fn(&Session) -> bool; 4] = [
        &|session| session.name == text,
        &|session| session.id.as_deref() == Some(text),
        &|session| is_end_of_path(&session.name, text),
        &|session| part && session.id.as_ref().is_some_and(|id| id.starts_with(text)),
    ];
    for is_meant in ways {
        let found: Vec<&Session> = sessions.iter().filter(|session| is_meant(session)).collect();
        let first = found.first().and_then(|session| session.id.as_ref());
        let one_id = first.is_some() && found.iter().all(|session| session.id.as_ref() == first);
        match found.len() {
            0 => {}
            1 => return Ok(found),
            _ if one_id => return Ok(found),
            _ => return Err(ambiguous(text, &found)),
        }
    }
    let short: String = text.chars().take(80).collect();
    Err(Error::not_found(format!("no session {short:?} is known here")))
}

/// Whether `text` is the last parts of a path.
fn is_end_of_path(name: &str, text: &str) -> bool {
    let rest = name.strip_suffix(text).filter(|_| !text.is_empty());
    rest.is_some_and(|rest| rest.ends_with('/'))
}

fn ambiguous(text: &str, several: &[&Session]) -> Error {
    let names: Vec<&str> = several.iter().take(CANDIDATES_MAX).map(|session| session.name.as_str()).collect();
    Error::invalid_input(format!(
        "{} sessions are called {text:?}; name one by its path: {}",
        several.len(),
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, name: &str) -> Session {
        Session {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            format: "claude-code".to_owned(),
            cwd: None,
            bytes: 1,
            at: Timestamp::from_ms(1),
            held: Held::Archive,
            custody: None,
        }
    }

    #[test]
    fn a_session_is_named_by_id_path_or_an_unmistakable_part() {
        let all = [session("aaaaaaaa-1", "/p/one.jsonl"), session("aaaaaaaa-2", "/q/two.jsonl")];
        for text in ["aaaaaaaa-1", "/p/one.jsonl", "one.jsonl", "p/one.jsonl"] {
            let names: Vec<&str> = named(&all, text).unwrap().iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names, ["/p/one.jsonl"], "{text}");
        }
        for text in ["", "ne.jsonl", "aaaa", "/p/../p/one.jsonl", "../one.jsonl", "/etc/passwd"] {
            let error = named(&all, text).unwrap_err();
            assert_eq!(error.kind(), strongroom_core::error::ErrorKind::NotFound, "{text}");
        }
        let error = named(&all, "aaaaaaaa").unwrap_err().to_string();
        assert!(error.contains("/p/one.jsonl") && error.contains("/q/two.jsonl"), "{error}");
        let twice = [session("aaaaaaaa-1", "/p/one.jsonl"), session("aaaaaaaa-1", "/p/one.compacted.jsonl")];
        assert_eq!(named(&twice, "aaaaaaaa").unwrap().len(), 2);
        assert_eq!(named(&twice, "one.jsonl").unwrap().len(), 1);
    }

    #[test]
    fn children_are_asked_with_their_session() {
        let found = vec![
            (session("s1", "/p/s1.jsonl"), false),
            (session("s1", "/p/s1/subagents/agent-a.jsonl"), true),
            (session("s2", "/p/agent-b.jsonl"), true),
        ];
        let names: Vec<String> = main_ones(found).into_iter().map(|session| session.name).collect();
        assert_eq!(names, ["/p/agent-b.jsonl", "/p/s1.jsonl"]);
    }
}
