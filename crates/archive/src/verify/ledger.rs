//! The journal replayed: what the tables should hold.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{ArchiveId, ContentKey, Digest, PieceId, SourceId, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

use crate::archive::Archive;
use crate::cold::{Cold, ObjectName};
use crate::cover::Stamp;
use crate::entry::{Cooled, Entry, Order};
use crate::journal::Checkpoint;
use crate::source::{SessionItem, SourceMeta, StoredRevision};

/// What all entries together say.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) pieces: BTreeMap<PieceId, (u64, Retention)>,
    pub(super) sources: BTreeMap<SourceId, (SourceMeta, u64)>,
    pub(super) revisions: BTreeMap<(SourceId, u32), (StoredRevision, u64)>,
    pub(super) records: BTreeSet<Tag>,
    pub(super) neighbours: BTreeSet<(ContentKey, Tag)>,
    pub(super) holds: BTreeMap<SourceId, String>,
    pub(super) links: BTreeSet<(SourceId, SessionItem)>,
    pub(super) cap: Retention,
    pub(super) tombstones: BTreeMap<[u8; 32], (String, Timestamp)>,
    /// What was erased by order, pieces and sources, by keyed hash.
    pub(super) orders: BTreeMap<[u8; 32], Order>,
    /// The mark of the master key.
    pub(super) stamp: Option<Stamp>,
    /// Where the cold tier is, and how slow it was said to be.
    pub(super) tier: Option<(String, u64)>,
    /// The objects of pieces that are there.
    pub(super) cold: BTreeMap<PieceId, Cold>,
    /// Pieces that were deleted and not stored again.
    pub(super) erased: BTreeSet<PieceId>,
    /// The pieces that are there, by the keyed hash of a tombstone.
    keyed: BTreeMap<[u8; 32], PieceId>,
    leaves: Vec<Digest>,
    /// The roots of the complete subtrees that end at the last leaf, the largest first.
    edge: Vec<Digest>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            pieces: BTreeMap::new(),
            sources: BTreeMap::new(),
            revisions: BTreeMap::new(),
            records: BTreeSet::new(),
            neighbours: BTreeSet::new(),
            holds: BTreeMap::new(),
            links: BTreeSet::new(),
            cap: Retention::Indefinite,
            tombstones: BTreeMap::new(),
            orders: BTreeMap::new(),
            stamp: None,
            tier: None,
            cold: BTreeMap::new(),
            erased: BTreeSet::new(),
            keyed: BTreeMap::new(),
            leaves: Vec::new(),
            edge: Vec::new(),
        }
    }
}

impl Ledger {
    /// Appends leaf `no`; returns the complete subtrees it ends: level, number, root.
    pub(super) fn append_leaf(&mut self, no: u64, leaf: Digest) -> Vec<(u32, u64, Digest)> {
        self.leaves.push(leaf);
        let mut ended = vec![(0, no, leaf)];
        let (mut level, mut at, mut hash) = (0, no, leaf);
        while at % 2 == 1 {
            let Some(left) = self.edge.pop() else { break };
            hash = Digest::node(&left, &hash);
            (level, at) = (level + 1, at / 2);
            ended.push((level, at, hash));
        }
        self.edge.push(hash);
        ended
    }

    /// The entries that were taken in.
    pub(super) fn checkpoint(&self, archive: ArchiveId) -> Checkpoint {
        let size = u64::try_from(self.leaves.len()).unwrap_or(u64::MAX);
        Checkpoint { archive, size, root: Digest::root(&self.leaves) }
    }

    /// The root over the first `size` entries, where there are that many.
    pub(super) fn root_of(&self, size: u64) -> Option<Digest> {
        self.leaves.get(..usize::try_from(size).ok()?).map(Digest::root)
    }

    /// Takes in entry `no`.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be read or cannot follow the entries before it.
    pub(super) fn replay(&mut self, bytes: &[u8], no: u64, archive: &Archive) -> Result<()> {
        match Entry::decode(bytes)? {
            Entry::Created(id) if no == 0 && id == archive.id() => {}
            Entry::Created(_) => return Err(Error::corrupt("an archive is created once, and first")),
            _ if no == 0 => return Err(Error::corrupt("the first entry does not create the archive")),
            Entry::Stored { retention, pieces } => {
                for (id, len) in pieces {
                    self.pieces.insert(id, (u64::from(len), retention));
                    self.erased.remove(&id);
                    let keyed = archive.tombstone(id);
                    self.orders.remove(&keyed);
                    self.keyed.insert(keyed, id);
                }
            }
            Entry::Extended { retention, pieces } => self.extend(&pieces, retention)?,
            Entry::Repaired(pieces) => self.require(&pieces)?,
            Entry::Source(meta) => {
                self.sources.insert(meta.id, (meta, no));
            }
            Entry::Revision { source, revision } => {
                self.orders.remove(&archive.source_tombstone(source));
                self.revisions.insert((source, revision.number), (revision, no));
            }
            Entry::Bound { tag, .. } => {
                self.records.insert(tag);
            }
            Entry::BoundAgain { tag, neighbours, .. } => {
                self.neighbours.extend(neighbours.into_iter().map(|key| (key, tag)));
            }
            Entry::Held { source, reason } => {
                self.holds.insert(source, reason);
            }
            Entry::Released(source) => {
                self.holds.remove(&source);
            }
            Entry::Capped(cap) => self.cap = cap,
            Entry::Linked { main, kind, source } => {
                self.links.insert((main, SessionItem { kind, source }));
            }
            Entry::Erased { keyed, reason, at } => self.erase(keyed, reason, at)?,
            Entry::Shredded { pieces, sources, order } => self.shred(&pieces, sources, &order)?,
            Entry::Stripped { tag, .. } if self.records.contains(&tag) => {}
            Entry::Stripped { .. } => {
                return Err(Error::corrupt("it takes words out of a record that was not bound"));
            }
            Entry::Redacted(redacted) => self.require(&[redacted.piece])?,
            Entry::Encrypted { stamp } => self.stamp = Some(stamp),
            Entry::Tiered { url, latency_ms } => self.tier = Some((url, latency_ms)),
            Entry::Cooled(pieces) => self.cool(&pieces)?,
            Entry::Warmed(pieces) => {
                if let Some(id) = pieces.iter().find(|id| self.cold.remove(id).is_none()) {
                    return Err(Error::corrupt(format!("it brings back piece {id}, which was not cold")));
                }
            }
            Entry::Swept(_) => {}
        }
        Ok(())
    }

    fn extend(&mut self, pieces: &[PieceId], retention: Retention) -> Result<()> {
        self.require(pieces)?;
        for id in pieces {
            if let Some((_, kept)) = self.pieces.get_mut(id) {
                *kept = kept.or_longer(retention);
            }
        }
        Ok(())
    }

    /// How many of the pieces that are gone were erased by order.
    pub(super) fn erased_by_order(&self, archive: &Archive) -> usize {
        self.erased.iter().filter(|id| self.orders.contains_key(&archive.tombstone(**id))).count()
    }

    fn bury(&mut self, keyed: [u8; 32]) -> Result<()> {
        let unknown = || Error::corrupt("it deletes a piece that was not there");
        let id = self.keyed.remove(&keyed).ok_or_else(unknown)?;
        self.pieces.remove(&id);
        self.cold.remove(&id);
        self.erased.insert(id);
        Ok(())
    }

    fn shred(&mut self, pieces: &[[u8; 32]], sources: Vec<[u8; 32]>, order: &Order) -> Result<()> {
        pieces.iter().try_for_each(|keyed| self.bury(*keyed))?;
        let all = pieces.iter().copied().chain(sources);
        self.orders.extend(all.map(|keyed| (keyed, order.clone())));
        Ok(())
    }

    fn erase(&mut self, keyed: [u8; 32], reason: String, at: Timestamp) -> Result<()> {
        self.bury(keyed)?;
        self.tombstones.insert(keyed, (reason, at));
        Ok(())
    }

    fn cool(&mut self, pieces: &[Cooled]) -> Result<()> {
        self.require(&pieces.iter().map(|cooled| cooled.piece).collect::<Vec<_>>())?;
        for cooled in pieces {
            let cold = Cold { piece: cooled.piece, object: ObjectName(cooled.object), len: cooled.len };
            if self.cold.insert(cooled.piece, cold).is_some() {
                return Err(Error::corrupt(format!("it moves piece {}, which was cold", cooled.piece)));
            }
        }
        Ok(())
    }

    fn require(&self, pieces: &[PieceId]) -> Result<()> {
        let unknown = pieces.iter().find(|id| !self.pieces.contains_key(id));
        unknown.map_or(Ok(()), |id| {
            Err(Error::corrupt(format!("it is about piece {id}, which was never stored")))
        })
    }
}
