//! The cold tier: originals that nobody asked for in a long time are moved to a store of objects, and back.
//!
//! What is moved is read back through a request of its own and compared before the bytes in the database go. Which
//! objects may be there is noted before they are, so that none is forgotten by a crash; nobody deletes an object while
//! another process moves.

pub(crate) mod probe;

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Tier;

use crate::archive::{Archive, NOT_OURS, out_of_reach};
use crate::blobs::Blobs as _;
use crate::bodies::{self, Body};
use crate::catalog::{Catalog, ColdTier};
use crate::cold::{Cold, ColdStore, ObjectName, Put, Trouble, only};
use crate::entry::{Cooled, Entry};
use crate::expiry::{PieceTerm, term};
use crate::fault::Outcome;

/// How many pieces are moved together; each has at most 1 MiB.
const BATCH: usize = 32;

/// Pieces and their bytes, as they were taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many pieces.
    pub pieces: u64,
    /// Their number of bytes.
    pub bytes: u64,
}

impl Amount {
    const fn piece(bytes: u64) -> Self {
        Self { pieces: 1, bytes }
    }

    fn add(&mut self, other: Self) {
        self.pieces += other.pieces;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Where originals are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierState {
    /// The address of the cold tier, where there is one.
    pub url: Option<String>,
    /// The longest that reading a piece from it is expected to take, in milliseconds: what the gate goes by.
    pub latency_ms_max: u64,
    /// The longest read that was measured, in milliseconds.
    pub measured_ms: u64,
    /// What is in the database.
    pub hot: Amount,
    /// What is in the cold tier.
    pub cold: Amount,
    /// The bytes of its objects, compressed or sealed as they are.
    pub object_bytes: u64,
    /// How many objects may be there that nothing needs.
    pub leaving: u64,
}

/// What a move did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moved {
    /// What is elsewhere now.
    pub moved: Amount,
    /// What stayed where it was, each piece with its reason. It can be read as before.
    pub failed: Vec<(PieceId, String)>,
}

/// A step of a move that has just been completed, for one batch of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MoveStep {
    /// The names of the objects to come are noted.
    Noted,
    /// The objects were created.
    Created,
    /// They were read back and compared.
    ReadBack,
    /// The catalog says that the pieces are there, and their bytes are gone from the database: this many pieces so far.
    Moved(u64),
}

/// Called after each step; an error ends the move there.
pub type Observer<'o> = dyn FnMut(MoveStep) -> Result<()> + 'o;

impl Archive {
    /// Where originals are.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn tier_state(&self) -> Result<TierState> {
        self.look(|catalog| {
            let cold: BTreeMap<PieceId, Cold> =
                catalog.all_cold()?.into_iter().map(|cold| (cold.piece, cold)).collect();
            let tier = catalog.cold_tier()?;
            let mut state = TierState {
                latency_ms_max: tier.as_ref().map_or(0, ColdTier::latency_ms_max),
                measured_ms: tier.as_ref().map_or(0, |tier| tier.measured_ms),
                url: tier.map(|tier| tier.url),
                hot: Amount::default(),
                cold: Amount::default(),
                object_bytes: cold.values().map(|cold| cold.len).sum(),
                leaving: u64::try_from(catalog.leaving()?.len()).unwrap_or(u64::MAX),
            };
            for (id, len, _) in catalog.pieces()? {
                let amount = if cold.contains_key(&id) { &mut state.cold } else { &mut state.hot };
                amount.add(Amount::piece(len));
            }
            Ok(state)
        })
    }

    /// Asks the cold tier for its mark, and says how long that took at most so far, in milliseconds.
    ///
    /// # Errors
    /// `NotFound` where there is none, `Unavailable` when it does not answer as it should.
    pub fn reach_tier(&self) -> Result<u64> {
        let (url, store) = self.cold_store()?;
        match self.bears_mark(store.as_ref()) {
            Ok(true) => Ok(store.worst_read_ms()),
            Ok(false) => Err(unreachable(&url, NOT_OURS)),
            Err(why) => Err(unreachable(&url, &why)),
        }
    }

    /// Makes the store at `url` the cold tier, when it does what a cold tier must: create an object only where there is
    /// none, also for several at once, give it back, and take it away. `latency_ms` is how long reads may take at most,
    /// where that is known better than a measurement tells.
    ///
    /// Where pieces are in another place already, they must have been copied to this one.
    ///
    /// # Errors
    /// `InvalidInput` when `url` is of no kind that is known, `Refused` when the store does not do what it must or lacks
    /// pieces, `Unavailable` when it cannot be reached or nothing was recorded.
    pub fn set_tier(&self, url: &str, latency_ms: Option<u64>) -> Result<TierState> {
        self.database.check_writable()?;
        let alone = self.leases.tier()?;
        self.cloud.prepare(url, self.id())?;
        let store = self.cloud.open(url, self.id())?;
        probe::probe(store.as_ref(), url)?;
        self.put_mark(store.as_ref(), url)?;
        self.check_copied(store.as_ref(), url)?;
        let declared_ms = latency_ms.unwrap_or(0);
        let tier = ColdTier { url: url.to_owned(), declared_ms, measured_ms: store.worst_read_ms() };
        self.change(|catalog| {
            let catalog = catalog.with_tiers()?;
            catalog.put_cold_tier(&tier)?;
            catalog.journal(&Entry::Tiered { url: tier.url.clone(), latency_ms: declared_ms })?;
            Ok(())
        })?;
        drop(alone);
        self.tier_state()
    }

    fn put_mark(&self, store: &dyn ColdStore, url: &str) -> Result<()> {
        only(store.create(&[(ObjectName::MARKER, self.mark())])).map_err(|why| unreachable(url, &why))?;
        match self.bears_mark(store) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(unreachable(url, "the mark of this archive could not be read back")),
        }
    }

    /// Checks that all cold pieces are in `store`, where that is another place than before.
    fn check_copied(&self, store: &dyn ColdStore, url: &str) -> Result<()> {
        let (all, leaving, before) = self.look(|catalog| {
            Ok((catalog.all_cold()?, catalog.leaving()?.len(), catalog.cold_tier()?.map(|tier| tier.url)))
        })?;
        let Some(before) = before.filter(|before| before != url) else { return Ok(()) };
        if leaving > 0 {
            let message =
                format!("{leaving} objects are still to be taken away from {before}: strongroom tier sweep");
            return Err(Error::refused(message));
        }
        for batch in all.chunks(BATCH) {
            let names: Vec<ObjectName> = batch.iter().map(|cold| cold.object).collect();
            for (cold, found) in batch.iter().zip(store.get(&names)) {
                let body = found.map_err(|why| unreachable(url, &why))?;
                if body.is_none_or(|body| self.object_name(cold.piece, &body) != cold.object) {
                    let message = format!(
                        "{url} does not hold all of the {} cold pieces that are in {before}: copy them there, or bring them back first",
                        all.len()
                    );
                    return Err(Error::refused(message));
                }
            }
        }
        Ok(())
    }

    /// The pieces in the database of which every source has had no new state after `quiet_since`, by id.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn movable(&self, quiet_since: Timestamp) -> Result<Vec<PieceTerm>> {
        self.look(|catalog| {
            let quiet = quiet_sources(catalog, quiet_since)?;
            let mut found = Vec::new();
            for (id, len, retention) in catalog.pieces()? {
                let is_hot = catalog.piece(id)?.is_some_and(|row| row.tier == Tier::Hot);
                let term = term(catalog, id, len, retention)?;
                if is_hot && !term.sources.is_empty() && term.sources.iter().all(|one| quiet.contains(one)) {
                    found.push(term);
                }
            }
            Ok(found)
        })
    }

    /// Moves pieces to the cold tier, a batch at a time; pieces that cannot be moved stay and are named. Cut short
    /// anywhere, each piece can be read, in the database or in the tier.
    ///
    /// # Errors
    /// `NotFound` where there is no cold tier, `Refused` when the store does not do what it must, `Busy` when another
    /// process moves, `Unavailable` when the archive cannot be written; what was moved before stays moved.
    pub fn move_to_cold(&self, pieces: &[PieceId], observe: &mut Observer<'_>) -> Result<Moved> {
        self.database.check_writable()?;
        let alone = self.leases.tier()?;
        let (url, store) = self.cold_store()?;
        probe::probe(store.as_ref(), &url)?;
        let mut done = Moved::default();
        for batch in pieces.chunks(BATCH) {
            self.move_batch(batch, store.as_ref(), &mut done, observe)?;
        }
        if !done.failed.is_empty() {
            // What cannot be taken away now stays noted.
            drop(self.take_away(store.as_ref(), &url));
        }
        drop(alone);
        Ok(done)
    }

    fn move_batch(
        &self,
        batch: &[PieceId],
        store: &dyn ColdStore,
        done: &mut Moved,
        observe: &mut Observer<'_>,
    ) -> Result<()> {
        let mut going = Vec::new();
        for &piece in batch {
            match self.look(|catalog| stored(catalog, piece))? {
                Some(Ok(body)) => {
                    let object = self.object_name(piece, &body);
                    let len = u64::try_from(body.len()).unwrap_or(u64::MAX);
                    going.push((Cold { piece, object, len }, body));
                }
                Some(Err(why)) => done.failed.push((piece, why)),
                None => {}
            }
        }
        self.change(|catalog| going.iter().try_for_each(|(cold, _)| catalog.note_leaving(cold.object)))?;
        observe(MoveStep::Noted)?;
        let objects: Vec<(ObjectName, Vec<u8>)> =
            going.iter().map(|(cold, body)| (cold.object, body.clone())).collect();
        let created = store.create(&objects);
        observe(MoveStep::Created)?;
        let kept = read_back(store, going, created, done);
        observe(MoveStep::ReadBack)?;
        let moved = self.change(|catalog| cool(catalog, &kept, store.worst_read_ms()))?;
        done.moved.add(moved);
        observe(MoveStep::Moved(done.moved.pieces))
    }

    /// Brings pieces back into the database; ones that cannot be read there stay and are named. Their objects are taken
    /// away afterwards.
    ///
    /// # Errors
    /// `NotFound` where there is no cold tier, `Busy` when another process moves, `Unavailable` when the archive cannot
    /// be written; what was brought back before is back.
    pub fn bring_back(&self, pieces: &[PieceId], observe: &mut Observer<'_>) -> Result<Moved> {
        self.database.check_writable()?;
        let alone = self.leases.tier()?;
        let (url, store) = self.cold_store()?;
        let mut done = Moved::default();
        for batch in pieces.chunks(BATCH) {
            let cold = self.look(|catalog| {
                let found = batch.iter().map(|id| catalog.cold(*id));
                found.filter_map(Outcome::transpose).collect::<Outcome<Vec<Cold>>>()
            })?;
            let mut back = Vec::new();
            for (cold, fetched) in cold.iter().zip(self.objects(&cold)) {
                match fetched {
                    Ok(body) => back.push((*cold, body)),
                    Err(trouble) => done.failed.push((cold.piece, trouble.into_words())),
                }
            }
            let moved = self.change(|catalog| warm(catalog, &back))?;
            done.moved.add(moved);
            observe(MoveStep::Moved(done.moved.pieces))?;
        }
        // What cannot be taken away now stays noted, and is counted in the state.
        drop(self.take_away(store.as_ref(), &url));
        drop(alone);
        Ok(done)
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, the closure of any"
    )]
    pub(crate) fn all_cold(&self) -> Result<Vec<Cold>> {
        self.look(|catalog| catalog.all_cold())
    }

    /// Every piece that is in the cold tier, ascending.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn cold_pieces(&self) -> Result<Vec<PieceId>> {
        Ok(self.all_cold()?.into_iter().map(|cold| cold.piece).collect())
    }

    /// Brings everything back and clears the tier.
    ///
    /// # Errors
    /// `Unavailable` when something stays there.
    pub(crate) fn bring_all_back(&self) -> Result<()> {
        let all = self.cold_pieces()?;
        if !all.is_empty() {
            let done = self.bring_back(&all, &mut |_| Ok(()))?;
            if let Some((piece, why)) = done.failed.first() {
                return Err(Error::unavailable(format!("piece {piece} cannot be brought back: {why}")));
            }
        }
        self.sweep().map(drop)
    }

    /// Takes objects away that nothing needs; returns how many. It may be repeated, and cut short anywhere.
    ///
    /// # Errors
    /// `Busy` when another process moves, `Unavailable` when some could not be taken away.
    pub fn sweep(&self) -> Result<u64> {
        if self.leaving()?.is_empty() {
            return Ok(0);
        }
        self.database.check_writable()?;
        let alone = self.leases.tier()?;
        let (url, store) = self.cold_store()?;
        let taken = self.take_away(store.as_ref(), &url)?;
        drop(alone);
        Ok(taken)
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, the closure of any"
    )]
    fn leaving(&self) -> Result<Vec<ObjectName>> {
        self.look(|catalog| catalog.leaving())
    }

    fn take_away(&self, store: &dyn ColdStore, url: &str) -> Result<u64> {
        let leaving = self.leaving()?;
        let (mut taken, mut failed) = (0, None);
        for batch in leaving.chunks(BATCH) {
            let replies = store.delete(batch);
            let mut gone = Vec::new();
            for (object, reply) in batch.iter().zip(replies) {
                match reply {
                    Ok(()) => gone.push(*object),
                    Err(why) => failed = Some(why),
                }
            }
            self.change(|catalog| {
                if !gone.is_empty() {
                    catalog.journal(&Entry::Swept(gone.iter().map(|object| object.0).collect()))?;
                }
                gone.iter().try_for_each(|object| catalog.note_left(*object))
            })?;
            taken += u64::try_from(gone.len()).unwrap_or(0);
        }
        failed.map_or(Ok(taken), |why| {
            let error = unreachable(url, &why);
            Err(Error::unavailable(format!(
                "objects that are not needed still stand in the cold tier: {error}"
            )))
        })
    }
}

pub(crate) fn unreachable(url: &str, why: &str) -> Error {
    Error::unavailable(out_of_reach(url, why))
}

/// The sources that have had no new state after `since`.
fn quiet_sources(catalog: Catalog<'_>, since: Timestamp) -> Outcome<BTreeSet<SourceId>> {
    let mut quiet = BTreeSet::new();
    for (meta, _) in catalog.sources()? {
        if catalog.latest_revision(meta.id)?.is_none_or(|row| row.revision.at <= since) {
            quiet.insert(meta.id);
        }
    }
    Ok(quiet)
}

/// The bytes of a hot piece as they are stored, where they are what they should be; `None` where it is not hot.
fn stored(catalog: Catalog<'_>, piece: PieceId) -> Outcome<Option<std::result::Result<Vec<u8>, String>>> {
    let Some(body) = catalog.blobs().get(piece)? else { return Ok(None) };
    let read = match bodies::get(catalog, piece) {
        Ok(read) => read,
        Err(fault) => Some(Err(Trouble::Damaged(fault.damage()?))),
    };
    Ok(Some(match read {
        Some(Ok(Body::Whole(bytes))) if PieceId::of(&bytes) == piece => Ok(body),
        Some(Ok(Body::Redacted(_))) => Ok(body),
        Some(Ok(Body::Whole(_))) | None => Err("it differs from its hash".to_owned()),
        Some(Err(trouble)) => Err(trouble.into_words()),
    }))
}

/// Those of `going` that the store gives back as they are.
fn read_back(
    store: &dyn ColdStore,
    going: Vec<(Cold, Vec<u8>)>,
    created: Vec<std::result::Result<Put, String>>,
    done: &mut Moved,
) -> Vec<(Cold, Vec<u8>)> {
    let mut there = Vec::new();
    for ((cold, body), created) in going.into_iter().zip(created) {
        match created {
            Ok(put) => there.push((cold, body, put)),
            Err(why) => done.failed.push((cold.piece, why)),
        }
    }
    let names: Vec<ObjectName> = there.iter().map(|(cold, ..)| cold.object).collect();
    let mut kept = Vec::new();
    for ((cold, body, put), found) in there.into_iter().zip(store.get(&names)) {
        let why = match found {
            Ok(Some(found)) if found == body => {
                kept.push((cold, body));
                continue;
            }
            Ok(Some(_)) if put == Put::Exists => {
                "something else stands under its name in the store".to_owned()
            }
            Ok(Some(_)) => "the store gives other bytes back".to_owned(),
            Ok(None) => "the store does not have what it took".to_owned(),
            Err(why) => why,
        };
        done.failed.push((cold.piece, why));
    }
    kept
}

/// Puts objects in place of the bytes of pieces that are still the same.
fn cool(catalog: Catalog<'_>, kept: &[(Cold, Vec<u8>)], worst_ms: u64) -> Outcome<Amount> {
    let (mut moved, mut entries) = (Amount::default(), Vec::new());
    catalog.note_measured(worst_ms)?;
    for (cold, body) in kept {
        let Some(row) = catalog.piece(cold.piece)? else { continue };
        if row.tier != Tier::Hot || catalog.blobs().get(cold.piece)?.as_ref() != Some(body) {
            continue;
        }
        catalog.cool(cold)?;
        entries.push(Cooled { piece: cold.piece, object: cold.object.0, len: cold.len });
        moved.add(Amount::piece(row.len));
    }
    if !entries.is_empty() {
        catalog.journal(&Entry::Cooled(entries))?;
    }
    Ok(moved)
}

/// Puts the bytes of objects back in their place, where they are still the ones of their pieces.
fn warm(catalog: Catalog<'_>, back: &[(Cold, Vec<u8>)]) -> Outcome<Amount> {
    let (mut moved, mut entries) = (Amount::default(), Vec::new());
    for (cold, body) in back {
        let Some(row) = catalog.piece(cold.piece)? else { continue };
        if catalog.cold(cold.piece)? != Some(*cold) {
            continue;
        }
        catalog.forget_object(cold.piece)?;
        catalog.blobs().put(cold.piece, body)?;
        entries.push(cold.piece);
        moved.add(Amount::piece(row.len));
    }
    if !entries.is_empty() {
        catalog.journal(&Entry::Warmed(entries))?;
    }
    Ok(moved)
}
