//! The end of retention: which pieces may go, and their going.

use std::collections::BTreeSet;

use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::Result;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Hold, Retention};

use crate::archive::Archive;
use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::fault::Outcome;

/// How many pieces go in one transaction.
const BATCH: usize = 200;

/// How long a piece is kept, and what else keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceTerm {
    /// The piece.
    pub id: PieceId,
    /// Its number of bytes.
    pub len: u64,
    /// How long it was promised to be kept; no cap shortens it.
    pub retention: Retention,
    /// Whether a hold of the archive is on it.
    pub hold: Hold,
    /// The sources of which a state contains it.
    pub sources: Vec<SourceId>,
}

/// What may be deleted.
#[derive(Debug, Clone, Copy)]
pub struct Deletion<'a> {
    /// Pieces kept until this instant or an earlier one may go.
    pub expired_by: Timestamp,
    /// The present, for tombstones.
    pub now: Timestamp,
    /// Sources that a rule outside the archive holds.
    pub held: &'a BTreeSet<SourceId>,
}

impl PieceTerm {
    /// Whether `deletion` permits that the piece goes. One whose retention is not known stays.
    pub fn may_go(&self, deletion: &Deletion<'_>) -> bool {
        let expired = matches!(self.retention, Retention::Until(until) if until <= deletion.expired_by);
        expired && self.hold == Hold::None && !self.sources.iter().any(|one| deletion.held.contains(one))
    }
}

impl Archive {
    /// How long every piece is kept, by id.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn terms(&self) -> Result<Vec<PieceTerm>> {
        self.look(|catalog| {
            let pieces = catalog.pieces()?.into_iter();
            pieces.map(|(id, len, retention)| term(catalog, id, len, retention)).collect()
        })
    }

    /// The latest instant that any act in the archive names.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, the closure of any"
    )]
    pub fn last_time(&self) -> Result<Option<Timestamp>> {
        self.look(|catalog| catalog.last_time())
    }

    /// The latest instant at which a state of a source was taken in: a deletion does not carry it on.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, the closure of any"
    )]
    pub fn last_import(&self) -> Result<Option<Timestamp>> {
        self.look(|catalog| catalog.last_import())
    }

    /// Deletes those of `pieces` that `deletion` permits at the moment of deletion, each in one transaction with its
    /// tombstone and its journal entry; returns them. Nobody stores meanwhile.
    ///
    /// # Errors
    /// `Busy` when another process stores, `Unavailable` when the archive cannot be written; what went before stays
    /// gone and is in the journal.
    pub fn delete_expired(&self, pieces: &[PieceId], deletion: &Deletion<'_>) -> Result<Vec<PieceTerm>> {
        self.database.check_writable()?;
        let alone = self.leases.alone()?;
        let derived = self.deriving_no_more()?;
        let mut gone = Vec::new();
        for batch in pieces.chunks(BATCH) {
            gone.extend(self.change(|catalog| {
                let mut buried = Vec::new();
                for &id in batch {
                    buried.extend(self.bury(catalog, id, deletion)?);
                }
                derived.forget(&sources_of(&buried))?;
                Ok(buried)
            })?);
        }
        drop(alone);
        Ok(gone)
    }

    fn bury(&self, catalog: Catalog<'_>, id: PieceId, deletion: &Deletion<'_>) -> Outcome<Option<PieceTerm>> {
        let Some(row) = catalog.piece(id)? else { return Ok(None) };
        let term = term(catalog, id, row.len, row.retention)?;
        let Retention::Until(until) = term.retention else { return Ok(None) };
        if !term.may_go(deletion) {
            return Ok(None);
        }
        let (keyed, at) = (self.tombstone(id), deletion.now);
        let reason = format!("kept until {}", until.day());
        catalog.bury(id, &keyed, &reason, at)?;
        catalog.journal(&Entry::Erased { keyed, reason, at })?;
        Ok(Some(term))
    }
}

/// The sources that lose one of `pieces`.
fn sources_of(pieces: &[PieceTerm]) -> BTreeSet<SourceId> {
    pieces.iter().flat_map(|piece| piece.sources.iter().copied()).collect()
}

pub(crate) fn term(catalog: Catalog<'_>, id: PieceId, len: u64, retention: Retention) -> Outcome<PieceTerm> {
    Ok(PieceTerm { id, len, retention, hold: catalog.piece_hold(id)?, sources: catalog.piece_sources(id)? })
}
