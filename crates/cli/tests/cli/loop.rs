//! The agent's loop, played: lines are appended, hooks fire in their order, the agent compacts, and what its summary
//! dropped is there again.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::home::{Agent, ClaudeSession, Home};

/// A transcript that grows as an agent works, and its hooks.
struct Play<'h> {
    agent: Agent<'h>,
    session: ClaudeSession,
}

impl<'h> Play<'h> {
    fn new(home: &'h Home) -> Self {
        let file = home.write("project/s.jsonl", "");
        Self { agent: Agent::new(home, &file), session: ClaudeSession::default() }
    }

    fn write(&self) {
        std::fs::write(&self.agent.transcript, &self.session.text).unwrap();
    }

    /// The user writes, the agent works and stops; returns what the model was told about the prompt.
    fn turn(&mut self, prompt: &str, work: impl FnOnce(&mut ClaudeSession)) -> String {
        let told = self.agent.hook("UserPromptSubmit", &json!({ "prompt": prompt })).ends(0).stdout;
        self.session.user(prompt);
        self.write();
        work(&mut self.session);
        self.write();
        let stop = self.agent.hook("Stop", &json!({ "stop_hook_active": false })).ends(0);
        assert_eq!(stop.stdout, "", "a turn ends without a word");
        told
    }

    /// The model asks about its past; `tests/agents/played.py` has the server asked in this place.
    fn asks(&self, question: &str) -> Value {
        let transcript = self.agent.transcript.to_str().unwrap();
        let run = self.agent.home.run(&["--json", "ask", question, "--in", transcript]);
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    }

    /// The agent replaces its context by `summary`; returns the card.
    fn compact(&mut self, summary: &str) -> String {
        assert_eq!(self.agent.before_compaction().ends(0).stdout, "");
        self.session.compacted(summary);
        self.write();
        let card = self.agent.card("compact");
        let payload = json!({ "trigger": "auto", "compact_summary": summary });
        assert_eq!(self.agent.hook("PostCompact", &payload).ends(0).stdout, "");
        card
    }
}

#[test]
fn a_constraint_that_the_summary_dropped_is_on_the_card() {
    let home = Home::new();
    let mut play = Play::new(&home);
    assert_eq!(play.agent.hook("SessionStart", &json!({ "source": "startup" })).ends(0).stdout, "");
    play.turn("Speed up the import. Never touch anything under vendor/.", |session| {
        session.say("I look at the importer.");
        let body = "fn import() {}\n".repeat(40);
        session.call("Read", &json!({ "file_path": "/srv/ws/app/src/import.rs" }), &body);
    });
    play.turn("Good. Publish the branch when the tests pass.", |session| {
        session.call("Bash", &json!({ "command": "cargo test" }), "test result: FAILED. 1 failed\n\nExit code 101");
        session.call(
            "Edit",
            &json!({ "file_path": "/srv/ws/app/src/import.rs", "old_string": "{}", "new_string": "{ fast() }" }),
            "The file /srv/ws/app/src/import.rs has been updated.",
        );
        session.call("Bash", &json!({ "command": "cargo test" }), "test result: ok. 12 passed; 0 failed");
        session.call(
            "Bash",
            &json!({ "command": "git push origin speed" }),
            "To github.com:dana/app.git\n * [new branch] speed -> speed",
        );
        session.say("The branch is published.");
    });
    let card = play.compact("Summary: the importer was made faster and the work was finished.");
    assert!(card.contains("\"Never touch anything under vendor/.\" (L1)"), "{card}");
    assert!(card.contains("vcs.remote") && card.contains("reported-ok"), "{card}");
    assert!(card.contains("with 1 compaction by the agent"), "{card}");

    let told = play.turn("did we push anything?", |session| session.say("Yes, the branch speed."));
    assert!(told.contains("supported: yes"), "{told}");
    assert_eq!(play.asks("did we push anything?")["verdict"], "supported");
    assert_eq!(play.asks("did we send any email?")["verdict"], "absent");
    let card = play.compact("Summary: nothing of note.");
    assert!(
        card.contains("\"Never touch anything under vendor/.\" (L1)"),
        "the second time as the first\n{card}"
    );
    assert!(card.contains("with 2 compactions by the agent"), "{card}");

    assert_eq!(play.agent.hook("SessionEnd", &json!({ "reason": "prompt_input_exit" })).ends(0).stdout, "");
    let kept = home.run(&["export", play.agent.transcript.to_str().unwrap()]).ends(0);
    assert_eq!(kept.stdout, play.session.text, "every byte is in custody");
    std::fs::remove_file(&play.agent.transcript).unwrap();
    let rules = play.asks("rules about:vendor");
    assert_eq!(rules["verdict"], "supported", "also when the agent has deleted its transcript");
    home.run(&["verify", "--read-data"]).ends(0);
}

/// The smallest shared transcript with a compaction by its agent, and the line of its boundary.
fn shared() -> Option<(PathBuf, usize)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/transcripts"));
    let table = std::fs::read_to_string(folder.join("COMPACTIONS.tsv")).ok()?;
    let rows = table.lines().skip(1).filter_map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        let path = folder.join(cells.get(2)?);
        let size = std::fs::metadata(&path).ok()?.len();
        let own = cells.first() == Some(&"claude-code") && cells.get(1) == Some(&"compact_boundary");
        own.then_some((size, path, cells.get(3)?.parse::<usize>().ok()?))
    });
    rows.min().map(|(_, path, line)| (path, line))
}

#[test]
fn a_real_session_is_played() {
    let Some((from, boundary)) = shared() else {
        println!("SKIPPED: no shared transcripts");
        return;
    };
    let bytes = std::fs::read(from).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let home = Home::new();
    let file = home.write("real/s.jsonl", "");
    let agent = Agent::new(&home, &file);
    let quarter = (boundary - 1) / 4;
    for end in [quarter, 2 * quarter, boundary - 1] {
        std::fs::write(&file, lines[..end].concat()).unwrap();
        assert_eq!(agent.hook("Stop", &json!({})).ends(0).stdout, "");
    }
    assert_eq!(agent.before_compaction().ends(0).stdout, "");
    std::fs::write(&file, lines[..(boundary + 1).min(lines.len())].concat()).unwrap();
    let card = agent.card("compact");
    assert!(card.starts_with("Strongroom (recorded data"), "{card}");
    let rules =
        home.run(&["--json", "ask", "list rules by:user state:in-force", "--in", file.to_str().unwrap()]);
    let rules: Value = serde_json::from_str(&rules.stdout).unwrap();
    if let Some(first) = rules["values"].as_array().unwrap().first() {
        let words: String = first["value"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let head: String = words.chars().take(60).collect();
        assert!(card.contains(&head), "{head} is missing in\n{card}");
    }
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(agent.hook("SessionEnd", &json!({ "reason": "other" })).ends(0).stdout, "");
    let kept = home.command(&["export", file.to_str().unwrap()]).output().unwrap();
    assert!(kept.stdout == bytes, "every byte is in custody");
}
