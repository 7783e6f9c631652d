//! Matches in a text, as they may be shown: no secret is seen, and none is felt out character by character.

use std::ops::Range;

use memchr::memmem;
use strongroom_evidence::answer::secrets_in;

/// How many characters are shown before and behind a match.
const AROUND_CHARS: usize = 60;

/// A longer match is shown by its beginning.
const MATCH_CHARS_MAX: usize = 200;

/// How far around a match secrets are looked for: no rule looks farther from the word that it knows a secret by.
const REACH_BYTES: usize = 4096;

/// In steps of how many bytes a text with many matches is looked through.
const STEP_BYTES: usize = 16 << 10;

/// A match with what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// What stands before it.
    pub before: String,
    /// The match.
    pub text: String,
    /// What stands behind it.
    pub after: String,
}

/// The first match in a text that may be told, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) range: Range<usize>,
    pub(super) count: usize,
    pub(super) snippet: Snippet,
}

/// What of `text` is met by `finder` and may be told. A match that takes a part of a secret in is not: who looks for
/// more and more of one would be told it. A match around a whole secret is, for whoever looks for it knows it.
pub(super) fn matches_of(finder: &memmem::Finder<'_>, text: &str) -> Option<Match> {
    let len = finder.needle().len();
    let mut secrets = Secrets { text, core: 0..0, found: Vec::new() };
    let mut first: Option<Match> = None;
    for at in finder.find_iter(text.as_bytes()) {
        let range = at..at + len;
        let near = secrets.near(&range);
        if near.iter().any(|(secret, _)| cuts(&range, secret)) {
            continue;
        }
        match &mut first {
            Some(first) => first.count += 1,
            None => first = Some(Match { snippet: snippet(text, &range, near), range, count: 1 }),
        }
    }
    first
}

/// Whether a match takes a part of a secret in, and not the whole.
fn cuts(found: &Range<usize>, secret: &Range<usize>) -> bool {
    let meets = found.start < secret.end && secret.start < found.end;
    meets && !(found.start <= secret.start && secret.end <= found.end)
}

/// The secrets of a text, as far as they were looked for.
struct Secrets<'t> {
    text: &'t str,
    /// Around which bytes they are known.
    core: Range<usize>,
    found: Vec<(Range<usize>, &'static str)>,
}

impl Secrets<'_> {
    /// The secrets that may reach to a match, or to what is shown around it.
    fn near(&mut self, found: &Range<usize>) -> &[(Range<usize>, &'static str)] {
        if found.start < self.core.start || self.core.end < found.end {
            self.core = found.start..found.end.max(found.start + STEP_BYTES);
            let start = self.text.floor_char_boundary(self.core.start.saturating_sub(REACH_BYTES));
            let end = self.text.floor_char_boundary(self.core.end.saturating_add(REACH_BYTES));
            let around = secrets_in(self.text.get(start..end).unwrap_or_default()).into_iter();
            self.found = around.map(|(own, rule)| (own.start + start..own.end + start, rule)).collect();
        }
        &self.found
    }
}

fn snippet(text: &str, found: &Range<usize>, secrets: &[(Range<usize>, &str)]) -> Snippet {
    let start = back(text, found.start, AROUND_CHARS);
    let end = ahead(text, found.end, AROUND_CHARS);
    let shown = ahead(text, found.start, MATCH_CHARS_MAX).min(found.end);
    let part = |range: Range<usize>| hidden(text, range, secrets);
    Snippet {
        before: part(start..found.start),
        text: if shown < found.end { part(found.start..shown) + "…" } else { part(found.clone()) },
        after: part(found.end..end),
    }
}

/// So many characters before `at`.
fn back(text: &str, at: usize, chars: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.char_indices().rev().take(chars).last().map_or(at, |(at, _)| at)
}

/// So many characters behind `at`.
fn ahead(text: &str, at: usize, chars: usize) -> usize {
    let behind = text.get(at..).unwrap_or_default();
    behind.char_indices().nth(chars).map_or(text.len(), |(more, _)| at + more)
}

/// A part of `text`, with the secrets that reach into it hidden.
fn hidden(text: &str, part: Range<usize>, secrets: &[(Range<usize>, &str)]) -> String {
    let mut shown = String::new();
    let mut at = part.start;
    for (secret, rule) in secrets.iter().filter(|(own, _)| own.start < part.end && part.start < own.end) {
        if secret.end <= at {
            continue;
        }
        shown.push_str(text.get(at..secret.start.max(at)).unwrap_or_default());
        shown.extend(["[masked ", rule, "]"]);
        at = secret.end;
    }
    shown.push_str(text.get(at.min(part.end)..part.end).unwrap_or_default());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, needle: &str) -> Option<Match> {
        matches_of(&memmem::Finder::new(needle.as_bytes()), text)
    }

    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    #[test]
    fn a_match_is_shown_with_what_stands_around_it() {
        let text = format!("{}needle{}", "é".repeat(100), " behind".repeat(50));
        let found = found(&text, "needle").unwrap();
        assert_eq!((found.range.start, found.count), (200, 1));
        assert_eq!(found.snippet.text, "needle");
        assert_eq!(found.snippet.before, "é".repeat(AROUND_CHARS));
        assert_eq!(found.snippet.after.chars().count(), AROUND_CHARS);
    }

    #[test]
    fn a_secret_is_neither_shown_nor_felt_out() {
        let text = format!("export TOKEN={TOKEN} && deploy && deploy");
        let deploy = found(&text, "deploy").unwrap();
        assert_eq!(deploy.count, 2);
        assert!(deploy.snippet.before.contains("[masked "), "{:?}", deploy.snippet);
        assert!(!deploy.snippet.before.contains("16C7e42F"), "{:?}", deploy.snippet);
        let (head, tail) = (TOKEN.get(..9).unwrap(), TOKEN.get(8..).unwrap());
        for part in ["ghp_", "ghp_16C7", tail, &format!("={head}")] {
            assert_eq!(found(&text, part), None, "{part}");
        }
        let known = found(&text, TOKEN).unwrap();
        assert!(!known.snippet.text.contains(TOKEN), "whoever looks over a shoulder sees none");
        assert!(found(&format!("{text} ghp_short"), "ghp_").is_some(), "what is no secret is met");
    }

    #[test]
    fn a_password_in_a_url_is_hidden() {
        let text = "curl https://mara:hunter2secret@host/x";
        assert_eq!(found(text, "hunter2"), None);
        assert!(!found(text, "curl").unwrap().snippet.after.contains("hunter2"));
    }
}
