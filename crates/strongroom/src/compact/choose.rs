//! Choosing, among the spans that may go, those that do: the oldest first, until the budget is met.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::transcript::{BlockKind, Form, Visibility};

use super::selection::Selection;
use crate::lineage::{Traced, stub};
use crate::reading::{ReadSpan, Reading};
use crate::tokens::{self, Tokens};

/// What a summary costs beside its lines: opening, pointer, omission counts.
pub(super) const FRAME: Tokens = Tokens(220);

/// Up to which share of the reclaimed originals, in thousandths, a token of the summary keeps more evidence than a
/// token of the newest spans kept as they are (docs/summary-quality.md).
const SUMMARY_SHARE: u64 = 80;

/// What the summary of originals of that many tokens is worth.
fn wanted(reclaimed: Tokens) -> Tokens {
    FRAME + Tokens(reclaimed.0.saturating_mul(SUMMARY_SHARE) / 1_000)
}

/// What spans cost now and would cost reclaimed.
pub(super) struct Costs<'a, 'r> {
    pub(super) reading: &'r Reading<'a>,
    pub(super) traced: &'r Traced,
    /// What the originals of spans carried over from earlier generations are worth.
    pub(super) carried: Tokens,
}

/// What was chosen.
pub(super) struct Choice {
    /// The spans that go, and those that are carried over or masked.
    pub(super) selection: Selection,
    /// What the summary may cost.
    pub(super) allowance: Tokens,
    /// The smallest size that can be reached, when it is over the budget.
    pub(super) smallest: Option<Tokens>,
    /// What the compacted form costs at most.
    pub(super) reached: Tokens,
}

impl Costs<'_, '_> {
    /// What everything of the context costs but summaries of ours.
    fn kept(&self) -> Tokens {
        let lineage = self.traced.lineage.as_ref();
        let counts =
            |span: &&ReadSpan<'_>| lineage.is_none_or(|lineage| !lineage.summaries.contains(&span.index()));
        self.reading.spans.iter().filter(counts).map(|span| span.tokens).sum()
    }

    /// What a span costs when it is reclaimed: nothing in the fold form, its shell in the elide form.
    fn shell(&self, span: &ReadSpan<'_>, ordinal: u32) -> Tokens {
        if self.reading.transcript.index().form == Form::Fold {
            return Tokens(0);
        }
        let blocks = span.content.blocks.iter().filter(|block| block.block.visibility == Visibility::Context);
        blocks
            .map(|block| match &block.block.kind {
                BlockKind::Call(_) => tokens::of_block(block.block, "", "{}"),
                BlockKind::Thinking | BlockKind::Opaque(_) => tokens::of_block(block.block, &block.text, ""),
                BlockKind::Attachment { .. }
                | BlockKind::Text
                | BlockKind::Paste
                | BlockKind::Result(_)
                | BlockKind::SideData { .. }
                | BlockKind::Summary => tokens::of_message(&stub(ordinal)),
            })
            .sum()
    }
}

/// Chooses whole groups, the oldest first.
pub(super) fn choose(costs: &Costs<'_, '_>, selection: Selection, budget: Tokens) -> Choice {
    let own: Vec<(u32, u64)> = selection
        .gated()
        .permitted()
        .iter()
        .filter_map(|permitted| {
            let span = costs.reading.span(selection.own(permitted)?)?;
            let gain = span.tokens.0.saturating_sub(costs.shell(span, permitted.ordinal()).0);
            Some((permitted.candidate().group, gain))
        })
        .collect();
    let mut gains: BTreeMap<u32, u64> = BTreeMap::new();
    for &(group, gain) in &own {
        *gains.entry(group).or_default() += gain;
    }
    let mut kept = costs.kept().0;
    let mut reclaimed = costs.carried;
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    for (group, _) in own {
        if kept + wanted(reclaimed).0 <= budget.0 {
            break;
        }
        if let Some(gain) = gains.remove(&group).filter(|&gain| gain > 0) {
            kept = kept.saturating_sub(gain);
            reclaimed += Tokens(gain);
            taken.insert(group);
        }
    }
    let smallest = (kept + FRAME.0 > budget.0).then_some(Tokens(kept + FRAME.0));
    // A summary that costs more than half of what it stands for gains too little.
    let allowance = Tokens(budget.0.saturating_sub(kept).max(FRAME.0).min(reclaimed.0 / 2));
    Choice { selection: selection.select(&taken), allowance, smallest, reached: Tokens(kept) + allowance }
}
