//! `strongroom ask`.

use strongroom::answer::{Strictness, Verdict, render_text};
use strongroom::archive::Archive;
use strongroom::ask::{AskOptions, Asked, open};
use strongroom::query::read;
use strongroom::{Error, Result};

use crate::args::{Args, AskArgs};
use crate::exit::End;
use crate::{out, place};

pub(super) fn run(args: &Args, own: &AskArgs) -> Result<End> {
    let question = own.question.join(" ");
    let query = read(&question).map_err(|error| Error::invalid_input(error.to_string()))?;
    let archive = place::open_for_reading(args)?;
    let asked = gather(own, archive.as_ref())?;
    let strictness = if own.strict { Strictness::Strict } else { Strictness::Assume };
    let fingerprint_key = archive.as_ref().map_or([0; 32], Archive::fingerprint_key);
    let answer = asked.answer(&query, AskOptions { strictness, fingerprint_key })?;
    if args.json {
        let body = serde_json::to_string(&answer)
            .map_err(|error| Error::bug("the answer is no JSON").caused_by(error))?;
        out::line(&body)?;
    } else {
        if own.file.is_none() {
            out::note(&format!("asked: {} sources in the archive", asked.names().len()));
        }
        out::data(render_text(&answer).as_bytes())?;
    }
    Ok(if answer.verdict == Verdict::Supported { End::Done } else { End::No })
}

fn gather(own: &AskArgs, archive: Option<&Archive>) -> Result<Asked> {
    let mut asked = Asked::default();
    if let Some(file) = &own.file {
        let files = open(file, own.format.as_deref(), archive)?;
        asked.add(files, archive)?;
        return Ok(asked);
    }
    let archive =
        archive.ok_or_else(|| Error::not_found("there is no archive; name a transcript with --in FILE"))?;
    let here = (!own.all).then(std::env::current_dir).transpose();
    let here =
        here.map_err(|error| Error::unavailable("the current directory cannot be read").caused_by(error))?;
    asked.add_archived(archive, here.as_deref())?;
    if asked.names().is_empty() {
        return Err(Error::not_found(
            "no session of this directory is in the archive; import it, name a transcript with --in FILE, or use --all",
        ));
    }
    Ok(asked)
}
