//! The sessions of every agent, found in their standard places and followed.

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home};

fn session() -> String {
    let mut session = ClaudeSession::default();
    session.user("Look at the list.");
    session.call("Bash", &json!({ "command": "ls" }), "a.txt");
    session.text
}

#[test]
fn all_sessions_are_taken_in_from_where_agents_keep_them() {
    let home = Home::new();
    home.write(".claude/projects/-p/s.jsonl", session());
    let child = home.write(".claude/projects/-p/s/subagents/agent-a1.jsonl", session());
    home.write(".codex/history.jsonl", "{}\n");
    let database = home.write(".openclaw/agents/a/agent/openclaw-agent.sqlite", "SQLite format 3\0");
    let first = home.run(&["import", "--all", "--json"]).json(0);
    assert_eq!((&first["imported"], &first["failed"]), (&json!(2), &json!(0)), "{first}");
    assert_eq!(first["places"][0]["agent"], "Claude Code");
    assert_eq!(first["places"][0]["files"], 2);
    let absent: Vec<&str> = first["absent"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        absent.contains(&"Codex") && absent.contains(&"pi") && !absent.contains(&"OpenClaw"),
        "{absent:?}"
    );
    assert!(first["holes"][0].as_str().unwrap().contains(&database.display().to_string()), "{first}");
    let again = home.run(&["import", "--all"]).ends(0);
    assert!(again.stdout.contains("0 imported, 2 unchanged"), "{again:?}");
    home.write(".claude/projects/-q/t.jsonl", session());
    let listed = home.run(&["sessions", "--all", "--json"]).ends(0);
    let custody: Vec<Value> = listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |end: &str| {
        custody.iter().find(|one| one["file"].as_str().unwrap().ends_with(end)).unwrap()["custody"].clone()
    };
    assert_eq!(
        (of("/s.jsonl"), of("agent-a1.jsonl"), of("/t.jsonl")),
        (json!("now"), json!("now"), json!("none"))
    );
    std::fs::OpenOptions::new().append(true).open(child).unwrap().write_all(b"\n").unwrap();
    let listed = home.run(&["sessions", "--all"]).ends(0);
    assert!(listed.stdout.lines().any(|line| line.contains("changed since") && line.contains("agent-a1")));
}

#[test]
fn an_import_of_everything_names_what_a_session_names_and_does_not_have() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    session.user("Count.");
    session.call("Bash", &json!({ "command": "seq 9" }), "<persisted-output>\nOutput too large.");
    home.write(".claude/projects/-p/s.jsonl", session.text);
    let told = home.run(&["import", "--all", "--json"]).json(0);
    assert_eq!(told["missing"].as_array().unwrap().len(), 1, "{told}");
    assert!(told["missing"][0]["first"].as_str().unwrap().contains("does not exist"), "{told}");
}

/// A running import that is ended when it goes out of scope.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Waits until something is so.
#[track_caller]
fn wait(what: &str, is: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !is() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn live_sessions_are_followed_and_what_they_lose_is_told_and_kept() {
    let home = Home::new();
    let path = home.write(".claude/projects/-p/s.jsonl", session());
    let told = home.path("told");
    let output = std::fs::File::create(&told).unwrap();
    let mut command = home.command(&["import", "--all", "--watch", "--json"]);
    let _watching = Watching(command.stdout(output).stderr(Stdio::null()).spawn().unwrap());
    let says = |change: &str| {
        std::fs::read_to_string(&told)
            .unwrap()
            .lines()
            .any(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["change"] == change))
    };
    wait("the first import", || std::fs::read_to_string(&told).unwrap().contains("\"imported\":1"));
    let whole = session() + &session();
    std::fs::write(&path, &whole).unwrap();
    wait("growth", || says("grew") && says("imported"));
    let kept = home.run(&["export", &path.display().to_string()]).ends(0);
    assert_eq!(kept.stdout, whole);
    std::fs::remove_file(&path).unwrap();
    wait("a loss", || says("gone"));
    assert_eq!(home.run(&["export", &path.display().to_string()]).ends(0).stdout, whole);
}
