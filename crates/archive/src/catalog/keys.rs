//! The lock, and the keys of sources and pieces.
//!
//! A piece has a random key, which stands sealed once for each source that holds the piece, under a random key of
//! that source. Whoever takes away what stands for a source takes the piece from that source and from no other.

use rusqlite::params;
use strongroom_core::digest::{Digest, PieceId, SourceId};
use strongroom_core::error::{Error, Result};
use zeroize::Zeroizing;

use super::{Catalog, row, rows, run};
use crate::cover::{Cell, Cover, Stamp};
use crate::encoding::SEALED;
use crate::fault::Outcome;
use crate::lock::{Lock, Method};
use crate::seal::Key;
use crate::sql;

const PIECE_DOMAIN: &[u8] = b"strongroom.piece.v1";
const WRAP_DOMAIN: &[u8] = b"strongroom.wrap.v1";
const SOURCE_DOMAIN: &[u8] = b"strongroom.source-key.v1";

/// Stands for the source of a piece that no revision names yet.
pub(crate) const UNASSIGNED: SourceId = SourceId::new(Digest::from_bytes([0; 32]));

/// A number that says how a key is made of a secret.
const PASSPHRASE: i64 = 1;
const KEY_FILE: i64 = 2;

impl Catalog<'_> {
    /// The mark of the master key, where the archive is encrypted.
    pub(crate) fn stamp(self) -> Outcome<Option<Stamp>> {
        if self.version < sql::VERSION_OF_ORDERS {
            return Ok(None);
        }
        row(self.connection, sql::LOCK_STAMP, [self.archive], |row| Ok(row.get(0)?))
    }

    /// The lock, where the archive is encrypted.
    pub(crate) fn lock(self) -> Outcome<Option<Lock>> {
        if self.version < sql::VERSION_OF_ORDERS {
            return Ok(None);
        }
        row(self.connection, sql::LOCK_GET, [self.archive], |row| {
            let method = match row.get::<_, i64>(1)? {
                PASSPHRASE => {
                    Method::Passphrase { memory_kib: row.get(3)?, passes: row.get(4)?, lanes: row.get(5)? }
                }
                KEY_FILE => Method::KeyFile,
                other => return Err(Error::corrupt(format!("{other} is no kind of lock")).into()),
            };
            Ok(Lock { stamp: row.get(0)?, method, salt: row.get(2)?, sealed: row.get(6)? })
        })
    }

    pub(crate) fn put_lock(self, lock: &Lock) -> Outcome<()> {
        let (method, work) = match lock.method {
            Method::Passphrase { memory_kib, passes, lanes } => (PASSPHRASE, [memory_kib, passes, lanes]),
            Method::KeyFile => (KEY_FILE, [0; 3]),
        };
        let [memory_kib, passes, lanes] = work;
        let values =
            params![self.archive, lock.stamp, method, lock.salt, memory_kib, passes, lanes, lock.sealed];
        run(self.connection, sql::LOCK_PUT, values)?;
        Ok(())
    }

    /// The key of a source, where it has one.
    fn source_key(self, source: SourceId, wraps: &Key) -> Outcome<Option<Key>> {
        let key = params![self.archive, self.id(Cell::Source, source.digest())?];
        let wrapped = row(self.connection, sql::SOURCE_KEY_GET, key, |row| Ok(row.get::<_, Vec<u8>>(0)?))?;
        let Some(wrapped) = wrapped else { return Ok(None) };
        let opened = wraps.open(&[SOURCE_DOMAIN, source.digest().as_bytes()], &wrapped).map(Zeroizing::new);
        let changed = || Error::corrupt(format!("the key of source {source} was changed"));
        Ok(Some(opened.and_then(|key| Key::read(&key)).ok_or_else(changed)?))
    }

    fn source_key_or_new(self, source: SourceId, wraps: &Key) -> Outcome<Key> {
        if let Some(key) = self.source_key(source, wraps)? {
            return Ok(key);
        }
        let key = Key::random()?;
        let wrapped = wraps.seal(&[SOURCE_DOMAIN, source.digest().as_bytes()], key.bytes())?;
        let values = params![self.archive, self.id(Cell::Source, source.digest())?, wrapped];
        run(self.connection, sql::SOURCE_KEY_PUT, values)?;
        Ok(key)
    }

    /// Seals the key of a piece for a source.
    fn wrap(self, piece: PieceId, source: SourceId, key: &Key, wraps: &Key) -> Outcome<()> {
        let own = self.source_key_or_new(source, wraps)?;
        let wrapped =
            own.seal(&[WRAP_DOMAIN, piece.digest().as_bytes(), source.digest().as_bytes()], key.bytes())?;
        let (id, source) = (self.id(Cell::Piece, piece.digest())?, self.id(Cell::Source, source.digest())?);
        run(self.connection, sql::PIECE_KEY_PUT, params![self.archive, id, source, wrapped])?;
        Ok(())
    }

    /// For whom the key of a piece stands sealed, and how.
    fn wrapped(self, piece: PieceId) -> Outcome<Vec<(SourceId, Vec<u8>)>> {
        let key = params![self.archive, self.id(Cell::Piece, piece.digest())?];
        rows(self.connection, sql::PIECE_KEYS, key, |row| {
            Ok((SourceId::new(self.digest_of(Cell::Source, row, 0)?), row.get(1)?))
        })
    }

    /// The key of a piece by way of any source; in words, why there is none.
    fn piece_key(self, piece: PieceId, wraps: &Key) -> Outcome<Result<Key, String>> {
        let mut why = "its key is not in the archive".to_owned();
        for (source, wrapped) in self.wrapped(piece)? {
            let opened = self.source_key(source, wraps)?.and_then(|own| {
                own.open(&[WRAP_DOMAIN, piece.digest().as_bytes(), source.digest().as_bytes()], &wrapped)
                    .map(Zeroizing::new)
            });
            if let Some(key) = opened.and_then(|key| Key::read(&key)) {
                return Ok(Ok(key));
            }
            "its key was changed".clone_into(&mut why);
        }
        Ok(Err(why))
    }

    /// An encoded body as it is stored: in an encrypted archive under a new key of the piece, for whom it had one.
    pub(crate) fn cover_body(self, piece: PieceId, body: Vec<u8>) -> Outcome<Vec<u8>> {
        let Cover::Sealed(keys) = self.cover else { return Ok(body) };
        let key = Key::random()?;
        let mut sources: Vec<SourceId> = self.wrapped(piece)?.into_iter().map(|(source, _)| source).collect();
        if sources.is_empty() {
            sources.push(UNASSIGNED);
        }
        for source in sources {
            self.wrap(piece, source, &key, keys.wraps())?;
        }
        let body = Zeroizing::new(body);
        let (&encoding, data) = body.split_first().ok_or_else(|| Error::bug("a body without encoding"))?;
        let sealed = key.seal(&[PIECE_DOMAIN, piece.digest().as_bytes(), &[encoding]], data)?;
        Ok([&[encoding | SEALED], sealed.as_slice()].concat())
    }

    /// The encoded body behind a stored one; in words, why there is none.
    pub(crate) fn uncover_body(self, piece: PieceId, body: Vec<u8>) -> Outcome<Result<Vec<u8>, String>> {
        let Some((&first, sealed)) = body.split_first() else { return Ok(Ok(body)) };
        let keys = match (self.cover, first & SEALED != 0) {
            (Cover::Plain, false) => return Ok(Ok(body)),
            (Cover::Plain, true) => return Ok(Err("it is sealed, and the archive is not encrypted".into())),
            (Cover::Sealed(_), false) => {
                return Ok(Err("it is not sealed, and the archive is encrypted".into()));
            }
            (Cover::Sealed(keys), true) => keys,
        };
        let encoding = first & !SEALED;
        Ok(self.piece_key(piece, keys.wraps())?.and_then(|key| {
            let data = key.open(&[PIECE_DOMAIN, piece.digest().as_bytes(), &[encoding]], sealed);
            let data = data.ok_or("its sealed bytes were changed")?;
            Ok([&[encoding], data.as_slice()].concat())
        }))
    }

    /// Gives a source its own way to pieces that are there.
    pub(crate) fn adopt(self, source: SourceId, pieces: impl Iterator<Item = PieceId>) -> Outcome<()> {
        let Cover::Sealed(keys) = self.cover else { return Ok(()) };
        for piece in pieces {
            let holders: Vec<SourceId> = self.wrapped(piece)?.into_iter().map(|(source, _)| source).collect();
            if !holders.contains(&source) {
                // A key that is lost is damage of the piece, and does not keep its source from being recorded.
                let Ok(key) = self.piece_key(piece, keys.wraps())? else { continue };
                self.wrap(piece, source, &key, keys.wraps())?;
            }
            if holders.contains(&UNASSIGNED) && source != UNASSIGNED {
                let (id, none) =
                    (self.id(Cell::Piece, piece.digest())?, self.id(Cell::Source, UNASSIGNED.digest())?);
                run(self.connection, sql::PIECE_KEY_DELETE, params![self.archive, id, none])?;
            }
        }
        Ok(())
    }

    /// Destroys a source's key and everything under it.
    pub(crate) fn shred(self, source: SourceId) -> Outcome<()> {
        if self.version < sql::VERSION_OF_ORDERS {
            return Ok(());
        }
        let key = self.id(Cell::Source, source.digest())?;
        run(self.connection, sql::SOURCE_KEY_DELETE, params![self.archive, key])?;
        run(self.connection, sql::SOURCE_WRAPS_DELETE, params![self.archive, key])?;
        Ok(())
    }
}
