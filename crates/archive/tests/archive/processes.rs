//! Several processes on one archive, and processes that are killed.
//!
//! A child is this same test binary, told by its environment to play the other side of one test.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use strongroom_archive::Archive;
use strongroom_archive::expiry::Deletion;
use strongroom_core::digest::{PieceId, Tag};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Loaded, Piece, Registry as _, Retention, Vault as _};
use testkit::conformance;

use crate::fixture::{assert_clean, export, import, open, transcript};

const CHILD: &str = "STRONGROOM_TEST_CHILD";
const KILLS: &str = "STRONGROOM_TEST_KILLS";
const ACKNOWLEDGED: &str = "acknowledged:";

#[expect(clippy::disallowed_methods, reason = "the only way to tell a test in a child process what it is")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The arguments of the child that plays `test`, if this process is one.
pub(crate) fn child_arguments(test: &str) -> Option<Vec<String>> {
    let all = variable(CHILD)?;
    let mut words = all.split('\n');
    (words.next() == Some(test)).then(|| words.map(str::to_owned).collect())
}

/// A user whom file modes bind, where this process may become one.
pub(crate) fn unprivileged() -> Option<u32> {
    let own = tempfile::tempdir().unwrap();
    (std::fs::metadata(own.path()).unwrap().uid() == 0).then_some(65_534)
}

/// How a child is started.
pub(crate) struct Child {
    pub(crate) program: PathBuf,
    pub(crate) user: Option<u32>,
}

impl Child {
    fn same() -> Self {
        Self { program: std::env::current_exe().unwrap(), user: None }
    }

    pub(crate) fn command(&self, test: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(CHILD, [&[test], arguments].concat().join("\n"));
        if let Some(user) = self.user {
            command.uid(user);
        }
        command
    }
}

/// Deterministic noise.
fn noise(seed: u64) -> u64 {
    (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

/// One round of a child: pieces, a source and a record, each acknowledged when the archive returns.
fn round(archive: &Archive, worker: u64, round: u64) {
    let own = Piece::new(transcript(noise(worker * 1_000 + round), 40));
    let common = Piece::new(transcript(round, 60));
    archive.store(&[own.clone(), common.clone()], Retention::Indefinite).unwrap();
    println!("{ACKNOWLEDGED}piece {} {}", own.id(), common.id());
    let loaded = archive.load(&[own.id(), common.id()]).unwrap();
    assert!(
        matches!(&loaded[..], [Loaded::Found(one), Loaded::Found(two)] if one == own.bytes() && two == common.bytes())
    );
    let len = 30 * (round + 1);
    import(archive, &format!("source {worker}"), &transcript(worker, len));
    println!("{ACKNOWLEDGED}lines {worker} {len}");
    let record = conformance::record(archive, u32::try_from(round).unwrap(), &format!("worker {worker}"));
    archive.bind(&record).unwrap();
    println!("{ACKNOWLEDGED}tag {}", record.tag);
}

/// A piece that has ended is stored and deleted, both acknowledged. No other process may be at the archive.
fn expire(archive: &Archive, worker: u64, round: u64) {
    let end = Timestamp::from_ms(0);
    let piece = Piece::new(transcript(noise(worker * 1_000 + round) ^ 1, 30));
    archive.store(std::slice::from_ref(&piece), Retention::Until(end)).unwrap();
    println!("{ACKNOWLEDGED}lent {}", piece.id());
    let deletion = Deletion { expired_by: end, now: end, held: &BTreeSet::new() };
    assert_eq!(archive.delete_expired(&[piece.id()], &deletion).unwrap().len(), 1);
    println!("{ACKNOWLEDGED}gone {}", piece.id());
}

/// Checks that everything a child was told is there.
fn check(archive: &Archive, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["piece", ids @ ..] => {
            let ids: Vec<PieceId> = ids.iter().map(|id| id.parse().unwrap()).collect();
            for (loaded, id) in archive.load(&ids).unwrap().into_iter().zip(ids) {
                assert!(matches!(&loaded, Loaded::Found(bytes) if PieceId::of(bytes) == id), "{loaded:?}");
            }
        }
        [fate @ ("lent" | "gone"), id] => {
            let loaded = archive.load(&[id.parse().unwrap()]).unwrap();
            match &loaded[..] {
                [Loaded::Expired { .. }] => {}
                [Loaded::Found(bytes)] if *fate == "lent" => assert_eq!(PieceId::of(bytes).to_string(), *id),
                other => panic!("{line}: {other:?}"),
            }
        }
        ["lines", worker, len] => {
            let bytes = export(archive, &format!("source {worker}")).unwrap();
            assert!(bytes.starts_with(&transcript(worker.parse().unwrap(), len.parse().unwrap())), "{line}");
        }
        ["tag", tag] => assert!(archive.by_tag(tag.parse::<Tag>().unwrap()).unwrap().is_some()),
        other => panic!("a child said {other:?}"),
    }
}

fn acknowledged(text: &str) -> impl Iterator<Item = &str> {
    // A line without its end was not said.
    text.split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n')?.split_once(ACKNOWLEDGED).map(|(_, ack)| ack))
}

#[test]
fn eight_processes_lose_nothing_and_meet_no_lock() {
    const TEST: &str = "processes::eight_processes_lose_nothing_and_meet_no_lock";
    const ROUNDS: u64 = 12;
    if let Some(arguments) = child_arguments(TEST) {
        let archive = open(Path::new(&arguments[0]));
        (0..ROUNDS).for_each(|n| round(&archive, arguments[1].parse().unwrap(), n));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("archive");
    let start = |worker: u64| {
        let mut command = Child::same().command(TEST, &[place.to_str().unwrap(), &worker.to_string()]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(start).collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let archive = open(&place);
    for output in outputs {
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(acknowledged(&text).count() as u64, 3 * ROUNDS);
        acknowledged(&text).for_each(|line| check(&archive, line));
    }
    assert_clean(&archive);
    let left = std::fs::read_dir(&place)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains("new"));
    assert_eq!(left.count(), 0, "processes that were not first clear their drafts away");
}

#[test]
fn a_lock_that_is_held_for_a_while_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let other = rusqlite::Connection::open(dir.path().join("strongroom.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| import(&archive, "s", b"line\n"));
        std::thread::sleep(Duration::from_millis(700));
        assert!(archive.sources().unwrap().is_empty(), "reading goes on, and nothing is written yet");
        other.execute_batch("COMMIT").unwrap();
    });
    assert_eq!(export(&archive, "s").unwrap(), b"line\n");
}

#[test]
fn threads_share_an_archive() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let archive = &archive;
            scope.spawn(move || (0..3).for_each(|n| round(archive, worker, n)));
        }
    });
    assert_eq!(archive.sources().unwrap().len(), 4);
    assert_clean(&archive);
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    const TEST: &str = "processes::what_was_acknowledged_survives_a_kill";
    if let Some(arguments) = child_arguments(TEST) {
        let archive = open(Path::new(&arguments[0]));
        let worker = arguments[1].parse().unwrap();
        (0..10_000).for_each(|n| {
            round(&archive, worker, n);
            expire(&archive, worker, n);
        });
        return;
    }
    let kills: u64 = variable(KILLS).and_then(|text| text.parse().ok()).unwrap_or(25);
    let mut dir = tempfile::tempdir().unwrap();
    let mut total = 0;
    for kill in 0..kills {
        // A few kills in each archive: each finds the remains of those before.
        if kill.is_multiple_of(5) {
            dir = tempfile::tempdir().unwrap();
        }
        let text = killed(TEST, dir.path(), kill);
        let archive = open(dir.path());
        total += acknowledged(&text).inspect(|line| check(&archive, line)).count();
        assert_clean(&archive);
    }
    println!("{kills} processes killed, {total} acknowledgements at risk, 0 lost");
    assert!(total as u64 > kills, "children were killed before they did anything");
}

/// Starts a child, kills it some time after its first word, and returns what it said.
fn killed(test: &str, place: &Path, kill: u64) -> String {
    let mut command = Child::same().command(test, &[place.to_str().unwrap(), &kill.to_string()]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    // Every fourth child is killed at some point of its start, when it makes the archive.
    if !kill.is_multiple_of(4) {
        while !text.contains(ACKNOWLEDGED) {
            assert!(said.read_line(&mut text).unwrap() > 0, "{text}");
        }
    }
    std::thread::sleep(Duration::from_micros(noise(kill) % 40_000));
    child.kill().unwrap();
    said.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}
