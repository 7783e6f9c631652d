//! Data made from originals that may be made again: files beside the database, which anybody may delete.
//!
//! Such a file may quote the originals it was made from. So it is sealed where the archive is, and goes before one of its
//! sources loses anything: whatever stops a deletion in between, no word of what was to go stays behind.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use strongroom_core::digest::{Digest, SourceId};
use strongroom_core::error::{Error, Result};

use crate::archive::Archive;
use crate::cover::Cover;
use crate::database::Access;
use crate::disk::{flush_dir, unlink};
use crate::random::random;
use crate::seal::Key;

/// How the name of every file begins; 16 hexadecimal digits follow.
const PREFIX: &str = "strongroom.search-";

/// How the name of a file ends that is being written.
const UNFINISHED: &str = ".new";

const MAGIC: &[u8; 8] = b"SRDERIV1";
const HASH_BYTES: usize = 32;

/// The most bytes of a file that are read.
const FILE_BYTES_MAX: u64 = 1 << 31;

/// Names a file of derived data. Nothing is told by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DerivedName(u64);

impl DerivedName {
    fn file(self) -> String {
        format!("{PREFIX}{:016x}", self.0)
    }

    fn of_file(name: &str) -> Option<Self> {
        let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16)?;
        u64::from_str_radix(digits, 16).ok().map(Self)
    }
}

/// The right to write and delete derived data; while one holds it nobody else does.
#[derive(Debug)]
pub struct Deriving<'a> {
    archive: &'a Archive,
    _lock: File,
}

impl Archive {
    /// The derived data there is.
    ///
    /// # Errors
    /// `Unavailable` when the directory cannot be read.
    pub fn derived(&self) -> Result<BTreeSet<DerivedName>> {
        Ok(self.names_beside()?.iter().filter_map(|name| DerivedName::of_file(name)).collect())
    }

    /// How many bytes the file of `name` has; none where it is gone.
    pub fn derived_bytes(&self, name: DerivedName) -> u64 {
        fs::metadata(self.beside(&name.file())).map_or(0, |meta| meta.len())
    }

    /// What was written under `name`; `None` where it is gone, or is not what this archive wrote.
    pub fn read_derived(&self, name: DerivedName) -> Option<Vec<u8>> {
        let bytes = read(&self.beside(&name.file()))?;
        let (_, body) = self.uncovered(name, &bytes)?;
        match &self.cover {
            Cover::Plain => Some(body.to_vec()),
            Cover::Sealed(keys) => Part::Body.open(keys.derived(), name, body),
        }
    }

    /// The right to write derived data, unless another process has it, or nobody may write here.
    ///
    /// # Errors
    /// `Unavailable` when the lock cannot be taken for another reason.
    pub fn deriving(&self) -> Result<Option<Deriving<'_>>> {
        if self.database.access() != Access::Write {
            return Ok(None);
        }
        let Some(lock) = self.leases.try_derive()? else { return Ok(None) };
        let deriving = Deriving { archive: self, _lock: lock };
        deriving.clear_unfinished()?;
        Ok(Some(deriving))
    }

    /// As [`Archive::deriving`], for whoever deletes originals: waits for whoever writes.
    ///
    /// # Errors
    /// `Busy` when another process writes for longer than ten seconds.
    pub(crate) fn deriving_no_more(&self) -> Result<Deriving<'_>> {
        let deriving = Deriving { archive: self, _lock: self.leases.derive()? };
        deriving.clear_unfinished()?;
        Ok(deriving)
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.database.dir().join(name)
    }

    /// The names of all files of this kind, finished or not.
    fn names_beside(&self) -> Result<Vec<String>> {
        let dir = self.database.dir();
        let failed = |error| failed("read", dir, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            names.extend(name.to_str().filter(|name| name.starts_with(PREFIX)).map(str::to_owned));
        }
        Ok(names)
    }

    /// The sources behind a file, and its body as it stands.
    fn uncovered<'b>(&self, name: DerivedName, bytes: &'b [u8]) -> Option<(BTreeSet<SourceId>, &'b [u8])> {
        let (len, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
        let (head, body) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)?;
        let listed = match &self.cover {
            Cover::Plain => {
                let (listed, hash) = head.split_last_chunk::<HASH_BYTES>()?;
                (self.head_hash(name, listed) == *hash).then(|| listed.to_vec())?
            }
            Cover::Sealed(keys) => Part::Head.open(keys.derived(), name, head)?,
        };
        let (ids, []) = listed.as_chunks::<HASH_BYTES>() else { return None };
        Some((ids.iter().map(|id| SourceId::new(Digest::from_bytes(*id))).collect(), body))
    }

    /// Binds a list of sources to the file and the archive.
    fn head_hash(&self, name: DerivedName, listed: &[u8]) -> [u8; HASH_BYTES] {
        let mut hash = Sha256::new();
        hash.update(self.id().digest().as_bytes());
        hash.update(name.0.to_be_bytes());
        hash.update(listed);
        hash.finalize().into()
    }
}

/// A part of a file, to which what is sealed there is bound.
#[derive(Clone, Copy)]
enum Part {
    Head,
    Body,
}

impl Part {
    const fn word(self) -> &'static [u8] {
        match self {
            Self::Head => b"head",
            Self::Body => b"body",
        }
    }

    fn open(self, key: &Key, name: DerivedName, sealed: &[u8]) -> Option<Vec<u8>> {
        key.open(&[&name.0.to_be_bytes(), self.word()], sealed)
    }

    fn seal(self, key: &Key, name: DerivedName, plain: &[u8]) -> Result<Vec<u8>> {
        key.seal(&[&name.0.to_be_bytes(), self.word()], plain)
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nofollow).open(path).ok()?;
    let len = file.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(len).ok()?);
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl Deriving<'_> {
    /// Writes data made from `sources`. Whoever is stopped meanwhile leaves nothing that counts.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be written.
    pub fn write(&self, sources: &BTreeSet<SourceId>, body: &[u8]) -> Result<DerivedName> {
        let name = DerivedName(u64::from_be_bytes(random()?));
        let listed: Vec<u8> = sources.iter().flat_map(|source| *source.digest().as_bytes()).collect();
        let (head, body) = self.covered(name, listed, body)?;
        let len =
            u32::try_from(head.len()).map_err(|_| Error::invalid_input("there are too many sources"))?;
        let path = self.archive.beside(&name.file());
        let draft = self.archive.beside(&format!("{}{UNFINISHED}", name.file()));
        let written = || {
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(&draft)?;
            [MAGIC, &len.to_be_bytes()[..], &head, &body].iter().try_for_each(|part| file.write_all(part))?;
            fs::rename(&draft, &path)
        };
        written().map_err(|error| failed("write", &path, error))?;
        Ok(name)
    }

    /// Head and body as they stand in the file.
    fn covered<'b>(
        &self,
        name: DerivedName,
        mut listed: Vec<u8>,
        body: &'b [u8],
    ) -> Result<(Vec<u8>, std::borrow::Cow<'b, [u8]>)> {
        match &self.archive.cover {
            Cover::Plain => {
                let hash = self.archive.head_hash(name, &listed);
                listed.extend(hash);
                Ok((listed, body.into()))
            }
            Cover::Sealed(keys) => {
                let key = keys.derived();
                Ok((Part::Head.seal(key, name, &listed)?, Part::Body.seal(key, name, body)?.into()))
            }
        }
    }

    /// Deletes what was written under `name`.
    ///
    /// # Errors
    /// `Unavailable` when it stays.
    pub fn delete(&self, name: DerivedName) -> Result<()> {
        self.unlink(&name.file())
    }

    /// Deletes everything that was made from one of `sources`, and what cannot be told; it does not come back.
    pub(crate) fn forget(&self, sources: &BTreeSet<SourceId>) -> Result<()> {
        let is_touched = |name: DerivedName| {
            let bytes = read(&self.archive.beside(&name.file())).unwrap_or_default();
            let known = self.archive.uncovered(name, &bytes);
            known.is_none_or(|(own, _)| !own.is_disjoint(sources))
        };
        self.forget_where(is_touched)
    }

    /// Deletes all of it.
    pub(crate) fn forget_all(&self) -> Result<()> {
        self.forget_where(|_| true)
    }

    fn forget_where(&self, goes: impl Fn(DerivedName) -> bool) -> Result<()> {
        let all = self.archive.derived()?;
        let gone: Vec<DerivedName> = all.into_iter().filter(|name| goes(*name)).collect();
        gone.iter().try_for_each(|name| self.delete(*name))?;
        let dir = self.archive.database.dir();
        if gone.is_empty() { Ok(()) } else { flush_dir(dir).map_err(|error| failed("flush", dir, error)) }
    }

    fn clear_unfinished(&self) -> Result<()> {
        let names = self.archive.names_beside()?;
        names.iter().filter(|name| name.ends_with(UNFINISHED)).try_for_each(|name| self.unlink(name))
    }

    fn unlink(&self, name: &str) -> Result<()> {
        let path = self.archive.beside(name);
        match unlink(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("delete", &path, error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
    Error::unavailable(format!("cannot {what} {}: {error}", path.display())).caused_by(error)
}
