//! Notes of blocks: which states of sources stand in a block, and where their texts are.

use strongroom_core::digest::{Digest, SourceId};
use strongroom_search::wire;

/// Names a state of a source: the source, and the number of its revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct StateKey {
    pub(super) source: SourceId,
    pub(super) number: u32,
}

/// What is known of a state as a whole; it stands with its first block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Info {
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) records: u64,
    pub(super) holes: Vec<Hole>,
}

/// What of a source cannot be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// What is wrong with it.
    pub kind: HoleKind,
    /// The 1-based line, where it is known.
    pub line: Option<u32>,
    /// Why, in words.
    pub why: String,
}

/// What is wrong with what cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoleKind {
    /// Originals that were deleted, erased or damaged, or are missing.
    Gone,
    /// Bytes that were taken out by order.
    Redacted,
    /// Originals that the cold tier keeps, which does not answer.
    Away,
    /// Records, or a whole source, that could not be read.
    Unreadable,
    /// Records whose content is sealed or not understood.
    Opaque,
}

/// All kinds with their words, in the order of their numbers in notes.
const KINDS: [(HoleKind, &str); 5] = [
    (HoleKind::Gone, "original gone"),
    (HoleKind::Redacted, "redacted"),
    (HoleKind::Away, "out of reach"),
    (HoleKind::Unreadable, "unreadable"),
    (HoleKind::Opaque, "sealed or not understood"),
];

impl HoleKind {
    /// The words in output.
    pub fn words(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, words)| words)
    }
}

/// The part of a block that holds texts of one state.
#[derive(Debug, Clone)]
pub(super) struct Section<'n> {
    pub(super) key: StateKey,
    /// How many texts of the state stand in this block.
    pub(super) texts: u64,
    info: &'n [u8],
    /// The units, for [`super::unit::UnitReader`].
    pub(super) units: &'n [u8],
}

/// Appends a section to the note of a block: a part of a state, its number of texts, and where they stand.
pub(super) fn put_section(
    note: &mut Vec<u8>,
    key: StateKey,
    info: Option<&Info>,
    (texts, units): (u64, &[u8]),
) {
    note.extend_from_slice(key.source.digest().as_bytes());
    wire::put(note, u64::from(key.number));
    wire::put(note, texts);
    wire::put_bytes(note, &info.map(Info::encoded).unwrap_or_default());
    wire::put_bytes(note, units);
}

/// The sections of a note.
pub(super) fn sections(mut note: &[u8]) -> impl Iterator<Item = Section<'_>> {
    std::iter::from_fn(move || {
        let (source, rest) = note.split_first_chunk::<32>()?;
        note = rest;
        let source = SourceId::new(Digest::from_bytes(*source));
        let number = u32::try_from(wire::take(&mut note)?).ok()?;
        let texts = wire::take(&mut note)?;
        let info = wire::take_bytes(&mut note)?;
        let units = wire::take_bytes(&mut note)?;
        Some(Section { key: StateKey { source, number }, texts, info, units })
    })
}

impl Section<'_> {
    /// What is known of the state, where this is its first section.
    pub(super) fn info(&self) -> Option<Info> {
        Info::decoded(self.info)
    }
}

fn take_text(bytes: &mut &[u8]) -> Option<String> {
    str::from_utf8(wire::take_bytes(bytes)?).ok().map(str::to_owned)
}

impl Info {
    fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // No name is empty.
        for name in [&self.session, &self.agent] {
            wire::put_bytes(&mut out, name.as_deref().unwrap_or_default().as_bytes());
        }
        wire::put(&mut out, self.records);
        for hole in &self.holes {
            let kind = KINDS.iter().position(|(kind, _)| *kind == hole.kind).unwrap_or(0);
            wire::put(&mut out, kind as u64);
            wire::put(&mut out, hole.line.map_or(0, |line| u64::from(line) + 1));
            wire::put_bytes(&mut out, hole.why.as_bytes());
        }
        out
    }

    fn decoded(mut bytes: &[u8]) -> Option<Self> {
        let (session, agent) = (take_text(&mut bytes)?, take_text(&mut bytes)?);
        let named = |name: String| Some(name).filter(|name| !name.is_empty());
        let records = wire::take(&mut bytes)?;
        let mut holes = Vec::new();
        while !bytes.is_empty() {
            let (kind, _) = *KINDS.get(usize::try_from(wire::take(&mut bytes)?).ok()?)?;
            let line = wire::take(&mut bytes)?.checked_sub(1).and_then(|line| u32::try_from(line).ok());
            holes.push(Hole { kind, line, why: take_text(&mut bytes)? });
        }
        Some(Self { session: named(session), agent: named(agent), records, holes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_back_as_they_were_put() {
        let key = |n| StateKey { source: SourceId::new(Digest::of(&[n])), number: u32::from(n) + 1 };
        let hole = |(kind, line)| Hole { kind, line, why: "because".to_owned() };
        let holes =
            KINDS.iter().map(|(kind, _)| *kind).zip([None, Some(0), Some(9), None, Some(1)]).map(hole);
        let info =
            Info { session: Some("s".to_owned()), records: 300, holes: holes.collect(), ..Info::default() };
        let mut note = Vec::new();
        put_section(&mut note, key(1), Some(&info), (3, b"units"));
        put_section(&mut note, key(2), None, (0, b""));
        let back: Vec<Section<'_>> = sections(&note).collect();
        assert_eq!(back.iter().map(|own| own.key).collect::<Vec<_>>(), [key(1), key(2)]);
        assert_eq!((back[0].info(), back[1].info()), (Some(info), None));
        assert_eq!((back[0].texts, back[1].texts), (3, 0));
        assert_eq!((back[0].units, back[1].units), (&b"units"[..], &b""[..]));
    }
}
