//! Derived data: sealed where the archive is, gone before its sources lose anything, and no harm where it is gone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use strongroom_archive::derived::DerivedName;
use strongroom_archive::erasure::Subject;
use strongroom_archive::expiry::Deletion;
use strongroom_archive::{Archive, Mode, Order};
use strongroom_core::digest::SourceId;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

use crate::encryption::{found, open_with, secret};
use crate::fixture::{import, meta, open, transcript};

const CANARY: &[u8] = b"canary-4711-kestrel";

fn order() -> Order {
    Order { who: "mara".to_owned(), reason: "asked for it".to_owned(), at: Timestamp::from_ms(86_400_000) }
}

fn id(archive: &Archive, name: &str) -> SourceId {
    archive.source_by_name(name).unwrap().unwrap().meta.id
}

fn write(archive: &Archive, names: &[&str]) -> DerivedName {
    let sources = names.iter().map(|name| id(archive, name)).collect();
    archive.deriving().unwrap().unwrap().write(&sources, CANARY).unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("strongroom.search-")).collect()
}

/// An archive of two sources, with data made from each and from both.
fn filled(dir: &Path, encrypted: bool) -> (Archive, [DerivedName; 3]) {
    let archive = if encrypted { open_with(dir, &secret()).unwrap() } else { open(dir) };
    import(&archive, "one", &transcript(1, 300));
    import(&archive, "two", &transcript(2, 300));
    let names = [write(&archive, &["one"]), write(&archive, &["two"]), write(&archive, &["one", "two"])];
    (archive, names)
}

#[test]
fn what_is_written_comes_back_and_stands_sealed_where_the_archive_is() {
    for encrypted in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (archive, names) = filled(dir.path(), encrypted);
        assert_eq!(archive.derived().unwrap(), BTreeSet::from(names));
        assert!(names.iter().all(|name| archive.read_derived(*name).as_deref() == Some(CANARY)));
        assert_eq!(found(dir.path(), CANARY) == 0, encrypted);
        let source = *id(&archive, "one").digest().as_bytes();
        let listed = files(dir.path()).iter().any(|path| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(source.len()).any(|own| own == source)
        });
        assert_eq!(listed, !encrypted, "what a file was made from is sealed, too");
        archive.deriving().unwrap().unwrap().delete(names[0]).unwrap();
        assert_eq!(archive.read_derived(names[0]), None);
    }
}

#[test]
fn what_touches_an_order_goes_with_it_and_the_rest_stays() {
    for encrypted in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (archive, names) = filled(dir.path(), encrypted);
        archive.erase(&[Subject::Source(id(&archive, "one"))], &BTreeSet::new(), &order()).unwrap();
        assert_eq!(archive.derived().unwrap(), BTreeSet::from([names[1]]), "erased");
        let pieces = archive.latest_revision(id(&archive, "two")).unwrap().unwrap().pieces;
        archive.redact(&[(pieces[0].0, ByteRange::new(3, 9))], &BTreeSet::new(), &order()).unwrap();
        assert!(archive.derived().unwrap().is_empty(), "redacted");
        assert_eq!(found(dir.path(), CANARY), 0);
    }
}

#[test]
fn what_expires_goes_with_what_was_made_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let bytes = transcript(5, 300);
    let until = Retention::Until(Timestamp::from_ms(10));
    archive.import(&meta(&archive, "old", &bytes), &mut &bytes[..], until, Timestamp::from_ms(1)).unwrap();
    import(&archive, "kept", &transcript(6, 300));
    let (_, kept) = (write(&archive, &["old"]), write(&archive, &["kept"]));
    let pieces: Vec<_> = archive.terms().unwrap().into_iter().map(|term| term.id).collect();
    let now = Timestamp::from_ms(1_000);
    let held = BTreeSet::new();
    archive.delete_expired(&pieces, &Deletion { expired_by: now, now, held: &held }).unwrap();
    assert_eq!(archive.derived().unwrap(), BTreeSet::from([kept]));
}

#[test]
fn an_archive_that_is_encrypted_keeps_nothing_plain() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, _) = filled(dir.path(), false);
    archive.encrypt(&secret()).unwrap();
    assert!(files(dir.path()).is_empty());
    assert_eq!(found(dir.path(), CANARY), 0);
}

#[test]
fn what_was_changed_is_not_read_and_goes_with_the_first_order() {
    for encrypted in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (archive, names) = filled(dir.path(), encrypted);
        for path in files(dir.path()) {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[20] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }
        assert!(names.iter().all(|name| archive.read_derived(*name).is_none()));
        std::fs::write(dir.path().join("strongroom.search-0123456789abcdef.new"), CANARY).unwrap();
        archive.erase(&[Subject::Source(id(&archive, "one"))], &BTreeSet::new(), &order()).unwrap();
        assert!(files(dir.path()).is_empty(), "nobody can tell any more what it was made from");
    }
}

#[test]
fn one_writes_at_a_time_and_nobody_where_nobody_may() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, names) = filled(dir.path(), false);
    let writing = archive.deriving().unwrap().unwrap();
    assert!(open(dir.path()).deriving().unwrap().is_none());
    drop(writing);
    let reader = Archive::open(dir.path(), Mode::ReadOnly).unwrap();
    assert!(reader.deriving().unwrap().is_none());
    assert_eq!(reader.read_derived(names[0]).as_deref(), Some(CANARY));
}
