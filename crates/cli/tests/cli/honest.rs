//! A summary says what it is, and an answer never rests on it.

use serde_json::{Value, json};

use crate::home::Home;

const SYSTEM: &str = "changes system-config";

/// The example of the problem: a change that the prose around it hides.
fn example(kind: &str) -> String {
    let call = match kind {
        "write_file" => ("write_file", json!({ "path": "/etc/app/conf.yaml", "content": "port: 8434\n" })),
        _ => ("bash", json!({ "command": "systemctl enable --now app.service" })),
    };
    let filler: String = (0..400).map(|line| format!("{line}: section {}\n", line * 37 % 101)).collect();
    let ask = |id: &str, name: &str, arguments: Value| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } } ] })
    };
    let body = json!({ "messages": [
        { "role": "system", "content": "You operate a host." },
        { "role": "user", "content": "Set the application up. Never restart the database." },
        ask("call_1", "read_file", json!({ "path": "/srv/app/README.md" })),
        { "role": "tool", "tool_call_id": "call_1", "content": filler },
        ask("call_2", call.0, call.1),
        { "role": "tool", "tool_call_id": "call_2", "content": "done" },
        { "role": "assistant", "content": "I configured the application." },
        ask("call_3", "read_file", json!({ "path": "/srv/app/guide.md" })),
        { "role": "tool", "tool_call_id": "call_3", "content": filler },
        { "role": "user", "content": "Thanks. What is next?" },
        { "role": "assistant", "content": "The health check is next." },
    ]});
    format!("{body:#}")
}

fn verdict(home: &Home, file: &str) -> Value {
    let run = home.run(&["--json", "ask", SYSTEM, "--in", file]);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn did_we_ever_modify_system_configuration() {
    for kind in ["write_file", "systemctl"] {
        let home = Home::new();
        let file = home.write("session.json", example(kind));
        // The whole example goes: a budget that leaves nothing but words of the user and the open tail.
        home.run(&["compact", file.to_str().unwrap(), "--budget", "30%"]).ends(0);
        let compacted = home.path("session.compacted.json");
        let text = std::fs::read_to_string(&compacted).unwrap();
        let answer = verdict(&home, compacted.to_str().unwrap());
        assert_eq!(answer["verdict"], "supported", "{kind}: {answer}");
        assert!(!answer["citations"].as_array().unwrap().is_empty());
        // Without the archive only the summary is left of it: never a no.
        let stranger = Home::new();
        let lonely = stranger.write("session.json", &text);
        let answer = verdict(&stranger, lonely.to_str().unwrap());
        assert_eq!(answer["verdict"], "insufficient", "{kind}: {answer}");
        // Where the original still stands in the file nothing else is needed.
        let original = stranger.write("original.json", example(kind));
        assert_eq!(verdict(&stranger, original.to_str().unwrap())["verdict"], "supported", "{kind}");
    }
}

#[test]
fn a_summary_opens_with_the_fixed_line_and_carries_pointer_counts_and_effects() {
    let home = Home::new();
    let file = home.example("claude-code.jsonl");
    let original = std::fs::read_to_string(&file).unwrap();
    let policy = home.write("policy.toml", "retention = \"200d\"\n");
    let policy = ["--policy", policy.to_str().unwrap()];
    let compact = ["--json", "compact", file.to_str().unwrap(), "--budget", "40%"];
    let report = home.run(&[&policy[..], &compact].concat()).json(0);
    let folded = std::fs::read_to_string(home.path("claude-code.compacted.jsonl")).unwrap();
    let appended = folded.strip_prefix(&original).unwrap();
    let summary = appended
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["isCompactSummary"] == true)
        .and_then(|line| line["message"]["content"].as_str().map(str::to_owned))
        .unwrap();
    let first = summary.lines().next().unwrap();
    assert!(first.starts_with("[strongroom] Derived, not evidence: "), "{first}");
    assert!(strongroom::tokens::count(first).0 <= 40, "{first}");
    assert!(first.contains("strongroom ask") && first.contains("evidence_ask"), "{first}");
    assert!(summary.contains(report["pointer"].as_str().unwrap()), "{summary}");
    assert!(summary.contains("left out: "), "{summary}");
    let command = summary.lines().find(|line| line.contains("enable --now billing-export.service")).unwrap();
    assert!(command.contains(" ! ") && command.contains("svc.state"), "{summary}");
    // The user's words and the standing constraint stand verbatim in the view.
    assert!(appended.contains("Never push to main, and do not touch anything under vendor/."));
    assert!(appended.contains("The export service must come back after a reboot as well"));
}

#[test]
fn a_hidden_change_is_found_in_the_example() {
    let home = Home::new();
    let file = home.example("hidden-change.json");
    home.run(&["compact", file.to_str().unwrap(), "--budget", "30%"]).ends(0);
    let answer = verdict(&home, "hidden-change.compacted.json");
    assert_eq!(answer["verdict"], "supported", "{answer}");
    assert!(answer.to_string().contains("/etc/app/conf.yaml"), "{answer}");
}
