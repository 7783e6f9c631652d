//! F4: words, and who said them.

use std::collections::BTreeSet;

use super::{Ask, FREQUENT, Ground, Pair, window};
use crate::question::{Expect, quoted};
use crate::session::{Event, Kind, Speaker};

pub(super) fn quotes(ground: &Ground<'_>) -> Vec<Pair> {
    let events = ground.session.events.iter().enumerate();
    events.filter_map(|(at, event)| quote(ground, at, event)).collect()
}

/// A piece of what was said that stands in this event alone, or in strings that repeat it whole.
pub(super) fn unique(
    ground: &Ground<'_>,
    at: usize,
    event: &Event,
) -> Option<(usize, std::ops::Range<usize>)> {
    let leaf = *event.leaves.first()?;
    let text = ground.session.text(leaf);
    window::quotes(text, &ground.seed.sub(&format!("quote:{at}"))).into_iter().find_map(|part| {
        let piece = text.get(part.clone())?;
        let (events, loose) = ground.session.holders(piece, FREQUENT)?;
        let copies = loose.iter().all(|&copy| ground.session.text(copy) == text);
        (events == BTreeSet::from([at]) && copies).then_some((leaf, part))
    })
}

fn quote(ground: &Ground<'_>, at: usize, event: &Event) -> Option<Pair> {
    let said = matches!(event.kind, Kind::Said);
    let result = matches!(event.kind, Kind::Result { .. });
    let own = match event.speaker {
        Speaker::User | Speaker::Assistant if said => event.speaker,
        Speaker::Tool if result && event.leaves.len() == 1 => event.speaker,
        _ => return None,
    };
    let (leaf, part) = unique(ground, at, event)?;
    let piece = ground.session.text(leaf).get(part.clone())?.to_owned();
    let (kind, query) = match own {
        Speaker::Tool => ("quote-of-tool", format!("list results {}", quoted(&piece))),
        _ => ("quote", format!("list said by:{} {}", own.word(), quoted(&piece))),
    };
    let plain = piece.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | ',' | '.' | '\'' | '!' | '?'));
    let asked = Ask {
        kind,
        query,
        slots: vec![piece.clone(), own.word().to_owned()],
        expect: Expect::Cited,
        gold: vec![ground.gold(event, leaf, part)?],
        class: if plain && own != Speaker::Tool { "narrative" } else { "structured" },
        age: ground.age(event),
    };
    let other = match own {
        Speaker::User => Speaker::Assistant,
        _ => Speaker::User,
    };
    let twin = Ask {
        kind: "quote",
        query: format!("list said by:{} {}", other.word(), quoted(&piece)),
        slots: vec![piece, other.word().to_owned()],
        expect: Expect::Refused,
        gold: Vec::new(),
        ..asked.clone()
    };
    Some(Pair { asked, twin: Some(twin) })
}
