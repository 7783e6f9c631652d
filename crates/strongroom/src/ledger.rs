//! The ledger and the comparison of claims, on sessions made ready to be asked.

use strongroom_core::error::{Error, Result};
use strongroom_evidence::answer::{self, Answer, Conflicts, Gap, Ledger};
use strongroom_evidence::query::{Query, QueryError};
use strongroom_evidence::session::HoleKind;

use crate::ask::{AskOptions, Asked};

/// What a gap in the records means for an operation that must be complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It was never there, or is somebody else's to give.
    Missing,
    /// An original that was kept is gone, damaged, or cannot be read.
    Damaged,
}

/// For each kind of hole: what it means. Others are [`Severity::Missing`].
const DAMAGED: &[HoleKind] =
    &[HoleKind::Unreadable, HoleKind::HashDiffers, HoleKind::NotRetrievable, HoleKind::OriginalGone];

/// What a hole of this kind means.
pub fn severity(kind: HoleKind) -> Severity {
    if DAMAGED.contains(&kind) { Severity::Damaged } else { Severity::Missing }
}

/// The worst of several gaps; `None` where there is none.
pub fn worst(gaps: &[Gap]) -> Option<Severity> {
    gaps.iter().map(|gap| severity(gap.kind)).max()
}

fn invalid(error: &QueryError) -> Error {
    Error::invalid_input(error.to_string())
}

impl Asked {
    /// The ledger rows that meet `query`, a query on `effects` or `changes`.
    ///
    /// # Errors
    /// As [`Asked::answer`].
    pub fn ledger(&self, query: &Query, options: AskOptions) -> Result<Ledger> {
        self.with_scope(options, |scope, options| answer::ledger(query, scope, options))?
            .map_err(|error| invalid(&error))
    }

    /// A sentence, weighed against the originals.
    ///
    /// # Errors
    /// As [`Asked::answer`]; `InvalidInput` of a sentence that states nothing a record could show.
    pub fn claim(&self, sentence: &str, options: AskOptions) -> Result<Answer> {
        self.with_scope(options, |scope, options| answer::weigh(sentence, scope, options))?
            .map_err(|error| invalid(&error))
    }

    /// Everything that disagrees, worst first.
    ///
    /// # Errors
    /// As [`Asked::answer`].
    pub fn conflicts(&self, options: AskOptions) -> Result<Conflicts> {
        self.with_scope(options, answer::conflicts)?.map_err(|error| invalid(&error))
    }
}
