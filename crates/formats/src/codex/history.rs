//! What the agent would send: replaced histories, turns taken back, copies and outcomes.

use std::collections::{HashMap, VecDeque};

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, BlockRef, Branch, Bytes, CallFacts, Record, RecordKind, Speaker, Visibility,
};

use super::read::{Outcome, Reader, Step};
use crate::content::text;

/// The tool whose calls stand twice with different ids, or with one and without.
const WEB_SEARCH: &str = "web_search";

/// How much of the user's last messages an old compaction without a replacement history keeps: 20,000 tokens.
const KEPT_USER_BYTES: u64 = 80_000;

/// Sets visibility and branch of all records.
pub(super) fn resolve(records: &mut [Record], steps: &[Step]) {
    let replaced = |step: &Step| matches!(step, Step::Replaced | Step::Summarised);
    let base = steps.iter().rposition(replaced);
    for (at, (record, step)) in records.iter_mut().zip(steps).enumerate() {
        let before = base.is_some_and(|base| at < base);
        if before && (matches!(step, Step::Item { .. }) || replaced(step)) {
            past(record);
        }
    }
    if let Some(base) = base.filter(|&base| steps.get(base) == Some(&Step::Summarised)) {
        keep_last_prompts(records, steps, base);
    }
    roll_back(records, steps);
}

fn past(record: &mut Record) {
    for block in record.blocks.iter_mut().filter(|block| block.visibility == Visibility::Context) {
        block.visibility = Visibility::Past;
    }
}

/// An old compaction keeps the initial context and the user's last messages.
fn keep_last_prompts(records: &mut [Record], steps: &[Step], base: usize) {
    let mut budget = KEPT_USER_BYTES;
    for (record, step) in records.iter_mut().zip(steps).take(base).rev() {
        if !matches!(step, Step::Item { .. }) {
            continue;
        }
        for block in &mut record.blocks {
            let prompt =
                block.speaker == Speaker::User && matches!(block.kind, BlockKind::Text | BlockKind::Paste);
            let fits = prompt && block.range.len() <= budget;
            if fits {
                budget -= block.range.len();
            }
            if fits || (block.speaker == Speaker::Operator && block.kind == BlockKind::Text) {
                block.visibility = Visibility::Context;
            }
        }
    }
}

/// Takes back the last turns where the log says so.
fn roll_back(records: &mut [Record], steps: &[Step]) {
    let mut turns: Vec<usize> = Vec::new();
    let mut gone: Vec<(usize, usize)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Item { starts_turn: true } => turns.push(at),
            Step::Replaced | Step::Summarised => turns.clear(),
            Step::RolledBack(count) => {
                let kept = turns.len().saturating_sub(usize::try_from(*count).unwrap_or(usize::MAX));
                gone.extend(turns.get(kept).map(|&from| (from, at)));
                turns.truncate(kept);
            }
            Step::None | Step::Item { .. } => {}
        }
    }
    for (from, to) in gone {
        for (record, step) in records.iter_mut().zip(steps).take(to).skip(from) {
            if matches!(step, Step::Item { .. }) {
                past(record);
                record.branch = Branch::Abandoned;
            }
        }
    }
}

/// Completes results from the events that tell how their calls ended.
pub(super) fn apply_outcomes(records: &mut [Record], outcomes: &[Outcome]) {
    let by_call: HashMap<&str, &Outcome> =
        outcomes.iter().map(|outcome| (outcome.call_id.as_str(), outcome)).collect();
    for block in records.iter_mut().flat_map(|record| record.blocks.iter_mut()) {
        let BlockKind::Result(facts) = &mut block.kind else { continue };
        let Some(outcome) = facts.call_id.as_deref().and_then(|call| by_call.get(call)) else { continue };
        facts.exit_code = facts.exit_code.or(outcome.exit_code);
        facts.error = facts.error.or(outcome.error);
    }
}

/// What two blocks must share to be renditions of one event.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Said(Speaker, String),
    Thought(String),
    Called(String, String),
    /// A search of the web, by its action.
    Searched(String),
    Returned(String, String),
    /// Sealed or by value: the same bytes.
    Same(String),
}

/// Finds the items that an event or a replaced history repeats.
///
/// # Errors
/// As [`Bytes::read`].
pub(super) fn mark_copies(source: &dyn Bytes, records: &mut [Record], reader: &Reader) -> Result<()> {
    let mut twins = Twins::default();
    let mut history: HashMap<Key, Vec<BlockRef>> = HashMap::new();
    let mut copies: Vec<(BlockRef, BlockRef)> = Vec::new();
    for (record, at) in records.iter().zip(0u32..) {
        let step = usize::try_from(at).ok().and_then(|at| reader.steps.get(at));
        let is_event = record.label.starts_with("event_msg/") && record.kind == RecordKind::Message;
        let mut taken: HashMap<Key, usize> = HashMap::new();
        for (block, n) in record.blocks.iter().zip(0u32..) {
            let own = BlockRef { record: at, block: n };
            let Some(key) = key_of(source, block)? else { continue };
            match step {
                Some(Step::Item { .. }) => {
                    copies.extend(twins.meet(Side::Item, &key, own).map(|original| (own, original)));
                    history.entry(key).or_default().push(own);
                }
                Some(Step::Replaced) => {
                    // The same words said twice are two events: each stands for the earliest that is not yet taken.
                    let place = taken.entry(key.clone()).or_default();
                    let known = history.entry(key).or_default();
                    let original = known.get(*place).copied();
                    *place += 1;
                    if original.is_none() {
                        known.push(own);
                    }
                    copies.extend(original.map(|original| (own, original)));
                }
                _ if is_event => {
                    copies.extend(twins.meet(Side::Event, &key, own).map(|original| (own, original)));
                }
                _ => {}
            }
        }
    }
    copies.extend(named_copies(records, reader));
    let mut first: HashMap<BlockRef, BlockRef> = HashMap::new();
    copies.sort_unstable();
    for (own, original) in copies {
        let original = first.get(&original).copied().unwrap_or(original);
        first.insert(own, original);
        let record = usize::try_from(own.record).ok().and_then(|at| records.get_mut(at));
        let block =
            usize::try_from(own.block).ok().zip(record).and_then(|(at, record)| record.blocks.get_mut(at));
        if let Some(block) = block {
            block.copy_of = Some(original);
        }
    }
    Ok(())
}

/// Masked copies, which name the line they were copied from: the same parts in the same order.
fn named_copies(records: &[Record], reader: &Reader) -> Vec<(BlockRef, BlockRef)> {
    let mut found = Vec::new();
    for copied in &reader.copied {
        let at = records.partition_point(|record| record.range.end() <= copied.range.start());
        let number = records.partition_point(|record| record.line < Some(copied.line));
        let Some(record) = records.get(at).filter(|_| number < at) else { continue };
        let Some(original) =
            records.get(number).filter(|original| original.label.starts_with("response_item/"))
        else {
            continue;
        };
        let own = record.blocks.iter().zip(0u32..).filter(|(block, _)| copied.range.contains(block.range));
        for ((block, n), (first, m)) in own.zip(original.blocks.iter().zip(0u32..)) {
            if std::mem::discriminant(&block.kind) == std::mem::discriminant(&first.kind)
                && block.speaker == first.speaker
            {
                let wide = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                let first = BlockRef { record: wide(number), block: m };
                found.push((BlockRef { record: wide(at), block: n }, first));
            }
        }
    }
    found
}

/// Where a rendition stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Item,
    Event,
}

/// Items and events that say the same: each stands once in either, in any order.
#[derive(Default)]
struct Twins {
    waiting: HashMap<(Side, Key), VecDeque<BlockRef>>,
}

impl Twins {
    /// The rendition of the other side that `own` repeats; where there is none yet, `own` waits for it.
    fn meet(&mut self, side: Side, key: &Key, own: BlockRef) -> Option<BlockRef> {
        let other = if side == Side::Item { Side::Event } else { Side::Item };
        let twin = self.waiting.get_mut(&(other, key.clone())).and_then(VecDeque::pop_front);
        if twin.is_none() {
            self.waiting.entry((side, key.clone())).or_default().push_back(own);
        }
        twin
    }
}

fn key_of(source: &dyn Bytes, block: &Block) -> Result<Option<Key>> {
    let words = || -> Result<String> {
        let parts: Result<Vec<String>> = block.text.iter().map(|range| text(source, *range)).collect();
        Ok(parts?.join("\n"))
    };
    let raw = || -> Result<String> { Ok(String::from_utf8_lossy(&source.read(block.range)?).into_owned()) };
    Ok(match &block.kind {
        BlockKind::Text | BlockKind::Paste | BlockKind::Summary => Some(Key::Said(block.speaker, words()?)),
        BlockKind::Thinking if !block.text.is_empty() => Some(Key::Thought(words()?)),
        // The screen's event has an id that the item lacks.
        BlockKind::Call(CallFacts { tool, arguments: Arguments::Json(action), .. }) if tool == WEB_SEARCH => {
            Some(Key::Searched(String::from_utf8_lossy(&source.read(*action)?).into_owned()))
        }
        BlockKind::Call(facts) => {
            facts.id.clone().map(|id| raw().map(|raw| Key::Called(id, raw))).transpose()?
        }
        BlockKind::Result(facts) => {
            facts.call_id.clone().map(|id| raw().map(|raw| Key::Returned(id, raw))).transpose()?
        }
        BlockKind::Thinking | BlockKind::Attachment { .. } | BlockKind::Opaque(_) => Some(Key::Same(raw()?)),
        BlockKind::SideData { .. } => None,
    })
}
