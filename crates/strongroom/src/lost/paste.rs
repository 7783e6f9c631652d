//! What stands in a user's message and is not the user's: output, code, quotations, and what programs write there.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_evidence::cues;

/// How texts begin that a program writes in the user's name. Looks only lower trust here: the words are not counted.
const PROGRAMS: &[&str] = &[
    "Implement the following plan:",
    "This session is being continued from a previous conversation",
    "Base directory for this skill:",
    "Caveat: The messages below were generated",
    "[Request interrupted by user",
    "Operation stopped by hook:",
    "Stop hook feedback:",
    "<",
    "# AGENTS.md instructions",
    "Continue from where you left off",
    "Please analyze this codebase and create a CLAUDE.md",
];

/// Lines that nobody types as prose.
static LINES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // Quoted, drawn, commented, diffs, prompts, stack traces.
        r"^\s*(?:[>|│├└╭╰┌┐+@]|//|/\*|\*/|#!|\$\s|%\s|\.\.\.|at\s+\S+\(|\d+[:|→]|[-+]{3}\s|[{}\[\])(]|</?\w)",
        // Times and levels of a log.
        r"|^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\s*(?:ERROR|WARN|INFO|DEBUG|FATAL|FAIL|PASS|panic|error|warning)\b\s*[:\[(]",
        r"|^\s*(?:---|===)\s|\b(?:FAIL|ok)\t",
        // A place in a file, and what code ends with.
        r"|^\s*\S+\.\w{1,5}:\d+(?::\d+)?[:\s]|[;{]\s*$|:=|=>|\)\s*\{|[│╭╰├└─█░⎿⏺●✓✗]",
        // A list of changes: hash and subject, counts of lines.
        r"|^\s*(?:[-*]\s*)?[0-9a-f]{7,40}\s|\[[+-]\d+",
        // Set in, and no item of a list; several absolute paths.
        r"|^(?: {2,}|\t)\s*(?:[^-*\s\d•]|\d+[^.)\d])|\[/\S+\s.*\[/",
        // Severity lines and marks of review tools.
        r"|(?i)^\s*(?:low|medium|high|critical)\s+severity\s*$|^\s*on\s+\S+\.\w+\s+\d+\s*$",
    ))
    .ok()
});

/// Severity and place lines mark the whole paragraph beside them as a review comment.
static REVIEW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?im)^\s*(?:low|medium|high|critical)\s+severity\s*$|^\s*on\s+\S+\.\w+(?:\s+line)?\s+\d+\s*$|^(?:nit|suggestion|issue|bug|comment)\s*:|\bconsider\s+(?:adding|testing|using|extracting|moving|renaming)\b")
        .ok()
});

/// The sentences of `text` that the user has said, in order.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    if PROGRAMS.iter().any(|begin| text.trim_start().starts_with(begin)) {
        return Vec::new();
    }
    let pasted = pasted(text);
    let is_own =
        |range: &Range<usize>| !pasted.iter().any(|paste| paste.start < range.end && range.start < paste.end);
    cues::sentences(text).into_iter().filter(is_own).collect()
}

/// The lines of a text with their places.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start..at, line.trim_end_matches(['\n', '\r']))
    })
}

/// What is pasted: fences, lines that look like no prose, and the paragraphs of a review.
fn pasted(text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut fence: Option<usize> = None;
    for (range, line) in lines(text) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") || trimmed.starts_with("\"\"\"") {
            match fence.take() {
                Some(start) => all.push(start..range.end),
                None => fence = Some(range.start),
            }
        } else if fence.is_none() && LINES.as_ref().is_some_and(|regex| regex.is_match(line)) {
            all.push(range);
        }
    }
    all.extend(fence.map(|start| start..text.len()));
    all.extend(reviews(text));
    all
}

/// A review comment that is pasted reaches to the user's own last paragraph.
fn reviews(text: &str) -> Option<Range<usize>> {
    REVIEW.as_ref()?.find(text)?;
    let last = text.trim_end().rfind("\n\n").map(|at| at + 2);
    let own = last.filter(|&at| {
        let tail = text.get(at..).unwrap_or_default();
        REVIEW.as_ref().is_some_and(|review| !review.is_match(tail)) && speaks(tail)
    });
    Some(0..own.unwrap_or(text.len()))
}

/// Whether somebody says what he thinks or wants.
fn speaks(text: &str) -> bool {
    static SPEAKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:i|i['’]m|i['’]d|we|let['’]?s|you|my|our|please|can|could|yes|no|ok|fix|this)\b")
            .ok()
    });
    SPEAKS.as_ref().is_some_and(|speaks| speaks.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Vec<&str> {
        sentences(text).into_iter().filter_map(|range| text.get(range)).collect()
    }

    #[test]
    fn what_is_pasted_is_not_said() {
        assert!(PROGRAMS.len() > 3 && LINES.is_some() && REVIEW.is_some());
        assert_eq!(
            own("Never touch a.rs.\n```\n// Ensure it exists\nx();\n```\nthanks"),
            ["Never touch a.rs.", "thanks"]
        );
        assert_eq!(
            own("it prints\n> never mind\n│ - 1a2b3c4 make sure it runs\nwhy?"),
            ["it prints", "why?"]
        );
        assert_eq!(own("Implement the following plan:\n\nAlways log."), Vec::<&str>::new());
        assert_eq!(
            own("Missing check\n\nHigh Severity\n\nIt never returns.\n\nI think we keep it as it is"),
            ["I think we keep it as it is"]
        );
        assert_eq!(own("- always lint\n  - never push"), ["- always lint", "- never push"]);
        assert_eq!(own("it hangs:\n  Running [/a/b run] in [/c] ...\n  entire enable --now"), ["it hangs:"]);
    }
}
