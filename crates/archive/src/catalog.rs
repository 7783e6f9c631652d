//! Typed look-ups over the archive's tables.
//!
//! The question this module answers: *what does the archive know of this piece, source, revision or tag?* It
//! knows neither files nor encodings, and opens no transaction: its user does.

mod compactions;
mod pieces;
mod sources;

use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use strongroom_core::digest::Digest;
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

use crate::entry::Entry;
use crate::fault::Outcome;
use crate::journal::{SqlNodes, Tree};
use crate::sql;

pub(crate) use compactions::CompactionRow;
pub(crate) use sources::RevisionRow;

/// The tables of one archive, inside a transaction.
#[derive(Clone, Copy)]
pub(crate) struct Catalog<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) archive: i64,
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

fn digest_of(row: &Row<'_>, column: usize) -> Outcome<Digest> {
    Ok(Digest::from_bytes(row.get(column)?))
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
        Tree(SqlNodes { connection: self.connection, archive: self.archive })
    }

    /// Appends an act to the journal; returns its number.
    pub(crate) fn journal(self, entry: &Entry) -> Outcome<u64> {
        let body = entry.encode();
        let leaf = self.tree().append(Digest::leaf(&body))?;
        run(self.connection, sql::ENTRY_INSERT, rusqlite::params![self.archive, as_sql(leaf), body])?;
        Ok(leaf)
    }

    /// The bytes of the journal entry `no`.
    pub(crate) fn entry_bytes(self, no: u64) -> Outcome<Option<Vec<u8>>> {
        row(self.connection, sql::ENTRY_GET, rusqlite::params![self.archive, as_sql(no)], |row| {
            Ok(row.get(0)?)
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

    /// The archive's id and key.
    pub(crate) fn identity(self) -> Outcome<([u8; 32], [u8; 32])> {
        let mut statement = self.connection.prepare_cached(sql::ARCHIVE_GET)?;
        let found = statement.query_row([self.archive], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(found.ok_or_else(|| Error::corrupt("the archive's id and key are missing"))?)
    }

    /// Makes the archive's own row.
    pub(crate) fn put_identity(self, id: &Digest, key: &[u8; 32]) -> Outcome<()> {
        run(self.connection, sql::ARCHIVE_INSERT, rusqlite::params![self.archive, id.as_bytes(), key])?;
        Ok(())
    }

    /// The latest instant that a revision or a tombstone names.
    pub(crate) fn last_time(self) -> Outcome<Option<Timestamp>> {
        let found =
            row(self.connection, sql::LAST_TIME, [self.archive], |row| Ok(row.get::<_, Option<i64>>(0)?))?;
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
