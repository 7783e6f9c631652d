//! Request bodies: one JSON document that holds a list of messages.
//!
//! Every message is a record, and so is every other member of the top level. Brackets, commas, whitespace and
//! the keys of the top level are framing.

use strongroom_core::error::Result;
use strongroom_core::range::{ByteRange, RangeSet};
use strongroom_core::transcript::{Bytes, Finding, Form, Framing, Level, Record, RecordKind, SourceIndex};

use crate::format::refuse_empty;
use crate::json::{Kind, Reason, Tape, Value};
use crate::lines::{blank_record, opaque_record};
use crate::part::finding;

/// The largest document that is read; a larger one is one opaque record.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// A part of a document that becomes a record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Member<'v> {
    /// An element of the list of messages.
    Message(Value<'v>),
    /// Another member of the top level.
    Field(Value<'v>),
}

/// Fills a record from a member; findings have pointers inside the record.
pub(crate) type Adapt<'a> = &'a mut dyn FnMut(Member<'_>, &mut Record, &mut Vec<Finding>);

/// Reads a document into an index; its list of messages is the document itself or a member named in `lists`.
///
/// # Errors
/// `InvalidInput` for an empty source, and as [`Bytes::read`].
pub(crate) fn index(
    format: &'static str,
    source: &dyn Bytes,
    lists: &'static [&'static str],
    adapt: Adapt<'_>,
) -> Result<SourceIndex> {
    refuse_empty(source)?;
    let mut reader = Reader { records: Vec::new(), findings: Vec::new(), lists, adapt };
    reader.read(source)?;
    let Reader { mut records, mut findings, .. } = reader;
    records.sort_by_key(|record| record.range);
    findings.sort_by(|one, two| {
        one.pointer.len().cmp(&two.pointer.len()).then_with(|| one.pointer.cmp(&two.pointer))
    });
    let covered: RangeSet = records.iter().map(|record| record.range).collect();
    let gaps = covered.gaps_in(ByteRange::new(0, source.len()));
    let framing =
        gaps.as_slice().iter().map(|&range| Framing { range, name: "brackets, commas, keys and space" });
    Ok(SourceIndex {
        format,
        form: Form::Elide,
        len: source.len(),
        framing: framing.collect(),
        records,
        findings,
        side_items: Vec::new(),
        usage: Vec::new(),
    })
}

struct Reader<'a> {
    records: Vec<Record>,
    findings: Vec<Finding>,
    lists: &'static [&'static str],
    adapt: Adapt<'a>,
}

impl Reader<'_> {
    fn find(&mut self, level: Level, code: &'static str, pointer: &str, message: String) {
        self.findings.push(finding(level, code, None, pointer, message));
    }

    fn opaque(&mut self, range: ByteRange, code: &'static str, text: Option<ByteRange>, why: String) {
        self.find(Level::Damage, code, "", why.clone());
        self.records.push(opaque_record(blank_record(None, String::new(), range), code, text, why));
    }

    fn read(&mut self, source: &dyn Bytes) -> Result<()> {
        let all = ByteRange::new(0, source.len());
        if source.len() > DOCUMENT_BYTES_MAX {
            let why = format!(
                "a document of {} bytes is over the limit of {DOCUMENT_BYTES_MAX} bytes and was not read",
                source.len()
            );
            self.opaque(all, "document-too-long", None, why);
            return Ok(());
        }
        let bytes = source.read(all)?;
        if let Err(error) = std::str::from_utf8(&bytes) {
            self.opaque(
                all,
                "invalid-utf8",
                None,
                format!("not valid UTF-8 at byte {}", error.valid_up_to()),
            );
            return Ok(());
        }
        let skipped = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        if skipped > 0 {
            self.find(Level::Note, "byte-order-mark", "", "begins with a byte order mark".to_owned());
        }
        self.document(bytes.get(skipped..).unwrap_or_default(), u64::try_from(skipped).unwrap_or_default());
        Ok(())
    }

    fn document(&mut self, bytes: &[u8], base: u64) {
        let all = ByteRange::new(0, u64::try_from(bytes.len()).unwrap_or_default()).shifted(base);
        let mut tape = Tape::new();
        let end = match tape.scan(bytes) {
            Ok(end) => end,
            Err(damage) => {
                let code = match damage.reason {
                    Reason::CutOff | Reason::CutInString => "torn-record",
                    Reason::TooDeep => "record-too-deep",
                    Reason::TooMany | Reason::TooLong => "record-too-large",
                    Reason::Unexpected(_)
                    | Reason::ControlByte(_)
                    | Reason::BadEscape
                    | Reason::BadNumber => "malformed-record",
                };
                return self.opaque(all, code, Some(all), damage.to_string());
            }
        };
        let Some(root) = tape.root(bytes, base) else { return };
        for oddity in root.oddities() {
            self.find(Level::Note, oddity.code(), "", oddity.message().to_owned());
        }
        self.top_level(root);
        let rest = ByteRange::new(base + u64::try_from(end).unwrap_or_default(), all.end());
        if bytes.get(end..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
            let why = format!("{} bytes behind the document", rest.len());
            self.opaque(rest, "trailing-bytes", Some(rest), why);
        }
    }

    fn top_level(&mut self, root: Value<'_>) {
        match root.kind() {
            Kind::Array => self.messages(root, ""),
            Kind::Object => {
                if let Some(key) = root.duplicate_key() {
                    self.find(Level::Note, "duplicate-key", "", format!("the key {key:?} stands twice"));
                }
                let list = list_of(root, self.lists).map(Value::range);
                for (key, value) in root.entries() {
                    let is_list = list == Some(value.range());
                    let key = key.string().unwrap_or_default();
                    let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                    if is_list {
                        self.messages(value, &pointer);
                    } else {
                        let label = key.into_owned();
                        self.record(Member::Field(value), value, pointer, label);
                    }
                }
            }
            Kind::Null | Kind::True | Kind::False | Kind::Number | Kind::String => {
                self.record(Member::Field(root), root, String::new(), String::new());
            }
        }
    }

    fn messages(&mut self, list: Value<'_>, pointer: &str) {
        for (at, message) in list.elements().enumerate() {
            self.record(Member::Message(message), message, format!("{pointer}/{at}"), "message".to_owned());
        }
    }

    fn record(&mut self, member: Member<'_>, value: Value<'_>, pointer: String, label: String) {
        let mut record = blank_record(None, pointer, value.range());
        record.label = label;
        record.kind = RecordKind::Meta;
        let mut found = Vec::new();
        if let (Member::Message(_), Some(key)) = (member, value.duplicate_key()) {
            found.push(finding(
                Level::Note,
                "duplicate-key",
                None,
                "",
                format!("the key {key:?} stands twice; the last counts"),
            ));
        }
        (self.adapt)(member, &mut record, &mut found);
        for mut finding in found {
            finding.pointer = format!("{}{}", record.pointer, finding.pointer);
            self.findings.push(finding);
        }
        self.records.push(record);
    }
}

/// The list of messages: the document itself, or the first member named in `lists` that is a list.
pub(crate) fn list_of<'v>(root: Value<'v>, lists: &[&str]) -> Option<Value<'v>> {
    let is_list = |value: &Value<'_>| value.kind() == Kind::Array;
    if is_list(&root) {
        return Some(root);
    }
    lists.iter().find_map(|key| root.get(key).filter(is_list))
}

/// Marks a record as readable and not understood.
pub(crate) fn unknown(record: &mut Record, value: Value<'_>, why: &str, findings: &mut Vec<Finding>) {
    use strongroom_core::transcript::{Block, BlockKind, Speaker};
    findings.push(finding(Level::Note, "unknown-record", None, "", why.to_owned()));
    record.kind = RecordKind::Unknown;
    let own = crate::part::block(BlockKind::Opaque(why.to_owned()), value, String::new(), Speaker::Unknown);
    record.blocks.push(Block { text: vec![crate::part::plain_text(value)], ..own });
}
