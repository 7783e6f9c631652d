//! Leases: while somebody stores, nobody deletes.
//!
//! Whoever stores pieces holds a shared lock on a file until the archive is closed; whoever deletes needs it alone. The
//! system drops the lock of a process that dies, so that no lease outlives its holder and none has to be timed.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
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
    held: Mutex<Option<File>>,
}

/// The lease alone; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Alone<'l>(MutexGuard<'l, Option<File>>);

impl Leases {
    pub(crate) fn of(place: &Place) -> Self {
        Self { path: place.lease(), held: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: impl Into<std::io::Error>) -> Error {
        let error = error.into();
        Error::unavailable(format!("{} cannot be locked: {error}", self.path.display())).caused_by(error)
    }

    fn open(&self) -> Result<File> {
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(nofollow);
        options.open(&self.path).map_err(|error| self.failed(error))
    }

    /// Holds the lease together with others from now on. Waits while somebody deletes.
    ///
    /// # Errors
    /// `Busy` when somebody deletes for longer than ten seconds, `Unavailable` when the file cannot be locked.
    pub(crate) fn hold(&self) -> Result<()> {
        let mut held = self.lock();
        if held.is_none() {
            let file = self.open()?;
            let asked = (FlockOperation::NonBlockingLockShared, TRIES_SHARED);
            self.take(&file, asked, "another process deletes from the archive")?;
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
        let file = self.open()?;
        self.take(
            &file,
            (FlockOperation::NonBlockingLockExclusive, TRIES_ALONE),
            "another process stores originals, such as a running compaction; nothing was deleted",
        )?;
        *held = Some(file);
        Ok(Alone(held))
    }

    fn take(&self, file: &File, asked: (FlockOperation, u32), busy: &str) -> Result<()> {
        let (operation, tries) = asked;
        for _ in 0..tries {
            match flock(file, operation) {
                Ok(()) => return Ok(()),
                Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Err(Error::new(strongroom_core::error::ErrorKind::Busy, busy))
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        *self.0 = None;
    }
}
