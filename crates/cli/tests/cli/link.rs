//! The link from a compacted transcript to its originals survives what people do to files.

use serde_json::Value;

use crate::home::{Home, pointer};

fn supported(home: &Home, file: &str, query: &str, quote: &str) {
    let answer = home.run(&["--json", "ask", query, "--in", file]).json(0);
    assert_eq!(answer["verdict"], "supported", "{answer}");
    let quotes: Vec<&str> =
        answer["citations"].as_array().unwrap().iter().filter_map(|one| one["quote"].as_str()).collect();
    assert!(quotes.iter().any(|own| own.contains(quote)), "{quote:?} is in none of {quotes:?}");
}

/// Compacts an example and checks that its originals are found under several disguises of the output.
fn survives(example: &str, query: &str, quote: &str) {
    let home = Home::new();
    let file = home.example(example);
    let report = home.run(&["--json", "compact", file.to_str().unwrap(), "--budget", "40%"]).json(0);
    assert_eq!(report["outcome"], "compacted", "{report}");
    let pointer = pointer(&report);
    let compacted = example.replace(".json", ".compacted.json");
    let text = std::fs::read_to_string(home.path(&compacted)).unwrap();
    // The original is gone for good, so that only the archive can help.
    std::fs::remove_file(&file).unwrap();
    supported(&home, &compacted, query, quote);
    let copy = home.write("elsewhere/copy.json", &text);
    supported(&home, copy.to_str().unwrap(), query, quote);
    let spaced = home.write("spaced.json", respelled(&text));
    supported(&home, spaced.to_str().unwrap(), query, quote);
    home.run(&["show", &format!("{pointer}#1")]).ends(0);
}

/// The same JSON with other spacing and key order.
fn respelled(text: &str) -> String {
    if let Ok(whole) = serde_json::from_str::<Value>(text) {
        return format!("{whole:#}");
    }
    let lines = text.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        record.to_string().replace("\":", "\" : ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn openai_chat() {
    survives("openai-chat.json", "changes system-config", "systemctl enable");
}

#[test]
fn anthropic_messages() {
    survives("anthropic-messages.json", "changes system-config", "systemctl enable");
}

#[test]
fn claude_code() {
    survives("claude-code.jsonl", "changes system-config", "systemctl enable");
}

#[test]
fn codex() {
    survives("codex.jsonl", "changes system-config", "systemctl enable");
}

#[test]
fn a_folded_session_without_its_earlier_lines_still_leads_to_them() {
    let home = Home::new();
    let file = home.example("claude-code.jsonl");
    let original = std::fs::read_to_string(&file).unwrap();
    home.run(&["compact", file.to_str().unwrap(), "--budget", "40%"]).ends(0);
    let folded = std::fs::read_to_string(home.path("claude-code.compacted.jsonl")).unwrap();
    let appended = home.write("tail.jsonl", folded.strip_prefix(&original).unwrap());
    supported(&home, appended.to_str().unwrap(), "changes system-config", "systemctl enable");
}

#[test]
fn turns_appended_after_a_compaction_are_asked_together_with_the_originals() {
    let home = Home::new();
    let file = home.example("openai-chat.json");
    home.run(&["compact", file.to_str().unwrap(), "--budget", "40%"]).ends(0);
    let path = home.path("openai-chat.compacted.json");
    let mut body: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(serde_json::json!({ "role": "user", "content": "Please tag the release v3.1.4 later." }));
    std::fs::write(&path, format!("{body:#}")).unwrap();
    supported(&home, path.to_str().unwrap(), "changes system-config", "systemctl enable");
    supported(&home, path.to_str().unwrap(), "said by:user release", "v3.1.4");
    let count = home.run(&["--json", "ask", "count said by:user", "--in", path.to_str().unwrap()]).json(0);
    assert_eq!(count["answer"], "4", "kept words of the user are counted once: {count}");
}

#[test]
fn a_pointer_pasted_into_another_session_brings_no_evidence_in() {
    let home = Home::new();
    let file = home.example("openai-chat.json");
    home.run(&["compact", file.to_str().unwrap(), "--budget", "40%"]).ends(0);
    let compacted: Value =
        serde_json::from_str(&std::fs::read_to_string(home.path("openai-chat.compacted.json")).unwrap())
            .unwrap();
    let summary = compacted["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|message| message["content"].as_str().filter(|text| text.starts_with("[strongroom]")));
    let other = serde_json::json!({ "messages": [
        { "role": "user", "content": summary.unwrap() },
        { "role": "user", "content": "Did we change anything?" },
        { "role": "assistant", "content": "No." },
    ]});
    let other = home.write("other.json", other.to_string());
    let answer =
        home.run(&["--json", "ask", "changes system-config", "--in", other.to_str().unwrap()]).json(1);
    assert_eq!(answer["verdict"], "insufficient", "{answer}");
}
