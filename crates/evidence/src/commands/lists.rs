//! Named lists of words in tables, found without parsing the table.
//!
//! Tables are read in every process, most of it never used: a list is `name = ["word", ...]` and ends with `]` at
//! the end of a line, no word holds a quote. A test compares what is found with what a TOML parser reads.

use std::collections::BTreeMap;

/// Named lists of a table.
#[derive(Debug, Default)]
pub(super) struct Lists(BTreeMap<&'static str, &'static str>);

/// How deep lists stand in lists.
const DEPTH_MAX: usize = 4;

/// The quoted words of a text.
pub(super) fn quoted(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('"').skip(1).step_by(2)
}

impl Lists {
    /// The lists of a table.
    pub(super) fn scan(text: &'static str) -> Self {
        let named = text.split("]\n").filter_map(|list| {
            let (front, body) = list.split_once(" = [")?;
            Some((front.rsplit('\n').next()?, body))
        });
        Self(named.collect())
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// The words of a list, those of lists that it names as `@name` too.
    pub(super) fn words(&self, name: &str) -> Vec<&'static str> {
        let mut all = Vec::new();
        self.collect(name, DEPTH_MAX, &mut all);
        all
    }

    /// All words, each with the name of its list, in order.
    pub(super) fn members(&self) -> Vec<(&'static str, &'static str)> {
        let own = self.0.iter().flat_map(|(name, body)| quoted(body).map(move |word| (word, *name)));
        let mut all: Vec<_> = own.collect();
        all.sort_unstable();
        all
    }

    /// Whether a list holds a word itself.
    pub(super) fn has(&self, name: &str, word: &str) -> bool {
        self.0.get(name).is_some_and(|body| quoted(body).any(|own| own == word))
    }

    /// Writes the words of the lists that `words` name as `@name` in their place.
    pub(super) fn expand(&self, words: &mut Vec<String>) {
        if words.iter().any(|word| word.starts_with('@')) {
            let own = std::mem::take(words);
            words.extend(own.into_iter().flat_map(|word| match word.strip_prefix('@') {
                Some(name) => self.words(name).into_iter().map(str::to_owned).collect(),
                None => vec![word],
            }));
        }
    }

    fn collect(&self, name: &str, depth: usize, all: &mut Vec<&'static str>) {
        for word in self.0.get(name).into_iter().flat_map(|body| quoted(body)) {
            match word.strip_prefix('@') {
                Some(inner) if depth > 0 => self.collect(inner, depth - 1, all),
                _ => all.push(word),
            }
        }
    }
}
