//! The secrets of a scope: known by value, so that no quotation shows one wherever it is repeated.

use std::ops::Range;

use strongroom_core::digest::Digest;
use strongroom_core::transcript::Scalar;

use super::Options;
use crate::content::BlockContent;
use crate::examine::Secret;
use crate::session::Scope;

/// Shorter ones are hidden only where they were found: they would be met by chance.
const REPEATED_BYTES_MIN: usize = 6;

/// The values of all secrets that were found.
#[derive(Debug, Default)]
pub(super) struct Secrets<'s> {
    values: Vec<&'s str>,
}

impl<'s> Secrets<'s> {
    pub(super) fn collect(scope: &'s Scope<'s>) -> Self {
        let mut values: Vec<&'s str> = Vec::new();
        for examined in scope.sources.iter().flat_map(|view| &view.spans) {
            for secret in &examined.examination.secrets {
                values.extend(
                    value(&examined.content.blocks, secret).filter(|value| value.len() >= REPEATED_BYTES_MIN),
                );
            }
        }
        values.sort_unstable_by_key(|value| (std::cmp::Reverse(value.len()), *value));
        values.dedup();
        Self { values }
    }

    /// Where secrets stand in `text`, in order.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let found = |value: &&'s str| {
            text.match_indices(*value).map(|(at, value)| at..at + value.len()).collect::<Vec<_>>()
        };
        let mut ranges: Vec<Range<usize>> = self.values.iter().flat_map(found).collect();
        ranges.sort_by_key(|range| range.start);
        ranges
    }

    pub(super) fn are_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| text.contains(*value))
    }

    /// `text` with every secret replaced by its fingerprint; a text that is a part of one goes whole.
    pub(super) fn mask(&self, text: &str, options: &Options<'_>) -> String {
        let mut shown = text.to_owned();
        for value in &self.values {
            if shown.contains(value) {
                shown = shown.replace(value, &fingerprint(value, options));
            } else if text.len() >= REPEATED_BYTES_MIN && value.contains(text) {
                return fingerprint(value, options);
            }
        }
        shown
    }
}

fn value<'s>(blocks: &'s [BlockContent<'s>], secret: &Secret) -> Option<&'s str> {
    let content = blocks.iter().find(|content| content.at == secret.at)?;
    let text = match &secret.argument {
        None => content.text.as_str(),
        Some(pointer) => content.arguments.as_ref()?.leaves.iter().find_map(|leaf| match &leaf.value {
            Scalar::String(text) | Scalar::Number(text) if leaf.pointer == *pointer => Some(text.as_str()),
            _ => None,
        })?,
    };
    text.get(secret.range.clone())
}

/// A keyed fingerprint: the same secret has the same one in the same archive, and it tells nothing of it.
pub(super) fn fingerprint(secret: &str, options: &Options<'_>) -> String {
    let digest = Digest::of_parts("strongroom/secret/1", [options.key.as_slice(), secret.as_bytes()]);
    format!("secret:{}", digest.short(16))
}
