//! What was said: the words of the user, the plan, and what the agent found and decided.

use std::collections::BTreeSet;

use strongroom_core::span::SpanKind;
use strongroom_core::summary::Part;
use strongroom_core::transcript::{BlockKind, Scalar, Speaker};
use strongroom_evidence::rules;

use super::item::{Half, Item, Say, Section};
use super::texts::{Texts, is_aside};
use super::weights::{self, CHUNKS, density};
use super::{Flow, Reclaimed, cost};
use crate::tokens;

/// The items of everything said in `spans`.
pub(super) fn items(spans: &[Reclaimed<'_>], texts: &Texts, flow: &Flow) -> Vec<Item> {
    let mut said = Said { texts, flow, message: None, number: 0, known: BTreeSet::new(), items: Vec::new() };
    for span in spans.iter().filter(|span| span.is_quotable()) {
        if matches!(span.content.span.kind, SpanKind::Utterance | SpanKind::Derived) {
            said.span(span);
        }
    }
    let mut items = said.items;
    items.extend(plan(spans, texts));
    items
}

/// The shortest chunk that is worth little when it is said again, in bytes.
const REPEATED_MIN: usize = 200;

struct Said<'a> {
    texts: &'a Texts,
    flow: &'a Flow,
    /// The message that is read, and the number of its next chunk: what was pasted into it are spans of their own.
    message: Option<usize>,
    number: u32,
    known: BTreeSet<String>,
    items: Vec<Item>,
}

impl Said<'_> {
    fn span(&mut self, span: &Reclaimed<'_>) {
        let message = self.flow.message(span.ordinal);
        if message.is_none() || message != self.message {
            (self.message, self.number) = (message, 0);
        }
        for block in &span.content.blocks {
            let speaker = block.block.speaker;
            if is_aside(block) || !matches!(speaker, Speaker::User | Speaker::Assistant) {
                continue;
            }
            let typed = speaker == Speaker::User && block.block.kind == BlockKind::Text;
            let cut = if typed { ruled_chunks(&block.text) } else { said_chunks(&block.text) };
            for (at, Cut { text: chunk, cost, rules }) in (0..).zip(cut) {
                let repeated = chunk.len() >= REPEATED_MIN && !self.known.insert(chunk.to_owned());
                let (section, half, density) =
                    match (speaker, repeated || block.block.kind == BlockKind::Paste) {
                        (Speaker::User, false) if rules => (Section::User, Half::GoOn, density::RULE),
                        (Speaker::User, false) => user(span.ordinal, self.number, self.flow),
                        (Speaker::User, true) => {
                            pasted(span.ordinal, if repeated { 1 } else { at }, self.flow)
                        }
                        _ => reply(span.ordinal, self.number, self.flow),
                    };
                let parts = self.texts.lines(span.ordinal, speaker, chunk);
                let order = (span.ordinal, self.number);
                let say = Say::Chunk(parts);
                self.items.push(Item { section, half, order, also: Vec::new(), density, cost, say });
                self.number += 1;
            }
        }
    }
}

/// What a chunk is worth behind the first ones.
fn later(number: u32) -> u64 {
    (0..number.min(200)).fold(density::USER_LATER, |worth, _| worth * 39 / 40)
}

fn pasted(ordinal: u32, at: u32, flow: &Flow) -> (Section, Half, u64) {
    let base = if at == 0 { density::PASTE } else { later(at) };
    (Section::User, Half::Answer, weights::aged(base, flow.behind(ordinal)))
}

fn user(ordinal: u32, number: u32, flow: &Flow) -> (Section, Half, u64) {
    let at = usize::try_from(number).unwrap_or(usize::MAX);
    let base = density::USER.get(at).copied().unwrap_or_else(|| later(number));
    let last = flow.is_last_user(ordinal, 3);
    let factor = if last {
        density::USER_LAST
    } else if flow.is_first_user(ordinal) {
        density::USER_FIRST
    } else {
        100
    };
    // What was asked for is what is gone on with.
    let half = if last || number < 3 { Half::GoOn } else { Half::Answer };
    (Section::User, half, weights::aged(base, flow.behind(ordinal)) * factor / 100)
}

fn reply(ordinal: u32, number: u32, flow: &Flow) -> (Section, Half, u64) {
    let worths: &[u64] = if flow.is_last_reply(ordinal, 1) {
        &density::LAST_REPLY
    } else if flow.is_last_reply(ordinal, 5) {
        &density::LATE_REPLY
    } else {
        &density::REPLY
    };
    let half = if flow.is_last_reply(ordinal, 5) { Half::GoOn } else { Half::Answer };
    let at = usize::try_from(number).unwrap_or(usize::MAX);
    let base = worths.get(at).or(worths.last()).copied().unwrap_or_default();
    (Section::Assistant, half, weights::aged(base, flow.behind(ordinal)))
}

/// Cuts `text` at line ends into parts of some tokens, small ones first, each with about what it costs; a line is never
/// cut.
pub(super) fn chunks(text: &str) -> Vec<(&str, u64)> {
    let mut all = Vec::new();
    let (mut start, mut end, mut held) = (0, 0, 0);
    let mut push = |range: std::ops::Range<usize>, held: u64| {
        let own = text.get(range).filter(|chunk| !chunk.trim().is_empty());
        all.extend(own.map(|chunk| (chunk, held + 1)));
        all.len()
    };
    let mut done = 0;
    for line in text.split_inclusive('\n') {
        let limit = CHUNKS.get(done.min(CHUNKS.len() - 1)).copied().unwrap_or(u64::MAX);
        let own = tokens::count(line).0;
        if held > 0 && held + own > limit {
            done = push(start..end, held);
            (start, held) = (end, 0);
        }
        end += line.len();
        held += own;
    }
    push(start..text.len(), held);
    all
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut<'t> {
    text: &'t str,
    cost: u64,
    /// Whether it binds whoever goes on.
    rules: bool,
}

fn said_chunks(text: &str) -> Vec<Cut<'_>> {
    chunks(text).into_iter().map(|(text, cost)| Cut { text, cost, rules: false }).collect()
}

/// As [`chunks`], with lines that state a rule apart from others, so that they can stand alone. A line with only an
/// approval is no such line: what it answered is over.
fn ruled_chunks(text: &str) -> Vec<Cut<'_>> {
    let mut rules = rules::stated(text);
    rules.retain(|range| text.get(range.clone()).is_some_and(binds));
    let mut all = Vec::new();
    let (mut start, mut end) = (0, 0);
    for line in text.split_inclusive('\n') {
        let own = end..end + line.len();
        let ruled = rules.iter().any(|range| range.start < own.end && own.start < range.end);
        if ruled {
            all.extend(said_chunks(text.get(start..own.start).unwrap_or_default()));
            all.push(Cut { text: line, cost: tokens::count(line).0 + 1, rules: true });
            start = own.end;
        }
        end = own.end;
    }
    all.extend(said_chunks(text.get(start..).unwrap_or_default()));
    all
}

fn binds(sentence: &str) -> bool {
    rules::kinds(sentence).iter().any(|kind| *kind != "approval")
}

/// What an entry of a plan says, and in which state it is, as the last parts of pointers.
const ENTRY: &[&str] = &["content", "step", "title", "task"];
const STATE: &str = "status";

/// The newest plan: the last call that holds a list of entries with states.
fn plan(spans: &[Reclaimed<'_>], texts: &Texts) -> Vec<Item> {
    spans
        .iter()
        .rev()
        .filter(|span| span.is_quotable())
        .map(|span| plan_of(span, texts))
        .find(|plan| !plan.is_empty())
        .unwrap_or_default()
}

fn plan_of(span: &Reclaimed<'_>, texts: &Texts) -> Vec<Item> {
    let mut items = Vec::new();
    for block in &span.content.blocks {
        let (BlockKind::Call(_), Some(tree)) = (&block.block.kind, &block.arguments) else { continue };
        for leaf in &tree.leaves {
            let (Some((entry, name)), Scalar::String(text)) = (leaf.pointer.rsplit_once('/'), &leaf.value)
            else {
                continue;
            };
            let state = tree.string(&format!("{entry}/{STATE}"));
            let (true, Some(state)) = (ENTRY.contains(&name) && entry.len() > 1, state) else { continue };
            let quote = |text: &str| texts.quote(span.ordinal, block.block.speaker, text);
            let (Some(state), Some(text)) = (quote(state), text.lines().next().and_then(quote)) else {
                continue;
            };
            let number = u32::try_from(items.len()).unwrap_or(u32::MAX);
            let parts = vec![Part::Span(span.ordinal), Part::Words(" ["), state, Part::Words("] "), text];
            items.push(Item {
                section: Section::Now,
                half: Half::GoOn,
                order: (span.ordinal, number),
                also: Vec::new(),
                density: density::PLANNED,
                cost: cost(&parts),
                say: Say::Line(parts),
            });
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_rules_stands_apart_and_nothing_is_lost() {
        let text = "Please fix the parser.\nNever push to main.\nThanks, the log is below.\n\nyes, do it\n";
        let cut = ruled_chunks(text);
        let ruled: Vec<&str> = cut.iter().filter(|cut| cut.rules).map(|cut| cut.text).collect();
        assert_eq!(ruled, ["Never push to main.\n"]);
        assert_eq!(cut.iter().map(|cut| cut.text).collect::<String>(), text);
        assert_eq!(ruled_chunks("").len(), 0);
    }
}
