//! F3: what was done to a file, by the tools that name it.

use std::collections::BTreeMap;

use super::{Ask, Call, Ground, Pair};
use crate::question::{Expect, Gold, quoted};
use crate::session::Outcome;

/// Tools that write the file they name, and the argument that names it.
const WRITERS: [(&str, &str); 4] = [
    ("Write", "file_path"),
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
];

/// How the lines of a patch begin that name a file.
const PATCH: [(&str, &str); 2] = [("*** Update File: ", "written"), ("*** Delete File: ", "deleted")];

/// Up to how many changes of one file are asked for.
const CHANGES: usize = 12;

pub(super) fn trail(ground: &Ground<'_>) -> Vec<Pair> {
    let written = written(ground);
    let mut read = only_read(ground, &written).into_iter();
    let mut found = Vec::new();
    for ((path, op), gold) in &written {
        let whole = gold.iter().all(Option::is_some) && gold.len() <= CHANGES;
        if !whole || !askable(path) || contained(&written, path) {
            continue;
        }
        let (Some(first), twin) = (calls_on(ground, path).next(), read.next()) else { continue };
        let asked = ask(path, op, ground.age(first.event));
        let gold = gold.iter().flatten().cloned().collect();
        let twin = twin.map(|twin| Ask { expect: Expect::Refused, ..ask(&twin, "written", asked.age) });
        found.push(Pair { asked: Ask { gold, ..asked }, twin });
    }
    found
}

fn ask(path: &str, op: &str, age: crate::question::Age) -> Ask {
    Ask {
        kind: if op == "deleted" { "file-deleted" } else { "file-written" },
        query: format!("list files op:{op} path:{}", quoted(path)),
        slots: vec![path.to_owned()],
        expect: Expect::AllCited,
        gold: Vec::new(),
        class: "side-effecting",
        age,
    }
}

type Written = BTreeMap<(String, &'static str), Vec<Option<Gold>>>;

/// The files that successful calls wrote, with the places that name them.
fn written(ground: &Ground<'_>) -> Written {
    let mut found = Written::new();
    for call in ground.calls.iter().filter(|call| call.outcome == Outcome::Worked) {
        for argument in call.arguments {
            let text = ground.session.text(argument.leaf);
            if WRITERS.contains(&(call.tool, argument.name.as_str())) {
                let gold = ground.gold(call.event, argument.leaf, 0..text.len());
                found.entry((text.to_owned(), "written")).or_default().push(gold);
            }
            if call.tool == "apply_patch" {
                patched(ground, call, argument.leaf, &mut found);
            }
        }
    }
    found
}

fn patched(ground: &Ground<'_>, call: &Call<'_>, leaf: usize, found: &mut Written) {
    let mut start = 0;
    for line in ground.session.text(leaf).split_inclusive('\n') {
        for (beginning, op) in PATCH {
            if let Some(path) = line.strip_prefix(beginning) {
                let from = start + beginning.len();
                let gold = ground.gold(call.event, leaf, from..from + path.trim_end().len());
                found.entry((path.trim_end().to_owned(), op)).or_default().push(gold);
            }
        }
        start += line.len();
    }
}

fn askable(path: &str) -> bool {
    path.contains('/') && !path.contains(['"', '\\', '*', '?', '\n']) && !super::window::secretive(path)
}

/// Whether another written path holds this one.
fn contained(written: &Written, path: &str) -> bool {
    written.keys().any(|(other, _)| other != path && other.contains(path))
}

fn calls_on<'g>(ground: &'g Ground<'_>, path: &'g str) -> impl Iterator<Item = &'g Call<'g>> {
    ground
        .calls
        .iter()
        .filter(move |call| call.arguments.iter().any(|own| ground.session.text(own.leaf).contains(path)))
}

/// Files that were read by name, and whose name stands in no argument of any other kind of call.
fn only_read(ground: &Ground<'_>, written: &Written) -> Vec<String> {
    let mut found = Vec::new();
    for call in ground.calls.iter().filter(|call| call.tool == "Read") {
        let named = call.arguments.iter().find(|own| own.name == "file_path");
        let Some(path) = named.map(|own| ground.session.text(own.leaf)) else { continue };
        let last = path.rsplit('/').next().unwrap_or(path);
        let elsewhere = ground
            .calls
            .iter()
            .filter(|other| other.tool != "Read")
            .any(|other| other.arguments.iter().any(|own| ground.session.text(own.leaf).contains(last)));
        if askable(path) && !elsewhere && !contained(written, path) && !found.iter().any(|own| own == path) {
            found.push(path.to_owned());
        }
    }
    found
}
