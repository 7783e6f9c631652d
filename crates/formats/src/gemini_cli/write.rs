//! The compacted log: a checkpoint, `$set` with our own list of messages, appended as the program appends its own.

use std::collections::BTreeSet;

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{BlockKind, BlockRef, Bytes, SourceIndex, Visibility};

use super::log::DERIVED_MARK;
use crate::elide::literal;
use crate::fold::{Kept, check_rules, open_end};
use crate::format::{Edit, Format, Spliced};
use crate::ids::derive;
use crate::json::{Tape, Value};
use crate::masks::Masks;
use crate::patch::{Patch, one_line};

/// Writes the compacted log.
///
/// # Errors
/// `Bug` when the result would not be read as meant.
pub(super) fn splice(
    format: &dyn Format,
    source: &dyn Bytes,
    index: &SourceIndex,
    spans: &Segmentation,
    edit: &Edit,
) -> Result<Spliced> {
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    if edit.is_empty() {
        return Ok(Spliced { bytes: bytes.into_owned(), index: index.clone() });
    }
    let kept = Kept::new(index, spans, edit);
    let mut messages: BTreeSet<(u32, String)> = BTreeSet::new();
    let mut order: Vec<(u32, String)> = Vec::new();
    let mut blocks = 0;
    for (at, block) in index.blocks().filter(|(_, block)| block.visibility == Visibility::Context) {
        let place = (at.record, message_pointer(&block.pointer));
        if kept.keeps(at) && messages.insert(place.clone()) {
            order.push(place);
        }
        blocks += usize::from(block.kind != BlockKind::Summary);
    }
    let masks = Masks::new(index, edit);
    let mut list = Vec::new();
    let time = time(index);
    if !edit.summary.is_empty() {
        list.push(summary(&edit.summary, &edit.seed, &time));
    }
    for (record, pointer) in &order {
        list.push(message(source, index, &masks, (*record, pointer))?);
    }
    let mut out = open_end(&bytes);
    out.extend_from_slice(br#"{"$set":{"messages":["#);
    out.extend_from_slice(&list.join(b",".as_slice()));
    out.extend([br#"],"lastUpdated":"#, time.as_slice()].concat());
    out.extend(format!(",\"{}\":\"{}\"}}}}\n", DERIVED_MARK.0, DERIVED_MARK.1).bytes());
    let index = check(format, index, &out, blocks)?;
    Ok(Spliced { bytes: out, index })
}

/// The pointer of the message that a block is part of, inside its line.
fn message_pointer(pointer: &str) -> String {
    match pointer.strip_prefix("/$set/messages/").and_then(|rest| rest.split('/').next()) {
        Some(number) => format!("/$set/messages/{number}"),
        None => String::new(),
    }
}

/// The time of the last line that has one.
fn time(index: &SourceIndex) -> Vec<u8> {
    let last = index.records.iter().rev().find_map(|record| record.time);
    let at = last.and_then(|time| jiff::Timestamp::from_millisecond(time.as_ms()).ok()).unwrap_or_default();
    literal(&at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// The bytes of a message, with masks.
fn message(
    source: &dyn Bytes,
    index: &SourceIndex,
    masks: &Masks<'_>,
    (record, pointer): (u32, &str),
) -> Result<Vec<u8>> {
    let own = BlockRef { record, block: 0 };
    let line = index.record(own).ok_or_else(|| Error::bug("a message without a record"))?;
    let bytes = source.read(line.range)?;
    let mut tape = Tape::new();
    tape.scan(&bytes).map_err(|damage| Error::bug(format!("a line that was read before: {damage}")))?;
    let value = tape.root(&bytes, line.range.start()).and_then(|value| value.pointer(pointer));
    let value = value.ok_or_else(|| Error::bug("a message that was read before is not there"))?;
    let mut patch = Patch::default();
    for (n, _) in (0u32..).zip(&line.blocks).filter(|(_, block)| value.range().contains(block.range)) {
        patch.mask(index, masks.of(source, index, BlockRef { record, block: n })?.iter());
    }
    add_id(value, line.line, pointer, &mut patch);
    Ok(one_line(patch.apply(value.raw(), value.range().start())))
}

/// A message without an id gets the one by which it is known as a copy.
fn add_id(value: Value<'_>, line: Option<u32>, pointer: &str, patch: &mut Patch) {
    if value.get("id").is_none() {
        let line = line.unwrap_or_default();
        let id =
            if pointer.is_empty() { format!("line {line}") } else { format!("{pointer} of line {line}") };
        let member = [br#""id":"#, literal(&id).as_slice(), b","].concat();
        patch.insert(value.range().start() + 1, member);
    }
}

fn summary(text: &str, seed: &[u8], time: &[u8]) -> Vec<u8> {
    let id = derive("strongroom/gemini-cli/summary", &[seed, text.as_bytes()]);
    let head = format!(r#"{{"id":"{id}","timestamp":"#);
    [head.as_bytes(), time, br#","type":"user","content":"#, &literal(text), b"}"].concat()
}

/// Reads the result again: what would be sent is the new list, in which every kept part is known as a copy.
fn check(
    format: &dyn Format,
    before: &SourceIndex,
    out: &dyn Bytes,
    sent_before: usize,
) -> Result<SourceIndex> {
    let after = format.index(out)?;
    let first = u32::try_from(before.records.len()).unwrap_or(u32::MAX);
    let sent = || after.blocks().filter(|(_, block)| block.visibility == Visibility::Context);
    if let Some((at, _)) = sent().find(|(at, _)| at.record < first) {
        return Err(Error::bug(format!("record {} before the checkpoint would still be sent", at.record)));
    }
    let others = || sent().filter(|(_, block)| block.kind != BlockKind::Summary);
    if others().count() > sent_before {
        return Err(Error::bug("more would be sent than before"));
    }
    if let Some((at, _)) = others().find(|(_, block)| block.copy_of.is_none()) {
        return Err(Error::bug(format!("part {} of the checkpoint would not be known as a copy", at.block)));
    }
    check_rules(before, &after)?;
    Ok(after)
}
