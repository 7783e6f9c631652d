//! Spans of `OpenTelemetry` with the attributes of its conventions for generative AI, as OTLP in JSON: one request for
//! an export as a document, or one on each line.
//!
//! Every span is a record. A span of a model's answer repeats the conversation so far: see [`history`] for what is told
//! again and what is new.

mod attributes;

mod history;

mod span;

use std::collections::BTreeSet;

use strongroom_core::error::Result;
use strongroom_core::range::{ByteRange, RangeSet};
use strongroom_core::transcript::{Bytes, Finding, Form, Framing, Record, SourceIndex};

use crate::document::{self, Adapter, Member, Paths};
use crate::format::refuse_empty;
use crate::json::{Kind, Tape, Value};
use crate::lines::{RECORD_BYTES_MAX, blank_record, read_records};

use history::History;

/// Where spans stand in a request; the second as it was once called.
const PATHS: Paths = &[
    &["resourceSpans", "*", "scopeSpans", "*", "spans", "*"],
    &["resourceSpans", "*", "instrumentationLibrarySpans", "*", "spans", "*"],
];

/// Reads an export.
///
/// # Errors
/// `InvalidInput` for an empty source, and as [`Bytes::read`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    refuse_empty(source)?;
    let mut reader = Reader::default();
    let mut index = if begins_with_a_request(source)? {
        lines(source, &mut reader)?
    } else {
        document::index_at("otel", PATHS, source, &mut reader)?
    };
    reader.history.mark(source, &mut index.records)?;
    Ok(index)
}

/// Whether the first line is a whole request.
fn begins_with_a_request(source: &dyn Bytes) -> Result<bool> {
    let head = source.read(ByteRange::new(0, source.len().min(RECORD_BYTES_MAX)))?;
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut tape = Tape::new();
    let first = tape.scan(line).ok().and_then(|_| tape.root(line, 0));
    Ok(first.is_some_and(|value| value.kind() == Kind::Object))
}

#[derive(Debug, Default)]
struct Reader {
    history: History,
}

impl Adapter for Reader {
    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        if let Member::Message(value) = member {
            span::read(value, record, &mut self.history, findings);
        }
    }
}

/// Reads requests, one on a line: each span of each is a record.
fn lines(source: &dyn Bytes, reader: &mut Reader) -> Result<SourceIndex> {
    let mut spans: Vec<(u32, Vec<Record>)> = Vec::new();
    let mut found: Vec<Finding> = Vec::new();
    let parts = read_records(source, &mut |value, record, at| {
        let own = request(value, &record, reader, &mut found);
        if !own.is_empty() {
            spans.push((at, own));
        }
        Record { kind: strongroom_core::transcript::RecordKind::Meta, label: "request".to_owned(), ..record }
    })?;
    let mut spans = spans.into_iter().peekable();
    let (mut records, mut framing) = (Vec::new(), parts.framing);
    for (record, at) in parts.records.into_iter().zip(0u32..) {
        let Some((_, own)) = spans.next_if(|(own, _)| *own == at) else {
            records.push(record);
            continue;
        };
        let covered: RangeSet = own.iter().map(|span| span.range).collect();
        let gaps = covered.gaps_in(record.range);
        framing.extend(gaps.as_slice().iter().map(|&range| Framing { range, name: "envelope of spans" }));
        records.extend(own);
    }
    framing.sort_by_key(|framing| framing.range);
    let mut findings = parts.findings;
    findings.append(&mut found);
    findings.sort_by_key(|finding| finding.line);
    Ok(SourceIndex {
        format: "otel",
        form: Form::Elide,
        len: source.len(),
        records,
        framing,
        findings,
        side_items: Vec::new(),
        usage: Vec::new(),
        changing_tools: BTreeSet::new(),
    })
}

/// The spans of one request as records.
fn request(value: Value<'_>, line: &Record, reader: &mut Reader, found: &mut Vec<Finding>) -> Vec<Record> {
    let mut records = Vec::new();
    let mut open = vec![(value, String::new(), PATHS.to_vec())];
    while let Some((value, pointer, paths)) = open.pop() {
        if paths.iter().any(|path| path.is_empty()) {
            let mut record = blank_record(line.line, pointer, value.range());
            let from = found.len();
            span::read(value, &mut record, &mut reader.history, found);
            found.iter_mut().skip(from).for_each(|finding| finding.line = line.line);
            records.push(record);
            continue;
        }
        let mut below = Vec::new();
        for (at, element) in value.elements().enumerate() {
            below.push((element, format!("{pointer}/{at}"), steps(&paths, "*")));
        }
        for (key, member) in value.entries() {
            let key = key.string().unwrap_or_default();
            below.push((member, format!("{pointer}/{key}"), steps(&paths, &key)));
        }
        below.retain(|(_, _, paths)| !paths.is_empty());
        open.extend(below.into_iter().rev());
    }
    records
}

/// What is left of the paths that begin with this step.
fn steps(paths: &[&'static [&'static str]], step: &str) -> Vec<&'static [&'static str]> {
    let rest = paths.iter().filter_map(|path| path.split_first());
    rest.filter(|(key, _)| **key == step).map(|(_, rest)| rest).collect()
}
