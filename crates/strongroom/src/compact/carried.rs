//! Spans carried over from earlier generations, read again from their originals.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_archive::Archive;
use strongroom_core::deposit::span_hash;
use strongroom_core::digest::RevisionId;
use strongroom_core::error::{Error, Result};
use strongroom_core::plan::{Candidate, Wanted};
use strongroom_core::range::RangeSet;
use strongroom_core::vault::{BoundSpan, Location, Registry as _, Remains, Revision};

use crate::custody::restore;
use crate::lineage::Traced;
use crate::reading::{Decoded, ReadSpan, Reading};
use crate::tokens::Tokens;
use crate::transcript::{GoneKind, Transcript};

/// The spans carried over, with the transcripts that hold their originals.
pub(super) struct Carried {
    spans: Vec<(BoundSpan, Option<Location>)>,
    originals: BTreeMap<RevisionId, Transcript>,
    revisions: Vec<Revision>,
    here: RevisionId,
}

impl Carried {
    /// Finds the originals: in the transcript itself where their bytes still stand in it, else in the archive.
    pub(super) fn of(
        reading: &Reading<'_>,
        traced: &Traced,
        here: RevisionId,
        archive: Option<&Archive>,
    ) -> Result<Self> {
        let mut carried = Self { spans: Vec::new(), originals: BTreeMap::new(), revisions: Vec::new(), here };
        let Some((lineage, archive)) = traced.lineage.as_ref().zip(archive) else { return Ok(carried) };
        for bound in lineage.record.spans.iter().cloned() {
            let location = match &bound.location {
                Some(location) if stands_here(reading, &location.ranges, &bound) => {
                    Some(Location { revision: here, ranges: location.ranges.clone() })
                }
                other => other.clone(),
            };
            if let Some(location) = location.as_ref().filter(|location| location.revision != here) {
                carried.add_original(location.revision, reading, archive)?;
            }
            carried.spans.push((bound, location));
        }
        Ok(carried)
    }

    fn add_original(&mut self, id: RevisionId, reading: &Reading<'_>, archive: &Archive) -> Result<()> {
        if self.originals.contains_key(&id) {
            return Ok(());
        }
        let Some(revision) = archive.revision(id)? else { return Ok(()) };
        let (bytes, gone) = restore(archive, &revision)?;
        // What is only out of reach must not be taken for gone: its account would be the only one for good.
        if let Some(away) = gone.iter().find(|part| part.kind == GoneKind::Away) {
            let why = &away.why;
            return Err(Error::unavailable(format!(
                "originals behind an earlier summary are out of reach: {why}"
            )));
        }
        let format = Some(reading.transcript.format().name());
        if let Ok(transcript) = Transcript::from_bytes(format!("revision {id}"), bytes, format) {
            self.originals.insert(id, transcript);
            self.revisions.push(revision);
        }
        Ok(())
    }

    /// Reads the originals.
    pub(super) fn read<'r>(&'r self, here: &'r Reading<'_>) -> Result<CarriedReading<'r>> {
        let readings = self
            .originals
            .iter()
            .map(|(&id, transcript)| {
                let starts = self.starts_in(id);
                let decoded = Decoded::uncounted(transcript)?;
                let read = decoded.examined_where(|span| starts.contains(&span.content.span.ranges.start()));
                Ok((id, read))
            })
            .collect::<Result<BTreeMap<_, _>>>()?;
        Ok(CarriedReading { carried: self, readings, here })
    }

    /// Where the spans that are carried over begin in a revision.
    fn starts_in(&self, revision: RevisionId) -> BTreeSet<u64> {
        let locations = self.spans.iter().filter_map(|(_, location)| location.as_ref());
        locations.filter(|at| at.revision == revision).map(|at| at.ranges.start()).collect()
    }
}

fn stands_here(reading: &Reading<'_>, ranges: &RangeSet, bound: &BoundSpan) -> bool {
    let source = reading.transcript.source();
    let parts: Option<Vec<_>> = ranges.as_slice().iter().map(|&range| source.read(range).ok()).collect();
    parts.is_some_and(|parts| span_hash(parts.iter().map(AsRef::as_ref)) == bound.hash)
}

/// Carried spans with their originals read.
pub(super) struct CarriedReading<'r> {
    carried: &'r Carried,
    readings: BTreeMap<RevisionId, Reading<'r>>,
    here: &'r Reading<'r>,
}

impl CarriedReading<'_> {
    /// How many spans are carried over.
    pub(super) fn len(&self) -> usize {
        self.carried.spans.len()
    }

    /// About how many tokens the originals are, sent or not: a quarter of their bytes.
    pub(super) fn tokens(&self) -> Tokens {
        let spans = (0..self.len()).filter_map(|at| self.carried.spans.get(at)?.1.as_ref());
        Tokens(spans.flat_map(|location| location.ranges.as_slice()).map(|range| range.len() / 4).sum())
    }

    /// The first number that no carried span has.
    pub(super) fn first_free(&self) -> u32 {
        self.carried.spans.iter().map(|(bound, _)| bound.ordinal + 1).max().unwrap_or(1)
    }

    /// The revisions that hold originals.
    pub(super) fn revisions(&self) -> &[Revision] {
        &self.carried.revisions
    }

    /// The original of a carried span; `None` when it is gone.
    pub(super) fn span(&self, at: usize) -> Option<&ReadSpan<'_>> {
        let (bound, location) = self.carried.spans.get(at)?;
        let location = location.as_ref()?;
        let reading = if location.revision == self.carried.here {
            self.here
        } else {
            self.readings.get(&location.revision)?
        };
        // A rendition may have been added to the event since; it still begins where it began.
        let start = location.ranges.start();
        let spans = &reading.spans;
        let at = spans.partition_point(|span| span.content.span.ranges.start() < start);
        spans.get(at).filter(|span| {
            span.content.span.ranges.start() == start
                && (span.key == bound.content || location.revision == self.carried.here)
        })
    }

    /// A carried span as a candidate; `None` when its original is gone.
    pub(super) fn candidate(&self, at: usize) -> Option<Candidate> {
        let (bound, location) = self.carried.spans.get(at)?;
        let span = self.span(at).filter(|_| bound.remains == Remains::Original)?;
        let mut evidence = span.examination.evidence.clone();
        evidence.pinned = None;
        let group = u32::MAX - u32::try_from(at).ok()?;
        Some(Candidate {
            wanted: Wanted::Reclaim,
            group,
            carried: Some(bound.ordinal),
            evidence,
            location: location.clone(),
            hash: bound.hash,
            content: bound.content,
        })
    }

    /// The carried spans that are not among `held`: their originals are gone, their last account stays.
    pub(super) fn remaining(&self, held: &BTreeSet<usize>) -> Vec<BoundSpan> {
        let gone = self.carried.spans.iter().zip(0usize..).filter(|(_, at)| !held.contains(at));
        gone.map(|((bound, _), _)| BoundSpan { remains: Remains::OnlyAccount, ..bound.clone() }).collect()
    }
}
