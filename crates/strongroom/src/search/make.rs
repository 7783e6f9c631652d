//! Making: texts of states become blocks of a segment.

use strongroom_core::error::{Error, Result};
use strongroom_search::{Builder, Segment};

use super::note::{Info, StateKey, put_section};
use super::state::State;
use super::unit::UnitWriter;

/// A block is closed once it has so many bytes of text.
const BLOCK_BYTES: usize = 64 << 10;

/// Where a piece or a source ends, a block is closed once it has so many bytes: who reads it then reads few pieces.
const BLOCK_BYTES_MIN: usize = 16 << 10;

/// A segment with more blocks is full: a larger one would have to be made again whenever one of its sources is erased.
pub(super) const FULL_BLOCKS: u32 = 2048;

/// Makes a segment.
#[derive(Debug, Default)]
pub(super) struct Maker {
    builder: Builder,
    note: Vec<u8>,
    /// The bytes of text in the block that is open.
    bytes: usize,
}

/// The section that is being written.
struct Open<'s> {
    key: StateKey,
    info: Option<&'s Info>,
    texts: u64,
    units: UnitWriter,
}

impl Maker {
    /// Adds the texts of a state.
    ///
    /// # Errors
    /// `Unavailable` when they cannot be read.
    pub(super) fn add(&mut self, key: StateKey, state: &State) -> Result<()> {
        self.close_from(BLOCK_BYTES_MIN);
        let mut open = Open { key, info: Some(&state.info), texts: 0, units: UnitWriter::default() };
        let mut pieces = Pieces::of(state);
        state.each_unit(&mut |unit, own| {
            let is_next = unit.raw.range().is_some_and(|range| pieces.is_next(range.start()));
            if self.bytes >= if is_next { BLOCK_BYTES_MIN } else { BLOCK_BYTES } {
                self.put(&mut open);
                self.close_from(0);
            }
            for text in own {
                self.builder.text(text.text.as_bytes());
                self.bytes += text.text.len();
                open.texts += 1;
            }
            open.units.put(unit);
            Ok(())
        })?;
        self.put(&mut open);
        Ok(())
    }

    /// Ends the section in this block; another follows.
    fn put(&mut self, open: &mut Open<'_>) {
        let units = std::mem::take(&mut open.units);
        let (info, texts) = (open.info.take(), std::mem::take(&mut open.texts));
        if units.count > 0 || info.is_some() {
            put_section(&mut self.note, open.key, info, (texts, &units.out));
        }
    }

    /// Closes the block where it has so many bytes.
    fn close_from(&mut self, bytes_min: usize) {
        if self.bytes >= bytes_min && !self.note.is_empty() {
            self.builder.close_block(&self.note);
            self.note.clear();
            self.bytes = 0;
        }
    }

    /// Whether another segment is to be begun.
    pub(super) fn is_full(&self) -> bool {
        self.builder.blocks() >= FULL_BLOCKS
    }

    /// The segment, where there is anything in it.
    ///
    /// # Errors
    /// `Unavailable` when there is too much in it.
    pub(super) fn finish(mut self) -> Result<Option<Segment>> {
        self.close_from(0);
        if self.builder.blocks() == 0 {
            return Ok(None);
        }
        let failed =
            |error| Error::unavailable("a segment of the search index cannot be made").caused_by(error);
        self.builder.finish().map(Some).map_err(failed)
    }
}

/// The pieces of a state, to tell where a text begins in another than the one before.
struct Pieces {
    ends: Vec<u64>,
    last: usize,
}

impl Pieces {
    fn of(state: &State) -> Self {
        let mut end = 0;
        let ends = state.revision.pieces.iter().map(|&(_, len)| {
            end += len;
            end
        });
        Self { ends: ends.collect(), last: 0 }
    }

    fn is_next(&mut self, start: u64) -> bool {
        let own = self.ends.partition_point(|&end| end <= start);
        std::mem::replace(&mut self.last, own) != own
    }
}
