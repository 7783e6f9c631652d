//! Power failures, failing disks and planted bugs, over a simulated disk; docs/reliability.md has the figures.

mod faults;
mod power;
mod promises;
mod tiers;
mod workload;

use std::path::PathBuf;

use tempfile::TempDir;

/// A directory for an archive that is quick to write where the system has one in memory.
struct Scratch {
    dir: TempDir,
}

impl Scratch {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let above = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Self { dir: TempDir::new_in(above.canonicalize().unwrap()).unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}
