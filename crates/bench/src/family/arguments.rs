//! F1: an argument of a call, by a piece of it and by its place.

use super::{Ask, Call, Ground, Pair, arg, class_of, window};
use crate::question::Expect;

pub(super) fn exact(ground: &Ground<'_>) -> Vec<Pair> {
    let by_piece = ground.calls.iter().filter_map(|call| by_piece(ground, call));
    let by_place = ground.calls.iter().filter_map(|call| by_place(ground, call));
    by_piece.chain(by_place).collect()
}

fn by_piece(ground: &Ground<'_>, call: &Call<'_>) -> Option<Pair> {
    let (leaf, part) = ground.fragment(call)?;
    let piece = ground.session.text(leaf).get(part.clone())?.to_owned();
    let asked = Ask {
        kind: "argument-by-piece",
        query: format!("list calls {}", arg(&piece)),
        slots: vec![piece.clone(), call.tool.to_owned()],
        expect: Expect::Cited,
        gold: vec![ground.argument_gold(call, leaf, part)?],
        class: class_of(call.tool),
        age: ground.age(call.event),
    };
    let near = ground.near_miss(&piece);
    let twin = near.map(|near| Ask {
        query: format!("list calls {}", arg(&near)),
        slots: vec![near, call.tool.to_owned()],
        expect: Expect::Refused,
        gold: Vec::new(),
        ..asked.clone()
    });
    Some(Pair { asked, twin })
}

fn by_place(ground: &Ground<'_>, call: &Call<'_>) -> Option<Pair> {
    let same = |other: &&Call<'_>| other.event.record == call.event.record && other.tool == call.tool;
    if !ground.session.format.has_lines() || ground.calls.iter().filter(same).count() != 1 {
        return None;
    }
    let argument = call.arguments.iter().find(|own| {
        let text = ground.session.text(own.leaf);
        (4..=window::WHOLE).contains(&text.chars().count()) && !window::secretive(text)
    })?;
    let text = ground.session.text(argument.leaf);
    let ask = |record: usize, expect| Ask {
        kind: "argument-by-place",
        query: format!("list calls tool:{} from:L{record} to:L{record}", call.tool),
        slots: vec![call.tool.to_owned(), record.to_string()],
        expect,
        gold: Vec::new(),
        class: class_of(call.tool),
        age: ground.age(call.event),
    };
    let record = usize::try_from(call.event.record).ok()?;
    let gold = vec![ground.gold(call.event, argument.leaf, 0..text.len())?];
    let beyond = ground.session.records.len() + 100 + ground.seed.below(&record.to_string(), 900);
    let asked = Ask { gold, ..ask(record, Expect::Cited) };
    Some(Pair { asked, twin: Some(ask(beyond, Expect::Refused)) })
}
