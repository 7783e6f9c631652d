//! An encrypted archive from outside: what opens it, what is said without, and what stands on the disk.

use std::os::unix::fs::PermissionsExt as _;

use crate::home::{Agent, Home, Run, claude_session, message};

/// A text that the session holds and that is looked for in the archive's files.
const CANARY: &str = "module_003";

fn home() -> Home {
    let home = Home::new();
    home.write("s.jsonl", claude_session(8, 1_500));
    home
}

/// Writes a file that nobody else may read.
fn private(home: &Home, name: &str, text: &str) -> String {
    let path = home.write(name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

/// Whether the canary stands in any file of the archive's directory.
fn stands(home: &Home) -> bool {
    let files = std::fs::read_dir(home.archive()).unwrap();
    let mut files = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.any(|bytes| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()))
}

#[track_caller]
fn refused_without_secret(run: &Run) {
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("is encrypted") && run.stderr.contains("$STRONGROOM_KEY_FILE"), "{run:?}");
}

#[test]
fn an_archive_is_encrypted_where_it_lies() {
    let home = home();
    home.run(&["compact", "s.jsonl", "--budget", "40%"]).ends(0);
    let pointer = home.pointer_in("s.compacted.jsonl") + "#1";
    let before = home.run(&["show", &pointer]).ends(0).stdout;
    assert!(home.run(&["encrypt"]).ends(2).stderr.contains("--new-key-file"));
    let inside = home.archive().join("own.key").display().to_string();
    assert!(home.run(&["encrypt", "--new-key-file", &inside]).ends(2).stderr.contains("lies in the archive"));
    home.run(&["encrypt", "--new-key-file", "ops.key"]).ends(0);
    assert_eq!(std::fs::metadata(home.path("ops.key")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!stands(&home));
    let compacted = std::fs::read(home.path("s.compacted.jsonl")).unwrap();
    for command in [
        &["sessions"][..],
        &["show", &pointer],
        &["verify"],
        &["import", "s.jsonl"],
        &["compact", "s.jsonl", "--budget", "30%"],
        &["ask", "ever changes system-config", "--in", "s.jsonl"],
    ] {
        refused_without_secret(&home.run(command));
    }
    assert_eq!(std::fs::read(home.path("s.compacted.jsonl")).unwrap(), compacted);
    let with_key = |words: &[&str]| home.run(&[&["--key-file", "ops.key"], words].concat());
    assert_eq!(with_key(&["show", &pointer]).ends(0).stdout, before);
    with_key(&["verify", "--read-data"]).ends(0);
    with_key(&["compact", "s.jsonl", "--budget", "30%"]).ends(0);
    with_key(&["encrypt"]).ends(0);
    assert!(!stands(&home));
    let by_environment =
        home.command(&["export", "s.jsonl"]).env("STRONGROOM_KEY_FILE", "ops.key").output().unwrap();
    assert_eq!(by_environment.stdout, std::fs::read(home.path("s.jsonl")).unwrap());
}

#[test]
fn a_new_archive_is_encrypted_with_the_secret_that_is_named() {
    let home = home();
    let words = private(&home, "words", "correct horse battery\n");
    home.run(&["--passphrase-file", &words, "import", "s.jsonl"]).ends(0);
    assert!(!stands(&home));
    let command = format!("cat '{words}'");
    home.run(&["--passphrase-command", &command, "verify", "--read-data"]).ends(0);
    let wrong = home.run(&["--passphrase-command", "echo something else", "sessions"]).ends(3);
    assert!(wrong.stderr.contains("this is not its passphrase"), "{wrong:?}");
    assert_eq!(home.run(&["--passphrase-command", "exit 1", "sessions"]).code, 3);
    let both = home.run(&["--passphrase-command", "true", "--passphrase-file", &words, "sessions"]).ends(2);
    assert!(both.stderr.contains("name one"), "{both:?}");
    home.run(&["--passphrase-file", &words, "encrypt", "--new-key-file", "ops.key"]).ends(0);
    home.run(&["--passphrase-file", &words, "sessions"]).ends(3);
    home.run(&["--key-file", "ops.key", "sessions"]).ends(0);
    std::fs::set_permissions(home.path("ops.key"), std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(home.run(&["--key-file", "ops.key", "sessions"]).ends(2).stderr.contains("read by others"));
}

#[test]
fn a_hook_without_the_secret_says_so_and_breaks_nothing() {
    let home = home();
    home.run(&["import", "s.jsonl"]).ends(0);
    home.run(&["encrypt", "--new-key-file", "ops.key"]).ends(0);
    let mut agent = Agent::new(&home, &home.path("s.jsonl"));
    let told = message(&agent.before_compaction());
    assert!(told.contains("NOT in custody") && told.contains("$STRONGROOM_KEY_FILE"), "{told}");
    agent.words = vec!["--key-file", "ops.key"];
    let kept = agent.before_compaction().ends(0);
    assert!(!kept.stdout.contains("NOT in custody"), "{kept:?}");
    assert!(agent.card("compact").contains("Never push to main"));
}
