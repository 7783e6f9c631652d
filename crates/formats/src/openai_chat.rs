//! Chat messages in `OpenAI`'s form: a bare list, or a request body with `messages`.

use std::collections::BTreeMap;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, SourceIndex};

use crate::chat;
use crate::document::{self, Member};
use crate::elide::{self, Rules, turns};
use crate::format::{Edit, Format, Spliced};

/// The format `openai-chat`.
#[derive(Debug)]
pub(crate) struct OpenAiChat;

impl Format for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        document::index(self.name(), source, RULES.lists, &mut |member, record, findings| {
            if let Member::Message(value) = member {
                chat::message(value, record, findings);
            }
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

/// The summary stands behind the instructions.
const RULES: Rules = Rules {
    leads: |message| {
        message.string_at("role").is_some_and(|role| matches!(role.as_ref(), "system" | "developer"))
    },
    violations,
    ..Rules::MESSAGES
};

/// Counts what the API would refuse, by rule.
pub(crate) fn violations(index: &SourceIndex) -> BTreeMap<&'static str, usize> {
    let mut found: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut count = |rule: &'static str, times: usize| *found.entry(rule).or_default() += times;
    let mut open: Vec<&str> = Vec::new();
    for turn in turns(index) {
        if !matches!(turn.role, "tool" | "function") {
            count("every call is answered before the next message", open.len());
            open.clear();
        }
        open.extend(&turn.calls);
        for id in turn.answers {
            match open.iter().position(|call| *call == id) {
                Some(at) => drop(open.remove(at)),
                None => count("every tool message follows its call", 1),
            }
        }
    }
    found
}
