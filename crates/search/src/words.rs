//! Words of texts, and what a needle demands of the words around it.

/// A longer word is kept in pieces, so that what stands inside of it is found without keeping every beginning.
const WORD_BYTES_MAX: usize = 128;

/// What is looked for inside a word is looked for by so many bytes: wherever they stand in a long word, one of its
/// pieces holds them all.
const WINDOW_BYTES: usize = 64;

/// How far apart the pieces of a long word begin.
const STEP_BYTES: usize = WORD_BYTES_MAX - WINDOW_BYTES + 1;

/// Whether a byte belongs to words. All bytes of characters beyond ASCII do, so that no character is cut.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Hands every word of `text` to `take`, a long one in overlapping pieces.
pub(crate) fn each(text: &[u8], mut take: impl FnMut(&[u8])) {
    for word in text.split(|byte| !is_word(*byte)) {
        if word.len() <= WORD_BYTES_MAX {
            if !word.is_empty() {
                take(word);
            }
            continue;
        }
        let mut rest = word;
        while rest.len() > WORD_BYTES_MAX {
            take(rest.get(..WORD_BYTES_MAX).unwrap_or_default());
            rest = rest.get(STEP_BYTES..).unwrap_or_default();
        }
        take(rest);
    }
}

/// How a run of a needle stands in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// It is the word.
    Whole,
    /// The word begins with it.
    Beginning,
    /// The word ends with it.
    End,
    /// It stands anywhere in the word.
    Inside,
}

/// The words that a block has where it holds `needle`, those first that are looked up fastest.
pub(crate) fn demands(needle: &[u8]) -> Vec<(Reach, &[u8])> {
    let mut found = Vec::new();
    let mut start = 0;
    for run in needle.split(|byte| !is_word(*byte)) {
        let end = start + run.len();
        if !run.is_empty() {
            demand(run, Open { left: start == 0, right: end == needle.len() }, &mut found);
        }
        start = end + 1;
    }
    found.sort_by_key(|&(reach, run)| (reach, std::cmp::Reverse(run.len())));
    found
}

/// Where a run ends with its needle, so that the word may go on.
#[derive(Clone, Copy)]
struct Open {
    left: bool,
    right: bool,
}

fn demand<'n>(run: &'n [u8], open: Open, found: &mut Vec<(Reach, &'n [u8])>) {
    let first = run.get(..WINDOW_BYTES).unwrap_or(run);
    let last = run.get(run.len().saturating_sub(WINDOW_BYTES)..).unwrap_or(run);
    match open {
        Open { left: false, right: false } if run.len() <= WORD_BYTES_MAX => found.push((Reach::Whole, run)),
        Open { left: false, right: false } => found.extend([(Reach::Beginning, first), (Reach::End, last)]),
        Open { left: false, right: true } => found.push((Reach::Beginning, first)),
        Open { left: true, right: false } => found.push((Reach::End, last)),
        Open { left: true, right: true } => {
            found.push((Reach::Inside, first));
            if run.len() > WINDOW_BYTES {
                found.push((Reach::Inside, last));
            }
        }
    }
}
