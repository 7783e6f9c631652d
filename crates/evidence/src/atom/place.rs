//! Places in files: a path with a line, and a column where one is written.

use std::fmt::Write as _;

/// Where in a file something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position<'t> {
    row: &'t str,
    column: Option<&'t str>,
    /// The last row, or the last column, of a range.
    last: Option<&'t str>,
}

/// The end of the line reference that a path at `start..end` begins, in one of the forms that compilers and people write.
pub(super) fn behind(text: &str, start: usize, end: usize) -> Option<usize> {
    let rest = text.get(end..)?;
    let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    let quoted =
        rest.bytes().next().filter(|byte| Some(byte) == before && matches!(byte, b'"' | b'\'' | b'`'));
    let behind = if quoted.is_some() { rest.get(1..)? } else { rest };
    let (_, left) = position(behind, quoted.is_some())?;
    Some(text.len() - left.len())
}

/// `path:row:column-last`, whatever form it was written in.
pub(super) fn norm(text: &str) -> String {
    let from = text.len().saturating_sub(64);
    let places = text.char_indices().map(|(at, _)| at).filter(|at| *at > from.min(1));
    for at in places {
        let (path, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let quoted = rest.starts_with(['"', '\'', '`']);
        let behind = if quoted { rest.get(1..).unwrap_or_default() } else { rest };
        if let Some((found, "")) = position(behind, quoted) {
            let mut norm = super::path_norm(path);
            let part = |lead: char, part: Option<&str>, norm: &mut String| {
                part.map_or(Ok(()), |part| write!(norm, "{lead}{part}"))
            };
            let written = part(':', Some(found.row), &mut norm)
                .and_then(|()| part(':', found.column, &mut norm))
                .and_then(|()| part('-', found.last, &mut norm));
            return if written.is_ok() { norm } else { text.to_owned() };
        }
    }
    text.to_owned()
}

fn position(text: &str, quoted: bool) -> Option<(Position<'_>, &str)> {
    compact(text).or_else(|| worded(text)).or_else(|| bracketed(text)).or_else(|| parted(text, quoted))
}

fn digits(text: &str) -> Option<(&str, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(len).filter(|_| (1..=7).contains(&len))
}

/// A further number behind one of `leads`.
fn further<'t>(text: &'t str, leads: &[&str]) -> (Option<&'t str>, &'t str) {
    let found = leads.iter().find_map(|lead| digits(text.strip_prefix(lead)?));
    found.map_or((None, text), |(own, rest)| (Some(own), rest))
}

/// What follows ends a reference: no letter, digit or further part of a number.
fn ends(rest: &str) -> bool {
    !rest.starts_with(|char: char| char.is_ascii_alphanumeric() || char == '_')
}

/// `:339`, `:339:12`, `:339.12`, `:339:12-789`, `#339`, `#339:12`.
fn compact(text: &str) -> Option<(Position<'_>, &str)> {
    let (row, rest) = digits(text.strip_prefix([':', '#'])?)?;
    let (column, rest) = further(rest, &[":", "."]);
    let (last, rest) = further(rest, &["-"]);
    ends(rest).then_some((Position { row, column, last }, rest))
}

/// `, line 339, col 12`, ` on line 339`, `:line 339`, `, lines 339-341`, `, line 339, characters 12-789`.
fn worded(text: &str) -> Option<(Position<'_>, &str)> {
    let rest = text.trim_start_matches([',', ':']);
    let rest = rest.trim_start_matches([' ', '\u{a0}']);
    let rest = rest.strip_prefix("on ").or_else(|| rest.strip_prefix("at ")).unwrap_or(rest);
    let rest = rest.strip_prefix("line")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix([' ', ':'])?;
    let (row, rest) = digits(rest.trim_start_matches(' '))?;
    let (until, rest) = further(rest, &["-", "–"]);
    let behind = rest.trim_start_matches([',', ':', ' ']);
    let named = ["columns", "column", "col", "characters", "character", "char"]
        .iter()
        .find_map(|own| behind.strip_prefix(own));
    match named.and_then(|rest| digits(rest.trim_start_matches([' ', ':', '.']))) {
        Some((column, rest)) => {
            let (last, rest) = further(rest, &["-", "–"]);
            Some((Position { row, column: Some(column), last: until.or(last) }, rest))
        }
        None => ends(rest).then_some((Position { row, column: None, last: until }, rest)),
    }
}

/// `(339)`, `(339, 12)`, ` [339,12]`, `: (339, 12)`.
fn bracketed(text: &str) -> Option<(Position<'_>, &str)> {
    let rest = text.strip_prefix(':').unwrap_or(text);
    let rest = rest.strip_prefix([' ', '\u{a0}']).unwrap_or(rest);
    let (close, rest) = match rest.strip_prefix('(') {
        Some(rest) => (')', rest),
        None => (']', rest.strip_prefix('[')?),
    };
    let (row, rest) = digits(rest)?;
    let (column, rest) = further(rest, &[", ", ","]);
    Some((Position { row, column, last: None }, rest.strip_prefix(close)?))
}

/// `",339"` and `",339:12"` behind quotes; ` 339:12` behind a blank, where the column tells it from a count.
fn parted(text: &str, quoted: bool) -> Option<(Position<'_>, &str)> {
    let comma = text.strip_prefix(',').filter(|_| quoted);
    let hard = text.strip_prefix('\u{a0}');
    let (row, rest) = digits(comma.or(hard).or_else(|| text.strip_prefix(' '))?)?;
    let (column, rest) = further(rest, &[":"]);
    let told = comma.is_some() || column.is_some();
    (told && ends(rest)).then_some((Position { row, column, last: None }, rest))
}
