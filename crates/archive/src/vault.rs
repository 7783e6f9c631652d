//! Pieces in, pieces out: the archive as the core's [`Vault`].

use std::collections::BTreeSet;

use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::{Error, Result};
use strongroom_core::parallel;
use strongroom_core::vault::{Loaded, PIECE_BYTES_MAX, Piece, PieceStat, Retention, Tier, Vault};

use crate::archive::Archive;
use crate::bodies::{self, Body};
use crate::catalog::{Catalog, fits};
use crate::cold::{Cold, Trouble};
use crate::encoding::Encoder;
use crate::entry::Entry;
use crate::fault::Outcome;

/// The longest a piece from the archive's own database takes to be read, with room for a cold disk.
const HOT_LATENCY_MS_MAX: u64 = 250;

/// How many pieces are encoded one after the other in one context.
const ENCODED_TOGETHER: usize = 4;

/// What has to be written for one piece; bodies are encoded before the transaction, others wait for its end.
enum Need {
    /// The archive has it.
    Nothing,
    /// The archive does not have it.
    Store(Vec<u8>),
    /// The archive has other bytes under its id.
    Repair(Vec<u8>),
}

impl Archive {
    /// Compares `pieces` with what is stored, and encodes what is not.
    fn needs<'p>(&self, pieces: &'p [Piece]) -> Result<Vec<(&'p Piece, Need)>> {
        let mut seen = BTreeSet::new();
        let distinct: Vec<&Piece> = pieces.iter().filter(|piece| seen.insert(piece.id())).collect();
        let states = self.look(|catalog| distinct.iter().map(|piece| state(catalog, piece)).collect())?;
        let states: Vec<State> = states;
        let lost = self.lost(&states)?;
        let states: Vec<(&Piece, State)> = distinct.into_iter().zip(states).collect();
        let together = states.chunks(ENCODED_TOGETHER).collect();
        let needs = parallel::map(together, |states| {
            let mut encoder = Encoder::new(self.level)?;
            let need = |(piece, state): &(&'p Piece, State)| {
                let need = match state {
                    State::Cold(_) if lost.contains(&piece.id()) => {
                        Need::Repair(encoder.encode(piece.bytes()))
                    }
                    State::Intact | State::Cold(_) => Need::Nothing,
                    State::Absent => Need::Store(encoder.encode(piece.bytes())),
                    State::Differs => Need::Repair(encoder.encode(piece.bytes())),
                };
                (*piece, need)
            };
            Ok(states.iter().map(need).collect())
        });
        let needs: Vec<Vec<_>> = needs.into_iter().collect::<Result<_>>()?;
        Ok(needs.into_iter().flatten().collect())
    }

    /// The cold pieces whose objects are gone, and that can be had again. Where the tier cannot be reached none is:
    /// whoever reads back finds out.
    fn lost(&self, states: &[State]) -> Result<BTreeSet<PieceId>> {
        let cold: Vec<Cold> = states.iter().filter_map(State::cold).collect();
        if cold.is_empty() {
            return Ok(BTreeSet::new());
        }
        let troubles = self.check_objects(&cold);
        let damaged = |trouble: &Option<Trouble>| matches!(trouble, Some(Trouble::Damaged(_)));
        let damaged = cold.iter().zip(&troubles).filter(|(_, trouble)| damaged(trouble));
        let damaged: Vec<PieceId> = damaged.map(|(cold, _)| cold.piece).collect();
        self.look(|catalog| {
            let mut lost = BTreeSet::new();
            for &piece in &damaged {
                if !was_redacted(catalog, piece)? {
                    lost.insert(piece);
                }
            }
            Ok(lost)
        })
    }

    /// Whether all is there already and kept long enough.
    fn is_satisfied(&self, needs: &[(&Piece, Need)], retention: Retention) -> Result<bool> {
        if needs.iter().any(|(_, need)| !matches!(need, Need::Nothing)) {
            return Ok(false);
        }
        self.look(|catalog| {
            for (piece, _) in needs {
                let known = catalog.piece(piece.id())?;
                if known.is_none_or(|row| row.retention.or_longer(retention) != row.retention) {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    fn write_needs(
        &self,
        catalog: Catalog<'_>,
        needs: &[(&Piece, Need)],
        retention: Retention,
    ) -> Outcome<()> {
        let (mut stored, mut repaired, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, need) in needs {
            let id = piece.id();
            match (catalog.piece(id)?, need) {
                (None, Need::Store(body) | Need::Repair(body)) => {
                    bodies::put(catalog, id, body.clone())?;
                    stored.push((id, fits(piece.bytes().len(), "bytes in a piece")?));
                }
                (None, Need::Nothing) => {
                    bodies::put(catalog, id, Encoder::new(self.level)?.encode(piece.bytes()))?;
                    stored.push((id, fits(piece.bytes().len(), "bytes in a piece")?));
                }
                (Some(_), Need::Repair(body)) => {
                    bodies::put(catalog, id, body.clone())?;
                    repaired.push(id);
                    kept.push(id);
                }
                // Another process was first: it had the same bytes.
                (Some(_), Need::Store(_) | Need::Nothing) => kept.push(id),
            }
        }
        for &(id, len) in &stored {
            catalog.delete_erasure(&self.tombstone(id))?;
            catalog.put_piece(id, u64::from(len), retention)?;
        }
        if !stored.is_empty() {
            catalog.journal(&Entry::Stored { retention, pieces: stored })?;
        }
        if !repaired.is_empty() {
            catalog.journal(&Entry::Repaired(repaired))?;
        }
        extend(catalog, &kept, retention)
    }

    /// One piece as it is stored.
    fn load_one(&self, catalog: Catalog<'_>, id: PieceId) -> Outcome<Loaded> {
        match bodies::get(catalog, id)? {
            Some(Ok(Body::Whole(bytes))) => return Ok(Loaded::Found(bytes)),
            Some(Ok(Body::Redacted(redacted))) => return Ok(Loaded::Redacted(redacted)),
            Some(Err(Trouble::Damaged(why))) => return Ok(Loaded::Damaged(why)),
            Some(Err(Trouble::Unreachable(why))) => return Ok(Loaded::Unreachable(why)),
            None => {}
        }
        let keyed = self.tombstone(id);
        if let Some(order) = catalog.erasure(&keyed)? {
            return Ok(Loaded::Erased { at: order.at, reason: order.words() });
        }
        let tombstone = catalog.tombstone(&keyed)?;
        Ok(tombstone.map_or(Loaded::Missing, |(reason, at)| Loaded::Expired { at, reason }))
    }

    /// Whether a source was erased by order, and not taken in again.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn is_erased(&self, source: SourceId) -> Result<bool> {
        self.look(|catalog| Ok(catalog.erasure(&self.source_tombstone(source))?.is_some()))
    }

    /// Pieces as the source that is asked for them has them: none, where it was erased.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn load_of(&self, source: SourceId, pieces: &[PieceId]) -> Result<Vec<Loaded>> {
        let erased = self.look(|catalog| catalog.erasure(&self.source_tombstone(source)))?;
        match erased {
            None => self.load(pieces),
            Some(order) => {
                let gone = |_: &PieceId| Loaded::Erased { at: order.at, reason: order.words() };
                Ok(pieces.iter().map(gone).collect())
            }
        }
    }
}

/// How a piece that is to be stored stands in the archive.
enum State {
    Intact,
    Absent,
    Differs,
    Cold(Cold),
}

impl State {
    fn cold(&self) -> Option<Cold> {
        if let Self::Cold(cold) = self { Some(*cold) } else { None }
    }
}

fn state(catalog: Catalog<'_>, piece: &Piece) -> Outcome<State> {
    if catalog.piece(piece.id())?.is_none() {
        return Ok(State::Absent);
    }
    if let Some(cold) = catalog.cold(piece.id())? {
        return Ok(State::Cold(cold));
    }
    let stored = match bodies::get(catalog, piece.id()) {
        Ok(stored) => stored.and_then(std::result::Result::ok),
        // A damaged page is written anew with the piece.
        Err(fault) => fault.damage().map(|_| None)?,
    };
    Ok(match stored {
        Some(Body::Whole(bytes)) if bytes == piece.bytes() => State::Intact,
        // What was taken out by order does not come back because somebody has it still.
        Some(Body::Redacted(_)) => State::Intact,
        // Nor because what was left of it is damaged.
        Some(Body::Whole(_)) | None if was_redacted(catalog, piece.id())? => State::Intact,
        Some(Body::Whole(_)) | None => State::Differs,
    })
}

/// Whether bytes were taken out of a piece since it was stored last, by the journal.
fn was_redacted(catalog: Catalog<'_>, id: PieceId) -> Outcome<bool> {
    for no in (0..catalog.entry_count()?).rev() {
        match catalog.entry(no) {
            Ok(Entry::Redacted(own)) if own.piece == id => return Ok(true),
            Ok(Entry::Stored { pieces, .. }) if pieces.iter().any(|(own, _)| *own == id) => return Ok(false),
            Ok(_) => {}
            Err(fault) => drop(fault.damage()?),
        }
    }
    Ok(false)
}

/// Keeps pieces longer and journals which.
pub(crate) fn extend(catalog: Catalog<'_>, pieces: &[PieceId], retention: Retention) -> Outcome<()> {
    let grown = catalog.keep(pieces.iter().copied(), retention)?;
    if !grown.is_empty() {
        catalog.journal(&Entry::Extended { retention, pieces: grown })?;
    }
    Ok(())
}

impl Vault for Archive {
    fn store(&self, pieces: &[Piece], retention: Retention) -> Result<()> {
        if let Some(piece) = pieces
            .iter()
            .find(|piece| u64::try_from(piece.bytes().len()).is_ok_and(|len| len > PIECE_BYTES_MAX))
        {
            let len = piece.bytes().len();
            return Err(Error::invalid_input(format!(
                "a piece of {len} bytes is larger than {PIECE_BYTES_MAX} bytes"
            )));
        }
        self.database.check_writable()?;
        self.leases.hold()?;
        let needs = self.needs(pieces)?;
        if self.is_satisfied(&needs, retention)? {
            return Ok(());
        }
        self.change(|catalog| self.write_needs(catalog, &needs, retention))
    }

    fn extend(&self, pieces: &[PieceId], retention: Retention) -> Result<()> {
        self.leases.hold()?;
        self.change(|catalog| extend(catalog, pieces, retention))
    }

    fn load(&self, pieces: &[PieceId]) -> Result<Vec<Loaded>> {
        self.look(|catalog| {
            catalog.thaw(pieces)?;
            let load = |&id: &PieceId| match self.load_one(catalog, id) {
                Ok(loaded) => Ok(loaded),
                Err(fault) => fault.damage().map(Loaded::Damaged),
            };
            pieces.iter().map(load).collect()
        })
    }

    fn stat(&self, pieces: &[PieceId]) -> Result<Vec<Option<PieceStat>>> {
        self.look(|catalog| {
            let cap = catalog.cap()?;
            pieces.iter().map(|&id| stat_one(catalog, id, cap)).collect()
        })
    }
}

fn stat_one(catalog: Catalog<'_>, id: PieceId, cap: Retention) -> Outcome<Option<PieceStat>> {
    let Some(row) = catalog.piece(id)? else { return Ok(None) };
    let latency_ms_max = match row.tier {
        Tier::Hot => HOT_LATENCY_MS_MAX,
        Tier::Cold => catalog.cold_tier()?.map_or(u64::MAX, |tier| tier.latency_ms_max()),
    };
    let retention = row.retention.or_shorter(cap);
    Ok(Some(PieceStat { retention, hold: catalog.piece_hold(id)?, tier: row.tier, latency_ms_max }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Mode;

    #[test]
    fn a_tombstone_says_expired_until_the_piece_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
        let pieces = [b"erased".to_vec(), b"kept".to_vec()].map(Piece::new);
        let ids = [pieces[0].id(), pieces[1].id(), PieceId::of(b"never")];
        archive.store(&pieces[1..], Retention::Indefinite).unwrap();
        archive
            .change(|catalog| {
                let row = rusqlite::params![archive.tombstone(ids[0]), "court order"];
                catalog.connection.execute("INSERT INTO tombstone VALUES (1, ?1, ?2, 5)", row)?;
                Ok(())
            })
            .unwrap();
        let loaded = archive.load(&ids).unwrap();
        assert!(
            matches!(loaded[..], [Loaded::Expired { .. }, Loaded::Found(_), Loaded::Missing]),
            "{loaded:?}"
        );
        assert_eq!(archive.stat(&ids[..1]).unwrap(), [None]);
        archive.store(&pieces, Retention::Indefinite).unwrap();
        assert!(matches!(archive.load(&ids[..1]).unwrap()[..], [Loaded::Found(_)]));
    }

    #[test]
    fn a_piece_that_is_too_large_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
        let pieces = [Piece::new(b"fine".to_vec()), Piece::new(vec![0; (1 << 20) + 1])];
        let error = archive.store(&pieces, Retention::Indefinite).unwrap_err();
        assert_eq!(error.kind(), strongroom_core::error::ErrorKind::InvalidInput);
        assert!(matches!(archive.load(&[pieces[0].id()]).unwrap()[..], [Loaded::Missing]));
    }
}
