//! Gathering what a bundle needs: states and records from the journal, pieces from the vault.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_archive::Archive;
use strongroom_core::digest::{PieceId, RevisionId};
use strongroom_core::error::{Error, Result};
use strongroom_core::pointer::Pointer;
use strongroom_core::range::{ByteRange, RangeSet};
use strongroom_core::vault::{BoundSpan, Loaded, Registry as _, Revision};
use strongroom_evidence::answer::{Answer, Citation};

use super::bundle::{Cited, Claim, Draft};
use super::spelling::Spelling;
use crate::ask::Asked;
use crate::show::{bytes, record};

/// Proves the original of a span, or those of all spans under a pointer without a number.
///
/// # Errors
/// As [`bytes`]; of a pointer without a number, spans whose original was never kept are passed over.
pub fn prove_pointer(archive: &Archive, pointer: Pointer) -> Result<Draft> {
    let record = record(archive, pointer)?;
    let wanted: Vec<&BoundSpan> = match pointer.ordinal {
        Some(_) => vec![crate::show::span(&record, pointer)?],
        None => record.spans.iter().filter(|span| span.location.is_some()).collect(),
    };
    let mut own = Collection::default();
    own.tags.insert(pointer.tag);
    for span in wanted {
        // Read and compared: what is damaged or gone is told here, and not by a bundle that does not hold.
        bytes(archive, span)?;
        let location = span.location.as_ref();
        let location =
            location.ok_or_else(|| Error::not_found(format!("no original of {pointer} was kept")))?;
        own.add(archive, location.revision, &location.ranges)?;
        let pointer = Pointer { tag: pointer.tag, ordinal: Some(span.ordinal) };
        own.claims.push(Claim::Span { pointer: pointer.to_string() });
    }
    own.finish(archive)
}

/// Proves a whole state of a source.
///
/// # Errors
/// `NotFound` when it is not in the archive, `Corrupt` or `Expired` when a piece of it is damaged or gone.
pub fn prove_source(archive: &Archive, revision: RevisionId) -> Result<Draft> {
    let mut own = Collection::default();
    let len = state(archive, revision)?.len;
    own.add(archive, revision, &[ByteRange::new(0, len)].into_iter().collect())?;
    own.claims.push(Claim::Source { revision: revision.to_string() });
    own.finish(archive)
}

/// Proves an answer: each citation by the bytes behind it, and the states that were searched. What was asked must be
/// in custody; a state that is not is left out, and a citation from it stays open.
///
/// # Errors
/// `Unavailable` when the archive cannot be read.
pub fn prove_answer(archive: &Archive, asked: &Asked, answer: &Answer) -> Result<Draft> {
    let mut own = Collection::default();
    let mut states = Vec::new();
    for (name, id) in asked.states() {
        if let Some(revision) = archive.revision(id)? {
            own.revisions.insert(id);
            states.push((name, revision));
        }
    }
    let searched: BTreeSet<String> = states.iter().map(|(_, state)| state.id.to_string()).collect();
    let mut citations = Vec::with_capacity(answer.citations.len());
    for citation in &answer.citations {
        citations.push(own.cite(archive, &states, citation)?);
    }
    let answer =
        serde_json::to_value(answer).map_err(|error| Error::bug("the answer is no JSON").caused_by(error))?;
    own.claims.push(Claim::Answer { answer, citations, searched: searched.into_iter().collect() });
    own.finish(archive)
}

fn state(archive: &Archive, id: RevisionId) -> Result<Revision> {
    let found = archive.revision(id)?;
    found.ok_or_else(|| Error::not_found(format!("revision {id} is not in this archive")))
}

#[derive(Default)]
struct Collection {
    revisions: BTreeSet<RevisionId>,
    tags: BTreeSet<strongroom_core::digest::Tag>,
    pieces: BTreeMap<PieceId, Vec<u8>>,
    redacted: BTreeSet<PieceId>,
    claims: Vec<Claim>,
}

impl Collection {
    /// Adds a state and those of its pieces that hold bytes of `ranges`.
    fn add(&mut self, archive: &Archive, id: RevisionId, ranges: &RangeSet) -> Result<()> {
        let revision = state(archive, id)?;
        self.revisions.insert(id);
        for (piece, place) in revision.pieces_of(ranges) {
            if self.pieces.contains_key(&piece) && !self.redacted.contains(&piece) {
                continue;
            }
            let bytes = match archive.load_of(revision.source, &[piece])?.pop() {
                Some(Loaded::Redacted(left)) => {
                    if left.cuts.iter().any(|cut| ranges.overlaps(cut.range.shifted(place.start()))) {
                        return Err(Error::expired(format!("piece {piece}: {}", left.words())));
                    }
                    self.redacted.insert(piece);
                    left.bytes
                }
                // It says what is wrong with any other.
                _ => archive.read(&revision, place)?,
            };
            self.pieces.insert(piece, bytes);
        }
        Ok(())
    }

    /// Shows a citation from one of `states`: those of its source first, since any state in which the bytes stand for
    /// the quotation shows as much.
    fn cite(&mut self, archive: &Archive, states: &[(&str, Revision)], citation: &Citation) -> Result<Cited> {
        let (start, end) = citation.bytes;
        let is_own = |name: &str| name == citation.item || name == citation.source;
        let (own, others): (Vec<_>, Vec<_>) = states.iter().partition(|(name, _)| is_own(name));
        if start > end || citation.quote.is_empty() {
            return Ok(Cited::Open { why: "it quotes nothing".to_owned() });
        }
        let range = ByteRange::new(start, end);
        for (_, revision) in own.into_iter().chain(others) {
            let Ok(found) = archive.read(revision, range) else { continue };
            if let Some(spelling) = Spelling::of(&found, &citation.quote) {
                self.add(archive, revision.id, &[range].into_iter().collect())?;
                return Ok(Cited::Shown { revision: revision.id.to_string(), spelling });
            }
        }
        // A quotation with a secret in it differs from its bytes, and those are not handed out for it.
        let why = "its bytes do not stand for the quotation in any state in custody";
        Ok(Cited::Open { why: why.to_owned() })
    }

    fn finish(self, archive: &Archive) -> Result<Draft> {
        let proofs = archive.prove(&self.revisions, &self.tags, &self.redacted)?;
        Ok(Draft { proofs, pieces: self.pieces, claims: self.claims })
    }
}
