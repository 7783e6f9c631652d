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
