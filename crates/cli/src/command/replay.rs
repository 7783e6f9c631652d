//! `strongroom replay`.

use serde_json::{Value, json};
use strongroom::Result;
use strongroom::answer::{Gap, Repeat};
use strongroom::effect::Access;
use strongroom::ledger::filtered;
use strongroom::replay::{Entry, Refusal, Replay, ReplayOptions, ReplayedCall, Shown, script};
use strongroom::show::Reveal;

use strongroom::form::RefusedForm;

use super::as_json;
use crate::args::{Args, ReplayArgs};
use crate::exit::End;
use crate::out;
use crate::table::{Line, lay_out, visible, width};

pub(super) fn run(args: &Args, own: &ReplayArgs) -> Result<End> {
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<String>>();
    let flags: [(&str, &[String]); 4] =
        [("tool", &own.tool), ("kind", &own.kind), ("from", &one(&own.from)), ("to", &one(&own.to))];
    let query = filtered("calls", &flags, &own.terms)?;
    let strictness = super::strictness(own.strict);
    let (asked, ask) = super::session(args, &own.file, own.format.as_deref(), strictness)?;
    let reveal = if own.reveal { Reveal::Reveal } else { Reveal::Mask };
    let replay = asked.replay(&query, ReplayOptions { ask, reveal })?;
    let mut end = super::end_of(&gaps(&replay), &asked);
    match (own.check, own.script) {
        (true, _) => {
            check(args, &replay)?;
            let unknown = calls(&replay).any(|call| call.row.repeat == Repeat::Unknown);
            end = if end == End::Done && unknown { End::No } else { end };
        }
        (_, true) => {
            let script = script(&replay);
            out::raw(script.text.as_bytes())?;
            script.refused.iter().for_each(|why| out::warning(&format!("refused: {why}")));
            end = if end == End::Done && !script.refused.is_empty() { End::No } else { end };
        }
        _ => exact(&replay)?,
    }
    if !own.check {
        tell(&replay);
    }
    let bare = replay.entries.iter().any(|entry| matches!(entry, Entry::Refused(own) if own.gap.is_none()));
    Ok(if end == End::Done && bare { End::No } else { end })
}

fn calls(replay: &Replay) -> impl Iterator<Item = &ReplayedCall> {
    replay.entries.iter().filter_map(|entry| match entry {
        Entry::Call(call) => Some(&**call),
        Entry::Refused(_) => None,
    })
}

fn gaps(replay: &Replay) -> Vec<Gap> {
    let gap = |entry: &Entry| match entry {
        Entry::Refused(refusal) => refusal.gap.clone(),
        Entry::Call(_) => None,
    };
    replay.entries.iter().filter_map(gap).collect()
}

/// Every call as a line of JSON, and what is refused in its place.
fn exact(replay: &Replay) -> Result<()> {
    let body = |entry: &Entry| match entry {
        Entry::Call(call) => as_json(&call_json(call)),
        Entry::Refused(refusal) => refusal_json(refusal),
    };
    replay.entries.iter().try_for_each(|entry| out::line(&body(entry)?))
}

/// Says on standard error what the replay is not.
fn tell(replay: &Replay) {
    for entry in &replay.entries {
        if let Entry::Refused(refusal) = entry {
            out::warning(&format!("refused: {}", visible(&refusal_words(refusal))));
        }
    }
    let masked = calls(replay).filter(|call| call.secrets == Shown::Masked).count();
    if masked > 0 {
        out::warning(&format!(
            "secrets are hidden in the arguments of {masked} calls: these are not exact; --reveal prints them"
        ));
    }
}

fn refusal_words(refusal: &Refusal) -> String {
    match (&refusal.lost, &refusal.gap) {
        (Some(lost), _) => format!("{} ({}): {}", lost.pointer, lost.class, refusal.why),
        (None, Some(gap)) => {
            let citation = &gap.citation;
            format!(
                "{}:{} bytes {}..{}: {}",
                citation.source, citation.locator, citation.bytes.0, citation.bytes.1, refusal.why
            )
        }
        (None, None) => refusal.why.clone(),
    }
}

fn refusal_json(refusal: &Refusal) -> Result<String> {
    match (&refusal.lost, &refusal.gap) {
        (Some(lost), _) => as_json(&RefusedForm::of_lost(lost)),
        (None, Some(gap)) => as_json(&RefusedForm::of_gap(gap)),
        (None, None) => as_json(&json!({ "schema": 1, "refused": { "kind": "call", "why": refusal.why } })),
    }
}

fn call_json(call: &ReplayedCall) -> Value {
    let place = &call.row.call;
    json!({
        "schema": 1,
        "seq": call.row.seq,
        "tool": place.tool,
        "arguments": call.arguments,
        "spelling": call.spelling.word(),
        "masked": call.secrets == Shown::Masked,
        "sha256": call.sha256.map(|digest| digest.to_string()),
        "bytes": call.bytes.map(|bytes| [bytes.start(), bytes.end()]),
        "cwd": call.cwd,
        "session": place.session,
        "agent": place.agent,
        "call_id": place.call_id,
        "source": place.source,
        "from": call.origin.word(),
        "record": place.record,
        "locator": place.locator,
        "pointer": place.pointer,
        "outcome": call.row.outcome.word(),
        "same_as": call.row.repeats,
    })
}

/// Which calls may be repeated. For people, reads are counted and not listed.
fn check(args: &Args, replay: &Replay) -> Result<()> {
    if args.json {
        for entry in &replay.entries {
            let body = match entry {
                Entry::Call(call) => as_json(&check_json(call))?,
                Entry::Refused(refusal) => refusal_json(refusal)?,
            };
            out::line(&body)?;
        }
        return Ok(());
    }
    let changes: Vec<&ReplayedCall> = calls(replay)
        .filter(|call| call.row.access == Access::Mutation || call.row.repeat != Repeat::Safe)
        .collect();
    let line = |call: &&ReplayedCall| Line {
        cells: vec![
            call.row.seq.to_string(),
            call.row.repeat.word().to_owned(),
            call.row.call.locator.clone(),
            call.row.call.tool.clone(),
            call.row.reason.clone(),
        ],
        notes: call.row.call.pointer.iter().map(|pointer| format!("original {pointer}")).collect(),
    };
    if !changes.is_empty() {
        let lines: Vec<Line> = changes.iter().map(line).collect();
        out::text(&lay_out(&["call", "verdict", "where", "tool", "because"], &lines, width()))?;
    }
    let count = |wanted: Repeat| calls(replay).filter(|call| call.row.repeat == wanted).count();
    let reads = calls(replay).count() - changes.len();
    out::line(&format!(
        "{} done and not to be repeated, {} that cannot be known, {} safe to repeat ({reads} of them only read)",
        count(Repeat::Done),
        count(Repeat::Unknown),
        count(Repeat::Safe),
    ))?;
    replay.assumptions.iter().try_for_each(|words| out::line(&format!("assumed: {words}")))?;
    for entry in &replay.entries {
        if let Entry::Refused(refusal) = entry {
            out::line(&format!("refused: {}", visible(&refusal_words(refusal))))?;
        }
    }
    Ok(())
}

fn check_json(call: &ReplayedCall) -> Value {
    let place = &call.row.call;
    json!({
        "schema": 1,
        "seq": call.row.seq,
        "verdict": call.row.repeat.word(),
        "must_not_repeat": call.row.repeat == Repeat::Done,
        "reason": call.row.reason,
        "what": call.row.what,
        "changes": call.row.access == Access::Mutation,
        "tool": place.tool,
        "call_id": place.call_id,
        "agent": place.agent,
        "source": place.source,
        "record": place.record,
        "locator": place.locator,
        "pointer": place.pointer,
        "outcome": call.row.outcome.word(),
        "effects": call.row.effects.iter().map(|seq| format!("E{seq}")).collect::<Vec<_>>(),
        "same_as": call.row.repeats,
        "citation": call.row.citation,
    })
}
