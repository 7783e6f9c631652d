//! Which holes could hide a match of a question.

use strongroom_core::range::ByteRange;
use strongroom_core::transcript::RecordKind;

use super::facet::{agent_of, session_of};
use super::matching::Compiled;
use super::position::{Positions, Window};
use super::row::{Row, What};
use super::truth::Truth;
use crate::query::{Field, Noun, Sign};
use crate::session::{Hole, HoleKind, Scope};

/// For each kind of hole: the nouns it could hide a match of.
const HIDES: &[(HoleKind, &[Noun])] = &[
    (HoleKind::Unreadable, EVERYTHING),
    (HoleKind::Cut, OF_RESULTS),
    (HoleKind::NotRetrievable, OF_RESULTS),
    (HoleKind::HashDiffers, OF_RESULTS),
    (HoleKind::ForeignSummary, ORIGINALS),
    (HoleKind::OriginalGone, ORIGINALS),
    (HoleKind::NoResult, OF_RESULTS),
    (HoleKind::NoCall, ACTS),
    (HoleKind::MissingChild, ORIGINALS),
    (HoleKind::PromptsOnly, ORIGINALS),
];

const EVERYTHING: &[Noun] = Noun::ALL;

/// What stands in texts of results.
const OF_RESULTS: &[Noun] = &[Noun::Results, Noun::Literals, Noun::Values, Noun::Errors, Noun::Records];

/// What a call that is not there could have been.
const ACTS: &[Noun] = &[Noun::Calls, Noun::Effects, Noun::Changes, Noun::Files, Noun::Agents];

/// Everything that was once said and done; boundaries and records of this file are there.
const ORIGINALS: &[Noun] = &[
    Noun::Said,
    Noun::Calls,
    Noun::Results,
    Noun::Effects,
    Noun::Changes,
    Noun::Files,
    Noun::Literals,
    Noun::Values,
    Noun::Claims,
    Noun::Rules,
    Noun::Errors,
    Noun::Attachments,
    Noun::Agents,
    Noun::Messages,
];

/// The holes that could hide a match of `clause`, in order.
pub(super) fn blocking<'s>(
    scope: &'s Scope<'s>,
    clause: &Compiled<'_>,
    positions: &Positions<'s>,
) -> Vec<&'s Hole> {
    scope.holes.iter().filter(|hole| could_hide(scope, hole, clause, positions)).collect()
}

fn could_hide<'s>(
    scope: &'s Scope<'s>,
    hole: &'s Hole,
    clause: &Compiled<'_>,
    positions: &Positions<'s>,
) -> bool {
    let nouns = HIDES.iter().find(|(kind, _)| *kind == hole.kind).map_or(EVERYTHING, |(_, nouns)| *nouns);
    if !nouns.contains(&clause.clause.noun) || speaker_excludes(hole, clause) {
        return false;
    }
    match row_of(scope, hole) {
        Some(row) if is_bare(&row) => false,
        Some(row) => could_be(hole, &row, clause, positions),
        None => !agent_excludes(hole, clause),
    }
}

/// Names of fields, and kinds of parts, under which anything is said, called or returned.
const SPEAKING: &[&str] = &[
    "\"role\"",
    "\"content\"",
    "\"text\"",
    "\"message\"",
    "\"function\"",
    "\"arguments\"",
    "\"args\"",
    "\"input\"",
    "\"command\"",
    "\"output\"",
    "\"result\"",
    "tool_use",
    "tool_call",
    "toolCall",
    "function_call",
    "functionCall",
];

/// Whether a record of a kind that is not known is readable and has no field by which it could say or do anything;
/// `records` searches it.
fn is_bare(row: &Row<'_>) -> bool {
    let unknown = row.record().is_some_and(|record| record.kind == RecordKind::Unknown);
    let own = || {
        let blocks = row.view.spans.iter().flat_map(|examined| &examined.content.blocks);
        blocks.filter(|content| content.at.record == row.start.record)
    };
    let speaks = |text: &str| text.is_empty() || SPEAKING.iter().any(|name| text.contains(name));
    unknown && own().next().is_some() && !own().any(|content| speaks(&content.text))
}

/// What the user of the main session said lies in no child; a list of prompts holds all that the user said.
fn speaker_excludes(hole: &Hole, clause: &Compiled<'_>) -> bool {
    let only = |word: &str| {
        clause.terms.iter().any(|term| {
            term.field == Some(Field::By)
                && term.sign == Sign::Holds
                && term.atoms().all(|atom| atom.to_string() == word)
        })
    };
    let own_words = matches!(hole.kind, HoleKind::MissingChild | HoleKind::PromptsOnly);
    own_words && only("user") && matches!(clause.clause.noun, Noun::Said | Noun::Rules)
}

/// Whether the terms on the envelope, and of a result those on its call, leave room for a match.
fn could_be<'s>(hole: &Hole, row: &Row<'s>, clause: &Compiled<'_>, positions: &Positions<'s>) -> bool {
    let envelope: &[Field] = match hole.kind {
        HoleKind::MissingChild => &[Field::Session],
        HoleKind::Unreadable => &[Field::Session, Field::At, Field::To, Field::From],
        HoleKind::ForeignSummary | HoleKind::OriginalGone | HoleKind::PromptsOnly => {
            &[Field::Session, Field::From]
        }
        HoleKind::Cut
        | HoleKind::NotRetrievable
        | HoleKind::HashDiffers
        | HoleKind::NoResult
        | HoleKind::NoCall => &[Field::Session, Field::Agent, Field::At, Field::To, Field::From],
    };
    let fits = |field: Field, term: &super::matching::Compact| match field {
        Field::At | Field::From | Field::To => Truth::any(term.atoms().map(|atom| {
            let window = Window::read(field, atom);
            // The records of a lost original have numbers of their own.
            let lost = hole.kind == HoleKind::OriginalGone;
            let window = window.filter(|window| !(lost && window.is_at_record()));
            window.map_or(Truth::Maybe, |window| positions.test(&window, row))
        })),
        Field::Session => term.meets_whole(Some(session_of(row.view, row.start.record))),
        _ => term.meets_whole(agent_of(row.view, row.start.record)),
    };
    let placed = clause.terms.iter().all(|term| match term.field {
        Some(field) if envelope.contains(&field) => {
            let truth = fits(field, term);
            (if term.sign == Sign::Negated { truth.not() } else { truth }) != Truth::No
        }
        _ => true,
    });
    let child = hole.kind == HoleKind::MissingChild && agent_excludes(hole, clause);
    placed && !child && call_fits(hole, row, clause, positions)
}

/// A result that is cut or missing can match only where its call meets the terms on calls.
fn call_fits<'s>(hole: &Hole, row: &Row<'s>, clause: &Compiled<'_>, positions: &Positions<'s>) -> bool {
    let of_result = matches!(
        hole.kind,
        HoleKind::Cut | HoleKind::NotRetrievable | HoleKind::HashDiffers | HoleKind::NoResult
    );
    !of_result || row.span.is_none() || clause.test_call(row, positions) != Truth::No
}

/// Whether the question is about the main agent alone, so that a child hides nothing.
fn agent_excludes(hole: &Hole, clause: &Compiled<'_>) -> bool {
    hole.kind == HoleKind::MissingChild
        && clause.terms.iter().any(|term| {
            term.field == Some(Field::Agent)
                && term.sign == Sign::Negated
                && term.atoms().any(|atom| atom.to_string() == "*")
        })
}

/// The row whose place a hole has: its event where one covers it, else its record.
fn row_of<'s>(scope: &'s Scope<'s>, hole: &Hole) -> Option<Row<'s>> {
    let (source, view) = scope.sources.iter().enumerate().find(|(_, view)| view.source == hole.source)?;
    let covers = |range: ByteRange| range.contains(hole.range) || range.overlaps(hole.range);
    let record = view.index.records.iter().zip(0u32..).find(|(record, _)| covers(record.range));
    let record = record.map(|(_, n)| n).or_else(|| {
        let line = hole.line?;
        view.index.records.iter().zip(0u32..).find(|(record, _)| record.line == Some(line)).map(|(_, n)| n)
    })?;
    let span = view.spans.iter().position(|examined| {
        let blocks = &examined.content.blocks;
        blocks.iter().any(|content| content.at.record == record && covers(content.block.range))
    });
    let row = Row::of_record(view, source, record, What::Record)?;
    Some(Row { span, own: Vec::new(), ..row })
}
