//! `strongroom sessions`.

use strongroom::Result;

use crate::args::Args;
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args) -> Result<End> {
    let archive = place::open_existing(args)?;
    for source in archive.sources()? {
        if args.json {
            let body = serde_json::json!({
                "schema": 1, "id": source.meta.id.to_string(), "name": source.meta.name, "format": source.meta.format,
                "session": source.meta.session, "bytes": source.latest.len, "revision": source.latest.number,
                "root": source.latest.id.to_string(), "imported_at": clock::words(source.latest.at),
            });
            out::line(&body.to_string())?;
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
