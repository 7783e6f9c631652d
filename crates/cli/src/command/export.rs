//! `strongroom export`.

use strongroom::archive::{Archive, StoredSource};
use strongroom::files::replace;
use strongroom::{Error, Result};

use crate::args::{Args, ExportArgs};
use crate::exit::End;
use crate::{out, place};

/// The shortest beginning of an id that may stand for it.
const ID_DIGITS_MIN: usize = 6;

pub(super) fn run(args: &Args, own: &ExportArgs) -> Result<End> {
    let archive = place::open_existing(args)?;
    let source = find(&archive, &own.source)?;
    let mut bytes = Vec::new();
    let missing = || Error::not_found(format!("{} has no revision", source.meta.name));
    let revision = archive.latest_revision(source.meta.id)?.ok_or_else(missing)?;
    archive.rebuild(&revision, &mut bytes)?;
    match &own.out {
        Some(path) => replace(path, &bytes, &mut || {})?,
        None => out::raw(&bytes)?,
    }
    Ok(End::Done)
}

/// The source that `wanted` names.
pub(super) fn find(archive: &Archive, wanted: &str) -> Result<StoredSource> {
    let absolute = strongroom::custody::name_of(wanted.as_ref());
    let mut found: Vec<StoredSource> = archive
        .sources()?
        .into_iter()
        .filter(|source| {
            let id = source.meta.id.to_string();
            source.meta.name == wanted
                || source.meta.name == absolute
                || (wanted.len() >= ID_DIGITS_MIN && id.starts_with(wanted))
        })
        .collect();
    match (found.pop(), found.len()) {
        (Some(source), 0) => Ok(source),
        (Some(_), more) => Err(Error::invalid_input(format!(
            "{wanted:?} stands for {} sources; give more of the id",
            more + 1
        ))),
        (None, _) => Err(Error::not_found(format!("no source in the archive is called {wanted:?}"))),
    }
}
