//! The proof that prose holds nothing verifiable. The default is no proof.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;
use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{BlockKind, Speaker};

use crate::atom;
use crate::content::Next;
use crate::cues::{self, Cue};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    lead: Vec<String>,
    announce: Vec<String>,
    verbs: BTreeSet<String>,
    inquiry: BTreeSet<String>,
    gerunds: BTreeSet<String>,
    ack: BTreeSet<String>,
    user_ack: BTreeSet<String>,
    numbers: BTreeSet<String>,
    report: BTreeSet<String>,
}

fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let mut table: Table = toml::from_str(include_str!("tables/narrative.toml")).unwrap_or_default();
        table.lead.sort_by_key(|lead| std::cmp::Reverse(lead.len()));
        table.announce.sort_by_key(|opening| std::cmp::Reverse(opening.len()));
        table
    });
    &TABLE
}

/// The longest text that is looked at, in bytes, and the longest sentence, in words.
const TEXT_MAX: usize = 600;
const WORDS_MAX: usize = 25;

/// The rule that proves `text` to be narrative, where one does.
pub fn prove(text: &str, kind: &BlockKind, speaker: Speaker, next: Next) -> Option<&'static str> {
    let own = text.trim();
    if own.is_empty() || own.len() > TEXT_MAX || !matches!(kind, BlockKind::Text | BlockKind::Thinking) {
        return None;
    }
    match speaker {
        Speaker::User => {
            let plain = own.trim_end_matches(['.', '!', ' ', '。', '！']).to_lowercase();
            table().user_ack.contains(&plain).then_some("user-acknowledgement")
        }
        Speaker::Assistant => assistant(own, next),
        _ => None,
    }
}

fn assistant(text: &str, next: Next) -> Option<&'static str> {
    if !holds_nothing(text) {
        return None;
    }
    let mut announces = false;
    for range in cues::sentences(text) {
        match kind_of(text.get(range)?)? {
            Sentence::Opening => {}
            Sentence::Announcement => announces = true,
        }
    }
    match (announces, next) {
        (false, _) => Some("acknowledgement"),
        (true, Next::Call) => Some("announced-step"),
        (true, Next::Other) => None,
    }
}

/// No atom, no negation, no claim, condition, demand or decision, no list, no heading.
fn holds_nothing(text: &str) -> bool {
    let hard = |kind: AtomKind| kind != AtomKind::Claim;
    let sentences = cues::sentences(text);
    let asked = |place: usize| {
        let own = sentences
            .iter()
            .find(|range| range.contains(&place))
            .and_then(|range| Some((range.start, text.get(range.clone())?)));
        own.is_some_and(|(start, sentence)| place - start >= asserted(sentence).len())
    };
    let toned = cues::tone(text).iter().any(|found| match found.cue {
        Cue::Claim | Cue::Hypothetical => !asked(found.range.start),
        Cue::Decision | Cue::Required => true,
        _ => false,
    });
    let line = |line: &str| {
        let start = line.trim_start();
        start.starts_with(['#', '|', '>', '-', '*', '•', '='])
            || start.starts_with(|char: char| char.is_ascii_digit())
    };
    !toned
        && !text.lines().any(line)
        && !atom::extract(text).iter().any(|atom| hard(atom.kind))
        && text.is_ascii_or_quotes()
}

/// The part of a sentence in front of the word behind which it only asks.
fn asserted(sentence: &str) -> &str {
    let mut at = 0;
    for word in sentence.split_inclusive(' ') {
        if at > 0 && table().inquiry.contains(word.trim_end()) {
            return sentence.get(..at).unwrap_or(sentence);
        }
        at += word.len();
    }
    sentence
}

trait Plain {
    fn is_ascii_or_quotes(&self) -> bool;
}

impl Plain for str {
    /// The table knows English; other scripts are left alone.
    fn is_ascii_or_quotes(&self) -> bool {
        self.chars().all(|char| char.is_ascii() || matches!(char, '’' | '‘' | '“' | '”' | '…' | '—' | '–'))
    }
}

enum Sentence {
    Opening,
    Announcement,
}

fn kind_of(sentence: &str) -> Option<Sentence> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let plain = lower.trim_matches(|char: char| !char.is_alphanumeric());
    if table().ack.contains(plain) {
        return Some(Sentence::Opening);
    }
    let length = plain.split_whitespace().count();
    let words: Vec<&str> = asserted(plain)
        .split(|char: char| !(char.is_alphanumeric() || matches!(char, '\'' | '-')))
        .filter(|word| !word.is_empty())
        .collect();
    let refused = |word: &&str| table().numbers.contains(*word) || table().report.contains(*word);
    if length > WORDS_MAX || words.iter().any(refused) || has_names(sentence) {
        return None;
    }
    let ends =
        sentence.ends_with(['.', ':', '!', '…']) || sentence.ends_with(|char: char| char.is_alphanumeric());
    (ends && announces(plain)).then_some(Sentence::Announcement)
}

/// `(ok|now|first…)* (let me|I'll…) VERB …`
fn announces(plain: &str) -> bool {
    let mut rest = plain;
    while let Some(behind) = table().lead.iter().find_map(|lead| behind_word(rest, lead)) {
        rest = behind;
    }
    let first: String = rest.chars().take_while(|char| char.is_alphanumeric() || *char == '-').collect();
    let led = rest.len() < plain.len() && table().verbs.contains(&first);
    if table().gerunds.contains(&first) || led {
        return true;
    }
    let openings = table().announce.iter().filter_map(|opening| behind_word(rest, opening));
    openings.into_iter().any(|behind| {
        let verb: String = behind.chars().take_while(|char| char.is_alphanumeric() || *char == '-').collect();
        table().verbs.contains(&verb)
    })
}

fn behind_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    let trimmed = rest.trim_start_matches([',', '!', '.', ':', ';', ' ', '-', '—', '–']);
    (trimmed.len() < rest.len()).then_some(trimmed)
}

/// Capitals behind the first word: names, constants, acronyms. `I` is no name.
fn has_names(sentence: &str) -> bool {
    let words =
        sentence.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    words.skip(1).any(|word| {
        let capital = word.chars().next().is_some_and(char::is_uppercase)
            || word.chars().skip(1).any(char::is_uppercase);
        let own =
            matches!(word, "I" | "I'll" | "I’ll" | "I'm" | "I’m" | "I'd" | "Let" | "Let's" | "Now" | "");
        (capital && !own) || word.chars().any(|char| char.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by(speaker: Speaker, text: &str) -> Option<&'static str> {
        prove(text, &BlockKind::Text, speaker, Next::Call)
    }

    #[test]
    fn announcements_of_the_next_call_are_narrative() {
        assert!(toml::from_str::<Table>(include_str!("tables/narrative.toml")).is_ok());
        for text in [
            "Let me look at the tests.",
            "Great! Now let me check the parser:",
            "Now I'll update the documentation.",
            "Okay, let's run the build.",
            "I'll start by exploring the repository structure.",
            "Perfect!",
        ] {
            assert!(by(Speaker::Assistant, text).is_some(), "{text}");
        }
        assert_eq!(prove("Let me look at it.", &BlockKind::Text, Speaker::Assistant, Next::Other), None);
    }

    #[test]
    fn whatever_may_be_asked_about_is_not() {
        for text in [
            "Let me look at src/a.rs.",
            "The directory is empty.",
            "Let me fix the two failing cases.",
            "I'll use the credit card on file.",
            "I'll get back to you later.",
            "Let me check. The tests pass.",
            "So my fix is correct.",
            "I did not run it.",
            "Let me update the Parser class.",
            "We should use a table instead.",
            "Now let me delete the production data.",
            "Should I continue?",
            "- Let me look at it.",
            "让我看看。",
        ] {
            assert_eq!(by(Speaker::Assistant, text), None, "{text}");
        }
    }

    #[test]
    fn users_are_believed_to_mean_something() {
        assert!(by(Speaker::User, "Thanks!").is_some());
        for text in ["yes", "ok", "go ahead", "let me see", "Thanks, but revert it"] {
            assert_eq!(by(Speaker::User, text), None, "{text}");
        }
        assert_eq!(by(Speaker::Tool, "Let me check the tests."), None);
    }

    proptest! {
        #[test]
        fn what_holds_a_digit_is_never_narrative(text in "(let me check |now |ok[.] |[a-z ]{0,6}|[0-9]|\\PC){0,12}") {
            if text.chars().any(|char| char.is_ascii_digit()) {
                prop_assert_eq!(by(Speaker::Assistant, &text), None);
            }
        }
    }
}
