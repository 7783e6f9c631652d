//! Errors, named by what the caller should do.

use std::fmt;

/// What a caller can do about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input or the arguments must be corrected.
    InvalidInput,
    /// The operation was declined by a rule; its reasons are in the message.
    Refused,
    /// The named thing does not exist here.
    NotFound,
    /// The original was kept once and was deleted: its retention had ended, or somebody ordered it.
    Expired,
    /// Stored bytes differ from their hash.
    Corrupt,
    /// Storage or a file cannot be used now.
    Unavailable,
    /// Another process holds what is needed; trying again later helps.
    Busy,
    /// An invariant of the program itself is broken.
    Bug,
}

impl ErrorKind {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid-input",
            Self::Refused => "refused",
            Self::NotFound => "not-found",
            Self::Expired => "expired",
            Self::Corrupt => "corrupt",
            Self::Unavailable => "unavailable",
            Self::Busy => "busy",
            Self::Bug => "bug",
        }
    }
}

/// A failed operation: it did not happen.
///
/// Problems found in content are not errors but [`Finding`](crate::transcript::Finding)s.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of an operation of this project.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Makes an error of `kind`; `message` is lower case, without a full stop, and names the thing.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Attaches the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message without its causes.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The message with its causes, on one line.
    pub fn chain(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            let inner_text = inner.to_string();
            if !text.contains(&inner_text) {
                text.push_str(": ");
                text.push_str(&inner_text);
            }
            cause = inner.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }
}

macro_rules! shorthand {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)*) => {
        impl Error {
            $($(#[$doc])*
            pub fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorKind::$kind, message)
            })*
        }
    };
}

shorthand! {
    /// An [`ErrorKind::InvalidInput`].
    invalid_input => InvalidInput;
    /// An [`ErrorKind::Refused`].
    refused => Refused;
    /// An [`ErrorKind::NotFound`].
    not_found => NotFound;
    /// An [`ErrorKind::Expired`].
    expired => Expired;
    /// An [`ErrorKind::Corrupt`].
    corrupt => Corrupt;
    /// An [`ErrorKind::Unavailable`].
    unavailable => Unavailable;
    /// An [`ErrorKind::Busy`].
    busy => Busy;
    /// An [`ErrorKind::Bug`].
    bug => Bug;
}
