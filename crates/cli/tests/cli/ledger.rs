//! The ledger: every effect, in order, with what shows it and what took it back.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::home::{ClaudeSession, Home, lines};

/// A session in which things are done, fail, are tried again and are taken back.
pub(crate) fn eventful() -> String {
    let mut session = ClaudeSession::default();
    let edit = |old: &str, new: &str| json!({ "file_path": "/srv/ws/app/a.txt", "old_string": old, "new_string": new });
    session.user("Change the port, then look whether it works.");
    session.call("Edit", &edit("port = 1", "port = 2"), "The file /srv/ws/app/a.txt has been updated.");
    session.call(
        "Bash",
        &json!({ "command": "git push origin main" }),
        "fatal: unable to access 'https://x/'",
    );
    session.call(
        "Bash",
        &json!({ "command": "git push origin main" }),
        "To https://x/\n   1a2b3c4..5d6e7f8  main -> main",
    );
    session.call("Edit", &edit("port = 2", "port = 1"), "The file /srv/ws/app/a.txt has been updated.");
    session.call(
        "Write",
        &json!({ "file_path": "/srv/ws/app/new.txt", "content": "x" }),
        "File created successfully at: /srv/ws/app/new.txt",
    );
    session.call("Bash", &json!({ "command": "rm /srv/ws/app/new.txt" }), "");
    session.call("Bash", &json!({ "command": "sudo systemctl start app.service" }), "");
    session.call("Bash", &json!({ "command": "sudo systemctl stop app.service" }), "");
    session.call("Bash", &json!({ "command": "cat a.txt" }), "port = 1");
    session.say("Done.");
    session.text
}

fn rows(home: &Home, args: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["--json", "ledger"].into_iter().chain(args.iter().copied()).collect();
    lines(&home.run(&all).ends(0))
}

fn row<'r>(rows: &'r [Value], kind: &str, nth: usize) -> &'r Value {
    rows.iter()
        .filter(|row| row["kind"] == kind)
        .nth(nth)
        .unwrap_or_else(|| panic!("no {kind} {nth} in {rows:?}"))
}

#[test]
fn a_row_names_what_it_hangs_on_and_the_text_that_was_run() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    let script = json!({ "file_path": "/srv/ws/app/clean.sh", "content": "rm -r build\n" });
    session.call("Write", &script, "File created successfully at: /srv/ws/app/clean.sh");
    session.call("Bash", &json!({ "command": "mkdir out && cp a.txt out/a.txt && sh clean.sh" }), "");
    home.write("s.jsonl", session.text);
    let rows = rows(&home, &["s.jsonl"]);
    let (made, copied, deleted) =
        (row(&rows, "fs.write", 1), row(&rows, "fs.write", 2), row(&rows, "fs.delete", 0));
    assert_eq!(made["requires"], json!([]));
    assert_eq!(copied["requires"], json!([made["id"]]), "{copied}");
    assert!(deleted["requires"].as_array().unwrap().contains(&made["id"]), "{deleted}");
    let hash: String = Sha256::digest("rm -r build\n").iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(deleted["artifact"].as_str().unwrap().ends_with(&hash), "{deleted}");
    assert_eq!(copied["artifact"], Value::Null);
}

#[test]
fn what_was_taken_back_stays_and_names_what_took_it_back() {
    let home = Home::new();
    home.write("s.jsonl", eventful());
    let rows = rows(&home, &["s.jsonl"]);
    let (first, back) = (row(&rows, "fs.write", 0), row(&rows, "fs.write", 1));
    assert_eq!(first["rolled_back_by"], back["id"], "{first}");
    assert_eq!(back["rolled_back_by"], Value::Null);
    let (made, deleted) = (row(&rows, "fs.write", 2), row(&rows, "fs.delete", 0));
    assert_eq!(made["rolled_back_by"], deleted["id"], "{made}");
    let (started, stopped) = (row(&rows, "svc.state", 0), row(&rows, "svc.state", 1));
    assert_eq!(started["rolled_back_by"], stopped["id"], "{started}");
    assert_eq!((&started["privilege"], &started["scope"]), (&json!("root"), &json!("system")));
    assert!(
        rows.iter().all(|row| row["kind"] != "fs.read"),
        "reads are listed only where they are asked for"
    );
}

#[test]
fn a_retry_is_a_row_of_its_own() {
    let home = Home::new();
    home.write("s.jsonl", eventful());
    let rows = rows(&home, &["s.jsonl", "--kind", "vcs.remote"]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[1]["retry_of"], rows[0]["id"]);
    assert_eq!(rows[1]["outcome"], "ok", "{}", rows[1]);
    assert!(rows[1]["outcome_evidence"]["quote"].as_str().unwrap().contains("5d6e7f8"));
}

#[test]
fn rows_quote_the_bytes_they_name_and_keep_their_numbers_under_filters() {
    let home = Home::new();
    let text = eventful();
    home.write("s.jsonl", &text);
    let all = rows(&home, &["s.jsonl"]);
    for row in &all {
        let bytes = |value: &Value, at: usize| usize::try_from(value[at].as_u64().unwrap()).unwrap();
        let call = text.get(bytes(&row["bytes"], 0)..bytes(&row["bytes"], 1)).unwrap();
        assert!(call.contains(row["call_id"].as_str().unwrap()), "{row}");
        let cited = &row["citation"];
        let raw = text.get(bytes(&cited["bytes"], 0)..bytes(&cited["bytes"], 1)).unwrap();
        let decoded: String = serde_json::from_str(&format!("\"{raw}\"")).unwrap();
        assert_eq!(decoded, cited["quote"].as_str().unwrap());
    }
    let filtered = rows(&home, &["s.jsonl", "--kind", "svc", "--from", "L12", "target:app.service"]);
    assert!(!filtered.is_empty() && filtered.iter().all(|row| all.contains(row)), "{filtered:?}");
    assert!(rows(&home, &["s.jsonl", "-scope:project", "--kind", "fs"]).is_empty());
}

#[test]
fn people_see_one_line_for_each_effect() {
    let home = Home::new();
    home.write("s.jsonl", eventful());
    let run = home.run(&["ledger", "s.jsonl"]).ends(0);
    assert!(run.stdout.starts_with("id "), "{run:?}");
    assert!(run.stdout.contains("└ rolled back by E"), "{run:?}");
    assert!(run.stdout.contains("/srv/ws/app/new.txt"), "{run:?}");
    let wrong = home.run(&["ledger", "s.jsonl", "--scope", "systm"]).ends(2);
    assert!(wrong.stderr.contains("did you mean \"system\""), "{wrong:?}");
}

#[test]
fn the_ledger_of_a_compacted_file_is_that_of_its_original() {
    for example in ["openai-chat.json", "claude-code.jsonl", "anthropic-messages.json", "codex.jsonl"] {
        let home = Home::new();
        let file = home.example(example);
        let before = rows(&home, &[file.to_str().unwrap()]);
        home.run(&["compact", file.to_str().unwrap(), "--budget", "40%", "--out", "short"]).ends(0);
        std::fs::remove_file(&file).unwrap();
        let after = rows(&home, &["short"]);
        let essence = |rows: &[Value]| -> Vec<Value> {
            rows.iter()
                .map(|row| {
                    json!([row["id"], row["kind"], row["target"], row["outcome"], row["rolled_back_by"]])
                })
                .collect()
        };
        assert_eq!(essence(&after), essence(&before), "{example}");
        assert!(
            after.iter().any(|row| row["pointer"].is_string()),
            "{example}: nothing came through a pointer"
        );
    }
}
