//! Masks: secrets in spans that stay are hidden in the view; the original is in custody under the span's number.

use std::collections::BTreeMap;

use strongroom_core::digest::ContentKey;
use strongroom_core::error::Result;
use strongroom_core::judge::{GatedPlan, Permitted};
use strongroom_core::plan::Wanted;
use strongroom_core::span::SpanIndex;
use strongroom_core::transcript::BlockKind;
use strongroom_evidence::examine::Secret;
use strongroom_formats::Mask;

use super::Origin;
use crate::reading::{ReadSpan, Reading, masked_key};

/// What stands in place of a secret.
fn replacement(secret: &Secret, ordinal: u32) -> String {
    format!("[masked {} #{ordinal}]", secret.rule)
}

/// The masks for the kept spans of `selected`.
pub(super) fn of(reading: &Reading<'_>, selected: &GatedPlan, origins: &[Origin]) -> Result<Vec<Mask>> {
    let mut masks = Vec::new();
    for (at, ordinal) in masked(selected, origins) {
        let Some(span) = reading.span(at) else { continue };
        for secret in &span.examination.secrets {
            if let Some(mask) = mask(reading, span, secret, ordinal)? {
                masks.push(mask);
            }
        }
    }
    masks.sort_by_key(|mask| mask.range);
    masks.dedup_by(|later, earlier| earlier.range.overlaps(later.range));
    Ok(masks)
}

/// The content key that `span` has after its masks are laid.
pub(super) fn key(span: &ReadSpan<'_>, masked: &BTreeMap<SpanIndex, u32>) -> ContentKey {
    match masked.get(&span.index()) {
        Some(&ordinal) => masked_key(span, &|secret| replacement(secret, ordinal)),
        None => span.key,
    }
}

/// The kept spans in which secrets are hidden, each with its number.
pub(super) fn masked(selected: &GatedPlan, origins: &[Origin]) -> BTreeMap<SpanIndex, u32> {
    let own = |permitted: &Permitted| match origins.get(usize::try_from(permitted.index()).ok()?)? {
        Origin::Own(at) if permitted.candidate().wanted == Wanted::Mask => Some((*at, permitted.ordinal())),
        Origin::Own(_) | Origin::Carried(_) => None,
    };
    selected.permitted().iter().filter_map(own).collect()
}

/// The raw bytes of one secret in a text or argument.
fn mask(reading: &Reading<'_>, span: &ReadSpan<'_>, secret: &Secret, ordinal: u32) -> Result<Option<Mask>> {
    let Some(block) = span.content.blocks.iter().find(|block| block.at == secret.at) else { return Ok(None) };
    let source = reading.transcript.source();
    let replacement = replacement(secret, ordinal);
    if let Some(pointer) = &secret.argument {
        let BlockKind::Call(call) = &block.block.kind else { return Ok(None) };
        let range = strongroom_formats::argument_range(source, call.arguments, pointer, secret.range.clone())?;
        return Ok(range.map(|range| Mask { range, replacement }));
    }
    let mut before = 0;
    for &part in &block.block.text {
        let len = strongroom_formats::text(source, part)?.len();
        if secret.range.start >= before && secret.range.end <= before + len {
            let local = secret.range.start - before..secret.range.end - before;
            let range = strongroom_formats::raw_range(source, part, local)?;
            return Ok(Some(Mask { range, replacement }));
        }
        before += len + 1;
    }
    Ok(None)
}
