//! Steps on a directory that must last, in one place so that a simulated disk can stand in their way.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(test)]
pub(crate) mod simulated;

#[cfg(test)]
use simulated::observe;

/// A change to a directory, or the flush that makes changes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'p> {
    Create,
    Link(&'p Path),
    Unlink,
    Flush,
}

/// Nothing watches outside of tests.
#[cfg(not(test))]
fn observe(_: Step<'_>, _: &Path, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    act()
}

/// Makes an empty file by `options`, which must say that there is none.
pub(crate) fn create(path: &Path, options: &fs::OpenOptions) -> io::Result<()> {
    observe(Step::Create, path, || options.open(path).map(drop))
}

/// Gives the file at `path` the name `to` as well.
pub(crate) fn link(path: &Path, to: &Path) -> io::Result<()> {
    observe(Step::Link(to), path, || fs::hard_link(path, to))
}

/// Takes a name away.
pub(crate) fn unlink(path: &Path) -> io::Result<()> {
    observe(Step::Unlink, path, || fs::remove_file(path))
}

/// Makes the names in a directory durable.
pub(crate) fn flush_dir(dir: &Path) -> io::Result<()> {
    observe(Step::Flush, dir, || fs::File::open(dir)?.sync_all())
}
