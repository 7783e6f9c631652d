//! The bytes of a piece as they are kept: whole, or without those that were taken out by order.

use strongroom_core::digest::PieceId;
use strongroom_core::error::Error;
use strongroom_core::vault::{PIECE_BYTES_MAX, Redacted, Redaction};

use crate::blobs::Blobs as _;
use crate::catalog::Catalog;
use crate::cold::Trouble;
use crate::encoding::{REDACTED, decode};
use crate::entry::{Cut, Entry, RedactedPiece};
use crate::fault::Outcome;

/// What is kept of a piece.
#[derive(Debug)]
pub(crate) enum Body {
    /// All its bytes, not yet compared with its id.
    Whole(Vec<u8>),
    /// What is left, compared with the journal.
    Redacted(Redacted),
}

/// Keeps an encoded piece in place of whatever is there.
pub(crate) fn put(catalog: Catalog<'_>, id: PieceId, encoded: Vec<u8>) -> Outcome<()> {
    let body = catalog.cover_body(id, encoded)?;
    if catalog.forget_object(id)? {
        catalog.journal(&Entry::Warmed(vec![id]))?;
    }
    catalog.blobs().put(id, &body)
}

/// Keeps an encoded piece without the bytes that the journal's entry `leaf` names.
pub(crate) fn put_redacted(catalog: Catalog<'_>, id: PieceId, leaf: u64, encoded: &[u8]) -> Outcome<()> {
    put(catalog, id, [&[REDACTED], leaf.to_be_bytes().as_slice(), encoded].concat())
}

/// What is kept of a piece, or why it cannot be read.
pub(crate) fn get(catalog: Catalog<'_>, id: PieceId) -> Outcome<Option<Result<Body, Trouble>>> {
    let encoded = match encoded(catalog, id)? {
        Some(Ok(encoded)) => encoded,
        Some(Err(why)) => return Ok(Some(Err(why))),
        None => return Ok(None),
    };
    let Some(rest) = encoded.strip_prefix(&[REDACTED]) else {
        return Ok(Some(decode(&encoded, PIECE_BYTES_MAX).map(Body::Whole).map_err(Trouble::Damaged)));
    };
    match redacted(catalog, id, rest) {
        Ok((bytes, cuts)) => {
            let cuts = cuts.into_iter().map(|cut| Redaction {
                range: cut.range,
                at: cut.order.at,
                reason: cut.order.words(),
            });
            Ok(Some(Ok(Body::Redacted(Redacted { bytes, cuts: cuts.collect() }))))
        }
        Err(fault) => Ok(Some(Err(Trouble::Damaged(fault.damage()?)))),
    }
}

/// What was taken out of a piece so far.
pub(crate) fn cuts(catalog: Catalog<'_>, id: PieceId) -> Outcome<Vec<Cut>> {
    match encoded(catalog, id)? {
        Some(Ok(encoded)) if encoded.first() == Some(&REDACTED) => {
            Ok(redacted(catalog, id, encoded.get(1..).unwrap_or_default())?.1)
        }
        Some(Err(Trouble::Unreachable(why))) => Err(Error::unavailable(why).into()),
        _ => Ok(Vec::new()),
    }
}

/// The number of the journal entry that vouches for what is left of a piece, where bytes were taken out of it.
pub(crate) fn entry(catalog: Catalog<'_>, id: PieceId) -> Outcome<Option<u64>> {
    let encoded = match encoded(catalog, id)? {
        Some(Ok(encoded)) => encoded,
        Some(Err(Trouble::Unreachable(why))) => return Err(Error::unavailable(why).into()),
        Some(Err(Trouble::Damaged(_))) | None => return Ok(None),
    };
    let leaf = encoded.strip_prefix(&[REDACTED]).and_then(|rest| rest.first_chunk());
    Ok(leaf.map(|leaf| u64::from_be_bytes(*leaf)))
}

fn encoded(catalog: Catalog<'_>, id: PieceId) -> Outcome<Option<Result<Vec<u8>, Trouble>>> {
    let stored = match catalog.blobs().get(id)? {
        Some(stored) => stored,
        None => match catalog.cold(id)?.map(|cold| catalog.thawed.body(&cold)).transpose()? {
            Some(Ok(body)) => body,
            Some(Err(trouble)) => return Ok(Some(Err(trouble))),
            None => return Ok(None),
        },
    };
    Ok(Some(catalog.uncover_body(id, stored)?.map_err(Trouble::Damaged)))
}

/// What is left of a piece, believed only if the journal has its hash, and what was taken out.
fn redacted(catalog: Catalog<'_>, id: PieceId, stored: &[u8]) -> Outcome<(Vec<u8>, Vec<Cut>)> {
    let damaged = |why: &str| Error::corrupt(format!("what is left of it is not believed: {why}"));
    let (leaf, encoded) = stored.split_first_chunk().ok_or_else(|| damaged("it ends too early"))?;
    let bytes = decode(encoded, PIECE_BYTES_MAX).map_err(|why| damaged(&why))?;
    match catalog.entry(u64::from_be_bytes(*leaf))? {
        Entry::Redacted(RedactedPiece { piece, rest, cuts })
            if piece == id && rest == PieceId::of(&bytes) =>
        {
            Ok((bytes, cuts))
        }
        _ => Err(damaged("the journal does not know it").into()),
    }
}
