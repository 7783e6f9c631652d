//! F2 and F9: a value with its key, and one that was superseded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Ask, Ground, Pair, window};
use crate::question::Expect;
use crate::session::{Event, Kind};

const VALUE: &str = concat!(
    "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{7,40}|",
    r"v?\d+\.\d+\.\d+|\d+\.\d+|\d{2,12}"
);

/// A key and a number, a hash, a UUID or a version behind it.
static KEYED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&concat!(
        r#"(?m)(?:^|[\s{,(])(?P<all>"?(?P<key>[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*)"?(?:: |:|=| = )"#,
        r#"(?:"(?P<quoted>V)"|(?P<bare>V)))(?:[,;)}]|[ \r]*$)"#
    )
    .replace('V', VALUE)
    )
    .ok()
});

/// A name that programs write.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[a-z]{3,}(?:_[a-z]{3,}){1,3}\b").ok());

/// One value of a key.
#[derive(Debug, Clone)]
struct Value {
    event: usize,
    leaf: usize,
    /// The value itself.
    part: Range<usize>,
    /// Key, sign and value.
    whole: Range<usize>,
    text: String,
}

/// The keys of all results with their values in order.
fn keyed(ground: &Ground<'_>) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let Some(pattern) = KEYED.as_ref() else { return found };
    for (at, event) in ground.session.events.iter().enumerate() {
        let (Kind::Result { .. }, [leaf]) = (&event.kind, event.leaves.as_slice()) else { continue };
        let text = ground.session.text(*leaf);
        for captures in pattern.captures_iter(text) {
            // A line in brackets is how a harness speaks of the output.
            let line = captures.get(0).map(|all| window::line(text, all.range()));
            if line.and_then(|line| text.get(line)).is_some_and(|line| line.trim_start().starts_with('[')) {
                continue;
            }
            let value = captures.name("quoted").or_else(|| captures.name("bare"));
            let (Some(all), Some(key), Some(value)) = (captures.name("all"), captures.name("key"), value)
            else {
                continue;
            };
            let text = value.as_str().to_owned();
            let value = Value { event: at, leaf: *leaf, part: value.range(), whole: all.range(), text };
            found.entry(key.as_str().to_owned()).or_default().push(value);
        }
    }
    found
}

/// Whether every place of `key` in the session is one of `values`, or repeats one in a string of no event.
fn accounted(ground: &Ground<'_>, key: &str, values: &[Value]) -> bool {
    let most = values.len() * 3 + FREQUENT;
    let hits = ground.session.find_any_case(key, most + 1);
    // Written with other signs between its parts, or as a part of a longer key, it is asked for as well.
    if ground.session.squeezed(key, most + 1) != hits.len() {
        return false;
    }
    let own: BTreeSet<(usize, usize)> = values.iter().map(|value| (value.leaf, value.part.start)).collect();
    let texts: BTreeSet<&str> = values.iter().map(|value| value.text.as_str()).collect();
    hits.len() <= most
        && hits.iter().all(|&(leaf, at)| {
            let text = ground.session.text(leaf);
            let behind = text.get(at + key.len()..).unwrap_or_default();
            let value = behind.trim_start_matches(['"', ':', '=', ' ']);
            let start = text.len() - value.len();
            let same = texts.iter().any(|text| {
                value.strip_prefix(text).is_some_and(|rest| {
                    !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '%'))
                })
            });
            own.contains(&(leaf, start)) || !ground.session.is_event(leaf) && same
        })
}

const FREQUENT: usize = 24;

/// A key that can be asked for: long enough, and with a part that no prose holds.
fn askable(key: &str) -> bool {
    key.len() >= 5 && !window::secretive(key) && key.chars().filter(char::is_ascii_alphabetic).count() >= 4
}

fn ask(ground: &Ground<'_>, kind: &'static str, key: &str, event: &Event) -> Ask {
    Ask {
        kind,
        query: format!("value values {key}"),
        slots: vec![key.to_owned(), event.record.to_string()],
        expect: Expect::Refused,
        gold: Vec::new(),
        class: "structured",
        age: ground.age(event),
    }
}

fn answered(ground: &Ground<'_>, ask: Ask, value: &Value) -> Option<Ask> {
    let event = ground.session.event(value.event)?;
    let gold = ground.gold(event, value.leaf, value.whole.clone())?;
    Some(Ask { expect: Expect::Value(value.text.clone()), gold: vec![gold], ..ask })
}

fn place(ground: &Ground<'_>, value: &Value) -> Option<(u64, u64)> {
    let gold = ground.gold(ground.session.event(value.event)?, value.leaf, value.whole.clone())?;
    Some(gold.bytes)
}

pub(super) fn exact(ground: &Ground<'_>) -> Vec<Pair> {
    let mut missing = valueless(ground).into_iter();
    let mut found = Vec::new();
    for (key, values) in keyed(ground) {
        let [first, rest @ ..] = values.as_slice() else { continue };
        let one = rest.iter().all(|value| value.text == first.text);
        if !one || !askable(&key) || !accounted(ground, &key, &values) {
            continue;
        }
        let Some(event) = ground.session.event(first.event) else { continue };
        let Some(mut asked) = answered(ground, ask(ground, "value", &key, event), first) else { continue };
        for place in rest.iter().filter_map(|value| place(ground, value)) {
            asked.gold.iter_mut().for_each(|gold| gold.copies.push(place));
        }
        let turn = ground.seed.below(&format!("twin:{key}"), 2) == 0;
        let twin = if turn { missing.next().map(|key| ask(ground, "value", &key, event)) } else { None };
        let twin = twin.or_else(|| decoy(ground, &asked, &first.text));
        found.push(Pair { asked, twin });
    }
    found
}

/// The same value with one digit changed, which stands nowhere.
fn decoy(ground: &Ground<'_>, asked: &Ask, value: &str) -> Option<Ask> {
    let near = window::near_misses(value, &ground.seed)
        .into_iter()
        .find(|near| near.to_lowercase() != value.to_lowercase() && ground.session.lacks(near))?;
    Some(Ask {
        kind: "literal",
        query: format!("list literals value:{near}"),
        slots: vec![near],
        expect: Expect::Refused,
        gold: Vec::new(),
        ..asked.clone()
    })
}

/// Names that stand in results, and nowhere with anything that could be a value of theirs.
fn valueless(ground: &Ground<'_>) -> Vec<String> {
    let Some(pattern) = NAME.as_ref() else { return Vec::new() };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for event in &ground.session.events {
        if let (Kind::Result { .. }, [leaf]) = (&event.kind, event.leaves.as_slice()) {
            names.extend(pattern.find_iter(ground.session.text(*leaf)).map(|name| name.as_str()));
        }
    }
    let fits = names.into_iter().filter(|name| askable(name)).filter(|name| {
        let hits = ground.session.find_any_case(name, FREQUENT);
        hits.len() < FREQUENT
            && ground.session.squeezed(name, FREQUENT) == hits.len()
            && hits.iter().all(|&(leaf, at)| bare(ground.session.text(leaf), at..at + name.len()))
    });
    ground.seed.pick(fits.map(str::to_owned).collect(), 40, Clone::clone)
}

/// Whether the line around `part` assigns nothing and is no row of a table.
fn bare(text: &str, part: Range<usize>) -> bool {
    let line = window::line(text, part);
    text.get(line).is_some_and(|line| {
        !line.contains([':', '=', '|', ';', ',', '\t']) && !line.contains("  ") && !line.contains(" is ")
    })
}

pub(super) fn latest(ground: &Ground<'_>) -> Vec<Pair> {
    let keys = keyed(ground).into_iter();
    keys.filter_map(|(key, values)| superseded(ground, &key, &values)).collect()
}

/// Whether the call of `late` was made after the result of `early`, so that nobody takes them for parallel.
fn apart(ground: &Ground<'_>, early: &Value, late: &Value) -> bool {
    ground.calls.iter().any(|call| call.result == Some(late.event) && call.at > early.event)
}

fn superseded(ground: &Ground<'_>, key: &str, values: &[Value]) -> Option<Pair> {
    let (first, last) = (values.first()?, values.last()?);
    let records: BTreeMap<u32, &str> = values
        .iter()
        .filter_map(|own| Some((ground.session.event(own.event)?.record, own.text.as_str())))
        .collect();
    let single = |own: &Value| {
        values.iter().filter(|other| other.event == own.event).all(|other| other.text == own.text)
    };
    let changes = first.text != last.text && records.len() >= 2 && single(first) && single(last);
    if !changes || !askable(key) || !accounted(ground, key, values) {
        return None;
    }
    let before = values.iter().rev().find(|own| own.text != last.text)?;
    if !apart(ground, before, last)
        || !apart(ground, first, values.iter().find(|own| own.text != first.text)?)
    {
        return None;
    }
    let (then, now) = (ground.session.event(first.event)?, ground.session.event(last.event)?);
    let mut asked = answered(ground, ask(ground, "latest-value", key, now), last)?;
    for place in values.iter().filter(|own| own.text == last.text).filter_map(|own| place(ground, own)) {
        asked.gold.iter_mut().for_each(|gold| gold.copies.push(place));
    }
    let former = ask(ground, "former-value", key, then);
    let twin =
        answered(ground, Ask { query: format!("value values {key} at:L{}", then.record), ..former }, first)?;
    Some(Pair { asked, twin: Some(twin) })
}
