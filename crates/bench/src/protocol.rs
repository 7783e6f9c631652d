//! The protocol: any compactor that is a command can be measured.
//!
//! It reads one JSON object on standard input, `{"schema":1,"budget_tokens":n,"messages":[…]}`, and writes one on
//! standard output, `{"messages":[…]}`. docs/benchmark-protocol.md describes it.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use wait4::Wait4 as _;

use crate::messages::Message;
use crate::question::Question;
use crate::reply::Verdict;

/// What a compactor is given.
#[derive(Serialize, Deserialize)]
pub(crate) struct Given {
    schema: u32,
    /// The tokens it may keep.
    pub(crate) budget_tokens: u64,
    tokenizer: String,
    /// The talk.
    pub(crate) messages: Vec<Message>,
}

/// What it hands back.
#[derive(Serialize, Deserialize)]
pub(crate) struct Returned {
    /// The messages that are left.
    pub(crate) messages: Vec<Message>,
}

/// A compactor behind commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// Its name in tables.
    pub name: String,
    /// The command that compacts.
    pub compact: String,
    /// The command that answers, where it has a store of its own.
    pub answer: Option<String>,
}

/// A question as an answering command gets it.
#[derive(Serialize)]
struct Asked<'q> {
    id: &'q str,
    query: &'q str,
    plain: &'q [String],
}

/// What an answering command says to one question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Answered {
    /// The question's name.
    pub id: String,
    /// What the answer claims to be.
    pub verdict: Verdict,
    /// The answer in words.
    #[serde(default)]
    pub answer: Option<String>,
    /// Values in order.
    #[serde(default)]
    pub values: Vec<String>,
    /// What was retrieved, word for word.
    #[serde(default)]
    pub text: String,
    /// Who said it, where that is known.
    #[serde(default)]
    pub speaker: Option<String>,
}

/// What a command made of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// The messages that are left.
    pub messages: Vec<Message>,
    /// The most memory that the command, or a program that it started and waited for, has held, in KiB.
    pub peak_kib: u64,
}

/// Has `command` compact `messages` to `budget` tokens; `dir` is a folder of its own.
///
/// # Errors
/// When it cannot be started, fails, or hands back something else.
pub fn compact(command: &str, dir: &Path, messages: &[Message], budget: u64) -> io::Result<Compacted> {
    let tokenizer = crate::tokens::TOKENIZER.to_owned();
    let given = Given { schema: 1, budget_tokens: budget, tokenizer, messages: messages.to_vec() };
    let output = piped(command, dir, serde_json::to_vec(&given)?)?;
    let returned: Returned = serde_json::from_slice(&output.bytes)?;
    Ok(Compacted { messages: returned.messages, peak_kib: output.peak_kib })
}

/// Has `command` answer `questions` from what it compacted into `dir`.
///
/// # Errors
/// As [`compact`], or when it answers other questions.
pub fn answer(command: &str, dir: &Path, questions: &[&Question]) -> io::Result<Vec<Answered>> {
    let mut body = Vec::new();
    for question in questions {
        let asked = Asked { id: &question.id, query: &question.query, plain: &question.plain };
        serde_json::to_writer(&mut body, &asked)?;
        body.push(b'\n');
    }
    let output = piped(command, dir, body)?;
    let lines = output.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let answers: Vec<Answered> = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
    let same = answers.len() == questions.len()
        && answers.iter().zip(questions).all(|(answer, question)| answer.id == question.id);
    if same { Ok(answers) } else { Err(io::Error::other("the answers are not those to the questions")) }
}

/// What a command wrote, and how much memory it took.
struct Output {
    bytes: Vec<u8>,
    peak_kib: u64,
}

/// Runs `command` with `body` on its standard input.
fn piped(command: &str, dir: &Path, body: Vec<u8>) -> io::Result<Output> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .env("EVIDENCE_BENCH_DIR", dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    // Written beside reading: a command may answer before it has read everything.
    let writer = std::thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&body)));
    let mut bytes = Vec::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_end(&mut bytes)?;
    }
    let ended = child.wait4()?;
    let written = writer.join().map_err(|_| io::Error::other("the input could not be handed over"))?;
    if !ended.status.success() {
        return Err(io::Error::other(format!("{command} ended with {}", ended.status)));
    }
    // A command that needs no more input may close it early.
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(Output { bytes, peak_kib: ended.rusage.maxrss / 1_024 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_given_messages_and_hands_some_back() {
        let messages = vec![Message::new("user", "hello"), Message::new("assistant", "hi")];
        let dir = Path::new("/");
        let after = compact(
            "cat >/dev/null; echo '{\"messages\":[{\"role\":\"user\",\"content\":\"short\"}]}'",
            dir,
            &messages,
            5,
        );
        assert_eq!(after.unwrap().messages, vec![Message::new("user", "short")]);
        assert_eq!(compact("cat", dir, &messages, 5).unwrap().messages, messages);
        assert!(compact("exit 3", dir, &messages, 5).is_err());
        assert!(compact("echo no", dir, &messages, 5).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_memory_of_a_command_is_that_of_the_program_it_waits_for() {
        let messages = vec![Message::new("user", "x".repeat(4_000_000))];
        let peak = |command: &str| compact(command, Path::new("/"), &messages, 5).unwrap().peak_kib;
        let (small, large) = (peak("cat"), peak("tail -n 1; true"));
        assert!(small > 100 && large > small + 2_000, "{small} {large}");
    }
}
