//! The report of a compaction: what was kept, reclaimed and refused, and why.

use std::collections::BTreeMap;

use strongroom_core::compacted::Compacted;
use strongroom_core::judge::{GatedPlan, Ground, Withheld};
use strongroom_core::plan::Wanted;
use strongroom_core::transcript::{Bytes, Finding};
use strongroom_core::vault::Retention;

use strongroom_formats::Resume;

use crate::lineage::Traced;
use crate::prose::Prose;
use crate::reading::{Decoded, ReadSpan, Reading};
use crate::tokens::{Estimate, Tokens};

/// What came of a compaction, in numbers.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The file.
    pub name: String,
    /// The format's name.
    pub format: &'static str,
    /// The budget.
    pub budget: Tokens,
    /// What the agent would have sent.
    pub tokens_before: Tokens,
    /// What it sends now.
    pub tokens_after: Tokens,
    /// The size of the input, in bytes.
    pub bytes_before: u64,
    /// The size of the output, in bytes.
    pub bytes_after: u64,
    /// The vendor's own tokens for one of ours, where the transcript lets it be learned.
    pub estimate: Option<Estimate>,
    /// Spans of the context.
    pub spans: u64,
    /// Spans of earlier generations that the summary tells again, from their originals.
    pub carried: u64,
    /// Spans reclaimed now, by class.
    pub reclaimed: BTreeMap<&'static str, u64>,
    /// Spans reclaimed now, by the ground on which they went.
    pub grounds: BTreeMap<&'static str, u64>,
    /// Spans that the gate refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Spans never wanted, by reason.
    pub pinned: BTreeMap<&'static str, u64>,
    /// Spans that stay with secrets hidden.
    pub masked: u64,
    /// Summaries whose originals are not known here.
    pub unknown_summaries: u64,
    /// Atoms of the reclaimed originals that the summary does not hold, by kind.
    pub left_out: BTreeMap<&'static str, u32>,
    /// The pointer to the reclaimed originals.
    pub pointer: Option<String>,
    /// How long the originals are kept, in words.
    pub kept: String,
    /// What was found in the input.
    pub findings: Vec<Finding>,
    /// What became of the prose of a summariser.
    pub prose: Option<Prose>,
    /// How the agent goes on with the output.
    pub resume: Option<Resume>,
    /// Why nothing was changed.
    pub unchanged: Option<&'static str>,
    /// The size above which the next compaction is due, where there is a high mark.
    pub due_above: Option<Tokens>,
}

impl Report {
    pub(super) fn start(decoded: &Decoded<'_>, budget: Tokens) -> Self {
        let transcript = decoded.transcript;
        Self {
            name: transcript.name().to_owned(),
            format: transcript.format().name(),
            budget,
            tokens_before: decoded.context_tokens(),
            tokens_after: decoded.context_tokens(),
            bytes_before: transcript.source().len(),
            bytes_after: transcript.source().len(),
            estimate: decoded.estimate(),
            spans: count(decoded.spans.iter().filter(|span| span.in_context())),
            findings: transcript.index().findings.clone(),
            ..Self::default()
        }
    }

    pub(super) fn because(mut self, why: &'static str) -> Self {
        self.unchanged = Some(why);
        self.tokens_after = self.tokens_before;
        self.bytes_after = self.bytes_before;
        self
    }

    pub(super) fn judged(mut self, gated: &GatedPlan, reading: &Reading<'_>, traced: &Traced) -> Self {
        for refused in gated.refused() {
            let reason = match &refused.verdict {
                Withheld::Refused(refusal) => format!("{} ({})", refusal.reason.words(), refusal.pointer),
                Withheld::WithGroup => "moves only together with a refused span".to_owned(),
            };
            *self.refused.entry(reason).or_default() += 1;
        }
        let ours = |span: &&ReadSpan<'_>| {
            traced.lineage.as_ref().is_some_and(|lineage| lineage.summaries.contains(&span.index()))
        };
        let sent = reading.spans.iter().filter(|span| span.in_context());
        for span in sent.filter(|span| !ours(span)) {
            if let Some(pin) = span.examination.evidence.pinned {
                *self.pinned.entry(pin.words()).or_default() += 1;
            }
        }
        self.unknown_summaries = count(traced.unknown_summaries.iter());
        self
    }

    /// The report of a compaction after which the agent sends `after`.
    pub(super) fn finished(mut self, after: Tokens, compacted: &Compacted, selected: &GatedPlan) -> Self {
        for permitted in selected.permitted() {
            if permitted.candidate().wanted == Wanted::Mask {
                self.masked += 1;
                continue;
            }
            if permitted.candidate().carried.is_some() {
                self.carried += 1;
                continue;
            }
            *self.reclaimed.entry(permitted.candidate().evidence.class.word()).or_default() += 1;
            let ground = match permitted.ground() {
                Ground::Narrative(_) => "narrative, no original kept",
                Ground::InCustody(_) => "original in custody",
                Ground::Waived(_) => "waived",
            };
            *self.grounds.entry(ground).or_default() += 1;
        }
        self.tokens_after = after;
        self.bytes_after = Bytes::len(compacted.bytes());
        self.kept = kept(selected);
        self.pointer = compacted
            .record()
            .map(|record| strongroom_core::pointer::Pointer { tag: record.tag, ordinal: None }.to_string());
        self
    }
}

fn count(items: impl Iterator) -> u64 {
    u64::try_from(items.count()).unwrap_or(u64::MAX)
}

/// How long the originals of the reclaimed spans are kept at least, in words.
pub(super) fn kept(selected: &GatedPlan) -> String {
    let shortest = selected.permitted().iter().filter_map(|permitted| match permitted.ground() {
        Ground::InCustody(receipt) => Some(receipt.retention()),
        Ground::Narrative(_) | Ground::Waived(_) => None,
    });
    match shortest.reduce(Retention::or_shorter) {
        Some(Retention::Until(until)) => format!("until {}", date(until.as_ms())),
        Some(Retention::Indefinite) => "without end".to_owned(),
        Some(Retention::Unknown) | None => "for an unknown time".to_owned(),
    }
}

fn date(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| format!("{ms} ms"), |at| at.strftime("%Y-%m-%d").to_string())
}
