//! The cover over rows: in an encrypted archive, ids, names, reasons, records and journal stand sealed.
//!
//! Equal values of a kind look equal at rest, so that rows can be found; what they are is not told, and a hash that
//! somebody knows meets nothing.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use strongroom_core::digest::{ArchiveId, Digest};
use strongroom_core::error::{Error, Result};

use crate::seal::Key;

/// The length of the mark that tells one master key from another, in bytes.
pub(crate) const STAMP_BYTES: usize = 16;

/// A mark of a master key that tells nothing of it.
pub(crate) type Stamp = [u8; STAMP_BYTES];

/// What kind of value stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Piece,
    Source,
    Revision,
    Content,
    Summary,
    Text,
    Record,
    Entry,
    Node,
    Secret,
}

impl Cell {
    /// The word under which values of the kind are sealed.
    const fn word(self) -> &'static [u8] {
        match self {
            Self::Piece => b"piece",
            Self::Source => b"source",
            Self::Revision => b"revision",
            Self::Content => b"content",
            Self::Summary => b"summary",
            Self::Text => b"text",
            Self::Record => b"record",
            Self::Entry => b"entry",
            Self::Node => b"node",
            Self::Secret => b"secret",
        }
    }
}

/// How rows stand in the database.
#[derive(Debug)]
pub(crate) enum Cover {
    /// As they are.
    Plain,
    /// Sealed.
    Sealed(Keys),
}

/// The keys that are made of a master key.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) stamp: Stamp,
    nonces: Key,
    cells: Key,
    wraps: Key,
    derived: Key,
}

impl Keys {
    pub(crate) fn of(master: &Key, stamp: Stamp, archive: ArchiveId) -> Self {
        let derive = |domain: &[u8]| master.derive(&[domain, archive.digest().as_bytes()]);
        Self {
            stamp,
            nonces: derive(b"strongroom.nonces.v1"),
            cells: derive(b"strongroom.cells.v1"),
            wraps: derive(b"strongroom.wraps.v1"),
            derived: derive(b"strongroom.derived.v1"),
        }
    }

    /// The key under which the keys of sources are sealed.
    pub(crate) fn wraps(&self) -> &Key {
        &self.wraps
    }

    /// The key under which data made from originals is sealed.
    pub(crate) fn derived(&self) -> &Key {
        &self.derived
    }
}

impl Cover {
    /// The mark of the master key, where there is one.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Plain => None,
            Self::Sealed(keys) => Some(keys.stamp),
        }
    }

    /// `plain` as it is stored at `place` in a column of `cell`.
    pub(crate) fn put<'p>(&self, cell: Cell, place: &[u8], plain: &'p [u8]) -> Result<Cow<'p, [u8]>> {
        match self {
            Self::Plain => Ok(Cow::Borrowed(plain)),
            Self::Sealed(keys) => {
                keys.cells.seal_equal(&keys.nonces, &[cell.word(), place], plain).map(Cow::Owned)
            }
        }
    }

    /// What `stored` at `place` in a column of `cell` means.
    ///
    /// # Errors
    /// `Corrupt` when it was not sealed for this place with this key.
    pub(crate) fn get(&self, cell: Cell, place: &[u8], stored: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(stored),
            Self::Sealed(keys) => keys.cells.open(&[cell.word(), place], &stored).ok_or_else(|| {
                let what = String::from_utf8_lossy(cell.word());
                Error::corrupt(format!("a sealed {what} of the archive was changed"))
            }),
        }
    }

    pub(crate) fn put_digest<'p>(&self, cell: Cell, digest: &'p Digest) -> Result<Cow<'p, [u8]>> {
        self.put(cell, &[], digest.as_bytes())
    }

    pub(crate) fn get_digest(&self, cell: Cell, place: &[u8], stored: Vec<u8>) -> Result<Digest> {
        let bytes = self.get(cell, place, stored)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| {
            Error::corrupt("a row of the archive cannot be read: a digest has another length")
        })?;
        Ok(Digest::from_bytes(bytes))
    }

    pub(crate) fn put_text<'p>(&self, text: &'p str) -> Result<Cow<'p, str>> {
        match self {
            Self::Plain => Ok(Cow::Borrowed(text)),
            Self::Sealed(_) => {
                self.put(Cell::Text, &[], text.as_bytes()).map(|sealed| Cow::Owned(STANDARD.encode(sealed)))
            }
        }
    }

    pub(crate) fn get_text(&self, stored: String) -> Result<String> {
        if matches!(self, Self::Plain) {
            return Ok(stored);
        }
        let changed = || Error::corrupt("a sealed text of the archive was changed");
        let sealed = STANDARD.decode(stored).map_err(|_| changed())?;
        String::from_utf8(self.get(Cell::Text, &[], sealed)?).map_err(|_| changed())
    }
}
