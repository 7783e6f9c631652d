//! Measurements over third-party labels and real transcripts, where they are at hand.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "measurements print, and missing JSON is null"
)]

#[path = "corpus/commands.rs"]
mod commands;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use strongroom_evidence::atom;
use testkit::shared::shared;

#[test]
fn atoms_of_real_outputs_are_extracted() {
    let Some(folder) = shared("transcripts/codex") else { return };
    let mut text = String::new();
    collect_text(&folder, &mut text);
    let start = Instant::now();
    let atoms = atom::extract(&text);
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a speed")]
    let speed = text.len() as f64 / 1e6 / seconds.max(1e-9);
    println!("{} atoms in {} bytes, {speed:.0} MB/s", atoms.len(), text.len());
    assert!(text.is_empty() || atoms.len() > text.len() / 1_000);
    assert!(atoms.iter().all(|atom| text.get(atom.range.clone()).is_some()));
}

/// Joins the outputs of tools below `folder`, at most 8 MB.
fn collect_text(folder: &Path, text: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if text.len() > 8_000_000 {
            return;
        }
        if path.is_dir() {
            collect_text(&path, text);
            continue;
        }
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            if let Ok(value) = serde_json::from_str::<Value>(line)
                && let Some(output) = value["payload"]["output"].as_str()
            {
                text.push_str(output);
                text.push('\n');
            }
        }
    }
}
