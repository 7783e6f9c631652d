//! Results of tau-bench and tau2-bench: the conversations of many tasks in one file, each a session of its own.

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Block, BlockKind, Bytes, Finding, Record, RecordKind, ResultFacts, SourceIndex, Speaker,
};

use crate::chat;
use crate::document::{self, Adapter, Member, Paths, unknown};
use crate::json::{Kind, Value};
use crate::part::{block, content_texts, owned, time_of};

const PATHS: Paths = &[
    &["*", "traj", "*"],
    &["simulations", "*", "messages", "*"],
    &["simulations", "*", "ticks", "*"],
    &["messages", "*"],
    &["ticks", "*"],
];

/// Reads results.
///
/// # Errors
/// As [`document::index_at`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    document::index_at("tau-bench", PATHS, source, &mut Reader::default())
}

#[derive(Debug, Default)]
struct Reader {
    /// The names of the conversations, by the place of each in its list.
    sessions: Vec<Option<String>>,
}

impl Adapter for Reader {
    fn begin(&mut self, root: Value<'_>) {
        self.sessions = match root.get("simulations") {
            Some(all) => all.elements().map(|one| owned(one, "id")).collect(),
            None if root.kind() == Kind::Array => root.elements().map(trial).collect(),
            None => vec![owned(root, "id")],
        };
    }

    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let Member::Message(value) = member else { return };
        let place = record.pointer.split('/').find_map(|part| part.parse::<usize>().ok());
        let is_list = self.sessions.len() != 1;
        let session = place.filter(|_| is_list).unwrap_or_default();
        record.session = self.sessions.get(session).cloned().flatten();
        record.time = value.get("timestamp").and_then(time_of);
        if record.pointer.contains("/ticks/") {
            tick(value, record, findings);
        } else {
            message(value, record, findings);
        }
    }
}

/// The name of a conversation: its task and which trial of it.
fn trial(one: Value<'_>) -> Option<String> {
    let number = |key: &str| one.get(key).and_then(Value::integer);
    let task = owned(one, "task_id").or_else(|| number("task_id").map(|task| task.to_string()))?;
    Some(number("trial").map_or_else(|| format!("task {task}"), |trial| format!("task {task} trial {trial}")))
}

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let role = value.string_at("role").unwrap_or_default();
    let several = value.get("tool_messages").filter(|list| list.kind() == Kind::Array);
    record.kind = RecordKind::Message;
    record.label = format!("message/{role}");
    match role.as_ref() {
        "user" => {
            chat::content(value, Speaker::User, &mut record.blocks, findings);
            chat::calls(value, Speaker::User, &mut record.blocks, findings);
        }
        "tool" => match several {
            Some(list) => {
                let results = list.elements().enumerate();
                record.blocks.extend(results.map(|(at, one)| result(one, format!("/tool_messages/{at}"))));
            }
            None => record.blocks.push(result(value, String::new())),
        },
        _ if value.kind() != Kind::Object => unknown(record, value, "a message that is no object", findings),
        _ => chat::message(value, record, findings),
    }
}

/// What a tool of the domain returned; tau2 says whether it failed.
fn result(value: Value<'_>, pointer: String) -> Block {
    let facts = ResultFacts {
        call_id: owned(value, "tool_call_id").or_else(|| owned(value, "id")),
        error: value.get("error").and_then(Value::bool),
        ..ResultFacts::default()
    };
    match value.get("content") {
        Some(content) => Block {
            text: content_texts(content),
            ..block(BlockKind::Result(facts), content, format!("{pointer}/content"), Speaker::Tool)
        },
        None => block(BlockKind::Result(facts), value, pointer, Speaker::Tool),
    }
}

/// What is said and called in one moment of a spoken conversation.
fn tick(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    "tick".clone_into(&mut record.label);
    for (side, speaker) in [("agent", Speaker::Assistant), ("user", Speaker::User)] {
        let from = record.blocks.len();
        let chunk = format!("{side}_chunk");
        if let Some(chunk) = value.get(&chunk).filter(|chunk| chunk.kind() == Kind::Object) {
            chat::content(chunk, speaker, &mut record.blocks, findings);
            chat::calls(chunk, speaker, &mut record.blocks, findings);
        }
        for block in record.blocks.iter_mut().skip(from) {
            block.pointer = format!("/{chunk}{}", block.pointer);
        }
        let list = |key: String| value.get(&key).into_iter().flat_map(Value::elements).enumerate();
        for (at, call) in list(format!("{side}_tool_calls")) {
            let pointer = format!("/{side}_tool_calls/{at}");
            let own = chat::tool_call(call, call, owned(call, "id"), pointer);
            record.blocks.push(Block { speaker, ..own });
        }
        for (at, one) in list(format!("{side}_tool_results")) {
            record.blocks.push(result(one, format!("/{side}_tool_results/{at}")));
        }
    }
    record.blocks.sort_by_key(|block| block.range);
    record.kind = if record.blocks.is_empty() { RecordKind::Meta } else { RecordKind::Message };
}
