//! Predictions against what really happens.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "measurements print, of rows of known length"
)]

mod calls;
#[cfg(unix)]
mod execution;
#[cfg(unix)]
mod lines;
mod scopes;
#[cfg(unix)]
mod tree;
