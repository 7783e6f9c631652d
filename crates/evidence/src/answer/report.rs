//! Reports: what an assistant or a summary says was done or given, where nothing shows it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{Block, Speaker};

use super::Citation;
use super::cite::Citer;
use super::matching::{Compiled, Leave};
use super::pattern::{Pattern, Tokens};
use super::position::Positions;
use super::row::{self, Piece, PieceOf, Row, What, sentences};
use super::truth::Truth;
use crate::atom::{Modality, Polarity};
use crate::query::{Atom, Field, Noun, Sign};
use crate::session::{HoleKind, Scope, SourceView, SummaryText};
use crate::unions;

/// A sentence that reports.
#[derive(Debug, Clone)]
pub(super) struct Report<'s> {
    row: Row<'s>,
    text: &'s str,
}

impl<'s> Report<'s> {
    /// The sentence.
    pub(super) fn text(&self) -> &'s str {
        self.text
    }

    pub(super) fn citations(&self, citer: &Citer<'_, 's>) -> Vec<Citation> {
        citer.row(&self.row)
    }
}

/// How consent and instruction are reported.
const GIVEN: &[&str] = &[
    "approved",
    "confirmed",
    "agreed",
    "allowed",
    "permitted",
    "authorised",
    "authorized",
    "forbade",
    "banned",
    "signed off",
];

/// Words that turn a sentence into a plan, an offer or a negation.
const UNDONE: &[&str] = &[
    "not",
    "never",
    "no",
    "will",
    "would",
    "could",
    "should",
    "shall",
    "may",
    "might",
    "can",
    "if",
    "going to",
    "next step",
    "plan",
    "let me",
    "i'll",
    "let's",
    "want to",
    "need to",
    "to be",
    "once",
    "before",
    "unless",
];

/// The reports that hold all words of `clause` and one of its verbs; only for questions about acts and rules.
pub(super) fn find<'s>(
    scope: &'s Scope<'s>,
    clause: &Compiled<'_>,
    positions: &Positions<'s>,
) -> Vec<Report<'s>> {
    if !matches!(clause.clause.noun, Noun::Calls | Noun::Effects | Noun::Changes | Noun::Rules) {
        return Vec::new();
    }
    let verbs: Vec<Pattern> = verbs(clause)
        .iter()
        .filter_map(|verb| Pattern::new(&Atom::Word(verb.clone()), Tokens::Plain).ok())
        .collect();
    let mut reports = claims(scope, clause, positions, &verbs);
    reports.extend(summaries(scope, clause, &verbs));
    reports
}

/// The verbs with which an act of the asked kinds is reported; none where any claim will do.
fn verbs(clause: &Compiled<'_>) -> Vec<String> {
    if clause.clause.noun == Noun::Rules {
        return GIVEN.iter().map(|verb| (*verb).to_owned()).collect();
    }
    if let Some(union) = clause.union {
        return union.reported.clone();
    }
    let asked: Vec<String> = clause
        .terms
        .iter()
        .filter(|term| term.field == Some(Field::Kind) && term.sign == Sign::Holds)
        .flat_map(|term| term.atoms().map(ToString::to_string))
        .collect();
    let under = |one: &str, other: &str| {
        one == other || one.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'))
    };
    let meant = |report: &&unions::Report| {
        report.kind.iter().any(|kind| asked.iter().any(|own| under(kind, own) || under(own, kind)))
    };
    unions::reports().iter().filter(meant).flat_map(|report| report.reported.clone()).collect()
}

/// Sentences of the assistant that claim something was done.
fn claims<'s>(
    scope: &'s Scope<'s>,
    clause: &Compiled<'_>,
    positions: &Positions<'s>,
    verbs: &[Pattern],
) -> Vec<Report<'s>> {
    let mut reports: Vec<Report<'s>> = Vec::new();
    for row in row::said(scope) {
        let claimed = matches!(row.what, What::Said) && row.speaker() == Some(Speaker::Assistant);
        if !claimed || !placed(clause, &row, positions) {
            continue;
        }
        let Some(piece) = row.own.first().cloned() else { continue };
        for range in sentences(piece.text) {
            let Some(text) = piece.text.get(range.clone()) else { continue };
            if speaks(clause, text, verbs) && is_claim(&row, &piece, &range, verbs) {
                let own = Piece { focus: Some(range), ..piece.clone() };
                reports.push(Report { row: Row { own: vec![own], ..row.clone() }, text });
            }
        }
    }
    reports
}

/// Whether the terms on the envelope leave room for a report at `row`.
fn placed<'s>(clause: &Compiled<'_>, row: &Row<'s>, positions: &Positions<'s>) -> bool {
    clause.test_envelope(row, positions, Leave::Speaker) != Truth::No
}

/// A claim atom that is positive and asserted; where the sentence holds a verb of the question, also a sentence
/// that is no question, plan or negation.
fn is_claim(row: &Row<'_>, piece: &Piece<'_>, range: &Range<usize>, verbs: &[Pattern]) -> bool {
    let atoms = row.examined().map(|examined| examined.examination.atoms.as_slice()).unwrap_or_default();
    let own = atoms.iter().filter(|(at, atom)| {
        *at == piece.at
            && atom.kind == AtomKind::Claim
            && atom.range.start < range.end
            && range.start < atom.range.end
    });
    let firm = own
        .clone()
        .any(|(_, atom)| atom.polarity == Polarity::Positive && atom.modality == Modality::Asserted);
    let text = piece.text.get(range.clone()).unwrap_or_default();
    (firm || !verbs.is_empty()) && is_done(text)
}

/// Whether a sentence states something as done.
pub(super) fn is_done(text: &str) -> bool {
    let asks = text.trim_end().ends_with(['?', '？']);
    !asks && !UNDONE_WORDS.as_ref().is_some_and(|regex| regex.is_match(text))
}

static UNDONE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words: Vec<String> = UNDONE.iter().map(|word| regex::escape(word)).collect();
    // `Nothing was pushed.` denies; `Pushed, nothing is left.` does not.
    let opens = r"^\W*(?:nothing|none|nobody|neither)\b";
    Regex::new(&format!(r"(?i)\b(?:{})\b|n['’]t\b|{opens}", words.join("|"))).ok()
});

fn speaks(clause: &Compiled<'_>, text: &str, verbs: &[Pattern]) -> bool {
    let words = clause.terms.iter().filter(|term| {
        term.sign == Sign::Holds
            && matches!(
                term.field,
                None | Some(Field::About | Field::Target | Field::Arg | Field::Cmd | Field::Env)
            )
    });
    let (mut all, mut any) = (true, false);
    for term in words {
        any = true;
        all = all && !term.find_all(text, 1).is_empty();
    }
    let verb = verbs.is_empty() || verbs.iter().any(|verb| verb.is_in(text));
    all && verb && (any || !verbs.is_empty())
}

pub(super) fn summary_row<'s>(
    view: &'s SourceView<'s>,
    summary: &'s SummaryText,
    block: &'s Block,
    range: Range<usize>,
) -> Row<'s> {
    let own =
        vec![Piece { at: summary.at, of: PieceOf::Text(block), text: &summary.text, focus: Some(range) }];
    let (start, end) = (summary.at, summary.at);
    Row { view, source: summary.source, span: None, start, end, what: What::Claim, own, half: Vec::new() }
}

/// Sentences of summaries; one whose originals are missing is quoted from its hole.
fn summaries<'s>(scope: &'s Scope<'s>, clause: &Compiled<'_>, verbs: &[Pattern]) -> Vec<Report<'s>> {
    let mut reports = Vec::new();
    for summary in scope.summaries.iter().filter(|summary| !is_hole(scope, summary)) {
        let Some(view) = scope.sources.get(summary.source) else { continue };
        let Some(block) = view.index.block(summary.at) else { continue };
        for range in sentences(&summary.text) {
            let Some(text) = summary.text.get(range.clone()) else { continue };
            if speaks(clause, text, verbs) && is_done(text) && !verbs.is_empty() {
                reports.push(Report { row: summary_row(view, summary, block, range), text });
            }
        }
    }
    reports
}

/// Sentences of summaries whose originals are missing that hold a word of the question: second-hand.
pub(super) fn second_hand<'s>(scope: &'s Scope<'s>, clause: &Compiled<'_>) -> Vec<Report<'s>> {
    let mut reports = Vec::new();
    for summary in scope.summaries.iter().filter(|summary| is_hole(scope, summary)) {
        let Some(view) = scope.sources.get(summary.source) else { continue };
        let Some(block) = view.index.block(summary.at) else { continue };
        for range in sentences(&summary.text) {
            let Some(text) = summary.text.get(range.clone()) else { continue };
            let verbs = clause.union.map(|union| union.reported.as_slice()).unwrap_or_default();
            let verb = verbs.iter().any(|verb| text.contains(verb.as_str()));
            if verb || clause.cited().any(|term| !term.find_all(text, 1).is_empty()) {
                reports.push(Report { row: summary_row(view, summary, block, range), text });
            }
        }
    }
    reports
}

/// Whether a summary stands for originals that are not there.
fn is_hole(scope: &Scope<'_>, summary: &SummaryText) -> bool {
    let Some(view) = scope.sources.get(summary.source) else { return false };
    let Some(record) = view.index.record(summary.at) else { return false };
    scope.holes.iter().any(|hole| {
        matches!(hole.kind, HoleKind::ForeignSummary | HoleKind::OriginalGone)
            && hole.source == view.source
            && (hole.range.overlaps(record.range) || hole.line == record.line)
    })
}

#[cfg(test)]
mod tests {
    use super::is_done;

    #[test]
    fn a_denial_reports_nothing() {
        for text in ["Nothing was pushed.", "- None of it was deployed.", "We haven't pushed.", "Did I push?"]
        {
            assert!(!is_done(text), "{text}");
        }
        for text in ["Pushed, nothing is left.", "I pushed it without trouble."] {
            assert!(is_done(text), "{text}");
        }
    }
}
