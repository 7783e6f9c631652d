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
    /// As written.
    text: String,
    /// The stems of the words beside it.
    near: BTreeSet<String>,
    /// Whether the words before it take it back: `not 60`.
    denied: bool,
}

/// Who states a line, the weightiest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Assistant,
    Call,
    User,
    Result,
}

/// A line of an original.
struct Line<'s> {
    row: usize,
    piece: Piece<'s>,
    tokens: Vec<Token>,
    words: BTreeSet<String>,
    rank: Rank,
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
        let ends = Shape::of(&token.norm) == Shape::Path;
        let inside = |norm: &str| {
            norm.find(&token.norm)
                .is_some_and(|at| at == 0 || norm.get(..at).is_some_and(|lead| lead.ends_with('/')))
        };
        if ends {
            let whole = self.by_value.iter().filter(|(norm, _)| inside(norm)).flat_map(|(_, lines)| lines);
            let mut lines: Vec<usize> = whole.copied().filter(|line| self.is_before(*line, own)).collect();
            lines.sort_unstable();
            return lines;
        }
        let lines = self.by_value.get(&token.norm).into_iter().flatten();
        lines.filter(states).copied().filter(|line| self.is_before(*line, own)).collect()
    }

    /// The line that gives another value for what `token` is the value of, and that value: a later word of the user
    /// where the value is stated, the likeliest line where it is not.
    fn against(&self, token: &Token, own: &Own<'_, 's>) -> Option<(usize, String)> {
        let shown = self.showing(token, own);
        let near: BTreeSet<usize> =
            token.near.iter().filter_map(|word| self.by_word.get(word)).flatten().copied().collect();
        let scored = near.into_iter().filter(|line| self.is_before(*line, own)).filter_map(|at| {
            let line = self.lines.get(at)?;
            let other = closest(line, token, own)?;
            let likeness = Likeness::of(token, other);
            let fits = match shown.last() {
                Some(last) => at > *last && line.rank == Rank::User && likeness.supersedes(line, own),
                None => likeness.contradicts(line),
            };
            fits.then(|| (likeness.close, likeness.local, line.rank, at, other.norm.clone()))
        });
        let (_, _, _, line, other) = scored.max()?;
        (!shown.is_empty() || !self.holds(&token.text)).then_some((line, other))
    }

    /// Whether the text of a value stands in any original, however it is cut there.
    fn holds(&self, text: &str) -> bool {
        self.rows.iter().flat_map(|row| &row.own).any(|piece| piece.text.contains(text))
    }
}

/// The value of a line that stands in the place of `token`: of the same kind, and not itself in the statement.
fn closest<'l>(line: &'l Line<'_>, token: &Token, own: &Own<'_, '_>) -> Option<&'l Token> {
    let stated = |norm: &str| own.tokens.iter().any(|token| token.norm == norm);
    if line.tokens.iter().any(|other| other.norm == token.norm && !other.denied) {
        return None;
    }
    let fits =
        |other: &&Token| !other.denied && !stated(&other.norm) && kind(&other.norm) == kind(&token.norm);
    let local = |other: &Token| other.near.intersection(&token.near).count();
    line.tokens.iter().filter(fits).max_by_key(|other| (is_close(&other.norm, &token.norm), local(other)))
}

/// How much two values look like those of one thing.
struct Likeness {
    shape: Shape,
    /// Whether they differ by a slip.
    close: bool,
    /// How many words beside them are the same.
    local: usize,
    len: usize,
    same_len: bool,
}

impl Likeness {
    fn of(one: &Token, two: &Token) -> Self {
        Self {
            shape: Shape::of(&one.norm),
            close: is_close(&one.norm, &two.norm),
            local: one.near.intersection(&two.near).count(),
            len: one.norm.len(),
            same_len: one.norm.len() == two.norm.len(),
        }
    }

    /// Whether a value that stands nowhere in the originals is the other one, changed.
    fn contradicts(&self, line: &Line<'_>) -> bool {
        let alone = line.tokens.len() == 1;
        match self.shape {
            Shape::Quantity => self.local >= 2 || (self.close && self.local >= 1),
            Shape::Number => self.local >= 1 && self.close || (self.local >= 2 && self.same_len && alone),
            Shape::Name => self.close && (self.len >= 6 || self.local >= 1),
            Shape::Path => self.close && self.len >= 8,
        }
    }

    /// Whether a later word of the user is about the same thing: most of what it says is.
    fn supersedes(&self, line: &Line<'_>, own: &Own<'_, '_>) -> bool {
        let shared = line.words.intersection(own.words).count();
        let measured = matches!(self.shape, Shape::Quantity | Shape::Number);
        measured && self.local >= 1 && shared * 2 >= line.words.len()
    }
}

/// What a value is, as far as comparing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    /// A number with a unit.
    Quantity,
    /// An id, a hash, a version.
    Name,
    Path,
}

impl Shape {
    fn of(norm: &str) -> Self {
        const UNIT_MAX: usize = 5;
        let digits = norm
            .trim_start_matches(['$', '€', '£'])
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = norm.bytes().any(|byte| byte.is_ascii_digit()) && !norm.starts_with(char::is_alphabetic);
        let unit = digits.chars().all(|c| c.is_alphabetic() || c == '%') && digits.len() <= UNIT_MAX;
        match () {
            () if norm.contains('/') => Self::Path,
            () if number && digits.is_empty() => Self::Number,
            () if number && unit => Self::Quantity,
            () => Self::Name,
        }
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
        (What::Result, _) => Rank::Result,
        (_, Some(Speaker::User)) => Rank::User,
        (What::Call, _) => Rank::Call,
        _ => Rank::Assistant,
    };
    let piece = Piece { focus: Some(range), ..piece.clone() };
    Some(Line { row: at, piece, words: words(text), tokens, rank })
}

fn tokens(text: &str) -> Vec<Token> {
    let Some(regex) = TOKEN.as_ref() else { return Vec::new() };
    let found = regex.find_iter(text).filter_map(|found| {
        let norm = norm(found.as_str())?;
        let before = text.get(..found.start()).unwrap_or_default();
        let after = text.get(found.end()..).unwrap_or_default();
        if is_place(before, after, found.as_str()) {
            return None;
        }
        let denied = DENIED.as_ref().is_some_and(|regex| regex.is_match(before));
        let text = found.as_str().trim_matches(|c: char| matches!(c, '.' | ',' | ':')).to_owned();
        Some(Token { norm, text, near: near(before, after), denied })
    });
    found.collect()
}

/// Whether a number is that of a line: of a listing, or called one.
fn is_place(before: &str, after: &str, own: &str) -> bool {
    let lead =
        before.trim().is_empty() && (own.ends_with(':') || after.starts_with([':', '\t', '→', '|', '-']));
    let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    lead || matches!(word.to_lowercase().as_str(), "line" | "lines" | "l")
}

/// The stems of the words beside a value: a few before, fewer behind.
fn near(before: &str, after: &str) -> BTreeSet<String> {
    const BEFORE_BYTES: usize = 40;
    const AFTER_BYTES: usize = 24;
    let start = before.ceil_char_boundary(before.len().saturating_sub(BEFORE_BYTES));
    let end = after.floor_char_boundary(AFTER_BYTES);
    let mut found = words(before.get(start..).unwrap_or_default());
    found.append(&mut words(after.get(..end).unwrap_or_default()));
    found
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
        assert_eq!(norms("12:  listen 7443 ssl; see line 275"), ["7443"]);
    }

    #[test]
    fn shapes_say_how_much_likeness_is_needed() {
        for (norm, shape) in [
            ("7443", Shape::Number),
            ("412.7", Shape::Number),
            ("75s", Shape::Quantity),
            ("$12", Shape::Number),
            ("40%", Shape::Quantity),
            ("ops-41", Shape::Name),
            ("v1.8.0", Shape::Name),
            ("2026-02-15", Shape::Name),
            ("src/a.rs", Shape::Path),
        ] {
            assert_eq!(Shape::of(norm), shape, "{norm}");
        }
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
