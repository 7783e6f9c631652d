//! The compacted form: a `compacted` line with our own replacement history, appended to the rollout.

use std::collections::BTreeMap;

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{BlockKind, BlockRef, Bytes, Record, SourceIndex, Speaker, Visibility};

use crate::fold::{Kept, check_rules, last_time, open_end, renamed_in_first_line};
use crate::format::{Edit, Format, Resume, Spliced};
use crate::ids::derive;
use crate::json::{Tape, write_string};
use crate::masks::Masks;
use crate::patch::{Patch, one_line};
use crate::responses::{COPIED_FROM, DERIVED_MARK};

/// An item of the history that would be sent.
struct Item {
    /// Where it stands: the record and the pointer of the item in it.
    at: (u32, String),
    blocks: Vec<BlockRef>,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Gone,
}

/// Writes the compacted rollout.
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
    let items = items(index, &Kept::new(index, spans, edit));
    let writer = Writer { source, index, masks: Masks::new(index, edit), originals: originals(index) };
    let time = last_time(source, index)?;
    let mut out = open_end(&bytes);
    out.extend_from_slice(br#"{"timestamp":"#);
    out.extend_from_slice(&time);
    out.extend_from_slice(br#","type":"compacted","payload":{"message":"","replacement_history":["#);
    writer.history(&items, &edit.summary, &mut out)?;
    out.extend_from_slice(b"]}}\n{\"timestamp\":");
    out.extend_from_slice(&time);
    out.extend_from_slice(b",\"type\":\"event_msg\",\"payload\":{\"type\":\"context_compacted\"}}\n");
    let kept: usize = items.iter().filter(|item| item.fate == Fate::Kept).map(|item| item.blocks.len()).sum();
    let index = check(format, index, &out, kept)?;
    Ok(Spliced { bytes: out, index })
}

/// How Codex goes on with the compacted rollout, under an id of its own.
pub(super) fn resume(index: &SourceIndex, edit: &Edit) -> Option<Resume> {
    let first = index.records.iter().find(|record| record.label == "session_meta")?;
    let own = first.id.as_deref()?;
    let id = if edit.is_empty() { own.to_owned() } else { session_id(edit, own) };
    let at = jiff::Timestamp::from_millisecond(first.time?.as_ms()).ok()?;
    let time = at.strftime("%Y-%m-%dT%H-%M-%S");
    Some(Resume {
        file_name: format!("rollout-{time}-{id}.jsonl"),
        command: format!("codex resume {id}"),
        directory: first.cwd.clone(),
    })
}

/// Gives the rollout the id under which it is resumed: a change of the first line and nothing else.
///
/// # Errors
/// `InvalidInput` when the first line holds no session.
pub(super) fn resumable(compacted: &[u8], edit: &Edit) -> Result<Vec<u8>> {
    let paths: [&[&str]; 2] = [&["payload", "id"], &["payload", "session_id"]];
    renamed_in_first_line(compacted, "session_meta", &paths, &|old| session_id(edit, old))
}

fn session_id(edit: &Edit, old: &str) -> String {
    derive("strongroom/codex/session", &[&edit.seed, old.as_bytes()])
}

/// The pointer of the item that a block is part of.
fn item_pointer(record: &Record, pointer: &str) -> Option<String> {
    if record.label.starts_with("response_item/") {
        return Some("/payload".to_owned());
    }
    let rest = pointer.strip_prefix("/payload/replacement_history/")?;
    let number = rest.split('/').next()?;
    Some(format!("/payload/replacement_history/{number}"))
}

/// The items that would be sent, in order, each with its fate.
fn items(index: &SourceIndex, kept: &Kept) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (at, block) in index.blocks().filter(|(_, block)| block.visibility == Visibility::Context) {
        let Some(record) = index.record(at) else { continue };
        // The summary of an old compaction is no item; it is written as one.
        let pointer = item_pointer(record, &block.pointer).unwrap_or_else(|| block.pointer.clone());
        let place = (at.record, pointer);
        match items.last_mut() {
            Some(last) if last.at == place => last.blocks.push(at),
            _ => items.push(Item { at: place, blocks: vec![at], fate: Fate::Gone }),
        }
    }
    for item in &mut items {
        if item.blocks.iter().any(|&at| kept.keeps(at)) {
            item.fate = Fate::Kept;
        }
    }
    drop_lonely_reasoning(index, &mut items);
    items
}

/// Sealed reasoning is valid only beside the items it was made with.
fn drop_lonely_reasoning(index: &SourceIndex, items: &mut [Item]) {
    let is_sealed = |item: &Item| {
        let block = item.blocks.first().and_then(|&at| index.block(at));
        block.is_some_and(|block| block.kind == BlockKind::Thinking && block.text.is_empty())
    };
    let mut next_is_kept = false;
    let mut fates: Vec<Fate> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        let before_is_kept = before.is_none_or(|before| before.fate == Fate::Kept || is_sealed(before));
        let lonely = is_sealed(item) && !(next_is_kept && before_is_kept);
        let fate = if lonely { Fate::Gone } else { item.fate };
        next_is_kept = fate == Fate::Kept;
        fates.push(fate);
    }
    for (item, fate) in items.iter_mut().zip(fates.into_iter().rev()) {
        item.fate = fate;
    }
}

/// For each event, the first block of it that stands in an item of its own.
fn originals(index: &SourceIndex) -> BTreeMap<BlockRef, BlockRef> {
    let mut originals = BTreeMap::new();
    for (at, block) in index.blocks() {
        if index.record(at).is_some_and(|record| record.label.starts_with("response_item/")) {
            originals.entry(block.copy_of.unwrap_or(at)).or_insert(at);
        }
    }
    originals
}

struct Writer<'s> {
    source: &'s dyn Bytes,
    index: &'s SourceIndex,
    masks: Masks<'s>,
    originals: BTreeMap<BlockRef, BlockRef>,
}

impl Writer<'_> {
    /// The initial context, the summary, then what is kept, in the old order.
    fn history(&self, items: &[Item], summary: &str, out: &mut Vec<u8>) -> Result<()> {
        let kept: Vec<&Item> = items.iter().filter(|item| item.fate == Fate::Kept).collect();
        let leads = |item: &&&Item| {
            item.blocks
                .iter()
                .filter_map(|&at| self.index.block(at))
                .all(|block| matches!(block.speaker, Speaker::Operator | Speaker::Harness))
        };
        let context = kept.iter().take_while(leads).count();
        let (context, rest) = kept.split_at_checked(context).unwrap_or_default();
        let mut list: Vec<Vec<u8>> = Vec::with_capacity(kept.len() + 1);
        for item in context {
            list.push(self.item(item)?);
        }
        if !summary.is_empty() {
            list.push(summary_item(summary));
        }
        for item in rest {
            list.push(self.item(item)?);
        }
        out.extend_from_slice(&list.join(b",".as_slice()));
        Ok(())
    }

    /// The bytes of an item: those of the first item that says it, with masks.
    fn item(&self, item: &Item) -> Result<Vec<u8>> {
        let own = item.blocks.first().copied().unwrap_or(BlockRef { record: item.at.0, block: 0 });
        let event = self.index.block(own).and_then(|block| block.copy_of).unwrap_or(own);
        let base = self.originals.get(&event).copied().unwrap_or(own);
        let Some(record) = self.index.record(base) else { return Ok(Vec::new()) };
        let pointer = if base == own { item.at.1.clone() } else { "/payload".to_owned() };
        let line = self.source.read(record.range)?;
        let mut tape = Tape::new();
        tape.scan(&line).map_err(|damage| Error::bug(format!("a line that was read before: {damage}")))?;
        let value = tape.root(&line, record.range.start()).and_then(|value| value.pointer(&pointer));
        let value = value.ok_or_else(|| Error::bug("an item that was read before is not there"))?;
        if value.string().is_some() {
            return Ok(summary_item(&value.string().unwrap_or_default()));
        }
        let mut patch = Patch::default();
        let mut masked = false;
        let own = (0u32..).zip(&record.blocks).filter(|(_, block)| value.range().contains(block.range));
        for (n, _) in own {
            let masks = self.masks.of(self.source, self.index, BlockRef { block: n, ..base })?;
            masked |= !masks.is_empty();
            patch.mask(self.index, masks.iter());
        }
        // A masked copy no longer says the same words: it names the line it was copied from.
        if let (true, Some(line), None) = (masked, record.line, value.get(COPIED_FROM)) {
            patch.insert(value.range().start() + 1, format!("\"{COPIED_FROM}\":{line},"));
        }
        Ok(one_line(patch.apply(value.raw(), value.range().start())))
    }
}

/// The summary as an item, marked as derived.
fn summary_item(summary: &str) -> Vec<u8> {
    let mut out = br#"{"type":"message","role":"user","content":[{"type":"input_text","text":"#.to_vec();
    write_string(&mut out, summary);
    out.extend_from_slice(format!("}}],\"{}\":\"{}\"}}", DERIVED_MARK.0, DERIVED_MARK.1).as_bytes());
    out
}

/// Reads the result again: what would be sent is the new history, in which every kept block is known as a copy.
fn check(format: &dyn Format, before: &SourceIndex, out: &dyn Bytes, kept: usize) -> Result<SourceIndex> {
    let after = format.index(out)?;
    let first = u32::try_from(before.records.len()).unwrap_or(u32::MAX);
    let sent = |from: u32, to: u32| {
        after.blocks().filter(move |(at, block)| {
            block.visibility == Visibility::Context && (from..to).contains(&at.record)
        })
    };
    if let Some((at, _)) = sent(0, first).next() {
        return Err(Error::bug(format!("record {} before the boundary would still be sent", at.record)));
    }
    let derived = sent(first, u32::MAX).filter(|(_, block)| block.kind == BlockKind::Summary).count();
    let others = sent(first, u32::MAX).count() - derived;
    if others > kept {
        return Err(Error::bug(format!("{others} blocks would be sent where {kept} were kept")));
    }
    check_rules(before, &after)?;
    Ok(after)
}
