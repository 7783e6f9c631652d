//! Measures the extraction of atoms and secrets from texts that stand in one file, with a NUL byte after each.
//!
//! Figures are the best of five runs, in time of the processor. The digest stands for all atoms and secrets found:
//! equal digests before and after a change mean equal results.
//!
//! `cargo run --release -p strongroom-evidence --example atom_speed -- FILE [DUMP]`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]
#![expect(clippy::cast_precision_loss, reason = "measurements for people")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;

use strongroom_core::digest::Digest;
use strongroom_evidence::{atom, cues, rules, secrets};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let file = arguments.next().ok_or("usage: atom_speed FILE [DUMP]")?;
    let all = String::from_utf8(fs::read(file)?)?;
    let texts: Vec<&str> = all.split('\0').collect();
    println!("{} texts, {:.1} MB", texts.len(), all.len() as f64 / 1e6);
    let report = |what: &str, work: &dyn Fn(&str)| {
        let ms = best(|| texts.iter().for_each(|text| work(text)));
        println!("{what:12}{:6.0} MB/s", all.len() as f64 / 1e3 / ms);
    };
    report("marks", &|text| drop(black_box(atom::scan(text))));
    report("atoms", &|text| drop(black_box(atom::extract(text))));
    report("polarity", &|text| drop(black_box(cues::polarity(text))));
    report("tone", &|text| drop(black_box(cues::tone(text))));
    report("sentences", &|text| drop(black_box(cues::sentences(text))));
    report("rules", &|text| drop(black_box(rules::find(text))));
    report("secrets", &|text| drop(black_box(secrets::find(text))));
    let mut found = String::new();
    for text in &texts {
        for atom in atom::extract(text) {
            let (polarity, modality) = (atom.polarity, atom.modality);
            writeln!(found, "{} {:?} {polarity:?} {modality:?} {:?}", atom.kind, atom.range, atom.norm)?;
        }
        for (range, rule) in secrets::find(text) {
            writeln!(found, "{rule} {range:?}")?;
        }
        writeln!(found, "{:?}", rules::find(text))?;
    }
    println!("digest      {}", Digest::of(found.as_bytes()));
    if let Some(dump) = arguments.next() {
        fs::write(dump, found)?;
    }
    Ok(())
}

/// The least time of all runs, in milliseconds of the processor.
fn best(work: impl Fn()) -> f64 {
    let one = || {
        let before = processor_ms();
        work();
        processor_ms() - before
    };
    (0..5).map(|_| one()).fold(f64::INFINITY, f64::min)
}

/// What this thread has had of the processor; nothing where the system does not tell.
fn processor_ms() -> f64 {
    let ran = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    ran.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e6
}
