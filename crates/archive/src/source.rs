//! Sources and their revisions, as the archive's users name them.

use strongroom_core::digest::{ArchiveId, Digest, RevisionId, SourceId};
use strongroom_core::time::Timestamp;

/// What is known of a source when a state of it is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMeta {
    /// Names the source; see [`source_id`].
    pub id: SourceId,
    /// A path, or `-` for standard input.
    pub name: String,
    /// The adapter's name.
    pub format: String,
    /// The session it belongs to, as its adapter names it.
    pub session: Option<String>,
    /// The item's state on disk.
    pub facts: ItemFacts,
}

/// By what a file is recognised as unchanged without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ItemFacts {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was last modified, in milliseconds since 1970.
    pub mtime_ms: i64,
    /// Its inode.
    pub inode: u64,
    /// The device the inode is on.
    pub device: u64,
}

/// A source in the archive with its newest revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSource {
    /// What was known at the last import.
    pub meta: SourceMeta,
    /// The newest revision.
    pub latest: StoredRevision,
}

/// A source in the archive with those of its states that no later one extends, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceState {
    /// What was known at the last import.
    pub meta: SourceMeta,
    /// The states; all but the last were replaced.
    pub states: Vec<StoredRevision>,
}

/// One state of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRevision {
    /// Its id.
    pub id: RevisionId,
    /// Its number within the source, from 1.
    pub number: u32,
    /// The number of bytes.
    pub len: u64,
    /// The number of pieces.
    pub pieces: u32,
    /// How it follows the one before.
    pub relation: Relation,
    /// How many pieces it shares with the one before, from the start.
    pub shared: u32,
    /// When it was imported.
    pub at: Timestamp,
}

/// How a revision follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// There is none before it.
    First,
    /// The one before is its beginning.
    Extends,
    /// The source was rewritten.
    Replaces,
}

impl Relation {
    /// The word for this relation in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Extends => "extends",
            Self::Replaces => "replaces",
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Extends => 2,
            Self::Replaces => 3,
        }
    }

    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::First),
            2 => Some(Self::Extends),
            3 => Some(Self::Replaces),
            _ => None,
        }
    }
}

/// A source that belongs to the session of a main source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionItem {
    /// What it is to the session, e.g. `child a1b2` or `output toolu_1`.
    pub kind: String,
    /// The source.
    pub source: SourceId,
}

/// The id of the source called `name` in an archive: one name is one source, whatever it holds.
pub fn source_id(archive: ArchiveId, name: &str) -> SourceId {
    SourceId::new(Digest::of_parts("strongroom.source.v1", [archive.digest().as_bytes(), name.as_bytes()]))
}
