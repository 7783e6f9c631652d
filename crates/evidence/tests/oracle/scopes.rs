//! Where the write targets of real calls lie.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use strongroom_evidence::effect::{Access, Effect, Scope};
use strongroom_evidence::outcome::{self, Record, ToolKind};
use strongroom_evidence::trace::Report;
use testkit::figure::{figure, share};

use crate::calls::{self, Called};

/// The folders whose logs hold calls with a known working directory.
const FOLDERS: &[&str] = &["claude-code", "codex", "copilot-cli", "pi"];

/// The changes of files in a call whose changes of directory succeeded.
fn writes(report: Report) -> Vec<Effect> {
    let record = Record { present: true, ..Record::default() };
    let (effects, _) = outcome::decide(report, &record, ToolKind::Shell);
    let is_write = |effect: &Effect| effect.kind.is_under("fs") && effect.kind.access() == Access::Mutation;
    effects.into_iter().filter(is_write).collect()
}

/// Shows every call below the folders.
fn each_call(visit: &mut impl FnMut(Called<'_>)) -> Option<()> {
    let root = testkit::shared::shared("transcripts")?;
    for folder in FOLDERS {
        for path in calls::logs(&root.join(folder)) {
            let source = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
            calls::read(&source, &path, visit);
        }
    }
    Some(())
}

#[test]
fn write_targets_of_real_calls_have_a_scope() {
    let (mut all, mut scopes) = (0_usize, BTreeMap::<&str, usize>::new());
    let mut open = Vec::new();
    let present = each_call(&mut |call| {
        for effect in writes(call.report) {
            all += 1;
            *scopes.entry(effect.scope.word()).or_default() += 1;
            if effect.scope == Scope::Unknown {
                let text: String = call.text.chars().take(400).collect();
                open.push(format!(
                    "{} {} [{}] {}:{} {} {text}",
                    effect.kind.word(),
                    effect.target.words(),
                    effect.program,
                    call.source,
                    call.line,
                    call.tool
                ));
            }
        }
    });
    if present.is_none() {
        return;
    }
    println!("{scopes:?}\n  {}", open.join("\n  "));
    figure("write targets with a decided scope", share(all - open.len(), all), ">= 98 %");
    assert!(open.len() * 100 <= all * 2, "{} of {all} are undecided", open.len());
}

/// Labels that were given by reading each call: source, line, hash of the target, scope, verdict.
const LABELS: &str = include_str!("../labels/scopes.tsv");

/// The first 16 hexadecimal digits of the SHA-256 of a text.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The decided write targets of real calls, each once, by a hash of its place: a sample is its beginning.
fn decided() -> Option<BTreeMap<String, Vec<String>>> {
    let mut all = BTreeMap::new();
    each_call(&mut |call| {
        for effect in writes(call.report) {
            if effect.scope == Scope::Unknown {
                continue;
            }
            let target = effect.target.words();
            let key = digest(&format!("{}:{}:{target}", call.source, call.line));
            let row = [call.source, &call.line.to_string(), &digest(target), effect.scope.word()];
            let mut row = row.map(str::to_owned).to_vec();
            row.push(format!("{} {target} [{}] cwd {}", effect.kind.word(), effect.program, call.cwd));
            row.push(call.text.clone());
            all.entry(key).or_insert(row);
        }
    })?;
    Some(all)
}

/// Prints what is to be labelled: 140 of all, and 60 more of those that lie outside the project.
#[test]
#[ignore = "prints the sample for reading by hand"]
fn sample_for_labels() {
    let Some(all) = decided() else { return };
    let first: Vec<&Vec<String>> = all.values().take(140).collect();
    let rare = ["system", "outside", "home", "temp"];
    let mut others: Vec<&Vec<String>> =
        all.values().skip(140).filter(|row| rare.contains(&row[3].as_str())).collect();
    others.sort_by_key(|row| rare.iter().position(|scope| *scope == row[3]));
    let quota = |row: &&&Vec<String>| match row[3].as_str() {
        "system" | "outside" => true,
        _ => row[2].as_bytes()[0] < b'2',
    };
    for row in first.into_iter().chain(others.iter().filter(quota).take(60).copied()) {
        println!("ROW\t{}\n    {}\n    {}", row[..4].join("\t"), row[4], row[5]);
    }
}

#[test]
fn scopes_are_those_that_were_read() {
    let labels: Vec<Vec<&str>> = LABELS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(labels.iter().all(|label| label.len() == 5 && label[4] == "right"));
    let mut found = BTreeSet::new();
    let present = each_call(&mut |call| {
        for effect in writes(call.report) {
            let target = digest(effect.target.words());
            found.insert(format!("{}\t{}\t{target}\t{}", call.source, call.line, effect.scope.word()));
        }
    });
    if present.is_none() {
        return;
    }
    let wrong: Vec<String> =
        labels.iter().map(|label| label[..4].join("\t")).filter(|label| !found.contains(label)).collect();
    println!("not met:\n  {}", wrong.join("\n  "));
    figure("write targets read by hand, wrong", share(wrong.len(), labels.len()), "0 of 200");
    assert!(wrong.is_empty());
}
