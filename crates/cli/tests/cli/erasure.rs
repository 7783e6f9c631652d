//! Erasure and redaction from outside: planned, refused, done, and told ever after.

use serde_json::{Value, json};

use crate::home::{ClaudeSession, Home};
use crate::proofs::{CHECKER, python};

const CANARY: &str = "kestrel-4711-blue";

/// A session whose third module says the canary, with enough around it to be compacted.
fn session() -> String {
    let mut session = ClaudeSession::default();
    session.user("Read the modules and tell me what they have in common. Never push to main.");
    for read in 0..8 {
        session.say("Let me look at the next module.");
        let note = if read == 2 { format!("// the code word is {CANARY}\n") } else { String::new() };
        let body: String =
            (0..40).map(|line| format!("let value_{read}_{line} = {};\n", read * 7919 + line)).collect();
        session.call("Read", &json!({ "file_path": format!("/srv/ws/app/src/m{read}.rs") }), &(note + &body));
    }
    session.user("Thanks. What is next?");
    session.say("Next is the clean-up.");
    session.text
}

struct Case {
    home: Home,
    pointer: String,
    /// The span with the canary.
    span: String,
}

/// A compacted session; what is left to ask of it stands in `left.jsonl`.
fn case(global: &[&str]) -> Case {
    let home = Home::new();
    home.write("s.jsonl", session());
    if let [_, key] = global {
        home.run(&["import", "s.jsonl"]).ends(0);
        home.run(&["encrypt", "--new-key-file", key]).ends(0);
    }
    home.run(&[global, &["compact", "s.jsonl", "--budget", "40%"]].concat()).ends(0);
    // With a search index, in which its words stand.
    home.run(&[global, &["import", "--index", "s.jsonl"]].concat()).ends(0);
    let files = std::fs::read_dir(home.archive()).unwrap().map(|file| file.unwrap().file_name());
    assert!(files.into_iter().any(|name| name.to_string_lossy().starts_with("strongroom.search-")));
    let text = std::fs::read_to_string(home.path("s.compacted.jsonl")).unwrap();
    let only = text.lines().skip_while(|line| !line.contains("sr1:")).collect::<Vec<_>>().join("\n");
    home.write("left.jsonl", only);
    let pointer = home.pointer_in("s.compacted.jsonl");
    let spans = home.run(&[global, &["--json", "show", &pointer]].concat()).json(0);
    let numbers = spans["spans"].as_array().unwrap().iter().map(|span| span["span"].to_string());
    let span = numbers
        .map(|number| format!("{pointer}#{number}"))
        .find(|span| home.run(&[global, &["show", span]].concat()).stdout.contains(CANARY))
        .unwrap();
    Case { home, pointer, span }
}

impl Case {
    /// Whether the canary stands in a file of the archive, or in a row of it once that is taken apart.
    fn stands(&self) -> bool {
        let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        let database = rusqlite::Connection::open(self.home.archive().join("strongroom.db")).unwrap();
        let mut bodies = database
            .prepare("SELECT body FROM blob UNION ALL SELECT body FROM compaction UNION ALL SELECT body FROM journal_entry")
            .unwrap();
        let rows = bodies.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        let inside = rows.map(Result::unwrap).any(|body| {
            let opened = (0..body.len().min(12)).find_map(|at| zstd::decode_all(&body[at..]).ok());
            opened.is_some_and(|opened| holds(&opened))
        });
        let mut files = std::fs::read_dir(self.home.archive()).unwrap();
        inside || files.any(|file| holds(&std::fs::read(file.unwrap().path()).unwrap()))
    }

    fn verdict(&self, global: &[&str], question: &str) -> (String, String) {
        let run = self.home.run(&[global, &["--json", "ask", question, "--in", "left.jsonl"]].concat());
        let answer: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        (answer["verdict"].as_str().unwrap().to_owned(), run.stdout)
    }
}

const ACT: [&str; 6] = ["--act", "--i-may-delete", "--by", "mara", "--reason", "asked for it"];

#[test]
fn an_erased_source_is_gone_and_says_so() {
    let global: &[&str] = &[];
    let case = case(global);
    let run = |words: &[&str]| case.home.run(&[global, words].concat());
    assert!(case.stands());
    assert_eq!(case.verdict(global, &format!("ever results \"{CANARY}\"")).0, "supported");
    let plan = run(&["--json", "erase", "s.jsonl"]).json(0);
    assert_eq!((&plan["erased"], &plan["records"]), (&Value::Bool(false), &json!(1)), "{plan}");
    assert!(run(&["erase", "s.jsonl", "--act", "--reason", "x"]).ends(1).stderr.contains("--i-may-delete"));
    run(&["erase", "s.jsonl", "--act", "--i-may-delete"]).ends(2);
    run(&["retention", "s.jsonl", "--hold", "legal", "--reason", "order 17"]).ends(0);
    let held = run(&[&["erase", "s.jsonl"][..], &ACT].concat()).ends(1);
    assert!(held.stderr.contains("order 17") && held.stderr.contains("nothing was changed"), "{held:?}");
    run(&["retention", "s.jsonl", "--release", "--i-may-release"]).ends(0);
    run(&["show", &case.span]).ends(0);
    let erased = run(&[&["erase", "s.jsonl"][..], &ACT].concat()).ends(0);
    assert!(erased.stderr.contains("still there"), "{erased:?}");
    assert!(!case.stands());
    for gone in [run(&["show", &case.span]), run(&["export", "s.jsonl"])] {
        assert!(gone.code == 3 && gone.stderr.contains("erased on 20"), "{gone:?}");
        assert!(gone.stderr.contains("(asked for it, by mara)"), "{gone:?}");
    }
    let key = ["checkpoint", "--new-key", "notary.key"];
    run(&key).ends(0);
    let proof = run(&["prove", &case.span, "--key", "notary.key", "-o", "bundle.json"]).ends(3);
    assert!(proof.stderr.contains("erased on 20"), "{proof:?}");
    for question in [&format!("ever results \"{CANARY}\""), "ever changes system-config"] {
        let (verdict, text) = case.verdict(global, question);
        assert_eq!(verdict, "insufficient", "{question}: {text}");
        assert!(text.contains("erased on 20"), "{text}");
    }
    let verified = run(&["verify", "--read-data"]).ends(0);
    assert!(verified.stdout.contains("erased by order"), "{verified:?}");
    assert!(run(&["show", &case.pointer]).ends(0).stdout.contains("[erased on 20"));
    assert!(!case.stands());
}

#[test]
fn what_a_compaction_made_of_a_source_is_named_and_can_go_with_it() {
    let case = case(&[]);
    case.home.run(&["import", "left.jsonl"]).ends(0);
    let plan = case.home.run(&["--json", "erase", "s.jsonl"]).json(0);
    assert!(plan["related"][0]["name"].as_str().unwrap().ends_with("left.jsonl"), "{plan}");
    let words = [&["--json", "erase", "s.jsonl", "--related"][..], &ACT].concat();
    let done = case.home.run(&words).json(0);
    assert_eq!(done["related"], json!([]));
    assert!(done["sources"].to_string().contains("left.jsonl"), "{done}");
    case.home.run(&["verify", "--read-data"]).ends(0);
    assert!(!case.stands());
}

#[test]
fn an_original_is_erased_in_every_source() {
    let case = case(&[]);
    case.home.write("copy.jsonl", session());
    case.home.run(&["import", "copy.jsonl"]).ends(0);
    let words = [&["--json", "erase", "--content", &case.span][..], &ACT].concat();
    let done = case.home.run(&words).json(0);
    assert_eq!(done["sources"].as_array().unwrap().len(), 2, "{done}");
    assert!(!case.stands());
    assert!(case.home.run(&["export", "copy.jsonl"]).ends(3).stderr.contains("erased on 20"));
    case.home.run(&["verify", "--read-data"]).ends(0);
    case.home.run(&["erase", "--content", "nonsense"]).ends(2);
}

#[test]
fn a_redacted_text_is_gone_and_the_rest_is_shown_and_asked() {
    let global = &["--key-file", "ops.key"][..];
    let case = case(global);
    let run = |words: &[&str]| case.home.run(&[global, words].concat());
    let order = ["--by", "mara", "--reason", "a code word"];
    let words = [&["redact", &case.span, "--text", CANARY], &order[..]].concat();
    assert!(run(&words).ends(1).stderr.contains("--i-may-delete"));
    let receipt = run(&[&["--json"][..], &words, &["--i-may-delete"]].concat()).json(0);
    assert_eq!(receipt["key"].as_str().unwrap().len(), 64, "{receipt}");
    assert!(receipt["bytes"].as_u64().unwrap() >= u64::try_from(CANARY.len()).unwrap());
    assert!(!case.stands());
    let shown = run(&["show", &case.span]).ends(0);
    assert!(shown.stdout.contains("the code word is [redacted 17 bytes, 20"), "{shown:?}");
    assert!(
        shown.stdout.contains("a code word, by mara]") && shown.stdout.contains("value_2_39"),
        "{shown:?}"
    );
    assert!(run(&["show", "--raw", &case.span]).ends(3).stderr.contains("redacted 17 bytes"));
    let (verdict, text) = case.verdict(global, &format!("ever results \"{CANARY}\""));
    assert_eq!(verdict, "insufficient", "{text}");
    assert!(text.contains("redacted 17 bytes"), "{text}");
    let (verdict, _) = case.verdict(global, "ever results \"let value_5_7 = 39602\"");
    assert_eq!(verdict, "supported", "the rest is as it was");
    std::fs::rename(case.home.path("s.jsonl"), case.home.path("gone.jsonl")).unwrap();
    let archived = run(&["--json", "ask", "--all", &format!("ever results \"{CANARY}\"")]);
    assert!(archived.stdout.contains("\"verdict\":\"insufficient\""), "{archived:?}");
    run(&["verify", "--read-data"]).ends(0);
    // The file is still there: what was taken out stays out.
    run(&["import", "gone.jsonl"]).ends(0);
    assert!(!case.stands());
    run(&["redact", &case.span, "--bytes", "9..3", "--reason", "x", "--i-may-delete"]).ends(2);
    run(&["redact", &case.span, "--text", "nowhere in it", "--reason", "x", "--i-may-delete"]).ends(2);
    // Another span of the same piece is proved to somebody without the archive, and the redacted one is not.
    run(&["checkpoint", "--new-key", "notary.key"]).ends(0);
    let refused = run(&["prove", &case.span, "--key", "notary.key", "-o", "none.json"]).ends(3);
    assert!(refused.stderr.contains("redacted 17 bytes"), "{refused:?}");
    let number: u32 = case.span.rsplit('#').next().unwrap().parse().unwrap();
    let other = format!("{}#{}", case.pointer, number + 1);
    run(&["prove", &other, "--key", "notary.key", "-o", "bundle.json"]).ends(0);
    run(&["check", "bundle.json", "--public-key", "notary.key.pub"]).ends(0);
    let bundle = std::fs::read_to_string(case.home.path("bundle.json")).unwrap();
    assert!(!bundle.contains(CANARY), "{bundle}");
    if let Some(checked) = python(&case.home, &[CHECKER, "bundle.json", "--public-key", "notary.key.pub"]) {
        checked.ends(0);
    }
    // What no pointer stands for is reached by the name of the source.
    let by_name = ["redact", "gone.jsonl", "--text", "value_0_1", "--reason", "x", "--i-may-delete"];
    assert!(run(&by_name).ends(0).stdout.contains("gone.jsonl"));
    run(&["verify", "--read-data"]).ends(0);
}
