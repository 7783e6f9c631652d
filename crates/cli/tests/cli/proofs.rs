//! Checkpoints and bundles, from making a key to the auditor who has Python and nothing of ours.

use std::path::PathBuf;
use std::process::Command;

use crate::home::{Home, Run, claude_session};

pub(crate) const CHECKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/check_bundle.py");

/// A compacted session, a key, and a pointer.
fn compacted() -> (Home, String) {
    let home = Home::new();
    home.write("s.jsonl", claude_session(8, 700));
    home.run(&["compact", "s.jsonl", "--budget", "40%"]).ends(0);
    home.run(&["checkpoint", "--new-key", "ops.key", "--name", "ops", "-o", "first.note"]).ends(0);
    let pointer = home.pointer_in("s.compacted.jsonl");
    (home, pointer)
}

pub(crate) fn python(home: &Home, args: &[&str]) -> Option<Run> {
    let output = Command::new("python3").arg("-B").args(args).current_dir(home.dir.path()).output();
    if output.is_err() {
        println!("SKIPPED: there is no python3");
    }
    Some(Run {
        code: output.as_ref().ok()?.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.as_ref().ok()?.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.as_ref().ok()?.stderr).into_owned(),
    })
}

#[test]
fn keys_are_private_and_stand_outside() {
    use std::os::unix::fs::PermissionsExt as _;
    let (home, pointer) = compacted();
    let mode = |name: &str| std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("ops.key"), mode("ops.key.pub")), (0o600, 0o644));
    let run = home.run(&["checkpoint", "--new-key", "ops.key"]).ends(2);
    assert!(run.stderr.contains("never written over"), "{run:?}");
    let run = home.run(&["checkpoint", "--new-key", "archive/ops.key"]).ends(2);
    assert!(run.stderr.contains("lies in the archive"), "{run:?}");
    std::fs::set_permissions(home.path("ops.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let run = home.run(&["prove", &pointer, "--key", "ops.key", "-o", "b.json"]).ends(2);
    assert!(run.stderr.contains("may be read by others") && !home.path("b.json").exists(), "{run:?}");
}

#[test]
fn a_checkpoint_kept_elsewhere_shows_a_rollback() {
    let (home, _) = compacted();
    let since = |file: &str, key: &str| home.run(&["verify", "--since", file, "--public-key", key]);
    let copy = std::fs::read(home.archive().join("strongroom.db")).unwrap();
    home.write("t.jsonl", claude_session(2, 500));
    home.run(&["import", "t.jsonl"]).ends(0);
    home.run(&["checkpoint", "--key", "ops.key", "-o", "second.note"]).ends(0);
    for note in ["first.note", "second.note"] {
        let run = since(note, "ops.key.pub").ends(0);
        assert!(run.stdout.contains("signed by ops+"), "{run:?}");
    }
    let json = home.run(&["--json", "verify", "--since", "first.note"]).json(0);
    assert_eq!(json["since"]["signed_by"], serde_json::Value::Null, "nobody checked the signature");
    assert!(json["since"]["consistency"].as_array().is_some_and(|proof| !proof.is_empty()), "{json}");
    // The old state is whole, and nothing inside shows that it is old.
    std::fs::write(home.archive().join("strongroom.db"), copy).unwrap();
    home.run(&["verify"]).ends(0);
    let run = since("second.note", "ops.key.pub").ends(3);
    assert!(run.stdout.contains("does not begin with"), "{run:?}");
    home.run(&["checkpoint", "--new-key", "other.key", "--name", "ops"]).ends(0);
    assert!(since("first.note", "other.key.pub").ends(3).stderr.contains("not signed by"));
}

#[test]
fn an_auditor_needs_the_bundle_and_python() {
    let (home, pointer) = compacted();
    home.run(&["prove", &format!("{pointer}#1"), "--key", "ops.key", "-o", "span.json"]).ends(0);
    home.run(&["prove", &pointer, "--key", "ops.key", "-o", "all.json"]).ends(0);
    home.run(&["prove", "s.jsonl", "--key", "ops.key", "-o", "source.json"]).ends(0);
    let ask = |query: &str, out: &str| {
        home.run(&["prove", "--ask", query, "--in", "s.jsonl", "--key", "ops.key", "-o", out]).ends(0);
    };
    ask("list effects kind:fs.read", "read.json");
    ask("ever changes system-config", "absent.json");
    home.run(&["prove", &pointer, "--key", "ops.key"]).ends(2);
    // The archive is gone, and so are the transcripts.
    std::fs::remove_dir_all(home.archive()).unwrap();
    std::fs::remove_file(home.path("s.jsonl")).unwrap();
    for (bundle, expected) in [
        ("span.json", "s.jsonl"),
        ("all.json", "#2"),
        ("source.json", "source"),
        ("read.json", "citation 1"),
        ("absent.json", "answer: absent"),
    ] {
        let own = home.run(&["check", bundle, "--public-key", "ops.key.pub", "--show"]).ends(0);
        assert!(own.stdout.contains(expected), "{bundle}: {own:?}");
        let Some(other) = python(&home, &[CHECKER, bundle, "--public-key", "ops.key.pub", "--show"]) else {
            return;
        };
        assert!(other.ends(0).stdout.contains(expected), "{bundle}");
    }
    let json = home.run(&["--json", "check", "absent.json"]).json(0);
    assert_eq!(json["key_known"], false);
    assert_eq!(json["statements"][0]["answer"]["verdict"], "absent");
    assert_eq!(json["statements"][0]["searched"].as_array().unwrap().len(), 1);
}

/// Flips one bit in so many of a bundle, in one process, and tells what was accepted.
const FLIPS: &str = "
import sys
sys.path.insert(0, sys.argv[1])
import check_bundle as c
text = open(sys.argv[2], 'rb').read()
key = c.read_key(sys.argv[3])
c.Bundle(text.decode(), key)
tried = 0
for bit in range(0, len(text) * 8, len(text) * 8 // 60):
    flipped = bytearray(text)
    flipped[bit // 8] ^= 1 << bit % 8
    try:
        c.Bundle(bytes(flipped).decode(), key)
        print('accepted', bit)
    except (c.Refused, ValueError, TypeError, KeyError, AttributeError):
        tried += 1
print('refused', tried)
";

#[test]
fn both_checkers_refuse_what_was_touched() {
    let (home, pointer) = compacted();
    home.run(&["prove", &format!("{pointer}#1"), "--key", "ops.key", "-o", "b.json"]).ends(0);
    let text = std::fs::read_to_string(home.path("b.json")).unwrap();
    let tools = PathBuf::from(CHECKER).parent().unwrap().to_owned();
    let touched = [
        text.replacen("\"len\":", "\"len\":1", 1),
        text.replacen("#1", "#2", 1),
        text.replacen(":[", ": [", 1),
        text.trim_end().to_owned(),
        text.replacen("{\"checkpoint\"", "{\"checkpoint\":\"\",\"checkpoint\"", 1),
        text.replacen("\"schema\":1", "\"schema\":1.0", 1),
        "[]".to_owned(),
        "[".repeat(100_000),
    ];
    for touched in touched {
        assert_ne!(touched, text);
        home.write("touched.json", touched);
        assert!(home.run(&["check", "touched.json"]).ends(3).stderr.contains("error"));
        let Some(run) = python(&home, &[CHECKER, "touched.json"]) else { return };
        assert!(run.ends(3).stderr.starts_with("refused: "));
    }
    let args = ["-c", FLIPS, tools.to_str().unwrap(), "b.json", "ops.key.pub"];
    let Some(run) = python(&home, &args) else { return };
    let run = run.ends(0);
    let refused = run.stdout.trim().strip_prefix("refused ").unwrap_or_else(|| panic!("{run:?}"));
    assert!(refused.parse::<u32>().unwrap() >= 60, "{run:?}");
}

/// An original of many pieces of which one is damaged: the question that needs it is told so, the others are answered.
#[test]
fn damaged_evidence_answers_nothing_and_hides_nothing_else() {
    let home = Home::new();
    home.write("s.jsonl", claude_session(24, 40_000));
    home.run(&["import", "s.jsonl"]).ends(0);
    std::fs::remove_file(home.path("s.jsonl")).unwrap();
    let ask = |query: &str| -> serde_json::Value {
        serde_json::from_str(&home.run(&["--json", "ask", query, "--all"]).stdout).unwrap()
    };
    let (first, last) = ("list files op:read path:*module_000*", "list files op:read path:*module_023*");
    let before = ask(first);
    assert_eq!(
        (before["verdict"].as_str(), ask(last)["verdict"].as_str()),
        (Some("supported"), Some("supported"))
    );
    assert_eq!(ask("ever calls cmd:rm")["verdict"], "absent");
    let last_piece = "(SELECT piece FROM source_piece ORDER BY seq DESC LIMIT 1)";
    let flip = "CAST(substr(body, 1, 60) || x'00' || substr(body, 62) AS BLOB)";
    assert_eq!(home.tamper(&format!("UPDATE blob SET body = {flip} WHERE id = {last_piece}")), 1);
    assert_eq!(ask(first)["citations"], before["citations"], "what is whole answers as before");
    let absent = ask("ever calls cmd:rm");
    assert_eq!(absent["verdict"], "insufficient", "{absent}");
    let verify = home.run(&["verify", "--read-data"]).ends(3);
    assert!(verify.stdout.contains("1 problems"), "{verify:?}");
    let run =
        home.run(&["prove", home.path("s.jsonl").to_str().unwrap(), "--key", "none.key", "-o", "b.json"]);
    assert!(run.code != 0 && !home.path("b.json").exists());
}
