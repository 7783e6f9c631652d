//! Merging: segments become one, without the blocks that are no longer wanted. No text is read.

use crate::blocks::{Blocks, row_bytes};
use crate::grams;
use crate::postings;
use crate::segment::{Damaged, Raw, Segment};
use crate::wire;

/// A segment, and which of its blocks stay.
#[derive(Debug, Clone, Copy)]
pub struct Part<'s> {
    /// The segment.
    pub segment: &'s Segment,
    /// The blocks that stay.
    pub kept: &'s Blocks,
}

/// The segment that would have been built of the kept blocks of all parts, in order.
///
/// # Errors
/// [`Damaged`] when there is too much in it to be counted.
pub fn merge(parts: &[Part<'_>]) -> Result<Segment, Damaged> {
    let mut count = 0;
    let places: Vec<Vec<Option<u32>>> = parts.iter().map(|part| places(part, &mut count)).collect();
    let mut all_grams = vec![0; grams::ROWS * row_bytes(count)];
    let mut notes = Vec::new();
    for (part, place) in parts.iter().zip(&places) {
        grams::copy((part.segment.gram_rows(), part.segment.blocks()), &mut all_grams, count, place);
        part.kept.iter().for_each(|block| wire::put_bytes(&mut notes, part.segment.note(block)));
    }
    let (vocabulary, postings) = words(parts, &places, count);
    Raw { blocks: count, vocabulary, postings, grams: all_grams, notes }.finish()
}

/// What each block of a part is called behind the `count` blocks before it.
fn places(part: &Part<'_>, count: &mut u32) -> Vec<Option<u32>> {
    let place = |block: u32| {
        part.kept.contains(block).then(|| {
            let own = *count;
            *count += 1;
            own
        })
    };
    (0..part.segment.blocks()).map(place).collect()
}

/// The words of all parts, each once, with their blocks; a word that is in none goes.
fn words(parts: &[Part<'_>], places: &[Vec<Option<u32>>], count: u32) -> (Vec<u8>, Vec<u8>) {
    let mut all: Vec<(&[u8], usize, usize)> = Vec::new();
    for (part, at) in parts.iter().zip(0..) {
        all.extend((0..part.segment.word_count()).map(|number| (part.segment.word(number), at, number)));
    }
    // Each part is in order already, which makes this a merge.
    all.sort();
    let (mut vocabulary, mut postings) = (vec![0], Vec::new());
    for same in all.chunk_by(|one, two| one.0 == two.0) {
        let mut blocks = Vec::new();
        for &(_, at, number) in same {
            if let Some((part, place)) = parts.get(at).zip(places.get(at)) {
                blocks.extend(moved(part.segment, number, place));
            }
        }
        if let (Some((word, ..)), false) = (same.first(), blocks.is_empty()) {
            vocabulary.extend_from_slice(word);
            vocabulary.push(0);
            postings::put(&mut postings, &blocks, count);
        }
    }
    (vocabulary, postings)
}

/// The kept blocks of a word, as they are called now.
fn moved(segment: &Segment, number: usize, place: &[Option<u32>]) -> Vec<u32> {
    let mut found = Blocks::none(segment.blocks());
    if let Some(posting) = segment.posting(number) {
        posting.add_to(&mut found);
    }
    found.iter().filter_map(|block| place.get(crate::blocks::wide(block)).copied().flatten()).collect()
}
