//! Bad input gets a clear message; nothing is lost and nothing panics.

use crate::home::{Home, claude_session};

fn line(text: &str) -> String {
    claude_session(1, 200).lines().next().unwrap().replace("Read the modules", text) + "\n"
}

/// Takes `bytes` in, asks a question of them and gets them back byte for byte.
fn survives(bytes: &[u8], code: &str) {
    let home = Home::new();
    let file = home.write("s.jsonl", bytes);
    let file = file.to_str().unwrap();
    let report = home
        .run(&["--json", "compact", file, "--budget", "90%", "--best-effort", "--out", "out.jsonl"])
        .json(0);
    let codes: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    assert!(codes.contains(&code), "{code} is not among {codes:?}");
    home.run(&["import", file]).ends(0);
    home.run(&["export", file, "--out", "back.jsonl"]).ends(0);
    assert_eq!(std::fs::read(home.path("back.jsonl")).unwrap(), bytes, "{code}");
    let asked = home.run(&["ask", "said modules", "--in", file]);
    assert!(asked.code < 2 && !asked.stderr.contains("panicked"), "{asked:?}");
}

#[test]
fn readable_oddities_are_read_with_a_finding() {
    let session = claude_session(2, 400);
    let with = |text: &str| (session.clone() + &line(text)).into_bytes();
    let mut bom = b"\xEF\xBB\xBF".to_vec();
    bom.extend_from_slice(session.as_bytes());
    survives(&bom, "byte-order-mark");
    survives(session.replace('\n', "\r\n").as_bytes(), "crlf");
    survives((session.clone() + line("glued").trim_end() + &line("on")).as_bytes(), "glued-records");
    survives(&with("a lone \\ud83d surrogate in modules"), "lone-surrogate");
    survives(&with("a NUL \\u0000 in modules"), "nul-escape");
    let odd = |value: &str| {
        (session.clone()
            + &line("modules").replace("\"userType\":\"external\"", &format!("\"userType\":{value}")))
            .into_bytes()
    };
    survives(&odd("NaN"), "non-finite-number");
    survives(&odd("123456789012345678901234567890"), "huge-integer");
    survives(&odd("\"external\",\"userType\":\"external\""), "duplicate-key");
}

#[test]
fn unreadable_records_are_kept_as_opaque_blocks_and_named() {
    let session = claude_session(2, 400);
    let (first, rest) = session.split_once('\n').unwrap();
    let middle = |bytes: &[u8]| [first.as_bytes(), b"\n", bytes, b"\n", rest.as_bytes()].concat();
    survives(&middle(b"this is not JSON"), "malformed-record");
    survives(&middle(&[0; 64]), "nul-padding");
    survives(
        &middle(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\xff\xfe\"}}"),
        "invalid-utf8",
    );
    let torn = session.trim_end();
    survives(&torn.as_bytes()[..torn.len() - 40], "torn-record");
}

#[test]
fn unknown_records_and_unpaired_calls_are_kept_and_named() {
    let session = claude_session(2, 400);
    survives(
        (session.clone()
            + "{\"type\":\"hologram\",\"uuid\":\"u-1\",\"sessionId\":\"s\",\"parentUuid\":null}\n")
            .as_bytes(),
        "unknown-record",
    );
    let home = Home::new();
    let lines: Vec<&str> = session.lines().filter(|line| !line.contains("tool_result")).collect();
    let file = home.write("s.jsonl", lines.join("\n"));
    let answer = home.run(&["--json", "ask", "ever results modules", "--in", file.to_str().unwrap()]).json(1);
    assert_eq!(answer["verdict"], "insufficient", "{answer}");
    assert!(answer.to_string().contains("no result"), "{answer}");
}

#[test]
fn what_is_no_transcript_is_refused_by_name() {
    let home = Home::new();
    std::fs::create_dir(home.path("folder")).unwrap();
    home.write("empty.jsonl", "");
    home.write("binary.jsonl", [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0xff, 0xfe]);
    home.write("other.json", "{\"name\": \"a package\", \"version\": 3}");
    home.write("prose.txt", "Dear all,\nthis is a letter.\n");
    for (name, word) in [
        ("folder", "directory"),
        ("empty.jsonl", "empty"),
        ("binary.jsonl", "binary"),
        ("other.json", "other.json"),
        ("prose.txt", "prose.txt"),
        ("missing.jsonl", "does not exist"),
    ] {
        let run = home.run(&["compact", name]).ends(2);
        assert!(run.stderr.contains(word), "{name}: {run:?}");
        assert!(run.stdout.is_empty() && !home.path("compacted").exists());
    }
}

#[test]
fn limits_are_named_and_memory_stays_bounded() {
    let session = claude_session(1, 400);
    let deep = format!("{{\"type\":\"user\",\"x\":{}1{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    survives((session.clone() + &deep).as_bytes(), "record-too-deep");
    let long = format!("{{\"type\":\"user\",\"pad\":\"{}\"}}\n", "x".repeat(40 << 20));
    survives((session.clone() + &long).as_bytes(), "record-too-long");
}

#[test]
fn the_input_is_never_the_output() {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(12, 4_000));
    let before = std::fs::read(&file).unwrap();
    let file = file.to_str().unwrap();
    home.run(&["compact", file, "--out", file]).ends(2);
    assert_eq!(std::fs::read(file).unwrap(), before);
}

#[test]
fn a_policy_that_cannot_be_read_is_refused() {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(2, 400));
    let policy = home.write("policy.toml", "horizon = \"soon\"\n");
    let run = home.run(&["--policy", policy.to_str().unwrap(), "compact", file.to_str().unwrap()]).ends(2);
    assert!(run.stderr.contains("soon") && run.stderr.contains("policy.toml"), "{run:?}");
}

#[test]
fn a_wrong_name_is_usage_and_a_refused_one_is_trouble() {
    let home = Home::new();
    let file = home.write("s.jsonl", claude_session(4, 900));
    let file = file.to_str().unwrap();
    std::fs::create_dir(home.path("folder")).unwrap();
    home.write("plain", "a file");
    home.run(&["import", file]).ends(0);
    for out in ["folder", "missing/out.jsonl", "plain/out.jsonl"] {
        for command in
            [&["compact", file, "--budget", "90%", "--out", out][..], &["export", file, "--out", out]]
        {
            let run = home.run(command).ends(2);
            assert!(run.stderr.contains(out.split('/').next().unwrap()), "{command:?}: {run:?}");
        }
    }
    for dir in ["plain", "plain/below"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_strongroom"));
        command.env_clear().current_dir(home.dir.path()).args(["--dir", dir, "ledger", file]);
        assert_eq!(command.output().unwrap().status.code(), Some(2), "{dir}");
    }
}

/// What a record of an unknown kind says or does is not known, so nothing is denied; one that can do neither hides nothing.
#[test]
fn a_record_of_an_unknown_kind_denies_nothing() {
    let home = Home::new();
    let session = claude_session(2, 400);
    let push = r#"{"type":"newkind","sessionId":"s","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"git push origin main"}}]}"#;
    let file = home.write("speaks.jsonl", session.clone() + push + "\n");
    let asked = |question: &str, file: &std::path::Path| {
        home.run(&["--json", "ask", question, "--in", file.to_str().unwrap()]).json(1)["verdict"].clone()
    };
    for question in
        ["ever calls arg:\"git push origin main\"", "did we ever push anything?", "count calls tool:Task"]
    {
        assert_eq!(asked(question, &file), "insufficient", "{question}");
    }
    let told = home.run(&["compact", file.to_str().unwrap(), "--budget", "90%", "--best-effort"]).ends(0);
    let words = format!("{}{}", told.stdout, told.stderr);
    assert!(words.contains("unknown    1 records or parts, the first in line"), "{words}");
    let claimed =
        home.run(&["--json", "claim", "we never pushed anything", "--in", file.to_str().unwrap()]).json(1);
    assert_ne!(claimed["verdict"], "supported");
    let bare = home.write("bare.jsonl", session + "{\"type\":\"newkind\",\"sessionId\":\"s\",\"cost\":3}\n");
    assert_eq!(asked("ever calls arg:\"git push origin main\"", &bare), "absent");
}

/// A request body that was cut off holds nothing that is sent: it is no session that fits the budget.
#[test]
fn a_body_that_is_cut_off_is_told_to_be_so() {
    let home = Home::new();
    let file = home.write(
        "cut.json",
        br#"{"model":"m","messages":[{"role":"system","content":"x"},{"role":"user","content":"hello wor"#,
    );
    let told = home.run(&["compact", file.to_str().unwrap(), "--out", "out.json"]).ends(2);
    assert!(told.stderr.contains("nothing of") && told.stderr.contains("cut off at byte 92"), "{told:?}");
    assert!(!home.path("out.json").exists());
}
