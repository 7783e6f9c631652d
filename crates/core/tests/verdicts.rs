//! Deposit and judgement together: what a span weighs, and where it stands, changes no verdict.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests, where clippy sees none"
)]

use proptest::prelude::*;
use strongroom_core::deposit::{Originals, deposit, span_hash};
use strongroom_core::digest::{ContentKey, Digest, RevisionId, SourceId};
use strongroom_core::evidence::{
    AtomCounts, CallRole, Certainty, ClaimRole, EvidentialClass, NarrativeProof, Omissions, SpanEvidence,
};
use strongroom_core::plan::{Candidate, Plan, Wanted};
use strongroom_core::policy::Demand;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Location, Piece, Retention, Revision};
use testkit::memory_archive::MemoryArchive;

const CLASSES: [EvidentialClass; 3] = [
    EvidentialClass::Narrative(NarrativeProof::by_rule("test")),
    EvidentialClass::Structured,
    EvidentialClass::SideEffecting(Certainty::Definite),
];

/// A span: its class, its size in bytes, and whether its piece is lost before it is read back.
type Facts = (usize, usize, bool);

fn candidate(class: EvidentialClass, bytes: &[u8], location: Location, group: u32) -> Candidate {
    Candidate {
        wanted: Wanted::Reclaim,
        group,
        carried: None,
        evidence: SpanEvidence {
            class,
            holds: Omissions::Nameable(AtomCounts::default()),
            call: CallRole::NotCall,
            claims: ClaimRole::NoClaims,
            pinned: None,
        },
        location: Some(location),
        hash: span_hash([bytes]),
        content: ContentKey::new(Digest::of(bytes)),
    }
}

/// Whether each span may go, in order. Every span is a piece of its own.
fn verdicts(spans: &[Facts]) -> Vec<bool> {
    let pieces: Vec<Piece> = spans
        .iter()
        .enumerate()
        .map(|(at, &(_, size, _))| Piece::new(format!("{at:0size$}").into_bytes()))
        .collect();
    let ids: Vec<_> = pieces.iter().map(Piece::id).collect();
    let len = |piece: &Piece| u64::try_from(piece.bytes().len()).unwrap();
    let revision = Revision {
        id: RevisionId::of(&ids),
        source: SourceId::new(Digest::of(b"source")),
        len: pieces.iter().map(len).sum(),
        pieces: pieces.iter().map(|piece| (piece.id(), len(piece))).collect(),
    };
    let mut start = 0;
    let mut candidates = Vec::new();
    for ((piece, &(class, _, _)), group) in pieces.iter().zip(spans).zip(0u32..) {
        let range = ByteRange::new(start, start + len(piece));
        start = range.end();
        let location = Location { revision: revision.id, ranges: [range].into_iter().collect() };
        candidates.push(candidate(CLASSES[class], piece.bytes(), location, group));
    }
    let archive = MemoryArchive::new();
    let lost: Vec<_> = ids.iter().zip(spans).filter(|(_, span)| span.2).map(|(id, _)| *id).collect();
    let mut stored = pieces.into_iter().map(Ok);
    let mut originals =
        Originals { pieces: &mut stored, revisions: &[revision], retention: Retention::Indefinite };
    let deposited = deposit(Plan::propose(candidates, 1), &mut originals, &archive, &mut |step| {
        if step == strongroom_core::deposit::DepositStep::AllStored {
            lost.iter().for_each(|id| archive.drop_piece(*id));
        }
    });
    let gated = deposited.judge(&Demand::default(), Timestamp::from_ms(0));
    let mut may_go = vec![false; spans.len()];
    for permitted in gated.permitted() {
        may_go[usize::try_from(permitted.index()).unwrap()] = true;
    }
    may_go
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn size_age_and_recency_change_no_verdict(spans in prop::collection::vec((0..3usize, 8..4_000usize, any::<bool>()), 1..24)) {
        let expected = |&(class, _, lost): &Facts| class == 0 || !lost;
        prop_assert_eq!(verdicts(&spans), spans.iter().map(expected).collect::<Vec<_>>());
        // The same spans, the newest first and all of one size.
        let turned: Vec<Facts> = spans.iter().rev().map(|&(class, _, lost)| (class, 100, lost)).collect();
        prop_assert_eq!(verdicts(&turned), turned.iter().map(expected).collect::<Vec<_>>());
    }
}
