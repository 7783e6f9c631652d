//! What opens an encrypted archive, from where the words typed or the environment say it is.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use strongroom::archive::{Needed, Secret};
use strongroom::files::io_error;
use strongroom::{Error, Result};
use zeroize::Zeroizing;

use crate::args::Args;

/// The secret that was named, if one was.
///
/// # Errors
/// `InvalidInput` when it is none, several are named, or others may read it; `Unavailable` when the command fails.
pub(crate) fn of(args: &Args) -> Result<Option<Secret>> {
    named(args.key_file.as_deref(), args.passphrase_file.as_deref(), args.passphrase_command.as_deref())
}

/// The secret behind at most one of these.
pub(crate) fn named(
    key_file: Option<&Path>,
    passphrase_file: Option<&Path>,
    passphrase_command: Option<&str>,
) -> Result<Option<Secret>> {
    match (key_file, passphrase_file, passphrase_command) {
        (None, None, None) => Ok(None),
        (Some(path), None, None) => key_in(path).map(Some),
        (None, Some(path), None) => Secret::passphrase(private_text(path)?)
            .map_err(|error| Error::invalid_input(format!("{}: {error}", path.display())))
            .map(Some),
        (None, None, Some(command)) => printed(command).map(Some),
        _ => Err(Error::invalid_input("more than one key file or passphrase is named; name one")),
    }
}

/// The key in a file.
///
/// # Errors
/// `NotFound` or `Unavailable` when it cannot be read; `InvalidInput` when it holds no key, or others may read it.
pub fn key_in(path: &Path) -> Result<Secret> {
    let text = Zeroizing::new(private_text(path)?);
    let text = std::str::from_utf8(&text)
        .map_err(|_| Error::invalid_input(format!("{} is no key file", path.display())))?;
    Secret::key_file(text).map_err(|error| Error::invalid_input(format!("{}: {error}", path.display())))
}

/// The bytes of a file that nobody else may read.
fn private_text(path: &Path) -> Result<Vec<u8>> {
    let meta = std::fs::metadata(path).map_err(|error| io_error(path, "read", error))?;
    if meta.is_file() && meta.mode() & 0o077 != 0 {
        let path = path.display();
        return Err(Error::invalid_input(format!(
            "{path} may be read by others; chmod 600 {path} and think about a new secret"
        )));
    }
    std::fs::read(path).map_err(|error| io_error(path, "read", error))
}

/// The passphrase that a command of the user prints.
fn printed(command: &str) -> Result<Secret> {
    let run = Command::new("sh").arg("-c").arg(command).stderr(Stdio::inherit()).output();
    let run =
        run.map_err(|error| Error::unavailable("the passphrase command cannot be run").caused_by(error))?;
    if !run.status.success() {
        return Err(Error::unavailable(format!("the passphrase command ended with {}", run.status)));
    }
    Secret::passphrase(run.stdout)
        .map_err(|error| Error::invalid_input(format!("the passphrase command: {error}")))
}

/// How a secret that is missing is given.
pub(crate) const fn how_to_give(needed: Needed) -> &'static str {
    match needed {
        Needed::KeyFile => "--key-file FILE or $STRONGROOM_KEY_FILE names it",
        Needed::Passphrase => {
            "--passphrase-command COMMAND or $STRONGROOM_PASSPHRASE_COMMAND, --passphrase-file FILE or $STRONGROOM_PASSPHRASE_FILE give it"
        }
    }
}
