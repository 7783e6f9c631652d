//! Originals in a cold tier as they are seen from outside: read like all others, and out of reach but never lost.

use serde_json::Value;

use crate::home::{Home, claude_session};

/// A home whose only session is compacted and whose originals are in a directory beside it.
fn cold_home() -> (Home, String) {
    let home = Home::new();
    home.write("s.jsonl", claude_session(8, 1_500));
    home.run(&["compact", "s.jsonl", "--budget", "40%"]).ends(0);
    let url = format!("file://{}", home.path("cold").display());
    home.run(&["tier", "set", &url]).ends(0);
    let plan = home.run(&["--json", "tier", "move", "--older-than", "0s"]).json(0);
    assert!(plan["plan"]["pieces"].as_u64() > Some(0) && plan["moved"].is_null(), "{plan}");
    let moved = home.run(&["--json", "tier", "move", "--older-than", "0s", "--act"]).json(0);
    assert_eq!(moved["moved"]["pieces"], plan["plan"]["pieces"], "{moved}");
    let none = home.run(&["--json", "tier", "move", "--older-than", "1d"]).json(0);
    assert_eq!(none["plan"]["pieces"], 0, "nothing is that old");
    let pointer = home.pointer_in("s.compacted.jsonl") + "#1";
    (home, pointer)
}

fn away(home: &Home) {
    std::fs::rename(home.path("cold"), home.path("unmounted")).unwrap();
}

#[test]
fn what_is_cold_is_shown_exported_and_checked_like_all_else() {
    let (home, pointer) = cold_home();
    let status = home.run(&["--json", "tier", "status"]).json(0);
    assert_eq!(
        (&status["hot"]["pieces"], &status["reachable"]),
        (&Value::from(0), &Value::from(true)),
        "{status}"
    );
    let shown = home.run(&["show", &pointer]).ends(0);
    assert!(home.run(&["verify", "--read-data"]).ends(0).stdout.contains("in the cold tier"));
    let exported = home.run(&["export", "s.jsonl"]).ends(0);
    assert_eq!(exported.stdout, std::fs::read_to_string(home.path("s.jsonl")).unwrap());
    assert!(home.run(&["--json", "tier", "back", "--act"]).json(0)["moved"]["pieces"].as_u64() > Some(0));
    assert_eq!(home.run(&["show", &pointer]).ends(0).stdout, shown.stdout);
    home.run(&["verify", "--read-data"]).ends(0);
}

#[test]
fn what_is_out_of_reach_is_said_to_be_so_and_nothing_rests_on_it() {
    let (home, pointer) = cold_home();
    let text = std::fs::read_to_string(home.path("s.compacted.jsonl")).unwrap();
    let only = text.lines().skip_while(|line| !line.contains("sr1:")).collect::<Vec<_>>().join("\n");
    home.write("left.jsonl", &only);
    away(&home);
    assert!(home.run(&["show", &pointer]).ends(3).stderr.contains("cannot be reached"));
    let answer = home.run(&["--json", "ask", "ever calls cmd:rm", "--in", "left.jsonl"]);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["verdict"], "insufficient", "{answer}");
    assert!(answer.to_string().contains("cannot be reached"), "{answer}");
    let verified = home.run(&["verify"]).ends(3);
    assert!(verified.stdout.contains("cold pieces were not checked"), "{verified:?}");
    assert!(home.run(&["tier", "status"]).ends(3).stderr.contains("mounted"));
    // What stands in a file is not compacted on the strength of originals that cannot be read.
    let refused = home.run(&["compact", "s.jsonl", "--budget", "30%", "--best-effort", "--out", "t.jsonl"]);
    assert!(refused.ends(0).stdout.contains("original not retrievable"), "told");
    let again = home.run(&["compact", "left.jsonl", "--budget", "30%", "--out", "u.jsonl"]).ends(3);
    assert!(again.stderr.contains("out of reach"), "{again:?}");
    std::fs::rename(home.path("unmounted"), home.path("cold")).unwrap();
    home.run(&["show", &pointer]).ends(0);
    home.run(&["verify", "--read-data"]).ends(0);
}

#[test]
fn a_tier_that_is_slower_than_the_policy_allows_holds_no_evidence_for_the_gate() {
    let home = Home::new();
    home.write("s.jsonl", claude_session(8, 1_500));
    home.run(&["import", "s.jsonl"]).ends(0);
    let url = format!("file://{}", home.path("cold").display());
    home.run(&["tier", "set", &url, "--latency", "12h"]).ends(0);
    home.run(&["tier", "move", "--older-than", "0s", "--act"]).ends(0);
    let slow = home.run(&["compact", "s.jsonl", "--budget", "40%", "--best-effort"]).ends(0);
    assert!(slow.stdout.contains("not retrievable in time"), "{slow:?}");
    home.run(&["tier", "set", &url]).ends(0);
    let fast = home.run(&["compact", "s.jsonl", "--budget", "40%", "--best-effort"]).ends(0);
    assert!(!fast.stdout.contains("not retrievable"), "{fast:?}");
}
