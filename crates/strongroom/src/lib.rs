//! A compactor for agent transcripts that never loses evidence.
//!
//! The question this crate answers: *how do bytes become a compacted transcript, and how does a question find
//! its originals again?*
//!
//! It is the public Rust interface and wires the other crates together. It does not know HTTP, MCP, terminals
//! or Python, and reads no clock and no environment: `now` and directories are arguments.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

pub mod tokens;

mod wording;

mod consent;

pub mod policy;

pub mod files;

pub mod transcript;

pub mod standard;

pub mod reading;

pub mod lineage;

pub mod summariser;

pub mod summarise;

pub mod prose;

pub mod custody;

pub mod classes;

pub mod compact;

pub mod ask;

pub mod ledger;

pub mod form;

pub mod show;

pub mod custodian;

pub mod replay;

pub mod explain;

pub mod import;

pub mod search;

pub mod watch;

pub mod retention;

pub mod erasure;

pub mod tier;

pub mod lost;

pub mod desk;

pub mod card;

pub mod proof;

pub use strongroom_core::error::{Error, ErrorKind, Result};
pub use strongroom_core::gate::{CompactionRefused, may_reclaim_lossily};
pub use strongroom_core::{digest, evidence, gate, pointer, range, time, vault};
pub use strongroom_evidence::{answer, effect, query};
pub use strongroom_formats::json;

/// The archive: open it, list it, check it.
pub mod archive {
    pub use strongroom_archive::journal::Checkpoint;
    pub use strongroom_archive::note;
    pub use strongroom_archive::source::{Relation, StoredSource};
    pub use strongroom_archive::verify::{Anchor, Depth, Report};
    pub use strongroom_archive::{Archive, Cloud, Mode, Needed, Options, Order, Secret};
}

/// What was found in a source.
pub mod source {
    pub use strongroom_core::summary::is_hidden;
    pub use strongroom_core::transcript::{Finding, Level};
}
