//! One span: an answer of a model, a call that was run, or an agent above them.

use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Cut, Ending, Finding, Level, Record, RecordKind, ResultFacts,
    Speaker,
};

use super::attributes::{attribute, number, text};
use super::history::{Exchange, History, Message, Told};
use crate::json::{Kind, Value};
use crate::nested::Nested;
use crate::outcome;
use crate::part::{block, finding, owned, plain_text, text_block};

/// What spans of an operation tell; spans of any other are steps of a program.
const OPERATIONS: [(&str, Told); 7] = [
    ("chat", Told::Input),
    ("text_completion", Told::Input),
    ("generate_content", Told::Input),
    ("execute_tool", Told::Run),
    ("invoke_agent", Told::Above),
    ("create_agent", Told::Above),
    ("invoke_workflow", Told::Above),
];

/// Attributes with messages, and what they tell in the span of a model's answer.
const MESSAGES: [(&str, Told); 4] = [
    ("gen_ai.system_instructions", Told::Input),
    ("gen_ai.input.messages", Told::Input),
    ("gen_ai.output.messages", Told::Output),
    ("pydantic_ai.all_messages", Told::Above),
];

/// The types of errors that say how a run ended.
const ENDINGS: [(&str, Ending); 7] = [
    ("timeout", Ending::TimedOut),
    ("TimeoutError", Ending::TimedOut),
    ("asyncio.TimeoutError", Ending::TimedOut),
    ("CancelledError", Ending::Interrupted),
    ("asyncio.CancelledError", Ending::Interrupted),
    ("asyncio.exceptions.CancelledError", Ending::Interrupted),
    ("KeyboardInterrupt", Ending::Interrupted),
];

/// Fills the record of a span and notes what it tells.
pub(super) fn read(span: Value<'_>, record: &mut Record, history: &mut History, findings: &mut Vec<Finding>) {
    let operation = text(span, &["gen_ai.operation.name"]).unwrap_or_default();
    let told = OPERATIONS.iter().find(|(name, _)| *name == operation).map(|(_, told)| *told);
    record.kind = RecordKind::Meta;
    record.label = format!("span/{}", if operation.is_empty() { "other" } else { &operation });
    record.id = owned(span, "spanId");
    record.time = span.get("startTimeUnixNano").and_then(instant);
    record.message_id = text(span, &["gen_ai.response.id"]);
    let conversation = text(span, &["gen_ai.conversation.id"]);
    record.session = conversation.clone().or_else(|| owned(span, "traceId"));
    let mut reader = Reader { groups: Vec::new(), findings };
    match told {
        Some(Told::Run) => reader.run(span),
        Some(told) => reader.messages(span, told),
        None => {}
    }
    let mut groups = reader.groups;
    groups.retain(|group| !group.blocks.is_empty());
    groups.sort_by_key(|group| group.blocks.first().map(|block| block.range));
    let mut messages = Vec::new();
    for Group { told, says, instructs, blocks } in groups {
        messages.push(Message { told, says, instructs, from: record.blocks.len(), blocks: blocks.len() });
        record.blocks.extend(blocks);
    }
    if !record.blocks.is_empty() {
        record.kind = RecordKind::Message;
    }
    // A model answers to what it was given, wherever the two stand.
    messages.sort_by_key(|message| message.told == Told::Output);
    history.exchanges.push(Exchange {
        at: record.range.start(),
        lack: span.get("name").map(Value::range).filter(|_| told == Some(Told::Input)),
        span: record.id.clone(),
        trace: owned(span, "traceId"),
        conversation,
        messages,
    });
}

/// Nanoseconds since 1970, in digits.
fn instant(value: Value<'_>) -> Option<Timestamp> {
    number(value).filter(|nanos| *nanos > 0).map(|nanos| Timestamp::from_ms(nanos / 1_000_000))
}

/// A message with its blocks.
struct Group {
    told: Told,
    says: String,
    instructs: bool,
    blocks: Vec<Block>,
}

struct Reader<'f> {
    groups: Vec<Group>,
    findings: &'f mut Vec<Finding>,
}

impl Reader<'_> {
    fn push(&mut self, told: Told, says: String, blocks: Vec<Block>) {
        self.groups.push(Group { told, says, instructs: false, blocks });
    }

    /// The messages of a span; of an agent above they are told by the spans below, too.
    fn messages(&mut self, span: Value<'_>, whole: Told) {
        for (key, told) in MESSAGES {
            let told = if whole == Told::Above { whole } else { told };
            if let Some(value) = attribute(span, key) {
                self.listed(value, key, told);
            }
        }
        let failure = span.get("status").filter(|status| failed(*status) == Some(true));
        if let Some(why) = failure.and_then(|status| status.get("message")).filter(|_| whole != Told::Above) {
            let own = text_block(why, why, "/status/message".to_owned(), Speaker::Harness);
            self.push(Told::Run, String::new(), vec![own]);
        }
    }

    /// A list of messages, or of the parts of instructions, as a JSON text in a string.
    fn listed(&mut self, value: Value<'_>, key: &'static str, told: Told) {
        let nested = Nested::of(value);
        let list = nested.as_ref().and_then(|nested| Some((nested, nested.root()?)));
        let Some((nested, list)) = list.filter(|(_, list)| list.kind() == Kind::Array) else {
            return self.unread(value, key, told);
        };
        let outer = Outer { value, nested };
        if key == "gen_ai.system_instructions" {
            let (says, blocks) = self.parts(outer, list, "system");
            return self.groups.push(Group { told, says, instructs: true, blocks });
        }
        for message in list.elements() {
            let role = message.string_at("role").unwrap_or_default();
            let parts = message.get("parts").or_else(|| message.get("content")).unwrap_or(message);
            let (says, blocks) = self.parts(outer, parts, &role);
            let instructs = matches!(role.as_ref(), "system" | "developer");
            self.groups.push(Group { told, says: format!("{role}\n{says}"), instructs, blocks });
        }
    }

    /// What is no list of messages: cut by a limit on attributes, or spelled in a way that is not known.
    fn unread(&mut self, value: Value<'_>, key: &str, told: Told) {
        let why = format!("the attribute {key} is no list of messages; it may have been cut");
        self.findings.push(finding(Level::Warning, "unknown-part", None, "/attributes", why.clone()));
        let own = block(BlockKind::Opaque(why), value, "/attributes".to_owned(), Speaker::Unknown);
        self.push(told, String::new(), vec![Block { text: vec![plain_text(value)], ..own }]);
    }

    /// The parts of a message, and what they say.
    fn parts(&mut self, outer: Outer<'_>, parts: Value<'_>, role: &str) -> (String, Vec<Block>) {
        let mut says = String::new();
        let mut blocks = Vec::new();
        let single = (parts.kind() != Kind::Array).then_some(parts);
        for part in parts.elements().chain(single) {
            let (words, own) = outer.part(part, role);
            if let BlockKind::Opaque(why) = &own.kind {
                self.findings.push(finding(Level::Note, "unknown-part", None, &own.pointer, why.clone()));
            }
            says.push_str(&words);
            says.push('\n');
            blocks.push(own);
        }
        (says, blocks)
    }

    /// A call that was run, and what it returned.
    fn run(&mut self, span: Value<'_>) {
        let id = text(span, &["gen_ai.tool.call.id"]);
        let name = attribute(span, "gen_ai.tool.name").or_else(|| span.get("name"));
        let tool = name.and_then(Value::string).unwrap_or_default();
        let given = attribute(span, "gen_ai.tool.call.arguments");
        let arguments = given.map_or(Arguments::Missing, |given| match given.text_range() {
            Some(text) => Arguments::JsonInString(text.range),
            None => Arguments::Json(given.range()),
        });
        let tool = tool.strip_prefix("execute_tool ").unwrap_or(&tool).to_owned();
        let call = BlockKind::Call(CallFacts { id: id.clone(), tool, arguments });
        let whole = given.or(name).unwrap_or(span);
        self.push(
            Told::Run,
            String::new(),
            vec![block(call, whole, "/attributes".to_owned(), Speaker::Assistant)],
        );
        self.push(Told::Run, String::new(), vec![returned(span, id)]);
    }
}

/// What a run returned: its result, or what is said of its failure.
fn returned(span: Value<'_>, call_id: Option<String>) -> Block {
    let status = span.get("status");
    let kind = text(span, &["error.type"]);
    let ending = ENDINGS.iter().find(|(name, _)| kind.as_deref() == Some(*name));
    let mut facts = ResultFacts {
        call_id,
        error: status.and_then(failed).or(kind.as_ref().map(|_| true)),
        ending: ending.map_or(Ending::Returned, |(_, ending)| ending.clone()),
        ..ResultFacts::default()
    };
    let result = attribute(span, "gen_ai.tool.call.result");
    let said = result.or_else(|| status?.get("message")).filter(|said| said.kind() == Kind::String);
    if let Some(said) = said {
        facts.cuts = outcome::cuts(said);
        let own = block(BlockKind::Result(facts), said, "/attributes".to_owned(), Speaker::Tool);
        return Block { text: said.text_range().into_iter().collect(), ..own };
    }
    if let Some(result) = result {
        let own = block(BlockKind::Result(facts), result, "/attributes".to_owned(), Speaker::Tool);
        return Block { text: vec![plain_text(result)], ..own };
    }
    facts.cuts.push(Cut::Placeholder("what it returned was not recorded".to_owned()));
    let end = span.get("endTimeUnixNano").or(status).unwrap_or(span);
    block(BlockKind::Result(facts), end, "/endTimeUnixNano".to_owned(), Speaker::Tool)
}

/// What a status says; most spans are not marked as anything.
fn failed(status: Value<'_>) -> Option<bool> {
    let code = status.get("code")?;
    let name = code.string().unwrap_or_default();
    match (number(code), name.as_ref()) {
        (Some(2), _) | (_, "STATUS_CODE_ERROR") => Some(true),
        (Some(1), _) | (_, "STATUS_CODE_OK") => Some(false),
        _ => None,
    }
}

/// An attribute that spells a JSON text.
#[derive(Clone, Copy)]
struct Outer<'n> {
    value: Value<'n>,
    nested: &'n Nested,
}

impl Outer<'_> {
    fn block(self, kind: BlockKind, whole: Value<'_>, said: Option<Value<'_>>, speaker: Speaker) -> Block {
        let own = block(kind, self.value, "/attributes".to_owned(), speaker);
        let text = said.and_then(|said| self.nested.text(said)).into_iter().collect();
        Block { range: self.nested.range(whole), text, ..own }
    }

    /// A part by its type, and what it says in one spelling.
    fn part(self, part: Value<'_>, role: &str) -> (String, Block) {
        let kind = part.string_at("type").unwrap_or_default();
        let string = |key: &str| part.get(key).filter(|value| value.kind() == Kind::String);
        let said = string("content").or_else(|| string("text"));
        let said = said.or_else(|| Some(part).filter(|part| part.kind() == Kind::String));
        match kind.as_ref() {
            "tool_call" => self.call(part),
            "tool_call_response" => self.response(part),
            "reasoning" | "thinking" => {
                let words = said.and_then(Value::string).unwrap_or_default();
                (format!("thinks {words}"), self.block(BlockKind::Thinking, part, said, Speaker::Assistant))
            }
            "blob" | "file" | "uri" | "image" | "audio" | "video" | "document" => {
                let media_type = owned(part, "mime_type").or_else(|| owned(part, "modality"));
                let media_type = media_type.unwrap_or_else(|| kind.clone().into_owned());
                let words = String::from_utf8_lossy(part.raw()).into_owned();
                (words, self.block(BlockKind::Attachment { media_type }, part, None, speaker(role)))
            }
            "text" | "" if said.is_some() => {
                let words = said.and_then(Value::string).unwrap_or_default();
                (format!("says {words}"), self.block(BlockKind::Text, part, said, speaker(role)))
            }
            other => {
                let why = format!("a part of unknown type {other:?}");
                let words = String::from_utf8_lossy(part.raw()).into_owned();
                let own = self.block(BlockKind::Opaque(why), part, said, Speaker::Unknown);
                let whole = strongroom_core::transcript::TextRange {
                    range: own.range,
                    encoding: strongroom_core::transcript::Encoding::Json,
                };
                (words, Block { text: vec![whole], ..own })
            }
        }
    }

    fn call(self, part: Value<'_>) -> (String, Block) {
        let arguments = part.get("arguments").filter(|given| given.kind() != Kind::Null);
        let facts = CallFacts {
            id: owned(part, "id"),
            tool: owned(part, "name").unwrap_or_default(),
            arguments: arguments.map_or(Arguments::Missing, |given| self.nested.arguments(given)),
        };
        let words = format!("calls {:?} {}", facts.id, facts.tool);
        let words = if facts.id.is_some() { words } else { String::from_utf8_lossy(part.raw()).into_owned() };
        (words, self.block(BlockKind::Call(facts), part, None, Speaker::Assistant))
    }

    fn response(self, part: Value<'_>) -> (String, Block) {
        let content = part.get("response").or_else(|| part.get("result"));
        let call_id = owned(part, "id");
        let words = content.map(|content| String::from_utf8_lossy(content.raw()).into_owned());
        let words = format!("returns {call_id:?} {}", words.unwrap_or_default());
        let facts = ResultFacts { call_id, ..ResultFacts::default() };
        let said = content.filter(|content| content.kind() == Kind::String);
        let mut own = self.block(BlockKind::Result(facts), part, said, Speaker::Tool);
        if let (Some(content), None) = (content, said) {
            own.text.push(strongroom_core::transcript::TextRange {
                range: self.nested.range(content),
                encoding: strongroom_core::transcript::Encoding::Json,
            });
        }
        (words, own)
    }
}

fn speaker(role: &str) -> Speaker {
    match role {
        "user" => Speaker::User,
        "system" | "developer" => Speaker::Operator,
        "assistant" | "model" => Speaker::Assistant,
        "tool" => Speaker::Tool,
        _ => Speaker::Unknown,
    }
}
