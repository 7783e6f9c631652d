//! Is everything here that was ever acknowledged, and unchanged?
//!
//! The journal is replayed into what the tables should hold, and the tables are compared with that. Everything is
//! read from one unchanging state of the database, while others go on writing.

mod cold;
mod ledger;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use strongroom_core::digest::{ContentKey, Digest, PieceId, RevisionId, Tag};
use strongroom_core::error::{Error, ErrorKind};
use strongroom_core::range::ByteRange;

use crate::archive::Archive;
use crate::blobs::Blobs as _;
use crate::bodies::{self, Body};
use crate::catalog::{Catalog, CompactionRow, RevisionRow};
use crate::fault::{Fault, Outcome};
use crate::journal::Checkpoint;
use crate::registry::record_of;
use crate::sql;
use ledger::Ledger;

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Depth {
    /// The journal and the tables.
    Catalog,
    /// Those, every page of the database, and the bytes of every piece.
    Data,
}

/// What was checked and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, in the order in which it was found.
    pub problems: Vec<Problem>,
    /// The number of pieces in the catalog.
    pub pieces: u64,
    /// The number of their bytes that were read and compared with a hash.
    pub bytes_read: u64,
    /// The journal as it was recomputed from its entries; `None` where it could not be read.
    pub checkpoint: Option<Checkpoint>,
    /// What the journal was compared with.
    pub anchor: Anchor,
    /// The number of pieces that were erased by order, and not taken in again.
    pub erased: u64,
    /// The number of pieces of which bytes were taken out by order, where the bytes were read.
    pub redacted: u64,
    /// The number of pieces whose bytes are in the cold tier.
    pub cold: u64,
    /// The number of objects that may still stand in the cold tier and that nothing needs.
    pub leaving: u64,
    /// Whether bytes that were taken away may still stand in free pages or in the log.
    pub purge_is_due: bool,
}

/// Whether the journal was compared with something its owner cannot change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// No: the owner of the directory can have rewritten everything consistently.
    None,
    /// The journal still begins with what this checkpoint pinned.
    Extends(Checkpoint),
    /// It does not: entries before this checkpoint were changed or taken away.
    Contradicts(Checkpoint),
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// What this report cannot say.
    pub const fn caveat(&self) -> Option<&'static str> {
        match self.anchor {
            Anchor::None => Some(
                "no checkpoint from outside was given: whoever owns the directory can have rewritten everything consistently",
            ),
            Anchor::Extends(_) | Anchor::Contradicts(_) => None,
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind of thing.
    pub kind: ProblemKind,
    /// The piece it is about.
    pub piece: Option<PieceId>,
    /// The name of a source that contains the piece, or that it is about.
    pub source: Option<String>,
    /// Where the piece lies in the source, in bytes.
    pub offset: Option<u64>,
    /// A sentence saying what is wrong.
    pub message: String,
}

/// The kinds of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// The database itself is damaged.
    Database,
    /// The journal is not what its hashes say.
    Journal,
    /// The journal does not begin with the checkpoint that was given.
    Checkpoint,
    /// A piece is missing.
    PieceMissing,
    /// The bytes of a piece cannot be read or differ from its hash.
    PieceDamaged,
    /// What the catalog says of a piece is not what the journal says.
    PieceRow,
    /// A source, revision, link, hold or cap is not what the journal says.
    SourceRow,
    /// A compaction record is missing, or not what the journal says.
    Record,
    /// The cold tier cannot be reached, or what the catalog says of it is not what the journal says.
    Tier,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (&self.source, self.offset) {
            (Some(source), Some(offset)) => write!(f, " (byte {offset} of {source})"),
            (Some(source), None) => write!(f, " ({source})"),
            (None, _) => Ok(()),
        }
    }
}

impl Archive {
    /// Checks the whole archive, against `outside` where a checkpoint was kept elsewhere. Problems are values.
    pub fn verify(&self, depth: Depth, outside: Option<&Checkpoint>) -> Report {
        let report = self.look(|catalog| {
            let mut inspection = Inspection::new(catalog, self, Report::empty());
            inspection.run(depth, outside)?;
            Ok(inspection.report)
        });
        let mut report = report.unwrap_or_else(|error| {
            let mut report = Report::empty();
            report.add(ProblemKind::Database, error.to_string());
            report
        });
        if let Err(error) = self.check_cold(&mut report, depth) {
            report.add(ProblemKind::Tier, error.to_string());
        }
        let placed = self.look(|catalog| {
            let mut inspection = Inspection::new(catalog, self, report.clone());
            let placed = inspection.place_problems();
            inspection.note(ProblemKind::SourceRow, placed)?;
            Ok(inspection.report)
        });
        placed.unwrap_or(report)
    }
}

impl Report {
    fn empty() -> Self {
        Self {
            problems: Vec::new(),
            pieces: 0,
            bytes_read: 0,
            checkpoint: None,
            anchor: Anchor::None,
            erased: 0,
            redacted: 0,
            cold: 0,
            leaving: 0,
            purge_is_due: false,
        }
    }

    fn add(&mut self, kind: ProblemKind, message: String) {
        self.problems.push(Problem { kind, piece: None, source: None, offset: None, message });
    }

    fn add_piece(&mut self, kind: ProblemKind, piece: PieceId, what: impl fmt::Display) {
        let message = format!("piece {piece} {what}");
        self.problems.push(Problem { kind, piece: Some(piece), source: None, offset: None, message });
    }
}

/// One walk through an archive.
struct Inspection<'c> {
    catalog: Catalog<'c>,
    archive: &'c Archive,
    ledger: Ledger,
    report: Report,
}

/// One part of the walk, and the kind of problem it is when it cannot be walked.
type Step<'c> = (ProblemKind, fn(&mut Inspection<'c>) -> Outcome<()>);

impl<'c> Inspection<'c> {
    fn new(catalog: Catalog<'c>, archive: &'c Archive, report: Report) -> Self {
        Self { catalog, archive, ledger: Ledger::default(), report }
    }

    /// # Errors
    /// Only when another process is in the way.
    fn run(&mut self, depth: Depth, outside: Option<&Checkpoint>) -> Outcome<()> {
        let steps: [Step<'c>; 7] = [
            (ProblemKind::Journal, Self::check_journal),
            (ProblemKind::Tier, Self::check_tier),
            (ProblemKind::PieceRow, Self::check_pieces),
            (ProblemKind::SourceRow, Self::check_sources),
            (ProblemKind::SourceRow, Self::check_revisions),
            (ProblemKind::SourceRow, Self::check_policy),
            (ProblemKind::Record, Self::check_records),
        ];
        let data: [Step<'c>; 2] =
            [(ProblemKind::Database, Self::check_database), (ProblemKind::PieceDamaged, Self::check_bytes)];
        let data = if depth == Depth::Data { data.as_slice() } else { &[] };
        for (kind, step) in steps.iter().chain(data) {
            let walked = step(self);
            self.note(*kind, walked)?;
        }
        self.check_anchor(outside);
        Ok(())
    }

    /// A step that cannot be walked is a problem; only another process in the way is an error.
    fn note(&mut self, kind: ProblemKind, walked: Outcome<()>) -> Outcome<()> {
        match walked {
            Ok(()) => Ok(()),
            Err(fault) if fault.kind() == ErrorKind::Busy => Err(fault),
            Err(fault) => {
                self.report.add(kind, Error::from(fault).to_string());
                Ok(())
            }
        }
    }

    fn check_journal(&mut self) -> Outcome<()> {
        let count = self.catalog.entry_count()?;
        let leaves = self.catalog.tree().size()?;
        if leaves != count {
            self.report
                .add(ProblemKind::Journal, format!("the journal has {count} entries and {leaves} leaves"));
        }
        for no in 0..count {
            let Some(bytes) = self.catalog.entry_bytes(no)? else {
                // Nothing behind a gap can be told from a forgery.
                self.report
                    .add(ProblemKind::Journal, format!("entry {no} of {count} is missing from the journal"));
                break;
            };
            for (level, node, hash) in self.ledger.append_leaf(no, Digest::leaf(&bytes)) {
                if self.catalog.tree().node_at(level, node)? != Some(hash) {
                    let message =
                        format!("node {node} of level {level} of the journal differs from entry {no}");
                    self.report.add(ProblemKind::Journal, message);
                }
            }
            if let Err(error) = self.ledger.replay(&bytes, no, self.archive) {
                self.report.add(ProblemKind::Journal, format!("entry {no}: {error}"));
            }
        }
        self.report.checkpoint = Some(self.ledger.checkpoint(self.archive.id()));
        Ok(())
    }

    fn check_anchor(&mut self, outside: Option<&Checkpoint>) {
        let Some(outside) = outside else { return };
        let begins =
            self.archive.id() == outside.archive && self.ledger.root_of(outside.size) == Some(outside.root);
        if begins {
            self.report.anchor = Anchor::Extends(*outside);
        } else {
            self.report.anchor = Anchor::Contradicts(*outside);
            let message =
                format!("the journal does not begin with the {} entries of the checkpoint", outside.size);
            self.report.add(ProblemKind::Checkpoint, message);
        }
    }

    fn check_pieces(&mut self) -> Outcome<()> {
        let rows = self.catalog.pieces()?;
        self.report.pieces = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let blobs: BTreeSet<PieceId> = self.catalog.blobs().ids()?.into_iter().collect();
        let cold: BTreeSet<PieceId> = self.catalog.all_cold()?.into_iter().map(|cold| cold.piece).collect();
        let mut expected = std::mem::take(&mut self.ledger.pieces);
        for (id, len, retention) in &rows {
            match expected.remove(id) {
                None => self.report.add_piece(
                    ProblemKind::PieceRow,
                    *id,
                    "is in the catalog and not in the journal",
                ),
                Some((journalled, _)) if journalled != *len => {
                    let what = format!("has {len} bytes in the catalog and {journalled} in the journal");
                    self.report.add_piece(ProblemKind::PieceRow, *id, what);
                }
                Some((_, promised)) if promised != *retention => {
                    let what =
                        format!("is kept {retention:?} by the catalog and {promised:?} by the journal");
                    self.report.add_piece(ProblemKind::PieceRow, *id, what);
                }
                Some(_) => {}
            }
            if !blobs.contains(id) && !cold.contains(id) {
                self.report.add_piece(ProblemKind::PieceMissing, *id, "has no bytes in the archive");
            }
        }
        for id in expected.keys() {
            self.report.add_piece(ProblemKind::PieceMissing, *id, "is in the journal and not in the catalog");
        }
        let known: BTreeSet<PieceId> = rows.iter().map(|(id, ..)| *id).collect();
        for id in blobs.difference(&known) {
            self.report.add_piece(
                ProblemKind::PieceRow,
                *id,
                "has bytes in the archive and no row in the catalog",
            );
        }
        Ok(())
    }

    fn check_sources(&mut self) -> Outcome<()> {
        let mut expected = std::mem::take(&mut self.ledger.sources);
        for (meta, leaf) in self.catalog.sources()? {
            if expected.remove(&meta.id) != Some((meta.clone(), leaf)) {
                let message = format!("source {} is not what the journal says", meta.id);
                self.report.problems.push(Problem {
                    kind: ProblemKind::SourceRow,
                    piece: None,
                    source: Some(meta.name),
                    offset: None,
                    message,
                });
            }
        }
        for (meta, _) in expected.into_values() {
            self.report.add(
                ProblemKind::SourceRow,
                format!("source {} is in the journal and not in the catalog", meta.name),
            );
        }
        Ok(())
    }

    fn check_revisions(&mut self) -> Outcome<()> {
        let mut expected = std::mem::take(&mut self.ledger.revisions);
        let lens: BTreeMap<PieceId, u64> =
            self.catalog.pieces()?.into_iter().map(|(id, len, _)| (id, len)).collect();
        for row in self.catalog.revisions()? {
            let key = (row.source, row.revision.number);
            if expected.remove(&key) != Some((row.revision, row.leaf)) {
                let message = format!(
                    "revision {} of source {} is not what the journal says",
                    row.revision.number, row.source
                );
                self.report.add(ProblemKind::SourceRow, message);
            }
            let checked = self.check_revision_pieces(&row, &lens);
            self.note(ProblemKind::SourceRow, checked)?;
        }
        for (source, number) in expected.keys() {
            let message =
                format!("revision {number} of source {source} is in the journal and not in the catalog");
            self.report.add(ProblemKind::SourceRow, message);
        }
        Ok(())
    }

    fn check_revision_pieces(&mut self, row: &RevisionRow, lens: &BTreeMap<PieceId, u64>) -> Outcome<()> {
        let pieces = self.catalog.revision_pieces(row)?;
        let ids: Vec<PieceId> = pieces.iter().map(|(id, _)| *id).collect();
        if RevisionId::of(&ids) != row.revision.id {
            let message =
                format!("the pieces of revision {} are not the ones it was made of", row.revision.id);
            self.report.add(ProblemKind::SourceRow, message);
        }
        for (id, len) in pieces {
            if lens.get(&id) != Some(&len) && !self.ledger.erased.contains(&id) {
                let what = format!("is not in the catalog as revision {} lists it", row.revision.id);
                self.report.add_piece(ProblemKind::SourceRow, id, what);
            }
        }
        Ok(())
    }

    fn check_policy(&mut self) -> Outcome<()> {
        let checks = [
            ("the holds", self.catalog.holds()? == self.ledger.holds),
            ("the links of sessions", self.catalog.session_links()? == self.ledger.links),
            ("the erasures by order", self.catalog.erasures()? == self.ledger.orders),
            ("the marks of the lock", self.catalog.stamp()? == self.ledger.stamp),
            (
                "the tombstones",
                self.catalog.tombstones()?.into_iter().eq(std::mem::take(&mut self.ledger.tombstones)),
            ),
            ("the cap on retention", self.catalog.cap()? == self.ledger.cap),
        ];
        self.report.erased = u64::try_from(self.ledger.erased_by_order(self.archive)).unwrap_or(u64::MAX);
        self.report.purge_is_due = self.catalog.purge_is_due()?;
        for (what, _) in checks.into_iter().filter(|(_, same)| !same) {
            self.report.add(ProblemKind::SourceRow, format!("{what} are not what the journal says"));
        }
        Ok(())
    }

    fn check_records(&mut self) -> Outcome<()> {
        let mut expected = std::mem::take(&mut self.ledger.records);
        let mut neighbours: BTreeSet<(ContentKey, Tag)> = std::mem::take(&mut self.ledger.neighbours);
        for row in self.catalog.compactions()? {
            expected.remove(&row.tag);
            let checked = self.check_record(&row, &mut neighbours);
            self.note(ProblemKind::Record, checked)?;
        }
        for tag in expected {
            self.report.add(
                ProblemKind::Record,
                format!("the record under tag {tag} is in the journal and not in the catalog"),
            );
        }
        let indexed = self.catalog.neighbours()?;
        let differing = indexed.symmetric_difference(&neighbours).count();
        if differing > 0 {
            self.report.add(
                ProblemKind::Record,
                format!("{differing} kept neighbours are not what the journal says"),
            );
        }
        Ok(())
    }

    fn check_record(
        &mut self,
        row: &CompactionRow,
        neighbours: &mut BTreeSet<(ContentKey, Tag)>,
    ) -> Outcome<()> {
        let vanished = || Fault::from(Error::corrupt(format!("the record under tag {} is missing", row.tag)));
        let record = record_of(self.catalog, row.tag)?.ok_or_else(vanished)?;
        neighbours.extend(record.neighbours.iter().map(|key| (*key, row.tag)));
        let keys = CompactionRow {
            tag: record.tag,
            source: record.source,
            generation: record.generation,
            summary: record.summary,
        };
        if keys != *row {
            self.report.add(
                ProblemKind::Record,
                format!("the keys of the record under tag {} differ from it", row.tag),
            );
        }
        Ok(())
    }

    fn check_database(&mut self) -> Outcome<()> {
        let mut statement = self.catalog.connection.prepare(sql::CHECK_INTEGRITY)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let line: String = row.get(0)?;
            if line != "ok" {
                self.report.add(ProblemKind::Database, format!("the database is damaged: {line}"));
            }
        }
        Ok(())
    }

    fn check_bytes(&mut self) -> Outcome<()> {
        for id in self.catalog.blobs().ids()? {
            let read = match bodies::get(self.catalog, id) {
                Ok(Some(Ok(body))) => Ok(body),
                Ok(Some(Err(trouble))) => Err(trouble.into_words()),
                Ok(None) => Err("it has no bytes".to_owned()),
                Err(fault) => Err(fault.damage()?),
            };
            match read {
                Ok(Body::Whole(bytes)) if PieceId::of(&bytes) == id => {
                    self.report.bytes_read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                }
                Ok(Body::Redacted(redacted)) => {
                    self.report.redacted += 1;
                    self.report.bytes_read += u64::try_from(redacted.bytes.len()).unwrap_or(u64::MAX);
                }
                Ok(Body::Whole(_)) => {
                    self.report.add_piece(ProblemKind::PieceDamaged, id, "differs from its hash");
                }
                Err(why) => {
                    self.report.add_piece(ProblemKind::PieceDamaged, id, format_args!("is damaged: {why}"));
                }
            }
        }
        Ok(())
    }

    /// Says of every piece with a problem in which source it lies, and where; the first place counts.
    fn place_problems(&mut self) -> Outcome<()> {
        let mut wanted: BTreeMap<PieceId, Option<(String, ByteRange)>> = self
            .report
            .problems
            .iter()
            .filter_map(|problem| problem.piece)
            .map(|piece| (piece, None))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let names: BTreeMap<_, _> =
            self.catalog.sources()?.into_iter().map(|(meta, _)| (meta.id, meta.name)).collect();
        for row in self.catalog.revisions()? {
            let mut at: u64 = 0;
            // A damaged list has its own problem.
            for (piece, len) in self.catalog.revision_pieces(&row).unwrap_or_default() {
                let end = at.saturating_add(len);
                if let Some(place @ None) = wanted.get_mut(&piece) {
                    *place = names.get(&row.source).map(|name| (name.clone(), ByteRange::new(at, end)));
                }
                at = end;
            }
        }
        for problem in &mut self.report.problems {
            if let Some((name, range)) =
                problem.piece.and_then(|piece| wanted.get(&piece)).and_then(Option::as_ref)
            {
                problem.source = Some(name.clone());
                problem.offset = Some(range.start());
            }
        }
        Ok(())
    }
}
