//! The JSON forms that every front end prints: one object for one thing. Each carries `"schema": 1`; fields may be
//! added.

use std::collections::BTreeMap;

use serde::Serialize;
use strongroom_archive::source::StoredSource;
use strongroom_core::evidence::Certainty;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Finding;
use strongroom_evidence::answer::{Citation, Gap, LedgerRow, Match, Reversibility};
use strongroom_evidence::effect::Privilege;

use crate::ask::LostSpan;
use crate::compact::Report;
use crate::prose::Prose;

/// The version of all forms here.
pub const SCHEMA: u32 = 1;

/// An instant as a date and time in UTC.
pub fn time_words(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_ms())
        .map_or_else(|_| format!("{} ms", at.as_ms()), |at| at.to_string())
}

/// One effect of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields of a ledger row, under the names they have in JSON")]
pub struct EffectForm<'r> {
    pub schema: u32,
    pub id: String,
    pub seq: usize,
    pub time: Option<String>,
    pub session: &'r str,
    pub agent: Option<&'r str>,
    pub call_id: Option<&'r str>,
    pub source: &'r str,
    pub record: Option<u32>,
    pub locator: &'r str,
    pub bytes: (u64, u64),
    pub tool: &'r str,
    pub program: &'r str,
    pub kind: &'static str,
    pub target: &'r str,
    pub scope: &'r str,
    pub env: Option<&'r str>,
    pub privilege: &'static str,
    pub certainty: &'static str,
    #[serde(rename = "match")]
    pub standing: &'static str,
    pub outcome: &'static str,
    pub citation: Option<&'r Citation>,
    pub outcome_evidence: Option<&'r Citation>,
    pub reversibility: &'static str,
    pub reversible_by: Option<&'static str>,
    pub rolled_back_by: Option<String>,
    pub rolled_back_how: Option<&'r str>,
    pub retry_of: Option<String>,
    pub renditions: usize,
    pub requires: Vec<String>,
    pub artifact: Option<String>,
    pub bounded_by: Option<String>,
    pub pointer: Option<&'r str>,
}

impl<'r> EffectForm<'r> {
    /// The form of a row.
    pub fn of(row: &'r LedgerRow) -> Self {
        let call = &row.call;
        Self {
            schema: SCHEMA,
            id: effect_id(row.seq),
            seq: row.seq,
            time: row.time.map(time_words),
            session: &call.session,
            agent: call.agent.as_deref(),
            call_id: call.call_id.as_deref(),
            source: &call.source,
            record: call.record,
            locator: &call.locator,
            bytes: call.bytes,
            tool: &call.tool,
            program: &row.program,
            kind: row.kind.word(),
            target: &row.target,
            scope: &row.scope,
            env: row.environment.as_deref(),
            privilege: if row.privilege == Privilege::Root { "root" } else { "user" },
            certainty: if row.certainty == Certainty::Definite { "definite" } else { "possible" },
            standing: if row.standing == Match::Certain { "certain" } else { "possible" },
            outcome: row.outcome.word(),
            citation: row.citation.as_ref(),
            outcome_evidence: row.evidence.as_ref(),
            reversibility: row.reversibility.word(),
            reversible_by: match row.reversibility {
                Reversibility::Yes(how) => Some(how),
                Reversibility::No | Reversibility::Unknown => None,
            },
            rolled_back_by: row.rolled_back.as_ref().map(|back| effect_id(back.by)),
            rolled_back_how: row.rolled_back.as_ref().map(|back| back.how.as_str()),
            retry_of: row.retry_of.map(effect_id),
            renditions: row.renditions,
            requires: row.requires.iter().copied().map(effect_id).collect(),
            artifact: row.artifact.map(|hash| hash.to_string()),
            bounded_by: row.bounded_by.map(|assumption| format!("{assumption:?}")),
            pointer: call.pointer.as_deref(),
        }
    }
}

fn effect_id(seq: usize) -> String {
    format!("E{seq}")
}

/// What is missing from something that must be complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedForm<'r> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What is missing.
    pub refused: Refused<'r>,
}

/// A gap in the records, or a span whose original cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Refused<'r> {
    /// A gap.
    Gap {
        /// What is missing, in fixed words.
        kind: &'static str,
        /// Where, and why.
        citation: &'r Citation,
    },
    /// A span.
    Lost {
        /// What is missing, in fixed words.
        kind: &'static str,
        /// The pointer that stands for it.
        pointer: String,
        /// Its class when it was judged.
        class: &'r str,
        /// Why it cannot be read.
        why: &'r str,
    },
}

impl<'r> RefusedForm<'r> {
    /// The form of a gap.
    pub fn of_gap(gap: &'r Gap) -> Self {
        let refused = Refused::Gap { kind: gap.kind.words(), citation: &gap.citation };
        Self { schema: SCHEMA, refused }
    }

    /// The form of a lost span.
    pub fn of_lost(lost: &'r LostSpan) -> Self {
        let pointer = lost.pointer.to_string();
        let refused = Refused::Lost { kind: "original gone", pointer, class: &lost.class, why: &lost.why };
        Self { schema: SCHEMA, refused }
    }
}

/// A source in custody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceForm<'r> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The source's id.
    pub id: String,
    /// Its name: an absolute path.
    pub name: &'r str,
    /// The format's name.
    pub format: &'r str,
    /// The session it belongs to, as its adapter names it.
    pub session: Option<&'r str>,
    /// The size of its newest revision.
    pub bytes: u64,
    /// The number of its newest revision.
    pub revision: u32,
    /// The root over the pieces of its newest revision.
    pub root: String,
    /// When that was imported.
    pub imported_at: String,
}

impl<'r> SourceForm<'r> {
    /// The form of a source.
    pub fn of(source: &'r StoredSource) -> Self {
        Self {
            schema: SCHEMA,
            id: source.meta.id.to_string(),
            name: &source.meta.name,
            format: &source.meta.format,
            session: source.meta.session.as_deref(),
            bytes: source.latest.len,
            revision: source.latest.number,
            root: source.latest.id.to_string(),
            imported_at: time_words(source.latest.at),
        }
    }
}

/// What came of a compaction.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the fields of a report, under the names they have in JSON")]
pub struct ReportForm<'r> {
    pub schema: u32,
    /// `compacted`, `unchanged` or `budget-not-met`.
    pub outcome: &'static str,
    pub reason: Option<&'static str>,
    pub name: &'r str,
    pub format: &'static str,
    pub tokens: TokensForm,
    pub bytes: BytesForm,
    pub spans: u64,
    pub carried: u64,
    pub reclaimed: &'r BTreeMap<&'static str, u64>,
    pub grounds: &'r BTreeMap<&'static str, u64>,
    pub refused: &'r BTreeMap<String, u64>,
    pub pinned: &'r BTreeMap<&'static str, u64>,
    pub masked: u64,
    pub unknown_summaries: u64,
    /// The size above which the next compaction is due, where there is a high mark.
    pub due_above: Option<u64>,
    pub pointer: Option<&'r str>,
    pub kept: &'r str,
    /// What became of the prose of a summariser.
    pub prose: Option<&'r Prose>,
    pub findings: Vec<FindingForm<'r>>,
}

/// Tokens by the tokenizer that is named.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TokensForm {
    /// What the agent would have sent.
    pub before: u64,
    /// What it sends now.
    pub after: u64,
    /// What it may send.
    pub budget: u64,
    /// The tokenizer.
    pub tokenizer: &'static str,
    /// The vendor's own tokens for one of these, where the transcript lets it be learned.
    pub vendor_factor: Option<f64>,
}

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BytesForm {
    /// Of the input.
    pub before: u64,
    /// Of the output.
    pub after: u64,
}

/// Something found in the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields of a finding, under the names they have in JSON")]
pub struct FindingForm<'r> {
    pub code: &'r str,
    pub line: Option<u32>,
    pub pointer: &'r str,
    pub message: &'r str,
}

impl<'r> ReportForm<'r> {
    /// The form of a report; `outcome` is `compacted`, `unchanged` or `budget-not-met`.
    pub fn of(report: &'r Report, outcome: &'static str) -> Self {
        let tokens = TokensForm {
            before: report.tokens_before.0,
            after: report.tokens_after.0,
            budget: report.budget.0,
            tokenizer: "o200k_base",
            vendor_factor: report.estimate.map(|estimate| estimate.factor),
        };
        Self {
            schema: SCHEMA,
            outcome,
            reason: report.unchanged,
            name: &report.name,
            format: report.format,
            tokens,
            bytes: BytesForm { before: report.bytes_before, after: report.bytes_after },
            spans: report.spans,
            carried: report.carried,
            reclaimed: &report.reclaimed,
            grounds: &report.grounds,
            refused: &report.refused,
            pinned: &report.pinned,
            masked: report.masked,
            unknown_summaries: report.unknown_summaries,
            due_above: report.due_above.map(|due| due.0),
            pointer: report.pointer.as_deref(),
            kept: &report.kept,
            prose: report.prose.as_ref(),
            findings: report.findings.iter().map(FindingForm::of).collect(),
        }
    }
}

impl<'r> FindingForm<'r> {
    fn of(finding: &'r Finding) -> Self {
        Self { code: finding.code, line: finding.line, pointer: &finding.pointer, message: &finding.message }
    }
}
