//! The folder with real transcripts and labels beside the repository, and the files in it.

use std::path::{Path, PathBuf};

/// The place `path` in that folder; `None`, told loudly, where it is not.
#[expect(clippy::print_stdout, reason = "a test that was skipped must say so")]
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {} is not here", path.display());
    None
}
