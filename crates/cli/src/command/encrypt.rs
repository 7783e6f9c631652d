//! `strongroom encrypt`.

use strongroom::archive::{Archive, Secret};
use strongroom::{Error, Result};

use super::keys;
use crate::args::{Args, EncryptArgs};
use crate::exit::End;
use crate::{out, place, secret};

pub(super) fn run(args: &Args, own: &EncryptArgs) -> Result<End> {
    let files = [&args.key_file, &args.passphrase_file, &own.new_passphrase_file];
    files.into_iter().flatten().try_for_each(|path| keys::check_outside(args, path))?;
    let given = secret::of(args)?;
    let archive = place::open_for_changing(args)?;
    let new = new_secret(args, own)?;
    match (archive.is_encrypted(), given, new) {
        (false, given, new) => {
            let wanted = new.or(given).ok_or_else(|| {
                Error::invalid_input(
                    "give --new-key-file FILE, --key-file FILE, --passphrase-file FILE or --passphrase-command COMMAND",
                )
            })?;
            encrypt(args, &archive, wanted)?;
        }
        (true, Some(old), Some(new)) => {
            archive.change_lock(&old, &new)?;
            super::tell_cleared(archive.purge());
            out::note(
                "the archive opens with the new secret; a copy made before still opens with the old one",
            );
        }
        (true, _, _) => {
            super::tell_cleared(archive.purge());
            out::note("the archive is encrypted; free pages and the log are cleared");
        }
    }
    Ok(End::Done)
}

/// The secret that is to open the archive from now on, where it is another than the one that does.
fn new_secret(args: &Args, own: &EncryptArgs) -> Result<Option<Secret>> {
    if let Some(path) = &own.new_key_file {
        let key = keys::make_key_file(args, path)?;
        out::note(&format!("made {}", path.display()));
        out::hint("keep a copy of it elsewhere: without it nobody can read the archive");
        return Ok(Some(key));
    }
    secret::named(None, own.new_passphrase_file.as_deref(), own.new_passphrase_command.as_deref())
}

fn encrypt(args: &Args, archive: &Archive, wanted: Secret) -> Result<()> {
    archive.encrypt(&wanted)?;
    // From here on it opens with the secret alone, and that is tried at once.
    let again = place::open_dir_for_writing(&place::archive_dir(args)?, Some(wanted))?;
    super::tell_cleared(again.purge());
    out::note("the archive is encrypted; copies and backups made before are not");
    out::hint(
        "name the secret in $STRONGROOM_KEY_FILE, $STRONGROOM_PASSPHRASE_FILE or $STRONGROOM_PASSPHRASE_COMMAND, for hooks too",
    );
    Ok(())
}
