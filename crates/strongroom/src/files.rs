//! Files: read by range, written to a temporary file and renamed, never through a symbolic link.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use strongroom_archive::source::ItemFacts;
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes;
use strongroom_stores::database::{Database, Kept};
use strongroom_stores::folder::Folder;

/// A file that is read by range. It may grow while it is read; only what was there at opening is seen.
#[derive(Debug)]
pub struct FileBytes {
    held: Held,
    facts: ItemFacts,
    len: u64,
    path: PathBuf,
}

/// Where the bytes are.
#[derive(Debug)]
enum Held {
    File(File),
    Memory(Vec<u8>),
}

impl FileBytes {
    /// Opens a regular file, a session in a database, or a folder of events.
    ///
    /// # Errors
    /// `NotFound` when there is none, `InvalidInput` of a directory or device, `Unavailable` when it cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return Self::open_session(path);
            }
            other => other.map_err(|error| io_error(path, "read", error))?,
        };
        let meta = file.metadata().map_err(|error| io_error(path, "read", error))?;
        if meta.is_dir() {
            return Self::open_folder(path);
        }
        if !meta.is_file() {
            return Err(Error::invalid_input(format!("{} is not a regular file", path.display())));
        }
        Ok(Self { len: meta.len(), facts: facts_of(&meta), held: Held::File(file), path: path.to_owned() })
    }

    /// Opens a session that is a folder of events.
    fn open_folder(path: &Path) -> Result<Self> {
        let folder = Folder::at(path).ok_or_else(|| {
            Error::invalid_input(format!("{} is a directory, not a transcript", path.display()))
        })?;
        let (bytes, facts) = (folder.log()?, facts_of_folder(&folder));
        Ok(Self { len: Bytes::len(&bytes), facts, held: Held::Memory(bytes), path: folder.path().to_owned() })
    }

    /// Opens a session in a database, which `path` names as a file below it: see [`sessions_in`].
    fn open_session(path: &Path) -> Result<Self> {
        let (database, id) = database_of(path)?;
        let kept = database
            .session(id)?
            .ok_or_else(|| Error::not_found(format!("{} does not exist", path.display())))?;
        let bytes = database.export(id)?;
        let (len, facts) = (Bytes::len(&bytes), facts_of_session(path, &kept));
        Ok(Self { len, facts, held: Held::Memory(bytes), path: path.to_owned() })
    }

    /// Opens a regular file for its [content](Self::content).
    ///
    /// # Errors
    /// As [`FileBytes::open`] and [`FileBytes::content`].
    pub fn open_content(path: &Path) -> Result<Self> {
        Self::open(path)?.content()
    }

    /// What the file holds: of one that is packed (see [`strongroom_stores::packed`]) what is packed in it, in memory,
    /// of any other its bytes. The [facts](Self::facts) stay those of the file.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read, or what is packed is damaged or over a limit, `InvalidInput` of a database
    /// of several sessions.
    pub fn content(self) -> Result<Self> {
        let unpacked = strongroom_stores::packed::unpacked(&self).map_err(|error| {
            Error::new(error.kind(), format!("{}: {error}", self.path.display())).caused_by(error)
        })?;
        let sessions = match &self.held {
            Held::File(file) if begins_as_database(file) => sessions_in(&self.path)?,
            Held::File(_) | Held::Memory(_) => None,
        };
        if let Some(own) = sessions {
            let first =
                own.first().map(|(path, _)| format!(", such as {}", path.display())).unwrap_or_default();
            let message = format!(
                "{} is a database of {} sessions; name one of them{first}",
                self.path.display(),
                own.len()
            );
            return Err(Error::invalid_input(message));
        }
        Ok(match unpacked {
            Some(bytes) => Self { len: Bytes::len(&bytes), held: Held::Memory(bytes), ..self },
            None => self,
        })
    }

    /// Its path; of a folder of events that of the folder, whatever it was named by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// By what the file is recognised as unchanged, as it was when it was opened. Another file may stand under its name
    /// by now.
    pub const fn facts(&self) -> ItemFacts {
        self.facts
    }
}

impl Bytes for FileBytes {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, range: ByteRange) -> Result<Cow<'_, [u8]>> {
        if range.end() > self.len {
            return Err(Error::invalid_input(format!(
                "bytes {range:?} lie behind the end of {}",
                self.path.display()
            )));
        }
        let file = match &self.held {
            Held::Memory(bytes) => return bytes.read(range),
            Held::File(file) => file,
        };
        let len = usize::try_from(range.len())
            .map_err(|error| Error::unavailable("range too large").caused_by(error))?;
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, range.start()).map_err(|error| io_error(&self.path, "read", error))?;
        Ok(Cow::Owned(bytes))
    }
}

/// By what the file with these data is recognised as unchanged.
pub fn facts_of(meta: &Metadata) -> ItemFacts {
    ItemFacts {
        size_bytes: meta.len(),
        mtime_ms: meta.mtime().saturating_mul(1_000).saturating_add(meta.mtime_nsec() / 1_000_000),
        inode: meta.ino(),
        device: meta.dev(),
    }
}

/// By what a file, a session in a database or a folder of events is recognised as unchanged; `None` where there is none.
pub fn facts_at(path: &Path) -> Option<ItemFacts> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Folder::at(path).map(|folder| facts_of_folder(&folder)),
        Ok(meta) => Some(facts_of(&meta)),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            let (database, id) = database_of(path).ok()?;
            let kept = database.session(id).ok()??;
            Some(facts_of_session(path, &kept))
        }
        Err(_) => None,
    }
}

fn facts_of_folder(folder: &Folder) -> ItemFacts {
    let (inode, device) = folder.identity();
    ItemFacts { size_bytes: folder.bytes(), mtime_ms: folder.changed_ms(), inode, device }
}

/// The rows stand for the inode: a session that another one took the place of has others.
fn facts_of_session(path: &Path, kept: &Kept) -> ItemFacts {
    let device =
        path.parent().and_then(|database| std::fs::metadata(database).ok()).map_or(0, |meta| meta.ino());
    ItemFacts { size_bytes: kept.bytes, mtime_ms: kept.changed_ms, inode: kept.rows, device }
}

/// The sessions in the database `path`, each named as a file below it, `<database>/<session>.json`, with the bytes of
/// its rows. No such file can exist, since a file is no directory. `None` of what is no database of a tool that is
/// known.
///
/// # Errors
/// `Unavailable` when the database cannot be read.
pub fn sessions_in(path: &Path) -> Result<Option<Vec<(PathBuf, u64)>>> {
    let Some(database) = database_at(path)? else { return Ok(None) };
    let named = |kept: Kept| (path.join(format!("{}.json", kept.id)), kept.bytes);
    Ok(Some(database.sessions()?.into_iter().map(named).collect()))
}

/// How the names of databases end. Others are no databases of agents, and their beginnings are not looked at.
const DATABASES: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// The folder of events that `path` is or holds, with their bytes: one session.
pub fn folder_at(path: &Path) -> Option<(PathBuf, u64)> {
    Folder::at(path).map(|folder| (folder.path().to_owned(), folder.bytes()))
}

/// A file of `len` bytes, or the sessions in it where it is a database of a tool that is known.
pub fn items_of(path: &Path, len: u64) -> Vec<(PathBuf, u64)> {
    let named = path.extension().is_some_and(|ending| DATABASES.iter().any(|own| ending == *own));
    if named { looked_into(path, len) } else { vec![(path.to_owned(), len)] }
}

/// As [`items_of`], whatever the file is called.
pub fn looked_into(path: &Path, len: u64) -> Vec<(PathBuf, u64)> {
    let sessions = sessions_in(path).ok().flatten();
    sessions.unwrap_or_else(|| vec![(path.to_owned(), len)])
}

fn database_at(path: &Path) -> Result<Option<Database>> {
    let is_database = File::open(path).is_ok_and(|file| begins_as_database(&file));
    if is_database { Database::open(path) } else { Ok(None) }
}

fn begins_as_database(file: &File) -> bool {
    let mut head = [0; 16];
    file.read_exact_at(&mut head, 0).is_ok() && strongroom_stores::database::is_database(&head)
}

/// The database in which `path` names a session, and the session's id.
fn database_of(path: &Path) -> Result<(Database, &str)> {
    let missing = || Error::not_found(format!("{} does not exist", path.display()));
    let id = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")).ok_or_else(missing)?;
    let database = path.parent().map(database_at).transpose()?.flatten().ok_or_else(missing)?;
    Ok((database, id))
}

/// Reads all of standard input or another stream.
///
/// # Errors
/// `Unavailable` when reading fails.
pub fn read_all(stream: &mut dyn std::io::Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .map_err(|error| Error::unavailable("standard input cannot be read").caused_by(error))?;
    Ok(bytes)
}

/// Writes `bytes` to a temporary file beside `path`, syncs it, renames it to `path` and syncs the directory.
/// `before_rename` runs in between; its error leaves the old file.
///
/// # Errors
/// `InvalidInput` when `path` is there and no regular file, or its directory is not there, `Unavailable` when a step fails: `path` is then as it was.
pub fn replace(path: &Path, bytes: &[u8], before_rename: &mut dyn FnMut()) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(Error::invalid_input(format!("{} is not a regular file", path.display())));
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !directory.is_dir() {
        let what = if directory.exists() { "is not a directory" } else { "does not exist" };
        return Err(Error::invalid_input(format!("{} {what}", directory.display())));
    }
    let failed = |error: std::io::Error| io_error(path, "written", error);
    let mut file = tempfile::Builder::new().prefix(".strongroom-").tempfile_in(directory).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    before_rename();
    file.persist(path).map_err(|error| failed(error.error))?;
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(failed)
}

/// Opens `relative` below `root` without following a symbolic link on the way.
///
/// # Errors
/// `NotFound` when there is none, `InvalidInput` when the path leads out of `root` or through a link.
pub fn open_below(root: &Path, relative: &str) -> Result<FileBytes> {
    let parts: Vec<&str> = relative.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || matches!(*part, "." | "..") || part.contains(['\0', '\\']))
    {
        return Err(Error::invalid_input(format!("{relative:?} is no place below the session's directory")));
    }
    let mut path = root.to_owned();
    for part in &parts {
        path.push(part);
        let meta = match std::fs::symlink_metadata(&path) {
            // Sessions beside one in a database are in the database.
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return FileBytes::open(&path),
            other => other.map_err(|error| io_error(&path, "read", error))?,
        };
        if meta.is_symlink() {
            return Err(Error::invalid_input(format!(
                "{} is a symbolic link and is not followed",
                path.display()
            )));
        }
    }
    let file = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)
        .map_err(|error| io_error(&path, "read", error))?;
    let meta = file.metadata().map_err(|error| io_error(&path, "read", error))?;
    if !meta.is_file() {
        return Err(Error::invalid_input(format!("{} is not a regular file", path.display())));
    }
    Ok(FileBytes { len: meta.len(), facts: facts_of(&meta), held: Held::File(file), path })
}

/// The names in the directory `relative` below `root`, sorted; empty when there is none.
pub fn names_below(root: &Path, relative: &str) -> Vec<String> {
    let path = root.join(relative);
    let plain = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir());
    let Some(entries) = plain.then(|| std::fs::read_dir(&path).ok()).flatten() else { return Vec::new() };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// An error of the operating system about `path`: a name that is wrong is for the caller to correct, anything else is
/// trouble with the thing it names.
pub fn io_error(path: &Path, verb: &str, error: std::io::Error) -> Error {
    let message = format!("{} cannot be {verb}", path.display());
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::not_found(format!("{} does not exist", path.display())),
        std::io::ErrorKind::NotADirectory | std::io::ErrorKind::IsADirectory => {
            Error::invalid_input(message).caused_by(error)
        }
        _ => Error::unavailable(message).caused_by(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_below_a_directory_do_not_lead_out_of_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("s")).unwrap();
        std::fs::write(dir.path().join("s/a.txt"), "x").unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join("s/link")).unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("s/dir")).unwrap();
        assert!(open_below(dir.path(), "s/a.txt").is_ok());
        for bad in ["../secret", "s/../secret", "s/link", "s/dir/secret", "", "/etc/passwd", "s//a.txt"] {
            assert!(open_below(dir.path(), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "old").unwrap();
        let mut seen = Vec::new();
        replace(&path, b"new", &mut || seen.push(std::fs::read(&path).unwrap())).unwrap();
        assert_eq!(seen, [b"old"]);
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
