//! Baselines: simple compactors with fixed parameters.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::messages::{Content, Message};
use crate::tokens;

/// A compactor of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The newest messages that fit.
    KeepLast,
    /// The oldest and the newest that fit, half each.
    HeadTail,
    /// Results but the last ten become a placeholder.
    MaskResults,
    /// Results but the last three become a placeholder.
    ClearToolUses,
    /// As that, and the arguments of those calls go, too.
    ClearToolUsesAndInputs,
    /// Of each result the first and the last 400 characters.
    TrimResults,
    /// Every distinct path, URL, id, number and identifier, once.
    LiteralList,
    /// Every line that stood before goes.
    LineDedup,
}

/// What stands for a result that is gone.
const CLEARED: &str = "[Old tool result content cleared]";

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::KeepLast,
        Self::HeadTail,
        Self::MaskResults,
        Self::ClearToolUses,
        Self::ClearToolUsesAndInputs,
        Self::TrimResults,
        Self::LiteralList,
        Self::LineDedup,
    ];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeepLast => "keep last",
            Self::HeadTail => "head + tail",
            Self::MaskResults => "mask results, keep 10",
            Self::ClearToolUses => "clear tool uses, keep 3",
            Self::ClearToolUsesAndInputs => "clear tool uses + inputs, keep 3",
            Self::TrimResults => "results to 400 + 400 characters",
            Self::LiteralList => "list of literals",
            Self::LineDedup => "line dedup",
        }
    }

    /// Whether the size of its output follows the budget.
    pub const fn has_budget(self) -> bool {
        matches!(self, Self::KeepLast | Self::HeadTail)
    }

    /// Compacts `messages` to `budget` tokens, where the compactor knows budgets.
    pub fn compact(self, messages: &[Message], budget: u64) -> Vec<Message> {
        match self {
            Self::KeepLast => keep(messages, 0, budget),
            Self::HeadTail => keep(messages, budget / 2, budget - budget / 2),
            Self::MaskResults => clear(messages, 10, Inputs::Kept),
            Self::ClearToolUses => clear(messages, 3, Inputs::Kept),
            Self::ClearToolUsesAndInputs => clear(messages, 3, Inputs::Cleared),
            Self::TrimResults => messages.iter().map(trimmed).collect(),
            Self::LiteralList => vec![Message::new("user", literals(messages))],
            Self::LineDedup => dedup(messages),
        }
    }
}

/// Messages from the front worth `head` tokens and from the back worth `tail`.
fn keep(messages: &[Message], head: u64, tail: u64) -> Vec<Message> {
    let mut front = Vec::new();
    fill(messages.iter(), head, End::Front, &mut front);
    let mut back = Vec::new();
    fill(messages.iter().skip(front.len()).rev(), tail, End::Back, &mut back);
    back.reverse();
    front.extend(back);
    front
}

/// Which end of a message is kept where it does not fit whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

/// Takes messages until the budget is spent; of the one that does not fit, the end next to what was taken.
fn fill<'m>(messages: impl Iterator<Item = &'m Message>, budget: u64, end: End, taken: &mut Vec<Message>) {
    let mut left = budget;
    for message in messages {
        let Some(rest) = left.checked_sub(message.tokens()) else {
            taken.extend(shortened(message, left, end));
            break;
        };
        left = rest;
        taken.push(message.clone());
    }
}

/// The part of a message that fits; `None` where nothing worth having does.
fn shortened(message: &Message, budget: u64, end: End) -> Option<Message> {
    let text: Vec<char> = message.text().chars().collect();
    let (mut fits, mut too_many) = (0, text.len());
    let cut = |len: usize| {
        let part: String = match end {
            End::Front => text.iter().take(len).collect(),
            End::Back => text.iter().skip(text.len() - len).collect(),
        };
        Message { content: Content::Text(part), ..message.clone() }
    };
    while fits + 1 < too_many {
        let middle = usize::midpoint(fits, too_many);
        if cut(middle).tokens() <= budget { fits = middle } else { too_many = middle }
    }
    (fits >= 20).then(|| cut(fits))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    Kept,
    Cleared,
}

fn clear(messages: &[Message], newest: usize, inputs: Inputs) -> Vec<Message> {
    let results: Vec<&str> = messages.iter().filter_map(|own| own.tool_call_id.as_deref()).collect();
    let kept: BTreeSet<&str> = results.iter().rev().take(newest).copied().collect();
    let mut found = messages.to_vec();
    for message in &mut found {
        if message.tool_call_id.as_deref().is_some_and(|id| !kept.contains(id)) {
            message.content = Content::Text(CLEARED.to_owned());
        }
        for call in &mut message.tool_calls {
            if inputs == Inputs::Cleared && !kept.contains(call.id.as_str()) {
                "{}".clone_into(&mut call.function.arguments);
            }
        }
    }
    found
}

fn trimmed(message: &Message) -> Message {
    const ENDS: usize = 400;
    let text = message.text();
    let len = text.chars().count();
    if message.role != "tool" || len <= 2 * ENDS {
        return message.clone();
    }
    let head: String = text.chars().take(ENDS).collect();
    let tail: String = text.chars().skip(len - ENDS).collect();
    Message { content: Content::Text(format!("{head}\n[…]\n{tail}")), ..message.clone() }
}

fn dedup(messages: &[Message]) -> Vec<Message> {
    let mut seen = BTreeSet::new();
    let mut unseen = |text: String| {
        let lines = text.split('\n').filter(|line| line.len() < 4 || seen.insert((*line).to_owned()));
        lines.collect::<Vec<_>>().join("\n")
    };
    messages.iter().map(|own| Message { content: Content::Text(unseen(own.text())), ..own.clone() }).collect()
}

static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"https?://[^\s\x22'<>)\]]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|",
        r"(?:[\w.~-]*/)+[\w.-]+|\b[0-9a-f]{7,64}\b|\b\d{3,}(?:\.\d+)?\b|\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|",
        r"\b[a-z]+[A-Z][A-Za-z0-9]+\b"
    ))
    .ok()
});

/// The verifiable words of a text.
pub fn literals_in(text: &str) -> impl Iterator<Item = &str> {
    LITERAL.as_ref().into_iter().flat_map(move |pattern| pattern.find_iter(text).map(|found| found.as_str()))
}

fn literals(messages: &[Message]) -> String {
    let mut seen = BTreeSet::new();
    let mut list = String::new();
    for text in messages.iter().flat_map(Message::readable) {
        for literal in literals_in(&text) {
            if seen.insert(literal.to_owned()) {
                list.push_str(literal);
                list.push('\n');
            }
        }
    }
    list
}

/// The tokens of messages, together.
pub fn size(messages: &[Message]) -> u64 {
    messages.iter().map(Message::tokens).sum()
}

/// The tokens of a text.
pub fn size_of_text(text: &str) -> u64 {
    tokens::count(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Function, ToolCall};

    fn talk() -> Vec<Message> {
        let mut found =
            vec![Message::new("system", "rules"), Message::new("user", "please fix src/app/main.rs")];
        for at in 0..12 {
            let function = Function { name: "read".into(), arguments: format!("{{\"path\":\"f{at}\"}}") };
            let call = ToolCall { id: format!("c{at}"), kind: "function".into(), function };
            found.push(Message { role: "assistant".into(), tool_calls: vec![call], ..Message::default() });
            let text = format!("line one\nresult number {at}\n");
            found.push(Message { tool_call_id: Some(format!("c{at}")), ..Message::new("tool", text) });
        }
        found
    }

    #[test]
    fn budgets_are_kept() {
        let messages = talk();
        for budget in [0, 10, 60, 150, 10_000] {
            for baseline in [Baseline::KeepLast, Baseline::HeadTail] {
                let after = baseline.compact(&messages, budget);
                assert!(size(&after) <= budget, "{} at {budget}", baseline.name());
            }
        }
        assert_eq!(Baseline::KeepLast.compact(&messages, 10_000), messages);
    }

    #[test]
    fn clearing_keeps_the_newest() {
        let after = Baseline::ClearToolUsesAndInputs.compact(&talk(), 0);
        let cleared = after.iter().filter(|own| own.text() == CLEARED).count();
        assert_eq!(cleared, 9);
        assert_eq!(
            after
                .iter()
                .filter(|own| own.tool_calls.iter().any(|call| call.function.arguments == "{}"))
                .count(),
            9
        );
        assert_eq!(
            Baseline::MaskResults.compact(&talk(), 0).iter().filter(|own| own.text() == CLEARED).count(),
            2
        );
    }

    #[test]
    fn lists_and_lines_are_kept_once() {
        let list = Baseline::LiteralList.compact(&talk(), 0);
        assert_eq!(list[0].text().lines().filter(|line| *line == "src/app/main.rs").count(), 1);
        let after = Baseline::LineDedup.compact(&talk(), 0);
        assert_eq!(after.iter().filter(|own| own.text().contains("line one")).count(), 1);
    }
}
