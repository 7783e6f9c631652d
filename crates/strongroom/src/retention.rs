//! Retention: what expires when, what is held, what would stop being provable, and deleting what has expired.
//!
//! Deleting is planned first, from the same facts and by the same rule by which it is done.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use strongroom_archive::Archive;
use strongroom_archive::expiry::Deletion;
pub use strongroom_archive::expiry::PieceTerm;
use strongroom_core::digest::{PieceId, RevisionId, SourceId};
use strongroom_core::error::{Error, Result};
use strongroom_core::pointer::Pointer;
use strongroom_core::time::{Duration, Timestamp};
use strongroom_core::vault::{CompactionRecord, Hold, Registry as _, Retention, Revision, Vault as _};

use crate::policy::Policy;

/// How far the clock may stand before the last act in the archive: clocks of machines differ.
const BACKWARD_MAX: Duration = Duration::from_ms(10 * 60 * 1_000);

/// How far it may stand behind it without a word from outside: an archive that is used is never so long without an
/// act.
const FORWARD_MAX: Duration = Duration::from_days(30);

/// How far behind the last import a clock is believed without a word from outside: what has ended after that waits for
/// the next import, so that a clock that runs ahead deletes nothing that the default grace would not let go.
const BELIEVED: Duration = Duration::from_days(1);

/// Who may take a hold off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldKind {
    /// A rule of the house.
    Governance,
    /// A court, an authority, a contract.
    Legal,
}

impl HoldKind {
    const ALL: [Self; 2] = [Self::Governance, Self::Legal];

    /// The word before the reason.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Governance => "governance",
            Self::Legal => "legal",
        }
    }

    /// The hold as the archive keeps it.
    pub fn reason(self, reason: &str) -> String {
        format!("{}: {reason}", self.word())
    }

    /// The kind of a hold that the archive keeps; one without a word is of the house.
    pub fn of(reason: &str) -> Self {
        let begins =
            |kind: &Self| reason.strip_prefix(kind.word()).is_some_and(|rest| rest.starts_with(": "));
        Self::ALL.into_iter().find(begins).unwrap_or(Self::Governance)
    }
}

/// What is kept of one source, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTerm {
    /// The source.
    pub source: SourceId,
    /// Its name.
    pub name: String,
    /// The bytes of it that are in custody, in all its states, each piece once.
    pub bytes: u64,
    /// The bytes of those whose retention has ended.
    pub expired_bytes: u64,
    /// The piece that is kept shortest, and the one that is kept longest.
    pub kept: Option<(Retention, Retention)>,
    /// Why it is held, by the archive or by the policy.
    pub hold: Option<String>,
}

/// A summary that its originals do not bear out for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryTerm {
    /// The pointer in the summary.
    pub pointer: Pointer,
    /// The compacted source, by name where it is known.
    pub source: String,
    /// How many spans with originals stand behind it.
    pub spans: usize,
    /// How many of them cannot be shown any more.
    pub gone: usize,
    /// When the next of the others may go; `None` where nothing more ends.
    pub next: Option<Timestamp>,
}

/// What is kept and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// Sources, by name.
    pub sources: Vec<SourceTerm>,
    /// Summaries with an end, the earliest first.
    pub summaries: Vec<SummaryTerm>,
    /// Bytes of pieces that no state of a source contains.
    pub stray_bytes: u64,
}

/// Tells how long everything is kept, under holds of the archive and of `policy`.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub fn outlook(archive: &Archive, policy: &Policy, now: Timestamp) -> Result<Outlook> {
    let mut rows: BTreeMap<SourceId, SourceTerm> = BTreeMap::new();
    for source in archive.sources()? {
        let name = source.meta.name;
        let hold = hold_of(archive, policy, source.meta.id, &name)?;
        let row = SourceTerm { source: source.meta.id, name, bytes: 0, expired_bytes: 0, kept: None, hold };
        rows.insert(source.meta.id, row);
    }
    let mut stray_bytes = 0u64;
    for piece in archive.terms()? {
        if piece.sources.is_empty() {
            stray_bytes = stray_bytes.saturating_add(piece.len);
        }
        for row in piece.sources.iter().filter_map(|source| rows.remove(source)).collect::<Vec<_>>() {
            rows.insert(row.source, with_piece(row, &piece, now));
        }
    }
    let summaries = summaries(archive, &rows)?;
    let mut sources: Vec<SourceTerm> = rows.into_values().collect();
    sources.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(Outlook { sources, summaries, stray_bytes })
}

fn with_piece(mut row: SourceTerm, piece: &PieceTerm, now: Timestamp) -> SourceTerm {
    row.bytes = row.bytes.saturating_add(piece.len);
    if has_ended(piece.retention, now) {
        row.expired_bytes = row.expired_bytes.saturating_add(piece.len);
    }
    let own = piece.retention;
    let (first, last) = row.kept.unwrap_or((own, own));
    row.kept = Some((first.or_shorter(own), last.or_longer(own)));
    row
}

fn has_ended(retention: Retention, now: Timestamp) -> bool {
    matches!(retention, Retention::Until(until) if until <= now)
}

pub(crate) fn hold_of(
    archive: &Archive,
    policy: &Policy,
    source: SourceId,
    name: &str,
) -> Result<Option<String>> {
    let own = archive.held(source)?;
    let by_policy = policy.demand(name)?.hold.map(|reason| format!("policy: {reason}"));
    Ok(own.or(by_policy))
}

fn summaries(archive: &Archive, rows: &BTreeMap<SourceId, SourceTerm>) -> Result<Vec<SummaryTerm>> {
    let mut found = Vec::new();
    for &source in rows.keys() {
        for tag in archive.compactions_of(source)? {
            let Some(record) = archive.by_tag(tag)? else { continue };
            found.push(summary(archive, rows, &record)?);
        }
    }
    found.retain(|summary: &SummaryTerm| summary.next.is_some() || summary.gone > 0);
    found.sort_by_key(|summary| (summary.next, summary.pointer));
    Ok(found)
}

/// Of every span of a record: whether its pieces are there, and which of them goes first.
fn summary(
    archive: &Archive,
    rows: &BTreeMap<SourceId, SourceTerm>,
    record: &CompactionRecord,
) -> Result<SummaryTerm> {
    let mut revisions: BTreeMap<RevisionId, Option<Revision>> = BTreeMap::new();
    let (mut spans, mut gone, mut next) = (0, 0, None::<Timestamp>);
    for location in record.spans.iter().filter_map(|span| span.location.as_ref()) {
        spans += 1;
        let revision = match revisions.entry(location.revision) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(archive.revision(location.revision)?),
        };
        let ids: Option<Vec<PieceId>> = revision
            .as_ref()
            .map(|own| own.pieces_of(&location.ranges).into_iter().map(|(id, _)| id).collect());
        let stats = ids.map(|ids| archive.stat(&ids)).transpose()?.unwrap_or_default();
        if stats.is_empty() || stats.iter().any(Option::is_none) {
            gone += 1;
            continue;
        }
        for stat in stats.into_iter().flatten().filter(|stat| stat.hold == Hold::None) {
            if let Retention::Until(until) = stat.retention {
                next = Some(next.map_or(until, |next| next.min(until)));
            }
        }
    }
    let source = rows.get(&record.source).map_or_else(|| record.source.to_string(), |row| row.name.clone());
    let held = rows.get(&record.source).is_some_and(|row| row.hold.is_some());
    let pointer = Pointer { tag: record.tag, ordinal: None };
    Ok(SummaryTerm { pointer, source, spans, gone, next: next.filter(|_| !held) })
}

/// Keeps every piece of every state of a source at least for `retention`; nothing is ever kept shorter.
///
/// # Errors
/// `Unavailable` when nothing was recorded.
pub fn extend(archive: &Archive, source: SourceId, retention: Retention) -> Result<usize> {
    let own: Vec<PieceId> = archive
        .terms()?
        .into_iter()
        .filter(|piece| piece.sources.contains(&source))
        .map(|piece| piece.id)
        .collect();
    archive.extend(&own, retention)?;
    Ok(own.len())
}

/// Takes a hold off a source.
///
/// # Errors
/// `NotFound` when there is none, `Refused` of a legal hold unless `may_release_legal`.
pub fn release(archive: &Archive, source: SourceId, may_release_legal: bool) -> Result<()> {
    let reason = archive.held(source)?.ok_or_else(|| Error::not_found("this source is not held"))?;
    if HoldKind::of(&reason) == HoldKind::Legal && !may_release_legal {
        return Err(Error::refused(format!("a legal hold is on this source ({reason})")));
    }
    archive.release(source)
}

/// Whether the clock can be trusted with a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// It goes on from the last act in the archive.
    Plausible,
    /// It stands before the last act.
    Backward {
        /// The last act.
        last: Timestamp,
    },
    /// It stands long behind the last act.
    Forward {
        /// The last act.
        last: Timestamp,
    },
}

impl Clock {
    /// Compares `now` with the last act in the archive.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn look(archive: &Archive, now: Timestamp) -> Result<Self> {
        let Some(last) = archive.last_time()? else { return Ok(Self::Plausible) };
        Ok(if now + BACKWARD_MAX < last {
            Self::Backward { last }
        } else if last + FORWARD_MAX < now {
            Self::Forward { last }
        } else {
            Self::Plausible
        })
    }

    /// What is wrong with it, in words.
    pub fn words(self, now: Timestamp) -> Option<String> {
        let (last, how) = match self {
            Self::Plausible => return None,
            Self::Backward { last } => (last, "before"),
            Self::Forward { last } => (last, "long behind"),
        };
        let (now, last) = (now.day(), last.day());
        Some(format!("the clock says {now}, which is {how} the last act in the archive on {last}"))
    }
}

/// What may be deleted, and what not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Pieces that may go.
    pub pieces: Vec<PieceTerm>,
    /// Pieces whose retention has ended and that are held.
    pub held: Vec<PieceTerm>,
    /// Pieces whose retention has ended, and not yet the grace after it; or which ended after the last import, so that
    /// the clock alone says it.
    pub in_grace: Vec<PieceTerm>,
    /// The names of the sources that lose something, each with the bytes it loses.
    pub sources: Vec<(String, u64)>,
    /// The clock.
    pub clock: Clock,
    expired_by: Timestamp,
    now: Timestamp,
    held_sources: BTreeSet<SourceId>,
}

impl Plan {
    /// Plans a deletion. `today` is the day as somebody outside knows it, who stands in for a clock that is ahead.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read, `InvalidInput` of a policy that cannot be.
    pub fn make(archive: &Archive, policy: &Policy, now: Timestamp, today: Option<&str>) -> Result<Self> {
        let sources = archive.sources()?;
        let mut held_sources = BTreeSet::new();
        for source in &sources {
            if hold_of(archive, policy, source.meta.id, &source.meta.name)?.is_some() {
                held_sources.insert(source.meta.id);
            }
        }
        let grace = policy.grace()?;
        let sure = match archive.last_import()? {
            Some(last) if today.is_none() => now.min(last + BELIEVED),
            Some(_) | None => now,
        };
        let expired_by = Timestamp::from_ms(sure.as_ms().saturating_sub(grace.as_ms()));
        let clock = Clock::look(archive, now)?;
        let mut plan = Self {
            pieces: Vec::new(),
            held: Vec::new(),
            in_grace: Vec::new(),
            sources: Vec::new(),
            clock,
            expired_by,
            now,
            held_sources,
        };
        for piece in archive.terms()?.into_iter().filter(|piece| has_ended(piece.retention, now)) {
            plan.sort_in(piece);
        }
        for source in sources {
            let own = plan.pieces.iter().filter(|piece| piece.sources.contains(&source.meta.id));
            let bytes: u64 = own.map(|piece| piece.len).sum();
            if bytes > 0 {
                plan.sources.push((source.meta.name, bytes));
            }
        }
        Ok(plan)
    }

    fn deletion(&self) -> Deletion<'_> {
        Deletion { expired_by: self.expired_by, now: self.now, held: &self.held_sources }
    }

    fn sort_in(&mut self, piece: PieceTerm) {
        let held =
            piece.hold == Hold::Held || piece.sources.iter().any(|one| self.held_sources.contains(one));
        if piece.may_go(&self.deletion()) {
            self.pieces.push(piece);
        } else if held {
            self.held.push(piece);
        } else {
            self.in_grace.push(piece);
        }
    }

    /// Deletes what is planned and still may go; returns it. `today` is the day as somebody outside knows it, who
    /// stands in for a clock that is not plausible.
    ///
    /// # Errors
    /// `Refused` when the clock is not plausible and nobody says that it is right; `Busy` while another process
    /// stores; `Unavailable` when the archive cannot be written.
    pub fn act(&self, archive: &Archive, today: Option<&str>) -> Result<Vec<PieceTerm>> {
        let day = self.now.day();
        if today.is_some_and(|today| today != day) {
            return Err(Error::refused(format!("the clock says {day}; nothing was deleted")));
        }
        if let (Some(words), None) = (self.clock.words(self.now), today) {
            return Err(Error::refused(format!("{words}; nothing was deleted")));
        }
        let pieces: Vec<PieceId> = self.pieces.iter().map(|piece| piece.id).collect();
        archive.delete_expired(&pieces, &self.deletion())
    }
}

/// What became of a source's own file outside the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// It is as it was when it was imported.
    Same,
    /// It has changed since.
    Changed,
    /// It is gone: the archive has the only copy known here.
    Gone,
}

/// What became of the files that sources were imported from, by name. Sources that were no files are left out.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub fn elsewhere(archive: &Archive) -> Result<Vec<(String, Elsewhere)>> {
    let mut found = Vec::new();
    for source in archive.sources()? {
        let path = std::path::Path::new(&source.meta.name);
        if !path.is_absolute() {
            continue;
        }
        let state = match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Elsewhere::Gone,
            Ok(_) if crate::custody::facts(Some(path), 0) == source.meta.facts => Elsewhere::Same,
            Ok(_) | Err(_) => Elsewhere::Changed,
        };
        found.push((source.meta.name, state));
    }
    Ok(found)
}
