//! The compacted form: made from a bound summary and nothing else.
//!
//! ```compile_fail
//! use strongroom_core::compacted::Compacted;
//! let compacted = Compacted { bytes: Vec::new(), bound: todo!() };
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
