//! The commands as a user types them.

use serde_json::Value;

use crate::home::{Home, claude_session};

#[test]
fn a_filter_needs_no_files() {
    let home = Home::new();
    let body = std::fs::read(home.example("openai-chat.json")).unwrap();
    let run = home
        .pipe(&["compact", "-", "--format", "openai-chat", "--out", "-", "--budget", "40%"], &body)
        .ends(0);
    let compacted: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(compacted["messages"].as_array().unwrap().len() > 10);
    assert!(run.stderr.contains("compacted"), "{run:?}");
}

#[test]
fn what_fits_comes_back_byte_for_byte() {
    let home = Home::new();
    for example in ["openai-chat.json", "anthropic-messages.json", "claude-code.jsonl", "codex.jsonl"] {
        let body = std::fs::read_to_string(home.example(example)).unwrap();
        let run = home.pipe(&["compact", "-", "--budget", "1000k"], body.as_bytes()).ends(0);
        assert_eq!(run.stdout, body, "{example}");
    }
}

#[test]
fn a_tiny_history_is_not_made_larger() {
    let home = Home::new();
    let body = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Hello."},{"role":"user","content":"ping?"},{"role":"assistant","content":"pong"}]}"#;
    let run = home.pipe(&["compact", "-", "--budget", "50%", "--best-effort"], body.as_bytes()).ends(0);
    assert_eq!(run.stdout, body);
}

#[test]
fn a_budget_that_cannot_be_met_writes_nothing_and_names_the_smallest_size() {
    let home = Home::new();
    let file = home.example("openai-chat.json");
    let run = home.run(&["--json", "compact", file.to_str().unwrap(), "--budget", "50"]).ends(1);
    assert!(run.stderr.contains("smallest"), "{run:?}");
    assert!(!home.path("openai-chat.compacted.json").exists());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["outcome"], "budget-not-met");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let home = Home::new();
    let file = home.example("anthropic-messages.json");
    for out in ["one.json", "two.json"] {
        home.run(&["compact", file.to_str().unwrap(), "--budget", "40%", "--out", out]).ends(0);
    }
    assert_eq!(std::fs::read(home.path("one.json")).unwrap(), std::fs::read(home.path("two.json")).unwrap());
}

#[test]
fn import_is_incremental_and_sessions_lists_it() {
    let home = Home::new();
    home.write("tree/a/one.jsonl", claude_session(3, 900));
    home.write("tree/b/two.jsonl", claude_session(4, 900));
    home.write("tree/notes.txt", "no transcript");
    let counts = |run: &Value| {
        ["imported", "unchanged", "passed_over", "failed"].map(|key| run[key].as_u64().unwrap())
    };
    assert_eq!(counts(&home.run(&["--json", "import", "tree"]).json(0)), [2, 0, 1, 0]);
    assert_eq!(counts(&home.run(&["--json", "import", "tree"]).json(0)), [0, 2, 1, 0]);
    home.write("tree/a/one.jsonl", claude_session(5, 900));
    assert_eq!(counts(&home.run(&["--json", "import", "tree"]).json(0)), [1, 1, 1, 0]);
    let sessions = home.run(&["sessions"]).ends(0);
    assert_eq!(sessions.stdout.lines().count(), 2, "{sessions:?}");
    assert!(sessions.stdout.contains("revision 2"), "{sessions:?}");
    let verified = home.run(&["verify", "--read-data"]).ends(0);
    assert!(verified.stderr.contains("checkpoint"), "the caveat is told: {verified:?}");
}

#[test]
fn a_damaged_archive_is_found_and_named() {
    let home = Home::new();
    home.write("tree/one.jsonl", claude_session(30, 9_000));
    home.run(&["import", "tree"]).ends(0);
    home.tamper("UPDATE blob SET body = CAST(substr(body, 1, 40) || x'00FF00' || substr(body, 44) AS BLOB)");
    let run = home.run(&["verify", "--read-data"]).ends(3);
    assert!(run.stdout.contains("one.jsonl"), "{run:?}");
    let export = home.run(&["export", "tree/one.jsonl"]).ends(3);
    assert!(export.stdout.is_empty(), "no damaged byte is written: {export:?}");
}

#[test]
fn explain_shows_class_and_protection_of_a_span() {
    let home = Home::new();
    let file = home.example("claude-code.jsonl");
    let run = home.run(&["--json", "explain", file.to_str().unwrap()]).ends(0);
    let spans: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let classes: Vec<&str> = spans.iter().filter_map(|span| span["class"].as_str()).collect();
    for class in ["narrative", "structured", "side-effecting"] {
        assert!(classes.contains(&class), "no {class} span among {classes:?}");
    }
    let system = spans.iter().find(|span| span.to_string().contains("svc.state")).unwrap();
    assert_eq!(system["class"], "side-effecting");
    let one = home.run(&["explain", file.to_str().unwrap(), "--span", &system["span"].to_string()]).ends(0);
    assert!(one.stdout.contains("re-execution") && one.stdout.contains("svc.state"), "{one:?}");
}

#[test]
fn completions_are_printed() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&["completions", shell]).ends(0).stdout.contains("strongroom"));
    }
}

#[test]
fn resume_names_the_command() {
    let home = Home::new();
    for (example, command) in [("claude-code.jsonl", "claude --resume "), ("codex.jsonl", "codex resume ")] {
        let file = home.example(example);
        let run = home.run(&["compact", file.to_str().unwrap(), "--budget", "40%", "--resume"]).ends(0);
        let line = run.stdout.lines().last().unwrap();
        assert!(line.contains(command), "{run:?}");
        let id = line.split(command).nth(1).unwrap().trim();
        let names: Vec<String> = std::fs::read_dir(home.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(names.iter().any(|name| name.contains(id)), "{id} is in none of {names:?}");
    }
}

#[test]
fn what_needs_no_compaction_is_resumed_as_it_is() {
    let home = Home::new();
    for (example, command) in [("claude-code.jsonl", "claude --resume "), ("codex.jsonl", "codex resume ")] {
        let file = home.example(example);
        let before = std::fs::read_dir(home.dir.path()).unwrap().count();
        let run = home.run(&["compact", file.to_str().unwrap(), "--budget", "1000k", "--resume"]).ends(0);
        let line = run.stdout.lines().last().unwrap();
        let id = line.split(command).nth(1).unwrap_or_else(|| panic!("no command: {run:?}")).trim();
        assert!(std::fs::read_to_string(&file).unwrap().contains(id), "{id} is not the session's own id");
        assert!(
            std::fs::read_dir(home.dir.path()).unwrap().count() <= before + 1,
            "only the archive may be new"
        );
    }
}
