//! Measures what the built-in summary keeps of real sessions, at 3.2 % and 10 % of their tokens, with an extractor that
//! is not the summariser's: regular expressions over the fields of the JSON records.
//!
//! Every session of at least 20,000 tokens is summarised up to its first recorded compaction, or whole, as if everything
//! in it were reclaimable. What an abandoned branch holds is not measured: the agent does not have it.
//! What the recorded compaction kept is measured on the same prefix by the same reader.
//!
//! `cargo run --release -p strongroom --example summary_quality -- DIR [FILE TO SHOW]`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]
#![expect(clippy::cast_precision_loss, reason = "measurements for people")]
#![expect(clippy::indexing_slicing, reason = "a JSON value indexed by a name that it has not is null")]

#[path = "summary_quality/gold.rs"]
mod gold;
#[path = "summary_quality/reader.rs"]
mod reader;
#[path = "summary_quality/write.rs"]
mod write;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use gold::{CLASSES, Gold, KINDS};
use reader::Shown;

type Measured<T> = Result<T, Box<dyn Error>>;

/// Shares of the originals that a summary may cost, in thousandths.
const BUDGETS: [u64; 2] = [32, 100];

/// Kept and all, by class.
type Scores = Vec<(usize, usize)>;

fn main() -> Measured<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [dir, ..] = arguments.as_slice() else {
        return Err("usage: summary_quality DIR [FILE TO SHOW]".into());
    };
    let mut files: Vec<PathBuf> = Vec::new();
    collect(dir, &mut files)?;
    files.sort();
    let mut scores = Groups::new();
    let mut kinds = Groups::new();
    let mut shares = Groups::new();
    let mut cost = Cost::default();
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        let Some(gold) = Gold::of(&text)? else { continue };
        let group = group(file);
        for (budget, name) in BUDGETS.into_iter().zip(["3.2 %", "10 %"]) {
            let Some(written) = write::summary(&gold.prefix, budget)? else { continue };
            cost.add(&written);
            let shown = Shown::of(&written.text);
            if std::env::args_os().nth(2).is_some_and(|wanted| file.ends_with(&wanted)) {
                println!("{}", written.text);
                gold.missed(&shown)
                    .iter()
                    .for_each(|(class, text)| println!("missed {name} {class} {text:?}"));
            }
            let key = (group.clone(), name);
            scores.entry(key.clone()).or_default().push(gold.score(&shown));
            kinds.entry(key.clone()).or_default().push(gold.by_kind(&shown));
            shares.entry(key).or_default().push(sections(&written.text));
        }
        if let Some(real) = &gold.real {
            let shown = Shown::plain(real);
            scores.entry((group, "recorded")).or_default().push(gold.score(&shown));
        }
    }
    print(&scores, &CLASSES);
    println!("\nLiterals by kind:\n");
    print(&kinds, &KINDS);
    println!("\nTokens by section, of all of the summary:\n");
    print(&shares, &SECTIONS.map(|(name, _)| name));
    cost.print();
    Ok(())
}

/// Sessions by the folders they lie in, and by size.
type Groups = BTreeMap<(String, &'static str), Vec<Scores>>;

/// What the headings of sections begin with. The first four serve going on.
const SECTIONS: [(&str, &str); 12] = [
    ("user", "## User"),
    ("plan", "## Plan"),
    ("replies", "## Assistant"),
    ("files", "## Files"),
    ("commands", "## Commands"),
    ("errors", "## Errors"),
    ("searches", "## Searched"),
    ("edits", "## Written"),
    ("values", "## Values"),
    ("literals", "## Literals"),
    ("covers", "## Covers"),
    ("frame", ""),
];

/// The tokens of each section and of the whole.
fn sections(text: &str) -> Scores {
    let mut own = [0; SECTIONS.len()];
    let mut at = SECTIONS.len() - 1;
    for line in text.split_inclusive('\n') {
        if line.starts_with("## ") {
            let known =
                SECTIONS.iter().position(|(_, heading)| !heading.is_empty() && line.starts_with(heading));
            at = known.unwrap_or(SECTIONS.len() - 1);
        }
        if let Some(tokens) = own.get_mut(at) {
            *tokens += usize::try_from(strongroom::tokens::count(line).0).unwrap_or(usize::MAX);
        }
    }
    let whole: usize = own.iter().sum();
    own.iter().map(|&tokens| (tokens, whole)).collect()
}

/// What the summaries cost to write.
#[derive(Default)]
struct Cost {
    seconds: f64,
    tokens: u64,
    shares: Vec<f64>,
    slowest: f64,
}

impl Cost {
    fn add(&mut self, written: &write::Written) {
        self.seconds += written.seconds;
        self.tokens += written.whole;
        self.slowest = self.slowest.max(written.seconds * 1e8 / written.whole.max(1) as f64);
        self.shares.push(written.tokens as f64 / written.budget.max(1) as f64);
    }

    fn print(&self) {
        let per = self.seconds * 1e8 / self.tokens.max(1) as f64;
        println!("\nsummarised: {per:.1} ms per 100,000 tokens, the slowest session {:.1} ms", self.slowest);
        let most = self.shares.iter().copied().fold(0.0, f64::max);
        let mean = self.shares.iter().sum::<f64>() / self.shares.len().max(1) as f64;
        println!("budget used: {:.1} % in the mean, {:.1} % at most", mean * 100.0, most * 100.0);
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Measured<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

/// The two folders in which a session lies: agent and project.
fn group(file: &Path) -> String {
    let names: Vec<String> = file.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.iter().rev().skip(1).take(2).rev().cloned().collect::<Vec<_>>().join("/")
}

fn print(scores: &Groups, classes: &[&str]) {
    let mut pooled: BTreeMap<(&'static str, &'static str), Vec<Scores>> = BTreeMap::new();
    let largest = scores
        .iter()
        .filter(|((group, _), _)| group.starts_with("claude-code/"))
        .max_by_key(|(_, sessions)| sessions.len())
        .map(|((group, _), _)| group.clone())
        .unwrap_or_default();
    for ((group, budget), sessions) in scores {
        let row = if *group == largest {
            "Claude Code, largest project"
        } else if group.starts_with("codex/") {
            "Codex"
        } else {
            "Claude Code, others"
        };
        pooled.entry((row, budget)).or_default().extend(sessions.iter().cloned());
    }
    println!("| sessions | size | n | {} |", classes.join(" | "));
    println!("|---|---|--:|{}", "--:|".repeat(classes.len()));
    for ((row, budget), sessions) in &pooled {
        let cells: Vec<String> = (0..classes.len()).map(|class| cell(sessions, class)).collect();
        println!("| {row} | {budget} | {} | {} |", sessions.len(), cells.join(" | "));
    }
}

/// The pooled share, the tenth percentile of sessions, and how many there are.
fn cell(sessions: &[Scores], class: usize) -> String {
    let own = || sessions.iter().filter_map(|scores| scores.get(class)).filter(|(_, all)| *all > 0);
    let (kept, all) = own().fold((0, 0), |(kept, all), own| (kept + own.0, all + own.1));
    if all == 0 {
        return "-".to_owned();
    }
    let mut shares: Vec<f64> = own().map(|&(kept, all)| kept as f64 / all as f64).collect();
    shares.sort_by(f64::total_cmp);
    let tenth = shares.get(shares.len() / 10).copied().unwrap_or_default();
    format!("{:.1} / {:.0} ({all})", kept as f64 * 100.0 / all as f64, tenth * 100.0)
}
