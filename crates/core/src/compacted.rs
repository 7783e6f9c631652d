//! The compacted form: made from a bound summary and nothing else.
//!
//! ```compile_fail
//! use strongroom_core::{compacted::Compacted, summary::CheckedSummary};
//! fn unbound(summary: CheckedSummary) -> Compacted {
//!     Compacted::splice(summary, |summary| Ok(summary.text().as_bytes().to_vec())).unwrap()
//! }
//! ```
//!
//! ```
//! use strongroom_core::{bind::Bound, compacted::Compacted};
//! fn bound(bound: Bound) -> Compacted {
//!     Compacted::splice(bound, |bound| Ok(bound.summary().as_bytes().to_vec())).unwrap()
//! }
//! ```

use crate::bind::Bound;
use crate::error::Result;
use crate::vault::CompactionRecord;

/// Compacted bytes in the vendor's own format.
#[derive(Debug)]
pub struct Compacted {
    bytes: Vec<u8>,
    bound: Bound,
}

impl Compacted {
    /// Splices the bound summary into the native format.
    ///
    /// # Errors
    /// What `splice` returns.
    pub fn splice(bound: Bound, splice: impl FnOnce(&Bound) -> Result<Vec<u8>>) -> Result<Self> {
        let bytes = splice(&bound)?;
        Ok(Self { bytes, bound })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The summary's text.
    pub fn summary(&self) -> &str {
        self.bound.summary()
    }

    /// Bytes that make derived ids unique to this compaction.
    pub fn seed(&self) -> Vec<u8> {
        self.bound.seed()
    }

    /// The durable record, where one was needed.
    pub const fn record(&self) -> Option<&CompactionRecord> {
        self.bound.record()
    }
}
