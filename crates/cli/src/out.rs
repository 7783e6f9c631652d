//! Writing: data to standard output, everything else to standard error.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use strongroom::{Error, Result};

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

/// Writes an error with its causes.
pub(crate) fn error(error: &Error, json: bool) {
    let text = error.chain();
    if json {
        let body =
            serde_json::json!({ "schema": 1, "error": { "kind": error.kind().word(), "message": text } });
        note(&body.to_string());
        return;
    }
    let style = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    note(&format!("{style}error{style:#}: {text}"));
}
