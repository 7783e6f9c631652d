//! Atoms and secrets measured over third-party labels and real transcripts, where they are at hand.
#![expect(
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "missing JSON is null, and a broken label file fails the test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use strongroom_core::evidence::AtomKind;
use strongroom_evidence::atom::{self, Atom, Polarity};
use strongroom_evidence::secrets;
use testkit::shared::shared;

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// What was found of the labelled values: their digits lie in an atom; the atom has the same bytes; its value is equal
/// as written there, which is so for few units.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    labelled: u32,
    touched: u32,
    exact: u32,
    equal: u32,
}

impl Tally {
    fn add(&mut self, label: &Range<usize>, value: Option<&str>, atoms: &[&Atom]) {
        self.labelled += 1;
        let near = atoms.iter().filter(|atom| atom.range.start < label.end && label.start < atom.range.end);
        self.touched += u32::from(near.clone().next().is_some());
        self.exact += u32::from(near.clone().any(|atom| atom.range == *label));
        let same = |atom: &&&Atom| value.is_some_and(|value| atom.norm.split(' ').next() == Some(value));
        self.equal += u32::from(near.clone().any(|atom| same(&atom)));
    }
}

fn place(input: &str, result: &Value) -> Option<Range<usize>> {
    let text = result["Text"].as_str()?;
    let (lower, own) = (input.to_ascii_lowercase(), text.to_ascii_lowercase());
    // Their offsets count characters.
    let from = result["Start"]
        .as_u64()
        .and_then(|start| input.char_indices().nth(usize::try_from(start).ok()?).map(|(at, _)| at));
    let at = match from {
        Some(at) if lower.get(at..)?.starts_with(&own) => at,
        _ => lower.find(&own)?,
    };
    Some(at..at + own.len())
}

fn accepted(name: &str) -> &'static [AtomKind] {
    match name {
        "NumberModel" | "OrdinalModel" => &[AtomKind::Number, AtomKind::Quantity, AtomKind::Id],
        "DateTimeModel" => &[AtomKind::Time, AtomKind::Quantity, AtomKind::Number],
        "EmailModel" | "GUIDModel" | "HashtagModel" | "IpAddressModel" => &[AtomKind::Id],
        "URLModel" => &[AtomKind::Url, AtomKind::Id, AtomKind::Path],
        "PhoneNumberModel" => &[AtomKind::Number, AtomKind::Id, AtomKind::Quantity, AtomKind::Time],
        _ => &[AtomKind::Quantity, AtomKind::Number],
    }
}

#[test]
fn labelled_quantities_are_found() {
    let Some(folder) = shared("effects/bench/quantities") else { return };
    let mut all = Tally::default();
    for group in ["Number", "NumberWithUnit", "DateTime", "Sequence"] {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder.join(group)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let (mut digits, mut words, mut misses) = (Tally::default(), Tally::default(), Vec::new());
            for case in json(&path).as_array().unwrap() {
                let input = case["Input"].as_str().unwrap();
                let atoms = atom::extract(input);
                let own: Vec<&Atom> =
                    atoms.iter().filter(|atom| accepted(&name).contains(&atom.kind)).collect();
                for result in case["Results"].as_array().into_iter().flatten() {
                    let Some(range) = place(input, result) else { continue };
                    let text = &input[range.clone()];
                    let value = result["Resolution"]["value"].as_str();
                    if text.bytes().any(|byte| byte.is_ascii_digit()) {
                        let before = digits.touched;
                        digits.add(&range, value, &own);
                        if digits.touched == before {
                            misses.push(text.to_owned());
                        }
                    } else {
                        words.add(&range, value, &own);
                    }
                }
            }
            println!(
                "{name}: with digits {digits:?}\n    in words {words:?}\n    missed: {:.300}",
                misses.join(" | ")
            );
            all.labelled += digits.labelled;
            all.touched += digits.touched;
        }
    }
    println!("with digits: {} of {} found", all.touched, all.labelled);
    assert!(all.touched * 100 >= all.labelled * 85, "{all:?}");
}

#[test]
fn places_in_files_are_read_in_the_forms_of_compilers() {
    let Some(path) = shared("effects/bench/path_suffix_forms.jsonl") else { return };
    let text = fs::read_to_string(path).unwrap();
    let (mut cases, mut found, mut named, mut misses) = (0, 0, 0, Vec::new());
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (text, path) = (case["text"].as_str().unwrap(), case["path"].as_str().unwrap());
        let mut wanted = atom::normal_form(AtomKind::Path, path);
        for part in [&case["row"], &case["col"]] {
            if let Some(part) = part.as_u64() {
                wanted.push_str(&format!(":{part}"));
            }
        }
        // A bare word is a path only to who can look for the file.
        named += u32::from(path.contains(['/', '\\']));
        cases += 1;
        let hit = atom::extract(text).into_iter().any(|atom| {
            atom.kind == AtomKind::LineRef
                && atom
                    .norm
                    .strip_prefix(&wanted)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        found += u32::from(hit);
        if !hit && path.contains(['/', '\\']) {
            misses.push(text.to_owned());
        }
    }
    println!("{found} of {cases} ({named} with a slash); missed: {misses:#?}");
    assert!(found * 100 >= named * 85, "{found} of {named}");
}

#[test]
fn negation_cues_of_another_lexicon_are_known() {
    let Some(path) = shared("effects/bench/negation/medspacy_en_context_rules.json") else { return };
    let rules = json(&path);
    let (mut forward, mut backward, mut stops) = ((0, 0), (0, 0), (0, 0));
    let mut misses = Vec::new();
    let of = |text: &str| {
        let found = atom::extract(text).into_iter().find(|atom| atom.norm == "item0042");
        found.map(|atom| atom.polarity)
    };
    for rule in rules["context_rules"].as_array().unwrap() {
        if rule["category"] != "NEGATED_EXISTENCE" {
            continue;
        }
        let cue = rule["literal"].as_str().unwrap();
        let (tally, hit) = match rule["direction"].as_str() {
            Some("FORWARD") => (&mut forward, of(&format!("{cue} item0042")) == Some(Polarity::Negative)),
            Some("BACKWARD") => (&mut backward, of(&format!("item0042 {cue}")) == Some(Polarity::Negative)),
            _ => (&mut stops, of(&format!("no sign {cue} item0042")) == Some(Polarity::Positive)),
        };
        tally.0 += u32::from(hit);
        tally.1 += 1;
        if !hit {
            misses.push(cue.to_owned());
        }
    }
    println!(
        "forward {forward:?}, backward {backward:?}, stops {stops:?}; not taken over: {}",
        misses.join(" | ")
    );
    assert!(forward.0 * 100 >= forward.1 * 50, "{forward:?}");
}

/// A pattern that strings can be made from: without places, and with ASCII classes in the case they are written in.
fn generatable(pattern: &str) -> String {
    let pattern = pattern.replace("(?i)", "").replace("(?i:", "(?:").replace("(?-i:", "(?:");
    let mut out = String::new();
    let (mut class, mut chars) = (0, pattern.chars().peekable());
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let next = chars.next().unwrap_or('\\');
                let own = match next {
                    'b' | 'z' | 'A' | 'B' => "",
                    'w' => "0-9A-Za-z_",
                    'd' => "0-9",
                    's' => " ",
                    'S' => "0-9A-Za-z",
                    _ => {
                        out.push('\\');
                        out.push(next);
                        continue;
                    }
                };
                let whole = class == 0 && !own.is_empty();
                out.push_str(&if whole { format!("[{own}]") } else { own.to_owned() });
            }
            '[' => {
                class += 1;
                out.push(char);
            }
            ']' => {
                class -= 1;
                out.push(char);
            }
            '^' if class > 0 => out.push(char),
            '^' | '$' if class == 0 => {}
            '.' if class == 0 => out.push_str("[ a-z]"),
            _ => out.push(char),
        }
    }
    out
}

#[test]
fn forms_of_another_scanner_are_found() {
    let Some(path) = shared("effects/bench/secrets/gitleaks.toml") else { return };
    let rules: toml::Table = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let rules = rules["rules"].as_array().unwrap();
    let mut runner = TestRunner::deterministic();
    let (mut found, mut missed, mut unmade) = (0, Vec::new(), Vec::new());
    for rule in rules {
        let id = rule["id"].as_str().unwrap();
        let pattern = rule.get("regex").and_then(toml::Value::as_str).unwrap_or_default();
        let strategy = string_regex(&generatable(pattern));
        let Some(strategy) = strategy.ok().filter(|_| !pattern.is_empty()) else {
            unmade.push(id);
            continue;
        };
        // Random strings may look like names; a rule is known when one of several samples is found.
        let hit = (0..12).any(|_| {
            let sample = strategy.new_tree(&mut runner).unwrap().current();
            !secrets::find(&sample).is_empty()
        });
        if hit {
            found += 1;
        } else {
            missed.push(id);
        }
    }
    println!(
        "{found} of {} rules; missed: {}; not made: {}",
        rules.len(),
        missed.join(" "),
        unmade.join(" ")
    );
    assert!(found * 100 >= rules.len() * 90, "{found} of {}", rules.len());
}

/// Calls `visit` with the strings of the session logs below `folder`, up to a number of bytes.
fn strings(folder: &Path, left: &mut usize, visit: &mut impl FnMut(&str)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            strings(&path, left, visit);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            for line in fs::read_to_string(&path).unwrap_or_default().lines() {
                if *left == 0 {
                    return;
                }
                *left = left.saturating_sub(line.len());
                if let Ok(value) = serde_json::from_str::<Value>(line) {
                    each_string(&value, visit);
                }
            }
        }
    }
}

fn each_string(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, visit)),
        Value::Object(fields) => fields.values().for_each(|field| each_string(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn secrets_in_real_transcripts_are_few() {
    let Some(folder) = shared("transcripts") else { return };
    let mut left = 12_000_000;
    let (mut bytes, mut found) = (0, BTreeMap::<&str, BTreeMap<String, u32>>::new());
    for name in ["claude-code", "codex", "pi"] {
        let mut own = left / 2;
        strings(&folder.join(name), &mut own, &mut |text| {
            bytes += text.len();
            for (range, rule) in secrets::find(text) {
                let shown: String = text[range.clone()].chars().take(6).collect();
                let before: String = text[..range.start].chars().rev().take(24).collect();
                let before: String = before.chars().rev().collect::<String>().replace('\n', " ");
                *found
                    .entry(rule)
                    .or_default()
                    .entry(format!("{before}[{shown}+{}]", range.len()))
                    .or_default() += 1;
            }
        });
        left = left / 2 + own;
    }
    let mut distinct = 0;
    for (rule, values) in &found {
        distinct += values.len();
        println!("{rule}: {} distinct", values.len());
        for (value, count) in values.iter().take(12) {
            println!("    {count:4} {value}");
        }
    }
    println!("{distinct} distinct in {bytes} bytes");
    // Hashes, ids, signatures and images are many; what is taken for a secret is rare.
    assert!(distinct <= 40 + bytes / 100_000, "{distinct} in {bytes} bytes");
}
