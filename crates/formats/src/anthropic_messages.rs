//! Bodies of the Anthropic Messages API: `{system, messages, tools}`, or a bare list of messages.

use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Block, BlockKind, Bytes, Finding, Record, RecordKind, SourceIndex, Speaker,
};

use crate::anthropic::{self, Voice};
use crate::document::{self, Member, unknown};
use crate::elide::{self, Rules, turns};
use crate::format::{Edit, Format, Spliced};
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
        document::index(self.name(), source, RULES.lists, &mut |member, record, findings| match member {
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
    ) -> Result<Spliced> {
        elide::splice(self, &RULES, source, (index, spans), edit)
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

/// The summary is the first message. A user's message may follow: the API joins neighbours of one role.
const RULES: Rules = Rules { violations, ..Rules::MESSAGES };

/// Counts what the API would refuse, by rule.
pub(crate) fn violations(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
    let mut found: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut count = |rule: &'static str, times: usize| *found.entry(rule).or_default() += times;
    let turns = turns(index);
    count(
        "the first message is the user's",
        usize::from(turns.first().is_some_and(|turn| turn.role != "user")),
    );
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for turn in &turns {
        if turn.role == "assistant" {
            count("every call is answered in the next message", open.len());
            open.clear();
        }
        for id in &turn.calls {
            count("ids of calls are unique", usize::from(!seen.insert(id)));
            open.insert(id);
        }
        count("every result follows its call", turn.answers.iter().filter(|id| !open.remove(*id)).count());
        let is_result = |block: &Block| matches!(block.kind, BlockKind::Result(_));
        let mixed =
            turn.role == "user" && turn.blocks.iter().skip_while(|block| is_result(block)).any(is_result);
        count("results come first in their message", usize::from(mixed));
        let is_empty = |block: &&Block| {
            block.kind == BlockKind::Text && block.text.iter().all(|text| text.range.is_empty())
        };
        count("texts are not empty", turn.blocks.iter().filter(is_empty).count());
    }
    found
}
