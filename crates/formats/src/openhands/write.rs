//! The compacted form: one condensation more, which names the forgotten events and holds the summary.

use std::collections::BTreeSet;

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{BlockKind, Bytes, Record, RecordKind, SourceIndex, Visibility};

use super::Shape;
use crate::content::text;
use crate::elide::literal;
use crate::fold::{Kept, check_rules, is_sent};
use crate::format::{Edit, Format, Spliced};
use crate::ids::derive;
use crate::json::{Tape, Value};
use crate::patch::Patch;

/// Writes the events with a condensation behind them; only masks change an event itself.
///
/// # Errors
/// `InvalidInput` when an event to be forgotten has no id, `Bug` when the result would not be read as meant.
pub(super) fn splice(
    format: &dyn Format,
    shape: Shape,
    source: &dyn Bytes,
    (index, spans): (&SourceIndex, &Segmentation),
    edit: &Edit,
) -> Result<Spliced> {
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    if edit.is_empty() {
        return Ok(Spliced { bytes: bytes.into_owned(), index: index.clone() });
    }
    let kept = Kept::new(index, spans, edit);
    let keeps: BTreeSet<u32> =
        index.blocks().filter(|(at, _)| kept.keeps(*at)).map(|(at, _)| at.record).collect();
    let is_event = |record: &Record| record.kind == RecordKind::Message && is_sent(record);
    let places = || index.records.iter().zip(0u32..);
    let gone: Vec<&Record> = places()
        .filter(|(record, at)| is_event(record) && !keeps.contains(at))
        .map(|(record, _)| record)
        .collect();
    let offset = places().take_while(|(record, at)| !is_event(record) || keeps.contains(at));
    let offset = offset.filter(|(record, _)| is_event(record)).count();
    let last = index.records.iter().rev().find(|record| record.id.is_some());
    let last = last.ok_or_else(|| Error::invalid_input("events without ids cannot be forgotten"))?;
    let line = source.read(last.range)?;
    let mut tape = Tape::new();
    tape.scan(&line).map_err(|damage| Error::bug(format!("an event that was read before: {damage}")))?;
    let value = tape.root(&line, last.range.start()).ok_or_else(|| Error::bug("an event without a value"))?;
    let summary = summary(source, index, &keeps, edit)?;
    let event = Event { last: value, gone: &gone, offset, summary: &summary, seed: &edit.seed };
    let mut patch = Patch::default();
    patch.mask(index, edit.masks.iter());
    insert(event.write(index)?, shape, &bytes, index, &mut patch);
    let out = patch.apply(&bytes, 0);
    let index = check(format, index, &out, gone.len())?;
    Ok(Spliced { bytes: out, index })
}

/// The newest summary is the only one that is sent: one that stays is carried behind ours.
fn summary(source: &dyn Bytes, index: &SourceIndex, keeps: &BTreeSet<u32>, edit: &Edit) -> Result<String> {
    let mut out = edit.summary.clone();
    for (record, at) in index.records.iter().zip(0u32..) {
        if record.kind != RecordKind::Boundary || !is_sent(record) || !keeps.contains(&at) {
            continue;
        }
        for range in record.blocks.iter().flat_map(|block| &block.text) {
            out.push_str(if out.is_empty() { "" } else { "\n\n" });
            out.push_str(&text(source, *range)?);
        }
    }
    Ok(out)
}

/// A condensation to be written.
struct Event<'e> {
    /// The last event, whose generation and time it shares.
    last: Value<'e>,
    gone: &'e [&'e Record],
    /// How many of the events that are sent stand in front of the summary.
    offset: usize,
    summary: &'e str,
    seed: &'e [u8],
}

impl Event<'_> {
    fn write(&self, index: &SourceIndex) -> Result<Vec<u8>> {
        let time =
            self.last.get("timestamp").map_or(br#""1970-01-01T00:00:00.000000""#.as_slice(), Value::raw);
        let missing = || Error::invalid_input("an event without an id cannot be forgotten");
        let ids: Vec<&str> =
            self.gone.iter().map(|record| record.id.as_deref().ok_or_else(missing)).collect::<Result<_>>()?;
        if self.last.get("kind").is_some() {
            let ids: Vec<Vec<u8>> = ids.into_iter().map(literal).collect();
            return Ok(self.second(time, &ids.join(b",".as_slice())));
        }
        let numbers = index.records.iter().filter_map(|record| record.id.as_deref()?.parse::<i64>().ok());
        let id = numbers.max().unwrap_or_default().saturating_add(1);
        let head = format!(r#"{{"id": {id}, "timestamp": "#);
        let rest = format!(
            r#", "source": "agent", "message": "Summary", "action": "condensation", "args": {{"forgotten_event_ids": [{}], "forgotten_events_start_id": null, "forgotten_events_end_id": null, "summary": "#,
            ids.join(", ")
        );
        let tail = format!(r#", "summary_offset": {}}}}}"#, self.offset);
        let parts = [head.as_bytes(), time, rest.as_bytes(), &literal(self.summary), tail.as_bytes()];
        Ok(parts.concat())
    }

    fn second(&self, time: &[u8], ids: &[u8]) -> Vec<u8> {
        let id = derive("strongroom/openhands/condensation", &[self.seed, self.summary.as_bytes()]);
        let head = format!(r#"{{"id":"{id}","timestamp":"#);
        let tail = format!(
            r#","summary_offset":{},"llm_response_id":"strongroom-{id}","kind":"Condensation"}}"#,
            self.offset
        );
        [
            head.as_bytes(),
            time,
            br#","source":"environment","forgotten_event_ids":["#,
            ids,
            br#"],"summary":"#,
            &literal(self.summary),
            tail.as_bytes(),
        ]
        .concat()
    }
}

/// Behind the last event: on a line of its own, or as the last element of the list.
fn insert(event: Vec<u8>, shape: Shape, bytes: &[u8], index: &SourceIndex, patch: &mut Patch) {
    if shape == Shape::Lines {
        let mut line = if bytes.ends_with(b"\n") { Vec::new() } else { b"\n".to_vec() };
        line.extend(event);
        line.push(b'\n');
        return patch.insert(index.len, line);
    }
    let elements = index.records.iter().filter(|record| record.label != "events");
    let Some(last) =
        elements.filter(|record| is_element(&record.pointer)).max_by_key(|record| record.range.end())
    else {
        return;
    };
    let start = usize::try_from(last.range.start()).unwrap_or_default();
    let before = bytes.get(..start).unwrap_or_default();
    let space = before.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut element = b",".to_vec();
    element.extend_from_slice(before.get(before.len() - space..).unwrap_or_default());
    element.extend(event);
    patch.insert(last.range.end(), element);
}

/// Whether a pointer leads to an element of the list of events.
fn is_element(pointer: &str) -> bool {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the result again: forgotten events are sent no longer, and all others are.
fn check(format: &dyn Format, before: &SourceIndex, out: &dyn Bytes, gone: usize) -> Result<SourceIndex> {
    let after = format.index(out)?;
    let sent = |index: &SourceIndex| {
        let is_event = |record: &&Record| record.kind == RecordKind::Message && is_sent(record);
        index.records.iter().filter(is_event).count()
    };
    if sent(&after) + gone != sent(before) {
        return Err(Error::bug(format!(
            "{} of {} events would be sent where {gone} are forgotten",
            sent(&after),
            sent(before)
        )));
    }
    let summaries = after
        .blocks()
        .filter(|(_, block)| block.kind == BlockKind::Summary && block.visibility == Visibility::Context);
    if summaries.count() > 1 {
        return Err(Error::bug("more than one summary would be sent"));
    }
    check_rules(before, &after)?;
    Ok(after)
}
