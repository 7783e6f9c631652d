//! The compacted form: pi's own `compaction` entry, then copies of what is kept, each the child of the one before.

use std::collections::{BTreeSet, HashSet};

use strongroom_core::digest::Digest;
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    BlockKind, BlockRef, Branch, Bytes, Record, RecordKind, SourceIndex, Visibility,
};

use super::read::CARRIED_SUMMARY;
use crate::copies::COPIED_FROM;
use crate::elide::literal;
use crate::fold::{Kept, check_rules, is_sent, last_time, open_end, renamed_in_first_line};
use crate::format::{Edit, Format, Resume, Spliced};
use crate::ids::derive;
use crate::json::{Tape, Value};
use crate::masks::Masks;
use crate::patch::{Patch, one_line};

/// Writes the compacted session.
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
    let records: BTreeSet<u32> = index
        .blocks()
        .filter(|(at, block)| block.visibility == Visibility::Context && kept.keeps(*at))
        .map(|(at, _)| at.record)
        .collect();
    let mut writer = Writer::new(source, index, edit)?;
    let mut out = open_end(&bytes);
    writer.boundary(&edit.summary, &mut out);
    for &record in &records {
        writer.copy(record, &mut out)?;
    }
    let index = check(format, index, &out, records.len())?;
    Ok(Spliced { bytes: out, index })
}

/// How pi goes on with the compacted session, under an id of its own.
pub(super) fn resume(index: &SourceIndex, edit: &Edit) -> Option<Resume> {
    let header = index.records.iter().find(|record| record.label == "session")?;
    let own = header.id.as_deref()?;
    let id = if edit.is_empty() { own.to_owned() } else { session_id(edit, own) };
    let at = jiff::Timestamp::from_millisecond(header.time?.as_ms()).ok()?;
    let time = at.strftime("%Y-%m-%dT%H-%M-%S-%3fZ");
    Some(Resume {
        file_name: format!("{time}_{id}.jsonl"),
        command: "pi --session {file}".to_owned(),
        directory: header.cwd.clone(),
    })
}

fn session_id(edit: &Edit, old: &str) -> String {
    derive("strongroom/pi/session", &[&edit.seed, old.as_bytes()])
}

/// Gives the session the id under which it is resumed: a change of the header and nothing else.
///
/// # Errors
/// `InvalidInput` when the first line is no header.
pub(super) fn resumable(compacted: &[u8], edit: &Edit) -> Result<Vec<u8>> {
    renamed_in_first_line(compacted, "session", &[&["id"]], &|old| session_id(edit, old))
}

struct Writer<'s> {
    source: &'s dyn Bytes,
    index: &'s SourceIndex,
    masks: Masks<'s>,
    seed: &'s [u8],
    /// The ids in use; empty in the oldest form, whose entries stand in a row.
    ids: HashSet<String>,
    /// The entry that the next one is a child of.
    previous: Option<String>,
    time: Vec<u8>,
}

impl<'s> Writer<'s> {
    fn new(source: &'s dyn Bytes, index: &'s SourceIndex, edit: &'s Edit) -> Result<Self> {
        let entries = || index.records.iter().filter(|record| record.label != "session");
        let ids: HashSet<String> = entries().filter_map(|record| record.id.clone()).collect();
        let leaf = entries().rev().find(|record| record.id.is_some() && record.branch == Branch::Active);
        Ok(Self {
            source,
            index,
            masks: Masks::new(index, edit),
            seed: &edit.seed,
            ids,
            previous: leaf.and_then(|record| record.id.clone()),
            time: last_time(source, index)?,
        })
    }

    /// An id of eight digits that no entry has.
    fn fresh_id(&mut self, of: &str) -> String {
        let mut counter = 0u32;
        loop {
            let parts: [&[u8]; 3] = [self.seed, of.as_bytes(), &counter.to_be_bytes()];
            let mut id = Digest::of_parts("strongroom/pi/entry", parts).to_string();
            id.truncate(8);
            if self.ids.insert(id.clone()) {
                return id;
            }
            counter = counter.wrapping_add(1);
        }
    }

    /// The entry by which pi forgets what stands before it: what it keeps begins at itself.
    fn boundary(&mut self, summary: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"type":"compaction","#);
        let kept = if self.previous.is_some() {
            let parent = self.previous.take().unwrap_or_default();
            let id = self.fresh_id("boundary");
            out.extend(
                [br#""id":"#, literal(&id).as_slice(), br#","parentId":"#, &literal(&parent), b","].concat(),
            );
            self.previous = Some(id.clone());
            [br#""firstKeptEntryId":"#, literal(&id).as_slice()].concat()
        } else {
            let readable = |record: &&Record| record.kind != RecordKind::Opaque;
            format!("\"firstKeptEntryIndex\":{}", self.index.records.iter().filter(readable).count())
                .into_bytes()
        };
        let tokens = self.index.usage.last().map_or(0, |usage| usage.context_tokens);
        out.extend(
            [br#""timestamp":"#, self.time.as_slice(), br#","summary":"#, &literal(summary), b","].concat(),
        );
        out.extend(kept);
        out.extend(format!(",\"tokensBefore\":{tokens},\"details\":{{\"derived_by\":\"strongroom\"}},\"fromHook\":true}}\n").bytes());
    }

    /// A copy of the first record that says it, with new links.
    fn copy(&mut self, at: u32, out: &mut Vec<u8>) -> Result<()> {
        let own = BlockRef { record: at, block: 0 };
        let base = self.index.block(own).and_then(|block| block.copy_of).map_or(at, |first| first.record);
        let Some(record) = self.index.record(BlockRef { record: base, block: 0 }) else { return Ok(()) };
        let line = self.source.read(record.range)?;
        let mut tape = Tape::new();
        tape.scan(&line).map_err(|damage| Error::bug(format!("a line that was read before: {damage}")))?;
        let value = tape.root(&line, record.range.start());
        let value = value.ok_or_else(|| Error::bug("a scanned line without a value"))?;
        let mut patch = Patch::default();
        for block in (0u32..).take(record.blocks.len()) {
            let masks = self.masks.of(self.source, self.index, BlockRef { record: base, block })?;
            patch.mask(self.index, masks.iter());
        }
        let links = self.links(record);
        if record.kind == RecordKind::Boundary {
            out.extend(self.carried_summary(value, patch, &links));
        } else {
            Self::relink(value, &mut patch, &links);
            out.extend(one_line(patch.apply(&line, record.range.start())));
        }
        out.push(b'\n');
        Ok(())
    }

    /// The members that bind a copy: its id and its parent's, and the line it was copied from.
    fn links(&mut self, record: &Record) -> Vec<(&'static str, Vec<u8>)> {
        let mut links = Vec::new();
        if let Some(parent) = self.previous.take() {
            let line = record.line.unwrap_or_default();
            let id = self.fresh_id(&format!("copy of line {line} behind {parent}"));
            links.push(("id", literal(&id)));
            links.push(("parentId", literal(&parent)));
            self.previous = Some(id);
        }
        links.extend(record.line.map(|line| (COPIED_FROM, line.to_string().into_bytes())));
        links
    }

    fn relink(value: Value<'_>, patch: &mut Patch, links: &[(&str, Vec<u8>)]) {
        for (key, new) in links {
            let old: Vec<Value<'_>> =
                value.entries().filter(|(name, _)| name.is(key)).map(|(_, value)| value).collect();
            if old.is_empty() {
                let member = [format!("\"{key}\":").as_bytes(), new, b","].concat();
                patch.insert(value.range().start() + 1, member);
            }
            for old in old {
                patch.replace(old.range(), new.clone());
            }
        }
    }

    /// A summary of another compaction that stays, as a message: a second compaction would end what is sent.
    fn carried_summary(&self, value: Value<'_>, patch: Patch, links: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let summary = value.get("summary");
        let text = summary.map(|text| patch.apply(text.raw(), text.range().start())).unwrap_or_default();
        let mut out = br#"{"type":"custom_message","#.to_vec();
        for (key, new) in links {
            out.extend([format!("\"{key}\":").as_bytes(), new, b","].concat());
        }
        let kind = format!("\"customType\":\"{CARRIED_SUMMARY}\",\"display\":true,\"content\":");
        out.extend([br#""timestamp":"#, self.time.as_slice(), b",", kind.as_bytes(), &text, b"}"].concat());
        one_line(out)
    }
}

/// Reads the result again: what would be sent is the summary and the copies, each known as one.
fn check(format: &dyn Format, before: &SourceIndex, out: &dyn Bytes, copies: usize) -> Result<SourceIndex> {
    let after = format.index(out)?;
    let (old, appended) = after.records.split_at_checked(before.records.len()).unwrap_or_default();
    if let Some(record) = old.iter().find(|record| is_sent(record)) {
        let line = record.line.unwrap_or_default();
        return Err(Error::bug(format!("line {line} before the boundary would still be sent")));
    }
    let is_copy = |record: &&Record| record.blocks.iter().any(|block| block.copy_of.is_some());
    let known = appended.iter().filter(is_copy).filter(|record| is_sent(record)).count();
    if known != copies {
        return Err(Error::bug(format!("{known} of {copies} copies would be known as copies and sent")));
    }
    let derived = |record: &&Record| record.blocks.iter().any(|block| block.kind == BlockKind::Summary);
    if appended.iter().take(1).filter(derived).count() == 0 && appended.iter().any(|record| derived(&record))
    {
        return Err(Error::bug("the summary does not lead"));
    }
    check_rules(before, &after)?;
    Ok(after)
}
