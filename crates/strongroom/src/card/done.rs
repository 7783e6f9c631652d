//! What was done and must not be done again.

use std::collections::BTreeMap;

use strongroom_core::evidence::Certainty;
use strongroom_evidence::answer::{LedgerRow, Match};

use super::Facts;
use super::text::{Keep, Section, head};

/// The longest target, in characters.
const TARGET_CHARS_MAX: usize = 110;

/// How far an effect reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Other people, machines or services see it, or it lies outside the project: doing it again does harm.
    Far,
    /// It is recorded in the project's own history.
    Kept,
    /// It lies in the project.
    Near,
}

/// For kinds and words above them: how far they reach. The first line that fits counts; kinds without a line are not
/// listed, since doing them again is harmless or what they did is not known.
const REACH: &[(&str, Reach)] = &[
    ("vcs.remote", Reach::Far),
    ("vcs.history", Reach::Far),
    ("vcs.commit", Reach::Kept),
    ("net.send", Reach::Far),
    ("db", Reach::Far),
    ("cloud", Reach::Far),
    ("tool.mutate", Reach::Far),
    ("svc", Reach::Far),
    ("sys", Reach::Far),
    ("pkg", Reach::Far),
    ("proc.signal", Reach::Far),
    ("fs", Reach::Near),
];

/// Scopes whose files are the project's own.
const OWN: &[&str] = &["project", "worktree"];

/// The scope whose files nobody misses.
const TEMP: &str = "temp";

fn reach(row: &LedgerRow) -> Option<Reach> {
    let reach = REACH.iter().find(|(word, _)| row.kind.is_under(word)).map(|(_, reach)| *reach)?;
    match reach {
        Reach::Near if row.scope == TEMP => None,
        Reach::Near if !OWN.contains(&row.scope.as_str()) => Some(Reach::Far),
        reach => Some(reach),
    }
}

/// Effects that are the same to a reader: one line.
#[derive(Debug)]
struct Line<'r> {
    first: usize,
    last: &'r LedgerRow,
    times: usize,
}

/// The effects that were done, the farthest-reaching first.
pub(super) fn section(rows: &[LedgerRow], facts: &Facts) -> Section {
    let mut lines: BTreeMap<(Reach, String), Line<'_>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(reach) = reach(row).filter(|_| row.outcome.is_positive()) else { continue };
        let line = lines.entry((reach, what(row, facts))).or_insert(Line { first: at, last: row, times: 0 });
        line.last = row;
        line.times += 1;
    }
    let mut ordered: Vec<(&(Reach, String), &Line<'_>)> = lines.iter().collect();
    ordered.sort_by_key(|((reach, _), line)| (*reach, line.first));
    Section {
        title: "Done (outcome as reported by the tools; do not repeat)",
        lines: ordered.into_iter().map(|((_, what), line)| words(what, line)).collect(),
        keep: Keep::First,
        more: "list effects",
        none: "no lasting effect was found",
        share: 35,
    }
}

/// What an effect did, in words.
pub(super) fn what(row: &LedgerRow, facts: &Facts) -> String {
    let unsure = row.certainty == Certainty::Possible || row.standing == Match::Possible;
    let quote = row.citation.as_ref().map(|citation| citation.quote.as_str());
    let target = match quote {
        Some(quote) if row.target == "?" || row.target == row.program => quote,
        _ => facts.short(&row.target),
    };
    let scope = if OWN.contains(&row.scope.as_str()) { String::new() } else { format!(" [{}]", row.scope) };
    let target = head(target, TARGET_CHARS_MAX);
    format!("{}{} {target}{scope}", row.kind.word(), if unsure { "?" } else { "" })
}

fn words(what: &str, line: &Line<'_>) -> String {
    let times = if line.times > 1 { format!(", {} times", line.times) } else { String::new() };
    let agent = line.last.call.agent.as_deref().map(|agent| format!(" by agent {agent}"));
    let back = line.last.rolled_back.as_ref().map(|back| format!("; rolled back: {}", back.how));
    format!(
        "{what}: {}{times} ({}{}){}",
        line.last.outcome.word(),
        line.last.call.locator,
        agent.unwrap_or_default(),
        back.unwrap_or_default()
    )
}
