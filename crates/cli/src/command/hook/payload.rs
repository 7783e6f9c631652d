//! What an agent hands to its hooks.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strongroom::{Error, Result};

/// The largest payload that is read, in bytes; a prompt or a summary is in it.
const BYTES_MAX: u64 = 64 << 20;

/// Where a transcript stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In this file.
    At(PathBuf),
    /// The agent keeps none.
    Nowhere,
    /// Not said.
    Unsaid,
}

/// The fields that are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payload {
    /// The session's id; never a part of a path.
    pub(super) session: String,
    /// Where the transcript stands.
    pub(super) transcript: Place,
    /// The event, by name.
    pub(super) event: Option<String>,
    /// How a session starts, or who wrote a prompt.
    pub(super) source: Option<String>,
    /// What the user wrote.
    pub(super) prompt: Option<String>,
    /// The summary that the agent has made.
    pub(super) summary: Option<String>,
}

impl Payload {
    /// Reads a payload.
    ///
    /// # Errors
    /// `InvalidInput` when it is no JSON object or too large, `Unavailable` when it cannot be read.
    pub(super) fn read(from: &mut dyn Read) -> Result<Self> {
        let mut bytes = Vec::new();
        from.take(BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::unavailable("the payload cannot be read").caused_by(error))?;
        if u64::try_from(bytes.len()).is_ok_and(|len| len > BYTES_MAX) {
            return Err(Error::invalid_input(format!("the payload has more than {BYTES_MAX} bytes")));
        }
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Error::invalid_input("the payload is not JSON").caused_by(error))?;
        if !value.is_object() {
            return Err(Error::invalid_input("the payload is not a JSON object"));
        }
        Ok(Self::of(&value))
    }

    fn of(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let transcript = match value.get("transcript_path") {
            Some(Value::String(path)) if !path.is_empty() => Place::At(expanded(path)),
            Some(Value::Null) => Place::Nowhere,
            _ => Place::Unsaid,
        };
        Self {
            session: text("session_id").unwrap_or_default(),
            transcript,
            event: text("hook_event_name"),
            source: text("source"),
            prompt: text("prompt"),
            summary: text("compact_summary"),
        }
    }
}

/// A path with `~` for the home directory, as early versions wrote it.
fn expanded(path: &str) -> PathBuf {
    match path.strip_prefix("~/").zip(crate::place::home()) {
        Some((below, home)) => home.join(below),
        None => PathBuf::from(path),
    }
}

/// Checks that `path` is a regular file: a pipe or a device is not opened, and a link is not followed.
///
/// # Errors
/// `NotFound` or `InvalidInput`.
pub(super) fn check_regular(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(Error::invalid_input(format!("{} is not a regular file", path.display()))),
        Err(error) => Err(strongroom::files::io_error(path, "read", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_another_type_are_missing_ones() {
        let mut bytes =
            br#"{"session_id": 7, "transcript_path": "", "prompt": "x", "extra": [1]}"#.as_slice();
        let payload = Payload::read(&mut bytes).unwrap();
        assert_eq!(
            (payload.session.as_str(), payload.transcript, payload.prompt),
            ("", Place::Unsaid, Some("x".to_owned()))
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bad in ["", "[]", "{", "null", "{\"a\":1} x"] {
            assert!(Payload::read(&mut bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
