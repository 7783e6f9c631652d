//! How a transcript stands in custody: whether what a compaction took from the context can be given back.

use strongroom_archive::Archive;
use strongroom_core::error::Result;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::RecordKind;

use crate::custody::{name_of, revision_of_prefix};
use crate::transcript::Transcript;

/// How much of a transcript is in custody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Everything before its last compaction, or all of a transcript without one.
    Whole,
    /// The beginning, imported at that time; this many bytes before its last compaction are not.
    Behind {
        /// When what is in custody was imported.
        since: Timestamp,
        /// Bytes that are not in custody.
        bytes: u64,
    },
    /// What is in custody, imported at that time, is not how the transcript begins now.
    Differs {
        /// When what is in custody was imported.
        since: Timestamp,
    },
    /// Nothing of it.
    Never,
}

/// How `transcript` stands in `archive`.
///
/// # Errors
/// `Unavailable` when the archive or the transcript cannot be read.
pub fn standing(transcript: &Transcript, archive: &Archive) -> Result<Standing> {
    let name = transcript.path().map_or_else(|| transcript.name().to_owned(), name_of);
    let Some(source) = archive.source_by_name(&name)? else { return Ok(Standing::Never) };
    let since = source.latest.at;
    let records = &transcript.index().records;
    let boundary = records.iter().rev().find(|record| record.kind == RecordKind::Boundary);
    let needed = boundary.map_or(transcript.source().len(), |record| record.range.start());
    let kept = source.latest.len;
    if kept > transcript.source().len() {
        return Ok(Standing::Differs { since });
    }
    if revision_of_prefix(transcript.source(), kept)? != source.latest.id {
        return Ok(Standing::Differs { since });
    }
    let bytes = needed.saturating_sub(kept);
    Ok(if bytes == 0 { Standing::Whole } else { Standing::Behind { since, bytes } })
}
