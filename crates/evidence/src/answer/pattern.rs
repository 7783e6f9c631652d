//! Matching of one alternative of a value against text.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::query::{Atom, QueryError};

/// An expression that stands in a table of the program.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct TableRegex(pub(super) Regex);

impl TryFrom<String> for TableRegex {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, regex::Error> {
        Regex::new(&text).map(Self)
    }
}

/// Letters of scripts that are written without spaces: a word may begin or end beside them.
const UNSPACED: &str = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}";

/// Which characters hold a token together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tokens {
    /// Letters and digits.
    Plain,
    /// Letters, digits, and the joints of a compound word: `force-push` is one token.
    Compound,
}

/// A compiled alternative.
#[derive(Debug)]
pub(super) enum Pattern {
    /// Whole tokens without regard to case; the match is the first group of the second expression. The first
    /// one is a fast necessary condition.
    Token(Regex, Regex),
    /// One exact byte sequence.
    Exact(String),
    /// A regular expression as written.
    Written(Regex),
    /// Numbers between two ends.
    Between(Option<f64>, Option<f64>),
}

impl Pattern {
    pub(super) fn new(atom: &Atom, tokens: Tokens) -> Result<Self, QueryError> {
        match atom {
            Atom::Word(text) => token(text, &regex::escape(text), tokens),
            Atom::Glob(text) => token(text, &glob(text), tokens),
            Atom::Quoted(text) => Ok(Self::Exact(text.clone())),
            Atom::Regex(text) => compile(text).map(Self::Written),
            Atom::Range(from, to) => {
                Ok(Self::Between(from.as_deref().and_then(number), to.as_deref().and_then(number)))
            }
        }
    }

    /// The first match in `text` that begins at or behind `from`.
    pub(super) fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        match self {
            Self::Token(quick, exact) => {
                quick.find_at(text, from)?;
                exact.captures_at(text, from)?.get(1).map(|found| found.range())
            }
            Self::Exact(exact) => rest.find(exact.as_str()).map(|at| from + at..from + at + exact.len()),
            Self::Written(regex) => regex.find_at(text, from).map(|found| found.range()),
            Self::Between(..) => {
                numbers(text, from).find(|(_, n)| self.holds_number(*n)).map(|(range, _)| range)
            }
        }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.find_at(text, 0).is_some()
    }

    /// All matches in `text`, at most `limit`.
    pub(super) fn find_all(&self, text: &str, limit: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(range) = self.find_at(text, from) {
            // A match at a token's end may share its boundary with the next one.
            from = range.end.max(
                range.start
                    + text.get(range.start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8),
            );
            found.push(range);
            if found.len() == limit {
                break;
            }
        }
        found
    }

    fn holds_number(&self, n: f64) -> bool {
        match self {
            Self::Between(from, to) => from.is_none_or(|from| n >= from) && to.is_none_or(|to| n <= to),
            Self::Token(..) | Self::Exact(_) | Self::Written(_) => false,
        }
    }
}

/// A whole word of a closed set or a name, without regard to case.
pub(super) fn whole(atom: &Atom) -> Result<Regex, QueryError> {
    let body = match atom {
        Atom::Word(text) => regex::escape(text),
        Atom::Glob(text) => glob(text).replace(r"\S*", ".*"),
        Atom::Quoted(text) => format!("(?-i:{})", regex::escape(text)),
        Atom::Regex(text) => format!("(?-i:.*(?:{text}).*)"),
        Atom::Range(..) => regex::escape(&atom.to_string()),
    };
    compile(&format!("(?is)^(?:{body})$"))
}

/// A folder that is named itself, and not only as the beginning of a longer path.
pub(super) fn folder(text: &str) -> Result<Regex, QueryError> {
    let body = regex::escape(text);
    compile(&format!(
        r"(?i)(?:^|[^\p{{L}}\p{{N}}_/-]){body}(?:/(?:$|[^\p{{L}}\p{{N}}_.-]|\.(?:$|\s))|$|[^\p{{L}}\p{{N}}_/.-]|\.(?:$|\s))"
    ))
}

fn compile(text: &str) -> Result<Regex, QueryError> {
    let failed =
        |error: regex::Error| QueryError::new(format!("the pattern {text} cannot be compiled: {error}"), 0);
    RegexBuilder::new(text).size_limit(1 << 22).build().map_err(failed)
}

fn glob(text: &str) -> String {
    regex::escape(text).replace(r"\*", r"\S*").replace(r"\?", r"\S")
}

fn token(text: &str, body: &str, tokens: Tokens) -> Result<Pattern, QueryError> {
    let edge = |c: Option<char>, anchor: &str| match c {
        Some(c) if c.is_alphanumeric() && !is_unspaced(c) => {
            let joined = match tokens {
                Tokens::Plain => r"\p{L}\p{N}",
                Tokens::Compound => r"\p{L}\p{N}_-",
            };
            format!("(?:{anchor}|[[^{joined}]{UNSPACED}])")
        }
        _ => String::new(),
    };
    let (before, after) = (edge(text.chars().next(), "^"), edge(text.chars().next_back(), "$"));
    let quick = compile(&format!("(?i){body}"))?;
    Ok(Pattern::Token(quick, compile(&format!("(?i){before}({body}){after}"))?))
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3005..=0x30FF | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// A number as people write it: grouped by commas or underscores, with a unit behind it.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(digits.len());
    digits.get(..end)?.trim_end_matches('.').parse().ok()
}

fn numbers(text: &str, from: usize) -> impl Iterator<Item = (Range<usize>, f64)> {
    let mut at = from;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(|c: char| c.is_ascii_digit())?;
        let len = text.get(start..)?.find(|c: char| !(c.is_ascii_digit() || ".,_".contains(c)));
        let end = len.map_or(text.len(), |len| start + len);
        at = end;
        Some((start..end, number(text.get(start..end)?).unwrap_or(f64::NAN)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(atom: &Atom, text: &str) -> bool {
        Pattern::new(atom, Tokens::Plain).unwrap().is_in(text)
    }

    fn word(word: &str, text: &str) -> bool {
        is_in(&Atom::Word(word.to_owned()), text)
    }

    #[test]
    fn words_are_whole_tokens_without_case() {
        assert!(word("push", "Shall I PUSH?"));
        assert!(!word("push", "it was pushed"));
        assert!(word("push", "a force-push"));
        assert!(word("push", "pushed, then push"));
        assert!(word("conns", "max_conns=61"));
        assert!(word("billing/", "edit billing/tax.rs"));
        assert!(!word("billing/", "rebilling/x"));
        assert!(word("--no-verify", "git commit --no-verify -m x"));
        assert!(!word("OPS-2", "OPS-21 OPS-2a"));
        assert!(word("ops-2", "(OPS-2)"));
        assert!(!word("7443", "17443"));
    }

    #[test]
    fn scripts_without_spaces_match_anywhere() {
        assert!(word("迁移脚本", "只能在测试环境运行迁移脚本吗"));
        assert!(word("test", "运行test脚本"));
        assert!(!word("test", "运行tests脚本"));
    }

    #[test]
    fn globs_quotes_and_ranges() {
        let glob = |text: &str| Atom::Glob(text.to_owned());
        assert!(is_in(&glob("push*"), "it was pushed"));
        assert!(!is_in(&glob("push*"), "no repush"));
        assert!(is_in(&glob("*v1.8.0*"), "origin refs/tags/v1.8.0"));
        assert!(!is_in(&glob("v1?8"), "v1.80"));
        assert!(is_in(&Atom::Quoted("Go Ahead".to_owned()), "so: Go Ahead."));
        assert!(!is_in(&Atom::Quoted("Go Ahead".to_owned()), "go ahead"));
        assert!(is_in(&Atom::Range(Some("1,000".to_owned()), None), "4,113,020 bytes"));
        assert!(!is_in(&Atom::Range(None, Some("5".to_owned())), "6 of 7"));
    }

    #[test]
    fn all_matches_are_found_once() {
        let pattern = Pattern::new(&Atom::Word("a".to_owned()), Tokens::Plain).unwrap();
        assert_eq!(pattern.find_all("a a,a ab a", 10), [0..1, 2..3, 4..5, 9..10]);
        assert_eq!(pattern.find_all("a a a", 2).len(), 2);
    }
}
