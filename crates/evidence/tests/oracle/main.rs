//! Predictions against what really happens.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "measurements print, of rows of known length; a scratch tree that cannot be made ends the test"
)]

mod calls;
#[cfg(unix)]
mod execution;
#[cfg(unix)]
mod lines;
mod scopes;
#[cfg(unix)]
mod tree;
