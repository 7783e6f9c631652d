//! Building: texts, block by block, become a segment.

use crate::blocks::wide;
use crate::grams::{self, BlockGrams};
use crate::postings;
use crate::segment::{Damaged, Raw, Segment};
use crate::vocabulary::{Noted, Vocabulary};
use crate::wire;
use crate::words;

/// Takes in texts, and makes a segment of them.
#[derive(Debug)]
pub struct Builder {
    vocabulary: Vocabulary,
    /// The numbers of the words of each block, block by block.
    pairs: Vec<u32>,
    /// Where the words of each block end, in `pairs`.
    ends: Vec<usize>,
    grams: Vec<BlockGrams>,
    open: BlockGrams,
    notes: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            vocabulary: Vocabulary::new(),
            pairs: Vec::new(),
            ends: Vec::new(),
            grams: Vec::new(),
            open: BlockGrams::new(),
            notes: Vec::new(),
        }
    }
}

impl Builder {
    /// Adds a text to the block that is open. A needle is found within one text, never across two.
    pub fn text(&mut self, text: &[u8]) {
        let block = self.blocks();
        self.open.add(text);
        words::each(text, |word| {
            if let Noted::First(number) = self.vocabulary.note(word, block) {
                self.pairs.push(number);
            }
        });
    }

    /// Closes the block that is open, with its note, and opens the next; returns its number.
    pub fn close_block(&mut self, note: &[u8]) -> u32 {
        let block = self.blocks();
        self.ends.push(self.pairs.len());
        self.grams.push(std::mem::replace(&mut self.open, BlockGrams::new()));
        wire::put_bytes(&mut self.notes, note);
        block
    }

    /// How many blocks are closed.
    pub fn blocks(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// The segment of all closed blocks.
    ///
    /// # Errors
    /// [`Damaged`] when there is too much in it to be counted: some gigabytes of text.
    pub fn finish(self) -> Result<Segment, Damaged> {
        let count = self.blocks();
        let by_word = self.by_word();
        let mut order: Vec<u32> = (0..u32::try_from(self.vocabulary.len()).map_err(|_| Damaged)?).collect();
        order.sort_unstable_by(|&one, &two| self.vocabulary.word(one).cmp(self.vocabulary.word(two)));
        let (mut vocabulary, mut postings) = (vec![0], Vec::new());
        for number in order {
            let blocks = by_word.of(number);
            if blocks.is_empty() {
                continue;
            }
            vocabulary.extend_from_slice(self.vocabulary.word(number));
            vocabulary.push(0);
            postings::put(&mut postings, blocks, count);
        }
        let grams = grams::rows(&self.grams);
        Raw { blocks: count, vocabulary, postings, grams, notes: self.notes }.finish()
    }

    /// The blocks of each word.
    fn by_word(&self) -> ByWord {
        let closed = self.pairs.get(..self.ends.last().copied().unwrap_or(0)).unwrap_or_default();
        let mut starts = vec![0usize; self.vocabulary.len() + 1];
        for &number in closed {
            starts.get_mut(wide(number) + 1).into_iter().for_each(|count| *count += 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut blocks = vec![0; closed.len()];
        let mut from = 0;
        for (&end, block) in self.ends.iter().zip(0u32..) {
            for &number in closed.get(from..end).unwrap_or_default() {
                let Some(place) = next.get_mut(wide(number)) else { continue };
                blocks.get_mut(*place).into_iter().for_each(|own| *own = block);
                *place += 1;
            }
            from = end;
        }
        ByWord { starts, blocks }
    }
}

/// The blocks of each word, in order.
struct ByWord {
    starts: Vec<usize>,
    blocks: Vec<u32>,
}

impl ByWord {
    fn of(&self, number: u32) -> &[u32] {
        let bound = |at: usize| self.starts.get(at).copied();
        let range = bound(wide(number)).zip(bound(wide(number) + 1));
        range.and_then(|(start, end)| self.blocks.get(start..end)).unwrap_or_default()
    }
}
