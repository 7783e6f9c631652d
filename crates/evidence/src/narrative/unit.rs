//! Prose cut into units: sentences, list items, headings, quotations, tables, fences.

use std::collections::VecDeque;
use std::ops::Range;

use crate::cues;

/// What a unit of prose is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// Somebody's whole turn, other than the assistant's: it is kept or judged as one.
    Turn,
    /// A sentence of a paragraph.
    Sentence,
    /// An item of a list, with the lines indented below it.
    Item,
    /// A heading.
    Heading,
    /// Lines quoted from elsewhere.
    Quotation,
    /// Lines of a table.
    Table,
    /// Lines between two fences, with these.
    Fence,
}

/// Cuts `text`. The units are in order and disjoint, and hold every character but white space and rules (`---`).
pub(super) fn cut(text: &str) -> impl Iterator<Item = (UnitKind, Range<usize>)> + '_ {
    let mut cutter = Cutter { text, units: VecDeque::new(), open: None };
    let mut lines = lines(text);
    std::iter::from_fn(move || {
        while cutter.units.is_empty() {
            match lines.next() {
                Some(line) => cutter.line(line),
                None if cutter.open.is_some() => cutter.close(),
                None => return None,
            }
        }
        cutter.units.pop_front()
    })
}

/// A turn as one unit.
pub(super) fn turn(text: &str) -> Option<(UnitKind, Range<usize>)> {
    let own = trimmed(text, 0..text.len());
    (!own.is_empty()).then_some((UnitKind::Turn, own))
}

/// The lines of a text without their ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let own = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        own
    })
}

struct Cutter<'t> {
    text: &'t str,
    /// Units that are closed and not yet handed out.
    units: VecDeque<(UnitKind, Range<usize>)>,
    /// Lines that still may go on.
    open: Option<(Line, Range<usize>)>,
}

/// What a line is, or lines together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    Fence { mark: char, length: usize },
    Whole(UnitKind),
    Words,
}

impl Cutter<'_> {
    fn line(&mut self, own: Range<usize>) {
        let line = self.text.get(own.clone()).unwrap_or_default();
        let kind = line_kind(line);
        let goes_on = match (&self.open, kind) {
            (Some((Line::Fence { mark, length }, _)), _) => {
                let closes = fence(line).is_some_and(|(own, count)| own == *mark && count >= *length);
                self.extend(own);
                if closes {
                    self.close();
                }
                return;
            }
            (Some((Line::Whole(UnitKind::Item), _)), Line::Words) => line.starts_with([' ', '\t']),
            (Some((Line::Whole(open), _)), Line::Whole(kind)) => {
                *open == kind && matches!(kind, UnitKind::Table | UnitKind::Quotation)
            }
            (Some((Line::Words, before)), Line::Words) => self.is_wrapped(before, line),
            _ => false,
        };
        if goes_on {
            self.extend(own);
            return;
        }
        self.close();
        if kind != Line::Blank {
            self.open = Some((kind, own));
        }
    }

    fn extend(&mut self, own: Range<usize>) {
        if let Some((_, open)) = &mut self.open {
            open.end = own.end;
        }
    }

    /// Whether a sentence runs on from the lines before into `line`.
    fn is_wrapped(&self, before: &Range<usize>, line: &str) -> bool {
        let before = self.text.get(before.clone()).unwrap_or_default().trim_end();
        !before.ends_with(['.', '!', '?', ':', ')', '`', '*'])
            && line.trim_start().starts_with(|char: char| char.is_ascii_lowercase())
    }

    fn close(&mut self) {
        let Some((kind, range)) = self.open.take() else { return };
        match kind {
            Line::Blank => {}
            Line::Fence { .. } => self.units.push_back((UnitKind::Fence, range)),
            Line::Whole(kind) => self.units.push_back((kind, trimmed(self.text, range))),
            Line::Words => self.sentences(range),
        }
    }

    fn sentences(&mut self, range: Range<usize>) {
        let own = self.text.get(range.clone()).unwrap_or_default();
        // Lines are joined here, so that only marks end a sentence.
        let joined = own.replace(['\n', '\r'], " ");
        let found = cues::sentences(&joined);
        let shifted = found.into_iter().map(|own| own.start + range.start..own.end + range.start);
        self.units.extend(shifted.map(|range| (UnitKind::Sentence, range)));
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let own = text.get(range.clone()).unwrap_or_default();
    let start = range.start + own.len() - own.trim_start().len();
    start..start + own.trim().len()
}

fn line_kind(line: &str) -> Line {
    let own = line.trim();
    if own.is_empty() || is_rule(own) {
        return Line::Blank;
    }
    if let Some((mark, length)) = fence(own) {
        return Line::Fence { mark, length };
    }
    let after = |marks: &[char]| own.trim_start_matches(marks);
    if own.starts_with('|') {
        Line::Whole(UnitKind::Table)
    } else if own.starts_with('>') {
        Line::Whole(UnitKind::Quotation)
    } else if own.starts_with('#') && is_spaced(after(&['#'])) {
        Line::Whole(UnitKind::Heading)
    } else if is_item(own) {
        Line::Whole(UnitKind::Item)
    } else {
        Line::Words
    }
}

/// `- a`, `* a`, `• a`, `1. a`, `1) a`.
fn is_item(own: &str) -> bool {
    let number = own.trim_start_matches(|char: char| char.is_ascii_digit());
    let numbered = number.len() < own.len() && number.strip_prefix(['.', ')']).is_some_and(is_spaced);
    numbered || own.starts_with('•') || own.strip_prefix(['-', '*', '+']).is_some_and(is_spaced)
}

fn is_spaced(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(char::is_whitespace)
}

/// A rule between paragraphs: three marks of one kind or more, and nothing else.
fn is_rule(own: &str) -> bool {
    ['-', '*', '_', '='].iter().any(|mark| {
        own.chars().filter(|char| char == mark).count() >= 3
            && own.chars().all(|char| char == *mark || char == ' ')
    })
}

fn fence(line: &str) -> Option<(char, usize)> {
    let own = line.trim_start();
    let mark = own.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = own.len() - own.trim_start_matches(mark).len();
    let inline = mark == '`' && own.get(length..).is_some_and(|rest| rest.contains('`'));
    (length >= 3 && !inline).then_some((mark, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> Vec<(UnitKind, &str)> {
        cut(text).map(|(kind, range)| (kind, text.get(range).unwrap())).collect()
    }

    #[test]
    fn prose_is_cut_at_sentences_and_blocks() {
        use UnitKind::{Fence, Heading, Item, Quotation, Sentence, Table};
        let text = "# Head\nOne. Two goes\non here!\n\n- item\n  below it\n- next\n1. third\n> said\n> more\n\
                    | a | b |\n|---|---|\n---\n```rust\nfn a() {}\n# no heading\n```\nLast";
        assert_eq!(
            shown(text),
            [
                (Heading, "# Head"),
                (Sentence, "One."),
                (Sentence, "Two goes\non here!"),
                (Item, "- item\n  below it"),
                (Item, "- next"),
                (Item, "1. third"),
                (Quotation, "> said\n> more"),
                (Table, "| a | b |\n|---|---|"),
                (Fence, "```rust\nfn a() {}\n# no heading\n```"),
                (Sentence, "Last"),
            ]
        );
        assert_eq!(shown("~~~\nopen\n```"), [(Fence, "~~~\nopen\n```")]);
        assert_eq!(
            shown("Let me run `a.rs`.\nNext line"),
            [(Sentence, "Let me run `a.rs`."), (Sentence, "Next line")]
        );
        assert_eq!(shown(" \n---\n"), []);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "(\\PC{0,9}|[-#>|`~*1. \n\r]{0,4}|[a-z ]{0,9}){0,12}") {
            let units = cut(&text);
            let mut at = 0;
            for (_, range) in units {
                prop_assert!(range.start >= at && range.end > range.start);
                let between = text.get(at..range.start).unwrap();
                prop_assert!(between.lines().all(|line| line.trim().is_empty() || is_rule(line.trim())), "{between:?}");
                at = range.end;
            }
            prop_assert!(text.get(at..).unwrap().lines().all(|line| line.trim().is_empty() || is_rule(line.trim())));
        }
    }
}
