//! Showing: from a pointer back to the original.

use std::collections::BTreeMap;

use strongroom_archive::Archive;
use strongroom_core::deposit::span_hash;
use strongroom_core::digest::RevisionId;
use strongroom_core::error::{Error, Result};
use strongroom_core::pointer::Pointer;
use strongroom_core::transcript::{BlockKind, BlockRef, Scalar};
use strongroom_core::vault::{BoundSpan, CompactionRecord, Location, REDACTED_BYTE, Registry as _, Revision};

use crate::ask::{ShownPart, part};
use crate::reading::{ReadSpan, Reading};
use crate::transcript::{GoneBytes, GoneKind, Transcript};

/// Whether secrets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reveal {
    /// They are hidden.
    Mask,
    /// They are shown.
    Reveal,
}

/// The record behind a pointer.
///
/// # Errors
/// `NotFound` when no archive here knows the tag, `Unavailable` when it cannot be read.
pub fn record(archive: &Archive, pointer: Pointer) -> Result<CompactionRecord> {
    let found = archive.by_tag(pointer.tag)?;
    found.ok_or_else(|| Error::not_found(format!("{pointer} is not in this archive")))
}

/// The span with the pointer's number under `record`.
///
/// # Errors
/// `InvalidInput` when the pointer has no number, `NotFound` when there is no such span.
pub fn span(record: &CompactionRecord, pointer: Pointer) -> Result<&BoundSpan> {
    let ordinal = pointer.ordinal.ok_or_else(|| {
        Error::invalid_input(format!("{pointer} names {} spans; add #<span>", record.spans.len()))
    })?;
    let found = record.spans.iter().find(|span| span.ordinal == ordinal);
    found.ok_or_else(|| {
        Error::not_found(format!("{pointer}: there are {} spans under this tag", record.spans.len()))
    })
}

/// The exact bytes of a span, compared with its hash.
///
/// # Errors
/// `NotFound` when no original was kept, `Corrupt` when the bytes differ, `Expired` or `Unavailable` as the
/// archive says.
pub fn bytes(archive: &Archive, span: &BoundSpan) -> Result<Vec<u8>> {
    let location = location(span)?;
    let revision = revision(archive, location)?;
    let ranges = location.ranges.as_slice().iter();
    let parts = ranges.map(|&range| archive.read(&revision, range)).collect::<Result<Vec<Vec<u8>>>>()?;
    if span_hash(parts.iter().map(Vec::as_slice)) != span.hash {
        return Err(Error::corrupt(format!(
            "integrity failure at span #{}: its bytes differ from its hash",
            span.ordinal
        )));
    }
    Ok(parts.concat())
}

pub(crate) fn revision(archive: &Archive, location: &Location) -> Result<Revision> {
    let found = archive.revision(location.revision)?;
    found.ok_or_else(|| Error::not_found(format!("revision {} is not in this archive", location.revision)))
}

pub(crate) fn location(span: &BoundSpan) -> Result<&Location> {
    span.location.as_ref().ok_or_else(|| {
        let why = span
            .waiver
            .as_ref()
            .map_or("narrative without evidence".to_owned(), |waiver| format!("waiver {waiver}"));
        Error::not_found(format!(
            "no original of span #{} was kept ({why}); it read: {}",
            span.ordinal, span.rendering
        ))
    })
}

/// Originals decoded for reading; a revision is read once.
#[derive(Debug)]
pub struct Shower<'a> {
    archive: &'a Archive,
    format: String,
    sources: BTreeMap<RevisionId, (Transcript, Vec<GoneBytes>)>,
}

impl<'a> Shower<'a> {
    /// Shows spans under `record`.
    pub fn new(archive: &'a Archive, record: &CompactionRecord) -> Self {
        Self { archive, format: record.format.clone(), sources: BTreeMap::new() }
    }

    /// The decoded text of a span, speaker by speaker.
    ///
    /// # Errors
    /// As [`bytes`].
    pub fn text(&mut self, span: &BoundSpan, reveal: Reveal) -> Result<String> {
        self.read(span, |_, found, cuts| told(render(found, reveal), cuts))
    }

    /// The parts of a span, secrets hidden wherever in its source they were found.
    ///
    /// # Errors
    /// As [`bytes`].
    pub fn parts(&mut self, span: &BoundSpan) -> Result<Vec<ShownPart>> {
        self.read(span, |reading, found, cuts| {
            let secrets = secrets(reading);
            let blocks = found.content.blocks.iter();
            blocks
                .map(|block| {
                    let mut own = part(&found.content, block, &found.examination);
                    for secret in &secrets {
                        own.text = own.text.replace(secret, "[masked]");
                    }
                    own.text = told(own.text, cuts);
                    own
                })
                .collect()
        })
    }

    /// Hands the span that stands where `span` was bound to `run`, with what was taken out of it by order.
    fn read<T>(
        &mut self,
        span: &BoundSpan,
        run: impl FnOnce(&Reading<'_>, &ReadSpan<'_>, &[&str]) -> T,
    ) -> Result<T> {
        // The bytes are verified first: what is decoded below is what was bound.
        let verified = bytes(self.archive, span);
        let location = location(span)?;
        if !self.sources.contains_key(&location.revision) {
            let revision = revision(self.archive, location)?;
            let (bytes, gone) = crate::custody::restore(self.archive, &revision)?;
            let transcript = Transcript::from_bytes("original", bytes, Some(&self.format));
            let transcript = match (transcript, &verified) {
                (Ok(transcript), _) => transcript,
                (Err(_), Err(_)) => return verified.and_then(|_| Err(Error::bug("it is read"))),
                (Err(error), Ok(_)) => return Err(error),
            };
            self.sources.insert(location.revision, (transcript, gone));
        }
        let missing = || Error::bug(format!("span #{} is not where it was bound", span.ordinal));
        let (transcript, gone) = self.sources.get(&location.revision).ok_or_else(missing)?;
        let own: Vec<&GoneBytes> = gone.iter().filter(|part| location.ranges.overlaps(part.range)).collect();
        if let Err(error) = verified
            && (own.is_empty() || own.iter().any(|part| part.kind != GoneKind::Cut))
        {
            return Err(error);
        }
        let reading = Reading::of(transcript)?;
        let start = location.ranges.start();
        let found = reading
            .spans
            .iter()
            .find(|span| span.content.span.ranges.start() == start)
            .ok_or_else(missing)?;
        Ok(run(&reading, found, &own.iter().map(|part| part.why.as_str()).collect::<Vec<_>>()))
    }
}

/// `text` with what is said of each cut in its place.
fn told(text: String, cuts: &[&str]) -> String {
    let fill = char::from(REDACTED_BYTE);
    if cuts.is_empty() {
        return text;
    }
    let mut told = String::with_capacity(text.len());
    let mut cuts = cuts.iter();
    let mut last = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char != fill {
            told.push(char);
            continue;
        }
        while chars.next_if_eq(&fill).is_some() {}
        last = cuts.next().or(last);
        told.extend(["[", last.map_or("redacted", |words| words), "]"]);
    }
    told
}

/// Secrets of fewer bytes would be met by chance.
const SECRET_BYTES_MIN: usize = 6;

/// The values of all secrets in a transcript, longest first.
fn secrets<'r>(reading: &'r Reading<'_>) -> Vec<&'r str> {
    let of_span = |span: &'r ReadSpan<'_>| {
        span.examination.secrets.iter().filter_map(|secret| {
            let block = span.content.blocks.iter().find(|block| block.at == secret.at)?;
            let text = match &secret.argument {
                None => block.text.as_str(),
                Some(pointer) => {
                    let leaves = block.arguments.iter().flat_map(|tree| &tree.leaves);
                    leaves.filter(|leaf| leaf.pointer == *pointer).find_map(|leaf| match &leaf.value {
                        Scalar::String(text) | Scalar::Number(text) => Some(text.as_str()),
                        Scalar::Null | Scalar::Bool(_) => None,
                    })?
                }
            };
            text.get(secret.range.clone()).filter(|value| value.len() >= SECRET_BYTES_MIN)
        })
    };
    let mut values: Vec<&str> = reading.spans.iter().flat_map(of_span).collect();
    values.sort_unstable_by_key(|value| (std::cmp::Reverse(value.len()), *value));
    values.dedup();
    values
}

/// A span as text for people.
pub fn render(span: &ReadSpan<'_>, reveal: Reveal) -> String {
    let mut text = String::new();
    for block in &span.content.blocks {
        let at =
            block.record.line.map_or_else(|| block.record.pointer.clone(), |line| format!("line {line}"));
        text.extend([format!("[{} {at}{}]\n", block.block.speaker, time(block.record.time))]);
        if let BlockKind::Call(call) = &block.block.kind {
            text.extend(["call ", &call.tool, "\n"]);
        }
        if let Some(arguments) = &block.arguments {
            for leaf in &arguments.leaves {
                let value = match &leaf.value {
                    Scalar::Null => "null".to_owned(),
                    Scalar::Bool(value) => value.to_string(),
                    Scalar::Number(text) => text.clone(),
                    Scalar::String(text) => masked(span, block.at, Some(&leaf.pointer), text, reveal),
                };
                text.extend([leaf.pointer.trim_start_matches('/'), ": ", &value, "\n"]);
            }
        } else {
            text.push_str(&masked(span, block.at, None, &block.text, reveal));
            text.push('\n');
        }
    }
    text
}

fn time(at: Option<strongroom_core::time::Timestamp>) -> String {
    at.and_then(|at| jiff::Timestamp::from_millisecond(at.as_ms()).ok())
        .map_or_else(String::new, |at| format!(" {at}"))
}

/// `text` with its secrets hidden.
pub fn masked(
    span: &ReadSpan<'_>,
    at: BlockRef,
    argument: Option<&str>,
    text: &str,
    reveal: Reveal,
) -> String {
    let mut text = text.to_owned();
    if reveal == Reveal::Reveal {
        return text;
    }
    let own = span
        .examination
        .secrets
        .iter()
        .filter(|secret| secret.at == at && secret.argument.as_deref() == argument);
    let mut secrets: Vec<_> = own.collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.range.start));
    for secret in secrets {
        if text.get(secret.range.clone()).is_some() {
            text.replace_range(secret.range.clone(), &format!("[masked {}]", secret.rule));
        }
    }
    text
}
