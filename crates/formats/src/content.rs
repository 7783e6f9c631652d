//! Decoding texts and arguments from the bytes of a source.

use std::borrow::Cow;
use std::ops::Range;

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Argument, ArgumentTree, Arguments, Bytes, Encoding, Scalar, TextRange};

use crate::json::{self, Kind, Tape, Value};

/// The most bytes of pointers and scalars an argument tree holds; a call with more is `malformed`.
pub const ARGUMENT_BYTES_MAX: usize = 64 << 20;

/// Decodes a text; damaged escapes and lone surrogates become U+FFFD.
///
/// # Errors
/// As [`Bytes::read`].
pub fn text(source: &dyn Bytes, range: TextRange) -> Result<String> {
    Ok(decoded(&source.read(range.range)?, range.encoding).into_owned())
}

/// The text that `bytes` spell.
fn decoded(bytes: &[u8], encoding: Encoding) -> Cow<'_, str> {
    match encoding {
        Encoding::Plain => json::decode_plain(bytes),
        Encoding::Json => json::decode(bytes),
        Encoding::JsonInJson => Cow::Owned(json::decode(json::decode(bytes).as_bytes()).into_owned()),
        Encoding::Pieces(path) => {
            let pieces = pieces(bytes, path).into_iter();
            let text: String =
                pieces.map(|piece| json::decode(bytes.get(piece).unwrap_or_default())).collect();
            Cow::Owned(text)
        }
    }
}

/// The raw bytes behind `decoded`, a range of bytes of the decoded text of `range`. An escape is taken as a whole.
///
/// # Errors
/// As [`Bytes::read`].
pub fn raw_range(source: &dyn Bytes, range: TextRange, decoded: Range<usize>) -> Result<ByteRange> {
    let bytes = source.read(range.range)?;
    Ok(within(range.range, &raw_of(&bytes, range.encoding, decoded)))
}

/// The raw bytes behind `decoded`, a range of bytes of the decoded string at `pointer` inside the arguments of a
/// call; `None` where no string stands there.
///
/// # Errors
/// As [`Bytes::read`].
pub fn argument_range(
    source: &dyn Bytes,
    at: Arguments,
    pointer: &str,
    part: Range<usize>,
) -> Result<Option<ByteRange>> {
    let Some(TextRange { range, encoding }) = at.text() else { return Ok(None) };
    let bytes = source.read(range)?;
    let inner = match at {
        Arguments::Json(_) => string_inside(&bytes, pointer, part),
        Arguments::JsonInString(_) | Arguments::JsonInJson(_) | Arguments::Pieces(..) => {
            in_spelled(&bytes, encoding, pointer, part)
        }
        Arguments::Text(_) | Arguments::Plain(_) | Arguments::Missing => Some(raw_of(&bytes, encoding, part)),
    };
    Ok(inner.map(|inner| within(range, &inner)))
}

/// Decodes the arguments of a call. The range of a string is the inside of its literal, without quotes.
///
/// # Errors
/// As [`Bytes::read`].
pub fn arguments(source: &dyn Bytes, at: Arguments) -> Result<ArgumentTree> {
    Ok(match at {
        Arguments::Missing => ArgumentTree::default(),
        Arguments::Text(range) => whole_text(json::decode(&source.read(range)?), range),
        Arguments::Plain(range) => whole_text(json::decode_plain(&source.read(range)?), range),
        Arguments::Json(range) => {
            let bytes = source.read(range)?;
            flatten(&bytes, Base::Source(range.start()))
                .unwrap_or_else(|| malformed(json::decode_plain(&bytes), range))
        }
        Arguments::JsonInString(range) | Arguments::JsonInJson(range) | Arguments::Pieces(range, _) => {
            let text = at.text().map(|spelled| text(source, spelled)).transpose()?.unwrap_or_default();
            if text.trim().is_empty() {
                return Ok(ArgumentTree::default());
            }
            flatten(text.as_bytes(), Base::Whole(range))
                .unwrap_or_else(|| malformed(Cow::Borrowed(text.as_str()), range))
        }
    })
}

fn within(outer: ByteRange, inner: &Range<usize>) -> ByteRange {
    ByteRange::new(wide(inner.start), wide(inner.end)).shifted(outer.start())
}

fn wide(offset: usize) -> u64 {
    u64::try_from(offset).unwrap_or(u64::MAX)
}

fn raw_of(bytes: &[u8], encoding: Encoding, decoded: Range<usize>) -> Range<usize> {
    match encoding {
        Encoding::Json => json::raw_within(bytes, decoded),
        Encoding::JsonInJson => {
            json::raw_within(bytes, json::raw_within(json::decode(bytes).as_bytes(), decoded))
        }
        Encoding::Pieces(path) => in_pieces(bytes, path, decoded),
        Encoding::Plain => {
            let end = decoded.end.min(bytes.len());
            decoded.start.min(end)..end
        }
    }
}

/// The pieces of a text that stands on several lines: where the insides of their literals are.
fn pieces(bytes: &[u8], path: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut tape = Tape::new();
    let mut at = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
        let object = line.get(start..).unwrap_or_default();
        if tape.scan(object).is_ok()
            && let Some(piece) =
                tape.root(object, wide(at + start)).and_then(|root| root.path(path)?.text_range())
        {
            let narrow = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            found.push(narrow(piece.range.start())..narrow(piece.range.end()));
        }
        at += line.len() + 1;
    }
    found
}

/// The raw bytes behind a part of a text in pieces: from where it begins in one to where it ends in another.
fn in_pieces(bytes: &[u8], path: &[&str], decoded: Range<usize>) -> Range<usize> {
    let mut before = 0;
    let mut start = None;
    let mut end = 0;
    for piece in pieces(bytes, path) {
        let raw = bytes.get(piece.clone()).unwrap_or_default();
        let len = json::decode(raw).len();
        let part = decoded.start.saturating_sub(before).min(len)..decoded.end.saturating_sub(before).min(len);
        let own = json::raw_within(raw, part.clone());
        if decoded.start < before + len {
            start.get_or_insert(piece.start + own.start);
        }
        if part.end > 0 || start.is_none() {
            end = piece.start + own.end;
        }
        before += len;
        if start.is_some() && decoded.end <= before {
            break;
        }
    }
    let start = start.unwrap_or(end);
    start..end.max(start)
}

/// The raw bytes of a part of the decoded string at `pointer` in the JSON text that `bytes` spell.
fn in_spelled(bytes: &[u8], encoding: Encoding, pointer: &str, part: Range<usize>) -> Option<Range<usize>> {
    let text = decoded(bytes, encoding);
    let inner = string_inside(text.as_bytes(), pointer, part.clone())
        .or_else(|| pointer.is_empty().then_some(part))?;
    Some(raw_of(bytes, encoding, inner))
}

/// The raw bytes, in the JSON text `bytes`, of a part of the decoded string at `pointer`.
fn string_inside(bytes: &[u8], pointer: &str, decoded: Range<usize>) -> Option<Range<usize>> {
    let mut tape = Tape::new();
    tape.scan(bytes).ok()?;
    let literal = tape.root(bytes, 0)?.pointer(pointer)?.text_range()?.range;
    let inner = json::raw_within(literal.of(bytes)?, decoded);
    let start = usize::try_from(literal.start()).ok()?;
    Some(start + inner.start..start + inner.end)
}

fn whole_text(text: Cow<'_, str>, range: ByteRange) -> ArgumentTree {
    let value = Scalar::String(text.into_owned());
    ArgumentTree { leaves: vec![Argument { pointer: String::new(), value, range }], malformed: false }
}

fn malformed(text: Cow<'_, str>, range: ByteRange) -> ArgumentTree {
    ArgumentTree { malformed: true, ..whole_text(text, range) }
}

/// What the ranges of leaves refer to.
#[derive(Clone, Copy)]
enum Base {
    /// The scanned bytes stand at this offset of the source.
    Source(u64),
    /// The scanned bytes were decoded from this range.
    Whole(ByteRange),
}

/// Flattens the JSON text `bytes`; `None` where it is none or too large.
fn flatten(bytes: &[u8], base: Base) -> Option<ArgumentTree> {
    let mut tape = Tape::new();
    let end = tape.scan(bytes).ok()?;
    if !bytes.get(end..)?.trim_ascii().is_empty() {
        return None;
    }
    let start = match base {
        Base::Source(start) => start,
        Base::Whole(_) => 0,
    };
    let mut leaves: Vec<Argument> = Vec::new();
    let mut size = 0;
    let mut todo = vec![(tape.root(bytes, start)?, String::new())];
    while let Some((value, pointer)) = todo.pop() {
        size += pointer.len() + 1;
        let children = children_of(value, &pointer, ARGUMENT_BYTES_MAX.checked_sub(size)?)?;
        if children.is_empty() {
            size += value.raw().len();
            leaves.push(leaf(value, pointer, base));
        }
        todo.extend(children.into_iter().rev());
    }
    Some(ArgumentTree { leaves, malformed: false })
}

/// The members of `value` with their pointers; `None` when these take more than `budget` bytes.
fn children_of<'t>(value: Value<'t>, pointer: &str, mut budget: usize) -> Option<Vec<(Value<'t>, String)>> {
    let mut children = Vec::new();
    let mut add = |token: &str, member: Value<'t>| {
        budget = budget.checked_sub(pointer.len() + token.len() + 1)?;
        children.push((member, format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))));
        Some(())
    };
    for (at, member) in value.elements().enumerate() {
        add(&at.to_string(), member)?;
    }
    for (key, member) in value.entries() {
        add(&key.string()?, member)?;
    }
    Some(children)
}

fn leaf(value: Value<'_>, pointer: String, base: Base) -> Argument {
    let range = match base {
        Base::Whole(range) => range,
        Base::Source(_) => value.text_range().map_or(value.range(), |text| text.range),
    };
    let scalar = match value.kind() {
        Kind::Null | Kind::Array | Kind::Object => Scalar::Null,
        Kind::True => Scalar::Bool(true),
        Kind::False => Scalar::Bool(false),
        Kind::Number => Scalar::Number(json::decode_plain(value.raw()).into_owned()),
        Kind::String => Scalar::String(value.string().unwrap_or_default().into_owned()),
    };
    Argument { pointer, value: scalar, range }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> ByteRange {
        ByteRange::new(0, wide(bytes.len()))
    }

    #[test]
    fn arguments_are_flattened_in_order_with_their_bytes() {
        let source = br#"{"edits":[{"old":"a\nb","n":1.0}],"x/y":true,"none":[],"z":null}"#;
        let tree = arguments(&source.to_vec(), Arguments::Json(all(source))).unwrap();
        let pointers: Vec<&str> = tree.leaves.iter().map(|leaf| leaf.pointer.as_str()).collect();
        assert_eq!(pointers, ["/edits/0/old", "/edits/0/n", "/x~1y", "/none", "/z"]);
        assert_eq!(tree.string("/edits/0/old"), Some("a\nb"));
        assert_eq!(tree.string("/edits/0/n"), Some("1.0"));
        assert_eq!(tree.leaves[0].range.of(source).unwrap(), br"a\nb");
        assert!(!tree.malformed);
    }

    #[test]
    fn a_json_text_in_a_string_is_decoded_twice_and_mapped_back() {
        let source = br#"{\"cmd\":\"echo \\\"hi\\\" \u00e9\"}"#;
        let at = Arguments::JsonInString(all(source));
        let tree = arguments(&source.to_vec(), at).unwrap();
        assert_eq!(tree.string("/cmd"), Some("echo \"hi\" é"));
        let raw = argument_range(&source.to_vec(), at, "/cmd", 5..9).unwrap().unwrap();
        assert_eq!(raw.of(source).unwrap(), br#"\\\"hi\\\""#);
    }

    #[test]
    fn a_json_text_in_two_strings_is_decoded_and_mapped_back() {
        let source = br#"{\\\"cmd\\\": \\\"rm a\\\"}"#.to_vec();
        let at = Arguments::JsonInJson(all(&source));
        let tree = arguments(&source, at).unwrap();
        assert_eq!(tree.string("/cmd"), Some("rm a"), "{tree:?}");
        let raw = argument_range(&source, at, "/cmd", 3..4).unwrap().unwrap();
        assert_eq!(raw.of(&source).unwrap(), b"a");
        let said = br"one\\ntwo \\u00e9".to_vec();
        let range = TextRange { range: all(&said), encoding: Encoding::JsonInJson };
        assert_eq!(text(&said, range).unwrap(), "one\ntwo é");
        let raw = raw_range(&said, range, 3..7).unwrap();
        assert_eq!(raw.of(&said).unwrap(), br"\\ntwo");
    }

    #[test]
    fn a_text_in_pieces_is_joined_and_mapped_back() {
        let lines = b"{\"delta\":\"{\\\"cmd\\\": \\\"r\"}\n\ndata: {\"a\":1}\ndata: {\"delta\":\"m x\\u00e9\"}\n{\"delta\":\"\\\"}\"}".to_vec();
        let range = TextRange { range: all(&lines), encoding: Encoding::Pieces(&["delta"]) };
        assert_eq!(text(&lines, range).unwrap(), r#"{"cmd": "rm xé"}"#);
        let at = Arguments::Pieces(all(&lines), &["delta"]);
        assert_eq!(arguments(&lines, at).unwrap().string("/cmd"), Some("rm xé"));
        let raw = argument_range(&lines, at, "/cmd", 2..4).unwrap().unwrap();
        assert_eq!(raw.of(&lines).unwrap(), b" x");
        let raw = raw_range(&lines, range, 9..11).unwrap();
        assert!(raw.of(&lines).unwrap().starts_with(b"r\"}") && raw.of(&lines).unwrap().ends_with(b"\"m"));
    }

    #[test]
    fn what_is_not_json_is_kept_whole_and_marked() {
        let source = br#"{\"cmd\": oops"#;
        let tree = arguments(&source.to_vec(), Arguments::JsonInString(all(source))).unwrap();
        assert!(tree.malformed);
        assert_eq!(tree.string(""), Some("{\"cmd\": oops"));
        let empty = arguments(&Vec::new(), Arguments::JsonInString(ByteRange::new(0, 0))).unwrap();
        assert_eq!(empty, ArgumentTree::default());
    }

    #[test]
    fn pointers_that_would_outgrow_the_limit_make_arguments_malformed() {
        let key = "k".repeat(1 << 20);
        let source = format!("{{\"{key}\":[{}1]}}", "1,".repeat(100)).into_bytes();
        let tree = arguments(&source, Arguments::Json(all(&source))).unwrap();
        assert!(tree.malformed);
        assert_eq!(tree.leaves.len(), 1);
    }

    #[test]
    fn text_is_decoded_and_mapped() {
        let source = br"say \u00e9 \ud800!".to_vec();
        let range = TextRange { range: all(&source), encoding: Encoding::Json };
        assert_eq!(text(&source, range).unwrap(), "say é \u{fffd}!");
        assert_eq!(raw_range(&source, range, 4..6).unwrap(), ByteRange::new(4, 10));
        assert!(text(&source, TextRange { range: ByteRange::new(0, 99), ..range }).is_err());
    }
}
