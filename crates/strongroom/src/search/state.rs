//! States of sources, opened to be indexed or read again: their texts, and what of them is no text.

use std::collections::BTreeSet;

use strongroom_archive::Archive;
use strongroom_archive::source::{SourceMeta, StoredRevision};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::SpanKind;
use strongroom_core::transcript::{
    BlockKind, BlockRef, Bytes, Encoding, Level, RecordKind, Speaker, TextRange,
};
use strongroom_core::vault::Revision;

use super::note::{Hole, HoleKind, Info};
use super::unit::{Part, Raw, Reread, Text, Unit, argued, said, texts_of_block, units_of};
use crate::custody::restore;
use crate::reading::text_of;
use crate::transcript::{GoneBytes, GoneKind, Transcript};

/// A state of a source, read as a whole.
#[derive(Debug)]
pub(super) struct State {
    pub(super) revision: Revision,
    pub(super) content: Content,
    pub(super) info: Info,
    pub(super) reread: Reread,
}

/// What the bytes of a state are.
#[derive(Debug)]
pub(super) enum Content {
    Transcript(Box<Transcript>),
    /// A text that belongs to a transcript, and who made it.
    Plain(Vec<u8>, Speaker),
    /// Nothing that can be searched.
    Nothing,
}

/// Sources that are no transcripts: a file beside one, and the summary that an agent made of one.
const PLAIN: [(&str, Speaker); 2] = [("output", Speaker::Tool), ("summary", Speaker::Derived)];

impl State {
    /// Reads a state from the archive.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read; what of the state cannot be is a hole.
    pub(super) fn open(archive: &Archive, meta: &SourceMeta, revision: &StoredRevision) -> Result<Self> {
        let revision = match archive.pieces_of(meta.id, revision) {
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(Self::lost(meta, &error)),
            revision => revision?,
        };
        let (bytes, gone) = restore(archive, &revision)?;
        let mut info = Info { session: meta.session.clone(), ..Info::default() };
        info.holes.extend(gone.iter().map(hole_of));
        let mut reread = if gone.is_empty() { Reread::InPlace } else { Reread::Whole };
        let content = match PLAIN.iter().find(|(format, _)| *format == meta.format) {
            Some((_, speaker)) if str::from_utf8(&bytes).is_ok() => Content::Plain(bytes, *speaker),
            Some(_) => unreadable("it is no UTF-8 text".to_owned(), &gone, &mut info),
            None => match Transcript::from_bytes(meta.name.clone(), bytes, Some(&meta.format)) {
                Ok(transcript) => Content::Transcript(Box::new(transcript)),
                Err(error) => unreadable(error.to_string(), &gone, &mut info),
            },
        };
        if let Content::Transcript(transcript) = &content {
            if transcript.source().len() != revision.len {
                reread = Reread::Whole;
            }
            describe(transcript, &mut info);
        }
        Ok(Self { revision, content, info, reread })
    }

    /// A state of which not even the list of pieces is left.
    fn lost(meta: &SourceMeta, error: &Error) -> Self {
        let hole = Hole { kind: HoleKind::Gone, line: None, why: error.to_string() };
        let info = Info { session: meta.session.clone(), holes: Vec::from([hole]), ..Info::default() };
        let id = strongroom_core::digest::RevisionId::of(&[]);
        let revision = Revision { id, source: meta.id, len: 0, pieces: Vec::new() };
        Self { revision, content: Content::Nothing, info, reread: Reread::Whole }
    }

    /// Whether every byte was there, so that what is known of it stays true.
    pub(super) fn is_whole(&self) -> bool {
        let fleeting =
            |hole: &Hole| matches!(hole.kind, HoleKind::Gone | HoleKind::Redacted | HoleKind::Away);
        !self.info.holes.iter().any(fleeting)
    }

    /// Hands every unit to `take`, in order, with its texts.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read, and what `take` returns.
    pub(super) fn each_unit(&self, take: &mut dyn FnMut(&Unit, &[Text]) -> Result<()>) -> Result<()> {
        match &self.content {
            Content::Transcript(transcript) => {
                for (record, at) in transcript.index().records.iter().zip(0u32..) {
                    for (block, n) in record.blocks.iter().zip(0u32..) {
                        let at = BlockRef { record: at, block: n };
                        for unit in units_of(at, record, block, self.reread) {
                            take(&unit, &self.texts(&unit)?)?;
                        }
                    }
                }
                Ok(())
            }
            Content::Plain(bytes, speaker) => {
                let unit = plain(Bytes::len(bytes), *speaker, self.reread);
                take(&unit, &self.texts(&unit)?)
            }
            Content::Nothing => Ok(()),
        }
    }

    /// The texts of a unit of this state.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub(super) fn texts(&self, unit: &Unit) -> Result<Vec<Text>> {
        match (&self.content, &unit.raw) {
            (Content::Transcript(transcript), Raw::Block(at)) => {
                let block = transcript.index().block(*at);
                block.map_or(Ok(Vec::new()), |block| texts_of_block(transcript.source(), block))
            }
            (Content::Transcript(transcript), _) => texts_in_place(transcript.source(), unit),
            (Content::Plain(bytes, _), _) => Ok(said(String::from_utf8_lossy(bytes).into_owned())),
            (Content::Nothing, _) => Ok(Vec::new()),
        }
    }
}

/// The texts of a unit where they stand in `source`.
///
/// # Errors
/// As `source` says.
pub(super) fn texts_in_place(source: &dyn Bytes, unit: &Unit) -> Result<Vec<Text>> {
    match &unit.raw {
        Raw::Text(parts) => text_of(source, parts).map(said),
        Raw::Arguments(arguments) => argued(source, *arguments),
        Raw::Block(_) => Ok(Vec::new()),
    }
}

/// The one unit of a text.
fn plain(len: u64, speaker: Speaker, reread: Reread) -> Unit {
    let whole = TextRange { range: ByteRange::new(0, len), encoding: Encoding::Plain };
    Unit {
        raw: match reread {
            Reread::InPlace => Raw::Text(Vec::from([whole])),
            Reread::Whole => Raw::Block(BlockRef { record: 0, block: 0 }),
        },
        line: None,
        pointer: String::new(),
        speaker,
        part: if speaker == Speaker::Derived { Part::Summary } else { Part::SideFile },
        tool: None,
        agent: None,
        time: None,
    }
}

fn hole_of(gone: &GoneBytes) -> Hole {
    let kind = match gone.kind {
        GoneKind::Piece => HoleKind::Gone,
        GoneKind::Cut => HoleKind::Redacted,
        GoneKind::Away => HoleKind::Away,
    };
    Hole { kind, line: None, why: gone.why.clone() }
}

/// Notes that a source cannot be read; where bytes of it are gone they say so already.
fn unreadable(why: String, gone: &[GoneBytes], info: &mut Info) -> Content {
    if gone.is_empty() {
        info.holes.push(Hole { kind: HoleKind::Unreadable, line: None, why });
    }
    Content::Nothing
}

/// Notes what is known of a transcript, and what of it cannot be searched.
fn describe(transcript: &Transcript, info: &mut Info) {
    let index = transcript.index();
    if let Some(session) = transcript.session() {
        info.session = Some(session.to_owned());
    }
    info.agent = transcript.agent().map(str::to_owned);
    info.records = u64::try_from(index.records.len()).unwrap_or(u64::MAX);
    let mut told: BTreeSet<Option<u32>> = BTreeSet::new();
    for span in transcript.spans().spans.iter().filter(|span| span.kind == SpanKind::Opaque) {
        let blocks: Vec<_> = span.blocks.iter().filter_map(|at| index.block(*at)).collect();
        // A mark that the harness put there says nothing of the work.
        if !blocks.is_empty() && blocks.iter().all(|block| block.speaker == Speaker::Harness) {
            continue;
        }
        let record = usize::try_from(span.record).ok().and_then(|at| index.records.get(at));
        let line = record.and_then(|record| record.line);
        let why = blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Opaque(why) => Some(why.clone()),
            _ => None,
        });
        let is_read = why.is_some() && record.is_some_and(|record| record.kind != RecordKind::Opaque);
        let kind = if is_read { HoleKind::Opaque } else { HoleKind::Unreadable };
        let why = why.unwrap_or_else(|| "a record that cannot be read".to_owned());
        told.insert(line);
        info.holes.push(Hole { kind, line, why });
    }
    for finding in index.findings.iter().filter(|finding| finding.level == Level::Damage) {
        if !told.contains(&finding.line) {
            let why = finding.message.clone();
            info.holes.push(Hole { kind: HoleKind::Unreadable, line: finding.line, why });
        }
    }
}
