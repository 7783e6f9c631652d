//! What the package is told, in JSON.

use std::path::Path;

use serde::Serialize;
use strongroom::answer::{Ledger, render_text};
use strongroom::ask::Asked;
use strongroom::form::{EffectForm, RefusedForm, ReportForm, SCHEMA};
use strongroom::import::Taken;
use strongroom::vault::BoundSpan;
use strongroom::{Error, Result, answer};

/// An answer, and the same in words.
#[derive(Debug, Serialize)]
pub(crate) struct Answer<'r> {
    answer: &'r answer::Answer,
    text: String,
}

impl<'r> Answer<'r> {
    pub(crate) fn of(answer: &'r answer::Answer) -> Self {
        Self { answer, text: render_text(answer) }
    }
}

/// The report of a compaction, and the smallest size where the budget cannot be met.
#[derive(Debug, Serialize)]
pub(crate) struct Compacted<'r> {
    pub(crate) report: ReportForm<'r>,
    pub(crate) smallest: Option<u64>,
}

/// A ledger.
#[derive(Debug, Serialize)]
pub(crate) struct LedgerForm<'r> {
    schema: u32,
    reading: &'r str,
    total: usize,
    rows: Vec<EffectForm<'r>>,
    refused: Vec<RefusedForm<'r>>,
}

impl<'r> LedgerForm<'r> {
    pub(crate) fn of(ledger: &'r Ledger, asked: &'r Asked) -> Self {
        let gaps = ledger.gaps.iter().map(RefusedForm::of_gap);
        Self {
            schema: SCHEMA,
            reading: &ledger.reading,
            total: ledger.total,
            rows: ledger.rows.iter().map(EffectForm::of).collect(),
            refused: gaps.chain(asked.lost().iter().map(RefusedForm::of_lost)).collect(),
        }
    }
}

/// A span under a pointer.
#[derive(Debug, Serialize)]
pub(crate) struct Span<'r> {
    pointer: String,
    class: &'r str,
    rendering: &'r str,
}

impl<'r> Span<'r> {
    pub(crate) fn of(tag: &str, span: &'r BoundSpan) -> Self {
        Self { pointer: format!("{tag}#{}", span.ordinal), class: &span.class, rendering: &span.rendering }
    }
}

/// An original.
#[derive(Debug, Serialize)]
pub(crate) struct Original<'r> {
    pub(crate) pointer: String,
    pub(crate) class: &'r str,
    pub(crate) text: String,
}

/// What came of an import.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    imported: Vec<String>,
    unchanged: Vec<String>,
    /// Each with the reason.
    passed_over: Vec<(String, String)>,
    /// Each with the kind of the error and its message.
    failed: Vec<(String, &'static str, String)>,
}

impl Tally {
    pub(crate) fn note(&mut self, path: &Path, taken: &Taken) {
        let path = path.display().to_string();
        match taken {
            Taken::Imported => self.imported.push(path),
            Taken::Unchanged => self.unchanged.push(path),
            Taken::PassedOver(why) => self.passed_over.push((path, why.clone())),
            Taken::Failed(error) => self.failed.push((path, error.kind().word(), error.chain())),
        }
    }
}

/// Writes a reply.
pub(crate) fn write(reply: &impl Serialize) -> Result<String> {
    serde_json::to_string(reply).map_err(|error| Error::bug("a reply is no JSON").caused_by(error))
}
