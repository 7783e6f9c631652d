//! Archives that earlier programs made: they open, are intact, answer, and go on.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::home::Home;

/// The key of the encrypted one: 32 times the same byte.
const KEY: &str = "STRONGROOM-KEY-1 BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n";

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A home with the archive `name`, a transcript that was compacted into it, and the words that open it.
fn home(name: &str) -> (Home, &'static [&'static str]) {
    let home = Home::new();
    let packed = std::fs::read(place(name).join("strongroom.db.zst")).unwrap();
    let database = home.write("archive/strongroom.db", zstd::decode_all(packed.as_slice()).unwrap());
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o600)).unwrap();
    home.write("asked.json", std::fs::read(place(name).join("asked.json")).unwrap());
    let key = home.write("golden.key", KEY);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let words: &[&str] = if name.contains("encrypted") { &["--key-file", "golden.key"] } else { &[] };
    (home, words)
}

fn version(home: &Home) -> i64 {
    let database = rusqlite::Connection::open(home.archive().join("strongroom.db")).unwrap();
    database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn archives_of_every_version_open_answer_and_go_on() {
    for (name, number) in [("v1", 1), ("v2", 2), ("v2-encrypted", 2), ("v3", 3)] {
        let (home, words) = home(name);
        let run = |more: &[&str]| home.run(&[words, more].concat());
        assert_eq!(version(&home), number);
        let checked = run(&["verify", "--read-data"]).ends(0);
        assert!(checked.stdout.contains("no damage found"), "{name}: {checked:?}");
        let answer =
            run(&["--json", "ask", "did we ever modify system config?", "--in", "asked.json"]).json(0);
        assert_eq!(answer["verdict"], "supported", "{name}: {answer}");
        assert!(answer.to_string().contains("/etc/app/conf.yaml"), "{name}: {answer}");
        let span = home.pointer_in("asked.json") + "#3";
        assert!(run(&["show", &span]).ends(0).stdout.contains("wrote 47 bytes"), "{name}");
        assert!(run(&["retention"]).ends(0).stdout.contains("legal: order 17"), "{name}");
        home.write("more.jsonl", crate::home::claude_session(2, 300));
        run(&["import", "more.jsonl"]).ends(0);
        assert_eq!(version(&home), number, "what older programs read they read on");
        run(&["verify", "--read-data"]).ends(0);
    }
}

#[test]
fn a_newer_version_is_refused_and_left_alone() {
    let (home, _) = home("v2");
    home.tamper("PRAGMA user_version = 4");
    let before = std::fs::read(home.archive().join("strongroom.db")).unwrap();
    let refused = home.run(&["sessions"]).ends(3);
    assert!(refused.stderr.contains("format version 4, this program knows 3"), "{refused:?}");
    assert_eq!(home.run(&["import", "asked.json"]).code, 3);
    assert_eq!(std::fs::read(home.archive().join("strongroom.db")).unwrap(), before);
}
