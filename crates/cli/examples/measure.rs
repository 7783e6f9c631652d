//! Measures import and compaction of the transcripts below a directory, in one run on the same files:
//!
//! - the floor: reading, SHA-256 and zstd -1 of the same bytes;
//! - an import into a fresh archive, and the same import again;
//! - a compaction of each file to 20 %, each in a process and an archive of its own, so that its peak memory is its own.
//!
//! Each figure is the median of three runs. Times are of the clock, with the time on the processor beside them, which
//! other processes disturb less.
//!
//! `cargo run --release -p strongroom-cli --example measure -- DIR`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]
#![expect(clippy::cast_precision_loss, reason = "measurements for people")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sha2::{Digest as _, Sha256};
use strongroom::archive::{Archive, Mode};
use strongroom::compact::{Options, Outcome, Purpose, Secrets, Unmet, compact};
use strongroom::import::{ImportOptions, Recheck, import, transcripts};
use strongroom::policy::Policy;
use strongroom::time::Timestamp;
use strongroom::tokens::Budget;
use strongroom::transcript::SessionFiles;

type Measured<T> = Result<T, Box<dyn Error>>;

const RUNS: usize = 3;

fn main() -> Measured<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match arguments.as_slice() {
        [one, file] if one.as_os_str() == "--one" => compact_here(file),
        [dir] => measure(dir),
        _ => Err("usage: measure DIR".into()),
    }
}

/// Time on the clock and on the processor, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    clock: f64,
    processor: f64,
}

fn timed(work: impl FnOnce() -> Measured<()>) -> Measured<Spent> {
    let (start, before) = (Instant::now(), processor_ms());
    work()?;
    Ok(Spent { clock: start.elapsed().as_secs_f64() * 1e3, processor: processor_ms() - before })
}

/// What this thread has had of the processor; nothing where the system does not tell.
fn processor_ms() -> f64 {
    let ran = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    ran.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e6
}

fn at(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len().saturating_sub(1) * percent).div_ceil(100);
    values.get(place).copied().unwrap_or(f64::NAN)
}

fn median(spent: &[Spent]) -> Spent {
    Spent {
        clock: at(spent.iter().map(|spent| spent.clock).collect(), 50),
        processor: at(spent.iter().map(|spent| spent.processor).collect(), 50),
    }
}

fn measure(dir: &Path) -> Measured<()> {
    let files: Vec<PathBuf> = transcripts(&[dir.to_owned()])?.into_iter().map(|(file, _)| file).collect();
    let mut bytes: u64 = 0;
    for file in &files {
        // Also warms the page cache, so that no run pays for the disk.
        bytes += u64::try_from(fs::read(file)?.len())?;
    }
    println!("{}: {} files, {:.1} MB, medians of {RUNS}", dir.display(), files.len(), bytes as f64 / 1e6);
    imports(dir, &files, bytes as f64 / 1e3)?;
    compactions(&files)
}

fn imports(dir: &Path, files: &[PathBuf], kilobytes: f64) -> Measured<()> {
    let (mut floor, mut first, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        floor.push(timed(|| floor_of(files))?);
        let home = tempfile::tempdir()?;
        let archive = Archive::open(home.path(), Mode::CreateIfMissing)?;
        first.push(timed(|| import_all(&archive, dir))?);
        again.push(timed(|| import_all(&archive, dir))?);
    }
    let (floor, first, again) = (median(&floor), median(&first), median(&again));
    let speeds = |spent: Spent| {
        format!(
            "{:.0} MB/s ({:.0} MB/s of processor time)",
            kilobytes / spent.clock,
            kilobytes / spent.processor
        )
    };
    println!("floor          {}", speeds(floor));
    println!("import         {}", speeds(first));
    let ratio = |of: fn(Spent) -> f64| of(floor) / of(first);
    println!(
        "import/floor   {:.2} ({:.2} of processor time)",
        ratio(|spent| spent.clock),
        ratio(|spent| spent.processor)
    );
    println!("import again   {:.0} files/s", files.len() as f64 / again.clock * 1e3);
    Ok(())
}

fn floor_of(files: &[PathBuf]) -> Measured<()> {
    let mut compressor = zstd::bulk::Compressor::new(1)?;
    for file in files {
        let bytes = fs::read(file)?;
        black_box(Sha256::digest(&bytes));
        for frame in bytes.chunks(1 << 20) {
            black_box(compressor.compress(frame)?);
        }
    }
    Ok(())
}

fn import_all(archive: &Archive, dir: &Path) -> Measured<()> {
    let policy = Policy::default();
    let options = ImportOptions { policy: &policy, now: Timestamp::from_ms(0), recheck: Recheck::Trust };
    Ok(import(archive, &[dir.to_owned()], options, &mut |_| {})?)
}

/// What one compaction took.
struct Compaction {
    spent: Spent,
    peak_kib: f64,
    size_bytes: f64,
    outcome: String,
}

fn compactions(files: &[PathBuf]) -> Measured<()> {
    let mut all = Vec::new();
    for file in files {
        let size_bytes = fs::metadata(file)?.len() as f64;
        let runs = (0..RUNS).map(|_| compact_elsewhere(file)).collect::<Measured<Vec<_>>>()?;
        let spent: Vec<Spent> = runs.iter().map(|run| run.0).collect();
        let peak_kib = at(runs.iter().map(|run| run.1).collect(), 50);
        let outcome = runs.into_iter().next().map(|run| run.2).unwrap_or_default();
        all.push(Compaction { spent: median(&spent), peak_kib, size_bytes, outcome });
    }
    for outcome in ["compacted", "unchanged", "failed"] {
        let own: Vec<&Compaction> = all.iter().filter(|one| one.outcome == outcome).collect();
        if !own.is_empty() {
            tell(outcome, &own);
        }
    }
    Ok(())
}

fn tell(outcome: &str, own: &[&Compaction]) {
    let figures = |of: fn(&Compaction) -> f64| {
        let values: Vec<f64> = own.iter().map(|one| of(one)).collect();
        (at(values.clone(), 50), at(values.clone(), 95), at(values, 100))
    };
    let (median, p95, max) = figures(|one| one.spent.clock);
    println!(
        "{outcome:<14} {} files, median {median:.0} ms, p95 {p95:.0} ms, longest {max:.0} ms",
        own.len()
    );
    let (median, p95, max) = figures(|one| one.spent.processor);
    println!("  processor    median {median:.0} ms, p95 {p95:.0} ms, longest {max:.0} ms");
    let bytes: f64 = own.iter().map(|one| one.size_bytes).sum();
    let whole: f64 = own.iter().map(|one| one.spent.processor).sum();
    println!("  speed        {:.1} MB/s of processor time over all", bytes / whole / 1e3);
    let (median, p95, max) = figures(|one| one.peak_kib / 1024.0);
    println!("  peak memory  median {median:.0} MiB, p95 {p95:.0} MiB, largest {max:.0} MiB");
    let large: Vec<f64> = own
        .iter()
        .filter(|one| one.size_bytes >= 1_048_576.0)
        .map(|one| one.peak_kib * 1024.0 / one.size_bytes)
        .collect();
    if !large.is_empty() {
        let count = large.len();
        println!(
            "  peak/size    median {:.1}, largest {:.1} ({count} files of 1 MiB and more)",
            at(large.clone(), 50),
            at(large, 100)
        );
    }
}

/// Compacts in a process of its own.
fn compact_elsewhere(file: &Path) -> Measured<(Spent, f64, String)> {
    let output = Command::new(std::env::current_exe()?).arg("--one").arg(file).output()?;
    let text = String::from_utf8(output.stdout)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let [clock, processor, peak_kib, outcome] = words.as_slice() else {
        return Err(format!("{}: {text} {}", file.display(), String::from_utf8_lossy(&output.stderr)).into());
    };
    let spent = Spent { clock: clock.parse()?, processor: processor.parse()? };
    Ok((spent, peak_kib.parse()?, (*outcome).to_owned()))
}

fn compact_here(file: &Path) -> Measured<()> {
    let home = tempfile::tempdir()?;
    let archive = Archive::open(home.path(), Mode::CreateIfMissing)?;
    let mut outcome = "failed";
    let spent = timed(|| {
        outcome = compact_once(file, &archive).unwrap_or("failed");
        Ok(())
    })?;
    println!("{} {} {} {outcome}", spent.clock, spent.processor, peak_kib());
    Ok(())
}

fn compact_once(file: &Path, archive: &Archive) -> Measured<&'static str> {
    let session = SessionFiles::open(file, None)?;
    let policy = Policy::default();
    let options = Options {
        budget: Budget::Percent(20),
        policy: &policy,
        now: Timestamp::from_ms(0),
        secrets: Secrets::Mask,
        unmet: Unmet::BestEffort,
        purpose: Purpose::File,
        summariser: None,
    };
    Ok(match compact(&session, Some(archive), &options, &mut |_| {})? {
        Outcome::Compacted(..) => "compacted",
        Outcome::Unchanged(_) | Outcome::BudgetNotMet { .. } => "unchanged",
    })
}

/// The most memory that this process has held, in KiB; zero where the system does not tell.
fn peak_kib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse().ok()).unwrap_or_default()
}
