//! Measures the examination of transcripts below a directory, in one run on the same decoded spans:
//!
//! - the class alone of every span, and the full examination, in file bytes;
//! - atoms without and with normal forms, and secrets, of all texts, in bytes of text.
//!
//! Each figure is the best of three runs, in time of the processor. The digest stands for the atoms, secrets,
//! rules and classes that were found: equal digests before and after a change mean equal results.
//!
//! `cargo run --release -p strongroom --example evidence_speed -- DIR [--dump FILE | --only FIGURE]`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]
#![expect(clippy::cast_precision_loss, reason = "measurements for people")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use strongroom::import::transcripts as files_below;
use strongroom::reading::{ReadSpan, Reading};
use strongroom::transcript::Transcript;
use strongroom_core::digest::Digest;
use strongroom_core::transcript::Scalar;
use strongroom_evidence::content::SpanContent;
use strongroom_evidence::examine::{Examination, Examiner, ProjectFacts};
use strongroom_evidence::{atom, secrets};
use testkit::figure::figure;

type Measured<T> = Result<T, Box<dyn Error>>;

const RUNS: usize = 3;

/// Runs of a figure that is measured alone, so that a profile shows little else.
const RUNS_ALONE: usize = 30;

const TARGETS: &[(&str, &str)] = &[("classify", ">= 250 MB/s of file bytes")];

fn main() -> Measured<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match arguments.as_slice() {
        [dir] => measure(dir, None, None),
        [dir, option, file] if option.as_os_str() == "--dump" => measure(dir, Some(file), None),
        [dir, option, what] if option.as_os_str() == "--only" => measure(dir, None, what.to_str()),
        _ => Err("usage: evidence_speed DIR [--dump FILE | --only FIGURE]".into()),
    }
}

fn measure(dir: &Path, dump: Option<&Path>, only: Option<&str>) -> Measured<()> {
    let files: Vec<PathBuf> = files_below(&[dir.to_owned()])?.into_iter().map(|(file, _)| file).collect();
    let transcripts: Vec<(usize, Transcript)> = files
        .iter()
        .filter_map(|file| {
            let bytes = fs::read(file).ok()?;
            let len = bytes.len();
            Some((len, Transcript::from_bytes(file.to_string_lossy(), bytes, None).ok()?))
        })
        .collect();
    let bytes: usize = transcripts.iter().map(|(len, _)| len).sum();
    let readings = transcripts.iter().map(|(_, transcript)| Reading::of(transcript));
    let readings = readings.collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<&str> = readings.iter().flat_map(|reading| &reading.spans).flat_map(texts).collect();
    let text_bytes: usize = texts.iter().map(|text| text.len()).sum();
    println!(
        "{}: {} files, {:.1} MB, {:.1} MB of text",
        dir.display(),
        readings.len(),
        bytes as f64 / 1e6,
        text_bytes as f64 / 1e6
    );
    let report = |what: &str, bytes: usize, work: &dyn Fn()| {
        if only.is_none_or(|only| only == what) {
            let target =
                TARGETS.iter().find(|(name, _)| *name == what).map_or("none stated", |(_, target)| target);
            let runs = if only.is_some() { RUNS_ALONE } else { RUNS };
            let speed = bytes as f64 / 1e3 / best(runs, work);
            figure(&format!("{what}, one core"), format!("{speed:.0} MB/s"), target);
        }
    };
    report("classify", bytes, &|| readings.iter().for_each(|reading| each(reading, Examiner::classify)));
    report("examine", bytes, &|| readings.iter().for_each(|reading| each(reading, Examiner::examine)));
    let each_text = |work: &dyn Fn(&str)| texts.iter().for_each(|text| work(text));
    report("atoms marked", text_bytes, &|| each_text(&|text| drop(black_box(atom::scan(text)))));
    report("atoms", text_bytes, &|| each_text(&|text| drop(black_box(atom::extract(text)))));
    report("secrets", text_bytes, &|| each_text(&|text| drop(black_box(secrets::find(text)))));
    if only.is_some() {
        return Ok(());
    }
    let mut all = String::new();
    for span in readings.iter().flat_map(|reading| &reading.spans) {
        write_down(span, &mut all)?;
    }
    println!("digest            {}", Digest::of(all.as_bytes()));
    if let Some(file) = dump {
        fs::write(file, all)?;
    }
    Ok(())
}

/// One line for each fact of a span.
fn write_down(span: &ReadSpan<'_>, all: &mut String) -> std::fmt::Result {
    let found: &Examination = &span.examination;
    writeln!(all, "span {:?} {:?} {:?}", found.evidence.class, found.evidence.claims, found.evidence.holds)?;
    for (at, atom) in &found.atoms {
        writeln!(
            all,
            "{at:?} {} {:?} {:?} {:?} {:?}",
            atom.kind, atom.range, atom.polarity, atom.modality, atom.norm
        )?;
    }
    for secret in &found.secrets {
        writeln!(all, "secret {:?} {:?} {:?} {}", secret.at, secret.argument, secret.range, secret.rule)?;
    }
    writeln!(all, "rules {:?}", found.rules)
}

/// Runs one kind of examination over the spans of a reading.
fn each<T>(reading: &Reading<'_>, examine: impl Fn(&mut Examiner, &SpanContent<'_>) -> T) {
    let facts = ProjectFacts { cwd: reading.transcript.cwd().map(str::to_owned), home: None };
    let mut examiner = Examiner::new(facts);
    for span in &reading.spans {
        black_box(examine(&mut examiner, &span.content));
    }
}

fn texts<'s>(span: &'s ReadSpan<'_>) -> impl Iterator<Item = &'s str> {
    span.content.blocks.iter().flat_map(|block| {
        let leaves = block.arguments.iter().flat_map(|arguments| &arguments.leaves);
        let own = leaves.filter_map(|leaf| match &leaf.value {
            Scalar::String(text) => Some(text.as_str()),
            Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => None,
        });
        std::iter::once(block.text.as_str()).chain(own)
    })
}

/// The least time of all runs, in milliseconds of the processor.
fn best(runs: usize, work: &dyn Fn()) -> f64 {
    let one = || {
        let before = processor_ms();
        work();
        processor_ms() - before
    };
    (0..runs).map(|_| one()).fold(f64::INFINITY, f64::min)
}

/// What this thread has had of the processor; nothing where the system does not tell.
fn processor_ms() -> f64 {
    let ran = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    ran.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e6
}
