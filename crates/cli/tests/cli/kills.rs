//! A process killed at any step leaves the old output, or one whose every summary is bound.

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
