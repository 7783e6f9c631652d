//! The cold tier: where it is, which pieces are there under which names, and which objects are to be taken away.

use rusqlite::params;
use strongroom_core::digest::PieceId;

use super::{Catalog, as_sql, row, rows, run, u64_of};
use crate::cold::{Cold, ObjectName};
use crate::cover::Cell;
use crate::fault::Outcome;
use crate::sql;

/// The numbers of tiers in a row of a piece.
const HOT: i64 = 0;
const COLD_TIER: i64 = 1;

/// Where the cold tier is and how fast, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColdTier {
    pub(crate) url: String,
    /// The longest read that somebody said is to be expected; 0 where nobody did.
    pub(crate) declared_ms: u64,
    /// The longest read that was measured.
    pub(crate) measured_ms: u64,
}

impl ColdTier {
    /// The longest that a read is to be expected to take: what was measured twice over, and no less than was said.
    pub(crate) fn latency_ms_max(&self) -> u64 {
        self.measured_ms.saturating_mul(2).max(LATENCY_MS_MIN).max(self.declared_ms)
    }
}

/// No store beyond this machine's database is taken to be faster.
const LATENCY_MS_MIN: u64 = 250;

impl Catalog<'_> {
    fn has_tiers(self) -> bool {
        self.version >= sql::VERSION_OF_TIERS
    }

    pub(crate) fn cold_tier(self) -> Outcome<Option<ColdTier>> {
        if !self.has_tiers() {
            return Ok(None);
        }
        row(self.connection, sql::TIER_GET, [self.archive], |row| {
            Ok(ColdTier {
                url: self.text_of(row, 0)?,
                declared_ms: u64_of(row, 1)?,
                measured_ms: u64_of(row, 2)?,
            })
        })
    }

    pub(crate) fn put_cold_tier(self, tier: &ColdTier) -> Outcome<()> {
        let url = self.cover.put_text(&tier.url)?;
        let values = params![self.archive, url, as_sql(tier.declared_ms), as_sql(tier.measured_ms)];
        run(self.connection, sql::TIER_PUT, values)?;
        Ok(())
    }

    /// Notes how long a read took; what took longer before stays.
    pub(crate) fn note_measured(self, ms: u64) -> Outcome<()> {
        run(self.connection, sql::TIER_MEASURED, params![self.archive, as_sql(ms)])?;
        Ok(())
    }

    /// The object of a piece, where it is cold.
    pub(crate) fn cold(self, piece: PieceId) -> Outcome<Option<Cold>> {
        if !self.has_tiers() {
            return Ok(None);
        }
        let key = params![self.archive, self.id(Cell::Piece, piece.digest())?];
        row(self.connection, sql::COLD_GET, key, |row| {
            Ok(Cold { piece, object: ObjectName(row.get(0)?), len: u64_of(row, 1)? })
        })
    }

    /// The objects of all cold pieces, by piece.
    pub(crate) fn all_cold(self) -> Outcome<Vec<Cold>> {
        if !self.has_tiers() {
            return Ok(Vec::new());
        }
        let mut all = rows(self.connection, sql::COLD_ALL, [self.archive], |row| {
            let piece = PieceId::new(self.digest_of(Cell::Piece, row, 0)?);
            Ok(Cold { piece, object: ObjectName(row.get(1)?), len: u64_of(row, 2)? })
        })?;
        all.sort_unstable();
        Ok(all)
    }

    /// Puts an object in place of a piece's bytes.
    pub(crate) fn cool(self, cold: &Cold) -> Outcome<()> {
        let piece = self.id(Cell::Piece, cold.piece.digest())?;
        let row = params![self.archive, piece, cold.object.0, as_sql(cold.len)];
        run(self.connection, sql::COLD_PUT, row)?;
        run(self.connection, sql::PIECE_TIER, params![self.archive, piece, COLD_TIER])?;
        run(self.connection, sql::BLOB_DELETE, params![self.archive, piece])?;
        run(self.connection, sql::LEAVING_DELETE, params![self.archive, cold.object.0])?;
        Ok(())
    }

    /// Leaves a piece's object, if it has one, to be taken away. The caller has put its bytes elsewhere, or they go.
    /// Says whether there was one.
    pub(crate) fn forget_object(self, piece: PieceId) -> Outcome<bool> {
        let Some(cold) = self.cold(piece)? else { return Ok(false) };
        let piece = self.id(Cell::Piece, cold.piece.digest())?;
        self.note_leaving(cold.object)?;
        run(self.connection, sql::COLD_DELETE, params![self.archive, piece])?;
        run(self.connection, sql::PIECE_TIER, params![self.archive, piece, HOT])?;
        Ok(true)
    }

    /// Notes that an object may be there which nothing needs.
    pub(crate) fn note_leaving(self, object: ObjectName) -> Outcome<()> {
        run(self.connection, sql::LEAVING_PUT, params![self.archive, object.0])?;
        Ok(())
    }

    pub(crate) fn note_left(self, object: ObjectName) -> Outcome<()> {
        run(self.connection, sql::LEAVING_DELETE, params![self.archive, object.0])?;
        Ok(())
    }

    /// Sees to it that the objects of those of `pieces` that are cold are at hand.
    ///
    /// # Errors
    /// `Unavailable` when some have to be fetched first; they are noted.
    pub(crate) fn thaw(self, pieces: &[PieceId]) -> Outcome<()> {
        if !self.has_tiers() {
            return Ok(());
        }
        for &piece in pieces {
            if let Some(cold) = self.cold(piece)? {
                self.thawed.want(cold);
            }
        }
        Ok(self.thawed.check()?)
    }

    /// The objects that may be there and that nothing needs.
    pub(crate) fn leaving(self) -> Outcome<Vec<ObjectName>> {
        if !self.has_tiers() {
            return Ok(Vec::new());
        }
        rows(self.connection, sql::LEAVING_ALL, [self.archive], |row| Ok(ObjectName(row.get(0)?)))
    }
}
