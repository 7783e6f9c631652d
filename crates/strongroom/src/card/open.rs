//! What is open: what failed and was not seen to succeed later, what nobody knows the end of, what is still planned.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::transcript::{ArgumentTree, BlockKind, Scalar};
use strongroom_evidence::answer::{Gap, LedgerRow, Masker};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::effect::Outcome;
use strongroom_evidence::session::Scope;

use super::Facts;
use super::done::what;
use super::text::{Keep, Section, head};

/// The longest item of a plan, in characters.
const ITEM_CHARS_MAX: usize = 160;

/// How agents write a plan into the arguments of a call: where its items stand, and the members that hold an item's
/// words and its state.
const PLANS: &[(&str, &str, &str)] =
    &[("/todos/", "content", "status"), ("/todos/", "title", "status"), ("/plan/", "step", "status")];

/// States of an item that need nothing more.
const FINISHED: &[&str] = &["completed", "complete", "done", "cancelled", "canceled", "deleted"];

/// How the agent's last plan stands: its items that are not finished.
pub(super) fn unfinished(scope: &Scope<'_>, masker: &Masker<'_>) -> Vec<String> {
    let main = scope.sources.iter().filter(|source| source.agent.is_none());
    let calls = main.flat_map(|source| &source.spans).flat_map(|span| &span.content.blocks);
    let mut last: Option<(String, Vec<(String, String)>)> = None;
    for block in calls.filter(|block| matches!(block.block.kind, BlockKind::Call(_))) {
        if let Some(plan) = block.arguments.as_ref().and_then(plan) {
            last = Some((place(block), plan));
        }
    }
    let Some((place, items)) = last else { return Vec::new() };
    let open = items.into_iter().filter(|(_, state)| !FINISHED.contains(&state.as_str()));
    open.map(|(item, state)| {
        let item = head(&masker.mask(&item), ITEM_CHARS_MAX);
        format!("planned, {}: {item} ({place}, the agent's own list)", state.replace('_', " "))
    })
    .collect()
}

fn place(block: &BlockContent<'_>) -> String {
    block.record.line.map_or_else(|| block.record.pointer.clone(), |line| format!("L{line}"))
}

/// The items of a plan with their states; `None` where the arguments hold none.
fn plan(arguments: &ArgumentTree) -> Option<Vec<(String, String)>> {
    PLANS.iter().find_map(|(folder, words, state)| {
        let mut items: BTreeMap<usize, (Option<String>, Option<String>)> = BTreeMap::new();
        for leaf in &arguments.leaves {
            let Some((number, member)) =
                leaf.pointer.strip_prefix(folder).and_then(|rest| rest.split_once('/'))
            else {
                continue;
            };
            let (Ok(number), Scalar::String(text)) = (number.parse::<usize>(), &leaf.value) else { continue };
            let item = items.entry(number).or_default();
            if member == *words {
                item.0 = Some(text.clone());
            } else if member == *state {
                item.1 = Some(text.clone());
            }
        }
        let read: Vec<(String, String)> =
            items.into_values().filter_map(|(words, state)| words.zip(state)).collect();
        (!read.is_empty()).then_some(read)
    })
}

/// Outcomes that leave something open.
const OPEN: &[Outcome] = &[Outcome::Failed, Outcome::Interrupted, Outcome::Unknown];

/// Effects that were tried and not seen to succeed, the last first.
pub(super) fn not_done(rows: &[LedgerRow], facts: &Facts) -> Vec<String> {
    let mut closed: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut retried: BTreeSet<usize> = BTreeSet::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut lines = Vec::new();
    for row in rows.iter().rev() {
        let own = (row.kind.word(), row.program.as_str(), row.target.as_str());
        if row.outcome.is_positive() {
            closed.insert(own);
        }
        if row.outcome.is_positive() || retried.contains(&row.seq) {
            retried.extend(row.retry_of);
            continue;
        }
        let what = format!("{} with {}", what(row, facts), row.program);
        if OPEN.contains(&row.outcome) && !closed.contains(&own) && told.insert(what.clone()) {
            let agent = row.call.agent.as_deref().map(|agent| format!(" by agent {agent}"));
            let agent = agent.unwrap_or_default();
            lines.push(format!("{}: {what} ({}{agent})", row.outcome.word(), row.call.locator));
        }
    }
    lines
}

/// What could hide an effect.
pub(super) fn unseen(gaps: &[Gap]) -> Section {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    gaps.iter().for_each(|gap| *kinds.entry(gap.kind.words()).or_default() += 1);
    let all: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    Section {
        title: "Not seen by this card, and able to hide an effect",
        lines: if all.is_empty() { Vec::new() } else { vec![all.join(", ")] },
        keep: Keep::First,
        more: "",
        none: "",
        share: 2,
    }
}
