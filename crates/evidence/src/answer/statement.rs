//! Statements of summaries against the originals: shown, contradicted by another value, or shown by nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::transcript::Speaker;

use super::claim::{self, Weight};
use super::decide::Case;
use super::report::summary_row;
use super::row::{self, Piece, Row, What, sentences};
use super::truth::Truth;

/// A sentence of a summary that can be compared.
#[derive(Debug)]
pub(super) struct Statement<'s> {
    pub(super) row: Row<'s>,
    pub(super) text: &'s str,
    pub(super) weight: Weight<'s>,
    /// Of a contradicted one: the value it gives and the one of the original.
    pub(super) values: Option<(String, String)>,
}

/// A value in a text: a run with a digit, or a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    norm: String,
    /// Whether the words before it take it back: `not 60`.
    denied: bool,
}

/// A line of an original.
struct Line<'s> {
    row: usize,
    piece: Piece<'s>,
    tokens: Vec<Token>,
    words: BTreeSet<String>,
    rank: u8,
}

/// The lines of all originals, found by value and by word.
struct Originals<'s> {
    rows: Vec<Row<'s>>,
    lines: Vec<Line<'s>>,
    by_value: BTreeMap<String, Vec<usize>>,
    by_word: BTreeMap<String, Vec<usize>>,
}

static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[~$€£]?[\p{L}\p{N}_./:@+-]*(?:\d[\p{L}\p{N}_./:@+,-]*%?|/[\p{L}\p{N}_./@+-]+)").ok()
});

static DENIED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:not|no\s+longer|never|instead\s+of|rather\s+than|from)\s+(?:at\s+|on\s+|the\s+)?$")
        .ok()
});

/// Words that say nothing of what a value is the value of.
const EMPTY: &[&str] = &[
    "the", "and", "for", "was", "were", "are", "with", "that", "this", "from", "has", "have", "had", "not",
    "but", "should", "would", "will", "can", "may", "now", "all", "its", "into", "then", "than", "also",
    "been", "set", "use", "using", "our", "per", "via", "out", "one", "two", "new", "user", "line", "only",
    "after", "before", "which", "where", "when", "they",
];

/// The statements of all summaries that hold the words of the question, in order.
pub(super) fn all<'s>(case: &Case<'_, 's>) -> Vec<Statement<'s>> {
    let scope = case.scope;
    let ledger = row::effects(scope);
    let originals = Originals::of(case);
    let mut found = Vec::new();
    for summary in &scope.summaries {
        let Some(view) = scope.sources.get(summary.source) else { continue };
        let Some(block) = view.index.block(summary.at) else { continue };
        for range in sentences(&summary.text) {
            let Some(text) = summary.text.get(range.clone()) else { continue };
            let row = summary_row(view, summary, block, range);
            let met = |term: &&super::matching::Compact| !term.find_all(text, 1).is_empty();
            let words = case.clause.terms.iter().filter(|term| term.is_word());
            if words.clone().all(|term| met(&term)) && placed(case, &row) {
                found.extend(weigh(case, row, text, (&originals, &ledger)));
            }
        }
    }
    found
}

fn placed<'s>(case: &Case<'_, 's>, row: &Row<'s>) -> bool {
    case.clause.test_envelope(row, case.positions, super::matching::Leave::Speaker) != Truth::No
}

/// Weighs one sentence; `None` where nothing in it can be compared.
fn weigh<'s>(
    case: &Case<'_, 's>,
    row: Row<'s>,
    text: &'s str,
    (originals, ledger): (&Originals<'s>, &[Row<'s>]),
) -> Option<Statement<'s>> {
    let tokens = tokens(text);
    let words = words(text);
    let own = Own { row: &row, tokens: &tokens, words: &words };
    let mut shown: Option<usize> = None;
    let mut missing = tokens.is_empty();
    for token in tokens.iter().filter(|token| !token.denied) {
        if let Some((line, other)) = originals.against(token, &own) {
            let weight = Weight::Contradicted(Box::new(originals.row(line)?));
            let values = Some((token.norm.clone(), other));
            return Some(Statement { row, text, weight, values });
        }
        match originals.showing(token, &own).last() {
            Some(line) => shown = Some(*line),
            None => missing = true,
        }
    }
    if tokens.is_empty() {
        if !claim::is_claim(text) {
            return None;
        }
        let weight = claim::weigh(case, &row, ledger);
        return Some(Statement { row, text, weight, values: None });
    }
    let weight = match shown.filter(|_| !missing).and_then(|line| originals.row(line)) {
        Some(row) => Weight::Supported(Box::new(row)),
        None => Weight::Unverified,
    };
    Some(Statement { row, text, weight, values: None })
}

/// A statement as it is compared.
struct Own<'o, 's> {
    row: &'o Row<'s>,
    tokens: &'o [Token],
    words: &'o BTreeSet<String>,
}

impl<'s> Originals<'s> {
    fn of(case: &Case<'_, 's>) -> Self {
        let rows = row::texts(case.scope);
        let mut own = Self { rows, lines: Vec::new(), by_value: BTreeMap::new(), by_word: BTreeMap::new() };
        let mut lines = Vec::new();
        for (at, row) in own.rows.iter().enumerate() {
            for piece in &row.own {
                lines.extend(sentences(piece.text).filter_map(|range| line_of(at, row, piece, range)));
            }
        }
        for (at, line) in lines.iter().enumerate() {
            for token in &line.tokens {
                own.by_value.entry(token.norm.clone()).or_default().push(at);
            }
            for word in line.words.iter().filter(|_| !line.tokens.is_empty()) {
                own.by_word.entry(word.clone()).or_default().push(at);
            }
        }
        own.lines = lines;
        own
    }

    fn row(&self, line: usize) -> Option<Row<'s>> {
        let line = self.lines.get(line)?;
        let row = self.rows.get(line.row)?;
        Some(Row { own: vec![line.piece.clone()], half: Vec::new(), what: What::Record, ..row.clone() })
    }

    /// Whether a line lies before the summary, as far as order tells.
    fn is_before(&self, line: usize, own: &Own<'_, 's>) -> bool {
        let row = self.lines.get(line).and_then(|line| self.rows.get(line.row));
        row.is_some_and(|row| row.source != own.row.source || row.start < own.row.start)
    }

    /// The lines that state the value of `token`, in order.
    fn showing(&self, token: &Token, own: &Own<'_, 's>) -> Vec<usize> {
        let states = |line: &&usize| {
            let line = self.lines.get(**line);
            line.is_some_and(|line| line.tokens.iter().any(|other| other.norm == token.norm && !other.denied))
        };
        let lines = self.by_value.get(&token.norm).into_iter().flatten();
        lines.filter(states).copied().filter(|line| self.is_before(*line, own)).collect()
    }

    /// The line that gives another value for what `token` is the value of: a later one where the value is stated, the
    /// closest one where it is not.
    fn against(&self, token: &Token, own: &Own<'_, 's>) -> Option<(usize, String)> {
        let shown = self.showing(token, own);
        let near: BTreeSet<usize> =
            own.words.iter().filter_map(|word| self.by_word.get(word)).flatten().copied().collect();
        let shared =
            |line: usize| self.lines.get(line).map_or(0, |line| line.words.intersection(own.words).count());
        let best = shown.iter().map(|line| shared(*line)).max().unwrap_or(0);
        let scored = near.into_iter().filter(|line| self.is_before(*line, own)).filter_map(|line| {
            let other = self.closest(line, token, own)?;
            let (shared, close) = (shared(line), is_close(&other, &token.norm));
            let fits = match shown.last() {
                Some(last) => line > *last && shared >= 2 && shared >= best,
                None => shared >= 2 || close,
            };
            let rank = self.lines.get(line).map_or(0, |line| line.rank);
            fits.then_some((close, shared, rank, line, other))
        });
        scored.max().map(|(_, _, _, line, other)| (line, other))
    }

    /// The value of a line that stands in the place of `token`: of the same kind, and not itself in the statement.
    fn closest(&self, line: usize, token: &Token, own: &Own<'_, 's>) -> Option<String> {
        let line = self.lines.get(line)?;
        let stated = |norm: &str| own.tokens.iter().any(|token| token.norm == norm);
        if line.tokens.iter().any(|other| other.norm == token.norm && !other.denied) {
            return None;
        }
        let fits =
            |other: &&Token| !other.denied && !stated(&other.norm) && kind(&other.norm) == kind(&token.norm);
        let others = line.tokens.iter().filter(fits).map(|other| other.norm.clone());
        others.max_by_key(|other| (is_close(other, &token.norm), other.len() == token.norm.len()))
    }
}

/// A sentence of an original with its values and words.
fn line_of<'s>(at: usize, row: &Row<'s>, piece: &Piece<'s>, range: Range<usize>) -> Option<Line<'s>> {
    const LINE_BYTES_MAX: usize = 2_000;
    let text = piece.text.get(range.clone()).filter(|text| text.len() <= LINE_BYTES_MAX)?;
    let tokens = tokens(text);
    if tokens.is_empty() {
        return None;
    }
    let rank = match (&row.what, row.speaker()) {
        (What::Result, _) => 3,
        (_, Some(Speaker::User)) => 2,
        (What::Call, _) => 1,
        _ => 0,
    };
    let piece = Piece { focus: Some(range), ..piece.clone() };
    Some(Line { row: at, piece, words: words(text), tokens, rank })
}

fn tokens(text: &str) -> Vec<Token> {
    let Some(regex) = TOKEN.as_ref() else { return Vec::new() };
    let found = regex.find_iter(text).filter_map(|found| {
        let norm = norm(found.as_str())?;
        let before = text.get(..found.start()).unwrap_or_default();
        let denied = DENIED.as_ref().is_some_and(|regex| regex.is_match(before));
        Some(Token { norm, denied })
    });
    found.collect()
}

/// A value without the marks around it, without grouping, in lower case; none of a list number.
fn norm(text: &str) -> Option<String> {
    let text = text.trim_matches(|c: char| matches!(c, '.' | ',' | ':' | '-' | '+' | '~' | '@'));
    let listed = text.len() == 1;
    let grouped =
        text.split(',').skip(1).all(|part| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit()));
    let text = if grouped { text.replace(',', "") } else { text.to_owned() };
    (!listed && !text.is_empty()).then(|| text.to_lowercase())
}

/// What shape a value has: its letters and marks, every run of digits as one.
fn kind(norm: &str) -> String {
    let hex = norm.len() >= 7 && norm.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hex && norm.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return "hash".to_owned();
    }
    if norm.contains('/') {
        return "path".to_owned();
    }
    let mut shape = String::new();
    for c in norm.chars() {
        let own = if c.is_ascii_digit() { '0' } else { c };
        if own != '0' || !shape.ends_with('0') {
            shape.push(own);
        }
    }
    shape
}

/// Whether two values differ by a slip: one or two characters of a length, or two that changed places.
fn is_close(one: &str, two: &str) -> bool {
    if one.len() != two.len() || one.len() < 3 {
        return false;
    }
    let differing = one.bytes().zip(two.bytes()).filter(|(a, b)| a != b).count();
    differing <= 2 && differing * 2 <= one.len()
}

/// The words that say what a value is of, by their stems.
fn words(text: &str) -> BTreeSet<String> {
    let cut = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3);
    let plain = cut.filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
    let lower = plain.map(str::to_lowercase).filter(|word| !EMPTY.contains(&word.as_str()));
    lower.map(|word| stem(&word).to_owned()).collect()
}

fn stem(word: &str) -> &str {
    let cut = ["ings", "ing", "ed", "es", "s"].iter().find_map(|end| word.strip_suffix(end));
    cut.filter(|stem| stem.len() >= 3).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norms(text: &str) -> Vec<String> {
        tokens(text).into_iter().filter(|token| !token.denied).map(|token| token.norm).collect()
    }

    #[test]
    fn values_are_read_without_what_is_taken_back() {
        assert_eq!(norms("Set the idle timeout to 75s, not 60."), ["75s"]);
        assert_eq!(norms("listens on 7433 (TLS) and 7080, 1,200 rows"), ["7433", "7080", "1200"]);
        assert_eq!(norms("see src/a.rs at 3f9c2d1e"), ["src/a.rs", "3f9c2d1e"]);
        assert_eq!(norms("changed from 16 to 61"), ["61"]);
    }

    #[test]
    fn slips_are_close_and_kinds_are_told_apart() {
        assert!(is_close("7433", "7443") && is_close("ops-14", "ops-41"));
        assert!(!is_close("7433", "7080") && !is_close("60", "75"));
        assert_eq!(kind("75s"), kind("60s"));
        assert_ne!(kind("75s"), kind("75"));
        assert_eq!(kind("3f9c2d1"), kind("abcdef0123"));
    }
}
