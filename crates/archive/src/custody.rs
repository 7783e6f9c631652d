//! Sources and their states: what was imported, what it extends, which session it belongs to.

use std::collections::BTreeMap;
use std::io::Read;

use strongroom_core::digest::{PieceId, RevisionId, SourceId};
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Redacted, Retention, Revision, Vault as _};

use crate::archive::Archive;
use crate::bodies::{self, Body};
use crate::catalog::{Catalog, RevisionRow, fits};
use crate::cut::{self, Cutter};
use crate::entry::Entry;
use crate::fault::Outcome;
use crate::registry::revision_of;
use crate::source::{
    ItemFacts, Relation, SessionItem, SourceMeta, SourceState, StoredRevision, StoredSource,
};
use crate::vault::extend;

/// The bytes of pieces that an import stores in one commit.
const IMPORT_COMMIT_BYTES: usize = 32 << 20;

/// The bytes that an import reads at once.
const IMPORT_READ_BYTES: usize = 256 << 10;

/// A state of a source that is to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct NewRevision<'a> {
    /// The source.
    pub source: &'a SourceMeta,
    /// Its pieces, in order, each with its number of bytes; all of them stored before.
    pub pieces: &'a [(PieceId, u64)],
    /// How long the pieces are kept at least.
    pub retention: Retention,
    /// When it was imported.
    pub at: Timestamp,
}

impl Archive {
    /// Records a state of a source, durably. A state equal to the newest is not recorded again; the facts of the
    /// item are.
    ///
    /// # Errors
    /// `NotFound` when a piece is not in the archive, `InvalidInput` when it has another length, `Unavailable` when
    /// nothing was recorded.
    pub fn put_revision(&self, new: &NewRevision<'_>) -> Result<StoredRevision> {
        let ids: Vec<PieceId> = new.pieces.iter().map(|(id, _)| *id).collect();
        let id = RevisionId::of(&ids);
        self.leases.hold()?;
        self.change(|catalog| {
            check_pieces(catalog, new.pieces)?;
            extend(catalog, &ids, new.retention)?;
            note_source(catalog, new.source)?;
            catalog.adopt(new.source.id, ids.iter().copied())?;
            let keyed = self.source_tombstone(new.source.id);
            let was_erased = catalog.erasure(&keyed)?.is_some();
            match catalog.latest_revision(new.source.id)? {
                Some(latest) if latest.revision.id == id && !was_erased => Ok(latest.revision),
                latest => {
                    // Taken in again, it is a source like any other.
                    catalog.delete_erasure(&keyed)?;
                    add_revision(catalog, new, id, latest)
                }
            }
        })
    }

    /// Cuts, stores and records everything `from` gives, holding a few pieces in memory.
    ///
    /// # Errors
    /// `Unavailable` when reading or storing fails; pieces that were stored until then stay and do no harm.
    pub fn import(
        &self,
        source: &SourceMeta,
        from: &mut dyn Read,
        retention: Retention,
        at: Timestamp,
    ) -> Result<StoredRevision> {
        let mut pieces = Vec::new();
        let mut cutter = Cutter::new();
        let mut waiting: Vec<Vec<u8>> = Vec::new();
        let mut buffer = vec![0; IMPORT_READ_BYTES];
        loop {
            let failed = |error| {
                Error::unavailable(format!("{} cannot be read: {error}", source.name)).caused_by(error)
            };
            let count = read_some(from, &mut buffer).map_err(failed)?;
            waiting.extend(cutter.push(buffer.get(..count).unwrap_or_default()));
            if count == 0 {
                waiting.extend(cutter.finish());
                break;
            }
            if waiting.iter().map(Vec::len).sum::<usize>() >= IMPORT_COMMIT_BYTES {
                self.store_listed(std::mem::take(&mut waiting), retention, &mut pieces)?;
            }
        }
        self.store_listed(waiting, retention, &mut pieces)?;
        self.put_revision(&NewRevision { source, pieces: &pieces, retention, at })
    }

    fn store_listed(
        &self,
        cut: Vec<Vec<u8>>,
        retention: Retention,
        list: &mut Vec<(PieceId, u64)>,
    ) -> Result<()> {
        let batch = cut::pieces(cut);
        self.store(&batch, retention)?;
        for piece in &batch {
            list.push((piece.id(), fits(piece.bytes().len(), "bytes in a piece")?));
        }
        Ok(())
    }

    /// The source with this id.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn source(&self, id: SourceId) -> Result<Option<StoredSource>> {
        self.look(|catalog| catalog.source(id)?.map_or(Ok(None), |(meta, _)| stored(catalog, meta)))
    }

    /// The source of this name; of several, the one imported last.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn source_by_name(&self, name: &str) -> Result<Option<StoredSource>> {
        self.look(|catalog| catalog.source_named(name)?.map_or(Ok(None), |meta| stored(catalog, meta)))
    }

    /// All sources, by name.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn sources(&self) -> Result<Vec<StoredSource>> {
        self.look(|catalog| {
            let all = catalog.sources()?.into_iter().map(|(meta, _)| stored(catalog, meta));
            all.filter_map(Outcome::transpose).collect()
        })
    }

    /// The newest state of a source.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn latest_revision(&self, source: SourceId) -> Result<Option<Revision>> {
        self.look(|catalog| {
            catalog.latest_revision(source)?.map(|row| revision_of(catalog, &row)).transpose()
        })
    }

    /// The states that no later one extends, of all sources, by name: whatever was imported stands in one of them.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn last_states(&self) -> Result<Vec<SourceState>> {
        self.look(|catalog| {
            let mut of_source: BTreeMap<SourceId, Vec<StoredRevision>> = BTreeMap::new();
            for row in catalog.revisions()? {
                let own = of_source.entry(row.source).or_default();
                if row.revision.relation == Relation::Extends {
                    own.pop();
                }
                own.push(row.revision);
            }
            let sources = catalog.sources()?.into_iter().map(|(meta, _)| meta);
            let states = sources.map(|meta| {
                let own = of_source.remove(&meta.id).unwrap_or_default();
                SourceState { meta, states: own }
            });
            Ok(states.collect())
        })
    }

    /// The pieces of a state of a source.
    ///
    /// # Errors
    /// `Corrupt` when the list of them is damaged, `Unavailable` when the archive cannot be read.
    pub fn pieces_of(&self, source: SourceId, state: &StoredRevision) -> Result<Revision> {
        let row = RevisionRow { source, revision: *state, leaf: 0 };
        self.look(|catalog| revision_of(catalog, &row))
    }

    /// How many acts are in the journal; while it is the same nothing was changed.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is of one lifetime, the closure of any"
    )]
    pub fn acts(&self) -> Result<u64> {
        self.look(|catalog| catalog.entry_count())
    }

    /// Whether the item called `name` looks as it did when it was last imported, so that it need not be read.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn is_unchanged(&self, name: &str, facts: &ItemFacts) -> Result<bool> {
        let known = self.look(|catalog| catalog.source_named(name))?;
        Ok(known.is_some_and(|meta| meta.facts == *facts))
    }

    /// Links sources to the session of `main`; links that are there already stay.
    ///
    /// # Errors
    /// `Unavailable` when nothing was recorded.
    pub fn link(&self, main: SourceId, items: &[SessionItem]) -> Result<()> {
        self.change(|catalog| {
            for item in items {
                if catalog.put_session_item(main, item)? {
                    catalog.journal(&Entry::Linked { main, kind: item.kind.clone(), source: item.source })?;
                }
            }
            Ok(())
        })
    }

    /// The sources that belong to the session of `main`, by kind.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn links(&self, main: SourceId) -> Result<Vec<SessionItem>> {
        self.look(|catalog| catalog.session_items(main))
    }
}

/// Reads at least one byte unless there is none left; a signal is not an end.
fn read_some(from: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn stored(catalog: Catalog<'_>, meta: SourceMeta) -> Outcome<Option<StoredSource>> {
    let latest = catalog.latest_revision(meta.id)?;
    Ok(latest.map(|row| StoredSource { meta, latest: row.revision }))
}

fn check_pieces(catalog: Catalog<'_>, pieces: &[(PieceId, u64)]) -> Outcome<()> {
    for (id, len) in pieces {
        let known = catalog
            .piece(*id)?
            .ok_or_else(|| Error::not_found(format!("piece {id} is not in the archive")))?;
        if known.len != *len {
            let message =
                format!("piece {id} has {} bytes in the archive and is listed with {len}", known.len);
            return Err(Error::invalid_input(message).into());
        }
    }
    Ok(())
}

fn note_source(catalog: Catalog<'_>, meta: &SourceMeta) -> Outcome<()> {
    if catalog.source(meta.id)?.is_some_and(|(known, _)| known == *meta) {
        return Ok(());
    }
    let leaf = catalog.journal(&Entry::Source(meta.clone()))?;
    catalog.put_source(meta, leaf)
}

fn add_revision(
    catalog: Catalog<'_>,
    new: &NewRevision<'_>,
    id: RevisionId,
    latest: Option<RevisionRow>,
) -> Outcome<StoredRevision> {
    let before = latest.map_or(Ok(Vec::new()), |row| catalog.revision_pieces(&row))?;
    let shared = before.iter().zip(new.pieces).take_while(|(old, new)| old == new).count();
    let relation = match latest {
        None => Relation::First,
        Some(_) => relation(
            catalog,
            before.get(shared..).unwrap_or_default(),
            new.pieces.get(shared..).unwrap_or_default(),
        )?,
    };
    let revision = StoredRevision {
        id,
        number: latest.map_or(1, |row| row.revision.number.saturating_add(1)),
        len: new.pieces.iter().fold(0, |sum, (_, len)| sum.saturating_add(*len)),
        pieces: fits(new.pieces.len(), "pieces")?,
        relation,
        shared: fits(shared, "pieces")?,
        at: new.at,
    };
    let leaf = catalog.journal(&Entry::Revision { source: new.source.id, revision })?;
    catalog.put_revision(new.source.id, &revision, leaf)?;
    let tail = new.pieces.get(shared..).unwrap_or_default();
    catalog.put_revision_pieces(new.source.id, revision.number, revision.shared, tail)?;
    Ok(revision)
}

/// How a state follows another, from the pieces behind those they share.
fn relation(catalog: Catalog<'_>, old: &[(PieceId, u64)], new: &[(PieceId, u64)]) -> Outcome<Relation> {
    let [(last, len)] = old else {
        return Ok(if old.is_empty() { Relation::Extends } else { Relation::Replaces });
    };
    let Some(last) = bytes_of(catalog, *last)? else { return Ok(Relation::Replaces) };
    let mut begun = Vec::new();
    for (id, _) in new {
        if u64::try_from(begun.len()).is_ok_and(|have| have >= *len) {
            break;
        }
        begun.extend(bytes_of(catalog, *id)?.unwrap_or_default());
    }
    Ok(if begun.starts_with(&last) { Relation::Extends } else { Relation::Replaces })
}

/// The bytes of a piece, where they can be read.
fn bytes_of(catalog: Catalog<'_>, id: PieceId) -> Outcome<Option<Vec<u8>>> {
    match bodies::get(catalog, id) {
        Ok(Some(Ok(Body::Whole(bytes) | Body::Redacted(Redacted { bytes, .. })))) => Ok(Some(bytes)),
        // Of what cannot be read it is not known what extends it.
        Ok(Some(Err(_)) | None) => Ok(None),
        Err(fault) => fault.damage().map(|_| None),
    }
}
