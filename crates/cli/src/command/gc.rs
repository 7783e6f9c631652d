//! `strongroom gc`.

use serde_json::json;
use strongroom::Result;
use strongroom::retention::Plan;

use crate::args::{Args, GcArgs};
use crate::exit::End;
use crate::table::visible;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &GcArgs) -> Result<End> {
    let archive = if own.act { place::open_for_changing(args)? } else { place::open_existing(args)? };
    let policy = super::policy(args)?;
    if args.policy.is_none() {
        out::warning("no --policy: holds that a policy file names are not known here");
    }
    let now = clock::now();
    let plan = Plan::make(&archive, &policy, now, own.today.as_deref())?;
    if !own.act {
        return print(args, &plan, None);
    }
    super::check_may_delete("deleting", own.i_may_delete, &policy)?;
    let gone = plan.act(&archive, own.today.as_deref())?;
    if !gone.is_empty() || archive.purge_is_due()? {
        super::tell_cleared(archive.purge());
    }
    print(args, &plan, Some((gone.len(), gone.iter().map(|piece| piece.len).sum())))
}

/// Prints the plan, and what was deleted of it: pieces and bytes.
fn print(args: &Args, plan: &Plan, gone: Option<(usize, u64)>) -> Result<End> {
    let bytes =
        |pieces: &[strongroom::retention::PieceTerm]| pieces.iter().map(|piece| piece.len).sum::<u64>();
    let doubt = plan.clock.words(clock::now());
    if args.json {
        let of = |pieces: &[_]| json!({ "pieces": pieces.len(), "bytes": bytes(pieces) });
        let sources: Vec<_> =
            plan.sources.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect();
        let body = json!({
            "schema": 1, "expired": of(&plan.pieces), "held": of(&plan.held), "in_grace": of(&plan.in_grace),
            "sources": sources, "clock": doubt,
            "deleted": gone.map(|(pieces, bytes)| json!({ "pieces": pieces, "bytes": bytes })),
        });
        out::line(&body.to_string())?;
        return Ok(End::Done);
    }
    for (pieces, what) in [
        (&plan.pieces, "may go"),
        (&plan.held, "have ended and are held"),
        (&plan.in_grace, "ended a short time ago, or after the last import"),
    ] {
        out::line(&format!("{} pieces with {} bytes {what}", pieces.len(), bytes(pieces)))?;
    }
    for (name, bytes) in &plan.sources {
        out::line(&format!("    {bytes} bytes of {}", visible(name)))?;
    }
    doubt.iter().for_each(|doubt| out::warning(doubt));
    match gone {
        Some((pieces, bytes)) => out::line(&format!("deleted: {pieces} pieces with {bytes} bytes"))?,
        None => out::hint("nothing was deleted; gc --act deletes"),
    }
    Ok(End::Done)
}
