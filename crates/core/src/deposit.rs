//! Custody before judgement: store, commit, read back, compare.
//!
//! A [`Receipt`] is made nowhere else:
//!
//! ```compile_fail
//! use strongroom_core::{deposit::Receipt, digest::SpanHash, vault::{Location, Retention}};
//! fn forge(hash: SpanHash, location: Location, retention: Retention) -> Receipt {
//!     Receipt { hash, location, retention, latency_ms_max: 0 }
//! }
//! ```
//!
//! ```
//! use strongroom_core::{deposit::Receipt, digest::SpanHash, vault::{Location, Retention}};
//! fn look(receipt: &Receipt) -> (SpanHash, &Location, Retention) {
//!     (receipt.hash(), receipt.location(), receipt.retention())
//! }
//! ```
//!
//! A plan cannot be judged without a deposit:
//!
//! ```compile_fail
//! use strongroom_core::{plan::Plan, policy::Demand, time::Timestamp};
//! Plan::propose(Vec::new(), 1).judge(&Demand::default(), Timestamp::from_ms(0));
//! ```
//!
//! ```
//! use strongroom_core::{deposit::{deposit, Originals}, error::Error, plan::Plan, policy::Demand, time::Timestamp};
//! use strongroom_core::vault::{Loaded, Piece, PieceStat, Retention, Vault};
//! # use strongroom_core::{digest::PieceId, error::Result};
//! # struct Empty;
//! # impl Vault for Empty {
//! #     fn store(&self, _: &[Piece], _: Retention) -> Result<()> { Ok(()) }
//! #     fn extend(&self, _: &[PieceId], _: Retention) -> Result<()> { Ok(()) }
//! #     fn load(&self, pieces: &[PieceId]) -> Result<Vec<Loaded>> { Ok(pieces.iter().map(|_| Loaded::Missing).collect()) }
//! #     fn stat(&self, pieces: &[PieceId]) -> Result<Vec<Option<PieceStat>>> { Ok(vec![None; pieces.len()]) }
//! # }
//! let originals = &mut Originals { pieces: &mut std::iter::empty(), revisions: &[], retention: Retention::Indefinite };
//! let deposited = deposit(Plan::propose(Vec::new(), 1), originals, &Empty, &mut |_| {});
//! deposited.judge(&Demand::default(), Timestamp::from_ms(0));
//! ```

use sha2::{Digest as _, Sha256};

use crate::digest::{Digest, PieceId, RevisionId, SpanHash};
use crate::error::{Error, Result};
use crate::gate::PointerState;
use crate::plan::{Candidate, Plan};
use crate::range::{ByteRange, RangeSet};
use crate::vault::{Hold, Loaded, Location, Piece, PieceStat, Retention, Revision, Vault};

/// How many pieces go into one commit or are read back at once.
const BATCH: usize = 32;

/// Proof that an original is in custody: stored, committed, read back through a fresh handle and compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    hash: SpanHash,
    location: Location,
    retention: Retention,
    latency_ms_max: u64,
}

impl Receipt {
    /// The hash over the span's bytes as read back.
    pub const fn hash(&self) -> SpanHash {
        self.hash
    }

    /// Where the original is.
    pub const fn location(&self) -> &Location {
        &self.location
    }

    /// How long it is kept.
    pub const fn retention(&self) -> Retention {
        self.retention
    }

    /// What the gate sees of it.
    pub const fn state(&self) -> PointerState {
        PointerState::Proved { retention: self.retention, latency_ms_max: self.latency_ms_max }
    }
}

/// What came of depositing one candidate: a receipt, or what is known of its pointer instead.
pub type DepositResult = Result<Receipt, PointerState>;

/// Candidates with what came of their deposit.
#[derive(Debug)]
pub struct Deposited {
    items: Vec<(Candidate, DepositResult)>,
    first_free: u32,
}

impl Deposited {
    /// The candidates with their receipts or failures, in plan order.
    pub fn items(&self) -> &[(Candidate, DepositResult)] {
        &self.items
    }

    pub(crate) fn into_parts(self) -> (Vec<(Candidate, DepositResult)>, u32) {
        (self.items, self.first_free)
    }
}

/// What is deposited.
pub struct Originals<'a> {
    /// Pieces that may not be in the vault yet.
    pub pieces: &'a mut dyn Iterator<Item = Result<Piece>>,
    /// The revisions that candidates are located in.
    pub revisions: &'a [Revision],
    /// How long the originals are to be kept at least.
    pub retention: Retention,
}

impl std::fmt::Debug for Originals<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Originals")
            .field("revisions", &self.revisions.len())
            .field("retention", &self.retention)
            .finish_non_exhaustive()
    }
}

/// A step of the deposit that has just been completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DepositStep {
    /// This many pieces are durable so far.
    Stored(u64),
    /// All pieces are durable, none has been read back.
    AllStored,
    /// This many pieces have been read back and compared so far.
    ReadBack(u64),
}

/// Takes every candidate's original into custody and proves it retrievable.
///
/// A candidate whose original cannot be stored or read back gets its reason and the run goes on.
pub fn deposit(
    plan: Plan,
    originals: &mut Originals<'_>,
    vault: &dyn Vault,
    observe: &mut dyn FnMut(DepositStep),
) -> Deposited {
    let stored = store(originals.pieces, originals.retention, vault, observe)
        .and_then(|()| extend(originals.revisions, originals.retention, vault));
    observe(DepositStep::AllStored);
    let (candidates, first_free) = plan.into_parts();
    let proofs = match stored {
        Ok(()) => Proofs::read_back(&candidates, originals.revisions, vault, observe),
        Err(error) => Err(error),
    };
    let items = candidates
        .into_iter()
        .zip(0usize..)
        .map(|(candidate, at)| {
            let result = match &proofs {
                Ok(proofs) => proofs.receipt(&candidate, at),
                Err(error) => Err(PointerState::Missing(with_causes(error))),
            };
            (candidate, result)
        })
        .collect();
    Deposited { items, first_free }
}

/// The hash over the bytes of a span whose ranges hold `parts`, in order.
pub fn span_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> SpanHash {
    let mut hasher = SpanHasher::default();
    for part in parts {
        hasher.0.update(part);
    }
    hasher.finish()
}

/// SHA-256 over a domain and the bytes of all ranges.
#[derive(Clone)]
struct SpanHasher(Sha256);

impl Default for SpanHasher {
    fn default() -> Self {
        Self(Sha256::new_with_prefix(b"strongroom/span/1\0"))
    }
}

impl SpanHasher {
    fn finish(self) -> SpanHash {
        SpanHash::new(Digest::from_bytes(self.0.finalize().into()))
    }
}

fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn store(
    pieces: &mut dyn Iterator<Item = Result<Piece>>,
    retention: Retention,
    vault: &dyn Vault,
    observe: &mut dyn FnMut(DepositStep),
) -> Result<()> {
    let mut stored = 0;
    let mut pieces = pieces;
    loop {
        let batch = (&mut pieces).take(BATCH).collect::<Result<Vec<Piece>>>()?;
        if batch.is_empty() {
            return Ok(());
        }
        vault.store(&batch, retention)?;
        stored += u64::try_from(batch.len()).unwrap_or(0);
        observe(DepositStep::Stored(stored));
    }
}

fn extend(revisions: &[Revision], retention: Retention, vault: &dyn Vault) -> Result<()> {
    for revision in revisions {
        let ids: Vec<PieceId> = revision.pieces.iter().map(|&(id, _)| id).collect();
        vault.extend(&ids, retention)?;
    }
    Ok(())
}

/// What reading back showed, per candidate.
struct Proofs {
    hashes: Vec<SpanHasher>,
    failures: Vec<Option<String>>,
    stats: Vec<Option<PieceStat>>,
    known: Vec<RevisionId>,
}

impl Proofs {
    fn read_back(
        candidates: &[Candidate],
        revisions: &[Revision],
        vault: &dyn Vault,
        observe: &mut dyn FnMut(DepositStep),
    ) -> Result<Self> {
        let mut proofs = Self {
            hashes: vec![SpanHasher::default(); candidates.len()],
            failures: vec![None; candidates.len()],
            stats: vec![None; candidates.len()],
            known: revisions.iter().map(|revision| revision.id).collect(),
        };
        let mut read = 0;
        for revision in revisions {
            let wanted = Wanted::of(candidates, revision);
            for batch in wanted.pieces.chunks(BATCH) {
                let ids: Vec<PieceId> = batch.iter().map(|&(id, _)| id).collect();
                let stats = vault.stat(&ids)?;
                let loaded = vault.load(&ids)?;
                for ((&(id, own), loaded), stat) in batch.iter().zip(loaded).zip(stats) {
                    proofs.take_in(&wanted, (id, own), loaded, stat);
                }
                read += u64::try_from(batch.len()).unwrap_or(0);
                observe(DepositStep::ReadBack(read));
            }
        }
        Ok(proofs)
    }

    /// Compares one piece with its id and feeds its bytes to the spans that lie in it.
    fn take_in(
        &mut self,
        wanted: &Wanted,
        (id, own): (PieceId, ByteRange),
        loaded: Loaded,
        stat: Option<PieceStat>,
    ) {
        let bytes = loaded.verified(id);
        for &(range, at) in wanted.ranges_in(own) {
            let part = ByteRange::new(range.start().max(own.start()), range.end().min(own.end()));
            let local = ByteRange::new(part.start() - own.start(), part.end() - own.start());
            let part = bytes.as_ref().map(|bytes| local.of(bytes)).map_err(Clone::clone);
            match part {
                Ok(Some(part)) => {
                    if let Some(hasher) = self.hashes.get_mut(at) {
                        hasher.0.update(part);
                    }
                }
                Ok(None) => {
                    self.fail(at, format!("piece {} is shorter than recorded", id.digest().short(12)));
                }
                Err(why) => self.fail(at, format!("piece {}: {why}", id.digest().short(12))),
            }
            if let Some(slot) = self.stats.get_mut(at) {
                *slot = combine(*slot, stat);
            }
        }
    }

    fn fail(&mut self, at: usize, why: String) {
        if let Some(slot) = self.failures.get_mut(at) {
            slot.get_or_insert(why);
        }
    }

    fn receipt(&self, candidate: &Candidate, at: usize) -> DepositResult {
        let missing = |why: &str| Err(PointerState::Missing(why.to_owned()));
        let Some(location) = candidate.location.clone() else { return missing("its original is gone") };
        if !self.known.contains(&location.revision) {
            return missing("its source is not in the archive");
        }
        if let Some(why) = self.failures.get(at).cloned().flatten() {
            return Err(PointerState::Unretrievable(why));
        }
        let hash = self.hashes.get(at).cloned().unwrap_or_default().finish();
        if hash != candidate.hash {
            return Err(PointerState::Unretrievable(
                "the bytes read back are not the span's bytes".to_owned(),
            ));
        }
        let Some(stat) = self.stats.get(at).copied().flatten() else {
            return Err(PointerState::Unretrievable("the catalog does not know it".to_owned()));
        };
        Ok(Receipt { hash, location, retention: stat.retention, latency_ms_max: stat.latency_ms_max })
    }
}

/// A span is kept as long as its shortest-lived piece and read as slowly as its slowest.
fn combine(one: Option<PieceStat>, two: Option<PieceStat>) -> Option<PieceStat> {
    match (one, two) {
        (Some(one), Some(two)) => Some(PieceStat {
            retention: one.retention.or_shorter(two.retention),
            hold: if one.hold == Hold::Held && two.hold == Hold::Held { Hold::Held } else { Hold::None },
            tier: if one.latency_ms_max >= two.latency_ms_max { one.tier } else { two.tier },
            latency_ms_max: one.latency_ms_max.max(two.latency_ms_max),
        }),
        (known, None) | (None, known) => known,
    }
}

/// The ranges of candidates in one revision, and the pieces that hold them.
struct Wanted {
    /// Disjoint, by start; each with the candidate's index.
    ranges: Vec<(ByteRange, usize)>,
    pieces: Vec<(PieceId, ByteRange)>,
}

impl Wanted {
    fn of(candidates: &[Candidate], revision: &Revision) -> Self {
        let mut ranges: Vec<(ByteRange, usize)> = candidates
            .iter()
            .zip(0usize..)
            .filter_map(|(candidate, at)| candidate.location.as_ref().map(|location| (location, at)))
            .filter(|(location, _)| location.revision == revision.id)
            .flat_map(|(location, at)| location.ranges.as_slice().iter().map(move |&range| (range, at)))
            .collect();
        ranges.sort_unstable();
        let all: RangeSet = ranges.iter().map(|&(range, _)| range).collect();
        Self { pieces: revision.pieces_of(&all), ranges }
    }

    fn ranges_in(&self, own: ByteRange) -> &[(ByteRange, usize)] {
        let from = self.ranges.partition_point(|(range, _)| range.end() <= own.start());
        let to = self.ranges.partition_point(|(range, _)| range.start() < own.end());
        self.ranges.get(from..to.max(from)).unwrap_or_default()
    }
}
