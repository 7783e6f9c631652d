//! Strings: decoding escapes, mapping decoded offsets back to raw ones, and escaping.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

/// A run of raw bytes and what it decodes to.
struct Unit<'r> {
    raw: Range<usize>,
    decoded: Cow<'r, str>,
    /// Whether decoded bytes stand at the same distance as raw ones.
    verbatim: bool,
}

/// Splits the inside of a string literal into runs without escapes and single escapes.
struct Units<'r> {
    raw: &'r [u8],
    at: usize,
}

impl<'r> Iterator for Units<'r> {
    type Item = Unit<'r>;

    fn next(&mut self) -> Option<Unit<'r>> {
        let start = self.at;
        let rest = self.raw.get(start..).filter(|rest| !rest.is_empty())?;
        let run = memchr(b'\\', rest).unwrap_or(rest.len());
        if run > 0 {
            self.at += run;
            let decoded = String::from_utf8_lossy(rest.get(..run)?);
            let verbatim = matches!(decoded, Cow::Borrowed(_));
            return Some(Unit { raw: start..self.at, decoded, verbatim });
        }
        let (decoded, length) = escape(rest);
        self.at += length;
        Some(Unit { raw: start..self.at, decoded: Cow::Owned(decoded.to_string()), verbatim: false })
    }
}

/// The character of the escape at the start of `raw` and the number of its bytes.
fn escape(raw: &[u8]) -> (char, usize) {
    let simple = match raw.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        Some(b'u') => return unicode_escape(raw),
        Some(byte) if byte.is_ascii() => return (char::REPLACEMENT_CHARACTER, 2),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 2)
}

fn unicode_escape(raw: &[u8]) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = raw.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(high) = unit(2) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if let Some(character) = char::from_u32(high) {
        return (character, 6);
    }
    let low = (raw.get(6..8) == Some(br"\u"))
        .then(|| unit(8))
        .flatten()
        .filter(|low| (0xDC00..0xE000).contains(low));
    match low
        .filter(|_| high < 0xDC00)
        .and_then(|low| char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)))
    {
        Some(character) => (character, 12),
        None => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// Decodes the inside of a string literal; damaged escapes, lone surrogates and invalid UTF-8 become U+FFFD.
pub fn decode(raw: &[u8]) -> Cow<'_, str> {
    if memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw);
    }
    let mut text = String::with_capacity(raw.len());
    for unit in (Units { raw, at: 0 }) {
        text.push_str(&unit.decoded);
    }
    Cow::Owned(text)
}

/// Decodes plain bytes; invalid UTF-8 becomes U+FFFD.
pub fn decode_plain(raw: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(raw)
}

/// The raw bytes, inside a string literal, behind the range `decoded` of its decoded text. An escape is taken as a
/// whole.
pub fn raw_within(raw: &[u8], decoded: Range<usize>) -> Range<usize> {
    let mut at = 0;
    let mut start = None;
    for unit in (Units { raw, at: 0 }) {
        let end = at + unit.decoded.len();
        if start.is_none() && decoded.start < end {
            start = Some(if unit.verbatim { unit.raw.start + (decoded.start - at) } else { unit.raw.start });
        }
        if let Some(start) = start
            && decoded.end <= end
        {
            if decoded.end <= decoded.start {
                return start..start;
            }
            return start..if unit.verbatim { unit.raw.start + (decoded.end - at) } else { unit.raw.end };
        }
        at = end;
    }
    start.unwrap_or(raw.len())..raw.len()
}

/// Where the bytes of a decoded string stand in the inside of its literal: for many look-ups in one string.
#[derive(Debug)]
pub(crate) struct Offsets {
    /// For each run: where it begins decoded and raw, and whether its bytes stand at the same distance.
    runs: Vec<(usize, usize, bool)>,
    end: usize,
}

impl Offsets {
    /// The decoded string and its offsets.
    pub(crate) fn of(raw: &[u8]) -> (String, Self) {
        let mut text = String::with_capacity(raw.len());
        let mut runs = Vec::new();
        for unit in (Units { raw, at: 0 }) {
            runs.push((text.len(), unit.raw.start, unit.verbatim));
            text.push_str(&unit.decoded);
        }
        (text, Self { runs, end: raw.len() })
    }

    /// Where the raw bytes of the decoded offset `at` begin; inside of an escape, where the escape begins.
    pub(crate) fn raw(&self, at: usize) -> usize {
        let next = self.runs.partition_point(|(decoded, _, _)| *decoded <= at);
        let Some((decoded, raw, verbatim)) = next.checked_sub(1).and_then(|run| self.runs.get(run)) else {
            return 0;
        };
        let end = self.runs.get(next).map_or(self.end, |(_, raw, _)| *raw);
        let inside = if *verbatim { at - decoded } else { 0 };
        (raw + inside).min(end)
    }

    /// Where the raw bytes of what is decoded before `at` end.
    pub(crate) fn raw_end(&self, at: usize) -> usize {
        let next = self.runs.partition_point(|(decoded, _, _)| *decoded < at);
        let Some((decoded, raw, verbatim)) = next.checked_sub(1).and_then(|run| self.runs.get(run)) else {
            return 0;
        };
        let end = self.runs.get(next).map_or(self.end, |(_, raw, _)| *raw);
        if *verbatim { (raw + (at - decoded)).min(end) } else { end }
    }
}

/// Appends `text` as the inside of a string literal.
pub fn write_escaped(out: &mut Vec<u8>, text: &str) {
    for &byte in text.as_bytes() {
        match byte {
            b'"' => out.extend_from_slice(br#"\""#),
            b'\\' => out.extend_from_slice(br"\\"),
            b'\n' => out.extend_from_slice(br"\n"),
            b'\r' => out.extend_from_slice(br"\r"),
            b'\t' => out.extend_from_slice(br"\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}

/// Appends `text` as a string literal.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}
