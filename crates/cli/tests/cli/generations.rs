//! Compact, append, compact again: the tenth generation answers as the first.

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home};

const QUERIES: [&str; 9] = [
    "changes system-config",
    "count effects kind:fs.write",
    "list files op:written",
    "ever calls cmd:rm",
    "count said by:user",
    "first said by:user",
    "ever effects kind:vcs.remote",
    "list results \"unit 003\"",
    "list results \"unit 017\"",
];

/// A third of the queries in turn, and all of them of the last generation: every question costs a process of its own.
fn asked(generation: usize) -> impl Iterator<Item = &'static str> {
    let own = (0..).zip(QUERIES).filter(move |(at, _)| generation == 9 || at % 3 == generation % 3);
    own.map(|(_, query)| query)
}

/// What an answer says, without where it found it.
fn essence(home: &Home, file: &str, query: &str) -> Value {
    let run = home.run(&["--json", "ask", query, "--in", file]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let quotes: Vec<&Value> =
        answer["citations"].as_array().unwrap().iter().map(|one| &one["quote"]).collect();
    json!({ "query": query, "verdict": answer["verdict"], "answer": answer["answer"], "quotes": quotes })
}

fn turn(n: usize) -> (String, String, String) {
    let log: String =
        (0..60).map(|line| format!("unit {n:03} line {line} value={}\n", n * 7919 + line * 13)).collect();
    (format!("Please do step {n} now."), format!("cat logs/unit_{n:03}.log"), log)
}

#[test]
fn openai_chat_answers_the_same_after_ten_compactions() {
    let home = Home::new();
    let mut full: Vec<Value> = vec![json!({ "role": "system", "content": "You operate a host." })];
    let mut compacted: Vec<Value> = full.clone();
    for generation in 0..10 {
        for step in 0..2 {
            let messages = openai_turn(generation * 2 + step);
            full.extend(messages.clone());
            compacted.extend(messages);
        }
        let file = home.write("run.json", json!({ "messages": compacted }).to_string());
        let report = home
            .run(&[
                "--json",
                "compact",
                file.to_str().unwrap(),
                "--budget",
                "70%",
                "--best-effort",
                "--out",
                "next.json",
            ])
            .json(0);
        assert!(report["tokens"]["after"].as_u64() <= report["tokens"]["before"].as_u64(), "{report}");
        let text = std::fs::read_to_string(home.path("next.json")).unwrap();
        let body: Value = serde_json::from_str(&text).unwrap();
        compacted = body["messages"].as_array().unwrap().clone();
        let whole = home.write("full.json", json!({ "messages": full }).to_string());
        for query in asked(generation) {
            let expected = essence(&home, whole.to_str().unwrap(), query);
            assert_eq!(essence(&home, "next.json", query), expected, "generation {generation}");
        }
    }
    let summaries = compacted.iter().filter(|message| {
        message["content"].as_str().is_some_and(|text| text.starts_with("[strongroom] Derived"))
    });
    assert_eq!(summaries.count(), 1, "one summary stands for all generations");
}

fn openai_turn(n: usize) -> Vec<Value> {
    let (prompt, command, log) = turn(n);
    let (one, two) = (format!("call_{n}_a"), format!("call_{n}_b"));
    let call = |id: &str, name: &str, arguments: Value| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } } ] })
    };
    let path = if n == 3 { "/etc/app/unit.conf".to_owned() } else { format!("/home/ann/app/out_{n}.txt") };
    vec![
        json!({ "role": "user", "content": prompt }),
        call(&one, "bash", json!({ "command": command })),
        json!({ "role": "tool", "tool_call_id": one, "content": &log }),
        call(&two, "write_file", json!({ "path": path, "content": log })),
        json!({ "role": "tool", "tool_call_id": two, "content": "ok" }),
        json!({ "role": "assistant", "content": format!("Step {n} is finished.") }),
    ]
}

#[test]
fn claude_code_answers_the_same_after_ten_compactions() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    let mut full = ClaudeSession::default();
    for generation in 0..10 {
        for step in 0..2 {
            for own in [&mut session, &mut full] {
                let (prompt, command, log) = turn(generation * 2 + step);
                own.user(&prompt);
                own.call("Bash", &json!({ "command": command }), &log);
                let path = if generation == 1 {
                    "/etc/app/unit.conf".to_owned()
                } else {
                    format!("/srv/ws/app/out_{generation}_{step}.txt")
                };
                own.call("Write", &json!({ "file_path": path, "content": "x" }), "File created successfully");
            }
        }
        let file = home.write("run.jsonl", &session.text);
        home.run(&[
            "compact",
            file.to_str().unwrap(),
            "--budget",
            "70%",
            "--best-effort",
            "--out",
            "next.jsonl",
        ])
        .ends(0);
        let text = std::fs::read_to_string(home.path("next.jsonl")).unwrap();
        session = ClaudeSession::continued(&text);
        let whole = home.write("full.jsonl", &full.text);
        for query in asked(generation) {
            let expected = essence(&home, whole.to_str().unwrap(), query);
            assert_eq!(essence(&home, "next.jsonl", query), expected, "generation {generation}");
        }
    }
}

#[test]
fn an_original_that_is_gone_becomes_the_only_remaining_account() {
    let home = Home::new();
    let mut messages: Vec<Value> = vec![json!({ "role": "system", "content": "You operate a host." })];
    // Turn 3, which changes the system, is the oldest here and goes first.
    [3, 0, 1, 2].into_iter().for_each(|n| messages.extend(openai_turn(n)));
    let file = home.write("run.json", json!({ "messages": messages }).to_string());
    let args = |file: &str, out: &str| {
        ["--json", "compact", file, "--budget", "60%", "--best-effort", "--out", out].map(str::to_owned)
    };
    let run = |file: &str, out: &str| {
        let args = args(file, out);
        home.run(&args.each_ref().map(String::as_str)).json(0)
    };
    run(file.to_str().unwrap(), "first.json");
    assert!(home.tamper("DELETE FROM blob") > 0);
    std::fs::remove_file(&file).unwrap();
    let mut body: Value =
        serde_json::from_str(&std::fs::read_to_string(home.path("first.json")).unwrap()).unwrap();
    let messages = body["messages"].as_array_mut().unwrap();
    (4..8).for_each(|n| messages.extend(openai_turn(n)));
    home.write("second.json", body.to_string());
    run("second.json", "third.json");
    let text = std::fs::read_to_string(home.path("third.json")).unwrap();
    assert!(text.contains("only remaining account"), "{text}");
    let answer = essence(&home, "third.json", "changes system-config");
    assert_eq!(answer["verdict"], "insufficient", "{answer}");
    // Once more: the account stays word for word.
    let account =
        text.split("only remaining account").nth(1).unwrap().split("left out").next().unwrap().to_owned();
    let mut body: Value = serde_json::from_str(&text).unwrap();
    let messages = body["messages"].as_array_mut().unwrap();
    (8..12).for_each(|n| messages.extend(openai_turn(n)));
    home.write("fourth.json", body.to_string());
    run("fourth.json", "fifth.json");
    assert!(std::fs::read_to_string(home.path("fifth.json")).unwrap().contains(&account));
}

/// Each budget words the summary of the same spans in its own way, and gets a tag of its own for it.
#[test]
fn one_session_is_compacted_to_one_budget_after_another() {
    let home = Home::new();
    let file = home.example("claude-code.jsonl");
    let mut pointers = std::collections::BTreeSet::new();
    for budget in ["40%", "35%", "30%", "40%", "25%"] {
        let out = format!("{budget}.jsonl");
        let report = home
            .run(&["--json", "compact", file.to_str().unwrap(), "--budget", budget, "--out", &out])
            .json(0);
        pointers.insert(report["pointer"].as_str().unwrap().to_owned());
        let asked = home.run(&["ask", "ever calls tool:Bash", "--in", &out]).ends(0);
        assert!(asked.stdout.starts_with("supported"), "{asked:?}");
    }
    assert!(pointers.len() > 1, "{pointers:?}");
}

/// Until the mark is passed the bytes stay, and it is told when they will not.
#[test]
fn below_the_high_mark_a_session_comes_back_byte_for_byte() {
    let home = Home::new();
    let file = home.example("claude-code.jsonl");
    let file = file.to_str().unwrap();
    let compact =
        |marks: &[&str]| home.run(&[&["--json", "compact", file, "--out", "out.jsonl"], marks].concat());
    let waits = compact(&["--above", "90%", "--window", "200k", "--budget", "10%"]).json(0);
    assert_eq!((&waits["outcome"], &waits["due_above"]), (&json!("unchanged"), &json!(180_000)));
    assert_eq!(std::fs::read(home.path("out.jsonl")).unwrap(), std::fs::read(file).unwrap());
    let before = waits["tokens"]["before"].as_u64().unwrap();
    let (high, low) = ((before - 1).to_string(), (before / 2).to_string());
    let done = compact(&["--above", &high, "--budget", &low]).json(0);
    assert_eq!(done["outcome"], "compacted", "{done}");
    assert!(done["tokens"]["after"].as_u64() < done["due_above"].as_u64());
    let told = compact(&["--above", "80%"]).ends(2);
    assert!(told.stderr.contains("--window"), "{told:?}");
    let told = compact(&["--above", &low, "--budget", &high]).ends(2);
    assert!(told.stderr.contains("must lie above the budget"), "{told:?}");
}
