//! Bodies of the Responses API: a list of items, or a body with `input` (of a response: `output`).

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Finding, Record, RecordKind, SourceIndex, Speaker};

use crate::document::{self, Member, unknown};
use crate::elide::{self, Rules};
use crate::format::{Edit, Format, Spliced};
use crate::json::{Kind, Value};
use crate::part::{owned, text_block, user_text};
use crate::responses::{self, Owner};

/// The format `openai-responses`.
#[derive(Debug)]
pub(crate) struct OpenAiResponses;

impl Format for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        document::index(self.name(), source, RULES.lists, &mut |member, record, findings| match member {
            Member::Message(value) => item(value, record, findings),
            Member::Field(value) => field(value, record),
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

fn item(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let kind = value.string_at("type").unwrap_or_default();
    let role = value.string_at("role").unwrap_or_default();
    let is_message = kind == "message" || kind.is_empty() && !role.is_empty();
    let blocks = if is_message {
        Some(responses::message(value, "", Owner::Person, None, findings))
    } else {
        responses::blocks(value, "", Owner::Person, None, findings)
    };
    record.id = owned(value, "id");
    record.label = if is_message { format!("message/{role}") } else { format!("item/{kind}") };
    match blocks {
        Some(blocks) => {
            record.kind = RecordKind::Message;
            record.blocks = blocks;
        }
        None => unknown(record, value, &format!("an item of the unknown type {kind:?}"), findings),
    }
}

/// `instructions` are the operator's; an `input` that is no list is the user's.
fn field(value: Value<'_>, record: &mut Record) {
    if value.kind() != Kind::String {
        return;
    }
    match record.pointer.as_str() {
        "/instructions" => {
            record.blocks.push(text_block(value, value, String::new(), Speaker::Operator));
        }
        "/input" => user_text(value, value, "", &mut record.blocks),
        _ => return,
    }
    record.kind = RecordKind::Message;
}

/// The summary stands behind the instructions.
const RULES: Rules = Rules {
    lists: &["input", "items", "output"],
    leads: |item| item.string_at("role").is_some_and(|role| matches!(role.as_ref(), "system" | "developer")),
    summary: |_, text| {
        let head = br#"{"type":"message","role":"user","content":[{"type":"input_text","text":"#;
        [head.as_slice(), text, b"}]}"].concat()
    },
    part: [r#"{"type":"input_text","text":"#, "}"],
    outputs: &[&["output"]],
    ..Rules::MESSAGES
};
