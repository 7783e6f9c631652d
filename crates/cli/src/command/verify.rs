//! `strongroom verify`.

use std::path::Path;

use strongroom::archive::note::text_unchecked;
use strongroom::archive::{Anchor, Archive, Checkpoint, Depth, Report};
use strongroom::files::io_error;
use strongroom::retention::{Elsewhere, elsewhere};
use strongroom::{Error, ErrorKind, Result};

use super::keys;
use crate::args::{Args, VerifyArgs};
use crate::exit::End;
use crate::table::visible;
use crate::{out, place};

/// A checkpoint that was kept elsewhere.
struct Since {
    checkpoint: Checkpoint,
    signer: Option<String>,
}

pub(super) fn run(args: &Args, own: &VerifyArgs) -> Result<End> {
    let since = own.since.as_deref().map(|path| since(path, own.public_key.as_deref())).transpose()?;
    let archive = place::open_existing(args)?;
    let depth = if own.read_data { Depth::Data } else { Depth::Catalog };
    let report = archive.verify(depth, since.as_ref().map(|since| &since.checkpoint));
    let proof = consistency(&archive, &report);
    let elsewhere = if own.sources { elsewhere(&archive)? } else { Vec::new() };
    if args.json {
        print_json(&report, since.as_ref(), proof.as_deref(), &elsewhere)?;
    } else {
        print_words(&report, since.as_ref(), own.read_data)?;
        for (name, state) in elsewhere.iter().filter(|(_, state)| *state != Elsewhere::Same) {
            out::line(&format!("{}: {}", word(*state), visible(name)))?;
        }
        if own.sources {
            let gone = elsewhere.iter().filter(|(_, state)| *state == Elsewhere::Gone).count();
            out::line(&format!(
                "{} files were imported; {gone} are gone and in custody here",
                elsewhere.len()
            ))?;
        }
    }
    Ok(if report.is_clean() { End::Done } else { End::Unavailable })
}

/// Reads a checkpoint: a signed note, or the line that `verify` prints.
fn since(path: &Path, public: Option<&str>) -> Result<Since> {
    let text = std::fs::read_to_string(path).map_err(|error| io_error(path, "read", error))?;
    if let Ok(checkpoint) = text.trim().parse() {
        if public.is_some() {
            return Err(Error::new(ErrorKind::Corrupt, format!("{} is not signed", path.display())));
        }
        return Ok(Since { checkpoint, signer: None });
    }
    let (text, signer) = match public {
        Some(typed) => {
            let key = keys::public(typed)?;
            (key.open(&text)?, Some(key.to_string()))
        }
        None => (text_unchecked(&text)?, None),
    };
    Ok(Since { checkpoint: Checkpoint::from_note_text(text)?, signer })
}

/// The proof that leads from the old root to the new one, for whoever wants to check it elsewhere.
fn consistency(archive: &Archive, report: &Report) -> Option<Vec<String>> {
    let (Anchor::Extends(old), Some(new)) = (report.anchor, report.checkpoint) else { return None };
    let proof = archive.prove_consistency(old.size, new.size).ok()?;
    Some(proof.iter().map(ToString::to_string).collect())
}

const fn word(state: Elsewhere) -> &'static str {
    match state {
        Elsewhere::Same => "same",
        Elsewhere::Changed => "changed",
        Elsewhere::Gone => "gone",
    }
}

fn print_json(
    report: &Report,
    since: Option<&Since>,
    proof: Option<&[String]>,
    elsewhere: &[(String, Elsewhere)],
) -> Result<()> {
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let body = serde_json::json!({
        "schema": 1, "pieces": report.pieces, "bytes_read": report.bytes_read,
        "checkpoint": report.checkpoint.as_ref().map(ToString::to_string),
        "problems": problems, "caveat": report.caveat(), "erased": report.erased, "redacted": report.redacted,
        "purge_is_due": report.purge_is_due, "cold": report.cold, "leaving": report.leaving,
        "sources": elsewhere.iter().map(|(name, state)| serde_json::json!({ "source": name, "file": word(*state) }))
            .collect::<Vec<_>>(),
        "since": since.map(|since| serde_json::json!({
            "checkpoint": since.checkpoint.to_string(), "signed_by": since.signer, "consistency": proof,
        })),
    });
    out::line(&body.to_string())
}

fn print_words(report: &Report, since: Option<&Since>, read_data: bool) -> Result<()> {
    let read = if read_data {
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
    if let (Some(since), Anchor::Extends(old), Some(new)) = (since, report.anchor, report.checkpoint) {
        let signer = since.signer.as_deref().map_or_else(
            || "its signature was not checked: give --public-key".to_owned(),
            |signer| format!("signed by {signer}"),
        );
        let more = new.size.saturating_sub(old.size);
        out::line(&format!(
            "begins with the {} entries of the checkpoint, and has {more} more ({signer})",
            old.size
        ))?;
    }
    if let Some(checkpoint) = report.checkpoint {
        out::line(&checkpoint.to_string())?;
    }
    if report.erased > 0 {
        out::line(&format!("{} pieces were erased by order", report.erased))?;
    }
    if report.redacted > 0 {
        out::line(&format!("{} pieces have lost bytes by order", report.redacted))?;
    }
    if report.cold > 0 {
        out::line(&format!("{} of the pieces are in the cold tier", report.cold))?;
    }
    if report.leaving > 0 {
        out::warning(&format!(
            "{} objects may stand in the cold tier that nothing needs: strongroom tier sweep takes them away",
            report.leaving
        ));
    }
    if report.purge_is_due {
        out::warning(
            "what was erased may still stand in free pages or in the log: strongroom gc --act clears them",
        );
    }
    report.caveat().iter().for_each(|caveat| out::note(caveat));
    Ok(())
}
