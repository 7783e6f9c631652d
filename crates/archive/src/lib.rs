//! Custody of originals: pieces, catalog and journal.
//!
//! The question this crate answers: *where is the original of this, is it intact, and how long will it be kept?*
//!
//! It knows pieces, sources, revisions, compaction records, retention and the journal. It does not know what
//! transcripts mean, and decides nothing. docs/archive-format.md specifies what it writes.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

mod hmac;
mod wire;

pub mod cut;

mod encoding;

pub mod source;

mod disk;
mod random;

mod seal;

mod cold;
mod thaw;

mod cover;

mod lock;

mod entry;
mod record;

mod fault;
mod sql;

mod place;

mod lease;

mod database;

mod blobs;

pub mod journal;

pub mod note;

mod catalog;

mod bodies;

pub mod archive;

mod vault;

mod registry;

pub mod custody;

pub mod export;

pub mod proof;

pub mod derived;

mod hold;

pub mod expiry;

pub mod tier;

mod purge;

mod strip;

pub mod erasure;

pub mod redaction;

pub mod encryption;

pub mod verify;

#[cfg(test)]
mod torture;

pub use archive::{Archive, Mode, Options};
pub use cold::Cloud;
pub use encoding::Level;
pub use entry::Order;
pub use lock::{Needed, Passphrase, Secret};
