//! Writing: data to standard output, everything else to standard error.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use strongroom::{Error, ErrorKind, Result};

/// Writes data. A reader that went away is no failure of ours.
pub(crate) fn data(bytes: &[u8]) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    finish(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Writes bytes that are not text: nothing is stripped.
pub(crate) fn raw(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    finish(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

fn finish(written: std::io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::unavailable("standard output cannot be written").caused_by(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes a line of data.
pub(crate) fn line(text: &str) -> Result<()> {
    data(format!("{text}\n").as_bytes())
}

/// Writes a line for the person at the terminal.
pub(crate) fn note(text: &str) {
    let mut stderr = anstream::stderr().lock();
    // Without a standard error there is nobody to tell.
    drop(writeln!(stderr, "{text}"));
}

/// Writes a warning.
pub(crate) fn warning(text: &str) {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    note(&format!("{style}warning{style:#}: {text}"));
}

/// Writes what to do next.
pub(crate) fn hint(text: &str) {
    let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    note(&format!("{style}hint{style:#}: {text}"));
}

/// An error with its causes, on one line.
pub(crate) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
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

/// Writes an error with its causes.
pub(crate) fn error(error: &Error, json: bool) {
    let text = chain(error);
    if json {
        let body =
            serde_json::json!({ "schema": 1, "error": { "kind": kind(error.kind()), "message": text } });
        note(&body.to_string());
        return;
    }
    let style = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    note(&format!("{style}error{style:#}: {text}"));
}

const fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidInput => "invalid-input",
        ErrorKind::Refused => "refused",
        ErrorKind::NotFound => "not-found",
        ErrorKind::Expired => "expired",
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Busy => "busy",
        ErrorKind::Bug => "bug",
    }
}
