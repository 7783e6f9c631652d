//! Journal entries: one for every act of the archive.

use strongroom_core::digest::{ArchiveId, ContentKey, Digest, PieceId, RevisionId, SourceId, Tag};
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

use crate::cover::Stamp;
use crate::source::{ItemFacts, Relation, SourceMeta, StoredRevision};
use crate::wire::{Reader, Writer};

const VERSION: u8 = 1;

/// What was done, in the words of docs/archive-format.md, section 5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    Created(ArchiveId),
    Stored { retention: Retention, pieces: Vec<(PieceId, u32)> },
    Extended { retention: Retention, pieces: Vec<PieceId> },
    Repaired(Vec<PieceId>),
    Source(SourceMeta),
    Revision { source: SourceId, revision: StoredRevision },
    Bound { tag: Tag, record: Digest },
    BoundAgain { tag: Tag, revision: RevisionId, neighbours: Vec<ContentKey> },
    Held { source: SourceId, reason: String },
    Released(SourceId),
    Capped(Retention),
    Linked { main: SourceId, kind: String, source: SourceId },
    Erased { keyed: [u8; 32], reason: String, at: Timestamp },
    Shredded { pieces: Vec<[u8; 32]>, sources: Vec<[u8; 32]>, order: Order },
    Stripped { tag: Tag, record: Digest, order: Order },
    Redacted(RedactedPiece),
    Encrypted { stamp: Stamp },
    Tiered { url: String, latency_ms: u64 },
    Cooled(Vec<Cooled>),
    Warmed(Vec<PieceId>),
    Swept(Vec<[u8; 32]>),
}

/// A piece whose bytes were moved to an object of the cold tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cooled {
    pub(crate) piece: PieceId,
    /// The object's name.
    pub(crate) object: [u8; 32],
    /// Its length, in bytes.
    pub(crate) len: u64,
}

/// Who ordered something, why, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Who.
    pub who: String,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

impl Order {
    /// Reason and person, as they are told.
    pub fn words(&self) -> String {
        format!("{}, by {}", self.reason, self.who)
    }
}

/// A piece of which bytes were taken out: all of them, also by earlier orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedactedPiece {
    pub(crate) piece: PieceId,
    /// The id that the piece would have with other bytes in place of those.
    pub(crate) rest: PieceId,
    pub(crate) cuts: Vec<Cut>,
}

/// Bytes that were taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) range: ByteRange,
    /// A hash over the bytes under a key that was given to whoever took them out.
    pub(crate) commitment: Digest,
    pub(crate) order: Order,
}

impl Entry {
    /// The entry's bytes: the leaf of the journal.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u8(VERSION);
        to.u8(self.kind());
        match self {
            Self::Created(archive) => to.digest(archive.digest()),
            Self::Stored { retention, pieces } => {
                to.retention(*retention);
                to.list(pieces, |to, (piece, len)| {
                    to.digest(piece.digest());
                    to.u32(*len);
                });
            }
            Self::Extended { retention, pieces } => {
                to.retention(*retention);
                to.list(pieces, |to, piece| to.digest(piece.digest()));
            }
            Self::Repaired(pieces) => to.list(pieces, |to, piece| to.digest(piece.digest())),
            Self::Source(meta) => encode_source(&mut to, meta),
            Self::Revision { source, revision } => encode_revision(&mut to, *source, revision),
            Self::Bound { tag, record } => {
                to.raw(tag.as_bytes());
                to.digest(record);
            }
            Self::BoundAgain { tag, revision, neighbours } => {
                to.raw(tag.as_bytes());
                to.digest(revision.digest());
                to.list(neighbours, |to, key| to.digest(key.digest()));
            }
            Self::Held { source, reason } => {
                to.digest(source.digest());
                to.text(reason);
            }
            Self::Released(source) => to.digest(source.digest()),
            Self::Capped(retention) => to.retention(*retention),
            Self::Linked { main, kind, source } => {
                to.digest(main.digest());
                to.text(kind);
                to.digest(source.digest());
            }
            Self::Erased { keyed, reason, at } => {
                to.raw(keyed);
                to.text(reason);
                to.i64(at.as_ms());
            }
            Self::Shredded { pieces, sources, order } => {
                to.list(pieces, |to, keyed| to.raw(keyed));
                to.list(sources, |to, keyed| to.raw(keyed));
                encode_order(&mut to, order);
            }
            Self::Stripped { tag, record, order } => {
                to.raw(tag.as_bytes());
                to.digest(record);
                encode_order(&mut to, order);
            }
            Self::Redacted(redacted) => encode_redacted(&mut to, redacted),
            Self::Encrypted { stamp } => to.raw(stamp),
            Self::Tiered { url, latency_ms } => {
                to.text(url);
                to.u64(*latency_ms);
            }
            Self::Cooled(pieces) => to.list(pieces, |to, cooled| {
                to.digest(cooled.piece.digest());
                to.raw(&cooled.object);
                to.u64(cooled.len);
            }),
            Self::Warmed(pieces) => to.list(pieces, |to, piece| to.digest(piece.digest())),
            Self::Swept(objects) => to.list(objects, |to, object| to.raw(object)),
        }
        to.finish()
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Created(_) => 1,
            Self::Stored { .. } => 2,
            Self::Extended { .. } => 3,
            Self::Repaired(_) => 4,
            Self::Source(_) => 5,
            Self::Revision { .. } => 6,
            Self::Bound { .. } => 7,
            Self::BoundAgain { .. } => 8,
            Self::Held { .. } => 9,
            Self::Released(_) => 10,
            Self::Capped(_) => 11,
            Self::Linked { .. } => 12,
            Self::Erased { .. } => 13,
            Self::Shredded { .. } => 14,
            Self::Stripped { .. } => 15,
            Self::Redacted(_) => 16,
            Self::Encrypted { .. } => 17,
            Self::Tiered { .. } => 18,
            Self::Cooled(_) => 19,
            Self::Warmed(_) => 20,
            Self::Swept(_) => 21,
        }
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are no entry of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, "a journal entry");
        let version = from.u8()?;
        if version != VERSION {
            return Err(from.malformed(&format!("version {version} is not known")));
        }
        let kind = from.u8()?;
        let entry = Self::decode_fields(kind, &mut from)?;
        from.finish()?;
        Ok(entry)
    }

    fn decode_fields(kind: u8, from: &mut Reader<'_>) -> Result<Self> {
        Ok(match kind {
            1 => Self::Created(ArchiveId::new(from.digest()?)),
            2 => Self::Stored {
                retention: from.retention()?,
                pieces: from.list(|from| Ok((PieceId::new(from.digest()?), from.u32()?)))?,
            },
            3 => Self::Extended { retention: from.retention()?, pieces: from.list(piece)? },
            4 => Self::Repaired(from.list(piece)?),
            5 => Self::Source(decode_source(from)?),
            6 => decode_revision(from)?,
            7 => Self::Bound { tag: Tag::from_bytes(from.array()?), record: from.digest()? },
            8 => Self::BoundAgain {
                tag: Tag::from_bytes(from.array()?),
                revision: RevisionId::new(from.digest()?),
                neighbours: from.list(|from| from.digest().map(ContentKey::new))?,
            },
            9 => Self::Held { source: source(from)?, reason: from.text()? },
            10 => Self::Released(source(from)?),
            11 => Self::Capped(from.retention()?),
            12 => Self::Linked { main: source(from)?, kind: from.text()?, source: source(from)? },
            13 => Self::Erased {
                keyed: from.array()?,
                reason: from.text()?,
                at: Timestamp::from_ms(from.i64()?),
            },
            14 => Self::Shredded {
                pieces: from.list(Reader::array)?,
                sources: from.list(Reader::array)?,
                order: decode_order(from)?,
            },
            15 => Self::Stripped {
                tag: Tag::from_bytes(from.array()?),
                record: from.digest()?,
                order: decode_order(from)?,
            },
            16 => Self::Redacted(RedactedPiece {
                piece: piece(from)?,
                rest: piece(from)?,
                cuts: from.list(decode_cut)?,
            }),
            17 => Self::Encrypted { stamp: from.array()? },
            18 => Self::Tiered { url: from.text()?, latency_ms: from.u64()? },
            19 => {
                Self::Cooled(from.list(|from| {
                    Ok(Cooled { piece: piece(from)?, object: from.array()?, len: from.u64()? })
                })?)
            }
            20 => Self::Warmed(from.list(piece)?),
            21 => Self::Swept(from.list(Reader::array)?),
            other => return Err(from.malformed(&format!("kind {other} is not known"))),
        })
    }
}

fn piece(from: &mut Reader<'_>) -> Result<PieceId> {
    from.digest().map(PieceId::new)
}

fn source(from: &mut Reader<'_>) -> Result<SourceId> {
    from.digest().map(SourceId::new)
}

fn encode_order(to: &mut Writer, order: &Order) {
    to.text(&order.who);
    to.text(&order.reason);
    to.i64(order.at.as_ms());
}

fn decode_order(from: &mut Reader<'_>) -> Result<Order> {
    Ok(Order { who: from.text()?, reason: from.text()?, at: Timestamp::from_ms(from.i64()?) })
}

fn encode_redacted(to: &mut Writer, redacted: &RedactedPiece) {
    to.digest(redacted.piece.digest());
    to.digest(redacted.rest.digest());
    to.list(&redacted.cuts, |to, cut| {
        to.u64(cut.range.start());
        to.u64(cut.range.end());
        to.digest(&cut.commitment);
        encode_order(to, &cut.order);
    });
}

fn decode_cut(from: &mut Reader<'_>) -> Result<Cut> {
    let (start, end) = (from.u64()?, from.u64()?);
    if start > end {
        return Err(from.malformed("a range ends before it begins"));
    }
    let range = ByteRange::new(start, end);
    Ok(Cut { range, commitment: from.digest()?, order: decode_order(from)? })
}

fn encode_source(to: &mut Writer, meta: &SourceMeta) {
    to.digest(meta.id.digest());
    to.text(&meta.name);
    to.text(&meta.format);
    to.option(meta.session.as_ref(), |to, session| to.text(session));
    to.u64(meta.facts.size_bytes);
    to.i64(meta.facts.mtime_ms);
    to.u64(meta.facts.inode);
    to.u64(meta.facts.device);
}

fn decode_source(from: &mut Reader<'_>) -> Result<SourceMeta> {
    Ok(SourceMeta {
        id: source(from)?,
        name: from.text()?,
        format: from.text()?,
        session: from.option(Reader::text)?,
        facts: ItemFacts {
            size_bytes: from.u64()?,
            mtime_ms: from.i64()?,
            inode: from.u64()?,
            device: from.u64()?,
        },
    })
}

fn encode_revision(to: &mut Writer, source: SourceId, revision: &StoredRevision) {
    to.digest(source.digest());
    to.u32(revision.number);
    to.digest(revision.id.digest());
    to.u8(revision.relation.code());
    to.u32(revision.shared);
    to.u64(revision.len);
    to.u32(revision.pieces);
    to.i64(revision.at.as_ms());
}

fn decode_revision(from: &mut Reader<'_>) -> Result<Entry> {
    let source = source(from)?;
    let number = from.u32()?;
    let id = RevisionId::new(from.digest()?);
    let code = from.u8()?;
    let relation =
        Relation::from_code(code).ok_or_else(|| from.malformed(&format!("{code} is no relation")))?;
    let shared = from.u32()?;
    let len = from.u64()?;
    let pieces = from.u32()?;
    let at = Timestamp::from_ms(from.i64()?);
    Ok(Entry::Revision { source, revision: StoredRevision { id, number, len, pieces, relation, shared, at } })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn examples() -> Vec<Entry> {
        let digest = Digest::of(b"x");
        let (source, piece, tag) = (SourceId::new(digest), PieceId::new(digest), Tag::from_bytes([3; 16]));
        let facts = ItemFacts { size_bytes: 1, mtime_ms: -2, inode: u64::MAX, device: 4 };
        let meta = SourceMeta {
            id: source,
            name: "/é".into(),
            format: "f".into(),
            session: Some("s".into()),
            facts,
        };
        let id = RevisionId::new(digest);
        let at = Timestamp::from_ms(9);
        let revision =
            StoredRevision { id, number: 2, len: 3, pieces: 4, relation: Relation::Extends, shared: 1, at };
        let order = Order { who: "ops".into(), reason: "asked for it".into(), at };
        vec![
            Entry::Created(ArchiveId::new(digest)),
            Entry::Stored { retention: Retention::Until(at), pieces: vec![(piece, 7)] },
            Entry::Extended { retention: Retention::Unknown, pieces: vec![piece, piece] },
            Entry::Repaired(vec![]),
            Entry::Source(SourceMeta { session: None, ..meta.clone() }),
            Entry::Source(meta),
            Entry::Revision { source, revision },
            Entry::Bound { tag, record: digest },
            Entry::BoundAgain { tag, revision: id, neighbours: vec![ContentKey::new(digest)] },
            Entry::Held { source, reason: "court".into() },
            Entry::Released(source),
            Entry::Capped(Retention::Indefinite),
            Entry::Linked { main: source, kind: "child".into(), source },
            Entry::Erased { keyed: [9; 32], reason: "kept until then".into(), at },
            Entry::Shredded { pieces: vec![[8; 32], [7; 32]], sources: vec![[6; 32]], order: order.clone() },
            Entry::Stripped { tag, record: digest, order: order.clone() },
            Entry::Redacted(RedactedPiece {
                piece,
                rest: piece,
                cuts: vec![Cut { range: ByteRange::new(3, 9), commitment: digest, order }],
            }),
            Entry::Encrypted { stamp: [5; 16] },
            Entry::Tiered { url: "s3://bucket".into(), latency_ms: 900 },
            Entry::Cooled(vec![Cooled { piece, object: [4; 32], len: 12 }]),
            Entry::Warmed(vec![piece]),
            Entry::Swept(vec![[4; 32], [3; 32]]),
        ]
    }

    #[test]
    fn entries_come_back_and_no_shorter_one_does() {
        for entry in examples() {
            let bytes = entry.encode();
            assert_eq!(Entry::decode(&bytes).unwrap(), entry);
            for end in 0..bytes.len() {
                assert!(Entry::decode(&bytes[..end]).is_err(), "{entry:?} cut at {end}");
            }
            assert!(Entry::decode(&[bytes, vec![0]].concat()).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 2..300), kind in 0..23u8) {
            bytes[0] = VERSION;
            bytes[1] = kind;
            if let Ok(entry) = Entry::decode(&bytes) {
                prop_assert_eq!(entry.encode(), bytes);
            }
        }
    }
}
