//! Trajectories in Harbor's interchange form (ATIF): steps with calls and what was observed.

use strongroom_core::error::Result;
use strongroom_core::transcript::{
    Block, BlockKind, Bytes, Ending, Finding, Level, Record, RecordKind, ResultFacts, SourceIndex, Speaker,
};

use crate::chat;
use crate::document::{self, Adapter, Member, Paths, unknown};
use crate::json::{Kind, Value};
use crate::outcome::{self, leading_number};
use crate::part::{block, content_texts, finding, owned, text_block, time_of};

const PATHS: Paths = &[&["steps", "*"]];

/// Reads a trajectory.
///
/// # Errors
/// As [`document::index_at`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    document::index_at("atif", PATHS, source, &mut Reader::default())
}

#[derive(Debug, Default)]
struct Reader {
    session: Option<String>,
    /// Whether every run tells its return code, so that a call without one was not run.
    tells_codes: bool,
}

impl Adapter for Reader {
    fn begin(&mut self, root: Value<'_>) {
        self.session = owned(root, "session_id");
        let agent = root.path(&["agent", "name"]).and_then(Value::string);
        self.tells_codes = agent.is_some_and(|name| name == "mini-swe-agent");
    }

    fn read(&mut self, member: Member<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let Member::Message(step) = member else { return };
        record.session.clone_from(&self.session);
        record.time = step.get("timestamp").and_then(time_of);
        record.id = step.get("step_id").and_then(Value::integer).map(|id| id.to_string());
        record.kind = RecordKind::Message;
        let source = step.string_at("source").unwrap_or_default();
        record.label = format!("step/{source}");
        match source.as_ref() {
            "user" => said(step, Speaker::User, record, findings),
            "system" if is_handover(step) => {
                record.kind = RecordKind::Boundary;
                said(step, Speaker::Derived, record, findings);
                record.blocks.iter_mut().for_each(|block| block.kind = BlockKind::Summary);
            }
            "system" => said(step, Speaker::Operator, record, findings),
            "agent" => self.agent(step, record, findings),
            _ if step.kind() != Kind::Object => unknown(record, step, "a step that is no object", findings),
            other => unknown(record, step, &format!("a step of the unknown source {other:?}"), findings),
        }
        record.blocks.sort_by_key(|block| block.range);
    }
}

impl Reader {
    fn agent(&self, step: Value<'_>, record: &mut Record, findings: &mut Vec<Finding>) {
        let thinking = step.get("reasoning_content").filter(|text| text.kind() == Kind::String);
        if let Some(text) = thinking {
            let own = text_block(text, text, "/reasoning_content".to_owned(), Speaker::Assistant);
            record.blocks.push(Block { kind: BlockKind::Thinking, ..own });
        }
        said(step, Speaker::Assistant, record, findings);
        let mut last = None;
        for (at, call) in step.get("tool_calls").into_iter().flat_map(Value::elements).enumerate() {
            let id = owned(call, "tool_call_id");
            last.clone_from(&id);
            let own = chat::tool_call(call, call, id, format!("/tool_calls/{at}"));
            record.blocks.push(own);
        }
        let results = step.path(&["observation", "results"]);
        for (at, result) in results.into_iter().flat_map(Value::elements).enumerate() {
            let named = owned(result, "source_call_id");
            if named.is_none()
                && at == 0
                && step.get("tool_calls").is_some_and(|calls| calls.elements().count() > 1)
            {
                let why = "a result that names no call stands behind several; it is taken for the last one's";
                findings.push(finding(Level::Note, "shared-result", None, "/observation", why.to_owned()));
            }
            let call_id = named.or_else(|| last.clone());
            record.blocks.push(self.result(result, call_id, format!("/observation/results/{at}")));
        }
    }

    fn result(&self, value: Value<'_>, call_id: Option<String>, pointer: String) -> Block {
        let mut facts = ResultFacts { call_id, ..ResultFacts::default() };
        let Some(content) = value.get("content") else {
            return block(BlockKind::Result(facts), value, pointer, Speaker::Tool);
        };
        let text = content.string().unwrap_or_default();
        if self.tells_codes {
            facts.exit_code = text.strip_prefix("<returncode>").and_then(leading_number);
            let timed_out = text.starts_with("The last command <command>");
            facts.ending = match facts.exit_code {
                Some(_) => Ending::Returned,
                None if timed_out => Ending::TimedOut,
                None => Ending::Refused,
            };
        }
        facts.cuts = outcome::cuts(content);
        let own = block(BlockKind::Result(facts), content, format!("{pointer}/content"), Speaker::Tool);
        Block { text: content_texts(content), ..own }
    }
}

/// Whether a step hands the work over to a summary that another trajectory made.
fn is_handover(step: Value<'_>) -> bool {
    let results = step.path(&["observation", "results"]);
    results
        .into_iter()
        .flat_map(Value::elements)
        .any(|result| result.get("subagent_trajectory_ref").is_some())
}

/// The message of a step: a text, or a list of parts.
fn said(step: Value<'_>, speaker: Speaker, record: &mut Record, findings: &mut Vec<Finding>) {
    if let Some(message) = step.get("message") {
        chat::said(message, "/message", speaker, &mut record.blocks, findings);
    }
}
