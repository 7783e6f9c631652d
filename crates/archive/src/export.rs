//! Reading states of sources back; nothing leaves without its hash checked.

use std::borrow::Cow;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes;
use strongroom_core::vault::{Loaded, Revision, erased_words, expired_words};

use crate::archive::Archive;

/// How many pieces are read at once; each has at most 1 MiB.
const READ_AHEAD_PIECES: usize = 16;

impl Archive {
    /// Writes a state of a source byte for byte, and returns the number of bytes.
    ///
    /// # Errors
    /// `Corrupt` naming piece and offset when stored bytes differ from their hash or are missing, `Expired` when they
    /// were deleted, `Unavailable` when reading or writing fails. What was written before is right.
    pub fn rebuild(&self, revision: &Revision, to: &mut dyn Write) -> Result<u64> {
        let mut at = 0;
        for batch in revision.pieces.chunks(READ_AHEAD_PIECES) {
            for bytes in self.verified(revision.source, batch, at, None)? {
                let failed = |error| {
                    Error::unavailable(format!("the export cannot be written: {error}")).caused_by(error)
                };
                to.write_all(&bytes).map_err(failed)?;
                at = at.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            }
        }
        to.flush().map_err(|error| {
            Error::unavailable(format!("the export cannot be written: {error}")).caused_by(error)
        })?;
        Ok(at)
    }

    /// The bytes of `range` in a state of a source.
    ///
    /// # Errors
    /// As [`Archive::rebuild`], and `InvalidInput` when the range ends behind the last byte.
    pub fn read(&self, revision: &Revision, range: ByteRange) -> Result<Vec<u8>> {
        if range.end() > revision.len {
            let len = revision.len;
            return Err(Error::invalid_input(format!("bytes {range:?} lie outside a source of {len} bytes")));
        }
        let mut bytes = Vec::new();
        for (piece, own) in revision.pieces_of(&[range].into_iter().collect()) {
            let listed = [(piece, own.len())];
            let whole = self.verified(revision.source, &listed, own.start(), Some(range))?;
            let whole = whole.first().map(Vec::as_slice).unwrap_or_default();
            bytes.extend_from_slice(part_of(whole, own, range));
        }
        Ok(bytes)
    }

    /// The bytes of `pieces`, the first of which lies at `offset` in its source. What was taken out of them by order
    /// may lack where `wanted` does not ask for it.
    fn verified(
        &self,
        source: SourceId,
        pieces: &[(PieceId, u64)],
        offset: u64,
        wanted: Option<ByteRange>,
    ) -> Result<Vec<Vec<u8>>> {
        let ids: Vec<PieceId> = pieces.iter().map(|(id, _)| *id).collect();
        let mut at = offset;
        let mut all = Vec::with_capacity(ids.len());
        for (loaded, &(id, len)) in self.load_of(source, &ids)?.into_iter().zip(pieces) {
            let it = format!("piece {id} at byte {at}");
            all.push(match loaded {
                Loaded::Redacted(redacted) => {
                    let asked = |range: ByteRange| wanted.is_none_or(|wanted| wanted.overlaps(range));
                    if redacted.cuts.iter().any(|cut| asked(cut.range.shifted(at))) {
                        return Err(Error::expired(format!("{it}: {}", redacted.words())));
                    }
                    redacted.bytes
                }
                loaded => check(loaded, id, len, &it)?,
            });
            at = at.saturating_add(len);
        }
        Ok(all)
    }

    /// A state of a source as [`Bytes`]: read by range, checked by hash.
    pub fn bytes_of(&self, revision: Revision) -> RevisionBytes<'_> {
        RevisionBytes { archive: self, revision, last: Mutex::new(None) }
    }
}

/// The bytes of a piece if they are what they should be; otherwise what is wrong with `it`.
fn check(loaded: Loaded, id: PieceId, len: u64, it: &str) -> Result<Vec<u8>> {
    match loaded {
        Loaded::Found(bytes) if PieceId::of(&bytes) != id => {
            Err(Error::corrupt(format!("{it} differs from its hash")))
        }
        Loaded::Found(bytes) if u64::try_from(bytes.len()) != Ok(len) => {
            Err(Error::corrupt(format!("{it} has {} bytes and is listed with {len}", bytes.len())))
        }
        Loaded::Found(bytes) => Ok(bytes),
        Loaded::Missing => Err(Error::corrupt(format!("{it} is missing from the archive"))),
        Loaded::Expired { at, reason } => Err(Error::expired(format!("{it} {}", expired_words(at, &reason)))),
        Loaded::Erased { at, reason } => {
            Err(Error::expired(format!("{it} was {}", erased_words(at, &reason))))
        }
        Loaded::Redacted(redacted) => Err(Error::expired(format!("{it}: {}", redacted.words()))),
        Loaded::Damaged(why) => Err(Error::corrupt(format!("{it} is damaged: {why}"))),
        Loaded::Unreachable(why) => Err(Error::unavailable(format!("{it}: {why}"))),
    }
}

/// The bytes of `range` in a piece that holds the bytes `own` of its source.
fn part_of(piece: &[u8], own: ByteRange, range: ByteRange) -> &[u8] {
    let start = range.start().max(own.start()) - own.start();
    let end = range.end().min(own.end()).max(own.start()) - own.start();
    ByteRange::new(start, end).of(piece).unwrap_or_default()
}

/// A state of a source, read from the archive by range. The piece read last is kept.
#[derive(Debug)]
pub struct RevisionBytes<'a> {
    archive: &'a Archive,
    revision: Revision,
    last: Mutex<Option<(ByteRange, Vec<u8>)>>,
}

impl RevisionBytes<'_> {
    /// The revision.
    pub const fn revision(&self) -> &Revision {
        &self.revision
    }
}

impl Bytes for RevisionBytes<'_> {
    fn len(&self) -> u64 {
        self.revision.len
    }

    fn read(&self, range: ByteRange) -> Result<Cow<'_, [u8]>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = last.as_ref().filter(|(own, _)| own.contains(range));
        if let Some((own, piece)) = kept {
            return Ok(Cow::Owned(part_of(piece, *own, range).to_vec()));
        }
        match self.revision.pieces_of(&[range].into_iter().collect()).as_slice() {
            [(_, own)] if own.contains(range) => {
                let whole = match self.archive.read(&self.revision, *own) {
                    // Bytes were taken out of the piece; they need not be among those that are asked for.
                    Err(error) if error.kind() == ErrorKind::Expired => {
                        return self.archive.read(&self.revision, range).map(Cow::Owned);
                    }
                    read => read?,
                };
                let (_, piece) = last.insert((*own, whole));
                Ok(Cow::Owned(part_of(piece, *own, range).to_vec()))
            }
            _ => self.archive.read(&self.revision, range).map(Cow::Owned),
        }
    }
}
