//! The events that are answered.

/// A moment in an agent's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The context is about to be replaced by a summary.
    PreCompact,
    /// It was.
    PostCompact,
    /// A session begins, or goes on.
    SessionStart,
    /// The user has written something.
    UserPromptSubmit,
    /// The agent has finished a turn.
    Stop,
    /// A child agent has finished.
    SubagentStop,
    /// The session is over.
    SessionEnd,
}

/// The names of events, as Claude Code and Codex write them.
const EVENTS: &[(&str, Event)] = &[
    ("PreCompact", Event::PreCompact),
    ("PostCompact", Event::PostCompact),
    ("SessionStart", Event::SessionStart),
    ("UserPromptSubmit", Event::UserPromptSubmit),
    ("Stop", Event::Stop),
    ("SubagentStop", Event::SubagentStop),
    ("SessionEnd", Event::SessionEnd),
];

impl Event {
    /// The event of this name, in any spelling: `PreCompact`, `pre-compact`, `pre_compact`.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        let plain = |word: &str| word.replace(['-', '_'], "").to_lowercase();
        let word = plain(word);
        EVENTS.iter().find(|(name, _)| plain(name) == word).map(|(_, event)| *event)
    }

    /// The name as agents write it.
    pub(super) fn word(self) -> &'static str {
        EVENTS.iter().find(|(_, event)| *event == self).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read() {
        for (name, event) in EVENTS {
            assert_eq!(Event::from_word(name), Some(*event));
            assert_eq!(event.word(), *name);
        }
        assert_eq!(Event::from_word("pre-compact"), Some(Event::PreCompact));
        assert_eq!(Event::from_word("user_prompt_submit"), Some(Event::UserPromptSubmit));
        assert_eq!(Event::from_word("PreToolUse"), None);
    }
}
