//! Where rows stand: windows of records and time, neighbours, and the order of two rows.

use std::cell::OnceCell;

use strongroom_core::transcript::{BlockRef, Ending, Record, RecordKind};

use super::facet::agent_of;
use super::row::{self, Row, result_facts};
use super::truth::Truth;
use crate::query::{Atom, Field, Place};
use crate::session::{ExaminedSpan, Scope};

/// A one-sided window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    side: Side,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Nothing before the place.
    From,
    /// Nothing behind it.
    To,
}

impl Window {
    pub(super) fn read(field: Field, atom: &Atom) -> Option<Self> {
        let side = if field == Field::From { Side::From } else { Side::To };
        Place::read(field, atom, 0).ok().map(|place| Self { side, place })
    }

    /// Whether its place is a record by its number.
    pub(super) const fn is_at_record(&self) -> bool {
        matches!(self.place, Place::Record(_))
    }
}

/// How two rows lie to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    Before,
    After,
    /// They overlap.
    Unordered,
    /// They stand in sources that nothing sets against one another.
    Unknown,
}

impl Lie {
    /// Whether neither came first, as far as is known.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Unordered | Self::Unknown)
    }
}

/// The places of a scope.
pub(super) struct Positions<'s> {
    scope: &'s Scope<'s>,
    /// For each source: the records that are compaction boundaries.
    boundaries: Vec<Vec<u32>>,
    /// For each source: the records that are no elements of a list.
    fields: Vec<Vec<u32>>,
    /// For each source of a child: where in which other source it was started and had returned.
    launches: Vec<Option<Launch>>,
    /// All effects and all rules of the scope, for terms that look at what came later; read when first needed.
    effects: OnceCell<Vec<Row<'s>>>,
    rules: OnceCell<Vec<Row<'s>>>,
    /// For each of the effects: whether a later one took it back.
    undone: OnceCell<Vec<bool>>,
}

#[derive(Debug, Clone, Copy)]
struct Launch {
    source: usize,
    start: BlockRef,
    /// `None` where it goes on behind the call.
    end: Option<BlockRef>,
}

impl<'s> Positions<'s> {
    pub(super) fn new(scope: &'s Scope<'s>) -> Self {
        let boundary = |view: &crate::session::SourceView<'_>| {
            let records = view.index.records.iter().zip(0u32..);
            records.filter(|(record, _)| record.kind == RecordKind::Boundary).map(|(_, n)| n).collect()
        };
        let boundaries = scope.sources.iter().map(boundary).collect();
        let fields = scope.sources.iter().map(|view| fields(&view.index.records)).collect();
        let launches = scope
            .sources
            .iter()
            .map(|view| view.agent.as_deref().and_then(|agent| launch(scope, agent)))
            .collect();
        Self {
            scope,
            boundaries,
            fields,
            launches,
            effects: OnceCell::new(),
            rules: OnceCell::new(),
            undone: OnceCell::new(),
        }
    }

    pub(super) fn effects(&self) -> &[Row<'s>] {
        self.effects.get_or_init(|| row::effects(self.scope))
    }

    pub(super) fn undone(&self) -> &[bool] {
        self.undone.get_or_init(|| super::undo::find(self.effects()).iter().map(Option::is_some).collect())
    }

    pub(super) fn rules(&self) -> &[Row<'s>] {
        self.rules.get_or_init(|| row::rules(self.scope, row::Breadth::Possible))
    }

    pub(super) fn test(&self, window: &Window, row: &Row<'_>) -> Truth {
        match (window.place, window.side) {
            (Place::End, Side::To) => Truth::Yes,
            (Place::End, Side::From) => Truth::No,
            (Place::Record(line), side) => Truth::of(on_side(side, &self.number(row), &line)),
            (Place::Time(first, last), side) => {
                row.record().and_then(|record| record.time).map_or(Truth::Maybe, |time| {
                    Truth::of(if side == Side::From { time >= first } else { time <= last })
                })
            }
            (Place::Compaction(n), side) => self.test_compaction(n, side, row),
        }
    }

    /// The 1-based line of a row's record. Where there are no lines, its 1-based place among the messages of a body:
    /// the fields beside them are not counted.
    fn number(&self, row: &Row<'_>) -> u32 {
        let own = row.start.record;
        row.record().and_then(|record| record.line).unwrap_or_else(|| {
            let fields = self.fields.get(row.source).map_or(&[][..], Vec::as_slice);
            let ahead = fields.partition_point(|field| *field < own);
            own.saturating_sub(u32::try_from(ahead).unwrap_or(own)) + 1
        })
    }

    fn test_compaction(&self, n: u32, side: Side, row: &Row<'_>) -> Truth {
        let nth = usize::try_from(n).unwrap_or(usize::MAX) - 1;
        if let Some(record) = self.boundaries.get(row.source).and_then(|own| own.get(nth)) {
            return Truth::of(on_side(side, &row.start.record, record));
        }
        let other =
            self.boundaries.iter().enumerate().find_map(|(source, own)| Some((source, *own.get(nth)?)));
        let Some((source, record)) = other else { return Truth::of(side == Side::To) };
        let at = BlockRef { record, block: 0 };
        let boundary = self
            .scope
            .sources
            .get(source)
            .and_then(|view| view.index.record(at))
            .and_then(|record| record.time);
        match (boundary, row.record().and_then(|record| record.time)) {
            (Some(boundary), Some(time)) => Truth::of(on_side(side, &time, &boundary)),
            _ => Truth::Maybe,
        }
    }

    /// The source and block at which a row counts in one order of all: of a child agent where it was started.
    pub(super) fn anchor(&self, row: &Row<'_>) -> (usize, BlockRef) {
        let launch = self.launches.get(row.source).copied().flatten();
        launch.map_or((row.source, row.start), |launch| (launch.source, launch.start))
    }

    /// How `one` lies to `two`: by records within a source, by launch and return between agents.
    pub(super) fn lie(&self, one: &Row<'_>, two: &Row<'_>) -> Lie {
        if one.source == two.source {
            return compare((one.start, Some(one.end)), (two.start, Some(two.end)));
        }
        let launched = |row: &Row<'_>, source: usize| {
            let launch = self.launches.get(row.source).copied().flatten()?;
            (launch.source == source).then_some((launch.start, launch.end))
        };
        if let Some(interval) = launched(one, two.source) {
            return compare(interval, (two.start, Some(two.end)));
        }
        if let Some(interval) = launched(two, one.source) {
            return compare((one.start, Some(one.end)), interval);
        }
        match (
            self.launches.get(one.source).copied().flatten(),
            self.launches.get(two.source).copied().flatten(),
        ) {
            (Some(a), Some(b)) if a.source == b.source => compare((a.start, a.end), (b.start, b.end)),
            _ => Lie::Unknown,
        }
    }
}

/// The texts of the row's event and of the one before it, of the same agent: what a row answers to.
pub(super) fn near<'s>(row: &Row<'s>) -> Vec<&'s str> {
    let Some(span) = row.span else { return Vec::new() };
    let agent = agent_of(row.view, row.start.record);
    let same = |other: &&ExaminedSpan<'_>| agent_of(row.view, other.content.span.record) == agent;
    let before = row.view.spans.get(..span).unwrap_or_default().iter().rev().find(same);
    let own = row.view.spans.get(span);
    [before, own].into_iter().flatten().flat_map(row::all_texts).collect()
}

fn on_side<T: Ord>(side: Side, own: &T, place: &T) -> bool {
    match side {
        Side::From => own >= place,
        Side::To => own <= place,
    }
}

/// The records of a source without lines that are fields beside its messages.
fn fields(records: &[Record]) -> Vec<u32> {
    let listed = |record: &Record| {
        let place = record.pointer.rsplit('/').next().unwrap_or_default();
        record.line.is_some() || place.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
    };
    records.iter().zip(0u32..).filter(|(record, _)| !listed(record)).map(|(_, n)| n).collect()
}

type Interval = (BlockRef, Option<BlockRef>);

/// A call lasts from its record to its result's; what overlaps is unordered.
fn compare(one: Interval, two: Interval) -> Lie {
    let ends_before = |end: Option<BlockRef>, start: BlockRef| end.is_some_and(|end| end < start);
    if ends_before(one.1, two.0) {
        Lie::Before
    } else if ends_before(two.1, one.0) {
        Lie::After
    } else {
        Lie::Unordered
    }
}

/// Where the child `agent` was started: the call that starts agents and whose event names it.
fn launch(scope: &Scope<'_>, agent: &str) -> Option<Launch> {
    scope.sources.iter().enumerate().find_map(|(source, view)| {
        let spawns = |examined: &&ExaminedSpan<'_>| {
            view.agent.as_deref() != Some(agent)
                && examined.examination.effects.iter().any(|effect| effect.kind.is_under("agent.spawn"))
                && examined.content.blocks.iter().any(|content| content.text.contains(agent))
        };
        let examined = view.spans.iter().find(spawns)?;
        let blocks = &examined.content.blocks;
        let (first, last) = (blocks.first()?, blocks.last()?);
        let goes_on = result_facts(examined).any(|facts| matches!(facts.ending, Ending::Background(_)));
        Some(Launch { source, start: first.at, end: (!goes_on && blocks.len() > 1).then_some(last.at) })
    })
}
