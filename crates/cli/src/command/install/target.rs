//! A settings file: read, shown with what would change, written so that nothing is lost.

use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use similar::TextDiff;
use strongroom::files::{io_error, replace};
use strongroom::{Error, Result};

use crate::args::ScopeArg;
use crate::out;

/// What stands behind the name of a file in the name of its backup.
const BACKUP: &str = ".strongroom-backup";

/// The mode of a new file: the user's own, or one that is shared with a project.
const MODE_USER: u32 = 0o600;
const MODE_PROJECT: u32 = 0o644;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// There is none.
    Absent,
    /// These bytes.
    Bytes(Vec<u8>),
}

impl State {
    /// The bytes; none of a file that is not there.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Absent => &[],
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// What becomes of the backup when a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backup {
    /// The file as it is becomes the backup: nothing of ours is in it.
    Keep,
    /// The backup stays, or there is none: entries of ours are in the file.
    Leave,
    /// It goes: nothing of ours is left.
    Remove,
}

/// A settings file.
#[derive(Debug)]
pub(super) struct Target {
    /// As it is named.
    path: PathBuf,
    /// Where it really stands, behind symbolic links.
    real: PathBuf,
    /// What it held when it was read.
    pub(super) state: State,
}

impl Target {
    /// Reads a file that may be missing.
    ///
    /// # Errors
    /// `InvalidInput` when it is no regular file or a link that leads nowhere, `Unavailable` when it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let link = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if link => return Err(io_error(path, "followed", error)),
            Err(_) => path.to_owned(),
        };
        Ok(Self { path: path.to_owned(), state: state(&real)?, real })
    }

    /// An error about this file.
    pub(super) fn named(&self, error: &Error) -> Error {
        Error::new(error.kind(), format!("{}: {error}; nothing was changed", self.path.display()))
    }

    fn backup_path(&self) -> PathBuf {
        let mut name = self.real.clone().into_os_string();
        name.push(BACKUP);
        PathBuf::from(name)
    }

    /// What the file held before our entries were put in.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read.
    pub(super) fn backup(&self) -> Result<Option<Vec<u8>>> {
        match state(&self.backup_path())? {
            State::Absent => Ok(None),
            State::Bytes(bytes) => Ok(Some(bytes)),
        }
    }

    /// What would change, line by line, without the lines around it: they may hold somebody's keys.
    pub(super) fn difference(&self, after: &State) -> String {
        let (before, after) =
            (String::from_utf8_lossy(self.state.bytes()), String::from_utf8_lossy(after.bytes()));
        let name = self.path.display().to_string();
        let difference = TextDiff::from_lines(before.as_ref(), after.as_ref());
        difference.unified_diff().context_radius(0).header(&name, &name).to_string()
    }

    /// Writes what the file is to hold; what it held is kept beside it.
    ///
    /// # Errors
    /// `Busy` when somebody else changed it meanwhile, `Unavailable` when it cannot be written: it is as it was then.
    pub(super) fn write(&self, after: &State, scope: ScopeArg, backup: Backup) -> Result<()> {
        if state(&self.real)? != self.state {
            let words = format!("{} was changed by somebody else meanwhile; try again", self.path.display());
            return Err(Error::busy(words));
        }
        let mode = match fs::metadata(&self.real) {
            Ok(meta) => meta.permissions().mode(),
            Err(_) if scope == ScopeArg::Project => MODE_PROJECT,
            Err(_) => MODE_USER,
        };
        if let (Backup::Keep, State::Bytes(bytes)) = (backup, &self.state) {
            put(&self.backup_path(), bytes, mode)?;
            out::note(&format!("backup: {}", self.backup_path().display()));
        }
        match after {
            State::Bytes(bytes) => {
                if let Some(folder) = self.real.parent() {
                    fs::create_dir_all(folder).map_err(|error| io_error(folder, "made", error))?;
                }
                put(&self.real, bytes, mode)?;
            }
            State::Absent => {
                fs::remove_file(&self.real).map_err(|error| io_error(&self.real, "removed", error))?;
            }
        }
        if backup == Backup::Remove {
            // Where none was kept, there is none to remove.
            drop(fs::remove_file(self.backup_path()));
        }
        Ok(())
    }
}

fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    replace(path, bytes, &mut || ())?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|error| io_error(path, "written", error))
}

fn state(path: &Path) -> Result<State> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(Error::invalid_input(format!("{} is not a regular file", path.display())));
    }
    match fs::read(path) {
        Ok(bytes) => Ok(State::Bytes(bytes)),
        Err(error) if error.kind() == IoErrorKind::NotFound => Ok(State::Absent),
        Err(error) => Err(io_error(path, "read", error)),
    }
}
