//! The module `strongroom._native`: JSON text in, one call of the facade, JSON text out.
//!
//! It gives the interpreter away while it works. Everything that a Python program sees (types, messages of the
//! frameworks, clock) is made by the package around it, in `python/strongroom`.

mod failure;

mod request;

mod reply;

mod summarizer;

mod archive;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _native {
    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use super::archive::Archive;
    #[pymodule_export]
    use super::failure::Failure;
    #[pymodule_export]
    use super::{count_tokens, run, usual_dir, usual_policy};
}

/// Runs a command line, the program's name first, and returns its exit code. `program` is what an agent's settings
/// call to run it again.
#[pyfunction]
fn run(py: Python<'_>, words: Vec<OsString>, program: Option<PathBuf>) -> u8 {
    py.detach(move || strongroom_cli::run(&words, program))
}

/// The archive's directory where none is named.
#[pyfunction]
fn usual_dir() -> PyResult<PathBuf> {
    strongroom_cli::usual_dir().map_err(|error| failure::raised(&error))
}

/// The policy file where none is named.
#[pyfunction]
fn usual_policy() -> Option<PathBuf> {
    strongroom_cli::usual_policy()
}

/// The tokens of a text, by `o200k_base`.
#[pyfunction]
fn count_tokens(py: Python<'_>, text: &str) -> u64 {
    py.detach(|| strongroom::tokens::count(text).0)
}
