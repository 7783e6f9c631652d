//! Phrases of a table, found in one pass over the words of a text.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// What a byte is to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It stands between words.
    Between,
    /// A letter, or a part of one of two bytes.
    Letter,
    /// A digit or an underscore: no word of a phrase, but joined to one.
    Joined,
    /// The first byte of a character of a script without blanks between words.
    Wide,
    /// The first byte of another character.
    Other,
}

const CLASSES: [Class; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "constants over all 256 bytes")]
const fn classes() -> [Class; 256] {
    let mut all = [Class::Between; 256];
    let mut at = 0;
    while at < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "at is below 256")]
        let byte = at as u8;
        all[at] = match byte {
            b'A'..=b'Z' | b'a'..=b'z' | 0x80..=0xBF | 0xC3..=0xDF => Class::Letter,
            b'0'..=b'9' | b'_' => Class::Joined,
            0xE3..=0xED => Class::Wide,
            0xC0..=0xC2 | 0xE0..=0xE2 | 0xEE..=0xFF => Class::Other,
            _ => Class::Between,
        };
        at += 1;
    }
    all
}

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Between)
}

fn width(byte: u8) -> usize {
    match byte {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

/// A list of phrases; matches of one group never overlap.
pub(crate) struct List<'a, T> {
    pub(crate) words: &'a [String],
    pub(crate) group: usize,
    pub(crate) means: T,
}

/// The groups that there may be.
const GROUPS: usize = 2;

/// The slots of the table of first words; a power of two, several times their number.
const SLOTS: usize = 4_096;

#[derive(Debug)]
struct Phrase<T> {
    text: Box<[u8]>,
    group: usize,
    means: T,
}

/// The phrases of several lists. Latin, Greek and Cyrillic ones are whole words, the longest first, without case
/// of ASCII letters; in scripts without blanks a phrase stands anywhere.
#[derive(Debug)]
pub(crate) struct Phrases<T> {
    /// One bit for each hash of a first word, so that most words are passed over in a small table.
    known: [u64; SLOTS / 64],
    /// The first words, by hash: key, and place in `latin` and number of those that begin with it.
    slots: Vec<(u64, u16, u16)>,
    /// Those with the same first word stand together, the longest first.
    latin: Vec<Phrase<T>>,
    /// `n't`: those that begin inside a word, at its last letter.
    endings: Vec<Phrase<T>>,
    wide: Vec<Wide<T>>,
}

/// The phrases of one group in scripts without blanks.
#[derive(Debug)]
struct Wide<T> {
    automaton: AhoCorasick,
    means: Vec<T>,
    group: usize,
}

impl<T: Copy> Phrases<T> {
    pub(crate) fn new(lists: &[List<'_, T>]) -> Self {
        let all = lists.iter().flat_map(|list| {
            list.words.iter().map(|word| Phrase {
                text: word.to_ascii_lowercase().into_bytes().into(),
                group: list.group,
                means: list.means,
            })
        });
        let (wide, words): (Vec<_>, Vec<_>) =
            all.partition(|phrase| phrase.text.first().is_some_and(|byte| class(*byte) == Class::Wide));
        let (endings, mut latin): (Vec<_>, Vec<_>) = words
            .into_iter()
            .partition(|phrase| phrase.text.starts_with(b"n'") || phrase.text.starts_with("n’".as_bytes()));
        latin.sort_by_key(|phrase| (key(head(&phrase.text)), std::cmp::Reverse(phrase.text.len())));
        let slots = slots(&latin);
        let mut known = [0; SLOTS / 64];
        for phrase in &latin {
            let slot = slot(key(head(&phrase.text)));
            if let Some(bits) = known.get_mut(slot / 64) {
                *bits |= 1 << (slot % 64);
            }
        }
        let wide = (0..GROUPS).filter_map(|group| Wide::new(&wide, group)).collect();
        Self { known, slots, latin, endings, wide }
    }

    /// The phrases in `text`, in order of their first byte.
    pub(crate) fn find(&self, text: &str) -> Vec<(Range<usize>, T)> {
        let mut search = Search { all: self, bytes: text.as_bytes(), free: [0; GROUPS], found: Vec::new() };
        search.run(text);
        search.found
    }

    fn beginning_with(&self, key: u64) -> &[Phrase<T>] {
        let mut slot = slot(key);
        if self.known.get(slot / 64).is_none_or(|bits| bits >> (slot % 64) & 1 == 0) {
            return &[];
        }
        loop {
            match self.slots.get(slot) {
                Some((own, at, count)) if *own == key && *count > 0 => {
                    let at = usize::from(*at);
                    return self.latin.get(at..at + usize::from(*count)).unwrap_or_default();
                }
                Some((_, _, 0)) | None => return &[],
                Some(_) => slot = (slot + 1) % SLOTS,
            }
        }
    }
}

impl<T: Copy> Wide<T> {
    fn new(all: &[Phrase<T>], group: usize) -> Option<Self> {
        let own: Vec<&Phrase<T>> = all.iter().filter(|phrase| phrase.group == group).collect();
        if own.is_empty() {
            return None;
        }
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(own.iter().map(|phrase| &phrase.text))
            .ok()?;
        Some(Self { automaton, means: own.iter().map(|phrase| phrase.means).collect(), group })
    }
}

fn slots<T>(phrases: &[Phrase<T>]) -> Vec<(u64, u16, u16)> {
    let mut slots = vec![(0, 0, 0); SLOTS];
    for (at, phrase) in (0u16..).zip(phrases) {
        let key = key(head(&phrase.text));
        let mut slot = slot(key);
        while let Some(own) = slots.get_mut(slot) {
            if own.2 == 0 {
                *own = (key, at, 0);
            }
            if own.0 == key {
                own.2 += 1;
                break;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
    slots
}

/// The first word of a phrase.
fn head(text: &[u8]) -> &[u8] {
    let len = text.iter().take_while(|byte| class(**byte) == Class::Letter).count();
    text.get(..len).unwrap_or_default()
}

/// The first eight bytes of a word without case, and nothing of its length: longer words are told apart later.
fn key(word: &[u8]) -> u64 {
    let mut own = [0; 8];
    for (to, from) in own.iter_mut().zip(word) {
        *to = from | 0x20;
    }
    u64::from_le_bytes(own)
}

/// The key of the first `len` bytes; they are read at once where the text goes on.
fn key_at(bytes: &[u8], len: usize) -> u64 {
    let Some(eight) = bytes.first_chunk::<8>() else { return key(bytes.get(..len).unwrap_or_default()) };
    let own = u64::from_le_bytes(*eight) | 0x2020_2020_2020_2020;
    if len < 8 { own & ((1 << (len * 8)) - 1) } else { own }
}

fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) as usize
}

struct Search<'a, T> {
    all: &'a Phrases<T>,
    bytes: &'a [u8],
    /// Where each group is free again.
    free: [usize; GROUPS],
    found: Vec<(Range<usize>, T)>,
}

impl<T: Copy> Search<'_, T> {
    fn run(&mut self, text: &str) {
        let mut at = 0;
        while let Some(&byte) = self.bytes.get(at) {
            match class(byte) {
                Class::Between => at += 1,
                Class::Letter => at = self.word(at),
                Class::Joined => at = self.joined_from(at),
                Class::Other => at += width(byte),
                Class::Wide => at = self.wide(text, at),
            }
        }
    }

    fn joined_from(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let joined = |byte: &&u8| matches!(class(**byte), Class::Letter | Class::Joined);
        at + rest.iter().take_while(joined).count()
    }

    /// Looks for phrases that begin with the word at `at`, and gives its end.
    fn word(&mut self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| class(**byte) == Class::Letter).count();
        if rest.get(len).is_some_and(|byte| class(*byte) == Class::Joined) {
            return self.joined_from(at + len);
        }
        let phrases = self.all.beginning_with(key_at(rest, len));
        if !phrases.is_empty() {
            self.take(at, phrases);
        }
        let quoted = matches!(rest.get(len), Some(b'\'' | 0xE2));
        if quoted && rest.get(len - 1).is_some_and(|byte| byte | 0x20 == b'n') {
            self.take(at + len - 1, &self.all.endings);
        }
        at + len
    }

    /// Of each group the first of `phrases` that stands at `at`.
    fn take(&mut self, at: usize, phrases: &[Phrase<T>]) {
        for phrase in phrases {
            let end = at + phrase.text.len();
            let Some(free) = self.free.get_mut(phrase.group).filter(|free| **free <= at) else { continue };
            let stands = self.bytes.get(at..end).is_some_and(|own| own.eq_ignore_ascii_case(&phrase.text));
            let joins =
                self.bytes.get(end).is_some_and(|byte| matches!(class(*byte), Class::Letter | Class::Joined));
            if stands && !joins {
                *free = end;
                self.found.push((at..end, phrase.means));
            }
        }
    }

    /// Looks through a run of wide characters, blanks included, and gives its end.
    fn wide(&mut self, text: &str, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| **byte >= 0x80 || **byte == b' ').count();
        let Some(run) = text.get(at..at + len) else { return at + len };
        let first = self.found.len();
        for wide in &self.all.wide {
            for hit in wide.automaton.find_iter(run) {
                let range = at + hit.start()..at + hit.end();
                if let Some(free) = self.free.get_mut(wide.group).filter(|free| **free <= range.start) {
                    *free = range.end;
                    let means = wide.means.get(hit.pattern().as_usize()).copied();
                    self.found.extend(means.map(|means| (range, means)));
                }
            }
        }
        if let Some(own) = self.found.get_mut(first..) {
            own.sort_by_key(|(range, _)| range.start);
        }
        at + len
    }
}
