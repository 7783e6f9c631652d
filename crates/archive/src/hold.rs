//! What the policy layer sets: holds, and a limit on what retention is believed.

use strongroom_core::digest::SourceId;
use strongroom_core::error::{Error, Result};
use strongroom_core::vault::Retention;

use crate::archive::Archive;
use crate::entry::Entry;

impl Archive {
    /// Forbids deleting any piece of any state of a source; a later reason replaces an earlier one.
    ///
    /// # Errors
    /// `NotFound` when the source is not in the archive, `Unavailable` when nothing was recorded.
    pub fn hold(&self, source: SourceId, reason: &str) -> Result<()> {
        self.change(|catalog| {
            if catalog.source(source)?.is_none() {
                return Err(Error::not_found(format!("source {source} is not in the archive")).into());
            }
            if catalog.hold(source)?.as_deref() != Some(reason) {
                catalog.put_hold(source, reason)?;
                catalog.journal(&Entry::Held { source, reason: reason.to_owned() })?;
            }
            Ok(())
        })
    }

    /// Takes the hold off a source; without one, nothing happens.
    ///
    /// # Errors
    /// `Unavailable` when nothing was recorded.
    pub fn release(&self, source: SourceId) -> Result<()> {
        self.change(|catalog| {
            if catalog.hold(source)?.is_some() {
                catalog.delete_hold(source)?;
                catalog.journal(&Entry::Released(source))?;
            }
            Ok(())
        })
    }

    /// Why a source is held, where it is.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn held(&self, source: SourceId) -> Result<Option<String>> {
        self.look(|catalog| catalog.hold(source))
    }

    /// Reports no retention beyond `cap`, whatever was stored: for archives whose owner deletes earlier. What was
    /// promised for each piece is kept, and comes back when the cap goes.
    ///
    /// # Errors
    /// `Unavailable` when nothing was recorded.
    pub fn set_retention_cap(&self, cap: Retention) -> Result<()> {
        self.change(|catalog| {
            if catalog.cap()? != cap {
                catalog.set_cap(cap)?;
                catalog.journal(&Entry::Capped(cap))?;
            }
            Ok(())
        })
    }
}
