//! Several processes share one archive.

use std::process::Stdio;

use crate::home::{Home, claude_session};

#[test]
fn eight_writers_and_readers_lose_nothing_and_see_no_lock() {
    let home = Home::new();
    let files: Vec<String> = (0..8)
        .map(|n| {
            let session = claude_session(10 + n, 4_000).replace("aaaa", &format!("aaa{n}"));
            home.write(&format!("s{n}.jsonl"), session).to_str().unwrap().to_owned()
        })
        .collect();
    let mut children = Vec::new();
    for (n, file) in files.iter().enumerate() {
        let out = home.path(&format!("out{n}.jsonl"));
        let compact = ["compact", file, "--budget", "30%", "--out", out.to_str().unwrap()];
        let others: [&[&str]; 3] =
            [&compact, &["import", file], &["ask", "list files op:seen", "--in", file]];
        for args in others {
            children.push(home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        }
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{stderr}");
        assert!(!stderr.contains("lock") && !stderr.contains("busy"), "{stderr}");
    }
    home.run(&["verify", "--read-data"]).ends(0);
    for (n, file) in files.iter().enumerate() {
        home.run(&["export", file, "--out", "back"]).ends(0);
        assert_eq!(std::fs::read(home.path("back")).unwrap(), std::fs::read(file).unwrap());
        let compacted = std::fs::read_to_string(home.path(&format!("out{n}.jsonl"))).unwrap();
        let tag = compacted.split("sr1:").nth(1).map(|rest| rest.split_at(32).0).unwrap();
        home.run(&["show", &format!("sr1:{tag}#1")]).ends(0);
    }
}

/// Everything that writes, reads and deletes at once, on an encrypted archive.
#[test]
fn imports_compactions_checks_and_deletions_at_once_lose_nothing() {
    let home = Home::new();
    home.write("ends.toml", "horizon = \"0s\"\nretention = \"0s\"\ngrace = \"0s\"\nmay-delete = true\n");
    home.write("first.jsonl", claude_session(1, 100));
    home.run(&["import", "first.jsonl"]).ends(0);
    home.run(&["encrypt", "--new-key-file", "ops.key"]).ends(0);
    let key = ["--key-file", "ops.key"];
    for n in 0..3 {
        home.write(&format!("s{n}.jsonl"), claude_session(8 + n, 2_000).replace("aaaa", &format!("aaa{n}")));
        home.write(&format!("t{n}.jsonl"), claude_session(3 + n, 900).replace("aaaa", &format!("bbb{n}")));
    }
    let mut children = Vec::new();
    for n in 0..3 {
        let (kept, lent) = (format!("s{n}.jsonl"), format!("t{n}.jsonl"));
        let all: [&[&str]; 4] = [
            &["compact", &kept, "--budget", "30%"],
            &["--policy", "ends.toml", "import", &lent],
            &["--policy", "ends.toml", "gc", "--act"],
            &["verify", "--read-data"],
        ];
        for words in all {
            let mut command = home.command(&[&key, words].concat());
            children.push((
                words[words.len() - 1].to_owned(),
                command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap(),
            ));
        }
    }
    for (what, child) in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let may_wait =
            what == "--act" && output.status.code() == Some(3) && stderr.contains("nothing was deleted");
        assert!(output.status.code() == Some(0) || may_wait, "{what}: {:?} {stderr}", output.status);
    }
    home.run(&[&key[..], &["--policy", "ends.toml", "gc", "--act"]].concat()).ends(0);
    home.run(&[&key[..], &["verify", "--read-data"]].concat()).ends(0);
    for n in 0..3 {
        let kept = format!("s{n}.jsonl");
        home.run(&[&key[..], &["export", &kept, "--out", "back"]].concat()).ends(0);
        assert_eq!(std::fs::read(home.path("back")).unwrap(), std::fs::read(home.path(&kept)).unwrap());
        let gone = home.run(&[&key[..], &["export", &format!("t{n}.jsonl")]].concat()).ends(3);
        assert!(gone.stderr.contains("expired: deleted on"), "{gone:?}");
    }
}
