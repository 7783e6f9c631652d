//! What became of a rule: later words of the user that lift or narrow it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::transcript::Speaker;

use super::row::{Piece, Row};
use crate::rules::kinds;

/// What became of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    Standing,
    Lifted,
    Narrowed,
}

impl Force {
    /// The word of `state:`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Standing => "in-force",
            Self::Lifted => "lifted",
            Self::Narrowed => "narrowed",
        }
    }
}

/// How a rule is taken back without an approval of something.
static LIFTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:no\s+longer\s+(?:applies|needed|necessary|in\s+force|forbidden)|(?:forget|ignore|drop|lift|scrap)\s+(?:the|that|my|this)|never\s*mind|(?:rule|ban|freeze)\s+is\s+(?:off|over|gone|lifted)|(?:lifted|allowed|fine|ok(?:ay)?)\s+(?:now|again)|may\s+now|can\s+now)\b",
    )
    .ok()
});

/// Words that keep a part of a rule when it is changed.
static PARTLY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:only|just|except|apart\s+from|this\s+once|one\s+time|stays?|remains?)\b").ok()
});

/// Words of sentences that are no object of a rule.
const EMPTY: &[&str] = &[
    "the",
    "and",
    "for",
    "not",
    "you",
    "are",
    "that",
    "this",
    "with",
    "can",
    "may",
    "now",
    "never",
    "must",
    "always",
    "any",
    "all",
    "but",
    "please",
    "from",
    "until",
    "unless",
    "without",
    "before",
    "after",
    "don",
    "does",
    "into",
    "files",
    "file",
    "anything",
    "everything",
    "under",
    "only",
    "just",
    "again",
    "okay",
    "fine",
    "free",
    "feel",
    "ahead",
    "rule",
    "approve",
    "allow",
    "allowed",
    "longer",
    "off",
    "limits",
    "touch",
    "edit",
    "change",
    "ask",
    "first",
    "make",
    "sure",
    "asking",
];

/// The objects of a rule: its paths, and the stems of its other words.
struct Objects<'t> {
    paths: Vec<&'t str>,
    words: BTreeSet<String>,
}

impl<'t> Objects<'t> {
    fn of(text: &'t str) -> Self {
        let tokens = || {
            text.split_whitespace()
                .map(|word| {
                    word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '.' | '~'))
                })
                .map(|word| word.trim_end_matches('.'))
        };
        let is_path = |word: &&str| {
            let named = |(stem, end): (&str, &str)| !stem.is_empty() && (1..=5).contains(&end.len());
            word.contains('/') || word.rsplit_once('.').is_some_and(named)
        };
        let lower = tokens().filter(|word| !is_path(word) && word.len() >= 3).map(str::to_lowercase);
        let words = lower.filter(|word| !EMPTY.contains(&word.as_str())).map(|word| {
            let cut = ["ing", "ed", "s"].iter().find_map(|end| word.strip_suffix(end));
            cut.filter(|stem| stem.len() >= 3).unwrap_or(&word).to_owned()
        });
        Self { paths: tokens().filter(is_path).collect(), words: words.collect() }
    }

    /// What a later change with the objects `other` does to a rule with these.
    fn changed_by(&self, other: &Self) -> Option<Force> {
        let inside = |inner: &str, outer: &str| {
            inner
                .trim_end_matches('/')
                .strip_prefix(outer.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let pairs = || self.paths.iter().flat_map(|own| other.paths.iter().map(move |new| (*own, *new)));
        if pairs().any(|(own, new)| inside(own, new)) {
            return Some(Force::Lifted);
        }
        if pairs().any(|(own, new)| inside(new, own)) {
            return Some(Force::Narrowed);
        }
        if !self.paths.is_empty() && !other.paths.is_empty() {
            return None;
        }
        let shared = self.words.intersection(&other.words).count();
        match shared {
            0 => None,
            n if n == self.words.len() => Some(Force::Lifted),
            n if n >= 2 || self.words.len() <= 2 => Some(Force::Narrowed),
            _ => None,
        }
    }
}

/// Whether a sentence gives leave, or takes a rule back.
fn gives(text: &str) -> bool {
    let lifts = LIFTS.as_ref().is_some_and(|regex| regex.is_match(text));
    let kinds = kinds(text);
    lifts || (kinds.contains(&"approval") && !kinds.contains(&"ban"))
}

/// What later rules of the user did to that of `row`, and the one that did it last.
///
/// Rules that `counts` refuses lie behind the place that is asked about.
pub(super) fn force<'r, 's>(
    row: &Row<'s>,
    rules: &'r [Row<'s>],
    counts: impl Fn(&Row<'s>) -> bool,
) -> (Force, Option<&'r Row<'s>>) {
    let Some(text) = row.own.first().map(Piece::focused) else { return (Force::Standing, None) };
    let objects = Objects::of(text);
    let gave = gives(text);
    let mut now = (Force::Standing, None);
    for later in rules.iter().filter(|later| is_later(later, row)) {
        let Some(own) = later.own.first().map(Piece::focused) else { continue };
        if later.speaker() != Some(Speaker::User) || gives(own) == gave || !counts(later) {
            continue;
        }
        let partly = PARTLY.as_ref().is_some_and(|regex| regex.is_match(own));
        match objects.changed_by(&Objects::of(own)) {
            Some(Force::Lifted) if partly => now = (Force::Narrowed, Some(later)),
            Some(force) => now = (force, Some(later)),
            None => {}
        }
    }
    now
}

fn is_later(later: &Row<'_>, row: &Row<'_>) -> bool {
    let place = |row: &Row<'_>| {
        (row.start, row.own.first().and_then(|piece| piece.focus.as_ref().map(|focus| focus.start)))
    };
    later.source == row.source && place(later) > place(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_leave_lifts_or_narrows_a_rule_on_the_same_object() {
        let force = |rule: &str, later: &str| {
            assert!(gives(later) != gives(rule), "{later}");
            Objects::of(rule).changed_by(&Objects::of(later))
        };
        assert_eq!(force("Do not touch billing/.", "You can edit billing/tax.rs."), Some(Force::Narrowed));
        assert_eq!(force("Do not touch billing/tax.rs.", "You may edit billing/ now."), Some(Force::Lifted));
        assert_eq!(force("Never push to main.", "You can now push to main."), Some(Force::Lifted));
        assert_eq!(force("Never push to main.", "You may restart the server."), None);
        assert_eq!(force("Do not touch billing/.", "You can edit src/a.rs."), None);
    }
}
