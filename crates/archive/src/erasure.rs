//! Erasure by order: whatever its retention, it goes at once, in every place where it stands, and its name says so.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::digest::{PieceId, SourceId, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;

use crate::archive::Archive;
use crate::catalog::Catalog;
use crate::entry::{Entry, Order};
use crate::expiry::{PieceTerm, term};
use crate::fault::Outcome;
use crate::strip::{self, Taken};

/// What is to be erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A source: every piece that no other source holds, and the way to those that one does.
    Source(SourceId),
    /// A piece, in all sources.
    Piece(PieceId),
}

/// How far an erasure reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// The pieces that go.
    pub pieces: Vec<PieceTerm>,
    /// The pieces that stay, since other sources hold them.
    pub shared: Vec<PieceTerm>,
    /// The records that lose the words that quote what goes.
    pub records: Vec<Tag>,
    /// The sources that lose something.
    pub sources: BTreeSet<SourceId>,
    /// The holds of the archive that forbid it.
    pub holds: Vec<(SourceId, String)>,
}

/// The mark in place of words of a record.
fn mark(order: &Order) -> String {
    format!("[erased on {}: {}]", order.at.day(), order.reason)
}

impl Archive {
    /// How far the erasure of `subjects` would reach now.
    ///
    /// # Errors
    /// `NotFound` when one of them is not in the archive, `Unavailable` when it cannot be read.
    pub fn reach(&self, subjects: &[Subject]) -> Result<Reach> {
        self.look(|catalog| {
            let (mut reach, taken) = self.extent(catalog, subjects)?;
            let records = strip::stripped(catalog, &taken, "")?;
            reach.records = records.into_iter().map(|record| record.tag).collect();
            Ok(reach)
        })
    }

    /// Erases `subjects`, unless a hold of the archive or one of the sources in `held` forbids it: in one transaction
    /// with what stands for them in the journal. [`Archive::purge`] clears what the database keeps of it.
    ///
    /// # Errors
    /// `Refused` when a hold forbids it, `Busy` when another process stores, `NotFound` when a subject is not in the
    /// archive, `Unavailable` when nothing was erased.
    pub fn erase(&self, subjects: &[Subject], held: &BTreeSet<SourceId>, order: &Order) -> Result<Reach> {
        self.database.check_writable()?;
        let alone = self.leases.alone()?;
        let derived = self.deriving_no_more()?;
        let reach = self.change(|catalog| {
            let catalog = catalog.upgraded()?;
            let (mut reach, taken) = self.extent(catalog, subjects)?;
            check_free(catalog, &reach, held)?;
            derived.forget(&reach.sources)?;
            let records = strip::stripped(catalog, &taken, &mark(order))?;
            strip::replace(catalog, &records, order, self.level)?;
            reach.records = records.into_iter().map(|record| record.tag).collect();
            self.shred(catalog, &reach, &taken, order)?;
            Ok(reach)
        })?;
        drop(alone);
        Ok(reach)
    }

    fn extent(&self, catalog: Catalog<'_>, subjects: &[Subject]) -> Outcome<(Reach, Taken)> {
        let sources: BTreeSet<SourceId> = subjects
            .iter()
            .filter_map(|subject| match subject {
                Subject::Source(source) => Some(*source),
                Subject::Piece(_) => None,
            })
            .collect();
        let mut wanted: BTreeMap<PieceId, Going> = BTreeMap::new();
        for subject in subjects {
            match subject {
                Subject::Source(source) => {
                    if catalog.source(*source)?.is_none() {
                        return Err(Error::not_found(format!("source {source} is not in the archive")).into());
                    }
                    for piece in catalog.source_pieces(*source)? {
                        wanted.entry(piece).or_insert(Going::UnlessShared);
                    }
                }
                Subject::Piece(piece) => {
                    if catalog.piece(*piece)?.is_none() {
                        return Err(Error::not_found(format!("piece {piece} is not in the archive")).into());
                    }
                    wanted.insert(*piece, Going::Anyway);
                }
            }
        }
        self.divided(catalog, sources, wanted)
    }

    /// Tells what goes from what stays.
    fn divided(
        &self,
        catalog: Catalog<'_>,
        sources: BTreeSet<SourceId>,
        wanted: BTreeMap<PieceId, Going>,
    ) -> Outcome<(Reach, Taken)> {
        let mut reach = Reach { sources: sources.clone(), ..Reach::default() };
        let mut taken = Taken { sources, pieces: BTreeMap::new() };
        for (id, going) in wanted {
            let Some(row) = catalog.piece(id)? else { continue };
            let term = term(catalog, id, row.len, row.retention)?;
            let mut others = Vec::new();
            for other in term.sources.iter().filter(|other| !taken.sources.contains(other)) {
                if catalog.erasure(&self.source_tombstone(*other))?.is_none() {
                    others.push(*other);
                }
            }
            if others.is_empty() || going == Going::Anyway {
                taken.pieces.insert(id, vec![ByteRange::new(0, term.len)]);
                reach.sources.extend(others);
                reach.pieces.push(term);
            } else {
                reach.shared.push(term);
            }
        }
        for &source in &reach.sources {
            reach.holds.extend(catalog.hold(source)?.map(|reason| (source, reason)));
        }
        Ok((reach, taken))
    }

    fn shred(&self, catalog: Catalog<'_>, reach: &Reach, taken: &Taken, order: &Order) -> Outcome<()> {
        let pieces: Vec<[u8; 32]> = reach.pieces.iter().map(|piece| self.tombstone(piece.id)).collect();
        let sources: Vec<[u8; 32]> =
            taken.sources.iter().map(|source| self.source_tombstone(*source)).collect();
        for piece in &reach.pieces {
            catalog.remove_piece(piece.id)?;
        }
        for source in &taken.sources {
            catalog.shred(*source)?;
        }
        for keyed in pieces.iter().chain(&sources) {
            catalog.put_erasure(keyed, order)?;
        }
        catalog.journal(&Entry::Shredded { pieces, sources, order: order.clone() })?;
        catalog.note_purge()
    }
}

/// Whether a piece goes that other sources hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    UnlessShared,
    Anyway,
}

/// Checks that no hold forbids it.
pub(crate) fn check_free(catalog: Catalog<'_>, reach: &Reach, held: &BTreeSet<SourceId>) -> Outcome<()> {
    let by_rule = reach.sources.iter().find(|source| held.contains(source));
    let by_rule = by_rule.map(|source| (*source, "a rule of the policy".to_owned()));
    let Some((source, reason)) = reach.holds.first().cloned().or(by_rule) else { return Ok(()) };
    let name = catalog.source(source)?.map_or_else(|| source.to_string(), |(meta, _)| meta.name);
    Err(Error::refused(format!("{name} is held ({reason}); nothing was changed")).into())
}
