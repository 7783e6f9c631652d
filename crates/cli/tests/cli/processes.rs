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
