//! Pieces: how long they are kept and whether a hold is on them.

use rusqlite::params;
use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Hold, Retention, Tier};

use super::{Catalog, as_sql, retention_columns, retention_of, row, rows, run, u64_of};
use crate::cover::Cell;
use crate::fault::Outcome;
use crate::sql;

/// Why and when a piece was deleted.
pub(crate) type Burial = (String, Timestamp);

/// What is known of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PieceRow {
    pub(crate) len: u64,
    pub(crate) retention: Retention,
    pub(crate) tier: Tier,
}

impl Catalog<'_> {
    pub(crate) fn piece(self, id: PieceId) -> Outcome<Option<PieceRow>> {
        row(
            self.connection,
            sql::PIECE_GET,
            params![self.archive, self.id(Cell::Piece, id.digest())?],
            |row| {
                let tier = if row.get::<_, i64>(3)? == 0 { Tier::Hot } else { Tier::Cold };
                Ok(PieceRow { len: u64_of(row, 0)?, retention: retention_of(row, 1)?, tier })
            },
        )
    }

    pub(crate) fn put_piece(self, id: PieceId, len: u64, retention: Retention) -> Outcome<()> {
        let (kind, ms) = retention_columns(retention);
        let id = self.id(Cell::Piece, id.digest())?;
        run(self.connection, sql::PIECE_INSERT, params![self.archive, id, as_sql(len), kind, ms])?;
        Ok(())
    }

    /// Keeps those of `pieces` that are there at least for `retention`; returns the ones whose retention grew.
    pub(crate) fn keep(
        self,
        pieces: impl Iterator<Item = PieceId>,
        retention: Retention,
    ) -> Outcome<Vec<PieceId>> {
        let (kind, ms) = retention_columns(retention);
        let mut grown = Vec::new();
        for id in pieces {
            let Some(known) = self.piece(id)? else { continue };
            if known.retention.or_longer(retention) != known.retention {
                let key = self.id(Cell::Piece, id.digest())?;
                run(self.connection, sql::PIECE_KEEP, params![self.archive, key, kind, ms])?;
                grown.push(id);
            }
        }
        Ok(grown)
    }

    /// Every piece, ascending: id, length, retention.
    pub(crate) fn pieces(self) -> Outcome<Vec<(PieceId, u64, Retention)>> {
        let mut pieces = rows(self.connection, sql::PIECES, [self.archive], |row| {
            let id = PieceId::new(self.digest_of(Cell::Piece, row, 0)?);
            Ok((id, u64_of(row, 1)?, retention_of(row, 2)?))
        })?;
        pieces.sort_unstable_by_key(|(id, ..)| *id);
        Ok(pieces)
    }

    /// Whether a revision of a held source contains the piece.
    pub(crate) fn piece_hold(self, id: PieceId) -> Outcome<Hold> {
        let mut statement = self.connection.prepare_cached(sql::PIECE_HELD)?;
        let id = self.id(Cell::Piece, id.digest())?;
        let held: bool = statement.query_row(params![self.archive, id], |row| row.get(0))?;
        Ok(if held { Hold::Held } else { Hold::None })
    }

    /// Why and when the piece behind this keyed hash was deleted last, where it was.
    pub(crate) fn tombstone(self, keyed: &[u8; 32]) -> Outcome<Option<Burial>> {
        row(self.connection, sql::TOMBSTONE_GET, params![self.archive, keyed], |row| {
            Ok((self.text_of(row, 0)?, Timestamp::from_ms(row.get(1)?)))
        })
    }

    /// Every tombstone, by keyed hash.
    pub(crate) fn tombstones(self) -> Outcome<Vec<([u8; 32], Burial)>> {
        rows(self.connection, sql::TOMBSTONES, [self.archive], |row| {
            Ok((row.get(0)?, (self.text_of(row, 1)?, Timestamp::from_ms(row.get(2)?))))
        })
    }

    /// Leaves a tombstone in place of a piece and its bytes.
    pub(crate) fn bury(self, id: PieceId, keyed: &[u8; 32], reason: &str, at: Timestamp) -> Outcome<()> {
        self.remove_piece(id)?;
        let reason = self.cover.put_text(reason)?;
        run(self.connection, sql::TOMBSTONE_PUT, params![self.archive, keyed, reason, at.as_ms()])?;
        Ok(())
    }

    /// Takes a piece, its bytes and its keys away. An object that held them is left to be taken away.
    pub(crate) fn remove_piece(self, id: PieceId) -> Outcome<()> {
        self.forget_object(id)?;
        let key = self.id(Cell::Piece, id.digest())?;
        for statement in [sql::BLOB_DELETE, sql::PIECE_DELETE, sql::PIECE_KEYS_DELETE] {
            run(self.connection, statement, params![self.archive, key])?;
        }
        Ok(())
    }

    /// The sources of which some state contains, or contained, the piece.
    pub(crate) fn piece_sources(self, id: PieceId) -> Outcome<Vec<SourceId>> {
        let key = params![self.archive, self.id(Cell::Piece, id.digest())?];
        let mut sources = rows(self.connection, sql::PIECE_SOURCES, key, |row| {
            Ok(SourceId::new(self.digest_of(Cell::Source, row, 0)?))
        })?;
        sources.sort_unstable();
        Ok(sources)
    }

    /// The pieces that some state of the source contains, or contained, ascending.
    pub(crate) fn source_pieces(self, source: SourceId) -> Outcome<Vec<PieceId>> {
        let key = params![self.archive, self.id(Cell::Source, source.digest())?];
        let mut pieces = rows(self.connection, sql::SOURCE_PIECES, key, |row| {
            Ok(PieceId::new(self.digest_of(Cell::Piece, row, 0)?))
        })?;
        pieces.sort_unstable();
        Ok(pieces)
    }
}
