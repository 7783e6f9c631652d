//! Power failures, failing disks and planted bugs, over a simulated disk; docs/reliability.md has the figures.

mod faults;
mod power;
mod promises;
mod tiers;
mod workload;

use std::ops::Range;
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

/// The seeds of this process: all of them, or with `STRONGROOM_TORTURE_PART=2/3` the second third, so that several
/// processors share a long run.
#[expect(clippy::disallowed_methods, reason = "how long a test runs changes no result")]
fn part(seeds: Range<u64>) -> Range<u64> {
    let Ok(part) = std::env::var("STRONGROOM_TORTURE_PART") else { return seeds };
    let (own, all): (u64, u64) =
        part.split_once('/').and_then(|(own, all)| Some((own.parse().ok()?, all.parse().ok()?))).unwrap();
    assert!((1..=all).contains(&own), "there is no part {part}");
    let count = seeds.end - seeds.start;
    seeds.start + count * (own - 1) / all..seeds.start + count * own / all
}
