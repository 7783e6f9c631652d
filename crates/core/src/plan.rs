//! The plan: which spans are wanted for reclaiming. Nothing is decided here.

use crate::digest::{ContentKey, SpanHash};
use crate::evidence::SpanEvidence;
use crate::vault::Location;

/// What is wanted of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// Its content goes; the summary stands for it.
    Reclaim,
    /// It stays, with secrets in it hidden.
    Mask,
}

/// A span wanted for reclaiming or masking.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What is wanted of it.
    pub wanted: Wanted,
    /// Candidates with the same number move together or not at all.
    pub group: u32,
    /// The number it already has under an earlier tag; such numbers never change.
    pub carried: Option<u32>,
    /// The facts on which the gate decides.
    pub evidence: SpanEvidence,
    /// Where its original is or will be; `None` when the original is nowhere.
    pub location: Option<Location>,
    /// The hash over its bytes.
    pub hash: SpanHash,
    /// The hash over what it says.
    pub content: ContentKey,
}

/// Candidates in the order in which they are wanted.
#[derive(Debug)]
pub struct Plan {
    candidates: Vec<Candidate>,
    first_free: u32,
}

impl Plan {
    /// Proposes `candidates`; of pinned spans only masks are wanted. Spans that are not carried over are numbered
    /// from `first_free`, which is at least 1.
    pub fn propose(candidates: Vec<Candidate>, first_free: u32) -> Self {
        let candidates = candidates.into_iter().filter(may_be_wanted).collect();
        Self { candidates, first_free: first_free.max(1) }
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    pub(crate) fn into_parts(self) -> (Vec<Candidate>, u32) {
        (self.candidates, self.first_free)
    }
}

fn may_be_wanted(candidate: &Candidate) -> bool {
    candidate.wanted == Wanted::Mask || candidate.evidence.pinned.is_none()
}
