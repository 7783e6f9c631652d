//! Scores: each reply is exact, a silent error, a refusal, or a refusal that was right.

use serde::Serialize;

use crate::question::{Expect, Gold, Question, Role};
use crate::reply::{Cited, Reply, Verdict};

/// What a reply was worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Right, and shown.
    Exact,
    /// Rightly refused or corrected.
    RightlyRefused,
    /// Withheld, although the answer was there.
    Withheld,
    /// Asserted or denied, and wrong.
    Silent,
    /// Not understood.
    NotUnderstood,
}

/// What a reply was worth, with its citations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Scored {
    /// The mark.
    pub mark: Mark,
    /// How many citations the reply gives.
    pub citations: usize,
    /// Those whose bytes decode to what was quoted.
    pub faithful: usize,
    /// Those that hold gold, under the right speaker.
    pub holding: usize,
    /// Pieces of gold.
    pub gold: usize,
    /// Pieces of gold that some citation holds.
    pub covered: usize,
    /// Whether a refusal names what is missing.
    pub named: bool,
}

/// Scores `reply` to `question` about the transcript `file`.
pub fn score(question: &Question, reply: &Reply, file: &[u8]) -> Scored {
    let faithful: Vec<(&Cited, Stand)> =
        reply.citations.iter().filter_map(|cited| Some((cited, stand(cited, file)?))).collect();
    let holds = |(cited, stand): &(&Cited, Stand), at: usize, gold: &Gold| {
        let mut places = std::iter::once(gold.bytes).chain(gold.copies.iter().copied());
        let inside = match stand {
            Stand::Here => places.any(|(start, end)| cited.bytes.0 <= start && end <= cited.bytes.1),
            Stand::Elsewhere(pieces) => pieces.contains(&at),
        };
        inside && cited.speaker == gold.speaker
    };
    let pieces = || question.gold.iter().enumerate();
    let holding = faithful.iter().filter(|own| pieces().any(|(at, gold)| holds(own, at, gold))).count();
    let covered = pieces().filter(|(at, gold)| faithful.iter().any(|own| holds(own, *at, gold))).count();
    let shown = match question.expect {
        Expect::AllCited => covered == question.gold.len(),
        _ => question.gold.is_empty() || covered > 0,
    };
    let shown = reply.shown.unwrap_or(shown);
    let mark = match (reply.literal, mark(question, reply, shown)) {
        (Some(true), _) => Mark::Exact,
        (Some(false), _) => Mark::Withheld,
        (None, Mark::Withheld) if question.open => Mark::RightlyRefused,
        (None, mark) if reply.condition.is_loss() => {
            let part = question.expect == Expect::AllCited && covered > 0;
            of_loss(reply, mark, part)
        }
        (None, mark) => mark,
    };
    Scored {
        mark,
        citations: reply.citations.len(),
        faithful: faithful.len(),
        holding,
        gold: question.gold.len(),
        covered,
        named: !reply.missing.is_empty(),
    }
}

/// Where a faithful citation stands.
enum Stand {
    /// In the transcript.
    Here,
    /// In what the answerer had, with the pieces of gold in it.
    Elsewhere(Vec<usize>),
}

fn stand(cited: &Cited, file: &[u8]) -> Option<Stand> {
    if cited.quote(file).is_some() {
        return Some(Stand::Here);
    }
    cited.elsewhere.clone().map(Stand::Elsewhere)
}

/// The number that an answer names.
fn number(reply: &Reply) -> Option<u64> {
    let words = reply.answer.as_deref()?;
    let digits = words.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?;
    digits.parse().ok()
}

fn says_no(reply: &Reply) -> bool {
    reply.answer.as_deref().is_some_and(|words| words.trim_start().to_lowercase().starts_with("no"))
}

fn mark(question: &Question, reply: &Reply, shown: bool) -> Mark {
    if reply.verdict == Verdict::NotUnderstood {
        return Mark::NotUnderstood;
    }
    let right = match &question.expect {
        Expect::Refused => return of_refused(question, reply),
        Expect::Insufficient => return of_lost(reply),
        Expect::No => return of_no(reply),
        Expect::Cited | Expect::AllCited => shown,
        Expect::Yes => shown && !says_no(reply),
        Expect::Value(value) => shown && reply.values.last().is_some_and(|own| own == value),
        Expect::Count(n) => number(reply) == Some(*n),
        Expect::Order(word) => {
            shown && reply.answer.as_deref().is_some_and(|own| own.starts_with(word.as_str()))
        }
    };
    match (reply.verdict, right) {
        (Verdict::Supported, true) => Mark::Exact,
        (Verdict::Supported | Verdict::Absent, _) => Mark::Silent,
        (Verdict::Insufficient, _) if exceeds(question, reply) => Mark::Silent,
        _ => Mark::Withheld,
    }
}

/// Whether "at least n" names more than there are.
fn exceeds(question: &Question, reply: &Reply) -> bool {
    matches!(question.expect, Expect::Count(n) if number(reply).is_some_and(|own| own > n))
}

fn of_refused(question: &Question, reply: &Reply) -> Mark {
    let corrected = question.role == Role::Twin && says_no(reply);
    match reply.verdict {
        Verdict::Supported if !corrected => Mark::Silent,
        _ => Mark::RightlyRefused,
    }
}

fn of_lost(reply: &Reply) -> Mark {
    match reply.verdict {
        Verdict::Supported | Verdict::Absent => Mark::Silent,
        _ => Mark::RightlyRefused,
    }
}

/// Where evidence is gone on purpose, to say so is right, and to deny is a silent error; what was kept may be shown, and
/// of a list a part, where the answer names what is missing beside it.
fn of_loss(reply: &Reply, mark: Mark, part: bool) -> Mark {
    match (reply.verdict, mark) {
        (Verdict::Insufficient, Mark::Withheld) => Mark::RightlyRefused,
        (Verdict::Supported, Mark::Silent) if part && !reply.missing.is_empty() => Mark::RightlyRefused,
        (_, mark) => mark,
    }
}

fn of_no(reply: &Reply) -> Mark {
    match reply.verdict {
        Verdict::Absent => Mark::Exact,
        Verdict::Supported if says_no(reply) => Mark::Exact,
        Verdict::Supported => Mark::Silent,
        _ => Mark::Withheld,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Family;
    use crate::reply::Condition;
    use crate::seed::hex;

    const FILE: &[u8] = br#"{"a":"first words","b":"other \"quoted\" words"}"#;

    fn question(role: Role, expect: Expect, gold: &[(u64, u64)]) -> Question {
        let gold = gold.iter().map(|&bytes| Gold {
            text: String::new(),
            record: 1,
            pointer: String::new(),
            bytes,
            sha256: String::new(),
            speaker: "user".into(),
            copies: Vec::new(),
        });
        Question { family: Family::F1, role, expect, gold: gold.collect(), ..Question::blank() }
    }

    fn reply(verdict: Verdict, answer: &str, citations: Vec<Cited>) -> Reply {
        Reply { answer: Some(answer.into()), citations, ..Reply::bare("q", "a", verdict) }
    }

    fn cited(bytes: (u64, u64), quote: &str, speaker: &str) -> Cited {
        Cited { bytes, quote_sha256: hex(quote), speaker: speaker.into(), elsewhere: None }
    }

    fn of(question: &Question, reply: &Reply) -> Mark {
        score(question, reply, FILE).mark
    }

    #[test]
    fn a_citation_must_hold_the_gold_say_what_the_bytes_say_and_name_the_speaker() {
        let asked = question(Role::Asked, Expect::Cited, &[(6, 11)]);
        let good = cited((6, 17), "first words", "user");
        assert_eq!(of(&asked, &reply(Verdict::Supported, "", vec![good.clone()])), Mark::Exact);
        let elsewhere = cited((24, 29), "other", "user");
        let not_so = cited((6, 17), "first wordz", "user");
        let wrong_speaker = cited((6, 17), "first words", "assistant");
        for wrong in [elsewhere, not_so, wrong_speaker] {
            assert_eq!(of(&asked, &reply(Verdict::Supported, "", vec![wrong])), Mark::Silent);
        }
        let scored =
            score(&asked, &reply(Verdict::Supported, "", vec![good, cited((0, 3), "nope", "user")]), FILE);
        assert_eq!((scored.citations, scored.faithful, scored.holding, scored.covered), (2, 1, 1, 1));
    }

    #[test]
    fn escapes_are_decoded_before_quotes_are_compared() {
        let text = std::str::from_utf8(FILE).unwrap();
        let start = u64::try_from(text.find("other").unwrap()).unwrap();
        let end = u64::try_from(text.rfind('"').unwrap()).unwrap();
        let asked = question(Role::Asked, Expect::Cited, &[(start, start + 5)]);
        let own = cited((start, end), "other \"quoted\" words", "user");
        assert_eq!(of(&asked, &reply(Verdict::Supported, "", vec![own])), Mark::Exact);
    }

    #[test]
    fn a_false_no_is_a_silent_error() {
        let asked = question(Role::Asked, Expect::Cited, &[(6, 11)]);
        assert_eq!(of(&asked, &reply(Verdict::Absent, "no", Vec::new())), Mark::Silent);
        assert_eq!(of(&asked, &reply(Verdict::Insufficient, "", Vec::new())), Mark::Withheld);
        let happened = question(Role::Twin, Expect::Yes, &[(6, 11)]);
        let good = cited((6, 17), "first words", "user");
        assert_eq!(
            of(&happened, &reply(Verdict::Supported, "no: 1 attempt", vec![good.clone()])),
            Mark::Silent
        );
        assert_eq!(of(&happened, &reply(Verdict::Supported, "yes", vec![good])), Mark::Exact);
    }

    #[test]
    fn a_refused_twin_is_right_and_an_answered_one_a_silent_error() {
        let twin = question(Role::Twin, Expect::Refused, &[]);
        for verdict in [Verdict::Absent, Verdict::Insufficient, Verdict::Unverified, Verdict::Conflicting] {
            assert_eq!(of(&twin, &reply(verdict, "", Vec::new())), Mark::RightlyRefused);
        }
        assert_eq!(of(&twin, &reply(Verdict::Supported, "1 match", Vec::new())), Mark::Silent);
        let gone = question(Role::Asked, Expect::Insufficient, &[]);
        assert_eq!(of(&gone, &reply(Verdict::Absent, "no", Vec::new())), Mark::Silent);
        assert_eq!(of(&gone, &reply(Verdict::Insufficient, "", Vec::new())), Mark::RightlyRefused);
    }

    #[test]
    fn numbers_values_and_absences_are_compared() {
        let count = question(Role::Asked, Expect::Count(5), &[]);
        assert_eq!(of(&count, &reply(Verdict::Supported, "5", Vec::new())), Mark::Exact);
        assert_eq!(of(&count, &reply(Verdict::Supported, "4", Vec::new())), Mark::Silent);
        assert_eq!(of(&count, &reply(Verdict::Insufficient, "at least 4", Vec::new())), Mark::Withheld);
        assert_eq!(of(&count, &reply(Verdict::Insufficient, "at least 6", Vec::new())), Mark::Silent);
        let open = Question { open: true, ..count };
        assert_eq!(of(&open, &reply(Verdict::Insufficient, "at least 4", Vec::new())), Mark::RightlyRefused);
        let value = question(Role::Asked, Expect::Value("61".into()), &[(6, 11)]);
        let good = cited((6, 17), "first words", "user");
        let mut right = reply(Verdict::Supported, "max = 61", vec![good]);
        right.values = vec!["60".into(), "61".into()];
        assert_eq!(of(&value, &right), Mark::Exact);
        right.values.reverse();
        assert_eq!(of(&value, &right), Mark::Silent);
        let never = question(Role::Asked, Expect::No, &[]);
        assert_eq!(of(&never, &reply(Verdict::Absent, "no", Vec::new())), Mark::Exact);
        assert_eq!(of(&never, &reply(Verdict::Insufficient, "", Vec::new())), Mark::Withheld);
        assert_eq!(of(&never, &reply(Verdict::Supported, "yes", Vec::new())), Mark::Silent);
    }

    #[test]
    fn where_evidence_is_gone_to_say_so_is_right() {
        let asked = question(Role::Asked, Expect::Cited, &[(6, 11)]);
        let gone = Reply { condition: Condition::LostStore, ..reply(Verdict::Insufficient, "", Vec::new()) };
        assert_eq!(of(&asked, &gone), Mark::RightlyRefused);
        let denied = Reply { verdict: Verdict::Absent, ..gone };
        assert_eq!(of(&asked, &denied), Mark::Silent);
    }
}
