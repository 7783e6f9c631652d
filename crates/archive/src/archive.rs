//! Opening and making archives.

use std::fmt;
use std::path::Path;

use rusqlite::Connection;
use strongroom_core::digest::{ArchiveId, Digest, PieceId};
use strongroom_core::error::{Error, Result};

use crate::blobs::SqlBlobs;
use crate::catalog::Catalog;
use crate::database::{self, Access, Database};
use crate::encoding::Level;
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::hmac::Mac;
use crate::journal::Checkpoint;
use crate::lease::Leases;
use crate::place::{Place, Presence};

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
    id: ArchiveId,
    key: Key,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What may be done with it.
    pub mode: Mode,
    /// How hard pieces are compressed.
    pub level: Level,
    /// The size beyond which nothing more is stored; existing archives that are larger stay as they are.
    pub size_bytes_max: Option<u64>,
}

impl Options {
    /// The defaults for `mode`.
    pub fn new(mode: Mode) -> Self {
        Self { mode, level: Level::default(), size_bytes_max: None }
    }
}

/// The archive's secret: it keys tags and tombstones.
struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Archive {
    /// Opens the archive in the directory `dir`.
    ///
    /// # Errors
    /// - `NotFound` when there is none and `mode` does not make one.
    /// - `Corrupt` when what is there is no archive or is damaged.
    /// - `InvalidInput` when `dir` is something else than a directory.
    /// - `Unavailable` when it cannot be read, lies on a network file system, or is of a newer version.
    pub fn open(dir: &Path, mode: Mode) -> Result<Self> {
        Self::open_with(dir, &Options::new(mode))
    }

    /// Opens the archive in the directory `dir` as `options` say.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn open_with(dir: &Path, options: &Options) -> Result<Self> {
        database::check_sqlite()?;
        let place = Place::new(dir);
        match (place.look()?, options.mode) {
            (Presence::Present, _) => {}
            (Presence::Absent, Mode::CreateIfMissing) => create(&place)?,
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
        let (id, key) = database.read(|connection| catalog(connection).identity())?;
        let id = ArchiveId::new(Digest::from_bytes(id));
        Ok(Self { database, level: options.level, leases, id, key: Key(key) })
    }

    /// The key of fingerprints that stand for secrets in answers; it never leaves the process.
    pub fn fingerprint_key(&self) -> [u8; 32] {
        let mut hmac = Mac::new(&self.key.0);
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
        self.database.read(|connection| {
            let tree = catalog(connection).tree();
            let size = tree.size()?;
            Ok(Checkpoint { archive: self.id, size, root: tree.root(size)? })
        })
    }

    /// The journal's entry `no`, and the proof that it is in the tree of the first `size` entries.
    ///
    /// # Errors
    /// `InvalidInput` when the journal is shorter than that.
    pub fn prove_inclusion(&self, no: u64, size: u64) -> Result<(Vec<u8>, Vec<Digest>)> {
        self.database.read(|connection| {
            let catalog = catalog(connection);
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
        self.database.read(|connection| catalog(connection).tree().consistency(old, size))
    }

    /// A keyed hash over the archive's id and `parts`, in `domain`.
    pub(crate) fn keyed<'a>(&self, domain: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
        keyed(&self.key.0, self.id, domain, parts)
    }

    /// The name of a piece's tombstone.
    pub(crate) fn tombstone(&self, piece: PieceId) -> [u8; 32] {
        self.keyed(TOMBSTONE_DOMAIN, [piece.digest().as_bytes().as_slice()])
    }
}

pub(crate) const TOMBSTONE_DOMAIN: &str = "strongroom.tombstone.v1";

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

/// The catalog behind a connection.
pub(crate) fn catalog(connection: &Connection) -> Catalog<'_> {
    Catalog { connection, archive: ARCHIVE_NO }
}

/// The blobs behind a connection.
pub(crate) fn blobs(connection: &Connection) -> SqlBlobs<'_> {
    SqlBlobs { connection, archive: ARCHIVE_NO }
}

/// Makes an archive at `place`, unless another process is first.
fn create(place: &Place) -> Result<()> {
    place.make_dir()?;
    let (id, key) = (Digest::from_bytes(random()?), random()?);
    let nonce = u64::from_le_bytes(random()?);
    let draft = place.make_draft(nonce)?;
    let filled = database::create(&draft, |connection| -> Outcome<()> {
        catalog(connection).put_identity(&id, &key)?;
        catalog(connection).journal(&Entry::Created(ArchiveId::new(id)))?;
        Ok(())
    });
    if filled.is_err() {
        Place::discard(&draft);
    }
    filled.and_then(|()| place.publish(&draft))
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    #[cfg(test)]
    if crate::disk::simulated::fill(&mut bytes) {
        return Ok(bytes);
    }
    let failed =
        |error: getrandom::Error| Error::unavailable("the system gives no random bytes").caused_by(error);
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
