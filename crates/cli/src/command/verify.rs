//! `strongroom verify`.

use strongroom::Result;
use strongroom::archive::Depth;

use crate::args::{Args, VerifyArgs};
use crate::exit::End;
use crate::{out, place};

pub(super) fn run(args: &Args, own: VerifyArgs) -> Result<End> {
    let archive = place::open_existing(args)?;
    let depth = if own.read_data { Depth::Data } else { Depth::Catalog };
    let report = archive.verify(depth, None);
    let checkpoint = report.checkpoint.as_ref().map(ToString::to_string);
    if args.json {
        let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        let body = serde_json::json!({
            "schema": 1, "pieces": report.pieces, "bytes_read": report.bytes_read, "checkpoint": checkpoint,
            "problems": problems, "caveat": report.caveat(),
        });
        out::line(&body.to_string())?;
    } else {
        let read = if own.read_data {
            format!(" ({} bytes read back and compared)", report.bytes_read)
        } else {
            String::new()
        };
        let found = if report.is_clean() {
            "no damage found".to_owned()
        } else {
            format!("{} problems", report.problems.len())
        };
        out::line(&format!("{} pieces{read}: {found}", report.pieces))?;
        report.problems.iter().try_for_each(|problem| out::line(&problem.to_string()))?;
        if let Some(checkpoint) = checkpoint {
            out::line(&checkpoint)?;
        }
        report.caveat().iter().for_each(|caveat| out::note(caveat));
    }
    Ok(if report.is_clean() { End::Done } else { End::Unavailable })
}
