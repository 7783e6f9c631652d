//! The nearest valid word.

/// A sentence with the word nearest to `word`, where one is near enough to be meant.
pub(super) fn did_you_mean<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<String> {
    let lower = word.to_lowercase();
    let limit = (lower.chars().count() / 3).max(1);
    words
        .into_iter()
        .map(|one| (distance(&lower, one), one))
        .filter(|(steps, one)| *steps <= limit || (lower.len() > 2 && one.starts_with(lower.as_str())))
        .min()
        .map(|(_, one)| format!("did you mean \"{one}\"?"))
}

/// The number of insertions, deletions and replacements between two words; inputs are cut at 40 characters.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().take(40).collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (from, a) in one.chars().take(40).enumerate() {
        let mut left = from + 1;
        let mut diagonal = from;
        let mut next = vec![left];
        for (b, &above) in two.iter().zip(row.iter().skip(1)) {
            left = (left + 1).min(above + 1).min(diagonal + usize::from(a != *b));
            diagonal = above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (one, two, steps) in [
            ("", "", 0),
            ("kitten", "sitting", 3),
            ("scop", "scope", 1),
            ("abc", "", 3),
            ("", "ab", 2),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!(distance(one, two), steps, "{one} {two}");
        }
    }

    #[test]
    fn only_near_words_are_offered() {
        assert_eq!(did_you_mean("scop", ["target", "scope"]).unwrap(), "did you mean \"scope\"?");
        assert_eq!(did_you_mean("banana", ["target", "scope"]), None);
    }
}
