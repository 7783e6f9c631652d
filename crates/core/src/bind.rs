//! Binding before output: the compaction record is durable before any compacted byte leaves.
//!
//! ```compile_fail
//! use strongroom_core::bind::Bound;
//! fn forge(summary: String) -> Bound {
//!     Bound { record: None, summary }
//! }
//! ```
//!
//! ```
//! use strongroom_core::bind::Bound;
//! fn look(bound: &Bound) -> &str {
//!     bound.summary()
//! }
//! ```

use crate::digest::{ContentKey, RevisionId, SourceId, SpanHash, Tag};
use crate::error::{Error, Result};
use crate::judge::{GatedPlan, Ground, Permitted};
use crate::summary::CheckedSummary;
use crate::time::Timestamp;
use crate::vault::{BoundSpan, CompactionRecord, Registry, Remains, Retention, TagInput};

/// What is compacted, for the record.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The source.
    pub source: SourceId,
    /// Its state.
    pub revision: RevisionId,
    /// The adapter's name.
    pub format: String,
    /// 1 for the first compaction of this line.
    pub generation: u32,
    /// Tags of earlier generations whose spans are carried over.
    pub parents: Vec<Tag>,
    /// Content keys of kept spans, in order.
    pub neighbours: Vec<ContentKey>,
    /// Spans of earlier generations whose originals are gone, with their last renderings.
    pub remaining: Vec<BoundSpan>,
    /// The number of this summary among those of the same spans, from 0.
    pub wording: u32,
}

/// A summary whose link to its originals is durable, or that needs none.
#[derive(Debug)]
pub struct Bound {
    record: Option<CompactionRecord>,
    summary: String,
}

impl Bound {
    /// The durable record; `None` when nothing in the summary relies on an original.
    pub const fn record(&self) -> Option<&CompactionRecord> {
        self.record.as_ref()
    }

    /// The summary's text.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Bytes that make derived ids unique to this compaction: its tag, or its text where it has none.
    pub fn seed(&self) -> Vec<u8> {
        self.record
            .as_ref()
            .map_or_else(|| self.summary.as_bytes().to_vec(), |record| record.tag.as_bytes().to_vec())
    }
}

/// The tag for the spans of `gated`.
pub fn tag(gated: &GatedPlan, subject: &Subject, registry: &dyn Registry) -> Tag {
    let spans: Vec<SpanHash> = hashes(gated, subject);
    registry.tag(&TagInput {
        source: subject.source,
        generation: subject.generation,
        spans: &spans,
        wording: subject.wording,
    })
}

fn hashes(gated: &GatedPlan, subject: &Subject) -> Vec<SpanHash> {
    let own = gated.permitted().iter().map(|permitted| permitted.candidate().hash);
    own.chain(subject.remaining.iter().map(|span| span.hash)).collect()
}

/// Writes the compaction record durably.
///
/// # Errors
/// `Unavailable` or `Busy` when the record could not be made durable: nothing may be written then. `Bug` when
/// the summary carries another tag than its spans have.
pub fn bind(
    gated: &GatedPlan,
    summary: &CheckedSummary,
    subject: Subject,
    registry: &dyn Registry,
    now: Timestamp,
) -> Result<Bound> {
    let tag = tag(gated, &subject, registry);
    if tag != summary.tag() {
        return Err(Error::bug("the summary carries the tag of other spans"));
    }
    let mut spans: Vec<BoundSpan> = subject.remaining;
    spans.extend(gated.permitted().iter().map(|permitted| bound_span(permitted, summary)));
    spans.sort_by_key(|span| span.ordinal);
    let record = CompactionRecord {
        tag,
        source: subject.source,
        revision: subject.revision,
        format: subject.format,
        generation: subject.generation,
        parents: subject.parents,
        summary: summary.digest(),
        summary_text: summary.text().to_owned(),
        spans,
        neighbours: subject.neighbours,
        bound_at: now,
    };
    registry.bind(&record)?;
    Ok(Bound { record: Some(record), summary: summary.text().to_owned() })
}

/// Binds what needs no record: only narrative is reclaimed, and the summary is one fixed sentence.
///
/// # Errors
/// `Refused` when a span relies on an original or a waiver.
pub fn bind_narrative(gated: &GatedPlan) -> Result<Bound> {
    let narrative = |permitted: &Permitted| matches!(permitted.ground(), Ground::Narrative(_));
    if !gated.permitted().iter().all(narrative) {
        return Err(Error::refused("without an archive only narrative may be reclaimed"));
    }
    let summary = format!(
        "{}{} narrative spans left out, no original kept; they held no path, number, quote, claim or effect.",
        crate::summary::FIRST_WORDS,
        gated.permitted().len()
    );
    Ok(Bound { record: None, summary })
}

fn bound_span(permitted: &Permitted, summary: &CheckedSummary) -> BoundSpan {
    let ordinal = permitted.ordinal();
    let candidate = permitted.candidate();
    let (location, retention, waiver, remains) = match permitted.ground() {
        Ground::InCustody(receipt) => {
            (Some(receipt.location().clone()), receipt.retention(), None, Remains::Original)
        }
        Ground::Narrative(_) => (None, Retention::Unknown, None, Remains::OnlyAccount),
        Ground::Waived(waiver) => (None, Retention::Unknown, Some(waiver.0.clone()), Remains::OnlyAccount),
    };
    BoundSpan {
        ordinal,
        class: candidate.evidence.class.word().to_owned(),
        location,
        hash: candidate.hash,
        content: candidate.content,
        holds: candidate.evidence.holds.clone(),
        rendering: summary.rendering(ordinal).to_owned(),
        retention,
        waiver,
        remains,
    }
}
