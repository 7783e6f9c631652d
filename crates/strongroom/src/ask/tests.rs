use std::path::PathBuf;

use strongroom_evidence::answer::Verdict;
use strongroom_evidence::query::parse;

use super::*;

/// A session in a folder of its own.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(lines: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("session.jsonl", &(lines.join("\n") + "\n"));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("session.jsonl")
    }

    fn ask(&self, query: &str) -> Answer {
        let mut asked = Asked::default();
        asked.add(SessionFiles::open(&self.path(), None).unwrap(), None).unwrap();
        let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
        asked.answer(&parse(query).unwrap(), options).unwrap()
    }
}

fn line(id: u32, role: &str, content: &str) -> String {
    format!(
        r#"{{"parentUuid":{},"isSidechain":false,"sessionId":"s1","type":"{role}","message":{{"id":"m{id}","role":"{role}","content":{content},"usage":{{"input_tokens":10,"cache_read_input_tokens":30,"output_tokens":2}}}},"uuid":"u{id}","timestamp":"2026-03-10T09:00:0{id}.000Z"}}"#,
        if id == 1 { "null".to_owned() } else { format!("\"u{}\"", id - 1) }
    )
}

fn folder(contents: &[(&str, &str)]) -> Folder {
    let lines: Vec<String> =
        (1u32..).zip(contents).map(|(id, (role, content))| line(id, role, content)).collect();
    Folder::new(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_record_broken_by_a_raw_line_feed_is_quoted_from_its_own_bytes() {
    let own = folder(&[
        ("user", "\"hello\""),
        ("assistant", "[{\"type\":\"text\",\"text\":\"the path:\n/pub/a.tar.gz\"}]"),
        ("user", "\"thanks\""),
    ]);
    let answer = own.ask("list said path");
    assert_eq!(answer.verdict, Verdict::Supported);
    let citation = &answer.citations[0];
    assert_eq!((citation.record, citation.quote.as_str()), (Some(2), "the path:\n/pub/a.tar.gz"));
    let bytes = std::fs::read(own.path()).unwrap();
    let (start, end) = citation.bytes;
    let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
    assert_eq!(&bytes[range], b"the path:\n/pub/a.tar.gz");
    assert_eq!(own.ask("ever calls").verdict, Verdict::Absent);
    assert_eq!(own.ask("count said").answer.as_deref(), Some("3"));
}

#[test]
fn values_of_parallel_calls_that_disagree_are_conflicting() {
    let call = |id: &str, file: &str| {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"cat {file}"}}}}"#)
    };
    let calls = format!("[{},{}]", call("t1", "a.conf"), call("t2", "b.conf"));
    let result =
        |id: &str, text: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}"#);
    let results = format!("[{},{}]", result("t1", "port = 1"), result("t2", "port = 2"));
    let own = folder(&[("user", "\"look\""), ("assistant", &calls), ("user", &results)]);
    let answer = own.ask("value values port");
    assert_eq!(answer.verdict, Verdict::Conflicting, "{:?}", answer.answer);
    assert_eq!(answer.citations.len(), 4, "both calls with their results");
}

#[test]
fn tokens_are_summed_over_requests_and_told_of_one_with_at() {
    let own = folder(&[("user", "\"a\""), ("assistant", "\"b\""), ("user", "\"c\""), ("assistant", "\"d\"")]);
    let told = |query: &str| own.ask(query).answer.unwrap();
    assert!(told("value usage output").starts_with("4, over 2 requests"));
    assert_eq!(told("value usage output at:end"), "2");
    assert_eq!(told("value usage cached at:L2"), "30");
    assert_eq!(told("value usage input at:end"), "10");
    assert_eq!(told("value usage at:end"), "40");
}

#[test]
fn a_stored_output_with_another_hash_is_no_evidence() {
    let hash = Digest::of(b"id,amount\n3,30.00\n").to_string();
    let text = format!(
        "<persisted-output>\\nFull output saved to: tool-results/t1.txt\\nsha256: {hash}\\n</persisted-output>"
    );
    let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t1","content":"{text}"}}]"#);
    let call = r#"[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cat amounts.csv"}}]"#;
    let own = folder(&[("user", "\"look\""), ("assistant", call), ("user", &result)]);
    own.write("tool-results/t1.txt", "id,amount\n3,30.00\n");
    own.write("s1/tool-results/t1.txt", "id,amount\n3,30.00\n");
    assert_eq!(own.ask("value values amount row:3").answer.as_deref(), Some("amount (3) = 30.00"));
    own.write("tool-results/t1.txt", "id,amount\n3,99.00\n");
    own.write("s1/tool-results/t1.txt", "id,amount\n3,99.00\n");
    let answer = own.ask("value values amount row:3");
    assert_eq!(answer.verdict, Verdict::Insufficient);
    assert!(answer.answer.unwrap().contains(&hash));
}

#[test]
fn a_placeholder_is_no_result() {
    let call = r#"[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cat notes"}}]"#;
    let result =
        r#"[{"type":"tool_result","tool_use_id":"t1","content":"[Old tool result content cleared]"}]"#;
    let own = folder(&[("user", "\"look\""), ("assistant", call), ("user", result)]);
    for query in ["list results arg:notes", "ever results zebra", "ever results cleared"] {
        let answer = own.ask(query);
        assert_eq!(answer.verdict, Verdict::Insufficient, "{query}: {answer:?}");
    }
    assert_eq!(own.ask("count calls arg:notes").answer.as_deref(), Some("1"));
}

#[test]
fn a_mark_of_the_harness_hides_nothing() {
    let mark = r#"[{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}]"#;
    let own = folder(&[("user", "\"look\""), ("assistant", mark), ("assistant", "\"done\"")]);
    assert_eq!(own.ask("ever calls cmd:git").verdict, Verdict::Absent);
    let unknown = r#"[{"type":"hologram","text":"git push"}]"#;
    let own = folder(&[("user", "\"look\""), ("assistant", unknown)]);
    assert_eq!(own.ask("ever calls cmd:git").verdict, Verdict::Insufficient);
}

#[test]
fn a_child_that_speaks_only_in_progress_lines_is_missing() {
    let mut lines = vec![line(1, "user", "\"look\""), line(2, "assistant", "\"ok\"")];
    let own = Folder::new(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(own.ask("ever calls cmd:git").verdict, Verdict::Absent);
    lines.push(r#"{"parentUuid":"u2","sessionId":"s1","type":"progress","data":{"type":"agent_progress","agentId":"a1b2","message":{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"git push"}}]}}},"uuid":"u3","timestamp":"2026-03-10T09:00:03.000Z"}"#.to_owned());
    let own = Folder::new(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let answer = own.ask("ever calls cmd:git");
    assert_eq!(answer.verdict, Verdict::Insufficient);
    assert!(answer.answer.unwrap().contains("missing child transcript"));
}

#[test]
fn an_absence_names_the_root_of_every_source() {
    let own = folder(&[("user", "\"hello\"")]);
    let certificate = own.ask("ever changes deleted").certificate.unwrap();
    assert_eq!(certificate.reading, "ever changes deleted");
    assert_eq!(certificate.holes, 0);
    assert!(certificate.assumptions.iter().any(|own| own.starts_with("A3")));
    let first = certificate.sources[0].root.clone().unwrap();
    let other = folder(&[("user", "\"hullo\"")]).ask("ever changes deleted").certificate.unwrap();
    assert_eq!(first.len(), 64);
    assert!(other.sources[0].root.as_ref() != Some(&first) && other.digest != certificate.digest);
}

#[test]
fn what_a_fork_copies_is_told_once() {
    let said = [("user", "\"first words\""), ("user", "\"second words\"")];
    let fork = [said.as_slice(), &[("user", "\"third words\"")]].concat();
    let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
    // An id that is nobody else's, and one that another session may have given too.
    for (prefix, counted) in [("00000000-0000-4000-8000-00000000000", "3"), ("u", "5")] {
        let renamed = |line: String| {
            (1..4).fold(line, |line, id| line.replace(&format!("\"u{id}\""), &format!("\"{prefix}{id}\"")))
        };
        let mut both = Asked::default();
        for (contents, own) in [(said.as_slice(), "2"), (&fork, "3")] {
            let lines: Vec<String> = (1u32..)
                .zip(contents)
                .map(|(id, (role, content))| renamed(line(id, role, content)))
                .collect();
            let folder = Folder::new(&lines.iter().map(String::as_str).collect::<Vec<_>>());
            let mut asked = Asked::default();
            asked.add(SessionFiles::open(&folder.path(), None).unwrap(), None).unwrap();
            let count = |asked: &Asked| {
                let answer = asked.answer(&parse("count said words").unwrap(), options).unwrap();
                answer.answer.unwrap()
            };
            assert_eq!(count(&asked), own);
            both.join(&asked);
            if own == "3" {
                assert_eq!(count(&both), counted, "{prefix}");
            }
        }
    }
}

#[test]
fn messages_of_a_body_are_numbered_and_its_other_fields_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("body.json");
    let result = |id: &str, text: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"bench"}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}}"#
        )
    };
    let body = format!(
        r#"{{"model":"m","max_tokens":9,"system":"s","messages":[{{"role":"user","content":"go"}},{},{}]}}"#,
        result("t1", "p95_ms: 41"),
        result("t2", "p95_ms: 52")
    );
    std::fs::write(&path, body).unwrap();
    let mut asked = Asked::default();
    asked.add(SessionFiles::open(&path, None).unwrap(), None).unwrap();
    let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
    let ask = |query: &str| asked.answer(&parse(query).unwrap(), options).unwrap();
    for (query, value) in [
        ("value values p95_ms at:L3", "41"),
        ("value values p95_ms from:L3 to:L3", "41"),
        ("value values p95_ms at:L5", "52"),
        ("value values p95_ms from:L4", "52"),
    ] {
        let answer = ask(query);
        assert_eq!(answer.values.last().map(|own| own.value.as_str()), Some(value), "{query}: {answer:?}");
    }
    assert_eq!(ask("value values p95_ms at:L2").verdict, Verdict::Insufficient);
}

/// A rollout of Codex: calls with long outputs, then a patch whose end was told to the screen as well.
fn rollout() -> String {
    let item = |kind: &str, payload: serde_json::Value| {
        serde_json::json!({ "timestamp": "2026-03-10T09:00:00.000Z", "type": kind, "payload": payload })
            .to_string()
    };
    let mut lines = vec![item("session_meta", serde_json::json!({ "id": "s1", "cwd": "/p" }))];
    for n in 0..40 {
        let arguments = serde_json::json!({ "cmd": format!("cat part{n}.txt") }).to_string();
        let call = serde_json::json!({ "type": "function_call", "call_id": format!("c{n}"), "name": "exec_command", "arguments": arguments });
        let output = format!("Exit code: 0\nOutput:\n{}", format!("line of part {n}\n").repeat(120));
        let result = serde_json::json!({ "type": "function_call_output", "call_id": format!("c{n}"), "output": output });
        lines.extend([item("response_item", call), item("response_item", result)]);
    }
    let patch = "*** Begin Patch\n*** Update File: a.rs\n*** End Patch";
    lines.extend([
        item(
            "response_item",
            serde_json::json!({ "type": "custom_tool_call", "call_id": "p1", "name": "apply_patch", "input": patch }),
        ),
        item("event_msg", serde_json::json!({ "type": "patch_apply_end", "call_id": "p1", "success": true })),
        item(
            "response_item",
            serde_json::json!({ "type": "custom_tool_call_output", "call_id": "p1", "output": "Exit code: 0\nOutput:\nok" }),
        ),
    ]);
    lines.join("\n") + "\n"
}

#[test]
fn a_kept_call_that_lost_its_side_data_is_counted_once() {
    let (dir, folder, text) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), rollout());
    let archive = Archive::open(dir.path(), strongroom_archive::Mode::CreateIfMissing).unwrap();
    let session = SessionFiles::of(
        Transcript::from_bytes("s.jsonl", text.clone().into_bytes(), Some("codex")).unwrap(),
    );
    let policy = crate::policy::Policy::default();
    let options = crate::compact::Options {
        budget: crate::tokens::Budget::PerMille(300),
        policy: &policy,
        now: strongroom_core::time::Timestamp::from_ms(1_800_000_000_000),
        secrets: crate::compact::Secrets::Keep,
        unmet: crate::compact::Unmet::BestEffort,
        purpose: crate::compact::Purpose::File,
        summariser: None,
    };
    let outcome = crate::compact::compact(&session, Some(&archive), &options, &mut |_| {}).unwrap();
    let crate::compact::Outcome::Compacted(compacted, _) = outcome else { panic!("nothing was compacted") };
    // What goes on under an id of its own holds none of the lines before.
    let (head, appended) = (text.lines().next().unwrap(), &compacted.bytes()[text.len()..]);
    let context = [head.as_bytes(), b"\n", appended].concat();
    let path = folder.path().join("s.jsonl");
    assert!(String::from_utf8_lossy(&context).contains("Begin Patch"), "the patch is to be kept");
    std::fs::write(&path, context).unwrap();
    let mut asked = Asked::default();
    asked.add(SessionFiles::open(&path, Some("codex")).unwrap(), Some(&archive)).unwrap();
    let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: archive.fingerprint_key() };
    for (query, count) in [("count calls tool:apply_patch", "1"), ("count calls", "41")] {
        let answer = asked.answer(&parse(query).unwrap(), options).unwrap();
        assert_eq!((answer.verdict, answer.answer.as_deref()), (Verdict::Supported, Some(count)), "{query}");
    }
}
