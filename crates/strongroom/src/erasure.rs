//! Erasure and redaction by order: what an order reaches is told first, by the same rule by which it is done.

use std::collections::BTreeSet;

use memchr::memmem;
use strongroom_archive::erasure::Reach;
pub use strongroom_archive::erasure::Subject;
pub use strongroom_archive::redaction::Receipt;
use strongroom_archive::source::StoredSource;
use strongroom_archive::{Archive, Order};
use strongroom_core::digest::{Digest, PieceId, SourceId, Tag};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::pointer::{Pointer, SCHEME, find_in};
use strongroom_core::range::ByteRange;
use strongroom_core::vault::{BoundSpan, Location, Revision, Vault as _};

use crate::policy::Policy;
use crate::retention::hold_of;
use crate::show;

/// How many pieces are read at once when copies are looked for.
const BATCH: usize = 16;

/// Whether what belongs to a source, or was made from it, is erased with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Related {
    /// It is named.
    Name,
    /// It is erased too.
    Erase,
}

/// An erasure before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What is erased.
    pub subjects: Vec<Subject>,
    /// How far that reaches.
    pub reach: Reach,
    /// The names of the sources that lose something.
    pub sources: Vec<String>,
    /// The holds that forbid it, each by the name of the source: of the archive, and of the policy.
    pub holds: Vec<(String, String)>,
    /// Sources that are not erased and belong to those that are, or quote them; each with how.
    pub related: Vec<(StoredSource, String)>,
    /// Files outside the archive that hold what is erased here: an import takes them in again.
    pub files: Vec<String>,
    held: BTreeSet<SourceId>,
}

/// What was done, and whether its traces are cleared.
#[derive(Debug)]
pub struct Done<T> {
    /// What was done.
    pub value: T,
    /// Free pages and the log are cleared, or why not yet: doing it again clears them.
    pub cleared: Result<()>,
}

/// The pieces that hold an original: of the spans behind a pointer, or the one with a digest.
///
/// # Errors
/// `InvalidInput` of a text that is neither, `NotFound` when there is no such original here.
pub fn content(archive: &Archive, what: &str) -> Result<Vec<Subject>> {
    if let Ok(digest) = what.parse::<Digest>() {
        return Ok(vec![Subject::Piece(PieceId::new(digest))]);
    }
    let pointer: Pointer = what.parse().map_err(|error: Error| {
        Error::invalid_input(format!("{error}, or 64 hexadecimal digits of a piece"))
    })?;
    let record = show::record(archive, pointer)?;
    let spans: Vec<&BoundSpan> = match pointer.ordinal {
        Some(_) => vec![show::span(&record, pointer)?],
        None => record.spans.iter().filter(|span| span.location.is_some()).collect(),
    };
    let mut pieces = BTreeSet::new();
    for span in spans {
        let location = show::location(span)?;
        let revision = show::revision(archive, location)?;
        pieces.extend(revision.pieces_of(&location.ranges).into_iter().map(|(id, _)| Subject::Piece(id)));
    }
    Ok(pieces.into_iter().collect())
}

impl Plan {
    /// Plans the erasure of `subjects`.
    ///
    /// # Errors
    /// `NotFound` when one of them is not in the archive, `Unavailable` when it cannot be read, `InvalidInput` of a
    /// policy that cannot be.
    pub fn make(
        archive: &Archive,
        policy: &Policy,
        subjects: Vec<Subject>,
        related: Related,
    ) -> Result<Self> {
        let mut plan = Self::of(archive, policy, subjects)?;
        while related == Related::Erase && !plan.related.is_empty() {
            let more = plan.related.iter().map(|(source, _)| Subject::Source(source.meta.id));
            plan = Self::of(archive, policy, plan.subjects.iter().copied().chain(more).collect())?;
        }
        Ok(plan)
    }

    fn of(archive: &Archive, policy: &Policy, subjects: Vec<Subject>) -> Result<Self> {
        let reach = archive.reach(&subjects)?;
        let (mut sources, mut holds, mut files) = (Vec::new(), Vec::new(), Vec::new());
        let mut held = BTreeSet::new();
        for source in archive.sources()? {
            let (id, name) = (source.meta.id, source.meta.name);
            let hold = hold_of(archive, policy, id, &name)?;
            held.extend(hold.as_ref().map(|_| id));
            if reach.sources.contains(&id) {
                holds.extend(hold.map(|reason| (name.clone(), reason)));
                if std::path::Path::new(&name).is_file() {
                    files.push(name.clone());
                }
                sources.push(name);
            }
        }
        let related = related(archive, &subjects, &reach)?;
        Ok(Self { subjects, reach, sources, holds, related, files, held })
    }

    /// Erases what is planned, unless a hold forbids it by then.
    ///
    /// # Errors
    /// `Refused` when a hold forbids it, `Busy` while another process stores, `Unavailable` when nothing was erased.
    pub fn act(&self, archive: &Archive, order: &Order) -> Result<Done<Reach>> {
        let value = archive.erase(&self.subjects, &self.held, order)?;
        Ok(Done { value, cleared: archive.purge() })
    }
}

/// Sources that belong to the sessions of `subjects`, and those whose text points to records that lose words.
fn related(archive: &Archive, subjects: &[Subject], reach: &Reach) -> Result<Vec<(StoredSource, String)>> {
    let mut found: Vec<(SourceId, String)> = Vec::new();
    for subject in subjects {
        if let Subject::Source(main) = subject {
            let links = archive.links(*main)?.into_iter();
            found.extend(links.map(|link| (link.source, format!("belongs to its session: {}", link.kind))));
        }
    }
    let made = pointing(archive, &reach.records.iter().copied().collect())?;
    found.extend(made.into_iter().map(|source| (source, "was made from it by a compaction".to_owned())));
    let mut known: BTreeSet<SourceId> = subjects
        .iter()
        .filter_map(|subject| match subject {
            Subject::Source(source) => Some(*source),
            Subject::Piece(_) => None,
        })
        .collect();
    let mut named = Vec::new();
    for (id, how) in found {
        if known.insert(id)
            && let Some(source) = archive.source(id)?
            && !archive.is_erased(id)?
        {
            named.push((source, how));
        }
    }
    Ok(named)
}

/// The sources in which a pointer to one of `tags` stands.
fn pointing(archive: &Archive, tags: &BTreeSet<Tag>) -> Result<BTreeSet<SourceId>> {
    let mut sources = BTreeSet::new();
    if tags.is_empty() {
        return Ok(sources);
    }
    for batch in archive.terms()?.chunks(BATCH) {
        let ids: Vec<PieceId> = batch.iter().map(|term| term.id).collect();
        for (term, loaded) in batch.iter().zip(archive.load(&ids)?) {
            let Ok(bytes) = loaded.verified(term.id) else { continue };
            if memmem::find(&bytes, SCHEME.as_bytes()).is_some()
                && find_in(&String::from_utf8_lossy(&bytes)).iter().any(|found| tags.contains(&found.tag))
            {
                sources.extend(term.sources.iter().copied());
            }
        }
    }
    Ok(sources)
}

/// Which bytes of an original are taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// These of its exact bytes, as `show --raw` prints them.
    Bytes(ByteRange),
    /// Every place where this text stands, as it is or as a JSON string spells it.
    Text(String),
}

/// A redaction before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    cuts: Vec<(PieceId, ByteRange)>,
    held: BTreeSet<SourceId>,
}

impl Redaction {
    /// Plans to take bytes out of the original behind a pointer to one span.
    ///
    /// # Errors
    /// `InvalidInput` when the pointer names no span or the bytes are not in it, `NotFound` when no original was kept or
    /// the text does not stand in it, `Expired`, `Corrupt` and `Unavailable` as the archive says.
    pub fn plan(archive: &Archive, policy: &Policy, pointer: Pointer, which: &Which) -> Result<Self> {
        let record = show::record(archive, pointer)?;
        let location = show::location(show::span(&record, pointer)?)?;
        Self::of(archive, policy, (&show::revision(archive, location)?, location), which)
    }

    /// Plans to take bytes out of the newest state of a source, for what no pointer stands for.
    ///
    /// # Errors
    /// As [`Redaction::plan`].
    pub fn plan_source(
        archive: &Archive,
        policy: &Policy,
        source: &StoredSource,
        which: &Which,
    ) -> Result<Self> {
        let missing = || Error::not_found(format!("{} has no state in the archive", source.meta.name));
        let revision = archive.latest_revision(source.meta.id)?.ok_or_else(missing)?;
        let ranges = [ByteRange::new(0, revision.len)].into_iter().collect();
        Self::of(archive, policy, (&revision, &Location { revision: revision.id, ranges }), which)
    }

    fn of(
        archive: &Archive,
        policy: &Policy,
        (revision, location): (&Revision, &Location),
        which: &Which,
    ) -> Result<Self> {
        let ranges = match which {
            Which::Bytes(range) => vec![*range],
            Which::Text(text) => places(&raw(archive, revision, location)?, text)?,
        };
        let mut cuts = Vec::new();
        for range in ranges {
            if range.is_empty() || range.end() > location.ranges.len() {
                let (start, end, len) = (range.start(), range.end(), location.ranges.len());
                return Err(Error::invalid_input(format!(
                    "the original has {len} bytes: {start}..{end} is not among them"
                )));
            }
            cuts.extend(in_pieces(revision, location, range));
        }
        let mut held = BTreeSet::new();
        for source in archive.sources()? {
            if hold_of(archive, policy, source.meta.id, &source.meta.name)?.is_some() {
                held.insert(source.meta.id);
            }
        }
        Ok(Self { cuts, held })
    }

    /// How many bytes it takes out.
    pub fn bytes(&self) -> u64 {
        self.cuts.iter().map(|(_, range)| range.len()).sum()
    }

    /// Takes the bytes out, unless a hold forbids it by then.
    ///
    /// # Errors
    /// `Refused` when a hold forbids it, `Busy` while another process stores, `Unavailable` when nothing was changed.
    pub fn act(&self, archive: &Archive, order: &Order) -> Result<Done<Receipt>> {
        let value = archive.redact(&self.cuts, &self.held, order)?;
        Ok(Done { value, cleared: archive.purge() })
    }
}

/// The bytes of a location, with what was taken out already as it is filled.
fn raw(archive: &Archive, revision: &Revision, location: &Location) -> Result<Vec<u8>> {
    let (bytes, _) = crate::custody::restore(archive, revision)?;
    let parts = location.ranges.as_slice().iter().filter_map(|range| range.of(&bytes));
    Ok(parts.collect::<Vec<_>>().concat())
}

/// Where `text` stands in `bytes`, in whatever spelling.
fn places(bytes: &[u8], text: &str) -> Result<Vec<ByteRange>> {
    let mut spellings = vec![text.to_owned()];
    // Arguments of calls are JSON in a JSON string.
    for _ in 0..2 {
        let last = spellings.last().cloned().unwrap_or_default();
        let quoted = serde_json::to_string(&last)
            .map_err(|error| Error::bug("a text is no JSON string").caused_by(error))?;
        let bare = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
        spellings.push(bare.to_owned());
    }
    spellings.dedup();
    let mut found = BTreeSet::new();
    for spelling in spellings.iter().filter(|spelling| !spelling.is_empty()) {
        for at in memmem::find_iter(bytes, spelling.as_bytes()) {
            let end = at.saturating_add(spelling.len());
            found.insert(ByteRange::new(
                u64::try_from(at).unwrap_or(u64::MAX),
                u64::try_from(end).unwrap_or(u64::MAX),
            ));
        }
    }
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "the text does not stand in this original"));
    }
    Ok(found.into_iter().collect())
}

/// The bytes `range` of a span as bytes of pieces.
fn in_pieces(revision: &Revision, location: &Location, range: ByteRange) -> Vec<(PieceId, ByteRange)> {
    let mut before = 0;
    let mut cuts = Vec::new();
    for own in location.ranges.as_slice() {
        let start = range.start().max(before);
        let end = range.end().min(before + own.len());
        if start < end {
            let wanted = ByteRange::new(own.start() + start - before, own.start() + end - before);
            for (piece, place) in revision.pieces_of(&[wanted].into_iter().collect()) {
                let start = wanted.start().max(place.start()) - place.start();
                let end = wanted.end().min(place.end()) - place.start();
                cuts.push((piece, ByteRange::new(start, end)));
            }
        }
        before += own.len();
    }
    cuts
}

#[cfg(test)]
mod tests {
    use strongroom_core::digest::RevisionId;

    use super::*;

    #[test]
    fn bytes_of_a_span_are_found_in_its_pieces() {
        let ids = [b"a", b"b", b"c"].map(|bytes| PieceId::of(bytes));
        let revision = Revision {
            id: RevisionId::of(&ids),
            source: SourceId::new(Digest::of(b"s")),
            len: 30,
            pieces: ids.iter().map(|id| (*id, 10)).collect(),
        };
        let ranges = [ByteRange::new(2, 5), ByteRange::new(8, 24)].into_iter().collect();
        let location = Location { revision: revision.id, ranges };
        let cuts = |start, end| in_pieces(&revision, &location, ByteRange::new(start, end));
        assert_eq!(cuts(0, 2), [(ids[0], ByteRange::new(2, 4))]);
        assert_eq!(cuts(2, 4), [(ids[0], ByteRange::new(4, 5)), (ids[0], ByteRange::new(8, 9))]);
        assert_eq!(
            cuts(4, 19),
            [
                (ids[0], ByteRange::new(9, 10)),
                (ids[1], ByteRange::new(0, 10)),
                (ids[2], ByteRange::new(0, 4))
            ]
        );
    }

    #[test]
    fn a_text_is_found_however_often_it_is_quoted() {
        let line = r#"{"a":"pin \"12\"\n","b":"{\"c\":\"pin \\\"12\\\"\\n\"}"}"#;
        let found = places(line.as_bytes(), "pin \"12\"\n").unwrap();
        let texts: Vec<&[u8]> = found.iter().filter_map(|range| range.of(line.as_bytes())).collect();
        assert_eq!(texts, [br#"pin \"12\"\n"#.as_slice(), br#"pin \\\"12\\\"\\n"#]);
        assert_eq!(places(line.as_bytes(), "pin 12").unwrap_err().kind(), ErrorKind::NotFound);
    }
}
