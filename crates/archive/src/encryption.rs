//! Encrypting an archive where it lies, and changing what opens it.

use rusqlite::params;
use rusqlite::types::{FromSql, ToSql};
use strongroom_core::digest::SourceId;
use strongroom_core::error::{Error, ErrorKind, Result};

use crate::archive::{Archive, new_cover};
use crate::blobs::Blobs as _;
use crate::catalog::Catalog;
use crate::cover::Cell;
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::lock::{Lock, Secret};
use crate::sql;

impl Archive {
    /// Encrypts the archive in one transaction: cut short anywhere, it is as it was or encrypted as a whole. This value
    /// and every other that has it open must be opened again, with the secret. [`Archive::purge`] clears what the
    /// database keeps of the plain bytes.
    ///
    /// # Errors
    /// `InvalidInput` when it is encrypted, `Busy` when another process stores, `Unavailable` when nothing was changed.
    pub fn encrypt(&self, secret: &Secret) -> Result<()> {
        if self.is_encrypted() {
            return Err(Error::invalid_input("the archive is encrypted already"));
        }
        self.database.check_writable()?;
        // What lies in the cold tier was put there as it is: it comes back to be sealed, and goes from there.
        self.bring_all_back()?;
        let alone = self.leases.alone()?;
        let derived = self.deriving_no_more()?;
        let (lock, cover) = new_cover(secret, self.id())?;
        self.change(|catalog| {
            let plain = catalog.upgraded()?;
            if !plain.all_cold()?.is_empty() {
                let message = "originals were moved to the cold tier meanwhile; nothing was encrypted";
                return Err(Error::new(ErrorKind::Busy, message).into());
            }
            derived.forget_all()?;
            self.convert(Conversion { plain, sealed: Catalog { cover: &cover, ..plain } }, &lock)
        })?;
        drop(alone);
        Ok(())
    }

    /// Has `secret` open the archive from now on, in place of the one that did. Nothing is sealed anew but the master
    /// key; a copy of the archive that was made before still opens with the old one.
    ///
    /// # Errors
    /// `InvalidInput` when it is not encrypted, `Unavailable` when `old` does not open it or nothing was changed.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, the closure of any"
    )]
    pub fn change_lock(&self, old: &Secret, secret: &Secret) -> Result<()> {
        let lock = self.look(|catalog| catalog.lock())?;
        let lock = lock.ok_or_else(|| Error::invalid_input("the archive is not encrypted"))?;
        let new = Lock::make(secret, lock.stamp, self.id(), &lock.open(old, self.id())?)?;
        self.change(|catalog| {
            catalog.put_lock(&new)?;
            catalog.journal(&Entry::Encrypted { stamp: new.stamp })?;
            catalog.note_purge()
        })
    }
}

/// Columns that hold a value of one kind wherever they stand: table, column, kind.
const COLUMNS: &[(&str, &str, Cell)] = &[
    ("blob", "id", Cell::Piece),
    ("piece", "id", Cell::Piece),
    ("source", "id", Cell::Source),
    ("revision", "source", Cell::Source),
    ("revision", "id", Cell::Revision),
    ("source_piece", "source", Cell::Source),
    ("source_piece", "piece", Cell::Piece),
    ("session_item", "main", Cell::Source),
    ("session_item", "source", Cell::Source),
    ("hold", "source", Cell::Source),
    ("compaction", "source", Cell::Source),
    ("compaction", "summary", Cell::Summary),
    ("neighbour", "key", Cell::Content),
    ("archive", "key", Cell::Secret),
];

/// Columns that hold text.
const TEXTS: &[(&str, &str)] = &[
    ("source", "name"),
    ("source", "format"),
    ("source", "session"),
    ("session_item", "kind"),
    ("hold", "reason"),
    ("tombstone", "reason"),
    ("erasure", "who"),
    ("erasure", "reason"),
];

/// One archive as it is before and after.
#[derive(Clone, Copy)]
struct Conversion<'c> {
    plain: Catalog<'c>,
    sealed: Catalog<'c>,
}

impl Archive {
    fn convert(&self, both: Conversion<'_>, lock: &Lock) -> Outcome<()> {
        both.bodies(|source| Ok(both.plain.erasure(&self.source_tombstone(source))?.is_some()))?;
        both.records()?;
        both.journal()?;
        for (table, column, cell) in COLUMNS {
            both.column(table, column, |stored: Vec<u8>| {
                Ok(both.sealed.cover.put(*cell, &[], &stored)?.into_owned())
            })?;
        }
        for (table, column) in TEXTS {
            both.column(table, column, |stored: String| {
                Ok(both.sealed.cover.put_text(&stored)?.into_owned())
            })?;
        }
        if let Some(tier) = both.plain.cold_tier()? {
            both.sealed.put_cold_tier(&tier)?;
        }
        both.sealed.put_lock(lock)?;
        both.sealed.journal(&Entry::Encrypted { stamp: lock.stamp })?;
        both.sealed.note_purge()
    }
}

impl Conversion<'_> {
    /// Gives each piece a key, and each source that holds it a way to the key.
    fn bodies(self, is_erased: impl Fn(SourceId) -> Outcome<bool>) -> Outcome<()> {
        for id in self.plain.blobs().ids()? {
            let Some(body) = self.plain.blobs().get(id)? else { continue };
            self.plain.blobs().put(id, &self.sealed.cover_body(id, body)?)?;
            for source in self.plain.piece_sources(id)? {
                if !is_erased(source)? {
                    self.sealed.adopt(source, std::iter::once(id))?;
                }
            }
        }
        Ok(())
    }

    fn records(self) -> Outcome<()> {
        for row in self.plain.compactions()? {
            if let Some((leaf, body)) = self.plain.compaction(row.tag)? {
                self.sealed.replace_compaction(row.tag, leaf, &body)?;
            }
        }
        Ok(())
    }

    fn journal(self) -> Outcome<()> {
        for no in 0..self.plain.entry_count()? {
            let missing = || Error::corrupt(format!("entry {no} is missing from the journal"));
            let body = self.plain.entry_bytes(no)?.ok_or_else(missing)?;
            self.sealed.replace_entry(no, &body)?;
        }
        for (level, no, hash) in self.plain.nodes()? {
            self.sealed.replace_node(level, no, hash)?;
        }
        Ok(())
    }

    /// Puts another value in place of each value of a column.
    fn column<T: FromSql + ToSql + Clone>(
        self,
        table: &str,
        column: &str,
        sealed: impl Fn(T) -> Outcome<T>,
    ) -> Outcome<()> {
        let (connection, archive) = (self.plain.connection, self.plain.archive);
        let mut statement = connection.prepare(&sql::distinct(table, column))?;
        let rows = statement.query_map([archive], |row| row.get::<_, T>(0))?;
        let values = rows.collect::<std::result::Result<Vec<T>, _>>()?;
        let mut statement = connection.prepare(&sql::replace(table, column))?;
        for value in values {
            statement.execute(params![archive, value, sealed(value.clone())?])?;
        }
        Ok(())
    }
}
