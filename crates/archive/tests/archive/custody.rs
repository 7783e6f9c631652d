//! Sources, revisions, sessions, holds.

use std::fs;
use std::path::{Path, PathBuf};

use strongroom_archive::custody::NewRevision;
use strongroom_archive::cut::cut;
use strongroom_archive::source::{ItemFacts, Relation, SessionItem, source_id};
use strongroom_archive::verify::Depth;
use strongroom_core::digest::PieceId;
use strongroom_core::error::ErrorKind;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Bytes as _;
use strongroom_core::vault::{Hold, Registry as _, Retention, Vault as _};

use crate::fixture::{assert_clean, export, import, meta, open, transcript};

#[test]
fn what_is_imported_comes_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let sources: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("no line end", b"{\"a\":1}".to_vec()),
        ("not text", (0..=255).cycle().take(3_000_000).collect()),
        ("/home/a/\u{e9}.jsonl", transcript(1, 9_000)),
        ("-", vec![b'x'; 1 << 21]),
    ];
    for (name, bytes) in &sources {
        let revision = import(&archive, name, bytes);
        assert_eq!(
            (revision.len, revision.number, revision.relation),
            (bytes.len() as u64, 1, Relation::First)
        );
    }
    for (name, bytes) in &sources {
        assert!(export(&archive, name).unwrap() == *bytes, "{name}");
    }
    let names: Vec<String> = archive.sources().unwrap().into_iter().map(|source| source.meta.name).collect();
    let mut sorted: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert_clean(&archive);
}

/// Two files of each directory, of at most 4 MB each.
fn real_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for (n, path) in entries.into_iter().enumerate() {
        if path.is_dir() {
            real_files(&path, found);
        } else if n < 2 && fs::metadata(&path).unwrap().len() < 4_000_000 {
            found.push(path);
        }
    }
}

#[test]
fn real_transcripts_come_back_byte_for_byte() {
    let shared = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/transcripts"));
    if !shared.exists() {
        println!("SKIPPED: {} is not there", shared.display());
        return;
    }
    let mut files = Vec::new();
    real_files(shared, &mut files);
    assert!(!files.is_empty());
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    for file in &files {
        let name = file.to_str().unwrap();
        let bytes = fs::read(file).unwrap();
        // Imported while it grows, then whole.
        import(&archive, name, &bytes[..bytes.len() / 2]);
        let revision = import(&archive, name, &bytes);
        assert!(revision.relation == Relation::Extends || bytes.len() < 2, "{name}: {:?}", revision.relation);
        assert!(export(&archive, name).unwrap() == bytes, "{name}");
    }
    assert_clean(&archive);
}

#[test]
fn ranges_are_read_across_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let bytes = transcript(2, 9_000);
    let revision = archive.revision(import(&archive, "s", &bytes).id).unwrap().unwrap();
    assert!(revision.pieces.len() > 4);
    let view = archive.bytes_of(revision.clone());
    let edge = revision.pieces[0].1;
    for (start, end) in
        [(0, 0), (0, 1), (edge - 1, edge + 1), (5, 400_000), (view.len() - 1, view.len()), (0, view.len())]
    {
        let range = ByteRange::new(start, end);
        let expected = range.of(&bytes).unwrap();
        assert!(archive.read(&revision, range).unwrap() == expected, "{range:?}");
        assert!(*view.read(range).unwrap() == *expected, "{range:?}");
        assert!(*view.read(range).unwrap() == *expected, "{range:?} again");
    }
    let behind = ByteRange::new(0, view.len() + 1);
    assert_eq!(archive.read(&revision, behind).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(view.read(behind).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn states_extend_or_replace_and_every_one_of_them_stays() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let whole = transcript(3, 8_000);
    let mut rewritten = whole.clone();
    rewritten[700_000] ^= 1;
    let states: [(&[u8], Relation); 7] = [
        (&whole[..300_001], Relation::First),
        (&whole[..300_050], Relation::Extends),
        (&whole, Relation::Extends),
        (&rewritten, Relation::Replaces),
        (&whole, Relation::Replaces),
        (&whole[..500_000], Relation::Replaces),
        (b"", Relation::Replaces),
    ];
    let ids: Vec<_> = states
        .iter()
        .zip(1..)
        .map(|((bytes, relation), number)| {
            let revision = import(&archive, "s", bytes);
            assert_eq!((revision.number, revision.relation), (number, *relation));
            revision.id
        })
        .collect();
    let again = import(&archive, "s", b"");
    assert_eq!(again.number, 7, "the same state is not recorded twice");
    for ((bytes, _), id) in states.iter().zip(&ids) {
        let revision = archive.revision(*id).unwrap().unwrap();
        let mut rebuilt = Vec::new();
        archive.rebuild(&revision, &mut rebuilt).unwrap();
        assert!(rebuilt == *bytes);
    }
    assert_clean(&archive);
}

#[test]
fn an_append_costs_the_append() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let bytes = transcript(4, 20_000);
    import(&archive, "s", &bytes[..bytes.len() - 2_000]);
    let before = archive.verify(Depth::Catalog, None).pieces;
    let revision = import(&archive, "s", &bytes);
    assert!(revision.pieces > 10 && revision.shared >= revision.pieces - 2);
    assert!(archive.verify(Depth::Catalog, None).pieces <= before + 2);
}

#[test]
fn items_are_unchanged_until_any_fact_changes() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    import(&archive, "s", b"line\n");
    let facts = meta(&archive, "s", b"line\n").facts;
    assert!(archive.is_unchanged("s", &facts).unwrap());
    assert!(!archive.is_unchanged("t", &facts).unwrap());
    for changed in [
        ItemFacts { size_bytes: 1, ..facts },
        ItemFacts { mtime_ms: 1, ..facts },
        ItemFacts { inode: 1, ..facts },
        ItemFacts { device: 9, ..facts },
    ] {
        assert!(!archive.is_unchanged("s", &changed).unwrap());
    }
    let mut touched = meta(&archive, "s", b"line\n");
    touched.facts.mtime_ms = 77;
    let pieces: Vec<_> =
        cut(b"line\n").iter().map(|piece| (piece.id(), piece.bytes().len() as u64)).collect();
    let (retention, at) = (Retention::Unknown, Timestamp::from_ms(2));
    let new = NewRevision { source: &touched, pieces: &pieces, retention, at };
    assert_eq!(archive.put_revision(&new).unwrap().number, 1);
    assert!(archive.is_unchanged("s", &touched.facts).unwrap(), "a touched file is remembered as it is now");
    assert_clean(&archive);
}

#[test]
fn a_state_of_pieces_that_are_not_there_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    import(&archive, "s", b"line\n");
    let source = meta(&archive, "t", b"");
    for (pieces, kind) in [
        ([(PieceId::of(b"line\n"), 5), (PieceId::of(b"gone"), 4)], ErrorKind::NotFound),
        ([(PieceId::of(b"line\n"), 5), (PieceId::of(b"line\n"), 4)], ErrorKind::InvalidInput),
    ] {
        let new = NewRevision {
            source: &source,
            pieces: &pieces,
            retention: Retention::Indefinite,
            at: Timestamp::from_ms(0),
        };
        assert_eq!(archive.put_revision(&new).unwrap_err().kind(), kind);
    }
    assert_eq!(archive.source_by_name("t").unwrap(), None, "nothing of it was recorded");
    assert_clean(&archive);
}

#[test]
fn sessions_are_linked_once() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let [main, child, output] = ["main", "child", "out"].map(|name| source_id(archive.id(), name));
    let items = [
        SessionItem { kind: "output".into(), source: output },
        SessionItem { kind: "child a".into(), source: child },
    ];
    archive.link(main, &items).unwrap();
    let checkpoint = archive.checkpoint().unwrap();
    archive.link(main, &items[..1]).unwrap();
    assert_eq!(archive.checkpoint().unwrap(), checkpoint);
    assert_eq!(archive.links(main).unwrap(), [items[1].clone(), items[0].clone()]);
    assert_eq!(archive.links(child).unwrap(), []);
    assert_clean(&archive);
}

#[test]
fn holds_reach_every_piece_of_every_state_and_caps_every_retention() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    import(&archive, "held", b"old\n");
    import(&archive, "held", b"new\n");
    import(&archive, "free", b"free\n");
    let source = source_id(archive.id(), "held");
    archive.hold(source, "court").unwrap();
    let ids = [b"old\n".as_slice(), b"new\n", b"free\n"].map(PieceId::of);
    let stats = || -> Vec<_> { archive.stat(&ids).unwrap().into_iter().map(Option::unwrap).collect() };
    let holds: Vec<Hold> = stats().iter().map(|stat| stat.hold).collect();
    assert_eq!(holds, [Hold::Held, Hold::Held, Hold::None]);
    assert_eq!(archive.held(source).unwrap().as_deref(), Some("court"));
    archive.release(source).unwrap();
    assert!(stats().iter().all(|stat| stat.hold == Hold::None));
    assert_eq!(archive.hold(source_id(archive.id(), "nobody"), "x").unwrap_err().kind(), ErrorKind::NotFound);

    let cap = Retention::Until(Timestamp::from_ms(50));
    archive.set_retention_cap(cap).unwrap();
    assert!(stats().iter().all(|stat| stat.retention == cap));
    assert_clean(&archive);
    archive.set_retention_cap(Retention::Indefinite).unwrap();
    assert!(stats().iter().all(|stat| stat.retention == Retention::Indefinite));
    assert_clean(&archive);
}

#[test]
fn a_checkpoint_kept_elsewhere_pins_the_past() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let archive = open(one.path());
    import(&archive, "s", b"line\n");
    let old = archive.checkpoint().unwrap();
    import(&archive, "t", b"other\n");
    let new = archive.checkpoint().unwrap();
    let proof = archive.prove_consistency(old.size, new.size).unwrap();
    assert!(strongroom_archive::journal::proves_consistency(&old, &new, &proof));
    let (entry, proof) = archive.prove_inclusion(1, new.size).unwrap();
    let leaf = strongroom_core::digest::Digest::leaf(&entry);
    assert!(strongroom_archive::journal::proves_inclusion(leaf, 1, new.size, &proof, new.root));

    let report = archive.verify(Depth::Catalog, Some(&old));
    assert!(report.is_clean() && report.caveat().is_none(), "{report:?}");
    let other = open(two.path());
    import(&other, "s", b"line\n");
    for stranger in
        [other.checkpoint().unwrap(), strongroom_archive::journal::Checkpoint { size: new.size + 1, ..new }]
    {
        assert_eq!(archive.verify(Depth::Catalog, Some(&stranger)).problems.len(), 1);
    }
}
