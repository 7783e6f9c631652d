//! The gate: a truth table, not a score.
//!
//! | | original proved retrievable and retained long enough | otherwise |
//! |---|---|---|
//! | narrative | reclaim | reclaim |
//! | structured, side-effecting | reclaim, as an honest summary with its pointer | **refuse** |
//!
//! No size, age, recency or importance enters: the function does not receive any.

use std::fmt;

use crate::evidence::{EvidentialClass, NarrativeProof, Omissions, SpanEvidence};
use crate::policy::{Demand, Operation, Protection, WaiverId};
use crate::time::Timestamp;
use crate::vault::Retention;

/// What is known of the pointer to a span's original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointerState {
    /// There is no durable pointer, with the reason.
    Missing(String),
    /// There is a pointer and the original could not be read back unchanged, with the reason.
    Unretrievable(String),
    /// The original was just read back, compared and found equal.
    Proved {
        /// How long it is kept.
        retention: Retention,
        /// The longest a read may take, in milliseconds.
        latency_ms_max: u64,
    },
}

impl fmt::Display for PointerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(why) => write!(f, "no durable pointer: {why}"),
            Self::Unretrievable(why) => write!(f, "original not retrievable: {why}"),
            Self::Proved { .. } => f.write_str("original proved retrievable"),
        }
    }
}

/// In which form a permitted span may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReclaimForm {
    /// As an honest summary that counts what it leaves out.
    Summary,
    /// Whole and by name only, since what it holds cannot be counted.
    WholeByName,
}

/// Why a span may be reclaimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// It is proved to hold no evidence, and none is demanded of it.
    Narrative(NarrativeProof),
    /// Its original is in custody.
    InCustody(ReclaimForm),
    /// Somebody waived the evidence.
    Waived(WaiverId, ReclaimForm),
}

/// A refusal, with its reasons. A value, not an error: the span stays verbatim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRefused {
    /// The span's class.
    pub class: EvidentialClass,
    /// What is known of its original.
    pub pointer: PointerState,
    /// How long the original is kept; unknown where there is none.
    pub retained_until: Retention,
    /// How long it may be needed.
    pub needed_until: Timestamp,
    /// The operations that demand it.
    pub demanded_by: Vec<Operation>,
    /// The condition that failed.
    pub reason: RefusalReason,
}

/// The condition that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalReason {
    /// No durable pointer to an original.
    NoPointer,
    /// The original could not be read back unchanged.
    NotRetrievable,
    /// Reading it back may take longer than allowed.
    TooSlow,
    /// The original may expire before the evidence is needed.
    RetentionTooShort,
}

impl RefusalReason {
    /// The words for this reason in output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoPointer => "no durable pointer to an original",
            Self::NotRetrievable => "original not retrievable",
            Self::TooSlow => "original not retrievable in time",
            Self::RetentionTooShort => "original may expire before the evidence is needed",
        }
    }
}

impl fmt::Display for CompactionRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} span refused: {}; {}", self.class, self.reason.words(), self.pointer)
    }
}

/// Decides whether a span may be reclaimed lossily. Pure: the same facts give the same verdict.
///
/// # Errors
/// [`CompactionRefused`] when evidence of the span is demanded and its original is not proved retrievable in
/// time and retained until `now` plus the horizon.
pub fn may_reclaim_lossily(
    span: &SpanEvidence,
    pointer: &PointerState,
    demand: &Demand,
    now: Timestamp,
) -> Result<Permit, CompactionRefused> {
    let form = match span.holds {
        Omissions::Nameable(_) => ReclaimForm::Summary,
        Omissions::Unnameable(_) => ReclaimForm::WholeByName,
    };
    let (demanded_by, waiver) = match demand.protection(span) {
        Protection::Unnamed => match (span.class, form) {
            (EvidentialClass::Narrative(proof), ReclaimForm::Summary) => return Ok(Permit::Narrative(proof)),
            // What was not fully examined is not proved to be narrative.
            _ => (vec![Operation::Audit], None),
        },
        Protection::Demanded(operations) => (operations, None),
        Protection::Waived(waiver) => (Vec::new(), Some(waiver)),
    };
    let needed_until = now + demand.horizon;
    let (reason, retained_until) = match *pointer {
        PointerState::Missing(_) => (RefusalReason::NoPointer, Retention::Unknown),
        PointerState::Unretrievable(_) => (RefusalReason::NotRetrievable, Retention::Unknown),
        PointerState::Proved { latency_ms_max, retention } if latency_ms_max > demand.latency_ms_max => {
            (RefusalReason::TooSlow, retention)
        }
        PointerState::Proved { retention, .. } if retention.covers(needed_until) => {
            return Ok(Permit::InCustody(form));
        }
        PointerState::Proved { retention, .. } => (RefusalReason::RetentionTooShort, retention),
    };
    match waiver {
        Some(waiver) => Ok(Permit::Waived(waiver, form)),
        None => Err(CompactionRefused {
            class: span.class,
            pointer: pointer.clone(),
            retained_until,
            needed_until,
            demanded_by,
            reason,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{AtomCounts, CallRole, Certainty, ClaimRole};
    use crate::policy::{NarrativeRule, Waiver, WaiverScope};
    use crate::time::Duration;

    const NOW: Timestamp = Timestamp::from_ms(1_000);
    const PROOF: NarrativeProof = NarrativeProof::by_rule("test");

    fn classes() -> [EvidentialClass; 4] {
        [
            EvidentialClass::Narrative(PROOF),
            EvidentialClass::Structured,
            EvidentialClass::SideEffecting(Certainty::Possible),
            EvidentialClass::SideEffecting(Certainty::Definite),
        ]
    }

    fn span(class: EvidentialClass) -> SpanEvidence {
        SpanEvidence {
            class,
            holds: Omissions::Nameable(AtomCounts::default()),
            call: CallRole::NotCall,
            claims: ClaimRole::NoClaims,
            pinned: None,
        }
    }

    fn proved(retention: Retention) -> PointerState {
        PointerState::Proved { retention, latency_ms_max: 50 }
    }

    /// Every pointer state with the reason it gives where evidence is demanded; `None` is custody.
    fn pointers(demand: &Demand) -> Vec<(PointerState, Option<RefusalReason>)> {
        let needed = NOW + demand.horizon;
        let before = Timestamp::from_ms(needed.as_ms() - 1);
        vec![
            (PointerState::Missing("never stored".into()), Some(RefusalReason::NoPointer)),
            (PointerState::Unretrievable("hash differs".into()), Some(RefusalReason::NotRetrievable)),
            (
                PointerState::Proved { retention: Retention::Indefinite, latency_ms_max: 2_001 },
                Some(RefusalReason::TooSlow),
            ),
            (proved(Retention::Unknown), Some(RefusalReason::RetentionTooShort)),
            (proved(Retention::Until(before)), Some(RefusalReason::RetentionTooShort)),
            (proved(Retention::Until(needed)), None),
            (proved(Retention::Indefinite), None),
        ]
    }

    fn waiver(covers: WaiverScope) -> Waiver {
        Waiver { id: WaiverId("w".into()), author: "ops".into(), reason: "cost".into(), covers }
    }

    #[test]
    fn every_cell_of_the_table() {
        let demand = Demand::default();
        for (pointer, reason) in pointers(&demand) {
            for class in classes() {
                let verdict = may_reclaim_lossily(&span(class), &pointer, &demand, NOW);
                match (class, reason) {
                    (EvidentialClass::Narrative(proof), _) => {
                        assert_eq!(verdict, Ok(Permit::Narrative(proof)));
                    }
                    (_, None) => assert_eq!(verdict, Ok(Permit::InCustody(ReclaimForm::Summary))),
                    (_, Some(reason)) => {
                        let refused = verdict.unwrap_err();
                        assert_eq!((refused.class, refused.reason), (class, reason));
                        assert_eq!(refused.needed_until, NOW + demand.horizon);
                        assert!(refused.demanded_by.contains(&Operation::Audit));
                    }
                }
            }
        }
    }

    #[test]
    fn unnameable_spans_go_whole_and_by_name_or_stay() {
        let demand = Demand::default();
        for class in classes() {
            let span = SpanEvidence { holds: Omissions::Unnameable("sealed".into()), ..span(class) };
            let kept = may_reclaim_lossily(&span, &PointerState::Missing("x".into()), &demand, NOW);
            assert_eq!(kept.unwrap_err().reason, RefusalReason::NoPointer, "{class}");
            let named = may_reclaim_lossily(&span, &proved(Retention::Indefinite), &demand, NOW);
            assert_eq!(named, Ok(Permit::InCustody(ReclaimForm::WholeByName)), "{class}");
        }
    }

    #[test]
    fn demanded_narrative_is_judged_as_structured() {
        let missing = PointerState::Missing("x".into());
        let narrative = span(EvidentialClass::Narrative(PROOF));
        let demanded = Demand { narrative: NarrativeRule::Demanded, ..Demand::default() };
        let held = Demand { hold: Some("case 7".into()), ..Demand::default() };
        for demand in [&demanded, &held] {
            assert!(may_reclaim_lossily(&narrative, &missing, demand, NOW).is_err());
            let custody = may_reclaim_lossily(&narrative, &proved(Retention::Indefinite), demand, NOW);
            assert_eq!(custody, Ok(Permit::InCustody(ReclaimForm::Summary)));
        }
    }

    #[test]
    fn claims_in_narrative_prose_are_protected_by_contradiction() {
        let claiming = SpanEvidence { claims: ClaimRole::Claims, ..span(EvidentialClass::Narrative(PROOF)) };
        let refused =
            may_reclaim_lossily(&claiming, &PointerState::Missing("x".into()), &Demand::default(), NOW)
                .unwrap_err();
        assert_eq!(refused.demanded_by, [Operation::Contradiction]);
    }

    #[test]
    fn each_operation_protects_what_its_row_says() {
        let waive_all_but = |kept: Operation| Demand {
            waivers: Operation::ALL
                .into_iter()
                .filter(|&op| op != kept)
                .map(|op| waiver(WaiverScope::Operation(op)))
                .collect(),
            ..Demand::default()
        };
        let missing = PointerState::Missing("x".into());
        for (operation, structured, call, effect) in [
            (Operation::Audit, true, true, true),
            (Operation::Contradiction, true, true, true),
            (Operation::Replay, false, true, true),
            (Operation::ReExecution, false, false, true),
        ] {
            let demand = waive_all_but(operation);
            let refused = |class, call| {
                let span = SpanEvidence { call, ..span(class) };
                may_reclaim_lossily(&span, &missing, &demand, NOW).is_err()
            };
            assert_eq!(
                refused(EvidentialClass::Structured, CallRole::NotCall),
                structured,
                "{operation} structured"
            );
            assert_eq!(refused(EvidentialClass::Structured, CallRole::Call), call, "{operation} call");
            for certainty in [Certainty::Possible, Certainty::Definite] {
                let class = EvidentialClass::SideEffecting(certainty);
                assert_eq!(refused(class, CallRole::Call), effect, "{operation} effect");
            }
        }
    }

    #[test]
    fn waivers_lift_the_demand_by_name_and_never_under_a_hold() {
        let missing = PointerState::Missing("x".into());
        for (covers, structured, effect) in [
            (WaiverScope::Structured, true, false),
            (WaiverScope::SideEffecting, false, true),
            (WaiverScope::Source, true, true),
        ] {
            let demand = Demand { waivers: vec![waiver(covers)], ..Demand::default() };
            let held = Demand { hold: Some("case 7".into()), ..demand.clone() };
            for (class, lifted) in [
                (EvidentialClass::Structured, structured),
                (EvidentialClass::SideEffecting(Certainty::Definite), effect),
            ] {
                let verdict = may_reclaim_lossily(&span(class), &missing, &demand, NOW);
                let waived = Ok(Permit::Waived(WaiverId("w".into()), ReclaimForm::Summary));
                assert_eq!(verdict == waived, lifted, "{covers:?} {class}");
                assert!(may_reclaim_lossily(&span(class), &missing, &held, NOW).is_err());
                // An original that is in custody is used whatever is waived.
                let custody = may_reclaim_lossily(&span(class), &proved(Retention::Indefinite), &demand, NOW);
                assert_eq!(custody, Ok(Permit::InCustody(ReclaimForm::Summary)));
            }
        }
    }

    #[test]
    fn a_longer_horizon_never_turns_a_refusal_into_a_permit() {
        let retained = proved(Retention::Until(NOW + Duration::from_days(30)));
        let verdict = |days| {
            let demand = Demand { horizon: Duration::from_days(days), ..Demand::default() };
            may_reclaim_lossily(&span(EvidentialClass::Structured), &retained, &demand, NOW).is_ok()
        };
        assert_eq!([1, 30, 31, 180].map(verdict), [true, true, false, false]);
    }
}
