//! Redaction: some bytes of a piece go, and the rest stays, compared with the journal from then on.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{Digest, PieceId, SourceId, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::vault::REDACTED_BYTE;

use crate::archive::{Archive, keyed};
use crate::bodies::{self, Body};
use crate::catalog::Catalog;
use crate::cold::Trouble;
use crate::encoding::Encoder;
use crate::entry::{Cut, Entry, Order, RedactedPiece};
use crate::erasure::{Reach, check_free};
use crate::expiry::term;
use crate::fault::Outcome;
use crate::random::random;
use crate::seal::Key;
use crate::strip::{self, Taken};

const COMMITMENT_DOMAIN: &str = "strongroom.redaction.v1";

/// What whoever ordered a redaction keeps: with the key and the bytes, the commitment in the journal is shown to be one
/// of these bytes. The archive has the key no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// What was taken out of which piece, with its commitment.
    pub cuts: Vec<(PieceId, ByteRange, Digest)>,
    /// The key of the commitments.
    pub key: [u8; 32],
    /// The records that lost the words that quoted it.
    pub records: Vec<Tag>,
    /// The sources that lost the bytes.
    pub sources: BTreeSet<SourceId>,
}

impl Archive {
    /// Takes `cuts` out of pieces, in all sources that hold them, unless a hold of the archive or one of the sources in
    /// `held` forbids it: in one transaction with what stands for them in the journal. [`Archive::purge`] clears what
    /// the database keeps of them.
    ///
    /// # Errors
    /// `Refused` when a hold forbids it, `InvalidInput` when a range is empty or behind the end of its piece, `NotFound`
    /// and `Corrupt` when a piece is not there or not intact, `Busy` when another process stores, `Unavailable` when
    /// nothing was changed.
    pub fn redact(
        &self,
        cuts: &[(PieceId, ByteRange)],
        held: &BTreeSet<SourceId>,
        order: &Order,
    ) -> Result<Receipt> {
        self.database.check_writable()?;
        let alone = self.leases.alone()?;
        let derived = self.deriving_no_more()?;
        let key = random()?;
        let mut taken = Taken::default();
        for (piece, range) in cuts {
            taken.pieces.entry(*piece).or_default().push(*range);
        }
        let receipt = self.change(|catalog| {
            let catalog = catalog.upgraded()?;
            let sources = check_pieces(catalog, &taken, held)?;
            derived.forget(&sources)?;
            let records = strip::stripped(catalog, &taken, &mark(order))?;
            strip::replace(catalog, &records, order, self.level)?;
            let cuts = self.cut(catalog, &taken.pieces, &key, order)?;
            catalog.note_purge()?;
            let records = records.into_iter().map(|record| record.tag).collect();
            Ok(Receipt { cuts, key, records, sources })
        })?;
        drop(alone);
        Ok(receipt)
    }

    fn cut(
        &self,
        catalog: Catalog<'_>,
        pieces: &BTreeMap<PieceId, Vec<ByteRange>>,
        key: &[u8; 32],
        order: &Order,
    ) -> Outcome<Vec<(PieceId, ByteRange, Digest)>> {
        let mut done = Vec::new();
        let mut encoder = Encoder::new(self.level)?;
        for (&piece, ranges) in pieces {
            let (mut bytes, mut cuts) = kept(catalog, piece)?;
            for &range in ranges {
                let commitment = self.blank(&mut bytes, piece, range, key)?;
                cuts.push(Cut { range, commitment, order: order.clone() });
                done.push((piece, range, commitment));
            }
            let rest = PieceId::of(&bytes);
            let leaf = catalog.journal(&Entry::Redacted(RedactedPiece { piece, rest, cuts }))?;
            bodies::put_redacted(catalog, piece, leaf, &encoder.encode(&bytes))?;
        }
        Ok(done)
    }

    /// Takes `range` out of `bytes`; returns the commitment to what stood there.
    fn blank(&self, bytes: &mut [u8], piece: PieceId, range: ByteRange, key: &[u8; 32]) -> Result<Digest> {
        let outside = || {
            let (start, end) = (range.start(), range.end());
            Error::invalid_input(format!("bytes {start}..{end} are not all in piece {piece}"))
        };
        let (Ok(start), Ok(end)) = (usize::try_from(range.start()), usize::try_from(range.end())) else {
            return Err(outside());
        };
        let cut = bytes.get_mut(start..end).filter(|cut| !cut.is_empty()).ok_or_else(outside)?;
        let place = [range.start().to_be_bytes(), range.end().to_be_bytes()].concat();
        let parts = [piece.digest().as_bytes().as_slice(), &place, cut];
        let commitment = keyed(Key::new(*key).bytes(), self.id(), COMMITMENT_DOMAIN, parts);
        cut.fill(REDACTED_BYTE);
        Ok(Digest::from_bytes(commitment))
    }
}

/// The mark in place of words of a record.
fn mark(order: &Order) -> String {
    format!("[redacted on {}: {}]", order.at.day(), order.reason)
}

/// The sources that hold the pieces, none of which may be held.
fn check_pieces(
    catalog: Catalog<'_>,
    taken: &Taken,
    held: &BTreeSet<SourceId>,
) -> Outcome<BTreeSet<SourceId>> {
    let mut reach = Reach::default();
    for &id in taken.pieces.keys() {
        let missing = || Error::not_found(format!("piece {id} is not in the archive"));
        let row = catalog.piece(id)?.ok_or_else(missing)?;
        reach.sources.extend(term(catalog, id, row.len, row.retention)?.sources);
    }
    for &source in &reach.sources {
        reach.holds.extend(catalog.hold(source)?.map(|reason| (source, reason)));
    }
    check_free(catalog, &reach, held)?;
    Ok(reach.sources)
}

/// What is kept of a piece, and what was taken out of it before.
fn kept(catalog: Catalog<'_>, piece: PieceId) -> Outcome<(Vec<u8>, Vec<Cut>)> {
    let damaged = |why: &str| Error::corrupt(format!("piece {piece} is damaged: {why}; nothing was changed"));
    match bodies::get(catalog, piece)? {
        Some(Ok(Body::Whole(bytes))) if PieceId::of(&bytes) == piece => Ok((bytes, Vec::new())),
        Some(Ok(Body::Redacted(redacted))) => Ok((redacted.bytes, bodies::cuts(catalog, piece)?)),
        Some(Ok(Body::Whole(_))) => Err(damaged("it differs from its hash").into()),
        Some(Err(Trouble::Damaged(why))) => Err(damaged(&why).into()),
        Some(Err(Trouble::Unreachable(why))) => {
            Err(Error::unavailable(format!("piece {piece}: {why}; nothing was changed")).into())
        }
        None => Err(Error::not_found(format!("piece {piece} has no bytes in the archive")).into()),
    }
}
