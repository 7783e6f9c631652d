//! Checking a bundle with nothing but the bundle, and at best a key that came another way.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strongroom_archive::journal::Checkpoint;
use strongroom_archive::note::PublicKey;
use strongroom_archive::proof::{Proofs, Proved, ProvedRevision};
use strongroom_core::deposit::span_hash;
use strongroom_core::digest::{PieceId, RevisionId};
use strongroom_core::error::{Error, Result};
use strongroom_core::pointer::Pointer;
use strongroom_core::range::{ByteRange, RangeSet};

use super::bundle::{Bundle, Cited, Claim, EntryForm, RecordForm, RevisionForm, bytes, digest};

/// What a bundle proves.
#[derive(Debug)]
pub struct Checked {
    /// The journal to which everything is proved.
    pub checkpoint: Checkpoint,
    /// The key that signed it.
    pub key: PublicKey,
    /// Whether that key is one the caller knows.
    pub signer: Signer,
    /// What is proved, in the bundle's order.
    pub statements: Vec<Statement>,
}

/// Whether anything but the bundle speaks for the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    /// It is the key that the caller gave.
    Known,
    /// It stands in the bundle alone: whoever made the bundle can have made it too.
    NamedByBundle,
}

/// Bytes of a source that are in custody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The source's name.
    pub source: String,
    /// The state of it.
    pub revision: RevisionId,
    /// Where the bytes lie in it.
    pub ranges: Vec<(u64, u64)>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// One thing that is proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// These bytes are the original of this span.
    Span(Pointer, Shown),
    /// These bytes are this state of the source.
    Source(Shown),
    /// The holder of the key gave this answer.
    Answer {
        /// The answer, as `ask --json` prints it.
        answer: Value,
        /// Its citations whose bytes are here and stand for the quotation, by number from 0.
        shown: Vec<(usize, Shown)>,
        /// Its citations that are not shown, with the reason.
        open: Vec<(usize, String)>,
        /// The states that were searched: source and revision.
        searched: Vec<(String, RevisionId)>,
    },
}

/// Checks a bundle; `known` is a key that the caller trusts.
///
/// # Errors
/// `Corrupt` naming the first thing that does not hold. Nothing of such a bundle is proved.
pub fn check(text: &str, known: Option<&PublicKey>) -> Result<Checked> {
    let bundle = Bundle::read(text)?;
    let key = PublicKey::parse(&bundle.key).map_err(damaged)?;
    if known.is_some_and(|known| *known != key) {
        return Err(Error::corrupt(format!("the bundle is signed by {key}, which is not the key given")));
    }
    if key.open(&bundle.seal).map_err(damaged)? != bundle.seal_text()? {
        return Err(Error::corrupt("the seal is that of another bundle"));
    }
    let (checkpoint, statements) = check_inside(&bundle, &key)?;
    let signer = if known.is_some() { Signer::Known } else { Signer::NamedByBundle };
    Ok(Checked { checkpoint, key, signer, statements })
}

/// Everything but the seal, which covers the same fields once more.
pub(super) fn check_inside(bundle: &Bundle, key: &PublicKey) -> Result<(Checkpoint, Vec<Statement>)> {
    let text = key.open(&bundle.checkpoint).map_err(damaged)?;
    let checkpoint = Checkpoint::from_note_text(text).map_err(damaged)?;
    let proofs = Proofs {
        checkpoint,
        entries: bundle.entries.iter().map(EntryForm::proof).collect::<Result<_>>()?,
        revisions: bundle.revisions.iter().map(RevisionForm::proof).collect::<Result<_>>()?,
        records: bundle.records.iter().map(RecordForm::proof).collect::<Result<_>>()?,
    };
    let proved = proofs.check()?;
    let evidence = Evidence { pieces: pieces(bundle, &proved)?, proved };
    evidence.check_pieces()?;
    let statements = bundle.claims.iter().map(|claim| evidence.statement(claim)).collect::<Result<_>>()?;
    Ok((checkpoint, statements))
}

fn damaged(error: Error) -> Error {
    Error::corrupt(error.to_string()).caused_by(error)
}

fn pieces(bundle: &Bundle, proved: &Proved) -> Result<BTreeMap<PieceId, Held>> {
    let mut pieces = BTreeMap::new();
    for form in &bundle.pieces {
        let (id, bytes) = (PieceId::new(digest(&form.id)?), bytes(&form.bytes)?);
        let hash = PieceId::of(&bytes);
        let redacted = proved.redacted.iter().find(|own| own.piece == id && own.rest == hash);
        if hash != id && redacted.is_none() {
            return Err(Error::corrupt(format!("the bytes of piece {id} differ from its hash")));
        }
        let cuts = redacted.map(|own| own.cuts.clone()).unwrap_or_default();
        if pieces.insert(id, Held { bytes, cuts }).is_some() {
            return Err(Error::corrupt(format!("piece {id} stands here twice")));
        }
    }
    Ok(pieces)
}

/// The bytes of a piece, and which of them were taken out by order.
struct Held {
    bytes: Vec<u8>,
    cuts: Vec<ByteRange>,
}

struct Evidence {
    proved: Proved,
    pieces: BTreeMap<PieceId, Held>,
}

impl Evidence {
    /// Every piece belongs to a proved state: bytes that nothing speaks for have no place in a bundle.
    fn check_pieces(&self) -> Result<()> {
        let listed = self.proved.revisions.values().flat_map(|revision| &revision.pieces);
        let listed: BTreeSet<PieceId> = listed.map(|(id, _)| *id).collect();
        let stray = self.pieces.keys().find(|id| !listed.contains(id));
        stray.map_or(Ok(()), |id| Err(Error::corrupt(format!("no state here contains piece {id}"))))
    }

    fn statement(&self, claim: &Claim) -> Result<Statement> {
        match claim {
            Claim::Span { pointer } => self.span(pointer),
            Claim::Source { revision } => {
                let revision = self.revision(revision)?;
                let all = [ByteRange::new(0, revision.len)].into_iter().collect();
                Ok(Statement::Source(self.shown(revision, &all)?))
            }
            Claim::Answer { answer, citations, searched } => self.answer(answer, citations, searched),
        }
    }

    fn revision(&self, id: &str) -> Result<&ProvedRevision> {
        let id = RevisionId::new(digest(id)?);
        let found = self.proved.revisions.get(&id);
        found.ok_or_else(|| Error::corrupt(format!("revision {id} is claimed and not proved")))
    }

    fn span(&self, text: &str) -> Result<Statement> {
        let pointer: Pointer = text.parse().map_err(damaged)?;
        let unknown = || Error::corrupt(format!("{text} is claimed and not proved"));
        let record = self.proved.records.get(&pointer.tag).filter(|_| pointer.to_string() == text);
        let spans = &record.ok_or_else(unknown)?.spans;
        let span = spans.iter().find(|span| Some(span.ordinal) == pointer.ordinal).ok_or_else(unknown)?;
        let location = span.location.as_ref().ok_or_else(unknown)?;
        let revision = self.revision(&location.revision.to_string())?;
        let shown = self.shown(revision, &location.ranges)?;
        let parts = location.ranges.as_slice().iter();
        let parts = parts.map(|&range| self.bytes(revision, range)).collect::<Result<Vec<_>>>()?;
        if span_hash(parts.iter().map(Vec::as_slice)) != span.hash {
            return Err(Error::corrupt(format!("the bytes of {text} differ from the hash in its record")));
        }
        Ok(Statement::Span(pointer, shown))
    }

    fn answer(&self, answer: &Value, citations: &[Cited], searched: &[String]) -> Result<Statement> {
        let none = Vec::new();
        let quoted = answer.get("citations").and_then(Value::as_array).unwrap_or(&none);
        if quoted.len() != citations.len() {
            return Err(Error::corrupt("the answer has more or fewer citations than are spoken for"));
        }
        let (mut shown, mut open) = (Vec::new(), Vec::new());
        for (at, (cited, quoted)) in citations.iter().zip(quoted).enumerate() {
            match cited {
                Cited::Open { why } => open.push((at, why.clone())),
                Cited::Shown { revision, spelling } => {
                    let wrong = || Error::corrupt(format!("citation {at} does not stand where it says"));
                    let (range, quote) = place(quoted).ok_or_else(wrong)?;
                    let own = self.shown(self.revision(revision)?, &[range].into_iter().collect())?;
                    if spelling.decode(&own.bytes).as_deref() != Some(quote) {
                        return Err(wrong());
                    }
                    shown.push((at, own));
                }
            }
        }
        let searched = searched.iter().map(|id| self.revision(id).map(|own| (own.name.clone(), own.id)));
        let searched = searched.collect::<Result<Vec<_>>>()?;
        check_roots(answer, &searched)?;
        Ok(Statement::Answer { answer: answer.clone(), shown, open, searched })
    }

    fn shown(&self, revision: &ProvedRevision, ranges: &RangeSet) -> Result<Shown> {
        let parts = ranges.as_slice().iter().map(|&range| self.bytes(revision, range));
        Ok(Shown {
            source: revision.name.clone(),
            revision: revision.id,
            ranges: ranges.as_slice().iter().map(|range| (range.start(), range.end())).collect(),
            bytes: parts.collect::<Result<Vec<_>>>()?.concat(),
        })
    }

    /// Bytes of a state from the pieces that are here.
    fn bytes(&self, revision: &ProvedRevision, range: ByteRange) -> Result<Vec<u8>> {
        let missing =
            || Error::corrupt(format!("bytes {range:?} of {} are claimed and not here", revision.name));
        let (mut at, mut found) = (0u64, Vec::new());
        for (id, len) in &revision.pieces {
            let own = ByteRange::new(at, at.saturating_add(*len));
            at = own.end();
            let (start, end) = (range.start().max(own.start()), range.end().min(own.end()));
            if start < end {
                let piece = self.pieces.get(id).ok_or_else(missing)?;
                let part = ByteRange::new(start - own.start(), end - own.start());
                if piece.cuts.iter().any(|cut| cut.overlaps(part)) {
                    let name = &revision.name;
                    return Err(Error::corrupt(format!("bytes {range:?} of {name} were taken out by order")));
                }
                found.extend_from_slice(part.of(&piece.bytes).ok_or_else(missing)?);
            }
        }
        if u64::try_from(found.len()) == Ok(range.len()) { Ok(found) } else { Err(missing()) }
    }
}

/// Where an answer says that a citation stands, and what it quotes.
fn place(citation: &Value) -> Option<(ByteRange, &str)> {
    let [start, end] = citation.get("bytes")?.as_array()?.as_slice() else { return None };
    let (start, end) = (start.as_u64()?, end.as_u64()?);
    let quote = citation.get("quote")?.as_str()?;
    (start <= end).then(|| (ByteRange::new(start, end), quote))
}

/// A certificate names the roots of what was searched; each must be a state that is proved.
fn check_roots(answer: &Value, searched: &[(String, RevisionId)]) -> Result<()> {
    let sources = answer.get("certificate").and_then(|own| own.get("sources")).and_then(Value::as_array);
    for root in sources.into_iter().flatten().filter_map(|source| source.get("root")?.as_str()) {
        if !searched.iter().any(|(_, id)| id.to_string() == root) {
            return Err(Error::corrupt(format!("the certificate names {root}, which is not proved")));
        }
    }
    Ok(())
}
