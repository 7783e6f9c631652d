//! Sessions of our own, in a folder of their own.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strongroom::archive::Cloud;
use strongroom::desk::{Custody, Desk, Places, Usual};
use tempfile::TempDir;

/// The project all sessions are of, where nothing else is said.
pub(crate) const PROJECT: &str = "/srv/ws/app";

/// A folder of sessions.
pub(crate) struct House {
    pub(crate) dir: TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sessions")).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("sessions").join(name)
    }

    /// Writes a session as `ID.jsonl`.
    pub(crate) fn keep(&self, session: &Session) -> &Self {
        std::fs::write(self.path(&format!("{}.jsonl", session.id)), &session.text).unwrap();
        self
    }

    /// A desk on the sessions of this folder that are of [`PROJECT`].
    pub(crate) fn desk(&self) -> Desk {
        Desk::new(Places {
            archive: self.dir.path().join("archive"),
            roots: vec![self.dir.path().join("sessions")],
            custody: Custody::All,
            usual: Usual::Project(Path::new(PROJECT).to_owned()),
            secret: None,
            cloud: Cloud::default(),
        })
    }
}

/// A Claude Code session, written line by line.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) text: String,
    cwd: String,
    lines: usize,
}

impl Session {
    pub(crate) fn new(id: &str) -> Self {
        Self::of(id, PROJECT)
    }

    pub(crate) fn of(id: &str, cwd: &str) -> Self {
        Self { id: id.to_owned(), text: String::new(), cwd: cwd.to_owned(), lines: 0 }
    }

    fn line(mut self, kind: &str, message: &Value) -> Self {
        let uuid = |line: usize| format!("{}-{line:06}", self.id);
        let parent = self.lines.checked_sub(1).map(uuid);
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "cwd": self.cwd, "sessionId": self.id, "type": kind,
            "message": message, "uuid": uuid(self.lines),
            "timestamp": format!("2026-03-10T09:{:02}:{:02}.000Z", self.lines / 60 % 60, self.lines % 60),
        });
        self.text.extend([line.to_string(), "\n".to_owned()]);
        self.lines += 1;
        self
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.line("user", &json!({ "role": "user", "content": text }))
    }

    fn assistant(self, block: &Value) -> Self {
        let id = format!("msg_{}_{}", self.id, self.lines);
        self.line(
            "assistant",
            &json!({ "id": id, "type": "message", "role": "assistant", "content": [block] }),
        )
    }

    pub(crate) fn say(self, text: &str) -> Self {
        self.assistant(&json!({ "type": "text", "text": text }))
    }

    pub(crate) fn call(self, tool: &str, input: &Value, result: &str) -> Self {
        let id = format!("toolu_{}_{}", self.id, self.lines);
        let called = self.assistant(&json!({ "type": "tool_use", "id": id, "name": tool, "input": input }));
        let block = json!({ "tool_use_id": id, "type": "tool_result", "content": result });
        called.line("user", &json!({ "role": "user", "content": [block] }))
    }

    /// A call that has no result yet.
    pub(crate) fn calling(self, tool: &str, input: &Value) -> Self {
        let id = format!("toolu_{}_{}", self.id, self.lines);
        self.assistant(&json!({ "type": "tool_use", "id": id, "name": tool, "input": input }))
    }
}

/// What a secret looks like that every rule knows.
pub(crate) const SECRET: &str = concat!("ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");

/// A session in which a file is written, a push is made and a secret is printed.
pub(crate) fn eventful() -> Session {
    Session::new("aaaaaaaa-0000-4000-8000-000000000001")
        .user("Set the port, then push. Never touch the billing folder.")
        .call(
            "Edit",
            &json!({ "file_path": "/srv/ws/app/conf.toml", "old_string": "port = 1", "new_string": "port = 8434" }),
            "The file /srv/ws/app/conf.toml has been updated.",
        )
        .call("Bash", &json!({ "command": "cat .env" }), &format!("GITHUB_TOKEN={SECRET}\nMODE=dev"))
        .call(
            "Bash",
            &json!({ "command": "git push origin main" }),
            "To https://x/\n   1a2b3c4..5d6e7f8  main -> main",
        )
        .say("Pushed. The port is 8434 now.")
}
