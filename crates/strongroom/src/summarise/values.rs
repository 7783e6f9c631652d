//! Values with their keys: numbers behind a name and `:` or `=`.

use std::collections::BTreeSet;
use std::ops::Range;

use strongroom_core::span::SpanKind;
use strongroom_core::summary::{Literal, Part};

use super::item::{Half, Item, Say, Section};
use super::scan::is_frame;
use super::texts::{Origin, Texts};
use super::weights::{self, density};
use super::{Flow, Reclaimed, cost};

/// The longest key and the longest value, in bytes.
const KEY_MAX: usize = 40;
const VALUE_MAX: usize = 24;

/// One item for each distinct pair.
pub(super) fn items(spans: &[Reclaimed<'_>], texts: &Texts, flow: &Flow) -> Vec<Item> {
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut items = Vec::new();
    for span in spans.iter().filter(|span| span.is_quotable()) {
        let said = span.content.span.kind == SpanKind::Utterance;
        for (source, text, origin) in texts.each(span.ordinal) {
            if origin == Origin::Tool {
                continue;
            }
            let [observed, written] = density::VALUE;
            let is_observed =
                matches!(origin, Origin::Block(_)) && (said || !span.examination.programs.is_empty());
            let worth = if is_observed { observed } else { written };
            for (key, value) in pairs(&text.text) {
                let literal = |range: &Range<usize>| Literal {
                    text: text.text.get(range.clone()).unwrap_or_default().to_owned(),
                    ordinal: span.ordinal,
                    source,
                    at: range.start,
                };
                let (key, value) = (literal(&key), literal(&value));
                if !seen.insert((key.text.clone(), value.text.clone())) {
                    continue;
                }
                let Some((key, value)) = texts.literal(key).zip(texts.literal(value)) else { continue };
                let parts = vec![Part::Value { key, value }];
                items.push(Item {
                    section: Section::Values,
                    half: Half::Answer,
                    order: (span.ordinal, u32::try_from(items.len()).unwrap_or(u32::MAX)),
                    also: Vec::new(),
                    density: weights::aged(worth, flow.behind(span.ordinal)),
                    cost: cost(&parts),
                    say: Say::Word(parts),
                });
            }
        }
    }
    items
}

/// The pairs of a text, each with the places of key and value.
fn pairs(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let joints = memchr::memchr2_iter(b':', b'=', text.as_bytes());
    let pairs = joints.filter_map(|at| Some((key_before(text, at)?, value_behind(text, at + 1)?)));
    let line = |at: usize| text.get(..at).map_or("", |text| text.rsplit('\n').next().unwrap_or_default());
    pairs.filter(|(_, value)| !is_frame(line(value.start))).collect()
}

fn value_behind(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes().get(at..)?;
    let quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    let spaces = bytes.iter().take(2).take_while(|byte| **byte == b' ').count();
    let quotes = usize::from(bytes.get(spaces).is_some_and(quote));
    let start = at + spaces + quotes;
    let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'%');
    let run = text.as_bytes().get(start..)?;
    let len = run.iter().take_while(inside).count();
    let value = text.get(start..start + len)?.trim_end_matches(['.', '-', '_']);
    let follows = text.as_bytes().get(start + value.len());
    let number = value.starts_with(|c: char| c.is_ascii_digit()) && (2..=VALUE_MAX).contains(&value.len());
    (number && follows != Some(&b':')).then(|| start..start + value.len())
}

fn key_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..at)?;
    let gap =
        before.iter().rev().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b' ')).count();
    let end = at - gap;
    let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let len = before.get(..end)?.iter().rev().take_while(inside).count();
    let key = text.get(end - len..end)?;
    let own = key.trim_start_matches(['-', '.', '_']);
    let start = end - own.len();
    let name = own.starts_with(|c: char| c.is_ascii_alphabetic()) && (2..=KEY_MAX).contains(&own.len());
    // A place in a file is no value.
    let place = own.contains('.') && gap == 0 && text.as_bytes().get(at) == Some(&b':');
    // Behind a backslash the first letter may be one of an escape.
    let joined = matches!(before.get(start.wrapping_sub(1)), Some(b'/' | b'\\'));
    (name && !place && !joined).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_their_keys() {
        let found = |text: &str| -> Vec<String> {
            pairs(text)
                .into_iter()
                .map(|(key, value)| format!("{}={}", text.get(key).unwrap(), text.get(value).unwrap()))
                .collect()
        };
        assert_eq!(
            found("port: 8080, \"retries\": \"15s\" max_len=1.5"),
            ["port=8080", "retries=15s", "max_len=1.5"]
        );
        assert_eq!(found("main.go:120 and at 10:22:31 a: b"), Vec::<String>::new());
        assert_eq!(found("Original token count: 1371\ncount: 12"), ["count=12"]);
        assert_eq!(found("--timeout=300"), ["timeout=300"]);
        assert_eq!(found(r"done\nversion=12 left=13"), ["left=13"]);
    }
}
