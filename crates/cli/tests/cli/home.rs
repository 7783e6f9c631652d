//! A temporary home with an archive, and transcripts of our own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A directory with an archive of its own.
pub(crate) struct Home {
    pub(crate) dir: TempDir,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The output as JSON; the run must have ended with `code`.
    #[track_caller]
    pub(crate) fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn archive(&self) -> PathBuf {
        self.path("archive")
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Copies one of the repository's examples here.
    pub(crate) fn example(&self, name: &str) -> PathBuf {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        self.write(name, std::fs::read(from).unwrap())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strongroom"));
        command.env_clear().env("HOME", self.dir.path()).current_dir(self.dir.path());
        command.arg("--dir").arg(self.archive()).args(args).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&self.command(args).output().unwrap())
    }

    /// Runs with `input` on standard input.
    pub(crate) fn pipe(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        Run::of(&child.wait_with_output().unwrap())
    }

    /// Starts a run that stops at `step`; returns when it stands there.
    pub(crate) fn pause_at(&self, step: &str, args: &[&str]) -> Paused {
        let flag = self.path(&format!("paused-{step}"));
        let mut command = self.command(args);
        command.env("STRONGROOM_TEST_PAUSE_AT", step).env("STRONGROOM_TEST_PAUSE_FILE", &flag);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !flag.exists() {
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the run ended with {status} before it came to {step}");
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        Paused { child, flag }
    }

    /// The pointer that stands first in a file.
    pub(crate) fn pointer_in(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        let digits: String = text.split("sr1:").nth(1).unwrap().chars().take(32).collect();
        format!("sr1:{digits}")
    }

    /// Runs a query against the archive's database.
    pub(crate) fn tamper(&self, sql: &str) -> usize {
        let database = rusqlite::Connection::open(self.archive().join("strongroom.db")).unwrap();
        database.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        database.execute(sql, []).unwrap()
    }
}

/// A run that stands at a step.
pub(crate) struct Paused {
    child: Child,
    flag: PathBuf,
}

impl Paused {
    /// Lets it go on and waits for its end.
    pub(crate) fn resume(self) -> Run {
        std::fs::remove_file(&self.flag).unwrap();
        Run::of(&self.child.wait_with_output().unwrap())
    }

    /// Kills it where it stands.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A Claude Code session of `reads` file reads of about `bytes` bytes each, in the project `/srv/ws/app`.
pub(crate) fn claude_session(reads: usize, bytes: usize) -> String {
    let mut session = ClaudeSession::default();
    session.user("Read the modules and tell me what they have in common. Never push to main.");
    for read in 0..reads {
        session.say("Let me look at the next module.");
        let path = format!("/srv/ws/app/src/module_{read:03}.rs");
        let body: String = (0..bytes / 40)
            .map(|line| format!("let value_{read}_{line} = {};\n", read * 7919 + line * 31))
            .collect();
        session.call("Read", &json!({ "file_path": path }), &body);
    }
    session.say("The modules share the prefix value_ in every binding.");
    session.user("Thanks. What is next?");
    session.say("Next is the clean-up of module_000.");
    session.text
}

/// Builds Claude Code lines one by one.
#[derive(Default)]
pub(crate) struct ClaudeSession {
    pub(crate) text: String,
    lines: usize,
    parent: Option<String>,
}

impl ClaudeSession {
    fn line(&mut self, kind: &str, message: &Value) {
        let uuid = format!("00000000-0000-4000-8000-{:012x}", self.lines);
        let line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": "/srv/ws/app",
            "sessionId": "00000000-0000-4000-8000-00000000aaaa", "version": "2.1.219", "gitBranch": "main",
            "type": kind, "message": message, "uuid": uuid,
            "timestamp": format!("2026-03-10T09:{:02}:{:02}.000Z", self.lines / 60 % 60, self.lines % 60),
        });
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.parent = Some(uuid);
        self.lines += 1;
    }

    /// Goes on behind the last line of a transcript.
    pub(crate) fn continued(text: &str) -> Self {
        let last: Value = text
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Value>(line).ok().filter(|line| line["uuid"].is_string()))
            .unwrap();
        Self {
            text: text.to_owned(),
            lines: text.lines().count() + 10_000,
            parent: last["uuid"].as_str().map(str::to_owned),
        }
    }

    pub(crate) fn user(&mut self, text: &str) {
        self.line("user", &json!({ "role": "user", "content": text }));
    }

    fn assistant(&mut self, block: &Value) {
        let id = format!("msg_{:05}", self.lines);
        self.line(
            "assistant",
            &json!({ "model": "claude-sonnet-4-5", "id": id, "type": "message", "role": "assistant",
                     "content": [block], "stop_reason": null, "stop_sequence": null,
                     "usage": { "input_tokens": 1, "output_tokens": 1 } }),
        );
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.assistant(&json!({ "type": "text", "text": text }));
    }

    /// The agent compacts its own session: a boundary, and a summary in place of what was before.
    pub(crate) fn compacted(&mut self, summary: &str) {
        let before = self.parent.take();
        let uuid = format!("00000000-0000-4000-9000-{:012x}", self.lines);
        let boundary = json!({
            "parentUuid": null, "logicalParentUuid": before, "isSidechain": false, "cwd": "/srv/ws/app",
            "sessionId": "00000000-0000-4000-8000-00000000aaaa", "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "compactMetadata": { "trigger": "auto" }, "uuid": uuid,
        });
        self.text.extend([boundary.to_string(), "\n".to_owned()]);
        self.parent = Some(uuid);
        self.line("user", &json!({ "role": "user", "content": summary }));
        self.text = self.text.trim_end().trim_end_matches('}').to_owned() + ",\"isCompactSummary\":true}\n";
    }

    pub(crate) fn call(&mut self, tool: &str, input: &Value, result: &str) {
        let id = format!("toolu_{:05}", self.lines);
        self.assistant(&json!({ "type": "tool_use", "id": id, "name": tool, "input": input }));
        let block = json!({ "tool_use_id": id, "type": "tool_result", "content": result });
        self.line("user", &json!({ "role": "user", "content": [block] }));
    }
}

/// A session of an agent that calls its hooks, with the payloads that Claude Code documents.
pub(crate) struct Agent<'h> {
    pub(crate) home: &'h Home,
    pub(crate) transcript: PathBuf,
    /// Words behind `hook EVENT`.
    pub(crate) words: Vec<&'static str>,
}

impl<'h> Agent<'h> {
    pub(crate) fn new(home: &'h Home, transcript: &Path) -> Self {
        Self { home, transcript: transcript.to_owned(), words: Vec::new() }
    }

    /// Calls a hook; `more` are the fields of this event.
    pub(crate) fn hook(&self, event: &str, more: &Value) -> Run {
        let mut payload = json!({
            "session_id": "00000000-0000-4000-8000-00000000aaaa", "transcript_path": self.transcript,
            "cwd": "/srv/ws/app", "hook_event_name": event, "permission_mode": "default",
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut args = vec!["hook", event];
        args.extend(&self.words);
        if !self.words.contains(&"--deadline") {
            // A test build on a busy machine is slow, and what is tested here is not how fast it is.
            args.extend(["--deadline", "300"]);
        }
        self.home.pipe(&args, payload.to_string().as_bytes())
    }

    /// A compaction is ahead.
    pub(crate) fn before_compaction(&self) -> Run {
        self.hook("PreCompact", &json!({ "trigger": "auto", "custom_instructions": null }))
    }

    /// The card that the agent gets when its session goes on.
    #[track_caller]
    pub(crate) fn card(&self, source: &str) -> String {
        let run = self.hook("SessionStart", &json!({ "source": source }));
        let reply = run.json(0);
        assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "SessionStart");
        reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }
}

/// What a hook says to the user.
#[track_caller]
pub(crate) fn message(run: &Run) -> String {
    run.json(0)["systemMessage"].as_str().unwrap_or_else(|| panic!("no message in {run:?}")).to_owned()
}

/// Every line of a run's output as JSON.
#[track_caller]
pub(crate) fn lines(run: &Run) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    run.stdout.lines().map(read).collect()
}

/// The pointer that a report names.
#[track_caller]
pub(crate) fn pointer(report: &Value) -> String {
    report["pointer"].as_str().unwrap_or_else(|| panic!("no pointer in {report}")).to_owned()
}

/// A count of a report.
pub(crate) fn total(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}
