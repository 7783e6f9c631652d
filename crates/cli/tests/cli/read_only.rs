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
