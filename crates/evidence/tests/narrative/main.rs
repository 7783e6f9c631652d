//! How much of real sessions is proved narrative, by unit and by span, and how much of that holds evidence.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "measurements print, and missing JSON is null"
)]

mod sessions;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::content::Next;
use strongroom_evidence::narrative::{self, Beside, Proof, Unit};

use sessions::{Block, PROJECTS, Said, Session};

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if path.exists() {
        return Some(path);
    }
    println!("SKIPPED: {} is not here", path.display());
    None
}

/// A text of a session with the proofs of its units.
struct Proved<'a> {
    block: &'a Block,
    kind: &'a BlockKind,
    speaker: Speaker,
    text: &'a str,
    units: Vec<Unit>,
    whole: Option<Proof>,
    next: Option<&'a str>,
    previous: &'a str,
}

fn prove(session: &Session) -> Vec<Proved<'_>> {
    let mut next = vec![None; session.blocks.len()];
    let mut following = None;
    for (block, slot) in session.blocks.iter().zip(&mut next).rev() {
        *slot = following;
        match &block.said {
            Said::Call { text, .. } => following = Some(text.as_str()),
            Said::Other { ends: true } | Said::Prose { speaker: Speaker::User, .. } => following = None,
            Said::Other { ends: false } | Said::Prose { .. } => {}
        }
    }
    let (mut previous, mut all) = ("", Vec::new());
    for (block, next) in session.blocks.iter().zip(next) {
        match &block.said {
            Said::Call { text, .. } => previous = text,
            Said::Other { ends } if *ends => previous = "",
            Said::Other { .. } => {}
            Said::Prose { kind, speaker, text } => {
                if *speaker == Speaker::User {
                    previous = "";
                }
                let following = next.map_or(Next::Other, |call| Next::Call(call.into()));
                let units = narrative::units(text, kind, *speaker, Beside { next: &following, previous });
                let whole = narrative::whole(text, kind, &units);
                all.push(Proved { block, kind, speaker: *speaker, text, units, whole, next, previous });
            }
        }
    }
    all
}

/// How many there are, and how many of them are proved, by rule.
#[derive(Debug, Default)]
struct Share {
    all: usize,
    proved: usize,
    rules: BTreeMap<&'static str, usize>,
}

impl Share {
    fn add(&mut self, proof: Option<Proof>) {
        self.all += 1;
        if let Some(proof) = proof {
            self.proved += 1;
            *self.rules.entry(proof.rule()).or_default() += 1;
        }
    }
}

#[test]
#[ignore = "prints everything that is proved or not, to be read"]
fn everything() {
    let Some(folder) = shared("transcripts") else { return };
    for (project, adapter) in PROJECTS {
        for session in sessions::read(&folder, project, *adapter) {
            for proved in prove(&session) {
                for (at, unit) in proved.units.iter().enumerate() {
                    println!(
                        "UNIT{}",
                        json!({"project": project, "path": session.path, "line": proved.block.line, "block": proved.block.block,
                            "unit": at, "of": proved.units.len(), "kind": format!("{:?}", unit.kind), "thinking": matches!(proved.kind, BlockKind::Thinking),
                            "speaker": proved.speaker.word(), "rule": unit.proof.map(Proof::rule), "whole": proved.whole.map(Proof::rule),
                            "text": proved.text.get(unit.range.clone()), "next": proved.next.map(|text| text.chars().take(300).collect::<String>()),
                            "previous": proved.previous.chars().take(100).collect::<String>()})
                    );
                }
            }
        }
    }
}

#[test]
fn shares() {
    let Some(folder) = shared("transcripts") else { return };
    let mut overall = (Share::default(), Share::default());
    for (project, adapter) in PROJECTS {
        let (mut units, mut spans) = (Share::default(), Share::default());
        for session in sessions::read(&folder, project, *adapter) {
            for block in &session.blocks {
                let parts = match block.said {
                    Said::Prose { .. } => continue,
                    Said::Call { results, .. } => 1 + results,
                    Said::Other { .. } => 1,
                };
                spans.add(None);
                (0..parts).for_each(|_| units.add(None));
            }
            for proved in prove(&session) {
                spans.add(proved.whole);
                proved.units.iter().for_each(|unit| units.add(unit.proof));
            }
        }
        println!("{project}\n    units {units:?}\n    spans {spans:?}");
        for (sum, own) in [(&mut overall.0, units), (&mut overall.1, spans)] {
            sum.all += own.all;
            sum.proved += own.proved;
        }
    }
    println!("overall {overall:?}");
}
