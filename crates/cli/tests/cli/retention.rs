//! The end of retention as it is seen from outside: planned, refused, done, and told afterwards.

use serde_json::Value;

use crate::home::{Home, claude_session};

/// Everything ends at once, and compaction is content with that.
const AT_ONCE: &str = "horizon = \"0s\"\nretention = \"0s\"\ngrace = \"0s\"\n";

fn home(policy: &str) -> Home {
    let home = Home::new();
    home.write("policy.toml", policy);
    home.write("s.jsonl", claude_session(8, 1_500));
    home
}

fn gc(home: &Home, args: &[&str]) -> crate::home::Run {
    home.run(&[&["--json", "--policy", "policy.toml", "gc"], args].concat())
}

fn deleted(run: &Value) -> u64 {
    run["deleted"]["pieces"].as_u64().unwrap()
}

const ACT: [&str; 2] = ["--act", "--i-may-delete"];

#[test]
fn what_has_ended_is_deleted_and_told() {
    let home = home(AT_ONCE);
    home.run(&["--policy", "policy.toml", "compact", "s.jsonl", "--budget", "40%"]).ends(0);
    let text = std::fs::read_to_string(home.path("s.compacted.jsonl")).unwrap();
    let pointer = home.pointer_in("s.compacted.jsonl") + "#1";
    home.run(&["show", &pointer]).ends(0);
    let outlook = home.run(&["--json", "retention"]).json(0);
    assert_eq!(outlook["summaries"][0]["gone"], 0);
    assert!(outlook["summaries"][0]["unprovable_from"].is_string(), "{outlook}");
    let plan = gc(&home, &[]).json(0);
    assert!(plan["expired"]["pieces"].as_u64() > Some(0) && plan["deleted"].is_null(), "{plan}");
    let refused = gc(&home, &["--act"]).ends(1);
    assert!(refused.stderr.contains("--i-may-delete"), "{refused:?}");
    assert_eq!(gc(&home, &[]).json(0)["expired"], plan["expired"], "a plan and a refusal change nothing");
    assert_eq!(deleted(&gc(&home, &ACT).json(0)), plan["expired"]["pieces"].as_u64().unwrap());
    let shown = home.run(&["show", &pointer]).ends(3);
    assert!(
        shown.stderr.contains("expired: deleted on 20") && shown.stderr.contains("(kept until 20"),
        "{shown:?}"
    );
    // Only the compacted part is left to ask.
    let only = text.lines().skip_while(|line| !line.contains("sr1:")).collect::<Vec<_>>().join("\n");
    home.write("left.jsonl", only);
    let answer = home.run(&["--json", "ask", "ever calls cmd:rm", "--in", "left.jsonl"]);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["verdict"], "insufficient", "{answer}");
    assert!(answer.to_string().contains("expired: deleted on 20"), "{answer}");
    assert_eq!(home.run(&["--json", "retention"]).json(0)["summaries"][0]["unprovable_from"], Value::Null);
    home.run(&["verify", "--read-data"]).ends(0);
    // The file is still there: importing takes it in again.
    home.run(&["import", "s.jsonl", "--recheck"]).ends(0);
    home.run(&["show", &pointer]).ends(0);
    home.run(&["verify", "--read-data"]).ends(0);
}

#[test]
fn what_is_held_stays_until_the_hold_goes() {
    let policy =
        AT_ONCE.to_owned() + "may-delete = true\n[[hold]]\nreason = \"audit\"\nsource = \"**/kept.jsonl\"\n";
    let home = home(&policy);
    home.write("kept.jsonl", claude_session(3, 700));
    home.run(&["--policy", "policy.toml", "import", "s.jsonl", "kept.jsonl"]).ends(0);
    let hold = ["retention", "s.jsonl", "--hold", "legal", "--reason", "order 17"];
    assert!(home.run(&hold).ends(0).stdout.contains("held: legal: order 17"));
    assert_eq!(deleted(&gc(&home, &["--act"]).json(0)), 0);
    assert!(home.run(&["retention", "s.jsonl", "--release"]).ends(1).stderr.contains("order 17"));
    home.run(&["retention", "s.jsonl", "--release", "--i-may-release"]).ends(0);
    home.run(&["retention", "s.jsonl", "--release"]).ends(2);
    home.run(&["retention", "s.jsonl", "--extend", "1d"]).ends(0);
    assert_eq!(deleted(&gc(&home, &["--act"]).json(0)), 0, "kept a day longer");
    home.run(&["export", "kept.jsonl"]).ends(0);
    home.write("policy.toml", AT_ONCE);
    assert!(deleted(&gc(&home, &ACT).json(0)) > 0, "the policy holds it no longer");
    let gone = home.run(&["export", "kept.jsonl"]).ends(3);
    assert!(gone.stderr.contains("expired: deleted on"), "{gone:?}");
    home.run(&["export", "s.jsonl"]).ends(0);
    home.run(&["verify", "--read-data"]).ends(0);
}

#[test]
fn a_clock_that_jumped_deletes_nothing_until_somebody_names_the_day() {
    for (sql, words) in [
        ("UPDATE revision SET at_ms = at_ms + 3600000", "before the last act"),
        ("UPDATE revision SET at_ms = at_ms - 3456000000", "long behind the last act"),
    ] {
        let home = home(AT_ONCE);
        home.run(&["--policy", "policy.toml", "import", "s.jsonl"]).ends(0);
        assert!(home.tamper(sql) > 0);
        assert!(gc(&home, &ACT).ends(1).stderr.contains(words), "{sql}");
        let other = gc(&home, &[&ACT[..], &["--today", "2001-01-01"]].concat());
        assert!(other.ends(1).stderr.contains("nothing was deleted"));
        home.run(&["export", "s.jsonl"]).ends(0);
        let today = strongroom_day();
        assert!(deleted(&gc(&home, &[&ACT[..], &["--today", &today]].concat()).json(0)) > 0);
    }
}

/// Today as the system has it.
fn strongroom_day() -> String {
    let output = std::process::Command::new("date").args(["-u", "+%F"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn nothing_goes_while_a_compaction_runs() {
    let home = home(AT_ONCE);
    home.run(&["--policy", "policy.toml", "import", "s.jsonl"]).ends(0);
    home.write("t.jsonl", claude_session(9, 1_600));
    let paused =
        home.pause_at("bound", &["--policy", "policy.toml", "compact", "t.jsonl", "--budget", "40%"]);
    let busy = gc(&home, &ACT).ends(3);
    assert!(
        busy.stderr.contains("running compaction") && busy.stderr.contains("nothing was deleted"),
        "{busy:?}"
    );
    paused.resume().ends(0);
    assert!(deleted(&gc(&home, &ACT).json(0)) > 0);
    home.run(&["verify", "--read-data"]).ends(0);
}

#[test]
fn importing_from_where_an_agent_deletes_says_so() {
    let home = home("");
    assert!(!home.run(&["import", "s.jsonl"]).ends(0).stderr.contains("deletes"));
    home.write(".claude/projects/p/s.jsonl", claude_session(1, 100));
    assert!(home.run(&["import", ".claude/projects"]).ends(0).stderr.contains("after 30 days"));
    home.write(".claude/settings.json", "{ \"cleanupPeriodDays\": 7 }");
    assert!(home.run(&["import", ".claude/projects/p/s.jsonl"]).ends(0).stderr.contains("after 7 days"));
}

#[test]
fn a_rule_keeps_what_a_class_asks_for() {
    let rules = "[[retention-rule]]\nproject = \"/srv/ws/*\"\nkeep = \"0s\"\n";
    let class = "[[retention-rule]]\nclass = \"side-effecting\"\nkeep = \"90d\"\n";
    let home = home(&("grace = \"0s\"\n".to_owned() + rules + class));
    let mut session = crate::home::ClaudeSession::default();
    session.user("Push it.");
    session.call("Bash", &serde_json::json!({ "command": "git push origin main" }), "To host:app.git");
    home.write("pushed.jsonl", session.text);
    home.run(&["--policy", "policy.toml", "import", "s.jsonl", "pushed.jsonl"]).ends(0);
    assert!(deleted(&gc(&home, &ACT).json(0)) > 0, "a session that only reads goes");
    home.run(&["export", "s.jsonl"]).ends(3);
    home.run(&["export", "pushed.jsonl"]).ends(0);
    let other = home.path("elsewhere.jsonl");
    let moved = std::fs::read_to_string(home.path("s.jsonl")).unwrap().replace("/srv/ws/app", "/srv/other");
    std::fs::write(&other, moved).unwrap();
    home.run(&["--policy", "policy.toml", "import", "elsewhere.jsonl"]).ends(0);
    assert_eq!(deleted(&gc(&home, &ACT).json(0)), 0, "the rule is for another project");
}

#[test]
fn files_that_vanished_elsewhere_are_named() {
    let home = home("");
    home.run(&["import", "s.jsonl"]).ends(0);
    assert!(home.run(&["verify", "--sources"]).ends(0).stdout.contains("1 files were imported; 0 are gone"));
    std::fs::remove_file(home.path("s.jsonl")).unwrap();
    let run = home.run(&["--json", "verify", "--sources"]).json(0);
    assert_eq!(run["sources"][0]["file"], "gone");
    home.run(&["export", home.path("s.jsonl").to_str().unwrap()]).ends(0);
}
