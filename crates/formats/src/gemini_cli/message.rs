//! A message of a session: what was said, and the calls with what they returned.

use std::collections::BTreeMap;

use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Ending, Finding, Record, RecordKind, Speaker, Usage, Visibility,
};

use crate::document::unknown;
use crate::elide::call_id;
use crate::genai::{Pairs, parts};
use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::{block, owned, plain_text, time_of};

/// Reads messages one after the other.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pairs: Pairs,
    /// Token counts by the place of the record.
    counts: BTreeMap<u64, Usage>,
}

/// Texts that a resume leaves out, by how they begin, and who speaks in them.
const LEFT_OUT: [(&str, Speaker); 4] = [
    ("/", Speaker::User),
    ("?", Speaker::User),
    ("<session_context>", Speaker::Harness),
    ("<hook_context>", Speaker::Harness),
];

/// How the program's own summary begins; it loses the user's name by its looks.
const STATE: &str = "<state_snapshot>";

impl Reader {
    /// Fills `record` from the message `value` at `pointer`.
    pub(super) fn read(
        &mut self,
        value: Value<'_>,
        pointer: &str,
        record: &mut Record,
        findings: &mut Vec<Finding>,
    ) {
        let kind = value.string_at("type").unwrap_or_default();
        let (speaker, role) = match kind.as_ref() {
            "user" => (Speaker::User, "user"),
            "gemini" | "qwen" | "model" => (Speaker::Assistant, "model"),
            "info" | "error" | "warning" => (Speaker::Harness, kind.as_ref()),
            other => {
                let why = format!("a message of the unknown type {other:?}");
                return unknown(record, value, &why, findings);
            }
        };
        record.kind = RecordKind::Message;
        record.label = format!("message/{role}");
        record.id = owned(value, "id");
        record.time = value.get("timestamp").and_then(time_of);
        let before = record.blocks.len();
        if let Some(content) = value.get("content") {
            parts(content, &format!("{pointer}/content"), speaker, record, (&mut self.pairs, findings));
        }
        Self::thoughts(value, pointer, record);
        for (at, call) in value.get("toolCalls").into_iter().flat_map(Value::elements).enumerate() {
            self.call(call, &format!("{pointer}/toolCalls/{at}"), record, findings);
        }
        let Some(own) = record.blocks.get_mut(before..) else { return };
        own.sort_by_key(|block| (block.range.start(), std::cmp::Reverse(block.range.end())));
        if speaker == Speaker::Harness {
            own.iter_mut().for_each(|block| block.visibility = Visibility::Aside);
        }
        if speaker == Speaker::User {
            demote(value, own);
        }
        self.counts.extend(usage(value).map(|usage| (record.range.start(), usage)));
    }

    /// The token counts of all records that carry them.
    pub(super) fn usage(&self, records: &[Record]) -> Vec<Usage> {
        let places = records.iter().zip(0u32..);
        places
            .filter_map(|(record, at)| Some(Usage { record: at, ..*self.counts.get(&record.range.start())? }))
            .collect()
    }

    /// Headlines of the reasoning, which are never sent again.
    fn thoughts(value: Value<'_>, pointer: &str, record: &mut Record) {
        for (at, thought) in value.get("thoughts").into_iter().flat_map(Value::elements).enumerate() {
            let texts =
                ["subject", "description"].into_iter().filter_map(|key| thought.get(key)?.text_range());
            let pointer = format!("{pointer}/thoughts/{at}");
            let own = block(BlockKind::Thinking, thought, pointer, Speaker::Assistant);
            let mut text: Vec<_> = texts.collect();
            text.sort_by_key(|text| text.range);
            record.blocks.push(Block { visibility: Visibility::Aside, text, ..own });
        }
    }

    fn call(&mut self, call: Value<'_>, pointer: &str, record: &mut Record, findings: &mut Vec<Finding>) {
        let tool = owned(call, "name").unwrap_or_default();
        let id = self.pairs.call(owned(call, "id"), &tool);
        let args = call.get("args");
        let arguments = args.map_or(Arguments::Missing, |args| Arguments::Json(args.range()));
        let facts = BlockKind::Call(CallFacts { id: Some(id.clone()), tool, arguments });
        // What it returned stands beside it, so that the call takes up its arguments alone.
        let place = args.or_else(|| call.get("name")).unwrap_or(call);
        let member = if args.is_some() { "args" } else { "name" };
        let own = block(facts, place, format!("{pointer}/{member}"), Speaker::Assistant);
        // Content that holds the call itself is what is sent.
        let is_twin = record.blocks.iter().any(|block| call_id(block) == Some(id.as_str()));
        let first = record.blocks.len();
        record.blocks.push(own);
        if let Some(list) = call.get("result").filter(|list| list.kind() != Kind::Null) {
            let pointer = format!("{pointer}/result");
            parts(list, &pointer, Speaker::Tool, record, (&mut self.pairs, findings));
        }
        if let Some(shown) = call.get("resultDisplay").filter(|shown| shown.raw().len() > 2) {
            let facts = BlockKind::SideData { call_id: Some(id.clone()) };
            let own = block(facts, shown, format!("{pointer}/resultDisplay"), Speaker::Tool);
            let text = vec![plain_text(shown)];
            record.blocks.push(Block { visibility: Visibility::Aside, text, ..own });
        }
        let status = call.string_at("status").unwrap_or_default();
        for block in record.blocks.iter_mut().skip(first) {
            complete(block, &status, call);
            if is_twin {
                block.visibility = Visibility::Aside;
            }
        }
    }
}

/// Completes a result from the status that stands beside it.
fn complete(block: &mut Block, status: &str, call: Value<'_>) {
    let BlockKind::Result(facts) = &mut block.kind else { return };
    match status {
        "error" => facts.error = Some(true),
        "success" => facts.error = facts.error.or(Some(false)),
        "cancelled" => {
            facts.error = Some(true);
            let head = call.get("result").map(outcome::head).unwrap_or_default();
            let words = memchr::memmem::find(call.raw(), b"User did not allow").is_some();
            facts.ending =
                if words || head.contains("did not allow") { Ending::Refused } else { Ending::Interrupted };
        }
        _ => {}
    }
}

fn demote(value: Value<'_>, blocks: &mut [Block]) {
    let content = value.get("content");
    let first = content.and_then(|content| match content.kind() {
        Kind::String => content.string(),
        Kind::Array => content.elements().next().and_then(|part| part.string_at("text")),
        _ => content.string_at("text"),
    });
    let words = first.as_deref().unwrap_or_default().trim_start();
    let left_out = LEFT_OUT.iter().find(|(begin, _)| words.starts_with(begin));
    for block in blocks.iter_mut().filter(|block| block.speaker == Speaker::User) {
        if let Some((_, speaker)) = left_out {
            block.visibility = Visibility::Aside;
            block.speaker = *speaker;
        } else if words.starts_with(STATE) {
            block.speaker = Speaker::Derived;
            block.kind = BlockKind::Summary;
        }
    }
}

fn usage(value: Value<'_>) -> Option<Usage> {
    let tokens = value.get("tokens")?;
    let count = |key: &str| {
        tokens.get(key).and_then(Value::integer).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    };
    let own = Usage {
        record: 0,
        context_tokens: count("input"),
        output_tokens: count("output"),
        cached_tokens: count("cached"),
    };
    (own.context_tokens > 0).then_some(own)
}
