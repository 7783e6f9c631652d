//! Every cell of the gate's table, produced on the built binary.

use crate::home::{Home, claude_session, total};

const BUDGET: [&str; 3] = ["--budget", "20%", "--best-effort"];

fn args<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["--json", "compact", file][..], &BUDGET, more].concat()
}

#[test]
fn structured_spans_go_into_custody_and_narrative_goes_with_them() {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(30, 8_000));
    let report = home.run(&args(file.to_str().unwrap(), &[])).json(0);
    assert_eq!(report["outcome"], "compacted");
    assert!(report["grounds"]["original in custody"].as_u64().unwrap() > 30, "{report}");
    assert_eq!(total(&report["refused"]), 0, "{report}");
}

#[test]
fn a_retention_shorter_than_the_horizon_refuses() {
    let home = Home::new();
    let policy = home.write("policy.toml", "retention = \"30d\"\n");
    let file = home.write("s.jsonl", claude_session(12, 8_000));
    let output = home.path("out.jsonl");
    let more = ["--policy", policy.to_str().unwrap(), "--out", output.to_str().unwrap()];
    let report = home.run(&args(file.to_str().unwrap(), &more)).json(0);
    let refused = report["refused"].as_object().unwrap();
    assert!(refused.keys().all(|reason| reason.contains("may expire")), "{report}");
    assert!(total(&report["refused"]) >= 12, "{report}");
    assert!(report["reclaimed"]["narrative"].as_u64().unwrap() >= 10, "{report}");
    refused_spans_stand_verbatim(&file, &output, 12);
    // The same session under a longer policy: everything goes.
    let policy = home.write("policy.toml", "retention = \"200d\"\n");
    let report = home.run(&args(file.to_str().unwrap(), &["--policy", policy.to_str().unwrap()])).json(0);
    assert_eq!(total(&report["refused"]), 0, "{report}");
}

/// Each of the first `reads` results stands in the part that was appended, byte for byte.
fn refused_spans_stand_verbatim(input: &std::path::Path, output: &std::path::Path, reads: usize) {
    let input = std::fs::read_to_string(input).unwrap();
    let output = std::fs::read_to_string(output).unwrap();
    let appended = output.strip_prefix(&input).expect("earlier lines are untouched");
    let results = input.lines().filter(|line| line.contains("tool_result"));
    for line in results.take(reads) {
        let content = line.split("\"content\":\"").nth(1).unwrap().split("\",\"").next().unwrap();
        assert!(appended.contains(content), "a refused result is not in the compacted view");
    }
}

#[test]
fn a_byte_flipped_in_the_store_refuses_the_spans_in_it_and_no_others() {
    tampered(
        "UPDATE blob SET body = CAST(substr(body, 1, 40) || x'00FF00' || substr(body, 44) AS BLOB) WHERE rowid = (SELECT min(rowid) FROM blob)",
    );
}

#[test]
fn a_piece_that_is_gone_refuses_the_spans_in_it_and_no_others() {
    tampered("DELETE FROM blob WHERE rowid = (SELECT min(rowid) FROM blob)");
}

fn tampered(sql: &str) {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(90, 12_000));
    let paused = home.pause_at("all-stored", &args(file.to_str().unwrap(), &[]));
    assert_eq!(home.tamper(sql), 1);
    let report = paused.resume().json(0);
    let refused = report["refused"].as_object().unwrap();
    assert!(refused.keys().any(|reason| reason.contains("not retrievable")), "{report}");
    let in_custody = report["grounds"]["original in custody"].as_u64().unwrap();
    assert!(in_custody > 20 && total(&report["refused"]) >= 2, "{report}");
    let output = std::fs::read_to_string(home.path("s.compacted.jsonl")).unwrap();
    let appended = output.strip_prefix(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(appended.contains("let value_0_0 = 0;"), "the spans of the first piece stand verbatim");
    assert!(!appended.contains("let value_60_0 ="), "spans of other pieces were reclaimed");
}

#[test]
fn an_archive_that_takes_no_more_refuses_what_needs_custody() {
    let home = Home::new();
    home.run(&["import", home.example("openai-chat.json").to_str().unwrap()]).ends(0);
    let file = home.write("s.jsonl", claude_session(12, 8_000));
    // From here on every insertion fails, whoever runs it.
    home.tamper("CREATE TRIGGER full BEFORE INSERT ON blob BEGIN SELECT RAISE(FAIL, 'disk full'); END");
    let report = home.run(&args(file.to_str().unwrap(), &[])).json(0);
    assert!(total(&report["refused"]) >= 12, "{report}");
    assert!(report["grounds"]["narrative, no original kept"].as_u64().unwrap() >= 10, "{report}");
    assert!(report["pointer"].is_null(), "{report}");
}

#[test]
fn a_waiver_lets_structured_spans_go_and_is_named() {
    let home = Home::new();
    let policy = home.write(
        "policy.toml",
        "retention = \"1d\"\n[[waiver]]\nid = \"W1\"\nauthor = \"ops\"\nreason = \"scratch\"\ncovers = \"source\"\n",
    );
    let file = home.write("s.jsonl", claude_session(12, 8_000));
    let report = home.run(&args(file.to_str().unwrap(), &["--policy", policy.to_str().unwrap()])).json(0);
    assert!(report["grounds"]["waived"].as_u64().unwrap() >= 8, "{report}");
    // Under a hold the waiver is off.
    let held = std::fs::read_to_string(&policy).unwrap() + "[[hold]]\nreason = \"audit\"\nsource = \"**\"\n";
    let policy = home.write("held.toml", held);
    let report = home.run(&args(file.to_str().unwrap(), &["--policy", policy.to_str().unwrap()])).json(0);
    assert!(report["grounds"]["waived"].is_null(), "{report}");
    assert!(total(&report["refused"]) >= 12, "{report}");
}

#[test]
fn without_an_archive_only_narrative_goes() {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(12, 8_000));
    let report = home.run(&args(file.to_str().unwrap(), &["--without-archive"])).json(0);
    let reclaimed = report["reclaimed"].as_object().unwrap();
    assert_eq!(reclaimed.keys().collect::<Vec<_>>(), ["narrative"], "{report}");
    assert!(!home.archive().exists());
}

#[test]
fn an_archive_that_cannot_be_opened_ends_the_run() {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(3, 8_000));
    home.write("archive/strongroom.db", "this is no database, but it is long enough to be taken for one");
    let before = std::fs::read(&file).unwrap();
    let run = home.run(&args(file.to_str().unwrap(), &[])).ends(3);
    assert!(run.stderr.contains("archive") && run.stderr.contains("not a database"), "{run:?}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(!home.path("s.compacted.jsonl").exists());
}
