//! The directory of an archive: its names, its modes, and the file systems it may lie on.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access as Permission, AtFlags, CWD};
use strongroom_core::error::{Error, Result};

use crate::disk::{create, flush_dir, link, unlink};

const DATABASE: &str = "strongroom.db";
const LOG: &str = "strongroom.db-wal";
const INDEX: &str = "strongroom.db-shm";
const LEASE: &str = "strongroom.lease";
const TIER: &str = "strongroom.tier";
const SEARCH: &str = "strongroom.search";

/// The directory of an archive.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    dir: PathBuf,
}

/// File systems that share files between machines, by their magic number: `SQLite`'s log needs memory that all
/// of its users share.
const NETWORK_FILE_SYSTEMS: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
];

fn network_file_system(magic: u64) -> Option<&'static str> {
    NETWORK_FILE_SYSTEMS.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

/// Whether the database is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Present,
    Absent,
}

impl Place {
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.dir.join(DATABASE)
    }

    /// The file that whoever stores something holds a lock on.
    pub(crate) fn lease(&self) -> PathBuf {
        self.dir.join(LEASE)
    }

    /// The file that whoever moves originals between tiers holds a lock on.
    pub(crate) fn tier(&self) -> PathBuf {
        self.dir.join(TIER)
    }

    /// The file that whoever writes derived data holds a lock on.
    pub(crate) fn search(&self) -> PathBuf {
        self.dir.join(SEARCH)
    }

    /// The error that `what` failed here.
    fn failed(&self, what: &str, error: io::Error) -> Error {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => Error::not_found,
            io::ErrorKind::NotADirectory => Error::invalid_input,
            _ => Error::unavailable,
        };
        kind(format!("{what} {}: {error}", self.dir.display())).caused_by(error)
    }

    /// Looks for the database.
    ///
    /// # Errors
    /// `InvalidInput` when the directory is something else, `Corrupt` when the database is no file or its log is
    /// left alone, `Unavailable` when the directory lies on a network file system or cannot be looked at.
    pub(crate) fn look(&self) -> Result<Presence> {
        match fs::metadata(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Presence::Absent),
            Err(error) => return Err(self.failed("cannot look at", error)),
            Ok(metadata) if !metadata.is_dir() => {
                return Err(Error::invalid_input(format!("{} is not a directory", self.dir.display())));
            }
            Ok(_) => self.check_file_system()?,
        }
        match fs::symlink_metadata(self.database()) {
            Ok(metadata) if metadata.is_file() => Ok(Presence::Present),
            Ok(_) => Err(Error::corrupt(format!("{} is not a file", self.database().display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.check_no_orphaned_log(),
            Err(error) => Err(self.failed("cannot look at", error)),
        }
    }

    /// A new database beside an old log would take the log for its own.
    fn check_no_orphaned_log(&self) -> Result<Presence> {
        let log = self.dir.join(LOG);
        if !log.exists() {
            return Ok(Presence::Absent);
        }
        // No log is there before its database: another process may have made both since the first look.
        if self.database().is_file() {
            return Ok(Presence::Present);
        }
        Err(Error::corrupt(format!("{} is there and its database is not", log.display())))
    }

    #[cfg(target_os = "linux")]
    fn check_file_system(&self) -> Result<()> {
        let facts =
            rustix::fs::statfs(&self.dir).map_err(|error| self.failed("cannot look at", error.into()))?;
        // The field is signed or unsigned, 32 or 64 bits wide, by architecture; magic numbers have 32 bits.
        #[expect(clippy::cast_sign_loss, reason = "only the low 32 bits are the magic number")]
        let magic = facts.f_type as u64 & 0xffff_ffff;
        network_file_system(magic).map_or(Ok(()), |name| {
            let dir = self.dir.display();
            Err(Error::unavailable(format!(
                "{dir} lies on {name}, and an archive cannot be kept on a network file system"
            )))
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn check_file_system(&self) -> Result<()> {
        Ok(())
    }

    /// Makes the directory, for its owner alone. Durable on return.
    pub(crate) fn make_dir(&self) -> Result<()> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        made.map_err(|error| self.failed("cannot make", error))?;
        // Also of directories that are there: an earlier try may have failed between making one and flushing.
        self.flush(self.dir.ancestors().skip(1))?;
        let is_empty = fs::read_dir(&self.dir).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            let private = fs::Permissions::from_mode(0o700);
            fs::set_permissions(&self.dir, private).map_err(|error| self.failed("cannot protect", error))?;
        }
        self.check_file_system()
    }

    /// Makes an empty file for a database that is not yet the archive's; `nonce` tells it from others.
    pub(crate) fn make_draft(&self, nonce: u64) -> Result<PathBuf> {
        let draft = self.dir.join(format!("{DATABASE}.new-{nonce:016x}"));
        let made = create(&draft, fs::OpenOptions::new().write(true).create_new(true).mode(0o600));
        made.map_err(|error| self.failed("cannot write to", error))?;
        Ok(draft)
    }

    /// Gives a finished draft the database's name, unless another process was first. Durable on return.
    pub(crate) fn publish(&self, draft: &Path) -> Result<()> {
        let linked = link(draft, &self.database());
        unlink(draft).map_err(|error| self.failed("cannot write to", error))?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(self.failed("cannot write to", error));
            }
            Ok(()) | Err(_) => {}
        }
        flush_dir(&self.dir).map_err(|error| self.failed("cannot flush", error))
    }

    /// Makes the names of an archive that is there durable, its own and its directory's: whoever made it may have been
    /// stopped, or met a failing disk, before it came to that.
    pub(crate) fn settle(&self) -> Result<()> {
        self.flush(self.dir.ancestors().take(2))
    }

    fn flush<'d>(&self, dirs: impl Iterator<Item = &'d Path>) -> Result<()> {
        // Directories that may not be read, and file systems on which names need no flush.
        let cannot =
            [io::ErrorKind::PermissionDenied, io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported];
        for dir in dirs {
            let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            match flush_dir(dir) {
                Err(error) if !cannot.contains(&error.kind()) => {
                    return Err(self.failed("cannot flush what holds", error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Clears away a draft that will not be published, with what `SQLite` left beside it.
    pub(crate) fn discard(draft: &Path) {
        for rest in ["", "-wal", "-shm", "-journal"] {
            let mut path = draft.as_os_str().to_owned();
            path.push(rest);
            // The draft is of no use to anybody, and the error that led here is the one to report.
            drop(unlink(Path::new(&path)));
        }
    }

    /// Whether this process may write the database and its log.
    pub(crate) fn is_writable(&self) -> bool {
        let may =
            |path: &Path, permission| rustix::fs::accessat(CWD, path, permission, AtFlags::EACCESS).is_ok();
        may(&self.dir, Permission::WRITE_OK | Permission::EXEC_OK)
            && may(&self.database(), Permission::WRITE_OK)
    }

    /// Takes group's and others' rights from the database, where it has them and this process may.
    pub(crate) fn protect_database(&self) -> Result<()> {
        let database = self.database();
        let open = fs::metadata(&database).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
        if open {
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(&database, private)
                .map_err(|error| self.failed("cannot protect the database in", error))?;
        }
        Ok(())
    }

    /// Whether nobody can write here, so that the database may be read as if it never changed.
    ///
    /// # Errors
    /// `Unavailable` when a log is left that cannot be taken in: without it acknowledged pieces would be missing.
    pub(crate) fn is_frozen(&self) -> Result<bool> {
        let may_write = rustix::fs::accessat(CWD, &self.dir, Permission::WRITE_OK, AtFlags::EACCESS).is_ok();
        let has_index = self.dir.join(INDEX).exists();
        if may_write || has_index {
            return Ok(false);
        }
        let has_log = fs::metadata(self.dir.join(LOG)).is_ok_and(|metadata| metadata.len() > 0);
        if has_log {
            let dir = self.dir.display();
            return Err(Error::unavailable(format!(
                "the archive in {dir} was not closed and the directory cannot be written; open it once where it can"
            )));
        }
        Ok(true)
    }

    /// The database's name as a URI that promises `SQLite` that it does not change.
    pub(crate) fn frozen_uri(&self) -> PathBuf {
        let spell = |&byte: &u8| {
            let plain = byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
            if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
        };
        let path: String = self.database().as_os_str().as_bytes().iter().map(spell).collect();
        PathBuf::from(format!("file:{path}?immutable=1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_magic_and_local_ones_pass() {
        assert_eq!(network_file_system(0x6969), Some("NFS"));
        assert_eq!(network_file_system(0xff53_4d42), Some("CIFS"));
        // ext4, tmpfs, overlayfs, 9p
        assert!(
            [0xef53, 0x0102_1994, 0x794c_7630, 0x0102_1997]
                .into_iter()
                .all(|magic| network_file_system(magic).is_none())
        );
    }
}
