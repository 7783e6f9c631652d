//! Sentences and sessions are compared with what is recorded.

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home, lines};
use crate::ledger::eventful;

fn verdict(home: &Home, sentence: &str) -> String {
    let run = home.run(&["--json", "claim", sentence, "--in", "s.jsonl"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let verdict = answer["verdict"].as_str().unwrap().to_owned();
    assert_eq!(run.code, i32::from(verdict != "supported"), "{run:?}");
    let shown = !answer["citations"].as_array().unwrap().is_empty() || answer["certificate"].is_object();
    assert!(shown || matches!(verdict.as_str(), "unverified" | "insufficient"), "nothing shows it: {answer}");
    verdict
}

#[test]
fn a_sentence_is_worth_what_shows_it() {
    let home = Home::new();
    let mut session = ClaudeSession::continued(&eventful());
    session.call("Bash", &json!({ "command": "cat limits.toml" }), "max_conns = 61\np99_ms = 412.7\n");
    session.call(
        "Bash",
        &json!({ "command": "rm /srv/ws/app/gone.txt" }),
        "rm: cannot remove '/srv/ws/app/gone.txt': No such file or directory",
    );
    session.say("max_conns = 99 now, and everything is deployed.");
    home.write("s.jsonl", &session.text);
    for (sentence, expected) in [
        ("We pushed to origin main.", "supported"),
        ("Nothing was ever pushed.", "conflicting"),
        ("/srv/ws/app/a.txt was edited", "supported"),
        ("/srv/ws/app/other.txt was edited", "unverified"),
        ("We never installed a package.", "supported"),
        ("The agent installed left-pad.", "unverified"),
        ("max_conns is 61", "supported"),
        ("max_conns is 99", "conflicting"),
        ("max_conns is not 61", "conflicting"),
        ("retries is 3", "unverified"),
    ] {
        assert_eq!(verdict(&home, sentence), expected, "{sentence}");
    }
    for no_claim in ["Did we push?", "We will push tomorrow.", "So be it."] {
        home.run(&["claim", no_claim, "--in", "s.jsonl"]).ends(2);
    }
}

#[test]
fn failed_tests_contradict_that_they_pass() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    session.user("Run the tests.");
    session.call("Bash", &json!({ "command": "cargo test" }), "test result: ok. 3 passed; 0 failed");
    home.write("s.jsonl", &session.text);
    assert_eq!(verdict(&home, "All tests pass."), "supported");
    let failing = session
        .text
        .replace("\"type\":\"tool_result\"", "\"type\":\"tool_result\",\"is_error\":true")
        .replace(
            "test result: ok. 3 passed; 0 failed",
            "Exit code 101\\ntest result: FAILED. 2 passed; 1 failed",
        );
    home.write("s.jsonl", failing);
    assert_eq!(verdict(&home, "All tests pass."), "conflicting");
}

#[test]
fn values_that_changed_are_cited_on_both_sides() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    session.user("Watch the limit.");
    for value in [61, 61, 80] {
        session.call("Bash", &json!({ "command": "cat limits.toml" }), &format!("max_conns = {value}\n"));
    }
    session.say("That is all.");
    home.write("s.jsonl", &session.text);
    let run = home.run(&["--json", "conflicts", "s.jsonl"]).ends(1);
    let found = lines(&run);
    let value = found.iter().find(|one| one["kind"] == "value").unwrap_or_else(|| panic!("{run:?}"));
    assert_eq!(value["conflict"], "cat limits.toml: max_conns: 61 -> 80");
    assert!(value["said"][0]["quote"].as_str().unwrap().contains("61"), "{value}");
    assert!(value["shown"][0]["quote"].as_str().unwrap().contains("80"), "{value}");
}
