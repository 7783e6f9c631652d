//! A disk that remembers what was flushed and what was not, fails on request, and can be read after its power went.
//!
//! A directory that is watched lies on the real file system, where its files are as the running program sees them; all
//! changes are recorded on the way. An [`Image`] follows a recording and knows what is durable at each point of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use testkit::dice::Dice;

use super::Step;

mod image;
mod vfs;

pub(crate) use image::{Image, Survivors};

/// A fault of this program, planted to see that it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A write is acknowledged while its transaction is open; the next one commits it.
    AcknowledgesBeforeCommit,
    /// Commits do not wait for the log to be flushed.
    AcknowledgesBeforeFlush,
    /// Directories are never flushed.
    FlushesNoDirectory,
    /// Pieces are read back from the cache of the connection that wrote them.
    ReadsBackFromCache,
}

thread_local! {
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
}

thread_local! {
    static RANDOM: std::cell::RefCell<Option<Dice>> = const { std::cell::RefCell::new(None) };
}

/// Replaces the system's random bytes in this thread by those of a seed; `None` gives them back.
pub(crate) fn seed_random(seed: Option<u64>) {
    RANDOM.set(seed.map(Dice::new));
}

/// Fills `bytes` where random bytes come from a seed; whether they do.
pub(crate) fn fill(bytes: &mut [u8]) -> bool {
    RANDOM.with_borrow_mut(|dice| {
        let Some(dice) = dice else { return false };
        bytes.iter_mut().for_each(|byte| *byte = dice.roll(256).to_le_bytes()[0]);
        true
    })
}

/// Plants `bug` in this thread until the value is dropped.
#[must_use]
pub(crate) fn plant(bug: Option<Bug>) -> Planted {
    PLANTED.set(bug);
    Planted(())
}

/// See [`plant`].
#[derive(Debug)]
pub(crate) struct Planted(());

impl Drop for Planted {
    fn drop(&mut self) {
        PLANTED.set(None);
    }
}

pub(crate) fn planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// The number of a file in a recording, whatever its names.
pub(crate) type FileNo = usize;

/// What happened to a watched directory, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Create {
        name: String,
        file: FileNo,
    },
    Link {
        name: String,
        file: FileNo,
    },
    Unlink {
        name: String,
    },
    FlushDir,
    /// The directory above was flushed: the watched one lasts.
    FlushAbove,
    Write {
        file: FileNo,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: FileNo,
        len: u64,
    },
    Flush {
        file: FileNo,
    },
    /// A flush failed; nobody knows what of the changes before it reached the disk, and no later flush brings them.
    FlushFailed {
        file: FileNo,
    },
}

/// How a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No room, from then on.
    Full,
    /// No room in the middle of a write, from then on.
    Short,
    /// An input/output error, once.
    Io,
    /// All flushes fail, from then on.
    Flush,
    /// One bit of a page in the log arrives changed, once, and nobody is told.
    Flip,
}

/// What is to be done with a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail(Failure),
}

/// A failure at the change of this number, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) at: u64,
    pub(crate) failure: Failure,
}

/// A change that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A write; of a whole page to the log or of anything else.
    LogPage,
    Write,
    Truncate,
    Flush,
    Name,
}

impl Failure {
    fn meets(self, ask: Ask) -> bool {
        match self {
            Self::Full => matches!(ask, Ask::LogPage | Ask::Write | Ask::Name),
            Self::Short => matches!(ask, Ask::LogPage | Ask::Write),
            Self::Io => true,
            Self::Flush => ask == Ask::Flush,
            Self::Flip => ask == Ask::LogPage,
        }
    }

    fn lasts(self) -> bool {
        matches!(self, Self::Full | Self::Short | Self::Flush)
    }
}

/// A recording in progress.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) events: Vec<Event>,
    names: BTreeMap<String, FileNo>,
    files: FileNo,
    plan: Option<Plan>,
    asked: u64,
    /// How many changes failed or were changed.
    pub(crate) injected: u64,
}

impl Recorder {
    /// Decides on a change. Counts only those that the planned failure could meet.
    pub(crate) fn ask(&mut self, ask: Ask) -> Verdict {
        let Some(plan) = self.plan.filter(|plan| plan.failure.meets(ask)) else { return Verdict::Pass };
        let no = self.asked;
        self.asked += 1;
        if no == plan.at || (no > plan.at && plan.failure.lasts()) {
            self.injected += 1;
            return Verdict::Fail(plan.failure);
        }
        Verdict::Pass
    }

    /// The number of the file called `name`, which was just made if it is not known.
    pub(crate) fn file(&mut self, name: &str) -> FileNo {
        if let Some(&file) = self.names.get(name) {
            return file;
        }
        let file = self.files;
        self.files += 1;
        self.names.insert(name.to_owned(), file);
        self.events.push(Event::Create { name: name.to_owned(), file });
        file
    }

    fn link(&mut self, from: &str, to: &str) {
        let file = self.file(from);
        self.names.insert(to.to_owned(), file);
        self.events.push(Event::Link { name: to.to_owned(), file });
    }

    pub(crate) fn unlink(&mut self, name: &str) {
        if self.names.remove(name).is_some() {
            self.events.push(Event::Unlink { name: name.to_owned() });
        }
    }

    /// Puts the disk right.
    pub(crate) fn mend(&mut self) {
        self.plan = None;
    }
}

/// A directory that is watched until this is dropped.
#[derive(Debug)]
pub(crate) struct Disk {
    dir: PathBuf,
    recorder: Shared,
}

/// A recorder that several files share.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Mutex<Recorder>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static WATCHED: Mutex<BTreeMap<PathBuf, Shared>> = Mutex::new(BTreeMap::new());

fn watched() -> MutexGuard<'static, BTreeMap<PathBuf, Shared>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// Watches `dir`, which need not be there yet; its parent must, by a name without links.
    pub(crate) fn watch(dir: &Path, plan: Option<Plan>) -> Self {
        vfs::install();
        let recorder = Shared(Arc::new(Mutex::new(Recorder { plan, ..Recorder::default() })));
        watched().insert(dir.to_owned(), recorder.clone());
        Self { dir: dir.to_owned(), recorder }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        watched().remove(&self.dir);
    }
}

/// The recorder that watches the directory of `path`, and the file's name there.
pub(crate) fn watcher(path: &Path) -> Option<(Shared, String)> {
    let recorder = watched().get(path.parent()?)?.clone();
    Some((recorder, path.file_name()?.to_str()?.to_owned()))
}

/// Does a step and records it where the directory is watched.
pub(super) fn observe(step: Step<'_>, path: &Path, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    match step {
        Step::Flush if planted(Bug::FlushesNoDirectory) => Ok(()),
        Step::Flush => flush(path, act),
        Step::Create | Step::Link(_) | Step::Unlink => {
            let Some((recorder, name)) = watcher(path) else { return act() };
            permit(&recorder, Ask::Name)?;
            act()?;
            let mut recorder = recorder.lock();
            match step {
                Step::Create => drop(recorder.file(&name)),
                Step::Link(to) => recorder.link(&name, &to.file_name().unwrap().to_string_lossy()),
                Step::Unlink | Step::Flush => recorder.unlink(&name),
            }
            Ok(())
        }
    }
}

fn flush(dir: &Path, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let own = watched().get(dir).cloned();
    let below =
        || watched().iter().find(|(watched, _)| watched.parent() == Some(dir)).map(|(_, one)| one.clone());
    let (event, recorder) = match own {
        Some(recorder) => (Event::FlushDir, recorder),
        None => match below() {
            Some(recorder) => (Event::FlushAbove, recorder),
            None => return act(),
        },
    };
    permit(&recorder, Ask::Flush)?;
    recorder.lock().events.push(event);
    Ok(())
}

fn permit(recorder: &Shared, ask: Ask) -> io::Result<()> {
    match recorder.lock().ask(ask) {
        Verdict::Pass => Ok(()),
        Verdict::Fail(Failure::Full) => Err(io::Error::from(io::ErrorKind::StorageFull)),
        Verdict::Fail(_) => Err(io::Error::other("a simulated input/output error")),
    }
}
