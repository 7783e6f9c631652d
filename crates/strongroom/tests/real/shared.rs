//! The folder with real transcripts beside the repository.

use std::path::{Path, PathBuf};

/// The folder `part` of `../shared`; `None`, told loudly, where it is not.
pub(crate) fn folder(part: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(part);
    let found = path.is_dir().then(|| path.clone());
    if found.is_none() {
        eprintln!("SKIPPED: {} does not exist, real transcripts were not tested", path.display());
    }
    found
}

/// All files below `path`, sorted.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
