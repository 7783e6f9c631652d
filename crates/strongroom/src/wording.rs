//! Words made comparable: what is merely spelled or inflected another way must not count as another word.

/// Single blanks, lower case, plain quotes.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase).map(|char| match char {
            '’' | '‘' => '\'',
            '“' | '”' => '"',
            other => other,
        }));
    }
    out
}

/// Words that say nothing of what a sentence is about.
pub(crate) const FILLERS: &[&str] = &[
    "the", "and", "that", "this", "with", "for", "you", "are", "was", "were", "have", "has", "had", "its",
    "it's", "can", "could", "would", "will", "just", "then", "than", "from", "into", "our", "your", "they",
    "them", "there", "here", "what", "when", "which", "also", "but", "please", "should", "about", "some",
    "any", "all", "let", "let's", "i'm", "i'd", "i'll", "we'll", "we're", "like", "think", "want", "user",
    "thing", "things", "those", "these", "yeah", "okay", "now", "still", "maybe", "really", "one", "does",
    "did", "don't", "not", "too", "how", "why", "who", "where", "more", "get", "got", "see", "out", "only",
    "yes", "yep", "nope", "sure", "doing",
];

/// Endings that do not make another word, the longest first.
const ENDINGS: &[&str] = &[
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ies", "ers", "ed", "er", "es", "ly",
    "s", "e", "y",
];

/// A word without its ending.
pub(crate) fn stem(word: &str) -> &str {
    let ending = ENDINGS.iter().find(|ending| word.len() >= ending.len() + 3 && word.ends_with(**ending));
    let stem = ending.and_then(|ending| word.strip_suffix(ending)).unwrap_or(word);
    let mut chars = stem.chars().rev();
    // `running` and `run`
    match (chars.next(), chars.next()) {
        (Some(last), Some(other)) if ending.is_some() && last == other && !matches!(last, 's' | 'l') => {
            stem.strip_suffix(last).unwrap_or(stem)
        }
        _ => stem,
    }
}

/// The stems of the words a text is about, in order.
pub(crate) fn stems(text: &str) -> Vec<String> {
    plain(text)
        .split(|char: char| !(char.is_alphanumeric() || matches!(char, '\'')))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !FILLERS.contains(word) && (word.chars().count() > 2 || !word.is_ascii()))
        .map(|word| stem(word).to_owned())
        .collect()
}
