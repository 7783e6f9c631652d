//! Writing: data to standard output, everything else to standard error.

use std::borrow::Cow;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
pub(crate) use strongroom::source::is_hidden;
use strongroom::{Error, Result};

/// Writes text, without what could steer a terminal or hide in it. A reader that went away is no failure of ours.
pub(crate) fn text(text: &str) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    finish(stdout.write_all(shown(text).as_bytes()).and_then(|()| stdout.flush()))
}

/// Control characters but those that end lines, and those that turn the direction of writing or have no width, as escapes. JSON stays the same
/// JSON: it has no such characters outside strings, and inside them the escape means the character.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let ends_line = char == '\r' && chars.peek() == Some(&'\n');
        if is_hidden(char) && !ends_line {
            out.extend([format!("\\u{:04x}", u32::from(char))]);
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
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
    self::text(&format!("{text}\n"))
}

/// Writes a line for the person at the terminal.
pub(crate) fn note(text: &str) {
    told("", text);
}

/// Writes a line that begins with a styled word of ours.
fn told(head: &str, text: &str) {
    let mut stderr = anstream::stderr().lock();
    // Without a standard error there is nobody to tell.
    drop(writeln!(stderr, "{head}{}", shown(text)));
}

/// Writes a warning.
pub(crate) fn warning(text: &str) {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    told(&format!("{style}warning{style:#}: "), text);
}

/// Writes what to do next.
pub(crate) fn hint(text: &str) {
    let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    told(&format!("{style}hint{style:#}: "), text);
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
    told(&format!("{style}error{style:#}: "), &text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_steers_is_shown_and_json_stays_what_it_is() {
        assert_eq!(
            shown("a\tb\n\u{1b}[31mred\u{202e}\u{200b}\r\n\r"),
            "a\tb\n\\u001b[31mred\\u202e\\u200b\r\n\\u000d"
        );
        let value = serde_json::json!({ "path": "/etc/\u{202e}x\u{feff}\u{7f}" });
        let text = value.to_string();
        let read: serde_json::Value = serde_json::from_str(&shown(&text)).unwrap();
        assert_eq!(read, value);
        assert!(matches!(shown("plain ö 漢"), Cow::Borrowed(_)));
    }
}
