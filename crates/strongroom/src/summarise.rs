//! The built-in summariser: extractive, deterministic, without network or model.
//!
//! It quotes and counts. Lines are written in the order of what a later reader needs most, until the allowance
//! is used up; every reclaimed span is covered by at least one line.

use std::collections::BTreeMap;

use strongroom_core::evidence::{AtomCounts, AtomKind, Certainty};
use strongroom_core::gate::ReclaimForm;
use strongroom_core::plan::Wanted;
use strongroom_core::span::SpanKind;
use strongroom_core::summary::{Draft, Line, Part, SourceText, Sources, quote_fault};
use strongroom_core::transcript::{BlockKind, Scalar, Speaker};
use strongroom_evidence::atom;
use strongroom_evidence::content::SpanContent;
use strongroom_evidence::effect::{Access, Effect, Outcome, Target};
use strongroom_evidence::examine::Examination;
use strongroom_evidence::narrative::UnitKind;

use crate::tokens::{self, Tokens};

/// The longest quote of a line, in characters.
const QUOTE_CHARS_MAX: usize = 160;

/// A reclaimed span as the summariser sees it.
#[derive(Debug, Clone, Copy)]
pub struct Reclaimed<'a> {
    /// Its number under the tag.
    pub ordinal: u32,
    /// In which form it may go.
    pub form: ReclaimForm,
    /// Whether it goes, or stays with secrets hidden.
    pub wanted: Wanted,
    /// What it holds.
    pub content: &'a SpanContent<'a>,
    /// What it proves.
    pub examination: &'a Examination,
}

/// The texts of reclaimed spans, by number.
#[derive(Debug)]
pub struct Texts(BTreeMap<u32, Vec<SourceText>>);

impl Texts {
    /// Collects the texts of `spans`.
    pub fn of(spans: &[Reclaimed<'_>]) -> Self {
        Self(spans.iter().map(|span| (span.ordinal, texts(span.content))).collect())
    }

    fn get(&self, ordinal: u32) -> &[SourceText] {
        self.0.get(&ordinal).map_or(&[], Vec::as_slice)
    }
}

impl Sources for Texts {
    fn texts(&self, ordinal: u32) -> Vec<SourceText> {
        self.get(ordinal).to_vec()
    }

    fn count(&self, text: &str) -> AtomCounts {
        atom::counts(atom::scan(text).into_iter().map(|mark| mark.kind))
    }
}

fn texts(content: &SpanContent<'_>) -> Vec<SourceText> {
    let mut texts = Vec::new();
    for block in &content.blocks {
        let speaker = block.block.speaker;
        if let BlockKind::Call(call) = &block.block.kind {
            texts.push(SourceText { speaker, text: call.tool.clone() });
        }
        if !block.text.is_empty() && block.arguments.is_none() {
            texts.push(SourceText { speaker, text: block.text.clone() });
        }
        for leaf in block.arguments.iter().flat_map(|tree| &tree.leaves) {
            if let Scalar::String(text) | Scalar::Number(text) = &leaf.value {
                texts.push(SourceText { speaker, text: text.clone() });
            }
        }
    }
    texts
}

/// Writes a draft of at most `allowance` tokens; the covering line is written whatever it costs.
pub fn draft(spans: &[Reclaimed<'_>], texts: &Texts, allowance: Tokens, remaining: Vec<String>) -> Draft {
    let mut composer = Composer { texts, left: allowance.0, sections: BTreeMap::new() };
    composer.cover(spans);
    for section in
        [Section::Effects, Section::PossibleEffects, Section::Failures, Section::Said, Section::Calls]
    {
        for span in in_order(section, spans) {
            composer.write(section, span);
        }
    }
    composer.literals(spans);
    composer.finish(remaining)
}

/// The parts of a summary, in the order in which they stand and are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Cover,
    Effects,
    PossibleEffects,
    Failures,
    Said,
    Calls,
    Literals,
}

impl Section {
    const fn heading(self) -> &'static str {
        match self {
            Self::Cover => "covered:",
            Self::Effects => "effects:",
            Self::PossibleEffects => "possible effects:",
            Self::Failures => "failures:",
            Self::Said => "assistant said:",
            Self::Calls => "calls:",
            Self::Literals => "literals:",
        }
    }
}

/// What was said last matters most for going on; everything else is filled from the start.
fn in_order<'s, 'a>(
    section: Section,
    spans: &'s [Reclaimed<'a>],
) -> Box<dyn Iterator<Item = &'s Reclaimed<'a>> + 's> {
    let quotable =
        spans.iter().filter(|span| span.form == ReclaimForm::Summary && span.wanted == Wanted::Reclaim);
    if section == Section::Said { Box::new(quotable.rev()) } else { Box::new(quotable) }
}

struct Composer<'t> {
    texts: &'t Texts,
    left: u64,
    sections: BTreeMap<Section, Vec<(u32, Line)>>,
}

impl Composer<'_> {
    fn push(&mut self, section: Section, ordinal: u32, line: Line, must: Must) {
        let fresh = !self.sections.contains_key(&section);
        let heading = if fresh { tokens::count(section.heading()).0 + 1 } else { 0 };
        let cost = tokens::count(&line.render()).0 + 1 + heading;
        if must == Must::Fit && cost > self.left {
            return;
        }
        self.left = self.left.saturating_sub(cost);
        self.sections.entry(section).or_default().push((ordinal, line));
    }

    /// One line that names every span, in runs of consecutive numbers, and counts them by kind.
    fn cover(&mut self, spans: &[Reclaimed<'_>]) {
        let mut parts = Vec::new();
        for (first, last) in runs(spans.iter().map(|span| span.ordinal)) {
            parts.push(if first == last { Part::Span(first) } else { Part::Spans(first, last) });
            parts.push(Part::Words(" "));
        }
        let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
        for span in spans {
            *kinds.entry(kind_words(span)).or_default() += 1;
        }
        for (kind, count) in kinds {
            parts.extend([Part::Words(" "), Part::Words(kind), Part::Words(" "), Part::Count(count)]);
        }
        let covers = spans.iter().map(|span| span.ordinal).collect();
        self.push(Section::Cover, 0, Line { parts, covers }, Must::Write);
    }

    fn write(&mut self, section: Section, span: &Reclaimed<'_>) {
        let line = match section {
            Section::Effects => self.effects(span, Certainty::Definite),
            Section::PossibleEffects => self.effects(span, Certainty::Possible),
            Section::Failures => self.failure(span),
            Section::Said => self.said(span),
            Section::Calls => self.call(span),
            Section::Cover | Section::Literals => None,
        };
        if let Some(mut line) = line {
            line.covers = vec![span.ordinal];
            self.push(section, span.ordinal, line, Must::Fit);
        }
    }

    fn effects(&self, span: &Reclaimed<'_>, certainty: Certainty) -> Option<Line> {
        let mut parts = vec![Part::Span(span.ordinal)];
        let mut seen: Vec<(&str, &str, Outcome)> = Vec::new();
        for effect in &span.examination.effects {
            let key = (effect.kind.word(), effect.target.words(), effect.outcome);
            if effect.kind.access() != Access::Mutation
                || effect.certainty != certainty
                || seen.contains(&key)
            {
                continue;
            }
            seen.push(key);
            parts.extend([Part::Words(" "), Part::Words(effect.kind.word())]);
            if let Some(quote) = self.target(span, effect) {
                parts.extend([Part::Words(" "), quote]);
            }
            parts.extend([Part::Words(" "), Part::Words(effect.outcome.word()), Part::Words(";")]);
        }
        parts.pop();
        (!seen.is_empty()).then_some(Line { parts, covers: Vec::new() })
    }

    fn target(&self, span: &Reclaimed<'_>, effect: &Effect) -> Option<Part> {
        let words = match &effect.target {
            Target::Path { written, .. } => written,
            Target::Under(text) | Target::Named(text) => text,
            Target::Unknown => return self.quote(span, Speaker::Assistant, &command(span)?),
        };
        self.quote(span, Speaker::Assistant, words)
    }

    fn failure(&self, span: &Reclaimed<'_>) -> Option<Line> {
        if span.content.span.kind != SpanKind::Call || !failed(span.examination.outcome) {
            return None;
        }
        let mut line = self.call(span)?;
        let result =
            span.content.blocks.iter().find(|block| matches!(block.block.kind, BlockKind::Result(_)))?;
        let message = result
            .text
            .lines()
            .find(|line| is_error(line))
            .or(result.text.lines().find(|line| !line.trim().is_empty()));
        if let Some(quote) = message.and_then(|text| self.quote(span, Speaker::Tool, text)) {
            line.parts.extend([Part::Words(": "), quote]);
        }
        Some(line)
    }

    fn said(&self, span: &Reclaimed<'_>) -> Option<Line> {
        let block = span.content.blocks.first()?;
        if span.content.span.kind != SpanKind::Utterance || block.block.speaker != Speaker::Assistant {
            return None;
        }
        // Units that are proved to hold nothing are left out first.
        let telling = span.examination.units.iter().filter(|(at, unit)| {
            *at == block.at && unit.proof.is_none() && !matches!(unit.kind, UnitKind::Fence | UnitKind::Table)
        });
        let quote = telling
            .filter_map(|(_, unit)| block.text.get(unit.range.clone()))
            .find_map(|text| self.quote(span, Speaker::Assistant, text))?;
        Some(Line { parts: vec![Part::Span(span.ordinal), Part::Words(" "), quote], covers: Vec::new() })
    }

    fn call(&self, span: &Reclaimed<'_>) -> Option<Line> {
        let call = span.content.blocks.iter().find(|block| matches!(block.block.kind, BlockKind::Call(_)))?;
        let BlockKind::Call(facts) = &call.block.kind else { return None };
        let mut parts = vec![Part::Span(span.ordinal), Part::Words(" ")];
        parts.extend(self.quote(span, call.block.speaker, &facts.tool));
        let argument =
            call.arguments.iter().flat_map(|tree| &tree.leaves).find_map(|leaf| match &leaf.value {
                Scalar::String(text) => self.quote(span, call.block.speaker, text),
                Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => None,
            });
        if let Some(argument) = argument {
            parts.extend([Part::Words(" "), argument]);
        }
        parts.extend([Part::Words(" "), Part::Words(span.examination.outcome.word())]);
        Some(Line { parts, covers: Vec::new() })
    }

    /// The first line of `text`, cut to a word end, where it may be quoted.
    fn quote(&self, span: &Reclaimed<'_>, speaker: Speaker, text: &str) -> Option<Part> {
        let text = first_words(text);
        if text.is_empty() || holds_secret(span, text) {
            return None;
        }
        let fault = quote_fault(span.ordinal, speaker, text, self.texts.get(span.ordinal));
        fault.is_none().then(|| Part::Quote { ordinal: span.ordinal, speaker, text: text.to_owned() })
    }

    /// The distinct literals of the reclaimed spans, by kind, as far as the allowance goes.
    fn literals(&mut self, spans: &[Reclaimed<'_>]) {
        const KINDS: [AtomKind; 6] = [
            AtomKind::Path,
            AtomKind::Id,
            AtomKind::Quantity,
            AtomKind::Url,
            AtomKind::Error,
            AtomKind::Number,
        ];
        let mut written: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
        // A literal that may not be quoted from a span is looked for in the span's whole text; once is enough.
        let mut refused: std::collections::BTreeSet<(u32, &str, &str)> = std::collections::BTreeSet::new();
        for line in self.sections.values().flatten() {
            written.extend(atom::extract(&line.1.render()).into_iter().map(|atom| atom.norm));
        }
        for kind in KINDS {
            let mut line = Line { parts: vec![Part::Words(kind.word())], covers: Vec::new() };
            let budget = self.left / 2;
            let mut used = 2;
            for span in spans.iter().filter(|span| span.form == ReclaimForm::Summary) {
                for (at, atom) in span.examination.atoms.iter().filter(|(_, atom)| atom.kind == kind) {
                    if written.contains(&atom.norm) {
                        continue;
                    }
                    let block = span.content.blocks.iter().find(|block| block.at == *at);
                    let text = block.and_then(|block| block.text.get(atom.range.clone()));
                    let Some((block, text)) = block.zip(text) else { continue };
                    let speaker = block.block.speaker.word();
                    let cost = tokens::count(text).0 + 1;
                    if used + cost > budget || refused.contains(&(span.ordinal, speaker, text)) {
                        continue;
                    }
                    if let Some(quote) = self.quote(span, block.block.speaker, text) {
                        used += cost;
                        written.insert(atom.norm.clone());
                        line.parts.extend([Part::Words(" "), quote]);
                    } else {
                        refused.insert((span.ordinal, speaker, text));
                    }
                }
            }
            if line.parts.len() > 1 {
                self.push(Section::Literals, 0, line, Must::Fit);
            }
        }
    }

    fn finish(self, remaining_accounts: Vec<String>) -> Draft {
        let mut lines = Vec::new();
        for (section, mut own) in self.sections {
            own.sort_by_key(|&(ordinal, _)| ordinal);
            lines.push(Line { parts: vec![Part::Words(section.heading())], covers: Vec::new() });
            lines.extend(own.into_iter().map(|(_, line)| line));
        }
        // The covering line comes last for renderings: a line of a span's own says more.
        let cover = lines.iter().position(|line| line.covers.len() > 1);
        if let Some(cover) = cover {
            let line = lines.remove(cover);
            let heading = lines.remove(cover.saturating_sub(1));
            lines.extend([heading, line]);
        }
        Draft { lines, remaining_accounts }
    }
}

/// Whether a line is written when the allowance is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Must {
    Fit,
    Write,
}

fn kind_words(span: &Reclaimed<'_>) -> &'static str {
    if span.wanted == Wanted::Mask {
        return "kept with secrets masked";
    }
    match (span.content.span.kind, span.form) {
        (_, ReclaimForm::WholeByName) => "not analysed, whole",
        (SpanKind::Call, _) => "calls",
        (SpanKind::Utterance, _) => "utterances",
        (SpanKind::Thinking, _) => "thinking",
        (SpanKind::Attachment, _) => "attachments",
        (SpanKind::OrphanResult, _) => "results",
        (SpanKind::Derived, _) => "summaries",
        (SpanKind::Meta | SpanKind::Opaque, _) => "records",
    }
}

fn failed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed | Outcome::Refused | Outcome::Interrupted)
}

fn is_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["error", "failed", "fatal", "panic", "exception", "denied", "not found"]
        .iter()
        .any(|word| line.contains(word))
}

fn command(span: &Reclaimed<'_>) -> Option<String> {
    let call = span.content.blocks.iter().find_map(|block| block.arguments.as_ref())?;
    let text = call.leaves.iter().find_map(|leaf| match &leaf.value {
        Scalar::String(text) => Some(text.clone()),
        Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => None,
    })?;
    Some(text)
}

fn holds_secret(span: &Reclaimed<'_>, quote: &str) -> bool {
    span.examination.secrets.iter().any(|secret| {
        let block = span.content.blocks.iter().find(|block| block.at == secret.at);
        let text = block.and_then(|block| match &secret.argument {
            Some(pointer) => block.arguments.as_ref()?.string(pointer),
            None => Some(block.text.as_str()),
        });
        let value = text.and_then(|text| text.get(secret.range.clone()));
        value.is_none_or(|value| quote.contains(value) || value.contains(quote))
    })
}

fn first_words(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    let Some((cut, _)) = line.char_indices().nth(QUOTE_CHARS_MAX) else { return line };
    let head = line.get(..cut).unwrap_or_default();
    match head.rfind(char::is_whitespace) {
        Some(end) if end > cut / 2 => head.get(..end).unwrap_or(head),
        _ => head,
    }
}

/// Runs of consecutive numbers.
fn runs(ordinals: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut ordinals: Vec<u32> = ordinals.collect();
    ordinals.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for ordinal in ordinals {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == ordinal => *last = ordinal,
            _ => runs.push((ordinal, ordinal)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_cut_at_a_word_and_numbers_run_together() {
        let long = "word ".repeat(60);
        let cut = first_words(&long);
        assert!(cut.ends_with("word") && cut.chars().count() <= QUOTE_CHARS_MAX);
        assert_eq!(first_words("\n  one line\ntwo"), "one line");
        assert_eq!(runs([3, 1, 2, 7].into_iter()), [(1, 3), (7, 7)]);
    }
}
