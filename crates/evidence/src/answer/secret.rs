//! The secrets of a scope: known by value, so that no quotation shows one wherever it is repeated.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::digest::Digest;
use strongroom_core::transcript::Scalar;

use super::Options;
use crate::content::BlockContent;
use crate::examine::Secret;
use crate::secrets;
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

    /// Where secrets stand in `text`, in order; a password in a URL is one, whoever found it.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let found = |value: &&'s str| {
            text.match_indices(*value).map(|(at, value)| at..at + value.len()).collect::<Vec<_>>()
        };
        let mut ranges: Vec<Range<usize>> = self.values.iter().flat_map(found).collect();
        ranges.extend(passwords(text));
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges
    }

    /// `text` as far as questions may look into it: every secret is one mark, so that no pattern can feel its way
    /// into one. `None` where there is none.
    pub(super) fn shown(&self, text: &str) -> Option<String> {
        if !self.are_in(text) {
            return None;
        }
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        for range in self.ranges(text) {
            if range.end > at {
                shown.push_str(text.get(at..range.start.max(at)).unwrap_or_default());
                shown.push('\u{FFFC}');
                at = range.end;
            }
        }
        shown.push_str(text.get(at..).unwrap_or_default());
        Some(shown)
    }

    pub(super) fn are_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| text.contains(*value)) || passwords(text).next().is_some()
    }

    /// `text` with every secret replaced by its fingerprint; a text that is a part of one goes whole.
    pub(super) fn mask(&self, text: &str, options: &Options<'_>) -> String {
        let mut shown = text.to_owned();
        let own: Vec<&str> = passwords(text).filter_map(|range| text.get(range)).collect();
        for password in own {
            shown = shown.replace(password, &fingerprint(password, options));
        }
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

/// Hides the secrets of a scope in texts that are no citations.
#[derive(Debug)]
pub struct Masker<'s> {
    secrets: Secrets<'s>,
    key: [u8; 32],
}

impl<'s> Masker<'s> {
    /// Knows every secret in `scope`; `options` give the key of the fingerprints.
    pub fn new(scope: &'s Scope<'_>, options: &Options<'_>) -> Self {
        Self { secrets: Secrets::collect(scope), key: options.key }
    }

    /// `text` with every secret replaced by its fingerprint.
    pub fn mask(&self, text: &str) -> String {
        self.secrets.mask(text, &Options { key: self.key, ..Options::default() })
    }
}

/// The secrets of a text of which nothing else is known, each with the rule that found it, in order. Some may overlap.
pub fn secrets_in(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found = secrets::find(text);
    found.extend(passwords(text).map(|range| (range, "password")));
    found.sort_by_key(|(range, _)| (range.start, range.end));
    found
}

static PASSWORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"://[^/\s:@\x22']*:([^/\s@\x22']+)@").ok());

/// The passwords in URLs of `text`.
fn passwords(text: &str) -> impl Iterator<Item = Range<usize>> {
    let found = PASSWORD.as_ref().into_iter().flat_map(move |regex| regex.captures_iter(text));
    found.filter_map(|captures| captures.get(1)).map(|password| password.range())
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
