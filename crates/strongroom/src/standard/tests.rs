//! The table, over homes of our own.

use std::path::{Path, PathBuf};

use super::*;

fn write(root: &Path, name: &str) -> PathBuf {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "{}\n").unwrap();
    path
}

fn home(root: &Path) -> impl Fn(&str) -> Option<PathBuf> {
    let root = root.to_owned();
    move |name: &str| (name == "HOME").then(|| root.clone())
}

#[test]
fn every_row_names_a_format_that_is_read_and_a_form_that_ends_in_a_file() {
    for row in table::ROWS {
        if let Reads::As(format) = row.reads {
            assert!(strongroom_formats::by_name(format).is_some(), "{row:?}");
        }
        assert!(!row.form.ends_with('/') && !row.form.starts_with('/') && !row.from.is_empty(), "{row:?}");
    }
}

#[test]
fn sessions_are_found_where_each_agent_keeps_them() {
    let dir = tempfile::tempdir().unwrap();
    let there = [
        ".claude/projects/-p/s.jsonl",
        ".claude/projects/-p/s/subagents/agent-a.jsonl",
        ".codex/sessions/2026/11/30/rollout-x.jsonl",
        ".gemini/tmp/p/chats/session-1.json",
        ".pi/agent/sessions/--p--/s.jsonl",
        ".openclaw/agents/main/sessions/s.jsonl",
        ".copilot/session-state/s/events.jsonl",
        ".local/share/goose/sessions/20260101_1.jsonl",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
    ];
    let mut expected: Vec<PathBuf> = there.iter().map(|name| write(dir.path(), name)).collect();
    let event = write(dir.path(), ".openhands/conversations/c/events/event-00000-aaaaaaaa-0000.json");
    expected.extend(event.parent().map(std::path::Path::to_owned));
    for beside in [".claude/history.jsonl", ".claude/projects/-p/notes.txt", ".codex/history.jsonl"] {
        write(dir.path(), beside);
    }
    let mut found: Vec<PathBuf> =
        transcripts(&places(&home(dir.path()))).into_iter().map(|(path, _)| path).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_variable_goes_before_the_home_and_one_that_leads_nowhere_is_told() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ".codex/sessions/rollout-old.jsonl");
    let own = write(dir.path(), "own/sessions/rollout-new.jsonl");
    let variable = |name: &str| match name {
        "HOME" => Some(dir.path().to_owned()),
        "CODEX_HOME" => Some(dir.path().join("own")),
        "CLAUDE_CONFIG_DIR" => Some(dir.path().join("nowhere")),
        _ => None,
    };
    let places = places(&variable);
    assert_eq!(transcripts(&places), [(own, 3)]);
    let holes: Vec<String> = places.iter().flat_map(Standard::holes).collect();
    assert_eq!(holes.len(), 1, "{holes:?}");
    assert!(holes[0].contains("nowhere") && holes[0].contains("CLAUDE_CONFIG_DIR"), "{holes:?}");
    assert_eq!(roots(&variable), [dir.path().join("own/sessions")]);
}

#[test]
fn what_is_known_and_not_read_is_a_hole_and_links_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let database = write(dir.path(), ".cursor/chats/a/b/store.db");
    write(dir.path(), "elsewhere/s.jsonl");
    std::fs::create_dir_all(dir.path().join(".claude/projects")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join(".claude/projects/-p")).unwrap();
    let places = places(&home(dir.path()));
    assert_eq!(transcripts(&places), []);
    let holes: Vec<String> = places.iter().flat_map(Standard::holes).collect();
    assert_eq!(holes.len(), 1, "{holes:?}");
    assert!(holes[0].contains(&database.display().to_string()), "{holes:?}");
    assert!(place_of(&places, &database).is_some_and(|place| place.row.agent == "Cursor"));
}
