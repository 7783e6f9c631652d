//! Custody: cutting sources into pieces and handing them to the archive with what is known of them.

use std::path::Path;

use strongroom_archive::{Archive, Cutter, SourceMeta};
use strongroom_core::digest::{PieceId, RevisionId, SourceId};
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes;
use strongroom_core::vault::{Loaded, Piece, Retention, Revision, Vault as _};

use crate::files::FileIdentity;
use crate::transcript::{Output, Transcript};

/// How much of a source is read at once, in bytes.
const CHUNK: u64 = 1 << 20;

/// How many pieces go into one commit.
const BATCH: usize = 64;

/// Cuts `source` into pieces, in order.
///
/// # Errors
/// `Unavailable` when reading fails, and what `take` returns.
pub fn cut(source: &dyn Bytes, take: &mut dyn FnMut(Piece) -> Result<()>) -> Result<()> {
    let mut cutter = Cutter::new();
    let mut at = 0;
    while at < source.len() {
        let end = (at + CHUNK).min(source.len());
        let bytes = source.read(ByteRange::new(at, end))?;
        for piece in cutter.push(&bytes) {
            take(piece)?;
        }
        at = end;
    }
    cutter.finish().map_or(Ok(()), take)
}

/// The pieces of a source and the revision they make.
#[derive(Debug)]
pub struct Intake {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// The revision.
    pub revision: Revision,
}

impl Intake {
    /// Cuts all of `source`.
    ///
    /// # Errors
    /// `Unavailable` when reading fails.
    pub fn of(source: &dyn Bytes, id: SourceId) -> Result<Self> {
        let mut pieces = Vec::new();
        cut(source, &mut |piece| {
            pieces.push(piece);
            Ok(())
        })?;
        let revision = revision(id, pieces.iter().map(|piece| (piece.id(), Bytes::len(piece.bytes()))).collect());
        Ok(Self { pieces, revision })
    }
}

fn revision(source: SourceId, pieces: Vec<(PieceId, u64)>) -> Revision {
    let ids: Vec<PieceId> = pieces.iter().map(|&(id, _)| id).collect();
    Revision { id: RevisionId::of(&ids), source, len: pieces.iter().map(|&(_, len)| len).sum(), pieces }
}

/// The revision that the first `len` bytes of `source` make.
///
/// # Errors
/// `Unavailable` when reading fails.
pub fn revision_of_prefix(source: &dyn Bytes, len: u64) -> Result<RevisionId> {
    let bytes = source.read(ByteRange::new(0, len.min(source.len())))?;
    let mut ids = Vec::new();
    cut(bytes.as_ref(), &mut |piece| {
        ids.push(piece.id());
        Ok(())
    })?;
    Ok(RevisionId::of(&ids))
}

/// What the archive notes of a transcript.
///
/// # Errors
/// `Unavailable` when reading fails.
pub fn meta_of(transcript: &Transcript, archive: &Archive) -> Result<SourceMeta> {
    let name = match transcript.path() {
        Some(path) => path.display().to_string(),
        None => format!("content:{}", strongroom_core::digest::Digest::of(&transcript.all_bytes()?)),
    };
    let identity = transcript.path().and_then(|path| std::fs::metadata(path).ok()).map(|meta| crate::files::identity(&meta));
    let format = transcript.format().name();
    let session = transcript.session().map(str::to_owned);
    Ok(meta(archive, name, format, session, identity, transcript.source().len()))
}

/// What the archive notes of a source.
pub fn meta(
    archive: &Archive,
    name: String,
    format: &str,
    session: Option<String>,
    identity: Option<FileIdentity>,
    len: u64,
) -> SourceMeta {
    let identity = identity.unwrap_or(FileIdentity { size: len, modified_ms: 0, inode: 0, device: 0 });
    SourceMeta {
        id: archive.source_id(&name),
        name,
        format: format.to_owned(),
        session,
        size: identity.size,
        mtime_ms: identity.modified_ms,
        inode: identity.inode,
        device: identity.device,
    }
}

/// The bytes of a revision, as far as they are left; pieces that are gone or damaged are NUL bytes, and named.
///
/// # Errors
/// `Unavailable` when the archive as a whole cannot be read.
pub fn restore(archive: &Archive, revision: &Revision) -> Result<(Vec<u8>, Vec<LostPiece>)> {
    let mut bytes = Vec::with_capacity(usize::try_from(revision.len).unwrap_or(0));
    let mut lost = Vec::new();
    for batch in revision.pieces.chunks(BATCH) {
        let ids: Vec<PieceId> = batch.iter().map(|&(id, _)| id).collect();
        for (&(id, len), loaded) in batch.iter().zip(archive.load(&ids)?) {
            let why = match loaded {
                Loaded::Found(own) if PieceId::of(&own) == id => {
                    bytes.extend_from_slice(&own);
                    continue;
                }
                Loaded::Found(_) => "hash differs".to_owned(),
                Loaded::Missing => "not in the archive".to_owned(),
                Loaded::Expired => "expired".to_owned(),
                Loaded::Damaged(why) => why,
            };
            let start = Bytes::len(&bytes);
            lost.push(LostPiece { id, range: ByteRange::new(start, start + len), why });
            bytes.resize(bytes.len() + usize::try_from(len).unwrap_or(0), 0);
        }
    }
    Ok((bytes, lost))
}

/// A piece of a revision that could not be read back.
#[derive(Debug, Clone)]
pub struct LostPiece {
    /// The piece.
    pub id: PieceId,
    /// Its bytes in the source.
    pub range: ByteRange,
    /// Why.
    pub why: String,
}

/// Takes a whole source into custody, reading it in chunks; memory does not grow with its size.
///
/// # Errors
/// `Unavailable` when it cannot be read or stored.
pub fn take_in(
    archive: &Archive,
    source: &dyn Bytes,
    meta: &SourceMeta,
    retention: Retention,
    progress: &mut dyn FnMut(u64),
) -> Result<Revision> {
    let mut batch: Vec<Piece> = Vec::new();
    let mut list: Vec<(PieceId, u64)> = Vec::new();
    cut(source, &mut |piece| {
        list.push((piece.id(), Bytes::len(piece.bytes())));
        progress(Bytes::len(piece.bytes()));
        batch.push(piece);
        if batch.len() < BATCH {
            return Ok(());
        }
        archive.store(&batch, retention)?;
        batch.clear();
        Ok(())
    })?;
    archive.store(&batch, retention)?;
    archive.put_revision(meta, &list, retention)
}

/// Takes an out-of-line output into custody.
///
/// # Errors
/// `Unavailable` when it cannot be stored.
pub fn take_in_output(archive: &Archive, output: &Output, retention: Retention) -> Result<Revision> {
    let identity = std::fs::metadata(&output.path).ok().map(|meta| crate::files::identity(&meta));
    let name = name_of(&output.path);
    let meta = meta(archive, name, "output", None, identity, Bytes::len(&output.bytes));
    take_in(archive, &output.bytes, &meta, retention, &mut |_| {})
}

/// The name of a file in the archive: its absolute path.
pub fn name_of(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
