//! The benevolent literal reader: what an answerer who only has text could at best have found.
//!
//! Gold counts as found where it stands, byte for byte, in a message that came through as it was and has the right
//! role, or anywhere in a message that the compactor wrote. A real reader finds less.

use std::collections::BTreeSet;

use crate::messages::Message;
use crate::question::{Expect, Gold, Question};

/// What a compactor handed back, ready to be searched.
#[derive(Debug)]
pub struct Reader {
    kept: Vec<(String, Vec<String>)>,
    written: Vec<Vec<String>>,
}

impl Reader {
    /// A reader of `after`, where the compactor was given `before`.
    pub fn new(before: &[Message], after: &[Message]) -> Self {
        let known: BTreeSet<(&str, String)> =
            before.iter().map(|own| (own.role.as_str(), own.text())).collect();
        let mut reader = Self { kept: Vec::new(), written: Vec::new() };
        for message in after {
            let own = known.contains(&(message.role.as_str(), message.text())) || message.role == "tool";
            if own || !message.tool_calls.is_empty() {
                reader.kept.push((message.role.clone(), message.readable()));
            } else {
                reader.written.push(message.readable());
            }
        }
        reader
    }

    /// A reader of one text that a compactor wrote.
    pub fn of_text(text: &str) -> Self {
        Self { kept: Vec::new(), written: vec![vec![text.to_owned()]] }
    }

    /// Whether the answer to `question` could be read; `None` of a question that literal reading cannot answer.
    pub fn finds(&self, question: &Question) -> Option<bool> {
        match question.expect {
            Expect::Cited | Expect::AllCited | Expect::Yes | Expect::Value(_)
                if !question.gold.is_empty() =>
            {
                Some(question.gold.iter().all(|gold| self.holds(gold)))
            }
            Expect::Order(_) => Some(question.gold.iter().all(|gold| self.holds(gold))),
            _ => None,
        }
    }

    fn holds(&self, gold: &Gold) -> bool {
        let role = match gold.speaker.as_str() {
            "user" | "harness" => "user",
            "assistant" => "assistant",
            "tool" => "tool",
            _ => "system",
        };
        let has = |texts: &[String]| texts.iter().any(|text| text.contains(&gold.text));
        self.written.iter().any(|texts| has(texts))
            || self.kept.iter().any(|(own, texts)| own == role && has(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str, speaker: &str) -> Question {
        let gold = Gold {
            text: text.into(),
            record: 1,
            pointer: String::new(),
            bytes: (0, 1),
            sha256: String::new(),
            speaker: speaker.into(),
            copies: Vec::new(),
        };
        Question { gold: vec![gold], ..Question::blank() }
    }

    #[test]
    fn kept_messages_count_under_their_role_and_written_ones_under_any() {
        let before = vec![Message::new("user", "go ahead"), Message::new("assistant", "done with it")];
        let reader = Reader::new(&before, &before);
        assert_eq!(reader.finds(&question("go ahead", "user")), Some(true));
        assert_eq!(reader.finds(&question("go ahead", "assistant")), Some(false));
        let summary = vec![Message::new("user", "summary: the user said go ahead")];
        assert_eq!(Reader::new(&before, &summary).finds(&question("go ahead", "assistant")), Some(true));
        assert_eq!(Reader::new(&before, &[]).finds(&question("go ahead", "user")), Some(false));
    }
}
