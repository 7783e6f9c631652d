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

/// Calls that keep a plan item by item: the tool that makes an item, whose result names its number, and the tool that
/// changes its state.
const MAKES: &str = "TaskCreate";
const CHANGES: &str = "TaskUpdate";

/// An item of the agent's own list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    words: String,
    state: String,
    place: String,
}

/// What of the agent's own list is not finished.
pub(super) fn unfinished(scope: &Scope<'_>, masker: &Masker<'_>) -> Vec<String> {
    let mut list: Vec<Item> = Vec::new();
    let mut tasks: BTreeMap<u64, Item> = BTreeMap::new();
    let main = scope.sources.iter().filter(|source| source.agent.is_none());
    for span in main.flat_map(|source| &source.spans) {
        let blocks = &span.content.blocks;
        for (block, tool, arguments) in blocks.iter().filter_map(call) {
            let place = || block.record.line.map_or(block.record.pointer.clone(), |line| format!("L{line}"));
            if let Some(items) = plan(arguments) {
                let item = |(words, state)| Item { words, state, place: place() };
                list = items.into_iter().map(item).collect();
            } else if tool == MAKES {
                let number = blocks.iter().filter(|block| block.arguments.is_none()).find_map(made);
                let words = arguments.string("/subject").unwrap_or_default().to_owned();
                let item = Item { words, state: "pending".to_owned(), place: place() };
                tasks.extend(number.map(|number| (number, item)));
            } else if tool == CHANGES {
                let number = arguments.string("/taskId").and_then(|number| number.parse().ok());
                let task = number.and_then(|number: u64| tasks.get_mut(&number));
                if let Some((task, state)) = task.zip(arguments.string("/status")) {
                    state.clone_into(&mut task.state);
                }
            }
        }
    }
    let open = list.iter().chain(tasks.values()).filter(|item| !FINISHED.contains(&item.state.as_str()));
    open.map(|item| {
        let words = head(&masker.mask(&item.words), ITEM_CHARS_MAX);
        format!("planned, {}: {words} ({}, the agent's own list)", item.state.replace('_', " "), item.place)
    })
    .collect()
}

/// A call with its tool and arguments.
fn call<'b, 's>(block: &'b BlockContent<'s>) -> Option<(&'b BlockContent<'s>, &'b str, &'b ArgumentTree)> {
    let BlockKind::Call(facts) = &block.block.kind else { return None };
    Some((block, facts.tool.as_str(), block.arguments.as_ref()?))
}

/// The number in `Task #3 created`.
fn made(result: &BlockContent<'_>) -> Option<u64> {
    let (_, behind) = result.text.split_once('#')?;
    behind.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
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
