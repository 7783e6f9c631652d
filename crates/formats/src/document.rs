//! One JSON document that holds lists of messages: a request body, a log of a run.
//!
//! Every message is a record, and so is every other member of a list or object on the way to one. Brackets, commas,
//! whitespace and the keys of what was opened are framing.

use std::collections::BTreeSet;

use strongroom_core::error::Result;
use strongroom_core::range::{ByteRange, RangeSet};
use strongroom_core::transcript::{Bytes, Finding, Form, Framing, Level, Record, RecordKind, SourceIndex};

use crate::declared;
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

/// Fills records from the members of a document.
pub(crate) trait Adapter {
    /// Looks at the whole document before its members are read.
    fn begin(&mut self, _root: Value<'_>) {}

    /// Fills a record from a member; findings have pointers inside the record.
    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>);
}

impl<F: FnMut(Member<'_>, &mut Record, &mut Vec<Finding>)> Adapter for F {
    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        self(member, record, findings);
    }
}

/// Where the messages of a document stand: paths of keys, with `*` for every element of a list.
pub(crate) type Paths = &'static [&'static [&'static str]];

/// Where a reader looks for messages.
#[derive(Debug, Clone, Copy)]
enum Places {
    /// In the document itself, or in the first member of these names that is a list.
    Lists(&'static [&'static str]),
    Paths(Paths),
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
    mut adapt: Adapt<'_>,
) -> Result<SourceIndex> {
    read(format, source, Places::Lists(lists), &mut adapt)
}

/// Reads a document whose messages stand at `paths` into an index.
///
/// # Errors
/// `InvalidInput` for an empty source, and as [`Bytes::read`].
pub(crate) fn index_at(
    format: &'static str,
    paths: Paths,
    source: &dyn Bytes,
    adapter: &mut dyn Adapter,
) -> Result<SourceIndex> {
    read(format, source, Places::Paths(paths), adapter)
}

fn read(
    format: &'static str,
    source: &dyn Bytes,
    places: Places,
    adapter: &mut dyn Adapter,
) -> Result<SourceIndex> {
    refuse_empty(source)?;
    let mut reader = Reader {
        records: Vec::new(),
        findings: Vec::new(),
        changing_tools: BTreeSet::new(),
        places,
        adapter,
    };
    reader.read(source)?;
    let Reader { mut records, mut findings, changing_tools, .. } = reader;
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
        changing_tools,
    })
}

struct Reader<'a> {
    records: Vec<Record>,
    findings: Vec<Finding>,
    changing_tools: BTreeSet<String>,
    places: Places,
    adapter: &'a mut dyn Adapter,
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
        self.adapter.begin(root);
        match self.places {
            Places::Paths(paths) => self.open(root, ("", ""), paths),
            Places::Lists(lists) => {
                let is_list = |key: &&&str| root.get(key).is_some_and(|value| value.kind() == Kind::Array);
                let below = lists.iter().find(is_list).map(|key| [*key, "*"]);
                let paths: Vec<&[&str]> =
                    [&["*"][..]].into_iter().chain(below.as_ref().map(<[&str; 2]>::as_slice)).collect();
                self.open(root, ("", ""), &paths);
            }
        }
        let rest = ByteRange::new(base + u64::try_from(end).unwrap_or_default(), all.end());
        if bytes.get(end..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
            let why = format!("{} bytes behind the document", rest.len());
            self.opaque(rest, "trailing-bytes", Some(rest), why);
        }
    }

    /// Opens `value` where messages stand below it; `paths` are what is left of the paths that lead there.
    fn open(&mut self, value: Value<'_>, (pointer, label): (&str, &str), paths: &[&[&str]]) {
        let below = |step: &dyn Fn(&str) -> bool| -> Vec<&[&str]> {
            paths
                .iter()
                .filter_map(|path| path.split_first())
                .filter(|(key, _)| step(key))
                .map(|(_, rest)| rest)
                .collect()
        };
        if paths.iter().any(|path| path.is_empty()) {
            return self.record(Member::Message(value), value, pointer.to_owned(), "message".to_owned());
        }
        let elements = below(&|key| key == "*");
        if value.kind() == Kind::Array && !elements.is_empty() {
            for (at, element) in value.elements().enumerate() {
                self.open(element, (&format!("{pointer}/{at}"), label), &elements);
            }
        } else if value.kind() == Kind::Object && !below(&|key| key != "*").is_empty() {
            if let Some(key) = value.duplicate_key() {
                self.find(Level::Note, "duplicate-key", pointer, format!("the key {key:?} stands twice"));
            }
            for (name, member) in value.entries() {
                let key = name.string().unwrap_or_default();
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                self.open(member, (&pointer, &key), &below(&|own| own == key));
            }
        } else {
            self.record(Member::Field(value), value, pointer.to_owned(), label.to_owned());
        }
    }

    fn record(&mut self, member: Member<'_>, value: Value<'_>, pointer: String, label: String) {
        if matches!(member, Member::Message(_)) || label == "tools" {
            self.changing_tools.extend(declared::changing(value));
        }
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
        self.adapter.read(member, &mut record, &mut found);
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
