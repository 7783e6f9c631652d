//! Whatever the clock does when somebody deletes, nothing goes that a right clock would still keep.

use std::fs;

use strongroom::archive::{Archive, Mode};
use strongroom::import::{ImportOptions, Recheck, import};
use strongroom::policy::Policy;
use strongroom::retention::Plan;
use strongroom::time::Timestamp;
use testkit::dice::Dice;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// 2026-01-01.
const BEGINNING_MS: i64 = 1_767_225_600_000;
const KEPT_DAYS: i64 = 5;

/// Where the clock may stand instead of at the right instant.
const JUMPS_MS: [i64; 12] = [
    HOUR_MS,
    -HOUR_MS,
    3 * DAY_MS,
    -3 * DAY_MS,
    20 * DAY_MS,
    29 * DAY_MS,
    -29 * DAY_MS,
    3_652 * DAY_MS,
    -3_652 * DAY_MS,
    // 1970, 2038, and some seconds.
    -BEGINNING_MS,
    4_384 * DAY_MS,
    5_000,
];

/// What some schedules come to.
#[derive(Debug, Default)]
struct Tally {
    deletions: u64,
    refused: u64,
    gone: u64,
}

/// A month in which sessions are taken in and deleted now and then, under a clock that is right only sometimes. It may
/// stand in the past when something is taken in, which is then kept from the last act on, and anywhere when something is
/// deleted. One that is ahead when something is taken in carries the archive's own mark with it, and nothing inside can
/// tell.
fn schedule(seed: u64, tally: &mut Tally) {
    let mut dice = Dice::starting_at(seed);
    let home = tempfile::tempdir().unwrap();
    let archive = Archive::open(&home.path().join("archive"), Mode::CreateIfMissing).unwrap();
    let policy = Policy::parse(&format!("retention = \"{KEPT_DAYS}d\"\n"), "test").unwrap();
    let mut now = BEGINNING_MS;
    let mut taken: Vec<(String, i64)> = Vec::new();
    for step in 0..24 {
        now += i64::try_from(dice.roll(2 * DAY_MS.unsigned_abs())).unwrap();
        let jump = if dice.roll(2) == 0 { 0 } else { JUMPS_MS[dice.below(JUMPS_MS.len())] };
        if dice.roll(3) == 0 || step == 0 {
            let jump = if step == 0 { 0 } else { jump.min(0) };
            let path = home.path().join(format!("s{step}.jsonl"));
            let line = format!(
                "{{\"type\":\"user\",\"sessionId\":\"s{step}\",\"uuid\":\"u{step}\",\"message\":{{\"role\":\"user\",\"content\":\"{step}\"}}}}\n"
            );
            fs::write(&path, line).unwrap();
            let options = ImportOptions {
                policy: &policy,
                now: Timestamp::from_ms(now + jump),
                recheck: Recheck::Trust,
            };
            import(&archive, std::slice::from_ref(&path), options, &mut |_| {}).unwrap();
            let from = archive.last_time().unwrap().unwrap().as_ms().min(now);
            taken.push((path.to_string_lossy().into_owned(), from));
        } else {
            let clock = Timestamp::from_ms(now + jump);
            let plan = Plan::make(&archive, &policy, clock, None).unwrap();
            match plan.act(&archive, None) {
                Ok(gone) => tally.gone += u64::try_from(gone.len()).unwrap(),
                Err(_) => tally.refused += 1,
            }
            tally.deletions += 1;
        }
        for (name, _) in taken.iter().filter(|(_, at)| now < at + KEPT_DAYS * DAY_MS) {
            let source = archive.source_by_name(name).unwrap().unwrap();
            let revision = archive.latest_revision(source.meta.id).unwrap().unwrap();
            let kept = archive.rebuild(&revision, &mut Vec::new());
            assert!(kept.is_ok(), "seed {seed}, step {step}: {name} is gone: {kept:?}");
        }
    }
}

fn schedules(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    seeds.for_each(|seed| schedule(seed, &mut tally));
    tally
}

#[test]
fn no_clock_deletes_what_a_right_one_would_keep() {
    let tally = schedules(0..8);
    assert!(tally.gone > 3 && tally.refused > 3, "{tally:?}");
}

#[test]
#[ignore = "many minutes: the figures of docs/reliability.md"]
fn nor_does_it_in_a_thousand_schedules() {
    let tally = schedules(1_000..2_000);
    println!("{tally:?}");
    assert!(tally.gone > 100 && tally.refused > 100, "{tally:?}");
}
