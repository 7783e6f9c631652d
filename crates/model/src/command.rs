//! A command as a summariser: the request as JSON on its standard input, the draft on its standard output.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use strongroom::summariser::{Request, Summariser};
use strongroom::{Error, Result};

use crate::limits::{Deadline, Limits};

/// A command that a shell runs.
#[derive(Debug, Clone)]
pub struct Exec {
    command: String,
    limits: Limits,
}

impl Exec {
    /// The command; `sh -c` runs it.
    pub fn new(command: impl Into<String>, limits: Limits) -> Self {
        Self { command: command.into(), limits }
    }
}

impl Summariser for Exec {
    fn name(&self) -> &'static str {
        // The words of the command may hold anything, a key among it.
        "a command"
    }

    fn draft(&self, request: &Request) -> Result<String> {
        let output = run(&self.command, Some(request.json()?), &self.limits)?;
        String::from_utf8(output).map_err(|_| Error::unavailable("what the command wrote is no UTF-8"))
    }
}

/// Runs a command in a shell and gives back what it wrote to standard output. With the time over, or with more written
/// than the limits allow, it is killed with everything it started. What it says on standard error is passed through.
///
/// # Errors
/// `Unavailable` when it cannot be started, fails, takes too long or writes too much. Its words are not in the message.
pub fn run(command: &str, input: Option<String>, limits: &Limits) -> Result<Vec<u8>> {
    let deadline = Deadline::of(limits);
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let spawned =
        Command::new("sh").args(["-c", command]).stdin(stdin).stdout(Stdio::piped()).process_group(0).spawn();
    let child =
        spawned.map_err(|error| Error::unavailable("the command cannot be started").caused_by(error))?;
    let mut running = Running(Some(child));
    let output = running.start(input, limits.reply_bytes_max)?;
    let waited = output.recv_timeout(deadline.left().unwrap_or_default());
    let output = match waited {
        Ok(Some(output)) => output,
        Ok(None) => {
            return Err(Error::unavailable(format!(
                "the command wrote more than {} bytes",
                limits.reply_bytes_max
            )));
        }
        Err(RecvTimeoutError::Timeout) => return Err(too_long(limits)),
        Err(RecvTimeoutError::Disconnected) => {
            return Err(Error::unavailable("what the command wrote cannot be read"));
        }
    };
    let status = running.end(deadline).ok_or_else(|| too_long(limits))?;
    if status.success() {
        Ok(output)
    } else {
        Err(Error::unavailable(format!("the command failed: {status}")))
    }
}

fn too_long(limits: &Limits) -> Error {
    Error::unavailable(format!(
        "the command took longer than {} s and was killed",
        limits.total.as_secs_f32()
    ))
}

/// A process that is killed with its group unless it ends by itself.
struct Running(Option<Child>);

/// How long between two looks whether a process has ended.
const LOOK: Duration = Duration::from_millis(5);

impl Running {
    /// Begins to write its input and to read its output, which comes when it is whole; `None` is too much of it.
    fn start(&mut self, input: Option<String>, bytes_max: usize) -> Result<Receiver<Option<Vec<u8>>>> {
        let Some(child) = self.0.as_mut() else {
            return Err(Error::bug("a process has ended before it began"));
        };
        let thread = |work: Box<dyn FnOnce() + Send>| {
            let started = std::thread::Builder::new().name("summariser".to_owned()).spawn(work);
            started.map_err(|error| Error::unavailable("no thread can be started").caused_by(error))
        };
        if let Some((stdin, input)) = child.stdin.take().zip(input) {
            thread(Box::new(move || write(stdin, &input)))?;
        }
        let (sender, receiver) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread(Box::new(move || {
                if let Ok(output) = read(stdout, bytes_max) {
                    // Nobody listens any more when the time is over.
                    drop(sender.send(output));
                }
            }))?;
        }
        Ok(receiver)
    }

    /// Waits for the end until the deadline.
    fn end(&mut self, deadline: Deadline) -> Option<ExitStatus> {
        let child = self.0.as_mut()?;
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                self.0 = None;
                return Some(status);
            }
            deadline.left()?;
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let killed =
            group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
        // One that has ended meanwhile needs no killing.
        drop((killed, child.wait()));
    }
}

fn write(mut stdin: ChildStdin, input: &str) {
    // A command need not read its request.
    drop(stdin.write_all(input.as_bytes()));
}

/// Everything, or nothing where it is too much.
fn read(stdout: ChildStdout, bytes_max: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut output = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    stdout.take(limit).read_to_end(&mut output)?;
    Ok((output.len() <= bytes_max).then_some(output))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn limits(ms: u64) -> Limits {
        Limits { total: Duration::from_millis(ms), reply_bytes_max: 1_000, ..Limits::default() }
    }

    fn message(command: &str, ms: u64) -> String {
        run(command, Some("{}".to_owned()), &limits(ms)).unwrap_err().to_string()
    }

    #[test]
    fn a_command_reads_its_request_and_writes_its_draft() {
        assert_eq!(run("cat", Some("{\"a\":1}".to_owned()), &limits(9_000)).unwrap(), b"{\"a\":1}");
        assert_eq!(run("echo done", Some("x".repeat(1 << 20)), &limits(9_000)).unwrap(), b"done\n", "unread");
        assert!(run("cat", None, &limits(9_000)).unwrap().is_empty());
    }

    #[test]
    fn what_fails_is_told_without_the_words_of_the_command() {
        assert_eq!(message("exit 3 # sk-secret", 9_000), "the command failed: exit status: 3");
        assert_eq!(message("head -c 5000 /dev/zero", 9_000), "the command wrote more than 1000 bytes");
        let endless = message("yes", 9_000);
        assert_eq!(endless, "the command wrote more than 1000 bytes");
    }

    #[test]
    fn a_command_is_killed_with_everything_it_started() {
        let dir = std::env::temp_dir().join(format!("strongroom-exec-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let left = dir.join("left");
        let start = Instant::now();
        let command = format!("(sleep 1; touch {}) & sleep 30", left.display());
        assert!(message(&command, 200).contains("was killed"));
        assert!(
            message("exec >&-; sleep 30", 200).contains("was killed"),
            "its output has ended, it has not"
        );
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(1_100));
        assert!(!left.exists());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
