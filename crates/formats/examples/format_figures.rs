//! How well each format is read: `cargo run --release -p strongroom-formats --example format_figures -- DIR` reads every
//! file below a directory and prints a table, and what was not understood or not read, by its reason.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line for developers")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use strongroom_core::span::{SpanKind, segment};
use strongroom_core::transcript::{BlockKind, RecordKind, SourceIndex, Speaker};
use strongroom_formats::{DOCUMENT_BYTES_MAX, Format, detect};
use testkit::figure::percent;

/// What was counted of one format.
#[derive(Default)]
struct Row {
    files: usize,
    bytes: usize,
    records: usize,
    opaque: usize,
    calls: usize,
    paired: usize,
    orphans: usize,
    texts: usize,
    unattributed: usize,
    /// What was not understood: the first reason of each record, digits left out.
    reasons: BTreeMap<String, usize>,
}

/// Everything that was read.
#[derive(Default)]
struct Figures {
    rows: BTreeMap<&'static str, Row>,
    /// Files that are not read, by the reason.
    others: BTreeMap<String, usize>,
}

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1) else {
        eprintln!("usage: format_figures DIR");
        return ExitCode::FAILURE;
    };
    let mut figures = Figures::default();
    for path in files(Path::new(&directory)) {
        figures.add(&path);
    }
    figures.print();
    ExitCode::SUCCESS
}

/// The files below a directory, in the order of their names.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut found = Vec::new();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
    found
}

impl Figures {
    fn add(&mut self, path: &Path) {
        let len = std::fs::metadata(path).map_or(0, |meta| meta.len());
        if len > 2 * DOCUMENT_BYTES_MAX {
            return self.other("over the size that is held in memory here".to_owned());
        }
        let Ok(bytes) = std::fs::read(path) else { return self.other("not readable".to_owned()) };
        let read = detect(&bytes).and_then(|format| Ok((format, format.index(&bytes)?)));
        match read {
            Ok((format, index)) => {
                self.rows.entry(Format::name(format)).or_default().add(bytes.len(), &index);
            }
            Err(why) => self.other(without_digits(&why.to_string())),
        }
    }

    fn other(&mut self, why: String) {
        *self.others.entry(why).or_default() += 1;
    }

    fn print(&self) {
        println!(
            "| format | files | MB | records | not understood | calls paired | results without call | texts of nobody known |"
        );
        println!("|---|--:|--:|--:|--:|--:|--:|--:|");
        for (name, row) in &self.rows {
            println!("| `{name}` {}", row.cells());
        }
        let mut all = Row::default();
        self.rows.values().for_each(|row| all.join(row));
        println!("| all {}", all.cells());
        println!("\nNot understood, by reason:\n");
        for (why, records) in &all.reasons {
            println!("- {why}: {records}");
        }
        println!("\nFiles not read, by what they are:\n");
        for (why, files) in &self.others {
            println!("- {why}: {files}");
        }
    }
}

impl Row {
    fn add(&mut self, bytes: usize, index: &SourceIndex) {
        self.files += 1;
        self.bytes += bytes;
        self.records += index.records.len();
        for record in &index.records {
            if matches!(record.kind, RecordKind::Opaque | RecordKind::Unknown) {
                self.opaque += 1;
                let why = record.blocks.iter().find_map(|block| match &block.kind {
                    BlockKind::Opaque(why) => Some(without_digits(why)),
                    _ => None,
                });
                let why = format!("`{}` {}", index.format, why.unwrap_or_else(|| record.label.clone()));
                *self.reasons.entry(why).or_default() += 1;
            }
        }
        for (_, block) in index.blocks().filter(|(_, block)| block.copy_of.is_none()) {
            if matches!(block.kind, BlockKind::Text | BlockKind::Paste) {
                self.texts += 1;
                self.unattributed += usize::from(block.speaker == Speaker::Unknown);
            }
        }
        for span in segment(index).spans {
            let is_result = |at: &strongroom_core::transcript::BlockRef| {
                index.block(*at).is_some_and(|block| matches!(block.kind, BlockKind::Result(_)))
            };
            match span.kind {
                SpanKind::Call => {
                    self.calls += 1;
                    self.paired += usize::from(span.blocks.iter().any(is_result));
                }
                SpanKind::OrphanResult => self.orphans += 1,
                _ => {}
            }
        }
    }

    fn join(&mut self, other: &Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.records += other.records;
        self.opaque += other.opaque;
        self.calls += other.calls;
        self.paired += other.paired;
        self.orphans += other.orphans;
        self.texts += other.texts;
        self.unattributed += other.unattributed;
        for (why, records) in &other.reasons {
            *self.reasons.entry(why.clone()).or_default() += records;
        }
    }

    fn cells(&self) -> String {
        format!(
            "| {} | {}.{} | {} | {} ({}) | {} of {} ({}) | {} | {} of {} ({}) |",
            self.files,
            self.bytes / 1_000_000,
            self.bytes / 100_000 % 10,
            self.records,
            self.opaque,
            percent(self.opaque, self.records),
            self.paired,
            self.calls,
            percent(self.paired, self.calls),
            self.orphans,
            self.unattributed,
            self.texts,
            percent(self.unattributed, self.texts),
        )
    }
}

/// A reason without places and ids, so that equal ones are counted together.
fn without_digits(why: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in why.split_whitespace() {
        let word =
            if word.chars().any(|char| char.is_ascii_digit()) { "N".to_owned() } else { word.to_owned() };
        if words.last() != Some(&word) || word != "N" {
            words.push(word);
        }
    }
    words.join(" ").chars().take(140).collect()
}
