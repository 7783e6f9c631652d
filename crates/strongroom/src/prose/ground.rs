//! The ground of a check: the lines and sentences of all originals that go, by the words in them.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::summary::{Literal, SourceText, Sources as _, stands};
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::cues;
use strongroom_evidence::effect::{Effect, Outcome};

use super::words;
use crate::consent::{Turn, Voice};
use crate::summarise::{Origin, Reclaimed, Texts};

/// What kind of text a unit is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somebody's words.
    Said(Speaker),
    /// A call: its tool or an argument.
    Call,
    /// What a tool gave back.
    Result,
}

/// A sentence of prose, or a line of anything else.
#[derive(Debug, Clone)]
pub(super) struct Unit<'a> {
    /// The span; none of a message that stays.
    pub(super) span: Option<u32>,
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

/// The originals that go, and the messages of the user that stay.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    spans: &'a [Reclaimed<'a>],
    texts: &'a Texts,
    pub(super) turns: &'a [Turn],
    units: Vec<Unit<'a>>,
    by_stem: BTreeMap<String, Vec<usize>>,
}

/// The longest line that is a unit, in bytes; of a longer one the beginning is.
const UNIT_BYTES_MAX: usize = 2_000;

impl<'a> Ground<'a> {
    pub(super) fn of(spans: &'a [Reclaimed<'a>], texts: &'a Texts, turns: &'a [Turn]) -> Self {
        let mut ground = Self { spans, texts, turns, units: Vec::new(), by_stem: BTreeMap::new() };
        for span in spans.iter().filter(|span| span.is_tellable()) {
            for (_, text, origin) in texts.each(span.ordinal) {
                ground.add(Some(span.ordinal), kind_of(span, text, origin), &text.text);
            }
        }
        for turn in turns.iter().filter(|turn| turn.voice == Voice::User) {
            ground.add(None, Kind::Said(Speaker::User), &turn.text);
        }
        ground
    }

    fn add(&mut self, span: Option<u32>, kind: Kind, text: &'a str) {
        let lines = || text.lines().filter(|line| !line.trim().is_empty());
        let own: Vec<&'a str> = match kind {
            Kind::Said(_) => cues::sentences(text).into_iter().filter_map(|range| text.get(range)).collect(),
            Kind::Call | Kind::Result => lines().collect(),
        };
        for text in own {
            let text =
                text.get(..text.floor_char_boundary(UNIT_BYTES_MAX.min(text.len()))).unwrap_or_default();
            let at = self.units.len();
            let stems: BTreeSet<String> = words::words(text).into_iter().map(|word| word.stem).collect();
            for stem in stems {
                self.by_stem.entry(stem).or_default().push(at);
            }
            self.units.push(Unit { span, kind, text });
        }
    }

    pub(super) fn unit(&self, at: usize) -> Option<&Unit<'a>> {
        self.units.get(at)
    }

    /// The units that hold a word of this stem.
    pub(super) fn with(&self, stem: &str) -> &[usize] {
        self.by_stem.get(stem).map_or(&[], Vec::as_slice)
    }

    /// What it says that two texts share this word: more, the fewer units hold it.
    pub(super) fn weight(&self, stem: &str) -> u32 {
        let holding = self.with(stem).len().max(1);
        1 + (self.units.len().max(1) / holding).max(1).ilog2()
    }

    /// Units by what they share with `stems`.
    pub(super) fn likeness(&self, stems: &BTreeSet<&str>) -> BTreeMap<usize, u32> {
        let mut all = BTreeMap::new();
        for stem in stems {
            let weight = self.weight(stem);
            for &at in self.with(stem) {
                *all.entry(at).or_default() += weight;
            }
        }
        all
    }

    /// The place where a literal stands, in one of the spans `first` where it does in one.
    pub(super) fn prove(&self, text: &str, first: &[u32]) -> Option<Literal> {
        let quotable = |ordinal: &u32| self.is_given(*ordinal);
        let rest = self.spans.iter().map(|span| span.ordinal);
        let all = first.iter().copied().chain(rest).filter(quotable);
        all.into_iter().find_map(|ordinal| {
            self.texts.each(ordinal).find_map(|(source, own, _)| self.place(text, ordinal, source, own))
        })
    }

    fn place(&self, text: &str, ordinal: u32, source: usize, own: &SourceText) -> Option<Literal> {
        let found = memchr::memmem::find_iter(own.text.as_bytes(), text);
        let mut literals = found.map(|at| Literal { text: text.to_owned(), ordinal, source, at });
        literals.find(|literal| stands(literal, self.texts.texts(ordinal)))
    }

    /// The spans that hold a text.
    pub(super) fn spans_with(&self, text: &str) -> impl Iterator<Item = u32> {
        let all = self.spans.iter().map(|span| span.ordinal);
        all.filter(move |&ordinal| self.prove(text, &[ordinal]).is_some_and(|own| own.ordinal == ordinal))
    }

    /// The calls, each as the units of its tool and arguments.
    pub(super) fn calls(&self) -> impl Iterator<Item = usize> {
        self.units.iter().zip(0..).filter(|(unit, _)| unit.kind == Kind::Call).map(|(_, at)| at)
    }

    /// Whether a span with this number was given.
    pub(super) fn is_given(&self, ordinal: u32) -> bool {
        self.spans.iter().any(|span| span.ordinal == ordinal && span.is_tellable())
    }

    /// How the call of a span ended.
    pub(super) fn outcome(&self, ordinal: Option<u32>) -> Outcome {
        let span = ordinal.and_then(|ordinal| self.spans.iter().find(|span| span.ordinal == ordinal));
        span.map_or(Outcome::Unknown, |span| span.examination.outcome)
    }

    /// The effects of all calls, each with its span.
    pub(super) fn effects(&self) -> impl Iterator<Item = (u32, &'a Effect)> {
        let quotable = self.spans.iter().filter(|span| span.is_tellable());
        quotable.flat_map(|span| span.examination.effects.iter().map(|effect| (span.ordinal, effect)))
    }

    /// Whether `text` would show a secret.
    pub(super) fn hides(&self, text: &str) -> bool {
        self.spans.iter().any(|span| self.texts.hides(span.ordinal, text))
            || !strongroom_evidence::secrets::find(text).is_empty()
    }
}

fn kind_of(span: &Reclaimed<'_>, text: &SourceText, origin: Origin) -> Kind {
    let Origin::Block(at) = origin else { return Kind::Call };
    let block = span.content.blocks.iter().find(|block| block.at == at);
    match block.map(|block| &block.block.kind) {
        Some(BlockKind::Result(_)) => Kind::Result,
        Some(BlockKind::Call(_)) => Kind::Call,
        _ => Kind::Said(text.speaker),
    }
}
