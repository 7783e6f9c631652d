//! One archive for each way to break it: what is broken is named, and nothing else is lost.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};
use strongroom_archive::verify::{Depth, ProblemKind, Report};
use strongroom_archive::{Archive, Mode};
use strongroom_core::digest::PieceId;
use strongroom_core::error::ErrorKind;
use strongroom_core::vault::{CompactionRecord, Loaded, Piece, Registry as _, Retention, Vault as _};
use testkit::conformance;

use crate::fixture::{assert_clean, export, import, open, transcript};

/// An archive with one source of several pieces, two single pieces and a record.
struct Sample {
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
    pieces: Vec<PieceId>,
    record: CompactionRecord,
}

const SINGLES: [&[u8]; 2] = [b"one single piece", b"another"];

fn sample() -> Sample {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let bytes = transcript(9, 5_000);
    let revision = import(&archive, "s", &bytes);
    let mut pieces: Vec<PieceId> =
        archive.revision(revision.id).unwrap().unwrap().pieces.iter().map(|(id, _)| *id).collect();
    assert!(pieces.len() >= 3);
    let singles = SINGLES.map(|bytes| Piece::new(bytes.to_vec()));
    archive.store(&singles, Retention::Indefinite).unwrap();
    pieces.extend(singles.iter().map(Piece::id));
    let record = conformance::record(&archive, 1, "bound");
    archive.bind(&record).unwrap();
    drop(archive);
    Sample { dir, bytes, pieces, record }
}

impl Sample {
    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn open(&self) -> Archive {
        Archive::open(self.path(), Mode::ReadWrite).unwrap()
    }

    /// Changes the database behind the archive's back.
    fn tamper(&self, statement: &str, values: impl rusqlite::Params) {
        let connection = Connection::open(self.path().join("strongroom.db")).unwrap();
        assert!(connection.execute(statement, values).unwrap() > 0, "{statement} changed nothing");
    }

    fn report(&self, depth: Depth) -> Report {
        self.open().verify(depth, None)
    }

    /// Puts everything back as a new import would.
    fn store_again(&self) {
        let archive = self.open();
        import(&archive, "s", &self.bytes);
        archive.store(&SINGLES.map(|bytes| Piece::new(bytes.to_vec())), Retention::Indefinite).unwrap();
    }
}

fn kinds(report: &Report) -> Vec<ProblemKind> {
    let mut kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    kinds.dedup();
    kinds
}

fn id_of(piece: PieceId) -> [u8; 32] {
    *piece.digest().as_bytes()
}

/// Whether each piece is what it was; one that is not must not be handed out as if it were.
fn intact(archive: &Archive, pieces: &[PieceId]) -> Vec<bool> {
    let loaded = archive.load(pieces).unwrap();
    loaded
        .into_iter()
        .zip(pieces)
        .map(|(loaded, id)| matches!(loaded, Loaded::Found(bytes) if PieceId::of(&bytes) == *id))
        .collect()
}

fn assert_only_second_piece_is_lost(sample: &Sample) {
    let archive = sample.open();
    let expected: Vec<bool> = (0..sample.pieces.len()).map(|at| at != 1).collect();
    assert_eq!(intact(&archive, &sample.pieces), expected);
    assert_eq!(archive.by_tag(sample.record.tag).unwrap().as_ref(), Some(&sample.record));
    let error = export(&archive, "s").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.message().contains(&sample.pieces[1].to_string()) && error.message().contains(" at byte "),
        "{error}"
    );
}

#[test]
fn a_flipped_byte_is_found_placed_and_repaired() {
    let sample = sample();
    let body: Vec<u8> = {
        let connection = Connection::open(sample.path().join("strongroom.db")).unwrap();
        let id = id_of(sample.pieces[1]);
        connection.query_row("SELECT body FROM blob WHERE id = ?1", [id], |row| row.get(0)).unwrap()
    };
    for at in [0, 1, body.len() / 2, body.len() - 1] {
        let mut damaged = body.clone();
        damaged[at] ^= 0x10;
        sample.tamper("UPDATE blob SET body = ?1 WHERE id = ?2", params![damaged, id_of(sample.pieces[1])]);
        assert_only_second_piece_is_lost(&sample);
        assert!(sample.report(Depth::Catalog).is_clean(), "bytes are not read");
        let report = sample.report(Depth::Data);
        assert_eq!(kinds(&report), [ProblemKind::PieceDamaged]);
        let problem = &report.problems[0];
        assert_eq!((problem.piece, problem.source.as_deref()), (Some(sample.pieces[1]), Some("s")));
        assert!(problem.offset.is_some_and(|offset| offset > 0), "{problem}");
        let before = sample.open().checkpoint().unwrap();
        sample.store_again();
        assert_clean(&sample.open());
        assert_eq!(sample.open().checkpoint().unwrap().size, before.size + 1, "the repair is in the journal");
        assert_eq!(export(&sample.open(), "s").unwrap(), sample.bytes);
    }
}

#[test]
fn other_bytes_in_a_sound_frame_are_found_too() {
    let sample = sample();
    let swap = "UPDATE blob SET body = (SELECT body FROM blob WHERE id = ?2) WHERE id = ?1";
    sample.tamper(swap, params![id_of(sample.pieces[1]), id_of(sample.pieces[0])]);
    assert_only_second_piece_is_lost(&sample);
    assert_eq!(kinds(&sample.report(Depth::Data)), [ProblemKind::PieceDamaged]);
}

#[test]
fn missing_rows_are_named_and_come_back_with_the_piece() {
    for (statement, expected) in [
        ("DELETE FROM blob WHERE id = ?1", vec![ProblemKind::PieceMissing]),
        (
            "DELETE FROM piece WHERE id = ?1",
            vec![ProblemKind::PieceMissing, ProblemKind::PieceRow, ProblemKind::SourceRow],
        ),
    ] {
        let sample = sample();
        sample.tamper(statement, [id_of(sample.pieces[1])]);
        let report = sample.report(Depth::Catalog);
        assert_eq!(kinds(&report), expected, "{statement}");
        assert_eq!(report.problems[0].piece, Some(sample.pieces[1]));
        let archive = sample.open();
        let whole: Vec<bool> = intact(&archive, &sample.pieces)
            .into_iter()
            .zip(archive.stat(&sample.pieces).unwrap())
            .map(|(intact, stat)| intact && stat.is_some())
            .collect();
        let others: Vec<bool> = (0..sample.pieces.len()).map(|at| at != 1).collect();
        assert_eq!(whole, others, "{statement}");
        sample.store_again();
        assert_clean(&sample.open());
    }
}

#[test]
fn rows_that_were_changed_by_hand_are_not_what_the_journal_says() {
    for (statement, kind) in [
        ("UPDATE piece SET kind = 1, until_ms = 7 WHERE len = 7", ProblemKind::PieceRow),
        ("UPDATE piece SET len = 8 WHERE len = 7", ProblemKind::PieceRow),
        ("UPDATE source SET mtime_ms = 99", ProblemKind::SourceRow),
        ("UPDATE revision SET at_ms = 99", ProblemKind::SourceRow),
        ("UPDATE source_piece SET piece = zeroblob(32) WHERE seq = 1", ProblemKind::SourceRow),
        ("DELETE FROM source_piece WHERE seq = 1", ProblemKind::SourceRow),
        ("DELETE FROM revision", ProblemKind::SourceRow),
        ("DELETE FROM source", ProblemKind::SourceRow),
        ("INSERT INTO hold VALUES (1, zeroblob(32), 'x')", ProblemKind::SourceRow),
        ("INSERT INTO session_item VALUES (1, zeroblob(32), 'x', zeroblob(32))", ProblemKind::SourceRow),
        ("UPDATE archive SET cap_kind = 0", ProblemKind::SourceRow),
        ("DELETE FROM compaction", ProblemKind::Record),
        ("UPDATE compaction SET summary = zeroblob(32)", ProblemKind::Record),
        ("UPDATE compaction SET body = substr(body, 1, 40)", ProblemKind::Record),
        ("UPDATE compaction SET leaf = 0", ProblemKind::Record),
        ("DELETE FROM neighbour WHERE rowid_of = 1", ProblemKind::Record),
        ("DELETE FROM journal_entry WHERE no = 3", ProblemKind::Journal),
        ("UPDATE journal_entry SET no = 4611686018427387904 WHERE no = 3", ProblemKind::Journal),
        ("UPDATE journal_node SET no = 4611686018427387904 WHERE level = 0 AND no = 3", ProblemKind::Journal),
        ("UPDATE journal_entry SET no = 9223372036854775807 WHERE no = 3", ProblemKind::Journal),
        ("DELETE FROM journal_node WHERE level = 1 AND no = 1", ProblemKind::Journal),
        ("UPDATE journal_entry SET body = x'0102' WHERE no = 2", ProblemKind::Journal),
        ("UPDATE journal_node SET hash = zeroblob(32) WHERE level = 2 AND no = 0", ProblemKind::Journal),
        ("UPDATE archive SET id = zeroblob(32)", ProblemKind::Journal),
    ] {
        let sample = sample();
        let statement = statement.replace("rowid_of = 1", "key = (SELECT min(key) FROM neighbour)");
        sample.tamper(&statement, []);
        assert!(
            kinds(&sample.report(Depth::Catalog)).contains(&kind),
            "{statement}: {:#?}",
            sample.report(Depth::Catalog)
        );
    }
}

#[test]
fn a_record_that_the_journal_does_not_know_is_not_believed() {
    let sample = sample();
    let other = sample.open();
    let forged = conformance::record(&other, 2, "forged");
    other.bind(&forged).unwrap();
    drop(other);
    let swap = "UPDATE compaction SET body = (SELECT body FROM compaction WHERE tag = ?2) WHERE tag = ?1";
    sample.tamper(swap, params![sample.record.tag.as_bytes(), forged.tag.as_bytes()]);
    let archive = sample.open();
    assert_eq!(archive.by_tag(sample.record.tag).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(archive.bind(&sample.record).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(archive.by_tag(forged.tag).unwrap(), Some(forged), "the other one is as good as before");
    assert!(intact(&archive, &sample.pieces).iter().all(|intact| *intact));
}

/// Opens what is left of an archive and uses all of it. Whatever is handed out must be right, and a clean report must
/// mean that nothing is lost.
fn survey(sample: &Sample, what: &str) {
    let archive = match Archive::open(sample.path(), Mode::ReadWrite) {
        Ok(archive) => archive,
        // The version is a number that may look newer.
        Err(error) if error.message().contains("format version") => return,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}"),
    };
    let report = archive.verify(Depth::Data, None);
    let whole = archive.load(&sample.pieces).map(|loaded| {
        let intact = |(loaded, id): (Loaded, &PieceId)| matches!(loaded, Loaded::Found(bytes) if PieceId::of(&bytes) == *id);
        loaded.into_iter().zip(&sample.pieces).all(intact)
    });
    let record = archive.by_tag(sample.record.tag);
    let found = record.as_ref().is_ok_and(|record| record.as_ref() == Some(&sample.record));
    assert!(found || !matches!(record, Ok(Some(_))), "{what}: another record is believed");
    let exported = archive.source_by_name("s").and_then(|source| {
        let revision = source.map(|source| archive.latest_revision(source.meta.id)).transpose()?.flatten();
        let mut bytes = Vec::new();
        revision.map_or(Ok(()), |revision| archive.rebuild(&revision, &mut bytes).map(|_| ()))?;
        Ok(bytes)
    });
    let errors = [whole.as_ref().err(), record.as_ref().err(), exported.as_ref().err()];
    for error in errors.into_iter().flatten() {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
    }
    if report.is_clean() {
        assert!(whole.unwrap() && found && exported.unwrap() == sample.bytes, "{what}: the report is clean");
    }
}

#[test]
fn any_byte_of_the_file_may_change() {
    let sample = sample();
    let database = sample.path().join("strongroom.db");
    let whole = fs::read(&database).unwrap();
    let step = whole.len() / 150 + 1;
    for (n, at) in (0..100).chain((100..whole.len()).step_by(step)).enumerate() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (n % 8);
        restore(&sample, &damaged);
        survey(&sample, &format!("byte {at} of {}", whole.len()));
    }
}

#[test]
fn the_file_may_end_anywhere() {
    let sample = sample();
    let whole = fs::read(sample.path().join("strongroom.db")).unwrap();
    for len in
        (0..whole.len()).step_by(whole.len() / 60 + 1).chain([1, 99, 100, 4_095, 4_096, whole.len() - 1])
    {
        restore(&sample, &whole[..len]);
        survey(&sample, &format!("{len} of {} bytes", whole.len()));
    }
}

/// What a crash leaves behind is a database with its log. A damaged log ends where the damage begins: what is before it
/// stands, what is behind it is gone as if it had never been, and nothing in between is believed.
#[test]
fn a_damaged_log_ends_where_the_damage_begins() {
    let live = tempfile::tempdir().unwrap();
    let archive = open(live.path());
    let mut checkpoints = vec![archive.checkpoint().unwrap()];
    let pieces: Vec<Piece> = (0..12).map(|n| Piece::new(transcript(n, 20))).collect();
    for piece in &pieces {
        archive.store(std::slice::from_ref(piece), Retention::Indefinite).unwrap();
        checkpoints.push(archive.checkpoint().unwrap());
    }
    let [database, log] =
        ["strongroom.db", "strongroom.db-wal"].map(|name| fs::read(live.path().join(name)).unwrap());
    let mut lost = 0;
    for (n, at) in (0..40).chain((40..log.len()).step_by(log.len() / 50 + 1)).enumerate() {
        let left = tempfile::tempdir().unwrap();
        let mut damaged = log.clone();
        damaged[at] ^= 1 << (n % 8);
        fs::write(left.path().join("strongroom.db"), &database).unwrap();
        fs::write(left.path().join("strongroom.db-wal"), damaged).unwrap();
        let left = Archive::open(left.path(), Mode::ReadWrite).unwrap();
        let report = left.verify(Depth::Data, None);
        assert!(report.is_clean(), "byte {at}: {:?}", report.problems);
        let now = left.checkpoint().unwrap();
        let kept = checkpoints.iter().position(|known| *known == now).unwrap();
        let ids: Vec<PieceId> = pieces.iter().map(Piece::id).collect();
        let expected: Vec<bool> = (0..pieces.len()).map(|n| n < kept).collect();
        assert_eq!(intact(&left, &ids), expected, "byte {at}");
        lost += usize::from(kept < pieces.len());
        let newest = checkpoints.last().unwrap();
        assert_eq!(
            left.verify(Depth::Catalog, Some(newest)).is_clean(),
            now == *newest,
            "a checkpoint shows the loss"
        );
    }
    assert!(lost > 0);
}

fn restore(sample: &Sample, bytes: &[u8]) {
    for name in ["strongroom.db-wal", "strongroom.db-shm"] {
        let file = sample.path().join(name);
        if file.exists() {
            fs::remove_file(file).unwrap();
        }
    }
    fs::write(sample.path().join("strongroom.db"), bytes).unwrap();
}

#[test]
fn a_journal_that_was_cut_swapped_spliced_or_replayed_is_found() {
    let entry = |no: u32| format!("(SELECT body FROM journal_entry WHERE no = {no})");
    let last = "(SELECT max(no) FROM journal_entry)";
    for (what, statements) in [
        ("cut", vec![format!("DELETE FROM journal_entry WHERE no = {last}")]),
        (
            "swapped",
            vec![
                "UPDATE journal_entry SET no = -1 WHERE no = 2".to_owned(),
                "UPDATE journal_entry SET no = 2 WHERE no = 3".to_owned(),
                "UPDATE journal_entry SET no = 3 WHERE no = -1".to_owned(),
            ],
        ),
        ("spliced", vec![format!("UPDATE journal_entry SET body = {} WHERE no = 3", entry(2))]),
        ("replayed", vec![format!("INSERT INTO journal_entry SELECT 1, {last} + 1, {}", entry(1))]),
        (
            "cut with its node",
            vec![
                format!("DELETE FROM journal_node WHERE level = 0 AND no = {last}"),
                format!("DELETE FROM journal_entry WHERE no = {last}"),
            ],
        ),
    ] {
        let sample = sample();
        for statement in &statements {
            sample.tamper(statement, []);
        }
        let report = sample.report(Depth::Catalog);
        assert!(!report.is_clean(), "{what}");
    }
}

#[test]
fn pieces_that_were_cut_or_swapped_are_found() {
    let sample = sample();
    let [one, two] = [0, 1].map(|at| id_of(sample.pieces[at]));
    for (statement, id) in [
        ("UPDATE blob SET body = substr(body, 1, length(body) - 1) WHERE id = ?1", one),
        ("UPDATE blob SET body = x'' WHERE id = ?1", two),
    ] {
        sample.tamper(statement, [id]);
    }
    let damaged = |sample: &Sample| -> Vec<PieceId> {
        sample.report(Depth::Data).problems.iter().filter_map(|problem| problem.piece).collect()
    };
    let found: std::collections::BTreeSet<_> = damaged(&sample).into_iter().collect();
    assert_eq!(found, sample.pieces[..2].iter().copied().collect());
    sample.store_again();
    for (from, to) in [(one, [7; 32]), (two, one), ([7; 32], two)] {
        sample.tamper("UPDATE blob SET id = ?2 WHERE id = ?1", params![from, to]);
    }
    assert_eq!(damaged(&sample).len(), 2, "each has the bytes of the other");
}
