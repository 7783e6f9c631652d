//! Text made comparable: what is merely spelled another way must not count as another thing.

use std::collections::{BTreeMap, BTreeSet};

pub(super) use crate::wording::{plain, stems};

/// Letters and digits only, in lower case: equal for texts that differ in spacing, quoting and punctuation.
pub(super) fn tight(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a text in lower case, with single blanks between them and on both ends.
pub(super) fn spaced(text: &str) -> String {
    let mut out = String::from(" ");
    for word in text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()) {
        out.extend(word.chars().flat_map(char::to_lowercase));
        out.push(' ');
    }
    out
}

/// Whether `own` stands in a text of many megabytes.
pub(super) fn stands(text: &str, own: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), own.as_bytes()).is_some()
}

/// Whether `own` stands in `text` with word ends on both sides.
pub(super) fn stands_in(text: &str, own: &str) -> bool {
    let joins = |char: char| char.is_alphanumeric() || char == '_';
    let opens = own.chars().next().is_some_and(joins);
    let closes = own.chars().next_back().is_some_and(joins);
    memchr::memmem::find_iter(text.as_bytes(), own).any(|at| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let behind = text.get(at + own.len()..).and_then(|tail| tail.chars().next());
        !(opens && before.is_some_and(joins) || closes && behind.is_some_and(joins))
    })
}

/// How much of a text is shown before and behind what is spoken of, in bytes.
const BEFORE: usize = 240;
const BEHIND: usize = 360;

/// The part of a text around `own`; its beginning where `own` does not stand in it.
pub(super) fn around(text: &str, own: &str) -> String {
    let line = own.lines().next().unwrap_or_default();
    let at = memchr::memmem::find(text.as_bytes(), line.as_bytes()).unwrap_or(0);
    let start = text.floor_char_boundary(at.saturating_sub(BEFORE));
    let end = text.ceil_char_boundary(at.saturating_add(own.len().min(BEHIND) + BEHIND).min(text.len()));
    let shown = text.get(start..end).unwrap_or_default().trim();
    let open = if start > 0 { "… " } else { "" };
    let close = if end < text.trim_end().len() { " …" } else { "" };
    format!("{open}{shown}{close}")
}

/// A text in which other wordings of a sentence can be looked for.
#[derive(Debug, Default)]
pub(super) struct Wordings {
    /// Where each stem stands, in order.
    places: BTreeMap<String, Vec<usize>>,
}

/// Another wording may be this many times as long, and this many words longer.
const SPREAD: usize = 2;
const SLACK: usize = 8;

impl Wordings {
    pub(super) fn of(text: &str) -> Self {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, stem) in stems(text).into_iter().enumerate() {
            places.entry(stem).or_default().push(at);
        }
        Self { places }
    }

    /// The share of the different stems of `text` that stand anywhere, in percent.
    pub(super) fn covers(&self, text: &str) -> usize {
        let own: BTreeSet<String> = stems(text).into_iter().collect();
        own.iter().filter(|stem| self.places.contains_key(*stem)).count() * 100 / own.len().max(1)
    }

    /// The largest share of the different stems of `text` that stand near one another, in percent.
    pub(super) fn likeness(&self, text: &str) -> usize {
        let mut own = stems(text);
        let width = own.len() * SPREAD + SLACK;
        own.sort();
        own.dedup();
        let mut hits: Vec<(usize, usize)> = own
            .iter()
            .zip(0usize..)
            .flat_map(|(stem, id)| self.places.get(stem).into_iter().flatten().map(move |&at| (at, id)))
            .collect();
        hits.sort_unstable();
        most_within(&hits, width, own.len()) * 100 / own.len().max(1)
    }
}

/// The largest number of different ids among hits that lie in one window.
fn most_within(hits: &[(usize, usize)], width: usize, ids: usize) -> usize {
    let mut counts = vec![0usize; ids];
    let (mut different, mut most, mut first) = (0, 0, 0);
    for &(at, id) in hits {
        if let Some(count) = counts.get_mut(id) {
            different += usize::from(*count == 0);
            *count += 1;
        }
        while let Some(&(start, old)) = hits.get(first).filter(|(start, _)| start + width < at) {
            debug_assert!(start <= at, "hits are sorted");
            if let Some(count) = counts.get_mut(old) {
                *count -= 1;
                different -= usize::from(*count == 0);
            }
            first += 1;
        }
        most = most.max(different);
    }
    most
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_thing_are_equal() {
        assert_eq!(plain("Don’t  \n Push"), "don't push");
        assert_eq!(tight("letter-spacing: -0.02em"), tight("letter-spacing:-0.02em"));
        assert_eq!(spaced("take.Do some"), " take do some ");
        assert_eq!(stems("running tests, and a runner tested"), ["run", "test", "run", "test"]);
        assert_eq!(
            around(&format!("{}né{}", "é".repeat(300), "é".repeat(600)), "né").matches('…').count(),
            2
        );
        assert_eq!(around("a\nb\n", "b"), "a\nb");
        assert!(stands_in("a b.c d", "b.c") && !stands_in("ab.c", "b.c"));
    }

    #[test]
    fn other_wordings_are_found_near_one_another() {
        let text =
            Wordings::of("We add a new SVG writer beside the ANSI writer. Far away other words are said.");
        assert!(text.likeness("create a new writer that writes SVG beside ANSI") >= 60);
        assert!(text.likeness("never restart the database") < 30);
        assert_eq!(Wordings::default().likeness("anything here"), 0);
    }

    proptest! {
        #[test]
        fn a_text_is_like_itself(text in "[a-zé ,.'不]{0,80}") {
            let all = stems(&text);
            let expected = if all.is_empty() { 0 } else { 100 };
            prop_assert_eq!(Wordings::of(&text).likeness(&text), expected);
        }
    }
}
