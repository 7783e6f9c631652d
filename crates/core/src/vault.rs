//! What the core sees of an archive: batches of pieces in, proofs out, and the register of compactions.

use crate::digest::{ContentKey, Digest, PieceId, RevisionId, SourceId, SpanHash, Tag};
use crate::error::Result;
use crate::evidence::Omissions;
use crate::range::{ByteRange, RangeSet};
use crate::time::Timestamp;

/// The largest piece, in bytes.
pub const PIECE_BYTES_MAX: u64 = 1 << 20;

/// At most 1 MiB of original bytes with the hash that names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    id: PieceId,
    bytes: Vec<u8>,
}

impl Piece {
    /// Names `bytes`; the caller cuts them to at most [`PIECE_BYTES_MAX`].
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { id: PieceId::of(&bytes), bytes }
    }

    /// The piece's id.
    pub const fn id(&self) -> PieceId {
        self.id
    }

    /// The original bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// How long an original is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Retention {
    /// At least until this instant.
    Until(Timestamp),
    /// Without end.
    Indefinite,
    /// Not known; counts as expired.
    Unknown,
}

impl Retention {
    /// Whether an original is kept at least until `needed`.
    pub fn covers(self, needed: Timestamp) -> bool {
        match self {
            Self::Until(until) => until >= needed,
            Self::Indefinite => true,
            Self::Unknown => false,
        }
    }

    /// The longer of two, where unknown is shortest.
    #[must_use]
    pub fn or_longer(self, other: Self) -> Self {
        match (self, other) {
            (Self::Indefinite, _) | (_, Self::Indefinite) => Self::Indefinite,
            (Self::Until(one), Self::Until(two)) => Self::Until(one.max(two)),
            (known @ Self::Until(_), Self::Unknown) | (Self::Unknown, known) => known,
        }
    }

    /// The shorter of two, where unknown is shortest.
    #[must_use]
    pub fn or_shorter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Until(one), Self::Until(two)) => Self::Until(one.min(two)),
            (until @ Self::Until(_), Self::Indefinite) | (Self::Indefinite, until) => until,
        }
    }
}

/// Where a piece is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// In the archive's own database.
    Hot,
    /// In a slower store.
    Cold,
}

/// What the catalog says of a stored piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceStat {
    /// How long it is kept.
    pub retention: Retention,
    /// Whether a hold forbids deleting it.
    pub hold: Hold,
    /// Where it is.
    pub tier: Tier,
    /// The longest a read from its tier is expected to take.
    pub latency_ms_max: u64,
}

/// Whether a hold is on something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hold {
    /// No hold.
    None,
    /// It must not be deleted.
    Held,
}

/// The state of one piece as read back from storage.
#[derive(Debug)]
pub enum Loaded {
    /// Its bytes, not yet compared with the id.
    Found(Vec<u8>),
    /// It is not there.
    Missing,
    /// It was deleted, as a rule because its retention had ended.
    Expired {
        /// When it was deleted.
        at: Timestamp,
        /// Why, in words.
        reason: String,
    },
    /// It was erased by order.
    Erased {
        /// When.
        at: Timestamp,
        /// Why, and who ordered it, in words.
        reason: String,
    },
    /// It is there without some of its bytes, which were taken out by order.
    Redacted(Redacted),
    /// It is there and cannot be read, with the reason.
    Damaged(String),
    /// Nothing is known of it: what keeps it does not answer. It is not lost.
    Unreachable(String),
}

/// What stands in place of each byte that was taken out: a JSON string may hold it, and no text does.
pub const REDACTED_BYTE: u8 = 0x7f;

/// A piece without some of its bytes. What is left was compared with the journal, not with the piece's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The bytes, as many as before, with [`REDACTED_BYTE`] in place of those that were taken out.
    pub bytes: Vec<u8>,
    /// Which bytes of the piece were taken out.
    pub cuts: Vec<Redaction>,
}

/// Bytes that were taken out of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// Which of the piece.
    pub range: ByteRange,
    /// When.
    pub at: Timestamp,
    /// Why, and who ordered it, in words.
    pub reason: String,
}

impl Redaction {
    /// What is said of it.
    pub fn words(&self) -> String {
        format!("redacted {} bytes, {}, {}", self.range.len(), self.at.day(), self.reason)
    }
}

impl Redacted {
    /// What is said of all that was taken out.
    pub fn words(&self) -> String {
        self.cuts.iter().map(Redaction::words).collect::<Vec<_>>().join("; ")
    }
}

impl Loaded {
    /// The bytes, compared with the piece's `id`.
    ///
    /// # Errors
    /// In words, why the original is not there unchanged.
    pub fn verified(self, id: PieceId) -> Result<Vec<u8>, String> {
        match self {
            Self::Found(bytes) if PieceId::of(&bytes) == id => Ok(bytes),
            Self::Found(_) => Err("hash differs".to_owned()),
            Self::Missing => Err("not in the archive".to_owned()),
            Self::Expired { at, reason } => Err(expired_words(at, &reason)),
            Self::Erased { at, reason } => Err(erased_words(at, &reason)),
            Self::Redacted(redacted) => Err(redacted.words()),
            Self::Damaged(why) | Self::Unreachable(why) => Err(why),
        }
    }
}

/// What is said of an original that was deleted at `at`.
pub fn expired_words(at: Timestamp, reason: &str) -> String {
    format!("expired: deleted on {} ({reason})", at.day())
}

/// What is said of an original that was erased by order at `at`.
pub fn erased_words(at: Timestamp, reason: &str) -> String {
    format!("erased on {} ({reason})", at.day())
}

/// Synchronous, batched storage of pieces.
pub trait Vault {
    /// Stores `pieces` in one commit and keeps them at least for `retention`, which is never shortened.
    /// Returning means durable.
    ///
    /// # Errors
    /// `Unavailable` when nothing was stored, `Busy` when another process holds the archive.
    fn store(&self, pieces: &[Piece], retention: Retention) -> Result<()>;

    /// Keeps stored pieces at least for `retention`; pieces that are not there are passed over.
    ///
    /// # Errors
    /// As [`Vault::store`].
    fn extend(&self, pieces: &[PieceId], retention: Retention) -> Result<()>;

    /// Reads pieces through a handle that has not written them, in order.
    ///
    /// # Errors
    /// `Unavailable` when the archive as a whole cannot be read; a single piece's trouble is a [`Loaded`].
    fn load(&self, pieces: &[PieceId]) -> Result<Vec<Loaded>>;

    /// What the catalog says of pieces, in order; `None` of one that is not there.
    ///
    /// # Errors
    /// `Unavailable` when the catalog cannot be read.
    fn stat(&self, pieces: &[PieceId]) -> Result<Vec<Option<PieceStat>>>;
}

/// A state of a source as a list of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The root over the pieces.
    pub id: RevisionId,
    /// The source it is a state of.
    pub source: SourceId,
    /// The number of bytes.
    pub len: u64,
    /// The pieces in order, each with its number of bytes.
    pub pieces: Vec<(PieceId, u64)>,
}

impl Revision {
    /// The pieces that hold bytes of `ranges`, each with the offset of its first byte.
    pub fn pieces_of(&self, ranges: &RangeSet) -> Vec<(PieceId, ByteRange)> {
        let mut at = 0;
        let mut found = Vec::new();
        for &(id, len) in &self.pieces {
            let own = ByteRange::new(at, at + len);
            if ranges.overlaps(own) {
                found.push((id, own));
            }
            at += len;
        }
        found
    }
}

/// Where the original of a span is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The state of the source.
    pub revision: RevisionId,
    /// The bytes in it.
    pub ranges: RangeSet,
}

/// One span under a compaction record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundSpan {
    /// Its number under the tag, from 1.
    pub ordinal: u32,
    /// Its class when it was judged, by name.
    pub class: String,
    /// Where its original is; `None` of narrative that was not deposited.
    pub location: Option<Location>,
    /// The hash over its bytes.
    pub hash: SpanHash,
    /// The hash over what it says.
    pub content: ContentKey,
    /// What its original holds.
    pub holds: Omissions,
    /// How it stands in the summary; the last account of it should the original vanish.
    pub rendering: String,
    /// How long its original was promised when it was bound.
    pub retention: Retention,
    /// The name of the waiver, where it was waived.
    pub waiver: Option<String>,
    /// Whether its original was already gone when this generation was made.
    pub remains: Remains,
}

/// Whether more than a rendering is left of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remains {
    /// The original was proved retrievable.
    Original,
    /// Only the rendering is left, or the original was never kept.
    OnlyAccount,
}

/// The durable link from a summary to its originals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRecord {
    /// The keyed tag.
    pub tag: Tag,
    /// The source that was compacted.
    pub source: SourceId,
    /// The state of the source that was compacted.
    pub revision: RevisionId,
    /// The adapter's name.
    pub format: String,
    /// 1 for the first compaction of this line of generations.
    pub generation: u32,
    /// The tags of earlier generations whose spans are carried over.
    pub parents: Vec<Tag>,
    /// The hash of the decoded text of the summary.
    pub summary: Digest,
    /// The summary's text.
    pub summary_text: String,
    /// The reclaimed spans.
    pub spans: Vec<BoundSpan>,
    /// Content keys of kept spans, in order: a file is found again by them when tag and summary are gone.
    pub neighbours: Vec<ContentKey>,
    /// When it was bound.
    pub bound_at: Timestamp,
}

/// What a tag is computed over.
#[derive(Debug, Clone, Copy)]
pub struct TagInput<'a> {
    /// The source.
    pub source: SourceId,
    /// The generation.
    pub generation: u32,
    /// The hashes of the spans under the tag, in order.
    pub spans: &'a [SpanHash],
    /// The number of the summary of these spans, from 0: another budget says more of them, or less.
    pub wording: u32,
}

/// The register of compactions.
pub trait Registry {
    /// The keyed tag for `input`; the same input gives the same tag in the same archive.
    fn tag(&self, input: &TagInput<'_>) -> Tag;

    /// Writes `record` durably, or finds the identical one there.
    ///
    /// # Errors
    /// `Unavailable` when it could not be made durable: then no summary may leave.
    fn bind(&self, record: &CompactionRecord) -> Result<()>;

    /// The record with this tag.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    fn by_tag(&self, tag: Tag) -> Result<Option<CompactionRecord>>;

    /// The tags of records whose summary has this hash.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    fn by_summary(&self, summary: Digest) -> Result<Vec<Tag>>;

    /// The tags of records that share most kept neighbours with `neighbours`, best first.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    fn by_neighbours(&self, neighbours: &[ContentKey]) -> Result<Vec<(Tag, u32)>>;

    /// The revision with this id.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    fn revision(&self, id: RevisionId) -> Result<Option<Revision>>;
}
