//! A secret is hidden in every view and printed only on demand.

use serde_json::{Value, json};

use crate::home::{Home, pointer};

// Made up; it has the shape of an access key and no owner.
const SECRET: &str = "AKIAQ3EGRT7PLMNX2VBD";

fn session() -> String {
    let filler: String = (0..300).map(|line| format!("{line}: record {}\n", line * 53 % 211)).collect();
    let call = |id: &str, path: &str| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": "read_file", "arguments": json!({ "path": path }).to_string() } } ] })
    };
    let env = format!("REGION=eu-central-1\nAWS_ACCESS_KEY_ID={SECRET}\nWORKERS=12\n");
    let body = json!({ "messages": [
        { "role": "user", "content": "Check the settings." },
        call("call_1", "/srv/app/.env"),
        { "role": "tool", "tool_call_id": "call_1", "content": env },
        call("call_2", "/srv/app/notes.md"),
        { "role": "tool", "tool_call_id": "call_2", "content": filler },
        { "role": "assistant", "content": "The settings are complete." },
        { "role": "user", "content": format!("My own key is {SECRET}, use it for the test.") },
        { "role": "assistant", "content": "Understood." },
    ]});
    format!("{body:#}")
}

#[test]
fn a_secret_is_masked_in_the_view_and_shown_only_on_demand() {
    let home = Home::new();
    let file = home.write("session.json", session());
    let report = home.run(&["--json", "compact", file.to_str().unwrap(), "--budget", "50%"]).json(0);
    let compacted = std::fs::read_to_string(home.path("session.compacted.json")).unwrap();
    assert!(!compacted.contains(SECRET), "{compacted}");
    assert!(compacted.contains("[masked "), "{compacted}");
    assert_eq!(report["masked"], 1, "{report}");
    let pointer = pointer(&report);
    let spans = home.run(&["--json", "show", &pointer]).json(0);
    let mut revealed = 0;
    for span in spans["spans"].as_array().unwrap() {
        let span = format!("{pointer}#{}", span["span"]);
        let masked = home.run(&["show", &span]).ends(0);
        assert!(!masked.stdout.contains(SECRET), "{masked:?}");
        revealed += usize::from(home.run(&["show", &span, "--reveal"]).ends(0).stdout.contains(SECRET));
    }
    assert_eq!(revealed, 2, "the result and the user's message are recovered exactly");
}

#[test]
fn secrets_stay_where_they_are_wanted() {
    let home = Home::new();
    let file = home.write("session.json", session());
    let args = ["compact", file.to_str().unwrap(), "--budget", "50%", "--secrets", "keep"];
    home.run(&args).ends(0);
    let compacted = std::fs::read_to_string(home.path("session.compacted.json")).unwrap();
    assert!(compacted.contains(SECRET));
}

#[test]
fn no_command_prints_a_secret() {
    let home = Home::new();
    let file = home.write("session.json", session());
    home.run(&["compact", file.to_str().unwrap(), "--budget", "50%"]).ends(0);
    let commands: [&[&str]; 14] = [
        &["ask", "list results arg:.env", "--in", "session.json"],
        &["--json", "ask", "list results arg:.env", "--in", "session.compacted.json"],
        &["ask", "list literals kind:secret", "--in", "session.json"],
        &["ask", "list said by:user key", "--in", "session.compacted.json"],
        &["explain", "session.json"],
        &["--json", "explain", "session.json", "--span", "2"],
        &["ledger", "session.json", "--kind", "fs.read"],
        &["--json", "ledger", "session.compacted.json", "--kind", "fs.read"],
        &["replay", "session.compacted.json"],
        &["replay", "session.json", "--script"],
        &["replay", "session.json", "--check"],
        &["--json", "replay", "session.compacted.json", "--check"],
        &["conflicts", "session.json"],
        &["claim", "WORKERS is 12", "--in", "session.compacted.json"],
    ];
    for command in commands {
        let run = home.run(command);
        assert!(!run.stdout.contains(SECRET) && !run.stderr.contains(SECRET), "{command:?}: {run:?}");
        assert!(run.code < 2, "{command:?}: {run:?}");
    }
    let answer: Value =
        home.run(&["--json", "ask", "ever literals kind:secret", "--in", "session.json"]).json(0);
    assert_eq!(answer["verdict"], "supported", "{answer}");
}
