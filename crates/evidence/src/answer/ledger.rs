//! The ledger: effects as rows in order, each with its outcome, what shows it, and what undid it.

use std::collections::BTreeMap;

use strongroom_core::digest::Digest;
use strongroom_core::evidence::Certainty;
use strongroom_core::span::SpanIndex;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{BlockKind, BlockRef, Branch};

use super::cite::Citer;
use super::decide::{Case, Ground};
use super::facet::{self, agent_of, session_of};
use super::matching::Leave;
use super::position::Positions;
use super::row::{self, Row};
use super::truth::Truth;
use super::undo::{self, Undone};
use super::{Citation, Options, hole};
use crate::effect::{Assumption, Effect, EffectKind, Origin, Outcome, Privilege};
use crate::query::{Noun, Query, QueryError};
use crate::session::{HoleKind, Scope};

/// The rows of a ledger that meet a query, and what could hide others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// The normalised query.
    pub reading: String,
    /// The rows, in order. A rollback is a row of its own and removes none.
    pub rows: Vec<LedgerRow>,
    /// What is not there to be searched and could hide a row.
    pub gaps: Vec<Gap>,
    /// How many effects the session has, reads included.
    pub total: usize,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// Its 1-based number among all effects of the session, reads included; filters do not change it.
    pub seq: usize,
    /// When the call was written, as recorded.
    pub time: Option<Timestamp>,
    /// The call it belongs to.
    pub call: CallPlace,
    /// The program of a shell line, or the tool.
    pub program: String,
    /// What kind.
    pub kind: EffectKind,
    /// What it touches, secrets hidden; `?` where it is not known.
    pub target: String,
    /// Where: a word, with the name of a host, container or database where there is one.
    pub scope: String,
    /// The environment, where the call says which.
    pub environment: Option<String>,
    /// With which rights.
    pub privilege: Privilege,
    /// Whether it was surely tried.
    pub certainty: Certainty,
    /// How it ended.
    pub outcome: Outcome,
    /// What was asked for.
    pub citation: Option<Citation>,
    /// What shows the outcome.
    pub evidence: Option<Citation>,
    /// Whether it can be taken back, and how.
    pub reversibility: Reversibility,
    /// What took it back.
    pub rolled_back: Option<RolledBack>,
    /// The earlier attempt that this one repeats.
    pub retry_of: Option<usize>,
    /// How often the call stands in the records, copies included.
    pub renditions: usize,
    /// Whether it surely meets the query, or a field that is asked for is not known.
    pub standing: Match,
    /// Why an opaque run is bounded.
    pub bounded_by: Option<Assumption>,
    /// The rows of the same call that must have succeeded before it was tried; of a command without a row, nothing.
    pub requires: Vec<usize>,
    /// The hash of the script, recipe or statements that were run, where the session holds their text.
    pub artifact: Option<Digest>,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPlace {
    /// The index of its source in the scope.
    pub source_index: usize,
    /// The number of its span in that source.
    pub span: Option<SpanIndex>,
    /// Its block.
    pub at: BlockRef,
    /// The session.
    pub session: String,
    /// The source, by name.
    pub source: String,
    /// The child agent; `None` is the main one.
    pub agent: Option<String>,
    /// The 1-based line, where there are lines.
    pub record: Option<u32>,
    /// `L12`, or a JSON pointer.
    pub locator: String,
    /// The id that pairs it with its result, as recorded.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The bytes of the call.
    pub bytes: (u64, u64),
    /// The pointer that leads to it, where it was reclaimed.
    pub pointer: Option<String>,
    /// Whether it lies on the path the agent would load.
    pub branch: Branch,
}

/// How sure it is that a row meets a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Match {
    /// It does.
    Certain,
    /// A field that is asked for is not known of it.
    Possible,
}

/// Whether an effect can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reversibility {
    /// It can, in this way.
    Yes(&'static str),
    /// It cannot.
    No,
    /// Not known.
    Unknown,
}

impl Reversibility {
    /// The word in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes(_) => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// What took an effect back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolledBack {
    /// The number of the row that did; its own where one call did and undid.
    pub by: usize,
    /// How, in words.
    pub how: String,
}

/// Something that is not there to be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What is missing.
    pub kind: HoleKind,
    /// Where, and why.
    pub citation: Citation,
}

/// For kinds and words above them: whether what was done can be taken back. The first line that fits counts.
const REVERSIBLE: &[(&str, Reversibility)] = &[
    ("fs.move", Reversibility::Yes("move it back")),
    ("fs.link", Reversibility::Yes("remove the link")),
    ("fs.delete", Reversibility::No),
    ("fs.discard", Reversibility::No),
    ("vcs.index", Reversibility::Yes("git reset")),
    ("vcs.commit", Reversibility::Yes("git revert")),
    ("vcs.switch", Reversibility::Yes("switch back")),
    ("vcs.history", Reversibility::Yes("git reflog, until it expires")),
    ("vcs.remote", Reversibility::No),
    ("pkg.mutate", Reversibility::Yes("by the package manager")),
    ("proc.spawn", Reversibility::Yes("stop it")),
    ("proc.signal", Reversibility::No),
    ("svc.state", Reversibility::Yes("by the opposite command")),
    ("db.perm", Reversibility::Yes("by the opposite statement")),
    ("db", Reversibility::No),
    ("net.send", Reversibility::No),
    ("human.handoff", Reversibility::No),
];

/// The arguments that keep the text that an edit replaces.
const OLD_TEXTS: &[&str] = &["/old_string", "/old_str", "/oldText", "/old_text"];

/// The effects of `scope` that meet `query`, a query on `effects` or `changes`.
///
/// # Errors
/// When the query is on another noun, has an order, or names something that cannot be asked.
pub fn ledger(query: &Query, scope: &Scope<'_>, options: &Options<'_>) -> Result<Ledger, QueryError> {
    if !matches!(query.clause.noun, Noun::Effects | Noun::Changes) || query.order.is_some() {
        return Err(QueryError::new("a ledger takes terms of `effects`, and no order", 0));
    }
    let ground = Ground::of(scope);
    let clause = ground.compile(&query.clause, options)?;
    let case = ground.case(query, &clause, options);
    let book = Book::of(scope, case.positions);
    let rows = book.rows.iter().enumerate().filter_map(|(at, row)| book.shown(&case, at, row)).collect();
    Ok(Ledger { reading: case.reading.clone(), rows, gaps: gaps(&case), total: book.rows.len() })
}

/// What could hide a match of the clause.
pub(super) fn gaps(case: &Case<'_, '_>) -> Vec<Gap> {
    let holes = hole::blocking(case.scope, case.clause, case.positions);
    let citer = case.citer();
    holes.into_iter().map(|hole| Gap { kind: hole.kind, citation: citer.hole(hole) }).collect()
}

/// All effects of a scope in the order of the ledger, with what took them back.
pub(super) struct Book<'s> {
    pub(super) rows: Vec<Row<'s>>,
    pub(super) undone: Vec<Option<Undone>>,
    retries: Vec<Option<usize>>,
    renditions: BTreeMap<(usize, BlockRef), usize>,
}

impl<'s> Book<'s> {
    pub(super) fn of(scope: &'s Scope<'s>, positions: &Positions<'s>) -> Self {
        let mut rows = row::effects(scope);
        // A child agent's effects stand where it was started.
        rows.sort_by_key(|row| (positions.anchor(row), row.source, row.start));
        let undone = undo::find(&rows);
        let retries = retries(&rows);
        Self { undone, retries, renditions: renditions(scope), rows }
    }

    /// The number of a row, from 1.
    pub(super) const fn number(at: usize) -> usize {
        at + 1
    }

    fn shown(&self, case: &Case<'_, 's>, at: usize, row: &Row<'s>) -> Option<LedgerRow> {
        let effect = row.effect()?;
        let standing = match case.clause.test(row, case.positions, Leave::Nothing) {
            Truth::Yes => Match::Certain,
            Truth::Maybe if !is_possible_only(row, case) => Match::Possible,
            Truth::Maybe | Truth::No => return None,
        };
        let citer = case.citer();
        let call = place(row, &citer)?;
        let copies = self.renditions.get(&(row.source, call.at)).copied().unwrap_or(0);
        Some(LedgerRow {
            seq: Self::number(at),
            time: row.record().and_then(|record| record.time),
            call,
            program: effect.program.clone(),
            kind: effect.kind,
            target: case.mask(effect.target.words()),
            scope: scope_words(effect),
            environment: effect.environment.clone(),
            privilege: effect.privilege,
            certainty: effect.certainty,
            outcome: effect.outcome,
            citation: citer.first(&half(row, Side::Call)),
            evidence: citer.first(&half(row, Side::Result)),
            reversibility: reversibility(row, effect),
            rolled_back: self
                .undone
                .get(at)
                .copied()
                .flatten()
                .map(|undone| RolledBack { by: Self::number(undone.by), how: undone.how.to_owned() }),
            retry_of: self.retries.get(at).copied().flatten().map(Self::number),
            renditions: 1 + copies,
            standing,
            bounded_by: effect.bounded_by,
            requires: self.required(at, row, &effect.origin),
            artifact: effect.origin.artifact,
        })
    }

    /// The numbers of the rows that stand for the commands that the one at `at` hangs on.
    fn required(&self, at: usize, row: &Row<'s>, origin: &Origin) -> Vec<usize> {
        if origin.requires.is_empty() {
            return Vec::new();
        }
        let before = self.rows.get(..at).unwrap_or_default().iter().enumerate().rev();
        let same = before.take_while(|(_, other)| other.source == row.source && other.start == row.start);
        let steps = same.filter_map(|(at, other)| Some((at, other.effect()?.origin.step)));
        let mut found: Vec<usize> = steps
            .filter(|(_, step)| origin.requires.contains(step))
            .map(|(at, _)| Self::number(at))
            .collect();
        found.reverse();
        found
    }
}

/// Whether a read is a possible match only because reads are no rows where no kind is asked for.
fn is_possible_only(row: &Row<'_>, case: &Case<'_, '_>) -> bool {
    let reads = row.effect().is_some_and(|effect| !facet::mutates(effect.kind));
    let asked = case.clause.terms.iter().any(|term| term.field == Some(crate::query::Field::Kind));
    reads && !asked
}

/// One half of a row's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Call,
    Result,
}

/// A row that is about one half of its event only.
pub(super) fn half<'s>(row: &Row<'s>, side: Side) -> Row<'s> {
    let own = match side {
        Side::Call => row.own.clone(),
        Side::Result => row.half.clone(),
    };
    Row { own, half: Vec::new(), ..row.clone() }
}

/// Where the call of `row` stands.
pub(super) fn place(row: &Row<'_>, citer: &Citer<'_, '_>) -> Option<CallPlace> {
    let examined = row.examined()?;
    let (at, block, facts) =
        examined.content.blocks.iter().find_map(|content| match &content.block.kind {
            BlockKind::Call(facts) => Some((content.at, content.block, facts)),
            _ => None,
        })?;
    let record = row.view.index.record(at)?;
    let masked = |text: &str| citer.secrets.mask(text, citer.options);
    Some(CallPlace {
        source_index: row.source,
        span: Some(examined.content.span.index),
        at,
        session: session_of(row.view, at.record).to_owned(),
        source: row.view.source.clone(),
        agent: agent_of(row.view, at.record).map(str::to_owned),
        record: record.line,
        locator: record
            .line
            .map_or_else(|| format!("{}{}", record.pointer, block.pointer), |line| format!("L{line}")),
        call_id: facts.id.clone(),
        tool: masked(&facts.tool),
        bytes: (block.range.start(), block.range.end()),
        pointer: examined.pointer.map(|pointer| pointer.to_string()),
        branch: record.branch,
    })
}

fn scope_words(effect: &Effect) -> String {
    use crate::effect::Scope as Where;
    match &effect.scope {
        Where::Remote(name) | Where::Container(name) | Where::Database(name) | Where::Cloud(name)
            if !name.is_empty() =>
        {
            format!("{}:{name}", effect.scope.word())
        }
        known => known.word().to_owned(),
    }
}

fn reversibility(row: &Row<'_>, effect: &Effect) -> Reversibility {
    let known = REVERSIBLE.iter().find(|(word, _)| effect.kind.is_under(word));
    let keeps_old = || OLD_TEXTS.iter().any(|pointer| undo::argument(row, pointer).is_some());
    match known {
        Some((_, reversible)) => *reversible,
        None if effect.kind == EffectKind::FsWrite && keeps_old() => {
            Reversibility::Yes("the call holds the text that it replaced")
        }
        None => Reversibility::Unknown,
    }
}

/// For each row, the earlier attempt that it repeats: the same call with the same arguments that was not done.
fn retries(rows: &[Row<'_>]) -> Vec<Option<usize>> {
    let mut last: BTreeMap<(usize, EffectKind, String, String), usize> = BTreeMap::new();
    let mut found = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let Some(effect) = row.effect() else {
            found.push(None);
            continue;
        };
        let texts: Vec<&str> = row.own.iter().map(|piece| piece.text).collect();
        let key = (row.source, effect.kind, effect.target.words().to_owned(), texts.join("\u{0}"));
        let earlier = last.insert(key, at).filter(|&earlier| {
            rows.get(earlier).is_some_and(|first| {
                first.span != row.span && first.outcome().is_none_or(|outcome| !outcome.is_positive())
            })
        });
        found.push(earlier);
    }
    found
}

/// How many copies each block has.
fn renditions(scope: &Scope<'_>) -> BTreeMap<(usize, BlockRef), usize> {
    let mut counts = BTreeMap::new();
    for (source, view) in scope.sources.iter().enumerate() {
        for original in view.index.blocks().filter_map(|(_, block)| block.copy_of) {
            *counts.entry((source, original)).or_insert(0) += 1;
        }
    }
    counts
}
