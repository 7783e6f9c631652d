//! The keys of signed notes: made once, kept outside the archive.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use strongroom::archive::Secret;
use strongroom::archive::note::{PrivateKey, PublicKey};
use strongroom::files::io_error;
use strongroom::{Error, Result};

use crate::args::Args;
use crate::place;

/// Makes a key pair: `path`, which its owner alone may read, and `path.pub`.
///
/// # Errors
/// `InvalidInput` when either is there already or lies in the archive, `Unavailable` when it cannot be written.
pub(super) fn make(args: &Args, path: &Path, name: &str) -> Result<PrivateKey> {
    check_outside(args, path)?;
    let key = PrivateKey::generate(name)?;
    write_new(path, &key.secret_text(), 0o600)?;
    write_new(&public_path(path), &format!("{}\n", key.public()), 0o644)?;
    Ok(key)
}

/// Bytes as they are printed and read again.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a key file for an encrypted archive, which its owner alone may read.
///
/// # Errors
/// As [`make`].
pub(super) fn make_key_file(args: &Args, path: &Path) -> Result<Secret> {
    check_outside(args, path)?;
    let (secret, text) = Secret::generate()?;
    write_new(path, &text, 0o600)?;
    Ok(secret)
}

/// Where the public half of the key in `path` stands.
pub(super) fn public_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let opened = std::fs::File::options().write(true).create_new(true).mode(mode).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::invalid_input(format!("{} exists; a key is never written over", path.display()))
        }
        _ => io_error(path, "written", error),
    })
}

/// Reads a private key.
///
/// # Errors
/// `InvalidInput` when it is none, lies in the archive, or may be read by others.
pub(super) fn private(args: &Args, path: &Path) -> Result<PrivateKey> {
    check_outside(args, path)?;
    let meta = std::fs::metadata(path).map_err(|error| io_error(path, "read", error))?;
    if meta.mode() & 0o077 != 0 {
        return Err(Error::invalid_input(format!(
            "{} may be read by others; chmod 600 {} and think about a new key",
            path.display(),
            path.display()
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|error| io_error(path, "read", error))?;
    PrivateKey::parse(&text)
        .map_err(|error| Error::invalid_input(format!("{}: {error}", path.display())).caused_by(error))
}

/// A public key as it was typed: the key itself, or a file that holds it.
///
/// # Errors
/// `InvalidInput` when it is neither.
pub(super) fn public(typed: &str) -> Result<PublicKey> {
    if let Ok(key) = PublicKey::parse(typed) {
        return Ok(key);
    }
    let path = Path::new(typed);
    let text = std::fs::read_to_string(path).map_err(|error| io_error(path, "read", error))?;
    PublicKey::parse(&text)
}

/// A key in the archive's directory would be copied, lost and stolen with it.
pub(super) fn check_outside(args: &Args, path: &Path) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let archive = real(&place::archive_dir(args)?);
    if archive.is_some_and(|archive| real(folder).is_some_and(|folder| folder.starts_with(archive))) {
        return Err(Error::invalid_input(format!(
            "{} lies in the archive; whoever can change the archive must not have the key",
            path.display()
        )));
    }
    Ok(())
}
