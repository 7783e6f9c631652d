//! Files: read by range, written to a temporary file and renamed, never through a symbolic link.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes;

/// A file that is read by range. It may grow while it is read; only what was there at opening is seen.
#[derive(Debug)]
pub struct FileBytes {
    held: Held,
    meta: Metadata,
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
    /// Opens a regular file.
    ///
    /// # Errors
    /// `NotFound` when there is none, `InvalidInput` of a directory or device, `Unavailable` when it cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| io_error(path, "read", error))?;
        let meta = file.metadata().map_err(|error| io_error(path, "read", error))?;
        if meta.is_dir() {
            return Err(Error::invalid_input(format!("{} is a directory, not a transcript", path.display())));
        }
        if !meta.is_file() {
            return Err(Error::invalid_input(format!("{} is not a regular file", path.display())));
        }
        Ok(Self { len: meta.len(), meta, held: Held::File(file), path: path.to_owned() })
    }

    /// Opens a regular file for its [content](Self::content).
    ///
    /// # Errors
    /// As [`FileBytes::open`] and [`FileBytes::content`].
    pub fn open_content(path: &Path) -> Result<Self> {
        Self::open(path)?.content()
    }

    /// What the file holds: of one that is packed (see [`strongroom_stores::packed`]) what is packed in it, in memory,
    /// of any other its bytes. The [metadata](Self::metadata) stay those of the file.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read, or what is packed is damaged or over a limit.
    pub fn content(self) -> Result<Self> {
        let unpacked = strongroom_stores::packed::unpacked(&self).map_err(|error| {
            Error::new(error.kind(), format!("{}: {error}", self.path.display())).caused_by(error)
        })?;
        Ok(match unpacked {
            Some(bytes) => Self { len: Bytes::len(&bytes), held: Held::Memory(bytes), ..self },
            None => self,
        })
    }

    /// What the system said of the file when it was opened. Another file may stand under its name by now.
    pub const fn metadata(&self) -> &Metadata {
        &self.meta
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
        let meta = std::fs::symlink_metadata(&path).map_err(|error| io_error(&path, "read", error))?;
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
    Ok(FileBytes { len: meta.len(), meta, held: Held::File(file), path })
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
