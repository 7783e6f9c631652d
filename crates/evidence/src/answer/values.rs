//! Values recorded with a key: `key = value`, `"key": value`, `key: value`, `KEY=value`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::row::{self, Piece, Row, What};
use super::table::{self, Cell};
use crate::query::{Atom, QueryError, Value};
use crate::session::Scope;

/// A key, a sign, and a value: quoted, or a run without blanks and closing marks.
static KEYED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?x) ["'`]? (?P<key> [\p{L}_] [\p{L}\p{N}_.\-/]* ) ["'`]? \s? (?: = | => | : )\ ?"#,
        r#"(?: "(?P<double>[^"\n]*)" | '(?P<single>[^'\n]*)' | (?P<bare> [^\s,;"'`()\[\]{}<>=|]+ (?: [^\s,;"'`)\]}<>|]* ) ) )"#
    ))
    .ok()
});

/// A value with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keyed {
    pub(super) key: String,
    pub(super) value: String,
    /// The names of its row, of a cell of a table.
    pub(super) rows: Vec<String>,
    /// The bytes of key, sign and value; of a cell its own.
    pub(super) range: Range<usize>,
}

impl Keyed {
    /// The key as answers name it: of a cell with its row.
    pub(super) fn name(&self) -> String {
        match self.rows.first() {
            Some(row) => format!("{} ({row})", self.key),
            None => self.key.clone(),
        }
    }
}

impl From<Cell> for Keyed {
    fn from(cell: Cell) -> Self {
        Self { key: cell.column, value: cell.value, rows: cell.rows, range: cell.range }
    }
}

/// All values with keys in `text`.
pub(super) fn scan(text: &str) -> Vec<Keyed> {
    let Some(regex) = KEYED.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(captures) = regex.captures_at(text, from) {
        let (Some(all), Some(key)) = (captures.get(0), captures.name("key")) else { break };
        // The end of a longer word is no key: `7d: recall` has none.
        let before = text.get(..key.start()).and_then(|before| before.chars().next_back());
        if before.is_some_and(char::is_alphanumeric) {
            from = key.end();
            continue;
        }
        let value = ["double", "single", "bare"].iter().find_map(|name| captures.name(name));
        // `url: https://x` is one value, `https` no key.
        let scheme = text.get(key.end()..).is_some_and(|rest| rest.starts_with("://"));
        if let Some(value) = value.filter(|_| !scheme) {
            let text = value.as_str().trim_end_matches(['.', ':']);
            if !text.is_empty() {
                found.push(Keyed {
                    key: key.as_str().to_owned(),
                    value: text.to_owned(),
                    rows: Vec::new(),
                    range: key.start()..all.end(),
                });
            }
        }
        from = all.end().max(key.end());
    }
    found
}

/// A line that names its row first: `30d: recall 0.94, precision 0.9`.
static LABELLED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t]*([\p{L}\p{N}_.\-/%]+)[ \t]*:[ \t]+(\p{L}[^\n]*)$").ok());

/// A key and a number behind it, in such a line.
static PAIR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|,\s*|;\s*)([\p{L}_][\p{L}\p{N}_\-]*)[ \t]+([-+~]?\d[^\s,;]*)").ok());

/// The values of lines that name their row first.
fn labelled(text: &str) -> Vec<Keyed> {
    let (Some(lines), Some(pairs)) = (LABELLED.as_ref(), PAIR.as_ref()) else { return Vec::new() };
    let mut found = Vec::new();
    for line in lines.captures_iter(text) {
        let (Some(label), Some(rest)) = (line.get(1), line.get(2)) else { continue };
        for pair in pairs.captures_iter(rest.as_str()) {
            let (Some(key), Some(value)) = (pair.get(1), pair.get(2)) else { continue };
            found.push(Keyed {
                key: key.as_str().to_owned(),
                value: value.as_str().trim_end_matches('.').to_owned(),
                rows: names(label.as_str()),
                range: label.start()..rest.start() + value.end(),
            });
        }
    }
    found
}

/// Letters that stand for a span of time, and the word.
const SPANS: &[(char, &str)] =
    &[('d', "day"), ('h', "hour"), ('w', "week"), ('s', "second"), ('m', "minute"), ('y', "year")];

/// A label, and how people call it: `30d` is the 30-day row.
fn names(label: &str) -> Vec<String> {
    let digits = label.trim_end_matches(char::is_alphabetic);
    let unit = label.get(digits.len()..).and_then(|unit| {
        SPANS.iter().find(|(letter, _)| unit.len() == 1 && unit.starts_with(*letter)).map(|(_, word)| *word)
    });
    let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let spoken =
        unit.filter(|_| numeric).map(|unit| [format!("{digits}-{unit}"), format!("{digits} {unit}s")]);
    std::iter::once(label.to_owned()).chain(spoken.into_iter().flatten()).collect()
}

/// The parts of a key: cut at `_ - . /` and at a change of case, in lower case.
fn parts(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in key.chars() {
        let joint = matches!(c, '_' | '-' | '.' | '/');
        let change = before.is_lowercase() && c.is_uppercase();
        if joint || change {
            parts.push(String::new());
        }
        if let (false, Some(part)) = (joint, parts.last_mut()) {
            part.extend(c.to_lowercase());
        }
        before = c;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Names of keys as a query gives them.
pub(super) struct Keys(Vec<KeyTest>);

enum KeyTest {
    /// A run of whole parts.
    Parts(Vec<String>),
    Pattern(Regex),
}

impl Keys {
    pub(super) fn new(name: Option<&Value>) -> Result<Self, QueryError> {
        let atoms = name.map(Value::atoms).unwrap_or_default();
        let test = |atom: &Atom| match atom {
            Atom::Word(text) => Ok(KeyTest::Parts(parts(text))),
            _ => super::pattern::whole(atom).map(KeyTest::Pattern),
        };
        atoms.iter().map(test).collect::<Result<_, _>>().map(Self)
    }

    /// Whether `key` is meant; every key is where none is named.
    pub(super) fn mean(&self, key: &str) -> bool {
        let own = parts(key);
        self.0.is_empty()
            || self.0.iter().any(|test| match test {
                KeyTest::Parts(wanted) => {
                    !wanted.is_empty() && own.windows(wanted.len()).any(|window| window == wanted.as_slice())
                }
                KeyTest::Pattern(regex) => regex.is_match(key) || own.iter().any(|part| regex.is_match(part)),
            })
    }
}

/// A row for every value whose key is meant, in order.
pub(super) fn rows<'s>(scope: &'s Scope<'s>, keys: &Keys) -> Vec<Row<'s>> {
    let mut found = Vec::new();
    for row in row::texts(scope) {
        for piece in &row.own {
            let meant = |keyed: &Keyed| keys.mean(&keyed.key);
            let mut all: Vec<Keyed> = scan(piece.text).into_iter().filter(meant).collect();
            all.extend(labelled(piece.text).into_iter().filter(meant));
            all.extend(table::cells(piece.text).into_iter().map(Keyed::from).filter(meant));
            all.sort_by_key(|keyed| keyed.range.start);
            for keyed in all {
                let own = Piece { focus: Some(keyed.range.clone()), ..piece.clone() };
                let (start, end) = (piece.at, row.end);
                found.push(Row { what: What::Value(keyed), own: vec![own], start, end, ..row.clone() });
            }
        }
    }
    found
}

/// Units and their dimensions.
const UNITS: &[(&str, &str)] = &[
    ("ns", "time"),
    ("us", "time"),
    ("ms", "time"),
    ("s", "time"),
    ("sec", "time"),
    ("secs", "time"),
    ("seconds", "time"),
    ("min", "time"),
    ("minutes", "time"),
    ("h", "time"),
    ("hours", "time"),
    ("days", "time"),
    ("b", "size"),
    ("bytes", "size"),
    ("kb", "size"),
    ("mb", "size"),
    ("gb", "size"),
    ("tb", "size"),
    ("kib", "size"),
    ("mib", "size"),
    ("gib", "size"),
    ("tib", "size"),
    ("rps", "rate"),
    ("qps", "rate"),
    ("hz", "rate"),
    ("bps", "rate"),
    ("mbps", "rate"),
    ("%", "share"),
    ("pct", "share"),
    ("percent", "share"),
    ("ratio", "share"),
    ("usd", "money"),
    ("eur", "money"),
    ("$", "money"),
    ("€", "money"),
];

/// The unit of a value and its dimension: behind the number, or the last part of the key.
pub(super) fn unit(key: &str, value: &str) -> Option<(String, &'static str)> {
    let numeric = value.chars().any(|c| c.is_ascii_digit());
    let behind =
        value.trim_start_matches(|c: char| c.is_ascii_digit() || "-+.,_ ".contains(c)).to_lowercase();
    let own = parts(key);
    let words = [Some(behind.as_str()), own.last().map(String::as_str)];
    let known = |word: &str| UNITS.iter().find(|(unit, _)| *unit == word);
    words
        .into_iter()
        .flatten()
        .find_map(known)
        .filter(|_| numeric)
        .map(|(unit, dimension)| ((*unit).to_owned(), *dimension))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        scan(text).into_iter().map(|keyed| (keyed.key, keyed.value)).collect()
    }

    #[test]
    fn keys_and_values_are_read_in_their_usual_spellings() {
        for (text, expected) in [
            (
                "p50_ms=88 p99_ms=412.7, errors=113",
                vec![("p50_ms", "88"), ("p99_ms", "412.7"), ("errors", "113")],
            ),
            ("max_conns = 61", vec![("max_conns", "61")]),
            (r#"{"port": 8434, "name": "a b"}"#, vec![("port", "8434"), ("name", "a b")]),
            ("region: eu-central-1.", vec![("region", "eu-central-1")]),
            ("DATABASE_URL=postgres://u:p@db:5432/x", vec![("DATABASE_URL", "postgres://u:p@db:5432/x")]),
            ("see https://a.b/c", vec![]),
            ("a == b, x =", vec![]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            assert_eq!(pairs(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_that_name_their_row_first_are_rows() {
        let text = "7d: recall 0.71\n30d: recall 0.94, precision 0.9\nnote: see below";
        let all: Vec<(String, String)> =
            labelled(text).into_iter().map(|keyed| (keyed.name(), keyed.value)).collect();
        let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            all,
            [own("recall (7d)", "0.71"), own("recall (30d)", "0.94"), own("precision (30d)", "0.9")]
        );
        assert_eq!(names("30d"), ["30d", "30-day", "30 days"]);
        assert_eq!(pairs("7d: recall 0.71"), []);
    }

    #[test]
    fn a_key_is_meant_by_whole_parts() {
        let keys = |name: &str| Keys::new(Some(&Value::word(name))).unwrap();
        assert!(keys("p99").mean("p99_ms"));
        assert!(!keys("p9").mean("p99_ms"));
        assert!(keys("database").mean("DATABASE_URL"));
        assert!(keys("maxConns").mean("max_conns"));
        assert!(!keys("conns_max").mean("max_conns"));
        assert!(keys("max_conns").mean("db.max_conns"));
    }

    #[test]
    fn units_come_from_the_value_or_the_key() {
        assert_eq!(unit("rss_mb", "1184"), Some(("mb".to_owned(), "size")));
        assert_eq!(unit("timeout", "75s"), Some(("s".to_owned(), "time")));
        assert_eq!(unit("name_mb", "abc"), None);
    }
}
