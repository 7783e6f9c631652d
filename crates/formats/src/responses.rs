//! Items of the Responses API, as request bodies, `response_item` lines and `replacement_history` hold them.

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Cut, Ending, Finding, Level, ResultFacts, Speaker, TextRange,
    Visibility,
};

use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// Who the user of a rollout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A person.
    Person,
    /// The agent that spawned this one.
    Agent,
}

/// The member by which our own summaries are marked in `replacement_history`; Codex ignores members it does not know.
pub(crate) const DERIVED_MARK: (&str, &str) = ("derived_by", "strongroom");

/// The member by which a masked copy names the line it was copied from.
pub(crate) const COPIED_FROM: &str = "copied_from_line";

/// Texts that the harness sends as a user's, by how they begin, and who speaks in them.
const INJECTED: [(&str, Speaker); 12] = [
    ("# AGENTS.md instructions", Speaker::Operator),
    ("<user_instructions>", Speaker::Operator),
    ("<permissions instructions>", Speaker::Operator),
    ("<INSTRUCTIONS>", Speaker::Operator),
    ("<collaboration_mode>", Speaker::Operator),
    ("<environment_context>", Speaker::Harness),
    ("<turn_aborted>", Speaker::Harness),
    ("<skill>", Speaker::Harness),
    ("<user_shell_command>", Speaker::Harness),
    ("<subagent_notification>", Speaker::Harness),
    ("<model_switch>", Speaker::Harness),
    ("<hook_prompt", Speaker::Harness),
];

/// How summaries of other compactors begin. They lose the user's name by their looks, which only lowers trust.
const FOREIGN_SUMMARIES: [&str; 3] = [
    "Another language model started to solve this problem",
    "Another model produced this summary",
    "This session is being continued from a previous conversation",
];

/// Reads the item `value` at `pointer`; `None` where its type is not known.
pub(crate) fn blocks(
    value: Value<'_>,
    pointer: &str,
    owner: Owner,
    line: Option<u32>,
    findings: &mut Vec<Finding>,
) -> Option<Vec<Block>> {
    let kind = value.string_at("type").unwrap_or_default();
    let at = || pointer.to_owned();
    let sealed = |why: &str, speaker| block(BlockKind::Opaque(why.to_owned()), value, at(), speaker);
    if let Some(item) = CALLS.iter().find(|item| item.kind == kind) {
        return Some(call(value, item, pointer));
    }
    Some(match kind.as_ref() {
        "message" => message(value, pointer, owner, line, findings),
        "reasoning" => vec![reasoning(value, at())],
        "image_generation_call" => {
            vec![block(BlockKind::Attachment { media_type: "image".to_owned() }, value, at(), Speaker::Tool)]
        }
        "compaction" | "compaction_summary" | "context_compaction" => {
            vec![sealed("a sealed summary", Speaker::Derived)]
        }
        "item_reference" => vec![sealed("an item that stands on the server", Speaker::Unknown)],
        "mcp_list_tools" | "mcp_approval_request" | "mcp_approval_response" => {
            let own = sealed("what a server of tools offers or asks", Speaker::Harness);
            vec![Block { text: vec![plain_text(value)], ..own }]
        }
        "agent_message" => {
            let text = value.get("content").map(content_texts).unwrap_or_default();
            vec![Block { text, ..block(BlockKind::Text, value, at(), Speaker::Agent) }]
        }
        "ghost_snapshot" => Vec::new(),
        known if OUTPUTS.contains(&known) => vec![result(value, at())],
        _ => return None,
    })
}

/// An item that is a call.
struct CallItem {
    kind: &'static str,
    /// The name of the tool, where the item has none.
    tool: &'static str,
    /// The members of which the first that is there holds the arguments.
    arguments: &'static [&'static str],
    /// Of a tool that runs on the server: the members that hold what it returned.
    outputs: &'static [&'static str],
}

const fn own_tool(kind: &'static str, tool: &'static str, arguments: &'static [&'static str]) -> CallItem {
    CallItem { kind, tool, arguments, outputs: &[] }
}

const CALLS: [CallItem; 12] = [
    own_tool("function_call", "function", &["arguments"]),
    own_tool("custom_tool_call", "custom_tool", &["input"]),
    own_tool("local_shell_call", "local_shell", &["action"]),
    own_tool("shell_call", "shell", &["action"]),
    own_tool("apply_patch_call", "apply_patch_call", &["operation"]),
    own_tool("tool_search_call", "tool_search", &["arguments"]),
    own_tool("web_search_call", "web_search", &["action"]),
    own_tool("computer_call", "computer", &["action"]),
    own_tool("program", "program", &["code"]),
    CallItem { outputs: &["outputs"], ..own_tool("code_interpreter_call", "code_interpreter", &["code"]) },
    CallItem { outputs: &["results"], ..own_tool("file_search_call", "file_search", &["queries"]) },
    CallItem { outputs: &["output", "error"], ..own_tool("mcp_call", "mcp", &["arguments"]) },
];

/// Items that answer a call by its id.
const OUTPUTS: [&str; 9] = [
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
    "local_shell_call_output",
    "mcp_tool_call_output",
    "computer_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "program_output",
];

/// Reads a message, with or without a `type`.
pub(crate) fn message(
    value: Value<'_>,
    pointer: &str,
    owner: Owner,
    line: Option<u32>,
    findings: &mut Vec<Finding>,
) -> Vec<Block> {
    let role = value.string_at("role").unwrap_or_default();
    let speaker = match (role.as_ref(), owner) {
        ("user", Owner::Person) => Speaker::User,
        ("user", Owner::Agent) => Speaker::Agent,
        ("assistant", _) => Speaker::Assistant,
        ("developer" | "system", _) => Speaker::Operator,
        _ => Speaker::Unknown,
    };
    let ours = value.get(DERIVED_MARK.0).is_some_and(|mark| mark.is(DERIVED_MARK.1));
    let mut out = Vec::new();
    let Some(content) = value.get("content") else { return out };
    let pointer = format!("{pointer}/content");
    if content.kind() == Kind::String {
        text(content, content, &pointer, speaker, &mut out);
    }
    for (at, part) in content.elements().enumerate() {
        let pointer = format!("{pointer}/{at}");
        let kind = part.string_at("type").unwrap_or_default();
        match (kind.as_ref(), part.get("text").or_else(|| part.get("refusal"))) {
            ("input_text" | "output_text" | "text" | "refusal", Some(inside)) => {
                text(part, inside, &pointer, speaker, &mut out);
            }
            ("input_image" | "input_file" | "input_audio", _) => {
                let media_type = media_type(part).unwrap_or_else(|| kind.into_owned());
                out.push(block(BlockKind::Attachment { media_type }, part, pointer, speaker));
            }
            (other, _) => {
                let why = format!("a content part of unknown type {other:?}");
                findings.push(finding(Level::Note, "unknown-part", line, &pointer, why.clone()));
                out.push(Block {
                    text: vec![plain_text(part)],
                    ..block(BlockKind::Opaque(why), part, pointer, speaker)
                });
            }
        }
    }
    if ours {
        out.iter_mut().for_each(derive);
    }
    out
}

fn derive(block: &mut Block) {
    block.kind = BlockKind::Summary;
    block.speaker = Speaker::Derived;
}

fn text(whole: Value<'_>, inside: Value<'_>, pointer: &str, speaker: Speaker, out: &mut Vec<Block>) {
    if !matches!(speaker, Speaker::User | Speaker::Agent) {
        out.push(text_block(whole, inside, pointer.to_owned(), speaker));
        return;
    }
    let words = inside.raw().get(1..).unwrap_or_default();
    let begins = |text: &str| words.starts_with(text.as_bytes());
    let injected = INJECTED.iter().find(|(text, _)| begins(text)).map(|(_, speaker)| *speaker);
    match injected {
        Some(speaker) => out.push(text_block(whole, inside, pointer.to_owned(), speaker)),
        None if FOREIGN_SUMMARIES.iter().any(|text| begins(text)) => {
            let mut summary = text_block(whole, inside, pointer.to_owned(), speaker);
            derive(&mut summary);
            out.push(summary);
        }
        None if speaker == Speaker::User => user_text(whole, inside, pointer, out),
        None => out.push(text_block(whole, inside, pointer.to_owned(), speaker)),
    }
}

fn media_type(part: Value<'_>) -> Option<String> {
    let url = part.get("image_url")?;
    let head = std::str::from_utf8(url.raw().get(1..url.raw().len().min(80))?).ok()?;
    head.strip_prefix("data:")?.split([';', ',']).next().map(str::to_owned)
}

fn reasoning(value: Value<'_>, pointer: String) -> Block {
    let texts = |key: &str| value.get(key).map(content_texts).unwrap_or_default();
    let mut text: Vec<TextRange> = texts("summary");
    text.extend(texts("content"));
    Block { text, ..block(BlockKind::Thinking, value, pointer, Speaker::Assistant) }
}

/// What the screen shows of a search of the web: the same call.
pub(crate) fn web_search(value: Value<'_>, pointer: &str) -> Vec<Block> {
    CALLS
        .iter()
        .find(|item| item.kind == "web_search_call")
        .map_or(Vec::new(), |item| call(value, item, pointer))
}

fn call(value: Value<'_>, item: &CallItem, pointer: &str) -> Vec<Block> {
    let tool = owned(value, "name").unwrap_or_else(|| item.tool.to_owned());
    let tool = match value.string_at("namespace") {
        Some(namespace) if !tool.starts_with(namespace.as_ref()) => format!("{namespace}{tool}"),
        _ => tool,
    };
    let held = item.arguments.iter().find_map(|key| Some((*key, value.get(key)?)));
    let arguments = match held {
        Some((key, held)) => match held.text_range() {
            Some(text) if key == "arguments" => Arguments::JsonInString(text.range),
            Some(text) => Arguments::Text(text.range),
            None if held.kind() == Kind::Null => Arguments::Missing,
            None => Arguments::Json(held.range()),
        },
        None => Arguments::Missing,
    };
    let id = owned(value, "call_id").or_else(|| owned(value, "id"));
    let facts = BlockKind::Call(CallFacts { id: id.clone(), tool, arguments });
    let mut out = vec![block(facts, value, pointer.to_owned(), Speaker::Assistant)];
    // A result inside a call must be known as its own.
    for key in item.outputs.iter().filter(|_| id.is_some()) {
        let Some(output) = value.get(key).filter(|output| output.kind() != Kind::Null) else { continue };
        let error = (*key == "error").then_some(true);
        let facts = ResultFacts { call_id: id.clone(), error, ..ResultFacts::default() };
        let own = block(BlockKind::Result(facts), output, format!("{pointer}/{key}"), Speaker::Tool);
        out.push(Block { text: output_texts(output), ..own });
    }
    out
}

fn result(value: Value<'_>, pointer: String) -> Block {
    let output = value.get("output");
    let mut facts = ResultFacts { call_id: owned(value, "call_id"), ..ResultFacts::default() };
    if let Some(output) = output {
        facts.error = output.get("success").and_then(Value::bool).map(|success| !success);
        read_output(&mut facts, output);
    }
    let outcome = output.and_then(|output| output.elements().last()).and_then(|last| last.get("outcome"));
    if let Some(outcome) = outcome {
        let code = outcome.get("exit_code").and_then(Value::integer);
        facts.exit_code = code.and_then(|code| i32::try_from(code).ok());
        if outcome.get("type").is_some_and(|kind| kind.is("timeout")) {
            facts.ending = Ending::TimedOut;
        }
    }
    if facts.error.is_none() && value.get("status").is_some_and(|status| status.is("failed")) {
        facts.error = Some(true);
    }
    let text = match (output, value.get("tools")) {
        (Some(output), _) => output_texts(output),
        (None, Some(tools)) => vec![plain_text(tools)],
        (None, None) => Vec::new(),
    };
    Block { text, ..block(BlockKind::Result(facts), value, pointer, Speaker::Tool) }
}

/// The members of an output's parts that hold text.
const OUTPUT_MEMBERS: [&str; 4] = ["text", "logs", "stdout", "stderr"];

/// Where the texts of an output stand: a string, or members of its parts.
fn output_texts(output: Value<'_>) -> Vec<TextRange> {
    let content = output.get("content").unwrap_or(output);
    let texts = content_texts(content);
    if !texts.is_empty() {
        return texts;
    }
    let members =
        content.elements().flat_map(|part| OUTPUT_MEMBERS.into_iter().filter_map(move |key| part.get(key)));
    members.filter_map(Value::text_range).collect()
}

/// Texts that stand in place of an output, and what they say.
const ENDINGS: [(&str, Ending); 6] = [
    ("aborted", Ending::Interrupted),
    ("exec command rejected by user", Ending::Refused),
    ("patch rejected by user", Ending::Refused),
    ("rejected by user", Ending::Refused),
    ("user cancelled", Ending::Refused),
    ("command timed out after ", Ending::TimedOut),
];

/// Reads the header lines that Codex writes before the line `Output:`; what follows is the tool's own.
fn read_output(facts: &mut ResultFacts, output: Value<'_>) {
    let head = outcome::head(output);
    if let Some((_, ending)) = ENDINGS.iter().find(|(words, _)| head.starts_with(words)) {
        facts.ending = ending.clone();
    }
    let has_header = ["Chunk ID: ", "Wall time: ", "Exit code: "].iter().any(|word| head.starts_with(word));
    for line in head.lines().take_while(|line| has_header && *line != "Output:") {
        if let Some(code) =
            line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))
        {
            facts.exit_code = outcome::leading_number(code);
        }
        if let Some(id) = line.strip_prefix("Process running with session ID ") {
            facts.ending = Ending::Background(id.trim().to_owned());
        }
    }
    if head.starts_with("{\"output\":") {
        facts.exit_code = facts.exit_code.or_else(|| older_exit_code(output));
    }
    facts.cuts.extend(outcome::cuts(output));
    if facts.cuts.is_empty()
        && memchr::memmem::find(output.raw(), b"Warning: truncated output (original token count: ").is_some()
    {
        facts.cuts.push(Cut::Truncated("truncated output".to_owned()));
    }
}

/// The exit code of the older shell tool, whose output is a JSON text `{"output":…,"metadata":{"exit_code":…}}`.
fn older_exit_code(output: Value<'_>) -> Option<i32> {
    let text = output.string()?;
    let mut tape = crate::json::Tape::new();
    tape.scan(text.as_bytes()).ok()?;
    let code = tape.root(text.as_bytes(), 0)?.path(&["metadata", "exit_code"])?.integer()?;
    i32::try_from(code).ok()
}

/// Sets the visibility of blocks.
pub(crate) fn set_visibility(blocks: &mut [Block], visibility: Visibility) {
    for block in blocks {
        block.visibility = visibility;
    }
}
