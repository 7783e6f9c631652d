//! Search from outside: what is found and whose it is, what is absent, and what orders take out of the index.

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home};

const CANARY: &str = "kestrel-4711-blue";

fn session() -> String {
    let mut session = ClaudeSession::default();
    session.user("Find the birds. Never push to main.");
    session.call(
        "Bash",
        &json!({ "command": "grep -rn \"heron\" src" }),
        "src/a.rs:1: \"heron\"\nsrc/b.rs:2: heron",
    );
    session.say(&format!("The code word is {CANARY}."));
    session.text
}

/// Segments of the index that stand beside the archive.
fn segments(home: &Home) -> usize {
    let files = std::fs::read_dir(home.archive()).unwrap().map(|file| file.unwrap().file_name());
    files.filter(|name| name.to_string_lossy().starts_with("strongroom.search-")).count()
}

/// In how many files of the archive the canary stands in clear.
fn clear(home: &Home) -> usize {
    let files =
        std::fs::read_dir(home.archive()).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    // Words are kept one by one: a part of the canary is enough.
    let holds = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|own| own == word.as_bytes());
    files.filter(|bytes| holds(bytes, CANARY) || holds(bytes, "kestrel")).count()
}

#[test]
fn a_text_is_found_with_its_place_and_its_speaker() {
    let home = Home::new();
    home.write("s.jsonl", session());
    home.run(&["search", "heron"]).ends(2);
    home.run(&["import", "--index", "s.jsonl"]).ends(0);
    assert_eq!(segments(&home), 1);
    let found = home.run(&["search", "heron"]).ends(0);
    let lines: Vec<&str> = found.stdout.lines().collect();
    assert!(
        lines[0].starts_with("s.jsonl L2 assistant call Bash /command 2026-03-10T09:00:01Z"),
        "{found:?}"
    );
    assert_eq!(lines[1], "    grep -rn \"»heron«\" src");
    assert!(lines[2].starts_with("s.jsonl L3 tool result"), "{found:?}");
    assert!(lines[2].ends_with("(2 times)"), "{found:?}");
    assert_eq!(lines[3], "    src/a.rs:1: \"»heron«\"\\nsrc/b.rs:2: heron");
    assert!(lines[4].starts_with("found: in 2 texts of all"), "{found:?}");
    let limited = home.run(&["search", "heron", "--limit", "1"]).ends(0);
    assert!(limited.stdout.contains("found: the first 1; --limit N or --all"), "{limited:?}");
    let body = home.run(&["--json", "search", "\"heron\"\nsrc"]).json(0);
    assert_eq!(body["verdict"], "found");
    assert_eq!(body["hits"][0]["locator"], "L3");
    assert_eq!(body["hits"][0]["match"], "\"heron\"\nsrc");
    assert_eq!(body["searched"]["sources"][0]["root"].as_str().map(str::len), Some(64));
}

#[test]
fn absence_names_what_was_searched_and_what_was_not() {
    let home = Home::new();
    home.write("s.jsonl", session());
    home.run(&["import", "--index", "s.jsonl"]).ends(0);
    let absent = home.run(&["search", "albatross"]).ends(1);
    assert!(absent.stdout.starts_with("absent: in none of"), "{absent:?}");
    assert!(absent.stderr.contains("parts of secrets"), "{absent:?}");
    home.write("torn.jsonl", session() + "{\"type\":\"user\",\"mess");
    home.run(&["import", "--index", "torn.jsonl"]).ends(0);
    let unsure = home.run(&["search", "albatross"]).ends(1);
    assert!(unsure.stdout.starts_with("insufficient evidence:"), "{unsure:?}");
    assert!(unsure.stdout.contains("torn.jsonl L5"), "{unsure:?}");
    home.run(&["search", "albatross", "--source", "s.jsonl"]).ends(1);
    home.run(&["search", "albatross", "--source", "nowhere.jsonl"]).ends(2);
    let body = home.run(&["--json", "search", "albatross"]).json(1);
    assert_eq!((&body["verdict"], &body["holes"][0]["kind"]), (&json!("insufficient"), &json!("unreadable")));
}

#[test]
fn what_hides_is_shown_and_what_is_secret_is_not() {
    let home = Home::new();
    let mut session = ClaudeSession::default();
    session.user("\u{1b}[31mred\u{202e} heron with ghp_16C7e42F292c6912E7710c838347Ae178B4a beside it");
    home.write("s.jsonl", session.text);
    home.run(&["import", "--index", "s.jsonl"]).ends(0);
    let found = home.run(&["search", "heron"]).ends(0);
    assert!(found.stdout.contains("\\u001b[31mred\\u202e »heron« with [masked "), "{found:?}");
    assert!(!found.stdout.contains("16C7e42F"), "{found:?}");
    home.run(&["search", "ghp_16C7"]).ends(1);
}

#[test]
fn orders_take_their_words_out_of_the_index() {
    for encrypted in [false, true] {
        let home = Home::new();
        home.write("s.jsonl", session());
        home.write("other.jsonl", session().replace(CANARY, "osprey"));
        home.run(&["import", "--index", "other.jsonl"]).ends(0);
        if encrypted {
            home.run(&["encrypt", "--new-key-file", "key"]).ends(0);
            assert_eq!(segments(&home), 0, "none that was made before stands in clear");
        }
        let global: &[&str] = if encrypted { &["--key-file", "key"] } else { &[] };
        let run = |words: &[&str]| home.run(&[global, words].concat());
        run(&["import", "--index", "s.jsonl"]).ends(0);
        let made = segments(&home);
        assert_eq!((made > 0, clear(&home) > 0), (true, !encrypted));
        run(&["search", CANARY]).ends(0);
        run(&["erase", "s.jsonl", "--act", "--i-may-delete", "--by", "mara", "--reason", "asked for it"])
            .ends(0);
        assert_eq!(clear(&home), 0);
        let gone = run(&["--json", "search", CANARY]).json(1);
        assert_eq!(gone["verdict"], "insufficient", "{gone}");
        assert!(gone["holes"].to_string().contains("erased on 20"), "{gone}");
        assert_eq!(clear(&home), 0, "a search does not bring it back");
        assert_eq!(run(&["--json", "search", "osprey"]).json(0)["hits"].as_array().map(Vec::len), Some(1));
        assert_eq!(
            run(&["--json", "search", CANARY, "--source", "other.jsonl"]).json(1)["verdict"],
            "absent"
        );
    }
}

#[test]
fn bytes_that_are_redacted_leave_the_index() {
    let home = Home::new();
    home.write("s.jsonl", session());
    home.run(&["import", "--index", "s.jsonl"]).ends(0);
    assert!(clear(&home) > 0);
    let order = ["--i-may-delete", "--by", "mara", "--reason", "asked for it"];
    home.run(&[&["redact", "s.jsonl", "--text", CANARY][..], &order].concat()).ends(0);
    assert_eq!(clear(&home), 0);
    let left = home.run(&["--json", "search", "code word is"]).json(0);
    assert_eq!(left["hits"].as_array().map(Vec::len), Some(1));
    let gone: Value = home.run(&["--json", "search", CANARY]).json(1);
    assert_eq!((&gone["verdict"], &gone["holes"][0]["kind"]), (&json!("insufficient"), &json!("redacted")));
}

#[test]
fn what_a_compaction_took_in_is_found_without_an_index() {
    let home = Home::new();
    home.write("s.jsonl", session());
    home.run(&["compact", "s.jsonl", "--budget", "90%", "--best-effort"]).ends(0);
    assert_eq!(segments(&home), 0, "a compaction does not pay for it");
    home.run(&["search", CANARY]).ends(0);
    assert_eq!(segments(&home), 0, "so little is indexed when it is searched");
}
