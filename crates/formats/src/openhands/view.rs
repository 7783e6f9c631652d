//! What is sent: all events but those that a condensation has forgotten, and the newest summary.

use std::collections::BTreeSet;

use strongroom_core::transcript::{Record, RecordKind, Visibility};

/// What a condensation forgets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condensation {
    /// The events with these ids.
    Events(Vec<String>),
    /// The events whose numbers lie in this range, ends included.
    Range(i64, i64),
}

/// Sets the visibility of all records.
pub(super) fn resolve(records: &mut [Record], condensations: &[(u64, Condensation)]) {
    let mut forgotten: BTreeSet<&str> = BTreeSet::new();
    let mut ranges = Vec::new();
    for (_, condensation) in condensations {
        match condensation {
            Condensation::Events(ids) => forgotten.extend(ids.iter().map(String::as_str)),
            Condensation::Range(from, to) => ranges.push(*from..=*to),
        }
    }
    let newest =
        records.iter().rposition(|record| record.kind == RecordKind::Boundary && !record.blocks.is_empty());
    for (at, record) in records.iter_mut().enumerate() {
        let id = record.id.as_deref();
        let number = id.and_then(|id| id.parse::<i64>().ok());
        let is_gone = id.is_some_and(|id| forgotten.contains(id))
            || number.is_some_and(|number| ranges.iter().any(|range| range.contains(&number)));
        let is_old = record.kind == RecordKind::Boundary && newest != Some(at);
        for block in record.blocks.iter_mut().filter(|_| is_gone || is_old) {
            if block.visibility == Visibility::Context {
                block.visibility = Visibility::Past;
            }
        }
    }
}
