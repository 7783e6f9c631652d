//! Formats that are read, by their looks: of a line of a log, and of a whole document.

use super::unread::{Has, holds};
use crate::cline::Cline;
use crate::format::Format;
use crate::gemini_cli::GeminiCli;
use crate::genai::GenAiContents;
use crate::goose::Goose;
use crate::json::Value;
use crate::langchain::LangChain;
use crate::openai_responses::OpenAiResponses;
use crate::openhands::OpenHands;
use crate::pi::Pi;

use Has::{Path, Text};

/// A format, and what all its lines or documents have. The first that fits counts.
type Sign = (&'static dyn Format, &'static [Has]);

/// Who causes an event of `OpenHands`.
const EVENT_SOURCES: &[&str] = &["user", "agent", "environment", "hook"];

/// Parts that only goose has.
const GOOSE_PARTS: &[&str] = &["toolRequest", "toolResponse"];

/// Lines of logs.
const LINES: &[Sign] = &[
    (&Goose, &[Path(&["working_dir"]), Path(&["description"])]),
    (&Goose, &[Text(&["content", "*", "type"], GOOSE_PARTS)]),
    (&OpenHands, &[Path(&["id"]), Text(&["source"], EVENT_SOURCES), Path(&["kind"])]),
    (&OpenHands, &[Path(&["id"]), Text(&["source"], EVENT_SOURCES), Path(&["action"])]),
    (&OpenHands, &[Path(&["instance_id"]), Path(&["history", "*", "source"])]),
    (&OpenHands, &[Path(&["history", "*", "*", "action"])]),
    (&OpenHands, &[Path(&["git_patch"]), Path(&["history", "*", "action"])]),
    (&GeminiCli, &[Path(&["sessionId"]), Path(&["projectHash"])]),
    (&GeminiCli, &[Text(&["type"], &["init"]), Path(&["session_id"]), Path(&["model"])]),
    (&GeminiCli, &[Text(&["type"], &["tool_use"]), Path(&["tool_id"]), Path(&["tool_name"])]),
    (&GeminiCli, &[Text(&["type"], &["tool_result"]), Path(&["tool_id"]), Path(&["status"])]),
    (&Pi, &[Text(&["type"], &["session"]), Path(&["id"]), Path(&["cwd"])]),
    (&Pi, &[Text(&["type"], &["message"]), Path(&["id"]), Path(&["parentId"]), Path(&["message", "role"])]),
    (&Pi, &[Text(&["type"], &["message"]), Path(&["timestamp"]), Path(&["message", "role"])]),
];

/// Types of items that only the Responses API has.
const ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "item_reference",
    "compaction",
];

/// Types of messages that only `LangChain` has.
const MESSAGES: &[&str] =
    &["human", "ai", "system", "tool", "chat", "HumanMessage", "AIMessage", "AIMessageChunk"];

/// Whole documents.
const DOCUMENTS: &[Sign] = &[
    (&Cline, &[Path(&["sessionId"]), Path(&["agent"]), Path(&["messages"])]),
    (&Cline, &[Path(&["*", "ts"]), Text(&["*", "role"], &["user", "assistant"])]),
    (&Goose, &[Path(&["working_dir"]), Path(&["conversation"])]),
    (&OpenHands, &[Text(&["*", "source"], EVENT_SOURCES), Path(&["*", "action"])]),
    (&OpenHands, &[Text(&["*", "source"], EVENT_SOURCES), Path(&["*", "observation"])]),
    (&OpenHands, &[Text(&["*", "source"], EVENT_SOURCES), Path(&["*", "kind"])]),
    (&OpenHands, &[Text(&["events", "*", "source"], EVENT_SOURCES), Path(&["events", "*", "kind"])]),
    (&LangChain, &[Path(&["*", "lc"]), Path(&["*", "kwargs"])]),
    (&LangChain, &[Path(&["messages", "*", "lc"]), Path(&["messages", "*", "kwargs"])]),
    (&LangChain, &[Text(&["*", "type"], MESSAGES), Path(&["*", "data", "content"])]),
    (&LangChain, &[Text(&["messages", "*", "type"], MESSAGES), Path(&["messages", "*", "data", "content"])]),
    (&LangChain, &[Text(&["*", "type"], MESSAGES), Path(&["*", "content"])]),
    (&LangChain, &[Text(&["messages", "*", "type"], MESSAGES), Path(&["messages", "*", "content"])]),
    (&GeminiCli, &[Path(&["projectHash"]), Path(&["messages"])]),
    (&GeminiCli, &[Path(&["sessionId"]), Text(&["messages", "*", "type"], &["user", "gemini", "info"])]),
    (&GenAiContents, &[Path(&["*", "role"]), Path(&["*", "parts"])]),
    (&GenAiContents, &[Path(&["contents", "*", "parts"])]),
    (&GenAiContents, &[Path(&["history", "*", "role"]), Path(&["history", "*", "parts"])]),
    (&OpenAiResponses, &[Text(&["object"], &["response"]), Path(&["output"])]),
    (&OpenAiResponses, &[Path(&["input", "*", "type"])]),
    (&OpenAiResponses, &[Path(&["input", "*", "role"])]),
    (&OpenAiResponses, &[Text(&["items", "*", "type"], ITEMS)]),
    (&OpenAiResponses, &[Text(&["*", "type"], ITEMS)]),
];

/// Whether a message is an item of the Responses API: its calls and results name no role.
pub(super) fn is_response_item(message: Value<'_>) -> bool {
    message.get("role").is_none()
        && message.string_at("type").is_some_and(|kind| ITEMS.contains(&kind.as_ref()))
}

/// The format of a line of a log.
pub(super) fn line(value: Value<'_>) -> Option<&'static dyn Format> {
    named(LINES, value)
}

/// The format of a document.
pub(super) fn document(value: Value<'_>) -> Option<&'static dyn Format> {
    named(DOCUMENTS, value)
}

fn named(signs: &[Sign], value: Value<'_>) -> Option<&'static dyn Format> {
    signs.iter().find(|(_, has)| has.iter().all(|has| holds(*has, value))).map(|(format, _)| *format)
}
