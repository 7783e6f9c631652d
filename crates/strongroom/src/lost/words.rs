//! The user's own words and standing rules: what of them is left.

use serde::Serialize;
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::{cues, rules};

use super::account::{Rest, content_words, shown};
use super::{Broken, Place};
use crate::reading::{ReadSpan, Reading};

/// What became of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Nothing like it is left.
    Lost,
    /// A sentence with most of its words is left.
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

/// The share of a sentence's words that another must hold to be the same thing in other words.
const LIKE: usize = 60;

fn fate(sentence: &str, rest: &Rest) -> Fate {
    if rest.holds(sentence) {
        Fate::Kept
    } else if rest.likeness(sentence) >= LIKE {
        Fate::Reworded
    } else {
        Fate::Lost
    }
}

/// The texts of the user in a span, secrets hidden.
fn user_prose(span: &ReadSpan<'_>) -> Vec<String> {
    let own = |block: &&BlockContent<'_>| {
        block.block.speaker == Speaker::User && matches!(block.block.kind, BlockKind::Text)
    };
    span.content.blocks.iter().filter(own).map(|block| shown(span, block)).collect()
}

fn rules_of(span: &ReadSpan<'_>) -> Vec<String> {
    let of_text = |text: &String| {
        let found = rules::find(text).into_iter().filter_map(|range| text.get(range));
        found.filter(|sentence| rules::is_rule(sentence)).map(str::to_owned).collect::<Vec<_>>()
    };
    user_prose(span).iter().flat_map(of_text).collect()
}

/// The number of standing rules the user had stated.
pub(super) fn count_rules(before: &Reading<'_>) -> usize {
    before.spans.iter().filter(|span| span.in_context()).map(|span| rules_of(span).len()).sum()
}

/// The rules that are not there any more as they were said.
pub(super) fn rules(before: &Reading<'_>, gone: &[&ReadSpan<'_>], rest: &Rest) -> Vec<LostRule> {
    let mut all: Vec<LostRule> = Vec::new();
    for span in gone {
        for sentence in rules_of(span) {
            let fate = fate(&sentence, rest);
            if fate != Fate::Kept && !all.iter().any(|rule| rule.quote == sentence) {
                let place = Place::of_span(before.transcript, span);
                all.push(LostRule { quote: sentence, place, fate, broken: Vec::new() });
            }
        }
    }
    all
}

/// What of the user's prose is left.
pub(super) fn user_words(before: &Reading<'_>, gone: &[&ReadSpan<'_>], rest: &Rest) -> UserWords {
    let count = |text: &str| text.split_whitespace().count();
    let sent = before.spans.iter().filter(|span| span.in_context());
    let words = sent.flat_map(|span| user_prose(span)).map(|text| count(&text)).sum();
    let mut found = UserWords { words, ..UserWords::default() };
    for span in gone {
        for text in user_prose(span) {
            for sentence in cues::sentences(&text).into_iter().filter_map(|range| text.get(range)) {
                if !content_words(sentence).is_empty() && fate(sentence, rest) == Fate::Lost {
                    found.lost_words += count(sentence);
                    let place = Place::of_span(before.transcript, span);
                    found.lost.push(LostWords { quote: sentence.to_owned(), place });
                }
            }
        }
    }
    found.lost.sort_by_key(|lost| std::cmp::Reverse(count(&lost.quote)));
    found
}
