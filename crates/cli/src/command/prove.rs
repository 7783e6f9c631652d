//! `strongroom prove`.

use std::path::Path;

use strongroom::archive::Archive;
use strongroom::ask::{Asked, open};
use strongroom::files::replace;
use strongroom::import::{ImportOptions, Recheck, import_session};
use strongroom::pointer::Pointer;
use strongroom::proof::{Draft, check, prove_answer, prove_pointer, prove_source};
use strongroom::query::read;
use strongroom::{Error, Result};

use super::keys;
use crate::args::{Args, ProveArgs};
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &ProveArgs) -> Result<End> {
    let key = keys::private(args, &own.key)?;
    let draft = match (&own.what, &own.ask, &own.file) {
        (None, Some(question), Some(file)) => answered(args, own, question, file)?,
        (Some(what), None, _) => original(&place::open_existing(args)?, what)?,
        _ => return Err(Error::invalid_input("give a pointer or a source, or --ask QUERY --in FILE")),
    };
    let text = draft.seal(&key)?;
    // What does not hold here holds nowhere.
    check(&text, Some(&key.public()))?;
    replace(&own.out, text.as_bytes(), &mut || {})?;
    let (claims, bytes) = draft.extent();
    out::note(&format!(
        "{}: {claims} claims, {bytes} bytes of originals as they are, secrets included; read it before you give it away",
        own.out.display()
    ));
    Ok(End::Done)
}

fn original(archive: &Archive, what: &str) -> Result<Draft> {
    if let Ok(pointer) = what.parse::<Pointer>() {
        return prove_pointer(archive, pointer);
    }
    let source = super::export::find(archive, what)?;
    prove_source(archive, source.latest.id)
}

/// Asks a session that is taken into custody first: only what is there can be proved.
fn answered(args: &Args, own: &ProveArgs, question: &str, file: &Path) -> Result<Draft> {
    let query = read(question).map_err(|error| Error::invalid_input(error.to_string()))?;
    let archive = place::open_for_writing(args)?;
    let policy = super::policy(args)?;
    let options = ImportOptions { policy: &policy, now: clock::now(), recheck: Recheck::Read };
    if file.exists() {
        import_session(&archive, file, options, &mut |_| {})?;
    }
    let mut asked = Asked::default();
    asked.add(open(file, None, Some(&archive))?, Some(&archive))?;
    let answer = asked.answer(&query, super::options(Some(&archive), super::strictness(own.strict)))?;
    out::note(&format!("{}: {}", answer.verdict.words(), answer.answer.as_deref().unwrap_or("no value")));
    prove_answer(&archive, &asked, &answer)
}
