//! `strongroom erase`.

use serde_json::json;
use strongroom::archive::{Archive, Order};
use strongroom::erasure::{Plan, Related, Subject, content};
use strongroom::{Error, Result};

use crate::args::{Args, EraseArgs};
use crate::exit::End;
use crate::table::visible;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &EraseArgs) -> Result<End> {
    let archive = if own.act { place::open_for_changing(args)? } else { place::open_existing(args)? };
    let policy = super::policy(args)?;
    if args.policy.is_none() {
        out::warning("no --policy: holds that a policy file names are not known here");
    }
    let related = if own.related { Related::Erase } else { Related::Name };
    let plan = Plan::make(&archive, &policy, subjects(&archive, own)?, related)?;
    let Some(reason) = own.reason.as_ref().filter(|_| own.act) else {
        return print(args, &plan, None);
    };
    super::check_may_delete("erasing", own.i_may_delete, &policy)?;
    let order = Order { who: own.by.clone(), reason: reason.clone(), at: clock::now() };
    let done = plan.act(&archive, &order)?;
    super::tell_cleared(done.cleared);
    print(args, &plan, Some(&order))
}

fn subjects(archive: &Archive, own: &EraseArgs) -> Result<Vec<Subject>> {
    match (&own.source, &own.content) {
        (Some(source), _) => Ok(vec![Subject::Source(super::export::find(archive, source)?.meta.id)]),
        (None, Some(what)) => content(archive, what),
        (None, None) => Err(Error::invalid_input("give a source, or --content POINTER")),
    }
}

/// Prints the plan, and whether it was done.
fn print(args: &Args, plan: &Plan, done: Option<&Order>) -> Result<End> {
    let reach = &plan.reach;
    let bytes =
        |pieces: &[strongroom::retention::PieceTerm]| pieces.iter().map(|piece| piece.len).sum::<u64>();
    if args.json {
        let of = |pieces: &[_]| json!({ "pieces": pieces.len(), "bytes": bytes(pieces) });
        let pair = |(name, words): &(String, String)| json!({ "name": name, "reason": words });
        let related =
            plan.related.iter().map(|(source, how)| json!({ "name": source.meta.name, "how": how }));
        let body = json!({
            "schema": 1, "erased": done.is_some(), "goes": of(&reach.pieces), "stays": of(&reach.shared),
            "records": reach.records.len(), "sources": plan.sources,
            "holds": plan.holds.iter().map(pair).collect::<Vec<_>>(), "related": related.collect::<Vec<_>>(),
            "files": plan.files,
        });
        out::line(&body.to_string())?;
        return Ok(End::Done);
    }
    let verb = if done.is_some() { "erased" } else { "to be erased" };
    out::line(&format!("{} pieces with {} bytes {verb}", reach.pieces.len(), bytes(&reach.pieces)))?;
    if !reach.shared.is_empty() {
        out::line(&format!(
            "{} pieces with {} bytes stay, since other sources hold them",
            reach.shared.len(),
            bytes(&reach.shared)
        ))?;
    }
    out::line(&format!("{} records of compactions lose the words that quote them", reach.records.len()))?;
    plan.sources.iter().try_for_each(|name| out::line(&format!("    of {}", visible(name))))?;
    for (source, how) in &plan.related {
        out::warning(&format!("{} {how} and stays; --related erases it too", visible(&source.meta.name)));
    }
    for (name, reason) in &plan.holds {
        out::warning(&format!("{} is held: {}; --act is refused", visible(name), visible(reason)));
    }
    for name in &plan.files {
        out::warning(&format!("{} is still there: the next import takes it in again", visible(name)));
    }
    if done.is_none() {
        out::hint("nothing was erased; --act --reason WORDS erases, and there is no way back");
    }
    Ok(End::Done)
}
