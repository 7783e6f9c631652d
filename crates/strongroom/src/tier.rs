//! The cold tier: what may move to it, by how long nobody has added to it, and what may come back.
//!
//! Moving is planned first, from the same facts by which it is done.

use strongroom_archive::Archive;
use strongroom_archive::expiry::PieceTerm;
pub use strongroom_archive::tier::{Amount, MoveStep, Moved, Observer, TierState};
use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::Result;
use strongroom_core::time::{Duration, Timestamp};

/// Which way pieces move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the cold tier.
    Away,
    /// Into the database.
    Back,
}

/// What may be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which way.
    pub direction: Direction,
    /// The pieces, by id.
    pub pieces: Vec<PieceTerm>,
    /// The names of the sources that they are of, each with its bytes among them.
    pub sources: Vec<(String, u64)>,
}

impl Plan {
    /// Plans to move away what is of sources only that have had no new state for `age`.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn away(archive: &Archive, age: Duration, now: Timestamp) -> Result<Self> {
        let quiet_since = Timestamp::from_ms(now.as_ms().saturating_sub(age.as_ms()));
        Self::of(archive, Direction::Away, archive.movable(quiet_since)?)
    }

    /// Plans to bring back what is cold, of one source or of all.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn back(archive: &Archive, source: Option<SourceId>) -> Result<Self> {
        let cold = archive.cold_pieces()?;
        let wanted = |term: &PieceTerm| {
            cold.binary_search(&term.id).is_ok() && source.is_none_or(|source| term.sources.contains(&source))
        };
        Self::of(archive, Direction::Back, archive.terms()?.into_iter().filter(wanted).collect())
    }

    fn of(archive: &Archive, direction: Direction, pieces: Vec<PieceTerm>) -> Result<Self> {
        let mut sources = Vec::new();
        for source in archive.sources()? {
            let own = pieces.iter().filter(|piece| piece.sources.contains(&source.meta.id));
            let bytes: u64 = own.map(|piece| piece.len).sum();
            if bytes > 0 {
                sources.push((source.meta.name, bytes));
            }
        }
        Ok(Self { direction, pieces, sources })
    }

    /// The bytes of all pieces.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len).sum()
    }

    /// Moves what is planned and still can be; what cannot stays where it is and is named.
    ///
    /// # Errors
    /// `NotFound` where there is no cold tier, `Refused` when it does not do what it must, `Busy` while another process
    /// moves, `Unavailable` when the archive cannot be written; what was moved before is moved.
    pub fn act(&self, archive: &Archive, observe: &mut Observer<'_>) -> Result<Moved> {
        let ids: Vec<PieceId> = self.pieces.iter().map(|piece| piece.id).collect();
        match self.direction {
            Direction::Away => archive.move_to_cold(&ids, observe),
            Direction::Back => archive.bring_back(&ids, observe),
        }
    }
}
