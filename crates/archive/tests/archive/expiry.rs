//! The end of retention: what may go goes, with a trace; nothing else does.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rusqlite::Connection;
use strongroom_archive::expiry::Deletion;
use strongroom_archive::verify::{Depth, ProblemKind};
use strongroom_archive::{Archive, Mode};
use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::ErrorKind;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Loaded, Piece, Retention, Vault as _};

use crate::fixture::{assert_clean, export, meta, open, transcript};

const DAY: i64 = 86_400_000;

fn day(n: i64) -> Timestamp {
    Timestamp::from_ms(n * DAY)
}

/// Deletes what is kept until `n` days after the epoch.
fn delete(archive: &Archive, n: i64, held: &BTreeSet<SourceId>) -> strongroom_core::error::Result<usize> {
    let deletion = Deletion { expired_by: day(n), now: day(n + 1), held };
    let pieces: Vec<PieceId> = archive.terms()?.into_iter().map(|term| term.id).collect();
    archive.delete_expired(&pieces, &deletion).map(|gone| gone.len())
}

fn import_until(archive: &Archive, name: &str, mut bytes: &[u8], retention: Retention) {
    let meta = meta(archive, name, bytes);
    archive.import(&meta, &mut bytes, retention, day(0)).unwrap();
}

#[test]
fn what_has_expired_goes_with_a_trace_and_can_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let (short, long) = (transcript(1, 3_000), transcript(2, 50));
    import_until(&archive, "short", &short, Retention::Until(day(10)));
    import_until(&archive, "long", &long, Retention::Indefinite);
    let none = BTreeSet::new();
    assert_eq!(delete(&archive, 9, &none).unwrap(), 0, "a day too early");
    assert_eq!(archive.last_time().unwrap(), Some(day(0)));
    assert!(delete(&archive, 10, &none).unwrap() > 1);
    assert_eq!(archive.last_time().unwrap(), Some(day(11)));
    let error = export(&archive, "short").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Expired);
    assert!(error.message().contains("deleted on 1970-01-12 (kept until 1970-01-11)"), "{error}");
    assert_eq!(export(&archive, "long").unwrap(), long);
    assert_clean(&archive);
    import_until(&archive, "short", &short, Retention::Until(day(30)));
    assert_eq!(export(&archive, "short").unwrap(), short);
    assert_clean(&archive);
    assert!(delete(&archive, 30, &none).unwrap() > 1, "and go again");
    assert_clean(&archive);
}

#[test]
fn what_is_held_or_shared_stays() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let (one, two) = (transcript(1, 60), transcript(2, 60));
    import_until(&archive, "one", &one, Retention::Until(day(1)));
    import_until(&archive, "two", &two, Retention::Until(day(1)));
    import_until(&archive, "copy of one", &one, Retention::Until(day(2)));
    archive.store(&[Piece::new(b"unknown".to_vec())], Retention::Unknown).unwrap();
    let id = |name: &str| archive.source_by_name(name).unwrap().unwrap().meta.id;
    archive.hold(id("copy of one"), "court").unwrap();
    let by_rule = BTreeSet::from([id("two")]);
    assert_eq!(delete(&archive, 5, &by_rule).unwrap(), 0);
    assert_eq!(export(&archive, "one").unwrap(), one);
    archive.release(id("copy of one")).unwrap();
    assert_eq!(delete(&archive, 1, &by_rule).unwrap(), 0, "the copy is kept a day longer");
    assert_eq!(delete(&archive, 2, &by_rule).unwrap(), 1);
    assert_eq!(delete(&archive, 2, &BTreeSet::new()).unwrap(), 1);
    assert_eq!(archive.terms().unwrap().len(), 1, "of which nobody knows how long it is kept");
    assert_clean(&archive);
}

#[test]
fn nobody_deletes_while_another_stores() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    import_until(&archive, "s", &transcript(1, 60), Retention::Until(day(1)));
    let other = Archive::open(dir.path(), Mode::ReadWrite).unwrap();
    other.store(&[Piece::new(b"of a running compaction".to_vec())], Retention::Until(day(1))).unwrap();
    assert_eq!(delete(&archive, 5, &BTreeSet::new()).unwrap_err().kind(), ErrorKind::Busy);
    drop(other);
    assert_eq!(delete(&archive, 5, &BTreeSet::new()).unwrap(), 2);
}

#[test]
fn a_deletion_that_the_journal_does_not_know_is_found() {
    for (statement, kind) in [
        ("DELETE FROM tombstone", ProblemKind::SourceRow),
        ("UPDATE tombstone SET at_ms = 0", ProblemKind::SourceRow),
        (
            "INSERT INTO tombstone VALUES (1, zeroblob(32), 'kept until 1970-01-01', 7)",
            ProblemKind::SourceRow,
        ),
        ("DELETE FROM piece WHERE kind = 2", ProblemKind::PieceMissing),
        ("DELETE FROM blob", ProblemKind::PieceMissing),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let archive = open(dir.path());
        import_until(&archive, "short", &transcript(1, 60), Retention::Until(day(1)));
        import_until(&archive, "long", &transcript(2, 60), Retention::Indefinite);
        assert_eq!(delete(&archive, 1, &BTreeSet::new()).unwrap(), 1);
        drop(archive);
        let connection = Connection::open(dir.path().join("strongroom.db")).unwrap();
        assert!(connection.execute(statement, []).unwrap() > 0);
        drop(connection);
        let report = open(dir.path()).verify(Depth::Catalog, None);
        assert!(report.problems.iter().any(|problem| problem.kind == kind), "{statement}: {report:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn exactly_what_may_go_goes(
        kept in proptest::collection::vec((0..4u8, 0..6i64), 1..8), by in 0..7i64
    ) {
        let dir = tempfile::tempdir().unwrap();
        let archive = open(dir.path());
        let pieces: Vec<Piece> = (0..8u8).map(|n| Piece::new(vec![n; 10])).collect();
        let mut expected = BTreeSet::new();
        for ((kind, until), piece) in kept.iter().zip(&pieces) {
            let retention = match kind {
                0 => Retention::Unknown,
                1 => Retention::Indefinite,
                _ => Retention::Until(day(*until)),
            };
            archive.store(std::slice::from_ref(piece), retention).unwrap();
            if matches!(retention, Retention::Until(end) if end <= day(by)) {
                expected.insert(piece.id());
            }
        }
        delete(&archive, by, &BTreeSet::new()).unwrap();
        let ids: Vec<PieceId> = pieces.iter().take(kept.len()).map(Piece::id).collect();
        for (loaded, id) in archive.load(&ids).unwrap().into_iter().zip(ids) {
            let gone = matches!(loaded, Loaded::Expired { .. });
            prop_assert_eq!(gone, expected.contains(&id));
            prop_assert!(gone || matches!(loaded, Loaded::Found(_)));
        }
        assert_clean(&archive);
    }
}
