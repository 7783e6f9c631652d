//! The index against reading everything: no block that holds a needle is passed over, and damage is found.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, where clippy sees none")]

use proptest::prelude::*;
use strongroom_search::{Blocks, Builder, Damaged, Part, Segment, merge};
use testkit::dice::Dice;

/// Blocks of texts of few kinds of pieces, so that words, numbers and signs meet in many ways.
const PIECES: [&str; 26] = [
    "fn",
    "main",
    "()",
    " {",
    "}\n",
    "1",
    "11",
    "111",
    "0x7f",
    "é",
    "日本",
    "_",
    "\"",
    "\\n",
    "\t",
    "src/lib.rs",
    " ",
    ",",
    "cargo test",
    "=>",
    "a",
    "ab",
    "--flag",
    "🦀",
    ".",
    "error[E0308]",
];

fn text(dice: &mut Dice) -> String {
    let mut text: String = (0..dice.below(40)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
    if dice.below(8) == 0 {
        // A word that is longer than what is kept of one.
        let long = (0..dice.below(600)).map(|_| char::from(b'a' + u8::try_from(dice.below(26)).unwrap()));
        text.extend(long.collect::<Vec<_>>());
    }
    text
}

fn corpus(seed: u64, blocks: usize) -> Vec<Vec<String>> {
    let mut dice = Dice::new(seed);
    (0..blocks).map(|_| (0..dice.below(6)).map(|_| text(&mut dice)).collect()).collect()
}

fn built(blocks: &[Vec<String>]) -> Segment {
    let mut builder = Builder::default();
    for (texts, at) in blocks.iter().zip(0u32..) {
        texts.iter().for_each(|text| builder.text(text.as_bytes()));
        assert_eq!(builder.close_block(&note(at)), at);
    }
    builder.finish().unwrap()
}

fn note(block: u32) -> Vec<u8> {
    vec![7; block as usize % 5]
}

fn holds(texts: &[String], needle: &[u8]) -> bool {
    texts.iter().any(|text| text.as_bytes().windows(needle.len()).any(|own| own == needle))
}

fn assert_complete(segment: &Segment, blocks: &[Vec<String>], needle: &[u8]) {
    let found = segment.candidates(needle, &Blocks::all(segment.blocks()));
    for (texts, at) in blocks.iter().zip(0u32..) {
        assert!(
            found.contains(at) || !holds(texts, needle),
            "block {at} holds {needle:?} and is passed over"
        );
    }
}

/// A run of bytes of some text, wherever it begins and ends, as long as `len_max` at most.
fn drawn<'c>(blocks: &'c [Vec<String>], dice: &mut Dice, len_max: usize) -> Option<&'c [u8]> {
    let texts: Vec<&String> = blocks.iter().flatten().filter(|text| !text.is_empty()).collect();
    let text = texts.get(dice.below(texts.len()))?.as_bytes();
    let start = dice.below(text.len());
    let len = 1 + dice.below(len_max.min(text.len() - start));
    Some(&text[start..start + len])
}

#[test]
fn no_substring_is_missed() {
    for seed in 0..12 {
        let blocks = corpus(seed, 40);
        let segment = built(&blocks);
        let mut dice = Dice::new(seed + 1000);
        for round in 0..400 {
            let len_max = [3, 12, 300][round % 3];
            if let Some(needle) = drawn(&blocks, &mut dice, len_max) {
                assert_complete(&segment, &blocks, needle);
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_are_missed(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..12), at in any::<u64>()) {
        let mut builder = Builder::default();
        for text in &texts {
            builder.text(text);
            builder.close_block(&[]);
        }
        let segment = builder.finish().unwrap();
        let mut dice = Dice::new(at);
        let block = dice.below(texts.len());
        let text = &texts[block];
        let start = dice.below(text.len());
        let needle = &text[start..start + dice.below(text.len() - start + 1)];
        let found = segment.candidates(needle, &Blocks::all(segment.blocks()));
        prop_assert!(found.contains(u32::try_from(block).unwrap()));
    }

    #[test]
    fn merging_is_building_what_is_left(seed in any::<u64>(), sizes in prop::collection::vec(0usize..20, 1..5)) {
        let mut dice = Dice::new(seed);
        let parts: Vec<Vec<Vec<String>>> = sizes.iter().map(|&size| corpus(dice.roll(u64::MAX), size)).collect();
        let segments: Vec<Segment> = parts.iter().map(|blocks| built(blocks)).collect();
        let kept: Vec<Blocks> = segments.iter().map(|segment| {
            let mut kept = Blocks::none(segment.blocks());
            (0..segment.blocks()).filter(|_| dice.below(4) > 0).for_each(|block| kept.insert(block));
            kept
        }).collect();
        let merged: Vec<Part<'_>> = segments.iter().zip(&kept).map(|(segment, kept)| Part { segment, kept }).collect();
        let mut builder = Builder::default();
        for (blocks, kept) in parts.iter().zip(&kept) {
            for block in kept.iter() {
                blocks[block as usize].iter().for_each(|text| builder.text(text.as_bytes()));
                builder.close_block(&note(block));
            }
        }
        let (merged, rebuilt) = (merge(&merged).unwrap(), builder.finish().unwrap());
        prop_assert_eq!(merged.encoded(), rebuilt.encoded());
    }

    #[test]
    fn a_segment_that_was_cut_or_changed_is_refused(seed in any::<u64>(), at in any::<u64>(), bit in 0u8..8) {
        let segment = built(&corpus(seed, 3));
        let whole = segment.encoded().to_vec();
        let at = Dice::new(at).below(whole.len());
        prop_assert_eq!(Segment::decode(whole[..at].to_vec()).err(), Some(Damaged));
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << bit;
        prop_assert_eq!(Segment::decode(flipped).err(), Some(Damaged));
        let again = Segment::decode(whole).unwrap();
        prop_assert_eq!(again.encoded(), segment.encoded());
    }
}

#[test]
fn words_that_are_not_there_leave_nothing_to_read() {
    let blocks = corpus(3, 60);
    let segment = built(&blocks);
    let all = Blocks::all(segment.blocks());
    for absent in ["MAIN", "9", "119", "main9", "日本人", "src/lib.rs9"] {
        assert!(!blocks.iter().any(|texts| holds(texts, absent.as_bytes())), "{absent} is there after all");
        assert!(segment.candidates(absent.as_bytes(), &all).is_empty(), "{absent}");
    }
    assert!(segment.candidates(b"main", &Blocks::none(segment.blocks())).is_empty(), "nothing was asked for");
}

#[test]
fn notes_come_back_as_they_were() {
    let segment = Segment::decode(built(&corpus(5, 30)).encoded().to_vec()).unwrap();
    assert_eq!(segment.blocks(), 30);
    assert!((0..30).all(|block| segment.note(block) == note(block)));
    assert!(segment.note(30).is_empty());
}
