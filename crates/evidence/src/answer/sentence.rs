//! A sentence that somebody says, weighed against what is recorded.

use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::Speaker;

use super::claim;
use super::decide::{Case, Draft, Ground};
use super::pattern::{Pattern, Tokens};
use super::row::{self, Row};
use super::{Answer, Options, Verdict, decide, facet, possible, select, values};
use crate::atom;
use crate::effect::{EffectKind, Outcome};
use crate::query::{Atom, Clause, Field, Form, Noun, Query, QueryError, Sign, Term, Value};
use crate::session::Scope;

/// Words that say nothing of what a sentence is about.
const EMPTY_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "i",
    "we",
    "you",
    "he",
    "she",
    "it",
    "they",
    "agent",
    "assistant",
    "have",
    "has",
    "had",
    "was",
    "were",
    "is",
    "are",
    "be",
    "been",
    "being",
    "did",
    "do",
    "does",
    "done",
    "to",
    "of",
    "in",
    "on",
    "at",
    "for",
    "from",
    "with",
    "by",
    "into",
    "as",
    "and",
    "or",
    "all",
    "any",
    "some",
    "every",
    "everything",
    "anything",
    "something",
    "now",
    "then",
    "already",
    "successfully",
    "just",
    "also",
    "again",
    "up",
    "out",
    "off",
    "our",
    "my",
    "your",
    "its",
    "their",
    "there",
    "here",
    "file",
    "files",
    "branch",
    "directory",
    "folder",
    "command",
    "not",
    "no",
    "never",
    "nothing",
    "none",
    "ever",
    "without",
    "neither",
    "nor",
    "cannot",
    "after",
    "before",
    "code",
    "so",
    "very",
    "changes",
];

/// How a sentence gives the value of a key.
static GIVEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)[`"']?(?P<key>[\p{L}_][\p{L}\p{N}_.\-/]*)[`"']?\s+"#,
        r#"(?:(?:is|was|are|were|has\s+been|had\s+been)\s+(?:(?:set|changed|raised|lowered|reduced|increased|measured|recorded)\s+(?:to|at|as)\s+)?|equals\s+|set\s+to\s+)"#,
        r#"(?P<not>not\s+)?[`"']?(?P<value>[~$€£]?[-+]?\d[\p{L}\p{N}_.,:%/+-]*|true|false|null|none)[`"']?"#,
    ))
    .ok()
});

/// How a sentence denies.
static DENIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:not|never|no|none|nothing|neither|nor|without|cannot)\b|n['’]t\b").ok()
});

/// How a sentence speaks of what is still to come.
static PLANS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:will|would|shall|should|could|might|may|going\s+to|plan(?:s|ned)?\s+to|intends?\s+to|let\s+me|let's)\b|'ll\b").ok()
});

fn holds(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Whether a sentence says that something was so, or that it was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Yes,
    No,
}

/// Weighs `sentence` against the originals in `scope`: supported, conflicting, unverified or insufficient, with
/// citations. What an assistant says is no evidence for it.
///
/// # Errors
/// When the sentence is a question or a plan, or holds nothing that a record could show.
pub fn weigh(sentence: &str, scope: &Scope<'_>, options: &Options<'_>) -> Result<Answer, QueryError> {
    let text = sentence.trim();
    if text.ends_with(['?', '？']) {
        return Err(QueryError::new("a claim is a statement; a question is asked with `ask`", 0));
    }
    if holds(&PLANS, text) {
        return Err(QueryError::new(
            "the sentence speaks of what may come; only what was done can be shown",
            0,
        ));
    }
    let says = if holds(&DENIES, text) { Says::No } else { Says::Yes };
    let query = reading(text)?;
    let ground = Ground::of(scope);
    let clause = ground.compile(&query.clause, options)?;
    let case = ground.case(&query, &clause, options);
    match query.clause.noun {
        Noun::Values => value(&case, text, says),
        _ => act(&case, &query, text, says),
    }
}

/// The query that a sentence is weighed by.
fn reading(text: &str) -> Result<Query, QueryError> {
    if let Some((key, _, _)) = given(text) {
        let clause = Clause { noun: Noun::Values, name: Some(Value::word(&key)), terms: Vec::new() };
        return Ok(Query { form: Some(Form::Value), clause, order: None });
    }
    let kinds: Vec<Atom> = claim::kinds(text).into_iter().map(|kind| Atom::Word(kind.to_owned())).collect();
    let words = objects(text);
    if kinds.is_empty() && words.is_empty() {
        let hint = "say what was done to what: \"/etc/app.conf was written\", \"we never pushed\", \"the tests pass\", \"max_conns is 61\"";
        return Err(QueryError::new("the sentence holds nothing that a record could show", 0)
            .hint(Some(hint.to_owned())));
    }
    let mut terms: Vec<Term> = Value::new(kinds)
        .map(|value| Term { sign: Sign::Holds, field: Some(Field::Kind), part: None, value })
        .into_iter()
        .collect();
    terms.extend(words.iter().map(|word| Term {
        sign: Sign::Holds,
        field: None,
        part: None,
        value: Value::word(word),
    }));
    let clause = Clause { noun: Noun::Effects, name: None, terms };
    Ok(Query { form: Some(Form::Ever), clause, order: None })
}

/// The key and the value that a sentence gives, and whether it denies it.
fn given(text: &str) -> Option<(String, String, Says)> {
    if let Some(found) = GIVEN.as_ref().and_then(|regex| regex.captures(text)) {
        let (key, value) = (found.name("key")?.as_str(), found.name("value")?.as_str());
        let says = if found.name("not").is_some() { Says::No } else { Says::Yes };
        let value = value.trim_end_matches(['.', ',', ':']);
        if !EMPTY_WORDS.contains(&key.to_lowercase().as_str()) {
            return Some((key.to_owned(), value.to_owned(), says));
        }
    }
    let keyed =
        values::scan(text).into_iter().find(|keyed| keyed.value.chars().any(|c| c.is_ascii_digit()))?;
    Some((keyed.key, keyed.value, Says::Yes))
}

/// What a sentence is about: its literals, and its words that are neither verbs of the table nor empty.
fn objects(text: &str) -> Vec<String> {
    let atoms = atom::extract(text);
    let literal = |kind: AtomKind| {
        matches!(
            kind,
            AtomKind::Path
                | AtomKind::Url
                | AtomKind::Id
                | AtomKind::Flag
                | AtomKind::Env
                | AtomKind::Code
                | AtomKind::Quote
        )
    };
    let hard = atoms.iter().filter(|atom| literal(atom.kind)).filter_map(|atom| text.get(atom.range.clone()));
    let mut words: Vec<String> = hard.map(|word| word.trim_matches(['`', '"', '\'']).to_owned()).collect();
    if words.is_empty() {
        let plain =
            text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '`' | '!'));
        let plain = plain.map(|word| word.trim_end_matches(['.', ':', '\'']).to_lowercase());
        words.extend(plain.filter(|word| !word.is_empty() && !is_empty(word)).map(|word| singular(&word)));
    }
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

fn is_empty(word: &str) -> bool {
    let negated = word.contains("n't") || word.contains("n’t");
    negated || EMPTY_WORDS.contains(&word) || !claim::kinds(word).is_empty()
}

fn singular(word: &str) -> String {
    let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    word.strip_suffix('s').filter(|_| plural).unwrap_or(word).to_owned()
}

/// Weighs a statement of a value: the last record of the key decides.
fn value<'s>(case: &Case<'_, 's>, text: &str, says: Says) -> Result<Answer, QueryError> {
    let Some((_, wanted, own)) = given(text) else { return unverified(case, None) };
    let says = if own == Says::No { Says::No } else { says };
    let mut found = select::find(case.scope, case.clause, case.positions, case.options, select::Asks::Done)?;
    // What an assistant says is what is to be shown, and shows nothing.
    found.yes.retain(|row| {
        let spoken = row.own.first().and_then(|piece| row.view.index.block(piece.at));
        !spoken.is_some_and(|block| {
            block.speaker == Speaker::Assistant
                && !matches!(block.kind, strongroom_core::transcript::BlockKind::Call(_))
        })
    });
    let equal = |row: &&Row<'s>| recorded(row).is_some_and(|recorded| same_value(&recorded, &wanted));
    let Some(last) = found.yes.last() else { return unverified(case, Some(found.holes.len())) };
    let holds = if found.yes.iter().any(|row| equal(&row)) { Says::Yes } else { Says::No };
    let latest = equal(&last);
    let (verdict, words) = match (says, holds, latest) {
        (Says::Yes, _, true) => (Verdict::Supported, "recorded so".to_owned()),
        (Says::Yes, Says::Yes, false) => {
            (Verdict::Conflicting, "recorded so earlier; the last record has another value".to_owned())
        }
        (Says::Yes, Says::No, _) => (Verdict::Conflicting, "recorded with another value".to_owned()),
        (Says::No, _, true) => (Verdict::Conflicting, "recorded so".to_owned()),
        (Says::No, _, false) => (Verdict::Supported, "the last record has another value".to_owned()),
    };
    let mut cited: Vec<Row<'s>> = found.yes.iter().rev().find(equal).cloned().into_iter().collect();
    if !latest {
        cited.push(last.clone());
    }
    case.assemble(Draft { verdict: Some(verdict), answer: Some(words), cited, ..Draft::default() })
}

/// The value in the text of a row.
fn recorded(row: &Row<'_>) -> Option<String> {
    values::scan(row.own.first()?.focused()).into_iter().next().map(|keyed| keyed.value)
}

fn same_value(one: &str, two: &str) -> bool {
    let plain =
        |text: &str| text.trim_matches(['~', '$', '€', '£', '"', '\'', '`']).replace(',', "").to_lowercase();
    let (one, two) = (plain(one), plain(two));
    let number = |text: &str| {
        let end =
            text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
        text.get(..end)
            .filter(|digits| !digits.is_empty())
            .map(|digits| (digits.to_owned(), text.get(end..).unwrap_or_default().to_owned()))
    };
    if one == two {
        return true;
    }
    match (number(&one), number(&two)) {
        (Some((a, unit)), Some((b, other))) => {
            let equal = a == b
                || a.parse::<f64>()
                    .ok()
                    .zip(b.parse::<f64>().ok())
                    .is_some_and(|(a, b)| (a - b).abs() < f64::EPSILON * a.abs());
            equal && (unit == other || unit.is_empty() || other.is_empty())
        }
        _ => false,
    }
}

/// Nothing that shows a statement: unverified, or insufficient where something is missing.
fn unverified(case: &Case<'_, '_>, holes: Option<usize>) -> Result<Answer, QueryError> {
    let (verdict, words) = match holes {
        Some(holes) if holes > 0 => (Verdict::Insufficient, "no record that can be read shows it"),
        _ => (Verdict::Unverified, "no record shows it"),
    };
    let blocking = super::hole::blocking(case.scope, case.clause, case.positions);
    case.assemble(Draft {
        verdict: Some(verdict),
        answer: Some(words.to_owned()),
        blocking_holes: blocking,
        ..Draft::default()
    })
}

/// Weighs a statement of an act: of what is related, the last that was done or failed decides.
fn act(case: &Case<'_, '_>, query: &Query, text: &str, says: Says) -> Result<Answer, QueryError> {
    let related = related(case, query, text)?;
    let decides = related
        .iter()
        .rev()
        .find(|row| row.outcome().is_some_and(|outcome| outcome.is_positive() || outcome.is_negative()));
    let Some(row) = decides else { return nothing(case, query, text, says, &related) };
    let done = row.outcome().is_some_and(Outcome::is_positive);
    let (verdict, words) = match (says, done) {
        (Says::Yes, true) => (Verdict::Supported, "recorded as done"),
        (Says::Yes, false) => (Verdict::Conflicting, "the last attempt came to nothing"),
        (Says::No, true) => (Verdict::Conflicting, "it was done"),
        (Says::No, false) => {
            (Verdict::Supported, "attempted, and every attempt that is known came to nothing")
        }
    };
    // One that was done makes a denial wrong, wherever it stands.
    let positive = || related.iter().rev().find(|row| row.outcome().is_some_and(Outcome::is_positive));
    let (verdict, words, row) = match (says, done, positive()) {
        (Says::No, false, Some(other)) => (Verdict::Conflicting, "it was done", other),
        _ => (verdict, words, row),
    };
    case.assemble(Draft {
        verdict: Some(verdict),
        answer: Some(format!("{words}: {}", summary(case, row))),
        cited: vec![row.clone()],
        ..Draft::default()
    })
}

fn summary(case: &Case<'_, '_>, row: &Row<'_>) -> String {
    row.effect().map_or_else(String::new, |effect| {
        case.mask(&format!("{} {}: {}", effect.kind.word(), effect.target.words(), effect.outcome))
    })
}

/// Definite effects of the kinds that the sentence speaks of, whose call, target or result holds what it is about.
fn related<'s>(case: &Case<'_, 's>, query: &Query, text: &str) -> Result<Vec<Row<'s>>, QueryError> {
    let kinds = claim::kinds(text);
    let words = objects(text);
    let patterns: Vec<Pattern> = query
        .clause
        .terms
        .iter()
        .filter(|term| term.field.is_none())
        .flat_map(|term| term.value.atoms())
        .map(|atom| Pattern::new(atom, Tokens::Plain))
        .collect::<Result<_, _>>()?;
    let tests = words.iter().any(|word| word == "test");
    let rows = row::effects(case.scope).into_iter().filter(|row| {
        let Some(effect) = row.effect() else { return false };
        let kind = kinds.is_empty() && facet::mutates(effect.kind)
            || kinds.iter().any(|kind| effect.kind.is_under(kind));
        let run = possible::is_opaque(effect);
        let certain = effect.certainty == strongroom_core::evidence::Certainty::Definite || run;
        // A run shows only what its own words speak of.
        let named = !run || tests || !patterns.is_empty();
        kind && certain
            && named
            && patterns.iter().all(|pattern| is_about(row, effect.target.words(), effect.kind, pattern))
    });
    Ok(rows.collect())
}

fn is_about(row: &Row<'_>, target: &str, kind: EffectKind, pattern: &Pattern) -> bool {
    // Of a file only its path and its call are meant, not what is said of it in a result.
    let result = !kind.is_under("fs");
    pattern.is_in(target)
        || row.own.iter().any(|piece| pattern.is_in(piece.text))
        || (result && row.half.iter().any(|piece| pattern.is_in(piece.text)))
}

/// The query whose absence decides. What an act away from files was about need not stand in its call (`git push`), so
/// a denial is closed only where no act of the kind is recorded at all.
fn closing(query: &Query, text: &str, says: Says) -> Query {
    let kinds = claim::kinds(text);
    let files = kinds.iter().all(|kind| kind.starts_with("fs"));
    let mut query = query.clone();
    if says == Says::No && !files {
        query.clause.terms.retain(|term| term.field.is_some());
    }
    query
}

/// No definite outcome: absent where the scope is closed, blocked where it is not.
fn nothing<'s>(
    case: &Case<'_, 's>,
    query: &Query,
    text: &str,
    says: Says,
    related: &[Row<'s>],
) -> Result<Answer, QueryError> {
    let asked = decide::decide(&closing(query, text, says), case.scope, case.options)?;
    if says == Says::No && asked.verdict == Verdict::Supported && !asked.citations.is_empty() {
        let words = "acts of the kind are recorded that do not say whether it was this one";
        return Ok(Answer { verdict: Verdict::Insufficient, answer: Some(words.to_owned()), ..asked });
    }
    if asked.verdict == Verdict::Absent {
        let (verdict, words) = match says {
            Says::Yes => (
                Verdict::Unverified,
                "no tool call shows it; the scope is closed, and nothing of the kind is recorded",
            ),
            Says::No => (Verdict::Supported, "nothing of the kind is recorded, and the scope is closed"),
        };
        return Ok(Answer { verdict, answer: Some(words.to_owned()), ..asked });
    }
    if !related.is_empty() {
        return case.assemble(Draft {
            verdict: Some(Verdict::Insufficient),
            answer: Some("attempted, and the outcome is not recorded".to_owned()),
            cited: related.iter().rev().take(3).cloned().collect(),
            ..Draft::default()
        });
    }
    let spoken = claim::rows(case.scope).into_iter().filter(|row| {
        row.own.first().is_some_and(|piece| {
            objects(text).iter().all(|word| piece.focused().to_lowercase().contains(&word.to_lowercase()))
        })
    });
    let spoken: Vec<Row<'s>> = spoken.take(3).collect();
    let (verdict, words) = match (says, asked.verdict) {
        (Says::Yes, Verdict::Unverified) => {
            (Verdict::Unverified, "somebody says so, and no tool call shows it")
        }
        (Says::Yes, _) => {
            (Verdict::Insufficient, "no tool call shows it, and what could have done it is not all known")
        }
        (Says::No, _) => {
            (Verdict::Insufficient, "nothing shows it, and what could have done it is not all known")
        }
    };
    let mut answer =
        Answer { verdict, answer: Some(words.to_owned()), values: Vec::new(), certificate: None, ..asked };
    answer.citations = spoken.iter().flat_map(|row| case.citer().row(row)).collect();
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_read_as_queries() {
        for (sentence, expected) in [
            ("We pushed to main.", "ever effects kind:vcs.remote main"),
            ("/etc/app/conf.yaml was written", "ever effects kind:fs.write|fs.append /etc/app/conf.yaml"),
            ("max_conns was set to 61", "value values max_conns"),
            ("p99 is 412.7ms", "value values p99"),
            ("All tests pass", "ever effects kind:exec test"),
        ] {
            assert_eq!(reading(sentence).unwrap().to_string(), expected, "{sentence}");
        }
        assert!(reading("It was the best of all.").is_ok());
        assert!(reading("We did.").is_err());
    }

    #[test]
    fn values_are_the_same_by_number_and_unit() {
        for (one, two, same) in [
            ("61", "61", true),
            ("1,000", "1000", true),
            ("412.7ms", "412.7", true),
            ("5s", "5ms", false),
            ("61", "62", false),
            ("true", "True", true),
            ("v1.2", "v1.3", false),
        ] {
            assert_eq!(same_value(one, two), same, "{one} {two}");
        }
    }
}
