//! How many of the rules that users set in real sessions are known as such, and what else is taken for one.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use strongroom_evidence::rules;
use testkit::figure::{figure, share};
use testkit::shared::shared;

use crate::labels::short_hash;

/// A line of `labels/rules.tsv`.
struct Label<'a> {
    half: &'a str,
    path: &'a str,
    line: usize,
    pointer: &'a str,
    bytes: (usize, usize),
    hash: &'a str,
    is_rule: bool,
    stands: bool,
}

fn labels() -> Vec<Label<'static>> {
    let lines = include_str!("../labels/rules.tsv").lines();
    lines.filter(|line| !line.starts_with('#')).map(parse).collect()
}

fn parse(line: &'static str) -> Label<'static> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [half, path, line, pointer, bytes, hash, label, force] = columns[..] else {
        panic!("{line:?} has {} columns", columns.len());
    };
    let bytes = range(bytes);
    let (is_rule, stands) = (label != "none", force == "standing");
    Label { half, path, line: line.parse().unwrap(), pointer, bytes, hash, is_rule, stands }
}

fn range(text: &str) -> (usize, usize) {
    let (start, end) = text.split_once('-').unwrap();
    (start.parse().unwrap(), end.parse().unwrap())
}

/// The text that a label speaks of, from the record or part of the file it names.
fn text_of<'f>(label: &Label<'_>, file: &'f str, values: &'f BTreeMap<usize, Value>) -> (&'f str, usize) {
    match label.pointer.strip_prefix('@') {
        Some(part) => {
            let (start, end) = range(part);
            (&file[start..end], start)
        }
        None => (values[&label.line].pointer(label.pointer).unwrap().as_str().unwrap(), 0),
    }
}

/// The records of a file that labels speak of.
fn values(file: &str, labels: &[&Label<'_>]) -> BTreeMap<usize, Value> {
    let lines: Vec<&str> = file.split('\n').collect();
    let wanted = labels.iter().filter(|label| !label.pointer.starts_with('@'));
    let record = |label: &&&Label<'_>| {
        let text = if label.line == 0 { file } else { lines[label.line - 1] };
        (label.line, text)
    };
    let texts: BTreeMap<usize, &str> = wanted.map(|label| record(&label)).collect();
    texts.into_iter().map(|(line, text)| (line, serde_json::from_str(text).unwrap())).collect()
}

#[derive(Debug, Default)]
struct Tally {
    rules: [usize; 2],
    standing: [usize; 2],
    others: [usize; 2],
}

fn count(folder: &Path) -> BTreeMap<&'static str, Tally> {
    let all = labels();
    let mut by_file: BTreeMap<&str, Vec<&Label<'_>>> = BTreeMap::new();
    for label in &all {
        by_file.entry(label.path).or_default().push(label);
    }
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for (path, labels) in by_file {
        let file = std::fs::read_to_string(folder.join(path)).unwrap();
        let values = values(&file, &labels);
        for label in labels {
            let (text, before) = text_of(label, &file, &values);
            let (start, end) = (label.bytes.0 - before, label.bytes.1 - before);
            assert_eq!(short_hash(&text[start..end]), label.hash, "{path} {} is another text", label.pointer);
            let known = rules::stated(text).iter().any(|rule| rule.start < end && rule.end > start);
            let tally = tallies.entry(if label.half == "tune" { "tune" } else { "check" }).or_default();
            let add = |counts: &mut [usize; 2]| {
                counts[0] += 1;
                counts[1] += usize::from(known);
            };
            add(if label.is_rule { &mut tally.rules } else { &mut tally.others });
            if label.stands {
                add(&mut tally.standing);
            }
        }
    }
    tallies
}

#[test]
fn rules_of_real_users_are_known_and_little_else_is() {
    let Some(folder) = shared("transcripts") else { return };
    for (half, Tally { rules, standing, others }) in count(&folder) {
        figure(&format!("rules known, {half} half"), share(rules[1], rules[0]), ">= 98 %");
        figure(&format!("standing rules known, {half} half"), share(standing[1], standing[0]), "100 %");
        figure(
            &format!("other sentences taken for rules, {half} half"),
            share(others[1], others[0]),
            "<= 5 %",
        );
        assert_eq!(standing[1], standing[0], "{half}: a standing rule is not known");
        assert!(rules[1] * 100 >= rules[0] * 98, "{half}: {rules:?}");
        assert!(others[1] * 100 <= others[0] * 5, "{half}: {others:?}");
    }
}
