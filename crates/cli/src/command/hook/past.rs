//! Prompts that ask about the past.

use strongroom::query::{Query, plain};

/// The longest prompt that is looked at, in bytes; longer ones are pastes.
const PROMPT_BYTES_MAX: usize = 4_000;

/// Words that ask about what was done here, wherever they stand in a sentence.
const PHRASES: &[&str] = &[
    "did we",
    "did you",
    "did i",
    "did the agent",
    "did anyone",
    "did anybody",
    "have we",
    "have you",
    "has anyone",
    "has the agent",
    "had we",
    "had you",
    "we ever",
    "you ever",
    "have been",
    "has been",
    "were we",
    "were you",
    "last time",
    "before the compaction",
    "after the compaction",
    "before compaction",
    "earlier in this session",
    "do you remember",
    "you remember",
    "remind me",
    "haben wir",
    "hast du",
    "avons nous",
    "as tu",
    "hemos",
    "has hecho",
];

/// Words at the beginning of a question that may be about the past; it is, where the question can be read as one.
const OPENINGS: &[&str] = &[
    "did",
    "was",
    "were",
    "has",
    "have",
    "had",
    "which",
    "what",
    "when",
    "who",
    "where",
    "how many times",
    "how often",
    "may",
    "does",
    "is",
];

/// A question about the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asks {
    /// The query that it is read as, where it can be read.
    pub(super) query: Option<Query>,
}

/// The first question about the past in a prompt.
pub(super) fn question(prompt: &str) -> Option<Asks> {
    if prompt.len() > PROMPT_BYTES_MAX {
        return None;
    }
    let sentences: Vec<&str> = sentences(prompt).collect();
    let questions = sentences.iter().filter(|sentence| sentence.ends_with(['?', '？']));
    let mut hint = None;
    for question in questions {
        let words = words(question);
        let about = PHRASES.iter().any(|phrase| words.contains(&format!(" {phrase} ")));
        let may_be = about || OPENINGS.iter().any(|opening| words.starts_with(&format!(" {opening} ")));
        if let Some(query) = may_be.then(|| plain(question)).flatten() {
            return Some(Asks { query: Some(query) });
        }
        hint = hint.or(about.then_some(Asks { query: None }));
    }
    hint
}

/// The sentences of a text: up to a mark that ends one and is followed by white space, or to the end of a line.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let text = rest?;
            let mut marks = text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | '？' | '。'));
            let end = marks.find_map(|(at, c)| {
                let end = at + c.len_utf8();
                let wide = !c.is_ascii();
                text.get(end..).filter(|rest| wide || rest.starts_with(char::is_whitespace)).map(|_| end)
            });
            let (sentence, behind) = end.and_then(|end| text.split_at_checked(end)).unwrap_or((text, ""));
            rest = (!behind.is_empty()).then_some(behind);
            Some(sentence.trim())
        })
    })
}

/// The words of a sentence in lower case, each between spaces.
fn words(sentence: &str) -> String {
    let mut words = String::from(" ");
    for word in sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.push_str(&word.to_lowercase());
        words.push(' ');
    }
    words
}

/// A text of at most `chars` characters, in whole lines; what is left out is counted.
pub(super) fn bounded(text: &str, chars: usize) -> String {
    let mut shown = String::new();
    let (mut used, mut left) = (0, 0_usize);
    for line in text.lines() {
        let len = line.chars().count() + 1;
        if left == 0 && used + len <= chars {
            used += len;
            shown.push_str(line);
            shown.push('\n');
        } else {
            left += 1;
        }
    }
    if left > 0 {
        shown.extend(["(", &left.to_string(), " more lines; ask for all of them)\n"]);
    }
    shown.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_past_are_found() {
        for (prompt, reading) in [
            ("did we ever modify system config?", Some("changes system-config")),
            ("Fine. Which files did we write? Then go on.", Some("list files op:written")),
            ("Did we push src/a.rs to main?", Some("effects")),
            ("Have you already told Ana that it is delayed, and how did she take it?", None),
            ("Do you remember why the second plan was dropped?", None),
        ] {
            let asks = question(prompt).unwrap_or_else(|| panic!("{prompt}"));
            match (asks.query, reading) {
                (Some(query), Some(reading)) => {
                    assert!(query.to_string().contains(reading), "{prompt}: {query}");
                }
                (None, None) => {}
                (query, _) => panic!("{prompt}: {query:?}"),
            }
        }
    }

    #[test]
    fn other_prompts_get_nothing() {
        for prompt in [
            "",
            "Add a test for the parser.",
            "Please push the branch.",
            "Could you rename the module?",
            "Write down what we did.",
            "Why is the sky blue?",
            "continue",
            &"did we push? ".repeat(1_000),
        ] {
            assert_eq!(question(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_at_a_line() {
        assert_eq!(bounded("one\ntwo\nthree\n", 8), "one\ntwo\n(1 more lines; ask for all of them)");
        assert_eq!(bounded("one\n", 8), "one");
    }
}
