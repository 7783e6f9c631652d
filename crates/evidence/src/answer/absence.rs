//! What an absence rests on: what was searched, what nearly matched, and the assumptions.

use std::collections::BTreeSet;

use strongroom_core::digest::Hasher;
use strongroom_core::transcript::Speaker;

use super::decide::Case;
use super::matching::Leave;
use super::row::{self, Row, What};
use super::select;
use super::truth::Truth;
use super::{Certificate, HoleCount, PassedOver, Searched, SourceCount, decide, facet, possible};
use crate::effect::{Assumption, Outcome};
use crate::query::{Field, Noun, QueryError, Sign};
use crate::session::Scope;

/// The most near misses that are cited.
const NEAR_MAX: usize = 10;

/// The numbers of a scope.
pub(super) fn searched(scope: &Scope<'_>) -> Searched {
    let sessions: BTreeSet<&str> = scope
        .sources
        .iter()
        .flat_map(|view| {
            view.index.records.iter().map(|record| record.session.as_deref().unwrap_or(&view.session))
        })
        .collect();
    let mut holes: Vec<HoleCount> = Vec::new();
    for hole in &scope.holes {
        let kind = hole.kind.words();
        match holes.iter_mut().find(|count| count.kind == kind) {
            Some(count) => count.count += 1,
            None => holes.push(HoleCount { kind: kind.to_owned(), count: 1 }),
        }
    }
    Searched {
        sessions: sessions.len(),
        records: scope.sources.iter().map(|view| view.index.records.len()).sum(),
        calls: calls(scope),
        blocking: Vec::new(),
        holes,
    }
}

fn calls(scope: &Scope<'_>) -> usize {
    scope.sources.iter().flat_map(|view| &view.spans).filter(|examined| row::is_call(examined)).count()
}

/// What was searched, with a digest over it.
pub(super) fn certificate(case: &Case<'_, '_>) -> Certificate {
    let scope = case.scope;
    let effects = || {
        scope.sources.iter().flat_map(|view| &view.spans).flat_map(|examined| &examined.examination.effects)
    };
    let sources: Vec<SourceCount> = scope
        .sources
        .iter()
        .enumerate()
        .map(|(at, view)| SourceCount {
            source: view.source.clone(),
            records: view.index.records.len(),
            bytes: view.index.len,
            root: case.options.raw.root(at),
        })
        .collect();
    let mut certificate = Certificate {
        digest: String::new(),
        reading: case.reading.clone(),
        assumptions: assumptions(case),
        sources,
        calls: calls(scope),
        effects: effects().count(),
        opaque: effects().filter(|effect| possible::is_opaque(effect)).count(),
        holes: 0,
    };
    let mut hasher = Hasher::new("strongroom/absence/1");
    hasher.part(case.reading.as_bytes());
    for source in &certificate.sources {
        hasher.part(source.source.as_bytes());
        hasher.part(format!("{} {}", source.records, source.bytes).as_bytes());
        hasher.part(source.root.as_deref().unwrap_or_default().as_bytes());
    }
    for view in &scope.sources {
        for record in &view.index.records {
            hasher.part(format!("{:?}", record.range).as_bytes());
        }
    }
    hasher.part(format!("{} {} {}", certificate.calls, certificate.effects, certificate.opaque).as_bytes());
    for assumption in &certificate.assumptions {
        hasher.part(assumption.as_bytes());
    }
    certificate.digest = hasher.finish().to_string();
    certificate
}

/// The assumptions that the absence rests on: A3 for acts, A1 and A2 where a run is bounded by them.
pub(super) fn assumptions(case: &Case<'_, '_>) -> Vec<String> {
    if !case.clause.clause.noun.is_act() {
        return Vec::new();
    }
    let mut used: BTreeSet<Assumption> = BTreeSet::from([Assumption::A3]);
    if matches!(case.clause.clause.noun, Noun::Effects | Noun::Changes | Noun::Files) {
        let spans = case.scope.sources.iter().flat_map(|view| &view.spans);
        let effects = spans.flat_map(|examined| &examined.examination.effects);
        used.extend(effects.flat_map(|effect| possible::rests_on(effect, case.options.strictness)));
    }
    decide::words(&used.into_iter().collect::<Vec<_>>())
}

/// What nearly matched, nearest first, each with its fixed word.
pub(super) fn passed_over(case: &Case<'_, '_>) -> Result<Vec<PassedOver>, QueryError> {
    let rows = select::candidates(case.scope, case.clause.clause, case.options)?;
    let mut near: Vec<(Row<'_>, &'static str)> = Vec::new();
    for row in rows {
        if let Some(why) = near_miss(case, &row) {
            near.push((row, why));
        }
    }
    near.extend(mentions(case, &near));
    near.extend(spoken(case));
    near.extend(instead(case, &near));
    let citer = case.citer();
    let mut seen = BTreeSet::new();
    let mut passed = Vec::new();
    for (row, why) in near {
        if passed.len() == NEAR_MAX || !seen.insert((row.source, row.start, why)) {
            continue;
        }
        passed.extend(citer.first(&row).map(|citation| PassedOver { citation, why: why.to_owned() }));
    }
    Ok(passed)
}

/// Rows that meet every term but one of outcome, kind and speaker.
fn near_miss<'s>(case: &Case<'_, 's>, row: &Row<'s>) -> Option<&'static str> {
    let meets = |but: Leave| case.clause.test(row, case.positions, but) == Truth::Yes;
    let asks = |field: Field| {
        case.clause.terms.iter().any(|term| term.field == Some(field) && term.sign == Sign::Holds)
    };
    if meets(Leave::Nothing) || (asks(Field::Outcome) && meets(Leave::Outcome)) {
        return row.outcome().map(outcome_word);
    }
    let by_kind = asks(Field::Kind)
        || asks(Field::Op)
        || case.clause.union.is_some()
        || case.clause.clause.noun == Noun::Effects;
    let effect = row.effect();
    if by_kind && effect.is_some() && narrow(case) && meets(Leave::Kind) {
        return effect.map(|effect| match effect.outcome {
            Outcome::DryRun => "dry run",
            Outcome::Refused => "rejected",
            Outcome::Failed => "failed",
            _ if facet::mutates(effect.kind) => "other kind",
            _ => "read only",
        });
    }
    if let (Some(effect), true) = (effect, by_kind)
        && effect.outcome == Outcome::DryRun
        && case.clause.union.is_none_or(|union| {
            union.any.iter().any(|any| any.kind.iter().any(|kind| effect.kind.is_under(kind)))
        })
    {
        return Some("dry run");
    }
    (asks(Field::By) && meets(Leave::Speaker)).then(|| speaker_word(row))
}

/// Whether something besides the kind is asked for, so that leaving the kind out does not match everything.
fn narrow(case: &Case<'_, '_>) -> bool {
    let other = |field: Option<Field>| {
        !matches!(field, Some(Field::Kind | Field::Op | Field::Limit | Field::Outcome))
    };
    case.clause.union.is_some()
        || case.clause.terms.iter().any(|term| other(term.field) && term.sign == Sign::Holds)
}

const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::DryRun => "dry run",
        Outcome::Refused => "rejected",
        _ => "failed",
    }
}

fn speaker_word(row: &Row<'_>) -> &'static str {
    match row.speaker() {
        Some(Speaker::Assistant | Speaker::Agent) => "assistant",
        Some(Speaker::Tool) => "tool output",
        Some(Speaker::Harness | Speaker::Operator) => "harness",
        Some(Speaker::Derived) => "summary",
        Some(Speaker::User | Speaker::Unknown) | None => "only text",
    }
}

/// Calls whose arguments speak of what a union selects without doing it.
fn mentions<'s>(case: &Case<'_, 's>, near: &[(Row<'s>, &'static str)]) -> Vec<(Row<'s>, &'static str)> {
    let Some(pattern) = case.clause.union.and_then(|union| union.mentions.as_ref()) else {
        return Vec::new();
    };
    let mut rows = row::calls(case.scope);
    rows.retain(|row| {
        let known = near.iter().any(|(own, _)| own.source == row.source && own.span == row.span);
        !known
            && row.own.iter().any(|piece| pattern.is_in(piece.text))
            && case.clause.test_envelope(row, case.positions, Leave::Nothing) == Truth::Yes
    });
    rows.into_iter().map(|row| (row, "only text")).collect()
}

/// Of a question about consent: what the harness said where the answer to a question of the assistant should stand.
fn instead<'s>(case: &Case<'_, 's>, near: &[(Row<'s>, &'static str)]) -> Vec<(Row<'s>, &'static str)> {
    if case.clause.clause.noun != Noun::Rules {
        return Vec::new();
    }
    let asks = |row: &Row<'s>| {
        row.speaker() == Some(Speaker::Assistant)
            && row.own.iter().any(|piece| piece.text.contains(['?', '？']))
    };
    let said = row::said(case.scope);
    let next = |asked: &Row<'s>| {
        let behind = |row: &&Row<'s>| row.source == asked.source && row.start > asked.start;
        said.iter().find(behind).filter(|row| row.speaker() == Some(Speaker::Harness)).cloned()
    };
    near.iter()
        .filter(|(row, _)| asks(row))
        .filter_map(|(row, _)| next(row))
        .map(|row| (row, "harness"))
        .collect()
}

/// Text of anybody that holds all the words of a question about acts or rules.
fn spoken<'s>(case: &Case<'_, 's>) -> Vec<(Row<'s>, &'static str)> {
    let noun = case.clause.clause.noun;
    let mut rows: Vec<Row<'s>> = match noun {
        Noun::Rules | Noun::Said => {
            row::said(case.scope).into_iter().chain(row::results(case.scope)).collect()
        }
        _ if noun.is_act() => row::calls(case.scope)
            .into_iter()
            .chain(row::said(case.scope))
            .chain(row::results(case.scope))
            .collect(),
        _ => return Vec::new(),
    };
    let words: Vec<_> = case.clause.cited().filter(|term| term.field != Some(Field::Arg)).collect();
    if words.is_empty() {
        return Vec::new();
    }
    rows.retain(|row| {
        !matches!(row.what, What::Thought)
            && row.own.iter().any(|piece| words.iter().all(|term| !term.find_all(piece.text, 1).is_empty()))
    });
    rows.into_iter()
        .map(|row| {
            let why = if matches!(row.what, What::Call) { "only text" } else { speaker_word(&row) };
            (row, why)
        })
        .collect()
}
