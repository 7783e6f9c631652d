//! Importing: whole trees into custody, again and again, taking only what changed.

use std::path::{Path, PathBuf};

use strongroom_archive::Archive;
use strongroom_archive::source::{SourceMeta, source_id};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Bytes as _;

use crate::custody::{Terms, facts, name_of, take_in};
use crate::files::FileBytes;
use crate::policy::Policy;

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
            left = left.saturating_sub(bytes);
            progress(Progress::Bytes(bytes));
        });
        let taken = taken.unwrap_or_else(|error| match error.kind() {
            ErrorKind::InvalidInput => Taken::PassedOver(error.to_string()),
            _ => Taken::Failed(error),
        });
        progress(Progress::Bytes(left));
        progress(Progress::File(&path, &taken));
    }
    Ok(())
}

/// Regular files at and below `paths` with their sizes in bytes, in the order of their names; symbolic links are not
/// followed.
///
/// # Errors
/// `NotFound` when a named path does not exist.
pub fn transcripts(paths: &[PathBuf]) -> Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for path in paths {
        let meta =
            std::fs::symlink_metadata(path).map_err(|error| crate::files::io_error(path, "read", error))?;
        find(path, &meta, &mut files);
    }
    Ok(files)
}

/// Regular files below `path`, in the order of their names.
fn find(path: &Path, meta: &std::fs::Metadata, files: &mut Vec<(PathBuf, u64)>) {
    if meta.is_file() {
        files.push((path.to_owned(), meta.len()));
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

fn import_file(
    archive: &Archive,
    path: &Path,
    options: ImportOptions<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Taken> {
    let source = FileBytes::open(path)?;
    let name = name_of(path);
    let facts = facts(Some(path), source.len());
    if options.recheck == Recheck::Trust && archive.is_unchanged(&name, &facts)? {
        return Ok(Taken::Unchanged);
    }
    let format = strongroom_formats::detect(&source)?.name().to_owned();
    let id = source_id(archive.id(), &name);
    let meta = SourceMeta { id, name, format, session: None, facts };
    let retention = options.policy.retention(&meta.name, options.now)?;
    take_in(archive, &source, &meta, Terms { retention, now: options.now }, progress)?;
    Ok(Taken::Imported)
}
