//! Composing: chosen items become the lines of a draft.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::gate::ReclaimForm;
use strongroom_core::plan::Wanted;
use strongroom_core::span::SpanKind;
use strongroom_core::summary::{FileUse, Line, Literal, Part};

use super::Reclaimed;
use super::item::{Item, Say, Section};
use super::scan::Kind;

/// The names of lists, in their order.
const LISTS: [(Kind, &str); 5] = [
    (Kind::Path, "paths: "),
    (Kind::Url, "urls: "),
    (Kind::Identifier, "names: "),
    (Kind::Number, "numbers: "),
    (Kind::Hash, "hashes: "),
];

/// What is left out of the texts that stand in parts: all tokens of each.
pub(super) type Wholes = BTreeMap<(Section, u32), u64>;

/// The lines of the chosen items, by section.
pub(super) fn lines(mut chosen: Vec<&Item>, wholes: &Wholes) -> Vec<Line> {
    chosen.sort_by_key(|item| (item.section, item.order));
    let mut lines = Vec::new();
    for own in chosen.chunk_by(|one, two| one.section == two.section) {
        let Some(section) = own.first().map(|item| item.section) else { continue };
        lines.push(Line { parts: vec![Part::Words(section.heading())], covers: Vec::new() });
        each(own, &mut lines);
        chunks(own, wholes, &mut lines);
        lines.extend(words(own));
        lines.extend(files(own));
        literals(own, &mut lines);
    }
    lines
}

/// Items on lines of their own.
fn each(own: &[&Item], lines: &mut Vec<Line>) {
    for item in own {
        if let Say::Line(parts) = &item.say {
            let covers = std::iter::once(item.order.0).chain(item.also.iter().copied()).collect();
            lines.push(Line { parts: parts.clone(), covers });
        }
    }
}

/// Texts in parts, with what is left out of each.
fn chunks(own: &[&Item], wholes: &Wholes, lines: &mut Vec<Line>) {
    for text in own.chunk_by(|one, two| one.order.0 == two.order.0) {
        let Some(first) = text.first() else { continue };
        let ordinal = first.order.0;
        let mut parts = vec![Part::Span(ordinal)];
        let mut shown = 0;
        for item in text {
            if let Say::Chunk(own) = &item.say {
                parts.push(Part::Words(if shown == 0 { " " } else { "\n " }));
                parts.extend(own.iter().cloned());
                shown += item.cost;
            }
        }
        if shown == 0 {
            continue;
        }
        let left = wholes.get(&(first.section, ordinal)).map_or(0, |whole| whole.saturating_sub(shown));
        if left > 0 {
            parts.extend([Part::Words(" ["), Part::Count(left), Part::Words(" tokens left out]")]);
        }
        lines.push(Line { parts, covers: vec![ordinal] });
    }
}

/// Items that share a line.
fn words(own: &[&Item]) -> Option<Line> {
    let mut parts = Vec::new();
    let mut covers = Vec::new();
    for item in own {
        if let Say::Word(word) = &item.say {
            parts.push(Part::Words("  "));
            parts.extend(word.iter().cloned());
            covers.push(item.order.0);
        }
    }
    (!parts.is_empty()).then_some(Line { parts, covers: Vec::new() })
}

fn files(own: &[&Item]) -> Option<Line> {
    let files: Vec<FileUse> = own
        .iter()
        .filter_map(|item| match &item.say {
            Say::File(file) => Some(file.clone()),
            Say::Line(_) | Say::Chunk(_) | Say::Word(_) | Say::Literal(..) => None,
        })
        .collect();
    let parts = vec![Part::Words("files: "), Part::Files(files)];
    own.iter().any(|item| matches!(item.say, Say::File(_))).then_some(Line { parts, covers: Vec::new() })
}

fn literals(own: &[&Item], lines: &mut Vec<Line>) {
    for (kind, name) in LISTS {
        let list: Vec<Literal> = own
            .iter()
            .filter_map(|item| match &item.say {
                Say::Literal(of, literal) if *of == kind => Some(literal.clone()),
                Say::Literal(..) | Say::Line(_) | Say::Chunk(_) | Say::Word(_) | Say::File(_) => None,
            })
            .collect();
        if !list.is_empty() {
            lines.push(Line { parts: vec![Part::Words(name), Part::List(list)], covers: Vec::new() });
        }
    }
}

/// The line that names every span, in runs of consecutive numbers, and counts them by kind. Where there are too many
/// runs it names the first and the last number and counts the spans between them.
pub(super) fn cover(spans: &[Reclaimed<'_>]) -> Vec<Line> {
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    for span in spans {
        *kinds.entry(kind_words(span)).or_default() += 1;
    }
    let covers: Vec<u32> = spans.iter().map(|span| span.ordinal).collect();
    let parts = cover_parts(&covers, &kinds);
    let heading = Line { parts: vec![Part::Words(Section::Cover.heading())], covers: Vec::new() };
    vec![heading, Line { parts, covers }]
}

/// The most runs that are named.
const RUNS_MAX: usize = 24;

fn cover_parts(ordinals: &[u32], kinds: &BTreeMap<&'static str, u64>) -> Vec<Part> {
    let mut parts = Vec::new();
    let runs = runs(ordinals.iter().copied());
    let ends = runs.first().copied().zip(runs.last().copied()).filter(|_| runs.len() > RUNS_MAX);
    let named = match ends {
        Some(((first, _), (_, last))) => vec![(first, last)],
        None => runs,
    };
    for (first, last) in named {
        parts.push(if first == last { Part::Span(first) } else { Part::Spans(first, last) });
        parts.push(Part::Words(" "));
    }
    if ends.is_some() {
        let count = u64::try_from(ordinals.len()).unwrap_or(u64::MAX);
        parts.extend([Part::Words("with gaps, spans "), Part::Count(count)]);
    }
    for (&kind, &count) in kinds {
        parts.extend([Part::Words(" "), Part::Words(kind), Part::Words(" "), Part::Count(count)]);
    }
    parts
}

fn kind_words(span: &Reclaimed<'_>) -> &'static str {
    if span.wanted == Wanted::Mask {
        return "kept with secrets masked";
    }
    match (span.content.span.kind, span.form) {
        (_, ReclaimForm::WholeByName) => "not analysed, whole",
        (SpanKind::Call, _) => "calls",
        (SpanKind::Utterance, _) => "utterances",
        (SpanKind::Thinking, _) => "thinking",
        (SpanKind::Attachment, _) => "attachments",
        (SpanKind::OrphanResult, _) => "results",
        (SpanKind::Derived, _) => "summaries",
        (SpanKind::Meta | SpanKind::Opaque, _) => "records",
    }
}

/// Runs of consecutive numbers.
fn runs(ordinals: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let ordinals: BTreeSet<u32> = ordinals.collect();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for ordinal in ordinals {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == ordinal => *last = ordinal,
            _ => runs.push((ordinal, ordinal)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_numbers_run_together() {
        assert_eq!(runs([3, 1, 2, 7].into_iter()), [(1, 3), (7, 7)]);
    }

    #[test]
    fn however_many_spans_there_are_the_line_that_covers_them_is_short() {
        let kinds = BTreeMap::from([
            ("kept with secrets masked", 900_001),
            ("not analysed, whole", 900_002),
            ("calls", 900_003),
            ("utterances", 900_004),
            ("thinking", 900_005),
            ("attachments", 900_006),
            ("results", 900_007),
            ("summaries", 900_008),
            ("records", 900_009),
        ]);
        for step in [1, 2, 3] {
            for most in [1, 40, 72, 100_000] {
                let ordinals: Vec<u32> = (1..=most).step_by(step).map(|n| n + n % 5).collect();
                let line = Line { parts: cover_parts(&ordinals, &kinds), covers: ordinals };
                assert!(crate::tokens::count(&line.render()).0 <= 300, "{}", line.render());
            }
        }
    }
}
