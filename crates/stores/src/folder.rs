//! Folders of events: a session that a tool keeps as one file for each event, written out as a log with a line for each.
//!
//! `OpenHands` names the files by number: `event-00042-<id>.json` in its second generation, `42.json` in its first. A link
//! or a directory under such a name is not read.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::ops::Range;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use strongroom_core::error::{Error, Result};

use crate::packed::UNPACKED_BYTES_MAX;

/// How the folder of a session is called.
const EVENTS: &str = "events";

/// How the names of events begin in the second generation.
const PREFIX: &str = "event-";

/// The most numbers without a file that are told one by one.
const MISSING_MAX: u64 = 8;

/// A folder of events, as it was when it was looked into.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    inode: u64,
    device: u64,
    /// In the order of their numbers.
    events: Vec<Event>,
}

#[derive(Debug)]
struct Event {
    number: u64,
    name: String,
    what: What,
    bytes: u64,
    written_ms: i64,
}

/// What stands under the name of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    File,
    /// A link or a directory, which is not read.
    Other,
}

impl Folder {
    /// The events in `path`, or in the folder `events` below it; `None` where there are none.
    pub fn at(path: &Path) -> Option<Self> {
        let own = |path: &Path| Self::look(path).filter(|folder| !folder.events.is_empty());
        own(path).or_else(|| own(&path.join(EVENTS)))
    }

    fn look(path: &Path) -> Option<Self> {
        let meta = std::fs::symlink_metadata(path).ok().filter(Metadata::is_dir)?;
        // Anywhere else a file that is called by a number may be anything.
        let plain = path.file_name().is_some_and(|name| name == EVENTS);
        let mut events: Vec<Event> =
            std::fs::read_dir(path).ok()?.filter_map(|entry| event(&entry.ok()?)).collect();
        events.retain(|event| plain || event.name.starts_with(PREFIX));
        events.sort_by(|one, two| (one.number, &one.name).cmp(&(two.number, &two.name)));
        Some(Self { path: path.to_owned(), inode: meta.ino(), device: meta.dev(), events })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the directory on its device, and that of the device.
    pub const fn identity(&self) -> (u64, u64) {
        (self.inode, self.device)
    }

    /// The bytes of all events.
    pub fn bytes(&self) -> u64 {
        self.events.iter().map(|event| event.bytes).sum()
    }

    /// When the newest event was written, in milliseconds since 1970.
    pub fn changed_ms(&self) -> i64 {
        self.events.iter().map(|event| event.written_ms).max().unwrap_or(0)
    }

    /// The events, each on a line. Where the file of a number is missing, a line says so, which is no event.
    ///
    /// # Errors
    /// `Unavailable` when an event cannot be read, or all are over a limit.
    pub fn log(&self) -> Result<Vec<u8>> {
        if self.bytes() > UNPACKED_BYTES_MAX {
            let message = format!(
                "{}: events of {} bytes are over the limit of {UNPACKED_BYTES_MAX}",
                self.path.display(),
                self.bytes()
            );
            return Err(Error::unavailable(message));
        }
        let mut log = Vec::new();
        let mut due = 0;
        for event in &self.events {
            log.extend_from_slice(missing(due..event.number).as_bytes());
            due = event.number.saturating_add(1);
            match (event.what, event.bytes) {
                (What::Other, _) => log.extend_from_slice(gap(event.number, "is no file").as_bytes()),
                (What::File, 0) => log.extend_from_slice(gap(event.number, "is empty").as_bytes()),
                (What::File, _) => self.append(event, &mut log)?,
            }
        }
        Ok(log)
    }

    /// Appends an event as one line: between the tokens of JSON a line feed is a blank, and inside none can stand.
    fn append(&self, event: &Event, log: &mut Vec<u8>) -> Result<()> {
        let path = self.path.join(&event.name);
        let failed =
            |error| Error::unavailable(format!("{} cannot be read", path.display())).caused_by(error);
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(&path).map_err(failed)?;
        let from = log.len();
        file.take(event.bytes).read_to_end(log).map_err(failed)?;
        let own = log.get_mut(from..).unwrap_or_default();
        own.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        log.push(b'\n');
        Ok(())
    }
}

/// Lines that tell which numbers have no file.
fn missing(numbers: Range<u64>) -> String {
    if numbers.end.saturating_sub(numbers.start) > MISSING_MAX {
        return format!("{{\"kind\":\"events {} to {} are missing\"\n", numbers.start, numbers.end - 1);
    }
    numbers.map(|number| gap(number, "is missing")).collect()
}

/// A record that is cut off: what it stands for is not known, and nothing is denied over it.
fn gap(number: u64, why: &str) -> String {
    format!("{{\"kind\":\"event {number} {why}\"\n")
}

fn event(entry: &std::fs::DirEntry) -> Option<Event> {
    let name = entry.file_name().into_string().ok()?;
    let number = number(&name)?;
    let meta = entry.metadata().ok()?;
    let (what, bytes) = if meta.is_file() { (What::File, meta.len()) } else { (What::Other, 0) };
    let written_ms = meta.mtime().saturating_mul(1_000).saturating_add(meta.mtime_nsec() / 1_000_000);
    Some(Event { number, name, what, bytes, written_ms })
}

/// The number of an event, by the name of its file.
fn number(name: &str) -> Option<u64> {
    let stem = name.strip_suffix(".json")?;
    let digits = match stem.strip_prefix(PREFIX) {
        Some(rest) => rest.split_once('-').filter(|(digits, id)| digits.len() >= 5 && id.len() >= 8)?.0,
        None => stem,
    };
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(events: &[(&str, &str)]) -> (tempfile::TempDir, Option<Folder>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(EVENTS)).unwrap();
        for (name, text) in events {
            std::fs::write(dir.path().join(EVENTS).join(name), text).unwrap();
        }
        let folder = Folder::at(dir.path());
        (dir, folder)
    }

    fn log(folder: &Folder) -> String {
        String::from_utf8(folder.log().unwrap()).unwrap()
    }

    #[test]
    fn events_stand_in_the_order_of_their_numbers_each_on_a_line() {
        let (_dir, folder) = written(&[
            ("event-00001-aaaaaaaa-1.json", "{\n  \"b\": \"\\n\"\r\n}\n"),
            ("event-00000-bbbbbbbb-1.json", "{}"),
            ("event-00002-short.json", "no"),
            ("notes.json", "no"),
            (".eventlog.lock", ""),
        ]);
        let folder = folder.unwrap();
        assert_eq!(log(&folder), "{}\n{   \"b\": \"\\n\"  } \n");
        assert_eq!(folder.bytes(), 19);
        assert!(folder.path().ends_with("events"));
    }

    #[test]
    fn a_number_without_a_file_is_told() {
        let (_dir, folder) = written(&[("0.json", "{}"), ("3.json", "{}"), ("5000.json", "{}")]);
        let folder = folder.unwrap();
        assert_eq!(
            log(&folder),
            concat!(
                "{}\n{\"kind\":\"event 1 is missing\"\n{\"kind\":\"event 2 is missing\"\n{}\n",
                "{\"kind\":\"events 4 to 4999 are missing\"\n{}\n"
            )
        );
    }

    #[test]
    fn links_and_folders_of_other_things_are_not_followed() {
        let (dir, none) = written(&[("readme.txt", "x")]);
        assert!(none.is_none());
        let (numbered, secret) = (dir.path().join("numbered"), dir.path().join("secret"));
        std::fs::create_dir(&numbered).unwrap();
        std::fs::write(numbered.join("1.json"), "[]").unwrap();
        assert!(Folder::at(&numbered).is_none());
        std::fs::write(&secret, "x").unwrap();
        std::os::unix::fs::symlink(&secret, dir.path().join(EVENTS).join("1.json")).unwrap();
        std::fs::write(dir.path().join(EVENTS).join("0.json"), "").unwrap();
        let log = log(&Folder::at(dir.path()).unwrap());
        assert_eq!(log, "{\"kind\":\"event 0 is empty\"\n{\"kind\":\"event 1 is no file\"\n");
        assert!(Folder::at(&secret).is_none());
    }
}
