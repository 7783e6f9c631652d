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

/// A log of Inspect as the tool packs it: a header, and a member for each sample.
fn packed(log: &serde_json::Value) -> Vec<u8> {
    use std::io::Write as _;
    let mut header = log.clone();
    let samples = header.as_object_mut().unwrap().remove("samples").unwrap();
    let mut members = vec![("_journal/start.json".to_owned(), header.to_string())];
    for sample in samples.as_array().unwrap() {
        let name = format!(
            "samples/{}_epoch_{}.json",
            sample["id"].as_str().map_or(sample["id"].to_string(), str::to_owned),
            sample["epoch"]
        );
        members.push((name, sample.to_string()));
    }
    members.push(("header.json".to_owned(), header.to_string()));
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, text) in members {
        let file = archive.new_file(&name).compression_method(rawzip::CompressionMethod::ZSTD);
        let (mut entry, config) = file.start().unwrap();
        let mut plain = config.wrap(std::io::sink());
        plain.write_all(text.as_bytes()).unwrap();
        let (_, descriptor) = plain.finish().unwrap();
        entry.write_all(&zstd::bulk::compress(text.as_bytes(), 3).unwrap()).unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

#[test]
fn what_is_packed_in_a_file_is_read_like_a_file() {
    let home = Home::new();
    let example =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/read-only/inspect.json");
    let text = std::fs::read_to_string(example).unwrap().replace("NaN", "0.0");
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    home.write("log.json", log.to_string());
    home.write("tree/log.eval", packed(&log));
    let questions = ["ever effects /tmp/by-helper", "ever said \"lamp\""];
    for question in &questions {
        let answers = ["log.json", "tree/log.eval"].map(|file| {
            let mut answer = home.run(&["--json", "ask", question, "--in", file]).json(0);
            let citations = answer["citations"].take();
            let quotes: Vec<String> =
                citations.as_array().unwrap().iter().map(|one| one["quote"].to_string()).collect();
            (answer["verdict"].to_string(), quotes)
        });
        assert_eq!(answers[0], answers[1], "{question}");
        assert!(!answers[0].1.is_empty(), "{question}");
    }
    let taken = home.run(&["import", "tree", "--json"]).json(0);
    assert_eq!(taken["imported"], 1, "{taken}");
    assert!(home.run(&["import", "tree"]).ends(0).stdout.contains("0 imported, 1 unchanged"));
    home.run(&["ledger", "tree/log.eval"]).ends(0);
    home.run(&["explain", "tree/log.eval"]).ends(0);
    std::fs::write(home.path("tree/log.eval"), &packed(&log)[..99]).unwrap();
    assert_eq!(home.run(&["import", "tree", "--json"]).json(3)["failed"], 1);
    std::fs::remove_file(home.path("tree/log.eval")).unwrap();
    let again = home.run(&["--json", "ask", questions[0], "--in", "tree/log.eval"]).json(0);
    assert_eq!(again["verdict"], "supported", "{again}");
}

/// A database as `OpenCode` keeps it, with the sessions of an export under two ids.
fn database(path: &std::path::Path, export: &serde_json::Value) -> rusqlite::Connection {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let tool = rusqlite::Connection::open(path).unwrap();
    tool.pragma_update(None, "journal_mode", "wal").unwrap();
    tool.execute_batch(
        "CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);",
    )
    .unwrap();
    let mut row = 0;
    for session in ["ses_one", "ses_two"] {
        let directory = export["info"]["directory"].as_str().unwrap();
        tool.execute("INSERT INTO session VALUES (?1, ?2, 't', 1, 2)", [session, directory]).unwrap();
        for message in export["messages"].as_array().unwrap() {
            row += 1;
            let own = format!("msg_{row}");
            let insert = "INSERT INTO message VALUES (?1, ?2, ?3, 2, ?4)";
            tool.execute(insert, rusqlite::params![own, session, row, message["info"].to_string()]).unwrap();
            for part in message["parts"].as_array().unwrap() {
                row += 1;
                let insert = "INSERT INTO part VALUES (?1, ?2, ?3, 1, 2, ?4)";
                let id = format!("prt_{row:04}");
                tool.execute(insert, rusqlite::params![id, own, session, part.to_string()]).unwrap();
            }
        }
    }
    tool
}

#[test]
fn sessions_of_a_database_are_read_as_the_tool_would_export_them() {
    let home = Home::new();
    let example =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/read-only/opencode.json");
    let export: serde_json::Value = serde_json::from_slice(&std::fs::read(&example).unwrap()).unwrap();
    // Both with their keys in the same order.
    home.write("export.json", export.to_string());
    let path = home.path(".local/share/opencode/opencode.db");
    let tool = database(&path, &export);
    let one = path.join("ses_one.json");
    let one = one.to_str().unwrap();
    let taken = home.run(&["import", "--all", "--json"]).json(0);
    assert_eq!(
        (&taken["imported"], &taken["failed"]),
        (&serde_json::json!(2), &serde_json::json!(0)),
        "{taken}"
    );
    assert!(home.run(&["import", "--all"]).ends(0).stdout.contains("0 imported, 2 unchanged"));
    let effects = |file: &str| home.run(&["ledger", file, "--json"]).stdout.lines().count();
    assert_eq!(effects(one), effects("export.json"));
    let several = home.run(&["ask", "ever said \"legacy\"", "--in", path.to_str().unwrap()]).ends(2);
    assert!(
        several.stderr.contains("a database of 2 sessions") && several.stderr.contains("ses_one.json"),
        "{several:?}"
    );
    tool.execute("UPDATE message SET time_updated = 9 WHERE session_id = 'ses_one'", []).unwrap();
    assert!(home.run(&["import", path.to_str().unwrap()]).ends(0).stdout.contains("1 imported, 1 unchanged"));
    tool.execute("DELETE FROM session WHERE id = 'ses_one'", []).unwrap();
    let kept = home.run(&["--json", "ask", "ever said \"legacy\"", "--in", one]).json(0);
    assert_eq!(kept["verdict"], "supported", "{kept}");
}
