//! The matches of a clause: definite ones, possible ones, and those shown to have come to nothing.

use strongroom_core::evidence::{AtomKind, Certainty};

use super::hole;
use super::matching::{Compiled, Leave};
use super::position::{Lie, Positions};
use super::row::{self, Breadth, Row, What};
use super::secret::fingerprint;
use super::truth::Truth;
use super::values::{self, Keys};
use super::{Options, agents, possible};
use crate::effect::Outcome;
use crate::query::{Clause, Field, Form, Noun, Ordering, Pick, QueryError, Relation, Sign, Value};
use crate::session::{Hole, Scope};

/// What was found for a clause.
#[derive(Debug, Default)]
pub(super) struct Found<'s> {
    /// Definite, and done where that matters.
    pub(super) yes: Vec<Row<'s>>,
    /// Rows that may be matches.
    pub(super) maybe: Vec<Row<'s>>,
    /// Attempts shown to have failed, been refused, or left nothing.
    pub(super) negative: Vec<Row<'s>>,
    /// Holes that could hide a match.
    pub(super) holes: Vec<&'s Hole>,
}

/// The rows that a noun selects.
pub(super) fn candidates<'s>(
    scope: &'s Scope<'s>,
    clause: &Clause,
    options: &Options<'_>,
) -> Result<Vec<Row<'s>>, QueryError> {
    Ok(match clause.noun {
        Noun::Said => said(scope, clause),
        Noun::Calls => row::calls(scope),
        Noun::Results => row::results(scope),
        Noun::Effects => row::effects(scope),
        Noun::Changes => changes(scope, clause, options),
        Noun::Files => row::files(scope),
        Noun::Literals => fingerprinted(row::literals(scope), options),
        Noun::Values => values::rows(scope, &Keys::new(clause.name.as_ref())?),
        Noun::Claims => super::claim::rows(scope),
        Noun::Rules => row::rules(scope, breadth(clause)),
        Noun::Errors => row::errors(scope),
        Noun::Compactions => row::compactions(scope),
        Noun::Attachments => row::attachments(scope),
        Noun::Agents => agents::rows(scope),
        Noun::Sessions => row::sessions(scope),
        Noun::Records => row::records(scope),
        Noun::Messages => row::messages(scope),
        Noun::Usage => row::usage(scope, clause.name.as_ref().and_then(Value::single).unwrap_or("context")),
    })
}

/// A question about something is answered from all that may rule it; the list of all rules holds those that do.
fn breadth(clause: &Clause) -> Breadth {
    let about = clause.terms.iter().any(|term| matches!(term.field, None | Some(Field::About)));
    if about { Breadth::Possible } else { Breadth::Stated }
}

/// Thinking is searched only where it is asked for.
fn said<'s>(scope: &'s Scope<'s>, clause: &Clause) -> Vec<Row<'s>> {
    let thinking = clause.terms.iter().any(|term| term.field == Some(Field::In));
    let mut rows = row::said(scope);
    rows.retain(|row| thinking || matches!(row.what, What::Said));
    rows
}

fn changes<'s>(scope: &'s Scope<'s>, clause: &Clause, options: &Options<'_>) -> Vec<Row<'s>> {
    let mut rows = row::effects(scope);
    let union = clause.name.as_ref().and_then(Value::single).and_then(crate::unions::named);
    if union.is_some_and(|union| union.secret_literals) {
        rows.extend(fingerprinted(row::secrets(scope), options));
    }
    rows
}

/// Names secrets by their fingerprints.
fn fingerprinted<'s>(mut rows: Vec<Row<'s>>, options: &Options<'_>) -> Vec<Row<'s>> {
    for row in &mut rows {
        if let (What::Literal(AtomKind::Secret, norm), Some(piece)) = (&mut row.what, row.own.first()) {
            *norm = fingerprint(piece.focused(), options);
        }
    }
    rows
}

/// How far a row that meets the clause shows that it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    Open,
    Nothing,
}

/// What is asked of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Whether it was done: a refused one was not.
    Done,
    /// Which were requested, refused ones included.
    Requests,
}

impl Asks {
    /// What a form asks; an order without a form asks for requests.
    pub(super) fn of(form: Option<Form>) -> Self {
        if form == Some(Form::Ever) { Self::Done } else { Self::Requests }
    }
}

fn standing(row: &Row<'_>, clause: &Compiled<'_>, what: Asks) -> Standing {
    let asks =
        |field: Field| clause.terms.iter().any(|term| term.field == Some(field) && term.sign == Sign::Holds);
    if let Some(effect) = row.effect() {
        let certain = effect.certainty == Certainty::Definite || asks(Field::Certainty);
        let outcome = if asks(Field::Outcome) { Outcome::Ok } else { effect.outcome };
        let probe = asks(Field::Op) && effect.kind.is_under("fs.read");
        return match (certain, outcome) {
            (true, _) if probe => Standing::Done,
            (true, outcome) if outcome.is_positive() => Standing::Done,
            // A run that failed may have done a part of what is not known of it.
            (_, Outcome::Failed) if possible::is_opaque(effect) => Standing::Open,
            (_, outcome) if outcome.is_negative() => Standing::Nothing,
            _ => Standing::Open,
        };
    }
    match (&row.what, row.outcome()) {
        // A refused call was asked for and did not run.
        (What::Call, Some(Outcome::Refused)) if what == Asks::Done && !asks(Field::Outcome) => {
            Standing::Nothing
        }
        _ => Standing::Done,
    }
}

/// Everything about the rows and holes of one clause.
pub(super) fn find<'s>(
    scope: &'s Scope<'s>,
    clause: &Compiled<'_>,
    positions: &Positions<'s>,
    options: &Options<'_>,
    what: Asks,
) -> Result<Found<'s>, QueryError> {
    let mut found = Found { holes: hole::blocking(scope, clause, positions), ..Found::default() };
    let asked =
        clause.terms.iter().any(|term| term.field == Some(Field::Outcome) && term.sign == Sign::Holds);
    for row in candidates(scope, clause.clause, options)? {
        let truth = clause.test(&row, positions, Leave::Nothing);
        match (truth, standing(&row, clause, what)) {
            (Truth::No, _) if asked && was_attempt(&row, clause, positions) => found.negative.push(row),
            (Truth::No, _) | (Truth::Maybe, Standing::Nothing) => {}
            (Truth::Yes, Standing::Done) => found.yes.push(row),
            (Truth::Yes, Standing::Nothing) => found.negative.push(row),
            (Truth::Maybe, _) | (Truth::Yes, Standing::Open) => found.maybe.push(row),
        }
    }
    if clause.clause.noun == Noun::Results {
        found.maybe.extend(unanswered(scope, clause, positions));
    }
    Ok(found)
}

/// A call that meets everything but the outcome that is asked for, and whose outcome is known.
fn was_attempt<'s>(row: &Row<'s>, clause: &Compiled<'_>, positions: &Positions<'s>) -> bool {
    let known = row.outcome().is_some_and(|outcome| outcome != Outcome::Unknown);
    known && clause.clause.noun.is_act() && clause.test(row, positions, Leave::Outcome) == Truth::Yes
}

/// Calls without result that the terms on calls do not exclude.
fn unanswered<'s>(scope: &'s Scope<'s>, clause: &Compiled<'_>, positions: &Positions<'s>) -> Vec<Row<'s>> {
    let mut rows = row::calls(scope);
    rows.retain(|row| {
        let open = row.examined().is_some_and(|examined| examined.content.span.open)
            && row.results().next().is_none();
        // A hole that names the call already speaks for it.
        let named = scope.holes.iter().any(|hole| {
            hole.source == row.view.source && hole.line == row.record().and_then(|record| record.line)
        });
        open && !named && clause.test_call(row, positions) != Truth::No
    });
    rows
}

/// Keeps the rows on the asked side of the picked match of the second clause. Rows that are unordered to it are
/// no definite matches.
pub(super) fn keep_ordered<'s>(
    found: &mut Found<'s>,
    order: &Ordering,
    second: &Row<'s>,
    positions: &Positions<'s>,
) {
    let wanted = match order.relation {
        Relation::Before => Lie::Before,
        Relation::After => Lie::After,
    };
    let mut unordered = Vec::new();
    found.yes.retain(|row| match positions.lie(row, second) {
        lie if lie.is_open() => {
            unordered.push(row.clone());
            false
        }
        lie => lie == wanted,
    });
    for rows in [&mut found.maybe, &mut found.negative] {
        rows.retain(|row| {
            let lie = positions.lie(row, second);
            lie.is_open() || lie == wanted
        });
    }
    found.maybe.extend(unordered);
}

/// The match of a second clause that counts.
pub(super) fn picked<'f, 's>(found: &'f Found<'s>, pick: Option<Pick>) -> Option<&'f Row<'s>> {
    match pick.unwrap_or(Pick::First) {
        Pick::First => found.yes.first(),
        Pick::Last => found.yes.last(),
    }
}

/// Whether an opaque run is among the possible matches of acts.
pub(super) fn is_opaque(row: &Row<'_>) -> bool {
    row.effect().is_some_and(possible::is_opaque)
}
