//! Logs of Inspect: a task with its samples, each a conversation; or one sample of an unpacked archive.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Cut, Ending, Finding, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker, Visibility,
};

use crate::chat;
use crate::document::{self, Adapter, Member, Paths, unknown};
use crate::json::{Kind, Value};
use crate::part::{block, content_texts, owned, time_of};

const PATHS: Paths = &[
    &["samples", "*", "messages", "*"],
    &["samples", "*", "events", "*"],
    &["messages", "*"],
    &["events", "*"],
];

/// What stands where a long text was moved into the sample's attachments.
const ATTACHMENT: &str = "attachment://";

/// Errors of a call by their type, and what they say of the run.
const ENDINGS: [(&str, Ending); 2] = [("timeout", Ending::TimedOut), ("approval", Ending::Refused)];

/// Reads a log.
///
/// # Errors
/// As [`document::index_at`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    document::index_at("inspect", PATHS, source, &mut Reader::default())
}

/// What the event of a call tells.
#[derive(Debug, Default)]
struct Event {
    time: Option<Timestamp>,
    /// The bytes before and after a cut.
    truncated: Option<(i64, i64)>,
    /// Whether a message of the sample answers the call.
    told: bool,
}

#[derive(Debug, Default)]
struct Reader {
    samples: Vec<Sample>,
    is_list: bool,
}

#[derive(Debug, Default)]
struct Sample {
    name: Option<String>,
    events: BTreeMap<String, Event>,
}

impl Adapter for Reader {
    fn begin(&mut self, root: Value<'_>) {
        self.is_list = root.get("samples").is_some();
        self.samples = match root.get("samples") {
            Some(all) => all.elements().map(sample).collect(),
            None => vec![sample(root)],
        };
    }

    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let Member::Message(value) = member else { return };
        let place = record.pointer.split('/').find_map(|part| part.parse::<usize>().ok());
        let sample = self.samples.get(place.filter(|_| self.is_list).unwrap_or_default());
        record.session = sample.and_then(|sample| sample.name.clone());
        let none = BTreeMap::new();
        let events = sample.map_or(&none, |sample| &sample.events);
        if record.pointer.contains("/events/") {
            event(value, events, record);
        } else {
            message(value, events, record, findings);
        }
    }
}

fn sample(value: Value<'_>) -> Sample {
    let number = |key: &str| value.get(key).and_then(Value::integer).map(|number| number.to_string());
    let id = owned(value, "id").or_else(|| number("id"));
    let epoch = number("epoch").map(|epoch| format!(" epoch {epoch}")).unwrap_or_default();
    let mut events = BTreeMap::new();
    for event in value.get("events").into_iter().flat_map(Value::elements) {
        if let (true, Some(id)) = (is_tool(event), owned(event, "id")) {
            let mut cut = event.get("truncated").into_iter().flat_map(Value::elements).map(Value::integer);
            let truncated = cut.next().flatten().zip(cut.next().flatten());
            let time = event.get("timestamp").and_then(time_of);
            events.insert(id, Event { time, truncated, told: false });
        }
    }
    for message in value.get("messages").into_iter().flat_map(Value::elements) {
        let called = message.get("tool_calls").into_iter().flat_map(Value::elements);
        let named = called.filter_map(|call| owned(call, "id")).chain(owned(message, "tool_call_id"));
        for id in named {
            if let Some(event) = events.get_mut(&id) {
                event.told = true;
            }
        }
    }
    Sample { name: id.map(|id| format!("sample {id}{epoch}")), events }
}

fn is_tool(event: Value<'_>) -> bool {
    event.get("event").is_some_and(|kind| kind.is("tool"))
}

fn message(
    value: Value<'_>,
    events: &BTreeMap<String, Event>,
    record: &mut Record,
    findings: &mut Vec<Finding>,
) {
    let role = value.string_at("role").unwrap_or_default();
    if role != "tool" {
        chat::message(value, record, findings);
        return;
    }
    record.kind = RecordKind::Message;
    "message/tool".clone_into(&mut record.label);
    record.id = owned(value, "id");
    let Some(content) = value.get("content") else {
        return unknown(record, value, "a result without content", findings);
    };
    let call_id = owned(value, "tool_call_id");
    let event = call_id.as_ref().and_then(|id| events.get(id));
    record.time = event.and_then(|event| event.time);
    let cuts = event.and_then(|event| event.truncated).map(cut).into_iter();
    let cuts = cuts.chain(moved_away(content)).collect();
    let facts = failed(value.get("error"), ResultFacts { call_id, cuts, ..ResultFacts::default() });
    let own = block(BlockKind::Result(facts), content, "/content".to_owned(), Speaker::Tool);
    record.blocks.push(Block { text: content_texts(content), ..own });
}

fn cut((whole, kept): (i64, i64)) -> Cut {
    Cut::Truncated(format!("{kept} of {whole} bytes kept"))
}

fn moved_away(content: Value<'_>) -> Option<Cut> {
    let text = content.string().filter(|text| text.starts_with(ATTACHMENT))?;
    Some(Cut::Placeholder(format!(
        "the text is the sample's attachment {}",
        text.trim_start_matches(ATTACHMENT)
    )))
}

fn failed(error: Option<Value<'_>>, facts: ResultFacts) -> ResultFacts {
    let Some(error) = error.filter(|error| error.kind() == Kind::Object) else { return facts };
    let kind = error.string_at("type").unwrap_or_default();
    let ending = ENDINGS.iter().find(|(name, _)| *name == kind);
    let ending = ending.map_or(Ending::Returned, |(_, ending)| ending.clone());
    ResultFacts { error: Some(true), ending, ..facts }
}

/// An event. A call that no message tells, of an agent below the main one, is read from its event.
fn event(value: Value<'_>, events: &BTreeMap<String, Event>, record: &mut Record) {
    let kind = value.string_at("event").unwrap_or_default();
    record.label = format!("event/{kind}");
    record.time = value.get("timestamp").and_then(time_of);
    let id = owned(value, "id");
    let known = id.as_ref().and_then(|id| events.get(id)).filter(|event| !event.told);
    let Some(known) = known.filter(|_| is_tool(value)) else { return };
    record.kind = RecordKind::Message;
    let arguments = value.get("arguments");
    let call = CallFacts {
        id: id.clone(),
        tool: owned(value, "function").unwrap_or_default(),
        arguments: arguments.map_or(Arguments::Missing, |arguments| Arguments::Json(arguments.range())),
    };
    let whole = arguments.or_else(|| value.get("function")).unwrap_or(value);
    record.blocks.push(block(BlockKind::Call(call), whole, "/arguments".to_owned(), Speaker::Agent));
    if let Some(result) = value.get("result") {
        let cuts = known.truncated.map(cut).into_iter().chain(moved_away(result)).collect();
        let facts = failed(value.get("error"), ResultFacts { call_id: id, cuts, ..ResultFacts::default() });
        let own = block(BlockKind::Result(facts), result, "/result".to_owned(), Speaker::Tool);
        record.blocks.push(Block { text: content_texts(result), ..own });
    }
    for block in &mut record.blocks {
        block.visibility = Visibility::Aside;
    }
    record.blocks.sort_by_key(|block| block.range);
}
