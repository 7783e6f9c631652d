//! Power failures: at points of a recording the disk keeps what was flushed and some of the rest.

use std::fs;
use std::ops::{AddAssign, Range};
use std::path::Path;

use strongroom_core::vault::{Piece, Retention, Vault as _};
use testkit::dice::Dice;

use super::promises::{Note, Promises};
use super::workload::{Act, Recording, chosen, run, secret};
use super::{Scratch, part};
use crate::archive::{Archive, Mode, Options};
use crate::disk::simulated::{Bug, Disk, Image, Survivors, plant};

/// How many acts a run has, and in how many states its disk is looked at.
const ACTS: usize = 14;
const STATES: u64 = 60;

/// What runs come to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) states: u64,
    /// Changes that were lost, whole or in part, over all states.
    pub(super) faults: u64,
    /// Promises that had been made by the time of the failure, over all states.
    pub(super) at_risk: u64,
    /// What was broken, with its seed.
    pub(super) broken: Vec<String>,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.states += other.states;
        self.faults += other.faults;
        self.at_risk += other.at_risk;
        self.broken.extend(other.broken);
    }
}

/// Records a program.
fn record(seed: u64, acts: &[Act], bug: Option<Bug>) -> Recording {
    let scratch = Scratch::new();
    let disk = Disk::watch(&scratch.path("archive"), None);
    let _planted = plant(bug);
    let recording = run(seed, acts, &disk);
    assert!(recording.errors.is_empty(), "seed {seed}: {:?}", recording.errors);
    recording
}

/// Cuts the power `states` times at points of `recording` chosen by `seed`.
pub(super) fn cut(seed: u64, recording: &Recording, states: u64) -> Tally {
    let mut dice = Dice::new(seed ^ 0x5eed);
    let count = recording.events.len();
    let mut points: Vec<usize> = (0..states).map(|_| dice.below(count + 1)).collect();
    points.sort_unstable();
    let mut points = points.into_iter().peekable();
    let mut image = Image::new(seed);
    let mut promises = Promises::default();
    let mut notes = recording.notes.iter().peekable();
    let mut tally = Tally::default();
    for at in 0..=count {
        while let Some((_, note)) = notes.next_if(|(after, _)| *after <= at) {
            promises.add(note);
        }
        while points.next_if_eq(&at).is_some() {
            tally += look(&image.cut(), &promises, &format!("seed {seed}, after change {at} of {count}"));
        }
        if let Some(event) = recording.events.get(at) {
            image.follow(event);
        }
    }
    tally
}

fn look(left: &Survivors, promises: &Promises, place: &str) -> Tally {
    let scratch = Scratch::new();
    let dir = scratch.path("archive");
    restore(left, &dir);
    let mut broken = promises.broken(&dir);
    // Not each time, as it takes as long again.
    if left.lost % 8 == 1 {
        broken.extend(go_on(&dir, promises));
    }
    let broken = broken.into_iter().map(|what| format!("{place}: {what}")).collect();
    Tally { states: 1, faults: left.lost, at_risk: promises.count(), broken }
}

/// Uses the archive again; what is stored now joins what was promised before.
fn go_on(dir: &Path, promises: &Promises) -> Vec<String> {
    let piece = Piece::new(b"after the failure".repeat(500));
    let options = Options { secret: Some(secret()), ..Options::new(Mode::ReadWrite) };
    let stored = Archive::open_with(dir, &options)
        .and_then(|archive| archive.store(std::slice::from_ref(&piece), Retention::Indefinite));
    if let Err(error) = stored {
        return vec![format!("the archive is of no more use: {error}")];
    }
    let mut promises = promises.clone();
    promises.add(&Note::Kept(vec![piece.id()]));
    promises.broken(dir)
}

fn restore(left: &Survivors, dir: &Path) {
    let Some(files) = &left.files else { return };
    fs::create_dir(dir).unwrap();
    for (name, bytes) in files {
        fs::write(dir.join(name), bytes).unwrap();
    }
}

fn torture(seeds: Range<u64>, bug: Option<Bug>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds.clone() {
        tally += cut(seed, &record(seed, &chosen(seed, ACTS), bug), STATES);
        if seed % 100 == 99 {
            tell(seeds.start..seed + 1, bug, &tally);
        }
    }
    tell(seeds, bug, &tally);
    tally
}

fn tell(seeds: Range<u64>, bug: Option<Bug>, tally: &Tally) {
    println!(
        "power failures, seeds {seeds:?}, {bug:?} planted: {} states, {} changes lost or torn, {} promises at risk, {} broken",
        tally.states,
        tally.faults,
        tally.at_risk,
        tally.broken.len()
    );
}

#[track_caller]
fn assert_sound(tally: &Tally) {
    assert!(tally.broken.is_empty(), "{:#?}", &tally.broken[..tally.broken.len().min(20)]);
    assert!(tally.faults > tally.states, "hardly anything was lost: {tally:?}");
    assert!(tally.at_risk > tally.states, "hardly anything was promised: {tally:?}");
}

#[test]
fn a_power_failure_breaks_no_promise() {
    assert_sound(&torture(0..4, None));
}

#[test]
fn nor_does_one_without_a_log() {
    let acts = [Act::Open, Act::TakeLog, Act::Store, Act::Import, Act::Bind, Act::Store];
    let tally = cut(1, &record(1, &acts, None), 100);
    assert_eq!(tally.broken, Vec::<String>::new());
    assert!(tally.faults > 0 && tally.at_risk > 0, "{tally:?}");
}

#[test]
fn encrypting_erasing_and_redacting_leave_before_or_after() {
    let acts =
        [Act::Open, Act::Import, Act::Lend, Act::Bind, Act::Encrypt, Act::Redact, Act::Erase, Act::Store];
    let tally = cut(3, &record(3, &acts, None), 60);
    assert_eq!(tally.broken, Vec::<String>::new());
    assert!(tally.faults > 0 && tally.at_risk > 0, "{tally:?}");
}

#[test]
fn planted_bugs_are_found() {
    for bug in [Bug::AcknowledgesBeforeCommit, Bug::AcknowledgesBeforeFlush, Bug::FlushesNoDirectory] {
        let tally = torture(0..1, Some(bug));
        assert!(!tally.broken.is_empty(), "{bug:?} was not found");
    }
}

#[test]
#[ignore = "a minute; just torture ci"]
fn ci() {
    assert_sound(&torture(1_000..1_040, None));
}

#[test]
#[ignore = "about an hour; just torture hour"]
fn hour() {
    assert_sound(&torture(part(10_000..16_000), None));
}

#[test]
#[ignore = "a night; just torture night"]
fn night() {
    assert_sound(&torture(part(100_000..117_000), None));
}
