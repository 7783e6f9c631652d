//! Contents of the Gemini API, `{role, parts}`: request bodies and saved chats; Gemini CLI writes the same parts.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Finding, Level, Record, RecordKind, ResultFacts,
    SourceIndex, Speaker, TextRange,
};

use crate::document::{self, Member, unknown};
use crate::elide::{self, Rules, turns, unpaired};
use crate::format::{Edit, Format, Spliced};
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// The format `genai-contents`.
#[derive(Debug)]
pub(crate) struct GenAiContents;

impl Format for GenAiContents {
    fn name(&self) -> &'static str {
        "genai-contents"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        let mut pairs = Pairs::default();
        document::index(self.name(), source, RULES.lists, &mut |member, record, findings| match member {
            Member::Message(value) => message(value, record, &mut pairs, findings),
            Member::Field(value) => field(value, record, &mut pairs, findings),
        })
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        elide::splice(self, &RULES, source, (index, spans), edit)
    }
}

/// The summary is the first content; contents of one role may follow one another.
const RULES: Rules = Rules {
    lists: &["contents", "history"],
    summary: |_, text| [br#"{"role":"user","parts":[{"text":"#, text, b"}]}"].concat(),
    part: [r#"{"text":"#, "}"],
    outputs: RESPONSES,
    output_member: Some("output"),
    violations,
    ..Rules::MESSAGES
};

/// The ways from a part to what a function returned.
pub(crate) const RESPONSES: &[&[&str]] =
    &[&["functionResponse", "response"], &["function_response", "response"]];

fn violations(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
    let mut found = unpaired(index);
    let turns = turns(index);
    let first = turns.first().is_some_and(|turn| turn.role == "model");
    found.insert("a model that speaks first", usize::from(first));
    found
}

fn message(value: Value<'_>, record: &mut Record, pairs: &mut Pairs, findings: &mut Vec<Finding>) {
    let role = value.string_at("role").unwrap_or_default();
    let speaker = match role.as_ref() {
        "user" | "function" | "tool" => Speaker::User,
        "model" | "assistant" | "gemini" => Speaker::Assistant,
        "system" => Speaker::Operator,
        _ if value.kind() != Kind::Object => {
            return unknown(record, value, "a content that is no object", findings);
        }
        other => {
            return unknown(record, value, &format!("a content with the unknown role {other:?}"), findings);
        }
    };
    record.kind = RecordKind::Message;
    record.label = format!("message/{role}");
    if let Some(list) = value.get("parts") {
        parts(list, "/parts", speaker, record, (pairs, findings));
    }
}

/// The system instruction is the operator's.
fn field(value: Value<'_>, record: &mut Record, pairs: &mut Pairs, findings: &mut Vec<Finding>) {
    if matches!(record.pointer.as_str(), "/systemInstruction" | "/system_instruction") {
        record.kind = RecordKind::Message;
        let (list, pointer) = value.get("parts").map_or((value, ""), |list| (list, "/parts"));
        parts(list, pointer, Speaker::Operator, record, (pairs, findings));
    }
}

/// Calls in order, to pair those without ids: a result answers the first open call of its name.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    calls: u32,
    open: Vec<(String, String)>,
}

impl Pairs {
    /// The id of a call, made up where there is none.
    pub(crate) fn call(&mut self, id: Option<String>, name: &str) -> String {
        self.calls += 1;
        let id = id.unwrap_or_else(|| format!("call {}", self.calls));
        self.open.push((name.to_owned(), id.clone()));
        id
    }

    /// The id of the call that a result answers.
    fn result(&mut self, id: Option<String>, name: &str) -> Option<String> {
        let fits = |(call, open): &(String, String)| match &id {
            Some(id) => open == id,
            None => call == name,
        };
        let place = self.open.iter().position(fits);
        let paired = place.map(|place| self.open.remove(place).1);
        id.or(paired)
    }
}

/// Reads a list of parts, one part, or a text.
pub(crate) fn parts(
    list: Value<'_>,
    pointer: &str,
    speaker: Speaker,
    record: &mut Record,
    (pairs, findings): (&mut Pairs, &mut Vec<Finding>),
) {
    match list.kind() {
        Kind::String | Kind::Object => part(list, pointer.to_owned(), speaker, record, (pairs, findings)),
        _ => {
            for (at, value) in list.elements().enumerate() {
                part(value, format!("{pointer}/{at}"), speaker, record, (pairs, findings));
            }
        }
    }
}

/// What a part holds under which member.
#[derive(Clone, Copy)]
enum Reading {
    Call,
    Result,
    Data,
    Code,
    CodeResult,
}

const PARTS: [(&str, Reading); 10] = [
    ("functionCall", Reading::Call),
    ("function_call", Reading::Call),
    ("functionResponse", Reading::Result),
    ("function_response", Reading::Result),
    ("inlineData", Reading::Data),
    ("inline_data", Reading::Data),
    ("fileData", Reading::Data),
    ("file_data", Reading::Data),
    ("executableCode", Reading::Code),
    ("codeExecutionResult", Reading::CodeResult),
];

fn part(
    value: Value<'_>,
    pointer: String,
    speaker: Speaker,
    record: &mut Record,
    (pairs, findings): (&mut Pairs, &mut Vec<Finding>),
) {
    let held = PARTS.iter().find_map(|(key, reading)| {
        let held = value.get(key).filter(|held| held.kind() == Kind::Object)?;
        Some((*reading, held))
    });
    match held {
        Some((Reading::Call, held)) => record.blocks.push(call(value, held, pointer, pairs)),
        Some((Reading::Result, held)) => record.blocks.push(result(value, held, pointer, pairs)),
        Some((Reading::Data, held)) => {
            let media_type = owned(held, "mimeType").or_else(|| owned(held, "mime_type")).unwrap_or_default();
            record.blocks.push(block(BlockKind::Attachment { media_type }, value, pointer, speaker));
        }
        Some((Reading::Code, held)) => record.blocks.push(code(value, held, pointer, pairs)),
        Some((Reading::CodeResult, held)) => {
            let call_id = pairs.result(None, CODE);
            let failed = held.get("outcome").is_some_and(|outcome| !outcome.is("OUTCOME_OK"));
            let facts = ResultFacts { call_id, error: Some(failed), ..ResultFacts::default() };
            let text = held.get("output").and_then(Value::text_range).into_iter().collect();
            let own = block(BlockKind::Result(facts), value, pointer, Speaker::Tool);
            record.blocks.push(Block { text, ..own });
        }
        None => text(value, pointer, speaker, record, findings),
    }
}

fn text(
    value: Value<'_>,
    pointer: String,
    speaker: Speaker,
    record: &mut Record,
    findings: &mut Vec<Finding>,
) {
    let inside = if value.kind() == Kind::String { Some(value) } else { value.get("text") };
    let is_thought = value.get("thought").and_then(Value::bool) == Some(true);
    let sealed = ["thoughtSignature", "thought_signature"].into_iter().any(|key| value.get(key).is_some());
    match inside.filter(|inside| inside.kind() == Kind::String) {
        Some(inside) if is_thought => {
            let own = block(BlockKind::Thinking, value, pointer, speaker);
            record.blocks.push(Block { text: inside.text_range().into_iter().collect(), ..own });
        }
        Some(inside) if speaker == Speaker::User => user_text(value, inside, &pointer, &mut record.blocks),
        Some(inside) if inside.raw().len() > 2 => {
            record.blocks.push(text_block(value, inside, pointer, speaker));
        }
        Some(_) => {}
        None if sealed => record.blocks.push(block(BlockKind::Thinking, value, pointer, speaker)),
        None => {
            let why = "a part of unknown kind".to_owned();
            findings.push(finding(Level::Note, "unknown-part", record.line, &pointer, why.clone()));
            let own = block(BlockKind::Opaque(why), value, pointer, speaker);
            record.blocks.push(Block { text: vec![plain_text(value)], ..own });
        }
    }
}

fn call(value: Value<'_>, held: Value<'_>, pointer: String, pairs: &mut Pairs) -> Block {
    let tool = owned(held, "name").unwrap_or_default();
    let id = Some(pairs.call(owned(held, "id"), &tool));
    let arguments = held.get("args").map_or(Arguments::Missing, |args| Arguments::Json(args.range()));
    block(BlockKind::Call(CallFacts { id, tool, arguments }), value, pointer, Speaker::Assistant)
}

/// The name of the tool by which the API runs code itself.
const CODE: &str = "code_execution";

fn code(value: Value<'_>, held: Value<'_>, pointer: String, pairs: &mut Pairs) -> Block {
    let id = Some(pairs.call(owned(held, "id"), CODE));
    let text = held.get("code").and_then(Value::text_range);
    let arguments = text.map_or(Arguments::Missing, |text| Arguments::Text(text.range));
    let facts = CallFacts { id, tool: CODE.to_owned(), arguments };
    block(BlockKind::Call(facts), value, pointer, Speaker::Assistant)
}

fn result(value: Value<'_>, held: Value<'_>, pointer: String, pairs: &mut Pairs) -> Block {
    let call_id = pairs.result(owned(held, "id"), &held.string_at("name").unwrap_or_default());
    let mut facts = ResultFacts { call_id, ..ResultFacts::default() };
    let text = held.get("response").map(|response| response_texts(response, &mut facts));
    let own = block(BlockKind::Result(facts), value, pointer, Speaker::Tool);
    Block { text: text.unwrap_or_default(), ..own }
}

/// The members of a response that hold what was returned, the first that is there.
const RETURNED: [&str; 5] = ["output", "error", "result", "content", "llmContent"];

fn response_texts(response: Value<'_>, facts: &mut ResultFacts) -> Vec<TextRange> {
    facts.error = response.get("error").filter(|error| error.kind() != Kind::Null).map(|_| true);
    let returned = RETURNED.iter().find_map(|key| response.get(key)).unwrap_or(response);
    facts.cuts = outcome::cuts(returned);
    facts.exit_code = returned.string().as_deref().and_then(exit_code);
    let texts = content_texts(returned);
    if texts.is_empty() && returned.raw().len() > 2 { vec![plain_text(returned)] } else { texts }
}

/// What stands in front of the lines that the shell tool writes behind an output.
const SHELL_LINES: [&str; 6] =
    ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ", "(none)"];

/// The exit code among the lines behind the output of a command; the output itself stands in front of them.
fn exit_code(text: &str) -> Option<i32> {
    let has_form = ["Command: ", "Directory: ", "Output: "].iter().any(|word| text.starts_with(word));
    let is_own = |line: &&str| SHELL_LINES.iter().any(|word| line.starts_with(word));
    let mut behind = text.trim_end().lines().rev().take_while(is_own).filter(|_| has_form);
    behind.find_map(|line| line.strip_prefix("Exit Code: ")).and_then(outcome::leading_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_stand_behind_the_output() {
        let text = "Command: x\nDirectory: (root)\nOutput: Exit Code: 0\nError: (none)\nExit Code: 2\nSignal: 0\nBackground PIDs: (none)";
        assert_eq!(exit_code(text), Some(2));
        assert_eq!(exit_code("Exit Code: 1"), None);
        assert_eq!(exit_code("Output: Exit Code: 1\nmore\nProcess Group PGID: 7"), None);
    }

    #[test]
    fn results_without_ids_answer_the_first_open_call_of_their_name() {
        let mut pairs = Pairs::default();
        let (first, second) = (pairs.call(None, "read"), pairs.call(None, "read"));
        assert_eq!(pairs.result(None, "read"), Some(first));
        assert_eq!(pairs.result(None, "write"), None);
        assert_eq!(pairs.result(None, "read"), Some(second));
    }
}
