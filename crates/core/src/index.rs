//! A list of exact strings in few characters, and the reader of such lists.
//!
//! It knows only strings. A list is written on lines:
//!
//! - words with a space between them; `a{b c}` stands for `ab ac`, nested, with nothing before the first space for
//!   `a` itself; `3..6` stands for 3, 4, 5 and 6;
//! - a line that begins with `| ` holds one string exactly as it is.
//!
//! Strings with a slash or a backslash share their beginnings, up to one of them, in braces; runs of integers become
//! ranges; all others stand whole, so that they are found by a plain search.
//!
//! ```
//! use std::collections::BTreeSet;
//! use strongroom_core::index::{encode, expand};
//! let list = BTreeSet::from(["src/a/x.rs", "src/a/y.rs", "src/b.rs", "7", "8", "9", "has space"]);
//! assert_eq!(encode(&list), "7..9 src/{a/{x.rs y.rs} b.rs}\n| has space");
//! assert_eq!(expand(&encode(&list)).unwrap(), list.into_iter().map(str::to_owned).collect());
//! ```

use std::collections::BTreeSet;

/// What a line with one string begins with.
const WHOLE: &str = "| ";

/// What stands between the parts of a path; up to one of these, paths in a list share their beginnings.
pub const SEPARATORS: [char; 2] = ['/', '\\'];

/// How deep braces go; behind it a string is not divided further.
const DEPTH_MAX: usize = 24;

/// The fewest integers in a row that become a range.
const RUN_MIN: u64 = 3;

/// The most strings that a list may stand for.
const STRINGS_MAX: usize = 1_000_000;

/// What is wrong with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A brace has no partner, or something follows one.
    #[error("a brace has no partner")]
    Brace,
    /// Braces lie deeper than any list is written.
    #[error("braces lie too deep")]
    Depth,
    /// It stands for more strings than are read.
    #[error("the list is too long")]
    Length,
}

/// Whether `text` can stand in a list: it is not empty and has no line break.
pub fn is_listable(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\n', '\r'])
}

/// Writes the listable strings of `set`; strings that are not listable are left out.
pub fn encode(set: &BTreeSet<&str>) -> String {
    let mut words = Vec::new();
    let mut numbers = BTreeSet::new();
    let mut paths = Vec::new();
    let mut whole = Vec::new();
    for &text in set.iter().filter(|text| is_listable(text)) {
        match (integer(text), is_word(text)) {
            (Some(number), _) => drop(numbers.insert(number)),
            (None, false) => whole.push(text),
            (None, true) if text.contains(SEPARATORS) => paths.push(text),
            (None, true) => words.push(text.to_owned()),
        }
    }
    let mut list = ranges(&numbers);
    list.append(&mut words);
    list.append(&mut alternatives(&paths, 0));
    let mut lines = Vec::new();
    if !list.is_empty() {
        lines.push(list.join(" "));
    }
    lines.extend(whole.into_iter().map(|text| format!("{WHOLE}{text}")));
    lines.join("\n")
}

/// Reads a list: all strings that it stands for.
///
/// # Errors
/// What is wrong with it; nothing that [`encode`] writes is.
pub fn expand(text: &str) -> Result<BTreeSet<String>, Malformed> {
    let mut strings = BTreeSet::new();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        if let Some(whole) = line.strip_prefix(WHOLE) {
            strings.insert(whole.to_owned());
            continue;
        }
        let mut reader = Reader { rest: line, strings: &mut strings };
        reader.alternatives("", 0)?;
    }
    Ok(strings)
}

/// An integer in its shortest spelling.
fn integer(text: &str) -> Option<u64> {
    let digits = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}

/// Both ends of `3..6`.
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once("..")?;
    Some((integer(first)?, integer(last)?))
}

/// Whether `text` reads as itself among other words.
fn is_word(text: &str) -> bool {
    let special = |c: char| matches!(c, '{' | '}' | ',' | '*') || c.is_whitespace() || c.is_control();
    !text.starts_with('|')
        && !text.contains(special)
        && text.split(SEPARATORS).all(|part| range(part).is_none())
}

fn ranges(numbers: &BTreeSet<u64>) -> Vec<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let write = |(first, last): (u64, u64)| {
        if last - first + 1 >= RUN_MIN {
            return vec![format!("{first}..{last}")];
        }
        (first..=last).map(|number| number.to_string()).collect()
    };
    runs.into_iter().flat_map(write).collect()
}

/// The words for sorted `rests`: those with the same first part, up to a separator, share it.
fn alternatives(rests: &[&str], depth: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut todo = rests;
    while let Some(&first) = todo.first() {
        let part = first.find(SEPARATORS).and_then(|at| first.get(..=at)).unwrap_or_default();
        let group = todo.iter().take_while(|rest| !part.is_empty() && rest.starts_with(part)).count();
        let (own, behind) = todo.split_at_checked(group.max(1)).unwrap_or((todo, &[]));
        todo = behind;
        if own.len() == 1 || depth == DEPTH_MAX {
            words.extend(own.iter().map(|&rest| rest.to_owned()));
            continue;
        }
        let shared = shared_parts(own);
        let inner: Vec<&str> = own.iter().filter_map(|rest| rest.get(shared.len()..)).collect();
        words.push(format!("{shared}{{{}}}", alternatives(&inner, depth + 1).join(" ")));
    }
    words
}

/// The longest beginning up to a separator that all of `rests` have.
fn shared_parts<'t>(rests: &[&'t str]) -> &'t str {
    let (Some(&first), Some(&last)) = (rests.first(), rests.last()) else { return "" };
    // Of sorted strings the first and the last differ soonest.
    let same = first.bytes().zip(last.bytes()).take_while(|(one, two)| one == two).count();
    let end = first.bytes().take(same).rposition(|byte| SEPARATORS.contains(&char::from(byte)));
    end.and_then(|end| first.get(..=end)).unwrap_or_default()
}

struct Reader<'t, 's> {
    rest: &'t str,
    strings: &'s mut BTreeSet<String>,
}

impl Reader<'_, '_> {
    /// Reads words up to the end of the line, or inside braces to their end.
    fn alternatives(&mut self, prefix: &str, depth: usize) -> Result<(), Malformed> {
        if depth > DEPTH_MAX {
            return Err(Malformed::Depth);
        }
        loop {
            let end = self.rest.find([' ', '{', '}']).unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
            self.rest = rest;
            if self.take('{') {
                self.alternatives(&format!("{prefix}{word}"), depth + 1)?;
                if !(self.rest.is_empty() || self.rest.starts_with([' ', '}'])) {
                    return Err(Malformed::Brace);
                }
            } else {
                self.string(prefix, word)?;
            }
            if self.take(' ') {
                continue;
            }
            return match (self.take('}'), depth) {
                (true, 0) | (false, 1..) => Err(Malformed::Brace),
                (true, 1..) | (false, 0) => Ok(()),
            };
        }
    }

    fn take(&mut self, char: char) -> bool {
        let rest = self.rest.strip_prefix(char);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn string(&mut self, prefix: &str, word: &str) -> Result<(), Malformed> {
        if let Some((first, last)) = range(word).filter(|_| prefix.is_empty()) {
            let room = STRINGS_MAX.saturating_sub(self.strings.len());
            let len = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
            if len > room {
                return Err(Malformed::Length);
            }
            self.strings.extend((first..=last).map(|number| number.to_string()));
        } else if !(prefix.is_empty() && word.is_empty()) {
            self.strings.insert(format!("{prefix}{word}"));
        }
        if self.strings.len() > STRINGS_MAX { Err(Malformed::Length) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn owned(set: &BTreeSet<&str>) -> BTreeSet<String> {
        set.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn beginnings_are_shared_up_to_a_slash() {
        let list = |texts: &[&'static str]| encode(&texts.iter().copied().collect());
        assert_eq!(list(&["/a/", "/a/b/c", "/a/b/d", "/x"]), "/{a/{ b/{c d}} x}");
        assert_eq!(list(&[r"C:\a\b.rs", r"C:\a\c.rs", r"C:\d"]), r"C:\{a\{b.rs c.rs} d}");
        assert_eq!(list(&["src/a.rs"]), "src/a.rs");
        assert_eq!(list(&["foo", "fooBar"]), "foo fooBar");
        assert_eq!(list(&["1", "2", "9", "10", "11", "012"]), "1 2 9..11 012");
    }

    #[test]
    fn what_would_read_as_something_else_stands_alone() {
        for text in ["a{b", "a}b", "a,b", "x*", "a b", "| a", "|", "3..6", "a/3..6", "\u{2028}"] {
            let set = BTreeSet::from([text, "plain"]);
            assert_eq!(encode(&set), format!("plain\n| {text}"));
            assert_eq!(expand(&encode(&set)).unwrap(), owned(&set));
        }
        assert_eq!(encode(&BTreeSet::from(["", "a\nb"])), "");
    }

    #[test]
    fn broken_lists_are_named() {
        for text in ["a{b", "a}", "a{b}c", "}"] {
            assert_eq!(expand(text), Err(Malformed::Brace), "{text}");
        }
        assert_eq!(expand(&"a{".repeat(1_000)), Err(Malformed::Depth));
        assert_eq!(expand("1..99999999999"), Err(Malformed::Length));
    }

    proptest! {
        #[test]
        fn a_list_reads_back_as_what_was_written(
            set in prop::collection::btree_set("[a-c/. 0-3{},|*\\\\é\n-]{0,9}", 0..40),
        ) {
            let set: BTreeSet<&str> = set.iter().map(String::as_str).collect();
            let listable = set.iter().copied().filter(|text| is_listable(text)).collect();
            prop_assert_eq!(expand(&encode(&set)), Ok(owned(&listable)));
        }

        #[test]
        fn reading_never_panics(text in "[a-c {}.0-9|\n]{0,60}") {
            expand(&text).ok();
        }
    }
}
