//! The sentences of a draft, without the marks around them, each with the spans that it names.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_evidence::cues;

/// A part of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// A sentence, and the spans that it names.
    Sentence(String, Vec<u32>),
    /// A heading or a mark of the draft's own.
    Mark(String),
}

/// `[#3]`, `(#3, #5)`, `[#3-7]`.
static CITED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\s*[\[(]\s*(?:spans?\s*)?#\d{1,9}(?:\s*(?:,|;|-|–|and|\.\.)?\s*#?\d{1,9})*\s*[\])]").ok()
});

/// What begins a line of a list.
static LISTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:[-*+•>]|\d{1,3}[.)])\s+").ok());

/// The longest line without an end that is taken for a heading, in bytes.
const HEADING_BYTES_MAX: usize = 100;

/// The pieces of a draft, in order.
pub(super) fn pieces(draft: &str) -> Vec<Piece> {
    draft.lines().flat_map(|line| of_line(line.trim())).collect()
}

fn of_line(line: &str) -> Vec<Piece> {
    let ruled = line.chars().all(|char| matches!(char, '-' | '*' | '_' | '=' | '`' | '~' | ' '));
    if line.is_empty() || ruled || line.starts_with("```") {
        return Vec::new();
    }
    let marked = line.strip_prefix('#').is_some_and(|rest| rest.starts_with(['#', ' ']));
    let titled = line.ends_with([':', '：']) && line.len() <= HEADING_BYTES_MAX;
    let bold = line.starts_with("**") && line.ends_with("**") && line.len() <= HEADING_BYTES_MAX;
    if marked || titled || bold {
        return vec![Piece::Mark(line.to_owned())];
    }
    let line = LISTED.as_ref().map_or_else(|| line.into(), |listed| listed.replace(line, ""));
    sentences(&line.replace("**", ""))
}

fn sentences(line: &str) -> Vec<Piece> {
    let cited: Vec<Range<usize>> = CITED
        .as_ref()
        .map_or_else(Vec::new, |cited| cited.find_iter(line).map(|found| found.range()).collect());
    let mut all: Vec<(String, Vec<u32>)> = Vec::new();
    for range in cues::sentences(line) {
        let inside = |place: &&Range<usize>| range.start <= place.end && place.start < range.end;
        let mut text = String::new();
        let mut from = range.start;
        let mut named = Vec::new();
        for place in cited.iter().filter(inside) {
            let numbers = numbers(line.get(place.clone()).unwrap_or_default());
            let before = line.get(from..place.start.max(from)).unwrap_or_default();
            let leads = text.is_empty() && before.trim().is_empty();
            text.push_str(before);
            from = place.end.clamp(from, range.end);
            // Behind the full stop it is of the sentence before.
            match all.last_mut().filter(|_| leads) {
                Some((_, last)) => last.extend(numbers),
                None => named.extend(numbers),
            }
        }
        text.push_str(line.get(from..range.end).unwrap_or_default());
        let text = text.trim();
        if text.chars().any(char::is_alphanumeric) {
            all.push((text.to_owned(), named));
        } else if let Some((_, last)) = all.last_mut() {
            last.extend(named);
        }
    }
    all.into_iter().map(|(text, named)| Piece::Sentence(text, named)).collect()
}

/// The most spans that a range of numbers is read as.
const RANGE_MAX: u32 = 50;

fn numbers(cited: &str) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    let mut joined = false;
    for part in cited.split_inclusive(|char: char| !char.is_ascii_digit()) {
        let digits = part.trim_end_matches(|char: char| !char.is_ascii_digit());
        if let Ok(number) = digits.parse::<u32>() {
            let last =
                all.last().copied().filter(|&last| joined && last < number && number - last <= RANGE_MAX);
            match last {
                Some(last) => all.extend(last + 1..=number),
                None => all.push(number),
            }
            joined = false;
        }
        joined |= part.ends_with(['-', '–', '.']);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentence(text: &str, spans: &[u32]) -> Piece {
        Piece::Sentence(text.to_owned(), spans.to_vec())
    }

    #[test]
    fn sentences_lose_marks_and_keep_what_they_name() {
        assert_eq!(
            pieces(
                "## User, verbatim\n- It ran [#3]. Then it failed. [#4, #6-8]\n\n1. **Done** in src/a.rs."
            ),
            [
                Piece::Mark("## User, verbatim".to_owned()),
                sentence("It ran.", &[3]),
                sentence("Then it failed.", &[4, 6, 7, 8]),
                sentence("Done in src/a.rs.", &[]),
            ]
        );
        assert_eq!(pieces("Here is the summary:"), [Piece::Mark("Here is the summary:".to_owned())]);
        assert_eq!(pieces("---\n```\n\n"), []);
        assert_eq!(pieces("See issue #12 now."), [sentence("See issue #12 now.", &[])]);
        assert_eq!(pieces("It ran (#3 and #5)"), [sentence("It ran", &[3, 5])]);
    }

    proptest! {
        #[test]
        fn any_draft_has_pieces_of_one_line(draft in "\\PC{0,200}") {
            for piece in pieces(&draft) {
                let (Piece::Sentence(text, _) | Piece::Mark(text)) = piece;
                prop_assert!(!text.is_empty() && !text.contains('\n'));
            }
        }
    }
}
