//! What was read of real sessions, by hand: places and labels, no text.

use sha2::{Digest, Sha256};

/// A line of `labels/narrative.tsv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// The sample it was drawn in.
    pub(crate) seed: String,
    pub(crate) grain: Grain,
    pub(crate) place: Place,
    pub(crate) holds: Holds,
    pub(crate) reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grain {
    Unit,
    Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Narrative,
    Evidence,
}

/// Where a unit or span stands: the file below `transcripts`, its line or step, its block, its bytes and their hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) block: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) hash: String,
}

impl Place {
    /// The columns of a place.
    pub(crate) fn columns(&self) -> String {
        format!("{}\t{}\t{}\t{}-{}\t{}", self.path, self.line, self.block, self.start, self.end, self.hash)
    }

    /// Its rank in the sample of `seed`.
    pub(crate) fn rank(&self, seed: &str) -> String {
        short_hash(&format!("{seed}\n{}", self.columns()))
    }
}

/// The first 16 hex digits of the SHA-256 of a text.
pub(crate) fn short_hash(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The labels of the file.
pub(crate) fn read() -> Vec<Label> {
    let lines = include_str!("../labels/narrative.tsv").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(parse).collect()
}

fn parse(line: &str) -> Label {
    let columns: Vec<&str> = line.split('\t').collect();
    let [seed, grain, path, at, block, bytes, hash, label, reason] = columns[..] else {
        panic!("{line:?} has {} columns", columns.len());
    };
    let (start, end) = bytes.split_once('-').unwrap();
    let place = Place {
        path: path.to_owned(),
        line: at.parse().unwrap(),
        block: block.parse().unwrap(),
        start: start.parse().unwrap(),
        end: end.parse().unwrap(),
        hash: hash.to_owned(),
    };
    let grain = if grain == "unit" { Grain::Unit } else { Grain::Span };
    let holds = if label == "evidence" { Holds::Evidence } else { Holds::Narrative };
    Label { seed: seed.to_owned(), grain, place, holds, reason: reason.to_owned() }
}
