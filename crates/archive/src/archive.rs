//! Opening and making archives.

mod fetch;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use strongroom_core::digest::{ArchiveId, Digest, PieceId, SourceId};
use strongroom_core::error::{Error, Result};

use crate::catalog::Catalog;
use crate::cold::{Cloud, ColdStore};
use crate::cover::{Cover, Keys};
use crate::database::{self, Access, Database};
use crate::encoding::Level;
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::hmac::Mac;
use crate::journal::Checkpoint;
use crate::lease::Leases;
use crate::lock::{Lock, Needed, Secret};
use crate::place::{Place, Presence};
use crate::random::random;
use crate::seal::Key;
use crate::sql;
use crate::thaw::Thawed;

pub(crate) use fetch::{NOT_OURS, out_of_reach};
#[cfg(test)]
pub(crate) use fetch::{OBJECT_DOMAIN, object_parts};

/// The number of the only archive in a database of format version 1.
const ARCHIVE_NO: i64 = 1;

/// The custody of originals: pieces, catalog and journal in one directory.
///
/// It may be shared by threads, and the directory by processes.
#[derive(Debug)]
pub struct Archive {
    pub(crate) database: Database,
    pub(crate) level: Level,
    pub(crate) leases: Leases,
    pub(crate) id: ArchiveId,
    pub(crate) key: Key,
    pub(crate) cover: Cover,
    pub(crate) cloud: Cloud,
    /// The store behind the cold tier, and its address, once it was needed.
    pub(crate) store: Mutex<Option<(String, Arc<dyn ColdStore>)>>,
    /// Whether something was out of reach.
    silence: AtomicBool,
}

/// What may be done with the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Read and write one that is there. Where this process may not write, look-ups work and writing is
    /// `Unavailable`.
    ReadWrite,
    /// Read one that is there.
    ReadOnly,
    /// As [`Mode::ReadWrite`], and make one where there is none.
    CreateIfMissing,
}

/// How an archive is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// What may be done with it.
    pub mode: Mode,
    /// How hard pieces are compressed.
    pub level: Level,
    /// The size beyond which nothing more is stored; existing archives that are larger stay as they are.
    pub size_bytes_max: Option<u64>,
    /// What opens it where it is encrypted; a new archive is encrypted with it.
    pub secret: Option<Secret>,
    /// How the store behind its cold tier is reached, where it has one.
    pub cloud: Cloud,
}

impl Options {
    /// The defaults for `mode`.
    pub fn new(mode: Mode) -> Self {
        Self { mode, level: Level::default(), size_bytes_max: None, secret: None, cloud: Cloud::default() }
    }
}

impl Archive {
    /// Opens the archive in the directory `dir`.
    ///
    /// # Errors
    /// - `NotFound` when there is none and `mode` does not make one.
    /// - `Corrupt` when what is there is no archive or is damaged.
    /// - `InvalidInput` when `dir` is something else than a directory.
    /// - `Unavailable` when it cannot be read, lies on a network file system, is of a newer version, or is encrypted.
    pub fn open(dir: &Path, mode: Mode) -> Result<Self> {
        Self::open_with(dir, &Options::new(mode))
    }

    /// Opens the archive in the directory `dir` as `options` say.
    ///
    /// # Errors
    /// As [`Archive::open`], and `Unavailable` when it is encrypted and the secret is not the one.
    pub fn open_with(dir: &Path, options: &Options) -> Result<Self> {
        database::check_sqlite()?;
        let place = Place::new(dir);
        match (place.look()?, options.mode) {
            (Presence::Present, Mode::CreateIfMissing | Mode::ReadWrite) if place.is_writable() => {
                place.settle()?;
            }
            (Presence::Present, _) => {}
            (Presence::Absent, Mode::CreateIfMissing) => create(&place, options.secret.as_ref())?,
            (Presence::Absent, Mode::ReadWrite | Mode::ReadOnly) => {
                return Err(Error::not_found(format!("there is no archive in {}", dir.display())));
            }
        }
        let access =
            if options.mode != Mode::ReadOnly && place.is_writable() { Access::Write } else { Access::Read };
        if access == Access::Write {
            place.protect_database()?;
        }
        let leases = Leases::of(&place);
        let database = Database::open(place, access, options.size_bytes_max)?;
        let none = Thawed::default();
        let (id, lock) = database.read(|connection| {
            let catalog = catalog(connection, &Cover::Plain, &none)?;
            Ok((catalog.identity()?, catalog.lock()?))
        })?;
        let cover = lock.map_or(Ok(Cover::Plain), |lock| uncovered(&lock, options.secret.as_ref(), id))?;
        let key = database.read(|connection| catalog(connection, &cover, &none)?.own_key())?;
        let (cloud, store) = (options.cloud.clone(), Mutex::new(None));
        let (level, silence) = (options.level, AtomicBool::new(false));
        Ok(Self { database, level, leases, id, key, cover, cloud, store, silence })
    }

    /// What opens the archive in `dir`, where it is encrypted.
    ///
    /// # Errors
    /// As [`Archive::open`], but of one that is encrypted.
    pub fn secret_needed(dir: &Path) -> Result<Option<Needed>> {
        database::check_sqlite()?;
        let place = Place::new(dir);
        if place.look()? == Presence::Absent {
            return Err(Error::not_found(format!("there is no archive in {}", dir.display())));
        }
        let database = Database::open(place, Access::Read, None)?;
        let none = Thawed::default();
        let lock = database.read(|connection| catalog(connection, &Cover::Plain, &none)?.lock())?;
        Ok(lock.map(|lock| lock.method.needed()))
    }

    /// Whether the archive is encrypted.
    pub fn is_encrypted(&self) -> bool {
        matches!(self.cover, Cover::Sealed(_))
    }

    /// Runs `work` on one unchanging state of the archive.
    pub(crate) fn look<T>(&self, work: impl Fn(Catalog<'_>) -> Outcome<T>) -> Result<T> {
        self.thawing(|thawed| self.database.read(|connection| work(self.catalog(connection, thawed)?)))
    }

    /// Runs `work` in one transaction, alone, and makes it durable.
    pub(crate) fn change<T>(&self, work: impl Fn(Catalog<'_>) -> Outcome<T>) -> Result<T> {
        self.thawing(|thawed| self.database.write(|connection| work(self.catalog(connection, thawed)?)))
    }

    /// Tries until everything is at hand that `attempt` needs of the cold tier. Outside of it nothing is locked.
    fn thawing<T>(&self, attempt: impl Fn(&Thawed) -> Result<T>) -> Result<T> {
        let mut thawed = Thawed::default();
        loop {
            let done = attempt(&thawed);
            let wanted = thawed.take_wanted();
            if done.is_ok() || wanted.is_empty() {
                return done;
            }
            self.fetch(&wanted, &mut thawed);
        }
    }

    /// The tables, where they are still under the key with which the archive was opened.
    fn catalog<'c>(&'c self, connection: &'c Connection, thawed: &'c Thawed) -> Outcome<Catalog<'c>> {
        let catalog = catalog(connection, &self.cover, thawed)?;
        if catalog.stamp()? != self.cover.stamp() {
            return Err(Error::unavailable(
                "the archive was encrypted by another process since it was opened; open it again",
            )
            .into());
        }
        Ok(catalog)
    }

    /// Whether this value was asked for originals that the cold tier kept and that were out of reach.
    pub fn met_silence(&self) -> bool {
        self.silence.load(Ordering::Relaxed)
    }

    /// The key of fingerprints that stand for secrets in answers; it never leaves the process.
    pub fn fingerprint_key(&self) -> [u8; 32] {
        let mut hmac = Mac::new(self.key.bytes());
        hmac.part(b"strongroom.fingerprint.v1");
        hmac.finish()
    }

    /// The archive's id.
    pub const fn id(&self) -> ArchiveId {
        self.id
    }

    /// Whether nothing can be written.
    pub fn is_read_only(&self) -> bool {
        self.database.access() != Access::Write
    }

    /// The journal's size and root now; kept elsewhere, it pins everything until now.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt` when the journal cannot be read.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        self.look(|catalog| {
            let tree = catalog.tree();
            let size = tree.size()?;
            Ok(Checkpoint { archive: self.id, size, root: tree.root(size)? })
        })
    }

    /// The journal's entry `no`, and the proof that it is in the tree of the first `size` entries.
    ///
    /// # Errors
    /// `InvalidInput` when the journal is shorter than that.
    pub fn prove_inclusion(&self, no: u64, size: u64) -> Result<(Vec<u8>, Vec<Digest>)> {
        self.look(|catalog| {
            let proof = catalog.tree().inclusion(no, size)?;
            let missing = || Error::corrupt(format!("entry {no} is missing from the journal"));
            Ok((catalog.entry_bytes(no)?.ok_or_else(missing)?, proof))
        })
    }

    /// The proof that the first `old` entries are the beginning of the first `size`.
    ///
    /// # Errors
    /// `InvalidInput` when the journal is shorter than that.
    pub fn prove_consistency(&self, old: u64, size: u64) -> Result<Vec<Digest>> {
        self.look(|catalog| catalog.tree().consistency(old, size))
    }

    /// A keyed hash over the archive's id and `parts`, in `domain`.
    pub(crate) fn keyed<'a>(&self, domain: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
        keyed(self.key.bytes(), self.id, domain, parts)
    }

    /// The name of a piece's tombstone.
    pub(crate) fn tombstone(&self, piece: PieceId) -> [u8; 32] {
        self.keyed(TOMBSTONE_DOMAIN, [piece.digest().as_bytes().as_slice()])
    }

    /// The name of what is left of a source that was erased.
    pub(crate) fn source_tombstone(&self, source: SourceId) -> [u8; 32] {
        self.keyed(SOURCE_TOMBSTONE_DOMAIN, [source.digest().as_bytes().as_slice()])
    }
}

pub(crate) const TOMBSTONE_DOMAIN: &str = "strongroom.tombstone.v1";
const SOURCE_TOMBSTONE_DOMAIN: &str = "strongroom.tombstone.source.v1";

/// A keyed hash over an archive's id and `parts`, in `domain`.
pub(crate) fn keyed<'a>(
    key: &[u8; 32],
    id: ArchiveId,
    domain: &str,
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> [u8; 32] {
    let mut mac = Mac::new(key);
    mac.part(domain.as_bytes());
    mac.part(id.digest().as_bytes());
    parts.into_iter().for_each(|part| mac.part(part));
    mac.finish()
}

/// The tables behind a connection.
fn catalog<'c>(connection: &'c Connection, cover: &'c Cover, thawed: &'c Thawed) -> Outcome<Catalog<'c>> {
    let version = connection.query_row(sql::READ_FORMAT_VERSION, [], |row| row.get(0))?;
    Ok(Catalog { connection, archive: ARCHIVE_NO, cover, version, thawed })
}

/// How the rows behind a lock are read.
fn uncovered(lock: &Lock, secret: Option<&Secret>, id: ArchiveId) -> Result<Cover> {
    let secret = secret.ok_or_else(|| {
        Error::unavailable(match lock.method.needed() {
            Needed::Passphrase => "the archive is encrypted: give its passphrase",
            Needed::KeyFile => "the archive is encrypted: give its key file",
        })
    })?;
    Ok(Cover::Sealed(Keys::of(&lock.open(secret, id)?, lock.stamp, id)))
}

/// A new master key under a lock, and the cover that it makes.
pub(crate) fn new_cover(secret: &Secret, id: ArchiveId) -> Result<(Lock, Cover)> {
    let (master, stamp) = (Key::random()?, random()?);
    let lock = Lock::make(secret, stamp, id, &master)?;
    Ok((lock, Cover::Sealed(Keys::of(&master, stamp, id))))
}

/// Makes an archive at `place`, unless another process is first; with a secret it is encrypted from its first byte.
fn create(place: &Place, secret: Option<&Secret>) -> Result<()> {
    place.make_dir()?;
    let (id, key) = (ArchiveId::new(Digest::from_bytes(random()?)), Key::random()?);
    let (lock, cover) = match secret.map(|secret| new_cover(secret, id)).transpose()? {
        Some((lock, cover)) => (Some(lock), cover),
        None => (None, Cover::Plain),
    };
    let nonce = u64::from_le_bytes(random()?);
    let draft = place.make_draft(nonce)?;
    let filled = database::create(&draft, |connection| -> Outcome<()> {
        let none = Thawed::default();
        let catalog = catalog(connection, &cover, &none)?;
        lock.iter().try_for_each(|lock| catalog.put_lock(lock))?;
        catalog.put_identity(id, &key)?;
        catalog.journal(&Entry::Created(id))?;
        if let Some(lock) = &lock {
            catalog.journal(&Entry::Encrypted { stamp: lock.stamp })?;
        }
        Ok(())
    });
    if filled.is_err() {
        Place::discard(&draft);
    }
    filled.and_then(|()| place.publish(&draft))
}
