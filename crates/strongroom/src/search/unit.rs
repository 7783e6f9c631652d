//! Texts as they are searched: where each stands in its source, whose it is, and how it is read there.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, BlockRef, Bytes, Encoding, Record, Scalar, Speaker, TextRange,
};
use strongroom_search::wire;

use crate::reading::block_text;

/// A block of a record, as far as it is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) raw: Raw,
    /// The 1-based line, where the source has lines.
    pub(super) line: Option<u32>,
    /// The JSON pointer of the record, where it has none.
    pub(super) pointer: String,
    pub(super) speaker: Speaker,
    pub(super) part: Part,
    pub(super) tool: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) time: Option<Timestamp>,
}

/// Where the bytes of a unit stand, and how they spell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raw {
    /// The parts of a text.
    Text(Vec<TextRange>),
    /// The arguments of a call.
    Arguments(Arguments),
    /// It is read with its whole source, as this block.
    Block(BlockRef),
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// What somebody says.
    Prose,
    /// Reasoning.
    Thinking,
    /// A call with its arguments.
    Call,
    /// What a tool returned.
    Result,
    /// Data beside a result that is not sent.
    SideData,
    /// An attachment.
    Attachment,
    /// A summary.
    Summary,
    /// What is not understood.
    Opaque,
    /// A file beside a transcript.
    SideFile,
}

/// All parts with their words, in the order of their numbers in notes.
const PARTS: [(Part, &str); 9] = [
    (Part::Prose, "prose"),
    (Part::Thinking, "thinking"),
    (Part::Call, "call"),
    (Part::Result, "result"),
    (Part::SideData, "side data"),
    (Part::Attachment, "attachment"),
    (Part::Summary, "summary"),
    (Part::Opaque, "opaque"),
    (Part::SideFile, "side file"),
];

/// All speakers, in the order of their numbers in notes.
const SPEAKERS: [Speaker; 8] = [
    Speaker::User,
    Speaker::Operator,
    Speaker::Assistant,
    Speaker::Tool,
    Speaker::Harness,
    Speaker::Agent,
    Speaker::Derived,
    Speaker::Unknown,
];

impl Part {
    /// The word in output.
    pub fn word(self) -> &'static str {
        PARTS.iter().find(|(part, _)| *part == self).map_or("", |(_, word)| word)
    }

    fn of(kind: &BlockKind) -> Self {
        match kind {
            BlockKind::Text | BlockKind::Paste => Self::Prose,
            BlockKind::Thinking => Self::Thinking,
            BlockKind::Call(_) => Self::Call,
            BlockKind::Result(_) => Self::Result,
            BlockKind::SideData { .. } => Self::SideData,
            BlockKind::Attachment { .. } => Self::Attachment,
            BlockKind::Summary => Self::Summary,
            BlockKind::Opaque(_) => Self::Opaque,
        }
    }
}

/// How the units of a source can be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reread {
    /// Where they stand.
    InPlace,
    /// With the whole source.
    Whole,
}

/// The units of a block: its text, and the arguments of a call.
pub(super) fn units_of(at: BlockRef, record: &Record, block: &Block, reread: Reread) -> Vec<Unit> {
    // A copy holds what the block holds that it is a copy of.
    if block.copy_of.is_some() {
        return Vec::new();
    }
    let mut raws = Vec::new();
    if !block.text.is_empty() {
        raws.push(Raw::Text(block.text.clone()));
    }
    let mut tool = None;
    if let BlockKind::Call(call) = &block.kind {
        tool = Some(call.tool.clone());
        raws.extend((call.arguments != Arguments::Missing).then_some(Raw::Arguments(call.arguments)));
    }
    if reread == Reread::Whole || raws.iter().any(Raw::is_in_pieces) {
        raws = Vec::from([Raw::Block(at)]);
    }
    let unit = |raw| Unit {
        raw,
        line: record.line,
        pointer: if record.line.is_some() { String::new() } else { record.pointer.clone() },
        speaker: block.speaker,
        part: Part::of(&block.kind),
        tool: tool.clone(),
        agent: record.agent.clone(),
        time: record.time,
    };
    raws.into_iter().map(unit).collect()
}

impl Raw {
    /// Whether its text stands on several lines, by a path that only its format knows.
    fn is_in_pieces(&self) -> bool {
        match self {
            Self::Text(parts) => parts.iter().any(|part| matches!(part.encoding, Encoding::Pieces(_))),
            Self::Arguments(arguments) => matches!(arguments, Arguments::Pieces(..)),
            Self::Block(_) => false,
        }
    }

    /// The bytes from its first to its last, where they are known.
    pub(super) fn range(&self) -> Option<ByteRange> {
        match self {
            Self::Text(parts) => {
                let start = parts.iter().map(|part| part.range.start()).min()?;
                let end = parts.iter().map(|part| part.range.end()).max()?;
                Some(ByteRange::new(start, end))
            }
            Self::Arguments(arguments) => arguments.text().map(|text| text.range),
            Self::Block(_) => None,
        }
    }
}

/// A text of a unit; a needle is found within one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// The JSON pointer of an argument inside the arguments, and the bytes that spell it.
    pub(super) argument: Option<(String, ByteRange)>,
    pub(super) text: String,
}

/// The texts of a block's text.
pub(super) fn said(text: String) -> Vec<Text> {
    Vec::from([Text { argument: None, text }])
}

/// The texts of the arguments of a call: each string and number, and, of a JSON text in a string, that text as well.
pub(super) fn argued(source: &dyn Bytes, arguments: Arguments) -> Result<Vec<Text>> {
    let tree = strongroom_formats::arguments(source, arguments)?;
    let leaves = tree.leaves.into_iter().filter_map(|leaf| match leaf.value {
        Scalar::String(text) | Scalar::Number(text) => {
            Some(Text { argument: Some((leaf.pointer, leaf.range)), text })
        }
        Scalar::Null | Scalar::Bool(_) => None,
    });
    let mut texts: Vec<Text> = leaves.collect();
    if let (Arguments::JsonInString(_) | Arguments::JsonInJson(_) | Arguments::Pieces(..), Some(spelled)) =
        (arguments, arguments.text())
    {
        texts.extend(said(strongroom_formats::text(source, spelled)?));
    }
    Ok(texts)
}

/// The texts of a block as it stands in a source that was read as a whole.
pub(super) fn texts_of_block(source: &dyn Bytes, block: &Block) -> Result<Vec<Text>> {
    let mut texts = if block.text.is_empty() { Vec::new() } else { said(block_text(source, block)?) };
    if let BlockKind::Call(call) = &block.kind {
        texts.extend(argued(source, call.arguments)?);
    }
    Ok(texts)
}

/// Writes units one behind the other; what the one before says is not said again.
#[derive(Debug, Default)]
pub(super) struct UnitWriter {
    pub(super) out: Vec<u8>,
    pub(super) count: u64,
    names: Names,
    line: u32,
    at: u64,
    time: i64,
}

/// Reads what a [`UnitWriter`] wrote.
#[derive(Debug)]
pub(super) struct UnitReader<'n> {
    note: &'n [u8],
    names: Names,
    line: u32,
    at: u64,
    time: i64,
}

/// Names that were met; each is spelled once.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    fn put(&mut self, out: &mut Vec<u8>, name: &str) {
        if name.is_empty() {
            return wire::put(out, 0);
        }
        if let Some(at) = self.0.iter().position(|own| own == name) {
            return wire::put(out, u64::try_from(at).unwrap_or(u64::MAX - 2) + 2);
        }
        wire::put(out, 1);
        wire::put_bytes(out, name.as_bytes());
        self.0.push(name.to_owned());
    }

    /// A name; an empty one is none.
    fn take(&mut self, note: &mut &[u8]) -> Option<String> {
        match wire::take(note)? {
            0 => Some(String::new()),
            1 => {
                let name = str::from_utf8(wire::take_bytes(note)?).ok()?.to_owned();
                self.0.push(name.clone());
                Some(name)
            }
            known => self.0.get(usize::try_from(known - 2).ok()?).cloned(),
        }
    }
}

/// A number that may be negative, small ones short.
fn put_signed(out: &mut Vec<u8>, value: i64) {
    wire::put(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn take_signed(note: &mut &[u8]) -> Option<i64> {
    let value = wire::take(note)?;
    Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

/// How arguments and encodings are numbered in notes.
const fn code_of(encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Plain => 0,
        Encoding::Json => 1,
        Encoding::JsonInJson => 2,
        Encoding::Pieces(_) => 3,
    }
}

const fn encoding_of(code: u64) -> Option<Encoding> {
    match code {
        0 => Some(Encoding::Plain),
        1 => Some(Encoding::Json),
        2 => Some(Encoding::JsonInJson),
        _ => None,
    }
}

const fn code_of_arguments(arguments: Arguments) -> u64 {
    match arguments {
        Arguments::Json(_) => 0,
        Arguments::JsonInString(_) => 1,
        Arguments::JsonInJson(_) => 2,
        Arguments::Text(_) => 3,
        Arguments::Plain(_) => 4,
        Arguments::Pieces(..) | Arguments::Missing => 5,
    }
}

const fn arguments_of(code: u64, range: ByteRange) -> Option<Arguments> {
    match code {
        0 => Some(Arguments::Json(range)),
        1 => Some(Arguments::JsonInString(range)),
        2 => Some(Arguments::JsonInJson(range)),
        3 => Some(Arguments::Text(range)),
        4 => Some(Arguments::Plain(range)),
        _ => None,
    }
}

/// How kinds of [`Raw`] are numbered in notes.
const TEXT: u64 = 0;
const ARGUMENTS: u64 = 1;
const BLOCK: u64 = 2;

impl UnitWriter {
    pub(super) fn put(&mut self, unit: &Unit) {
        self.count += 1;
        let speaker = SPEAKERS.iter().position(|own| *own == unit.speaker).unwrap_or(0);
        let part = PARTS.iter().position(|(own, _)| *own == unit.part).unwrap_or(0);
        wire::put(&mut self.out, (part * SPEAKERS.len() + speaker) as u64);
        match unit.line {
            None => wire::put(&mut self.out, 0),
            Some(line) => {
                let ahead = i64::from(line) - i64::from(self.line);
                wire::put(&mut self.out, 1);
                put_signed(&mut self.out, ahead);
                self.line = line;
            }
        }
        for name in [Some(&unit.pointer), unit.tool.as_ref(), unit.agent.as_ref()] {
            self.names.put(&mut self.out, name.map(String::as_str).unwrap_or_default());
        }
        self.put_time(unit.time);
        self.put_raw(&unit.raw);
    }

    fn put_time(&mut self, time: Option<Timestamp>) {
        let Some(time) = time.map(Timestamp::as_ms) else { return wire::put(&mut self.out, 0) };
        wire::put(&mut self.out, 1);
        put_signed(&mut self.out, time.wrapping_sub(self.time));
        self.time = time;
    }

    fn put_raw(&mut self, raw: &Raw) {
        match raw {
            Raw::Text(parts) => {
                wire::put(&mut self.out, TEXT);
                wire::put(&mut self.out, u64::try_from(parts.len()).unwrap_or(u64::MAX));
                for part in parts {
                    wire::put(&mut self.out, code_of(part.encoding));
                    self.put_range(part.range);
                }
            }
            Raw::Arguments(arguments) => {
                wire::put(&mut self.out, ARGUMENTS);
                wire::put(&mut self.out, code_of_arguments(*arguments));
                self.put_range(arguments.text().map_or(ByteRange::new(0, 0), |text| text.range));
            }
            Raw::Block(at) => {
                wire::put(&mut self.out, BLOCK);
                wire::put(&mut self.out, u64::from(at.record));
                wire::put(&mut self.out, u64::from(at.block));
            }
        }
    }

    fn put_range(&mut self, range: ByteRange) {
        put_signed(&mut self.out, range.start().wrapping_sub(self.at).cast_signed());
        wire::put(&mut self.out, range.len());
        self.at = range.end();
    }
}

impl<'n> UnitReader<'n> {
    pub(super) fn new(note: &'n [u8]) -> Self {
        Self { note, names: Names::default(), line: 0, at: 0, time: 0 }
    }

    fn take(&mut self) -> Option<Unit> {
        let head = wire::take(&mut self.note)?;
        let speaker = *SPEAKERS.get(usize::try_from(head % 8).ok()?)?;
        let (part, _) = *PARTS.get(usize::try_from(head / 8).ok()?)?;
        let has_line = wire::take(&mut self.note)? == 1;
        if has_line {
            let ahead = take_signed(&mut self.note)?;
            self.line = u32::try_from(i64::from(self.line).checked_add(ahead)?).ok()?;
        }
        let line = has_line.then_some(self.line);
        let pointer = self.names.take(&mut self.note)?;
        let [tool, agent] = [self.names.take(&mut self.note)?, self.names.take(&mut self.note)?]
            .map(|name| Some(name).filter(|name| !name.is_empty()));
        let has_time = wire::take(&mut self.note)? == 1;
        if has_time {
            self.time = self.time.wrapping_add(take_signed(&mut self.note)?);
        }
        let time = has_time.then_some(Timestamp::from_ms(self.time));
        let raw = self.take_raw()?;
        Some(Unit { raw, line, pointer, speaker, part, tool, agent, time })
    }

    fn take_raw(&mut self) -> Option<Raw> {
        match wire::take(&mut self.note)? {
            TEXT => {
                let count = wire::take(&mut self.note)?;
                let part = |reader: &mut Self| {
                    let encoding = encoding_of(wire::take(&mut reader.note)?)?;
                    Some(TextRange { encoding, range: reader.take_range()? })
                };
                (0..count).map(|_| part(self)).collect::<Option<_>>().map(Raw::Text)
            }
            ARGUMENTS => {
                let code = wire::take(&mut self.note)?;
                let range = self.take_range()?;
                arguments_of(code, range).map(Raw::Arguments)
            }
            BLOCK => {
                let mut number = || u32::try_from(wire::take(&mut self.note)?).ok();
                Some(Raw::Block(BlockRef { record: number()?, block: number()? }))
            }
            _ => None,
        }
    }

    fn take_range(&mut self) -> Option<ByteRange> {
        let start = self.at.wrapping_add(take_signed(&mut self.note)?.cast_unsigned());
        let end = start.checked_add(wire::take(&mut self.note)?)?;
        self.at = end;
        Some(ByteRange::new(start, end))
    }
}

impl Iterator for UnitReader<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_back_as_they_were_put() {
        let range = |start, end| ByteRange::new(start, end);
        let text = |start, end, encoding| TextRange { range: range(start, end), encoding };
        let unit = Unit {
            raw: Raw::Text(vec![text(100, 120, Encoding::Json), text(90, 95, Encoding::Plain)]),
            line: Some(7),
            pointer: String::new(),
            speaker: Speaker::Tool,
            part: Part::Result,
            tool: Some("Bash".to_owned()),
            agent: None,
            time: Some(Timestamp::from_ms(1_700_000_000_000)),
        };
        let raws = [
            Raw::Arguments(Arguments::JsonInString(range(5_000_000_000, 5_000_000_100))),
            Raw::Arguments(Arguments::Json(range(0, 3))),
            Raw::Block(BlockRef { record: 3, block: 70_000 }),
            Raw::Text(vec![text(1, 1, Encoding::JsonInJson)]),
        ];
        let mut units = vec![unit.clone()];
        for (raw, line) in raws.into_iter().zip([Some(3), None, Some(u32::MAX), None]) {
            let pointer = if line.is_none() { "/messages/3".to_owned() } else { String::new() };
            let agent = Some("a1".to_owned());
            units.push(Unit { raw, line, pointer, agent, part: Part::SideFile, time: None, ..unit.clone() });
        }
        let mut writer = UnitWriter::default();
        units.iter().for_each(|unit| writer.put(unit));
        assert_eq!(writer.count, 5);
        assert_eq!(UnitReader::new(&writer.out).collect::<Vec<_>>(), units);
        let cut = &writer.out[..writer.out.len() - 1];
        assert_eq!(UnitReader::new(cut).count(), 4, "what is cut is no unit");
    }

    #[test]
    fn every_part_and_speaker_has_a_number() {
        assert!(PARTS.iter().all(|(part, word)| part.word() == *word));
        assert_eq!(SPEAKERS.iter().map(|own| own.word()).collect::<std::collections::BTreeSet<_>>().len(), 8);
    }
}
