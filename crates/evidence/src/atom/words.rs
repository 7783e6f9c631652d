//! Small sets of words that are looked up for many tokens.

/// A set of words of at most 16 bytes, without case of ASCII letters, with a number for each.
#[derive(Debug)]
pub(super) struct Words {
    slots: Vec<(u128, u16)>,
}

impl Words {
    /// Words with their numbers; of equal words the first counts.
    pub(super) fn new<'a>(words: impl IntoIterator<Item = (&'a str, u16)>) -> Self {
        let words: Vec<_> = words.into_iter().collect();
        let len = (words.len() * 4).next_power_of_two().max(16);
        let mut slots = vec![(0, 0); len];
        for (word, number) in words {
            let Some(key) = key(word.as_bytes()) else { continue };
            let mut at = slot(key, len);
            while let Some(own) = slots.get_mut(at) {
                if own.0 == 0 {
                    *own = (key, number);
                }
                if own.0 == key {
                    break;
                }
                at = (at + 1) % len;
            }
        }
        Self { slots }
    }

    /// The number of `word`.
    pub(super) fn get(&self, word: &[u8]) -> Option<u16> {
        let key = key(word)?;
        let mut at = slot(key, self.slots.len());
        loop {
            match self.slots.get(at) {
                Some((own, number)) if *own == key => return Some(*number),
                Some((0, _)) | None => return None,
                Some(_) => at = (at + 1) % self.slots.len(),
            }
        }
    }

    pub(super) fn holds(&self, word: &[u8]) -> bool {
        self.get(word).is_some()
    }
}

fn key(word: &[u8]) -> Option<u128> {
    if word.is_empty() || word.len() > 16 {
        return None;
    }
    let mut own = [0; 16];
    for (to, from) in own.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    Some(u128::from_le_bytes(own))
}

#[expect(clippy::cast_possible_truncation, reason = "a hash")]
fn slot(key: u128, len: usize) -> usize {
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_without_case() {
        let names: Vec<String> = (0..200).map(|n| format!("word{n}")).collect();
        let words = Words::new(names.iter().map(String::as_str).zip(0..));
        assert!(names.iter().zip(0..).all(|(name, n)| words.get(name.to_uppercase().as_bytes()) == Some(n)));
        assert!(!words.holds(b"word200") && !words.holds(b"") && !words.holds(&[b'a'; 20]));
    }
}
