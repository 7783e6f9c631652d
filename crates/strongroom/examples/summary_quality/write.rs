//! A summary of everything in a session, in custody of an archive in memory.

use std::collections::BTreeSet;
use std::time::Instant;

use strongroom::policy::{GoingOn, Policy};
use strongroom::reading::{ReadSpan, Reading};
use strongroom::summarise::{Gathered, Reclaimed, Texts};
use strongroom::time::Timestamp;
use strongroom::tokens::{self, Tokens};
use strongroom::transcript::Transcript;
use strongroom_core::bind::{Subject, tag};
use strongroom_core::deposit::{Originals, deposit};
use strongroom_core::digest::{Digest, RevisionId, SourceId};
use strongroom_core::judge::GatedPlan;
use strongroom_core::plan::{Candidate, Plan, Wanted};
use strongroom_core::span::SpanKind;
use strongroom_core::summary::check;
use strongroom_core::transcript::{Block, Visibility};
use strongroom_core::vault::{Location, Piece, Retention, Revision};
use testkit::memory_archive::MemoryArchive;

use crate::Measured;

/// A summary with what it cost.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) tokens: u64,
    pub(crate) budget: u64,
    pub(crate) whole: u64,
    pub(crate) seconds: f64,
}

/// The smallest session that is measured, in tokens: 3.2 % of less hold hardly more than what every summary says.
const WHOLE_MIN: u64 = 20_000;

/// The lines of which the agent has something before it; none of what is no transcript or is very short.
pub(crate) fn sent(text: &str) -> Measured<BTreeSet<u32>> {
    let Ok(transcript) = Transcript::from_bytes("session", text.as_bytes().to_vec(), None) else {
        return Ok(BTreeSet::new());
    };
    if Reading::of(&transcript)?.context_tokens().0 < WHOLE_MIN {
        return Ok(BTreeSet::new());
    }
    let sent = |block: &Block| block.visibility == Visibility::Context;
    let records = transcript.index().records.iter().filter(|record| record.blocks.iter().any(sent));
    Ok(records.filter_map(|record| record.line).collect())
}

/// The summary of `bytes` in so many thousandths of its tokens; `None` of what is no transcript.
pub(crate) fn summary(text: &str, thousandths: u64) -> Measured<Option<Written>> {
    let Ok(transcript) = Transcript::from_bytes("session", text.as_bytes().to_vec(), None) else {
        return Ok(None);
    };
    let reading = Reading::of(&transcript)?;
    let whole = reading.context_tokens().0;
    let budget = whole * thousandths / 1_000;
    let archive = MemoryArchive::new();
    let (gated, spans, subject) = gate(&reading, text.as_bytes(), &archive)?;
    let tag = tag(&gated, &subject, &archive);
    let begun = Clock::start();
    let reclaimed: Vec<Reclaimed<'_>> = gated
        .permitted()
        .iter()
        .filter_map(|permitted| {
            let span = spans.get(usize::try_from(permitted.index()).ok()?)?;
            Some(Reclaimed {
                ordinal: permitted.ordinal(),
                form: permitted.form(),
                wanted: Wanted::Reclaim,
                content: &span.content,
                examination: &span.examination,
            })
        })
        .collect();
    let texts = Texts::of(&reclaimed);
    let gathered = Gathered::of(&reclaimed, &texts, GoingOn::default());
    let write = |count: usize| {
        check(&gathered.draft(count, Vec::new()), &gated, tag, "without end", &texts)
            .map_err(|faults| strongroom::Error::bug(format!("{faults:?}")))
    };
    let summary = gathered.within(Tokens(budget), &write)?;
    let seconds = begun.seconds();
    let tokens = tokens::of_message(summary.text()).0;
    Ok(Some(Written { text: summary.text().to_owned(), tokens, budget, whole, seconds }))
}

/// Measures the time of this thread on a processor where the system tells it, else the time that passes.
struct Clock {
    begun: Instant,
    on_processor: Option<u64>,
}

impl Clock {
    fn start() -> Self {
        Self { begun: Instant::now(), on_processor: on_processor() }
    }

    fn seconds(&self) -> f64 {
        match self.on_processor.zip(on_processor()) {
            Some((before, now)) => std::time::Duration::from_nanos(now - before).as_secs_f64(),
            None => self.begun.elapsed().as_secs_f64(),
        }
    }
}

/// The nanoseconds that this thread has had a processor.
fn on_processor() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// The largest piece that an archive takes.
const PIECE_BYTES_MAX: usize = 1 << 20;

type Gated<'r, 'a> = (GatedPlan, Vec<&'r ReadSpan<'a>>, Subject);

fn gate<'r, 'a>(reading: &'r Reading<'a>, bytes: &[u8], archive: &MemoryArchive) -> Measured<Gated<'r, 'a>> {
    let pieces: Vec<Piece> = bytes.chunks(PIECE_BYTES_MAX).map(|bytes| Piece::new(bytes.to_vec())).collect();
    let revision = Revision {
        id: RevisionId::new(Digest::of(bytes)),
        source: SourceId::new(Digest::of(b"session")),
        len: len(bytes),
        pieces: pieces.iter().map(|piece| (piece.id(), len(piece.bytes()))).collect(),
    };
    let spans: Vec<&ReadSpan<'_>> =
        reading.spans.iter().filter(|span| span.in_context() && span.kind() != SpanKind::Meta).collect();
    let mut candidates = Vec::new();
    for span in &spans {
        let mut evidence = span.examination.evidence.clone();
        evidence.pinned = None;
        candidates.push(Candidate {
            wanted: Wanted::Reclaim,
            group: span.content.span.group.0,
            carried: None,
            evidence,
            location: Some(Location { revision: revision.id, ranges: span.content.span.ranges.clone() }),
            hash: reading.hash(span.content.span)?,
            content: span.key,
        });
    }
    let mut pieces = pieces.into_iter().map(Ok);
    let revisions = [revision.clone()];
    let mut originals =
        Originals { pieces: &mut pieces, revisions: &revisions, retention: Retention::Indefinite };
    let deposited = deposit(Plan::propose(candidates, 1), &mut originals, archive, &mut |_| {});
    let gated = deposited.judge(&Policy::default().demand("session")?, Timestamp::from_ms(0));
    let subject = Subject {
        source: revision.source,
        revision: revision.id,
        format: reading.transcript.format().name().to_owned(),
        generation: 1,
        parents: Vec::new(),
        neighbours: Vec::new(),
        remaining: Vec::new(),
        wording: 0,
    };
    Ok((gated, spans, subject))
}
