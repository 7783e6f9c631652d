//! Our entries in agents' settings: in once, out without a trace, and nothing else touched.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home, Run};

/// Settings as people have them: keys of others, hooks of others, spacing of their own.
const SETTINGS: &str = "{\n    \"model\":  \"opus\",\n    \"env\": { \"API_KEY\": \"sk-not-a-real-key\" },\n\n    \"hooks\": {\n        \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] } ],\n        \"PreToolUse\": []\n    },\n    \"unicode\": \"\\u00e9 é\"\n}\n";

/// A configuration with comments and tables of others.
const CONFIG: &str = "# mine\nmodel = \"gpt-5\"   # the good one\n\n[mcp_servers.other]\ncommand = 'node'\nargs = [ \"x.js\" ,\n  \"y\" ]\n\n[projects.\"/srv/app\"]\ntrust_level = \"trusted\"\n# the end\n";

fn install(home: &Home, words: &[&str]) -> Run {
    let mut args = vec!["install"];
    args.extend(words);
    home.run(&args)
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

#[test]
fn claude_code_gets_hooks_and_a_server_and_loses_them_again() {
    let home = Home::new();
    let settings = home.write(".claude/settings.json", SETTINGS);
    let state =
        "{\"numStartups\":7,\"mcpServers\":{\"other\":{\"command\":\"x\",\"args\":[]}},\"projects\":{}}";
    let servers = home.write(".claude.json", state);
    let run = install(&home, &["claude-code"]).ends(0);
    assert!(run.stdout.contains('+') && run.stdout.contains("PreCompact"), "{run:?}");
    assert!(!run.stdout.contains("sk-not-a-real-key"), "the difference shows no lines of others\n{run:?}");

    let now = json(&settings);
    assert_eq!(now["model"], "opus");
    assert_eq!(now["hooks"]["Stop"].as_array().unwrap().len(), 2);
    assert_eq!(now["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    assert_eq!(now["hooks"]["SessionStart"][0]["matcher"], "compact|resume|fork");
    for event in ["PreCompact", "PostCompact", "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let groups = now["hooks"][event].as_array().unwrap();
        let command = groups.last().unwrap()["hooks"][0]["command"].as_str().unwrap();
        assert!(command.contains(&format!("hook {event}")), "{command}");
        assert!(command.starts_with('/'), "{command}");
    }
    let server = &json(&servers)["mcpServers"]["strongroom"];
    assert_eq!(server["args"].as_array().unwrap().last().unwrap(), "mcp");
    assert_eq!(json(&servers)["mcpServers"]["other"]["command"], "x");
    for line in SETTINGS.lines().filter(|line| line.contains("model") || line.contains("unicode")) {
        assert!(text(&settings).contains(line), "{line}");
    }

    let once = (text(&settings), text(&servers));
    install(&home, &["claude-code"]).ends(0);
    assert_eq!((text(&settings), text(&servers)), once, "a second time changes nothing");
    let backup = home.path(".claude/settings.json.strongroom-backup");
    assert_eq!(text(&backup), SETTINGS);

    install(&home, &["claude-code", "--uninstall"]).ends(0);
    assert_eq!(text(&settings), SETTINGS, "byte for byte as before");
    assert_eq!(text(&servers), state);
    assert!(!backup.exists());
    let none = install(&home, &["claude-code", "--uninstall"]).ends(0);
    assert!(none.stderr.contains("nothing of ours"), "{none:?}");
}

#[test]
fn codex_gets_hooks_and_a_server_and_loses_them_again() {
    for config in [
        CONFIG.to_owned(),
        CONFIG.replace('\n', "\r\n"),
        "mcp_servers = { other = { command = \"x\" } }\n".to_owned(),
    ] {
        let home = Home::new();
        let file = home.write(".codex/config.toml", &config);
        install(&home, &["codex"]).ends(0);
        let now: toml_edit::DocumentMut = text(&file).parse().unwrap();
        let own = now["mcp_servers"]["strongroom"].as_table_like().unwrap();
        assert_eq!(own.get("args").unwrap().as_array().unwrap().iter().last().unwrap().as_str(), Some("mcp"));
        assert!(now["mcp_servers"]["other"]["command"].as_str().is_some());
        for line in config.lines().filter(|line| !line.contains("mcp_servers =")) {
            assert!(text(&file).contains(line), "{line}\n{}", text(&file));
        }
        let hooks = json(&home.path(".codex/hooks.json"));
        let command = hooks["hooks"]["PreCompact"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        assert!(command.contains("--agent codex"), "{command}");
        assert_eq!(hooks["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
        let once = text(&file);
        install(&home, &["codex"]).ends(0);
        assert_eq!(text(&file), once);
        install(&home, &["codex", "--uninstall"]).ends(0);
        assert_eq!(text(&file), config);
        assert!(!home.path(".codex/hooks.json").exists(), "what was made is gone");
    }
}

#[test]
fn what_others_changed_meanwhile_stays() {
    let home = Home::new();
    let settings = home.write(".claude/settings.json", SETTINGS);
    install(&home, &["claude-code"]).ends(0);
    let mut now = json(&settings);
    now["model"] = json!("sonnet");
    now["hooks"]["Stop"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "hooks": [{ "type": "command", "command": "later" }] }));
    std::fs::write(&settings, now.to_string()).unwrap();
    install(&home, &["claude-code"]).ends(0);
    assert_eq!(text(&settings), now.to_string(), "our entries are there: nothing to do");
    install(&home, &["claude-code", "--uninstall"]).ends(0);
    let mut expected: Value = serde_json::from_str(SETTINGS).unwrap();
    expected["model"] = json!("sonnet");
    expected["hooks"]["Stop"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "hooks": [{ "type": "command", "command": "later" }] }));
    assert_eq!(json(&settings), expected);
    assert!(!text(&settings).contains("strongroom"));
}

#[test]
fn options_travel_into_the_commands_and_replace_earlier_ones() {
    let home = Home::new();
    install(&home, &["claude-code"]).ends(0);
    install(&home, &["claude-code", "--on-failure", "block"]).ends(0);
    let settings = json(&home.path(".claude/settings.json"));
    let groups = settings["hooks"]["PreCompact"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "the earlier one is replaced");
    let command = groups[0]["hooks"][0]["command"].as_str().unwrap();
    let archive = home.archive();
    assert!(
        command.contains("--on-failure block") && command.contains(archive.to_str().unwrap()),
        "{command}"
    );

    // The command works as a shell runs it.
    let mut session = ClaudeSession::default();
    session.user("Never push to main.");
    let file = home.write("s.jsonl", session.text);
    let payload = json!({ "session_id": "s", "transcript_path": file, "trigger": "auto" }).to_string();
    let mut child = std::process::Command::new("sh")
        .args(["-c", command])
        .env_clear()
        .env("HOME", home.dir.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(home.run(&["sessions"]).ends(0).stdout.contains("s.jsonl"));
    install(&home, &["claude-code", "--uninstall"]).ends(0);
    assert!(!home.path(".claude/settings.json").exists() && !home.path(".claude.json").exists());
}

#[test]
fn what_cannot_be_read_is_refused_and_nothing_is_written() {
    let home = Home::new();
    let broken = home.write(".claude.json", "{\"a\": 1,}");
    let run = install(&home, &["claude-code"]).ends(2);
    assert!(run.stderr.contains(".claude.json") && run.stderr.contains("line 1"), "{run:?}");
    assert_eq!(text(&broken), "{\"a\": 1,}");
    assert!(!home.path(".claude/settings.json").exists(), "the other file is not touched either");

    let home = Home::new();
    let settings = home.write(".claude/settings.json", "{\"hooks\": []}");
    let run = install(&home, &["claude-code"]).ends(2);
    assert!(run.stderr.contains("hooks is not an object"), "{run:?}");
    assert_eq!(text(&settings), "{\"hooks\": []}");

    let home = Home::new();
    home.write(".codex/config.toml", "a = \n");
    assert!(install(&home, &["codex"]).ends(2).stderr.contains("not TOML"));

    let home = Home::new();
    let own = "{\"mcpServers\":{\"strongroom\":{\"command\":\"mine\"}}}";
    let servers = home.write(".claude.json", own);
    assert!(install(&home, &["claude-code"]).ends(2).stderr.contains("did not install"));
    install(&home, &["claude-code", "--uninstall"]).ends(0);
    assert_eq!(text(&servers), own);
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = Home::new();
    let settings = home.write(".claude/settings.json", SETTINGS);
    let run = install(&home, &["claude-code", "--dry-run"]).ends(0);
    assert!(run.stdout.contains("PreCompact") && run.stderr.contains("--dry-run"), "{run:?}");
    assert_eq!(text(&settings), SETTINGS);
    assert!(!home.path(".claude.json").exists());
    let report = home.run(&["--json", "install", "claude-code", "--dry-run"]).json(0);
    assert_eq!((&report["schema"], &report["files"][0]["changed"]), (&json!(1), &json!(true)));
}

#[test]
fn links_and_modes_stay() {
    let home = Home::new();
    let real = home.write("dotfiles/settings.json", SETTINGS);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir(home.path(".claude")).unwrap();
    let link = home.path(".claude/settings.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    install(&home, &["claude-code"]).ends(0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(text(&real).contains("PreCompact"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    install(&home, &["claude-code", "--uninstall"]).ends(0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(text(&real), SETTINGS);
}

#[test]
fn a_project_has_its_own_settings() {
    let home = Home::new();
    install(&home, &["claude-code", "--scope", "project"]).ends(0);
    let server = &json(&home.path(".mcp.json"))["mcpServers"]["strongroom"];
    assert_eq!(server["command"], "strongroom", "a path of one machine is none of a project");
    assert!(home.path(".claude/settings.json").exists() && !home.path(".claude.json").exists());
    install(&home, &["codex", "--scope", "project"]).ends(0);
    assert!(text(&home.path(".codex/config.toml")).contains("[mcp_servers.strongroom]"));
    for agent in ["claude-code", "codex"] {
        install(&home, &[agent, "--scope", "project", "--uninstall"]).ends(0);
    }
    assert!(!home.path(".mcp.json").exists() && !home.path(".codex/config.toml").exists());
}

#[test]
fn hooks_that_are_turned_off_are_told() {
    let home = Home::new();
    home.write(".claude/settings.json", "{\"disableAllHooks\": true}");
    assert!(install(&home, &["claude-code"]).ends(0).stderr.contains("disableAllHooks"));
    home.write(".codex/config.toml", "[features]\nhooks = false\n");
    assert!(install(&home, &["codex"]).ends(0).stderr.contains("features.hooks"));
}

/// The hooks of a settings file, each with its event, its matcher, its time and the words behind the program.
fn hooks_of(settings: &Value) -> Vec<(String, String, u64, String)> {
    let mut all = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for group in groups.as_array().unwrap() {
            let handler = &group["hooks"][0];
            let words = handler["command"].as_str().unwrap().split(" hook ").last().unwrap().to_owned();
            let matcher = group["matcher"].as_str().unwrap_or_default().to_owned();
            all.push((event.clone(), matcher, handler["timeout"].as_u64().unwrap(), words));
        }
    }
    all
}

#[test]
fn the_folders_hold_what_install_puts_in() {
    let home = Home::new();
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations");
    for (agent, installed, folder) in [
        ("claude-code", ".claude/settings.json", "claude-code/hooks/hooks.json"),
        ("codex", ".codex/hooks.json", "codex/hooks.json"),
    ] {
        install(&home, &[agent]).ends(0);
        assert_eq!(hooks_of(&json(&home.path(installed))), hooks_of(&json(&folders.join(folder))), "{agent}");
    }
    let server = &json(&folders.join("claude-code/.mcp.json"))["mcpServers"]["strongroom"];
    assert_eq!((&server["command"], &server["args"]), (&json!("strongroom"), &json!(["mcp"])));
    let config: toml_edit::DocumentMut = text(&folders.join("codex/config.toml")).parse().unwrap();
    assert_eq!(config["mcp_servers"]["strongroom"]["command"].as_str(), Some("strongroom"));
    for plugin in ["claude-code", "claude-code-function-hook"] {
        let manifest = json(&folders.join(plugin).join(".claude-plugin/plugin.json"));
        assert!(manifest["name"].as_str().unwrap().starts_with("strongroom"), "{manifest}");
    }
    let skill = text(&folders.join("claude-code/skills/ask-the-record/SKILL.md"));
    assert!(skill.starts_with("---\nname: ask-the-record\ndescription: "), "an agent chooses it by its head");
}
