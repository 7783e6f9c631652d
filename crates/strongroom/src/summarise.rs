//! The built-in summariser: extractive, deterministic, without network or model.
//!
//! ```text
//! spans --gather--> items, each with worth and cost --allocate--> an order --compose(n)--> draft of the first n
//! ```
//!
//! It quotes, lists and counts. Every reclaimed span is covered by at least one line.

mod allocate;
mod calls;
mod compose;
mod item;
mod literals;
mod prose;
mod scan;
mod texts;
pub(crate) mod told;
mod values;
mod weights;

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::gate::ReclaimForm;
use strongroom_core::plan::Wanted;
use strongroom_core::span::SpanKind;
use strongroom_core::summary::{CheckedSummary, Draft, Line, Part};
use strongroom_core::transcript::Speaker;
use strongroom_evidence::content::SpanContent;
use strongroom_evidence::examine::Examination;

use crate::policy::GoingOn;
use crate::tokens::{self, Tokens};

use allocate::{Offer, longest, order};
use item::{Item, Say};
use literals::Literals;
pub(crate) use texts::Origin;
pub use texts::Texts;

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

impl Reclaimed<'_> {
    /// Whether its texts may stand in the summary, and stand nowhere else.
    fn is_quotable(&self) -> bool {
        self.form == ReclaimForm::Summary && self.wanted == Wanted::Reclaim
    }

    /// Whether something may be told of it: a summary is never summarised.
    pub(crate) fn is_tellable(&self) -> bool {
        self.is_quotable() && self.content.span.kind != SpanKind::Derived
    }

    fn is_said_by(&self, speaker: Speaker) -> bool {
        let first = self.content.blocks.first();
        self.content.span.kind == SpanKind::Utterance
            && first.is_some_and(|block| block.block.speaker == speaker)
    }
}

/// Where each span stands in the course of the whole.
#[derive(Debug)]
struct Flow {
    /// The percent of the text behind a span.
    behind: BTreeMap<u32, u64>,
    /// Messages of the user, in order, each with its spans: what was pasted into it are spans of their own.
    users: Vec<Vec<u32>>,
    /// Spans of the agent that say more than which step is next, in order.
    replies: Vec<u32>,
}

impl Flow {
    fn of(spans: &[Reclaimed<'_>], texts: &Texts) -> Self {
        let whole = texts.len().max(1);
        let mut before = 0;
        let mut behind = BTreeMap::new();
        for span in spans {
            before += texts.each(span.ordinal).map(|(_, text, _)| text.text.len()).sum::<usize>();
            let percent = whole.saturating_sub(before) * 100 / whole;
            behind.insert(span.ordinal, u64::try_from(percent).unwrap_or(100));
        }
        let said_by =
            |speaker| spans.iter().filter(move |span| span.is_quotable() && span.is_said_by(speaker));
        let record = |span: &Reclaimed<'_>| span.content.blocks.first().map(|block| block.at.record);
        let users: Vec<&Reclaimed<'_>> = said_by(Speaker::User).collect();
        let users = users.chunk_by(|one, two| record(one) == record(two));
        let users = users.map(|spans| spans.iter().map(|span| span.ordinal).collect()).collect();
        // A short reply announces a step; only the last one of all may be the answer.
        let said = |ordinal: u32| texts.each(ordinal).map(|(_, text, _)| text.text.len()).sum::<usize>();
        let replies: Vec<u32> = said_by(Speaker::Assistant).map(|span| span.ordinal).collect();
        let last = replies.last().copied();
        let replies =
            replies.into_iter().filter(|&own| Some(own) == last || said(own) >= REPLY_BYTES_MIN).collect();
        Self { behind, users, replies }
    }

    fn behind(&self, ordinal: u32) -> u64 {
        self.behind.get(&ordinal).copied().unwrap_or(100)
    }

    /// Which message of the user a span is of.
    fn message(&self, ordinal: u32) -> Option<usize> {
        self.users.iter().position(|spans| spans.contains(&ordinal))
    }

    fn is_first_user(&self, ordinal: u32) -> bool {
        self.users.first().is_some_and(|spans| spans.contains(&ordinal))
    }

    fn is_last_user(&self, ordinal: u32, count: usize) -> bool {
        self.users.iter().rev().take(count).any(|spans| spans.contains(&ordinal))
    }

    fn is_last_reply(&self, ordinal: u32, count: usize) -> bool {
        self.replies.iter().rev().take(count).any(|&own| own == ordinal)
    }
}

/// The shortest reply that says more than which step is next, in bytes.
const REPLY_BYTES_MIN: usize = 160;

/// How often a summary is written to come near to what it may cost.
const WRITINGS: u32 = 4;

/// What `parts` cost on a line, in tokens.
fn cost(parts: &[Part]) -> u64 {
    tokens::count(&Line { parts: parts.to_vec(), covers: Vec::new() }.render()).0 + 1
}

/// Everything that could be said of reclaimed spans, in the order in which it is taken.
#[derive(Debug)]
pub struct Gathered {
    /// In the order of their worth.
    items: Vec<Item>,
    /// For each item the literals that a reader finds in it; a literal comes first in its own.
    holds: Vec<Vec<usize>>,
    /// About what the first items cost together, from none to all.
    sums: Vec<u64>,
    /// The number of literals.
    literals: usize,
    wholes: compose::Wholes,
    cover: Vec<Line>,
    /// Lines that stand before all others, whatever has room.
    told: Vec<Line>,
}

impl Gathered {
    /// Gathers from `spans`, whose texts are `texts`, with at least `least` for going on.
    pub fn of(spans: &[Reclaimed<'_>], texts: &Texts, least: GoingOn) -> Self {
        let flow = Flow::of(spans, texts);
        let literals = Literals::of(spans, texts, &flow);
        let mut items = prose::items(spans, texts, &flow);
        items.extend(calls::items(spans, texts, &flow));
        items.extend(values::items(spans, texts, &flow));
        let mut holds: Vec<Vec<usize>> = items.iter().map(|item| literals.in_text(&text_of(item))).collect();
        let wholes = wholes(&items);
        let said = items.len();
        for (own, (item, held)) in literals.items().enumerate() {
            items.push(item);
            holds.push([vec![own], held].concat());
        }
        let literals = items.len() - said;
        let offers: Vec<Offer> = items
            .iter()
            .map(|item| Offer { half: item.half, density: item.density, cost: item.cost })
            .collect();
        let whole = u64::try_from(texts.len() / 4).unwrap_or(u64::MAX);
        let (mut ordered, mut ordered_holds) = (Vec::new(), Vec::new());
        for at in order(&offers, whole, least) {
            ordered.extend(items.get(at).cloned());
            ordered_holds.extend(holds.get(at).cloned());
        }
        let costs = ordered.iter().scan(0, |sum, item: &Item| {
            *sum += item.cost;
            Some(*sum)
        });
        let sums = std::iter::once(0).chain(costs).collect();
        Self {
            items: ordered,
            holds: ordered_holds,
            sums,
            literals,
            wholes,
            cover: compose::cover(spans),
            told: Vec::new(),
        }
    }

    /// With told lines before everything else.
    #[must_use]
    pub fn with_told(self, told: Vec<Line>) -> Self {
        Self { told, ..self }
    }

    /// The summary with the most items whose message costs at most `allowance`; `write` drafts that many items and
    /// checks them. What stands in every summary is written whatever the allowance is.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn within(
        &self,
        allowance: Tokens,
        write: &dyn Fn(usize) -> Result<CheckedSummary>,
    ) -> Result<CheckedSummary> {
        let size = |summary: &CheckedSummary| tokens::of_message(summary.text()).0;
        let empty = write(0)?;
        // What is not counted with the items.
        let mut beside = i128::from(size(&empty));
        let mut best = (0, empty);
        for _ in 0..WRITINGS {
            let room = (i128::from(allowance.0) - beside).clamp(0, i128::from(u64::MAX));
            let count = self.fit(Tokens(u64::try_from(room).unwrap_or(u64::MAX)));
            if count == best.0 {
                break;
            }
            let summary = write(count)?;
            let left = i128::from(allowance.0) - i128::from(size(&summary));
            if left >= 0 && count > best.0 {
                best = (count, summary);
            }
            if (0..=i128::from(allowance.0 / 50)).contains(&left) {
                break;
            }
            beside -= left;
        }
        Ok(best.1)
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is nothing to say but which spans are covered.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many items can be said in `allowance` tokens, beside the line that covers all spans.
    fn fit(&self, allowance: Tokens) -> usize {
        longest(&self.sums, allowance.0, |count| self.size(count).0)
    }

    /// What the first `count` items cost: the lists as they are written, everything else by its parts.
    fn size(&self, count: usize) -> Tokens {
        let (listed, said): (Vec<&Item>, Vec<&Item>) =
            self.chosen(count).partition(|item| matches!(item.say, Say::Literal(..) | Say::File(_)));
        // The number of a span, and what is said of the parts of its text that are left out.
        let around = |item: &Item| if matches!(item.say, Say::Chunk(_)) { 4 } else { 0 };
        let parts: u64 = said.iter().map(|item| item.cost + around(item)).sum();
        let mut sections: Vec<item::Section> = said.iter().map(|item| item.section).collect();
        sections.sort_unstable();
        sections.dedup();
        let headings: Tokens = sections.iter().map(|section| tokens::count(section.heading())).sum();
        let lists: String =
            compose::lines(listed, &self.wholes).iter().map(|line| line.render() + "\n").collect();
        Tokens(parts) + headings + tokens::count(&lists)
    }

    /// A draft of the first `count` items and the line that covers all spans.
    pub fn draft(&self, count: usize, remaining_accounts: Vec<String>) -> Draft {
        let mut lines = self.told.clone();
        lines.extend(self.lines(count));
        // The covering line comes last for renderings: a line of a span's own says more.
        lines.extend(self.cover.iter().cloned());
        Draft { lines, remaining_accounts }
    }

    fn lines(&self, count: usize) -> Vec<Line> {
        compose::lines(self.chosen(count).collect(), &self.wholes)
    }

    /// The first `count` items without literals that stand in others of them.
    fn chosen(&self, count: usize) -> impl Iterator<Item = &Item> {
        let own = || self.items.iter().zip(&self.holds).take(count);
        let is_literal = |item: &Item| matches!(item.say, Say::Literal(..));
        let mut said = vec![false; self.literals];
        for (item, holds) in own() {
            for &held in holds.iter().skip(usize::from(is_literal(item))) {
                if let Some(said) = said.get_mut(held) {
                    *said = true;
                }
            }
        }
        let is_said =
            move |holds: &[usize]| holds.first().and_then(|own| said.get(*own)).copied().unwrap_or_default();
        let unsaid = own().filter(move |(item, holds)| !is_literal(item) || !is_said(holds));
        unsaid.map(|(item, _)| item)
    }
}

/// The text in which a reader finds the literals of an item.
fn text_of(item: &Item) -> String {
    match &item.say {
        Say::Line(parts) | Say::Chunk(parts) | Say::Word(parts) => {
            Line { parts: parts.clone(), covers: Vec::new() }.render()
        }
        Say::File(file) => file.path.text.clone(),
        Say::Literal(_, literal) => literal.text.clone(),
    }
}

/// The tokens of each text that stands in parts.
fn wholes(items: &[Item]) -> compose::Wholes {
    let mut wholes = compose::Wholes::new();
    for item in items.iter().filter(|item| matches!(item.say, Say::Chunk(_))) {
        *wholes.entry((item.section, item.order.0)).or_default() += item.cost;
    }
    wholes
}
