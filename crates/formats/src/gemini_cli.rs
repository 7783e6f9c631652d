//! Sessions of Gemini CLI: one document with `messages`, lines of messages and patches, or a stream of events.

mod message;

mod log;

mod stream;

mod write;

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Form, SourceIndex};

use crate::document::{self, Member};
use crate::elide::{self, Rules, unpaired};
use crate::format::{Edit, Format, Resume, Spliced, refuse_empty};
use crate::ids::derive;
use crate::json::{Tape, Value};
use crate::lines::RECORD_BYTES_MAX;

/// The format `gemini-cli`.
#[derive(Debug)]
pub(crate) struct GeminiCli;

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One document with `messages`.
    Document,
    /// A line of metadata, then messages and patches.
    Log,
    /// The events of `--output-format stream-json`.
    Stream,
}

impl Format for GeminiCli {
    fn name(&self) -> &'static str {
        "gemini-cli"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        refuse_empty(source)?;
        match shape(source)? {
            Shape::Document => self.document(source),
            Shape::Log => log::index(self.name(), source),
            Shape::Stream => stream::index(self.name(), source),
        }
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        match shape(source)? {
            Shape::Document => elide::splice(self, &RULES, source, (index, spans), edit),
            Shape::Log => write::splice(self, source, index, spans, edit),
            Shape::Stream => elide::splice(self, &stream::RULES, source, (index, spans), edit),
        }
    }

    fn resume(&self, index: &SourceIndex, _edit: &Edit) -> Option<Resume> {
        let first = index.records.iter().find_map(|record| Some((record.session.clone()?, record.time?)))?;
        let at = jiff::Timestamp::from_millisecond(first.1.as_ms()).ok()?;
        let (time, id) = (at.strftime("%Y-%m-%dT%H-%M"), first.0);
        let short: String = id.chars().take(8).collect();
        let end = if index.form == Form::Fold { "jsonl" } else { "json" };
        Some(Resume {
            file_name: format!("session-{time}-{short}.{end}"),
            command: format!("gemini --resume {id}"),
            directory: None,
        })
    }
}

impl GeminiCli {
    fn document(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        let mut reader = message::Reader::default();
        let mut session = None;
        let mut index = document::index(
            self.name(),
            source,
            RULES.lists,
            &mut |member, record, findings| match member {
                Member::Message(value) => reader.read(value, "", record, findings),
                Member::Field(value) if record.pointer == "/sessionId" => {
                    session = value.string().map(Into::into);
                }
                Member::Field(_) => {}
            },
        )?;
        index.usage = reader.usage(&index.records);
        index.records.iter_mut().for_each(|record| record.session.clone_from(&session));
        Ok(index)
    }
}

/// The summary is the first message; what the program noted stays where it stands.
const RULES: Rules = Rules {
    summary,
    part: [r#"{"text":"#, "}"],
    outputs: crate::genai::RESPONSES,
    output_member: Some("output"),
    violations,
    ..Rules::MESSAGES
};

/// A message needs an id and a time: those of the session's first.
fn summary(messages: &[Value<'_>], text: &[u8]) -> Vec<u8> {
    let time = messages.iter().find_map(|message| message.get("timestamp"));
    let time = time.map_or(br#""1970-01-01T00:00:00.000Z""#.as_slice(), Value::raw);
    let id = derive("strongroom/gemini-cli/summary", &[text]);
    let head = format!(r#"{{"id":"{id}","timestamp":"#);
    [head.as_bytes(), time, br#","type":"user","content":"#, text, b"}"].concat()
}

fn violations(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
    unpaired(index)
}

/// A log begins with an object on a line of its own that holds no messages.
fn shape(source: &dyn Bytes) -> Result<Shape> {
    let head = source.read(ByteRange::new(0, source.len().min(RECORD_BYTES_MAX)))?;
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut tape = Tape::new();
    let first = tape.scan(line).ok().and_then(|_| tape.root(line, 0));
    Ok(match first {
        Some(value)
            if value.get("tool_id").is_some()
                || stream::EVENTS.iter().any(|kind| value.get("type").is_some_and(|own| own.is(kind))) =>
        {
            Shape::Stream
        }
        Some(value) if value.get("messages").is_none() => Shape::Log,
        _ => Shape::Document,
    })
}
