//! Measures importing files against the floor of reading, hashing and compressing them, in time on the processor
//! (which other processes disturb less) where the system tells it.
//!
//! `cargo run --release -p strongroom-archive --example import_speed -- FILES…`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use strongroom_archive::cut::cut;
use strongroom_archive::source::{ItemFacts, SourceMeta, source_id};
use strongroom_archive::verify::Depth;
use strongroom_archive::{Archive, Level, Mode, Options};
use strongroom_core::digest::Digest;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

type Measured<T> = Result<T, Box<dyn Error>>;

fn main() -> Measured<()> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut total: u64 = 0;
    for file in &files {
        // Also warms the page cache, so that no run pays for the disk.
        total += u64::try_from(fs::read(file)?.len())?;
    }
    println!("{} files, {:.1} MB", files.len(), megabytes(total));
    let mut floor_speed = 0.0;
    for level in [1, 3] {
        let speed = rate(total, floor(&files, level)?);
        println!("read + SHA-256 + zstd-{level}, 1 MiB frames: {speed:.0} MB/s");
        floor_speed = if level == 1 { speed } else { floor_speed };
    }
    println!("cutting and hashing alone: {:.0} MB/s", rate(total, cutting(&files)?));
    for level in [1, 3] {
        measure(&files, total, level, floor_speed)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a measurement for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn rate(bytes: u64, time: Duration) -> f64 {
    megabytes(bytes) / time.as_secs_f64()
}

/// Time on the processor since this thread began; elsewhere than on Linux, time on the clock.
fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let ran = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = ran.and_then(|text| text.split(' ').next()?.parse().ok().map(Duration::from_nanos));
    ran.unwrap_or_else(|| START.elapsed())
}

fn floor(files: &[PathBuf], level: i32) -> Measured<Duration> {
    let mut compressor = zstd::bulk::Compressor::new(level)?;
    let start = now();
    for file in files {
        let bytes = fs::read(file)?;
        std::hint::black_box(Digest::of(&bytes));
        for frame in bytes.chunks(1 << 20) {
            std::hint::black_box(compressor.compress(frame)?);
        }
    }
    Ok(now().saturating_sub(start))
}

fn cutting(files: &[PathBuf]) -> Measured<Duration> {
    let start = now();
    for file in files {
        std::hint::black_box(cut(&fs::read(file)?));
    }
    Ok(now().saturating_sub(start))
}

fn measure(files: &[PathBuf], total: u64, level: i32, floor_speed: f64) -> Measured<()> {
    let dir = tempfile::tempdir()?;
    let options = Options { level: Level(level), ..Options::new(Mode::CreateIfMissing) };
    let archive = Archive::open_with(dir.path(), &options)?;
    let first = rate(total, import(&archive, files)?);
    let again = rate(total, import(&archive, files)?);
    let start = now();
    let report = archive.verify(Depth::Data, None);
    let verified = rate(report.bytes_read, now().saturating_sub(start));
    let pieces = report.pieces;
    let state = if report.is_clean() { "clean" } else { "DAMAGED" };
    drop(archive);
    let size = fs::metadata(dir.path().join("strongroom.db"))?.len();
    println!(
        "level {level}: import {first:.0} MB/s ({:.2} of the zstd-1 floor), again {again:.0} MB/s, verify {verified:.0} MB/s ({state}), {pieces} pieces, {:.3} of the size",
        first / floor_speed,
        megabytes(size) / megabytes(total),
    );
    Ok(())
}

fn import(archive: &Archive, files: &[PathBuf]) -> Measured<Duration> {
    let start = now();
    for file in files {
        let name = file.to_string_lossy().into_owned();
        let source = SourceMeta {
            id: source_id(archive.id(), &name),
            name,
            format: "unknown".to_owned(),
            session: None,
            facts: ItemFacts::default(),
        };
        archive.import(&source, &mut fs::File::open(file)?, Retention::Indefinite, Timestamp::from_ms(0))?;
    }
    Ok(now().saturating_sub(start))
}
