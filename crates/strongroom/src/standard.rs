//! Where agents keep their sessions: one table, and what lies there.
//!
//! Nothing here reads the environment: who asks gives a function that knows the variables.

mod table;

mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::files::items_of;

pub use table::{Reads, Row};

/// A standard place of an agent, as it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standard {
    /// The row of the table.
    pub row: &'static Row,
    /// The directory that is looked through: what a variable names, and what stands below it.
    pub root: PathBuf,
    /// The variable that named it.
    pub variable: &'static str,
    /// What there is of it.
    pub state: State,
}

/// What there is of a standard place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No such directory.
    Absent,
    /// The files of the row's form, in the order of their names, with their sizes in bytes, and the directories that
    /// could not be looked into, with the reason.
    There {
        /// The files.
        files: Vec<(PathBuf, u64)>,
        /// What could not be looked into.
        closed: Vec<(PathBuf, String)>,
    },
}

impl Standard {
    /// The files; none where there is no such directory.
    pub fn files(&self) -> &[(PathBuf, u64)] {
        match &self.state {
            State::Absent => &[],
            State::There { files, .. } => files,
        }
    }

    /// Why sessions may be missing from what is read of this place, one line each; nothing where none is.
    pub fn holes(&self) -> Vec<String> {
        let mut holes = Vec::new();
        let agent = self.row.agent;
        match &self.state {
            State::Absent if !matches!(self.variable, "HOME" | "XDG_DATA_HOME" | "XDG_CONFIG_HOME") => holes
                .push(format!(
                    "{agent}: {} does not exist, where {} leads",
                    self.root.display(),
                    self.variable
                )),
            State::Absent => {}
            State::There { files, closed } => {
                if let (Reads::No(why), Some((first, _))) = (self.row.reads, files.first()) {
                    holes.push(format!(
                        "{agent}: {} files not read, such as {}: {why}",
                        files.len(),
                        first.display()
                    ));
                }
                let told = |(path, why): &(PathBuf, String)| {
                    format!("{agent}: {} cannot be looked into: {why}", path.display())
                };
                holes.extend(closed.iter().map(told));
            }
        }
        holes
    }
}

/// Looks at every standard place; `variable` gives what a variable of the environment names. Symbolic links below a
/// place are not followed.
pub fn places(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Standard> {
    table::ROWS.iter().filter_map(|row| place(row, variable)).collect()
}

fn place(row: &'static Row, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<Standard> {
    let (variable, root) = root(row, variable)?;
    let state = if root.is_dir() { walk::look(&root, row.form) } else { State::Absent };
    Some(Standard { row, root, variable, state })
}

/// The directory of a row: below what the first of its variables that is set names.
fn root(row: &'static Row, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<(&'static str, PathBuf)> {
    let own = |&(name, below): &(&'static str, &str)| Some((name, joined(variable(name)?, below)));
    row.from.iter().find_map(own)
}

/// `below` may be empty, and a path does not end in a slash.
fn joined(root: PathBuf, below: &str) -> PathBuf {
    below.split('/').filter(|part| !part.is_empty()).fold(root, |path, part| path.join(part))
}

/// The files of formats that are read, each once, with their sizes in bytes.
pub fn transcripts(places: &[Standard]) -> Vec<(PathBuf, u64)> {
    let mut known = BTreeSet::new();
    let read = places.iter().filter(|place| matches!(place.row.reads, Reads::As(_)));
    let files = read.flat_map(Standard::files).filter(|(path, _)| known.insert(path.clone()));
    files.flat_map(|(path, len)| items_of(path, *len)).collect()
}

/// The directories below which sessions of formats that are read lie, each once, those that are there. They are
/// narrow: what else an agent keeps beside its sessions lies outside.
pub fn roots(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let read = table::ROWS.iter().filter(|row| matches!(row.reads, Reads::As(_)));
    let mut roots: Vec<PathBuf> = Vec::new();
    for row in read {
        let Some((_, root)) = root(row, variable) else { continue };
        // Beside a database lies what else the agent keeps.
        if row.form.strip_suffix(".db").is_some() {
            if let State::There { files, .. } = walk::look(&root, row.form) {
                roots.extend(files.into_iter().map(|(path, _)| path));
            }
            continue;
        }
        let root = joined(root, walk::plain_beginning(row.form));
        if root.is_dir() && !roots.iter().any(|known| root.starts_with(known)) {
            roots.push(root);
        }
    }
    roots
}

/// The place that `path` belongs to.
pub fn place_of<'p>(places: &'p [Standard], path: &Path) -> Option<&'p Standard> {
    places.iter().find(|place| place.files().iter().any(|(file, _)| file == path))
}

#[cfg(test)]
mod tests;
