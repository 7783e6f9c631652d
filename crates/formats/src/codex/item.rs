//! Items of the Responses API, as `response_item` lines and `replacement_history` hold them.

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Cut, Ending, Finding, Level, ResultFacts, Speaker, TextRange,
    Visibility,
};

use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, content_texts, finding, owned, plain_text, text_block, user_text};

/// Who the user of a rollout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A person.
    Person,
    /// The agent that spawned this one.
    Agent,
}

/// The member by which our own summaries are marked in `replacement_history`; Codex ignores members it does not know.
pub(super) const DERIVED_MARK: (&str, &str) = ("derived_by", "strongroom");

/// The member by which a masked copy names the line it was copied from.
pub(super) const COPIED_FROM: &str = "copied_from_line";

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
pub(super) fn blocks(
    value: Value<'_>,
    pointer: &str,
    owner: Owner,
    line: Option<u32>,
    findings: &mut Vec<Finding>,
) -> Option<Vec<Block>> {
    let kind = value.string_at("type").unwrap_or_default();
    let at = || pointer.to_owned();
    let sealed = |why: &str, speaker| block(BlockKind::Opaque(why.to_owned()), value, at(), speaker);
    Some(match kind.as_ref() {
        "message" => message(value, pointer, owner, line, findings),
        "reasoning" => vec![reasoning(value, at())],
        "function_call"
        | "custom_tool_call"
        | "local_shell_call"
        | "tool_search_call"
        | "web_search_call"
        | "computer_call"
        | "code_interpreter_call"
        | "file_search_call"
        | "mcp_call" => vec![call(value, &kind, at())],
        "function_call_output"
        | "custom_tool_call_output"
        | "tool_search_output"
        | "local_shell_call_output"
        | "mcp_tool_call_output"
        | "computer_call_output" => vec![result(value, at())],
        "image_generation_call" => {
            vec![block(BlockKind::Attachment { media_type: "image".to_owned() }, value, at(), Speaker::Tool)]
        }
        "compaction" | "compaction_summary" | "context_compaction" => {
            vec![sealed("a sealed summary", Speaker::Derived)]
        }
        "agent_message" => {
            let text = value.get("content").map(content_texts).unwrap_or_default();
            vec![Block { text, ..block(BlockKind::Text, value, at(), Speaker::Agent) }]
        }
        "ghost_snapshot" => Vec::new(),
        _ => return None,
    })
}

fn message(
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

/// A call; what the harness runs itself has no name but the `kind` of its item, or of the event on the screen.
pub(super) fn call(value: Value<'_>, kind: &str, pointer: String) -> Block {
    let kind = kind.trim_end_matches("_call").trim_end_matches("_end");
    let tool = owned(value, "name").unwrap_or_else(|| kind.to_owned());
    let tool = match value.string_at("namespace") {
        Some(namespace) if !tool.starts_with(namespace.as_ref()) => format!("{namespace}{tool}"),
        _ => tool,
    };
    let arguments = match (value.get("arguments"), value.get("input"), value.get("action")) {
        (Some(arguments), ..) => match arguments.text_range() {
            Some(text) => Arguments::JsonInString(text.range),
            None => Arguments::Json(arguments.range()),
        },
        (None, Some(input), _) => {
            input.text_range().map_or(Arguments::Json(input.range()), |text| Arguments::Text(text.range))
        }
        (None, None, Some(action)) => Arguments::Json(action.range()),
        (None, None, None) => Arguments::Missing,
    };
    let id = owned(value, "call_id").or_else(|| owned(value, "id"));
    block(BlockKind::Call(CallFacts { id, tool, arguments }), value, pointer, Speaker::Assistant)
}

fn result(value: Value<'_>, pointer: String) -> Block {
    let output = value.get("output");
    let mut facts = ResultFacts { call_id: owned(value, "call_id"), ..ResultFacts::default() };
    if let Some(output) = output {
        facts.error = output.get("success").and_then(Value::bool).map(|success| !success);
        read_output(&mut facts, output);
    }
    let text = match (output, value.get("tools")) {
        (Some(output), _) => match output.get("content") {
            Some(content) => content_texts(content),
            None => content_texts(output),
        },
        (None, Some(tools)) => vec![plain_text(tools)],
        (None, None) => Vec::new(),
    };
    Block { text, ..block(BlockKind::Result(facts), value, pointer, Speaker::Tool) }
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
pub(super) fn set_visibility(blocks: &mut [Block], visibility: Visibility) {
    for block in blocks {
        block.visibility = visibility;
    }
}
