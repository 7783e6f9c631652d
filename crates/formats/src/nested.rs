//! A JSON text that is spelled inside a string literal: read in place, with the bytes of the source.

use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Arguments, Encoding, TextRange};

use crate::json::{Offsets, Tape, Value};

/// The JSON text inside one string literal.
#[derive(Debug)]
pub(crate) struct Nested {
    text: String,
    offsets: Offsets,
    tape: Tape,
    /// Where the inside of the literal stands in the source.
    base: u64,
}

impl Nested {
    /// The JSON text that the string `literal` spells; `None` where it spells none.
    pub(crate) fn of(literal: Value<'_>) -> Option<Self> {
        let inside = literal.text_range()?.range;
        let raw = literal.raw();
        let (text, offsets) = Offsets::of(raw.get(1..raw.len().saturating_sub(1))?);
        let mut tape = Tape::new();
        let end = tape.scan(text.as_bytes()).ok()?;
        let whole = text.as_bytes().get(end..)?.trim_ascii().is_empty();
        whole.then_some(Self { text, offsets, tape, base: inside.start() })
    }

    /// The value; its ranges are those of the decoded text.
    pub(crate) fn root(&self) -> Option<Value<'_>> {
        self.tape.root(self.text.as_bytes(), 0)
    }

    /// Where a value stands in the source.
    pub(crate) fn range(&self, value: Value<'_>) -> ByteRange {
        self.spelled(value.range())
    }

    /// Where the text of a string stands in the source.
    pub(crate) fn text(&self, value: Value<'_>) -> Option<TextRange> {
        let inside = value.text_range()?.range;
        Some(TextRange { range: self.spelled(inside), encoding: Encoding::JsonInJson })
    }

    /// Where a value stands that is the arguments of a call.
    pub(crate) fn arguments(&self, value: Value<'_>) -> Arguments {
        match self.text(value) {
            Some(text) => Arguments::JsonInJson(text.range),
            None => Arguments::JsonInString(self.range(value)),
        }
    }

    fn spelled(&self, decoded: ByteRange) -> ByteRange {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let wide = |offset: usize| u64::try_from(offset).unwrap_or(u64::MAX);
        let start = self.offsets.raw(at(decoded.start()));
        let end = if decoded.is_empty() { start } else { self.offsets.raw_end(at(decoded.end())).max(start) };
        ByteRange::new(wide(start), wide(end)).shifted(self.base)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::write_string;

    fn check(key: &str, said: &str) {
        let mut inner = b"[{".to_vec();
        write_string(&mut inner, key);
        inner.push(b':');
        write_string(&mut inner, said);
        inner.extend_from_slice(b"}, {\"a\": [1]}]");
        let mut source = b"  ".to_vec();
        write_string(&mut source, std::str::from_utf8(&inner).unwrap());
        let mut tape = Tape::new();
        tape.scan(&source).unwrap();
        let nested = Nested::of(tape.root(&source, 0).unwrap()).unwrap();
        let root = nested.root().unwrap();
        let text = root.elements().next().unwrap().get(key).unwrap();
        assert_eq!(crate::content::text(&source, nested.text(text).unwrap()).unwrap(), said);
        let last = root.elements().nth(1).unwrap();
        assert_eq!(nested.range(last).of(&source).unwrap(), br#"{\"a\": [1]}"#);
        let tree = crate::content::arguments(&source, nested.arguments(last)).unwrap();
        assert_eq!(tree.string("/a/0"), Some("1"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn texts_and_places_come_back(key in "[a-z\"\\\\é]{1,6}", said in "\\PC{0,20}[\"\\\\\n]?\\PC{0,9}") {
            check(&key, &said);
        }
    }
}
