//! F6 and F7: which came first, the first and the last of their kind, and how many.

use std::collections::BTreeMap;

use super::{Ask, Call, Ground, Pair, arg, class_of, window};
use crate::question::{Expect, quoted};
use crate::session::{Kind, Outcome};

pub(super) fn pairs(ground: &Ground<'_>) -> Vec<Pair> {
    // Of a call that failed or was refused it may be said that it never took place.
    let told: Vec<(&Call<'_>, String)> = ground
        .calls
        .iter()
        .filter(|call| call.outcome != Outcome::Failed && call.result.is_some())
        .filter_map(|call| {
            let (leaf, part) = ground.fragment(call)?;
            Some((call, ground.session.text(leaf).get(part)?.to_owned()))
        })
        .collect();
    let mut found: Vec<Pair> =
        told.iter().enumerate().filter_map(|(at, own)| pair(ground, &told, at, own)).collect();
    found.extend(ends(ground));
    found
}

/// Two calls of which one was answered before the other was made.
fn pair(
    ground: &Ground<'_>,
    told: &[(&Call<'_>, String)],
    at: usize,
    own: &(&Call<'_>, String),
) -> Option<Pair> {
    let (early, first) = own;
    let end = early.result?;
    let rest = told
        .get(at + 1..)?
        .iter()
        .filter(|(late, _)| late.at > end && late.event.record > early.event.record);
    let rest: Vec<&(&Call<'_>, String)> = rest.collect();
    let (late, second) = rest.get(ground.seed.below(&format!("partner:{at}"), rest.len()))?;
    let turned = ground.seed.below(&format!("turned:{at}"), 2) == 1;
    let (left, right, word) = if turned { (second, first, "after") } else { (first, second, "before") };
    let ask = |left: &str, right: &str, expect| Ask {
        kind: "order",
        query: format!("calls {} before calls {}", arg(left), arg(right)),
        slots: vec![left.to_owned(), right.to_owned()],
        expect,
        gold: Vec::new(),
        class: class_of(early.tool),
        age: ground.age(early.event),
    };
    let mut asked = ask(left, right, Expect::Order(word.to_owned()));
    for (call, piece) in [(early, first), (late, second)] {
        let leaf =
            call.arguments.iter().find(|own| ground.session.text(own.leaf).contains(piece.as_str()))?.leaf;
        let start = ground.session.text(leaf).find(piece.as_str())?;
        asked.gold.push(ground.gold(call.event, leaf, start..start + piece.len())?);
    }
    let near = ground.near_miss(right);
    Some(Pair { asked, twin: near.map(|near| ask(left, &near, Expect::Refused)) })
}

/// The first and the last call of each tool.
fn ends(ground: &Ground<'_>) -> Vec<Pair> {
    let mut found = Vec::new();
    for (tool, calls) in by_tool(ground) {
        for (word, call) in [("first", calls.first()), ("last", calls.last())] {
            let end =
                call.filter(|_| calls.len() >= 2).and_then(|call| end_of_kind(ground, tool, word, call));
            found.extend(end);
        }
    }
    found
}

fn end_of_kind(ground: &Ground<'_>, tool: &str, word: &'static str, call: &Call<'_>) -> Option<Pair> {
    let argument = call.arguments.iter().find(|own| {
        let text = ground.session.text(own.leaf);
        (4..=window::WHOLE).contains(&text.chars().count()) && !window::secretive(text)
    })?;
    let len = ground.session.text(argument.leaf).len();
    let asked = Ask {
        kind: if word == "first" { "first-of-tool" } else { "last-of-tool" },
        query: format!("{word} calls tool:{tool}"),
        slots: vec![tool.to_owned()],
        expect: Expect::Cited,
        gold: vec![ground.gold(call.event, argument.leaf, 0..len)?],
        class: class_of(tool),
        age: ground.age(call.event),
    };
    Some(Pair { asked, twin: None })
}

/// The calls of each tool, where every call of it can be told from the others.
fn by_tool<'g, 's>(ground: &'g Ground<'s>) -> BTreeMap<&'s str, Vec<&'g Call<'s>>> {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &ground.session.events {
        if let Kind::Call { tool, .. } = &event.kind {
            *all.entry(tool.as_str()).or_default() += 1;
        }
    }
    let mut found: BTreeMap<&'s str, Vec<&'g Call<'s>>> = BTreeMap::new();
    for call in &ground.calls {
        found.entry(call.tool).or_default().push(call);
    }
    found.retain(|tool, calls| all.get(tool) == Some(&calls.len()) && is_word(tool));
    found
}

/// Whether a name is one word of the query language.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn counts(ground: &Ground<'_>) -> Vec<Pair> {
    let mut found = Vec::new();
    for (tool, calls) in by_tool(ground) {
        found.extend(counted(ground, tool, &calls, None));
        let mut paths: BTreeMap<&str, Vec<&Call<'_>>> = BTreeMap::new();
        for &call in &calls {
            if let Some(own) = call.arguments.iter().find(|own| own.name == "file_path") {
                paths.entry(ground.session.text(own.leaf)).or_default().push(call);
            }
        }
        let names: Vec<&str> = paths.keys().copied().collect();
        for (path, calls) in paths {
            // A path that is part of another one would be counted with it.
            let alone = names.iter().filter(|name| name.contains(path)).count() == 1;
            if alone && !path.contains(['"', '\\']) {
                found.extend(counted(ground, tool, &calls, Some(path)));
            }
        }
    }
    found
}

fn counted(ground: &Ground<'_>, tool: &str, calls: &[&Call<'_>], path: Option<&str>) -> Option<Pair> {
    let n = u64::try_from(calls.len()).ok()?;
    let on = path.map_or_else(String::new, |path| format!(" arg.file_path:{}", quoted(path)));
    let asked = Ask {
        kind: if path.is_some() { "count-on-file" } else { "count-of-tool" },
        query: format!("count calls tool:{tool}{on}"),
        slots: std::iter::once(tool.to_owned()).chain(path.map(str::to_owned)).collect(),
        expect: Expect::Count(n),
        gold: Vec::new(),
        class: class_of(tool),
        age: calls.first().map(|call| ground.age(call.event)).unwrap_or_default(),
    };
    let twin = path.and_then(|path| ground.near_miss(path)).map(|near| Ask {
        query: format!("count calls tool:{tool} arg.file_path:{}", quoted(&near)),
        slots: vec![tool.to_owned(), near],
        expect: Expect::Refused,
        ..asked.clone()
    });
    Some(Pair { asked, twin })
}
