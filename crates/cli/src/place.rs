//! Where things are: the archive's directory, the output beside the input.

use std::path::{Path, PathBuf};

use strongroom::archive::{Archive, Cloud, Mode, Options, Secret};
use strongroom::{Error, ErrorKind, Result};

use crate::args::Args;
use crate::{out, secret};

/// The archive's directory: `--dir`, or the usual one.
pub(crate) fn archive_dir(args: &Args) -> Result<PathBuf> {
    args.dir.clone().map_or_else(usual_dir, Ok)
}

/// The archive's directory where none is named: `$STRONGROOM_DIR`, `$XDG_DATA_HOME/strongroom` or
/// `~/.local/share/strongroom`.
///
/// # Errors
/// `InvalidInput` when the environment names no home.
pub fn usual_dir() -> Result<PathBuf> {
    if let Some(dir) = variable("STRONGROOM_DIR") {
        return Ok(dir);
    }
    if let Some(data) = variable("XDG_DATA_HOME").filter(|data| data.is_absolute()) {
        return Ok(data.join("strongroom"));
    }
    let home =
        variable("HOME").ok_or_else(|| Error::invalid_input("no home directory is known; give --dir"))?;
    Ok(home.join(".local/share/strongroom"))
}

/// The policy file where none is named: `$STRONGROOM_POLICY`.
pub fn usual_policy() -> Option<PathBuf> {
    variable("STRONGROOM_POLICY")
}

/// What opens an encrypted archive where no words say it: `$STRONGROOM_KEY_FILE`, `$STRONGROOM_PASSPHRASE_FILE` or
/// `$STRONGROOM_PASSPHRASE_COMMAND`.
///
/// # Errors
/// `InvalidInput` when it is none, several are named, or others may read it; `Unavailable` when the command fails.
pub fn usual_secret() -> Result<Option<Secret>> {
    let command = variable("STRONGROOM_PASSPHRASE_COMMAND");
    secret::named(
        variable("STRONGROOM_KEY_FILE").as_deref(),
        variable("STRONGROOM_PASSPHRASE_FILE").as_deref(),
        command.as_deref().and_then(Path::to_str),
    )
}

/// How a cold tier is reached: the variables that stores are set up by, such as `$AWS_ENDPOINT_URL`.
pub fn usual_cloud() -> Cloud {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    Cloud::of(std::env::vars_os().filter_map(text))
}

/// The token of `strongroom mcp --http`, from the environment, which other users of this machine cannot read.
pub(crate) fn mcp_token() -> Option<String> {
    variable("STRONGROOM_MCP_TOKEN").and_then(|token| token.into_os_string().into_string().ok())
}

/// The text of a variable that is named elsewhere: a key, a proxy.
pub(crate) fn named_variable(name: &str) -> Option<String> {
    variable(name).and_then(|value| value.into_os_string().into_string().ok())
}

/// An agent's own directory, where this variable names one.
pub(crate) fn agent_home(name: &str) -> Option<PathBuf> {
    variable(name)
}

/// The user's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME")
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads directories from the environment")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The standard places of all agents, as they are here.
pub(crate) fn standard_places() -> Vec<strongroom::standard::Standard> {
    strongroom::standard::places(&variable)
}

/// The folders of sessions that exist here.
pub(crate) fn standard_sessions() -> Vec<PathBuf> {
    strongroom::standard::roots(&variable)
}

/// Opens the archive for writing, making it when there is none.
pub(crate) fn open_for_writing(args: &Args) -> Result<Archive> {
    open_dir_for_writing(&archive_dir(args)?, secret::of(args)?)
}

/// Opens the archive in `dir` for writing, making it when there is none.
pub(crate) fn open_dir_for_writing(dir: &Path, secret: Option<Secret>) -> Result<Archive> {
    let expects_encryption = secret.is_some();
    let archive = open(dir, Mode::CreateIfMissing, secret).map_err(|error| named(error, dir))?;
    if expects_encryption && !archive.is_encrypted() {
        out::warning(&format!(
            "the archive in {} is not encrypted; strongroom encrypt does it",
            dir.display()
        ));
    }
    Ok(archive)
}

/// Opens the archive for reading; `None` when there is none.
pub(crate) fn open_for_reading(args: &Args) -> Result<Option<Archive>> {
    open_dir_for_reading(&archive_dir(args)?, secret::of(args)?)
}

/// Opens the archive in `dir` for reading; `None` when there is none.
pub(crate) fn open_dir_for_reading(dir: &Path, secret: Option<Secret>) -> Result<Option<Archive>> {
    match open(dir, Mode::ReadOnly, secret) {
        Ok(archive) => Ok(Some(archive)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(error, dir)),
    }
}

/// Opens the archive for reading; there must be one.
pub(crate) fn open_existing(args: &Args) -> Result<Archive> {
    open_there(args, Mode::ReadOnly)
}

/// Opens the archive for writing; there must be one.
pub(crate) fn open_for_changing(args: &Args) -> Result<Archive> {
    open_there(args, Mode::ReadWrite)
}

fn open_there(args: &Args, mode: Mode) -> Result<Archive> {
    let dir = archive_dir(args)?;
    open(&dir, mode, secret::of(args)?).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Error::not_found(format!("there is no archive in {}; compact or import makes one", dir.display()))
        }
        _ => named(error, &dir),
    })
}

fn open(dir: &Path, mode: Mode, secret: Option<Secret>) -> Result<Archive> {
    let has_secret = secret.is_some();
    let options = Options { secret, cloud: usual_cloud(), ..Options::new(mode) };
    Archive::open_with(dir, &options).map_err(|error| match Archive::secret_needed(dir) {
        Ok(Some(needed)) if !has_secret => {
            Error::new(error.kind(), format!("{error}; {}", secret::how_to_give(needed)))
        }
        _ => error,
    })
}

/// The name of a source as people are told it: a path below the current directory from there on.
pub(crate) fn shown(name: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| Path::new(name).strip_prefix(here).ok().map(Path::to_owned));
    below
        .filter(|below| !below.as_os_str().is_empty())
        .map_or_else(|| name.to_owned(), |below| below.display().to_string())
}

fn named(error: Error, dir: &Path) -> Error {
    Error::new(error.kind(), format!("archive {}: {error}", dir.display())).caused_by(error)
}

/// `session.jsonl` becomes `session.compacted.jsonl`.
pub(crate) fn compacted_name(input: &Path) -> PathBuf {
    // The output is never packed.
    let packed = input.extension().is_some_and(|extension| extension == "zst" || extension == "gz");
    let plain = if packed { input.with_extension("") } else { input.to_owned() };
    let stem = plain.file_stem().unwrap_or_default().to_string_lossy();
    let name = match plain.extension() {
        Some(extension) => format!("{stem}.compacted.{}", extension.to_string_lossy()),
        None => format!("{stem}.compacted"),
    };
    input.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_stands_beside_the_input() {
        assert_eq!(compacted_name(Path::new("/a/s.jsonl")), Path::new("/a/s.compacted.jsonl"));
        assert_eq!(compacted_name(Path::new("s")), Path::new("s.compacted"));
        assert_eq!(compacted_name(Path::new("/a/s.jsonl.zst")), Path::new("/a/s.compacted.jsonl"));
    }
}
