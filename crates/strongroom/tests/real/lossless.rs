//! For every real file of the four formats: reading never fails, import and export give the bytes back, and every
//! reclaimed span is recovered exactly through its pointer.

use std::path::{Path, PathBuf};

use strongroom::archive::{Archive, Mode};
use strongroom::compact::{Options, Outcome, Purpose, Secrets, Unmet, compact};
use strongroom::import::{ImportOptions, Progress, Recheck, Taken, import};
use strongroom::policy::Policy;
use strongroom::show::bytes;
use strongroom::time::Timestamp;
use strongroom::tokens::Budget;
use strongroom::transcript::{SessionFiles, Transcript};
use testkit::shared::shared;

use crate::walk::files;

const FOLDERS: [&str; 5] =
    ["claude-code", "claude-code-fixtures", "codex", "derived/openai-chat", "derived/anthropic-messages"];

/// Files in these folders that another tool wrote in a schema of its own.
const OTHER_FORMATS: [&str; 1] = ["tests/sample_session.json"];

const NOW: Timestamp = Timestamp::from_ms(1_790_000_000_000);

fn real_files() -> Vec<PathBuf> {
    let Some(transcripts) = shared("transcripts") else { return Vec::new() };
    let all = FOLDERS.iter().flat_map(|part| files(&transcripts.join(part)));
    all.filter(|path| path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl"))
        .filter(|path| !OTHER_FORMATS.iter().any(|other| path.ends_with(other)))
        .collect()
}

#[test]
fn import_then_export_rebuilds_every_file() {
    let files = real_files();
    let home = tempfile::tempdir().unwrap();
    let archive = Archive::open(home.path(), Mode::CreateIfMissing).unwrap();
    let policy = Policy::default();
    let options = ImportOptions { policy: &policy, now: NOW, recheck: Recheck::Trust };
    let mut imported = 0;
    import(&archive, &files, options, &mut |step| {
        if let Progress::File(path, taken) = step {
            assert!(matches!(taken, Taken::Imported), "{}: {taken:?}", path.display());
            imported += 1;
        }
    })
    .unwrap();
    assert_eq!(imported, files.len());
    for source in archive.sources().unwrap() {
        let revision = archive.latest_revision(source.meta.id).unwrap().unwrap();
        let mut rebuilt = Vec::new();
        archive.rebuild(&revision, &mut rebuilt).unwrap();
        assert!(
            rebuilt == std::fs::read(&source.meta.name).unwrap(),
            "{} came back changed",
            source.meta.name
        );
    }
}

#[test]
fn reclaimed_spans_of_a_sample_are_recovered_through_their_pointers() {
    recover_all(&real_files().into_iter().step_by(SAMPLED).collect::<Vec<_>>());
}

#[test]
#[ignore = "compacts every real session; minutes"]
fn every_reclaimed_span_is_recovered_through_its_pointer() {
    recover_all(&real_files());
}

/// Every how manieth file is compacted where not all are.
const SAMPLED: usize = 8;

fn recover_all(files: &[PathBuf]) {
    let halves: Vec<Vec<PathBuf>> =
        (0..2).map(|half| files.iter().skip(half).step_by(2).cloned().collect()).collect();
    std::thread::scope(|scope| {
        for half in &halves {
            scope.spawn(|| {
                let home = tempfile::tempdir().unwrap();
                let archive = Archive::open(home.path(), Mode::CreateIfMissing).unwrap();
                half.iter().for_each(|path| recovers(path, &archive));
            });
        }
    });
}

fn recovers(path: &Path, archive: &Archive) {
    let policy = Policy::default();
    let options = Options {
        budget: Budget::Percent(20),
        policy: &policy,
        now: NOW,
        secrets: Secrets::Mask,
        unmet: Unmet::BestEffort,
        purpose: Purpose::File,
        summariser: None,
    };
    let session = SessionFiles::open(path, None).unwrap();
    let original = std::fs::read(path).unwrap();
    let outcome = compact(&session, Some(archive), &options, &mut |_| {}).unwrap();
    let Outcome::Compacted(compacted, report) = outcome else { return };
    let name = path.display();
    assert!(report.tokens_after <= report.tokens_before, "{name}");
    let record = compacted.record().unwrap_or_else(|| panic!("{name}: no record"));
    for span in &record.spans {
        let ranges = span
            .location
            .as_ref()
            .unwrap_or_else(|| panic!("{name}: span without original"))
            .ranges
            .as_slice();
        let expected: Vec<u8> =
            ranges.iter().flat_map(|range| range.of(&original).unwrap().to_vec()).collect();
        assert!(
            bytes(archive, span).unwrap() == expected,
            "{name}: span #{} came back changed",
            span.ordinal
        );
    }
    // The output is read by the same adapter, and its context is what was reported.
    Transcript::from_bytes("output", compacted.bytes().to_vec(), Some(report.format)).unwrap();
}
