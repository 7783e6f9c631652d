//! The texts of reclaimed spans: what may be quoted, under which number, and what may not be shown.

use std::collections::BTreeMap;
use std::ops::Range;

use strongroom_core::evidence::AtomCounts;
use strongroom_core::summary::{Literal, Part, SourceText, Sources, imitates, quote_fault, stands};
use strongroom_core::transcript::{BlockKind, BlockRef, Scalar, Speaker, Visibility};
use strongroom_evidence::atom;
use strongroom_evidence::content::{BlockContent, SpanContent};

use super::Reclaimed;
use super::told::literals;

/// Where a text of a span comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The name of a tool.
    Tool,
    /// The text of a block.
    Block(BlockRef),
    /// An argument, by its place among those of the call in this block.
    Argument(BlockRef, usize),
    /// Data that is never sent: it repeats what is, or holds what the agent never saw.
    Aside,
}

#[derive(Debug, Default)]
struct SpanTexts {
    texts: Vec<SourceText>,
    origins: Vec<Origin>,
    secrets: Vec<String>,
}

/// The texts of reclaimed spans, by number.
#[derive(Debug)]
pub struct Texts {
    spans: BTreeMap<u32, SpanTexts>,
    /// Secrets that are long enough to be known again wherever they stand.
    secrets: Vec<String>,
}

/// The shortest secret that is looked for in other spans than its own, in bytes.
const SECRET_MIN: usize = 8;

/// The shortest part of a secret that is a secret too, in bytes.
const PART_MIN: usize = 4;

impl Texts {
    /// Collects the texts of `spans`.
    pub fn of(spans: &[Reclaimed<'_>]) -> Self {
        let spans: BTreeMap<u32, SpanTexts> = spans.iter().map(|span| (span.ordinal, texts(span))).collect();
        let mut secrets: Vec<String> = spans.values().flat_map(|span| span.secrets.iter().cloned()).collect();
        secrets.retain(|secret| secret.len() >= SECRET_MIN);
        secrets.sort();
        secrets.dedup();
        Self { spans, secrets }
    }

    /// The texts of a span that the agent had before it, with their places and origins.
    pub(crate) fn each(&self, ordinal: u32) -> impl Iterator<Item = (usize, &SourceText, Origin)> {
        let span = self.spans.get(&ordinal);
        span.into_iter()
            .flat_map(|span| span.texts.iter().zip(&span.origins).zip(0..))
            .map(|((text, &origin), at)| (at, text, origin))
            .filter(|(_, _, origin)| *origin != Origin::Aside)
    }

    /// The number of bytes of all these texts.
    pub(super) fn len(&self) -> usize {
        let each = self.spans.keys().flat_map(|&ordinal| self.each(ordinal));
        each.map(|(_, source, _)| source.text.len()).sum()
    }

    /// Whether `text`, of the span, would show a secret or a part of one.
    pub(crate) fn hides(&self, ordinal: u32, text: &str) -> bool {
        let own = self.spans.get(&ordinal).map_or(&[][..], |span| span.secrets.as_slice());
        own.iter()
            .chain(&self.secrets)
            .any(|secret| text.contains(secret) || (text.len() >= PART_MIN && secret.contains(text)))
    }

    /// `text`, of the span, with every secret that is known in these texts left out.
    pub(crate) fn masked(&self, ordinal: u32, text: &str) -> String {
        let own = self.spans.get(&ordinal).map_or(&[][..], |span| span.secrets.as_slice());
        let mut secrets: Vec<&String> =
            own.iter().chain(&self.secrets).filter(|own| !own.is_empty()).collect();
        // A secret may hold another one.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let hide = |text: String, secret: &&String| text.replace(secret.as_str(), "[secret]");
        secrets.iter().fold(text.to_owned(), hide)
    }

    /// A quote of one line, where it may stand in a summary.
    pub(super) fn quote(&self, ordinal: u32, speaker: Speaker, text: &str) -> Option<Part> {
        if text.trim().is_empty() || self.hides(ordinal, text) {
            return None;
        }
        let fault = quote_fault(ordinal, speaker, text, self.texts(ordinal));
        fault.is_none().then(|| Part::Quote { ordinal, speaker, text: text.to_owned() })
    }

    /// Quotes of the lines of `text`, which is one of the texts of the span or some whole lines of it; each but the
    /// first stands on a line of its own. A whole line leaves nothing of its sentences behind, so that only what must
    /// not be shown is left out, by name.
    pub(super) fn lines(&self, ordinal: u32, speaker: Speaker, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            if !parts.is_empty() {
                parts.push(Part::Words("\n "));
            }
            let shown = !self.hides(ordinal, line) && !imitates(line);
            let quote = shown.then(|| Part::Quote { ordinal, speaker, text: line.to_owned() });
            parts.push(quote.unwrap_or(Part::Words("[a line left out]")));
        }
        parts
    }

    /// A literal that stands in a text of the span and may be listed.
    pub(super) fn literal(&self, literal: Literal) -> Option<Literal> {
        let listed =
            stands(&literal, self.texts(literal.ordinal)) && !self.hides(literal.ordinal, &literal.text);
        (listed && !imitates(&literal.text)).then_some(literal)
    }
}

impl Sources for Texts {
    fn texts(&self, ordinal: u32) -> &[SourceText] {
        self.spans.get(&ordinal).map_or(&[], |span| &span.texts)
    }

    fn count(&self, text: &str) -> AtomCounts {
        atom::counts(atom::scan(text).into_iter().map(|mark| mark.kind))
    }

    fn literals(&self, sentence: &str) -> Vec<Range<usize>> {
        literals(sentence).into_iter().map(|literal| literal.range).collect()
    }
}

/// Whether a block is data that is never sent. Words that stand in a queue before they are sent are none.
pub(super) fn is_aside(block: &BlockContent<'_>) -> bool {
    block.block.visibility == Visibility::Aside && matches!(block.block.kind, BlockKind::SideData { .. })
}

fn texts(span: &Reclaimed<'_>) -> SpanTexts {
    let mut all = SpanTexts::default();
    for block in &span.content.blocks {
        let (speaker, aside) = (block.block.speaker, is_aside(block));
        let mut push = |speaker: Speaker, text: &str, origin: Origin| {
            all.texts.push(SourceText { speaker, text: text.to_owned() });
            all.origins.push(if aside { Origin::Aside } else { origin });
        };
        if let BlockKind::Call(call) = &block.block.kind {
            push(speaker, &call.tool, Origin::Tool);
        }
        if !block.text.is_empty() && block.arguments.is_none() {
            push(speaker, &block.text, Origin::Block(block.at));
        }
        for (leaf, at) in block.arguments.iter().flat_map(|tree| &tree.leaves).zip(0..) {
            if let Scalar::String(text) | Scalar::Number(text) = &leaf.value {
                push(speaker, text, Origin::Argument(block.at, at));
            }
        }
    }
    all.secrets = secrets(span.content, span);
    all
}

fn secrets(content: &SpanContent<'_>, span: &Reclaimed<'_>) -> Vec<String> {
    let value = |secret: &strongroom_evidence::examine::Secret| {
        let block = content.blocks.iter().find(|block| block.at == secret.at)?;
        let text = match &secret.argument {
            Some(pointer) => block.arguments.as_ref()?.string(pointer)?,
            None => block.text.as_str(),
        };
        text.get(secret.range.clone()).map(str::to_owned)
    };
    span.examination.secrets.iter().filter_map(value).collect()
}
