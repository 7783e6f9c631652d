//! What evidence is demanded, for how long, and who waived what.

use std::fmt;

use crate::evidence::{CallRole, ClaimRole, EvidentialClass, SpanEvidence};
use crate::time::Duration;

/// An operation that the evidence must serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// What was done and seen.
    Audit,
    /// Which statements disagree.
    Contradiction,
    /// The exact calls in order.
    Replay,
    /// Which calls must not be repeated.
    ReExecution,
}

impl Operation {
    /// All operations; the default demand.
    pub const ALL: [Self; 4] = [Self::Audit, Self::Contradiction, Self::Replay, Self::ReExecution];

    /// The word for this operation in policy files and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Contradiction => "contradiction",
            Self::Replay => "replay",
            Self::ReExecution => "re-execution",
        }
    }

    /// Whether this operation needs the evidence of a span.
    ///
    /// | operation | protects |
    /// |---|---|
    /// | audit | structured, side-effecting |
    /// | contradiction | those, and claims in prose |
    /// | replay | every call |
    /// | re-execution | side-effecting calls, also possible ones |
    pub fn protects(self, span: &SpanEvidence) -> bool {
        let evidence = !matches!(span.class, EvidentialClass::Narrative(_));
        match self {
            Self::Audit => evidence,
            Self::Contradiction => evidence || span.claims == ClaimRole::Claims,
            Self::Replay => span.call == CallRole::Call,
            Self::ReExecution => {
                span.call == CallRole::Call && matches!(span.class, EvidentialClass::SideEffecting(_))
            }
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The name of a waiver.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaiverId(pub String);

/// A named decision to go without evidence of some spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// Its name.
    pub id: WaiverId,
    /// Who decided.
    pub author: String,
    /// Why.
    pub reason: String,
    /// Which spans it covers.
    pub covers: WaiverScope,
}

/// Which part of the demand a waiver switches off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaiverScope {
    /// Structured spans.
    Structured,
    /// Side-effecting spans.
    SideEffecting,
    /// Every span of the sources the policy names.
    Source,
    /// One operation, for every span.
    Operation(Operation),
}

impl WaiverScope {
    fn lifts(self, operation: Operation, class: EvidentialClass) -> bool {
        match self {
            Self::Structured => class == EvidentialClass::Structured,
            Self::SideEffecting => matches!(class, EvidentialClass::SideEffecting(_)),
            Self::Source => true,
            Self::Operation(waived) => waived == operation,
        }
    }
}

/// Whether and why evidence of a span is demanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// These operations demand it.
    Demanded(Vec<Operation>),
    /// Every operation that names it is waived; the waiver that lifted the last one.
    Waived(WaiverId),
    /// No operation names it.
    Unnamed,
}

/// Whether narrative needs provenance too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NarrativeRule {
    /// Narrative may be reclaimed without an original.
    Free,
    /// Narrative is judged as structured content.
    Demanded,
}

/// The evidence demand for one source: configuration, never content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// How long, counted from the compaction that relies on a span.
    pub horizon: Duration,
    /// The longest an original may take to be read back.
    pub latency_ms_max: u64,
    /// Whether narrative needs provenance too.
    pub narrative: NarrativeRule,
    /// Waivers, in order; of several that lift the same demand the first counts. All operations are demanded
    /// where no waiver lifts them.
    pub waivers: Vec<Waiver>,
    /// Whether the source is under a hold, with its reason. A hold switches every waiver off.
    pub hold: Option<String>,
}

impl Default for Demand {
    fn default() -> Self {
        Self {
            horizon: Duration::from_days(180),
            latency_ms_max: 2_000,
            narrative: NarrativeRule::Free,
            waivers: Vec::new(),
            hold: None,
        }
    }
}

impl Demand {
    /// Whether evidence of `span` is demanded.
    pub fn protection(&self, span: &SpanEvidence) -> Protection {
        let naming: Vec<Operation> = Operation::ALL.into_iter().filter(|op| op.protects(span)).collect();
        if naming.is_empty() {
            let demanded = self.hold.is_some() || self.narrative == NarrativeRule::Demanded;
            return if demanded { Protection::Demanded(vec![Operation::Audit]) } else { Protection::Unnamed };
        }
        let mut lifted = None;
        let mut demanded = Vec::new();
        for operation in naming {
            match self.waiver_of(operation, span) {
                Some(waiver) => lifted = Some(&waiver.id),
                None => demanded.push(operation),
            }
        }
        match lifted {
            Some(waiver) if demanded.is_empty() => Protection::Waived(waiver.clone()),
            _ => Protection::Demanded(demanded),
        }
    }

    /// The waiver that lifts `operation` from `span`; none while the source is under a hold.
    fn waiver_of(&self, operation: Operation, span: &SpanEvidence) -> Option<&Waiver> {
        if self.hold.is_some() {
            return None;
        }
        self.waivers.iter().find(|waiver| waiver.covers.lifts(operation, span.class))
    }
}
