//! A selection: gated spans with where each comes from.

use std::collections::BTreeSet;

use strongroom_core::judge::{GatedPlan, Ground, Permitted, Want};
use strongroom_core::plan::{Candidate, Plan, Wanted};
use strongroom_core::span::SpanIndex;

use crate::lineage::stub;

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A span of the transcript.
    Own(SpanIndex),
    /// A span of an earlier generation, by its place among those carried over.
    Carried(usize),
}

/// The candidates of a plan, each with its origin.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    list: Vec<Candidate>,
    origins: Vec<Origin>,
}

impl Candidates {
    pub(super) fn push(&mut self, candidate: Candidate, origin: Origin) {
        self.list.push(candidate);
        self.origins.push(origin);
    }

    /// The plan, and the origins in its order.
    pub(super) fn propose(self, first_free: u32) -> (Plan, Vec<Origin>) {
        (Plan::propose(self.list, first_free), self.origins)
    }
}

/// Spans that passed the gate, each with its origin.
#[derive(Debug)]
pub(super) struct Selection {
    gated: GatedPlan,
    origins: Vec<Origin>,
}

impl Selection {
    pub(super) fn new(gated: GatedPlan, origins: Vec<Origin>) -> Self {
        Self { gated, origins }
    }

    /// The gated spans.
    pub(super) fn gated(&self) -> &GatedPlan {
        &self.gated
    }

    /// The permitted spans with their origins, in plan order.
    pub(super) fn spans(&self) -> impl Iterator<Item = (&Permitted, Origin)> {
        self.gated.permitted().iter().filter_map(|permitted| Some((permitted, self.origin(permitted)?)))
    }

    fn origin(&self, permitted: &Permitted) -> Option<Origin> {
        self.origins.get(usize::try_from(permitted.index()).ok()?).copied()
    }

    /// The span of the transcript that `permitted` would reclaim.
    pub(super) fn own(&self, permitted: &Permitted) -> Option<SpanIndex> {
        match self.origin(permitted)? {
            Origin::Own(at) if permitted.candidate().wanted == Wanted::Reclaim => Some(at),
            Origin::Own(_) | Origin::Carried(_) => None,
        }
    }

    /// Keeps what `wanted` names.
    pub(super) fn select(self, wanted: &BTreeSet<u32>) -> Self {
        let Self { gated, origins } = self;
        let keep: BTreeSet<u32> = gated
            .permitted()
            .iter()
            .filter(|permitted| {
                let own = origins.get(usize::try_from(permitted.index()).unwrap_or(usize::MAX));
                permitted.candidate().wanted == Wanted::Reclaim && matches!(own, Some(Origin::Own(_)))
            })
            .map(|permitted| permitted.candidate().group)
            .filter(|group| !wanted.contains(group))
            .collect();
        let gated = gated.select(&|permitted| {
            if keep.contains(&permitted.candidate().group) { Want::Keep } else { Want::Reclaim }
        });
        Self { gated, origins }
    }

    /// Spans of the transcript that go, in order, with what stands in their place.
    pub(super) fn reclaimed(&self) -> Vec<(SpanIndex, String)> {
        let own = |permitted: &Permitted| Some((self.own(permitted)?, stub(permitted.ordinal())));
        let mut spans: Vec<(SpanIndex, String)> = self.gated.permitted().iter().filter_map(own).collect();
        spans.sort();
        spans
    }

    /// Spans of the transcript that stay with secrets hidden, with their numbers.
    pub(super) fn masked(&self) -> Vec<(SpanIndex, u32)> {
        self.spans()
            .filter_map(|(permitted, origin)| match origin {
                Origin::Own(at) if permitted.candidate().wanted == Wanted::Mask => {
                    Some((at, permitted.ordinal()))
                }
                Origin::Own(_) | Origin::Carried(_) => None,
            })
            .collect()
    }

    /// The places of the carried spans that it holds.
    pub(super) fn carried(&self) -> BTreeSet<usize> {
        self.spans()
            .filter_map(|(_, origin)| match origin {
                Origin::Carried(at) => Some(at),
                Origin::Own(_) => None,
            })
            .collect()
    }

    /// Whether a span of the transcript goes.
    pub(super) fn reclaims_anything(&self) -> bool {
        self.gated.permitted().iter().any(|permitted| self.own(permitted).is_some())
    }

    /// Whether a span in it relies on an original or a waiver.
    pub(super) fn relies_on_record(&self) -> bool {
        self.gated.permitted().iter().any(|permitted| !matches!(permitted.ground(), Ground::Narrative(_)))
    }
}
