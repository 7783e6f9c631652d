//! Judgement: the truth table, once per span, on facts.

use crate::deposit::{Deposited, Receipt};
use crate::evidence::NarrativeProof;
use crate::gate::{CompactionRefused, Permit, PointerState, ReclaimForm, may_reclaim_lossily};
use crate::plan::Candidate;
use crate::policy::{Demand, WaiverId};
use crate::time::Timestamp;

/// Why a span may go, with the proof in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ground {
    /// It holds no evidence.
    Narrative(NarrativeProof),
    /// Its original is in custody.
    InCustody(Receipt),
    /// Somebody waived the evidence.
    Waived(WaiverId),
}

/// A candidate that may be reclaimed.
#[derive(Debug, Clone)]
pub struct Permitted {
    candidate: Candidate,
    ground: Ground,
    form: ReclaimForm,
    index: u32,
    ordinal: u32,
}

impl Permitted {
    /// The candidate.
    pub const fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// Why it may go.
    pub const fn ground(&self) -> &Ground {
        &self.ground
    }

    /// In which form.
    pub const fn form(&self) -> ReclaimForm {
        self.form
    }

    /// Its index among the proposed candidates.
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Its number under the tag.
    pub const fn ordinal(&self) -> u32 {
        self.ordinal
    }
}

/// A candidate that stays verbatim, with the reasons.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The candidate.
    pub candidate: Candidate,
    /// Its index among the proposed candidates.
    pub index: u32,
    /// Why it stays.
    pub verdict: Withheld,
}

/// Why a candidate stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withheld {
    /// The gate refused it.
    Refused(CompactionRefused),
    /// The gate refused a span that it can only move with.
    WithGroup,
}

/// Candidates after judgement.
#[derive(Debug)]
pub struct GatedPlan {
    permitted: Vec<Permitted>,
    refused: Vec<Refused>,
    first_free: u32,
}

impl Deposited {
    /// Judges every candidate by the truth table; a group goes only whole.
    pub fn judge(self, demand: &Demand, now: Timestamp) -> GatedPlan {
        let mut permitted: Vec<Permitted> = Vec::new();
        let mut refused: Vec<Refused> = Vec::new();
        let (items, first_free) = self.into_parts();
        for ((candidate, deposit), index) in items.into_iter().zip(0u32..) {
            let state = deposit.as_ref().map_or_else(Clone::clone, Receipt::state);
            match may_reclaim_lossily(&candidate.evidence, &state, demand, now) {
                Ok(permit) => match ground(permit, deposit) {
                    Some((ground, form)) => {
                        permitted.push(Permitted { candidate, ground, form, index, ordinal: 0 });
                    }
                    None => refused.push(Refused { candidate, index, verdict: Withheld::WithGroup }),
                },
                Err(verdict) => {
                    refused.push(Refused { candidate, index, verdict: Withheld::Refused(verdict) });
                }
            }
        }
        let mut stuck: Vec<u32> = refused.iter().map(|refused| refused.candidate.group).collect();
        stuck.sort_unstable();
        let (withheld, permitted): (Vec<Permitted>, Vec<Permitted>) = permitted
            .into_iter()
            .partition(|permitted| stuck.binary_search(&permitted.candidate.group).is_ok());
        refused.extend(withheld.into_iter().map(|Permitted { candidate, index, .. }| Refused {
            candidate,
            index,
            verdict: Withheld::WithGroup,
        }));
        refused.sort_by_key(|refused| refused.index);
        GatedPlan { permitted, refused, first_free }.numbered()
    }
}

fn ground(permit: Permit, deposit: Result<Receipt, PointerState>) -> Option<(Ground, ReclaimForm)> {
    match (permit, deposit) {
        (Permit::Narrative(_), Ok(receipt)) => Some((Ground::InCustody(receipt), ReclaimForm::Summary)),
        (Permit::Narrative(proof), Err(_)) => Some((Ground::Narrative(proof), ReclaimForm::Summary)),
        (Permit::InCustody(form), Ok(receipt)) => Some((Ground::InCustody(receipt), form)),
        // The gate permits custody only on a proved pointer, which only a receipt gives.
        (Permit::InCustody(_), Err(_)) => None,
        (Permit::Waived(waiver, form), _) => Some((Ground::Waived(waiver), form)),
    }
}

impl GatedPlan {
    /// What may be reclaimed, in plan order.
    pub fn permitted(&self) -> &[Permitted] {
        &self.permitted
    }

    /// What stays verbatim, in plan order.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Keeps only the permitted candidates that `wanted` names; a group that is not wanted whole is left out.
    #[must_use]
    pub fn select(mut self, wanted: &dyn Fn(&Permitted) -> Want) -> Self {
        let mut left_out: Vec<u32> = self
            .permitted
            .iter()
            .filter(|permitted| wanted(permitted) == Want::Keep)
            .map(|permitted| permitted.candidate.group)
            .collect();
        left_out.sort_unstable();
        self.permitted.retain(|permitted| left_out.binary_search(&permitted.candidate.group).is_err());
        self.numbered()
    }

    /// Numbers the permitted spans: those carried over keep their number, the others follow.
    fn numbered(mut self) -> Self {
        let mut next = self.first_free;
        for permitted in &mut self.permitted {
            permitted.ordinal = permitted.candidate.carried.unwrap_or(next);
            next += u32::from(permitted.candidate.carried.is_none());
        }
        self
    }

    /// The permitted span with this number.
    pub fn by_ordinal(&self, ordinal: u32) -> Option<&Permitted> {
        self.permitted.iter().find(|permitted| permitted.ordinal == ordinal)
    }
}

/// Whether a permitted span is reclaimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Want {
    /// It is.
    Reclaim,
    /// It stays, although it may go.
    Keep,
}
