//! `strongroom ask`.

use std::path::Path;

use strongroom::answer::{Answer, Verdict, render_text};
use strongroom::archive::Archive;
use strongroom::ask::{Asked, open};
use strongroom::query::read;
use strongroom::{Error, Result};

use crate::args::{Args, AskArgs};
use crate::exit::End;
use crate::{out, place};

pub(super) fn run(args: &Args, own: &AskArgs) -> Result<End> {
    let question = own.question.join(" ");
    let query = read(&question).map_err(|error| Error::invalid_input(error.to_string()))?;
    let archive = place::open_for_reading(args)?;
    let sessions = Sessions { file: own.file.as_deref(), format: own.format.as_deref(), all: own.all };
    let asked = sessions.gather(archive.as_ref())?;
    let answer = asked.answer(&query, super::options(archive.as_ref(), super::strictness(own.strict)))?;
    print(args, &answer, &asked, own.file.as_deref())
}

/// Prints an answer.
pub(super) fn print(args: &Args, answer: &Answer, asked: &Asked, file: Option<&Path>) -> Result<End> {
    if args.json {
        let body = serde_json::to_string(answer)
            .map_err(|error| Error::bug("the answer is no JSON").caused_by(error))?;
        out::line(&body)?;
    } else {
        if file.is_none() {
            out::note(&format!("asked: {} sources in the archive", asked.names().len()));
        }
        out::text(&render_text(&shown(answer)))?;
    }
    Ok(if answer.verdict == Verdict::Supported { End::Done } else { End::No })
}

/// An answer as people read it: names of sources from the current directory on.
fn shown(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    for citation in &mut answer.citations {
        citation.source = place::shown(&citation.source);
    }
    for block in &mut answer.scope.blocking {
        block.citation.source = place::shown(&block.citation.source);
    }
    answer
}

/// Which sessions are asked.
pub(super) struct Sessions<'a> {
    pub(super) file: Option<&'a Path>,
    pub(super) format: Option<&'a str>,
    /// Whether all sessions in the archive are asked where no file is named, or those of this directory.
    pub(super) all: bool,
}

impl Sessions<'_> {
    pub(super) fn gather(&self, archive: Option<&Archive>) -> Result<Asked> {
        let mut asked = Asked::default();
        if let Some(file) = self.file {
            asked.add(open(file, self.format, archive)?, archive)?;
            return Ok(asked);
        }
        let archive = archive
            .ok_or_else(|| Error::not_found("there is no archive; name a transcript with --in FILE"))?;
        let here = (!self.all).then(std::env::current_dir).transpose();
        let here = here
            .map_err(|error| Error::unavailable("the current directory cannot be read").caused_by(error))?;
        asked.add_archived(archive, here.as_deref())?;
        if asked.names().is_empty() {
            return Err(Error::not_found(
                "no session of this directory is in the archive; import it, name a transcript with --in FILE, or use --all",
            ));
        }
        Ok(asked)
    }
}
