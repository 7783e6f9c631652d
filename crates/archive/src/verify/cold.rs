//! Is everything in the cold tier that the catalog says is there?

use std::collections::BTreeMap;

use strongroom_core::digest::PieceId;
use strongroom_core::error::Result;
use strongroom_core::vault::{Loaded, Vault as _};

use super::{Depth, Inspection, ProblemKind, Report};
use crate::archive::Archive;
use crate::blobs::Blobs as _;
use crate::cold::{Cold, Trouble};
use crate::fault::Outcome;

/// How many objects are looked at, or read, at once.
const BATCH: usize = 64;

impl Inspection<'_> {
    /// Compares what the catalog says of the cold tier with the journal.
    pub(super) fn check_tier(&mut self) -> Outcome<()> {
        let cold: BTreeMap<PieceId, Cold> =
            self.catalog.all_cold()?.into_iter().map(|cold| (cold.piece, cold)).collect();
        self.report.cold = u64::try_from(cold.len()).unwrap_or(u64::MAX);
        self.report.leaving = u64::try_from(self.catalog.leaving()?.len()).unwrap_or(u64::MAX);
        let tier = self.catalog.cold_tier()?.map(|tier| (tier.url, tier.declared_ms));
        for (what, same) in [
            ("the cold tier's place", tier == self.ledger.tier),
            ("the cold pieces", cold == self.ledger.cold),
        ] {
            if !same {
                self.report.add(ProblemKind::Tier, format!("{what} is not what the journal says"));
            }
        }
        for &id in cold.keys().filter(|id| !self.ledger.pieces.contains_key(id)) {
            self.report.add_piece(ProblemKind::Tier, id, "is in the cold tier and was not stored");
        }
        for id in self.catalog.blobs().ids()?.into_iter().filter(|id| cold.contains_key(id)) {
            self.report.add_piece(ProblemKind::Tier, id, "is in the cold tier and in the database");
        }
        Ok(())
    }
}

impl Archive {
    /// Checks the objects of the cold tier: that they are there with their lengths, or their bytes by their hashes.
    pub(super) fn check_cold(&self, report: &mut Report, depth: Depth) -> Result<()> {
        let all = self.all_cold()?;
        let mut unchecked: Option<(u64, String)> = None;
        for batch in all.chunks(BATCH) {
            let troubles = match depth {
                Depth::Catalog => self.check_objects(batch),
                Depth::Data => self.read_objects(batch, report)?,
            };
            for (cold, trouble) in batch.iter().zip(troubles) {
                match trouble {
                    None => {}
                    // Somebody brought it back, or it went, in the meantime.
                    Some(_) if self.look(|catalog| catalog.cold(cold.piece))? != Some(*cold) => {}
                    Some(Trouble::Damaged(why)) => {
                        report.add_piece(
                            ProblemKind::PieceDamaged,
                            cold.piece,
                            format_args!("is damaged: {why}"),
                        );
                    }
                    Some(Trouble::Unreachable(why)) => unchecked.get_or_insert((0, why)).0 += 1,
                }
            }
        }
        if let Some((count, why)) = unchecked {
            report.add(ProblemKind::Tier, format!("{count} cold pieces were not checked: {why}"));
        }
        Ok(())
    }

    fn read_objects(&self, batch: &[Cold], report: &mut Report) -> Result<Vec<Option<Trouble>>> {
        let ids: Vec<PieceId> = batch.iter().map(|cold| cold.piece).collect();
        let judge = |(loaded, id): (Loaded, &PieceId)| match loaded {
            Loaded::Unreachable(why) => Some(Trouble::Unreachable(why)),
            Loaded::Redacted(redacted) => {
                report.redacted += 1;
                report.bytes_read += u64::try_from(redacted.bytes.len()).unwrap_or(u64::MAX);
                None
            }
            loaded => match loaded.verified(*id) {
                Ok(bytes) => {
                    report.bytes_read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                    None
                }
                Err(why) => Some(Trouble::Damaged(why)),
            },
        };
        Ok(self.load(&ids)?.into_iter().zip(&ids).map(judge).collect())
    }
}
