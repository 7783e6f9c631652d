//! Reading blocks: their texts from the original bytes, each piece compared with its hash; those read last are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use strongroom_archive::Archive;
use strongroom_archive::export::RevisionBytes;
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::vault::Revision;

use super::note::{Hole, HoleKind, sections};
use super::shelf::Listed;
use super::state::{State, texts_in_place};
use super::unit::{Raw, Text, Unit, UnitReader};

/// How many bytes of text are kept, at most.
const KEPT_BYTES_MAX: usize = 128 << 20;

/// The texts of one state in a block.
#[derive(Debug, Default)]
pub(super) struct BlockTexts {
    pub(super) units: Vec<(Unit, Vec<Text>)>,
    /// What of it could not be read.
    pub(super) holes: Vec<Hole>,
    bytes: usize,
}

/// Names a block: its segment, its number, and the state that is read in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BlockId {
    pub(super) place: usize,
    pub(super) shelf: usize,
    pub(super) block: u32,
}

/// The texts that were read last: what is looked for again is at hand, and half of it is forgotten at a time.
#[derive(Debug, Default)]
struct Kept {
    young: HashMap<BlockId, Arc<BlockTexts>>,
    old: HashMap<BlockId, Arc<BlockTexts>>,
    young_bytes: usize,
}

impl Kept {
    fn get(&mut self, id: BlockId) -> Option<Arc<BlockTexts>> {
        if let Some(own) = self.young.get(&id) {
            return Some(Arc::clone(own));
        }
        let own = self.old.remove(&id)?;
        self.put(id, &own);
        Some(own)
    }

    fn put(&mut self, id: BlockId, texts: &Arc<BlockTexts>) {
        if self.young_bytes > KEPT_BYTES_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += texts.bytes;
        self.young.insert(id, Arc::clone(texts));
    }
}

/// Reads blocks of an archive.
#[derive(Debug)]
pub(super) struct Library<'a> {
    archive: &'a Archive,
    kept: Mutex<Kept>,
    /// The pieces of each state, once they were asked for.
    revisions: Vec<OnceLock<Revision>>,
}

/// The state that was read last: blocks come state by state.
#[derive(Debug, Default)]
pub(super) struct Opened<'a> {
    bytes: Option<(usize, RevisionBytes<'a>)>,
    whole: Option<(usize, State)>,
}

impl<'a> Library<'a> {
    pub(super) fn new(archive: &'a Archive, places: usize) -> Self {
        let revisions = std::iter::repeat_with(OnceLock::new).take(places).collect();
        Self { archive, kept: Mutex::default(), revisions }
    }

    /// Forgets what was read: originals may have been taken away since.
    pub(super) fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }

    /// The texts of `listed` in the block `id`, of which `note` is the note.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub(super) fn block(
        &self,
        id: BlockId,
        listed: &Listed,
        note: &[u8],
        opened: &mut Opened<'a>,
    ) -> Result<Arc<BlockTexts>> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(id) {
            return Ok(known);
        }
        let texts = Arc::new(self.read(id.place, listed, note, opened)?);
        if texts.holes.is_empty() {
            kept().put(id, &texts);
        }
        Ok(texts)
    }

    fn read(
        &self,
        place: usize,
        listed: &Listed,
        note: &[u8],
        opened: &mut Opened<'a>,
    ) -> Result<BlockTexts> {
        let key = listed.key();
        let mut read = BlockTexts::default();
        for section in sections(note).filter(|own| own.key == key) {
            for unit in UnitReader::new(section.units) {
                match self.texts(place, listed, &unit, opened) {
                    Ok(texts) => {
                        read.bytes += texts.iter().map(|text| text.text.len()).sum::<usize>();
                        read.units.push((unit, texts));
                    }
                    Err(error) if is_loss(&error) => {
                        let (kind, line) = (HoleKind::Gone, unit.line);
                        read.holes.push(Hole { kind, line, why: error.to_string() });
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(read)
    }

    /// The texts of a unit, from the original bytes.
    fn texts(
        &self,
        place: usize,
        listed: &Listed,
        unit: &Unit,
        opened: &mut Opened<'a>,
    ) -> Result<Vec<Text>> {
        let missing = || Error::bug("a state that was read is not there");
        if matches!(unit.raw, Raw::Block(_)) {
            if opened.whole.as_ref().is_none_or(|(own, _)| *own != place) {
                opened.whole = None;
                opened.whole = Some((place, State::open(self.archive, &listed.meta, &listed.revision)?));
            }
            return opened.whole.as_ref().ok_or_else(missing)?.1.texts(unit);
        }
        if opened.bytes.as_ref().is_none_or(|(own, _)| *own != place) {
            let revision = self.revision(place, listed)?;
            opened.bytes = Some((place, self.archive.bytes_of(revision)));
        }
        texts_in_place(&opened.bytes.as_ref().ok_or_else(missing)?.1, unit)
    }

    fn revision(&self, place: usize, listed: &Listed) -> Result<Revision> {
        let read = || self.archive.pieces_of(listed.meta.id, &listed.revision);
        let Some(slot) = self.revisions.get(place) else { return read() };
        if let Some(known) = slot.get() {
            return Ok(known.clone());
        }
        let revision = read()?;
        Ok(slot.get_or_init(|| revision).clone())
    }
}

/// Whether it is an original that cannot be read, and not the archive.
fn is_loss(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Expired | ErrorKind::NotFound)
}
