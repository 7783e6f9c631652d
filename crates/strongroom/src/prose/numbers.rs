//! Numbers of a sentence: each must stand in an original beside the same thing, not merely somewhere.

use std::collections::BTreeSet;
use std::ops::Range;

use strongroom_core::evidence::AtomKind;
use strongroom_evidence::atom;

use super::ground::{Ground, Unit};
use super::words::words;
use crate::summarise::told::Told;

/// Numbers in words.
#[rustfmt::skip]
const SPELLED: &[(&str, &str)] = &[
    ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"), ("eight", "8"), ("nine", "9"), ("ten", "10"), ("eleven", "11"), ("twelve", "12"),
    ("dozen", "12"), ("twenty", "20"), ("thirty", "30"), ("forty", "40"), ("fifty", "50"), ("hundred", "100"), ("thousand", "1000"), ("twice", "2"), ("thrice", "3"),
];

/// Units that measure; other quantities count things.
#[rustfmt::skip]
const MEASURES: &[&str] = &[
    "ns", "month", "bit", "bit/s", "%", "px", "hz", "mm", "inch", "mg", "ton", "oz", "gallon", "acre", "ml", "barrel", "kmh", "mph", "°", "°c", "°f", "usd", "cent", "eur", "gbp", "jpy", "cny", "inr",
    "rpm", "fps", "req/s",
];

/// A number of a sentence, in all ways in which it may stand in an original.
struct Number<'t> {
    range: Range<usize>,
    ways: Vec<&'t str>,
    /// The normal form, of one that measures.
    measure: Option<&'t str>,
}

impl Number<'_> {
    /// Where it stands in a text first.
    fn place_in(&self, text: &str) -> Option<Range<usize>> {
        self.ways.iter().find_map(|way| place(text, way))
    }

    /// Whether it is unlikely to stand somewhere by chance.
    fn is_strong(&self) -> bool {
        self.ways.iter().any(|way| way.bytes().filter(u8::is_ascii_digit).count() >= 4 || way.contains('.'))
    }
}

/// Whether every number of `sentence`, whose literals are given, stands beside the same thing in an original, and what
/// changes from one value to another does so there. `spans` gets the spans that show it.
pub(super) fn are_borne_out(
    sentence: &str,
    literals: &[Told],
    ground: &Ground<'_>,
    spans: &mut BTreeSet<u32>,
) -> bool {
    let own: BTreeSet<String> = words(sentence).into_iter().map(|word| word.stem).collect();
    let stems: BTreeSet<&str> = own.iter().map(String::as_str).collect();
    let likely = ground.likeness(&stems);
    let near: Vec<(&Unit<'_>, usize)> =
        likely.keys().filter_map(|&at| ground.unit(at)).map(|unit| (unit, shared(&own, unit.text))).collect();
    let numbers = numbers(sentence, literals);
    let shown = |number: &Number<'_>| {
        let keys = keys(sentence, &number.range);
        let bound = |(unit, shared): &&(&Unit<'_>, usize)| fits(number, &keys, unit, *shared);
        if let Some((unit, _)) = near.iter().find(bound) {
            return Some(unit.span);
        }
        let other = |(unit, _): &(&Unit<'_>, usize)| {
            keys.first().is_some_and(|key| !keyed(unit.text, key).is_empty())
        };
        if number.measure.is_some() || near.iter().any(other) {
            return None;
        }
        let loose = |(unit, shared): &&(&Unit<'_>, usize)| {
            let enough = *shared >= 2 || *shared >= 1 && number.is_strong();
            enough && number.place_in(unit.text).is_some()
        };
        let unit = near.iter().find(loose).map(|(unit, _)| unit.span);
        unit.or_else(|| by_span(number, ground, &near).map(Some))
    };
    for number in &numbers {
        match shown(number) {
            Some(span) => spans.extend(span),
            None => return false,
        }
    }
    changes(sentence, literals).iter().all(|(from, to)| {
        near.iter().any(|(unit, _)| {
            let places = (place(unit.text, from), place(unit.text, to));
            matches!(places, (Some(one), Some(two)) if one.start < two.start)
        })
    })
}

fn numbers<'t>(sentence: &'t str, literals: &'t [Told]) -> Vec<Number<'t>> {
    let is_number = |told: &&Told| matches!(told.kind, AtomKind::Number | AtomKind::Quantity);
    let inside = |range: &Range<usize>, other: &Told| {
        other.range.start <= range.start && range.end <= other.range.end && other.range != *range
    };
    let digits = literals
        .iter()
        .filter(is_number)
        .filter(|told| !literals.iter().any(|other| inside(&told.range, other)));
    let digits = digits.filter_map(|told| {
        let unit = told.norm.rsplit(' ').next().unwrap_or_default();
        let measure = told.kind == AtomKind::Quantity && MEASURES.contains(&unit);
        let ways = vec![sentence.get(told.range.clone())?];
        Some(Number { range: told.range.clone(), ways, measure: measure.then_some(told.norm.as_str()) })
    });
    let quoted = |at: usize| literals.iter().any(|told| told.range.contains(&at));
    let spelled = SPELLED.iter().flat_map(|&(word, digits)| {
        let lower = sentence.to_ascii_lowercase();
        let places: Vec<usize> = lower.match_indices(word).map(|(at, _)| at).collect();
        places.into_iter().filter_map(move |at| {
            let range = at..at + word.len();
            let ways = vec![word, digits];
            is_delimited(sentence, &range).then_some(Number { range, ways, measure: None })
        })
    });
    digits.chain(spelled.filter(|number| !quoted(number.range.start))).collect()
}

/// Whether neither a letter nor a digit, nor a fraction, goes on before or behind.
fn is_delimited(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default();
    let word = |char: char| char.is_alphanumeric() || char == '_';
    let fraction = |text: &str| {
        let mut chars = text.chars();
        matches!(chars.next(), Some('.' | ',')) && chars.next().is_some_and(|char| char.is_ascii_digit())
    };
    let back: String = before.chars().rev().take(2).collect();
    !(before.ends_with(word) || behind.starts_with(word) || fraction(behind) || fraction(&back))
}

fn places<'t>(text: &'t str, own: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let found = text.match_indices(own).map(|(at, own)| at..at + own.len());
    found.filter(|range| is_delimited(text, range))
}

fn place(text: &str, own: &str) -> Option<Range<usize>> {
    places(text, own).next()
}

fn shared(own: &BTreeSet<String>, text: &str) -> usize {
    let other: BTreeSet<String> = words(text).into_iter().map(|word| word.stem).collect();
    own.intersection(&other).count()
}

/// What the number at `range` is of: the words directly behind it, else the one before it in its clause.
fn keys(text: &str, range: &Range<usize>) -> Vec<String> {
    const STOPS: [char; 8] = [',', ';', '(', ')', '|', '\n', '[', ']'];
    let words = words(text);
    let gap = |from: usize, to: usize| text.get(from..to).unwrap_or("\n");
    let assigned = text.get(..range.start).is_some_and(|before| before.trim_end().ends_with(['=', ':']));
    let mut end = range.end;
    let mut keys = Vec::new();
    for word in words.iter().filter(|word| word.range.start >= range.end).take(2) {
        let between = gap(end, word.range.start);
        let joins = matches!(between, " " | "-" | "")
            || !keys.is_empty() && matches!(between, " were " | " have " | " are ");
        if assigned || !joins {
            break;
        }
        keys.push(word.stem.clone());
        end = word.range.end;
    }
    if keys.is_empty() {
        let before = words.iter().rev().find(|word| word.range.end <= range.start);
        let gap = before.map_or("\n", |word| gap(word.range.end, range.start));
        let near = !gap.contains(STOPS) && !gap.contains(". ");
        keys.extend(before.filter(|_| near).map(|word| word.stem.clone()));
    }
    keys
}

/// All numbers of `text` that `key` says what they are of.
fn keyed(text: &str, own: &str) -> Vec<Range<usize>> {
    let starts = text.char_indices().filter(|(at, char)| {
        char.is_ascii_digit()
            && !text.get(..*at).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric()))
    });
    let ranges = starts.map(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        let len = rest
            .find(|char: char| !(char.is_ascii_digit() || matches!(char, '.' | ',')))
            .unwrap_or(rest.len());
        at..at + rest.get(..len).unwrap_or_default().trim_end_matches(['.', ',']).len()
    });
    ranges.filter(|range| keys(text, range).first().is_some_and(|key| key == own)).collect()
}

/// Whether a unit says of the same thing that it is this number.
fn fits(number: &Number<'_>, of: &[String], unit: &Unit<'_>, shared: usize) -> bool {
    if let Some(measure) = number.measure {
        let same = |atom: &atom::Atom| atom.kind == AtomKind::Quantity && atom.norm == measure;
        return shared >= 1 && atom::extract(unit.text).iter().any(same);
    }
    let places = number.ways.iter().flat_map(|way| places(unit.text, way));
    places.into_iter().any(|place| keys(unit.text, &place).first().is_some_and(|key| of.contains(key)))
}

/// The span that holds a number that is hardly there by chance, and speaks of what the sentence speaks of.
fn by_span(number: &Number<'_>, ground: &Ground<'_>, near: &[(&Unit<'_>, usize)]) -> Option<u32> {
    let shared = |span: u32| -> usize {
        near.iter().filter(|(unit, _)| unit.span == Some(span)).map(|(_, shared)| shared).sum()
    };
    let holding = || number.ways.iter().flat_map(|way| ground.spans_with(way));
    number.is_strong().then(|| holding().find(|&span| shared(span) >= 2)).flatten()
}

/// What a sentence says to have gone from one value to another.
fn changes<'t>(sentence: &'t str, literals: &[Told]) -> Vec<(&'t str, &'t str)> {
    let pair = |two: &[Told]| {
        let [from, to] = two else { return None };
        let between = sentence.get(from.range.end..to.range.start)?.trim_matches([' ', '`', '"']);
        let before = sentence.get(..from.range.start)?.trim_end_matches([' ', '`', '"']);
        let changes = matches!(between, "->" | "→" | "=>") || between == "to" && before.ends_with("from");
        changes.then(|| Some((sentence.get(from.range.clone())?, sentence.get(to.range.clone())?))).flatten()
    };
    literals.windows(2).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_of_the_word_beside_it() {
        let of = |text: &str, own: &str| {
            let at = text.find(own).unwrap();
            keys(text, &(at..at + own.len()))
        };
        assert_eq!(of("42 passed; 3 failed", "3"), ["fail"]);
        assert_eq!(of("42 tests passed; 3 failed", "42"), ["test", "pass"]);
        assert_eq!(of("port: 8434", "8434"), ["port"]);
        assert_eq!(of("It listens on port 8434 of the host", "8434"), ["port"]);
        assert_eq!(of("rows, 12", "12"), Vec::<String>::new());
        assert_eq!(keyed("42 passed; 3 failed", "fail"), vec![11..12; 1]);
    }

    #[test]
    fn numbers_are_whole() {
        assert!(place("took 12.5 s", "12").is_none() && place("a12", "12").is_none());
        assert_eq!(place("12, 13", "12"), Some(0..2));
    }
}
