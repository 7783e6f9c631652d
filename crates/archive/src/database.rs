//! Connections: one that writes, another that reads what was written, and waiting for one's turn.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use strongroom_core::error::{Error, ErrorKind, Result};

#[cfg(test)]
use crate::disk::simulated::{Bug, planted};
use crate::fault::{Fault, Outcome};
use crate::place::Place;
use crate::sql;

/// The oldest `SQLite` whose write-ahead log is free of the reset race.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// How long `SQLite` itself waits for a lock before it gives up.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// How often a step that met a lock is tried again, and how long between: together 30 to 90 seconds, as some locks
/// are ones that `SQLite` does not wait for.
const BUSY_TRIES: u32 = 600;
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// How often the log is tried to be emptied while others read: two seconds and more.
const PURGE_TRIES: u32 = 40;

/// Up to this size a database is rewritten in memory, beyond it by way of a temporary file.
const VACUUM_MEMORY_BYTES_MAX: i64 = 256 << 20;

/// What this process may do with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read and write.
    Write,
    /// Read, while others may write.
    Read,
    /// Read; nobody can write, so nothing changes.
    Frozen,
}

/// The database of an archive. Connections are opened when they are needed, and again after a failed flush.
#[derive(Debug)]
pub(crate) struct Database {
    place: Place,
    access: Access,
    pages_max: Option<u64>,
    writer: Mutex<Option<Connection>>,
    reader: Mutex<Option<Connection>>,
}

/// Checks that `SQLite` is new enough.
///
/// # Errors
/// `Unavailable` when it is older.
pub(crate) fn check_sqlite() -> Result<()> {
    if rusqlite::version_number() >= SQLITE_VERSION_MIN {
        return Ok(());
    }
    Err(Error::unavailable(format!(
        "SQLite {} is older than 3.51.3 and can damage an archive",
        rusqlite::version()
    )))
}

/// Fills a draft with the schema and whatever `first` writes.
pub(crate) fn create(draft: &Path, first: impl FnOnce(&Connection) -> Outcome<()>) -> Result<()> {
    let fill = || -> Outcome<()> {
        let mut connection = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.execute_batch(sql::CREATE_PAGES)?;
        keep_log(&connection)?;
        connection.execute_batch(sql::CREATE)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(sql::SCHEMA)?;
        transaction.execute_batch(sql::SCHEMA_2)?;
        first(&transaction)?;
        transaction.commit()?;
        empty_log(&connection)?;
        connection.close().map_err(|(_, error)| error.into())
    };
    fill().map_err(Error::from)
}

/// Has the draft keep a log. Where that fails `SQLite` goes on with a journal of another kind, whose end is not flushed;
/// it commits the change after the row that announces it, so that the statement has to be run to its end.
fn keep_log(connection: &Connection) -> Outcome<()> {
    let mut statement = connection.prepare(sql::KEEP_LOG)?;
    let kinds = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    if kinds == ["wal"] {
        Ok(())
    } else {
        Err(Error::unavailable("a new database cannot be given a log").into())
    }
}

/// Brings the log into the database. Closing would do so as well, and say nothing when it fails; the draft is published
/// without its log.
fn empty_log(connection: &Connection) -> Outcome<()> {
    let in_the_way: i64 = connection.query_row(sql::EMPTY_LOG, [], |row| row.get(0))?;
    if in_the_way == 0 {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::Busy, "the database is in use by others").into())
    }
}

impl Database {
    /// Opens the database at `place` and checks what it is.
    ///
    /// # Errors
    /// `Corrupt` when it is no archive, `Unavailable` when it cannot be opened or is of a newer version.
    pub(crate) fn open(place: Place, access: Access, size_bytes_max: Option<u64>) -> Result<Self> {
        let access = if access == Access::Read && place.is_frozen()? { Access::Frozen } else { access };
        let empty = || Mutex::new(None);
        let mut database = Self { place, access, pages_max: None, writer: empty(), reader: empty() };
        let page_bytes = database.read(|connection| {
            check_identity(connection)?;
            Ok(connection.query_row(sql::READ_PAGE_BYTES, [], |row| row.get::<_, i64>(0))?)
        })?;
        database.pages_max = size_bytes_max.map(|bytes| bytes / page_bytes.unsigned_abs().max(1));
        Ok(database)
    }

    /// The directory of the archive.
    pub(crate) fn dir(&self) -> &Path {
        self.place.dir()
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Runs `work` on one unchanging state of the database, on a connection that never writes.
    pub(crate) fn read<T>(&self, work: impl Fn(&Connection) -> Outcome<T>) -> Result<T> {
        #[cfg(test)]
        if planted(Bug::ReadsBackFromCache) {
            let mut writer = lock(&self.writer);
            return self.connected(&mut writer, Role::Writer).and_then(work).map_err(Error::from);
        }
        let mut reader = lock(&self.reader);
        patiently(|| {
            let attempt = self.connected(&mut reader, Role::Reader).and_then(|connection| {
                let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
                work(&snapshot)
            });
            drop_spoiled(&mut reader, attempt)
        })
    }

    /// Checks that anything can be written.
    ///
    /// # Errors
    /// `Unavailable` when the archive is read-only.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.access == Access::Write {
            return Ok(());
        }
        Err(Error::unavailable(format!("the archive in {} is read-only", self.place.dir().display())))
    }

    /// Runs `work` in one transaction, alone, and makes it durable.
    ///
    /// # Errors
    /// `Unavailable` when the archive is read-only or the transaction fails: then nothing of it is there.
    pub(crate) fn write<T>(&self, work: impl Fn(&Connection) -> Outcome<T>) -> Result<T> {
        self.check_writable()?;
        let mut writer = lock(&self.writer);
        patiently(|| {
            let attempt = self.connected(&mut writer, Role::Writer).and_then(|connection| {
                #[cfg(test)]
                commit_late(connection)?;
                let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
                let value = work(&transaction)?;
                #[cfg(test)]
                if planted(Bug::AcknowledgesBeforeCommit) {
                    let mut transaction = transaction;
                    transaction.set_drop_behavior(rusqlite::DropBehavior::Ignore);
                    return Ok(value);
                }
                transaction.commit()?;
                Ok(value)
            });
            drop_spoiled(&mut writer, attempt)
        })
    }

    /// Rewrites the database without free space, and brings the log into it, so that nothing that was taken away stands
    /// in either.
    ///
    /// # Errors
    /// `Busy` when another process reads or writes for too long, `Unavailable` when it cannot be written.
    pub(crate) fn purge(&self) -> Result<()> {
        self.check_writable()?;
        *lock(&self.reader) = None;
        let mut writer = lock(&self.writer);
        patiently(|| {
            let attempt = self.connected(&mut writer, Role::Writer).and_then(|connection| {
                let bytes: i64 = connection.query_row(sql::READ_BYTES, [], |row| row.get(0))?;
                let keep_in =
                    if bytes > VACUUM_MEMORY_BYTES_MAX { sql::TEMP_IN_FILES } else { sql::TEMP_IN_MEMORY };
                connection.execute_batch(keep_in)?;
                connection.execute_batch(sql::VACUUM)?;
                Ok(connection.execute_batch(sql::TEMP_IN_MEMORY)?)
            });
            drop_spoiled(&mut writer, attempt)
        })?;
        for _ in 0..PURGE_TRIES {
            match self.connected(&mut writer, Role::Writer).and_then(empty_log) {
                Ok(()) => return Ok(()),
                Err(fault) if matches!(fault.kind(), ErrorKind::Busy) => std::thread::sleep(BUSY_PAUSE),
                Err(fault) => return drop_spoiled(&mut writer, Err(fault)).map_err(Error::from),
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            "another process reads the archive: what was taken away may still stand in its log",
        ))
    }

    fn connected<'a>(&self, slot: &'a mut Option<Connection>, role: Role) -> Outcome<&'a Connection> {
        match slot {
            Some(connection) => Ok(connection),
            None => Ok(slot.insert(self.connect(role)?)),
        }
    }

    fn connect(&self, role: Role) -> Outcome<Connection> {
        let (flags, name) = match self.access {
            Access::Write => (OpenFlags::SQLITE_OPEN_READ_WRITE, self.place.database()),
            Access::Read => (OpenFlags::SQLITE_OPEN_READ_ONLY, self.place.database()),
            Access::Frozen => {
                (OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI, self.place.frozen_uri())
            }
        };
        let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(sql::CONNECT)?;
        #[cfg(test)]
        if planted(Bug::AcknowledgesBeforeFlush) {
            connection.execute_batch("PRAGMA synchronous = OFF")?;
        }
        match (role, self.pages_max) {
            (Role::Reader, _) => connection.execute_batch(sql::CONNECT_READER)?,
            (Role::Writer, Some(pages)) => connection.query_row(&sql::limit_pages(pages), [], |_| Ok(()))?,
            (Role::Writer, None) => {}
        }
        Ok(connection)
    }
}

#[derive(Clone, Copy)]
enum Role {
    Writer,
    Reader,
}

fn lock(slot: &Mutex<Option<Connection>>) -> MutexGuard<'_, Option<Connection>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn drop_spoiled<T>(slot: &mut Option<Connection>, attempt: Outcome<T>) -> Outcome<T> {
    if attempt.as_ref().is_err_and(Fault::spoils_connection) {
        *slot = None;
    }
    attempt
}

/// Tries again while another process is in the way.
fn patiently<T>(mut attempt: impl FnMut() -> Outcome<T>) -> Result<T> {
    for _ in 0..BUSY_TRIES {
        match attempt() {
            Err(fault) if fault.kind() == ErrorKind::Busy => std::thread::sleep(BUSY_PAUSE),
            done => return done.map_err(Error::from),
        }
    }
    attempt().map_err(Error::from)
}

/// Commits what a planted bug left open.
#[cfg(test)]
fn commit_late(connection: &Connection) -> Outcome<()> {
    if !connection.is_autocommit() {
        connection.execute_batch("COMMIT")?;
    }
    Ok(())
}

fn check_identity(connection: &Connection) -> Outcome<()> {
    let number = |pragma| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    if number(sql::READ_APPLICATION_ID)? != sql::APPLICATION_ID {
        return Err(Error::corrupt("the database is not an archive of strongroom").into());
    }
    let version = number(sql::READ_FORMAT_VERSION)?;
    if version < 1 {
        return Err(Error::corrupt(format!("{version} is no format version of an archive")).into());
    }
    if version > sql::FORMAT_VERSION {
        let known = sql::FORMAT_VERSION;
        return Err(Error::unavailable(format!(
            "the archive has format version {version}, this program knows {known}"
        ))
        .into());
    }
    Ok(())
}
