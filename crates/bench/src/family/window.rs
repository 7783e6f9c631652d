//! Pieces of texts that can be asked for: short, on one line, no secret, nothing the exporter blacked out.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::seed::Seed;

/// Up to how many characters a text is taken whole.
pub(crate) const WHOLE: usize = 1_900;

/// How many pieces of one text are offered.
const OFFERED: usize = 10;

/// What may be a secret is not asked for: products may rightly hide it.
static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)REDACTED|passw|secret|token|bearer|api[_-]?key|credential|authorization|private.?key|",
        r"\bsk-|\bgh[pousr]_|xox[abp]-|AKIA|eyJ[a-z0-9]|://[^/\s]*:[^/\s]*@|[A-Za-z0-9+_]{40,}"
    ))
    .ok()
});

/// Whether `text` may hold a secret, or something the exporter took out.
pub(crate) fn secretive(text: &str) -> bool {
    SECRET.as_ref().is_none_or(|pattern| pattern.is_match(text))
}

/// Pieces of `text` of 12 to 60 characters, in an order of the seed.
pub(crate) fn fragments(text: &str, seed: &Seed) -> Vec<Range<usize>> {
    pieces(text, 12, 60, seed)
}

/// Pieces of `text` of 40 to 150 characters.
pub(crate) fn quotes(text: &str, seed: &Seed) -> Vec<Range<usize>> {
    pieces(text, 40, 150, seed)
}

fn pieces(text: &str, least: usize, most: usize, seed: &Seed) -> Vec<Range<usize>> {
    let lines = spans(text).filter_map(|line| cut(text, line, most));
    let fit = lines.filter(|part| text.get(part.clone()).is_some_and(|piece| askable(piece, least)));
    let fit: Vec<Range<usize>> = fit.take(400).collect();
    seed.pick(fit, OFFERED, |part| part.start.to_string())
}

/// Whether a piece can be quoted in every phrasing, and means something.
fn askable(piece: &str, least: usize) -> bool {
    let letters = piece.chars().filter(|c| c.is_alphanumeric()).count();
    piece.chars().count() >= least
        && letters * 2 >= least
        && !piece.contains(['"', '\\', '\r', '\t', '\u{fffd}', '\0'])
        && !piece.chars().any(char::is_control)
        && !secretive(piece)
}

/// The lines of a text, without blanks around them.
fn spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let own = start + (line.len() - line.trim_start().len());
        start += line.len() + 1;
        own..own + line.trim().len()
    })
}

/// The beginning of a line, cut at a blank.
fn cut(text: &str, line: Range<usize>, most: usize) -> Option<Range<usize>> {
    let own = text.get(line.clone())?;
    let Some((end, _)) = own.char_indices().nth(most) else { return Some(line) };
    let end = own.get(..end)?.rfind(' ')?;
    let kept = own.get(..end)?.trim_end().len();
    Some(line.start..line.start + kept)
}

/// The line around `part`.
pub(crate) fn line(text: &str, part: Range<usize>) -> Range<usize> {
    let start = text.get(..part.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let rest = text.get(part.end..).and_then(|behind| behind.find('\n'));
    start..rest.map_or(text.len(), |at| part.end + at)
}

/// Texts like `piece`: one digit or letter changed, one letter in the other case, the first word longer.
pub(crate) fn near_misses(piece: &str, seed: &Seed) -> Vec<String> {
    let places: Vec<(usize, char)> =
        piece.char_indices().filter(|(_, c)| c.is_ascii_alphanumeric()).collect();
    let places = seed.pick(places, 4, |(at, _)| format!("miss:{piece}:{at}"));
    let mut found = Vec::new();
    for (at, c) in places {
        let changed = match c {
            '0'..='8' => char::from(u8::try_from(c).unwrap_or(b'0') + 1),
            '9' => '3',
            'a'..='y' | 'A'..='Y' => char::from(u8::try_from(c).unwrap_or(b'a') + 1),
            _ => 'q',
        };
        let other_case = if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
        for new in [changed, other_case] {
            if new != c {
                let (before, behind) = (piece.get(..at), piece.get(at + 1..));
                found.extend(before.zip(behind).map(|(before, behind)| format!("{before}{new}{behind}")));
            }
        }
    }
    let longer = piece.split_once(' ').map(|(first, rest)| format!("{first}s {rest}"));
    found.extend(longer);
    let at = seed.below(&format!("first miss:{piece}"), found.len());
    let by = at.min(found.len());
    found.rotate_left(by);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_words_of_one_line() {
        let text = "  short\n  cargo test --workspace --all-features -- --nocapture and then a lot more words here\n";
        let found = fragments(text, &Seed::new("t", "s"));
        assert_eq!(found.len(), 1);
        let piece = text.get(found[0].clone()).unwrap();
        assert!(piece.starts_with("cargo test") && piece.len() <= 60 && !piece.ends_with(' '), "{piece}");
        assert_eq!(line(text, found[0].clone()), 8..text.len() - 1);
    }

    #[test]
    fn nothing_that_may_be_a_secret_is_asked_for() {
        for text in
            ["export GITHUB_TOKEN=abcdefghij", "the id is REDACTED here, twice", "https://me:pw@host/path/x"]
        {
            assert!(fragments(text, &Seed::new("t", "s")).is_empty(), "{text}");
        }
    }

    #[test]
    fn near_misses_differ() {
        let piece = "git push origin v1.8.0";
        let found = near_misses(piece, &Seed::new("t", "s"));
        assert!(found.len() >= 4);
        assert!(found.iter().all(|near| near != piece));
    }
}
