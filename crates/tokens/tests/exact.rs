//! Counts are those of another implementation, of any text.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use strongroom_tokens::count;

fn expected(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

#[test]
fn every_token_counts_as_the_other_counts_it() {
    let vocabulary = &bpe_openai::o200k_base().bpe;
    for rank in 0..u32::try_from(vocabulary.num_tokens()).unwrap() {
        let Ok(text) = str::from_utf8(vocabulary.token_bytes(rank)) else { continue };
        assert_eq!(count(text), expected(text), "{text:?}");
    }
}

#[test]
fn every_character_is_of_its_class() {
    // Most of the higher planes is not assigned.
    let sampled = |char: &char| {
        matches!(u32::from(*char), 0..0x3_3500 | 0xE_0000..0xE_0200) || u32::from(*char) % 61 == 0
    };
    // Beside letters, signs, numbers and white space every class cuts in a way of its own.
    for char in ('\0'..=char::MAX).filter(sampled) {
        let text = format!("a{char}B {char}{char}\n{char}c");
        assert_eq!(count(&text), expected(&text), "{char:?}");
    }
}

#[test]
fn long_runs_are_merged_like_short_ones() {
    for unit in ["a", "=", " ", "\n", "ab", "aB", "0", "é", "日", "\u{301}", "xYz'll", "!\n/", "\t "] {
        for times in [1, 2, 31, 48, 63, 96, 97, 98, 130, 1_000, 5_003] {
            let text = unit.repeat(times);
            assert_eq!(count(&text), expected(&text), "{unit:?} {times} times");
        }
    }
}

#[test]
fn transcripts_count_alike() {
    let mut places: Vec<PathBuf> = testkit::shared::shared("transcripts").into_iter().collect();
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let Ok(text) = fs::read_to_string(&place) else { continue };
        let start = text.ceil_char_boundary(text.len().saturating_sub(PART) / 2);
        let part = text.get(start..text.ceil_char_boundary(start + PART)).unwrap();
        assert_eq!(count(part), expected(part), "{}", place.display());
    }
}

/// How much of a file is counted, in bytes.
const PART: usize = 40_000;

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[ \t\r\n]{1,4}",
        "[A-Za-z]{1,12}",
        "[A-Za-zäöüßéÉǅʰªא日本가ก]{1,6}",
        "[0-9٣Ⅷ½]{1,5}",
        "['’](s|S|ſ|t|re|RE|vE|m|ll|d|x)",
        "[\u{300}\u{301}\u{93e}\u{20e3}]{1,2}",
        "[!-/:-@]{1,5}",
        "[\u{a0}\u{85}\u{2028}\u{3000}\u{200b}]",
        "[a-zA-Z0-9+/]{90,200}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_counts_alike(text in texts()) {
        prop_assert_eq!(count(&text), expected(&text));
    }
}
