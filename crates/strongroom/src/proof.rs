//! Proof bundles: one file that shows an original, a source or an answer to somebody who has nothing of ours.
//!
//! docs/proofs.md specifies the file. A bundle holds whole pieces of the originals it proves, unmasked.

mod bundle;
mod check;
mod collect;
mod spelling;
#[cfg(test)]
mod tests;

pub use bundle::{Draft, KIND, SEAL_WORD};
pub use check::{Checked, Shown, Signer, Statement, check};
pub use collect::{prove_answer, prove_pointer, prove_source};
