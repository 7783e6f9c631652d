//! Which words of a user message are beyond doubt a person's.

use crate::session::Speaker;

/// How messages begin that a harness writes in the user's name.
const BEGINNINGS: [&str; 14] = [
    "Here's a running example of how to perform a task",
    "EXECUTION RESULT of [",
    "<",
    "Caveat:",
    "[Request interrupted",
    "This session is being continued",
    "[Image",
    "# AGENTS.md",
    "Base directory for this skill",
    "Stop hook feedback",
    "[SYSTEM",
    "Unknown skill",
    "Implement the following plan:",
    "/",
];

/// What stands inside such messages.
const MARKS: [&str; 7] = [
    "<system-reminder>",
    "<command-",
    "<local-command",
    "<task-notification",
    "<INSTRUCTIONS>",
    "<environment_context>",
    "[Request interrupted",
];

/// Who speaks in a message of the role `user`.
pub(super) fn speaker(text: &str) -> Speaker {
    let begun = text.trim_start();
    let harness = begun.is_empty()
        || BEGINNINGS.iter().any(|own| begun.starts_with(own))
        || MARKS.iter().any(|own| text.contains(own));
    if harness { Speaker::Harness } else { Speaker::User }
}
