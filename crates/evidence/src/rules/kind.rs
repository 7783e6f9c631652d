//! What kind of rule a sentence states, by its cues.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::transcript::Speaker;

use super::row::{Piece, Row};

/// Cues of each kind; a sentence may be of several.
const CUES: &[(&str, &str)] = &[
    (
        "ban",
        r"(?i)\b(?:never|must\s+not|mustn['’]?t|may\s+not|no\s+longer|off[\s-]limits|forbidden|not\s+allowed|stay\s+away|hands\s+off|leave\s+\S+\s+alone|avoid)\b|(?:^|[^\w\s]\s*|\b(?:and|but|please|so|then|also|just)\s+)(?:do\s+not|don['’]?t)\b|不要|不能|不得|禁止|只能|勿|しないで|禁止|するな|nicht\b|niemals|jamais|nunca",
    ),
    (
        "duty",
        r"(?i)\b(?:always|must|make\s+sure|ensure|be\s+sure\s+to|required?\s+to)\b|必须|一定要|務必|必ず",
    ),
    (
        "gate",
        r"(?i)\b(?:unless|without\s+asking|ask\s+(?:me|us|first)|before\s+you|wait\s+for|only\s+(?:after|when|if|with)|check\s+with\s+me|confirm\s+with)\b|先问|先确认",
    ),
    (
        "approval",
        r"(?i)\b(?:go\s+ahead|you\s+(?:can|may)|approved?|approves|i\s+(?:allow|permit|authori[sz]e|agree)|feel\s+free|you\s+are\s+(?:allowed|free)|permission\s+to|ok(?:ay)?\s+to|fine\s+to)\b|可以|批准|同意",
    ),
];

static COMPILED: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let read = |(kind, cues): &(&'static str, &str)| Regex::new(cues).ok().map(|regex| (*kind, regex));
    CUES.iter().filter_map(read).collect()
});

/// The kinds of rule whose cues stand in `sentence`.
pub fn kinds(sentence: &str) -> Vec<&'static str> {
    COMPILED.iter().filter(|(_, regex)| regex.is_match(sentence)).map(|(kind, _)| *kind).collect()
}

/// Whether a sentence states a rule: it holds a cue and is no question.
pub fn is_rule(sentence: &str) -> bool {
    !sentence.trim_end().ends_with(['?', '？']) && !kinds(sentence).is_empty()
}

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
    fn all_cues_compile_and_kinds_are_told_apart() {
        assert_eq!(COMPILED.len(), CUES.len());
        assert_eq!(kinds("Never push to main"), ["ban"]);
        assert!(kinds("ask me before you run any migration").contains(&"gate"));
        assert!(kinds("you can edit billing/tax.rs only").contains(&"approval"));
        assert!(kinds("The rest of billing/ stays off limits.").contains(&"ban"));
        assert!(kinds("I approve deleting the folder").contains(&"approval"));
        assert!(kinds("Always run the linter").contains(&"duty"));
        assert!(kinds("只能在测试环境运行").contains(&"ban"));
    }

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

    #[test]
    fn questions_and_plain_statements_are_no_rules() {
        assert!(!is_rule("Shall I go ahead?"));
        assert!(!is_rule("The port is 8080"));
    }
}
