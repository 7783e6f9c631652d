//! A process killed at any step leaves the old output, or one whose every summary is bound.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::home::{Home, claude_session};

const STEPS: [&str; 9] =
    ["stored", "all-stored", "read-back", "judged", "checked", "bound", "spliced", "written", "renamed"];

#[test]
fn killed_at_any_step() {
    for step in STEPS {
        let home = Home::new();
        let file = home.write("s.jsonl", claude_session(12, 8_000));
        let output = home.write("out.jsonl", "old\n");
        let args = ["compact", file.to_str().unwrap(), "--budget", "20%", "--out", output.to_str().unwrap()];
        home.pause_at(step, &args).kill();
        let left = std::fs::read_to_string(&output).unwrap();
        if step == "renamed" {
            let pointer =
                left.split("sr1:").nth(1).map(|rest| format!("sr1:{}", rest.split_at(32).0)).unwrap();
            home.run(&["show", &pointer]).ends(0);
            let all = home.run(&["--json", "show", &pointer]).json(0);
            for span in all["spans"].as_array().unwrap() {
                home.run(&["show", &format!("{pointer}#{}", span["span"])]).ends(0);
            }
        } else {
            assert_eq!(left, "old\n", "killed at {step}");
        }
        // Whatever was interrupted, the archive is whole and the same run succeeds.
        home.run(&["verify", "--read-data"]).ends(0);
        home.run(&args).ends(0);
    }
}

/// How often each command is killed.
const KILLS: u32 = 3;

/// A home with a policy under which everything has ended at once and may be deleted.
fn expired_home() -> Home {
    let home = Home::new();
    home.write("policy.toml", "horizon = \"0s\"\nretention = \"0s\"\ngrace = \"0s\"\n");
    home.write("s.jsonl", claude_session(8, 2_000));
    home
}

/// How long `args` takes when nobody kills it.
fn time_of(home: &Home, args: &[&str]) -> Duration {
    let start = Instant::now();
    home.run(args).ends(0);
    start.elapsed()
}

/// Kills `args` after `time`, unless it has ended.
fn kill_after(home: &Home, args: &[&str], time: Duration) {
    let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills a command at moments spread over its run, each time in a home that `before` commands made; `after` holds each
/// time, and so does the archive.
fn kill_at_moments(before: &[&[&str]], args: &[&str], after: impl Fn(&Home)) {
    let prepared = || {
        let home = expired_home();
        before.iter().for_each(|args| drop(home.run(args).ends(0)));
        home
    };
    let whole = time_of(&prepared(), args);
    for kill in 0..KILLS {
        let home = prepared();
        kill_after(&home, args, whole * (2 * kill + 1) / (2 * KILLS));
        if home.archive().join("strongroom.db").exists() {
            home.run(&["verify", "--read-data"]).ends(0);
        }
        after(&home);
    }
}

const POLICY: [&str; 2] = ["--policy", "policy.toml"];

#[test]
fn an_import_killed_at_any_moment_can_be_done_again() {
    kill_at_moments(&[], &["import", "s.jsonl"], |home| {
        home.run(&["import", "s.jsonl"]).ends(0);
        home.run(&["export", "s.jsonl", "--out", "back"]).ends(0);
        assert_eq!(std::fs::read(home.path("back")).unwrap(), std::fs::read(home.path("s.jsonl")).unwrap());
    });
}

#[test]
fn a_compaction_killed_at_any_moment_leaves_no_loose_summary() {
    let args = ["compact", "s.jsonl", "--budget", "20%", "--out", "out.jsonl"];
    kill_at_moments(&[], &args, |home| {
        if home.path("out.jsonl").exists() {
            let pointer = home.pointer_in("out.jsonl");
            home.run(&["show", &pointer]).ends(0);
        }
        home.run(&args).ends(0);
    });
}

#[test]
fn a_deletion_killed_at_any_moment_is_told_or_has_not_been() {
    let import = [&POLICY[..], &["import", "s.jsonl"]].concat();
    let gc = [&POLICY[..], &["gc", "--act", "--i-may-delete"]].concat();
    kill_at_moments(&[&import], &gc, |home| {
        home.run(&gc).ends(0);
        let export = home.run(&["export", "s.jsonl", "--out", "back"]);
        assert!(export.stderr.contains("expired: deleted on 20"), "{export:?}");
        home.run(&["verify", "--read-data"]).ends(0);
    });
}
