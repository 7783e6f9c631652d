//! Custody: cutting sources into pieces and handing them to the archive with what is known of them.

use std::path::Path;

use strongroom_archive::Archive;
use strongroom_archive::custody::NewRevision;
use strongroom_archive::cut::{self, Cutter};
use strongroom_archive::source::{ItemFacts, SourceMeta, StoredRevision, source_id};
use strongroom_core::digest::{Digest, PieceId, RevisionId, SourceId};
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Bytes;
use strongroom_core::vault::{Loaded, Piece, Retention, Revision};

use crate::files::facts_at;
use crate::transcript::{GoneBytes, GoneKind, Output, Transcript};

/// How much of a source is read at once, in bytes.
const CHUNK: u64 = 1 << 20;

/// How many pieces go into one commit.
const BATCH: usize = 64;

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
        let mut cutter = Cutter::new();
        let mut cut = Vec::new();
        let mut at = 0;
        while at < source.len() {
            let end = (at + CHUNK).min(source.len());
            cut.extend(cutter.push(&source.read(ByteRange::new(at, end))?));
            at = end;
        }
        cut.extend(cutter.finish());
        let pieces = cut::pieces(cut);
        let revision =
            revision(id, pieces.iter().map(|piece| (piece.id(), Bytes::len(piece.bytes()))).collect());
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
    let ids: Vec<PieceId> = cut::cut(&bytes).iter().map(Piece::id).collect();
    Ok(RevisionId::of(&ids))
}

/// When and how long something is taken into custody.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// How long it is kept at least.
    pub retention: Retention,
    /// The present.
    pub now: Timestamp,
}

/// What the archive notes of a transcript.
///
/// # Errors
/// `Unavailable` when reading fails.
pub fn meta_of(transcript: &Transcript, archive: &Archive) -> Result<SourceMeta> {
    let name = match (transcript.path(), transcript.conversation()) {
        (Some(path), _) => path.display().to_string(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => format!("content:{}", Digest::of(&transcript.all_bytes()?)),
    };
    Ok(SourceMeta {
        id: source_id(archive.id(), &name),
        name,
        format: transcript.format().name().to_owned(),
        session: transcript.session().map(str::to_owned),
        facts: facts_of_read(transcript.path(), transcript.source().len()),
    })
}

/// The facts of a file of which `len` bytes were read; of one that has another length by now, that length alone, so that
/// it is not taken for unchanged.
fn facts_of_read(path: Option<&Path>, len: u64) -> ItemFacts {
    let now = facts(path, len);
    if now.size_bytes == len { now } else { ItemFacts { size_bytes: len, ..ItemFacts::default() } }
}

/// By what a file is recognised as unchanged; of what is no file, its length alone.
pub fn facts(path: Option<&Path>, len: u64) -> ItemFacts {
    path.and_then(facts_at).unwrap_or(ItemFacts { size_bytes: len, ..ItemFacts::default() })
}

/// Takes a whole source into custody, reading it in chunks; memory does not grow with its size.
///
/// # Errors
/// `Unavailable` when it cannot be read or stored.
pub fn take_in(
    archive: &Archive,
    source: &dyn Bytes,
    meta: &SourceMeta,
    terms: Terms,
    progress: &mut dyn FnMut(u64),
) -> Result<StoredRevision> {
    let mut reader = Reader { source, at: 0, progress };
    archive.import(meta, &mut reader, terms.retention, terms.now)
}

/// Records a revision whose pieces are stored.
///
/// # Errors
/// `Unavailable` when nothing was recorded.
pub fn record(archive: &Archive, meta: &SourceMeta, revision: &Revision, terms: Terms) -> Result<()> {
    let new =
        NewRevision { source: meta, pieces: &revision.pieces, retention: terms.retention, at: terms.now };
    archive.put_revision(&new).map(|_| ())
}

/// Takes an out-of-line output into custody.
///
/// # Errors
/// `Unavailable` when it cannot be stored.
pub fn take_in_output(archive: &Archive, output: &Output, terms: Terms) -> Result<SourceId> {
    let name = name_of(&output.path);
    let meta = SourceMeta {
        id: source_id(archive.id(), &name),
        name,
        format: "output".to_owned(),
        session: None,
        facts: facts_of_read(Some(&output.path), Bytes::len(&output.bytes)),
    };
    take_in(archive, &output.bytes, &meta, terms, &mut |_| {})?;
    Ok(meta.id)
}

/// The name of a file in the archive: its absolute path.
pub fn name_of(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// A source as a stream.
struct Reader<'a> {
    source: &'a dyn Bytes,
    at: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl std::io::Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let room = u64::try_from(buffer.len()).unwrap_or(u64::MAX);
        let end = self.source.len().min(self.at.saturating_add(room));
        let bytes = self.source.read(ByteRange::new(self.at, end)).map_err(std::io::Error::other)?;
        let (taken, _) = buffer.split_at_mut(bytes.len());
        taken.copy_from_slice(&bytes);
        (self.progress)(end - self.at);
        self.at = end;
        Ok(bytes.len())
    }
}

/// The present, for terms that begin now: never before the last act in the archive. An original that is taken in under a
/// clock that stands in the past is kept as long as any other.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub fn present(archive: &Archive, now: Timestamp) -> Result<Timestamp> {
    Ok(archive.last_time()?.map_or(now, |last| last.max(now)))
}

/// The bytes of a revision, as far as they are left, and what is not: pieces that are gone, damaged or out of reach are NUL bytes,
/// bytes that were taken out by order are [`REDACTED_BYTE`](strongroom_core::vault::REDACTED_BYTE).
///
/// # Errors
/// `Unavailable` when the archive as a whole cannot be read.
pub fn restore(archive: &Archive, revision: &Revision) -> Result<(Vec<u8>, Vec<GoneBytes>)> {
    let mut bytes = Vec::with_capacity(usize::try_from(revision.len).unwrap_or(0));
    let mut gone = Vec::new();
    for batch in revision.pieces.chunks(BATCH) {
        let ids: Vec<PieceId> = batch.iter().map(|&(id, _)| id).collect();
        for (&(id, len), loaded) in batch.iter().zip(archive.load_of(revision.source, &ids)?) {
            let start = Bytes::len(&bytes);
            if let Loaded::Redacted(redacted) = loaded {
                let cuts = redacted.cuts.iter();
                gone.extend(cuts.map(|cut| GoneBytes {
                    range: cut.range.shifted(start),
                    kind: GoneKind::Cut,
                    why: cut.words(),
                }));
                bytes.extend_from_slice(&redacted.bytes);
                continue;
            }
            let kind = match loaded {
                Loaded::Unreachable(_) => GoneKind::Away,
                _ => GoneKind::Piece,
            };
            match loaded.verified(id) {
                Ok(own) => bytes.extend_from_slice(&own),
                Err(why) => {
                    let range = ByteRange::new(start, start + len);
                    gone.push(GoneBytes { range, kind, why });
                    bytes.resize(bytes.len() + usize::try_from(len).unwrap_or(0), 0);
                }
            }
        }
    }
    Ok((bytes, gone))
}
