//! `strongroom sessions`.

use std::path::Path;

use strongroom::Result;
use strongroom::archive::Archive;
use strongroom::form::SourceForm;
use strongroom::import::kept;
use strongroom::standard::{Reads, Standard};

use crate::args::{Args, SessionsArgs};
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &SessionsArgs) -> Result<End> {
    if own.all {
        return everywhere(args);
    }
    let archive = place::open_existing(args)?;
    for source in archive.sources()? {
        if args.json {
            out::line(&super::as_json(&SourceForm::of(&source))?)?;
        } else {
            out::line(&format!(
                "{}  {:<18} {:>12} bytes  revision {:<4} {}  {}",
                source.meta.id.digest().short(12),
                source.meta.format,
                source.latest.len,
                source.latest.number,
                clock::words(source.latest.at),
                source.meta.name
            ))?;
        }
    }
    Ok(End::Done)
}

/// Lists what stands in the standard places.
fn everywhere(args: &Args) -> Result<End> {
    let archive = place::open_for_reading(args)?;
    let places = place::standard_places();
    for place in &places {
        let Reads::As(format) = place.row.reads else { continue };
        for (path, bytes) in place.files() {
            let custody = Custody::of(archive.as_ref(), path, *bytes)?;
            if args.json {
                let body = serde_json::json!({
                    "schema": 1, "agent": place.row.agent, "format": format, "file": path, "bytes": bytes,
                    "custody": custody.word(),
                });
                out::line(&body.to_string())?;
            } else {
                let agent = place.row.agent;
                let custody = custody.words();
                out::line(&format!("{agent:<12} {custody:<19} {bytes:>12} bytes  {}", path.display()))?;
            }
        }
    }
    for hole in places.iter().flat_map(Standard::holes) {
        out::warning(&hole);
    }
    Ok(End::Done)
}

/// How much of a file is in custody.
#[derive(Clone, Copy)]
enum Custody {
    None,
    Older,
    Now,
}

impl Custody {
    fn of(archive: Option<&Archive>, path: &Path, bytes: u64) -> Result<Self> {
        let Some(archive) = archive else { return Ok(Self::None) };
        Ok(match kept(archive, path, bytes)? {
            None => Self::None,
            Some(false) => Self::Older,
            Some(true) => Self::Now,
        })
    }

    const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Older => "older",
            Self::Now => "now",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::None => "not in custody",
            Self::Older => "changed since",
            Self::Now => "in custody",
        }
    }
}
