//! The scratch tree that command lines run in, and what it looks like before and after.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Makes the tree; run in an empty directory with `app`, `home` and `tmp` in it.
const SETUP: &str = include_str!("setup.sh");

const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A directory with a project, a home directory and a temporary directory.
pub(crate) struct Tree {
    root: PathBuf,
}

/// How a line ended.
pub(crate) struct Ran {
    /// Its exit code; none where it took too long or was killed.
    pub(crate) code: Option<i32>,
    /// What it wrote to standard error.
    pub(crate) errors: String,
}

/// What a path is at one time. A write shows in the time, to the nanosecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Whether it is a directory.
    pub(crate) directory: bool,
    mode: u32,
    size: u64,
    time: (i64, i64),
    link: Option<PathBuf>,
}

/// Everything below a root, by its path from there.
pub(crate) type View = BTreeMap<String, Seen>;

impl Tree {
    /// Makes the tree below `root`.
    pub(crate) fn make(root: PathBuf) -> Self {
        for part in ["app", "home", "tmp"] {
            fs::create_dir_all(root.join(part)).unwrap();
        }
        let tree = Self { root };
        let ran = tree.run(SETUP);
        assert_eq!(ran.code, Some(0), "the tree cannot be made: {}", ran.errors);
        tree
    }

    /// A copy of this tree at `root`, with all times.
    pub(crate) fn copy(&self, root: PathBuf) -> Self {
        let status = Command::new("cp").arg("-a").arg(&self.root).arg(&root).status().unwrap();
        assert!(status.success());
        Self { root }
    }

    /// Takes `paths` back to what they are in `model`.
    pub(crate) fn restore(&self, model: &Self, view: &View, paths: &[String]) {
        for path in paths.iter().rev() {
            let own = self.root.join(path);
            match own.symlink_metadata() {
                Ok(meta) if meta.is_dir() && !view.get(path).is_some_and(|seen| seen.directory) => {
                    fs::remove_dir_all(&own).unwrap();
                }
                Ok(meta) if !meta.is_dir() => fs::remove_file(&own).unwrap(),
                _ => {}
            }
        }
        for path in paths {
            let (own, other) = (self.root.join(path), model.root.join(path));
            match view.get(path) {
                None => {}
                Some(seen) if seen.directory => {
                    fs::create_dir_all(&own).unwrap();
                    fs::set_permissions(&own, fs::Permissions::from_mode(seen.mode)).unwrap();
                }
                Some(Seen { link: Some(to), .. }) => symlink(to, &own).unwrap(),
                Some(_) => {
                    fs::copy(&other, &own).unwrap();
                    let time = other.metadata().unwrap().modified().unwrap();
                    fs::File::open(&own).unwrap().set_modified(time).unwrap();
                }
            }
        }
    }

    pub(crate) fn root(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    /// Writes the places of the tree into a line.
    pub(crate) fn fill(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (mark, part) in [("@A", "app"), ("@H", "home"), ("@T", "tmp")] {
            line = line.replace(mark, &self.root.join(part).to_string_lossy());
        }
        line
    }

    /// Runs a line in the project with nothing of the environment of the tests.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let log = self.root.with_extension("log");
        let mut child = Command::new("bash")
            .args(["-c", line])
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", self.root.join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("NO_UPDATE_NOTIFIER", "1")
            .current_dir(self.root.join("app"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if start.elapsed() > Duration::from_secs(10) => break None,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        if status.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let errors = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
        Ran { code: status.and_then(|status| status.code()), errors }
    }

    /// Everything below the root.
    pub(crate) fn look(&self) -> View {
        let mut all = BTreeMap::new();
        visit(&self.root, Path::new(""), &mut all);
        all
    }
}

fn visit(root: &Path, folder: &Path, all: &mut View) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        let path = folder.join(entry.file_name());
        let kind = meta.file_type();
        let link = kind.is_symlink().then(|| fs::read_link(entry.path()).unwrap_or_default());
        // The size and time of a directory change with what is in it; a link is what it points to.
        let plain = !kind.is_dir() && !kind.is_symlink();
        let (size, time) = if plain { (meta.size(), (meta.mtime(), meta.mtime_nsec())) } else { (0, (0, 0)) };
        let mode = meta.permissions().mode();
        all.insert(
            path.to_string_lossy().into_owned(),
            Seen { directory: kind.is_dir(), mode, size, time, link },
        );
        if kind.is_dir() {
            visit(root, &path, all);
        }
    }
}
