//! The grammar of sentences that announce a step or say nothing.

use std::collections::BTreeSet;

use super::table::table;

/// The longest sentence, in words.
const WORDS_MAX: usize = 25;

/// A sentence that a proof may hold.
#[derive(Debug)]
pub(super) enum Sentence {
    /// It says nothing: `Great!`
    Opening,
    /// It accepts what was asked: `Understood.`
    Acceptance,
    /// It says that something was taken in, not what: `Now I have the full picture.`
    Orientation,
    /// It offers further help, not with what: `If you have any other questions, feel free to ask!`
    Courtesy,
    /// It announces a step.
    Announcement(Announcement),
}

/// The parts of an announcement, in bytes of its sentence.
#[derive(Debug)]
pub(super) struct Announcement {
    /// The end of the words that announce: `let me`, `I need to`.
    opened: usize,
    /// Where it begins to take for granted that there is something to ask about.
    presumed: usize,
    /// Where it begins to ask; what is asked is not said to be so.
    asked: usize,
    /// Where a choice of means begins, if one does: `to use …`.
    pub(super) chosen: Option<usize>,
    /// Who takes the step.
    pub(super) step: Step,
}

/// What takes an announced step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A call.
    Call,
    /// The thought itself: `Let me think.`
    Thought,
}

/// Where in its sentence something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the words that announce.
    Opening,
    /// In what is said.
    Said,
    /// In what is taken for granted.
    Presumed,
    /// In what is asked.
    Asked,
}

impl Announcement {
    /// Words that presume a fault, unless it is asked about: `fix these errors`. The call that showed it keeps it.
    pub(super) fn faults<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let told = text.get(..self.asked).unwrap_or(text);
        words(told).filter(|word| table().shown.contains(&word.to_ascii_lowercase()))
    }

    pub(super) fn place(&self, at: usize) -> Place {
        if at < self.opened {
            Place::Opening
        } else if at >= self.asked {
            Place::Asked
        } else if at >= self.presumed {
            Place::Presumed
        } else {
            Place::Said
        }
    }
}

impl Sentence {
    pub(super) fn read(sentence: &str) -> Option<Self> {
        let lower = sentence.to_ascii_lowercase();
        let plain = lower.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        if sentence.ends_with('?') {
            return None;
        }
        if table().ack.contains(plain) {
            return Some(Self::Opening);
        }
        if table().accept.contains(plain) {
            return Some(Self::Acceptance);
        }
        if opens_alone(plain, &table().orient, &table().orient_words) {
            return Some(Self::Orientation);
        }
        if opens_alone(plain, &table().courtesy, &table().courtesy_words) {
            return Some(Self::Courtesy);
        }
        let ends = sentence.ends_with(['.', ':', '!', '`', ')', '"', '*'])
            || sentence.ends_with(|char: char| char.is_ascii_alphanumeric());
        if !ends || lower.split_whitespace().count() > WORDS_MAX {
            return None;
        }
        announcement(&lower).map(Self::Announcement)
    }
}

/// `Now I have a clear picture.`: an opening, and behind it only words that name no thing of the work.
fn opens_alone(plain: &str, openings: &[String], only: &BTreeSet<String>) -> bool {
    let mut rest = plain;
    while let Some(behind) = table().lead.iter().find_map(|lead| behind_word(rest, lead)) {
        rest = behind;
    }
    let behind = openings.iter().find_map(|opening| {
        rest.strip_prefix(opening.as_str()).filter(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    behind.is_some_and(|rest| words(rest).all(|word| only.contains(word)))
}

fn announcement(lower: &str) -> Option<Announcement> {
    let table = table();
    let (opened, step) = opening(lower)?;
    let asked = first_of(lower, &table.asks, opened).unwrap_or(lower.len());
    let looks = |at: &usize| looks_at(lower.get(opened..*at).unwrap_or_default());
    let presumed = first_of(lower, &table.presumes, opened).filter(looks).unwrap_or(lower.len()).min(asked);
    let (said, stated, all) = (lower.get(opened..asked)?, lower.get(opened..presumed)?, lower.get(opened..)?);
    let chosen = first_of(stated, &table.chooses, 0).map(|at| opened + at);
    let refused = words(all).any(|word| table.numbers.contains(word) || table.refused.contains(word))
        || words(said).any(|word| table.reports.contains(word))
        || states_something(stated)
        || !parts_hold_nothing(said, lower.get(asked..)?);
    (!refused).then_some(Announcement { opened, presumed, asked, chosen, step })
}

/// Whether a step looks at something, itself or in what it is taken for: `check`, `and see`, `to understand`.
fn looks_at(step: &str) -> bool {
    let mut before = "to";
    words(step).any(|word| {
        let behind = std::mem::replace(&mut before, word);
        matches!(behind, "to" | "and" | "or" | "then" | "by") && table().looks.contains(word)
    })
}

/// Whether something is said to be so. `that` behind a verb or a preposition points: `fix that`, `for that file`.
fn states_something(stated: &str) -> bool {
    let table = table();
    let mut all = words(stated);
    // The step itself.
    let mut before = all.next().unwrap_or_default();
    for word in all {
        let points = match word {
            "that" => table.verbs.contains(before) || table.prepositions.contains(before),
            "need" => matches!(before, "i" | "we"),
            _ => false,
        };
        if table.states.contains(word) && !points {
            return true;
        }
        before = word;
    }
    false
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '\'' | '-' | '_' | '.' | '/')))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| !word.is_empty())
}

/// Words that say nothing of their own about a choice.
pub(super) fn is_small(word: &str) -> bool {
    word.len() < 4 || table().small.contains(word)
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
/// What is asked ends only at a dash, a semicolon or a bracket, and behind a colon nothing may go on but an announcement.
fn parts_hold_nothing(said: &str, asked: &str) -> bool {
    let table = table();
    let goes_on = |part: &str| {
        let first = words(part).next().unwrap_or_default();
        words(part).count() <= 2
            || table.joins.contains(first)
            || table.gerunds.contains(first)
            || table.verbs.contains(first)
            || opening(part).is_some()
    };
    let announces = |part: &str| words(part).count() <= 2 || opening(part).is_some();
    split(said, &[';', '(', ',', '?']).skip(1).all(goes_on)
        && split(asked, &[';', '(']).skip(1).all(goes_on)
        && said.split(':').skip(1).chain(asked.split(": ").skip(1)).all(announces)
}

fn split<'t>(text: &'t str, marks: &'static [char]) -> impl Iterator<Item = &'t str> {
    let parts = text.split(marks).flat_map(|part| part.split(" - ")).map(str::trim);
    // Before the first mark something stands, and be it nothing.
    parts.enumerate().filter(|(at, part)| *at == 0 || words(part).next().is_some()).map(|(_, part)| part)
}

/// The end of `(ok|now|first…)* (let me|I'll…) (also|quickly…)*` in front of a verb that may be announced.
fn opening(lower: &str) -> Option<(usize, Step)> {
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
    // `Adding it fixes that.` states something; `Adding it:` does not.
    let named =
        verb.get(first.len()..).is_some_and(|rest| rest.starts_with(['.', '/', '_']) && rest.len() > 3);
    let goes_on = announced.is_some() || lower.ends_with(':') || lower.ends_with("...");
    let fits = goes_on && table.gerunds.contains(&first)
        || (announced.is_some() || led) && table.verbs.contains(&first)
        || announced.is_some() && table.asks.iter().any(|phrase| behind_word(verb, phrase).is_some());
    let muses = announced.is_some() && table.muses.iter().any(|phrase| begins_with(verb, phrase));
    let step = if muses { Step::Thought } else { Step::Call };
    ((fits || muses) && !named).then_some((lower.len() - verb.len(), step))
}

fn begins_with(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(|char: char| char.is_ascii_alphanumeric()))
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
