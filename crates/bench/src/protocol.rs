//! The protocol: any compactor that is a command can be measured.
//!
//! It reads one JSON object on standard input, `{"schema":1,"budget_tokens":n,"messages":[…]}`, and writes one on
//! standard output, `{"messages":[…]}`. docs/benchmark-protocol.md describes it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

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
    /// The most memory that the command, or a program that it started and waited for, has held, in KiB; where a
    /// [`Launcher`] was at hand.
    pub peak_kib: Option<u64>,
}

/// The program whose `launch FILE COMMAND` runs a command and writes its memory to a file.
///
/// What the system accounts to a process begins with the memory of the one that started it, so that a benchmark that
/// holds a transcript would measure itself: commands are started by a small process in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher(pub PathBuf);

/// Has `command` compact `messages` to `budget` tokens; `dir` is a folder of its own. With a launcher the memory is measured.
///
/// # Errors
/// When it cannot be started, fails, or hands back something else.
pub fn compact(
    command: &str,
    dir: &Path,
    given: (&[Message], u64),
    launcher: Option<&Launcher>,
) -> io::Result<Compacted> {
    let (messages, budget) = given;
    let notes = tempfile::tempdir()?;
    let note = notes.path().join("peak");
    let command = launcher.map_or_else(
        || command.to_owned(),
        |own| format!("exec {} launch {} {}", shell(&own.0), shell(&note), shell(Path::new(command))),
    );
    let command = command.as_str();
    let tokenizer = crate::tokens::TOKENIZER.to_owned();
    let given = Given { schema: 1, budget_tokens: budget, tokenizer, messages: messages.to_vec() };
    let returned: Returned = serde_json::from_slice(&piped(command, dir, serde_json::to_vec(&given)?)?)?;
    let peak_kib = fs::read_to_string(&note).ok().and_then(|kib| kib.trim().parse().ok());
    Ok(Compacted { messages: returned.messages, peak_kib })
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
    let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let answers: Vec<Answered> = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
    let same = answers.len() == questions.len()
        && answers.iter().zip(questions).all(|(answer, question)| answer.id == question.id);
    if same { Ok(answers) } else { Err(io::Error::other("the answers are not those to the questions")) }
}

/// A path, or a command, as one word of the shell.
fn shell(word: &Path) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))
}

/// Runs `command` with the standard streams of this process, and writes the most memory that it, or a program it started
/// and waited for, has held to the file `note`, in KiB.
///
/// # Errors
/// When it cannot be started, or the file cannot be written.
pub fn launch(note: &Path, command: &str) -> io::Result<ExitStatus> {
    let ended = Command::new("sh").arg("-c").arg(command).spawn()?.wait4()?;
    fs::write(note, (ended.rusage.maxrss / 1_024).to_string())?;
    Ok(ended.status)
}

/// Runs `command` with `body` on its standard input.
fn piped(command: &str, dir: &Path, body: Vec<u8>) -> io::Result<Vec<u8>> {
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
    let output = child.wait_with_output()?;
    let written = writer.join().map_err(|_| io::Error::other("the input could not be handed over"))?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{command} ended with {}", output.status)));
    }
    // A command that needs no more input may close it early.
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(output.stdout),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_given_messages_and_hands_some_back() {
        let messages = vec![Message::new("user", "hello"), Message::new("assistant", "hi")];
        let compact = |command: &str| compact(command, Path::new("/"), (&messages, 5), None);
        let after =
            compact("cat >/dev/null; echo '{\"messages\":[{\"role\":\"user\",\"content\":\"short\"}]}'")
                .unwrap();
        assert_eq!(after, Compacted { messages: vec![Message::new("user", "short")], peak_kib: None });
        assert_eq!(compact("cat").unwrap().messages, messages);
        assert!(compact("exit 3").is_err());
        assert!(compact("echo no").is_err());
    }

    #[test]
    fn words_of_the_shell_are_quoted() {
        assert_eq!(shell(Path::new("it's $HOME")), r"'it'\''s $HOME'");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_memory_of_a_command_is_noted() {
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("peak");
        assert!(launch(&note, "true").unwrap().success());
        assert!(fs::read_to_string(&note).unwrap().parse::<u64>().unwrap() > 0);
        assert_eq!(launch(&note, "exit 3").unwrap().code(), Some(3));
    }
}
