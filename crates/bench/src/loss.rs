//! What is left: the records that matter, the context after a compaction, and stores that are gone or damaged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use memchr::memmem;
use serde_json::Value;
use strongroom::archive::Archive;
use strongroom::{Error, Result};

use crate::messages::{self, Message};
use crate::product;
use crate::question::Question;
use crate::read;
use crate::reply::Condition;
use crate::session::{Format, Kind, Session};

/// The transcript with every line blank but those that hold gold, and the other halves of their calls. Blank lines are as
/// long as they were, so that what is left stands where it stood.
pub(crate) fn oracle(session: &Session, questions: &[&Question]) -> Vec<u8> {
    let gold: BTreeSet<u32> = questions.iter().flat_map(|own| &own.gold).map(|gold| gold.record).collect();
    let id = |kind: &Kind| match kind {
        Kind::Call { id, .. } | Kind::Result { id, .. } => Some(id.clone()),
        Kind::Said | Kind::Thinking => None,
    };
    let held = session.events.iter().filter(|event| gold.contains(&event.record));
    let pairs: BTreeSet<String> = held.filter_map(|event| id(&event.kind)).collect();
    let halves = session.events.iter().filter(|event| id(&event.kind).is_some_and(|id| pairs.contains(&id)));
    let kept: BTreeSet<u32> = gold.iter().copied().chain(halves.map(|event| event.record)).collect();
    let mut bytes = session.bytes.clone();
    for (at, range) in session.records.iter().enumerate() {
        let gone = !u32::try_from(at + 1).is_ok_and(|no| kept.contains(&no));
        if let Some(line) = bytes.get_mut(range.clone()).filter(|_| gone) {
            line.fill(b' ');
        }
    }
    bytes
}

/// What the agent has after a compaction: of a log, what was appended, with the line that opens a rollout; of a
/// request, all of it. The originals are not in it.
pub(crate) fn context(session: &Session, compacted: &[u8]) -> Vec<u8> {
    let len = session.bytes.len();
    if !session.format.has_lines() || compacted.len() <= len {
        return compacted.to_vec();
    }
    let appended = compacted.get(len..).unwrap_or_default();
    let first = session.records.first().filter(|_| session.format == Format::Codex);
    let mut bytes = first.and_then(|range| session.bytes.get(range.clone())).unwrap_or_default().to_vec();
    if !bytes.is_empty() {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(appended.strip_prefix(b"\n").unwrap_or(appended));
    bytes
}

/// The messages of a compacted context; of a rollout those of its replaced history.
pub(crate) fn messages_of(context: &[u8]) -> Vec<Message> {
    let mut lines = Vec::new();
    for line in context.split(|&byte| byte == b'\n') {
        let value: Option<Value> = serde_json::from_slice(line).ok();
        let items = value.as_ref().filter(|value| value.get("type").is_some_and(|own| own == "compacted"));
        let Some(items) = items.and_then(|value| value.pointer("/payload/replacement_history")?.as_array())
        else {
            lines.extend_from_slice(line);
            lines.push(b'\n');
            continue;
        };
        lines.clear();
        for item in items {
            let line = serde_json::json!({"timestamp": "", "type": "response_item", "payload": item});
            lines.extend_from_slice(line.to_string().as_bytes());
            lines.push(b'\n');
        }
    }
    read::session("context", lines).map(|session| messages::of(&session)).unwrap_or_default()
}

/// The store as the condition leaves it: `own` is the one that was compacted into, `other` an empty folder.
pub(crate) fn store(condition: Condition, own: &Path, other: &Path) -> Result<Option<Archive>> {
    match condition {
        Condition::LostStore => Ok(None),
        Condition::OtherStore => product::store(other).map(Some),
        Condition::DamagedStore => {
            let failed =
                |error: std::io::Error| Error::unavailable("the store cannot be copied").caused_by(error);
            damaged_copy(own, other).map_err(failed)?;
            product::store_for_reading(other).map(Some)
        }
        Condition::Full | Condition::Oracle | Condition::Context | Condition::Retrieval => {
            product::store_for_reading(own).map(Some)
        }
    }
}

/// Copies a folder and flips a bit in every large compressed frame of its files, as a failing disk would.
fn damaged_copy(from: &Path, to: &Path) -> std::io::Result<()> {
    const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    const LARGE: usize = 4_096;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let mut bytes = fs::read(entry.path())?;
        let frames: Vec<usize> = memmem::find_iter(&bytes, &FRAME).collect();
        let ends = frames.iter().skip(1).copied().chain(std::iter::once(bytes.len()));
        for (at, end) in frames.iter().copied().zip(ends.collect::<Vec<_>>()) {
            if let Some(byte) = bytes.get_mut(at + LARGE / 2).filter(|_| end - at > LARGE) {
                *byte ^= 0x10;
            }
        }
        fs::write(to.join(entry.file_name()), bytes)?;
    }
    Ok(())
}
