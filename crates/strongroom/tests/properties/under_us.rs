//! A file that grows, shrinks, is written over or replaced while it is read: what was taken in is what stood there or is
//! said not to be, and the next import takes in what stands there now.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use strongroom::archive::{Archive, Depth, Mode};
use strongroom::import::{ImportOptions, Progress, Recheck, import};
use strongroom::policy::Policy;
use strongroom::time::Timestamp;

/// A session of about so many bytes, of which each line names `version`.
fn session(version: &str, bytes: usize) -> String {
    let mut text = String::new();
    let mut id = 0;
    while text.len() < bytes {
        id += 1;
        let parent = if id == 1 { "null".to_owned() } else { format!("\"u{}\"", id - 1) };
        let words = format!("{version} {id} ").repeat(60);
        let line = format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s1","cwd":"/w","type":"user","message":{{"role":"user","content":"{words}"}},"uuid":"u{id}","timestamp":"2026-03-10T09:00:00.000Z"}}"#
        );
        text = text + &line + "\n";
    }
    text
}

/// What somebody does to a file, and its name.
type Harm = (&'static str, fn(&Path));

const HARMS: [Harm; 7] = [
    ("grows", |path| {
        fs::OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(session("more", 2_000).as_bytes())
            .unwrap();
    }),
    ("shrinks", |path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(300_000).unwrap()),
    ("is emptied", |path| fs::write(path, "").unwrap()),
    ("is written over", |path| fs::write(path, session("late", 900_000)).unwrap()),
    ("is rotated", |path| {
        fs::rename(path, path.with_extension("1")).unwrap();
        fs::write(path, session("late", 50_000)).unwrap();
    }),
    ("is replaced by a link", |path| {
        fs::rename(path, path.with_extension("1")).unwrap();
        fs::write(path.with_extension("other"), session("linked", 50_000)).unwrap();
        std::os::unix::fs::symlink(path.with_extension("other"), path).unwrap();
    }),
    ("is removed", |path| fs::remove_file(path).unwrap()),
];

fn take(archive: &Archive, path: &Path, mut during: impl FnMut()) -> String {
    let policy = Policy::default();
    let now = Timestamp::from_ms(1_790_000_000_000);
    let options = ImportOptions { policy: &policy, now, recheck: Recheck::Trust };
    let mut said = String::new();
    let taken = import(archive, &[path.to_owned()], options, &mut |progress| match progress {
        Progress::Bytes(_) => during(),
        Progress::File(_, taken) => said = format!("{said}{taken:?}"),
        _ => {}
    });
    taken.map_or_else(|error| error.to_string(), |()| said)
}

/// The newest state in custody.
fn kept(archive: &Archive, path: &Path) -> Option<String> {
    let source = archive.source_by_name(&path.display().to_string()).unwrap()?;
    let revision = archive.latest_revision(source.meta.id).unwrap()?;
    let mut bytes = Vec::new();
    archive.rebuild(&revision, &mut bytes).unwrap();
    Some(String::from_utf8(bytes).unwrap())
}

#[test]
fn a_file_that_changes_under_us_is_taken_in_as_it_is_the_next_time() {
    for (name, harm) in HARMS {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(&dir.path().join("archive"), Mode::CreateIfMissing).unwrap();
        let path = dir.path().canonicalize().unwrap().join("s.jsonl");
        let first = session("early", 900_000);
        fs::write(&path, &first).unwrap();
        let mut harmed = false;
        let said = take(&archive, &path, || {
            if !std::mem::replace(&mut harmed, true) {
                harm(&path);
            }
        });
        assert!(harmed, "{name}: nothing was harmed: {said}");
        if let Some(kept) = kept(&archive, &path) {
            // Never more than stood there: what was read before the harm, and what was read after it.
            let is_early = first.starts_with(&kept) || kept.starts_with(&first);
            assert!(is_early || name == "is written over", "{name}: {said}: {} bytes", kept.len());
        }
        let is_there = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
        let said = take(&archive, &path, || {});
        if is_there {
            let now = fs::read_to_string(&path).unwrap();
            assert!(kept(&archive, &path).as_deref() == Some(now.as_str()), "{name}: {said}");
        } else {
            // A link is not followed, whatever it stands in place of.
            assert!(!kept(&archive, &path).is_some_and(|kept| kept.contains("linked")), "{name}: {said}");
        }
        assert!(archive.verify(Depth::Data, None).is_clean(), "{name}");
    }
}
