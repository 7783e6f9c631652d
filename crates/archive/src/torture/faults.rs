//! Disks that are full, fail, write short, do not flush, or write something else.

use std::collections::BTreeSet;
use std::ops::Range;

use strongroom_core::digest::PieceId;
use strongroom_core::error::ErrorKind;
use strongroom_core::vault::{Loaded, Piece, Retention, Vault as _};
use testkit::dice::Dice;

use super::power::{Tally, cut};
use super::promises::Promises;
use super::workload::{Act, run, text};
use super::{Scratch, part};
use crate::archive::{Archive, Mode};
use crate::disk::simulated::{Bug, Disk, Failure, Plan, plant, seed_random};

/// An import, a compaction's acts, and a collection of what has expired, with what a disk does between them.
const ACTS: [Act; 11] = [
    Act::Open,
    Act::Import,
    Act::Lend,
    Act::Store,
    Act::Bind,
    Act::Checkpoint,
    Act::Delete,
    Act::Import,
    Act::Close,
    Act::Store,
    Act::Hold,
];

const FAILURES: [Failure; 4] = [Failure::Full, Failure::Short, Failure::Io, Failure::Flush];

/// What runs over failing disks come to.
#[derive(Debug, Default)]
struct Toll {
    runs: u64,
    /// Changes that failed.
    injected: u64,
    /// Acts that were answered with an error.
    refused: u64,
    tally: Tally,
}

/// One run with a failure planned; whether it came to it.
fn fail(seed: u64, acts: &[Act], plan: Plan, toll: &mut Toll) -> bool {
    let scratch = Scratch::new();
    let disk = Disk::watch(&scratch.path("archive"), Some(plan));
    let recording = run(seed, acts, &disk);
    if recording.injected == 0 {
        return false;
    }
    disk.lock().mend();
    let place = format!("seed {seed}, {plan:?}");
    for error in &recording.errors {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{place}: {error:?}");
        assert!(!error.message().is_empty(), "{place}");
    }
    let mut promises = Promises::default();
    recording.notes.iter().for_each(|(_, note)| promises.add(note));
    let broken = promises.broken(disk.dir()).into_iter().map(|what| format!("{place}: {what}"));
    toll.tally += Tally { states: 1, faults: 0, at_risk: promises.count(), broken: broken.collect() };
    // The same with the power gone as well: what a failed flush left is not for certain.
    toll.tally += cut(seed ^ plan.at, &recording, 2);
    toll.runs += 1;
    toll.injected += recording.injected;
    toll.refused += recording.errors.len() as u64;
    true
}

/// The same with what changes how everything stands, or takes it away.
const ORDERS: [Act; 9] = [
    Act::Open,
    Act::Import,
    Act::Lend,
    Act::Bind,
    Act::Encrypt,
    Act::Redact,
    Act::Erase,
    Act::Close,
    Act::Store,
];

/// Fails every `stride`-th change of a run.
fn torture(seeds: Range<u64>, stride: usize, acts: &[Act]) -> Toll {
    let mut toll = Toll::default();
    for seed in seeds.clone() {
        for (offset, failure) in (0..).zip(FAILURES) {
            let _indexes = (offset..)
                .step_by(stride)
                .take_while(|&at| fail(seed, acts, Plan { at, failure }, &mut toll))
                .count();
        }
        tell(seeds.start..seed + 1, &toll);
    }
    toll
}

fn tell(seeds: Range<u64>, toll: &Toll) {
    let Toll { runs, injected, refused, tally } = toll;
    println!(
        "failing disks, seeds {seeds:?}: {runs} runs, {injected} changes failed, {refused} acts refused, {} promises at risk in {} states, {} broken",
        tally.at_risk,
        tally.states,
        tally.broken.len()
    );
}

#[track_caller]
fn assert_sound(toll: &Toll) {
    let broken = &toll.tally.broken;
    assert!(broken.is_empty(), "{:#?}", &broken[..broken.len().min(20)]);
    assert!(toll.refused > toll.runs / 2 && toll.runs > 20, "hardly anything failed: {toll:?}");
}

#[test]
fn a_failing_disk_leaves_before_or_after() {
    assert_sound(&torture(0..1, 29, &ACTS));
}

#[test]
fn so_it_does_while_the_archive_is_encrypted_or_loses_something() {
    assert_sound(&torture(0..1, 97, &ORDERS));
}

#[test]
fn a_new_archive_is_whole_or_not_there() {
    let mut toll = Toll::default();
    for (failure, stride) in [(Failure::Flush, 1), (Failure::Short, 13), (Failure::Full, 17)] {
        let at = (0..).step_by(stride).map(|at| Plan { at, failure });
        assert!(at.take_while(|plan| fail(plan.at, &[Act::Open, Act::Open], *plan, &mut toll)).count() > 4);
    }
    assert_eq!(toll.tally.broken, Vec::<String>::new());
}

#[test]
fn an_archive_whose_making_failed_late_lasts_once_it_is_used() {
    let mut toll = Toll::default();
    for (at, seed) in (0..16).flat_map(|at| (0..3).map(move |seed| (at, seed))) {
        let plan = Plan { at, failure: Failure::Io };
        assert!(fail(seed, &[Act::Open, Act::Open, Act::Store], plan, &mut toll));
    }
    assert_eq!(toll.tally.broken, Vec::<String>::new());
}

#[test]
fn a_new_archive_has_a_log_whatever_failed() {
    for at in 0..16 {
        let scratch = Scratch::new();
        let disk = Disk::watch(&scratch.path("archive"), Some(Plan { at, failure: Failure::Io }));
        if Archive::open(disk.dir(), Mode::CreateIfMissing).is_err() {
            disk.lock().mend();
            Archive::open(disk.dir(), Mode::CreateIfMissing).unwrap();
        }
        let database = rusqlite::Connection::open(disk.dir().join("strongroom.db")).unwrap();
        let kind: String = database.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(kind, "wal", "after a failure of change {at}");
    }
}

#[test]
#[ignore = "a minute; just torture ci"]
fn ci() {
    assert_sound(&torture(1..2, 3, &ACTS));
    assert_sound(&torture(1..2, 7, &ORDERS));
}

#[test]
#[ignore = "minutes; just torture hour"]
fn hour() {
    assert_sound(&torture(part(0..10), 1, &ACTS));
}

#[test]
#[ignore = "an hour; just torture night"]
fn night() {
    assert_sound(&torture(part(0..100), 1, &ACTS));
}

/// Stores pieces while one bit of the log's page `at` arrives changed. Whether there was such a page, and the pieces
/// that were read back well and then were not there.
fn flip(at: u64, pieces: &[Piece]) -> (bool, usize) {
    let ids: Vec<PieceId> = pieces.iter().map(Piece::id).collect();
    let scratch = Scratch::new();
    seed_random(Some(at));
    drop(Archive::open(&scratch.path("archive"), Mode::CreateIfMissing).unwrap());
    seed_random(None);
    let disk = Disk::watch(&scratch.path("archive"), Some(Plan { at, failure: Failure::Flip }));
    let archive = Archive::open(disk.dir(), Mode::ReadWrite).unwrap();
    archive.store(pieces, Retention::Indefinite).unwrap();
    let confirmed = found(&archive, &ids);
    drop(archive);
    let after =
        Archive::open(disk.dir(), Mode::ReadWrite).map_or(BTreeSet::new(), |archive| found(&archive, &ids));
    let was_flipped = disk.lock().injected > 0;
    (was_flipped, confirmed.difference(&after).count())
}

fn found(archive: &Archive, ids: &[PieceId]) -> BTreeSet<PieceId> {
    let loaded = archive.load(ids).unwrap_or_default();
    let is_found = |(id, loaded): (&PieceId, Loaded)| {
        matches!(loaded, Loaded::Found(bytes) if PieceId::of(&bytes) == *id).then_some(*id)
    };
    ids.iter().zip(loaded).filter_map(is_found).collect()
}

/// How many pages were changed, and how many pieces were lost that had been read back.
fn flips(bug: Option<Bug>) -> (u64, usize) {
    let _planted = plant(bug);
    let mut dice = Dice::new(1);
    let pieces: Vec<Piece> = (0..4).map(|n| Piece::new(text(&mut dice, 3_000 * (n + 1)))).collect();
    let mut lost = 0;
    let mut pages = 0;
    loop {
        let (was_flipped, gone) = flip(pages, &pieces);
        if !was_flipped {
            println!(
                "changed bits, {bug:?} planted: {pages} pages, {lost} pieces lost that had been read back"
            );
            return (pages, lost);
        }
        pages += 1;
        lost += gone;
    }
}

#[test]
fn what_was_read_back_is_on_the_disk() {
    let (pages, lost) = flips(None);
    assert!(pages > 10, "{pages}");
    assert_eq!(lost, 0);
}

#[test]
fn reading_back_from_a_cache_is_found() {
    let (_, lost) = flips(Some(Bug::ReadsBackFromCache));
    assert!(lost > 0);
}
