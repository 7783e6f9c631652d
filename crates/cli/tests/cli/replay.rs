//! Replay: exact calls from verified originals, a script that runs nothing, and what may be repeated.

use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::home::{ClaudeSession, Home, lines};
use crate::ledger::eventful;

fn calls(home: &Home, file: &str) -> Vec<Value> {
    lines(&home.run(&["replay", file]).ends(0))
}

#[test]
fn arguments_come_back_byte_for_byte_also_from_behind_a_summary() {
    for example in ["openai-chat.json", "claude-code.jsonl", "anthropic-messages.json", "codex.jsonl"] {
        let home = Home::new();
        let file = home.example(example);
        let text = std::fs::read(&file).unwrap();
        let before = calls(&home, file.to_str().unwrap());
        assert!(before.len() > 3, "{example}");
        for call in &before {
            let at = |n: usize| usize::try_from(call["bytes"][n].as_u64().unwrap()).unwrap();
            let raw = &text[at(0)..at(1)];
            let hash: String = Sha256::digest(raw).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(call["sha256"], hash.as_str(), "{call}");
            if call["spelling"] == "json" {
                assert_eq!(call["arguments"].as_str().unwrap().as_bytes(), raw, "{call}");
            }
        }
        home.run(&["compact", file.to_str().unwrap(), "--budget", "40%", "--out", "short"]).ends(0);
        std::fs::remove_file(&file).unwrap();
        let after = calls(&home, "short");
        let essence = |calls: &[Value]| -> Vec<Value> {
            calls.iter().map(|call| json!([call["tool"], call["arguments"], call["sha256"]])).collect()
        };
        assert_eq!(essence(&after), essence(&before), "{example}");
        assert!(after.iter().any(|call| call["pointer"].is_string()), "{example}");
    }
}

#[test]
fn there_is_no_replay_from_a_summary() {
    let home = Home::new();
    let file = home.example("openai-chat.json");
    home.run(&["compact", file.to_str().unwrap(), "--budget", "40%", "--out", "short"]).ends(0);
    std::fs::remove_file(&file).unwrap();
    for change in [
        "UPDATE blob SET body = CAST(substr(body, 1, 40) || x'00FF00' || substr(body, 44) AS BLOB)",
        "DELETE FROM blob",
    ] {
        home.tamper(change);
        for command in [
            &["replay", "short"][..],
            &["ledger", "short"],
            &["replay", "short", "--check"],
            &["replay", "short", "--script"],
            &["conflicts", "short"],
        ] {
            let run = home.run(command).ends(3);
            let told = format!("{}{}", run.stdout, run.stderr);
            assert!(
                told.contains("sr1:") && told.contains("#1 ") || told.contains("original gone"),
                "{command:?}: {run:?}"
            );
            assert!(
                !told.contains("systemctl enable"),
                "{command:?} gives what only the summary holds: {run:?}"
            );
        }
    }
    let elsewhere = Home::new();
    elsewhere.write("short", std::fs::read(home.path("short")).unwrap());
    let gone = elsewhere.run(&["replay", "short"]).ends(3);
    assert!(gone.stdout.contains("without its record"), "{gone:?}");
}

/// Texts that try to end the quotation they stand in.
const HOSTILE: &[&str] = &[
    "echo \"it's\" > pwned",
    "'; touch pwned; '",
    "'\\''; touch pwned #",
    "$(touch pwned) `touch pwned` ${x:-$(touch pwned)}",
    "a\nEOF\ntouch pwned\n",
    "a\nSTRONGROOM\n}\ntouch pwned\n",
    "}\ntouch pwned\n{",
    "\\\ntouch pwned",
    "tail\\",
    "\r\ntouch pwned\r",
    "\u{2028}touch pwned\u{85}; é 迁移 \u{7f}",
    "printf '%s' \"$IFS\"; touch pwned && exit",
];

fn hostile() -> String {
    let mut session = ClaudeSession::default();
    session.user("Try these.");
    for text in HOSTILE {
        session.call("Bash", &json!({ "command": text }), "ok");
    }
    session.call("Bash", &json!({ "command": "a\u{0}b" }), "ok");
    session.say("Done.");
    session.text
}

#[test]
fn no_text_breaks_out_of_the_script() {
    let home = Home::new();
    let file =
        home.write("s.jsonl", hostile().replace("/srv/ws/app", "/srv/'$(touch pwned)'\\n; touch pwned"));
    let run = home.run(&["replay", file.to_str().unwrap(), "--script"]).ends(1);
    assert!(run.stderr.contains("NUL"), "a NUL byte cannot stand in a script: {run:?}");
    let script = home.write("calls.sh", &run.stdout);
    for shell in ["sh", "bash", "dash"] {
        let Ok(run) = Command::new(shell).arg(&script).current_dir(home.dir.path()).output() else {
            continue;
        };
        assert!(run.status.success() && run.stdout.is_empty() && run.stderr.is_empty(), "{shell}: {run:?}");
        for (n, text) in HOSTILE.iter().enumerate() {
            let line = format!(". ./calls.sh; call_{}", n + 1);
            let run = Command::new(shell).args(["-c", &line]).current_dir(home.dir.path()).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&run.stdout), *text, "{shell}: {run:?}");
        }
        assert!(!home.path("pwned").exists(), "{shell} ran something");
    }
}

#[test]
fn what_is_done_is_told_from_what_may_be_repeated() {
    let home = Home::new();
    home.write("s.jsonl", eventful());
    let run = home.run(&["--json", "replay", "s.jsonl", "--check"]).ends(1);
    let calls = lines(&run);
    let verdicts: Vec<&str> = calls.iter().map(|call| call["verdict"].as_str().unwrap()).collect();
    let expected =
        ["done", "unknown", "done", "done", "done", "repeatable", "done", "repeatable", "repeatable"];
    assert_eq!(verdicts, expected, "{calls:#?}");
    assert!(calls.iter().all(|call| call["citation"]["quote"].is_string() && call["reason"].is_string()));
    let people = home.run(&["replay", "s.jsonl", "--check"]).ends(1);
    assert!(people.stdout.contains("5 done and not to be repeated, 1 that cannot be known"), "{people:?}");
}

#[test]
fn an_unbounded_run_cannot_be_known_and_a_known_runner_rests_on_an_assumption() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    session.user("Run the tests.");
    session.call("Bash", &json!({ "command": "cargo test" }), "test result: ok. 3 passed");
    session.say("They pass.");
    home.write("s.jsonl", &session.text);
    let run = home.run(&["replay", "s.jsonl", "--check"]).ends(0);
    assert!(run.stdout.contains("assumed: A1"), "{run:?}");
    let strict = home.run(&["replay", "s.jsonl", "--check", "--strict"]).ends(1);
    assert!(
        strict.stdout.contains("1 that cannot be known") && !strict.stdout.contains("assumed"),
        "{strict:?}"
    );
}

#[test]
fn masked_arguments_are_not_called_exact() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    // Made up; it has the shape of an access key and no owner.
    let secret = "AKIAQ3EGRT7PLMNX2VBD";
    session.user("Set the key.");
    session.call("Bash", &json!({ "command": format!("export AWS_ACCESS_KEY_ID={secret}\necho 'a'") }), "");
    session.say("Done.");
    home.write("s.jsonl", &session.text);
    let run = home.run(&["replay", "s.jsonl"]).ends(0);
    let call = lines(&run).remove(0);
    assert_eq!((&call["masked"], &call["sha256"]), (&json!(true), &Value::Null), "{call}");
    assert!(!run.stdout.contains(secret) && run.stderr.contains("--reveal"), "{run:?}");
    let script = home.run(&["replay", "s.jsonl", "--script"]).ends(0);
    assert!(!script.stdout.contains(secret) && script.stdout.contains("not the exact command"), "{script:?}");
    let shown = home.run(&["replay", "s.jsonl", "--reveal"]).ends(0);
    assert!(shown.stdout.contains(secret) && lines(&shown)[0]["sha256"].is_string(), "{shown:?}");
}
