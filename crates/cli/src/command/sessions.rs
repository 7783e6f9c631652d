//! `strongroom sessions`.

use strongroom::Result;
use strongroom::form::SourceForm;

use crate::args::Args;
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args) -> Result<End> {
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
