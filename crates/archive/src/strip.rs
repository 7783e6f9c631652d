//! Taking words out of compaction records: what quotes an original goes with it.

use std::collections::btree_map::Entry as Place;
use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{Digest, PieceId, RevisionId, SourceId, Tag};
use strongroom_core::range::ByteRange;
use strongroom_core::vault::{CompactionRecord, Location, Revision};

use crate::catalog::Catalog;
use crate::encoding::{Encoder, Level};
use crate::entry::{Entry, Order};
use crate::fault::Outcome;
use crate::record;
use crate::registry::{record_of, revision_of};

/// What is taken away: sources as a whole, and bytes of pieces.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) sources: BTreeSet<SourceId>,
    pub(crate) pieces: BTreeMap<PieceId, Vec<ByteRange>>,
}

/// Looks for records with words of what is taken away.
struct Search<'c, 't> {
    catalog: Catalog<'c>,
    taken: &'t Taken,
    revisions: BTreeMap<RevisionId, Option<Revision>>,
    /// The records that were found; those that were made from them may quote them.
    found: BTreeSet<Tag>,
}

/// The records that lose words, without them, in the order in which they were bound. `mark` stands in their place.
pub(crate) fn stripped(catalog: Catalog<'_>, taken: &Taken, mark: &str) -> Outcome<Vec<CompactionRecord>> {
    let mut search = Search { catalog, taken, revisions: BTreeMap::new(), found: BTreeSet::new() };
    let mut records = Vec::new();
    for row in catalog.compactions()? {
        let Some(record) = record_of(catalog, row.tag)? else { continue };
        records.extend(search.strip(record, mark)?);
    }
    Ok(records)
}

/// Puts records without their words in place of those with them.
pub(crate) fn replace(
    catalog: Catalog<'_>,
    records: &[CompactionRecord],
    order: &Order,
    level: Level,
) -> Outcome<()> {
    let mut encoder = Encoder::new(level)?;
    for record in records {
        let bytes = record::encode(record);
        let entry = Entry::Stripped { tag: record.tag, record: Digest::of(&bytes), order: order.clone() };
        let leaf = catalog.journal(&entry)?;
        catalog.replace_compaction(record.tag, leaf, &encoder.encode(&bytes))?;
    }
    Ok(())
}

impl Search<'_, '_> {
    fn strip(&mut self, mut record: CompactionRecord, mark: &str) -> Outcome<Option<CompactionRecord>> {
        let own = self.taken.sources.contains(&record.source) || self.touches(record.revision, None)?;
        let heir = record.parents.iter().any(|parent| self.found.contains(parent));
        let mut hit = own || heir;
        for span in &mut record.spans {
            let touched = match &span.location {
                Some(Location { revision, ranges }) => self.touches(*revision, Some(ranges.as_slice()))?,
                // Nobody can tell what it quotes.
                None => own || heir,
            };
            if touched {
                hit = true;
                mark.clone_into(&mut span.rendering);
            }
        }
        if !hit {
            return Ok(None);
        }
        self.found.insert(record.tag);
        record.summary_text.clear();
        Ok(Some(record))
    }

    /// Whether bytes of `ranges` in a state of a source, or any of it, are taken away.
    fn touches(&mut self, id: RevisionId, ranges: Option<&[ByteRange]>) -> Outcome<bool> {
        let revision = match self.revisions.entry(id) {
            Place::Occupied(known) => known.into_mut(),
            Place::Vacant(place) => {
                let row = self.catalog.revision(id)?;
                place.insert(row.map(|row| revision_of(self.catalog, &row)).transpose()?)
            }
        };
        let Some(revision) = revision else { return Ok(false) };
        if self.taken.sources.contains(&revision.source) {
            return Ok(true);
        }
        let mut at = 0;
        for &(piece, len) in &revision.pieces {
            for cut in self.taken.pieces.get(&piece).into_iter().flatten() {
                let cut = cut.shifted(at);
                if ranges.is_none_or(|ranges| ranges.iter().any(|range| range.overlaps(cut))) {
                    return Ok(true);
                }
            }
            at += len;
        }
        Ok(false)
    }
}
