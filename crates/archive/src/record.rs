//! The bytes of a compaction record, in the words of docs/archive-format.md, section 6.

use strongroom_core::digest::{ContentKey, Digest, RevisionId, SourceId, SpanHash, Tag};
use strongroom_core::error::Result;
use strongroom_core::evidence::{AtomCounts, AtomKind, Omissions};
use strongroom_core::range::{ByteRange, RangeSet};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{BoundSpan, CompactionRecord, Location, Remains, Retention};

use crate::wire::{Reader, Writer};

const VERSION: u8 = 1;

/// The largest record, in bytes before encoding.
pub(crate) const RECORD_BYTES_MAX: u64 = 256 << 20;

pub(crate) fn encode(record: &CompactionRecord) -> Vec<u8> {
    let mut to = Writer::default();
    to.u8(VERSION);
    to.raw(record.tag.as_bytes());
    to.digest(record.source.digest());
    to.digest(record.revision.digest());
    to.text(&record.format);
    to.u32(record.generation);
    to.list(&record.parents, |to, tag| to.raw(tag.as_bytes()));
    to.digest(&record.summary);
    to.text(&record.summary_text);
    to.list(&record.spans, encode_span);
    to.list(&record.neighbours, |to, key| to.digest(key.digest()));
    to.i64(record.bound_at.as_ms());
    to.finish()
}

fn encode_span(to: &mut Writer, span: &BoundSpan) {
    to.u32(span.ordinal);
    to.text(&span.class);
    to.option(span.location.as_ref(), |to, location| {
        to.digest(location.revision.digest());
        to.list(location.ranges.as_slice(), |to, range| {
            to.u64(range.start());
            to.u64(range.end());
        });
    });
    to.digest(span.hash.digest());
    to.digest(span.content.digest());
    encode_omissions(to, &span.holds);
    to.text(&span.rendering);
    to.retention(span.retention);
    to.option(span.waiver.as_ref(), |to, waiver| to.text(waiver));
    to.u8(match span.remains {
        Remains::Original => 0,
        Remains::OnlyAccount => 1,
    });
}

fn encode_omissions(to: &mut Writer, omissions: &Omissions) {
    match omissions {
        Omissions::Nameable(counts) => {
            to.u8(0);
            let counts: Vec<(AtomKind, u32)> = counts.iter().collect();
            to.list(&counts, |to, (kind, count)| {
                to.text(kind.word());
                to.u32(*count);
            });
        }
        Omissions::Unnameable(reason) => {
            to.u8(1);
            to.text(reason);
        }
    }
}

/// Reads a record.
///
/// # Errors
/// `Corrupt` when the bytes are no record of this version.
pub(crate) fn decode(bytes: &[u8]) -> Result<CompactionRecord> {
    let mut from = Reader::new(bytes, "a compaction record");
    let version = from.u8()?;
    if version != VERSION {
        return Err(from.malformed(&format!("version {version} is not known")));
    }
    let record = CompactionRecord {
        tag: tag(&mut from)?,
        source: SourceId::new(from.digest()?),
        revision: RevisionId::new(from.digest()?),
        format: from.text()?,
        generation: from.u32()?,
        parents: from.list(tag)?,
        summary: from.digest()?,
        summary_text: from.text()?,
        spans: from.list(decode_span)?,
        neighbours: from.list(|from| from.digest().map(ContentKey::new))?,
        bound_at: Timestamp::from_ms(from.i64()?),
    };
    from.finish()?;
    Ok(record)
}

fn tag(from: &mut Reader<'_>) -> Result<Tag> {
    from.array().map(Tag::from_bytes)
}

fn decode_span(from: &mut Reader<'_>) -> Result<BoundSpan> {
    Ok(BoundSpan {
        ordinal: from.u32()?,
        class: from.text()?,
        location: from.option(decode_location)?,
        hash: SpanHash::new(from.digest()?),
        content: ContentKey::new(from.digest()?),
        holds: decode_omissions(from)?,
        rendering: from.text()?,
        retention: from.retention()?,
        waiver: from.option(Reader::text)?,
        remains: match from.u8()? {
            0 => Remains::Original,
            1 => Remains::OnlyAccount,
            other => return Err(from.malformed(&format!("{other} does not say what remains"))),
        },
    })
}

fn decode_location(from: &mut Reader<'_>) -> Result<Location> {
    let revision = RevisionId::new(from.digest()?);
    let ranges: RangeSet =
        from.list(|from| Ok(ByteRange::new(from.u64()?, from.u64()?)))?.into_iter().collect();
    Ok(Location { revision, ranges })
}

fn decode_omissions(from: &mut Reader<'_>) -> Result<Omissions> {
    match from.u8()? {
        0 => {
            let mut counts = AtomCounts::default();
            for (word, count) in from.list(|from| Ok((from.text()?, from.u32()?)))? {
                let kind =
                    AtomKind::ALL.into_iter().find(|kind| kind.word() == word && counts.get(*kind) == 0);
                counts.add(
                    kind.ok_or_else(|| from.malformed(&format!("{word:?} is no kind of atom here")))?,
                    count,
                );
            }
            Ok(Omissions::Nameable(counts))
        }
        1 => from.text().map(Omissions::Unnameable),
        other => Err(from.malformed(&format!("{other} does not say what is held"))),
    }
}

/// Whether two records link the same summary to the same spans. Where the spans lay when the source was shorter,
/// what was kept around them and when it was bound may differ.
pub(crate) fn says_the_same(one: &CompactionRecord, two: &CompactionRecord) -> bool {
    essence(one) == essence(two)
}

fn essence(record: &CompactionRecord) -> Vec<u8> {
    let bare = |span: &BoundSpan| BoundSpan { location: None, retention: Retention::Unknown, ..span.clone() };
    encode(&CompactionRecord {
        revision: RevisionId::new(Digest::of(&[])),
        neighbours: Vec::new(),
        bound_at: Timestamp::from_ms(0),
        spans: record.spans.iter().map(bare).collect(),
        ..record.clone()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::conformance;
    use testkit::memory_archive::MemoryArchive;

    use super::*;

    #[test]
    fn records_come_back_and_no_shorter_one_does() {
        let record = conformance::record(&MemoryArchive::new(), 3, "name");
        let bytes = encode(&record);
        assert_eq!(decode(&bytes).unwrap(), record);
        assert!((0..bytes.len()).all(|end| decode(&bytes[..end]).is_err()));
    }

    proptest! {
        #[test]
        fn changed_bytes_are_read_or_refused(at in 1..600usize, byte in any::<u8>()) {
            let mut bytes = encode(&conformance::record(&MemoryArchive::new(), 3, "name"));
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(record) = decode(&bytes) {
                prop_assert!(decode(&encode(&record)).is_ok());
            }
        }
    }
}
