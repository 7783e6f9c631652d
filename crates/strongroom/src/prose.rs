//! Prose by somebody else: what a summariser is asked, and the proof of each sentence that it gives back.
//!
//! ```text
//! spans that go --request--> summariser --draft--> sentences --judge--> told lines, each with its proofs | struck, with the reason
//! ```
//!
//! Which spans go was decided before, and everything that a summary has without prose it has with it too. A draft
//! that fails as a whole costs nothing but its room.

mod words;

mod sentence;

mod request;

mod ground;

mod numbers;

mod manner;

mod judge;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use strongroom_core::summary::{Line, Literal};

use crate::consent::Turn;
use crate::summarise::{Reclaimed, Texts, told};
use crate::summariser::Summariser;
use crate::tokens::{self, Tokens};

use ground::Ground;
pub use judge::Why;
use judge::{Proved, judge};
use sentence::{Piece, pieces};

/// A sentence of a draft that does not stand in the summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Struck {
    /// Why.
    pub why: Why,
    /// The sentence as it was written; its beginning, where it is very long.
    pub sentence: String,
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prose {
    /// Who wrote it.
    pub by: String,
    /// How many of its sentences stand in the summary.
    pub sentences: usize,
    /// The others.
    pub struck: Vec<Struck>,
    /// Why the summary has no prose, where it has none.
    pub failure: Option<String>,
}

impl Prose {
    fn failed(by: &str, struck: Vec<Struck>, failure: impl Into<String>) -> Self {
        Self { by: by.to_owned(), sentences: 0, struck, failure: Some(failure.into()) }
    }

    /// How many sentences were struck for each reason.
    pub fn reasons(&self) -> BTreeMap<Why, usize> {
        let mut all = BTreeMap::new();
        for struck in &self.struck {
            *all.entry(struck.why).or_default() += 1;
        }
        all
    }
}

/// What prose may be about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The spans that go.
    pub(crate) spans: &'a [Reclaimed<'a>],
    /// Their texts.
    pub(crate) texts: &'a Texts,
    /// Who said what in the whole conversation.
    pub(crate) turns: &'a [Turn],
    /// What the prose may cost.
    pub(crate) room: Tokens,
}

/// The least room in which a sentence can be said, in tokens.
const ROOM_MIN: Tokens = Tokens(40);

/// The longest draft that is read, in bytes, and the most of its parts.
const DRAFT_BYTES_MAX: usize = 64 << 10;
const PIECES_MAX: usize = 400;

/// Has prose written about a subject, and keeps what is proved.
pub(crate) fn write(by: &dyn Summariser, subject: Subject<'_>) -> (Vec<Line>, Prose) {
    let none = |failure: String| (Vec::new(), Prose::failed(by.name(), Vec::new(), failure));
    if subject.room < ROOM_MIN {
        return none("the budget leaves no room for it".to_owned());
    }
    // A word costs somewhat more than a token, with its share of the marks around it.
    let request = request::of(subject.spans, subject.texts, subject.room.0 * 3 / 5);
    if request.spans.is_empty() {
        return none("nothing that goes may be told".to_owned());
    }
    match by.draft(&request) {
        Ok(draft) => check(by.name(), &draft, subject),
        Err(error) => none(error.chain()),
    }
}

/// Proves the sentences of a draft.
fn check(by: &str, draft: &str, subject: Subject<'_>) -> (Vec<Line>, Prose) {
    let failed = |struck, why: &str| (Vec::new(), Prose::failed(by, struck, why));
    match () {
        () if draft.trim().is_empty() => return failed(Vec::new(), "the draft is empty"),
        () if draft.len() > DRAFT_BYTES_MAX => {
            return failed(Vec::new(), "the draft is longer than any prose that was asked for");
        }
        () if manner::is_refusal(draft) => return failed(Vec::new(), "the draft is a refusal"),
        () => {}
    }
    let (proved, struck) = judged(draft, subject);
    if proved.is_empty() {
        return failed(struck, "no sentence of the draft is borne out");
    }
    let prose = Prose { by: by.to_owned(), sentences: proved.len(), struck, failure: None };
    let sentence =
        |proved: Proved| -> (String, Vec<Literal>, Vec<u32>) { (proved.text, proved.proofs, proved.spans) };
    (told::lines(proved.into_iter().map(sentence).collect()), prose)
}

/// The sentences that stand, in order and while there is room, and those that do not.
fn judged(draft: &str, subject: Subject<'_>) -> (Vec<Proved>, Vec<Struck>) {
    let ground = Ground::of(subject.spans, subject.texts, subject.turns);
    let (mut stand, mut struck) = (Vec::new(), Vec::new());
    let mut known = BTreeSet::new();
    let mut left = subject.room.0.saturating_sub(HEADING.0);
    for (piece, at) in pieces(draft).into_iter().zip(0..) {
        let (text, verdict) = match piece {
            Piece::Mark(text) => (text, Err(Why::Imitation)),
            Piece::Sentence(text, _) if at >= PIECES_MAX => (text, Err(Why::TooLong)),
            Piece::Sentence(text, named) => {
                let verdict = judge(&ground, &text, &named);
                (text, verdict)
            }
        };
        if !known.insert(text.clone()) {
            continue;
        }
        let fits = |proved: Proved| {
            let cost = tokens::count(&proved.text).0 + SENTENCE.0;
            let rest = left.checked_sub(cost);
            rest.map(|rest| (proved, rest)).ok_or(Why::TooLong)
        };
        match verdict.and_then(fits) {
            Ok((proved, rest)) => {
                left = rest;
                stand.push(proved);
            }
            Err(why) => struck.push(Struck { why, sentence: beginning(&text) }),
        }
    }
    (stand, struck)
}

/// What the heading costs, and the marks around a sentence, in tokens.
const HEADING: Tokens = Tokens(28);
const SENTENCE: Tokens = Tokens(8);

/// How much of a struck sentence is reported, in bytes.
const REPORTED_BYTES: usize = 300;

fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(REPORTED_BYTES.min(text.len()));
    let own = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{own}…") } else { own.to_owned() }
}

#[cfg(test)]
mod tests;
