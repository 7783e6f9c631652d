//! Predictions against what really happens.
#![expect(clippy::print_stdout, reason = "measurements print")]

mod calls;
#[cfg(unix)]
mod execution;
#[cfg(unix)]
mod lines;
mod scopes;
#[cfg(unix)]
mod tree;
