//! The register of compactions: the archive as the core's [`Registry`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{ContentKey, Digest, RevisionId, SourceId, SpanHash, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::vault::{CompactionRecord, Registry, Revision, TagInput};

use crate::archive::Archive;
use crate::catalog::{Catalog, CompactionRow, RevisionRow};
use crate::encoding::{Encoder, decode};
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::record::{self, RECORD_BYTES_MAX};

const TAG_DOMAIN: &str = "strongroom.tag.v1";

/// What a tag is computed over, after domain and archive.
fn tag_parts<'a>(
    source: &'a SourceId,
    generation: &'a [u8; 4],
    spans: &'a [SpanHash],
    wording: &'a [u8],
) -> impl Iterator<Item = &'a [u8]> {
    let head = [source.digest().as_bytes().as_slice(), generation.as_slice()];
    let spans = spans.iter().map(|span| span.digest().as_bytes().as_slice());
    head.into_iter().chain(spans).chain(Some(wording).filter(|wording| !wording.is_empty()))
}

/// The record under `tag`, believed only if the journal has its hash.
pub(crate) fn record_of(catalog: Catalog<'_>, tag: Tag) -> Outcome<Option<CompactionRecord>> {
    let Some((leaf, body)) = catalog.compaction(tag)? else { return Ok(None) };
    let corrupt = |why: &str| Error::corrupt(format!("the record under tag {tag} is not believed: {why}"));
    let bytes = decode(&body, RECORD_BYTES_MAX).map_err(|why| corrupt(&why))?;
    let hash = Digest::of(&bytes);
    match catalog.entry(leaf)? {
        Entry::Bound { tag: own, record } | Entry::Stripped { tag: own, record, .. }
            if own == tag && record == hash => {}
        _ => return Err(corrupt("the journal has another hash for it").into()),
    }
    let record = record::decode(&bytes)?;
    if record.tag == tag { Ok(Some(record)) } else { Err(corrupt("it names another tag").into()) }
}

/// Whether words were taken out of the record under `tag` by order.
fn is_stripped(catalog: Catalog<'_>, tag: Tag) -> Outcome<bool> {
    let Some((leaf, _)) = catalog.compaction(tag)? else { return Ok(false) };
    Ok(matches!(catalog.entry(leaf)?, Entry::Stripped { .. }))
}

/// A revision with its pieces.
pub(crate) fn revision_of(catalog: Catalog<'_>, row: &RevisionRow) -> Outcome<Revision> {
    let pieces = catalog.revision_pieces(row)?;
    Ok(Revision { id: row.revision.id, source: row.source, len: row.revision.len, pieces })
}

fn bind_first(catalog: Catalog<'_>, record: &CompactionRecord, hash: Digest, body: &[u8]) -> Outcome<()> {
    let leaf = catalog.journal(&Entry::Bound { tag: record.tag, record: hash })?;
    let keys = CompactionRow {
        tag: record.tag,
        source: record.source,
        generation: record.generation,
        summary: record.summary,
    };
    catalog.put_compaction(&keys, leaf, body)?;
    catalog.put_neighbours(record.tag, &record.neighbours)?;
    Ok(())
}

fn bind_again(
    catalog: Catalog<'_>,
    record: &CompactionRecord,
    (hash, body): (Digest, &[u8]),
    known: &CompactionRecord,
) -> Outcome<()> {
    let tag = record.tag;
    if is_stripped(catalog, tag)? {
        // Somebody deposited the originals again: the record has its words again.
        let leaf = catalog.journal(&Entry::Bound { tag, record: hash })?;
        catalog.replace_compaction(tag, leaf, body)?;
    } else if !record::says_the_same(known, record) {
        return Err(Error::bug(format!("another record is bound to the tag {tag}")).into());
    }
    let neighbours = catalog.put_neighbours(tag, &record.neighbours)?;
    if !neighbours.is_empty() {
        catalog.journal(&Entry::BoundAgain { tag, revision: record.revision, neighbours })?;
    }
    Ok(())
}

impl Registry for Archive {
    fn tag(&self, input: &TagInput<'_>) -> Tag {
        let generation = input.generation.to_be_bytes();
        let wording = input.wording.to_be_bytes();
        let wording = if input.wording == 0 { &[][..] } else { &wording };
        let full = self.keyed(TAG_DOMAIN, tag_parts(&input.source, &generation, input.spans, wording));
        let mut tag = [0; 16];
        tag.iter_mut().zip(full).for_each(|(to, from)| *to = from);
        Tag::from_bytes(tag)
    }

    fn bind(&self, record: &CompactionRecord) -> Result<()> {
        let bytes = record::encode(record);
        if u64::try_from(bytes.len()).is_ok_and(|len| len > RECORD_BYTES_MAX) {
            let len = bytes.len();
            return Err(Error::invalid_input(format!(
                "a compaction record of {len} bytes is larger than {RECORD_BYTES_MAX} bytes"
            )));
        }
        let body = Encoder::new(self.level)?.encode(&bytes);
        let hash = Digest::of(&bytes);
        self.change(|catalog| match record_of(catalog, record.tag)? {
            None => bind_first(catalog, record, hash, &body),
            Some(known) => bind_again(catalog, record, (hash, &body), &known),
        })
    }

    fn by_tag(&self, tag: Tag) -> Result<Option<CompactionRecord>> {
        self.look(|catalog| record_of(catalog, tag))
    }

    fn by_summary(&self, summary: Digest) -> Result<Vec<Tag>> {
        self.look(|catalog| catalog.tags_of_summary(&summary))
    }

    fn by_neighbours(&self, neighbours: &[ContentKey]) -> Result<Vec<(Tag, u32)>> {
        self.look(|catalog| {
            let mut shared: BTreeMap<Tag, u32> = BTreeMap::new();
            for &key in neighbours.iter().collect::<BTreeSet<_>>() {
                for tag in catalog.tags_of_neighbour(key)? {
                    *shared.entry(tag).or_default() += 1;
                }
            }
            let mut found = Vec::with_capacity(shared.len());
            for (tag, count) in shared {
                let generation = catalog.generation(tag)?.unwrap_or(0);
                found.push((Reverse((count, generation)), tag));
            }
            found.sort_unstable();
            Ok(found.into_iter().map(|(Reverse((count, _)), tag)| (tag, count)).collect())
        })
    }

    fn revision(&self, id: RevisionId) -> Result<Option<Revision>> {
        self.look(|catalog| catalog.revision(id)?.map(|row| revision_of(catalog, &row)).transpose())
    }
}

impl Archive {
    /// The tags bound for a source, the newest first.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn compactions_of(&self, source: SourceId) -> Result<Vec<Tag>> {
        self.look(|catalog| catalog.tags_of_source(source))
    }
}

#[cfg(test)]
mod tests {
    use strongroom_core::digest::{ArchiveId, PieceId};
    use strongroom_core::time::Timestamp;
    use strongroom_core::vault::Retention;

    use super::*;
    use crate::archive::{OBJECT_DOMAIN, TOMBSTONE_DOMAIN, keyed, object_parts};
    use crate::encoding::Level;
    use crate::source::source_id;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    /// The values as computed by this code, in the order of the table.
    fn vectors() -> Vec<String> {
        let id = ArchiveId::new(Digest::from_bytes(std::array::from_fn(|n| u8::try_from(n).unwrap())));
        let key: [u8; 32] = std::array::from_fn(|n| u8::try_from(n + 32).unwrap());
        let (hello, world) = (PieceId::of(b"hello\n"), PieceId::of(b"world\n"));
        let source = source_id(id, "/home/a/s.jsonl");
        let spans = [Digest::of(b"1"), Digest::of(b"2")].map(SpanHash::new);
        let tag = keyed(&key, id, TAG_DOMAIN, tag_parts(&source, &1u32.to_be_bytes(), &spans, &[]));
        let created = Entry::Created(id).encode();
        let until = Retention::Until(Timestamp::from_ms(1000));
        let stored = Entry::Stored { retention: until, pieces: vec![(hello, 6), (world, 6)] }.encode();
        let body = Encoder::new(Level::default()).unwrap().encode(b"hello\n");
        let leaves = [Digest::leaf(&created), Digest::leaf(&stored)];
        vec![
            hello.to_string(),
            world.to_string(),
            RevisionId::of(&[hello, world]).to_string(),
            source.to_string(),
            hex(&tag[..16]),
            hex(&keyed(&key, id, TOMBSTONE_DOMAIN, [hello.digest().as_bytes().as_slice()])),
            hex(&body),
            hex(&keyed(&key, id, OBJECT_DOMAIN, object_parts(hello.digest(), &Digest::of(&body)))),
            hex(&created),
            leaves[0].to_string(),
            hex(&stored),
            leaves[1].to_string(),
            Digest::root(&leaves).to_string(),
        ]
    }

    #[test]
    fn the_vectors_of_the_format_document_hold() {
        let document = include_str!("../../../docs/archive-format.md");
        let (_, table) = document.split_once("## 12. Test vectors").unwrap();
        let is_hex = |cell: &&str| cell.len() >= 14 && cell.bytes().all(|byte| byte.is_ascii_hexdigit());
        let written: Vec<&str> = table.split('|').map(str::trim).filter(is_hex).collect();
        assert_eq!(written, vectors());
    }
}
