//! The session as it is asked: sources with their examined spans, and the holes between them.

use std::ops::Range;
use std::sync::Arc;

use strongroom_core::pointer::Pointer;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Arguments, BlockKind, BlockRef, SourceIndex, TextRange};

use crate::content::SpanContent;
use crate::examine::Examination;

/// One examined source of a session.
#[derive(Debug)]
pub struct SourceView<'a> {
    /// The session's name in citations.
    pub session: String,
    /// The source's name in citations, e.g. a path.
    pub source: String,
    /// The child agent whose transcript this is; `None` of the main one.
    pub agent: Option<String>,
    /// The index.
    pub index: &'a SourceIndex,
    /// The spans that are events of this source, in order, each once: copies of earlier events and derived text are left out.
    pub spans: Vec<ExaminedSpan<'a>>,
}

/// A span with what it proves.
#[derive(Debug)]
pub struct ExaminedSpan<'a> {
    /// The decoded span.
    pub content: SpanContent<'a>,
    /// What it proves; shared, since many questions are asked of one examination.
    pub examination: Arc<Examination>,
    /// The pointer that leads to it, where it was reclaimed from the file that is asked about.
    pub pointer: Option<Pointer>,
}

/// What is not there to be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// What is missing.
    pub kind: HoleKind,
    /// The source it is in, as in citations.
    pub source: String,
    /// The 1-based physical line, where there is one.
    pub line: Option<u32>,
    /// The JSON pointer, where there is one.
    pub json_pointer: Option<String>,
    /// Its own bytes.
    pub range: ByteRange,
    /// One sentence: what is missing and why.
    pub why: String,
    /// The decoded text that stands there, of a placeholder, preview or summary.
    pub text: String,
}

/// The kinds of hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoleKind {
    /// A record could not be read.
    Unreadable,
    /// A result was cut by the harness or replaced by a placeholder.
    Cut,
    /// A side file is missing.
    NotRetrievable,
    /// A side file or stored original differs from its hash.
    HashDiffers,
    /// A summary of others without its originals.
    ForeignSummary,
    /// A summary of ours whose originals are gone, expired or erased.
    OriginalGone,
    /// A call without result.
    NoResult,
    /// A result without call.
    NoCall,
    /// The transcript of a child agent is missing.
    MissingChild,
    /// A source that holds prompts only.
    PromptsOnly,
}

impl HoleKind {
    /// The fixed words for this hole in answers.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Cut => "cut by the harness",
            Self::NotRetrievable => "not retrievable",
            Self::HashDiffers => "hash differs",
            Self::ForeignSummary => "foreign summary",
            Self::OriginalGone => "original gone",
            Self::NoResult => "no result",
            Self::NoCall => "no call",
            Self::MissingChild => "missing child transcript",
            Self::PromptsOnly => "prompts only",
        }
    }
}

/// Everything a question is asked of.
#[derive(Debug, Default)]
pub struct Scope<'a> {
    /// The sources; the main one of a session first, then its children.
    pub sources: Vec<SourceView<'a>>,
    /// The holes.
    pub holes: Vec<Hole>,
    /// Summaries that stand in the sources, whoever made them: never evidence, searched only as reports.
    pub summaries: Vec<SummaryText>,
    /// Side files that hold the full output of a result.
    pub side_texts: Vec<SideText>,
}

impl Scope<'_> {
    /// Fills [`Scope::summaries`] with every summary that the envelopes mark as one.
    pub fn read_summaries(&mut self, raw: &dyn RawMap) {
        for (source, view) in self.sources.iter().enumerate() {
            for (at, block) in view.index.blocks() {
                if !matches!(block.kind, BlockKind::Summary) || block.copy_of.is_some() {
                    continue;
                }
                let parts: Option<Vec<String>> =
                    block.text.iter().map(|range| raw.decoded(source, *range)).collect();
                if let Some(parts) = parts.filter(|parts| !parts.is_empty()) {
                    self.summaries.push(SummaryText { source, at, text: parts.join("\n") });
                }
            }
        }
    }
}

/// The text of a summary in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryText {
    /// The index of its source in [`Scope::sources`].
    pub source: usize,
    /// Its block.
    pub at: BlockRef,
    /// Its decoded text.
    pub text: String,
}

/// The text of a side file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideText {
    /// The index in [`Scope::sources`] of the source that points to it.
    pub source: usize,
    /// The result block that points to it.
    pub at: BlockRef,
    /// Its name in citations, e.g. a path.
    pub name: String,
    /// Its text; byte for byte the file's.
    pub text: String,
}

/// Access to the bytes behind decoded texts, for citations that are narrower than a whole text.
///
/// What it cannot say it leaves out: citations then cover whole texts.
pub trait RawMap {
    /// The raw bytes behind `decoded`, a range of bytes of the decoded text of `range`.
    fn raw(&self, source: usize, range: TextRange, decoded: Range<usize>) -> Option<ByteRange>;

    /// The raw bytes behind `decoded`, a range of bytes of the decoded string at `pointer` inside the arguments `at`.
    fn argument(
        &self,
        source: usize,
        at: Arguments,
        pointer: &str,
        decoded: Range<usize>,
    ) -> Option<ByteRange> {
        let _ = (source, at, pointer, decoded);
        None
    }

    /// The decoded text of `range`.
    fn decoded(&self, source: usize, range: TextRange) -> Option<String> {
        let _ = (source, range);
        None
    }

    /// The root hash over the pieces of a source, in hexadecimal.
    fn root(&self, source: usize) -> Option<String> {
        let _ = source;
        None
    }

    /// The JSON pointer, inside its record, of the string that holds `range`.
    fn pointer(&self, source: usize, range: ByteRange) -> Option<String> {
        let _ = (source, range);
        None
    }
}

/// A [`RawMap`] that knows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRawMap;

impl RawMap for NoRawMap {
    fn raw(&self, _source: usize, _range: TextRange, _decoded: Range<usize>) -> Option<ByteRange> {
        None
    }
}
