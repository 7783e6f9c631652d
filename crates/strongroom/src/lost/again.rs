//! What had to be looked up again: reads after a compaction that repeat reads before it.

use std::collections::BTreeMap;

use serde::Serialize;
use strongroom_core::transcript::{BlockKind, Scalar};
use strongroom_evidence::effect::{Access, EffectKind, Target};

use super::account::shown_arguments;
use super::{Later, Place};
use crate::reading::{ReadSpan, Reading};
use crate::tokens;

/// One thing that was read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Again {
    /// What was read: a path, or the call.
    pub what: String,
    /// Where it had been read last.
    pub before: Place,
    /// Where it was read again.
    pub after: Place,
    /// What the second answer cost, in tokens of `o200k_base`.
    pub tokens: u64,
}

/// The reads behind the compaction that repeat a read whose result it dropped, in order.
pub(super) fn find(before: &Reading<'_>, gone: &[&ReadSpan<'_>], later: Later<'_, '_>) -> Vec<Again> {
    let mut known: BTreeMap<String, Place> = BTreeMap::new();
    for span in gone {
        for key in keys(span) {
            known.insert(key, Place::of_span(before.transcript, span));
        }
    }
    let mut all = Vec::new();
    for span in later.spans() {
        // Once it was read again it is known again.
        let hit = keys(span).into_iter().find_map(|key| known.remove(&key).map(|place| (key, place)));
        if let Some((what, place)) = hit {
            let results =
                span.content.blocks.iter().filter(|block| matches!(block.block.kind, BlockKind::Result(_)));
            all.push(Again {
                what,
                before: place,
                after: Place::of_span(later.whole.transcript, span),
                tokens: results.map(|block| tokens::count(&block.text).0).sum(),
            });
        }
    }
    all
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
        .filter(|leaf| leaf.pointer != "/description")
        .filter_map(|leaf| match &leaf.value {
            Scalar::String(text) | Scalar::Number(text) => Some(text.as_str()),
            Scalar::Null | Scalar::Bool(_) => None,
        })
        .collect();
    Some(format!("{} {}", facts.tool, words.join(" ")))
}
