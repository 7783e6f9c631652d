//! Making blocks: what every adapter does with texts, results and times.

use memchr::memmem;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{
    Block, BlockKind, Encoding, Finding, Level, Record, RecordKind, Speaker, TextRange, Visibility,
};

use crate::json::{self, Kind, Value};

/// The size from which a fence in a user's message is a paste of its own, in bytes of decoded text: about 400 tokens.
pub const PASTE_BYTES_MIN: usize = 1600;

/// A block without text that would be sent.
pub(crate) fn block(kind: BlockKind, value: Value<'_>, pointer: String, speaker: Speaker) -> Block {
    Block {
        kind,
        range: value.range(),
        pointer,
        speaker,
        visibility: Visibility::Context,
        copy_of: None,
        text: Vec::new(),
    }
}

/// A text block: `text` is the string, `whole` the value the block takes up.
pub(crate) fn text_block(whole: Value<'_>, text: Value<'_>, pointer: String, speaker: Speaker) -> Block {
    Block { text: text.text_range().into_iter().collect(), ..block(BlockKind::Text, whole, pointer, speaker) }
}

/// The bytes of a value taken as plain text, for values that are data and not strings.
pub(crate) fn plain_text(value: Value<'_>) -> TextRange {
    value.text_range().unwrap_or(TextRange { range: value.range(), encoding: Encoding::Plain })
}

/// The instant a string names.
pub(crate) fn time_of(value: Value<'_>) -> Option<Timestamp> {
    let instant: jiff::Timestamp = value.string()?.parse().ok()?;
    Some(Timestamp::from_ms(instant.as_millisecond()))
}

/// An owned string member.
pub(crate) fn owned(value: Value<'_>, key: &str) -> Option<String> {
    value.string_at(key).map(std::borrow::Cow::into_owned)
}

/// Where the texts of a content stand: a string, or the `text` of a list's parts.
pub(crate) fn content_texts(content: Value<'_>) -> Vec<TextRange> {
    match content.kind() {
        Kind::String => content.text_range().into_iter().collect(),
        Kind::Array => content
            .elements()
            .filter_map(|part| if part.kind() == Kind::String { Some(part) } else { part.get("text") })
            .filter_map(Value::text_range)
            .collect(),
        Kind::Null | Kind::True | Kind::False | Kind::Number | Kind::Object => Vec::new(),
    }
}

/// A user's text: prose, with each long fence as a paste of its own. `whole` is the value it takes up.
pub(crate) fn user_text(whole: Value<'_>, text: Value<'_>, pointer: &str, out: &mut Vec<Block>) {
    let fences = if text.raw().len() > PASTE_BYTES_MIN {
        long_fences(&text.string().unwrap_or_default())
    } else {
        Vec::new()
    };
    let Some(inside) = text.text_range().filter(|_| !fences.is_empty()) else {
        out.push(text_block(whole, text, pointer.to_owned(), Speaker::User));
        return;
    };
    let raw = text.raw().get(1..).unwrap_or_default();
    let mut at = 0;
    let end = inside.range.len();
    for fence in fences {
        let fence = json::raw_within(raw, fence);
        let (from, to) = (wide(fence.start).min(end), wide(fence.end).min(end));
        push_part(out, BlockKind::Text, inside, at..from, pointer);
        push_part(out, BlockKind::Paste, inside, from..to, pointer);
        at = to;
    }
    push_part(out, BlockKind::Text, inside, at..end, pointer);
}

/// Pushes the part `within` the inside of a string literal as a block of its own.
pub(crate) fn push_part(
    out: &mut Vec<Block>,
    kind: BlockKind,
    inside: TextRange,
    within: std::ops::Range<u64>,
    pointer: &str,
) {
    push_said(out, (kind, Speaker::User), inside, within, pointer);
}

/// Pushes what somebody says in the part `within` a text as a block of its own; an empty part is none.
pub(crate) fn push_said(
    out: &mut Vec<Block>,
    (kind, speaker): (BlockKind, Speaker),
    inside: TextRange,
    within: std::ops::Range<u64>,
    pointer: &str,
) {
    if within.start >= within.end {
        return;
    }
    let range = ByteRange::new(within.start, within.end).shifted(inside.range.start());
    out.push(Block {
        kind,
        range,
        pointer: pointer.to_owned(),
        speaker,
        visibility: Visibility::Context,
        copy_of: None,
        text: vec![TextRange { range, encoding: inside.encoding }],
    });
}

/// The bytes, inside the literal of the string `text`, that spell a part of its decoded text.
pub(crate) fn raw_part(text: Value<'_>, decoded: std::ops::Range<usize>) -> std::ops::Range<u64> {
    let raw = text.raw();
    let raw = json::raw_within(raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default(), decoded);
    wide(raw.start)..wide(raw.end)
}

fn wide(offset: usize) -> u64 {
    u64::try_from(offset).unwrap_or(u64::MAX)
}

/// The fences of `text` that are longer than [`PASTE_BYTES_MIN`], marker lines included.
fn long_fences(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let bare = line.trim();
        match open {
            None => {
                if let Some(marker) = ["```", "~~~"].into_iter().find(|marker| bare.starts_with(marker)) {
                    open = Some((at, marker));
                }
            }
            Some((start, marker)) if bare == marker => {
                fences.push(start..end);
                open = None;
            }
            Some(_) => {}
        }
        at = end;
    }
    fences.extend(open.map(|(start, _)| start..at));
    fences.retain(|fence| fence.len() > PASTE_BYTES_MIN);
    fences
}

/// The digits before `mark` in raw text, e.g. the 125 of `[125 characters truncated]`.
pub(crate) fn digits_before(raw: &[u8], mark: &str) -> Option<String> {
    memmem::find_iter(raw, mark).find_map(|at| {
        let before = raw.get(..at)?;
        let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let number = before.get(at - digits..).filter(|number| !number.is_empty() && number.len() <= 20)?;
        String::from_utf8(number.to_vec()).ok()
    })
}

/// Makes of `record` one of an unknown kind: `value` stands aside, whole and by name, and the finding says why.
pub(crate) fn unknown(record: &mut Record, value: Value<'_>, pointer: &str, why: String) -> Finding {
    record.kind = RecordKind::Unknown;
    let own = block(BlockKind::Opaque(why.clone()), value, pointer.to_owned(), Speaker::Unknown);
    record.blocks.push(Block { visibility: Visibility::Aside, text: vec![plain_text(value)], ..own });
    finding(Level::Note, "unknown-record", record.line, pointer, why)
}

/// A finding at a place.
pub(crate) fn finding(
    level: Level,
    code: &'static str,
    line: Option<u32>,
    pointer: &str,
    message: String,
) -> Finding {
    Finding { level, code, line, pointer: pointer.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tape;

    fn blocks(text: &str) -> Vec<(BlockKind, String)> {
        let mut raw = b"  ".to_vec();
        json::write_string(&mut raw, text);
        let mut tape = Tape::new();
        tape.scan(&raw).unwrap();
        let value = tape.root(&raw, 0).unwrap();
        let mut out = Vec::new();
        user_text(value, value, "/content", &mut out);
        out.into_iter()
            .map(|block| (block.kind, crate::content::text(&raw, block.text[0]).unwrap()))
            .collect()
    }

    #[test]
    fn a_long_fence_is_a_paste_and_the_prose_around_it_stays_prose() {
        let log = "é\"line\n".repeat(300);
        let text = format!("look:\n```text\n{log}```\nand fix it");
        let parts = blocks(&text);
        assert_eq!(
            parts,
            [
                (BlockKind::Text, "look:\n".to_owned()),
                (BlockKind::Paste, format!("```text\n{log}```\n")),
                (BlockKind::Text, "and fix it".to_owned())
            ]
        );
        let unclosed = blocks(&format!("```\n{log}"));
        assert_eq!(unclosed.len(), 1);
        assert_eq!(unclosed[0].0, BlockKind::Paste);
    }

    #[test]
    fn short_fences_and_long_prose_stay_prose() {
        let prose = "never push to main. ".repeat(200);
        assert_eq!(blocks(&format!("{prose}\n```\nls\n```")).len(), 1);
    }

    #[test]
    fn numbers_before_a_mark_are_found() {
        assert_eq!(
            digits_before(b"x [125 characters truncated]", " characters truncated").as_deref(),
            Some("125")
        );
        assert_eq!(digits_before(b"no characters truncated", " characters truncated"), None);
    }
}
