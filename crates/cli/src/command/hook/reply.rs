//! What is said to an agent, in the form that its hooks take.

use serde_json::{Map, Value, json};

use super::event::Event;
use crate::args::AgentArg;
use crate::exit::End;

/// What a hook says. Nothing is said with no output at all: before a compaction, Claude Code takes any output for an
/// instruction to its summariser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// To the user.
    message: Option<String>,
    /// To the model.
    context: Option<(Event, String)>,
    /// Why the agent should not compact.
    veto: Option<String>,
    /// How a veto is written.
    agent: Option<AgentArg>,
}

impl Reply {
    /// A word to the user.
    pub(super) fn message(text: String) -> Self {
        Self { message: Some(text), ..Self::default() }
    }

    /// Something that the model should read.
    pub(super) fn context(event: Event, text: String) -> Self {
        Self { context: Some((event, text)), ..Self::default() }
    }

    /// A reason not to compact.
    pub(super) fn veto(why: String) -> Self {
        Self { message: Some(why.clone()), veto: Some(why), ..Self::default() }
    }

    /// Adds a word to the user.
    pub(super) fn say(&mut self, text: String) {
        self.message = Some(text);
    }

    /// The same, as this agent takes it.
    pub(super) fn for_agent(self, agent: AgentArg) -> Self {
        Self { agent: Some(agent), ..self }
    }

    /// The JSON to print; `None` where there is nothing to say.
    pub(super) fn json(&self) -> Option<String> {
        let mut all = Map::new();
        if let Some(message) = &self.message {
            all.insert("systemMessage".to_owned(), json!(message));
        }
        if let Some((event, text)) = &self.context {
            let output = json!({ "hookEventName": event.word(), "additionalContext": text });
            all.insert("hookSpecificOutput".to_owned(), output);
        }
        match (&self.veto, self.agent) {
            (Some(why), Some(AgentArg::Codex)) => {
                all.insert("continue".to_owned(), json!(false));
                all.insert("stopReason".to_owned(), json!(why));
            }
            (Some(why), _) => {
                all.insert("decision".to_owned(), json!("block"));
                all.insert("reason".to_owned(), json!(why));
            }
            (None, _) => {}
        }
        (!all.is_empty()).then(|| Value::Object(all).to_string())
    }
}

/// How the program ends with a veto: Claude Code takes 2 for one as well, Codex takes any code but 0 for a failure of
/// the hook, which stops nothing.
pub(super) const fn end_of_veto(agent: AgentArg) -> End {
    match agent {
        AgentArg::ClaudeCode => End::Usage,
        AgentArg::Codex => End::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_say_is_no_output() {
        assert_eq!(Reply::default().json(), None);
    }

    #[test]
    fn a_veto_is_written_as_each_agent_takes_it() {
        let veto = Reply::veto("full".to_owned());
        let claude = veto.clone().for_agent(AgentArg::ClaudeCode).json().unwrap();
        assert_eq!(claude, r#"{"decision":"block","reason":"full","systemMessage":"full"}"#);
        let codex = veto.for_agent(AgentArg::Codex).json().unwrap();
        assert_eq!(codex, r#"{"continue":false,"stopReason":"full","systemMessage":"full"}"#);
    }
}
