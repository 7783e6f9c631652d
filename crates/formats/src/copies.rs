//! Copies that name the line they were copied from.

use std::collections::BTreeMap;

use strongroom_core::transcript::{Block, BlockKind, BlockRef, Finding, Level, Record};

use crate::elide::{answered_id, call_id};
use crate::part::finding;

/// The member by which a copy names the line it was copied from; agents ignore members they do not know.
pub(crate) const COPIED_FROM: &str = "copied_from_line";

/// Binds each record of `named` to the earlier line it names, where both say the same; returns what was found.
pub(crate) fn resolve(records: &mut [Record], named: &BTreeMap<usize, u32>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&at, &line) in named {
        let original = records.partition_point(|record| record.line < Some(line));
        let Some((earlier, rest)) = records.split_at_mut_checked(at) else { continue };
        let (Some(copy), Some(original_record)) = (rest.first_mut(), earlier.get(original)) else { continue };
        if original_record.line == Some(line) && is_likeness(original_record, copy) {
            bind(original_record, original, copy);
        } else {
            let message = format!("a copy of line {line} that says something else");
            findings.push(finding(Level::Warning, "copy-conflict", copy.line, "", message));
        }
    }
    findings
}

/// A copy of a copy is one of the first.
fn bind(original: &Record, at: usize, copy: &mut Record) {
    let record = u32::try_from(at).unwrap_or(u32::MAX);
    for ((block, first), n) in copy.blocks.iter_mut().zip(&original.blocks).zip(0u32..) {
        block.copy_of = Some(first.copy_of.unwrap_or(BlockRef { record, block: n }));
    }
}

/// Whether two records are the same parts by the same speakers, with the same names, ids and outcomes. Strings may
/// differ, where a view hides a part of them.
fn is_likeness(original: &Record, copy: &Record) -> bool {
    original.blocks.len() == copy.blocks.len()
        && !copy.blocks.is_empty()
        && original.blocks.iter().zip(&copy.blocks).all(|(one, two)| is_like(one, two))
}

/// Whether two blocks are of one kind, by one speaker, with the same names and ids.
pub(crate) fn is_like(one: &Block, two: &Block) -> bool {
    let same_kind = match (&one.kind, &two.kind) {
        (BlockKind::Call(one), BlockKind::Call(two)) => one.tool == two.tool,
        (BlockKind::Result(one), BlockKind::Result(two)) => one.error == two.error,
        (one, two) => std::mem::discriminant(one) == std::mem::discriminant(two),
    };
    same_kind
        && one.speaker == two.speaker
        && one.text.len() == two.text.len()
        && call_id(one) == call_id(two)
        && answered_id(one) == answered_id(two)
}
