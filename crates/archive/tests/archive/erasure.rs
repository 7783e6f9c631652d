//! Erasure and redaction by order: gone everywhere, told everywhere, and nothing else is touched.

use std::collections::BTreeSet;
use std::path::Path;

use strongroom_archive::erasure::Subject;
use strongroom_archive::verify::Depth;
use strongroom_archive::{Archive, Mode, Options, Order};
use strongroom_core::digest::{PieceId, SourceId};
use strongroom_core::error::ErrorKind;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{
    CompactionRecord, Loaded, Location, Piece, Registry as _, Retention, Vault as _,
};
use testkit::conformance;

use crate::encryption::{found, open_with, secret};
use crate::fixture::{assert_clean, export, import, open, transcript};

const CANARY: &[u8] = b"canary-4711-kestrel";

fn order() -> Order {
    Order { who: "mara".to_owned(), reason: "asked for it".to_owned(), at: Timestamp::from_ms(86_400_000) }
}

/// A transcript with the canary in one of its lines, too short to be compressed away.
fn with_canary(lines: u64) -> Vec<u8> {
    let text = transcript(9, lines);
    let at = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    [&text[..at], b"{\"said\":\"", CANARY, b"\"}\n", &text[at..]].concat()
}

fn both() -> [bool; 2] {
    [false, true]
}

fn opened(dir: &Path, encrypted: bool) -> Archive {
    if encrypted { open_with(dir, &secret()).unwrap() } else { open(dir) }
}

fn id(archive: &Archive, name: &str) -> SourceId {
    archive.source_by_name(name).unwrap().unwrap().meta.id
}

/// A record whose only span lies at `range` of the newest state of `name`, and quotes the canary.
fn bind_quote(archive: &Archive, name: &str, range: ByteRange) -> CompactionRecord {
    let mut record = conformance::record(archive, 1, "quote");
    let revision = archive.latest_revision(id(archive, name)).unwrap().unwrap();
    record.source = revision.source;
    record.revision = revision.id;
    record.summary_text = String::from_utf8(CANARY.to_vec()).unwrap();
    record.spans.truncate(1);
    record.spans[0].rendering.clone_from(&record.summary_text);
    record.spans[0].location =
        Some(Location { revision: revision.id, ranges: [range].into_iter().collect() });
    archive.bind(&record).unwrap();
    record
}

/// Whether the canary can be read in the archive's files, or in any blob of them once it is taken apart.
fn stands(dir: &Path) -> bool {
    let connection = rusqlite::Connection::open(dir.join("strongroom.db")).unwrap();
    let mut bodies =
        connection.prepare("SELECT body FROM blob UNION ALL SELECT body FROM compaction").unwrap();
    let rows = bodies.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let inside = rows.map(|body| body.unwrap()).any(|body| {
        let plain = (0..body.len().min(16)).find_map(|at| zstd::decode_all(&body[at..]).ok());
        plain.is_some_and(|plain| plain.windows(CANARY.len()).any(|window| window == CANARY))
    });
    inside || found(dir, CANARY) > 0
}

#[test]
fn a_source_is_erased_with_what_quotes_it() {
    for encrypted in both() {
        let dir = tempfile::tempdir().unwrap();
        let archive = opened(dir.path(), encrypted);
        let (own, other) = (with_canary(900), transcript(3, 300));
        import(&archive, "own", &own);
        import(&archive, "other", &other);
        let record = bind_quote(&archive, "own", ByteRange::new(0, 4_000));
        assert!(encrypted || stands(dir.path()));
        let subjects = [Subject::Source(id(&archive, "own"))];
        let reach = archive.reach(&subjects).unwrap();
        assert_eq!((reach.records.as_slice(), reach.shared.len()), ([record.tag].as_slice(), 0));
        assert_eq!(archive.erase(&subjects, &BTreeSet::new(), &order()).unwrap(), reach);
        archive.purge().unwrap();
        let error = export(&archive, "own").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Expired);
        assert!(error.message().contains("erased on 1970-01-02 (asked for it, by mara)"), "{error}");
        let left = archive.by_tag(record.tag).unwrap().unwrap();
        assert_eq!((left.summary, left.spans[0].hash), (record.summary, record.spans[0].hash));
        assert!(left.summary_text.is_empty() && left.spans[0].rendering.contains("erased on 1970-01-02"));
        assert_eq!(export(&archive, "other").unwrap(), other);
        assert_clean(&archive);
        assert_eq!(archive.verify(Depth::Data, None).erased, u64::try_from(reach.pieces.len()).unwrap());
        assert!(!stands(dir.path()), "encrypted: {encrypted}");
        drop(archive);
        assert!(!stands(dir.path()), "encrypted: {encrypted}");
        // Whoever has the bytes still may bring them back, and the record with them.
        let archive = opened(dir.path(), encrypted);
        import(&archive, "own", &own);
        assert_eq!(export(&archive, "own").unwrap(), own);
        archive.bind(&record).unwrap();
        assert_eq!(archive.by_tag(record.tag).unwrap().unwrap(), record);
        assert_clean(&archive);
    }
}

#[test]
fn what_others_hold_stays_with_them_and_leaves_the_erased_source() {
    for encrypted in both() {
        let dir = tempfile::tempdir().unwrap();
        let archive = opened(dir.path(), encrypted);
        let bytes = with_canary(300);
        import(&archive, "own", &bytes);
        import(&archive, "copy", &bytes);
        let reach =
            archive.erase(&[Subject::Source(id(&archive, "own"))], &BTreeSet::new(), &order()).unwrap();
        assert!(reach.pieces.is_empty() && !reach.shared.is_empty());
        archive.purge().unwrap();
        assert_eq!(export(&archive, "own").unwrap_err().kind(), ErrorKind::Expired);
        assert_eq!(export(&archive, "copy").unwrap(), bytes);
        assert_clean(&archive);
        // The last one takes the bytes with it.
        let reach =
            archive.erase(&[Subject::Source(id(&archive, "copy"))], &BTreeSet::new(), &order()).unwrap();
        assert!(!reach.pieces.is_empty() && reach.shared.is_empty());
        archive.purge().unwrap();
        assert!(!stands(dir.path()));
        assert_clean(&archive);
        import(&archive, "own", &bytes);
        assert_eq!(export(&archive, "own").unwrap(), bytes);
        assert_eq!(export(&archive, "copy").unwrap_err().kind(), ErrorKind::Expired);
        assert_clean(&archive);
    }
}

#[test]
fn a_piece_is_erased_in_every_source() {
    for encrypted in both() {
        let dir = tempfile::tempdir().unwrap();
        let archive = opened(dir.path(), encrypted);
        let bytes = with_canary(300);
        import(&archive, "one", &bytes);
        import(&archive, "two", &bytes);
        let first = archive.latest_revision(id(&archive, "one")).unwrap().unwrap().pieces[0].0;
        let reach = archive.erase(&[Subject::Piece(first)], &BTreeSet::new(), &order()).unwrap();
        assert_eq!(reach.sources, BTreeSet::from([id(&archive, "one"), id(&archive, "two")]));
        archive.purge().unwrap();
        assert!(matches!(archive.load(&[first]).unwrap()[..], [Loaded::Erased { .. }]));
        assert!(!stands(dir.path()));
        assert_clean(&archive);
        let again = archive.erase(&[Subject::Piece(first)], &BTreeSet::new(), &order()).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::NotFound);
    }
}

#[test]
fn a_hold_forbids_both() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let bytes = with_canary(50);
    import(&archive, "held", &bytes);
    import(&archive, "copy", &bytes);
    let (held, copy) = (id(&archive, "held"), id(&archive, "copy"));
    let piece = archive.latest_revision(held).unwrap().unwrap().pieces[0].0;
    let cut = [(piece, ByteRange::new(1, 5))];
    let none = BTreeSet::new();
    let by_rule = BTreeSet::from([held]);
    let tried = |held: &BTreeSet<SourceId>| {
        [
            archive.erase(&[Subject::Piece(piece)], held, &order()).unwrap_err(),
            archive.erase(&[Subject::Source(id(&archive, "held"))], held, &order()).unwrap_err(),
            archive.redact(&cut, held, &order()).unwrap_err(),
        ]
    };
    for error in tried(&by_rule) {
        assert_eq!(error.kind(), ErrorKind::Refused);
    }
    archive.hold(held, "legal: order 17").unwrap();
    for error in tried(&none) {
        assert!(error.kind() == ErrorKind::Refused && error.message().contains("order 17"), "{error}");
    }
    archive.erase(&[Subject::Source(copy)], &none, &order()).unwrap();
    assert_eq!(export(&archive, "held").unwrap(), bytes, "a copy may go");
    assert_clean(&archive);
}

#[test]
fn bytes_are_taken_out_and_the_rest_is_proved() {
    for encrypted in both() {
        let dir = tempfile::tempdir().unwrap();
        let archive = opened(dir.path(), encrypted);
        let bytes = with_canary(40);
        import(&archive, "s", &bytes);
        let revision = archive.latest_revision(id(&archive, "s")).unwrap().unwrap();
        let piece = revision.pieces[0].0;
        let at =
            u64::try_from(bytes.windows(CANARY.len()).position(|window| window == CANARY).unwrap()).unwrap();
        let range = ByteRange::new(at, at + 19);
        let record = bind_quote(&archive, "s", ByteRange::new(at, at + 4));
        let kept = bind_elsewhere(&archive, "s", ByteRange::new(0, 10));
        let receipt = archive.redact(&[(piece, range)], &BTreeSet::new(), &order()).unwrap();
        assert!(receipt.records.contains(&record.tag));
        archive.purge().unwrap();
        assert!(!stands(dir.path()), "encrypted: {encrypted}");
        let [Loaded::Redacted(left)] = &archive.load(&[piece]).unwrap()[..] else { panic!("it is redacted") };
        assert_eq!(left.bytes.len(), usize::try_from(revision.pieces[0].1).unwrap());
        assert_eq!(left.words(), "redacted 19 bytes, 1970-01-02, asked for it, by mara");
        assert_eq!(
            archive.read(&revision, ByteRange::new(0, at)).unwrap(),
            bytes[..usize::try_from(at).unwrap()]
        );
        let error = archive.read(&revision, ByteRange::new(0, at + 1)).unwrap_err();
        assert!(
            error.kind() == ErrorKind::Expired && error.message().contains("redacted 19 bytes"),
            "{error}"
        );
        let kept = archive.by_tag(kept.tag).unwrap().unwrap();
        assert_eq!(kept.spans[0].rendering, "kept", "what lies elsewhere keeps its words");
        assert_clean(&archive);
        // What was taken out does not come back because somebody has it still; a second cut joins the first.
        import(&archive, "again", &bytes);
        archive.redact(&[(piece, ByteRange::new(0, 2))], &BTreeSet::new(), &order()).unwrap();
        let [Loaded::Redacted(left)] = &archive.load(&[piece]).unwrap()[..] else { panic!("it is redacted") };
        assert_eq!(left.cuts.len(), 2);
        assert!(!stands(dir.path()));
        assert_clean(&archive);
        let tampered = rusqlite::Connection::open(dir.path().join("strongroom.db")).unwrap();
        tampered.execute("UPDATE blob SET body = x'0041'", []).unwrap();
        import(&archive, "once more", &bytes);
        assert!(!stands(dir.path()), "nor because what was left is damaged");
        assert!(!archive.verify(Depth::Data, None).is_clean());
    }
}

/// A record of another span, that does not quote the canary.
fn bind_elsewhere(archive: &Archive, name: &str, range: ByteRange) -> CompactionRecord {
    let mut record = conformance::record(archive, 1, "elsewhere");
    let revision = archive.latest_revision(id(archive, name)).unwrap().unwrap();
    record.spans.truncate(1);
    record.spans[0].rendering = "kept".to_owned();
    record.spans[0].location =
        Some(Location { revision: revision.id, ranges: [range].into_iter().collect() });
    archive.bind(&record).unwrap();
    record
}

#[test]
fn cuts_outside_a_piece_and_of_damaged_ones_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let piece = Piece::new(b"0123456789".to_vec());
    archive.store(std::slice::from_ref(&piece), Retention::Indefinite).unwrap();
    for (id, start, end, kind) in [
        (piece.id(), 3, 3, ErrorKind::InvalidInput),
        (piece.id(), 9, 11, ErrorKind::InvalidInput),
        (PieceId::of(b"never"), 0, 1, ErrorKind::NotFound),
    ] {
        let cut = [(piece.id(), ByteRange::new(0, 1)), (id, ByteRange::new(start, end))];
        let error = archive.redact(&cut, &BTreeSet::new(), &order()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
    assert!(
        matches!(&archive.load(&[piece.id()]).unwrap()[..], [Loaded::Found(bytes)] if bytes == piece.bytes())
    );
    let tampered = rusqlite::Connection::open(dir.path().join("strongroom.db")).unwrap();
    tampered.execute("UPDATE blob SET body = x'0041'", []).unwrap();
    let error =
        archive.redact(&[(piece.id(), ByteRange::new(0, 1))], &BTreeSet::new(), &order()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn an_archive_of_the_first_version_takes_orders() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let connection = rusqlite::Connection::open(dir.path().join("strongroom.db")).unwrap();
    let older = "DROP TABLE lock; DROP TABLE source_key; DROP TABLE erasure; DROP TABLE purge; PRAGMA user_version = 1";
    connection.execute_batch(older).unwrap();
    let archive = Archive::open_with(dir.path(), &Options::new(Mode::ReadWrite)).unwrap();
    import(&archive, "s", &with_canary(40));
    assert_clean(&archive);
    let version = || connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap();
    archive.purge().unwrap();
    assert_eq!(version(), 1, "older programs read it on");
    archive.erase(&[Subject::Source(id(&archive, "s"))], &BTreeSet::new(), &order()).unwrap();
    archive.purge().unwrap();
    assert_eq!(version(), 2);
    assert_clean(&archive);
    archive.encrypt(&secret()).unwrap();
    assert_clean(&open_with(dir.path(), &secret()).unwrap());
}
