//! Clearing what was taken away: rows are overwritten when they go, and free pages and the log are cleared after it.

use strongroom_core::error::Result;

use crate::archive::Archive;

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is of one lifetime, the closure of any"
)]
impl Archive {
    /// Whether bytes that were taken away may still stand in free pages or in the log: a run was cut short, or
    /// another process was reading.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn purge_is_due(&self) -> Result<bool> {
        self.look(|catalog| catalog.purge_is_due())
    }

    /// Clears free pages and the log. It may be repeated, and may be cut short anywhere.
    ///
    /// # Errors
    /// `Busy` when another process uses the archive for too long, `Unavailable` when it cannot be written.
    pub fn purge(&self) -> Result<()> {
        self.database.purge()?;
        self.change(|catalog| catalog.note_purged())
    }
}
