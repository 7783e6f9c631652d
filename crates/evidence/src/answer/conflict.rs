//! Conflicts: summaries that disagree with their originals, claims that the ledger contradicts, values that changed.

use std::collections::BTreeMap;

use super::claim::{self, Weight};
use super::decide::{self, Case, Ground};
use super::ledger::{Gap, gaps};
use super::row::{self, PieceOf, Row, What};
use super::{Citation, Options, Verdict, values};
use crate::query::{QueryError, parse};
use crate::session::Scope;

/// The conflicts of a scope, worst first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts {
    /// The conflicts.
    pub found: Vec<Conflict>,
    /// What is not there to be compared.
    pub gaps: Vec<Gap>,
    /// How many claims were weighed.
    pub claims: usize,
}

/// Two records that disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What disagrees with what.
    pub kind: ConflictKind,
    /// The conflict in words, secrets hidden.
    pub words: String,
    /// What is said, or was so first.
    pub said: Vec<Citation>,
    /// What shows otherwise, or is so now.
    pub shown: Vec<Citation>,
}

/// What disagrees with what, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// A summary gives another value than its original.
    Summary,
    /// A claim that the ledger shows otherwise.
    Claim,
    /// The same file or command gave another value for the same key.
    Value,
}

impl ConflictKind {
    /// The words in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Claim => "claim",
            Self::Value => "value",
        }
    }
}

/// The most citations of one side.
const SIDE_MAX: usize = 4;

/// Everything in `scope` that disagrees.
///
/// # Errors
/// When a pattern is too large to compile.
pub fn conflicts(scope: &Scope<'_>, options: &Options<'_>) -> Result<Conflicts, QueryError> {
    let query = parse("list claims")?;
    let ground = Ground::of(scope);
    let clause = ground.compile(&query.clause, options)?;
    let case = ground.case(&query, &clause, options);
    let mut found = summaries(&case)?;
    let claimed = claim::rows(scope);
    found.extend(claims(&case, &claimed));
    found.extend(changed(&case));
    Ok(Conflicts { found, gaps: gaps(&case), claims: claimed.len() })
}

/// Statements of summaries that their originals contradict.
fn summaries(case: &Case<'_, '_>) -> Result<Vec<Conflict>, QueryError> {
    let query = parse("list compactions status:contradicted")?;
    let answer = decide::decide(&query, case.scope, case.options)?;
    if answer.verdict != Verdict::Conflicting {
        return Ok(Vec::new());
    }
    let is_summary = |citation: &Citation| citation.attribution == "derived";
    let (said, shown) = answer.citations.into_iter().partition(is_summary);
    let words = answer.answer.unwrap_or_default();
    Ok(vec![Conflict { kind: ConflictKind::Summary, words, said, shown }])
}

/// Claims that the ledger shows otherwise.
fn claims<'s>(case: &Case<'_, 's>, claimed: &[Row<'s>]) -> Vec<Conflict> {
    let ledger = row::effects(case.scope);
    let citer = case.citer();
    let mut found = Vec::new();
    for row in claimed {
        let Weight::Contradicted(shown) = claim::weigh(case, row, &ledger) else { continue };
        let text = row.own.first().map_or("", row::Piece::focused);
        let effect = shown.effect().map_or_else(String::new, |effect| {
            format!("{} {}: {}", effect.kind.word(), effect.target.words(), effect.outcome)
        });
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        found.push(Conflict {
            kind: ConflictKind::Claim,
            words: case.mask(&format!("\"{text}\", but {effect}")),
            said: citer.first(row).into_iter().collect(),
            shown: citer.row(&shown).into_iter().take(SIDE_MAX).collect(),
        });
    }
    found
}

/// A value with where it was recorded.
struct Recorded<'s> {
    value: String,
    row: Row<'s>,
}

/// Keys whose value changed in the same file, or in the output of the same command.
fn changed(case: &Case<'_, '_>) -> Vec<Conflict> {
    let mut histories: BTreeMap<(usize, String, String), Vec<Recorded<'_>>> = BTreeMap::new();
    for row in row::results(case.scope) {
        let Some(place) = place_of(&row) else { continue };
        for piece in &row.own {
            let keyed = values::scan(piece.text);
            for one in keyed.iter().filter(|one| is_setting(&one.key, &one.value)) {
                // A key that stands twice in one text is a column, not a setting.
                if keyed.iter().filter(|other| other.key == one.key).count() > 1 {
                    continue;
                }
                let mut own = piece.clone();
                own.focus = Some(one.range.clone());
                let what = What::Result;
                let row = Row { what, own: vec![own], half: Vec::new(), ..row.clone() };
                let key = (row.source, place.clone(), one.key.clone());
                let history = histories.entry(key).or_default();
                if history.last().is_none_or(|last| last.value != one.value) {
                    history.push(Recorded { value: one.value.clone(), row });
                }
            }
        }
    }
    let mut places: BTreeMap<(usize, String), Vec<Changed<'_>>> = BTreeMap::new();
    for ((source, place, key), history) in histories.into_iter().filter(|(_, history)| history.len() > 1) {
        places.entry((source, place)).or_default().push(Changed { key, history });
    }
    places.iter().map(|((_, place), keys)| conflict_of(case, place, keys)).collect()
}

/// A key with the values it had, each where it differs from the one before.
struct Changed<'s> {
    key: String,
    history: Vec<Recorded<'s>>,
}

fn conflict_of(case: &Case<'_, '_>, place: &str, keys: &[Changed<'_>]) -> Conflict {
    let citer = case.citer();
    let one = |Changed { key, history }: &Changed<'_>| {
        let values: Vec<&str> = history.iter().map(|recorded| recorded.value.as_str()).collect();
        let shown = if let [first, .., last] = values.as_slice()
            && values.len() > SIDE_MAX
        {
            format!("{first} … {last} ({} values)", values.len())
        } else {
            values.join(" -> ")
        };
        format!("{key}: {shown}")
    };
    let words: Vec<String> = keys.iter().take(SIDE_MAX).map(one).collect();
    let more = keys.len().saturating_sub(SIDE_MAX);
    let more = if more > 0 { format!("; {more} more keys") } else { String::new() };
    let cite = |recorded: Option<&Recorded<'_>>| recorded.and_then(|recorded| citer.first(&recorded.row));
    Conflict {
        kind: ConflictKind::Value,
        words: case.mask(&format!("{place}: {}{more}", words.join("; "))),
        said: keys.iter().take(SIDE_MAX).filter_map(|changed| cite(changed.history.first())).collect(),
        shown: keys.iter().take(SIDE_MAX).filter_map(|changed| cite(changed.history.last())).collect(),
    }
}

/// Where a result comes from: the path of a file tool, or the command of a shell.
fn place_of(row: &Row<'_>) -> Option<String> {
    let named = row.half.iter().find_map(|piece| match piece.of {
        PieceOf::Argument(_, argument) => {
            let key = argument.pointer.trim_start_matches('/');
            matches!(key, "file_path" | "path" | "filename" | "absolute_path" | "command" | "cmd")
                .then_some(piece.text)
        }
        _ => None,
    })?;
    Some(named.lines().next().unwrap_or_default().to_owned())
}

/// Whether a key is one of a setting or measurement, and its value one that can be compared.
fn is_setting(key: &str, value: &str) -> bool {
    let named = key.len() > 2 && key.chars().any(|c| matches!(c, '_' | '-' | '.')) && !key.contains('/');
    let number = value.chars().next().is_some_and(|c| c.is_ascii_digit() || c == '-') && value.len() <= 32;
    let word = matches!(value, "true" | "false" | "on" | "off" | "yes" | "no");
    named && (number || word)
}
