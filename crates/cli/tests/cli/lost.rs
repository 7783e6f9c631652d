//! What compactions have lost, seen from outside.

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home};

/// A session that was compacted after it had been told a rule, and then went on.
fn compacted(summary: &str) -> String {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut session = ClaudeSession::default();
    let shell = |session: &mut ClaudeSession, command: &str, result: &str| {
        session.call("Bash", &json!({ "command": command }), result);
    };
    session.user("Never push to main. My name for this work is Heron.");
    shell(&mut session, "cat src/heron.rs", "fn heron() {}");
    shell(&mut session, &format!("export T={secret} && touch out.txt"), "");
    session.compacted(summary);
    shell(&mut session, "cat src/heron.rs", "fn heron() {}");
    shell(&mut session, "git push origin main", "To github.com:a/b.git\n   1a2b3c4..5d6e7f8  main -> main");
    session.text
}

#[test]
fn a_lost_rule_is_shown_with_what_broke_it_and_no_secret_is_printed() {
    let home = Home::new();
    home.write("s.jsonl", compacted("The work went on in src/kestrel.rs and took 412.7 ms."));
    let run = home.run(&["lost", "s.jsonl", "--json"]).ends(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let one = &found["sessions"][0]["compactions"][0];
    assert_eq!(one["rules"][0]["quote"], "Never push to main.");
    assert_eq!(one["rules"][0]["fate"], "lost");
    assert_eq!(one["rules"][0]["broken"][0]["place"]["line"], 10, "{one}");
    assert!(one["again"][0]["what"].as_str().unwrap().contains("heron.rs"), "{one}");
    let invented: Vec<&str> =
        one["invented"].as_array().unwrap().iter().filter_map(|found| found["text"].as_str()).collect();
    assert!(invented.contains(&"src/kestrel.rs") && invented.contains(&"412.7 ms"), "{invented:?}");
    let screen = home.run(&["lost", "s.jsonl", "--all", "--html", "page.html"]).ends(0);
    let page = std::fs::read_to_string(home.path("page.html")).unwrap();
    for text in [run.stdout.as_str(), screen.stdout.as_str(), &page] {
        assert!(!text.contains("ghp_a1B2"), "{text}");
    }
    assert!(page.contains("Never push to main."));
}

#[test]
fn a_summary_that_keeps_the_rule_loses_none() {
    let home = Home::new();
    home.write("s.jsonl", compacted("The user said: Never push to main. The file is src/heron.rs."));
    let run = home.run(&["lost", "s.jsonl", "--json"]).ends(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["sessions"][0]["compactions"][0]["rules"], json!([]));
}

/// The session of our own that README shows.
fn example() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lost.jsonl");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_example_shows_each_kind_once() {
    let home = Home::new();
    home.write("lost.jsonl", example());
    let run = home.run(&["lost", "lost.jsonl", "--json"]).ends(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let one = &found["sessions"][0]["compactions"][0];
    let lost: Vec<&str> =
        one["rules"].as_array().unwrap().iter().filter_map(|rule| rule["quote"].as_str()).collect();
    assert!(lost.contains(&"Never push to main; open a pull request instead."), "{lost:?}");
    assert!(lost.contains(&"No, don't drop it."), "the thing is spoken of, the ban is not: {lost:?}");
    assert!(!lost.iter().any(|rule| rule.contains("retry limit")), "this one was kept: {lost:?}");
    assert_eq!(one["rules"][0]["broken"][0]["place"]["line"], 27);
    let why: Vec<&str> =
        one["invented"].as_array().unwrap().iter().filter_map(|one| one["why"].as_str()).collect();
    assert_eq!(why, ["contradicted", "no-approval", "no-such-quote", "no-such-literal"]);
    let kind = |name: &str| {
        one["kinds"].as_array().unwrap().iter().find(|kind| kind["kind"] == name).unwrap().clone()
    };
    assert!(kind("value")["lost"].to_string().contains("412.7 ms"));
    assert!(kind("error")["lost"].to_string().contains("PX-2041"));
    assert_eq!(one["again"].as_array().unwrap().len(), 2);
}

#[test]
fn a_history_in_another_file_makes_nothing_invented() {
    let home = Home::new();
    let text = example();
    let cut: Vec<&str> = text.lines().skip(6).collect();
    home.write("cut.jsonl", cut.join("\n"));
    let run = home.run(&["lost", "cut.jsonl", "--json"]).ends(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let one = &found["sessions"][0]["compactions"][0];
    assert_eq!(one["history"], "cut");
    let why: Vec<&str> =
        one["invented"].as_array().unwrap().iter().filter_map(|one| one["why"].as_str()).collect();
    assert_eq!(why, ["contradicted"]);
}

#[test]
fn formats_that_are_not_read_yet_are_named() {
    let home = Home::new();
    home.write(
        "droid.jsonl",
        "{\"type\":\"session_start\",\"id\":\"a\"}\n{\"type\":\"message\",\"id\":\"b\"}\n",
    );
    let run = home.run(&["lost", "droid.jsonl"]).ends(0);
    assert!(run.stdout.contains("not read yet: a Factory Droid session (1)"), "{}", run.stdout);
}

#[test]
fn a_sealed_summary_is_said_to_be_sealed() {
    let home = Home::new();
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-05-04T10:00:00.000Z", "type": kind, "payload": payload}).to_string()
    };
    let said = |role: &str, text: &str| {
        let part = if role == "user" { "input_text" } else { "output_text" };
        json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]})
    };
    let sealed = json!({"type": "compaction", "encrypted_content": "gAAAAABn"});
    let history = json!([said("user", "Measure the ferry."), sealed]);
    let lines = [
        line(
            "session_meta",
            json!({"id": "0197a0b2-0000-7000-8000-000000000001", "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.140.0"}),
        ),
        line("response_item", said("user", "Measure the ferry.")),
        line("response_item", said("assistant", "It took 412.7 ms.")),
        line("compacted", json!({"message": "", "replacement_history": history})),
    ];
    home.write("codex.jsonl", lines.join("\n"));
    let run = home.run(&["lost", "codex.jsonl", "--json"]).ends(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let one = &found["sessions"][0]["compactions"][0];
    assert_eq!((&one["account"], &one["place"]["line"]), (&json!("sealed"), &json!(4)), "{one}");
    assert_eq!(one["words"]["lost"], json!([]));
    let screen = home.run(&["lost", "codex.jsonl"]).ends(0);
    assert!(screen.stdout.contains("nobody can check"), "{}", screen.stdout);
}

/// A rule, a compaction that forgets it, and the push it forbade, as pi and Gemini CLI write them.
#[test]
fn compactions_of_other_agents_are_compared_too() {
    let home = Home::new();
    let rule = "Never push to main.";
    let pi = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-05-04T09:00:00.000Z", "cwd": "/w"}),
        json!({"type": "message", "id": "a1", "parentId": null, "message": {"role": "user", "content": rule}}),
        json!({"type": "compaction", "id": "a2", "parentId": "a1", "summary": "Nothing much.", "firstKeptEntryId": "a2"}),
        json!({"type": "message", "id": "a3", "parentId": "a2", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "git push origin main"}}]}}),
        json!({"type": "message", "id": "a4", "parentId": "a3", "message": {"role": "toolResult", "toolCallId": "c",
            "toolName": "bash", "content": [{"type": "text", "text": "main -> main"}], "isError": false}}),
    ];
    let result = json!([{"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": "main -> main"}}}]);
    let gemini = [
        json!({"sessionId": "s", "projectHash": "p", "startTime": "2026-05-04T09:00:00.000Z"}),
        json!({"id": "m1", "timestamp": "2026-05-04T09:00:01.000Z", "type": "user", "content": rule}),
        json!({"$set": {"messages": [{"id": "m2", "timestamp": "2026-05-04T09:00:02.000Z", "type": "user",
            "content": "<state_snapshot>Nothing much.</state_snapshot>"}]}}),
        json!({"id": "m3", "timestamp": "2026-05-04T09:00:03.000Z", "type": "gemini", "content": "", "toolCalls": [
            {"id": "c", "name": "run_shell_command", "args": {"command": "git push origin main"}, "result": result, "status": "success"}]}),
    ];
    for (name, lines) in [("pi.jsonl", pi.as_slice()), ("gemini.jsonl", gemini.as_slice())] {
        home.write(name, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        let run = home.run(&["lost", name, "--json"]).ends(0);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let one = &found["sessions"][0]["compactions"][0];
        assert_eq!(one["rules"][0]["quote"], rule, "{name}: {found}");
        assert_eq!(one["rules"][0]["fate"], "lost", "{name}: {one}");
        assert_eq!(one["rules"][0]["broken"][0]["place"]["line"], 4, "{name}: {one}");
    }
}

#[test]
fn a_compaction_inside_a_document_is_compared_with_what_stood_before_it() {
    let home = Home::new();
    home.example("read-only/opencode.json");
    let found = home.run(&["lost", "read-only/opencode.json", "--json"]).json(0);
    let one = &found["sessions"][0]["compactions"][0];
    assert_eq!((&one["history"], &one["account"]), (&json!("whole"), &json!("readable")), "{one}");
    assert_eq!(one["place"]["json_pointer"], "/messages/4");
    assert_eq!(one["rules"][0]["quote"], "Never touch lamp/legacy.py.");
    assert!(one["tokens_before"].as_u64() > one["tokens_after"].as_u64(), "{one}");
    let screen = home.run(&["lost", "read-only/opencode.json"]).ends(0);
    assert!(screen.stdout.contains("/messages/4: "), "{screen:?}");
}
