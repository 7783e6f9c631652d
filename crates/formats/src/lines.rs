//! Splitting a source into lines and the JSON values on them.
//!
//! The source is read in chunks and never held as a whole. Lines are split at LF only.

use std::collections::BTreeSet;

use std::borrow::Cow;

use memchr::memchr;
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Block, BlockKind, Branch, Bytes, Encoding, Finding, Form, Framing, Level, Record, RecordKind,
    SourceIndex, Speaker, TextRange, Visibility,
};

use crate::json::{Damage, Reason, Tape, Value};

/// The longest record that is read as JSON; a longer one is opaque.
pub const RECORD_BYTES_MAX: u64 = 16 << 20;

/// How much of a source is read at once.
const CHUNK_BYTES: u64 = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The most lines, and bytes, that one record broken by raw line feeds is looked for in.
const BROKEN_LINES_MAX: usize = 64;
const BROKEN_BYTES_MAX: u64 = 256 << 10;

/// One physical line.
#[derive(Debug)]
pub struct Line<'l> {
    /// Its 1-based number.
    pub number: u32,
    /// Its bytes, without the line feed.
    pub range: ByteRange,
    /// The bytes, where there are not more than [`RECORD_BYTES_MAX`].
    pub bytes: Option<&'l [u8]>,
    /// Whether a line feed ends it.
    pub end: LineEnd,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// With a line feed.
    Feed,
    /// With the source.
    Source,
}

/// Reads a source line by line.
pub struct Lines<'s> {
    source: &'s dyn Bytes,
    window: Cow<'s, [u8]>,
    window_start: u64,
    at: u64,
    number: u32,
}

impl std::fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lines at {}, line {}", self.at, self.number)
    }
}

impl<'s> Lines<'s> {
    /// Starts at the first line.
    pub fn new(source: &'s dyn Bytes) -> Self {
        Self { source, window: Cow::Borrowed(&[]), window_start: 0, at: 0, number: 0 }
    }

    /// The next line, `None` behind the last.
    ///
    /// # Errors
    /// As [`Bytes::read`].
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        let start = self.at;
        if start >= self.source.len() {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        let (end, line_end) = self.find_end(start)?;
        self.at = end + u64::from(line_end == LineEnd::Feed);
        let range = ByteRange::new(start, end);
        let number = self.number;
        let bytes = if range.len() > RECORD_BYTES_MAX { None } else { Some(self.window(range)?) };
        Ok(Some(Line { number, range, bytes, end: line_end }))
    }

    /// The record that begins with the line `first`, cut off inside a string, and goes on in the lines behind it:
    /// a writer did not escape a line feed. The reader then stands behind its last line.
    ///
    /// # Errors
    /// As [`Bytes::read`].
    fn join(&mut self, first: ByteRange, tape: &mut Tape) -> Result<Option<Joined>> {
        let mut ahead = Self { at: self.at, number: self.number, ..Self::new(self.source) };
        for _ in 1..BROKEN_LINES_MAX {
            let Some(line) = ahead.next_line()? else { break };
            let range = ByteRange::new(first.start(), line.range.end());
            let (Some(bytes), end) = (line.bytes, line.end) else { break };
            if range.len() > BROKEN_BYTES_MAX || is_record(bytes, tape) {
                break;
            }
            let bytes = self.source.read(range)?.into_owned();
            match tape.scan(&bytes) {
                Ok(_) => {
                    (self.at, self.number) = (ahead.at, ahead.number);
                    return Ok(Some(Joined { range, bytes, end, last: ahead.number }));
                }
                Err(Damage { reason: Reason::CutInString, .. }) => {}
                Err(_) => break,
            }
        }
        Ok(None)
    }

    /// The bytes of `range` from the window; the window is moved when they are not in it.
    fn window(&mut self, range: ByteRange) -> Result<&[u8]> {
        if range.start() < self.window_start || range.end() > self.window_end() {
            self.move_window(range.start(), range.len().max(CHUNK_BYTES))?;
        }
        let inside = |offset: u64| usize::try_from(offset - self.window_start).unwrap_or(usize::MAX);
        Ok(self.window.get(inside(range.start())..inside(range.end())).unwrap_or_default())
    }

    fn window_end(&self) -> u64 {
        self.window_start + Bytes::len(&*self.window)
    }

    fn move_window(&mut self, start: u64, length: u64) -> Result<()> {
        let end = start.saturating_add(length).min(self.source.len());
        self.window = self.source.read(ByteRange::new(start, end))?;
        self.window_start = start;
        Ok(())
    }

    /// Looks for the line feed from `start` on, chunk by chunk.
    fn find_end(&mut self, start: u64) -> Result<(u64, LineEnd)> {
        let mut from = start;
        loop {
            if from < self.window_start || from >= self.window_end() {
                self.move_window(from, CHUNK_BYTES)?;
            }
            let skip = usize::try_from(from - self.window_start).unwrap_or(usize::MAX);
            let rest = self.window.get(skip..).unwrap_or_default();
            if let Some(hit) = memchr(b'\n', rest) {
                return Ok((from + u64::try_from(hit).unwrap_or_default(), LineEnd::Feed));
            }
            from = self.window_end();
            if from >= self.source.len() || rest.is_empty() {
                return Ok((self.source.len(), LineEnd::Source));
            }
        }
    }
}

/// A record that stands on several lines.
struct Joined {
    range: ByteRange,
    bytes: Vec<u8>,
    end: LineEnd,
    /// The number of its last line.
    last: u32,
}

/// Whether a line is a record of its own.
fn is_record(bytes: &[u8], tape: &mut Tape) -> bool {
    bytes.first() == Some(&b'{') && tape.scan(bytes).is_ok()
}

/// What a source of lines is made of.
#[derive(Debug, Default)]
pub struct Parts {
    /// The records, in order.
    pub records: Vec<Record>,
    /// Bytes outside every record.
    pub framing: Vec<Framing>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Parts {
    /// The index of the whole of `source`, with `more` findings among these by their lines.
    pub(crate) fn into_index(
        mut self,
        format: &'static str,
        form: Form,
        source: &dyn Bytes,
        more: Vec<Finding>,
    ) -> SourceIndex {
        self.findings.extend(more);
        self.findings.sort_by_key(|finding| finding.line);
        SourceIndex {
            format,
            form,
            len: source.len(),
            records: self.records,
            framing: self.framing,
            findings: self.findings,
            side_items: Vec::new(),
            usage: Vec::new(),
            changing_tools: BTreeSet::new(),
        }
    }

    fn frame(&mut self, range: ByteRange, name: &'static str) {
        if !range.is_empty() {
            self.framing.push(Framing { range, name });
        }
    }

    fn frame_end(&mut self, line: ByteRange, end: LineEnd) {
        let feed = u64::from(end == LineEnd::Feed);
        self.frame(ByteRange::new(line.end(), line.end() + feed), "line end");
    }

    /// Keeps what cannot be read from `at` on as an opaque record.
    fn unreadable(
        &mut self,
        line: &Line<'_>,
        at: usize,
        bytes: &[u8],
        (code, message): (&'static str, String),
    ) {
        let code = if code == BROKEN { "malformed-record" } else { code };
        let range = piece(line, at, bytes.len());
        let text = std::str::from_utf8(bytes.get(at..).unwrap_or_default()).ok().map(|_| range);
        self.find(Level::Damage, code, line.number, message.clone());
        self.records.push(opaque(line, range, code, text, message));
    }

    fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    fn find(&mut self, level: Level, code: &'static str, line: u32, message: String) {
        self.findings.push(Finding { level, code, line: Some(line), pointer: String::new(), message });
    }
}

/// Reads all JSON values of `source`, one record each; `adapt` turns a value into its record, whose
/// index it is told.
///
/// # Errors
/// As [`Bytes::read`].
pub fn read_records(
    source: &dyn Bytes,
    adapt: &mut dyn FnMut(Value<'_>, Record, u32) -> Record,
) -> Result<Parts> {
    let mut parts = Parts::default();
    let mut tape = Tape::new();
    let mut lines = Lines::new(source);
    while let Some(line) = lines.next_line()? {
        let (number, first, end) = (line.number, line.range, line.end);
        if read_line(&line, &mut tape, &mut parts, adapt) == Read::Whole {
            parts.frame_end(first, end);
            continue;
        }
        let Some(joined) = lines.join(first, &mut tape)? else {
            let bytes = source.read(first)?;
            let line = Line { number, range: first, bytes: Some(&bytes), end };
            let Err(damage) = read_value(&line, &bytes, 0, &mut tape).map(drop) else { continue };
            parts.unreadable(&line, 0, &bytes, damage);
            parts.frame_end(first, end);
            continue;
        };
        let Joined { range, bytes, end, last } = joined;
        let message = format!(
            "lines {number} to {last} are one record, broken by a line feed that is not escaped; they are read as one"
        );
        parts.find(Level::Warning, "broken-record", number, message);
        read_line(&Line { number, range, bytes: Some(&bytes), end }, &mut tape, &mut parts, adapt);
        parts.frame_end(range, end);
    }
    Ok(parts)
}

/// Reads lines into an index; `adapt` fills the record of a value and states findings, which get the record's line.
///
/// # Errors
/// As [`Bytes::read`].
pub(crate) fn index_records(
    format: &'static str,
    form: Form,
    source: &dyn Bytes,
    adapt: &mut dyn FnMut(Value<'_>, &mut Record, &mut Vec<Finding>),
) -> Result<SourceIndex> {
    let mut found: Vec<Finding> = Vec::new();
    let parts = read_records(source, &mut |value, mut record, _| {
        let from = found.len();
        adapt(value, &mut record, &mut found);
        found.iter_mut().skip(from).for_each(|finding| finding.line = record.line);
        record
    })?;
    Ok(parts.into_index(format, form, source, found))
}

/// Whether a line was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    /// Everything in it is a record or framing now.
    Whole,
    /// Nothing was taken from it: its one record may go on in the next line.
    Broken,
}

fn read_line(
    line: &Line<'_>,
    tape: &mut Tape,
    parts: &mut Parts,
    adapt: &mut dyn FnMut(Value<'_>, Record, u32) -> Record,
) -> Read {
    let Some(bytes) = line.bytes else {
        let message = format!(
            "a record of {} bytes is over the limit of {RECORD_BYTES_MAX} bytes and was not read",
            line.range.len()
        );
        parts.find(Level::Damage, "record-too-long", line.number, message.clone());
        parts.records.push(opaque(line, line.range, "record-too-long", None, message));
        return Read::Whole;
    };
    let mut at = read_lead(line, bytes, parts);
    if bytes.ends_with(b"\r") && !parts.has("crlf") {
        parts.find(
            Level::Note,
            "crlf",
            line.number,
            "lines end with a carriage return and a line feed".to_owned(),
        );
    }
    let mut values = 0;
    loop {
        let start = skip(bytes, at, u8::is_ascii_whitespace);
        parts.frame(
            piece(line, at, start),
            if values == 0 && start == bytes.len() { "blank line" } else { "space" },
        );
        at = start;
        if at >= bytes.len() {
            return Read::Whole;
        }
        if bytes.get(at) == Some(&0) {
            at = nul_padding(line, bytes, at, parts);
            continue;
        }
        match read_value(line, bytes.get(at..).unwrap_or_default(), at, tape) {
            Ok((end, value)) => {
                if values == 1 {
                    parts.find(
                        Level::Warning,
                        "glued-records",
                        line.number,
                        "several records stand on one line".to_owned(),
                    );
                }
                values += 1;
                let index = u32::try_from(parts.records.len()).unwrap_or(u32::MAX);
                let record = adapt(value, empty_record(line, piece(line, at, end)), index);
                note_oddities(line, value, parts);
                parts.records.push(record);
                at = end;
            }
            Err((code, message)) => {
                if at == 0 && code == BROKEN {
                    return Read::Broken;
                }
                parts.unreadable(line, at, bytes, (code, message));
                return Read::Whole;
            }
        }
    }
}

/// Reads what stands before the first record of a line; where that begins.
fn read_lead(line: &Line<'_>, bytes: &[u8], parts: &mut Parts) -> usize {
    let mut at = 0;
    if line.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
        at = BYTE_ORDER_MARK.len();
        parts.frame(piece(line, 0, at), "byte order mark");
        parts.find(Level::Note, "byte-order-mark", 1, "begins with a byte order mark".to_owned());
    }
    let prefix = event_stream_prefix(bytes.get(at..).unwrap_or_default());
    parts.frame(piece(line, at, at + prefix), "name of the data");
    at + prefix
}

/// How long the name is that a stream of server-sent events puts in front of each object.
fn event_stream_prefix(bytes: &[u8]) -> usize {
    let rest = bytes.strip_prefix(b"data:").map(|rest| rest.strip_prefix(b" ").unwrap_or(rest));
    rest.filter(|rest| rest.first() == Some(&b'{')).map_or(0, |rest| bytes.len() - rest.len())
}

/// The code of a record that ends inside a string before the source does.
const BROKEN: &str = "broken-string";

/// Scans one value; returns the offset in the line behind it.
fn read_value<'t>(
    line: &Line<'_>,
    rest: &'t [u8],
    at: usize,
    tape: &'t mut Tape,
) -> Result<(usize, Value<'t>), (&'static str, String)> {
    let torn = |damaged: &'static str, cut: bool| match line.end {
        LineEnd::Source if cut => "torn-record",
        LineEnd::Source | LineEnd::Feed => damaged,
    };
    let at_byte = |offset: usize| line.range.start() + u64::try_from(at + offset).unwrap_or_default();
    if let Err(error) = std::str::from_utf8(rest) {
        let message = format!("not valid UTF-8 at byte {}", at_byte(error.valid_up_to()));
        return Err((torn("invalid-utf8", error.error_len().is_none()), message));
    }
    let damaged = |damage: Damage| {
        let damage =
            Damage { offset: usize::try_from(at_byte(damage.offset)).unwrap_or(usize::MAX), ..damage };
        let code = match damage.reason {
            Reason::TooDeep => "record-too-deep",
            Reason::TooMany | Reason::TooLong => "record-too-large",
            Reason::CutInString if rest.first() == Some(&b'{') => torn(BROKEN, true),
            Reason::CutOff | Reason::CutInString => torn("malformed-record", true),
            Reason::Unexpected(_) | Reason::ControlByte(_) | Reason::BadEscape | Reason::BadNumber => {
                "malformed-record"
            }
        };
        (code, damage.to_string())
    };
    let end = tape.scan(rest).map_err(damaged)?;
    let behind = rest.iter().skip(end).copied().find(|byte| !byte.is_ascii_whitespace());
    let base = line.range.start() + u64::try_from(at).unwrap_or_default();
    let value = tape.root(rest, base).ok_or_else(|| ("malformed-record", "no value".to_owned()))?;
    match behind {
        // Behind a container another record may follow; behind `12` or `"a"` it is no record but prose.
        Some(byte) if !matches!(rest.first(), Some(b'{' | b'[')) => {
            Err(damaged(Damage { offset: end, reason: Reason::Unexpected(byte) }))
        }
        _ => Ok((at + end, value)),
    }
}

fn nul_padding(line: &Line<'_>, bytes: &[u8], at: usize, parts: &mut Parts) -> usize {
    let end = skip(bytes, at, |&byte| byte == 0);
    let message = format!("{} NUL bytes at byte {}", end - at, piece(line, at, end).start());
    parts.find(Level::Damage, "nul-padding", line.number, message.clone());
    parts.records.push(opaque(line, piece(line, at, end), "nul-padding", None, message));
    end
}

fn note_oddities(line: &Line<'_>, value: Value<'_>, parts: &mut Parts) {
    for oddity in value.oddities() {
        parts.find(Level::Note, oddity.code(), line.number, oddity.message().to_owned());
    }
    if let Some(key) = value.duplicate_key() {
        parts.find(
            Level::Note,
            "duplicate-key",
            line.number,
            format!("the key {key:?} stands twice; the last counts"),
        );
    }
}

fn skip(bytes: &[u8], at: usize, within: impl Fn(&u8) -> bool) -> usize {
    at + bytes.iter().skip(at).take_while(|&byte| within(byte)).count()
}

fn piece(line: &Line<'_>, start: usize, end: usize) -> ByteRange {
    let wide = |offset: usize| u64::try_from(offset).unwrap_or(u64::MAX);
    ByteRange::new(wide(start), wide(end)).shifted(line.range.start())
}

fn empty_record(line: &Line<'_>, range: ByteRange) -> Record {
    blank_record(Some(line.number), String::new(), range)
}

/// A record of which nothing is known yet.
pub(crate) fn blank_record(line: Option<u32>, pointer: String, range: ByteRange) -> Record {
    Record {
        line,
        pointer,
        range,
        kind: RecordKind::Unknown,
        label: String::new(),
        id: None,
        message_id: None,
        time: None,
        cwd: None,
        session: None,
        agent: None,
        branch: Branch::Active,
        blocks: Vec::new(),
    }
}

fn opaque(line: &Line<'_>, range: ByteRange, label: &str, text: Option<ByteRange>, why: String) -> Record {
    opaque_record(empty_record(line, range), label, text, why)
}

/// A record that cannot be read; where it is UTF-8, `text` is its place.
pub(crate) fn opaque_record(record: Record, label: &str, text: Option<ByteRange>, why: String) -> Record {
    let block = Block {
        kind: BlockKind::Opaque(why),
        range: record.range,
        pointer: String::new(),
        speaker: Speaker::Unknown,
        visibility: Visibility::Aside,
        copy_of: None,
        text: text.map(|range| TextRange { range, encoding: Encoding::Plain }).into_iter().collect(),
    };
    Record { kind: RecordKind::Opaque, label: label.to_owned(), blocks: vec![block], ..record }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that hands out at most what is asked for, as owned bytes, and counts the largest read.
    struct Pieces(Vec<u8>, std::cell::Cell<u64>);

    impl Bytes for Pieces {
        fn len(&self) -> u64 {
            Bytes::len(&self.0)
        }

        fn read(&self, range: ByteRange) -> Result<Cow<'_, [u8]>> {
            self.1.set(self.1.get().max(range.len()));
            self.0.read(range).map(|bytes| Cow::Owned(bytes.into_owned()))
        }
    }

    fn read(bytes: &[u8]) -> Parts {
        read_records(&bytes.to_vec(), &mut |value, record, _| Record {
            kind: RecordKind::Meta,
            label: value.string_at("t").unwrap_or_default().into_owned(),
            ..record
        })
        .unwrap()
    }

    fn outline(parts: &Parts) -> Vec<(u32, &str)> {
        parts.records.iter().map(|record| (record.line.unwrap(), record.label.as_str())).collect()
    }

    fn codes(parts: &Parts) -> Vec<(&str, u32)> {
        parts.findings.iter().map(|finding| (finding.code, finding.line.unwrap())).collect()
    }

    #[test]
    fn odd_lines_are_read_or_kept_and_named() {
        let text = b"\xEF\xBB\xBF{\"t\":\"a\"}\r\n\n  \n{\"t\":\"b\"}{\"t\":\"c\"}\n\0\0\0{\"t\":\"d\"}\n{\"t\":\n\xff\xfe\n{\"t\":\"e\"}\n{\"t\":\"f";
        let parts = read(text);
        assert_eq!(
            outline(&parts),
            [
                (1, "a"),
                (4, "b"),
                (4, "c"),
                (5, "nul-padding"),
                (5, "d"),
                (6, "malformed-record"),
                (7, "invalid-utf8"),
                (8, "e"),
                (9, "torn-record")
            ]
        );
        assert_eq!(
            codes(&parts),
            [
                ("byte-order-mark", 1),
                ("crlf", 1),
                ("glued-records", 4),
                ("nul-padding", 5),
                ("malformed-record", 6),
                ("invalid-utf8", 7),
                ("torn-record", 9)
            ]
        );
        let mut covered: Vec<ByteRange> = parts.framing.iter().map(|framing| framing.range).collect();
        covered.extend(parts.records.iter().map(|record| record.range));
        covered.sort_unstable();
        let end = covered.iter().fold(0, |at, range| {
            assert_eq!(range.start(), at);
            range.end()
        });
        assert_eq!(end, Bytes::len(text.as_slice()));
    }

    #[test]
    fn a_last_line_without_line_feed_is_read_when_it_is_whole() {
        assert_eq!(outline(&read(b"{\"t\":\"a\"}")), [(1, "a")]);
        assert!(read(b"{\"t\":\"a\"}").findings.is_empty());
        assert_eq!(codes(&read(b"{\"t\":\"\xc3")), [("torn-record", 1)]);
        assert_eq!(outline(&read(b"12 is a number\n")), [(1, "malformed-record")]);
        assert_eq!(codes(&read(b"{\"t\":\"a\"} trailing\n")), [("malformed-record", 1)]);
    }

    #[test]
    fn a_record_over_the_limit_is_opaque_and_the_rest_is_read_in_bounded_pieces() {
        let limit = usize::try_from(RECORD_BYTES_MAX).unwrap();
        let mut bytes = b"{\"t\":\"a\"}\n".to_vec();
        bytes.resize(bytes.len() + limit + 1, b'x');
        bytes.extend_from_slice(b"\n{\"t\":\"b\"}\n");
        let source = Pieces(bytes, std::cell::Cell::new(0));
        let parts = read_records(&source, &mut |_, record, _| record).unwrap();
        assert_eq!(parts.records.len(), 3);
        assert_eq!(codes(&parts), [("record-too-long", 2)]);
        assert!(parts.findings[0].message.contains("16777216"), "{:?}", parts.findings[0]);
        assert!(source.1.get() <= CHUNK_BYTES);
    }

    #[test]
    fn a_record_broken_by_a_raw_line_feed_is_read_as_one() {
        let text =
            b"{\"t\":\"a\"}\n{\"t\":\"b\n\nc\"}\r\n{\"t\":\"d\n{\"t\":\"e\"}\n{\"t\":\"f\nnever closed";
        let parts = read(text);
        assert_eq!(
            outline(&parts),
            [
                (1, "a"),
                (2, "b\n\nc"),
                (5, "malformed-record"),
                (6, "e"),
                (7, "malformed-record"),
                (8, "malformed-record")
            ]
        );
        assert!(codes(&parts).contains(&("broken-record", 2)));
        assert_eq!(parts.records[1].range, ByteRange::new(10, 22));
        let covered: u64 = parts.records.iter().map(|record| record.range.len()).sum::<u64>()
            + parts.framing.iter().map(|framing| framing.range.len()).sum::<u64>();
        assert_eq!(covered, text.len() as u64);
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        let long = "y".repeat(3 << 20);
        let bytes = format!("{{\"t\":\"{long}\"}}\n{{\"t\":\"b\"}}\n").into_bytes();
        let source = Pieces(bytes, std::cell::Cell::new(0));
        let parts = read_records(&source, &mut |value, record, _| Record {
            label: value.string_at("t").unwrap_or_default().into_owned(),
            ..record
        })
        .unwrap();
        assert_eq!(parts.records[0].label.len(), 3 << 20);
        assert_eq!(parts.records[1].label, "b");
    }

    #[test]
    fn limits_of_depth_are_named() {
        let parts = read(format!("{}\n", "[".repeat(100_000)).as_bytes());
        assert_eq!(codes(&parts), [("record-too-deep", 1)]);
        assert!(parts.findings[0].message.contains("1024 levels"));
    }
}
