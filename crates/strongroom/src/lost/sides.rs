//! The two sides of a boundary: the transcript as it was read just before it, and just after.
//!
//! A prefix of the file is read like any file, so that its format decides what would have been sent.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Block, BlockKind, Record, RecordKind, Speaker};

use crate::transcript::Transcript;

/// The records that are boundaries of the main agent, copies left out.
pub(super) fn boundaries(transcript: &Transcript) -> Vec<u32> {
    let own = |record: &Record| record.kind == RecordKind::Boundary && record.agent.is_none();
    transcript
        .index()
        .records
        .iter()
        .zip(0u32..)
        .filter(|(record, _)| own(record))
        .map(|(_, at)| at)
        .collect()
}

/// Everything before the boundary.
pub(super) fn before(transcript: &Transcript, boundary: u32) -> Result<Transcript> {
    let start = usize::try_from(boundary).ok().and_then(|at| transcript.index().records.get(at));
    prefix(transcript, start.map_or(0, |record| record.range.start()))
}

/// Everything before the first answer behind the boundary: its summary, what the harness attached again, and what the
/// user wrote next.
pub(super) fn after(transcript: &Transcript, boundary: u32) -> Result<Transcript> {
    let records = &transcript.index().records;
    let behind = usize::try_from(boundary).unwrap_or(usize::MAX).saturating_add(1);
    let mut later = records.iter().skip(behind);
    let end =
        later.find(|record| is_turn(record)).map_or(transcript.source().len(), |record| record.range.start());
    prefix(transcript, end)
}

/// Whether the record is an answer.
fn is_turn(record: &Record) -> bool {
    let answers = |block: &Block| {
        block.copy_of.is_none()
            && block.speaker == Speaker::Assistant
            && matches!(block.kind, BlockKind::Text | BlockKind::Thinking | BlockKind::Call(_))
    };
    record.agent.is_none() && record.kind == RecordKind::Message && record.blocks.iter().any(answers)
}

fn prefix(transcript: &Transcript, end: u64) -> Result<Transcript> {
    let bytes = transcript.source().read(ByteRange::new(0, end))?.into_owned();
    Transcript::from_bytes(transcript.name(), bytes, Some(transcript.format().name()))
}
