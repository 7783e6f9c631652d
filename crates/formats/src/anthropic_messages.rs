//! Bodies of the Anthropic Messages API: `{system, messages, tools}`, or a bare list of messages.

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Finding, Record, RecordKind, SourceIndex, Speaker};

use crate::anthropic::{self, Voice};
use crate::document::{self, Member, unknown};
use crate::format::{Edit, Format, Resume};
use crate::json::{Kind, Value};
use crate::part::owned;

/// The format `anthropic-messages`.
#[derive(Debug)]
pub(crate) struct AnthropicMessages;

impl Format for AnthropicMessages {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        document::index(self.name(), source, &mut |member, record, findings| match member {
            Member::Message(value) => message(value, record, findings),
            Member::Field(value) => field(value, record, findings),
        })
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Vec<u8>> {
        let _ = (index, spans, edit);
        source.read(strongroom_core::range::ByteRange::new(0, source.len())).map(std::borrow::Cow::into_owned)
    }

    fn resume(&self, _index: &SourceIndex, _edit: &Edit) -> Option<Resume> {
        None
    }
}

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let role = value.string_at("role").unwrap_or_default();
    let speaker = match role.as_ref() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "system" | "developer" => Speaker::Operator,
        _ if value.kind() != Kind::Object => {
            return unknown(record, value, "a message that is no object", findings);
        }
        other => {
            return unknown(record, value, &format!("a message with the unknown role {other:?}"), findings);
        }
    };
    record.kind = RecordKind::Message;
    record.label = format!("message/{role}");
    record.id = owned(value, "id");
    if let Some(content) = value.get("content") {
        anthropic::content(content, "/content", Voice { speaker, line: None }, &mut record.blocks, findings);
    }
}

fn field(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    if record.pointer == "/system" {
        record.kind = RecordKind::Message;
        anthropic::content(
            value,
            "",
            Voice { speaker: Speaker::Operator, line: None },
            &mut record.blocks,
            findings,
        );
    }
}
