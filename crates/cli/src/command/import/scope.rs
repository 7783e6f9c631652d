//! What is imported.

use std::path::{Path, PathBuf};

use strongroom::Result;
use strongroom::archive::Archive;
use strongroom::import::{ImportOptions, Progress, import, import_sessions, transcripts};
use strongroom::standard::{self, Reads, Standard, State};

use crate::args::ImportArgs;
use crate::place;

/// What is imported.
pub(super) enum Scope {
    /// What lies at and below these paths.
    Paths(Vec<PathBuf>),
    /// The sessions of every agent.
    All(Vec<Standard>),
}

impl Scope {
    pub(super) fn of(own: &ImportArgs) -> Self {
        if own.all { Self::All(place::standard_places()) } else { Self::Paths(own.paths.clone()) }
    }

    /// The same, as it is now.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Paths(paths) => Self::Paths(paths.clone()),
            Self::All(_) => Self::All(place::standard_places()),
        }
    }

    /// The directories and files that are looked through.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        match self {
            Self::Paths(paths) => paths.clone(),
            Self::All(places) => {
                let there = places.iter().filter(|place| !place.files().is_empty());
                there.map(|place| place.root.clone()).collect()
            }
        }
    }

    /// The files there are.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>> {
        let files = match self {
            Self::Paths(paths) => transcripts(paths)?,
            Self::All(places) => standard::transcripts(places),
        };
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    /// Whether it is worth a word that this file is no transcript.
    pub(super) fn names(&self, path: &Path) -> bool {
        match self {
            Self::Paths(paths) => paths.iter().any(|named| named == path),
            Self::All(_) => true,
        }
    }

    /// Takes everything in.
    pub(super) fn import(
        &self,
        archive: &Archive,
        options: ImportOptions<'_>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<()> {
        match self {
            Self::Paths(paths) => import(archive, paths, options, progress),
            Self::All(places) => {
                import_sessions(archive, &standard::transcripts(places), options, progress);
                Ok(())
            }
        }
    }

    /// What is not read, or could not be looked into.
    pub(super) fn holes(&self) -> Vec<String> {
        match self {
            Self::Paths(_) => Vec::new(),
            Self::All(places) => places.iter().flat_map(Standard::holes).collect(),
        }
    }

    /// The places with sessions that are read: the agent, the directory, how many files.
    pub(super) fn found(&self) -> Vec<(&'static str, &Path, usize)> {
        let Self::All(places) = self else { return Vec::new() };
        let mut found: Vec<(&'static str, &Path, usize)> = Vec::new();
        for place in places.iter().filter(|place| matches!(place.row.reads, Reads::As(_))) {
            let files = place.files().len();
            match found.iter_mut().find(|(agent, root, _)| *agent == place.row.agent && *root == place.root) {
                Some((_, _, sum)) => *sum += files,
                None if files > 0 => found.push((place.row.agent, &place.root, files)),
                None => {}
            }
        }
        found
    }

    /// The agents of which nothing is here, each once.
    pub(super) fn absent(&self) -> Vec<&'static str> {
        let Self::All(places) = self else { return Vec::new() };
        let mut absent: Vec<&'static str> = Vec::new();
        for place in places {
            let own = |other: &&Standard| other.row.agent == place.row.agent;
            let nothing = places
                .iter()
                .filter(own)
                .all(|place| matches!(&place.state, State::Absent) || place.files().is_empty());
            if nothing && !absent.contains(&place.row.agent) {
                absent.push(place.row.agent);
            }
        }
        absent
    }
}
