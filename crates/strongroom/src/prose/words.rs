//! Words of a sentence: by their stems, with the form in which they stand and how they are said.

use std::ops::Range;

use strongroom_evidence::atom::{Modality, Polarity, stances};

use crate::wording::{FILLERS, stem};

/// The form in which a word stands, as far as it tells whether something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `deleted`, `was run`: done.
    Done,
    /// `deleting`: begun.
    Begun,
    /// `causes`, and every plural: so it is, where it is a verb.
    Present,
    /// `delete`, `to be deleted`, and every word that is no verb.
    Plain,
}

/// A word that says something of what a sentence is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) stem: String,
    pub(super) form: Form,
    /// Whether an auxiliary or a negation stands directly before it.
    pub(super) governed: bool,
    /// Whether `0` or `zero` stands directly before it.
    pub(super) none: bool,
}

/// A word with how it is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) word: Word,
    pub(super) negated: bool,
    pub(super) modality: Modality,
}

/// Forms of irregular verbs that say that something was done, each with the verb.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("began", "begin"), ("begun", "begin"), ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("built", "build"), ("caught", "catch"), ("chose", "choose"),
    ("chosen", "choose"), ("drawn", "draw"), ("drew", "draw"), ("fell", "fall"), ("forbade", "forbid"), ("forbidden", "forbid"), ("forgot", "forget"), ("found", "find"),
    ("frozen", "freeze"), ("gave", "give"), ("given", "give"), ("gone", "go"), ("grew", "grow"), ("held", "hold"), ("hidden", "hide"), ("kept", "keep"), ("knew", "know"),
    ("known", "know"), ("led", "lead"), ("left", "leave"), ("lost", "lose"), ("made", "make"), ("overwritten", "overwrite"), ("overwrote", "overwrite"), ("paid", "pay"), ("ran", "run"),
    ("rebuilt", "rebuild"), ("reran", "rerun"), ("rewritten", "rewrite"), ("rewrote", "rewrite"), ("rose", "rise"), ("said", "say"), ("saw", "see"), ("seen", "see"),
    ("sent", "send"), ("shown", "show"), ("sold", "sell"), ("spent", "spend"), ("stood", "stand"), ("stuck", "stick"), ("taken", "take"), ("threw", "throw"), ("thrown", "throw"),
    ("told", "tell"), ("took", "take"), ("undid", "undo"), ("undone", "undo"), ("went", "go"), ("withdrawn", "withdraw"), ("withdrew", "withdraw"), ("withheld", "withhold"), ("written", "write"), ("wrote", "write"),
];

/// Verbs of which one form is both.
#[rustfmt::skip]
const SAME: &[&str] = &["run", "rerun", "set", "reset", "put", "cut", "read", "split", "hit", "shut", "quit", "let", "upset", "cast"];

/// Words that end like done and are no such form.
#[rustfmt::skip]
const NOT_DONE: &[&str] = &["need", "feed", "seed", "speed", "shed", "embed", "exceed", "proceed", "succeed", "indeed", "hundred", "breed", "bleed", "weed", "greed", "sacred", "naked", "used"];

/// Auxiliaries that make a verb behind them done, and those that do not.
#[rustfmt::skip]
const DOING: &[&str] = &["was", "were", "been", "is", "are", "has", "have", "had", "got", "being", "did"];
#[rustfmt::skip]
const MODAL: &[&str] = &[
    "to", "be", "will", "would", "shall", "should", "can", "could", "may", "might", "must", "do", "don't", "cannot", "can't", "won't", "please", "let", "shouldn't",
    "mustn't", "wouldn't", "couldn't", "doesn't", "didn't", "not", "never", "no", "without",
];

/// The words of `text` that say what it is about, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let raw = raw(text);
    let mut words = Vec::new();
    for (at, token) in raw.iter().enumerate() {
        if token.wide {
            words.extend(pairs(text, &token.range));
        } else if is_content(text, token) {
            let near = |back: usize| {
                at.checked_sub(back).and_then(|at| raw.get(at)).map_or("", |own| own.lower.as_str())
            };
            let before = if ADVERBS.contains(&near(1)) { [near(2), near(3)] } else { [near(1), near(2)] };
            words.push(Word {
                range: token.range.clone(),
                stem: stem_of(&token.lower),
                form: form(&token.lower, before),
                governed: DOING.contains(&before[0]) && token.lower != "been" || MODAL.contains(&before[0]),
                none: matches!(near(1), "0" | "zero"),
            });
        }
    }
    words
}

/// The same, with how each word is said.
pub(super) fn said(text: &str) -> Vec<Said> {
    let words = words(text);
    let places: Vec<Range<usize>> = words.iter().map(|word| word.range.clone()).collect();
    let said = |(word, (polarity, modality)): (Word, (Polarity, Modality))| Said {
        negated: (polarity == Polarity::Negative) != word.none,
        modality,
        word,
    };
    words.into_iter().zip(stances(text, &places)).map(said).collect()
}

/// Adverbs that stand between an auxiliary and its verb.
const ADVERBS: &[&str] =
    &["also", "then", "already", "now", "just", "not", "never", "successfully", "later", "again", "been"];

/// A word of any kind.
#[derive(Debug)]
struct Raw {
    range: Range<usize>,
    lower: String,
    wide: bool,
}

/// Whether a character is of a script that puts no blanks between words.
fn is_wide(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

fn raw(text: &str) -> Vec<Raw> {
    let mut all: Vec<Raw> = Vec::new();
    let mut open: Option<(usize, bool)> = None;
    let mut close = |open: &mut Option<(usize, bool)>, end: usize| {
        if let Some((start, wide)) = open.take() {
            let own = text.get(start..end).unwrap_or_default().trim_end_matches(['\'', '’']);
            let lower = own.to_lowercase().replace('’', "'");
            all.push(Raw { range: start..start + own.len(), lower, wide });
        }
    };
    for (at, char) in text.char_indices() {
        let joins = matches!(char, '\'' | '’') && open.is_some_and(|(_, wide)| !wide);
        let wide = is_wide(char);
        if !char.is_alphanumeric() && !joins {
            close(&mut open, at);
        } else if open.is_some_and(|(_, own)| own != wide) && !joins {
            close(&mut open, at);
            open = Some((at, wide));
        } else if open.is_none() {
            open = Some((at, wide));
        }
    }
    close(&mut open, text.len());
    all
}

/// Pairs of neighbouring characters, which stand for words where no blanks part them.
fn pairs(text: &str, range: &Range<usize>) -> Vec<Word> {
    let own = text.get(range.clone()).unwrap_or_default();
    let places: Vec<(usize, char)> = own.char_indices().collect();
    let pair = |two: &[(usize, char)]| {
        let [(first, _), (second, last)] = two else { return None };
        let range = range.start + first..range.start + second + last.len_utf8();
        let stem = text.get(range.clone())?.to_owned();
        Some(Word { range, stem, form: Form::Plain, governed: false, none: false })
    };
    places.windows(2).filter_map(pair).collect()
}

/// Whether a word says what a sentence is about: it is no filler, no number, and not very short.
fn is_content(text: &str, token: &Raw) -> bool {
    let own = text.get(token.range.clone()).unwrap_or_default();
    let letters = token.lower.chars().any(char::is_alphabetic);
    let short = token.lower.chars().count() <= 2;
    let name = own.chars().any(|char| char.is_uppercase() || char.is_ascii_digit());
    letters
        && !FILLERS.contains(&token.lower.as_str())
        && !OTHERS.contains(&token.lower.as_str())
        && (!short || name && token.lower != "i")
}

/// Further words that say nothing of what a sentence is about.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "agent", "assistant", "been", "being", "after", "before", "because", "while", "since", "both", "each", "had", "may", "might", "must", "shall", "cannot", "can't", "didn't", "doesn't", "isn't",
    "wasn't", "weren't", "won't", "hasn't", "haven't", "hadn't", "shouldn't", "wouldn't", "couldn't", "never", "nothing", "none", "without", "however", "therefore", "instead", "already", "again", "later",
    "first", "next", "finally", "work", "task", "session", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "zero", "his", "her", "their", "she", "were",
    "itself", "such", "other", "another", "same", "very", "much", "many", "most", "between", "during", "through", "under", "over", "upon", "within", "against", "whether", "until", "according",
];

/// The stem of a word in lower case, of irregular verbs that of the verb.
pub(super) fn stem_of(lower: &str) -> String {
    let verb = IRREGULAR.iter().find(|(own, _)| *own == lower).map_or(lower, |(_, verb)| *verb);
    let bare = verb.trim_end_matches("'s");
    let own = if bare.ends_with("ss") { bare } else { stem(bare) };
    // `deploy` and `deployed`, `migrate` and `migration`.
    let short = |own: &str, end: &str| own.len() >= end.len() + 3 && own.is_ascii();
    let own =
        ["y", "i"].iter().find_map(|end| own.strip_suffix(end).filter(|_| short(own, end))).unwrap_or(own);
    own.strip_suffix("at").filter(|_| short(own, "at")).unwrap_or(own).to_owned()
}

fn form(lower: &str, [near, behind]: [&str; 2]) -> Form {
    let irregular = IRREGULAR.iter().any(|(own, _)| *own == lower);
    let done = irregular || lower.len() >= 4 && lower.ends_with("ed") && !NOT_DONE.contains(&lower);
    let aimed = near == "be" && !matches!(behind, "has" | "have" | "had");
    if done {
        return if aimed { Form::Plain } else { Form::Done };
    }
    if SAME.contains(&lower) {
        let plain = MODAL.contains(&near)
            || near.is_empty()
            || matches!(near, "i" | "we" | "you" | "they" | "and" | "then" | "now" | "a" | "the");
        return if DOING.contains(&near) || !plain { Form::Done } else { Form::Plain };
    }
    match () {
        () if near == "did" => Form::Done,
        () if lower.len() >= 5 && lower.ends_with("ing") => Form::Begun,
        () if lower.len() >= 4 && lower.ends_with('s') && !lower.ends_with("ss") => Form::Present,
        () => Form::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<(String, Form)> {
        words(text)
            .into_iter()
            .filter(|word| !matches!(word.form, Form::Plain | Form::Present))
            .map(|word| (word.stem, word.form))
            .collect()
    }

    #[test]
    fn what_was_done_is_told_from_what_is_to_be() {
        let done = |stem: &str| (stem.to_owned(), Form::Done);
        assert_eq!(forms("The bucket was deleted."), [done("delet")]);
        assert_eq!(forms("The bucket is to be deleted."), []);
        assert_eq!(forms("We should delete the bucket."), []);
        assert_eq!(forms("The agent ran the migration."), [done("run")]);
        assert_eq!(forms("Run the migration."), []);
        assert_eq!(forms("The migration was run."), [done("run")]);
        assert_eq!(forms("It needs to run."), []);
        assert_eq!(forms("Deleting the bucket."), [("delet".to_owned(), Form::Begun)]);
    }

    #[test]
    fn stems_join_the_forms_of_a_word() {
        for (one, other) in [
            ("deleted", "delete"),
            ("deletion", "delete"),
            ("ran", "running"),
            ("migrated", "migration"),
            ("verified", "verify"),
            ("configured", "configuration"),
            ("tests", "test"),
            ("restarted", "restart"),
            ("wrote", "writing"),
            ("deployed", "deployment"),
            ("approved", "approve"),
            ("passed", "pass"),
            ("passes", "pass"),
        ] {
            assert_eq!(stem_of(one), stem_of(other), "{one} {other}");
        }
    }

    #[test]
    fn negation_reaches_words_and_zero_denies() {
        let negated = |text: &str| -> Vec<String> {
            said(text).into_iter().filter(|said| said.negated).map(|said| said.word.stem).collect()
        };
        assert_eq!(negated("The proxy was not restarted."), ["prox", "restart"]);
        assert_eq!(negated("42 passed; 0 failed"), ["fail"]);
        assert_eq!(negated("The proxy was restarted."), Vec::<String>::new());
        assert!(negated("没有删除数据库").contains(&"删除".to_owned()));
    }
}
