//! Seeds: every choice is a function of the transcript, the seed and the version of the generator.

use sha2::{Digest as _, Sha256};

/// The version of the generator.
pub const GENERATOR: &str = "1.2";

/// The version of its choices: what generators of one such version both make, they make alike.
const CHOICES: &str = "1";

/// A seed, from which named seeds are made, so that a new family changes no question of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed(String);

impl Seed {
    /// The seed of one transcript.
    pub fn new(transcript: &str, seed: &str) -> Self {
        Self(hex(&format!("{CHOICES}:{transcript}:{seed}")))
    }

    /// The seed named `name`: the SHA-256 of `seed:name`.
    #[must_use]
    pub fn sub(&self, name: &str) -> Self {
        Self(hex(&format!("{}:{name}", self.0)))
    }

    /// A number below `bound`, or 0 where `bound` is 0.
    pub fn below(&self, name: &str, bound: usize) -> usize {
        let digits = self.sub(name).0;
        let number = digits.get(..15).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(number % bound).unwrap_or(0)
    }

    /// At most `most` of `items` in their old order. Each is ranked by its key alone, so that a further candidate
    /// moves no other.
    pub fn pick<T>(&self, items: Vec<T>, most: usize, key: impl Fn(&T) -> String) -> Vec<T> {
        let mut ranked: Vec<(String, usize, T)> =
            items.into_iter().enumerate().map(|(at, item)| (self.sub(&key(&item)).0, at, item)).collect();
        ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        ranked.truncate(most);
        ranked.sort_by_key(|(_, at, _)| *at);
        ranked.into_iter().map(|(_, _, item)| item).collect()
    }

    /// The text of the seed, 64 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub fn hex(text: &str) -> String {
    hex_of(text.as_bytes())
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn hex_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pick_does_not_depend_on_what_else_there_is() {
        let seed = Seed::new("t", "s");
        let few: Vec<u32> = seed.pick((0..50).collect(), 10, u32::to_string);
        let more: Vec<u32> = seed.pick((0..60).collect(), 60, u32::to_string);
        assert_eq!(few.len(), 10);
        assert_eq!(more.len(), 60);
        let again = seed.pick((0..60).collect(), 10, u32::to_string);
        assert!(again.iter().filter(|item| few.contains(item)).count() + 5 >= 10);
        assert!(few.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn names_make_other_seeds() {
        let seed = Seed::new("t", "s");
        assert_ne!(seed.sub("F1"), seed.sub("F2"));
        assert_eq!(seed.sub("F1"), Seed::new("t", "s").sub("F1"));
        assert_ne!(seed, Seed::new("t", "other"));
        assert!(seed.below("x", 7) < 7);
    }
}
