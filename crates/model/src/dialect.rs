//! The two dialects in which models are asked: what goes out, and what the events of the reply mean.

use serde_json::{Value, json};
use strongroom::Result;
use strongroom::summariser::Request;

/// A dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `/v1/chat/completions`, as `OpenAI` and most servers of open models have it.
    Openai,
    /// `/v1/messages`, as Anthropic has it.
    Anthropic,
}

/// The version of Anthropic's interface that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl Dialect {
    /// Its word before the colon in a name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The vendor's own endpoint.
    pub const fn usual_endpoint(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The variable in which the vendor's programs look for a key.
    pub const fn usual_variable(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// The address of requests below an endpoint.
    pub(crate) fn address(self, endpoint: &str) -> String {
        let path = match self {
            Self::Openai => "/chat/completions",
            Self::Anthropic => "/messages",
        };
        let endpoint = endpoint.trim_end_matches('/');
        if endpoint.ends_with(path) { endpoint.to_owned() } else { format!("{endpoint}{path}") }
    }

    /// The headers beside the content's, where there is a key.
    pub(crate) fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let own = key.map(|key| match self {
            Self::Openai => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
        });
        let version = (self == Self::Anthropic).then(|| ("anthropic-version", ANTHROPIC_VERSION.to_owned()));
        own.into_iter().chain(version).collect()
    }

    /// The body of a request.
    pub(crate) fn body(self, model: &str, request: &Request) -> Result<String> {
        let message = request.message()?;
        let body = match self {
            Self::Openai => json!({ "model": model, "stream": true, "messages": [
                { "role": "system", "content": request.instructions }, { "role": "user", "content": message } ] }),
            Self::Anthropic => {
                json!({ "model": model, "stream": true, "max_tokens": tokens_max(request.words_max),
                "system": request.instructions, "messages": [{ "role": "user", "content": message }] })
            }
        };
        Ok(body.to_string())
    }

    /// Reads one event, or a whole reply that is none.
    pub(crate) fn read(self, data: &str, draft: &mut Draft) {
        if data.trim() == "[DONE]" {
            draft.end = draft.end.max(End::Whole);
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else { return };
        draft.understood = true;
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            draft.error = Some(code(error));
        }
        match self {
            Self::Openai => openai(&event, draft),
            Self::Anthropic => anthropic(&event, draft),
        }
    }
}

/// Room for twice the words that were asked for, and for what a model thinks before.
const fn tokens_max(words: u64) -> u64 {
    let tokens = words.saturating_mul(3).saturating_add(1_024);
    if tokens > 8_192 { 8_192 } else { tokens }
}

/// How a reply has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// Not at all.
    #[default]
    Open,
    /// As it should.
    Whole,
    /// At the limit of its length.
    Cut,
    /// In a refusal.
    Refused,
}

/// A draft as it comes in.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) end: End,
    /// The vendor's word for an error.
    pub(crate) error: Option<String>,
    /// Whether anything was JSON at all.
    pub(crate) understood: bool,
}

fn openai(event: &Value, draft: &mut Draft) {
    let Some(choice) = event.pointer("/choices/0") else { return };
    let said = |field: &str, name: &str| choice.get(field)?.get(name)?.as_str().map(str::to_owned);
    let text = said("delta", "content").or_else(|| said("message", "content"));
    draft.text.extend(text);
    let refusal = said("delta", "refusal").or_else(|| said("message", "refusal"));
    let end = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => End::Cut,
        Some("content_filter") => End::Refused,
        Some(_) => End::Whole,
        None => End::Open,
    };
    draft.end = draft.end.max(if refusal.is_some_and(|own| !own.is_empty()) { End::Refused } else { end });
}

fn anthropic(event: &Value, draft: &mut Draft) {
    let whole = event.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts = whole.filter_map(|block| block.get("text")?.as_str());
    draft.text.extend(texts);
    let delta = event.get("delta");
    draft.text.extend(delta.and_then(|delta| delta.get("text")?.as_str()));
    let reason = delta.and_then(|delta| delta.get("stop_reason")).or_else(|| event.get("stop_reason"));
    let end = match reason.and_then(Value::as_str) {
        Some("max_tokens" | "model_context_window_exceeded") => End::Cut,
        Some("refusal") => End::Refused,
        Some(_) => End::Whole,
        None if event.get("type").and_then(Value::as_str) == Some("message_stop") => End::Whole,
        None => End::Open,
    };
    draft.end = draft.end.max(end);
}

/// The vendor's short word for an error. Its message may repeat a part of the key and is not read.
fn code(error: &Value) -> String {
    let words = ["type", "code"].iter().filter_map(|field| error.get(field)?.as_str());
    let short =
        |word: &&str| word.len() <= 40 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    words.filter(|word| short(word)).map(str::to_owned).next().unwrap_or_else(|| "an error".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: Dialect, events: &[&str]) -> Draft {
        let mut draft = Draft::default();
        events.iter().for_each(|event| dialect.read(event, &mut draft));
        draft
    }

    #[test]
    fn both_dialects_give_text_and_end() {
        let draft = read(
            Dialect::Openai,
            &[
                r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":"It ran."},"finish_reason":null}]}"#,
                r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                r#"{"choices":[],"usage":{"total_tokens":3}}"#,
                "[DONE]",
            ],
        );
        assert_eq!((draft.text.as_str(), draft.end), ("It ran.", End::Whole));
        let draft = read(
            Dialect::Anthropic,
            &[
                r#"{"type":"message_start","message":{"content":[],"stop_reason":null}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"It ran."}}"#,
                r#"{"type":"ping"}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        );
        assert_eq!((draft.text.as_str(), draft.end), ("It ran.", End::Cut));
        let whole = read(
            Dialect::Anthropic,
            &[r#"{"type":"message","content":[{"type":"text","text":"It ran."}],"stop_reason":"end_turn"}"#],
        );
        assert_eq!((whole.text.as_str(), whole.end), ("It ran.", End::Whole));
    }

    #[test]
    fn errors_are_told_by_their_word_alone() {
        let draft = read(
            Dialect::Openai,
            &[r#"{"error":{"message":"Incorrect API key: sk-12*34","type":"invalid_request_error"}}"#],
        );
        assert_eq!(draft.error.as_deref(), Some("invalid_request_error"));
        assert_eq!(code(&json!({ "type": "sk-0123 LEAK" })), "an error");
        assert!(!read(Dialect::Openai, &["<html>"]).understood);
    }

    #[test]
    fn addresses_are_below_the_endpoint() {
        assert_eq!(Dialect::Openai.address("http://h/v1/"), "http://h/v1/chat/completions");
        assert_eq!(Dialect::Anthropic.address("http://h/v1/messages"), "http://h/v1/messages");
    }
}
