//! Telling formats apart by their content. A file's name is never looked at.

mod unread;

mod read;

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes;

use crate::anthropic_messages::AnthropicMessages;
use crate::claude_code::ClaudeCode;
use crate::cline::Cline;
use crate::codex::Codex;
use crate::document::DOCUMENT_BYTES_MAX;
use crate::format::{Format, refuse_empty};
use crate::gemini_cli::GeminiCli;
use crate::genai::GenAiContents;
use crate::goose::Goose;
use crate::json::{Kind, Tape, Value};
use crate::langchain::LangChain;
use crate::lines::Lines;
use crate::openai_chat::OpenAiChat;
use crate::openai_responses::OpenAiResponses;
use crate::openhands::OpenHands;
use crate::pi::Pi;
use crate::read_only::{READ_ONLY, by_looks};

/// All formats that can be read.
pub fn all() -> impl Iterator<Item = &'static dyn Format> {
    const WRITTEN: &[&dyn Format] = &[
        &ClaudeCode,
        &Codex,
        &OpenAiChat,
        &AnthropicMessages,
        &OpenAiResponses,
        &GenAiContents,
        &GeminiCli,
        &LangChain,
        &Cline,
        &Goose,
        &OpenHands,
        &Pi,
    ];
    WRITTEN.iter().copied().chain(READ_ONLY.iter().map(|row| row as &dyn Format))
}

/// The format users call `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    all().find(|format| format.name() == name)
}

/// How many lines are looked at: sessions may begin with titles, snapshots or damage.
pub const LINES_MAX: u32 = 50;

/// Files that are no text, by how they begin.
const BINARIES: [(&[u8], &str); 9] = [
    (b"SQLite format 3\0", "a SQLite database"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xB5\x2F\xFD", "a zstd-compressed file; unpack it first"),
    (b"\x1F\x8B", "a gzip-compressed file; unpack it first"),
    (b"\x89PNG", "a PNG image"),
    (b"\xFF\xD8\xFF", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"\x7FELF", "a program"),
    (b"\xFF\xFE", "UTF-16 text"),
];

/// What a source is.
#[derive(Debug, Clone, Copy)]
pub enum Detected {
    /// A transcript that can be read.
    Read(&'static dyn Format),
    /// A transcript of a format that is known and not read yet, with its article: `a pi session`.
    NotYetRead(&'static str),
}

/// Finds the format of `source` by its content.
///
/// # Errors
/// `InvalidInput` naming what was found instead, and as [`Bytes::read`].
pub fn detect(source: &dyn Bytes) -> Result<&'static dyn Format> {
    match look(source)? {
        Detected::Read(format) => Ok(format),
        Detected::NotYetRead(what) => {
            Err(Error::invalid_input(format!("{what}, a format that is not read yet")))
        }
    }
}

/// What a file is that its looks give this name.
fn named(looks: &'static str) -> Detected {
    by_looks(looks).map_or(Detected::NotYetRead(looks), |format| Detected::Read(format))
}

/// Finds out what `source` is by its content.
///
/// # Errors
/// `InvalidInput` naming what was found when it is no transcript, and as [`Bytes::read`].
pub fn look(source: &dyn Bytes) -> Result<Detected> {
    refuse_empty(source)?;
    let head = source.read(ByteRange::new(0, source.len().min(8192)))?;
    if let Some(what) = unread::binary(&head) {
        return Ok(named(what));
    }
    if let Some((_, what)) = BINARIES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(Error::invalid_input(format!("{what}, not a transcript")));
    }
    let mut seen = Seen::default();
    if let Some(found) = by_lines(source, &mut seen)? {
        return Ok(found);
    }
    by_document(source, &head, &seen)
}

/// What the first lines turned out to be.
#[derive(Default)]
struct Seen {
    /// Whether the first line that is not blank is a JSON object on its own.
    begins_with_object: bool,
    /// Lines that are not blank.
    lines: u32,
    /// The keys of the first object.
    keys: Vec<String>,
    /// What a line looks like, of a format that is not read.
    unread: Option<&'static str>,
}

fn by_lines(source: &dyn Bytes, seen: &mut Seen) -> Result<Option<Detected>> {
    let mut lines = Lines::new(source);
    let mut tape = Tape::new();
    while let Some(line) = lines.next_line()? {
        if line.number > LINES_MAX {
            break;
        }
        let bytes = line.bytes.unwrap_or_default();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let blank = bytes.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0);
        seen.lines += u32::from(!blank);
        let start = bytes.iter().position(|byte| *byte == b'{').unwrap_or(bytes.len());
        let object = bytes.get(start..).unwrap_or_default();
        if object.is_empty() || std::str::from_utf8(object).is_err() || tape.scan(object).is_err() {
            continue;
        }
        let Some(value) = tape.root(object, 0) else { continue };
        seen.begins_with_object |= seen.lines == 1;
        if seen.keys.is_empty() {
            seen.keys = value.entries().filter_map(|(key, _)| key.string()).take(8).map(Into::into).collect();
        }
        // Looks are sure only until a line looks like a format that is not read.
        let looks = || seen.unread.is_none().then(|| read::line(value)).flatten();
        if let Some(format) = of_line(value).or_else(looks) {
            return Ok(Some(Detected::Read(format)));
        }
        // A line that many logs have says less than one that only a log has that is read.
        let own = unread::line(value);
        let sure = |looks: Option<&'static str>| looks.is_some_and(|looks| by_looks(looks).is_some());
        seen.unread = if sure(own) && !sure(seen.unread) { own } else { seen.unread.or(own) };
    }
    Ok(None)
}

/// The format of a line of a log.
fn of_line(value: Value<'_>) -> Option<&'static dyn Format> {
    let has = |key: &str| value.get(key).is_some();
    let kind = value.string_at("type").unwrap_or_default();
    let is_object = |key: &str| value.get(key).is_some_and(|value| value.kind() == Kind::Object);
    let has_parts = value.path(&["message", "parts"]).is_some();
    let linked = [
        "parentUuid",
        "leafUuid",
        "snapshot",
        "operation",
        "uuid",
        "customTitle",
        "aiTitle",
        "lastPrompt",
        "mode",
    ];
    let links = has("sessionId") && !has("projectHash") && linked.iter().any(|key| has(key));
    let says = matches!(kind.as_ref(), "user" | "assistant")
        && value.path(&["message", "role"]).is_some()
        && !has("session_id");
    let titled = kind == "summary" && has("leafUuid") || kind == "file-history-snapshot" && has("snapshot");
    let qwen = has("systemPayload") || has("toolCallResult") || kind == "tool_result";
    if (links || says || titled) && !has_parts && !qwen {
        return Some(&ClaudeCode);
    }
    (has("timestamp") && !kind.is_empty() && is_object("payload")).then_some(&Codex)
}

fn by_document(source: &dyn Bytes, head: &[u8], seen: &Seen) -> Result<Detected> {
    let refuse = |what: String| Err(Error::invalid_input(what));
    let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    if !start.starts_with(b"{") && !start.starts_with(b"[") {
        let streamed = seen.unread.filter(|_| start.starts_with(b"data:"));
        if let Some(what) = unread::text(start).or(streamed) {
            return Ok(named(what));
        }
        let what = if head.contains(&0) { "a binary file" } else { "text that is not JSON" };
        return refuse(format!("{what}, not a transcript"));
    }
    if seen.begins_with_object && seen.lines > 1 {
        if let Some(what) = seen.unread {
            return Ok(named(what));
        }
        return refuse(format!(
            "JSON lines of an unknown kind; the first has the keys {}",
            seen.keys.join(", ")
        ));
    }
    if source.len() > DOCUMENT_BYTES_MAX {
        return refuse(format!(
            "a document of {} bytes is over the limit of {DOCUMENT_BYTES_MAX} bytes",
            source.len()
        ));
    }
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let mut tape = Tape::new();
    if let Err(damage) = tape.scan(text) {
        return damaged(text)
            .map(Detected::Read)
            .ok_or_else(|| Error::invalid_input(format!("not a JSON document: {damage}")));
    }
    let Some(root) = tape.root(text, 0) else { return refuse("a document without a value".to_owned()) };
    if let Some(format) = read::document(root) {
        return Ok(Detected::Read(format));
    }
    if let Some(what) = unread::document(root) {
        return Ok(named(what));
    }
    match (of_document(root), seen.unread) {
        (Some(format), _) => Ok(Detected::Read(format)),
        (None, Some(what)) => Ok(named(what)),
        (None, None) => refuse(format!("JSON of an unknown kind, {}", outline(root))),
    }
}

fn outline(root: Value<'_>) -> String {
    match root.kind() {
        Kind::Object => {
            let keys: Vec<String> =
                root.entries().take(8).filter_map(|(key, _)| key.string()).map(Into::into).collect();
            if keys.is_empty() {
                "an empty object".to_owned()
            } else {
                format!("an object with the keys {}", keys.join(", "))
            }
        }
        Kind::Array => format!("a list of {} values", root.elements().count()),
        Kind::Null | Kind::True | Kind::False | Kind::Number | Kind::String => "a single value".to_owned(),
    }
}

/// Words that only documents of one kind have, of which all must stand there: a body that is cut off is told by them.
/// The first that fits counts, also before the words of request bodies.
const WORDS: &[(&[&str], &str)] = &[
    (&["\"trajectory_format\"", "mini-swe-agent"], "mini-swe-agent"),
    (&["\"mini_version\"", "\"messages\""], "mini-swe-agent"),
    (&["\"<returncode>", "\"role\""], "mini-swe-agent"),
    (&["\"trajectory\"", "\"observation\"", "\"state\""], "swe-agent"),
    (&["\"history\"", "\"agent\"", "\"role\"", "\"content\""], "swe-agent"),
    (&["\"simulations\"", "\"task_id\""], "tau2-bench"),
    (&["\"reward_info\"", "\"termination_reason\""], "tau2-bench"),
    (&["\"traj\"", "\"task_id\"", "\"reward\""], "tau-bench"),
    (&["\"eval\"", "\"status\"", "\"plan\""], "inspect"),
    (&["\"schema_version\"", "\"ATIF-v"], "atif"),
];

/// A body that is cut off is told by the words in it.
fn damaged(text: &[u8]) -> Option<&'static dyn Format> {
    let has = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    let own = WORDS.iter().find(|(words, _)| words.iter().all(|word| has(word)));
    if let Some((_, name)) = own {
        return by_name(name);
    }
    if !has("\"role\"") || !has("\"content\"") {
        return None;
    }
    if has("\"input\"") && (has("\"input_text\"") || has("\"function_call\"")) {
        return Some(&OpenAiResponses);
    }
    Some(if has("\"tool_use\"") || has("\"tool_result\"") { &AnthropicMessages } else { &OpenAiChat })
}

fn of_document(root: Value<'_>) -> Option<&'static dyn Format> {
    let messages = if root.kind() == Kind::Array { Some(root) } else { root.get("messages") };
    let messages = messages.filter(|messages| messages.kind() == Kind::Array)?;
    let first = messages.elements().next();
    let chat = |message: Value<'_>| message.get("role").is_some() && message.get("parts").is_none();
    if first.map_or(root.kind() == Kind::Array, |first| !chat(first)) {
        return None;
    }
    if root.get("system").is_some() || root.get("anthropic_version").is_some() {
        return Some(&AnthropicMessages);
    }
    if messages.elements().any(read::is_response_item) {
        return Some(&OpenAiResponses);
    }
    if let Some(format) = messages.elements().find_map(of_message) {
        return Some(format);
    }
    let claude = root.string_at("model").is_some_and(|model| model.contains("claude"));
    let schema = root
        .get("tools")
        .into_iter()
        .flat_map(Value::elements)
        .any(|tool| tool.get("input_schema").is_some());
    Some(if claude || schema { &AnthropicMessages } else { &OpenAiChat })
}

/// Content parts that only one of the two APIs has.
const ANTHROPIC_PARTS: [&str; 7] =
    ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use"];
const OPENAI_PARTS: [&str; 4] = ["image_url", "input_audio", "file", "refusal"];

fn of_message(message: Value<'_>) -> Option<&'static dyn Format> {
    let role = message.string_at("role").unwrap_or_default();
    if matches!(role.as_ref(), "tool" | "function" | "developer" | "system")
        || message.get("tool_calls").is_some()
    {
        return Some(&OpenAiChat);
    }
    message.get("content").into_iter().flat_map(Value::elements).find_map(|part| {
        let kind = part.string_at("type")?;
        if ANTHROPIC_PARTS.contains(&kind.as_ref()) {
            return Some(&AnthropicMessages as &'static dyn Format);
        }
        OPENAI_PARTS.contains(&kind.as_ref()).then_some(&OpenAiChat as &'static dyn Format)
    })
}

#[cfg(test)]
mod tests {
    use strongroom_core::error::ErrorKind;

    use super::*;

    fn name(text: &str) -> String {
        match detect(&text.as_bytes().to_vec()) {
            Ok(format) => format.name().to_owned(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
                error.to_string()
            }
        }
    }

    #[test]
    fn formats_are_told_apart_by_content() {
        let cases = [
            (r#"{"type":"summary","summary":"T","leafUuid":"x"}"#, "claude-code"),
            (
                "garbage\n\n{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}",
                "claude-code",
            ),
            (
                r#"{"timestamp":"2026-04-02T10:00:05.113Z","type":"session_meta","payload":{"id":"x"}}"#,
                "codex",
            ),
            (r#"[{"role":"user","content":"hi"}]"#, "openai-chat"),
            (r#"{"model":"gpt-5.4","messages":[{"role":"user","content":"hi"}]}"#, "openai-chat"),
            (r#"{"model":"claude-x","messages":[{"role":"user","content":"hi"}]}"#, "anthropic-messages"),
            (
                "{\n \"system\": \"s\",\n \"messages\": [\n  {\"role\":\"user\",\"content\":\"hi\"}\n ]\n}",
                "anthropic-messages",
            ),
            (
                r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]"#,
                "anthropic-messages",
            ),
            (r#"{"messages":[{"role":"user","content":"hi"},{"role":"assi"#, "openai-chat"),
            (r#"{"type":"session","version":3,"id":"a","cwd":"/w"}"#, "pi"),
            (r#"{"model":"m","input":[{"role":"user","content":"hi"}]}"#, "openai-responses"),
            (r#"[{"type":"reasoning","summary":[]}]"#, "openai-responses"),
            (
                r#"[{"role":"system","content":"s"},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}]"#,
                "openai-responses",
            ),
            (r#"[{"role":"user","parts":[{"text":"hi"}]}]"#, "genai-contents"),
            (
                r#"{"version":1,"agent":"lead","sessionId":"s","messages":[{"role":"user","content":"x"}]}"#,
                "cline",
            ),
            (r#"[{"role":"user","ts":1,"content":[{"type":"text","text":"<task>x</task>"}]}]"#, "cline"),
            (r#"{"working_dir":"/w","description":"d","message_count":0}"#, "goose"),
            (
                r#"[{"id":0,"source":"user","message":"hi","action":"message","args":{"content":"hi"}}]"#,
                "openhands",
            ),
            (r#"{"id":"a","source":"user","kind":"MessageEvent","llm_message":{}}"#, "openhands"),
            (r#"[{"type":"human","data":{"content":"hi"}}]"#, "langchain"),
            (r#"{"messages":[{"type":"ai","content":"hi"}]}"#, "langchain"),
            (
                r#"[{"lc":1,"type":"constructor","id":["HumanMessage"],"kwargs":{"content":"hi"}}]"#,
                "langchain",
            ),
            (r#"{"sessionId":"s","projectHash":"h","startTime":"t"}"#, "gemini-cli"),
            (r#"{"sessionId":"s","projectHash":"h","messages":[]}"#, "gemini-cli"),
            ("{\"type\":\"tool_use\",\"tool_id\":\"t\",\"tool_name\":\"x\"}\n", "gemini-cli"),
            ("{\"resourceSpans\":[]}\n{\"resourceSpans\":[]}\n", "otel"),
            (
                "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\"}\n\ndata: {\"type\":\"RUN_FINISHED\"}\n",
                "ag-ui",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\"}\n",
                "acp",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(name(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_transcript_is_named() {
        let cases = [
            ("", "an empty file"),
            ("SQLite format 3\0...", "SQLite database"),
            ("\0\0\0\u{1}", "a binary file"),
            ("hello", "text that is not JSON"),
            ("{}", "an empty object"),
            ("{\"a\":1}\n{\"a\":2}\n", "JSON lines of an unknown kind; the first has the keys a"),
            ("[1,2]", "a list of 2 values"),
            ("{\"a\":", "cut off"),
            ("# aider chat started at 2026-01-01 10:00:00\n", "aider"),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}\n{\"jsonrpc\":\"2.0\",\"id\":0}\n",
                "a JSON-RPC log",
            ),
            (
                r#"{"uuid":"a","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}"#,
                "a Qwen Code session",
            ),
            (
                "{\"uuid\":\"a\",\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"x\",\"systemPayload\":{}}\n{\"b\":1}",
                "a Qwen Code session",
            ),
            (
                r#"[{"role":"user","content":"x"},{"role":"user","content":"<returncode>0</returncode>"}]"#,
                "mini-swe-agent",
            ),
            (
                r#"{"messages":[{"role":"user","content":"x"}],"response":{},"kwargs":{}}"#,
                "a log of a model request with its response",
            ),
            (r#"{"info":{},"messages":[{"info":{},"parts":[]}]}"#, "opencode"),
        ];
        for (text, expected) in cases {
            assert!(name(text).contains(expected), "{text:?}: {}", name(text));
        }
    }

    #[test]
    fn names_lead_to_formats() {
        for format in all() {
            assert_eq!(by_name(format.name()).unwrap().name(), format.name());
        }
        assert!(by_name("no such format").is_none());
    }
}
