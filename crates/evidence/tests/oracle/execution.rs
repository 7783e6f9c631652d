//! Command lines of our own are run in a scratch tree; every path that changed must have been predicted.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use strongroom_core::evidence::Certainty;
use strongroom_evidence::effect::{Access, Effect, EffectKind as K, Target};
use strongroom_evidence::place::{Cwd, ProjectFacts, is_inside};
use strongroom_evidence::trace::{Artifacts, trace};
use testkit::figure::{figure, share};

use crate::lines;
use crate::tree::{Ran, Tree, View};

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Gone,
    Made,
    Changed,
}

/// How far a prediction names what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cover {
    /// A run or a target of which nothing is known takes it in.
    Open,
    /// A path, a directory or a pattern names it.
    Named,
}

/// What came of one line.
#[derive(Default)]
struct Verdict {
    skipped: Option<String>,
    misses: Vec<String>,
    open: Vec<String>,
    unfulfilled: Vec<String>,
}

/// What a line does by the tables, with paths below the root of the tree.
fn predict(tree: &Tree, line: &str) -> Vec<Effect> {
    let place = |part: &str| format!("{}/{part}", tree.root());
    let places = ProjectFacts { cwd: Some(place("app")), home: Some(place("home")) };
    let report = trace(line, Cwd::at(place("app")), &places, &mut Artifacts::default());
    let mutations = report.effects.into_iter().map(|one| one.effect);
    mutations.filter(|effect| effect.kind.access() == Access::Mutation).collect()
}

fn changes(before: &View, after: &View) -> Vec<(String, Change, bool)> {
    let mut all = Vec::new();
    for (path, seen) in before {
        match after.get(path) {
            None => all.push((path.clone(), Change::Gone, seen.directory)),
            Some(now) if now != seen => all.push((path.clone(), Change::Changed, false)),
            Some(_) => {}
        }
    }
    let made = after.iter().filter(|(path, _)| !before.contains_key(*path));
    all.extend(made.map(|(path, seen)| (path.clone(), Change::Made, seen.directory)));
    all.sort_by(|one, two| one.0.cmp(&two.0));
    all
}

/// Whether `kind` can bring `change` about.
fn brings(kind: K, change: Change) -> bool {
    match change {
        Change::Gone => matches!(kind, K::FsDelete | K::FsMove | K::FsDiscard),
        Change::Made => matches!(kind, K::FsWrite | K::FsAppend | K::FsLink | K::FsDiscard),
        Change::Changed => kind.is_under("fs"),
    }
}

/// How `effect` takes in a change; directories come and go with what lies below them.
fn cover(effect: &Effect, (path, change, directory): &(String, Change, bool)) -> Option<Cover> {
    if effect.kind.is_under("exec") {
        return Some(Cover::Open);
    }
    if effect.kind.is_under("vcs") {
        return path.contains("/.git").then_some(Cover::Named);
    }
    if effect.kind.is_under("db") {
        return path.ends_with(".sqlite").then_some(Cover::Named);
    }
    if !brings(effect.kind, *change) {
        return None;
    }
    match &effect.target {
        Target::Path { resolved: own, .. } if !own.starts_with('/') => {
            path.ends_with(&format!("/{own}")).then_some(Cover::Open)
        }
        Target::Path { resolved: own, .. } | Target::Under(own) => {
            let parent = *directory && *change != Change::Changed && is_inside(own, path);
            (is_inside(path, own) || parent).then_some(Cover::Named)
        }
        Target::Unknown => Some(Cover::Open),
        Target::Named(_) => None,
    }
}

/// Definite predictions of which nothing came though the line succeeded.
fn unfulfilled(effects: &[Effect], changed: &[(String, Change, bool)], ran: &Ran) -> Vec<String> {
    let certain = effects.iter().filter(|effect| {
        ran.code == Some(0)
            && effect.certainty == Certainty::Definite
            && matches!(effect.kind, K::FsWrite | K::FsAppend | K::FsDelete | K::FsMove | K::FsLink)
    });
    let missing = certain.filter(|effect| !changed.iter().any(|change| cover(effect, change).is_some()));
    missing.map(|effect| format!("{} {}", effect.kind.word(), effect.target.words())).collect()
}

/// Runs `line`, compares, and takes the tree back to `before`.
fn judge(tree: &Tree, model: &Tree, line: &str, before: &View) -> Verdict {
    let line = tree.fill(line);
    let effects = predict(tree, &line);
    let ran = tree.run(&line);
    let mut changed = changes(before, &tree.look());
    let paths: Vec<String> = changed.iter().map(|(path, _, _)| path.clone()).collect();
    tree.restore(model, before, &paths);
    // Looking at a repository refreshes the times that its index holds.
    changed.retain(|(path, change, _)| !(*change == Change::Changed && path.ends_with("/.git/index")));
    for (path, _, _) in &mut changed {
        *path = format!("{}/{path}", tree.root());
    }
    let mut verdict = Verdict::default();
    for change in &changed {
        let found = effects.iter().filter_map(|effect| cover(effect, change)).max();
        let shown = format!("{:?} {}", change.1, change.0);
        match found {
            None => verdict.misses.push(shown),
            Some(Cover::Open) => verdict.open.push(shown),
            Some(Cover::Named) => {}
        }
    }
    verdict.unfulfilled = unfulfilled(&effects, &changed, &ran);
    let missing = ran.errors.contains("command not found") && !line.contains("nosuchprogram");
    if missing || ran.code.is_none() {
        verdict.skipped = Some(ran.errors.lines().next().unwrap_or("it took too long").to_owned());
    }
    verdict
}

/// Runs every line of `share` in a copy of `model` of its own.
fn run_all(model: &Tree, name: &str, share: &[String], found: &Mutex<BTreeMap<String, Verdict>>) {
    let folder = tempfile::tempdir().unwrap();
    let tree = model.copy(folder.path().join(name));
    let before = tree.look();
    for line in share {
        let verdict = judge(&tree, model, line, &before);
        found.lock().unwrap().insert(line.clone(), verdict);
    }
    assert_eq!(changes(&before, &tree.look()), [], "the tree was not taken back");
}

#[test]
fn what_changed_was_predicted() {
    let start = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let model = Tree::make(folder.path().join("model"));
    let all = lines::all();
    let found = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for (at, share) in all.chunks(all.len().div_ceil(2)).enumerate() {
            let (model, found) = (&model, &found);
            scope.spawn(move || run_all(model, &format!("t{at}"), share, found));
        }
    });
    println!("{:.1} s", start.elapsed().as_secs_f64());
    report(&found.into_inner().unwrap());
}

fn report(found: &BTreeMap<String, Verdict>) {
    let show = |title: &str, pick: &dyn Fn(&Verdict) -> Vec<String>| {
        let rows: Vec<(String, Vec<String>)> = found
            .iter()
            .map(|(line, verdict)| (line.replace('\n', "\\n"), pick(verdict)))
            .filter(|(_, list)| !list.is_empty())
            .collect();
        println!("{title}: {} lines", rows.len());
        for (line, list) in &rows {
            println!("    {line}\n        {}", list.join("\n        "));
        }
        rows.len()
    };
    let skipped = show("SKIPPED", &|verdict| verdict.skipped.iter().cloned().collect());
    show("definite, but nothing came of it", &|verdict| verdict.unfulfilled.clone());
    let open = show("taken in by an open prediction only", &|verdict| verdict.open.clone());
    let misses = show("MISSED", &|verdict| verdict.misses.clone());
    figure(
        "lines run in a scratch tree with a change not predicted",
        share(misses, found.len() - skipped),
        "0",
    );
    assert!(found.len() - skipped >= 300, "too few lines could be run");
    assert_eq!(misses, 0, "changes that no prediction takes in");
    assert!(open * 100 < found.len() * 15, "{open} lines are predicted by open effects only");
}
