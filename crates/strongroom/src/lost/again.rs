//! What had to be looked up again: answers after a compaction that repeat answers which it dropped.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use strongroom_core::transcript::{BlockKind, Scalar};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::effect::{Access, EffectKind, Target};

use super::rest::{hidden, shown_arguments};
use super::sides::Part;
use super::{Later, Place};
use crate::reading::ReadSpan;
use crate::tokens;

/// One thing that was looked up again and was as before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Again {
    /// What was read: a path, or the call.
    pub what: String,
    /// Where it had been read last.
    pub before: Place,
    /// Where it was read again.
    pub after: Place,
    /// What the lines that had been there already cost, in tokens of `o200k_base`.
    pub tokens: u64,
}

/// An answer that was dropped, by what it was an answer about.
struct Known<'r, 'a> {
    last: &'r ReadSpan<'a>,
    lines: BTreeSet<String>,
}

/// The share of an answer's lines that must have been in the dropped answers, in percent: else it was something new,
/// or it had changed.
const SAME: usize = 70;

/// The reads behind the compaction that repeat what it dropped, in order.
pub(super) fn find(gone: &[Part<'_, '_>], later: Later<'_, '_>) -> Vec<Again> {
    let mut known: BTreeMap<String, Known<'_, '_>> = BTreeMap::new();
    for part in gone {
        for key in keys(part.span) {
            let entry = known.entry(key).or_insert_with(|| Known { last: part.span, lines: BTreeSet::new() });
            entry.last = part.span;
            entry.lines.extend(answers(&part.blocks).flat_map(lines).map(str::to_owned));
        }
    }
    let mut all = Vec::new();
    for span in later.spans() {
        for key in keys(span) {
            // Once it was read again it is known again.
            let Some(before) = known.remove(&key) else { continue };
            if let Some(tokens) = repeated(span, &before.lines) {
                let transcript = later.whole.transcript;
                let after = Place::around(transcript, span, "");
                let before = Place::around(transcript, before.last, "");
                all.push(Again { what: hidden(&key), before, after, tokens });
                break;
            }
        }
    }
    all
}

/// The tokens of the lines of an answer that were known, if most of it was.
fn repeated(span: &ReadSpan<'_>, known: &BTreeSet<String>) -> Option<u64> {
    let blocks: Vec<&BlockContent<'_>> = span.content.blocks.iter().collect();
    let all: Vec<&str> = answers(&blocks).flat_map(lines).collect();
    let same: Vec<&str> = all.iter().copied().filter(|line| known.contains(*line)).collect();
    let most = !same.is_empty() && same.len() * 100 >= all.len() * SAME;
    most.then(|| tokens::count(&same.join("\n")).0)
}

fn answers<'b>(blocks: &'b [&BlockContent<'_>]) -> impl Iterator<Item = &'b str> {
    let results = blocks.iter().filter(|block| matches!(block.block.kind, BlockKind::Result(_)));
    results.map(|block| block.text.as_str())
}

/// Lines that say something, without the line numbers that tools put before them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| {
            let digits = line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
            let numbered = line.trim_start().len() > digits.len();
            let bare = digits.strip_prefix(['→', '\t', ':', '-']).filter(|_| numbered);
            bare.unwrap_or(line).trim()
        })
        .filter(|line| line.chars().filter(|char| char.is_alphanumeric()).count() >= 3)
}

/// What a call that only reads has looked at: paths, else the whole call.
fn keys(span: &ReadSpan<'_>) -> Vec<String> {
    let effects = &span.examination.effects;
    let reads = !effects.is_empty() && effects.iter().all(|effect| effect.kind.access() == Access::Read);
    if !reads || effects.iter().all(|effect| matches!(effect.kind, EffectKind::None | EffectKind::AgentState))
    {
        return Vec::new();
    }
    let paths: Vec<String> = effects
        .iter()
        .filter(|effect| effect.kind == EffectKind::FsRead)
        .filter_map(|effect| match &effect.target {
            Target::Path { resolved, .. } if resolved.contains('.') => Some(resolved.clone()),
            Target::Path { .. } | Target::Under(_) | Target::Named(_) | Target::Unknown => None,
        })
        .collect();
    if paths.is_empty() { call(span).into_iter().collect() } else { paths }
}

/// The tool with its arguments, its description left out.
fn call(span: &ReadSpan<'_>) -> Option<String> {
    let block = span.content.blocks.iter().find(|block| matches!(block.block.kind, BlockKind::Call(_)))?;
    let BlockKind::Call(facts) = &block.block.kind else { return None };
    let tree = shown_arguments(span, block);
    let leaves = tree.iter().flat_map(|tree| &tree.leaves);
    let words: Vec<&str> = leaves
        .filter(|leaf| !NOT_ASKED.contains(&leaf.pointer.as_str()))
        .filter_map(|leaf| match &leaf.value {
            Scalar::String(text) | Scalar::Number(text) => Some(text.as_str()),
            Scalar::Null | Scalar::Bool(_) => None,
        })
        .collect();
    Some(format!("{} {}", facts.tool, words.join(" ")))
}

/// Arguments that say how an answer is waited for and shown, not what is asked.
const NOT_ASKED: &[&str] =
    &["/description", "/yield_time_ms", "/max_output_tokens", "/timeout", "/timeout_ms", "/justification"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_of_tools_are_not_compared() {
        assert_eq!(
            lines("   12→\tfn main()\n7:let x\n---\nplain 3").collect::<Vec<_>>(),
            ["fn main()", "let x", "plain 3"]
        );
    }
}
