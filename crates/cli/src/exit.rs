//! Exit codes: one table for all errors and answers.

use strongroom::ErrorKind;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Done, refusals included.
    Done,
    /// An honest no: the budget cannot be met, or the answer is not "supported".
    No,
    /// The arguments or the input must be corrected.
    Usage,
    /// Something is damaged or not available.
    Unavailable,
}

impl End {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Unavailable => 3,
        }
    }
}

/// How the program ends after an error.
pub(crate) const fn of(kind: ErrorKind) -> End {
    match kind {
        ErrorKind::InvalidInput | ErrorKind::NotFound => End::Usage,
        ErrorKind::Refused => End::No,
        ErrorKind::Expired
        | ErrorKind::Corrupt
        | ErrorKind::Unavailable
        | ErrorKind::Busy
        | ErrorKind::Bug => End::Unavailable,
    }
}
