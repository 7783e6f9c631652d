//! What can go wrong inside, and the one place where it becomes an [`Error`].

use rusqlite::ffi;
use strongroom_core::error::{Error, ErrorKind};

/// A failed step: of `SQLite`, or with its meaning known already.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    Own(Error),
}

/// The result of a step inside the archive.
pub(crate) type Outcome<T> = Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Own(error) => error,
            Fault::Sql(error) => {
                let (kind, what) = meaning(&error);
                Self::new(kind, format!("{what}: {error}")).caused_by(error)
            }
        }
    }
}

/// `SQLite`'s result codes and what they mean to the caller; extended codes first, the low byte is the primary code.
const MEANINGS: &[(i32, ErrorKind, &str)] = &[
    (ffi::SQLITE_IOERR_SHORT_READ, ErrorKind::Corrupt, "the archive's database is damaged"),
    (ffi::SQLITE_IOERR_CORRUPTFS, ErrorKind::Corrupt, "the archive's database is damaged"),
    (ffi::SQLITE_CORRUPT, ErrorKind::Corrupt, "the archive's database is damaged"),
    (ffi::SQLITE_NOTADB, ErrorKind::Corrupt, "the archive's database is damaged"),
    // All statements are fixed: one that does not fit meets another schema.
    (ffi::SQLITE_ERROR, ErrorKind::Corrupt, "the archive's tables are not what they should be"),
    (ffi::SQLITE_CONSTRAINT, ErrorKind::Corrupt, "the archive's rows contradict one another"),
    (ffi::SQLITE_MISMATCH, ErrorKind::Corrupt, "the archive's rows hold values of another type"),
    (ffi::SQLITE_BUSY, ErrorKind::Busy, "another process holds the archive"),
    (ffi::SQLITE_LOCKED, ErrorKind::Busy, "another process holds the archive"),
    (ffi::SQLITE_PROTOCOL, ErrorKind::Busy, "another process holds the archive"),
    (ffi::SQLITE_FULL, ErrorKind::Unavailable, "the archive is full"),
    (ffi::SQLITE_READONLY, ErrorKind::Unavailable, "the archive is read-only"),
    (ffi::SQLITE_CANTOPEN, ErrorKind::Unavailable, "the archive's database cannot be opened"),
    (ffi::SQLITE_PERM, ErrorKind::Unavailable, "the archive's database may not be used"),
    (ffi::SQLITE_AUTH, ErrorKind::Unavailable, "the archive's database may not be used"),
    (ffi::SQLITE_IOERR, ErrorKind::Unavailable, "reading or writing the archive failed"),
    (ffi::SQLITE_NOMEM, ErrorKind::Unavailable, "there is not enough memory"),
    (ffi::SQLITE_TOOBIG, ErrorKind::InvalidInput, "a value is too large for the archive"),
    (ffi::SQLITE_MISUSE, ErrorKind::Bug, "the database was used wrongly"),
];

fn meaning(error: &rusqlite::Error) -> (ErrorKind, &'static str) {
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return (ErrorKind::Corrupt, "a row of the archive cannot be read");
    };
    let code = failure.extended_code;
    let found = MEANINGS.iter().find(|(known, ..)| *known == code || *known == code & 0xff);
    found.map_or((ErrorKind::Unavailable, "the archive's database failed"), |&(_, kind, what)| (kind, what))
}

impl Fault {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Own(error) => error.kind(),
            Self::Sql(error) => meaning(error).0,
        }
    }

    /// Whether the connection may be in a state that the disk is not: after a failed flush nothing it says counts.
    pub(crate) fn spoils_connection(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Sql(error) => {
                matches!(
                    error.sqlite_error_code(),
                    Some(ffi::ErrorCode::SystemIoFailure | ffi::ErrorCode::DatabaseCorrupt)
                )
            }
        }
    }

    /// The reason, where it is damage of what was read and of nothing else.
    pub(crate) fn damage(self) -> Outcome<String> {
        if self.kind() == ErrorKind::Corrupt { Ok(Error::from(self).to_string()) } else { Err(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_kinds() {
        let fault = |code| Fault::Sql(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        for (code, kind) in [
            (ffi::SQLITE_BUSY_SNAPSHOT, ErrorKind::Busy),
            (ffi::SQLITE_IOERR_SHORT_READ, ErrorKind::Corrupt),
            (ffi::SQLITE_IOERR_FSYNC, ErrorKind::Unavailable),
            (ffi::SQLITE_FULL, ErrorKind::Unavailable),
            (ffi::SQLITE_NOTADB, ErrorKind::Corrupt),
            (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ErrorKind::Corrupt),
            (ffi::SQLITE_NOTICE, ErrorKind::Unavailable),
        ] {
            assert_eq!(fault(code).kind(), kind, "code {code}");
        }
        assert!(fault(ffi::SQLITE_IOERR_FSYNC).spoils_connection());
    }
}
