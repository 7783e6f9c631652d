//! The protocol: any compactor that is a command can be measured.
//!
//! It reads one JSON object on standard input, `{"schema":1,"budget_tokens":n,"messages":[…]}`, and writes one on
//! standard output, `{"messages":[…]}`. docs/benchmark-protocol.md describes it.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::messages::Message;

#[derive(Serialize)]
struct Given<'m> {
    schema: u32,
    budget_tokens: u64,
    tokenizer: &'static str,
    messages: &'m [Message],
}

#[derive(Deserialize)]
struct Returned {
    messages: Vec<Message>,
}

/// Has `command` compact `messages` to `budget` tokens.
///
/// # Errors
/// When it cannot be started, fails, or hands back something else.
pub fn compact(command: &str, messages: &[Message], budget: u64) -> io::Result<Vec<Message>> {
    let given = Given { schema: 1, budget_tokens: budget, tokenizer: crate::tokens::TOKENIZER, messages };
    let body = serde_json::to_vec(&given)?;
    let mut child =
        Command::new("sh").arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let stdin = child.stdin.take();
    // Written beside reading: a command may answer before it has read everything.
    let writer = std::thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&body)));
    let output = child.wait_with_output()?;
    let written = writer.join().map_err(|_| io::Error::other("the messages could not be handed over"))?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{command} ended with {}", output.status)));
    }
    written?;
    let returned: Returned = serde_json::from_slice(&output.stdout)?;
    Ok(returned.messages)
}

/// Whether a literal is how a compactor names what it took away, and not a claim about the transcript.
pub(crate) fn is_pointer(literal: &str) -> bool {
    literal.starts_with("evidence_") || literal.starts_with("sr:") || literal == "strongroom"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_given_messages_and_hands_some_back() {
        let messages = vec![Message::new("user", "hello"), Message::new("assistant", "hi")];
        let after = compact(
            "cat >/dev/null; echo '{\"messages\":[{\"role\":\"user\",\"content\":\"short\"}]}'",
            &messages,
            5,
        );
        assert_eq!(after.unwrap(), vec![Message::new("user", "short")]);
        assert_eq!(compact("cat", &messages, 5).unwrap(), messages);
        assert!(compact("exit 3", &messages, 5).is_err());
        assert!(compact("echo no", &messages, 5).is_err());
    }
}
