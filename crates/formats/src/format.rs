//! The contract of a format, and what an edit is.

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::{Segmentation, SpanIndex};
use strongroom_core::transcript::{Bytes, SourceIndex};

/// The code of the finding that a session's beginning is in another file.
pub const CUT_HISTORY: &str = "cut-history";

/// Labels of records from which on single results are sent as a placeholder, while the file keeps their text.
pub const CLEARINGS: &[&str] = &["system/microcompact_boundary"];

/// One vendor's schema: reading and writing back.
pub trait Format: Sync + std::fmt::Debug {
    /// The name users give with `--format`, e.g. `claude-code`.
    fn name(&self) -> &'static str;

    /// Reads `source` into an index. Total over content: what is not understood is an opaque block or an
    /// unknown record with a finding.
    ///
    /// # Errors
    /// `InvalidInput` when `source` is nothing this format can be (empty, binary), `Unavailable` when reading fails.
    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex>;

    /// Writes the compacted form. An [`Edit`] that changes nothing gives the input, byte for byte.
    ///
    /// # Errors
    /// `Bug` when the result would break an invariant of the vendor's API.
    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced>;

    /// How the agent is told to go on with the compacted form; of an [`Edit`] that changes nothing, with the session as it is.
    /// `None` where nothing resumes from a file.
    fn resume(&self, _index: &SourceIndex, _edit: &Edit) -> Option<Resume> {
        None
    }

    /// The compacted form with the link fields that a resumed copy needs, e.g. an id of its own in its first line.
    ///
    /// # Errors
    /// `InvalidInput` when the first line is not what the agent needs to resume.
    fn resumable(&self, compacted: Vec<u8>, _edit: &Edit) -> Result<Vec<u8>> {
        Ok(compacted)
    }
}

/// A source after an edit.
#[derive(Debug, Clone)]
pub struct Spliced {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What they are read as: the index by which the edit was checked.
    pub index: SourceIndex,
}

/// What is changed in a source. Spans that are not named are kept.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// The text of the summary; empty when nothing was reclaimed.
    pub summary: String,
    /// Bytes that make derived ids unique to this compaction; the same bytes give the same ids.
    pub seed: Vec<u8>,
    /// Spans whose content goes, in order, with the text that stands in its place in the elide form.
    pub reclaimed: Vec<(SpanIndex, String)>,
    /// Earlier summaries of ours that this one replaces.
    pub replaced_summaries: Vec<SpanIndex>,
    /// Parts of kept text that are hidden in the view.
    pub masks: Vec<Mask>,
}

/// Raw bytes of a text that are replaced in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The bytes, inside one string literal; made by [`crate::raw_range`].
    pub range: ByteRange,
    /// Plain text to stand there; it is escaped as the place demands.
    pub replacement: String,
}

/// How an agent goes on with a compacted session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The file name the agent expects.
    pub file_name: String,
    /// The command, with `{file}` where the path of the file goes.
    pub command: String,
    /// The directory the command is run in, where the session names one.
    pub directory: Option<String>,
}

impl Edit {
    /// Whether the edit changes nothing.
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty()
            && self.reclaimed.is_empty()
            && self.replaced_summaries.is_empty()
            && self.masks.is_empty()
    }
}

/// # Errors
/// `InvalidInput` for a source without bytes.
pub(crate) fn refuse_empty(source: &dyn Bytes) -> Result<()> {
    if source.is_empty() { Err(Error::invalid_input("an empty file")) } else { Ok(()) }
}
