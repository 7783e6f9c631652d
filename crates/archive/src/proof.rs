//! Proofs that stand alone: what the journal says of some revisions and records, checkable without the archive.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{ArchiveId, Digest, PieceId, RevisionId, SourceId, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::CompactionRecord;

use crate::archive::Archive;
use crate::bodies;
use crate::catalog::{Catalog, RevisionRow};
use crate::encoding::decode;
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::journal::{Checkpoint, proves_inclusion};
use crate::record::{self, RECORD_BYTES_MAX};
use crate::source::source_id;

/// One entry of the journal and the way from it to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryProof {
    /// Its number.
    pub no: u64,
    /// Its bytes.
    pub body: Vec<u8>,
    /// The siblings on the way to the root, from the leaf up.
    pub path: Vec<Digest>,
}

/// A state of a source: the entry that records it, and the pieces it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionProof {
    /// The number of its entry.
    pub entry: u64,
    /// Its pieces in order, each with its number of bytes.
    pub pieces: Vec<(PieceId, u64)>,
}

/// A compaction record and the entry that holds its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordProof {
    /// The number of its entry.
    pub entry: u64,
    /// Its bytes, as docs/archive-format.md, section 6, writes them.
    pub body: Vec<u8>,
}

/// What a journal of this size and root says of some revisions and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proofs {
    /// The journal.
    pub checkpoint: Checkpoint,
    /// Entries, by number.
    pub entries: Vec<EntryProof>,
    /// Revisions, by entry.
    pub revisions: Vec<RevisionProof>,
    /// Records, by entry.
    pub records: Vec<RecordProof>,
}

/// A revision as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedRevision {
    /// The id.
    pub id: RevisionId,
    /// The source it is a state of.
    pub source: SourceId,
    /// The name under which the source was imported.
    pub name: String,
    /// Its number within the source, from 1.
    pub number: u32,
    /// When it was imported, as the importing program's clock had it.
    pub at: Timestamp,
    /// The number of bytes.
    pub len: u64,
    /// Its pieces in order, each with its number of bytes.
    pub pieces: Vec<(PieceId, u64)>,
}

/// What proofs prove: all of it was in the journal when the checkpoint was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// The archive.
    pub archive: ArchiveId,
    /// Revisions, by id.
    pub revisions: BTreeMap<RevisionId, ProvedRevision>,
    /// Records, by tag.
    pub records: BTreeMap<Tag, CompactionRecord>,
    /// Pieces of which bytes were taken out by order.
    pub redacted: Vec<ProvedRedaction>,
}

/// A piece without some of its bytes, as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedRedaction {
    /// The piece.
    pub piece: PieceId,
    /// The id that it would have with [`REDACTED_BYTE`](strongroom_core::vault::REDACTED_BYTE) in place of what went.
    pub rest: PieceId,
    /// What went.
    pub cuts: Vec<ByteRange>,
}

impl Archive {
    /// Proves the newest recording of each of `revisions`, the records under `tags`, and what was taken out of
    /// `redacted`, to the journal as it is now.
    ///
    /// # Errors
    /// `NotFound` when one of them is not in the archive, `Corrupt` when the journal does not bear it out.
    pub fn prove(
        &self,
        revisions: &BTreeSet<RevisionId>,
        tags: &BTreeSet<Tag>,
        redacted: &BTreeSet<PieceId>,
    ) -> Result<Proofs> {
        let proofs = self.look(|catalog| {
            let mut collected = Collected::of(catalog);
            tags.iter().try_for_each(|tag| collected.add_record(*tag))?;
            revisions.iter().try_for_each(|id| collected.add_revision(*id))?;
            collected.add_stored()?;
            for &piece in redacted {
                collected.entries.extend(bodies::entry(catalog, piece)?);
            }
            collected.finish(self.id())
        })?;
        // Whoever asks for a proof wants one that holds.
        proofs.check()?;
        Ok(proofs)
    }
}

/// The entries that are needed, and what they are needed for.
struct Collected<'c> {
    catalog: Catalog<'c>,
    entries: BTreeSet<u64>,
    revisions: Vec<RevisionProof>,
    records: Vec<RecordProof>,
}

impl<'c> Collected<'c> {
    fn of(catalog: Catalog<'c>) -> Self {
        // Entry 0 names the archive.
        Self { catalog, entries: BTreeSet::from([0]), revisions: Vec::new(), records: Vec::new() }
    }

    fn add_record(&mut self, tag: Tag) -> Outcome<()> {
        let missing = || Error::not_found(format!("the tag {tag} is not in this archive"));
        let (leaf, body) = self.catalog.compaction(tag)?.ok_or_else(missing)?;
        let damaged = |why| Error::corrupt(format!("the record under tag {tag} is damaged: {why}"));
        let body = decode(&body, RECORD_BYTES_MAX).map_err(damaged)?;
        self.entries.insert(leaf);
        self.records.push(RecordProof { entry: leaf, body });
        Ok(())
    }

    fn add_revision(&mut self, id: RevisionId) -> Outcome<()> {
        let missing = || Error::not_found(format!("revision {id} is not in this archive"));
        let row: RevisionRow = self.catalog.revision(id)?.ok_or_else(missing)?;
        let nameless = || Error::corrupt(format!("source {} is missing", row.source));
        let (_, source_leaf) = self.catalog.source(row.source)?.ok_or_else(nameless)?;
        self.entries.extend([row.leaf, source_leaf]);
        let pieces = self.catalog.revision_pieces(&row)?;
        self.revisions.push(RevisionProof { entry: row.leaf, pieces });
        Ok(())
    }

    /// Finds the entries that say how long the pieces are: a revision's root binds their order and bytes alone.
    fn add_stored(&mut self) -> Outcome<()> {
        let pieces = self.revisions.iter().flat_map(|revision| &revision.pieces);
        let mut wanted: BTreeSet<PieceId> = pieces.map(|(id, _)| *id).collect();
        for no in 0..self.catalog.entry_count()? {
            if wanted.is_empty() {
                break;
            }
            let Some(body) = self.catalog.entry_bytes(no)? else { break };
            if let Ok(Entry::Stored { pieces, .. }) = Entry::decode(&body)
                && pieces.iter().filter(|(id, _)| wanted.remove(id)).count() > 0
            {
                self.entries.insert(no);
            }
        }
        Ok(())
    }

    fn finish(mut self, archive: ArchiveId) -> Outcome<Proofs> {
        let tree = self.catalog.tree();
        let size = tree.size()?;
        let mut entries = Vec::with_capacity(self.entries.len());
        for &no in &self.entries {
            let missing = || Error::corrupt(format!("entry {no} is missing from the journal"));
            let body = self.catalog.entry_bytes(no)?.ok_or_else(missing)?;
            entries.push(EntryProof { no, body, path: tree.inclusion(no, size)? });
        }
        self.revisions.sort_by_key(|revision| revision.entry);
        self.records.sort_by_key(|record| record.entry);
        let checkpoint = Checkpoint { archive, size, root: tree.root(size)? };
        Ok(Proofs { checkpoint, entries, revisions: self.revisions, records: self.records })
    }
}

impl Proofs {
    /// Checks everything here against the checkpoint, and says what it proves. No archive is needed.
    ///
    /// # Errors
    /// `Corrupt` naming the first thing that does not hold.
    pub fn check(&self) -> Result<Proved> {
        let entries = self.checked_entries()?;
        let archive = self.checkpoint.archive;
        if entries.get(&0) != Some(&Entry::Created(archive)) {
            return Err(Error::corrupt(format!("entry 0 does not create the archive {archive}")));
        }
        let named = Named::of(entries.values());
        let redacted = entries.values().filter_map(proved_redaction).collect();
        let mut proved = Proved { archive, revisions: BTreeMap::new(), records: BTreeMap::new(), redacted };
        for revision in &self.revisions {
            let entry = entries.get(&revision.entry);
            let own = named.revision(archive, revision, entry).map_err(|why| {
                Error::corrupt(format!("the revision of entry {} is not proved: {why}", revision.entry))
            })?;
            proved.revisions.insert(own.id, own);
        }
        for record in &self.records {
            let own = proved_record(record, entries.get(&record.entry)).map_err(|why| {
                Error::corrupt(format!("the record of entry {} is not proved: {why}", record.entry))
            })?;
            proved.records.insert(own.tag, own);
        }
        Ok(proved)
    }

    fn checked_entries(&self) -> Result<BTreeMap<u64, Entry>> {
        let Checkpoint { size, root, .. } = self.checkpoint;
        let mut entries = BTreeMap::new();
        for entry in &self.entries {
            let no = entry.no;
            if !proves_inclusion(Digest::leaf(&entry.body), no, size, &entry.path, root) {
                return Err(Error::corrupt(format!("entry {no} is not in the journal of the checkpoint")));
            }
            let decoded =
                Entry::decode(&entry.body).map_err(|error| Error::corrupt(format!("entry {no}: {error}")))?;
            if entries.insert(no, decoded).is_some() {
                return Err(Error::corrupt(format!("entry {no} stands here twice")));
            }
        }
        Ok(entries)
    }
}

/// What entries say that revisions need.
struct Named<'e> {
    sources: BTreeMap<SourceId, &'e str>,
    lens: BTreeSet<(PieceId, u64)>,
}

impl<'e> Named<'e> {
    fn of(entries: impl Iterator<Item = &'e Entry>) -> Self {
        let mut named = Self { sources: BTreeMap::new(), lens: BTreeSet::new() };
        for entry in entries {
            match entry {
                Entry::Source(meta) => {
                    named.sources.insert(meta.id, &meta.name);
                }
                Entry::Stored { pieces, .. } => {
                    named.lens.extend(pieces.iter().map(|(id, len)| (*id, u64::from(*len))));
                }
                _ => {}
            }
        }
        named
    }

    fn revision(
        &self,
        archive: ArchiveId,
        proof: &RevisionProof,
        entry: Option<&Entry>,
    ) -> std::result::Result<ProvedRevision, String> {
        let Some(Entry::Revision { source, revision }) = entry else {
            return Err("its entry records none".to_owned());
        };
        let ids: Vec<PieceId> = proof.pieces.iter().map(|(id, _)| *id).collect();
        if RevisionId::of(&ids) != revision.id {
            return Err("its pieces are not the ones it was made of".to_owned());
        }
        if let Some((id, len)) = proof.pieces.iter().find(|piece| !self.lens.contains(piece)) {
            return Err(format!("no entry here stores piece {id} with {len} bytes"));
        }
        let len = proof.pieces.iter().fold(0u64, |sum, (_, len)| sum.saturating_add(*len));
        if len != revision.len {
            return Err(format!("its pieces have {len} bytes, its entry says {}", revision.len));
        }
        let name = self.sources.get(source).ok_or("no entry here names its source")?;
        if source_id(archive, name) != *source {
            return Err("the name of its source is not what the source's id is made of".to_owned());
        }
        Ok(ProvedRevision {
            id: revision.id,
            source: *source,
            name: (*name).to_owned(),
            number: revision.number,
            at: revision.at,
            len,
            pieces: proof.pieces.clone(),
        })
    }
}

fn proved_redaction(entry: &Entry) -> Option<ProvedRedaction> {
    let Entry::Redacted(own) = entry else { return None };
    let cuts = own.cuts.iter().map(|cut| cut.range).collect();
    Some(ProvedRedaction { piece: own.piece, rest: own.rest, cuts })
}

fn proved_record(
    proof: &RecordProof,
    entry: Option<&Entry>,
) -> std::result::Result<CompactionRecord, String> {
    let Some(Entry::Bound { tag, record } | Entry::Stripped { tag, record, .. }) = entry else {
        return Err("its entry binds none".to_owned());
    };
    if Digest::of(&proof.body) != *record {
        return Err("its bytes differ from the hash in its entry".to_owned());
    }
    let own = record::decode(&proof.body).map_err(|error| error.to_string())?;
    if own.tag == *tag { Ok(own) } else { Err("it names another tag".to_owned()) }
}
