use std::fmt::Write as _;

use serde_json::{Value, json};
use strongroom_evidence::answer::Verdict;

use super::*;
use crate::compact::Report;
use crate::tokens::count;

const QUERIES: [&str; 8] = [
    "changes system-config",
    "count effects kind:fs.write",
    "list files op:written",
    "ever calls cmd:rm",
    "count said by:user",
    "list rules by:user state:in-force limit:500",
    "list results \"unit 003 line 7\"",
    "last said by:user",
];

/// What the user says in some turns besides the order to go on.
const RULES: [(usize, &str); 4] = [
    (0, "Never push to main."),
    (2, "Leave the vendor folder alone, and ask me before you delete anything."),
    (5, "From now on run the linter before every commit."),
    (9, "You may edit vendor/patch.rs now."),
];

fn turn(n: usize) -> Vec<Value> {
    let log = (0..24).fold(String::new(), |mut log, line| {
        writeln!(log, "unit {n:03} line {line} value={}", n * 7919 + line * 13).unwrap();
        log
    });
    let rule = RULES.iter().find(|(at, _)| *at == n).map_or("", |(_, rule)| rule);
    let path = if n == 3 { "/etc/app/unit.conf".to_owned() } else { format!("/home/ann/app/out_{n}.txt") };
    let call = |id: &str, name: &str, arguments: Value| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } } ] })
    };
    let (one, two) = (format!("call_{n}_a"), format!("call_{n}_b"));
    vec![
        json!({ "role": "user", "content": format!("Step {n} please. {rule}").trim_end() }),
        call(&one, "bash", json!({ "command": format!("cat logs/unit_{n:03}.log") })),
        json!({ "role": "tool", "tool_call_id": one, "content": log }),
        call(&two, "write_file", json!({ "path": path, "content": "x" })),
        json!({ "role": "tool", "tool_call_id": two, "content": "ok" }),
        json!({ "role": "assistant", "content": format!("Step {n} is finished.") }),
    ]
}

fn conversation(name: &str, messages: &[Value]) -> Conversation {
    Conversation::new(name, json!({ "messages": messages }).to_string().into_bytes())
}

fn messages(bytes: &[u8]) -> Vec<Value> {
    let body: Value = serde_json::from_slice(bytes).unwrap();
    body["messages"].as_array().unwrap().clone()
}

/// What an answer says, without where it found it.
fn essence(asked: &Asked, options: AskOptions, query: &str) -> (Verdict, Option<String>, Vec<String>) {
    let answer = asked.answer(&read(query).unwrap(), options).unwrap();
    let values = answer.values.iter().map(|found| found.value.clone());
    let quotes = answer.citations.iter().map(|one| one.quote.clone());
    (answer.verdict, answer.answer.clone(), values.chain(quotes).collect())
}

fn summary(messages: &[Value]) -> String {
    let own = messages.iter().filter_map(|message| message["content"].as_str());
    own.filter(|text| text.starts_with("[strongroom] Derived")).collect()
}

const NOW: Timestamp = Timestamp::from_ms(1_790_000_000_000);

/// Compacts after every two turns, and gives the tokens of the summary of each generation.
fn generations(number: usize, asked_each: usize) -> Vec<u64> {
    let dir = tempfile::tempdir().unwrap();
    let custodian = Custodian::open(dir.path(), Policy::default()).unwrap();
    let system = json!({ "role": "system", "content": "You operate a host." });
    let (mut full, mut own) = (vec![system.clone()], vec![system]);
    let mut sizes = Vec::new();
    for generation in 0..number {
        for message in (0..2).flat_map(|step| turn(generation * 2 + step)) {
            full.push(message.clone());
            own.push(message);
        }
        let budget = Budget::Tokens(Tokens(3_000 + 30 * generation as u64));
        let outcome = custodian.compact(conversation("run", &own), budget, Unmet::BestEffort, NOW).unwrap();
        if let Outcome::Compacted(compacted, report) = outcome {
            assert!(report.tokens_after < report.tokens_before);
            own = messages(compacted.bytes());
        }
        sizes.push(count(&summary(&own)).0);
        for (_, rule) in RULES.iter().filter(|(at, _)| *at < generation * 2) {
            assert!(own.iter().any(|one| one["content"].as_str().is_some_and(|text| text.ends_with(rule))));
        }
        if (generation + 1) % asked_each == 0 {
            let expected = custodian.ready(conversation("whole", &full)).unwrap();
            let found = custodian.ready(conversation("run", &own)).unwrap();
            for query in QUERIES {
                let options = custodian.ask_options(Strictness::Assume);
                let [one, other] = [&found, &expected].map(|asked| essence(asked, options, query));
                assert_eq!(one, other, "generation {generation}: {query}");
            }
        }
    }
    sizes
}

#[test]
fn ten_generations_answer_as_the_whole_conversation_does() {
    let sizes = generations(10, 5);
    println!("{sizes:?}");
    assert!(sizes[9] > 0);
}

/// The figures stand in docs/summary-quality.md.
#[test]
#[ignore = "minutes"]
fn a_hundred_generations_answer_the_same_and_the_summary_stays_as_large() {
    let sizes = generations(100, 10);
    println!("{sizes:?}");
    assert!(
        sizes[99] * 5 <= sizes[9] * 6,
        "the tenth summary has {} tokens, the last {}",
        sizes[9],
        sizes[99]
    );
}

fn above(custodian: &Custodian, own: &[Value], unmet: Unmet) -> (Vec<u8>, Box<Report>) {
    let given = json!({ "messages": own }).to_string().into_bytes();
    let conversation = Conversation::new("run", given.clone());
    let low = Budget::Tokens(Tokens(1_800));
    match custodian.compact_above(conversation, Some(Tokens(4_000)), (low, unmet), NOW).unwrap() {
        Outcome::Compacted(compacted, report) => (compacted.bytes().to_vec(), report),
        Outcome::Unchanged(report) | Outcome::BudgetNotMet { report, .. } => (given, report),
    }
}

#[test]
fn between_two_marks_the_prefix_stays_and_the_next_compaction_is_foretold() {
    let dir = tempfile::tempdir().unwrap();
    let custodian = Custodian::open(dir.path(), Policy::default()).unwrap();
    let mut own = vec![json!({ "role": "system", "content": "You operate a host." })];
    let (mut compactions, mut due) = (0, Tokens(4_000));
    for n in 0..24 {
        own.extend(turn(n));
        let given = json!({ "messages": own }).to_string().into_bytes();
        let (bytes, report) = above(&custodian, &own, Unmet::BestEffort);
        assert_eq!(bytes != given, report.tokens_before > due, "turn {n}: {report:?}");
        assert!(bytes.len() <= given.len());
        if bytes != given {
            compactions += 1;
            assert!(report.tokens_after <= Tokens(4_000), "turn {n}: {report:?}");
            own = messages(&bytes);
        }
        due = report.due_above.unwrap();
        assert_eq!(due, Tokens(4_000));
    }
    assert!((2..8).contains(&compactions), "{compactions}");
}

#[test]
fn what_cannot_be_brought_down_is_not_tried_again_at_every_turn() {
    let dir = tempfile::tempdir().unwrap();
    let custodian = Custodian::open(dir.path(), Policy::default()).unwrap();
    let long = "the user tells a long story about it ".repeat(1_200);
    let mut own = vec![json!({ "role": "user", "content": long })];
    own.extend(turn(0));
    for n in 1..4 {
        let (bytes, report) = above(&custodian, &own, Unmet::BestEffort);
        assert_eq!(messages(&bytes), own, "turn {n}");
        assert_eq!(report.unchanged, Some("too little can be won back yet"));
        assert!(report.due_above.unwrap() > report.tokens_before);
        own.push(json!({ "role": "user", "content": format!("and {n} more") }));
    }
}

#[test]
fn marks_the_wrong_way_round_and_a_torn_body_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let custodian = Custodian::open(dir.path(), Policy::default()).unwrap();
    let compact = |bytes: &[u8], high: u64| {
        let conversation = Conversation::new("run", bytes.to_vec());
        let low = Budget::Tokens(Tokens(500));
        custodian.compact_above(conversation, Some(Tokens(high)), (low, Unmet::Stop), NOW).unwrap_err()
    };
    let body = json!({ "messages": turn(0) }).to_string().into_bytes();
    assert!(compact(&body, 500).to_string().contains("must lie above the budget"));
    let torn = compact(&body[..body.len() / 2], 900).to_string();
    assert!(torn.contains("nothing of run can be read, torn-record: the JSON value is cut off"), "{torn}");
}
