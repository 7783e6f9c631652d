//! Segments: what is known of some blocks, never changed again.

use std::fmt;
use std::ops::Range;

use memchr::{memchr_iter, memmem};
use sha2::{Digest as _, Sha256};

use crate::blocks::{Blocks, row_bytes, wide};
use crate::grams;
use crate::postings::{self, Posting};
use crate::wire;
use crate::words::{Reach, demands};

const MAGIC: &[u8; 8] = b"SRWORDS1";
const HASH_BYTES: usize = 32;

/// Bytes that are no segment, or not the whole of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a segment of the search index is damaged")
    }
}

impl std::error::Error for Damaged {}

/// The words and grams of some blocks, with a note for each block.
pub struct Segment {
    bytes: Vec<u8>,
    blocks: u32,
    /// Every word between two NUL bytes, in order of their bytes.
    vocabulary: Range<usize>,
    grams: Range<usize>,
    /// Where each word begins, in the vocabulary.
    words: Vec<u32>,
    /// Where the blocks of each word begin, in all bytes.
    postings: Vec<u32>,
    notes: Vec<Range<usize>>,
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

/// The parts of a segment before they are put together.
pub(crate) struct Raw {
    pub(crate) blocks: u32,
    /// Every word between two NUL bytes, in order of their bytes.
    pub(crate) vocabulary: Vec<u8>,
    /// The blocks of every word, in the order of the words.
    pub(crate) postings: Vec<u8>,
    /// The rows of all grams.
    pub(crate) grams: Vec<u8>,
    /// The note of each block, with its length.
    pub(crate) notes: Vec<u8>,
}

impl Raw {
    /// The segment that the parts make.
    ///
    /// # Errors
    /// [`Damaged`] when there is too much in it to be counted.
    pub(crate) fn finish(self) -> Result<Segment, Damaged> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.blocks.to_le_bytes());
        for part in [&self.vocabulary, &self.postings, &self.notes] {
            bytes.extend(u32::try_from(part.len()).map_err(|_| Damaged)?.to_le_bytes());
        }
        for part in [&self.vocabulary, &self.postings, &self.notes, &self.grams] {
            bytes.extend_from_slice(part);
        }
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        Segment::read(bytes).ok_or(Damaged)
    }
}

impl Segment {
    /// The segment that `bytes` hold.
    ///
    /// # Errors
    /// [`Damaged`] when they are not, bit for bit, what a segment was written as.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, Damaged> {
        let (body, hash) = bytes.split_last_chunk::<HASH_BYTES>().ok_or(Damaged)?;
        if Sha256::digest(body).as_slice() != hash {
            return Err(Damaged);
        }
        Self::read(bytes).ok_or(Damaged)
    }

    /// The bytes from which it can be read again.
    pub fn encoded(&self) -> &[u8] {
        &self.bytes
    }

    fn read(bytes: Vec<u8>) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let blocks = wire::take_u32(&mut rest)?;
        let lens = [wire::take_u32(&mut rest)?, wire::take_u32(&mut rest)?, wire::take_u32(&mut rest)?];
        let gram_bytes = grams::ROWS.checked_mul(row_bytes(blocks))?;
        let mut at = bytes.len() - rest.len();
        let [vocabulary, postings, notes, grams] = [wide(lens[0]), wide(lens[1]), wide(lens[2]), gram_bytes]
            .map(|len| {
                let start = at;
                at = at.saturating_add(len);
                start..at
            });
        if at.checked_add(HASH_BYTES)? != bytes.len() {
            return None;
        }
        let words = starts(bytes.get(vocabulary.clone())?)?;
        let found = posting_starts(bytes.get(postings.clone())?, postings.start)?;
        let noted = note_ranges(bytes.get(notes.clone())?, notes.start)?;
        if found.len() != words.len() || noted.len() != wide(blocks) {
            return None;
        }
        Some(Self { blocks, vocabulary, grams, words, postings: found, notes: noted, bytes })
    }

    /// How many blocks there are; they are numbered from 0.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The note of a block.
    pub fn note(&self, block: u32) -> &[u8] {
        let range = self.notes.get(wide(block)).cloned();
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// The blocks of `among` that may hold `needle` in one of their texts. All that do are among them.
    pub fn candidates(&self, needle: &[u8], among: &Blocks) -> Blocks {
        let mut left = among.clone();
        grams::retain(self.gram_rows(), self.blocks, needle, &mut left);
        for (reach, run) in demands(needle) {
            if left.is_empty() {
                break;
            }
            let having = self.having(reach, run, &left);
            left.retain(having.row());
        }
        left
    }

    /// Blocks that have a word with `run` in it as `reach` says; no others of `wanted` do.
    fn having(&self, reach: Reach, run: &[u8], wanted: &Blocks) -> Blocks {
        let mut found = Blocks::none(self.blocks);
        match reach {
            Reach::Whole | Reach::Beginning => {
                let from = self.first_from(run);
                let fits =
                    |word: &[u8]| if reach == Reach::Whole { word == run } else { word.starts_with(run) };
                let numbers = (from..self.words.len()).take_while(|&number| fits(self.word(number)));
                self.add_all(numbers, wanted, &mut found);
            }
            Reach::End => {
                let ended = [run, b"\0"].concat();
                self.add_all(self.holding(&ended), wanted, &mut found);
            }
            Reach::Inside => self.add_all(self.holding(run), wanted, &mut found),
        }
        found
    }

    /// Adds the blocks of words, until all that are wanted are there.
    fn add_all(&self, numbers: impl Iterator<Item = usize>, wanted: &Blocks, found: &mut Blocks) {
        /// How many words are added between two looks at what is there.
        const WORDS_BETWEEN: usize = 64;
        for (number, nth) in numbers.zip(1usize..) {
            if let Some(posting) = self.posting(number) {
                posting.add_to(found);
            }
            if nth.is_multiple_of(WORDS_BETWEEN) && found.contains_all(wanted) {
                break;
            }
        }
    }

    /// The words in which `part` stands, in order.
    fn holding(&self, part: &[u8]) -> impl Iterator<Item = usize> {
        let finder = memmem::Finder::new(part).into_owned();
        let vocabulary = self.vocabulary_bytes();
        let mut at = 0;
        std::iter::from_fn(move || {
            let place = at + finder.find(vocabulary.get(at..)?)?;
            let number = self.words.partition_point(|&start| wide(start) <= place).checked_sub(1)?;
            // The word is named once, however often it has the part.
            at = self.words.get(number + 1).map_or(vocabulary.len(), |&next| wide(next));
            Some(number)
        })
    }

    /// The first word that is not below `run`.
    fn first_from(&self, run: &[u8]) -> usize {
        self.words.partition_point(|&start| self.word_at(start) < run)
    }

    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, number: usize) -> &[u8] {
        self.words.get(number).map_or(&[], |&start| self.word_at(start))
    }

    fn word_at(&self, start: u32) -> &[u8] {
        let from = self.vocabulary_bytes().get(wide(start)..).unwrap_or_default();
        from.get(..memchr::memchr(0, from).unwrap_or(from.len())).unwrap_or_default()
    }

    pub(crate) fn posting(&self, number: usize) -> Option<Posting<'_>> {
        let mut from = self.bytes.get(wide(*self.postings.get(number)?)..)?;
        postings::take(&mut from)
    }

    fn vocabulary_bytes(&self) -> &[u8] {
        self.bytes.get(self.vocabulary.clone()).unwrap_or_default()
    }

    pub(crate) fn gram_rows(&self) -> &[u8] {
        self.bytes.get(self.grams.clone()).unwrap_or_default()
    }
}

/// Where each word begins; between two there is one NUL, before the first and behind the last, too.
fn starts(vocabulary: &[u8]) -> Option<Vec<u32>> {
    let mut starts = Vec::new();
    for at in memchr_iter(0, vocabulary) {
        starts.push(u32::try_from(at + 1).ok()?);
    }
    // Behind the last NUL no word begins.
    starts.pop();
    Some(starts)
}

fn posting_starts(mut postings: &[u8], first: usize) -> Option<Vec<u32>> {
    let all = postings.len();
    let mut starts = Vec::new();
    while !postings.is_empty() {
        starts.push(u32::try_from(first + all - postings.len()).ok()?);
        postings::take(&mut postings)?;
    }
    Some(starts)
}

fn note_ranges(mut notes: &[u8], first: usize) -> Option<Vec<Range<usize>>> {
    let all = notes.len();
    let mut ranges = Vec::new();
    while !notes.is_empty() {
        let len = wire::take_bytes(&mut notes)?.len();
        let end = first + all - notes.len();
        ranges.push(end - len..end);
    }
    Some(ranges)
}
