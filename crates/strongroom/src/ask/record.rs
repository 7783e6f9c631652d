//! One record, shown as it was written: speaker by speaker, secrets hidden.

use std::collections::BTreeSet;

use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{BlockKind, Record, Scalar};
use strongroom_evidence::answer::Masker;
use strongroom_evidence::content::{BlockContent, SpanContent};
use strongroom_evidence::examine::{Examination, Secret};

use super::{AskOptions, Asked, FullOutput, Prepared};
use crate::reading::contents;

/// How many places an error lists.
const PLACES_MAX: usize = 5;

/// A record or a side file, decoded for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The source, by name.
    pub source: String,
    /// `L12`, a JSON pointer, or nothing of a side file.
    pub locator: String,
    /// Its parts, in order.
    pub parts: Vec<ShownPart>,
}

/// A part of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPart {
    /// Who speaks, by the envelope.
    pub attribution: &'static str,
    /// The child agent; `None` is the main one.
    pub agent: Option<String>,
    /// What it is: `prose`, `thinking`, `call`, `result`, `attachment`, `summary`, `side file` or `opaque`.
    pub part: &'static str,
    /// The tool that is called.
    pub tool: Option<String>,
    /// When it was written, as recorded.
    pub time: Option<Timestamp>,
    /// Whether it may be evidence: summaries and what our own tools returned are not.
    pub standing: Standing,
    /// The decoded text, secrets replaced.
    pub text: String,
}

/// Whether a text may be evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It may.
    Original,
    /// It was made from other text.
    Derived,
}

impl Asked {
    /// The record at `locator`, as citations name it: `L12`, or a JSON pointer; in `source` where one is named.
    ///
    /// # Errors
    /// `NotFound` when there is none, `InvalidInput` when several sources have one, `Unavailable` when it cannot be
    /// read.
    pub fn record(&self, source: Option<&str>, locator: &str, options: AskOptions) -> Result<Shown> {
        let side = self.outputs.iter().find(|output| source == Some(output.name.as_str()));
        self.with_scope(options, |scope, options| {
            let masker = Masker::new(scope, options);
            match side {
                Some(output) => Ok(of_side(output, &masker)),
                None => self.shown_record(source, locator, &masker),
            }
        })?
    }

    fn shown_record(&self, source: Option<&str>, locator: &str, masker: &Masker<'_>) -> Result<Shown> {
        let named = self.sources.iter().filter(|one| source.is_none_or(|name| is_named(one, name)));
        let found: Vec<(&Prepared, BTreeSet<u32>)> = named
            .map(|one| (&**one, records_at(one, locator)))
            .filter(|(_, records)| !records.is_empty())
            .collect();
        let ambiguous = || {
            let names = found.iter().take(PLACES_MAX).map(|(one, _)| one.transcript.name());
            Error::invalid_input(format!(
                "{locator} stands in {} sources; name one of them: {}",
                found.len(),
                names.collect::<Vec<_>>().join(", ")
            ))
        };
        if found.len() > PLACES_MAX {
            return Err(ambiguous());
        }
        let shown = found.iter().map(|(one, records)| of_record(one, records, locator, masker));
        let mut shown = shown.collect::<Result<Vec<_>>>()?.into_iter();
        let first = shown
            .next()
            .ok_or_else(|| Error::not_found(format!("no record {locator} is in what was asked")))?;
        // A session that was compacted or forked holds the same record again.
        if shown.all(|other| other.parts == first.parts) { Ok(first) } else { Err(ambiguous()) }
    }
}

fn is_named(source: &Prepared, name: &str) -> bool {
    let own = source.transcript.name();
    own == name || own.rsplit('/').next() == Some(name)
}

/// The indices of the records that `locator` names: a line, or the innermost record around a JSON pointer.
fn records_at(source: &Prepared, locator: &str) -> BTreeSet<u32> {
    let records = source.transcript.index().records.iter().zip(0u32..);
    if let Ok(line) = locator.strip_prefix(['L', 'l']).unwrap_or(locator).parse::<u32>() {
        return records.filter(|(record, _)| record.line == Some(line)).map(|(_, at)| at).collect();
    }
    let around = |record: &Record| {
        let inside = locator.strip_prefix(record.pointer.as_str());
        record.line.is_none() && inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let innermost =
        records.filter(|(record, _)| around(record)).max_by_key(|(record, _)| record.pointer.len());
    innermost.into_iter().map(|(_, at)| at).collect()
}

fn of_record(
    source: &Prepared,
    records: &BTreeSet<u32>,
    locator: &str,
    masker: &Masker<'_>,
) -> Result<Shown> {
    let mut parts = Vec::new();
    for (content, examined) in contents(&source.transcript)?.iter().zip(&source.examined) {
        let standing = if source.leave_out.contains(&content.span.index) {
            Standing::Derived
        } else {
            Standing::Original
        };
        for block in content.blocks.iter().filter(|block| records.contains(&block.at.record)) {
            let mut own = part(content, block, examined);
            own.agent = own.agent.or_else(|| source.agent.clone());
            own.text = masker.mask(&own.text);
            parts.push(ShownPart { standing, ..own });
        }
    }
    let source = source.transcript.name().to_owned();
    Ok(Shown { source, locator: locator.to_owned(), parts })
}

/// A block of a span as it is shown; the secrets that were found in it are hidden.
pub(crate) fn part(content: &SpanContent<'_>, block: &BlockContent<'_>, examined: &Examination) -> ShownPart {
    let tool = content.blocks.iter().find_map(|own| match &own.block.kind {
        BlockKind::Call(call) => Some(call.tool.clone()),
        _ => None,
    });
    ShownPart {
        attribution: block.block.speaker.word(),
        agent: block.record.agent.clone(),
        part: match &block.block.kind {
            BlockKind::Text | BlockKind::Paste => "prose",
            BlockKind::Thinking => "thinking",
            BlockKind::Call(_) => "call",
            BlockKind::Result(_) | BlockKind::SideData { .. } => "result",
            BlockKind::Attachment { .. } => "attachment",
            BlockKind::Summary => "summary",
            BlockKind::Opaque(_) => "opaque",
        },
        tool,
        time: block.record.time,
        standing: Standing::Original,
        text: text_of(block, examined),
    }
}

/// The text of a block, or the arguments of a call, with the secrets that were found there hidden.
fn text_of(block: &BlockContent<'_>, examined: &Examination) -> String {
    let own = |argument: Option<&str>| -> Vec<&Secret> {
        let of = examined.secrets.iter();
        of.filter(|one| one.at == block.at && one.argument.as_deref() == argument).collect()
    };
    let Some(arguments) = block.arguments.as_ref().filter(|tree| !tree.leaves.is_empty()) else {
        return hidden(&block.text, own(None));
    };
    let line = |pointer: &str, value: String| format!("{}: {value}", pointer.trim_start_matches('/'));
    let lines = arguments.leaves.iter().map(|leaf| match &leaf.value {
        Scalar::Null => line(&leaf.pointer, "null".to_owned()),
        Scalar::Bool(value) => line(&leaf.pointer, value.to_string()),
        Scalar::Number(text) => line(&leaf.pointer, text.clone()),
        Scalar::String(text) => line(&leaf.pointer, hidden(text, own(Some(&leaf.pointer)))),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn hidden(text: &str, mut secrets: Vec<&Secret>) -> String {
    let mut text = text.to_owned();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.range.start));
    for secret in secrets {
        if text.get(secret.range.clone()).is_some() {
            text.replace_range(secret.range.clone(), &format!("[masked {}]", secret.rule));
        }
    }
    text
}

fn of_side(output: &FullOutput, masker: &Masker<'_>) -> Shown {
    let part = ShownPart {
        attribution: "tool",
        agent: None,
        part: "side file",
        tool: None,
        time: None,
        standing: Standing::Original,
        text: masker.mask(&output.text),
    };
    Shown { source: output.name.clone(), locator: String::new(), parts: vec![part] }
}
