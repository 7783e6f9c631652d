//! Finding the files of a form: a path in which `*` is any part of one name and `**` any number of directories.

use std::path::{Path, PathBuf};

use super::State;
use crate::files::folder_at;

/// How deep `**` looks.
const DEPTH_MAX: usize = 16;

/// The parts of a form in front of the first that holds a star, which are directories.
pub(super) fn plain_beginning(form: &str) -> &str {
    let star = form.find('*').unwrap_or(form.len());
    form.get(..star).and_then(|plain| plain.rsplit_once('/')).map_or("", |(plain, _)| plain)
}

/// Everything of this form below `root`.
pub(super) fn look(root: &Path, form: &str) -> State {
    let parts: Vec<&str> = form.split('/').collect();
    let mut walk = Walk { files: Vec::new(), closed: Vec::new() };
    walk.below(root, &parts, 0);
    walk.files.sort();
    walk.files.dedup();
    walk.closed.sort();
    walk.closed.dedup();
    State::There { files: walk.files, closed: walk.closed }
}

struct Walk {
    files: Vec<(PathBuf, u64)>,
    closed: Vec<(PathBuf, String)>,
}

impl Walk {
    fn below(&mut self, directory: &Path, parts: &[&str], depth: usize) {
        let Some((part, rest)) = parts.split_first() else { return };
        if *part == "**" {
            self.below(directory, rest, depth);
            if depth < DEPTH_MAX {
                for (path, meta) in self.entries(directory) {
                    if meta.is_dir() {
                        self.below(&path, parts, depth + 1);
                    }
                }
            }
            return;
        }
        let found = if part.contains('*') { self.entries(directory) } else { self.entry(directory, part) };
        for (path, meta) in found {
            let fits = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| fits(name, part));
            if fits && rest.is_empty() && meta.is_file() {
                self.files.push((path, meta.len()));
            } else if fits && rest.is_empty() && meta.is_dir() {
                self.files.extend(folder_at(&path));
            } else if fits && !rest.is_empty() && meta.is_dir() {
                self.below(&path, rest, depth);
            }
        }
    }

    /// What a directory holds.
    fn entries(&mut self, directory: &Path) -> Vec<(PathBuf, std::fs::Metadata)> {
        match std::fs::read_dir(directory) {
            Ok(entries) => {
                let entries = entries.filter_map(Result::ok);
                entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?))).collect()
            }
            Err(error) => {
                self.closed.push((directory.to_owned(), error.to_string()));
                Vec::new()
            }
        }
    }

    /// One entry of a directory, if it is there.
    fn entry(&mut self, directory: &Path, name: &str) -> Vec<(PathBuf, std::fs::Metadata)> {
        let path = directory.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(meta) => vec![(path, meta)],
            Err(error) => {
                if error.kind() == std::io::ErrorKind::PermissionDenied {
                    self.closed.push((directory.to_owned(), error.to_string()));
                }
                Vec::new()
            }
        }
    }
}

/// Whether a name is of a form, in which each star is any text.
fn fits(name: &str, form: &str) -> bool {
    let Some((begin, rest)) = form.split_once('*') else { return name == form };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        let Some((_, behind)) = name.split_once(part) else { return false };
        name = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_of_one_name() {
        for (name, form) in [("a.jsonl", "*.jsonl"), (".jsonl", "*.jsonl"), ("x", "*"), ("x.json", "x.json*")]
        {
            assert!(fits(name, form), "{name} {form}");
        }
        for (name, form) in [("a.json", "*.jsonl"), ("opencode.db-wal", "opencode*.db"), ("a", "b")] {
            assert!(!fits(name, form), "{name} {form}");
        }
    }

    #[test]
    fn the_beginning_of_a_form_is_its_directories_without_a_star() {
        assert_eq!(plain_beginning("projects/**/*.jsonl"), "projects");
        assert_eq!(plain_beginning("a/b/x*.db"), "a/b");
        assert_eq!(plain_beginning("*.jsonl"), "");
        assert_eq!(plain_beginning("a/state.db"), "a");
    }
}
