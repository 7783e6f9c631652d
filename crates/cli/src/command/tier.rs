//! `strongroom tier`.

use serde_json::json;
use strongroom::archive::Archive;
use strongroom::policy::duration;
use strongroom::tier::{Amount, Direction, MoveStep, Moved, Plan, TierState};
use strongroom::{Error, ErrorKind, Result};

use crate::args::{Args, TierAct, TierArgs};
use crate::exit::End;
use crate::table::visible;
use crate::{clock, out, place, progress};

pub(super) fn run(args: &Args, own: &TierArgs) -> Result<End> {
    match &own.act {
        TierAct::Status => status(args, &place::open_existing(args)?),
        TierAct::Set { url, latency } => set(args, url, latency.as_deref()),
        TierAct::Move { older_than, act } => {
            let archive = open(args, *act)?;
            let plan = Plan::away(&archive, duration(older_than)?, clock::now())?;
            carry_out(args, &archive, &plan, *act)
        }
        TierAct::Back { source, act } => {
            let archive = open(args, *act)?;
            let source = source.as_deref().map(|wanted| super::export::find(&archive, wanted)).transpose()?;
            let plan = Plan::back(&archive, source.map(|source| source.meta.id))?;
            carry_out(args, &archive, &plan, *act)
        }
        TierAct::Sweep => {
            let taken = place::open_for_changing(args)?.sweep()?;
            if args.json {
                out::line(&json!({ "schema": 1, "taken_away": taken }).to_string())?;
            } else {
                out::line(&format!("{taken} objects were taken away"))?;
            }
            Ok(End::Done)
        }
    }
}

fn open(args: &Args, act: bool) -> Result<Archive> {
    if act { place::open_for_changing(args) } else { place::open_existing(args) }
}

fn set(args: &Args, url: &str, latency: Option<&str>) -> Result<End> {
    let archive = place::open_for_changing(args)?;
    let latency = latency.map(duration).transpose()?;
    let latency_ms = latency.map(|length| u64::try_from(length.as_ms()).unwrap_or(0));
    let path = std::path::Path::new(url);
    let url = if path.is_absolute() { format!("file://{url}") } else { url.to_owned() };
    archive.set_tier(&url, latency_ms)?;
    status(args, &archive)
}

fn status(args: &Args, archive: &Archive) -> Result<End> {
    let state = archive.tier_state()?;
    let reached = match archive.reach_tier() {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        reached => Some(reached.map(drop)),
    };
    let unreachable = reached.as_ref().and_then(|reached| reached.as_ref().err());
    if args.json {
        out::line(&form(&state, unreachable).to_string())?;
    } else {
        print(&state)?;
        unreachable.iter().for_each(|error| out::warning(&error.to_string()));
    }
    Ok(if unreachable.is_some() { End::Unavailable } else { End::Done })
}

fn form(state: &TierState, unreachable: Option<&Error>) -> serde_json::Value {
    let of = |amount: Amount| json!({ "pieces": amount.pieces, "bytes": amount.bytes });
    json!({
        "schema": 1, "url": state.url, "hot": of(state.hot), "cold": of(state.cold),
        "object_bytes": state.object_bytes, "leaving": state.leaving,
        "latency_ms_max": state.url.as_ref().map(|_| state.latency_ms_max), "measured_ms": state.measured_ms,
        "reachable": state.url.as_ref().map(|_| unreachable.is_none()),
        "unreachable": unreachable.map(ToString::to_string),
    })
}

fn print(state: &TierState) -> Result<()> {
    let (hot, cold) = (state.hot, state.cold);
    out::line(&format!("database   {} pieces with {} bytes", hot.pieces, hot.bytes))?;
    let Some(url) = &state.url else {
        out::hint("there is no cold tier; strongroom tier set URL makes a store one");
        return Ok(());
    };
    let objects = state.object_bytes;
    out::line(&format!(
        "cold tier  {} pieces with {} bytes, in objects of {objects} bytes, at {}",
        cold.pieces,
        cold.bytes,
        visible(url)
    ))?;
    out::line(&format!(
        "latency    {} ms are expected at most, {} ms were measured",
        state.latency_ms_max, state.measured_ms
    ))?;
    if state.leaving > 0 {
        out::warning(&format!(
            "{} objects may stand there that nothing needs: strongroom tier sweep takes them away",
            state.leaving
        ));
    }
    Ok(())
}

/// Shows a plan, or does it and shows what was done.
fn carry_out(args: &Args, archive: &Archive, plan: &Plan, act: bool) -> Result<End> {
    let done = if act && !plan.pieces.is_empty() {
        let bar = progress::bytes(plan.bytes());
        let share = plan.bytes().checked_div(u64::try_from(plan.pieces.len()).unwrap_or(1)).unwrap_or(0);
        let mut observe = |step: MoveStep| {
            if let MoveStep::Moved(pieces) = step {
                bar.set_position(pieces.saturating_mul(share));
            }
            Ok(())
        };
        let done = plan.act(archive, &mut observe)?;
        bar.finish_and_clear();
        super::tell_cleared(archive.purge());
        Some(done)
    } else {
        act.then(Moved::default)
    };
    print_plan(args, plan, done.as_ref())?;
    let failed = done.is_some_and(|done| !done.failed.is_empty());
    Ok(if failed { End::Unavailable } else { End::Done })
}

fn print_plan(args: &Args, plan: &Plan, done: Option<&Moved>) -> Result<()> {
    let (word, hint) = match plan.direction {
        Direction::Away => ("to the cold tier", "nothing was moved; --act moves"),
        Direction::Back => ("back from the cold tier", "nothing was moved; --act brings back"),
    };
    if args.json {
        let sources: Vec<_> =
            plan.sources.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes })).collect();
        let failed = |done: &Moved| -> Vec<_> {
            let one = |(piece, why): &(strongroom::digest::PieceId, String)| json!({ "piece": piece.to_string(), "why": why });
            done.failed.iter().map(one).collect()
        };
        let body = json!({
            "schema": 1, "plan": { "pieces": plan.pieces.len(), "bytes": plan.bytes() }, "sources": sources,
            "moved": done.map(|done| json!({ "pieces": done.moved.pieces, "bytes": done.moved.bytes })),
            "failed": done.map(failed),
        });
        return out::line(&body.to_string());
    }
    out::line(&format!("{} pieces with {} bytes may move {word}", plan.pieces.len(), plan.bytes()))?;
    for (name, bytes) in &plan.sources {
        out::line(&format!("    {bytes} bytes of {}", visible(name)))?;
    }
    let Some(done) = done else {
        out::hint(hint);
        return Ok(());
    };
    out::line(&format!("moved: {} pieces with {} bytes", done.moved.pieces, done.moved.bytes))?;
    for (piece, why) in &done.failed {
        out::warning(&format!("piece {piece} stays where it is: {}", visible(why)));
    }
    Ok(())
}
