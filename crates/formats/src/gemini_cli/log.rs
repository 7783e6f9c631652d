//! Lines of messages and patches: the last line with an id counts, `$set` replaces, `$rewindTo` takes back.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Block, BlockKind, BlockRef, Branch, Bytes, Finding, Form, Record, RecordKind, SourceIndex, Speaker,
    Visibility,
};

use super::message::Reader;
use crate::copies::is_like;
use crate::ids::is_derived;
use crate::json::{Kind, Value};
use crate::lines::{blank_record, read_records};
use crate::part::{owned, time_of};

/// The member by which a checkpoint of ours is known.
pub(super) const DERIVED_MARK: (&str, &str) = ("derived_by", "strongroom");

/// What a line does to the conversation.
#[derive(Debug)]
enum Step {
    /// The message with this id is appended, or replaced in its place.
    Message(String),
    /// The conversation is replaced by these messages: ids and where they stand.
    Replaced(Vec<(String, ByteRange)>, Writer),
    /// The message with this id and what follows it is taken back.
    Rewound(String),
}

/// Who wrote a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Program,
    Ours,
}

/// Reads a log into an index.
///
/// # Errors
/// As [`Bytes::read`].
pub(super) fn index(format: &'static str, source: &dyn Bytes) -> Result<SourceIndex> {
    let mut log = Log::default();
    let mut parts = read_records(source, &mut |value, record, at| log.read(value, record, at))?;
    resolve(source, &mut parts.records, &log.steps)?;
    let usage = log.reader.usage(&parts.records);
    Ok(SourceIndex { usage, ..parts.into_index(format, Form::Fold, source, log.findings) })
}

#[derive(Debug, Default)]
struct Log {
    reader: Reader,
    findings: Vec<Finding>,
    session: Option<String>,
    steps: Vec<(usize, Step)>,
}

impl Log {
    fn read(&mut self, value: Value<'_>, mut record: Record, at: u32) -> Record {
        let place = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(patch) = value.get("$set") {
            self.patch(patch, &mut record, place);
        } else if let Some(id) = value.get("$rewindTo") {
            record.kind = RecordKind::Meta;
            "$rewindTo".clone_into(&mut record.label);
            self.steps.push((place, Step::Rewound(id.string().unwrap_or_default().into_owned())));
        } else if value.get("sessionId").is_some() && value.get("type").is_none() {
            record.kind = RecordKind::Meta;
            "metadata".clone_into(&mut record.label);
            record.time = value.get("startTime").and_then(time_of);
            self.session = owned(value, "sessionId");
        } else {
            let mut found = Vec::new();
            self.reader.read(value, "", &mut record, &mut found);
            let line = record.line;
            self.findings.extend(found.into_iter().map(|finding| Finding { line, ..finding }));
            let id = record.id.clone().unwrap_or_else(|| format!("line {}", line.unwrap_or_default()));
            self.steps.push((place, Step::Message(id)));
        }
        record.session.clone_from(&self.session);
        record
    }

    fn patch(&mut self, patch: Value<'_>, record: &mut Record, place: usize) {
        record.kind = RecordKind::Meta;
        "$set".clone_into(&mut record.label);
        record.time = patch.get("lastUpdated").and_then(time_of);
        let Some(list) = patch.get("messages").filter(|list| list.kind() == Kind::Array) else { return };
        let ours = patch.get(DERIVED_MARK.0).is_some_and(|mark| mark.is(DERIVED_MARK.1));
        record.kind = RecordKind::Boundary;
        let mut ids = Vec::new();
        for (at, value) in list.elements().enumerate() {
            let pointer = format!("/$set/messages/{at}");
            let mut own = blank_record(record.line, pointer.clone(), value.range());
            self.reader.read(value, &pointer, &mut own, &mut self.findings);
            let id =
                own.id.unwrap_or_else(|| format!("{pointer} of line {}", record.line.unwrap_or_default()));
            if ours && is_derived(&id) {
                own.blocks.iter_mut().for_each(derive);
            }
            ids.push((id, value.range()));
            record.blocks.extend(own.blocks);
        }
        self.steps.push((place, Step::Replaced(ids, if ours { Writer::Ours } else { Writer::Program })));
    }
}

fn derive(block: &mut Block) {
    if matches!(block.kind, BlockKind::Text | BlockKind::Paste) {
        block.kind = BlockKind::Summary;
        block.speaker = Speaker::Derived;
    }
}

/// A message of the conversation: its id, and the record and bytes it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Live {
    id: String,
    record: usize,
    range: ByteRange,
}

/// Follows the lines: what is replaced is past, what was taken back is abandoned, what is written again is a copy.
fn resolve(source: &dyn Bytes, records: &mut [Record], steps: &[(usize, Step)]) -> Result<()> {
    let mut live: Vec<Live> = Vec::new();
    let mut known: BTreeMap<String, Live> = BTreeMap::new();
    for (at, step) in steps {
        match step {
            Step::Message(id) => {
                let Some(range) = records.get(*at).map(|record| record.range) else { continue };
                let own = Live { id: id.clone(), record: *at, range };
                copy(source, records, &own, known.get(id), Writer::Program)?;
                let old = known.get(id).and_then(|_| live.iter_mut().rfind(|message| message.id == *id));
                match old {
                    Some(old) => forget(records, &std::mem::replace(old, own.clone()), Branch::Active),
                    None => live.push(own.clone()),
                }
                known.insert(id.clone(), own);
            }
            Step::Replaced(list, writer) => {
                let fresh =
                    list.iter().map(|(id, range)| Live { id: id.clone(), record: *at, range: *range });
                let fresh: Vec<Live> = fresh.collect();
                for own in &fresh {
                    copy(source, records, own, known.get(&own.id), *writer)?;
                }
                live.iter().for_each(|old| forget(records, old, Branch::Active));
                known.extend(fresh.iter().map(|own| (own.id.clone(), own.clone())));
                live = fresh;
            }
            Step::Rewound(id) => {
                let kept = live.iter().position(|message| message.id == *id).unwrap_or_default();
                live.drain(kept..).for_each(|old| forget(records, &old, Branch::Abandoned));
            }
        }
    }
    Ok(())
}

/// What no longer counts is past; where a whole line was taken back, it is abandoned.
fn forget(records: &mut [Record], old: &Live, branch: Branch) {
    let Some(record) = records.get_mut(old.record) else { return };
    for block in record.blocks.iter_mut().filter(|block| old.range.contains(block.range)) {
        if block.visibility == Visibility::Context {
            block.visibility = Visibility::Past;
        }
    }
    if record.range == old.range && branch == Branch::Abandoned {
        record.branch = branch;
    }
}

/// Binds the parts of a message that is written again to those of the message before.
fn copy(
    source: &dyn Bytes,
    records: &mut [Record],
    own: &Live,
    earlier: Option<&Live>,
    writer: Writer,
) -> Result<()> {
    let Some(earlier) = earlier else { return Ok(()) };
    let olds: Vec<(BlockRef, Block)> = blocks_of(records, earlier);
    let mut taken = vec![false; olds.len()];
    for (at, block) in blocks_of(records, own) {
        let mut found = None;
        for (place, (_, old)) in
            olds.iter().enumerate().filter(|(place, _)| taken.get(*place) == Some(&false))
        {
            if is_like(old, &block) && (writer == Writer::Ours || is_same(source, old, &block)?) {
                found = Some(place);
                break;
            }
        }
        let Some(place) = found else { continue };
        if let (Some(slot), Some((old_at, old))) = (taken.get_mut(place), olds.get(place)) {
            *slot = true;
            let own = records.get_mut(own.record);
            let own = own.and_then(|record| record.blocks.get_mut(usize::try_from(at.block).ok()?));
            if let Some(own) = own {
                own.copy_of = Some(old.copy_of.unwrap_or(*old_at));
            }
        }
    }
    Ok(())
}

/// Calls and results with one id are one event; of anything else, only the same bytes.
fn is_same(source: &dyn Bytes, old: &Block, new: &Block) -> Result<bool> {
    let has_id = matches!(old.kind, BlockKind::Call(_) | BlockKind::Result(_) | BlockKind::SideData { .. });
    Ok(has_id || source.read(old.range)? == source.read(new.range)?)
}

fn blocks_of(records: &[Record], message: &Live) -> Vec<(BlockRef, Block)> {
    let blocks = records.get(message.record).map(|record| record.blocks.as_slice()).unwrap_or_default();
    let record = u32::try_from(message.record).unwrap_or(u32::MAX);
    let own = blocks.iter().zip(0u32..).filter(|(block, _)| message.range.contains(block.range));
    own.map(|(block, n)| (BlockRef { record, block: n }, block.clone())).collect()
}
