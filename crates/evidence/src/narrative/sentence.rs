//! The grammar of sentences that announce a step or say nothing.

use super::table::table;

/// The longest sentence, in words.
const WORDS_MAX: usize = 25;

/// A sentence that a proof may hold.
#[derive(Debug)]
pub(super) enum Sentence {
    /// It says nothing: `Great!`
    Opening,
    /// It announces a step.
    Announcement(Announcement),
}

/// The parts of an announcement, in bytes of its sentence.
#[derive(Debug)]
pub(super) struct Announcement {
    /// The end of the words that announce: `let me`, `I need to`.
    pub(super) opened: usize,
    /// Where it begins to ask; what is asked is not said to be so.
    pub(super) asked: usize,
}

/// Where in its sentence something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the words that announce.
    Opening,
    /// In what is said.
    Said,
    /// In what is asked.
    Asked,
}

impl Announcement {
    pub(super) fn place(&self, at: usize) -> Place {
        if at < self.opened {
            Place::Opening
        } else if at >= self.asked {
            Place::Asked
        } else {
            Place::Said
        }
    }
}

impl Sentence {
    pub(super) fn read(sentence: &str) -> Option<Self> {
        let lower = sentence.to_ascii_lowercase();
        let plain = lower.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        if table().ack.contains(plain) {
            return Some(Self::Opening);
        }
        let ends = sentence.ends_with(['.', ':', '!', '`', ')', '"', '*'])
            || sentence.ends_with(|char: char| char.is_ascii_alphanumeric());
        if !ends || lower.split_whitespace().count() > WORDS_MAX {
            return None;
        }
        let opened = opening(&lower)?;
        let asked = first_of(&lower, &table().asks, opened).unwrap_or(lower.len());
        let presumed = first_of(&lower, &table().presumes, opened).unwrap_or(lower.len());
        let said = lower.get(opened..asked)?;
        let stated = lower.get(opened..asked.min(presumed))?;
        let all = lower.get(opened..)?;
        let refused = words(all).any(|word| table().numbers.contains(word) || table().refused.contains(word))
            || words(said).any(|word| table().reports.contains(word))
            || words(stated).any(|word| table().states.contains(word))
            || !parts_hold_nothing(said);
        (!refused).then_some(Self::Announcement(Announcement { opened, asked }))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '\'' | '-' | '_' | '.' | '/')))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| !word.is_empty())
}

/// Where the first of `phrases` stands as whole words at or behind `from`.
fn first_of(lower: &str, phrases: &[String], from: usize) -> Option<usize> {
    let starts = |at: usize, phrase: &str| {
        lower.get(at..).and_then(|rest| rest.strip_prefix(phrase)).is_some_and(|rest| {
            !rest.starts_with(|char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'))
        })
    };
    let mut at = from;
    loop {
        if phrases.iter().any(|phrase| starts(at, phrase)) {
            return Some(at);
        }
        at += lower.get(at..)?.find(' ')? + 1;
    }
}

/// Behind a comma, a dash or a bracket another statement may begin: only what goes on announcing is let through.
fn parts_hold_nothing(said: &str) -> bool {
    let mut parts = said
        .split([';', '(', ',', '?', ':'])
        .flat_map(|part| part.split(" - "))
        .map(str::trim)
        .filter(|part| words(part).next().is_some())
        .skip(1);
    parts.all(|part| {
        let first = words(part).next().unwrap_or_default();
        let table = table();
        words(part).count() <= 2
            || table.joins.contains(first)
            || table.gerunds.contains(first)
            || table.verbs.contains(first)
            || opening(part).is_some()
    })
}

/// The end of `(ok|now|first…)* (let me|I'll…) (also|quickly…)*` in front of a verb that may be announced.
fn opening(lower: &str) -> Option<usize> {
    let table = table();
    let start = lower.len() - lower.trim_start_matches(|char: char| !char.is_ascii_alphanumeric()).len();
    let mut rest = lower.get(start..)?;
    while let Some(behind) = table.lead.iter().find_map(|lead| behind_word(rest, lead)) {
        rest = behind;
    }
    let led = rest.len() < lower.len() - start;
    let announced = table.announce.iter().find_map(|opening| behind_word(rest, opening));
    let mut verb = announced.unwrap_or(rest);
    while let Some(behind) = table.adverbs.iter().find_map(|adverb| behind_word(verb, adverb)) {
        verb = behind;
    }
    let first: String =
        verb.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '-').collect();
    let fits = table.gerunds.contains(&first)
        || (announced.is_some() || led) && table.verbs.contains(&first)
        || announced.is_some() && table.asks.iter().any(|phrase| behind_word(verb, phrase).is_some());
    fits.then_some(lower.len() - verb.len())
}

fn behind_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    let trimmed = rest.trim_start_matches([',', '!', '.', ':', ';', ' ', '-']);
    (trimmed.len() < rest.len() && !rest.starts_with('-')).then_some(trimmed)
}

/// Capitals behind the first word: names, constants, acronyms. `I` is no name, and neither are common acronyms.
pub(super) fn names(sentence: &str) -> impl Iterator<Item = &str> {
    let words =
        sentence.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_ascii_alphanumeric()));
    words.skip(1).filter(|word| {
        let named = word.bytes().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let own = matches!(*word, "I" | "I'll" | "I'm" | "I'd" | "Let" | "Let's" | "Now");
        named && !own && !table().common.contains(*word)
    })
}

