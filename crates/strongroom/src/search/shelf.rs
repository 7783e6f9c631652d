//! Segments with the states that stand in them: read from beside the archive, made, merged, written.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_archive::Archive;
use strongroom_archive::derived::{DerivedName, Deriving};
use strongroom_archive::source::{SourceMeta, StoredRevision};
use strongroom_core::digest::SourceId;
use strongroom_core::error::{Error, Result};
use strongroom_search::{Blocks, Part, Segment, merge};

use super::make::{FULL_BLOCKS, Maker};
use super::note::{Info, StateKey, sections};
use super::state::State;

/// So many segments that are not full become one.
const LOOSE_MAX: usize = 8;

/// What a search has to index is kept beside the archive from so many bytes on.
const KEPT_BYTES_MIN: u64 = 8 << 20;

/// How often segments are read again that another process merged meanwhile.
const TRIES: u32 = 3;

/// A state of a source that is searched.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) meta: SourceMeta,
    pub(super) revision: StoredRevision,
    /// Whether a later state took its place.
    pub(super) is_replaced: bool,
}

impl Listed {
    pub(super) fn key(&self) -> StateKey {
        StateKey { source: self.meta.id, number: self.revision.number }
    }
}

/// All states that are searched, in the order in which they are: by name, older ones first.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub(super) fn listed(archive: &Archive) -> Result<Vec<Listed>> {
    let mut all = Vec::new();
    for source in archive.last_states()? {
        let last = source.states.last().map(|state| state.number);
        all.extend(source.states.iter().map(|state| Listed {
            meta: source.meta.clone(),
            revision: *state,
            is_replaced: Some(state.number) != last,
        }));
    }
    Ok(all)
}

/// A segment, and where states stand in it.
#[derive(Debug)]
pub(super) struct Shelf {
    /// Its file, where it has one.
    name: Option<DerivedName>,
    pub(super) segment: Segment,
    /// The states of each block.
    pub(super) states: Vec<Vec<StateKey>>,
    /// What is known of the states that begin in it, and how many texts each has.
    pub(super) infos: BTreeMap<StateKey, (Info, u64)>,
}

impl Shelf {
    pub(super) fn of(segment: Segment) -> Self {
        Self::named(None, segment)
    }

    fn named(name: Option<DerivedName>, segment: Segment) -> Self {
        let mut infos: BTreeMap<StateKey, (Info, u64)> = BTreeMap::new();
        let mut states = Vec::new();
        for block in 0..segment.blocks() {
            let mut own = Vec::new();
            for section in sections(segment.note(block)) {
                own.push(section.key);
                let info = section.info();
                let entry = infos.entry(section.key).or_default();
                entry.0 = info.unwrap_or_else(|| std::mem::take(&mut entry.0));
                entry.1 += section.texts;
            }
            states.push(own);
        }
        Self { name, segment, states, infos }
    }

    /// The blocks in which one of `keys` stands.
    pub(super) fn blocks_of(&self, keys: &BTreeSet<StateKey>) -> Blocks {
        let mut blocks = Blocks::none(self.segment.blocks());
        for (own, block) in self.states.iter().zip(0u32..) {
            if own.iter().any(|key| keys.contains(key)) {
                blocks.insert(block);
            }
        }
        blocks
    }

    /// Writes it beside the archive, as made from every source that stands in it.
    fn write(self, deriving: &Deriving<'_>) -> Result<Self> {
        let sources: BTreeSet<SourceId> = self.states.iter().flatten().map(|key| key.source).collect();
        let name = deriving.write(&sources, self.segment.encoded())?;
        Ok(Self { name: Some(name), ..self })
    }
}

/// The segments beside the archive; one that is damaged is none.
///
/// # Errors
/// `Unavailable` when the directory cannot be read.
pub(super) fn shelves(archive: &Archive) -> Result<Vec<Shelf>> {
    for _ in 1..TRIES {
        let names = archive.derived()?;
        let found = read(archive, &names);
        if found.len() == names.len() || archive.derived()? == names {
            return Ok(found);
        }
    }
    Ok(read(archive, &archive.derived()?))
}

fn read(archive: &Archive, names: &BTreeSet<DerivedName>) -> Vec<Shelf> {
    let shelf = |name: &DerivedName| {
        let segment = Segment::decode(archive.read_derived(*name)?).ok()?;
        Some(Shelf::named(Some(*name), segment))
    };
    names.iter().filter_map(shelf).collect()
}

/// Which of `keys` stand on which of `shelves`; a state stands on the first that has it.
pub(super) fn placed(shelves: &[Shelf], keys: &BTreeSet<StateKey>) -> Vec<BTreeSet<StateKey>> {
    let mut left = keys.clone();
    let own = |shelf: &Shelf| {
        let own: BTreeSet<StateKey> = shelf.infos.keys().filter(|key| left.remove(key)).copied().collect();
        own
    };
    shelves.iter().map(own).collect()
}

/// What an index lacks, and what it was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Indexed {
    /// How many states were indexed.
    pub states: usize,
    /// How many states are not, since originals of them are gone; they are read when they are searched.
    pub left: usize,
    /// Whether another process is at it, or nobody may write here: then nothing was done.
    pub elsewhere: bool,
}

/// Brings the index beside the archive up to date: states that no segment knows are indexed, and segments that are
/// small, or of which little is left, become one.
///
/// # Errors
/// `Unavailable` when the archive cannot be read, or the index cannot be written; what was written until then counts.
pub fn bring_up_to_date(archive: &Archive) -> Result<Indexed> {
    let mut done = Indexed::default();
    let mut waiting: Option<Vec<Listed>> = None;
    loop {
        // Held for one segment at a time, so that nobody who erases waits long; what is read is read under it.
        let Some(deriving) = archive.deriving()? else { return Ok(Indexed { elsewhere: true, ..done }) };
        let left = match waiting.take() {
            Some(left) => left,
            None => unknown(archive)?,
        };
        if left.is_empty() {
            tidy(archive, &deriving)?;
            return Ok(done);
        }
        let mut maker = Maker::default();
        let mut left = left.into_iter();
        for listed in left.by_ref() {
            let state = State::open(archive, &listed.meta, &listed.revision)?;
            if state.is_whole() {
                maker.add(listed.key(), &state)?;
                done.states += 1;
            } else {
                done.left += 1;
            }
            if maker.is_full() {
                break;
            }
        }
        if let Some(segment) = maker.finish()? {
            Shelf::of(segment).write(&deriving)?;
        }
        waiting = Some(left.collect());
    }
}

/// Segments of states that no segment knows, for whoever searches: in memory, and beside the archive where they are
/// much.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub(super) fn made<'l>(archive: &Archive, states: impl Iterator<Item = &'l Listed>) -> Result<Vec<Shelf>> {
    let states: Vec<&Listed> = states.collect();
    let bytes: u64 = states.iter().map(|listed| listed.revision.len).sum();
    let deriving = if bytes >= KEPT_BYTES_MIN { archive.deriving()? } else { None };
    let (mut whole, mut broken) = (Maker::default(), Maker::default());
    let mut shelves = Vec::new();
    let finish = |maker: Maker, shelves: &mut Vec<Shelf>| -> Result<()> {
        let made = maker.finish()?.map(Shelf::of);
        shelves.extend(match (&deriving, made) {
            (Some(deriving), Some(made)) => Some(made.write(deriving)?),
            (_, made) => made,
        });
        Ok(())
    };
    for listed in states {
        let state = State::open(archive, &listed.meta, &listed.revision)?;
        let maker = if state.is_whole() { &mut whole } else { &mut broken };
        maker.add(listed.key(), &state)?;
        if whole.is_full() {
            finish(std::mem::take(&mut whole), &mut shelves)?;
        }
    }
    finish(whole, &mut shelves)?;
    shelves.extend(broken.finish()?.map(Shelf::of));
    Ok(shelves)
}

/// The states that no segment knows.
fn unknown(archive: &Archive) -> Result<Vec<Listed>> {
    let shelves = shelves(archive)?;
    let mut all = listed(archive)?;
    all.retain(|listed| !shelves.iter().any(|shelf| shelf.infos.contains_key(&listed.key())));
    Ok(all)
}

/// Merges segments of which less than half is left, and those that are not full where there are many.
fn tidy(archive: &Archive, deriving: &Deriving<'_>) -> Result<()> {
    let shelves = shelves(archive)?;
    let keys = listed(archive)?.iter().map(Listed::key).collect();
    let kept: Vec<Blocks> =
        shelves.iter().zip(placed(&shelves, &keys)).map(|(shelf, own)| shelf.blocks_of(&own)).collect();
    let all: Vec<(&Shelf, &Blocks)> = shelves.iter().zip(&kept).collect();
    let is_loose = |kept: &Blocks| kept.count() < FULL_BLOCKS;
    let loose = all.iter().filter(|(_, kept)| is_loose(kept)).count();
    let goes = |&(shelf, kept): &(&Shelf, &Blocks)| {
        kept.count() * 2 < shelf.segment.blocks() || loose >= LOOSE_MAX && is_loose(kept)
    };
    let going: Vec<(&Shelf, &Blocks)> = all.into_iter().filter(goes).collect();
    let parts: Vec<Part<'_>> =
        going.iter().map(|(shelf, kept)| Part { segment: &shelf.segment, kept }).collect();
    if going.iter().any(|(_, kept)| !kept.is_empty()) {
        let failed =
            |error| Error::unavailable("segments of the search index cannot be merged").caused_by(error);
        Shelf::of(merge(&parts).map_err(failed)?).write(deriving)?;
    }
    going.iter().filter_map(|(shelf, _)| shelf.name).try_for_each(|name| deriving.delete(name))
}
