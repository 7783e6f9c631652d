//! Words as they are met, each by a number.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::blocks::wide;

/// A word that was met: where it stands, its hash, and the last block that has it.
#[derive(Debug, Clone, Copy)]
struct Met {
    start: usize,
    len: usize,
    hash: u32,
    last_block: u32,
}

/// Words by number, in the order in which they were met.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// Nobody who writes a text knows it, so that nobody can choose words that meet in one slot.
    seed: u64,
    bytes: Vec<u8>,
    words: Vec<Met>,
    /// Numbers of words plus one, at the places of their hashes; as many as a power of two.
    slots: Vec<u32>,
}

/// What came of a word in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noted {
    /// The block has it for the first time; its number.
    First(u32),
    /// The block has it already.
    Again,
}

const SLOTS_AT_FIRST: usize = 1 << 12;

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Self { seed, bytes: Vec::new(), words: Vec::new(), slots: vec![0; SLOTS_AT_FIRST] }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, number: u32) -> &[u8] {
        self.words.get(wide(number)).map_or(&[], |met| self.spelled(met))
    }

    fn spelled(&self, met: &Met) -> &[u8] {
        self.bytes.get(met.start..met.start + met.len).unwrap_or_default()
    }

    /// Notes that `block` has `word`.
    pub(crate) fn note(&mut self, word: &[u8], block: u32) -> Noted {
        let hash = hash(word, self.seed);
        let mask = self.slots.len() - 1;
        let mut slot = wide(hash) & mask;
        while let Some(number) = self.slots.get(slot).and_then(|own| own.checked_sub(1)) {
            let known = self.words.get(wide(number));
            // Bytes and length are compared: a hash alone would take one word for another.
            if known.is_some_and(|met| met.hash == hash && self.spelled(met) == word) {
                return self.note_again(number, block);
            }
            slot = (slot + 1) & mask;
        }
        self.add(word, hash, block, slot)
    }

    fn note_again(&mut self, number: u32, block: u32) -> Noted {
        match self.words.get_mut(wide(number)) {
            Some(met) if met.last_block != block => {
                met.last_block = block;
                Noted::First(number)
            }
            _ => Noted::Again,
        }
    }

    fn add(&mut self, word: &[u8], hash: u32, block: u32, slot: usize) -> Noted {
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX - 1);
        self.words.push(Met { start: self.bytes.len(), len: word.len(), hash, last_block: block });
        self.bytes.extend_from_slice(word);
        if let Some(own) = self.slots.get_mut(slot) {
            *own = number + 1;
        }
        if self.words.len() * 2 > self.slots.len() {
            self.grow();
        }
        Noted::First(number)
    }

    fn grow(&mut self) {
        let mut slots = vec![0; self.slots.len() * 2];
        let mask = slots.len() - 1;
        for (met, number) in self.words.iter().zip(1u32..) {
            let mut at = wide(met.hash) & mask;
            while slots.get(at).is_some_and(|own| *own != 0) {
                at = (at + 1) & mask;
            }
            if let Some(own) = slots.get_mut(at) {
                *own = number;
            }
        }
        self.slots = slots;
    }
}

/// Eight bytes at a time, mixed at the end: words that differ in one bit are far apart.
fn hash(word: &[u8], seed: u64) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (eights, rest) = word.as_chunks::<8>();
    let mut tail = [0; 8];
    tail.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let start = seed ^ u64::try_from(word.len()).unwrap_or(u64::MAX);
    let mixed = eights
        .iter()
        .chain([&tail])
        .fold(start, |hash, eight| (hash.rotate_left(23) ^ u64::from_le_bytes(*eight)).wrapping_mul(FACTOR));
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(FACTOR);
    (mixed >> 32) as u32
}
