//! Clearing what was taken away: rows are overwritten when they go, and free pages and the log are cleared after it.

use strongroom_core::error::Result;

use crate::archive::Archive;

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is of one lifetime, the closure of any"
)]
impl Archive {
    /// Whether bytes that were taken away may still stand in free pages, in the log or in the cold tier: a run was
    /// cut short, another process was reading, or the tier could not be reached.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn purge_is_due(&self) -> Result<bool> {
        self.look(|catalog| Ok(catalog.purge_is_due()? || !catalog.leaving()?.is_empty()))
    }

    /// Clears free pages, the log, and the cold tier of objects that nothing needs. It may be repeated, and may be cut
    /// short anywhere.
    ///
    /// # Errors
    /// `Busy` when another process uses the archive for too long, `Unavailable` when it cannot be written, or the cold
    /// tier cannot be: then the rest is cleared.
    pub fn purge(&self) -> Result<()> {
        let swept = self.sweep();
        self.database.purge()?;
        self.change(|catalog| catalog.note_purged())?;
        swept.map(drop)
    }
}
