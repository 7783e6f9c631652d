//! `strongroom verify`.

use strongroom::Result;

use crate::args::{Args, VerifyArgs};
use crate::exit::End;
use crate::{out, place};

pub(super) fn run(args: &Args, own: VerifyArgs) -> Result<End> {
    let archive = place::open_existing(args)?;
    let report = archive.verify(own.read_data)?;
    if args.json {
        let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        let body = serde_json::json!({
            "schema": 1, "pieces": report.pieces, "sources": report.sources, "compactions": report.compactions,
            "journal_entries": report.entries, "read_data": own.read_data, "findings": findings,
        });
        out::line(&body.to_string())?;
    } else {
        out::line(&format!(
            "{} pieces{}, {} sources, {} compactions, {} journal entries: {}",
            report.pieces,
            if own.read_data { " read back and compared" } else { "" },
            report.sources,
            report.compactions,
            report.entries,
            if report.findings.is_empty() { "no damage found".to_owned() } else { format!("{} findings", report.findings.len()) },
        ))?;
        report.findings.iter().try_for_each(|finding| out::line(&finding.to_string()))?;
        out::note(strongroom::archive::NO_OUTSIDE_CHECKPOINT);
    }
    Ok(if report.findings.is_empty() { End::Done } else { End::Unavailable })
}
