//! Importing: whole trees into custody, again and again, taking only what changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use strongroom_archive::Archive;
use strongroom_archive::source::{ItemFacts, SessionItem, SourceMeta, source_id};
use strongroom_core::digest::{Digest, SourceId};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Bytes;

use crate::classes::keep_by_class;
use crate::custody::{Terms, facts, name_of, present, take_in};
use crate::files::{FileBytes, facts_at, folder_at, items_of, looked_into};
use crate::policy::{Origin, Policy};
use crate::reading::Reading;
use crate::transcript::{FoundItem, MissingItem, Transcript, children_below, found_items, missing_items};

/// Why a file that was erased from the archive, and has not changed since, is not taken in again.
const ERASED: &str = "it was erased from the archive by order and has not changed since";

/// How an import goes about files that look unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recheck {
    /// Size, time and file identity decide.
    Trust,
    /// Every file is read.
    Read,
}

/// What came of one file.
#[derive(Debug)]
pub enum Taken {
    /// It is in custody now.
    Imported,
    /// It was in custody already.
    Unchanged,
    /// It is no transcript this program reads; it was passed over, with the reason.
    PassedOver(String),
    /// It could not be taken in.
    Failed(Error),
}

/// A step of an import.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The files are found: their number and bytes.
    Found(u64, u64),
    /// This many more bytes are done.
    Bytes(u64),
    /// A file is done.
    File(&'a Path, &'a Taken),
    /// Something that a transcript names is in none of its places: a child agent or an output that was moved out of
    /// line. Told when the transcript is read, not when it did not change.
    Missing(&'a Path, &'a MissingItem),
}

/// How a tree is imported.
#[derive(Debug, Clone, Copy)]
pub struct ImportOptions<'a> {
    /// Retention.
    pub policy: &'a Policy,
    /// The present.
    pub now: Timestamp,
    /// Files that look unchanged.
    pub recheck: Recheck,
}

/// Imports files and trees; symbolic links are not followed.
///
/// # Errors
/// `NotFound` when a named path does not exist; what happens to single files is told to `progress`.
pub fn import(
    archive: &Archive,
    paths: &[PathBuf],
    options: ImportOptions<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<()> {
    let files = transcripts(paths)?;
    let total = files.iter().map(|(_, len)| len).sum();
    progress(Progress::Found(u64::try_from(files.len()).unwrap_or(u64::MAX), total));
    for (path, len) in files {
        let mut left = len;
        let taken = import_file(archive, &path, options, &mut |bytes| {
            // What is packed in a file is more than the file.
            let own = bytes.min(left);
            left -= own;
            progress(Progress::Bytes(own));
        });
        let taken = taken.unwrap_or_else(outcome);
        progress(Progress::Bytes(left));
        progress(Progress::File(&path, &taken));
    }
    Ok(())
}

/// Imports sessions with what belongs to them, such as [`crate::standard::transcripts`] finds: see [`import_session`].
/// Every file is told once; what happens to single files is told to `progress`.
pub fn import_sessions(
    archive: &Archive,
    files: &[(PathBuf, u64)],
    options: ImportOptions<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) {
    let total = files.iter().map(|(_, len)| len).sum();
    progress(Progress::Found(u64::try_from(files.len()).unwrap_or(u64::MAX), total));
    let mut told: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, len) in files {
        let mut left = *len;
        let taken = import_session(archive, path, options, &mut |step| match step {
            Progress::Bytes(bytes) => {
                let own = bytes.min(left);
                left -= own;
                progress(Progress::Bytes(own));
            }
            Progress::File(file, _) if !told.insert(file.to_owned()) => {}
            step => progress(step),
        });
        if let Err(error) = taken {
            let taken = outcome(error);
            told.insert(path.clone());
            progress(Progress::File(path, &taken));
        }
        progress(Progress::Bytes(left));
    }
}

/// Whether a file of `bytes` bytes is in custody as it is now, by its size and time; `None` where no state of it is.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub fn kept(archive: &Archive, path: &Path, bytes: u64) -> Result<Option<bool>> {
    let name = name_of(path);
    if archive.is_unchanged(&name, &facts(Some(path), bytes))? {
        return Ok(Some(true));
    }
    Ok(archive.source(source_id(archive.id(), &name))?.map(|_| false))
}

/// What an error makes of a file.
fn outcome(error: Error) -> Taken {
    match error.kind() {
        ErrorKind::InvalidInput => Taken::PassedOver(error.to_string()),
        _ => Taken::Failed(error),
    }
}

/// Regular files at and below `paths` with their sizes in bytes, in the order of their names; symbolic links are not
/// followed.
///
/// # Errors
/// `NotFound` when a named path does not exist.
pub fn transcripts(paths: &[PathBuf]) -> Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for path in paths {
        match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_file() => files.extend(looked_into(path, meta.len())),
            Ok(meta) => find(path, &meta, &mut files),
            Err(error) => {
                // A session in a database is named like a file below it.
                let own = facts_at(path).ok_or_else(|| crate::files::io_error(path, "read", error))?;
                files.push((path.clone(), own.size_bytes));
            }
        }
    }
    Ok(files)
}

/// Regular files and folders of events below `path`, in the order of their names.
fn find(path: &Path, meta: &std::fs::Metadata, files: &mut Vec<(PathBuf, u64)>) {
    if meta.is_file() {
        files.extend(items_of(path, meta.len()));
    }
    if let Some(session) = meta.is_dir().then(|| folder_at(path)).flatten() {
        return files.push(session);
    }
    let Some(entries) = meta.is_dir().then(|| std::fs::read_dir(path).ok()).flatten() else { return };
    let mut entries: Vec<_> = entries.filter_map(std::result::Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if let Ok(meta) = entry.metadata() {
            find(&entry.path(), &meta, files);
        }
    }
}

/// Imports the session of the transcript `path`: the transcript, the transcripts of its child agents and the outputs
/// that were moved out of line, each only where it changed. Returns what came of the transcript; what came of every
/// file is told to `progress`, the transcript first.
///
/// A transcript that did not change is not read; its child agents are looked at all the same.
///
/// # Errors
/// `NotFound` when there is no such file, `InvalidInput` when it is no regular file or no transcript, `Unavailable`
/// when it cannot be read or stored; files that were taken in until then stay.
pub fn import_session(
    archive: &Archive,
    path: &Path,
    options: ImportOptions<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Taken> {
    let plain = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta.is_file() || meta.is_dir() && folder_at(path).is_some(),
        Err(error) if facts_at(path).is_none() => return Err(crate::files::io_error(path, "read", error)),
        Err(_) => true,
    };
    if !plain {
        return Err(Error::invalid_input(format!("{} is not a regular file", path.display())));
    }
    let main = import_file(archive, path, options, &mut |bytes| progress(Progress::Bytes(bytes)))?;
    progress(Progress::File(path, &main));
    let id = source_id(archive.id(), &name_of(path));
    let items = match &main {
        Taken::Imported => {
            let transcript = Transcript::open(path, None)?;
            for missing in missing_items(&transcript) {
                progress(Progress::Missing(path, &missing));
            }
            found_items(&transcript)
        }
        Taken::Unchanged | Taken::PassedOver(_) | Taken::Failed(_) => known_items(archive, path, id)?,
    };
    let mut links = Vec::new();
    for item in items {
        let taken = import_item(archive, &item, options).unwrap_or_else(Taken::Failed);
        if matches!(taken, Taken::Imported) {
            let source = source_id(archive.id(), &name_of(&item.path));
            links.push(SessionItem { kind: item.kind, source });
        }
        progress(Progress::File(&item.path, &taken));
    }
    if !links.is_empty() {
        archive.link(id, &links)?;
    }
    Ok(main)
}

/// The files of a session whose transcript did not change: those in custody, and child agents that are new.
fn known_items(archive: &Archive, path: &Path, id: SourceId) -> Result<Vec<FoundItem>> {
    let mut items = Vec::new();
    for link in archive.links(id)? {
        if let Some(source) = archive.source(link.source)? {
            items.push(FoundItem { kind: link.kind, path: PathBuf::from(source.meta.name) });
        }
    }
    // A summary is linked and is no file.
    items.retain(|item| facts_at(&item.path).is_some());
    if let Some((root, stem)) = path.parent().zip(path.file_stem().and_then(std::ffi::OsStr::to_str)) {
        let mut children = children_below(root, &format!("{stem}/subagents"));
        children.retain(|child| !items.iter().any(|item| item.path == child.path));
        items.append(&mut children);
    }
    Ok(items)
}

/// Imports a file that belongs to a session: a transcript, or any bytes that were moved out of one.
fn import_item(archive: &Archive, item: &FoundItem, options: ImportOptions<'_>) -> Result<Taken> {
    match import_file(archive, &item.path, options, &mut |_| {}) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            let source = FileBytes::open(&item.path)?;
            take_as(archive, &File { path: &item.path, source, format: "output" }, options, &mut |_| {})?;
            Ok(Taken::Imported)
        }
        taken => taken,
    }
}

/// Keeps the summary that an agent made of its session, linked to the transcript `path`. It is kept as what somebody
/// wrote, and is evidence of nothing else.
///
/// # Errors
/// `Unavailable` when nothing was recorded.
pub fn import_summary(
    archive: &Archive,
    path: &Path,
    summary: &str,
    options: ImportOptions<'_>,
) -> Result<()> {
    let bytes = summary.as_bytes().to_vec();
    let main = source_id(archive.id(), &name_of(path));
    let name = format!("summary:{}:{}", name_of(path), Digest::of(&bytes));
    let id = source_id(archive.id(), &name);
    let facts = facts(None, Bytes::len(&bytes));
    let origin = Origin { source: &name, project: None };
    let retention = options.policy.retention(origin, present(archive, options.now)?)?;
    let meta = SourceMeta { id, name, format: "summary".to_owned(), session: None, facts };
    take_in(archive, &bytes, &meta, Terms { retention, now: options.now }, &mut |_| {})?;
    if archive.source(main)?.is_some() {
        archive.link(main, &[SessionItem { kind: "summary".to_owned(), source: id }])?;
    }
    Ok(())
}

fn import_file(
    archive: &Archive,
    path: &Path,
    options: ImportOptions<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Taken> {
    let unchanged = |facts: &ItemFacts| -> Result<Option<Taken>> {
        if options.recheck == Recheck::Read || !archive.is_unchanged(&name_of(path), facts)? {
            return Ok(None);
        }
        let erased = archive.is_erased(source_id(archive.id(), &name_of(path)))?;
        Ok(Some(if erased { Taken::PassedOver(ERASED.to_owned()) } else { Taken::Unchanged }))
    };
    // A session in a database or a folder is written out when it is opened.
    let kept = if path.is_file() { None } else { facts_at(path) };
    if let Some(taken) = kept.as_ref().map(&unchanged).transpose()?.flatten() {
        return Ok(taken);
    }
    let plain = FileBytes::open(path)?;
    if let Some(taken) = unchanged(&plain.facts())? {
        return Ok(taken);
    }
    let source = plain.content()?;
    let format = strongroom_formats::detect(&source)?.name();
    take_as(archive, &File { path, source, format }, options, progress)?;
    if options.policy.asks_for_class() {
        keep_classes(archive, path, format, options)?;
    }
    Ok(Taken::Imported)
}

/// Keeps what was just taken in as long as the classes of its spans ask.
fn keep_classes(archive: &Archive, path: &Path, format: &str, options: ImportOptions<'_>) -> Result<()> {
    let transcript = Transcript::open(path, Some(format))?;
    let source = source_id(archive.id(), &name_of(path));
    let Some(revision) = archive.latest_revision(source)? else { return Ok(()) };
    let now = present(archive, options.now)?;
    keep_by_class(archive, options.policy, &Reading::uncounted(&transcript)?, &revision, now)
}

/// The directory that a transcript names, where a rule asks for it.
fn project(policy: &Policy, file: &File<'_>) -> Option<String> {
    let transcript = policy.asks_for_project().then(|| Transcript::open(file.path, Some(file.format)).ok());
    transcript.flatten().and_then(|transcript| transcript.cwd().map(str::to_owned))
}

/// A file that is to be taken in, and as what.
struct File<'a> {
    path: &'a Path,
    source: FileBytes,
    format: &'a str,
}

/// Takes a file into custody.
fn take_as(
    archive: &Archive,
    file: &File<'_>,
    options: ImportOptions<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let name = name_of(file.path);
    let id = source_id(archive.id(), &name);
    // Those of what is read, and not of what stands under the name by now.
    let facts = file.source.facts();
    let meta = SourceMeta { id, name, format: file.format.to_owned(), session: None, facts };
    let project = project(options.policy, file);
    let origin = Origin { source: &meta.name, project: project.as_deref() };
    let retention = options.policy.retention(origin, present(archive, options.now)?)?;
    take_in(archive, &file.source, &meta, Terms { retention, now: options.now }, progress)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use strongroom_archive::Mode;

    use super::*;
    use crate::custody::meta_of;

    const LINE: &str = "{\"type\":\"user\",\"sessionId\":\"s1\",\"uuid\":\"u1\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";

    #[test]
    fn a_folder_of_events_is_one_session_that_grows_and_whose_gaps_are_holes() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(&dir.path().join("archive"), Mode::CreateIfMissing).unwrap();
        let session = dir.path().join("c");
        let events = session.join("events");
        std::fs::create_dir_all(&events).unwrap();
        let event = |number: u32| {
            let name = format!("event-{number:05}-0000000{number}-0000.json");
            let text = format!(
                r#"{{"kind":"MessageEvent","id":"e{number}","source":"user","llm_message":{{"role":"user","content":[{{"type":"text","text":"Word {number}."}}]}}}}"#
            );
            std::fs::write(events.join(name), text).unwrap();
        };
        let policy = Policy::default();
        let options = ImportOptions { policy: &policy, now: Timestamp::from_ms(1), recheck: Recheck::Trust };
        let take = || {
            let mut told = Vec::new();
            import(&archive, std::slice::from_ref(&session), options, &mut |step| {
                if let Progress::File(path, taken) = step {
                    told.push((path.to_owned(), matches!(taken, Taken::Imported)));
                }
            })
            .unwrap();
            told
        };
        event(0);
        assert_eq!(take(), [(events.clone(), true)]);
        assert_eq!(take(), [(events.clone(), false)]);
        event(1);
        assert_eq!(take(), [(events.clone(), true)]);
        assert_eq!(archive.sources().unwrap().len(), 1);
        let whole = Transcript::open(&session, None).unwrap();
        assert_eq!((whole.path(), whole.format().name()), (Some(events.as_path()), "openhands"));
        assert_eq!(whole.index().findings, []);
        event(3);
        let torn = Transcript::open(&session, None).unwrap();
        let found = torn.index().findings.iter().map(|finding| finding.line);
        assert_eq!(found.collect::<Vec<_>>(), [Some(3)], "{:?}", torn.index().findings);
    }

    #[test]
    fn a_file_that_is_replaced_or_grows_while_it_is_read_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(&dir.path().join("archive"), Mode::CreateIfMissing).unwrap();
        let (path, other) = (dir.path().join("s.jsonl"), dir.path().join("other"));
        let policy = Policy::default();
        let options = ImportOptions { policy: &policy, now: Timestamp::from_ms(1), recheck: Recheck::Trust };
        std::fs::write(&path, LINE).unwrap();
        std::fs::write(&other, LINE.replace("hi", "ho")).unwrap();
        let source = FileBytes::open(&path).unwrap();
        std::fs::rename(&other, &path).unwrap();
        take_as(&archive, &File { path: &path, source, format: "claude-code" }, options, &mut |_| {})
            .unwrap();
        assert!(matches!(import_file(&archive, &path, options, &mut |_| {}), Ok(Taken::Imported)));
        assert!(matches!(import_file(&archive, &path, options, &mut |_| {}), Ok(Taken::Unchanged)));
        // A compaction notes what it has read, and the session has grown meanwhile.
        let transcript = Transcript::open(&path, None).unwrap();
        std::fs::write(&path, LINE.repeat(2)).unwrap();
        let noted = meta_of(&transcript, &archive).unwrap().facts;
        assert_ne!(noted, facts(Some(&path), 0));
        assert_eq!(noted.size_bytes, Bytes::len(&LINE.as_bytes().to_vec()));
    }
}
