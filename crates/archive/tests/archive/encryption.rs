//! An encrypted archive: what stands on the disk, what opens it, and what is as it was.

use std::fs;
use std::path::Path;

use strongroom_archive::source::SessionItem;
use strongroom_archive::verify::Depth;
use strongroom_archive::{Archive, Mode, Needed, Options, Secret};
use strongroom_core::error::{ErrorKind, Result};
use strongroom_core::vault::{Piece, Registry as _, Retention, Vault as _};
use testkit::conformance;

use crate::fixture::{assert_clean, export, import, open, transcript};

pub(crate) fn secret() -> Secret {
    Secret::KeyFile([7; 32].into())
}

pub(crate) fn open_with(dir: &Path, secret: &Secret) -> Result<Archive> {
    Archive::open_with(dir, &Options { secret: Some(secret.clone()), ..Options::new(Mode::CreateIfMissing) })
}

/// How often `needle` stands in the files of an archive as they are, after all of them were closed.
pub(crate) fn found(dir: &Path, needle: &[u8]) -> usize {
    let files = fs::read_dir(dir).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.map(|bytes| bytes.windows(needle.len()).filter(|window| *window == needle).count()).sum()
}

/// An archive with something in every table, and the texts that must not be read from its files.
fn fill(archive: &Archive) -> Vec<String> {
    let bytes = transcript(5, 400);
    import(archive, "/home/canary-name/s.jsonl", &bytes);
    import(archive, "/home/canary-name/s.jsonl", &[bytes.as_slice(), b"canary-line\n"].concat());
    import(archive, "copy", &bytes);
    let id = |name: &str| archive.source_by_name(name).unwrap().unwrap().meta.id;
    let main = id("/home/canary-name/s.jsonl");
    archive.hold(main, "canary-hold").unwrap();
    archive.link(main, &[SessionItem { kind: "child canary-kind".to_owned(), source: id("copy") }]).unwrap();
    let record = conformance::record(archive, 1, "canary-record");
    archive.bind(&record).unwrap();
    archive.store(&[Piece::new(b"canary-stray".to_vec())], Retention::Indefinite).unwrap();
    [
        "canary-name",
        "canary-line",
        "canary-hold",
        "canary-kind",
        "canary-record",
        "canary-stray",
        "claude-code",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn it_conforms_and_shows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open_with(dir.path(), &secret()).unwrap();
    conformance::vault(&archive).unwrap();
    conformance::registry(&archive).unwrap();
    let texts = fill(&archive);
    assert_clean(&archive);
    let piece = Piece::new(b"canary-stray".to_vec());
    drop(archive);
    for text in texts {
        assert_eq!(found(dir.path(), text.as_bytes()), 0, "{text}");
    }
    // Who knows the bytes cannot tell that they are here: no hash of them is.
    assert_eq!(found(dir.path(), piece.id().digest().as_bytes()), 0);
}

#[test]
fn converted_it_is_as_it_was_and_shows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open(dir.path());
    let texts = fill(&archive);
    let name = "/home/canary-name/s.jsonl";
    let before = (export(&archive, name).unwrap(), archive.sources().unwrap(), archive.terms().unwrap());
    let (checkpoint, record) =
        (archive.checkpoint().unwrap(), conformance::record(&archive, 1, "canary-record"));
    archive.encrypt(&secret()).unwrap();
    let stale = archive.sources().unwrap_err();
    assert!(stale.kind() == ErrorKind::Unavailable && stale.message().contains("open it again"), "{stale}");
    drop(archive);
    let archive = open_with(dir.path(), &secret()).unwrap();
    assert!(archive.purge_is_due().unwrap());
    archive.purge().unwrap();
    assert!(!archive.purge_is_due().unwrap());
    let after = (export(&archive, name).unwrap(), archive.sources().unwrap(), archive.terms().unwrap());
    assert_eq!(after, before);
    assert_eq!(archive.by_tag(record.tag).unwrap().unwrap(), record);
    assert_eq!(conformance::record(&archive, 1, "canary-record").tag, record.tag, "tags are the same");
    assert!(archive.verify(Depth::Data, Some(&checkpoint)).is_clean(), "its past is the same");
    assert_clean(&archive);
    import(&archive, "later", &transcript(6, 100));
    assert_eq!(archive.encrypt(&secret()).unwrap_err().kind(), ErrorKind::InvalidInput);
    drop(archive);
    for text in texts {
        assert_eq!(found(dir.path(), text.as_bytes()), 0, "{text}");
    }
}

#[test]
fn nothing_opens_it_but_its_secret_and_nothing_is_changed_by_trying() {
    let dir = tempfile::tempdir().unwrap();
    import(&open_with(dir.path(), &secret()).unwrap(), "s", b"line\n");
    let before = fs::read(dir.path().join("strongroom.db")).unwrap();
    assert_eq!(Archive::secret_needed(dir.path()).unwrap(), Some(Needed::KeyFile));
    for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::CreateIfMissing] {
        let error = Archive::open(dir.path(), mode).unwrap_err();
        assert!(error.kind() == ErrorKind::Unavailable && error.message().contains("key file"), "{error}");
    }
    for other in [Secret::generate().unwrap().0, Secret::passphrase(b"correct horse".to_vec()).unwrap()] {
        assert_eq!(open_with(dir.path(), &other).unwrap_err().kind(), ErrorKind::Unavailable);
    }
    assert_eq!(fs::read(dir.path().join("strongroom.db")).unwrap(), before);
}

#[test]
fn another_secret_takes_the_place_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open_with(dir.path(), &secret()).unwrap();
    import(&archive, "s", b"line\n");
    let words = Secret::passphrase(b"correct horse".to_vec()).unwrap();
    assert!(archive.change_lock(&words, &words).is_err(), "whoever changes the lock knows the secret");
    archive.change_lock(&secret(), &words).unwrap();
    archive.purge().unwrap();
    assert_eq!(open_with(dir.path(), &secret()).unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(Archive::secret_needed(dir.path()).unwrap(), Some(Needed::Passphrase));
    let again = open_with(dir.path(), &words).unwrap();
    assert_eq!(export(&again, "s").unwrap(), b"line\n");
    assert_clean(&again);
}

#[test]
fn every_row_that_was_changed_by_hand_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let archive = open_with(dir.path(), &secret()).unwrap();
    fill(&archive);
    drop(archive);
    let whole = fs::read(dir.path().join("strongroom.db")).unwrap();
    for statement in [
        "UPDATE blob SET body = x'0041'",
        "UPDATE blob SET body = (SELECT body FROM blob ORDER BY length(body) LIMIT 1)",
        "DELETE FROM piece_key",
        "DELETE FROM source_key",
        "UPDATE source_key SET wrapped = (SELECT min(wrapped) FROM source_key)",
        "UPDATE source SET name = 'plain'",
        "UPDATE hold SET reason = (SELECT kind FROM session_item)",
        "UPDATE compaction SET body = x'0001'",
        "UPDATE journal_entry SET body = (SELECT body FROM journal_entry WHERE no = 1) WHERE no = 2",
        "UPDATE journal_node SET hash = (SELECT hash FROM journal_node WHERE level = 0 AND no = 1) WHERE level = 0",
        "UPDATE neighbour SET key = zeroblob(72) WHERE key = (SELECT min(key) FROM neighbour)",
    ] {
        fs::write(dir.path().join("strongroom.db"), &whole).unwrap();
        let connection = rusqlite::Connection::open(dir.path().join("strongroom.db")).unwrap();
        assert!(connection.execute(statement, []).unwrap() > 0, "{statement}");
        drop(connection);
        let clean =
            open_with(dir.path(), &secret()).map(|archive| archive.verify(Depth::Data, None).is_clean());
        assert!(!matches!(clean, Ok(true)), "{statement}");
    }
}
