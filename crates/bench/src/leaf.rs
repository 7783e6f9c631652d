//! Strings of a JSON record, decoded, each with the bytes it was written in.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A decoded JSON string and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The record it stands in, from 1: the line, or the message of a document.
    pub record: u32,
    /// Its JSON pointer inside the record, and inside the string where a string holds JSON.
    pub pointer: String,
    /// The decoded text.
    pub text: String,
    /// Where it is written.
    pub place: Place,
}

/// Where a string is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The bytes of the string in the file, with its quotes.
    token: Range<usize>,
    /// The string inside the decoded outer string, with its quotes.
    inner: Option<Range<usize>>,
}

impl Leaf {
    /// The bytes of `file` in which `part` of the text is written.
    pub fn bytes(&self, file: &[u8], part: Range<usize>) -> Option<Range<usize>> {
        let outer = std::str::from_utf8(file.get(self.place.token.clone())?).ok()?;
        let part = match &self.place.inner {
            None => part,
            Some(inner) => {
                let decoded = decode(outer)?;
                written(decoded.get(inner.clone())?, part, inner.start)?
            }
        };
        written(outer, part, self.place.token.start)
    }
}

/// All strings below `raw`, in order; `base` is the text whose first byte is byte `offset` of the file.
pub fn leaves(base: &str, raw: &RawValue, record: u32, offset: usize) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut walk = Walk { base, record, offset, inside: None, found: &mut found };
    walk.value(raw, &mut String::new());
    found
}

/// The strings of the JSON that `outer` holds as text; none where it holds no object.
pub fn inner_leaves(outer: &Leaf) -> Vec<Leaf> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(&outer.text) else { return Vec::new() };
    if !raw.get().starts_with('{') {
        return Vec::new();
    }
    let mut found = Vec::new();
    let inside = Some((outer.pointer.clone(), outer.place.token.clone()));
    let mut walk = Walk { base: &outer.text, record: outer.record, offset: 0, inside, found: &mut found };
    walk.value(raw, &mut String::new());
    found
}

struct Walk<'a, 'f> {
    base: &'a str,
    record: u32,
    offset: usize,
    inside: Option<(String, Range<usize>)>,
    found: &'f mut Vec<Leaf>,
}

impl<'a> Walk<'a, '_> {
    fn value(&mut self, raw: &'a RawValue, pointer: &mut String) {
        let own = pointer.len();
        match raw.get().as_bytes().first() {
            Some(b'{') => {
                let pairs: Pairs<'a> = serde_json::from_str(raw.get()).unwrap_or_default();
                for (key, value) in pairs.0 {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.value(value, pointer);
                    pointer.truncate(own);
                }
            }
            Some(b'[') => {
                let items: Vec<&'a RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                for (at, value) in items.into_iter().enumerate() {
                    pointer.push('/');
                    pointer.push_str(&at.to_string());
                    self.value(value, pointer);
                    pointer.truncate(own);
                }
            }
            Some(b'"') => self.string(raw.get(), pointer),
            _ => {}
        }
    }

    fn string(&mut self, token: &'a str, pointer: &str) {
        let Some(text) = decode(token) else { return };
        let start = token.as_ptr().addr().saturating_sub(self.base.as_ptr().addr()) + self.offset;
        let own = start..start + token.len();
        let (pointer, place) = match &self.inside {
            None => (pointer.to_owned(), Place { token: own, inner: None }),
            Some((outer, at)) => {
                (format!("{outer}#{pointer}"), Place { token: at.clone(), inner: Some(own) })
            }
        };
        self.found.push(Leaf { record: self.record, pointer, text, place });
    }
}

/// The members of an object in their order, repeated keys included.
#[derive(Default)]
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry::<String, &'de RawValue>()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Decodes a string with its quotes; a lone surrogate becomes U+FFFD.
fn decode(token: &str) -> Option<String> {
    if let Ok(text) = serde_json::from_str(token) {
        return Some(text);
    }
    let mut text = String::new();
    for unit in Units::of(token)? {
        text.push(unit.character);
    }
    Some(text)
}

/// The bytes of `token`, which stands at `offset`, in which `part` of its decoded text is written.
fn written(token: &str, part: Range<usize>, offset: usize) -> Option<Range<usize>> {
    let (mut start, mut end) = (None, None);
    let mut decoded = 0;
    for unit in Units::of(token)? {
        if decoded == part.start {
            start = Some(unit.bytes.start);
        }
        decoded += unit.character.len_utf8();
        if decoded == part.end {
            end = Some(unit.bytes.end);
            break;
        }
    }
    Some(start? + offset..end? + offset)
}

/// One decoded character and its bytes in the token.
struct Unit {
    character: char,
    bytes: Range<usize>,
}

struct Units<'t> {
    body: &'t str,
    at: usize,
}

impl<'t> Units<'t> {
    fn of(token: &'t str) -> Option<Self> {
        let body = token.strip_prefix('"')?.strip_suffix('"')?;
        Some(Self { body, at: 0 })
    }

    /// The four digits at `at`, as a number.
    fn digits(&self, at: usize) -> Option<u32> {
        u32::from_str_radix(self.body.get(at..at + 4)?, 16).ok()
    }

    fn escape(&self) -> (char, usize) {
        let simple = |character| (character, 2);
        match self.body.as_bytes().get(self.at + 1) {
            Some(b'n') => simple('\n'),
            Some(b't') => simple('\t'),
            Some(b'r') => simple('\r'),
            Some(b'b') => simple('\u{8}'),
            Some(b'f') => simple('\u{c}'),
            Some(b'u') => self.unicode(),
            Some(&other) => simple(char::from(other)),
            None => ('\u{fffd}', 1),
        }
    }

    fn unicode(&self) -> (char, usize) {
        let high = self.digits(self.at + 2).unwrap_or(0xfffd);
        let low = self.body.get(self.at + 6..self.at + 8).filter(|&next| next == "\\u");
        let low = low.and_then(|_| self.digits(self.at + 8));
        match (high, low) {
            (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
            }
            _ => (char::from_u32(high).unwrap_or('\u{fffd}'), 6),
        }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        let first = self.body.get(self.at..)?.chars().next()?;
        let (character, len) = if first == '\\' { self.escape() } else { (first, first.len_utf8()) };
        // The opening quote stands before the body.
        let bytes = self.at + 1..self.at + 1 + len;
        self.at += len;
        Some(Unit { character, bytes })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(text: &str, place: Range<usize>) -> &str {
        text.get(place).unwrap()
    }

    fn read(text: &str) -> Vec<Leaf> {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        leaves(text, raw, 1, 0)
    }

    #[test]
    fn strings_are_found_with_their_places() {
        let text = r#"{"a":["x\ny",1],"b/c":{"d":"\ud83d\ude00z"},"lone":"\ud800!"}"#;
        let found = read(text);
        let of = |at: usize| (found[at].pointer.as_str(), found[at].text.as_str());
        assert_eq!(of(0), ("/a/0", "x\ny"));
        assert_eq!(of(1), ("/b~1c/d", "😀z"));
        assert_eq!(of(2), ("/lone", "\u{fffd}!"));
        let place = found[0].bytes(text.as_bytes(), 1..3).unwrap();
        assert_eq!(part(text, place), "\\ny");
        let place = found[1].bytes(text.as_bytes(), 0..4).unwrap();
        assert_eq!(part(text, place), "\\ud83d\\ude00");
    }

    #[test]
    fn json_in_a_string_is_read_through_both_escapes() {
        let inner = serde_json::json!({"cmd": "echo \"hi\"\nls"}).to_string();
        let text = serde_json::json!({"arguments": inner}).to_string();
        let outer = read(&text);
        let found = inner_leaves(&outer[0]);
        assert_eq!(found[0].text, "echo \"hi\"\nls");
        assert_eq!(found[0].pointer, "/arguments#/cmd");
        let place = found[0].bytes(text.as_bytes(), 5..9).unwrap();
        assert_eq!(part(&text, place), r#"\\\"hi\\\""#);
    }

    proptest! {
        #[test]
        fn every_part_is_found_again(words in ".{0,40}") {
            let text = serde_json::json!({ "k": words }).to_string();
            let found = read(&text);
            prop_assert_eq!(&found[0].text, &words);
            for (at, c) in words.char_indices() {
                let place = found[0].bytes(text.as_bytes(), at..at + c.len_utf8()).unwrap();
                let again: String = serde_json::from_str(&format!("\"{}\"", part(&text, place))).unwrap();
                prop_assert_eq!(again, c.to_string());
            }
        }
    }
}
