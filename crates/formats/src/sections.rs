//! Files that are text: lines that are gathered into records.
//!
//! Every line belongs to exactly one record, so that nothing is framing. Who speaks is told by marks of the writer, and
//! only where nobody else can have written them.

use std::collections::BTreeSet;

use memchr::memchr;
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Block, BlockKind, Bytes, Encoding, Finding, Form, Level, Record, RecordKind, SourceIndex, Speaker,
    TextRange, Visibility,
};

use crate::document::DOCUMENT_BYTES_MAX;
use crate::format::refuse_empty;
use crate::lines::{blank_record, opaque_record};
use crate::part::finding;

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'t> {
    /// Its 1-based number.
    pub(crate) number: u32,
    /// Its bytes without the line end.
    pub(crate) range: ByteRange,
    /// Its text without the line end; empty where it is not UTF-8.
    pub(crate) text: &'t str,
    /// Where the next line starts.
    pub(crate) next: u64,
}

impl Line<'_> {
    /// The bytes of a part of the line.
    pub(crate) fn part(&self, part: std::ops::Range<usize>) -> ByteRange {
        let wide = |offset: usize| u64::try_from(offset).unwrap_or(u64::MAX);
        ByteRange::new(wide(part.start), wide(part.end)).shifted(self.range.start())
    }

    /// The bytes behind `prefix`, without space at the end.
    pub(crate) fn behind(&self, prefix: &str) -> ByteRange {
        self.part(prefix.len()..self.text.trim_end().len().max(prefix.len()))
    }
}

/// The lines of `bytes`.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let (mut at, mut number) = (0, 0u32);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let own = rest.get(..end).unwrap_or_default();
        let own = own.strip_suffix(b"\r").unwrap_or(own);
        number = number.saturating_add(1);
        let wide = |offset: usize| u64::try_from(offset).unwrap_or(u64::MAX);
        let next = at + (end + 1).min(rest.len());
        lines.push(Line {
            number,
            range: ByteRange::new(wide(at), wide(at + own.len())),
            text: std::str::from_utf8(own).unwrap_or_default(),
            next: wide(next),
        });
        at = next;
    }
    lines
}

/// The records of a text, in order.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) records: Vec<Record>,
    pub(crate) findings: Vec<Finding>,
}

impl Sections {
    /// Begins a record at `line`; the record before it ends there.
    pub(crate) fn begin(&mut self, line: &Line<'_>, label: &str) {
        let start = if self.records.is_empty() { 0 } else { line.range.start() };
        if let Some(before) = self.records.last_mut() {
            before.range = ByteRange::new(before.range.start(), start);
        }
        let mut record = blank_record(Some(line.number), String::new(), ByteRange::new(start, line.next));
        record.kind = RecordKind::Meta;
        label.clone_into(&mut record.label);
        self.records.push(record);
    }

    /// The record that is open.
    pub(crate) fn last(&mut self) -> Option<&mut Record> {
        self.records.last_mut()
    }

    /// Adds a block to the open record.
    pub(crate) fn push(&mut self, block: Block) {
        if let Some(record) = self.records.last_mut() {
            record.kind = RecordKind::Message;
            record.blocks.push(block);
        }
    }

    pub(crate) fn find(&mut self, line: &Line<'_>, code: &'static str, why: &str) {
        self.findings.push(finding(Level::Note, code, Some(line.number), "", why.to_owned()));
    }
}

/// Reads a text with `read`, which makes its records.
///
/// # Errors
/// `InvalidInput` for an empty source, and as [`Bytes::read`].
pub(crate) fn index(
    format: &'static str,
    source: &dyn Bytes,
    read: &mut dyn FnMut(&[Line<'_>], &mut Sections),
) -> Result<SourceIndex> {
    refuse_empty(source)?;
    let all = ByteRange::new(0, source.len());
    let mut sections = Sections::default();
    if source.len() > DOCUMENT_BYTES_MAX {
        let why = format!("a text of {} bytes is over the limit of {DOCUMENT_BYTES_MAX} bytes", source.len());
        sections.findings.push(finding(Level::Damage, "document-too-long", None, "", why.clone()));
        let record = blank_record(None, String::new(), all);
        sections.records.push(opaque_record(record, "document-too-long", None, why));
    } else {
        let bytes = source.read(all)?;
        if let Err(error) = std::str::from_utf8(&bytes) {
            let why = format!("not valid UTF-8 at byte {}", error.valid_up_to());
            sections.findings.push(finding(Level::Warning, "invalid-utf8", None, "", why));
        }
        read(&lines(&bytes), &mut sections);
        if let Some(last) = sections.records.last_mut() {
            last.range = ByteRange::new(last.range.start(), source.len());
        }
    }
    Ok(SourceIndex {
        format,
        form: Form::Elide,
        len: source.len(),
        records: sections.records,
        framing: Vec::new(),
        findings: sections.findings,
        side_items: Vec::new(),
        usage: Vec::new(),
        changing_tools: BTreeSet::new(),
    })
}

/// What somebody says in `parts`, which stand in order.
pub(crate) fn said(kind: BlockKind, speaker: Speaker, parts: &[ByteRange]) -> Option<Block> {
    let (first, last) = (parts.first()?, parts.last()?);
    let text = |range: &ByteRange| TextRange { range: *range, encoding: Encoding::Plain };
    Some(Block {
        kind,
        range: ByteRange::new(first.start(), last.end()),
        pointer: String::new(),
        speaker,
        visibility: Visibility::Context,
        copy_of: None,
        text: parts.iter().map(text).collect(),
    })
}

/// The bytes from the first to the last of `lines` that is not blank.
pub(crate) fn body(lines: &[Line<'_>]) -> Option<ByteRange> {
    let solid = |line: &&Line<'_>| !line.text.trim().is_empty();
    let (first, last) = (lines.iter().find(solid)?, lines.iter().rev().find(solid)?);
    Some(ByteRange::new(first.range.start(), last.range.end()))
}
