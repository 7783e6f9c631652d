//! Choosing, among the spans that may go, those that do: the oldest first, until the budget is met.

use std::collections::BTreeMap;

use strongroom_core::judge::{GatedPlan, Permitted, Want};
use strongroom_core::plan::Wanted;
use strongroom_core::transcript::{BlockKind, Form, Visibility};

use super::Origin;
use crate::lineage::{Traced, stub};
use crate::reading::{ReadSpan, Reading};
use crate::tokens::{self, Tokens};

/// What a summary costs beside its lines: opening, pointer, omission counts.
pub(super) const FRAME: Tokens = Tokens(220);

/// What is left to the summary of a budget, as a divisor.
const SUMMARY_SHARE: u64 = 4;

/// What spans cost now and would cost reclaimed.
pub(super) struct Costs<'a, 'r> {
    pub(super) reading: &'r Reading<'a>,
    pub(super) traced: &'r Traced,
    pub(super) origins: &'r [Origin],
}

/// What was chosen.
pub(super) struct Choice {
    /// The spans that go, and those that are carried over or masked.
    pub(super) selected: GatedPlan,
    /// What the summary may cost.
    pub(super) allowance: Tokens,
    /// The smallest size that can be reached, when it is over the budget.
    pub(super) smallest: Option<Tokens>,
}

impl Costs<'_, '_> {
    fn own(&self, permitted: &Permitted) -> Option<&ReadSpan<'_>> {
        match self.origins.get(usize::try_from(permitted.index()).ok()?)? {
            Origin::Own(at) if permitted.candidate().wanted == Wanted::Reclaim => self.reading.span(*at),
            Origin::Own(_) | Origin::Carried(_) => None,
        }
    }

    /// What everything of the context costs but summaries of ours.
    fn kept(&self) -> Tokens {
        let lineage = self.traced.lineage.as_ref();
        let counts = |span: &&ReadSpan<'_>| lineage.is_none_or(|lineage| !lineage.summaries.contains(&span.index()));
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
pub(super) fn choose(costs: &Costs<'_, '_>, gated: GatedPlan, budget: Tokens) -> Choice {
    let mut gains: BTreeMap<u32, u64> = BTreeMap::new();
    for permitted in gated.permitted() {
        if let Some(span) = costs.own(permitted) {
            let gain = span.tokens.0.saturating_sub(costs.shell(span, permitted.ordinal()).0);
            *gains.entry(permitted.candidate().group).or_default() += gain;
        }
    }
    let mut kept = costs.kept().0;
    let target = (budget.0 / SUMMARY_SHARE).max(FRAME.0);
    let mut taken: Vec<u32> = Vec::new();
    for permitted in gated.permitted() {
        let group = permitted.candidate().group;
        if kept + target <= budget.0 {
            break;
        }
        if costs.own(permitted).is_some()
            && let Some(gain) = gains.remove(&group).filter(|&gain| gain > 0)
        {
            kept = kept.saturating_sub(gain);
            taken.push(group);
        }
    }
    taken.sort_unstable();
    let selected = gated.select(&|permitted| match costs.own(permitted) {
        Some(_) if taken.binary_search(&permitted.candidate().group).is_err() => Want::Keep,
        _ => Want::Reclaim,
    });
    let smallest = (kept + FRAME.0 > budget.0).then_some(Tokens(kept + FRAME.0));
    let allowance = Tokens(budget.0.saturating_sub(kept).max(FRAME.0));
    Choice { selected, allowance, smallest }
}
