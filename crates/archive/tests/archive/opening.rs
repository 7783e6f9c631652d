//! What is and is not opened, and with which rights.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use strongroom_archive::{Archive, Level, Mode, Options};
use strongroom_core::error::ErrorKind;
use strongroom_core::vault::{Loaded, Piece, Registry as _, Retention, Vault as _};
use testkit::conformance;

use crate::fixture::{assert_clean, export, import, open, transcript};
use crate::processes;

fn refused(dir: &Path, mode: Mode) -> ErrorKind {
    Archive::open(dir, mode).unwrap_err().kind()
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_creating_creates() {
    let dir = tempfile::tempdir().unwrap();
    for place in [dir.path().to_owned(), dir.path().join("not/there")] {
        assert_eq!(refused(&place, Mode::ReadWrite), ErrorKind::NotFound);
        assert_eq!(refused(&place, Mode::ReadOnly), ErrorKind::NotFound);
    }
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn files_are_for_their_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("deep/archive");
    let archive = open(&place);
    import(&archive, "s", b"line\n");
    assert_eq!(mode_of(&place), 0o700);
    let files: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "database, log and its index, lease: {files:?}");
    assert!(files.iter().all(|file| mode_of(file) == 0o600));
    drop(archive);
    fs::set_permissions(place.join("strongroom.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let _archive = open(&place);
    assert_eq!(mode_of(&place.join("strongroom.db")), 0o600);
}

#[test]
fn what_is_no_archive_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("strongroom.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(connection);
    for bytes in [fs::read(&database).unwrap(), Vec::new(), b"SQLite format 3\0 but not really".repeat(300)] {
        fs::write(&database, &bytes).unwrap();
        for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::CreateIfMissing] {
            assert_eq!(refused(dir.path(), mode), ErrorKind::Corrupt, "{} bytes, {mode:?}", bytes.len());
        }
        assert_eq!(fs::read(&database).unwrap(), bytes);
    }
    assert_eq!(refused(&database, Mode::CreateIfMissing), ErrorKind::InvalidInput);
    fs::remove_file(&database).unwrap();
    fs::write(dir.path().join("strongroom.db-wal"), b"somebody's log").unwrap();
    assert_eq!(refused(dir.path(), Mode::CreateIfMissing), ErrorKind::Corrupt);
}

#[test]
fn a_newer_format_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let connection = rusqlite::Connection::open(dir.path().join("strongroom.db")).unwrap();
    connection.execute_batch("PRAGMA user_version = 4").unwrap();
    drop(connection);
    assert_eq!(refused(dir.path(), Mode::ReadWrite), ErrorKind::Unavailable);
}

#[test]
fn reading_only_reads() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    import(&writer, "s", b"line\n");
    let reader = Archive::open(dir.path(), Mode::ReadOnly).unwrap();
    import(&writer, "s", b"line\nlater\n");
    assert_eq!(export(&reader, "s").unwrap(), b"line\nlater\n", "what others write is seen");
    assert_read_only(&reader);
}

fn assert_read_only(archive: &Archive) {
    assert!(archive.is_read_only());
    let piece = Piece::new(b"new".to_vec());
    let record = conformance::record(archive, 1, "r");
    let denied = [
        archive.store(std::slice::from_ref(&piece), Retention::Indefinite),
        archive.extend(&[piece.id()], Retention::Indefinite),
        archive.bind(&record),
        archive.set_retention_cap(Retention::Unknown),
    ];
    for error in denied.into_iter().map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().contains("read-only"), "{error}");
    }
    assert!(matches!(archive.load(&[piece.id()]).unwrap()[..], [Loaded::Missing]));
    assert_clean(archive);
}

/// Runs as a user whom modes bind, which the superuser is not.
#[test]
fn a_directory_that_cannot_be_written_is_read() {
    let Some(arguments) = processes::child_arguments("opening::a_directory_that_cannot_be_written_is_read")
    else {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let copy = dir.path().join("tests");
        fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let place = dir.path().join("a place % ? #");
        let child = processes::Child { program: copy, user: processes::unprivileged() };
        let status = child
            .command("opening::a_directory_that_cannot_be_written_is_read", &[place.to_str().unwrap()])
            .status()
            .unwrap();
        assert!(status.success());
        return;
    };
    let place = Path::new(&arguments[0]);
    let archive = open(place);
    import(&archive, "s", b"line\n");
    drop(archive);
    fs::set_permissions(place, fs::Permissions::from_mode(0o500)).unwrap();
    for mode in [Mode::ReadWrite, Mode::ReadOnly, Mode::CreateIfMissing] {
        let archive = Archive::open(place, mode).unwrap();
        assert_eq!(export(&archive, "s").unwrap(), b"line\n");
        assert_read_only(&archive);
    }
    assert_eq!(refused(&place.join("below"), Mode::CreateIfMissing), ErrorKind::Unavailable);

    // A log that nobody can take in may hold what was acknowledged.
    fs::set_permissions(place, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(place.join("strongroom.db-wal"), b"left behind").unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(refused(place, Mode::ReadWrite), ErrorKind::Unavailable);
    fs::set_permissions(place, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_full_archive_refuses_and_keeps_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        Options { size_bytes_max: Some(1 << 20), level: Level(3), ..Options::new(Mode::CreateIfMissing) };
    let archive = Archive::open_with(dir.path(), &options).unwrap();
    import(&archive, "s", b"line\n");
    let noise: Vec<Piece> = (0..40).map(|n| Piece::new(transcript(n, 4_000))).collect();
    let error = archive.store(&noise, Retention::Indefinite).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let ids: Vec<_> = noise.iter().map(Piece::id).collect();
    assert!(
        archive.load(&ids).unwrap().iter().all(|loaded| matches!(loaded, Loaded::Missing)),
        "all or nothing"
    );
    assert_eq!(export(&archive, "s").unwrap(), b"line\n");
    assert_clean(&archive);
    archive.store(&noise[..1], Retention::Indefinite).unwrap();
    drop(archive);
    let archive = open(dir.path());
    archive.store(&noise, Retention::Indefinite).unwrap();
    assert_clean(&archive);
}
