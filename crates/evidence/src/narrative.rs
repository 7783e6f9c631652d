//! The proof that prose holds nothing verifiable, or only what the call behind it keeps. The default is no proof.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;
use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{BlockKind, Speaker};

use crate::atom::{self, Atom};
use crate::content::Next;
use crate::cues::{self, Cue};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    lead: Vec<String>,
    announce: Vec<String>,
    adverbs: BTreeSet<String>,
    verbs: BTreeSet<String>,
    asks: Vec<String>,
    presumes: Vec<String>,
    gerunds: BTreeSet<String>,
    joins: BTreeSet<String>,
    ack: BTreeSet<String>,
    user_ack: BTreeSet<String>,
    numbers: BTreeSet<String>,
    common: BTreeSet<String>,
    refused: BTreeSet<String>,
    reports: BTreeSet<String>,
    states: BTreeSet<String>,
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
///
/// An announcement may name what stands word for word in the call that follows it, or in the call of the same turn
/// before it, `previous` (`covered-step`): those calls keep it. That holds as long as they can be retrieved, and
/// they can: a call is never narrative, so the gate lets go of it only with a pointer to its original.
pub fn prove(
    text: &str,
    kind: &BlockKind,
    speaker: Speaker,
    next: &Next,
    previous: &str,
) -> Option<&'static str> {
    let own = text.trim();
    match (kind, speaker) {
        (BlockKind::Text, _) if own.is_empty() => Some("empty"),
        // Reasoning without any text is sealed.
        (BlockKind::Thinking, _) if own.is_empty() => (!text.is_empty()).then_some("empty"),
        (BlockKind::Text, Speaker::User) => {
            let plain = own.trim_end_matches(['.', '!', ' ', '。', '！']).to_lowercase();
            table().user_ack.contains(&plain).then_some("user-acknowledgement")
        }
        (BlockKind::Text | BlockKind::Thinking, Speaker::Assistant) if own.len() <= TEXT_MAX => {
            assistant(&plain_marks(own)?, next, previous)
        }
        _ => None,
    }
}

/// The text with plain quotes and dashes. The tables know English; text in other scripts is left alone.
fn plain_marks(text: &str) -> Option<String> {
    let plain = text
        .replace(['’', '‘'], "'")
        .replace(['“', '”'], "\"")
        .replace('…', "...")
        .replace(['—', '–'], " - ");
    plain.is_ascii().then_some(plain)
}

fn assistant(text: &str, next: &Next, previous: &str) -> Option<&'static str> {
    if text.lines().any(is_listed) {
        return None;
    }
    let mut sentences = Vec::new();
    for range in cues::sentences(text) {
        sentences.push((range.clone(), Sentence::read(text.get(range)?)?));
    }
    let announces = sentences.iter().any(|(_, sentence)| matches!(sentence, Sentence::Announcement(_)));
    let kept = match next {
        Next::Call(call) => [call.as_ref(), previous],
        Next::Other if announces => return None,
        Next::Other => ["", previous],
    };
    if is_toned(text, &sentences) {
        return None;
    }
    let mut covered = false;
    for atom in atom::extract(text).iter().filter(|atom| atom.kind != AtomKind::Claim) {
        if atom.kind == AtomKind::Negation && place(&sentences, atom.range.start) == Place::Asked {
            continue;
        }
        covered = true;
        if !kept.iter().any(|call| covers(call, text, atom)) {
            return None;
        }
    }
    for (range, _) in &sentences {
        for name in names(text.get(range.clone())?) {
            covered = true;
            if !kept.iter().any(|call| stands_in(call, name)) {
                return None;
            }
        }
    }
    match (covered, announces) {
        (true, _) => Some("covered-step"),
        (false, true) => Some("announced-step"),
        (false, false) => Some("acknowledgement"),
    }
}

/// A heading, a quotation, a row of a table or an item of a list.
fn is_listed(line: &str) -> bool {
    let start = line.trim_start();
    start.starts_with(['#', '|', '>', '-', '*', '•', '='])
        || start.starts_with(|char: char| char.is_ascii_digit())
}

/// Whether something is claimed, supposed, demanded or decided.
fn is_toned(text: &str, sentences: &[(Range<usize>, Sentence)]) -> bool {
    cues::tone(text).iter().any(|found| {
        let place = place(sentences, found.range.start);
        match found.cue {
            Cue::Claim | Cue::Hypothetical => place != Place::Asked,
            Cue::Required => place == Place::Said,
            Cue::Decision => true,
            _ => false,
        }
    })
}

/// Whether the call keeps what an atom says, word for word.
fn covers(call: &str, text: &str, atom: &Atom) -> bool {
    let Some(own) = text.get(atom.range.clone()) else { return false };
    match atom.kind {
        // A short number stands in many calls by chance.
        AtomKind::Number => own.len() >= 3 && stands_in(call, own),
        AtomKind::Negation | AtomKind::Constraint | AtomKind::Claim | AtomKind::Secret | AtomKind::Error => {
            false
        }
        AtomKind::Path
        | AtomKind::LineRef
        | AtomKind::Url
        | AtomKind::Id
        | AtomKind::Quantity
        | AtomKind::Time
        | AtomKind::Quote
        | AtomKind::Code
        | AtomKind::Flag
        | AtomKind::Env => stands_in(call, own),
    }
}

/// Whether `own` stands in `call`, not as a part of a longer word.
fn stands_in(call: &str, own: &str) -> bool {
    let bytes = call.as_bytes();
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !own.is_empty()
        && memchr::memmem::find_iter(bytes, own).any(|at| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            !joins(before) && !joins(bytes.get(at + own.len()))
        })
}

/// A sentence that a proof may hold.
#[derive(Debug)]
enum Sentence {
    /// It says nothing: `Great!`
    Opening,
    /// It announces a step.
    Announcement(Announcement),
}

/// The parts of an announcement, in bytes of its sentence.
#[derive(Debug)]
struct Announcement {
    /// The end of the words that announce: `let me`, `I need to`.
    opened: usize,
    /// Where it begins to ask; what is asked is not said to be so.
    asked: usize,
}

/// Where in its sentence something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the words that announce.
    Opening,
    /// In what is said.
    Said,
    /// In what is asked.
    Asked,
}

fn place(sentences: &[(Range<usize>, Sentence)], at: usize) -> Place {
    let own = sentences.iter().find(|(range, _)| range.contains(&at));
    match own {
        Some((range, Sentence::Announcement(parts))) if at < range.start + parts.opened => Place::Opening,
        Some((range, Sentence::Announcement(parts))) if at >= range.start + parts.asked => Place::Asked,
        _ => Place::Said,
    }
}

impl Sentence {
    fn read(sentence: &str) -> Option<Self> {
        let lower = sentence.to_ascii_lowercase();
        let plain = lower.trim_matches(|char: char| !char.is_ascii_alphanumeric());
        if table().ack.contains(plain) {
            return Some(Self::Opening);
        }
        let ends = sentence.ends_with(['.', ':', '!', '`', ')', '"'])
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
fn names(sentence: &str) -> impl Iterator<Item = &str> {
    let words =
        sentence.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_ascii_alphanumeric()));
    words.skip(1).filter(|word| {
        let named = word.bytes().any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let own = matches!(*word, "I" | "I'll" | "I'm" | "I'd" | "Let" | "Let's" | "Now");
        named && !own && !table().common.contains(*word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by(speaker: Speaker, text: &str) -> Option<&'static str> {
        prove(text, &BlockKind::Text, speaker, &Next::Call("".into()), "")
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
        assert_eq!(prove("Let me look at it.", &BlockKind::Text, Speaker::Assistant, &Next::Other, ""), None);
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
    fn what_the_calls_beside_keep_may_be_named() {
        let covered = |text: &str, next: &str, previous: &str| {
            prove(text, &BlockKind::Text, Speaker::Assistant, &Next::Call(next.into()), previous)
        };
        let read = "Read\n/app/src/parse.rs\nfn lower() {}";
        assert_eq!(covered("Let me read src/parse.rs:", read, ""), Some("covered-step"));
        assert_eq!(covered("Now let me update `lower`.", "Edit", read), Some("covered-step"));
        assert_eq!(covered("Let me check the Gemini hooks.", "Grep\nGemini", ""), Some("covered-step"));
        for text in [
            "Let me read src/pars.rs:",
            "Let me update `low`.",
            "Let me not read src/parse.rs.",
            "I see src/parse.rs. Let me read it.",
            "Let me fix src/parse.rs, it breaks.",
            "Let me read src/parse.rs, the parser lives there.",
            "Let me read src/parse.rs which calls `lower`.",
            "I'll read src/parse.rs; if that is fine, I'll commit.",
            "src/parse.rs",
        ] {
            assert_eq!(covered(text, read, ""), None, "{text}");
        }
        assert_eq!(
            prove("Let me read src/parse.rs:", &BlockKind::Text, Speaker::Assistant, &Next::Other, read),
            None
        );
    }

    #[test]
    fn what_is_asked_is_not_said() {
        for text in [
            "Let me run the tests to make sure everything works.",
            "Now let me verify the tests still pass.",
            "Let me run lint to make sure nothing is broken.",
            "I need to check if the hook is installed.",
        ] {
            assert!(by(Speaker::Assistant, text).is_some(), "{text}");
        }
        for text in [
            "Still running.",
            "Let me see why the tests failed.",
            "Let me check what broke, the tests failed.",
            "I'll capture it later if it hasn't completed.",
            "Let me resolve the conflict by keeping the old signature.",
            "Let me update the plan to use a switch statement.",
        ] {
            assert_eq!(by(Speaker::Assistant, text), None, "{text}");
        }
    }

    #[test]
    fn empty_texts_are_narrative_and_sealed_reasoning_is_not() {
        let empty = |text: &str, kind: BlockKind| prove(text, &kind, Speaker::Assistant, &Next::Other, "");
        assert_eq!(empty("", BlockKind::Text), Some("empty"));
        assert_eq!(empty(" \n", BlockKind::Thinking), Some("empty"));
        assert_eq!(empty("", BlockKind::Thinking), None);
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
