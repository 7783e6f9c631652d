//! F10: standing rules in the user's own words, and the same words in another's mouth.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Ask, FREQUENT, Ground, Pair, window};
use crate::question::{Expect, quoted};
use crate::session::{Event, Kind, Speaker};

/// A sentence that begins as a ban or a duty.
static RULE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?:^[-*\s]*|[.!?] )(?P<rule>(?:Please )?(?:(?:[Nn]ever|[Dd]o not|[Dd]on't|[Aa]lways|[Yy]ou must(?: not)?) [a-z]{3,}[^.!?\n]{10,140})(?:[.!]|$))",
    )
    .ok()
});

/// How such sentences begin that rule nothing.
const IDLE: [&str; 8] = [
    "don't think",
    "don't know",
    "don't see",
    "don't worry",
    "don't like",
    "don't want",
    "don't understand",
    "don't care",
];

/// The rules somebody states: the string and the sentence in it, where it stands nowhere else.
fn stated<'g>(ground: &'g Ground<'_>, speaker: Speaker) -> Vec<(&'g Event, usize, Range<usize>)> {
    let mut found = Vec::new();
    let Some(pattern) = RULE.as_ref() else { return found };
    for (at, event) in ground.session.events.iter().enumerate() {
        let ([leaf], true) = (event.leaves.as_slice(), event.speaker == speaker && event.kind == Kind::Said)
        else {
            continue;
        };
        let text = ground.session.text(*leaf);
        for rule in pattern.captures_iter(text).filter_map(|captures| captures.name("rule")) {
            let lower = rule.as_str().to_lowercase();
            let idle = IDLE.iter().any(|own| lower.contains(own)) || lower.contains('?');
            let holders = ground.session.holders(rule.as_str(), FREQUENT);
            let unique = holders.is_some_and(|(events, loose)| {
                events == BTreeSet::from([at]) && loose.iter().all(|&copy| ground.session.text(copy) == text)
            });
            if !idle && unique && !rule.as_str().contains(['"', '\\']) && !window::secretive(rule.as_str()) {
                found.push((event, *leaf, rule.range()));
            }
        }
    }
    found
}

pub(super) fn standing(ground: &Ground<'_>) -> Vec<Pair> {
    let mut others = stated(ground, Speaker::Assistant).into_iter();
    let own = stated(ground, Speaker::User).into_iter();
    let asked = own.filter_map(|(event, leaf, part)| ask(ground, event, leaf, part));
    let pairs = asked.map(|asked| {
        let twin = others.next().and_then(|(event, leaf, part)| ask(ground, event, leaf, part));
        Pair { asked, twin: twin.map(|twin| Ask { expect: Expect::Refused, gold: Vec::new(), ..twin }) }
    });
    pairs.collect()
}

fn ask(ground: &Ground<'_>, event: &Event, leaf: usize, part: Range<usize>) -> Option<Ask> {
    let rule = ground.session.text(leaf).get(part.clone())?.trim_end_matches(['.', '!', ' ']);
    Some(Ask {
        kind: "rule",
        query: format!("list rules by:user {}", quoted(rule)),
        slots: vec![rule.to_owned()],
        expect: Expect::Cited,
        gold: vec![ground.gold(event, leaf, part.start..part.start + rule.len())?],
        class: "structured",
        age: ground.age(event),
    })
}
