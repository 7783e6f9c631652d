//! The user's own words and standing rules: what of them is left.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::rules;

use super::rest::{Rest, shown};
use super::sides::{Part, Sides};
use super::text::stems;
use super::{Broken, Place, paste};
use crate::reading::ReadSpan;
use crate::transcript::Transcript;

/// What became of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Nothing like it is left.
    Lost,
    /// A good part of its words stand near one another: it may have been kept in other words.
    Reworded,
    /// It is left as it was.
    Kept,
}

/// A standing rule that does not stand any more as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostRule {
    /// The rule, as said.
    pub quote: String,
    /// Where it was said.
    pub place: Place,
    /// What became of it.
    pub fate: Fate,
    /// What was done against it afterwards.
    pub broken: Vec<Broken>,
}

/// A sentence of the user's that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostWords {
    /// The sentence.
    pub quote: String,
    /// Where it was said.
    pub place: Place,
}

/// The user's prose before a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct UserWords {
    /// The words the user had written.
    pub words: usize,
    /// Those in sentences of which nothing like them is left.
    pub lost_words: usize,
    /// Those sentences, the longest first.
    pub lost: Vec<LostWords>,
}

/// The share of a sentence's words that must stand near one another to count as the same thing in other words. It is
/// low on purpose: what may have been kept is not called lost.
const LIKE: usize = 50;

/// The same for sentences with fewer words than [`SHORT`] that say something.
const LIKE_SHORT: usize = 40;
const SHORT: usize = 8;

/// A sentence with this many words that say something may have been told in several others: then this share of them
/// must stand anywhere, in percent.
const LONG: usize = 12;
const COVERED: usize = 55;

/// Of a sentence with fewer words that say something, nobody can tell whether it was kept.
const STEMS_MIN: usize = 5;

fn fate(sentence: &str, rest: &Rest) -> Fate {
    if rest.holds(sentence) || rest.holds_words(sentence) {
        return Fate::Kept;
    }
    let stems = stems(sentence).len();
    let like = if stems < SHORT { LIKE_SHORT } else { LIKE };
    let reworded = rest.likeness(sentence) >= like
        || stems >= LONG && rest.covers(sentence) >= COVERED
        || is_begun(sentence, rest);
    if reworded { Fate::Reworded } else { Fate::Lost }
}

/// How many first words must stand in order for a sentence to have been quoted and cut short.
const BEGUN: usize = 5;

fn is_begun(sentence: &str, rest: &Rest) -> bool {
    let words: Vec<&str> = sentence.split_whitespace().take(BEGUN).collect();
    words.len() == BEGUN && rest.holds_words(&words.join(" "))
}

/// The sentences that the user has typed in a message, secrets hidden.
fn said(part: &Part<'_, '_>) -> Vec<String> {
    let own = part
        .blocks
        .iter()
        .filter(|block| block.block.speaker == Speaker::User && matches!(block.block.kind, BlockKind::Text));
    let texts = own.map(|block| shown(part.span, block));
    texts.flat_map(|text| sentences_of(&text)).collect()
}

fn sentences_of(text: &str) -> Vec<String> {
    paste::sentences(text).into_iter().filter_map(|range| text.get(range)).map(str::to_owned).collect()
}

/// A sentence that tells how something is does not say how it shall be: `the hook never writes`, `it only shows`, `no
/// longer called`, `tests to ensure that`, `I don't think`.
static TELLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\bruns?\s+only\s+when\b|\b(?:that|which|it|this|there|the\s+[\w -]{1,40}?|[\w`./]+)\s+(?:(?:is|are|was|were|has|have|had|can|does|do|did|currently|still|just)\s+)*(?:never|always|only)\s+\w+(?:s|ed)\b",
        r"|\bno\s+longer\b|\b(?:is|are|was|were|been|being|get|gets|got)\s+(?:\w+ly\s+)?(?:never|always|only|not\s+allowed)\b",
        r"|\b\w+(?:s|ing|ed|ion|ages|ure)\s+to\s+(?:ensure|make\s+sure|avoid)\b",
        r"|\b(?:i|we)\s+(?:\w+\s+)?(?:do\s+not|don['’]?t|never|always|only)\s+(?:think|know|see|understand|remember|believe|need|want\s+to\s+know|have|get|find|mind|like)\b",
        r"|\b(?:i|we)\s+(?:must|had\s+to)\s+have\b|\bcan\s+only\b|\bmust\s+(?:have|be\s+because)\b|\bnever\s+mind\b",
        r"|\bwhat\s+(?:are\s+you|is)\s+allowed\b|\bmay\s+not\s+be\s+(?:the|what|clear|enough)\b",
    ))
    .ok()
});

/// What is reserved or required without the words of a ban.
static DEMANDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\bonly\s+(?:ever\s+)?(?:use|edit|touch|change|run|write|work|commit|modify|deploy|read)\b",
        r"|\b(?:use|edit|touch|change|run|work\s+on|deploy)\s+\S+\s+only\b",
        r"|(?:^|[.;,]\s*|\b(?:please|and)\s+)wait\s+(?:for|until|till)\b|\bshould\s+(?:not|only|always|never)\b|\bshouldn['’]t\b|^\W*keep\s+(?:the|all|it|this|every)\b|^\W*stick\s+(?:to|with)\b",
    ))
    .ok()
});

/// Whether a sentence says what shall hold from now on.
pub(super) fn is_standing_rule(sentence: &str) -> bool {
    let asks = sentence.trim_end().ends_with(['?', '？']);
    let states =
        || rules::is_rule(sentence) || DEMANDS.as_ref().is_some_and(|demands| demands.is_match(sentence));
    !asks
        && !rules::find(sentence).is_empty()
        && states()
        && TELLS.as_ref().is_some_and(|tells| !tells.is_match(sentence))
}

/// What the user had said, message by message: what was sent until the boundary and is gone, and what only an earlier
/// summary had still told, word for word.
pub(super) struct Stated<'r, 'a> {
    gone: Vec<(&'r ReadSpan<'a>, Vec<String>)>,
    /// Of all that was still there before: rules and words.
    rules_before: usize,
    words_before: usize,
}

fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

impl<'r, 'a> Stated<'r, 'a> {
    pub(super) fn of(sides: &Sides<'r, 'a>, gone: &[Part<'r, 'a>]) -> Self {
        let mut stated = Self { gone: Vec::new(), rules_before: 0, words_before: 0 };
        if let Some(carried) = Rest::carried(sides) {
            for part in sides.older() {
                let mut own = said(&part);
                own.retain(|sentence| fate(sentence, &carried) == Fate::Kept);
                stated.note(&own);
                stated.gone.push((part.span, own));
            }
        }
        for part in sides.sent_before() {
            stated.note(&said(&part));
        }
        stated.gone.extend(gone.iter().map(|part| (part.span, said(part))));
        stated
    }

    fn note(&mut self, sentences: &[String]) {
        self.rules_before += sentences.iter().filter(|own| is_standing_rule(own)).count();
        self.words_before += sentences.iter().map(|own| count(own)).sum::<usize>();
    }

    fn sentences(&self) -> impl Iterator<Item = (&'r ReadSpan<'a>, &String)> {
        self.gone.iter().flat_map(|(span, own)| own.iter().map(move |sentence| (*span, sentence)))
    }
}

/// The rules that are not there any more as they were said, and the number of those there were.
pub(super) fn rules(transcript: &Transcript, stated: &Stated<'_, '_>, rest: &Rest) -> (Vec<LostRule>, usize) {
    let mut all: Vec<LostRule> = Vec::new();
    for (span, sentence) in stated.sentences().filter(|(_, own)| is_standing_rule(own)) {
        let fate = match fate(sentence, rest) {
            // The thing may be spoken of without what was said against it.
            Fate::Reworded if !rest.binds_like(sentence, LIKE) => Fate::Lost,
            fate => fate,
        };
        if fate != Fate::Kept && !all.iter().any(|rule| rule.quote == *sentence) {
            let place = Place::around(transcript, span, sentence);
            all.push(LostRule { quote: sentence.clone(), place, fate, broken: Vec::new() });
        }
    }
    (all, stated.rules_before)
}

/// What of the user's prose is left.
pub(super) fn user_words(transcript: &Transcript, stated: &Stated<'_, '_>, rest: &Rest) -> UserWords {
    let mut found = UserWords { words: stated.words_before, ..UserWords::default() };
    for (span, sentence) in stated.sentences() {
        if stems(sentence).len() >= STEMS_MIN && fate(sentence, rest) == Fate::Lost {
            found.lost_words += count(sentence);
            // Rules are listed as such.
            if !is_standing_rule(sentence) {
                let place = Place::around(transcript, span, sentence);
                found.lost.push(LostWords { quote: sentence.clone(), place });
            }
        }
    }
    found.lost.sort_by_key(|lost| std::cmp::Reverse(count(&lost.quote)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_is_no_rule() {
        for rule in [
            "Never push to main.",
            "make sure there's no redundant parts in there",
            "update CLAUDE.md but make sure that claude should ask before it runs the tests",
            "do not run the test suite every time",
            "You must not edit `src/tax.rs`.",
            "Only use the staging database.",
            "Wait until the export is done, I'll tell you.",
            "不要修改配置。",
        ] {
            assert!(is_standing_rule(rule), "{rule}");
        }
        for other in [
            "The stop hook currently never writes to stdout.",
            "It is no longer called from here.",
            "Non-Go languages to ensure the trivial patterns don't cause false negatives",
            "Session data is never condensed to the branch",
            "I don't think unit tests are the solution here.",
            "It can only go back the active branch.",
            "never mind",
            "This runs only when there's no REVIEW.md.",
        ] {
            assert!(!is_standing_rule(other), "{other}");
        }
    }
}
