//! Vendor transcript formats.
//!
//! The question this crate answers: *what do these bytes hold, and how does this agent want them written back?*
//!
//! It knows vendors' schemas, JSON with byte offsets, and splicing. It does not know archives, policy or evidence.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::span::{Segmentation, SpanIndex};
use strongroom_core::transcript::{ArgumentTree, Arguments, Bytes, Encoding, SourceIndex, TextRange};

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
    ) -> Result<Vec<u8>>;

    /// How the agent is told to go on with the compacted form.
    fn resume(&self, index: &SourceIndex, edit: &Edit) -> Option<Resume>;
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
    /// The bytes, inside one string literal; made by [`raw_range`].
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
}

/// All formats that can be read.
pub fn all() -> &'static [&'static dyn Format] {
    &[]
}

/// Decodes a text; damaged escapes and lone surrogates become U+FFFD.
///
/// # Errors
/// As [`Bytes::read`].
pub fn text(source: &dyn Bytes, range: TextRange) -> Result<String> {
    let bytes = source.read(range.range)?;
    match range.encoding {
        Encoding::Plain | Encoding::Json => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// The raw bytes behind `decoded`, a range of bytes of the decoded text of `range`.
///
/// # Errors
/// As [`Bytes::read`].
pub fn raw_range(
    _source: &dyn Bytes,
    range: TextRange,
    _decoded: std::ops::Range<usize>,
) -> Result<ByteRange> {
    Ok(range.range)
}

/// Decodes the arguments of a call.
///
/// # Errors
/// As [`Bytes::read`].
pub fn arguments(_source: &dyn Bytes, _at: Arguments) -> Result<ArgumentTree> {
    Ok(ArgumentTree::default())
}
