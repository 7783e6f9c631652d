//! Leases: while somebody stores, nobody deletes.
//!
//! Whoever stores pieces holds a shared lock on a file until the archive is closed; whoever deletes needs it alone. The
//! system drops the lock of a process that dies, so that no lease outlives its holder and none has to be timed.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use strongroom_core::error::{Error, Result};

use crate::place::Place;

/// How often, and how long between, a lease is asked for that others hold: storing waits ten seconds, deleting one.
const TRIES_SHARED: u32 = 200;
const TRIES_ALONE: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// This archive's part in the leases of its directory.
#[derive(Debug)]
pub(crate) struct Leases {
    path: PathBuf,
    tier: PathBuf,
    search: PathBuf,
    held: Mutex<Option<File>>,
}

/// The lease alone; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Alone<'l>(MutexGuard<'l, Option<File>>);

impl Leases {
    pub(crate) fn of(place: &Place) -> Self {
        Self { path: place.lease(), tier: place.tier(), search: place.search(), held: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds the lease together with others from now on. Waits while somebody deletes.
    ///
    /// # Errors
    /// `Busy` when somebody deletes for longer than ten seconds, `Unavailable` when the file cannot be locked.
    pub(crate) fn hold(&self) -> Result<()> {
        let mut held = self.lock();
        if held.is_none() {
            let file = open(&self.path)?;
            let asked = (FlockOperation::NonBlockingLockShared, TRIES_SHARED);
            take((&file, &self.path), asked, "another process deletes from the archive")?;
            *held = Some(file);
        }
        Ok(())
    }

    /// Takes the lease alone. What this archive itself stored before is in custody by then.
    ///
    /// # Errors
    /// `Busy` when another process stores, `Unavailable` when the file cannot be locked.
    pub(crate) fn alone(&self) -> Result<Alone<'_>> {
        let mut held = self.lock();
        *held = None;
        let file = open(&self.path)?;
        take(
            (&file, &self.path),
            (FlockOperation::NonBlockingLockExclusive, TRIES_ALONE),
            "another process stores originals, such as a running compaction; nothing was deleted",
        )?;
        *held = Some(file);
        Ok(Alone(held))
    }

    /// Takes the right to move originals between tiers, alone, until what is returned is dropped. Others store and
    /// delete meanwhile.
    ///
    /// # Errors
    /// `Busy` when another process has it, `Unavailable` when the file cannot be locked.
    pub(crate) fn tier(&self) -> Result<File> {
        let file = open(&self.tier)?;
        let asked = (FlockOperation::NonBlockingLockExclusive, TRIES_ALONE);
        take(
            (&file, &self.tier),
            asked,
            "another process moves originals between tiers; try again when it is done",
        )?;
        Ok(file)
    }

    /// Takes the right to write and delete derived data, alone, until what is returned is dropped.
    ///
    /// # Errors
    /// `Busy` when another process has it for longer than ten seconds, `Unavailable` when the file cannot be locked.
    pub(crate) fn derive(&self) -> Result<File> {
        let file = open(&self.search)?;
        let asked = (FlockOperation::NonBlockingLockExclusive, TRIES_SHARED);
        take((&file, &self.search), asked, "another process writes the search index; nothing was deleted")?;
        Ok(file)
    }

    /// As [`Leases::derive`], without waiting: nothing where another process has it.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be locked.
    pub(crate) fn try_derive(&self) -> Result<Option<File>> {
        let file = open(&self.search)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(failed(&self.search, error)),
        }
    }
}

fn failed(path: &Path, error: impl Into<std::io::Error>) -> Error {
    let error = error.into();
    Error::unavailable(format!("{} cannot be locked: {error}", path.display())).caused_by(error)
}

fn open(path: &Path) -> Result<File> {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(nofollow);
    options.open(path).map_err(|error| failed(path, error))
}

fn take(own: (&File, &Path), asked: (FlockOperation, u32), busy: &str) -> Result<()> {
    let ((file, path), (operation, tries)) = (own, asked);
    for _ in 0..tries {
        match flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            Err(Errno::INTR) => {}
            Err(error) => return Err(failed(path, error)),
        }
    }
    Err(Error::new(strongroom_core::error::ErrorKind::Busy, busy))
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        *self.0 = None;
    }
}
