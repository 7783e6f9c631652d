//! What pi would load: the entries from the last one up to the root, behind the last compaction among them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use strongroom_core::transcript::{Branch, Record, Visibility};

use super::read::{Entry, Kept, Role};

/// Sets branch and visibility of all records.
pub(super) fn resolve(records: &mut [Record], entries: &BTreeMap<usize, Entry>) {
    let (path, is_whole) = path(entries);
    let sent = sent(&path, entries);
    let on_path: BTreeSet<usize> = path.iter().copied().collect();
    let first = path.first().copied().unwrap_or_default();
    for (&at, entry) in entries {
        let Some(record) = records.get_mut(at).filter(|_| entry.role != Role::None) else { continue };
        if sent.contains(&at) {
            continue;
        }
        // What stands before a broken link was cut off, and nobody left it.
        if !on_path.contains(&at) && (is_whole || at > first) {
            record.branch = Branch::Abandoned;
        }
        for block in record.blocks.iter_mut().filter(|block| block.visibility == Visibility::Context) {
            block.visibility = Visibility::Past;
        }
    }
}

/// The entries from the root to the leaf, and whether the way up ends at a root.
fn path(entries: &BTreeMap<usize, Entry>) -> (Vec<usize>, bool) {
    let in_tree = |entry: &&Entry| entry.role != Role::None;
    if !entries.values().filter(in_tree).any(|entry| entry.id.is_some()) {
        return (entries.iter().filter(|(_, entry)| in_tree(entry)).map(|(&at, _)| at).collect(), true);
    }
    let by_id: HashMap<&str, usize> = entries
        .iter()
        .filter(|(_, entry)| in_tree(entry))
        .filter_map(|(&at, entry)| Some((entry.id.as_deref()?, at)))
        .collect();
    let headers: BTreeSet<&str> =
        entries.values().filter(|entry| !in_tree(entry)).filter_map(|entry| entry.id.as_deref()).collect();
    let mut path = Vec::new();
    let mut seen = BTreeSet::new();
    let mut at = entries.iter().rev().find(|(_, entry)| in_tree(entry)).map(|(&at, _)| at);
    let mut is_whole = true;
    while let Some(own) = at.filter(|own| seen.insert(*own)) {
        path.push(own);
        let parent = entries.get(&own).and_then(|entry| entry.parent.as_deref());
        at = parent.and_then(|parent| by_id.get(parent).copied());
        is_whole = at.is_some() || parent.is_none_or(|parent| headers.contains(parent));
    }
    path.reverse();
    (path, is_whole)
}

/// The entries that would be sent.
fn sent(path: &[usize], entries: &BTreeMap<usize, Entry>) -> BTreeSet<usize> {
    let compaction = path
        .iter()
        .rposition(|at| entries.get(at).is_some_and(|entry| matches!(entry.role, Role::Compaction(_))));
    let Some(place) = compaction else { return path.iter().copied().collect() };
    let at = path.get(place).copied().unwrap_or_default();
    let first = match entries.get(&at).map(|entry| &entry.role) {
        Some(Role::Compaction(Kept::At(number))) => {
            let target = entries.keys().nth(*number).copied();
            path.iter().take(place).position(|own| Some(*own) >= target && target.is_some())
        }
        Some(Role::Compaction(Kept::From(Some(id)))) => path
            .iter()
            .take(place)
            .position(|own| entries.get(own).is_some_and(|entry| entry.id.as_deref() == Some(id.as_str()))),
        _ => None,
    };
    let kept = path.iter().take(place).skip(first.unwrap_or(place));
    let behind = path.iter().skip(place);
    // Compactions that stand among what is kept are not sent again.
    let is_entry = |at: &&usize| entries.get(at).is_some_and(|entry| entry.role == Role::Entry);
    kept.filter(is_entry).chain(behind).copied().collect()
}
