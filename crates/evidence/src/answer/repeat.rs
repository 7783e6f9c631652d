//! Re-execution: which calls are done and must not be repeated, which may be, and which cannot be known.

use std::sync::LazyLock;

use serde::Deserialize;
use strongroom_core::evidence::Certainty;

use super::decide::{Case, Ground};
use super::ledger::{Book, CallPlace, Gap, Side, gaps, half, place};
use super::matching::Leave;
use super::pattern::TableRegex;
use super::row::{self, Row};
use super::truth::Truth;
use super::undo::{may_touch, whole_text};
use super::{Citation, Options, Strictness, facet, possible};
use crate::effect::{Assumption, Effect, Outcome, Target};
use crate::query::{Noun, Query, QueryError};
use crate::session::Scope;

/// The calls that meet a query, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The normalised query.
    pub reading: String,
    /// The calls.
    pub calls: Vec<CallRow>,
    /// What is not there to be searched and could hide a call.
    pub gaps: Vec<Gap>,
    /// The assumptions that a judgement rests on, in words.
    pub assumptions: Vec<String>,
}

/// A call, and whether it may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// Its 1-based number among all calls of the session; filters do not change it.
    pub seq: usize,
    /// Where it stands.
    pub call: CallPlace,
    /// The number of the earlier call that the same tool was asked with the same arguments.
    pub repeats: Option<usize>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it does, in words, secrets hidden.
    pub what: String,
    /// Whether it may be repeated.
    pub repeat: Repeat,
    /// Why.
    pub reason: String,
    /// The numbers of its effects in the ledger.
    pub effects: Vec<usize>,
    /// Whether any of them changes anything, or may.
    pub access: crate::effect::Access,
    /// What shows it.
    pub citation: Option<Citation>,
}

/// Whether a call may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repeat {
    /// It may: it changed nothing, or does the same again.
    Safe,
    /// What it did cannot be known from what is recorded.
    Unknown,
    /// It was done and must not be repeated.
    Done,
}

impl Repeat {
    /// The word in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Safe => "repeatable",
            Self::Unknown => "unknown",
            Self::Done => "done",
        }
    }
}

/// The calls of `scope` that meet `query`, a query on `calls`, in order, each with whether it may be repeated.
///
/// # Errors
/// When the query is on another noun, has an order, or names something that cannot be asked.
pub fn calls(query: &Query, scope: &Scope<'_>, options: &Options<'_>) -> Result<Calls, QueryError> {
    if query.clause.noun != Noun::Calls || query.order.is_some() {
        return Err(QueryError::new("a replay takes terms of `calls`, and no order", 0));
    }
    let ground = Ground::of(scope);
    let clause = ground.compile(&query.clause, options)?;
    let case = ground.case(query, &clause, options);
    let mut rows = row::calls(scope);
    rows.sort_by_key(|row| (case.positions.anchor(row), row.source, row.start));
    let book = Book::of(scope, case.positions);
    let mut used = Vec::new();
    let calls = (0..rows.len()).filter_map(|at| call_row(&case, &book, &rows, at, &mut used)).collect();
    used.sort_unstable();
    used.dedup();
    Ok(Calls {
        reading: case.reading.clone(),
        calls,
        gaps: gaps(&case),
        assumptions: super::decide::words(&used),
    })
}

fn call_row<'s>(
    case: &Case<'_, 's>,
    book: &Book<'s>,
    rows: &[Row<'s>],
    at: usize,
    used: &mut Vec<Assumption>,
) -> Option<CallRow> {
    let row = rows.get(at)?;
    // What may be meant is replayed too: a call that is left out for what is not known of it would be lost unseen.
    if case.clause.test(row, case.positions, Leave::Nothing) == Truth::No {
        return None;
    }
    let citer = case.citer();
    let own = |other: &&(usize, &Row<'s>)| other.1.source == row.source && other.1.span == row.span;
    let all: Vec<(usize, &Row<'s>)> = book.rows.iter().enumerate().collect();
    let effects: Vec<(usize, &Row<'s>)> = all.iter().filter(own).copied().collect();
    let judged = Judge { case, book }.call(row, &effects);
    used.extend(judged.assumption);
    let changes = effects.iter().any(|(_, one)| one.effect().is_some_and(|one| facet::mutates(one.kind)));
    Some(CallRow {
        seq: at + 1,
        call: place(row, &citer)?,
        repeats: earlier(rows, at).map(|earlier| earlier + 1),
        outcome: row.outcome().unwrap_or(Outcome::Unknown),
        what: what(case, row, &effects),
        repeat: judged.repeat,
        reason: judged.reason,
        effects: effects.iter().map(|(n, _)| Book::number(*n)).collect(),
        access: if changes { crate::effect::Access::Mutation } else { crate::effect::Access::Read },
        citation: citer.first(&half(row, Side::Result)).or_else(|| citer.first(&half(row, Side::Call))),
    })
}

/// The earlier call with the same tool and arguments.
fn earlier(rows: &[Row<'_>], at: usize) -> Option<usize> {
    let row = rows.get(at)?;
    let same = |other: &Row<'_>| {
        other.source == row.source
            && other.tool() == row.tool()
            && other.own.len() == row.own.len()
            && other.own.iter().zip(&row.own).all(|(one, two)| one.text == two.text)
    };
    rows.iter().take(at).rposition(same)
}

/// What a call does, in one line.
fn what<'s>(case: &Case<'_, 's>, row: &Row<'s>, effects: &[(usize, &Row<'s>)]) -> String {
    let changes = effects.iter().filter_map(|(_, one)| one.effect()).filter(|one| facet::mutates(one.kind));
    let words: Vec<String> =
        changes.map(|one| format!("{} {}", one.kind.word(), one.target.words())).collect();
    let text = if words.is_empty() {
        row.own
            .first()
            .map(|piece| piece.text.lines().next().unwrap_or_default().to_owned())
            .unwrap_or_default()
    } else {
        words.join(", ")
    };
    case.mask(&text)
}

/// A judgement with its reason.
#[derive(Debug, Clone)]
struct Judged {
    repeat: Repeat,
    reason: String,
    assumption: Option<Assumption>,
}

fn judged(repeat: Repeat, reason: impl Into<String>) -> Judged {
    Judged { repeat, reason: reason.into(), assumption: None }
}

struct Judge<'j, 'c, 's> {
    case: &'j Case<'c, 's>,
    book: &'j Book<'s>,
}

impl<'s> Judge<'_, '_, 's> {
    /// The worst of the judgements of a call's effects.
    fn call(&self, row: &Row<'s>, effects: &[(usize, &Row<'s>)]) -> Judged {
        let malformed = row.examined().is_some_and(|examined| {
            examined
                .content
                .blocks
                .iter()
                .any(|content| content.arguments.as_ref().is_some_and(|tree| tree.malformed))
        });
        if malformed {
            return judged(Repeat::Unknown, "its arguments cannot be read");
        }
        let changes: Vec<_> = effects
            .iter()
            .filter_map(|(at, one)| Some((*at, *one, one.effect().filter(|own| facet::mutates(own.kind))?)))
            .collect();
        let several = changes.len() > 1;
        let all = changes.iter().map(|(at, one, effect)| self.effect(*at, one, effect, several));
        let worst = all.reduce(|worst, next| if next.repeat > worst.repeat { next } else { worst });
        worst.unwrap_or_else(|| judged(Repeat::Safe, "it only reads"))
    }

    fn effect(&self, at: usize, row: &Row<'s>, effect: &Effect, several: bool) -> Judged {
        let name = format!("{} {}", effect.kind.word(), self.case.mask(effect.target.words()));
        if let Some(judged) = of_ending(effect, &name, several) {
            return judged;
        }
        if possible::is_opaque(effect) {
            return self.opaque(effect, &name);
        }
        if effect.certainty == Certainty::Possible {
            return judged(Repeat::Unknown, format!("{name}: whether it ran is not recorded"));
        }
        self.done(at, row, effect, &name)
    }

    fn opaque(&self, effect: &Effect, name: &str) -> Judged {
        let bounded = effect.bounded_by == Some(Assumption::A1);
        if bounded && self.case.options.strictness == Strictness::Assume {
            let reason = format!("{}: a known runner, under A1", effect.program);
            return Judged { repeat: Repeat::Safe, reason, assumption: Some(Assumption::A1) };
        }
        judged(Repeat::Unknown, format!("{name} by {}: what it did is not all known", effect.program))
    }

    fn done(&self, at: usize, row: &Row<'s>, effect: &Effect, name: &str) -> Judged {
        if let Some(undone) = self.book.undone.get(at).copied().flatten() {
            let by = Book::number(undone.by);
            return judged(Repeat::Done, format!("{name}: done, and rolled back by E{by} ({})", undone.how));
        }
        let Some(why) = idempotent(row, effect) else {
            return judged(Repeat::Done, format!("{name}: done ({})", effect.outcome));
        };
        let later = self.book.rows.iter().enumerate().skip(at + 1).find(|(_, other)| {
            other.span != row.span && other.effect().is_some_and(|other| touches(other, effect))
        });
        match later {
            Some((n, _)) => {
                let by = Book::number(n);
                judged(Repeat::Done, format!("{name}: done; again it may undo what E{by} changed later"))
            }
            None => judged(Repeat::Safe, format!("{name}: {why}, and nothing later touched it")),
        }
    }
}

/// What the ending of an effect alone decides.
fn of_ending(effect: &Effect, name: &str, several: bool) -> Option<Judged> {
    let away = ["net.send", "cloud.mutate"].iter().any(|word| effect.kind.is_under(word));
    Some(match effect.outcome {
        Outcome::Refused => judged(Repeat::Safe, "refused: it did not run"),
        Outcome::DryRun => judged(Repeat::Safe, "a dry run"),
        Outcome::NoEffect => judged(Repeat::Safe, format!("{name}: it changed nothing")),
        Outcome::Interrupted => judged(Repeat::Unknown, format!("{name}: it was stopped while it ran")),
        Outcome::Unknown => judged(Repeat::Unknown, format!("{name}: its outcome is not recorded")),
        Outcome::Failed if possible::is_opaque(effect) && effect.bounded_by.is_none() => {
            judged(Repeat::Unknown, format!("{} failed, perhaps after a part", effect.program))
        }
        Outcome::Failed if possible::is_opaque(effect) => return None,
        Outcome::Failed if away => judged(
            Repeat::Unknown,
            format!("{name}: it failed here; whether the other side took it is not recorded"),
        ),
        Outcome::Failed if several => {
            judged(Repeat::Unknown, format!("{name}: it failed, perhaps after a part"))
        }
        Outcome::Failed => judged(Repeat::Safe, format!("{name}: it failed and left nothing")),
        Outcome::Ok | Outcome::ReportedOk => return None,
    })
}

/// Whether `later` may change what `effect` left.
fn touches(later: &Effect, effect: &Effect) -> bool {
    if !facet::mutates(later.kind) || later.outcome.is_negative() {
        return false;
    }
    match &effect.target {
        Target::Path { resolved, .. } => {
            let inside = matches!(&later.target, Target::Path { resolved: other, .. } if crate::place::is_inside(other, resolved));
            let bounded = possible::is_opaque(later) && later.bounded_by.is_some();
            !bounded && (may_touch(later, resolved) || inside)
        }
        target => later.target == *target || matches!(later.target, Target::Unknown),
    }
}

/// A kind of call that does the same when it is repeated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    kind: Vec<String>,
    /// Text of the call that shows it.
    text: Option<TableRegex>,
    /// Whether the call holds the whole text of the file.
    #[serde(default)]
    whole: bool,
    why: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    idempotent: Vec<Line>,
}

/// The table is a constant of the program and read in a test; were it damaged, nothing would be idempotent.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../tables/repeat.toml")).unwrap_or_default());

/// Why an effect is the same when its call is repeated. Of a shell line with several commands only what each
/// command does is known, so the text that shows it must be the whole line.
fn idempotent(row: &Row<'_>, effect: &Effect) -> Option<&'static str> {
    let fits = |line: &&Line| {
        line.kind.iter().any(|kind| effect.kind.is_under(kind))
            && line
                .text
                .as_ref()
                .is_none_or(|text| row.own.iter().any(|piece| text.0.is_match(piece.text.trim())))
            && (!line.whole || whole_text(row).is_some())
    };
    TABLE.idempotent.iter().find(fits).map(|line| line.why.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::EffectKind;

    #[test]
    fn the_table_is_read_and_every_line_says_what_shows_it() {
        let table: Table = toml::from_str(include_str!("../tables/repeat.toml")).unwrap();
        assert!(table.idempotent.len() > 5);
        for line in &table.idempotent {
            assert!(line.whole || line.text.is_some(), "{line:?}");
            assert!(line.kind.iter().all(|kind| EffectKind::ALL.iter().any(|own| own.is_under(kind))));
        }
    }
}
