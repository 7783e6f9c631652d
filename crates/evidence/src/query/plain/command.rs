//! Command lines in questions, as terms.

use super::words::safe;
use crate::query::Atom;

/// Flags with a letter and a word that mean the same, where a program has both.
const FLAGS: &[(&str, &str)] =
    &[("rR", "recursive"), ("f", "force"), ("y", "yes"), ("a", "all"), ("q", "quiet"), ("v", "verbose")];

/// A command line as terms: flags are found in any order, bundled, apart, and spelled out.
pub(super) fn command(words: &[String]) -> Vec<String> {
    let tokens: Vec<String> = words.iter().map(|word| unquoted(word)).collect();
    let Some((program, rest)) = tokens.split_first() else { return Vec::new() };
    let mut terms = vec![format!("cmd:{}", safe(program))];
    let mut lead = vec![crate::place::base_name(program).to_owned()];
    for token in rest {
        match flag_patterns(&lead, token) {
            Some(patterns) => terms.extend(patterns),
            None => terms.push(format!("arg:{}", safe(token))),
        }
        if !token.starts_with('-') {
            lead.push(token.clone());
        }
    }
    terms
}

/// A whole text as a term: it is one byte sequence.
pub(super) fn whole(text: &str) -> Vec<String> {
    vec![format!("arg:{}", Atom::Quoted(text.to_owned()))]
}

/// The text of a word as it was said.
fn unquoted(word: &str) -> String {
    let inner = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    inner.map_or_else(|| word.to_owned(), |inner| inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Expressions for a flag of the command that `lead` begins; none where the flag has one spelling only.
fn flag_patterns(lead: &[String], token: &str) -> Option<Vec<String>> {
    const LETTERS_MAX: usize = 3;
    let simple = |word: &String| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if !lead.iter().all(simple) {
        return None;
    }
    let commits = lead.iter().any(|word| word == "commit");
    let known = FLAGS.iter().copied().chain(commits.then_some(("n", "no-verify")));
    let pairs: Vec<(String, Option<&str>)> = if let Some(long) = token.strip_prefix("--") {
        known
            .filter(|(_, word)| *word == long)
            .map(|(letters, word)| (letters.to_owned(), Some(word)))
            .collect()
    } else {
        let letters = token.strip_prefix('-')?;
        let bundled = letters.len() <= LETTERS_MAX && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        let known: Vec<(&str, &str)> = known.collect();
        let pair = |letter: char| {
            let own = known.iter().find(|(letters, _)| letters.contains(letter));
            own.map_or_else(
                || (letter.to_string(), None),
                |(letters, word)| ((*letters).to_owned(), Some(*word)),
            )
        };
        if bundled { letters.chars().map(pair).collect() } else { Vec::new() }
    };
    let program = lead.join(r"\b[^;&|\n]*\b");
    let pattern = |(letters, word): &(String, Option<&str>)| {
        let long = word.map(|word| format!(r"|--{word}\b")).unwrap_or_default();
        format!(r"arg:/(?:\b{program}\b|[$]\w+)(?:[^;&|\n]|\\\n)*\s(?:-[A-Za-z]*[{letters}]{long})/")
    };
    (!pairs.is_empty()).then(|| pairs.iter().map(pattern).collect())
}
