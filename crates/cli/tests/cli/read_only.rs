//! Formats that are never written back: a compaction says so, everything else works.

use crate::home::Home;

/// Examples, a question of each, and what must stand in the citations of a yes.
const ASKED: [(&str, &str, &str); 3] = [
    ("swe-agent.traj", "ever changes deleted /tmp/tests.log", "/tmp/tests.log"),
    ("copilot-cli.jsonl", "ever changes deleted /home/ida/lamp/out.log", "/home/ida/lamp/out.log"),
    ("aider.txt", "ever said by:user \"leave lamp/legacy.py alone\"", "leave lamp/legacy.py alone"),
];

#[test]
fn a_compaction_is_refused_with_its_reason_and_questions_are_answered() {
    let home = Home::new();
    for (name, question, cited) in ASKED {
        let file = home.path(name);
        let example =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/read-only").join(name);
        std::fs::copy(example, &file).unwrap();
        let file = file.to_str().unwrap();
        let refused = home.run(&["compact", file, "--budget", "10%", "--best-effort"]).ends(1);
        assert!(refused.stderr.contains(" is read-only, because "), "{refused:?}");
        home.run(&["import", file]).ends(0);
        home.run(&["explain", file]).ends(0);
        home.run(&["ledger", file]).ends(0);
        let answer = home.run(&["--json", "ask", question, "--in", file]).json(0);
        assert_eq!(answer["verdict"], "supported", "{answer}");
        assert!(answer["citations"].to_string().contains(cited), "{answer}");
        home.run(&["export", file, "--out", "back"]).ends(0);
        assert_eq!(std::fs::read(home.path("back")).unwrap(), std::fs::read(file).unwrap());
        std::fs::remove_file(home.path("back")).unwrap();
    }
}
