//! Paths and where they lie: lexical resolution against a working directory, and scope by prefix.

use crate::effect::Scope;

/// What is known of the project's place before the first record is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFacts {
    /// The directory the session started in, which is the project's root; where it is not given, the first
    /// working directory that a record names.
    pub cwd: Option<String>,
    /// The user's home directory.
    pub home: Option<String>,
}

/// The working directory at a point of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cwd {
    /// The directory the session started in, whose path is not recorded.
    Start,
    /// One of these; the first is the likelier one.
    OneOf(Vec<String>),
    /// Not known.
    Unknown,
}

impl Cwd {
    /// A known directory.
    pub fn at(path: impl Into<String>) -> Self {
        Self::OneOf(vec![path.into()])
    }

    /// Either of two: what holds after a change of directory that may have failed.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        // The start has no path, so paths from it are relative: `.` says the same.
        let named = |cwd: Self| if cwd == Self::Start { Self::at(".") } else { cwd };
        match (self, other) {
            (one, two) if one == two => one,
            (one, two) if one == Self::Start || two == Self::Start => named(one).or(named(two)),
            (Self::OneOf(mut paths), Self::OneOf(others)) => {
                paths.extend(others);
                let mut seen = Vec::new();
                paths.retain(|path| {
                    !seen.contains(path) && {
                        seen.push(path.clone());
                        true
                    }
                });
                if paths.len() > 4 { Self::Unknown } else { Self::OneOf(paths) }
            }
            _ => Self::Unknown,
        }
    }
}

/// A path after resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The normalised path; relative where the working directory is not known.
    pub path: String,
    /// Where it lies.
    pub scope: Scope,
}

const TEMP: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/tmp",
    "/var/folders",
    "/private/var/folders",
    "/dev/shm",
];
const HOMES: &[&str] = &["/home", "/Users", "/root", "~", "C:/Users"];
const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/var",
    "/boot",
    "/srv",
    "/dev",
    "/proc",
    "/sys",
    "/run",
    "/Library",
    "/System",
    "/Applications",
    "/private/etc",
    "/private/var",
    "/snap",
    "/nix",
    "C:/Windows",
    "C:/Program Files",
    "C:/Program Files (x86)",
    "C:/ProgramData",
];

impl ProjectFacts {
    /// Resolves `written` against `cwd`. Purely lexical: links are not followed.
    pub fn resolve(&self, cwd: &Cwd, written: &str) -> Resolved {
        let spelled = self.spell(written);
        if is_absolute(&spelled) {
            let path = normalise(&spelled);
            let scope = self.scope(&path);
            return Resolved { path, scope };
        }
        match cwd {
            Cwd::Start => {
                let path = normalise(&spelled);
                let scope = if path.starts_with("..") { Scope::Unknown } else { Scope::Project };
                Resolved { path, scope }
            }
            Cwd::OneOf(bases) => self.resolve_in(bases, &spelled),
            Cwd::Unknown => Resolved { path: normalise(&spelled), scope: Scope::Unknown },
        }
    }

    fn resolve_in(&self, bases: &[String], spelled: &str) -> Resolved {
        let mut all = bases.iter().map(|base| {
            let path = normalise(&format!("{base}/{spelled}"));
            let scope = if is_absolute(&path) {
                self.scope(&path)
            } else if path.starts_with("..") {
                Scope::Unknown
            } else {
                Scope::Project
            };
            Resolved { path, scope }
        });
        let Some(mut first) = all.next() else {
            return Resolved { path: normalise(spelled), scope: Scope::Unknown };
        };
        if all.any(|other| other.scope != first.scope) {
            first.scope = Scope::Unknown;
        }
        first
    }

    /// Whether a path as written names the same place in every working directory.
    pub fn is_fixed(&self, written: &str) -> bool {
        is_absolute(&self.spell(written))
    }

    /// Writes the home directory out and drops the protocol of `file://`.
    fn spell(&self, written: &str) -> String {
        let plain = written.strip_prefix("file://").unwrap_or(written);
        match plain.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let home = self.home.as_deref().unwrap_or("~");
                format!("{home}{rest}")
            }
            _ if is_drive(plain) => plain.replace('\\', "/"),
            _ => self.drive_path(plain).unwrap_or_else(|| plain.to_owned()),
        }
    }

    /// `/d/x` and `/mnt/d/x` are `D:/x` to the shells that are used where the project lies on a drive.
    fn drive_path(&self, plain: &str) -> Option<String> {
        self.cwd.as_deref().filter(|cwd| is_drive(cwd))?;
        let rest = plain.strip_prefix("/mnt/").or_else(|| plain.strip_prefix("/cygdrive/"));
        let (letter, rest) = rest.or_else(|| plain.strip_prefix('/'))?.split_at_checked(1)?;
        let drive = letter.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (rest.is_empty() || rest.starts_with('/'));
        drive.then(|| format!("{}:{}", letter.to_ascii_uppercase(), if rest.is_empty() { "/" } else { rest }))
    }

    /// The scope of a normalised absolute path.
    pub fn scope(&self, path: &str) -> Scope {
        let inside = |prefixes: &[&str]| prefixes.iter().any(|prefix| is_inside(path, prefix));
        let root = self.cwd.as_deref().map(normalise).filter(|root| root != "/");
        if root.is_some_and(|root| is_inside(path, &root)) {
            return Scope::Project;
        }
        if inside(TEMP) || is_drive_temp(path) {
            return Scope::Temp;
        }
        if self.home.as_deref().is_some_and(|home| home != "/" && is_inside(path, &normalise(home)))
            || inside(HOMES)
        {
            return Scope::Home;
        }
        if inside(SYSTEM) {
            return Scope::System;
        }
        Scope::Outside
    }
}

/// The directory for temporary files below a home directory on a drive.
fn is_drive_temp(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    is_drive(path) && (lower.contains("/appdata/local/temp/") || lower.ends_with("/appdata/local/temp"))
}

/// Whether `path` is `base` or lies below it.
pub fn is_inside(path: &str, base: &str) -> bool {
    let rest = if is_drive(base) {
        path.get(..base.len())
            .filter(|head| head.eq_ignore_ascii_case(base))
            .and_then(|_| path.get(base.len()..))
    } else {
        path.strip_prefix(base)
    };
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || base.ends_with('/'))
}

/// Whether `path` names a place without a working directory.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path == "~" || path.starts_with("~/") || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && matches!(bytes.next(), None | Some(b'/' | b'\\'))
}

/// Removes `.`, doubled and trailing separators, and `..` with the part before it.
pub fn normalise(path: &str) -> String {
    let unified = if is_drive(path) { path.replace('\\', "/") } else { path.to_owned() };
    let rooted = unified.starts_with('/');
    let anchored = rooted || unified.starts_with("~/") || is_drive(&unified);
    let mut parts: Vec<&str> = Vec::new();
    for part in unified.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let fixed = usize::from(anchored && !rooted);
                if parts.len() > fixed && parts.last() != Some(&"..") {
                    parts.pop();
                } else if !anchored {
                    parts.push("..");
                }
            }
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted {
        format!("/{joined}")
    } else if joined.is_empty() {
        ".".to_owned()
    } else if !anchored && (is_drive(&joined) || joined.starts_with("~/")) {
        // What is left is a name here, though it looks like a drive or a home.
        format!("./{joined}")
    } else {
        joined
    }
}

/// The last component of a path.
pub fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_project_wins_over_the_prefix_lists() {
        let facts = ProjectFacts { cwd: Some("/opt/app".to_owned()), home: Some("/home/ann".to_owned()) };
        let scope = |path: &str| facts.resolve(&Cwd::at("/opt/app/src"), path).scope;
        assert_eq!(scope("x.rs"), Scope::Project);
        assert_eq!(scope("../../other"), Scope::System);
        assert_eq!(scope("/etc/hosts"), Scope::System);
        assert_eq!(scope("/etcetera"), Scope::Outside);
        assert_eq!(scope("~/.bashrc"), Scope::Home);
        assert_eq!(scope("/tmp/x"), Scope::Temp);
        assert_eq!(scope(r"C:\Windows\System32"), Scope::System);
    }

    #[test]
    fn directories_that_disagree_leave_the_scope_open() {
        let facts = ProjectFacts { cwd: Some("/app".to_owned()), home: None };
        let cwd = Cwd::at("/etc").or(Cwd::at("/app"));
        assert_eq!(facts.resolve(&cwd, "x").scope, Scope::Unknown);
        assert_eq!(facts.resolve(&Cwd::at("/app/a").or(Cwd::at("/app")), "x").scope, Scope::Project);
        assert_eq!(facts.resolve(&Cwd::Start, "a/../b").path, "b");
        assert_eq!(facts.resolve(&Cwd::Start.or(Cwd::at("/app")), "x").scope, Scope::Project);
        assert_eq!(facts.resolve(&Cwd::Start.or(Cwd::at("/etc")), "x").scope, Scope::Unknown);
        assert_eq!(facts.resolve(&Cwd::Start, "../b").scope, Scope::Unknown);
    }

    #[test]
    fn paths_on_drives_are_one_place_in_every_spelling() {
        let facts = ProjectFacts { cwd: Some(r"D:\app".to_owned()), home: None };
        let at = |path: &str| facts.resolve(&Cwd::at(r"D:\app"), path);
        assert_eq!(at("/d/app/x").path, "D:/app/x");
        assert_eq!(at("/d/app/x").scope, Scope::Project);
        assert_eq!(at("/mnt/d/app/x").scope, Scope::Project);
        assert_eq!(at(r"d:\APP\x").scope, Scope::Project);
        assert_eq!(at("/c/Users/ann/AppData/Local/Temp/x").scope, Scope::Temp);
        assert_eq!(at("/dev/x").scope, Scope::System);
        let unix = ProjectFacts { cwd: Some("/app".to_owned()), home: None };
        assert_eq!(unix.resolve(&Cwd::at("/app"), "/d/app/x").scope, Scope::Outside);
    }

    #[test]
    fn a_name_that_looks_like_a_drive_or_a_home_stays_where_it_is() {
        for (path, expected) in [
            ("b/../a:\\", "./a:\\"),
            ("b/../a:/c", "./a:/c"),
            ("b/../~/c", "./~/c"),
            ("~/b/../c", "~/c"),
            ("a:\\b\\..\\c", "a:/c"),
        ] {
            assert_eq!(normalise(path), expected);
            assert_eq!(normalise(expected), expected);
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(path in "[a-c./~:\\\\]{0,24}") {
            let once = normalise(&path);
            prop_assert_eq!(normalise(&once), once);
        }
    }
}
