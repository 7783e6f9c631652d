//! Formats that are known by their looks, and never taken for another: those of the table in `read_only`, and those not read yet.

use crate::json::{Kind, Value};
use crate::text::is_steps;

/// What must hold of a JSON value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Has {
    /// The path leads to something; `*` stands for the first element of a list.
    Path(&'static [&'static str]),
    /// The string at the path is one of these.
    Text(&'static [&'static str], &'static [&'static str]),
    /// The string at the path begins so.
    Begins(&'static [&'static str], &'static str),
    /// Some element of the list at the path has, of its own string, this beginning.
    Some(&'static [&'static str], &'static str, &'static str),
}

/// A kind of file, and what all its values or documents have.
struct Sign {
    what: &'static str,
    has: &'static [Has],
}

use Has::{Begins, Path, Some as SomeBegins, Text};

/// The first lines of logs.
const LINES: &[Sign] = &[
    Sign {
        what: "a stream of agent events",
        has: &[Path(&["type"]), Path(&["session_id"]), Path(&["role"])],
    },
    Sign { what: "a Qwen Code session", has: &[Path(&["sessionId"]), Path(&["message", "parts"])] },
    Sign {
        what: "a Qwen Code session",
        has: &[Path(&["sessionId"]), Path(&["parentUuid"]), Path(&["systemPayload"])],
    },
    Sign { what: "a Copilot CLI session", has: &[Text(&["type"], &["session.start"]), Path(&["data"])] },
    Sign { what: "a Factory Droid session", has: &[Text(&["type"], &["session_start"])] },
    Sign { what: "a Kimi session", has: &[Text(&["type"], &["metadata"]), Path(&["protocol_version"])] },
    Sign { what: "an Antigravity log", has: &[Path(&["step_index"]), Path(&["source"])] },
    Sign { what: "a Grok session", has: &[Text(&["type"], &["system"]), Path(&["content"])] },
    Sign {
        what: "a stream of agent events",
        has: &[Text(&["type"], &["system", "init"]), Path(&["session_id"])],
    },
    Sign { what: "a VS Code chat log", has: &[Path(&["kind"]), Path(&["v"])] },
    Sign { what: "a Kiro session", has: &[Path(&["kind"]), Text(&["version"], &["v1"])] },
    Sign { what: "an ACP log", has: &[Path(&["jsonrpc"]), Begins(&["method"], "session/")] },
    Sign { what: "an ACP log", has: &[Path(&["jsonrpc"]), Path(&["params", "clientCapabilities"])] },
    Sign { what: "an ACP log", has: &[Path(&["jsonrpc"]), Path(&["result", "agentCapabilities"])] },
    Sign { what: "a JSON-RPC log", has: &[Path(&["jsonrpc"])] },
    Sign { what: "a recording of model responses", has: &[Path(&["method"]), Path(&["response"])] },
    Sign { what: "an OpenTelemetry export", has: &[Path(&["resourceSpans"])] },
    Sign { what: "an export of OpenTelemetry's logs", has: &[Path(&["resourceLogs"])] },
    Sign { what: "an AG-UI event log", has: &[Begins(&["type"], "RUN_STARTED")] },
    Sign { what: "an AG-UI event log", has: &[Begins(&["type"], "TEXT_MESSAGE_"), Path(&["messageId"])] },
    Sign { what: "an AG-UI event log", has: &[Begins(&["type"], "TOOL_CALL_"), Path(&["toolCallId"])] },
    Sign { what: "a Cursor transcript", has: &[Path(&["role"]), Path(&["message", "content"])] },
    Sign { what: "a list of few-shot dialogues", has: &[Path(&["messages_display"])] },
    Sign {
        what: "an old Codex rollout",
        has: &[Path(&["id"]), Path(&["timestamp"]), Path(&["instructions"])],
    },
    Sign { what: "a log of single messages", has: &[Path(&["role"]), Path(&["created_at"])] },
    Sign { what: "chat messages, one on a line", has: &[Path(&["role"]), Path(&["content"])] },
    Sign { what: "chats, one on a line", has: &[Path(&["messages"])] },
    Sign { what: "an asciicast recording", has: &[Path(&["width"]), Path(&["height"]), Path(&["version"])] },
];

/// Whole documents.
const DOCUMENTS: &[Sign] = &[
    Sign {
        what: "the state of an OpenHands conversation",
        has: &[Path(&["agent", "llm"]), Path(&["workspace"])],
    },
    Sign { what: "an ATIF trajectory", has: &[Begins(&["schema_version"], "ATIF")] },
    Sign { what: "a mini-swe-agent trajectory", has: &[Begins(&["trajectory_format"], "mini-swe-agent")] },
    Sign { what: "a mini-swe-agent trajectory", has: &[SomeBegins(&[], "content", "<returncode>")] },
    Sign {
        what: "a mini-swe-agent trajectory",
        has: &[SomeBegins(&["messages"], "content", "<returncode>")],
    },
    Sign { what: "a SWE-agent trajectory", has: &[Path(&["trajectory"]), Path(&["history"])] },
    Sign {
        what: "a SWE-agent trajectory",
        has: &[Path(&["history", "*", "agent"]), Path(&["history", "*", "role"])],
    },
    Sign { what: "an OpenCode export", has: &[Path(&["info"]), Path(&["messages", "*", "parts"])] },
    Sign { what: "an OpenCode message", has: &[Path(&["sessionID"]), Path(&["role"]), Path(&["time"])] },
    Sign { what: "an OpenCode part", has: &[Begins(&["messageID"], ""), Path(&["type"])] },
    Sign { what: "an OpenCode part", has: &[Begins(&["id"], "prt_"), Path(&["type"])] },
    Sign {
        what: "an OpenCode part",
        has: &[Path(&["id"]), Text(&["type"], &["text", "tool", "reasoning"]), Path(&["time", "start"])],
    },
    Sign { what: "an OpenCode session", has: &[Path(&["projectID"]), Path(&["directory"]), Path(&["time"])] },
    Sign { what: "a VS Code chat", has: &[Path(&["requests"]), Path(&["responderUsername"])] },
    Sign { what: "an Inspect log", has: &[Path(&["eval"]), Path(&["samples"])] },
    Sign { what: "an Inspect log", has: &[Path(&["eval", "task"]), Path(&["status"])] },
    Sign {
        what: "an Inspect log",
        has: &[Path(&["epoch"]), Path(&["target"]), Path(&["messages", "*", "role"])],
    },
    Sign { what: "a tau2 simulation", has: &[Path(&["simulations"])] },
    Sign { what: "a tau2 simulation", has: &[Path(&["info", "environment_info"]), Path(&["tasks"])] },
    Sign { what: "a tau2 simulation", has: &[Path(&["task_id"]), Path(&["termination_reason"])] },
    Sign { what: "a list of tau-bench trajectories", has: &[Path(&["*", "traj"])] },
    Sign { what: "a LangGraph state", has: &[Path(&["values", "messages"])] },
    Sign { what: "a Cline task", has: &[Path(&["*", "ts"]), Text(&["*", "type"], &["ask", "say"])] },
    Sign { what: "an Amp thread", has: &[Begins(&["id"], "T-"), Path(&["messages"])] },
    Sign {
        what: "a Hermes session",
        has: &[Path(&["session_id"]), Path(&["session_start"]), Path(&["messages"])],
    },
    Sign {
        what: "a log of a model request with its response",
        has: &[Path(&["messages"]), Path(&["response"])],
    },
    Sign { what: "an old Codex session", has: &[Path(&["session"]), Path(&["items"])] },
    Sign { what: "a Claude session from the web", has: &[Path(&["loglines", "*", "message"])] },
    Sign { what: "an OpenTelemetry export", has: &[Path(&["resourceSpans"])] },
    Sign { what: "an export of OpenTelemetry's logs", has: &[Path(&["resourceLogs"])] },
];

/// Files that are no text: how they begin, and what stands near their beginning.
const BINARIES: &[(&[u8], &[u8], &str)] = &[
    (b"SQLite format 3\0", b"cursorDiskKV", "a Cursor database"),
    (b"SQLite format 3\0", b"blobs", "a Cursor chat database"),
    (b"SQLite format 3\0", b"transcript_events", "an OpenClaw database"),
    (b"SQLite format 3\0", b"message_nodes", "a Devin database"),
    (b"SQLite format 3\0", b"checkpoint_ns", "a LangGraph database"),
    (b"SQLite format 3\0", b"schema_version", "a goose database"),
    (b"SQLite format 3\0", b"time_compacting", "an OpenCode database"),
];

/// Texts, by how they begin.
const TEXTS: &[(&str, &str)] =
    &[("# aider chat started at", "an Aider history"), ("<!-- Generated by SpecStory", "a SpecStory export")];

/// What a line of a log belongs to.
pub(super) fn line(value: Value<'_>) -> Option<&'static str> {
    named(LINES, value)
}

/// What a document is.
pub(super) fn document(value: Value<'_>) -> Option<&'static str> {
    named(DOCUMENTS, value)
}

/// What a text is.
pub(super) fn text(head: &[u8]) -> Option<&'static str> {
    let begins = TEXTS.iter().find(|(begin, _)| head.starts_with(begin.as_bytes())).map(|(_, what)| *what);
    begins.or_else(|| is_steps(head).then_some("a text of numbered steps"))
}

/// What a file that is no text is, by its first bytes.
pub(super) fn binary(head: &[u8]) -> Option<&'static str> {
    let holds = |(magic, within, _): &&(&[u8], &[u8], &str)| {
        head.starts_with(magic) && memchr::memmem::find(head, within).is_some()
    };
    BINARIES.iter().find(holds).map(|(_, _, what)| *what)
}

fn named(signs: &[Sign], value: Value<'_>) -> Option<&'static str> {
    signs.iter().find(|sign| sign.has.iter().all(|has| holds(*has, value))).map(|sign| sign.what)
}

/// Whether `has` holds of `value`.
pub(super) fn holds(has: Has, value: Value<'_>) -> bool {
    match has {
        Path(path) => at(value, path).is_some(),
        Text(path, wanted) => text_at(value, path).is_some_and(|text| wanted.contains(&text.as_str())),
        Begins(path, begin) => text_at(value, path).is_some_and(|text| text.starts_with(begin)),
        SomeBegins(path, key, begin) => at(value, path).is_some_and(|list| {
            list.kind() == Kind::Array
                && list.elements().any(|one| one.string_at(key).is_some_and(|text| text.starts_with(begin)))
        }),
    }
}

fn text_at(value: Value<'_>, path: &[&str]) -> Option<String> {
    at(value, path).and_then(Value::string).map(Into::into)
}

fn at<'v>(value: Value<'v>, path: &[&str]) -> Option<Value<'v>> {
    path.iter().try_fold(value, |value, key| match *key {
        "*" => (value.kind() == Kind::Array).then(|| value.elements().next()).flatten(),
        key => value.get(key),
    })
}
