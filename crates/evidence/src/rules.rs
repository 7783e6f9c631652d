//! Standing rules: sentences that ban, demand, gate or allow something.
//!
//! [`find`] is quick and wide, and decides what is never given up; [`stated`] is what is told to be a rule.

mod ruling;

use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::cues::{self, List, Phrases};

use ruling::RULE_MAX;

pub use ruling::{is_rule, kinds};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    ban: Vec<String>,
    duty: Vec<String>,
    gate: Vec<String>,
    approval: Vec<String>,
}

static CUES: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("tables/rules.toml")).unwrap_or_default();
    let lists = [&table.ban, &table.duty, &table.gate, &table.approval];
    Phrases::new(&lists.map(|words| List { words, group: 0, means: () }))
});

/// The sentences of `text` that may state a rule, in order: those with a word that often does. Questions state none.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let mut places = CUES.find(text).into_iter().map(|(place, ())| place).peekable();
    if places.peek().is_none() {
        return Vec::new();
    }
    let mut rules = Vec::new();
    for sentence in cues::sentences(text) {
        while places.next_if(|place| place.start < sentence.start).is_some() {}
        let mut states = false;
        while places.next_if(|place| place.start < sentence.end).is_some() {
            states = true;
        }
        let asks = text.get(sentence.clone()).is_some_and(|own| own.ends_with(['?', '？']));
        if states && !asks && sentence.len() <= RULE_MAX {
            rules.push(sentence);
        }
    }
    rules
}

/// The sentences of `text` that state a rule, in order.
pub fn stated(text: &str) -> Vec<Range<usize>> {
    let mut all = cues::sentences(text);
    all.retain(|range| text.get(range.clone()).is_some_and(is_rule));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|range| text.get(range).unwrap()).collect()
    }

    #[test]
    fn sentences_with_cues_are_rules() {
        assert!(toml::from_str::<Table>(include_str!("tables/rules.toml")).is_ok());
        let text = "Fix the parser. Never push to main! Don't touch a.rs unless I say so.\nthanks";
        assert_eq!(rules(text), ["Never push to main!", "Don't touch a.rs unless I say so."]);
        assert_eq!(rules("请不要修改配置。好的。"), ["请不要修改配置。"]);
        assert_eq!(rules("必ずテストして。"), ["必ずテストして。"]);
        assert_eq!(rules("Nicht ändern: conf.yaml"), ["Nicht ändern: conf.yaml"]);
        assert_eq!(rules("Why would you never do that?"), Vec::<&str>::new());
        assert_eq!(rules("The keeper was mustering."), Vec::<&str>::new());
        assert_eq!(rules("ask me before you deploy"), ["ask me before you deploy"]);
    }

    proptest! {
        #[test]
        fn rules_are_parts_of_the_text_in_order(text in "(never|do not|[a-z. ?!\\n不要é]{0,9}| ){0,20}") {
            let all = find(&text);
            prop_assert!(all.windows(2).all(|pair| pair[0].end <= pair[1].start));
            for rule in all {
                prop_assert!(text.get(rule).is_some());
            }
        }
    }
}
