//! Events of `OpenHands`: of the first generation a list of actions and observations (or an evaluation with a
//! `history` on each line), of the second a line for each event.

mod first;

mod second;

mod view;

mod write;

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Form, Record, SourceIndex};

use crate::document::{self, Member, unknown};
use crate::format::{Edit, Format, Spliced, refuse_empty};
use crate::json::{Kind, Tape, Value};
use crate::lines::{RECORD_BYTES_MAX, index_records};

/// The format `openhands`.
#[derive(Debug)]
pub(crate) struct OpenHands;

/// Why an evaluation is not written back.
const EVALUATION: &str = "it holds the results of an evaluation, which no agent goes on with";

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One list.
    List,
    /// Each on a line.
    Lines,
    /// Evaluations: on each line a task with its history.
    Evaluation,
}

impl Format for OpenHands {
    fn name(&self) -> &'static str {
        "openhands"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        refuse_empty(source)?;
        let mut reader = Reader::default();
        let shape = shape(source)?;
        let mut index = if shape == Shape::List {
            document::index(self.name(), source, &["events", "history"], &mut |member, record, findings| {
                if let Member::Message(value) = member {
                    reader.event(value, record, findings);
                }
            })?
        } else {
            index_records(self.name(), Form::Fold, source, &mut |value, record, findings| {
                reader.line(value, record, findings);
            })?
        };
        index.form = if shape == Shape::Evaluation { Form::ReadOnly(EVALUATION) } else { Form::Fold };
        view::resolve(&mut index.records, &reader.condensations);
        Ok(index)
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        match shape(source)? {
            Shape::Evaluation if !edit.is_empty() => {
                Err(Error::invalid_input(format!("not written back: {EVALUATION}")))
            }
            shape => write::splice(self, shape, source, (index, spans), edit),
        }
    }
}

/// Which generation wrote an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    First,
    Second,
}

fn generation(value: Value<'_>) -> Generation {
    if value.get("kind").is_some() { Generation::Second } else { Generation::First }
}

/// Reads events one after the other.
#[derive(Debug, Default)]
struct Reader {
    /// By the first byte of their records.
    condensations: Vec<(u64, view::Condensation)>,
    first: first::Reader,
}

impl Reader {
    fn line(
        &mut self,
        value: Value<'_>,
        record: &mut Record,
        findings: &mut Vec<strongroom_core::transcript::Finding>,
    ) {
        let history = value.get("history").filter(|history| history.kind() == Kind::Array);
        let Some(history) = history else { return self.event(value, record, findings) };
        let name = value.string_at("instance_id").map(std::borrow::Cow::into_owned);
        record.agent = name.or_else(|| record.line.map(|line| format!("line {line}")));
        "evaluation".clone_into(&mut record.label);
        record.kind = strongroom_core::transcript::RecordKind::Message;
        self.first = first::Reader::default();
        for (at, value) in history.elements().enumerate() {
            let pointer = format!("/history/{at}");
            // Older evaluations hold pairs of an action and its observation.
            if value.kind() == Kind::Array {
                for (n, value) in value.elements().enumerate() {
                    self.first.nested(value, &format!("{pointer}/{n}"), record, findings);
                }
            } else {
                self.first.nested(value, &pointer, record, findings);
            }
        }
    }

    fn event(
        &mut self,
        value: Value<'_>,
        record: &mut Record,
        findings: &mut Vec<strongroom_core::transcript::Finding>,
    ) {
        if value.kind() != Kind::Object {
            return unknown(record, value, "an event that is no object", findings);
        }
        let start = record.range.start();
        let condensation = match generation(value) {
            Generation::First => self.first.read(value, record, findings),
            Generation::Second => second::read(value, record, findings),
        };
        self.condensations.extend(condensation.map(|condensation| (start, condensation)));
    }
}

/// Events on lines begin with an object on a line of its own.
fn shape(source: &dyn Bytes) -> Result<Shape> {
    let head = source.read(ByteRange::new(0, source.len().min(RECORD_BYTES_MAX)))?;
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut tape = Tape::new();
    let first = tape.scan(line).ok().and_then(|_| tape.root(line, 0));
    Ok(match first {
        Some(value) if value.kind() == Kind::Object && value.get("history").is_some() => Shape::Evaluation,
        Some(value) if value.kind() == Kind::Object && value.get("events").is_none() => Shape::Lines,
        _ => Shape::List,
    })
}
