//! Explaining: class, evidence, provenance and verdict of every span, without changing anything.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use strongroom_archive::Archive;
use strongroom_core::digest::PieceId;
use strongroom_core::error::Result;
use strongroom_core::evidence::{EvidentialClass, Omissions};
use strongroom_core::gate::{CompactionRefused, Permit, PointerState, may_reclaim_lossily};
use strongroom_core::policy::{Demand, Operation};
use strongroom_core::span::SpanIndex;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Registry as _, Retention, Revision, Vault as _};

use crate::custody::Intake;
use crate::policy::Policy;
use crate::reading::{ReadSpan, Reading};
use crate::tokens::Tokens;
use crate::transcript::Transcript;

/// What is known of one span.
#[derive(Debug)]
pub struct Explanation {
    /// Its number in the file, from 1.
    pub number: u32,
    /// The line it begins in, or its JSON pointer.
    pub place: String,
    /// Who speaks, and what it is.
    pub what: String,
    /// The class.
    pub class: EvidentialClass,
    /// The rule that proves narrative.
    pub proof: Option<&'static str>,
    /// How many units of its prose (sentences, list items, fences) there are, and how many are proved narrative.
    pub units: Units,
    /// What it holds.
    pub holds: Omissions,
    /// Its effects, in words.
    pub effects: Vec<String>,
    /// What it costs in the next request.
    pub tokens: Tokens,
    /// Why it is never wanted.
    pub pinned: Option<&'static str>,
    /// What is known of its original.
    pub pointer: PointerState,
    /// The operations that protect it.
    pub protected_by: Vec<Operation>,
    /// What the gate says now.
    pub verdict: Result<Permit, CompactionRefused>,
}

/// How many units of prose there are, and how many of them are proved to hold no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// All of them; none where a span is not prose.
    pub all: usize,
    /// Those with a proof.
    pub narrative: usize,
}

/// Explains the spans of `transcript`, or only the one numbered `only`.
///
/// # Errors
/// `Unavailable` when the transcript or the archive cannot be read.
pub fn explain(
    transcript: &Transcript,
    archive: Option<&Archive>,
    policy: &Policy,
    now: Timestamp,
    only: Option<u32>,
) -> Result<Vec<Explanation>> {
    let reading = Reading::of(transcript)?;
    let mut custody = Custody::of(transcript, archive)?;
    let demand = policy.demand(transcript.name())?;
    let wanted =
        |span: &&ReadSpan<'_>| only.is_none_or(|only| span.index() == SpanIndex(only.saturating_sub(1)));
    reading
        .spans
        .iter()
        .filter(wanted)
        .map(|span| {
            let pointer = custody.state(span)?;
            Ok(explain_span(&reading, span, pointer, &demand, now))
        })
        .collect()
}

fn explain_span(
    reading: &Reading<'_>,
    span: &ReadSpan<'_>,
    pointer: PointerState,
    demand: &Demand,
    now: Timestamp,
) -> Explanation {
    let evidence = &span.examination.evidence;
    let record = usize::try_from(span.content.span.record)
        .ok()
        .and_then(|at| reading.transcript.index().records.get(at));
    let place = record.map_or_else(String::new, |record| {
        record.line.map_or_else(|| record.pointer.clone(), |line| format!("line {line}"))
    });
    let speaker = span.content.blocks.first().map_or("harness", |block| block.block.speaker.word());
    let label = record.map_or("", |record| record.label.as_str());
    let tools = span.examination.programs.join(", ");
    Explanation {
        number: span.index().0 + 1,
        place,
        what: [speaker, label, &tools]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" "),
        class: evidence.class,
        proof: match evidence.class {
            EvidentialClass::Narrative(proof) => Some(proof.rule()),
            EvidentialClass::Structured | EvidentialClass::SideEffecting(_) => None,
        },
        units: Units {
            all: span.examination.units.len(),
            narrative: span.examination.units.iter().filter(|(_, unit)| unit.proof.is_some()).count(),
        },
        holds: evidence.holds.clone(),
        effects: span.examination.effects.iter().map(describe).collect(),
        tokens: span.tokens,
        pinned: evidence.pinned.map(strongroom_core::evidence::Pin::words),
        protected_by: Operation::ALL.into_iter().filter(|operation| operation.protects(evidence)).collect(),
        verdict: may_reclaim_lossily(evidence, &pointer, demand, now),
        pointer,
    }
}

fn describe(effect: &strongroom_evidence::effect::Effect) -> String {
    let certainty = match effect.certainty {
        strongroom_core::evidence::Certainty::Definite => "definite",
        strongroom_core::evidence::Certainty::Possible => "possible",
    };
    format!(
        "{} {} (scope {}, {certainty}, {})",
        effect.kind.word(),
        effect.target.words(),
        effect.scope,
        effect.outcome
    )
}

/// What the archive holds of a transcript in its present state.
struct Custody<'a> {
    archive: Option<(&'a Archive, Revision)>,
    /// What is known of each piece that was looked at: spans share pieces, and each is read and compared once.
    pieces: BTreeMap<PieceId, PieceState>,
}

/// What is known of a piece: its retention and worst latency, or why it cannot be read.
type PieceState = Result<Option<(Retention, u64)>, String>;

impl<'a> Custody<'a> {
    fn of(transcript: &Transcript, archive: Option<&'a Archive>) -> Result<Self> {
        let pieces = BTreeMap::new();
        let Some(archive) = archive else { return Ok(Self { archive: None, pieces }) };
        let meta = crate::custody::meta_of(transcript, archive)?;
        let intake = Intake::of(transcript.source(), meta.id)?;
        let known = archive.revision(intake.revision.id)?;
        Ok(Self { archive: known.map(|revision| (archive, revision)), pieces })
    }

    fn state(&mut self, span: &ReadSpan<'_>) -> Result<PointerState> {
        let Some((archive, revision)) = &self.archive else {
            return Ok(PointerState::Missing("not in custody; a compaction deposits it first".to_owned()));
        };
        let mut shortest: Option<(Retention, u64)> = None;
        for (id, _) in revision.pieces_of(&span.content.span.ranges) {
            let state = match self.pieces.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(look(archive, id)?),
            };
            match state {
                Err(why) => return Ok(PointerState::Unretrievable(why.clone())),
                Ok(None) => return Ok(PointerState::Missing("no piece holds it".to_owned())),
                Ok(Some((retention, latency))) => {
                    let (least, most) = shortest.unwrap_or((*retention, *latency));
                    shortest = Some((least.or_shorter(*retention), most.max(*latency)));
                }
            }
        }
        Ok(shortest.map_or_else(
            || PointerState::Missing("no piece holds it".to_owned()),
            |(retention, latency_ms_max)| PointerState::Proved { retention, latency_ms_max },
        ))
    }
}

/// Reads a piece back, compares it with its hash, and asks how long it is kept.
fn look(archive: &Archive, id: PieceId) -> Result<PieceState> {
    for loaded in archive.load(&[id])? {
        if let Err(why) = loaded.verified(id) {
            return Ok(Err(why));
        }
    }
    let stat = archive.stat(&[id])?.into_iter().next().flatten();
    Ok(Ok(stat.map(|stat| (stat.retention, stat.latency_ms_max))))
}
