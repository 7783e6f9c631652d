//! The desk: many questions from somebody who may only name what is listed here.
//!
//! A desk is opened on an archive and on files and folders. What it is asked for is compared with the names of what
//! it finds there, so that no text of a question ever becomes a path. Sessions are read and examined once, and again
//! when a file of theirs, or the archive behind their summaries, has changed.

mod cache;

mod catalog;

use std::ops::ControlFlow;
use std::path::PathBuf;

use strongroom_archive::{Archive, Cloud, Mode, Options, Secret};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_evidence::answer::Strictness;

use crate::ask::{AskOptions, Asked};
use cache::Cache;
use catalog::Catalog;

pub use catalog::{Held, Session};

/// The most bytes of transcripts that one question is asked of, and that stay ready. A byte takes about six of memory.
const SCOPE_BYTES_MAX: u64 = 256 << 20;

/// The most sessions that one question is asked of, and that stay ready: each holds its files open.
const SCOPE_FILES_MAX: usize = 300;

/// Where a desk looks.
#[derive(Debug, Clone)]
pub struct Places {
    /// The archive's directory; there need not be one yet.
    pub archive: PathBuf,
    /// Files and folders in which sessions lie.
    pub roots: Vec<PathBuf>,
    /// Which archived sources are listed.
    pub custody: Custody,
    /// Which sessions are asked where none is named.
    pub usual: Usual,
    /// What opens the archive where it is encrypted.
    pub secret: Option<Secret>,
    /// How its cold tier is reached, where it has one.
    pub cloud: Cloud,
}

/// Which archived sources a desk lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Custody {
    /// All.
    All,
    /// Those that came from the roots.
    BelowRoots,
}

/// Which sessions are asked where none is named.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Usual {
    /// Those of this working directory.
    Project(PathBuf),
    /// All that are listed.
    Everything,
}

/// Which sessions are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// The usual ones.
    Usual,
    /// All that are listed.
    All,
    /// The one with this name or the end of one, or all with this session id or the beginning of one.
    Named(&'a str),
}

/// A step of making sessions ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// Bytes that are ready.
    pub done: u64,
    /// Bytes of all sessions that are asked.
    pub total: u64,
    /// The session that is read next.
    pub next: &'a str,
}

/// Called before each session; breaking ends the work.
pub type Watch<'w> = dyn FnMut(Step<'_>) -> ControlFlow<()> + 'w;

/// Sessions ready to be asked.
#[derive(Debug)]
pub struct Sitting {
    /// The sessions.
    pub asked: Asked,
    /// How they are asked.
    pub options: AskOptions,
    /// Their names, in order.
    pub names: Vec<String>,
}

/// A place at which sessions are asked.
#[derive(Debug)]
pub struct Desk {
    places: Places,
    catalog: Catalog,
    cache: Cache,
}

impl Desk {
    /// A desk that looks at `places` and nowhere else.
    pub fn new(places: Places) -> Self {
        Self { places, catalog: Catalog::default(), cache: Cache::default() }
    }

    /// Everything that can be asked, newest first.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt` when the archive cannot be read.
    pub fn sessions(&self) -> Result<Vec<Session>> {
        self.catalog.sessions(&self.places, self.archive()?.as_ref())
    }

    /// Whether a session is among the usual ones.
    pub fn is_usual(&self, session: &Session) -> bool {
        match &self.places.usual {
            Usual::Everything => true,
            Usual::Project(project) => session.cwd.as_deref().is_some_and(|cwd| cwd == project.as_path()),
        }
    }

    /// Makes the sessions that are meant ready to be asked.
    ///
    /// # Errors
    /// `NotFound` when there is none, `InvalidInput` when several have the name or there is too much to ask at once,
    /// `Refused` when `watch` ended the work, and what reading them returns.
    pub fn sit(&self, which: Which<'_>, strictness: Strictness, watch: &mut Watch<'_>) -> Result<Sitting> {
        let archive = self.archive()?;
        let sessions = self.catalog.sessions(&self.places, archive.as_ref())?;
        let mut meant = self.meant(which, &sessions)?;
        // The oldest first: what later sessions repeat is cited where it stood first.
        meant.reverse();
        let total = bounded(&meant)?;
        let mut asked = Asked::default();
        let mut done = 0;
        let mut names = Vec::new();
        for session in meant {
            if watch(Step { done, total, next: &session.name }).is_break() {
                return Err(Error::refused("the question was withdrawn"));
            }
            asked.join(&*self.cache.ready(session, archive.as_ref())?);
            done += session.bytes;
            names.push(session.name.clone());
        }
        let key = archive.as_ref().map_or([0; 32], Archive::fingerprint_key);
        Ok(Sitting { asked, options: AskOptions { strictness, fingerprint_key: key }, names })
    }

    /// The archive, opened for reading; `None` when there is none.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn archive(&self) -> Result<Option<Archive>> {
        let (secret, cloud) = (self.places.secret.clone(), self.places.cloud.clone());
        let options = Options { secret, cloud, ..Options::new(Mode::ReadOnly) };
        match Archive::open_with(&self.places.archive, &options) {
            Ok(archive) => Ok(Some(archive)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn meant<'s>(&self, which: Which<'_>, sessions: &'s [Session]) -> Result<Vec<&'s Session>> {
        let meant: Vec<&Session> = match which {
            Which::Named(name) => catalog::named(sessions, name)?,
            Which::All => sessions.iter().collect(),
            Which::Usual => sessions.iter().filter(|session| self.is_usual(session)).collect(),
        };
        if meant.is_empty() {
            return Err(Error::not_found(match &self.places.usual {
                Usual::Project(project) if which == Which::Usual => format!(
                    "no session of the directory {} is known here; name one, or ask all of them",
                    project.display()
                ),
                _ => "no session is known here".to_owned(),
            }));
        }
        Ok(meant)
    }
}

/// The bytes of all sessions, when they are not too many.
fn bounded(sessions: &[&Session]) -> Result<u64> {
    let bytes = sessions.iter().map(|session| session.bytes).sum();
    if bytes > SCOPE_BYTES_MAX || sessions.len() > SCOPE_FILES_MAX {
        return Err(Error::invalid_input(format!(
            "{} sessions with {} MB are more than are asked at once ({SCOPE_FILES_MAX} sessions, {} MB); name one",
            sessions.len(),
            bytes >> 20,
            SCOPE_BYTES_MAX >> 20
        )));
    }
    Ok(bytes)
}
