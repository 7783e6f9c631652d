//! Sessions of Cline and Roo Code: messages of the Anthropic API with members of their own, in a list or under
//! `messages`.

use std::collections::BTreeSet;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{
    Block, BlockKind, Bytes, Finding, Record, RecordKind, SourceIndex, Speaker, Visibility,
};

use crate::anthropic::{self, Voice};
use crate::anthropic_messages;
use crate::document::{self, Member, unknown};
use crate::elide::{self, Rules};
use crate::format::{Edit, Format, Spliced};
use crate::json::{Value, decode};
use crate::part::{block, owned};

/// The format `cline`.
#[derive(Debug)]
pub(crate) struct Cline;

impl Format for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        let mut links = Links::default();
        let mut session = None;
        let mut index = document::index(
            self.name(),
            source,
            RULES.lists,
            &mut |member, record, findings| match member {
                Member::Message(value) => {
                    message(value, record, findings);
                    links.note(value, record.range.start());
                }
                Member::Field(value) => match record.pointer.as_str() {
                    "/system_prompt" => {
                        record.kind = RecordKind::Message;
                        let voice = Voice { speaker: Speaker::Operator, line: None };
                        anthropic::content(value, "", voice, &mut record.blocks, findings);
                    }
                    "/sessionId" => session = value.string().map(Into::into),
                    _ => {}
                },
            },
        )?;
        links.hide(&mut index.records);
        index.records.iter_mut().for_each(|record| record.session.clone_from(&session));
        Ok(index)
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

const RULES: Rules = Rules { violations: anthropic_messages::violations, ..Rules::MESSAGES };

/// Texts of a user's message that the program put there, by how they begin.
const PROGRAM: [&str; 7] = [
    "<environment_details>",
    "<SYSTEM_NOTICE>",
    "<explicit_instructions",
    "[TASK RESUMPTION]",
    "[NOTE] ",
    "[ERROR] ",
    "# todo_list",
];

/// Tools that older versions called by tags in the assistant's text.
const TAGS: [&str; 24] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "new_task",
    "plan_mode_respond",
    "load_mcp_documentation",
    "web_fetch",
    "switch_mode",
    "fetch_instructions",
    "condense",
    "codebase_search",
    "update_todo_list",
];

fn message(value: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
    let role = value.string_at("role").unwrap_or_default();
    let speaker = match role.as_ref() {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "system" => Speaker::Operator,
        _ if value.get("type").is_some_and(|kind| kind.is("reasoning")) => {
            record.kind = RecordKind::Message;
            "item/reasoning".clone_into(&mut record.label);
            record.blocks.push(block(BlockKind::Thinking, value, String::new(), Speaker::Assistant));
            return;
        }
        other => {
            return unknown(record, value, &format!("a message with the unknown role {other:?}"), findings);
        }
    };
    record.kind = RecordKind::Message;
    record.label = format!("message/{role}");
    record.id = owned(value, "id");
    record.time = value.get("ts").and_then(Value::integer).map(strongroom_core::time::Timestamp::from_ms);
    if let Some(content) = value.get("content") {
        let voice = Voice { speaker, line: None };
        anthropic::content(content, "/content", voice, &mut record.blocks, findings);
    }
    let raw = |block: &Block| {
        let text = block.text.first()?.range;
        let start = usize::try_from(text.start() - value.range().start()).ok()?;
        let end = usize::try_from(text.end() - value.range().start()).ok()?;
        value.raw().get(start..end)
    };
    for block in record.blocks.iter_mut().filter(|block| block.kind == BlockKind::Text) {
        let words = decode(raw(block).unwrap_or_default());
        attribute(block, &words);
    }
    if is_summary(value) {
        record.kind = RecordKind::Boundary;
        summarise(&mut record.blocks);
    }
}

/// What is known of a text by the forms in which the program itself writes.
fn attribute(block: &mut Block, words: &str) {
    let words = words.trim_start();
    let is_result =
        words.starts_with('[') && words.lines().next().is_some_and(|line| line.contains("] Result:"));
    if block.speaker == Speaker::User && (is_result || PROGRAM.iter().any(|begin| words.starts_with(begin))) {
        block.speaker = Speaker::Harness;
    }
    if block.speaker == Speaker::Assistant && TAGS.iter().any(|tag| words.contains(&format!("<{tag}>"))) {
        block.kind = BlockKind::Opaque("a tool call that is written as text".to_owned());
    }
}

fn is_summary(value: Value<'_>) -> bool {
    let marked = value.path(&["metadata", "kind"]).and_then(Value::string);
    value.get("isSummary").and_then(Value::bool) == Some(true)
        || marked.is_some_and(|kind| kind.starts_with("compaction"))
}

/// Of a message that a compaction wrote: what stands last in it, and what the program says; the user's own words
/// may stand in front.
fn summarise(blocks: &mut [Block]) {
    let is_text = |block: &Block| matches!(block.kind, BlockKind::Text | BlockKind::Paste);
    let last = blocks.iter().rposition(is_text);
    for (at, block) in blocks.iter_mut().enumerate().filter(|(_, block)| is_text(block)) {
        if Some(at) == last || block.speaker == Speaker::Harness {
            block.kind = BlockKind::Summary;
            block.speaker = Speaker::Derived;
        }
    }
}

/// Messages that stay in the file and are sent no longer: their parent is a summary or a cut that is there.
#[derive(Debug, Default)]
struct Links {
    parents: Vec<(u64, String)>,
    present: BTreeSet<String>,
}

impl Links {
    fn note(&mut self, value: Value<'_>, start: u64) {
        let parents = ["condenseParent", "truncationParent"].into_iter().filter_map(|key| owned(value, key));
        self.parents.extend(parents.map(|parent| (start, parent)));
        self.present.extend(["condenseId", "truncationId"].into_iter().filter_map(|key| owned(value, key)));
    }

    fn hide(&self, records: &mut [Record]) {
        let hidden: BTreeSet<u64> = self
            .parents
            .iter()
            .filter(|(_, parent)| self.present.contains(parent))
            .map(|(start, _)| *start)
            .collect();
        for record in records.iter_mut().filter(|record| hidden.contains(&record.range.start())) {
            record.blocks.iter_mut().for_each(|block| block.visibility = Visibility::Past);
        }
    }
}
