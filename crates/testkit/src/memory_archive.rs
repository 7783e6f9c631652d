//! An archive in memory: complete, and able to fail on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use strongroom_core::digest::{ContentKey, Digest, PieceId, RevisionId, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{
    BoundSpan, CompactionRecord, Hold, Loaded, Piece, PieceStat, Registry, Retention, Revision, TagInput,
    Tier, Vault,
};

/// A [`Vault`] and [`Registry`] that keeps everything in memory.
///
/// Faults are set through `&self`, so that a test can change the weather while others hold the archive.
#[derive(Debug, Default)]
pub struct MemoryArchive {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pieces: BTreeMap<PieceId, Kept>,
    order: Vec<PieceId>,
    expired: BTreeSet<PieceId>,
    revisions: BTreeMap<RevisionId, Revision>,
    records: BTreeMap<Tag, CompactionRecord>,
    neighbours: BTreeMap<ContentKey, BTreeSet<Tag>>,
    faults: Faults,
}

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    retention: Retention,
    hold: Hold,
    unreadable: Option<String>,
}

#[derive(Debug, Default)]
struct Faults {
    store: Option<String>,
    bind: Option<String>,
    load: Option<String>,
    retention_cap: Option<Retention>,
    latency_ms: Option<u64>,
}

/// An operation that a [`MemoryArchive`] can be told to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusable {
    /// `store` and `extend`.
    Store,
    /// `bind`.
    Bind,
    /// `load` and `stat`.
    Load,
}

impl MemoryArchive {
    /// An empty archive without faults.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stored pieces, each once, in the order in which they first came.
    pub fn stored(&self) -> Vec<PieceId> {
        self.state().order.clone()
    }

    /// The bound records, in order of their tags.
    pub fn bound(&self) -> Vec<CompactionRecord> {
        self.state().records.values().cloned().collect()
    }

    /// Makes a revision known, as an import would.
    pub fn put_revision(&self, revision: Revision) {
        self.state().revisions.insert(revision.id, revision);
    }

    /// Refuses an operation with `Unavailable` and this reason from now on.
    pub fn refuse(&self, operation: Refusable, reason: &str) {
        *self.state().faults.of(operation) = Some(reason.to_owned());
    }

    /// Takes a refusal back.
    pub fn permit(&self, operation: Refusable) {
        *self.state().faults.of(operation) = None;
    }

    /// Reports every retention as at most `cap`, whatever was stored.
    pub fn cap_retention(&self, cap: Retention) {
        self.state().faults.retention_cap = Some(cap);
    }

    /// Reports this latency for every piece.
    pub fn slow_down(&self, latency_ms_max: u64) {
        self.state().faults.latency_ms = Some(latency_ms_max);
    }

    /// Flips the lowest bit of one byte of a stored piece; of an empty piece, adds a byte.
    pub fn flip_byte(&self, piece: PieceId, at: usize) {
        self.change(piece, |kept| match kept.bytes.get_mut(at) {
            Some(byte) => *byte ^= 1,
            None => kept.bytes.push(0),
        });
    }

    /// Makes a stored piece unreadable with this reason.
    pub fn damage(&self, piece: PieceId, reason: &str) {
        self.change(piece, |kept| kept.unreadable = Some(reason.to_owned()));
    }

    /// Puts a hold on a stored piece.
    pub fn hold(&self, piece: PieceId) {
        self.change(piece, |kept| kept.hold = Hold::Held);
    }

    /// Loses a piece without a trace.
    pub fn drop_piece(&self, piece: PieceId) {
        let mut state = self.state();
        state.pieces.remove(&piece);
        state.order.retain(|stored| *stored != piece);
    }

    /// Deletes a piece as the end of its retention would.
    pub fn expire(&self, piece: PieceId) {
        self.drop_piece(piece);
        self.state().expired.insert(piece);
    }

    fn change(&self, piece: PieceId, change: impl FnOnce(&mut Kept)) {
        if let Some(kept) = self.state().pieces.get_mut(&piece) {
            change(kept);
        }
    }
}

impl Faults {
    fn of(&mut self, operation: Refusable) -> &mut Option<String> {
        match operation {
            Refusable::Store => &mut self.store,
            Refusable::Bind => &mut self.bind,
            Refusable::Load => &mut self.load,
        }
    }

    fn check(&mut self, operation: Refusable) -> Result<()> {
        self.of(operation).clone().map_or(Ok(()), |reason| Err(Error::unavailable(reason)))
    }
}

impl Vault for MemoryArchive {
    fn store(&self, pieces: &[Piece], retention: Retention) -> Result<()> {
        let mut state = self.state();
        state.faults.check(Refusable::Store)?;
        for piece in pieces {
            let old = state.pieces.remove(&piece.id());
            if old.is_none() {
                state.order.push(piece.id());
            }
            let (retention, hold) =
                old.map_or((retention, Hold::None), |old| (old.retention.or_longer(retention), old.hold));
            let kept = Kept { bytes: piece.bytes().to_vec(), retention, hold, unreadable: None };
            state.pieces.insert(piece.id(), kept);
        }
        Ok(())
    }

    fn extend(&self, pieces: &[PieceId], retention: Retention) -> Result<()> {
        self.state().faults.check(Refusable::Store)?;
        for &piece in pieces {
            self.change(piece, |kept| kept.retention = kept.retention.or_longer(retention));
        }
        Ok(())
    }

    fn load(&self, pieces: &[PieceId]) -> Result<Vec<Loaded>> {
        let mut state = self.state();
        state.faults.check(Refusable::Load)?;
        let load = |id: &PieceId| match state.pieces.get(id) {
            Some(Kept { unreadable: Some(reason), .. }) => Loaded::Damaged(reason.clone()),
            Some(kept) => Loaded::Found(kept.bytes.clone()),
            None if state.expired.contains(id) => {
                Loaded::Expired { at: Timestamp::from_ms(0), reason: "retention ended".to_owned() }
            }
            None => Loaded::Missing,
        };
        Ok(pieces.iter().map(load).collect())
    }

    fn stat(&self, pieces: &[PieceId]) -> Result<Vec<Option<PieceStat>>> {
        let mut state = self.state();
        state.faults.check(Refusable::Load)?;
        let cap = state.faults.retention_cap.unwrap_or(Retention::Indefinite);
        let latency_ms_max = state.faults.latency_ms.unwrap_or(1);
        let stat = |kept: &Kept| {
            let retention = kept.retention.or_shorter(cap);
            PieceStat { retention, hold: kept.hold, tier: Tier::Hot, latency_ms_max }
        };
        Ok(pieces.iter().map(|id| state.pieces.get(id).map(stat)).collect())
    }
}

impl Registry for MemoryArchive {
    fn tag(&self, input: &TagInput<'_>) -> Tag {
        let generation = input.generation.to_be_bytes();
        let mut parts: Vec<&[u8]> = vec![input.source.digest().as_bytes(), &generation];
        parts.extend(input.spans.iter().map(|span| span.digest().as_bytes().as_slice()));
        let wording = input.wording.to_be_bytes();
        parts.push(&wording);
        let digest = Digest::of_parts("strongroom.testkit.tag", parts);
        let mut tag = [0; 16];
        tag.iter_mut().zip(digest.as_bytes()).for_each(|(to, from)| *to = *from);
        Tag::from_bytes(tag)
    }

    fn bind(&self, record: &CompactionRecord) -> Result<()> {
        let mut state = self.state();
        state.faults.check(Refusable::Bind)?;
        if let Some(known) = state.records.get(&record.tag)
            && !says_the_same(known, record)
        {
            return Err(Error::bug(format!("another record is bound to the tag {}", record.tag)));
        }
        for &key in &record.neighbours {
            state.neighbours.entry(key).or_default().insert(record.tag);
        }
        state.records.entry(record.tag).or_insert_with(|| record.clone());
        Ok(())
    }

    fn by_tag(&self, tag: Tag) -> Result<Option<CompactionRecord>> {
        Ok(self.state().records.get(&tag).cloned())
    }

    fn by_summary(&self, summary: Digest) -> Result<Vec<Tag>> {
        let state = self.state();
        let found = state.records.values().filter(|record| record.summary == summary);
        Ok(newest_first(found.map(|record| (record.generation, record.tag)).collect()))
    }

    fn by_neighbours(&self, neighbours: &[ContentKey]) -> Result<Vec<(Tag, u32)>> {
        let state = self.state();
        let mut shared: BTreeMap<Tag, u32> = BTreeMap::new();
        for key in neighbours.iter().collect::<BTreeSet<_>>() {
            for &tag in state.neighbours.get(key).into_iter().flatten() {
                *shared.entry(tag).or_default() += 1;
            }
        }
        let generation = |tag: &Tag| state.records.get(tag).map_or(0, |record| record.generation);
        let mut found: Vec<(Tag, u32)> = shared.into_iter().collect();
        found.sort_by_key(|(tag, count)| (std::cmp::Reverse((*count, generation(tag))), *tag));
        Ok(found)
    }

    fn revision(&self, id: RevisionId) -> Result<Option<Revision>> {
        Ok(self.state().revisions.get(&id).cloned())
    }
}

fn newest_first(mut found: Vec<(u32, Tag)>) -> Vec<Tag> {
    found.sort_by_key(|&(generation, tag)| (std::cmp::Reverse(generation), tag));
    found.into_iter().map(|(_, tag)| tag).collect()
}

/// Whether two records link the same summary to the same spans. Where the spans lay when the file was shorter,
/// what was kept around them and when it was bound may differ: a longer file has the same prefix.
fn says_the_same(one: &CompactionRecord, two: &CompactionRecord) -> bool {
    let bare = |span: &BoundSpan| BoundSpan { location: None, retention: Retention::Unknown, ..span.clone() };
    let essence = |record: &CompactionRecord| CompactionRecord {
        revision: two.revision,
        neighbours: Vec::new(),
        bound_at: two.bound_at,
        spans: record.spans.iter().map(bare).collect(),
        ..record.clone()
    };
    essence(one) == essence(two)
}

#[cfg(test)]
mod tests {
    use strongroom_core::time::Timestamp;

    use super::*;
    use crate::conformance;

    #[test]
    fn it_conforms() {
        conformance::vault(&MemoryArchive::new()).unwrap();
        conformance::registry(&MemoryArchive::new()).unwrap();
    }

    #[test]
    fn faults_show() {
        let archive = MemoryArchive::new();
        let pieces = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()].map(Piece::new);
        let ids: Vec<PieceId> = pieces.iter().map(Piece::id).collect();
        archive.store(&pieces, Retention::Indefinite).unwrap();
        archive.flip_byte(ids[0], 0);
        archive.expire(ids[1]);
        archive.drop_piece(ids[2]);
        let loaded = archive.load(&ids).unwrap();
        assert!(matches!(&loaded[0], Loaded::Found(bytes) if bytes == b"nne"));
        assert!(matches!(loaded[1..], [Loaded::Expired { .. }, Loaded::Missing]));
        archive.cap_retention(Retention::Until(Timestamp::from_ms(5)));
        let stat = archive.stat(&ids[..1]).unwrap()[0].unwrap();
        assert_eq!(stat.retention, Retention::Until(Timestamp::from_ms(5)));
        archive.refuse(Refusable::Store, "full");
        assert!(archive.store(&pieces, Retention::Indefinite).is_err());
        archive.permit(Refusable::Store);
        archive.store(&pieces, Retention::Indefinite).unwrap();
        assert!(matches!(&archive.load(&ids).unwrap()[0], Loaded::Found(bytes) if bytes == b"one"));
    }
}
