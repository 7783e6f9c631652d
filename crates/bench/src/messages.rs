//! Messages: a session as the list that every compactor can take, in the form of Chat Completions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::{Kind, Session, Speaker};
use crate::tokens;

/// A message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What it says.
    #[serde(default)]
    pub content: Content,
    /// The calls it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Of a result, the id of its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// What a message says: a text, or parts with texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Parts; those without text are passed over.
    Parts(Vec<Part>),
    /// Nothing.
    Nothing(()),
}

impl Default for Content {
    fn default() -> Self {
        Self::Nothing(())
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its text.
    #[serde(default)]
    pub text: String,
}

/// A call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Always `function`.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// What is called.
    pub function: Function,
}

/// What is called, with its arguments as JSON text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// The tool.
    #[serde(default)]
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: String,
}

impl Message {
    /// A message that says `text`.
    pub fn new(role: &str, text: impl Into<String>) -> Self {
        Self { role: role.to_owned(), content: Content::Text(text.into()), ..Self::default() }
    }

    /// What it says.
    pub fn text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => {
                parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
            }
            Content::Nothing(()) => String::new(),
        }
    }

    /// What it says with the decoded arguments of its calls: what a reader can find in it.
    pub fn readable(&self) -> Vec<String> {
        let mut texts = vec![self.text()];
        for call in &self.tool_calls {
            match serde_json::from_str::<Value>(&call.function.arguments) {
                Ok(value) => strings(&value, &mut texts),
                Err(_) => texts.push(call.function.arguments.clone()),
            }
        }
        texts
    }

    /// Its tokens: text, tools and arguments, and four for the frame.
    pub fn tokens(&self) -> u64 {
        let calls = self
            .tool_calls
            .iter()
            .map(|call| tokens::count(&call.function.name) + tokens::count(&call.function.arguments));
        tokens::count(&self.text()) + calls.sum::<u64>() + 4
    }
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The messages of a session, all of its history. Thinking is left out, as most requests leave it out.
pub fn of(session: &Session) -> Vec<Message> {
    until(session, u32::MAX)
}

/// The messages of the records before `record`.
pub fn until(session: &Session, record: u32) -> Vec<Message> {
    let mut found: Vec<Message> = Vec::new();
    for event in session.events.iter().take_while(|event| event.record < record) {
        match &event.kind {
            Kind::Thinking => {}
            Kind::Said => {
                let role = match event.speaker {
                    Speaker::Assistant => "assistant",
                    Speaker::Operator => "system",
                    Speaker::User | Speaker::Harness | Speaker::Derived | Speaker::Tool => "user",
                };
                found.push(Message::new(role, session.text_of(event)));
            }
            Kind::Call { id, tool, arguments } => {
                let given: BTreeMap<&str, &str> =
                    arguments.iter().map(|own| (own.name.as_str(), session.text(own.leaf))).collect();
                let arguments = serde_json::to_string(&given).unwrap_or_default();
                let function = Function { name: tool.clone(), arguments };
                let call = ToolCall { id: id.clone(), kind: "function".to_owned(), function };
                match found.last_mut().filter(|last| last.role == "assistant") {
                    Some(last) => last.tool_calls.push(call),
                    None => found.push(Message {
                        role: "assistant".to_owned(),
                        tool_calls: vec![call],
                        ..Message::default()
                    }),
                }
            }
            Kind::Result { id, .. } => found.push(Message {
                tool_call_id: Some(id.clone()),
                ..Message::new("tool", session.text_of(event))
            }),
        }
    }
    found
}
