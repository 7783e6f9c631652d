//! Typed look-ups over the archive's tables.
//!
//! The question this module answers: *what does the archive know of this piece, source, revision or tag?* It
//! knows neither files nor encodings, and opens no transaction: its user does.

mod compactions;
mod erasures;
mod keys;
mod pieces;
mod sources;
mod tiers;

use std::borrow::Cow;

use rusqlite::{Connection, Params, Row};
use strongroom_core::digest::{ArchiveId, Digest};
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;
use zeroize::Zeroizing;

use crate::blobs::SqlBlobs;
use crate::cover::{Cell, Cover};
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::journal::{SqlNodes, Tree, node_place};
use crate::seal::Key;
use crate::sql;
use crate::thaw::Thawed;

pub(crate) use compactions::CompactionRow;
pub(crate) use sources::RevisionRow;
pub(crate) use tiers::ColdTier;

/// The tables of one archive, inside a transaction.
#[derive(Clone, Copy)]
pub(crate) struct Catalog<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) archive: i64,
    pub(crate) cover: &'c Cover,
    /// The format version of the database, which says which tables there are.
    pub(crate) version: i64,
    /// Objects of the cold tier that were fetched for whoever is looking.
    pub(crate) thawed: &'c Thawed,
}

/// The rows that one statement gives, each made by `row`.
fn rows<T>(
    connection: &Connection,
    statement: &str,
    key: impl Params,
    row: impl FnMut(&Row<'_>) -> Outcome<T>,
) -> Outcome<Vec<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    statement.query_and_then(key, row)?.collect()
}

/// The only row that one statement gives, if there is one.
fn row<T>(
    connection: &Connection,
    statement: &str,
    key: impl Params,
    mut row: impl FnMut(&Row<'_>) -> Outcome<T>,
) -> Outcome<Option<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut found = statement.query(key)?;
    found.next()?.map(&mut row).transpose()
}

/// Runs a statement that gives no rows.
fn run(connection: &Connection, statement: &str, values: impl Params) -> Outcome<usize> {
    Ok(connection.prepare_cached(statement)?.execute(values)?)
}

fn u32_of(row: &Row<'_>, column: usize) -> Outcome<u32> {
    Ok(row.get(column)?)
}

fn u64_of(row: &Row<'_>, column: usize) -> Outcome<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// Lengths and offsets stay below 2^63; the facts of a file may use all bits and keep them.
fn as_sql(value: u64) -> i64 {
    value.cast_signed()
}

fn retention_of(row: &Row<'_>, kind: usize) -> Outcome<Retention> {
    match (row.get::<_, i64>(kind)?, row.get::<_, Option<i64>>(kind + 1)?) {
        (0, _) => Ok(Retention::Unknown),
        (1, Some(until)) => Ok(Retention::Until(Timestamp::from_ms(until))),
        (2, _) => Ok(Retention::Indefinite),
        (kind, _) => Err(Error::corrupt(format!("{kind} is no kind of retention")).into()),
    }
}

fn retention_columns(retention: Retention) -> (i64, Option<i64>) {
    match retention {
        Retention::Unknown => (0, None),
        Retention::Until(until) => (1, Some(until.as_ms())),
        Retention::Indefinite => (2, None),
    }
}

impl<'c> Catalog<'c> {
    pub(crate) fn tree(self) -> Tree<SqlNodes<'c>> {
        Tree(SqlNodes { connection: self.connection, archive: self.archive, cover: self.cover })
    }

    pub(crate) fn blobs(self) -> SqlBlobs<'c> {
        SqlBlobs { connection: self.connection, archive: self.archive, cover: self.cover }
    }

    /// A digest as it stands in a column of `cell`.
    fn id(self, cell: Cell, digest: &Digest) -> Outcome<Cow<'_, [u8]>> {
        Ok(self.cover.put_digest(cell, digest)?)
    }

    fn digest_of(self, cell: Cell, row: &Row<'_>, column: usize) -> Outcome<Digest> {
        Ok(self.cover.get_digest(cell, &[], row.get(column)?)?)
    }

    fn text_of(self, row: &Row<'_>, column: usize) -> Outcome<String> {
        Ok(self.cover.get_text(row.get(column)?)?)
    }

    /// Appends an act to the journal; returns its number.
    pub(crate) fn journal(self, entry: &Entry) -> Outcome<u64> {
        let body = entry.encode();
        let leaf = self.tree().append(Digest::leaf(&body))?;
        let body = self.cover.put(Cell::Entry, &leaf.to_be_bytes(), &body)?;
        run(self.connection, sql::ENTRY_INSERT, rusqlite::params![self.archive, as_sql(leaf), body])?;
        Ok(leaf)
    }

    /// The bytes of the journal entry `no`.
    pub(crate) fn entry_bytes(self, no: u64) -> Outcome<Option<Vec<u8>>> {
        row(self.connection, sql::ENTRY_GET, rusqlite::params![self.archive, as_sql(no)], |row| {
            Ok(self.cover.get(Cell::Entry, &no.to_be_bytes(), row.get(0)?)?)
        })
    }

    /// The number of journal entries.
    pub(crate) fn entry_count(self) -> Outcome<u64> {
        let mut statement = self.connection.prepare_cached(sql::ENTRY_COUNT)?;
        Ok(statement.query_row([self.archive], |row| row.get::<_, i64>(0))?.unsigned_abs())
    }

    /// A journal entry, believed only if it hashes to its leaf.
    pub(crate) fn entry(self, no: u64) -> Outcome<Entry> {
        let missing = || Error::corrupt(format!("entry {no} is missing from the journal"));
        let bytes = self.entry_bytes(no)?.ok_or_else(missing)?;
        if self.tree().leaf(no)? != Digest::leaf(&bytes) {
            return Err(Error::corrupt(format!("entry {no} of the journal differs from its hash")).into());
        }
        Ok(Entry::decode(&bytes)?)
    }

    /// Every node of the journal: level, number, hash.
    pub(crate) fn nodes(self) -> Outcome<Vec<(u32, u64, Digest)>> {
        let places =
            rows(self.connection, sql::NODES, [self.archive], |row| Ok((u32_of(row, 0)?, u64_of(row, 1)?)))?;
        let node = |(level, no)| {
            let hash = self.tree().node_at(level, no)?;
            Ok((level, no, hash.ok_or_else(|| Error::corrupt("a node of the journal is missing"))?))
        };
        places.into_iter().map(node).collect()
    }

    /// Puts an entry of the journal in place of the same entry under another cover.
    pub(crate) fn replace_entry(self, no: u64, body: &[u8]) -> Outcome<()> {
        let body = self.cover.put(Cell::Entry, &no.to_be_bytes(), body)?;
        run(self.connection, sql::ENTRY_REPLACE, rusqlite::params![self.archive, as_sql(no), body])?;
        Ok(())
    }

    /// Puts a node of the journal in place of the same node under another cover.
    pub(crate) fn replace_node(self, level: u32, no: u64, hash: Digest) -> Outcome<()> {
        let hash = self.cover.put(Cell::Node, &node_place(level, no), hash.as_bytes())?;
        run(self.connection, sql::NODE_REPLACE, rusqlite::params![self.archive, level, as_sql(no), hash])?;
        Ok(())
    }

    /// The archive's id.
    pub(crate) fn identity(self) -> Outcome<ArchiveId> {
        let id = row(self.connection, sql::ARCHIVE_ID, [self.archive], |row| {
            Ok(ArchiveId::new(Digest::from_bytes(row.get(0)?)))
        })?;
        Ok(id.ok_or_else(|| Error::corrupt("the archive's id and key are missing"))?)
    }

    /// The archive's own secret.
    pub(crate) fn own_key(self) -> Outcome<Key> {
        let key = row(self.connection, sql::ARCHIVE_KEY, [self.archive], |row| {
            Ok(Zeroizing::new(self.cover.get(Cell::Secret, &[], row.get(0)?)?))
        })?;
        let key = key.and_then(|key| Key::read(&key));
        Ok(key.ok_or_else(|| Error::corrupt("the archive's id and key are missing"))?)
    }

    /// Makes the archive's own row.
    pub(crate) fn put_identity(self, id: ArchiveId, key: &Key) -> Outcome<()> {
        let key = self.cover.put(Cell::Secret, &[], key.bytes())?;
        let values = rusqlite::params![self.archive, id.digest().as_bytes(), key];
        run(self.connection, sql::ARCHIVE_INSERT, values)?;
        Ok(())
    }

    /// The latest instant that a revision, a tombstone or an erasure names.
    pub(crate) fn last_time(self) -> Outcome<Option<Timestamp>> {
        let found =
            row(self.connection, sql::LAST_TIME, [self.archive], |row| Ok(row.get::<_, Option<i64>>(0)?))?;
        let mut last = found.flatten();
        if self.version >= sql::VERSION_OF_ORDERS {
            let order = row(self.connection, sql::LAST_ERASURE, [self.archive], |row| {
                Ok(row.get::<_, Option<i64>>(0)?)
            })?;
            last = last.max(order.flatten());
        }
        Ok(last.map(Timestamp::from_ms))
    }

    /// The latest instant at which a state of a source was taken in.
    pub(crate) fn last_import(self) -> Outcome<Option<Timestamp>> {
        let read = |row: &Row<'_>| Ok(row.get::<_, Option<i64>>(0)?);
        let found = row(self.connection, sql::LAST_IMPORT, [self.archive], read)?;
        Ok(found.flatten().map(Timestamp::from_ms))
    }

    /// Beyond what no retention is reported.
    pub(crate) fn cap(self) -> Outcome<Retention> {
        let found = row(self.connection, sql::CAP_GET, [self.archive], |row| retention_of(row, 0))?;
        Ok(found.unwrap_or(Retention::Unknown))
    }

    pub(crate) fn set_cap(self, cap: Retention) -> Outcome<()> {
        let (kind, ms) = retention_columns(cap);
        run(self.connection, sql::CAP_SET, rusqlite::params![self.archive, kind, ms])?;
        Ok(())
    }
}

/// A number that must fit the width it has on disk.
pub(crate) fn fits<T>(value: impl TryInto<T>, what: &str) -> Result<T> {
    value.try_into().map_err(|_| Error::invalid_input(format!("there are too many {what}")))
}
