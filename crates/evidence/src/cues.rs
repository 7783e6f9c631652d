//! Cue words by table: negations, plans, conditions, demands, claims.

mod phrases;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

pub(crate) use phrases::{List, Phrases};

/// What a cue does to its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cue {
    /// It negates what follows.
    Negation,
    /// It negates its clause, on both sides.
    NegationBoth,
    /// It negates what precedes.
    NegationLeft,
    /// It negates what nothing else negates.
    NegationConcord,
    /// It negates what follows and ends the reach of the negation before it: `nor`.
    NegationAgain,
    /// It looks like a negation and is none.
    Pseudo,
    /// It ends the reach of others.
    Terminator,
    /// It begins a clause: negations behind it reach no further back.
    LeftStop,
    /// What follows is going to be done.
    Planned,
    /// What follows is supposed, asked or conditional.
    Hypothetical,
    /// What follows is demanded or forbidden.
    Required,
    /// Something is said to be done or to hold.
    Claim,
    /// Something is decided or reasoned.
    Decision,
}

/// A cue in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it does.
    pub cue: Cue,
    /// Its bytes.
    pub range: Range<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    negation: Vec<String>,
    negation_both: Vec<String>,
    negation_left: Vec<String>,
    negation_concord: Vec<String>,
    negation_again: Vec<String>,
    negation_pseudo: Vec<String>,
    terminator: Vec<String>,
    left_stop: Vec<String>,
    coordinator: Vec<String>,
    subject: Vec<String>,
    helper: Vec<String>,
    planned: Vec<String>,
    hypothetical: Vec<String>,
    required: Vec<String>,
    claim: Vec<String>,
    decision: Vec<String>,
}

/// The groups of cues: of each, the longest that begin at a place count, and none inside another.
const POLARITY: usize = 0;
const TONE: usize = 1;

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("tables/cues.toml")).unwrap_or_default());

static CUES: LazyLock<Phrases<Cue>> = LazyLock::new(|| {
    let table = &*TABLE;
    let list = |words, group, means| List { words, group, means };
    Phrases::new(&[
        list(&table.negation, POLARITY, Cue::Negation),
        list(&table.negation_both, POLARITY, Cue::NegationBoth),
        list(&table.negation_left, POLARITY, Cue::NegationLeft),
        list(&table.negation_concord, POLARITY, Cue::NegationConcord),
        list(&table.negation_again, POLARITY, Cue::NegationAgain),
        list(&table.negation_pseudo, POLARITY, Cue::Pseudo),
        list(&table.terminator, POLARITY, Cue::Terminator),
        list(&table.left_stop, POLARITY, Cue::LeftStop),
        list(&table.planned, TONE, Cue::Planned),
        list(&table.hypothetical, TONE, Cue::Hypothetical),
        list(&table.required, TONE, Cue::Required),
        list(&table.claim, TONE, Cue::Claim),
        list(&table.decision, TONE, Cue::Decision),
    ])
});

/// All cues of a text, in order of their first byte.
pub(crate) fn all(text: &str) -> Vec<Found> {
    CUES.find(text).into_iter().map(|(range, cue)| Found { cue, range }).collect()
}

/// Negations, what looks like them, and what ends their reach.
pub fn polarity(text: &str) -> Vec<Found> {
    let mut found = all(text);
    found.retain(|found| found.cue.is_polar());
    found
}

/// Plans, conditions, demands, claims and decisions.
pub fn tone(text: &str) -> Vec<Found> {
    let mut found = all(text);
    found.retain(|found| !found.cue.is_polar());
    found
}

impl Cue {
    fn is_polar(self) -> bool {
        self.negates() || matches!(self, Self::Pseudo | Self::Terminator | Self::LeftStop)
    }

    /// Whether it negates anything.
    pub fn negates(self) -> bool {
        matches!(
            self,
            Self::Negation
                | Self::NegationBoth
                | Self::NegationLeft
                | Self::NegationConcord
                | Self::NegationAgain
        )
    }

    /// Whether it negates a clause of its own, with its subject.
    pub(crate) fn negates_clause(self) -> bool {
        self == Self::NegationBoth
    }
}

/// What a word is to the clause around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// It joins clauses or their parts.
    Coordinator,
    /// A personal pronoun.
    Subject,
    /// An auxiliary, or an adverb that stands among them.
    Helper,
    /// Any other word.
    Other,
}

/// The words that are some part of a clause.
struct Parts {
    words: BTreeMap<&'static str, Part>,
    /// The lengths of those that begin with a byte, one bit each: most words are passed over by them.
    lengths: [u16; 256],
}

/// The longest word of the lists, in bytes.
const PART_BYTES_MAX: usize = 12;

static PARTS: LazyLock<Parts> = LazyLock::new(|| {
    let parts = [
        (&TABLE.helper, Part::Helper),
        (&TABLE.subject, Part::Subject),
        (&TABLE.coordinator, Part::Coordinator),
    ];
    let words: BTreeMap<&'static str, Part> = parts
        .into_iter()
        .flat_map(|(words, part)| words.iter().map(move |word| (word.as_str(), part)))
        .collect();
    let mut lengths = [0; 256];
    for word in words.keys().filter(|word| word.len() <= PART_BYTES_MAX) {
        if let Some(own) = word.bytes().next().and_then(|first| lengths.get_mut(usize::from(first))) {
            *own |= 1 << word.len();
        }
    }
    Parts { words, lengths }
});

/// What `word` is to the clause around it.
pub(crate) fn part(word: &str) -> Part {
    let Some(first) = word.bytes().next().filter(|_| word.len() <= PART_BYTES_MAX) else {
        return Part::Other;
    };
    let parts = &*PARTS;
    let lengths = parts.lengths.get(usize::from(first.to_ascii_lowercase())).copied().unwrap_or_default();
    // Small letters of other scripts may be longer or shorter.
    if word.is_ascii() && lengths >> word.len() & 1 == 0 {
        return Part::Other;
    }
    parts.words.get(word.to_lowercase().as_str()).copied().unwrap_or(Part::Other)
}

/// The clauses of a text: sentences and lines.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(step) = bytes.get(at..).and_then(next_stop) {
        let stop = at + step;
        let end = stop + bytes.get(stop).map_or(1, |byte| if *byte == 0xE3 || *byte == 0xEF { 3 } else { 1 });
        if ends_sentence(bytes, stop) {
            push_trimmed(text, start..end, &mut all);
            start = end;
        }
        at = end;
    }
    push_trimmed(text, start..text.len(), &mut all);
    all
}

fn next_stop(bytes: &[u8]) -> Option<usize> {
    let ascii = memchr::memchr3(b'\n', b'.', b'!', bytes);
    let limit = ascii.unwrap_or(bytes.len());
    let head = bytes.get(..limit).unwrap_or_default();
    memchr::memchr3(b'?', 0xE3, 0xEF, head).or(ascii)
}

fn ends_sentence(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        Some(b'\n') => true,
        Some(b'.' | b'!' | b'?') => bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        // 。 ！ ？
        Some(0xE3) => bytes.get(at..at + 3) == Some("。".as_bytes()),
        Some(0xEF) => {
            matches!(bytes.get(at..at + 3), Some(three) if three == "！".as_bytes() || three == "？".as_bytes())
        }
        _ => false,
    }
}

fn push_trimmed(text: &str, range: Range<usize>, all: &mut Vec<Range<usize>>) {
    let Some(own) = text.get(range.clone()) else { return };
    let lead = own.len() - own.trim_start().len();
    let trimmed = own.trim();
    if !trimmed.is_empty() {
        all.push(range.start + lead..range.start + lead + trimmed.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<(Cue, &str)> {
        polarity(text).into_iter().map(|found| (found.cue, text.get(found.range).unwrap())).collect()
    }

    #[test]
    fn cues_are_whole_words() {
        assert!(toml::from_str::<Table>(include_str!("tables/cues.toml")).is_ok());
        assert!(
            TABLE.helper.iter().chain(&TABLE.subject).chain(&TABLE.coordinator).all(|word| word.len() <= 12)
        );
        assert_eq!(
            words("I did NOT run it, nothing noted"),
            [(Cue::NegationBoth, "NOT"), (Cue::Negation, "nothing")]
        );
        assert_eq!(words("don't"), [(Cue::NegationBoth, "n't")]);
        assert_eq!(words("“not” isn’t"), [(Cue::NegationBoth, "not"), (Cue::NegationBoth, "n’t")]);
        assert_eq!(words("not only this"), [(Cue::Pseudo, "not only")]);
        assert_eq!(words("请不要删除"), [(Cue::NegationBoth, "不要")]);
        assert_eq!(words("非常好"), [(Cue::Pseudo, "非常")]);
        assert_eq!(words("nöt knot not_a no2"), []);
    }

    #[test]
    fn sentences_end_at_marks_and_lines() {
        let text = "See a.rs now. Then b!\nc? 好。了";
        let all: Vec<&str> = sentences(text).into_iter().map(|range| text.get(range).unwrap()).collect();
        assert_eq!(all, ["See a.rs now.", "Then b!", "c?", "好。", "了"]);
    }

    proptest! {
        #[test]
        fn ranges_stand_on_boundaries(text in "\\PC{0,80}") {
            for range in sentences(&text) {
                prop_assert!(text.get(range).is_some());
            }
            for found in polarity(&text).into_iter().chain(tone(&text)) {
                prop_assert!(text.get(found.range).is_some());
            }
        }
    }
}
