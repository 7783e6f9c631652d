//! Retention by class: pieces that hold spans of a class are kept as long as its rule asks.
//!
//! A piece holds whole records and so spans of several classes; the longest rule counts, and nothing is kept shorter
//! than the rule of its source says.

use std::collections::BTreeMap;

use strongroom_archive::Archive;
use strongroom_core::digest::PieceId;
use strongroom_core::error::Result;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Retention, Revision, Vault as _};

use crate::policy::{Origin, Policy};
use crate::reading::Reading;

/// The source of a transcript and the directory that it names.
pub fn origin<'t>(reading: &'t Reading<'_>) -> Origin<'t> {
    Origin { source: reading.transcript.name(), project: reading.transcript.cwd() }
}

/// Keeps the pieces of `revision` as long as the classes of the spans of `reading` ask, whose state it is.
///
/// # Errors
/// `InvalidInput` when a rule cannot be read, `Unavailable` when nothing was recorded.
pub fn keep_by_class(
    archive: &Archive,
    policy: &Policy,
    reading: &Reading<'_>,
    revision: &Revision,
    now: Timestamp,
) -> Result<()> {
    if !policy.asks_for_class() {
        return Ok(());
    }
    let mut kept: BTreeMap<PieceId, Retention> = BTreeMap::new();
    for span in &reading.spans {
        let class = &span.examination.evidence.class;
        let Some(retention) = policy.retention_of_class(class, origin(reading), now)? else { continue };
        for (piece, _) in revision.pieces_of(&span.content.span.ranges) {
            let longest = kept.entry(piece).or_insert(retention);
            *longest = longest.or_longer(retention);
        }
    }
    let mut lengths: Vec<Retention> = Vec::new();
    for &retention in kept.values() {
        if !lengths.contains(&retention) {
            lengths.push(retention);
        }
    }
    for length in lengths {
        let own: Vec<PieceId> =
            kept.iter().filter(|(_, retention)| **retention == length).map(|(id, _)| *id).collect();
        archive.extend(&own, length)?;
    }
    Ok(())
}
