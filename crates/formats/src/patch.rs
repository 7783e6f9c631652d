//! Edits of byte ranges: everything between them is copied.

use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Arguments, BlockKind, SourceIndex};

use crate::format::Mask;
use crate::json::{Value, write_escaped};

/// Replacements of ranges of one source.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    edits: Vec<(ByteRange, Vec<u8>)>,
}

impl Patch {
    /// Replaces `range`; an edit inside a larger one has no effect.
    pub(crate) fn replace(&mut self, range: ByteRange, bytes: impl Into<Vec<u8>>) {
        self.edits.push((range, bytes.into()));
    }

    /// Replaces the inside of a string literal, or a part of it.
    pub(crate) fn replace_text(&mut self, range: ByteRange, text: &str) {
        let mut bytes = Vec::new();
        write_escaped(&mut bytes, text);
        self.replace(range, bytes);
    }

    /// Inserts before the byte at `at`.
    pub(crate) fn insert(&mut self, at: u64, bytes: impl Into<Vec<u8>>) {
        self.replace(ByteRange::new(at, at), bytes);
    }

    /// Removes the members `gone` (ascending places) of a list, with the commas between.
    pub(crate) fn remove_members(&mut self, members: &[Value<'_>], gone: &[usize]) {
        let mut kept_end = None;
        for (at, member) in members.iter().enumerate() {
            if gone.binary_search(&at).is_err() {
                kept_end = Some(member.range().end());
                continue;
            }
            let range = match (members.get(at + 1), kept_end) {
                (Some(next), _) => ByteRange::new(member.range().start(), next.range().start()),
                (None, Some(end)) => ByteRange::new(end, member.range().end()),
                (None, None) => member.range(),
            };
            self.replace(range, Vec::new());
        }
    }

    /// Hides parts of texts.
    pub(crate) fn mask<'m>(&mut self, index: &SourceIndex, masks: impl Iterator<Item = &'m Mask>) {
        for mask in masks {
            self.replace_text(mask.range, &mask.replacement);
            if lies_in_nested_json(index, mask.range)
                && let Some((_, bytes)) = self.edits.last_mut()
            {
                let once = String::from_utf8_lossy(bytes).into_owned();
                bytes.clear();
                write_escaped(bytes, &once);
            }
        }
    }

    /// Applies the edits to `bytes`, which stand at `base` in their source; edits outside are left out.
    pub(crate) fn apply(mut self, bytes: &[u8], base: u64) -> Vec<u8> {
        self.edits
            .sort_by_key(|(range, _)| (range.start(), !range.is_empty(), std::cmp::Reverse(range.end())));
        let own = ByteRange::new(0, u64::try_from(bytes.len()).unwrap_or(u64::MAX)).shifted(base);
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = base;
        for (range, replacement) in self.edits.iter().filter(|(range, _)| own.contains(*range)) {
            if range.start() < at {
                continue;
            }
            out.extend_from_slice(slice(bytes, base, ByteRange::new(at, range.start())));
            out.extend_from_slice(replacement);
            at = range.end();
        }
        out.extend_from_slice(slice(bytes, base, ByteRange::new(at, own.end())));
        out
    }
}

fn slice(bytes: &[u8], base: u64, range: ByteRange) -> &[u8] {
    ByteRange::new(range.start() - base, range.end() - base).of(bytes).unwrap_or_default()
}

/// Whether a range lies in arguments that are a JSON text inside a string: what stands there is escaped twice.
fn lies_in_nested_json(index: &SourceIndex, range: ByteRange) -> bool {
    let at = index.records.partition_point(|record| record.range.end() <= range.start());
    index.records.get(at).is_some_and(|record| {
        record.blocks.iter().any(|block| match &block.kind {
            BlockKind::Call(facts) => {
                matches!(facts.arguments, Arguments::JsonInString(own) if own.contains(range))
            }
            _ => false,
        })
    })
}

/// The bytes of a record on one line: a line feed in a string, which its writer did not escape, is escaped.
pub(crate) fn one_line(record: Vec<u8>) -> Vec<u8> {
    if !record.contains(&b'\n') {
        return record;
    }
    let mut out = Vec::with_capacity(record.len() + 1);
    for byte in record {
        match byte {
            b'\n' => out.extend_from_slice(br"\n"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tape;

    #[test]
    fn edits_replace_ranges_and_the_rest_is_copied() {
        let mut patch = Patch::default();
        patch.replace(ByteRange::new(12, 14), "XY");
        patch.insert(12, "<");
        patch.replace(ByteRange::new(16, 20), "");
        patch.replace(ByteRange::new(17, 18), "inside a larger one");
        patch.replace(ByteRange::new(90, 95), "elsewhere");
        assert_eq!(patch.apply(b"0123456789", 10), b"01<XY45");
    }

    #[test]
    fn members_are_removed_with_their_commas() {
        let text = b"[1, 2 ,3,  4]";
        let mut tape = Tape::new();
        tape.scan(text).unwrap();
        let members: Vec<_> = tape.root(text, 0).unwrap().elements().collect();
        let without = |gone: &[usize]| {
            let mut patch = Patch::default();
            patch.remove_members(&members, gone);
            String::from_utf8(patch.apply(text, 0)).unwrap()
        };
        assert_eq!(without(&[0]), "[2 ,3,  4]");
        assert_eq!(without(&[1, 2]), "[1, 4]");
        assert_eq!(without(&[2, 3]), "[1, 2]");
        assert_eq!(without(&[0, 1, 2, 3]), "[]");
    }
}
