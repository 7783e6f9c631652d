//! What the archive has promised by some point of time, and whether it keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use strongroom_core::digest::{ArchiveId, PieceId, SourceId, Tag};
use strongroom_core::vault::{Loaded, Registry as _, Vault as _};

use super::workload::secret;
use crate::archive::{Archive, Mode, Options};
use crate::verify::Depth;

/// One thing that the archive has said, or that has begun.
#[derive(Debug, Clone)]
pub(super) enum Note {
    Made(ArchiveId),
    /// Pieces are kept without end.
    Kept(Vec<PieceId>),
    /// Pieces are kept until a day that has come.
    Lent(Vec<PieceId>),
    /// Pieces may be gone from now on, with a trace.
    Going(Vec<PieceId>),
    /// They are.
    Gone(Vec<PieceId>),
    /// Bytes may be taken out of pieces from now on.
    Cutting(Vec<PieceId>),
    /// They are.
    Cut(Vec<PieceId>),
    /// A source has these bytes at least, from its start.
    Imported(String, Vec<u8>),
    Bound(Tag),
    Held(SourceId, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Going,
    Gone,
    Cutting,
    Cut,
}

/// The sum of all notes.
#[derive(Debug, Default, Clone)]
pub(super) struct Promises {
    made: Option<ArchiveId>,
    pieces: BTreeMap<PieceId, Fate>,
    sources: BTreeMap<String, Vec<u8>>,
    tags: BTreeSet<Tag>,
    held: BTreeMap<SourceId, String>,
}

impl Promises {
    pub(super) fn add(&mut self, note: &Note) {
        match note {
            Note::Made(id) => self.made = Some(*id),
            Note::Kept(ids) | Note::Lent(ids) => self.pieces.extend(ids.iter().map(|id| (*id, Fate::Kept))),
            Note::Going(ids) => self.pieces.extend(ids.iter().map(|id| (*id, Fate::Going))),
            Note::Gone(ids) => self.pieces.extend(ids.iter().map(|id| (*id, Fate::Gone))),
            Note::Cutting(ids) => self.pieces.extend(ids.iter().map(|id| (*id, Fate::Cutting))),
            Note::Cut(ids) => self.pieces.extend(ids.iter().map(|id| (*id, Fate::Cut))),
            Note::Imported(name, bytes) => drop(self.sources.insert(name.clone(), bytes.clone())),
            Note::Bound(tag) => drop(self.tags.insert(*tag)),
            Note::Held(source, reason) => drop(self.held.insert(*source, reason.clone())),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        let made = usize::from(self.made.is_some());
        (made + self.pieces.len() + self.sources.len() + self.tags.len() + self.held.len()) as u64
    }

    /// What is broken of them in the archive at `dir`, which is opened as after any crash, and made where it need not
    /// be there yet. Anything that is neither before nor after an act counts as well.
    pub(super) fn broken(&self, dir: &Path) -> Vec<String> {
        // A secret opens an archive that is not encrypted yet as well.
        let options = match self.made {
            Some(_) => Options { secret: Some(secret()), ..Options::new(Mode::ReadWrite) },
            None => Options::new(Mode::CreateIfMissing),
        };
        let archive = match Archive::open_with(dir, &options) {
            Ok(archive) => archive,
            Err(error) => return vec![format!("the archive does not open: {error}")],
        };
        let mut broken = self.broken_in(&archive);
        let report = archive.verify(Depth::Data, None);
        broken.extend(report.problems.iter().map(|problem| format!("verify: {problem:?}")));
        broken
    }

    fn broken_in(&self, archive: &Archive) -> Vec<String> {
        let mut broken = Vec::new();
        if self.made.is_some_and(|id| id != archive.id()) {
            broken.push(format!("another archive, {}", archive.id()));
        }
        let ids: Vec<PieceId> = self.pieces.keys().copied().collect();
        match archive.load(&ids) {
            Ok(loaded) => broken.extend(
                self.pieces
                    .iter()
                    .zip(loaded)
                    .filter_map(|((id, fate), loaded)| broken_piece(*id, *fate, &loaded)),
            ),
            Err(error) => broken.push(format!("pieces cannot be read: {error}")),
        }
        broken.extend(self.sources.iter().filter_map(|(name, bytes)| broken_source(archive, name, bytes)));
        for tag in &self.tags {
            match archive.by_tag(*tag) {
                Ok(Some(record)) if record.tag == *tag => {}
                other => broken.push(format!("tag {tag}: {other:?}")),
            }
        }
        for (source, reason) in &self.held {
            match archive.held(*source) {
                Ok(Some(found)) if found == *reason => {}
                other => broken.push(format!("hold on {source}: {other:?}")),
            }
        }
        broken
    }
}

fn broken_piece(id: PieceId, fate: Fate, loaded: &Loaded) -> Option<String> {
    let is_kept = match loaded {
        Loaded::Found(bytes) => {
            PieceId::of(bytes) == id && matches!(fate, Fate::Kept | Fate::Going | Fate::Cutting)
        }
        Loaded::Expired { .. } | Loaded::Erased { .. } => matches!(fate, Fate::Going | Fate::Gone),
        Loaded::Redacted(_) => matches!(fate, Fate::Cutting | Fate::Cut),
        Loaded::Missing | Loaded::Damaged(_) | Loaded::Unreachable(_) => false,
    };
    let found = match loaded {
        Loaded::Found(bytes) => format!("{} bytes", bytes.len()),
        other => format!("{other:?}"),
    };
    (!is_kept).then(|| format!("piece {id}, {fate:?}: {found}"))
}

fn broken_source(archive: &Archive, name: &str, bytes: &[u8]) -> Option<String> {
    let rebuilt = || {
        let source = archive.source_by_name(name)?;
        let revision = match source {
            Some(source) => archive.latest_revision(source.meta.id)?,
            None => None,
        };
        let mut rebuilt = Vec::new();
        if let Some(revision) = revision {
            archive.rebuild(&revision, &mut rebuilt)?;
        }
        Ok::<_, strongroom_core::error::Error>(rebuilt)
    };
    match rebuilt() {
        Ok(rebuilt) if rebuilt.starts_with(bytes) => None,
        Ok(rebuilt) => Some(format!("source {name}: {} of {} bytes, or others", rebuilt.len(), bytes.len())),
        Err(error) => Some(format!("source {name}: {error}")),
    }
}
