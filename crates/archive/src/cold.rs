//! The store behind the cold tier: here is a name that nobody has, keep these bytes under it.
//!
//! An object is written once, never changed, and taken away when nothing needs it. Its name is a keyed hash over its
//! piece and its bytes, so that nothing of a transcript is told by it and two contents never meet under one name.

mod http;
#[cfg(test)]
pub(crate) mod memory;
mod objects;

use std::fmt;
use std::sync::Arc;

use strongroom_core::digest::{ArchiveId, Digest, PieceId};
use strongroom_core::error::Result;

/// The longest object that is read, in bytes: a sealed piece of the largest size, with room.
pub(crate) const OBJECT_BYTES_MAX: u64 = (1 << 20) + (64 << 10);

/// The name of an object: 256 bits that tell nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectName(pub(crate) [u8; 32]);

impl ObjectName {
    /// What every store that was set as a cold tier holds: without it, an object that is not found says nothing.
    pub(crate) const MARKER: Self = Self([0; 32]);
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digest::from_bytes(self.0).fmt(f)
    }
}

/// The object of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cold {
    pub(crate) piece: PieceId,
    pub(crate) object: ObjectName,
    /// Its length, in bytes.
    pub(crate) len: u64,
}

/// Why bytes that are in custody are not at hand, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// They are gone or changed.
    Damaged(String),
    /// Nothing is known of them: what keeps them does not answer.
    Unreachable(String),
}

impl Trouble {
    pub(crate) fn into_words(self) -> String {
        let (Self::Damaged(words) | Self::Unreachable(words)) = self;
        words
    }
}

/// What became of an object that was to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    Created,
    /// Something stands under its name; nothing was changed.
    Exists,
}

/// The answer to one request, or in words why there is none.
pub(crate) type Reply<T> = std::result::Result<T, String>;

/// The reply to a call with one request.
pub(crate) fn only<T>(mut replies: Vec<Reply<T>>) -> Reply<T> {
    replies.pop().unwrap_or_else(|| Err("there was no answer".to_owned()))
}

/// A store of objects. Requests of one call run side by side; each has its own reply, in order.
pub(crate) trait ColdStore: fmt::Debug + Send + Sync {
    /// Creates objects. Where one of that name is there, it stays as it is. Created means durable.
    fn create(&self, objects: &[(ObjectName, Vec<u8>)]) -> Vec<Reply<Put>>;

    /// Whole objects, each by a request of its own; `None` of one that is not there.
    fn get(&self, names: &[ObjectName]) -> Vec<Reply<Option<Vec<u8>>>>;

    /// The lengths of objects in bytes; `None` of one that is not there.
    fn lens(&self, names: &[ObjectName]) -> Vec<Reply<Option<u64>>>;

    /// Takes objects away; one that is not there is taken away already.
    fn delete(&self, names: &[ObjectName]) -> Vec<Reply<()>>;

    /// The longest a read took so far, in milliseconds.
    fn worst_read_ms(&self) -> u64;
}

/// How stores are reached: settings as the environment names them, such as `AWS_ENDPOINT_URL`. They may hold keys, and
/// are never shown.
#[derive(Clone, Default)]
pub struct Cloud {
    settings: Vec<(String, String)>,
    /// What stands in for every store.
    pub(crate) fake: Option<Arc<dyn ColdStore>>,
}

/// The beginnings of names that mean something to a store.
const SETTING_PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

impl Cloud {
    /// Those of `variables` that mean something to a store.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let known = |name: &str| SETTING_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        Self { settings: variables.into_iter().filter(|(name, _)| known(name)).collect(), fake: None }
    }

    /// Makes what the store at `url` needs before its first object. Durable on return.
    ///
    /// # Errors
    /// `InvalidInput` when the address is of no kind that is known, `Unavailable` when it cannot be made.
    pub(crate) fn prepare(&self, url: &str, archive: ArchiveId) -> Result<()> {
        if self.fake.is_some() { Ok(()) } else { objects::prepare(url, archive) }
    }

    /// The store at `url`, for the objects of one archive.
    ///
    /// # Errors
    /// `InvalidInput` when the address is of no kind that is known, `Unavailable` when the store cannot be used.
    pub(crate) fn open(&self, url: &str, archive: ArchiveId) -> Result<Arc<dyn ColdStore>> {
        match &self.fake {
            Some(fake) => Ok(Arc::clone(fake)),
            None => Ok(Arc::new(objects::Objects::open(url, archive, &self.settings)?)),
        }
    }
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloud").field("settings", &self.settings.len()).finish_non_exhaustive()
    }
}
