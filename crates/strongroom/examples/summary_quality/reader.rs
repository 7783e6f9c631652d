//! What a reader has who knows the rules that the headings of a summary state.

use std::collections::BTreeSet;

use strongroom_core::index::expand;

/// What lists begin with.
const LISTS: [&str; 5] = ["paths: ", "urls: ", "names: ", "numbers: ", "hashes: "];
const FILES: &str = "files: ";

/// The text of a summary with everything its lists stand for.
pub(crate) struct Shown {
    text: String,
    words: BTreeSet<String>,
}

impl Shown {
    /// A summary of ours.
    pub(crate) fn of(summary: &str) -> Self {
        let mut text = String::new();
        for line in summary.lines() {
            let list = LISTS.iter().find_map(|name| line.strip_prefix(name));
            let files = line.strip_prefix(FILES);
            let strings = list.or(files).and_then(|list| expand(list).ok());
            let Some(strings) = strings else {
                text.push_str(line);
                text.push('\n');
                continue;
            };
            for string in strings {
                let own = if files.is_some() {
                    string.rsplit_once(':').map_or("", |(path, _)| path)
                } else {
                    &string
                };
                text.push_str(own);
                text.push('\n');
            }
        }
        Self::plain(&text)
    }

    /// Text without lists.
    pub(crate) fn plain(text: &str) -> Self {
        let words =
            text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        Self { text: text.to_owned(), words }
    }

    /// Whether `literal` stands in it, and not as a part of a longer word.
    pub(crate) fn has_literal(&self, literal: &str) -> bool {
        if literal.chars().all(is_word) {
            return self.words.contains(literal);
        }
        let free = |c: Option<char>| !c.is_some_and(is_word);
        self.text.match_indices(literal).any(|(at, _)| {
            let first_joins = literal.starts_with(is_word);
            let last_joins = literal.ends_with(is_word);
            let before = self.text.get(..at).and_then(|text| text.chars().next_back());
            let behind = self.text.get(at + literal.len()..).and_then(|text| text.chars().next());
            (!first_joins || free(before)) && (!last_joins || free(behind))
        })
    }

    /// Whether `text` stands in it, white space at its ends aside.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.text.contains(text.trim())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
