//! F5 and F11: what failed and how, and what came of a call.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Ask, Call, Ground, Pair, arg, class_of, window};
use crate::question::Expect;
use crate::session::{Event, Outcome};

/// What an output holds that some would call an error.
static TROUBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)err|fail|fatal|exception|panic|warn|denied|refus|reject|not |no such|unable|cannot|can't|missing|invalid|timed?.?out|abort|interrupt|traceback|unknown|undefined|mismatch|✗|❌|exit|code|status|killed|conflict").ok()
});

/// The only string of a result.
fn output<'g>(ground: &'g Ground<'_>, call: &Call<'_>) -> Option<(&'g Event, usize)> {
    let event = ground.session.event(call.result?)?;
    match event.leaves.as_slice() {
        [only] => Some((event, *only)),
        _ => None,
    }
}

/// The lines of a result behind the header that Codex writes, with their places.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let begin = text.find("Output:\n").filter(|&at| at < 400).map_or(0, |at| at + "Output:\n".len());
    let body = text.get(begin..).unwrap_or_default();
    let mut start = begin;
    body.split('\n').map(move |line| {
        let own = start..start + line.len();
        start += line.len() + 1;
        own
    })
}

fn telling(text: &str, part: &Range<usize>) -> bool {
    text.get(part.clone()).is_some_and(|line| {
        line.chars().filter(|c| c.is_alphanumeric()).count() >= 6 && !window::secretive(line)
    })
}

pub(super) fn errors(ground: &Ground<'_>) -> Vec<Pair> {
    let clean: Vec<&Call<'_>> = ground.calls.iter().filter(|call| worked_quietly(ground, call)).collect();
    let mut clean = clean.iter().copied().cycle();
    let failed = ground.calls.iter().filter(|call| call.outcome == Outcome::Failed);
    failed.filter_map(|call| error(ground, call, clean.next())).collect()
}

fn worked_quietly(ground: &Ground<'_>, call: &Call<'_>) -> bool {
    let quiet = output(ground, call).is_some_and(|(_, leaf)| {
        let text = ground.session.text(leaf);
        let own = text.find("Output:\n").and_then(|at| text.get(at + 8..)).unwrap_or(text);
        !own.trim().is_empty() && TROUBLE.as_ref().is_some_and(|pattern| !pattern.is_match(own))
    });
    call.outcome == Outcome::Worked && quiet
}

fn error(ground: &Ground<'_>, call: &Call<'_>, clean: Option<&Call<'_>>) -> Option<Pair> {
    let (event, leaf) = output(ground, call)?;
    let text = ground.session.text(leaf);
    let code = Regex::new(r"^(Exit code|Error: Exit code) \d+$").ok()?;
    let first = lines(text)
        .filter(|part| text.get(part.clone()).is_some_and(|line| !code.is_match(line.trim())))
        .find(|part| telling(text, part))
        .filter(|_| text.chars().count() <= window::WHOLE)?;
    let asked = about(ground, call, "error", "list errors", Expect::Cited)?;
    let asked = Ask { gold: vec![ground.gold(event, leaf, first)?], ..asked };
    let twin = clean.and_then(|clean| about(ground, clean, "error", "list errors", Expect::Refused));
    Some(Pair { asked, twin })
}

fn about(
    ground: &Ground<'_>,
    call: &Call<'_>,
    kind: &'static str,
    what: &str,
    expect: Expect,
) -> Option<Ask> {
    let (leaf, part) = ground.fragment(call)?;
    let piece = ground.session.text(leaf).get(part)?.to_owned();
    Some(Ask {
        kind,
        query: format!("{what} {}", arg(&piece)),
        slots: vec![piece],
        expect,
        gold: Vec::new(),
        class: class_of(call.tool),
        age: ground.age(call.event),
    })
}

pub(super) fn effects(ground: &Ground<'_>) -> Vec<Pair> {
    let mut open = ground.calls.iter().filter(|call| call.result.is_none());
    let answered = ground.calls.iter().filter(|call| call.result.is_some());
    let pairs: Vec<Pair> = answered.filter_map(|call| effect(ground, call)).collect();
    let twins = std::iter::from_fn(|| open.next())
        .filter_map(|call| about(ground, call, "result", "list results", Expect::Refused));
    let mut twins: Vec<Ask> = twins.collect();
    twins.reverse();
    pairs
        .into_iter()
        .map(|pair| Pair { twin: twins.pop().or_else(|| never_called(ground, &pair)), ..pair })
        .collect()
}

/// Where every call has its result, the twin asks for the result of a call that was never made.
fn never_called(ground: &Ground<'_>, pair: &Pair) -> Option<Ask> {
    let near = ground.near_miss(pair.asked.slots.first()?)?;
    Some(Ask {
        query: format!("list results {}", arg(&near)),
        slots: vec![near],
        expect: Expect::Refused,
        gold: Vec::new(),
        ..pair.asked.clone()
    })
}

fn effect(ground: &Ground<'_>, call: &Call<'_>) -> Option<Pair> {
    let (event, leaf) = output(ground, call)?;
    let text = ground.session.text(leaf);
    let short = text.chars().count() <= window::WHOLE;
    let first = lines(text).find(|part| telling(text, part)).filter(|_| short)?;
    let asked = about(ground, call, "result", "list results", Expect::Cited)?;
    let gold = ground.gold(event, leaf, first)?;
    Some(Pair { asked: Ask { gold: vec![gold], ..asked }, twin: None })
}
