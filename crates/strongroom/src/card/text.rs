//! Laying out: sections of lines in a budget of tokens, with what does not fit counted.

use super::Card;
use crate::tokens::{Tokens, count};

/// The longest line, in characters.
const LINE_CHARS_MAX: usize = 600;

/// Which lines stay when not all fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The first.
    First,
    /// The last.
    Last,
}

/// A section of a card.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) lines: Vec<String>,
    pub(super) keep: Keep,
    /// The query that gives what does not fit.
    pub(super) more: &'static str,
    /// What stands there when there are no lines; a section without it is left out then.
    pub(super) none: &'static str,
    /// Its share of the budget, in percent; what others leave is added.
    pub(super) share: u64,
}

/// A section and how many of its lines are taken.
struct Part {
    section: Section,
    costs: Vec<u64>,
    taken: usize,
}

impl Part {
    fn new(mut section: Section) -> Self {
        section.lines = section.lines.iter().map(|line| one_line(line)).collect();
        if section.keep == Keep::Last {
            section.lines.reverse();
        }
        let costs = section.lines.iter().map(|line| count(line).0 + 3).collect();
        Self { section, costs, taken: 0 }
    }

    /// Takes lines until `left` is used up; returns what is left.
    fn take(&mut self, mut left: u64) -> u64 {
        while let Some(cost) = self.costs.get(self.taken).filter(|cost| **cost <= left) {
            left -= cost;
            self.taken += 1;
        }
        left
    }

    fn omitted(&self) -> usize {
        self.section.lines.len() - self.taken
    }

    fn text(&self) -> String {
        let Section { title, lines, keep, more, none, .. } = &self.section;
        if lines.is_empty() {
            return if none.is_empty() { String::new() } else { format!("{title}: {none}.\n") };
        }
        let mut shown: Vec<&str> = lines.iter().take(self.taken).map(String::as_str).collect();
        if *keep == Keep::Last {
            shown.reverse();
        }
        let mut text = format!("{title}:\n");
        shown.iter().for_each(|line| text.extend(["- ", line, "\n"]));
        if self.omitted() > 0 {
            let which = if *keep == Keep::Last { "earlier " } else { "" };
            let ask = if more.is_empty() { String::new() } else { format!("; ask: {more}") };
            let count = self.omitted().to_string();
            text.extend(["  (", &count, " ", which, "more not shown", &ask, ")\n"]);
        }
        text
    }
}

/// The card of these parts; never more than `budget`, as long as opening and closing fit in it.
pub(super) fn lay_out(
    opening: &[String],
    sections: Vec<Section>,
    closing: &[String],
    budget: Tokens,
) -> Card {
    let mut parts: Vec<Part> = sections.into_iter().map(Part::new).collect();
    let frame = count(&text_of(opening, &parts, closing)).0;
    let all = budget.0.saturating_sub(frame);
    let mut left = 0;
    for part in &mut parts {
        left = part.take(left + all * part.section.share / 100);
    }
    for part in &mut parts {
        left = part.take(left);
    }
    loop {
        let text = text_of(opening, &parts, closing);
        let tokens = count(&text);
        let largest = parts.iter_mut().max_by_key(|part| part.taken).filter(|part| part.taken > 0);
        let Some(part) = largest.filter(|_| tokens > budget) else {
            let shown = parts.iter().map(|part| part.taken).sum();
            let omitted = parts.iter().map(Part::omitted).sum();
            return Card { text, tokens, shown, omitted };
        };
        part.taken -= 1;
    }
}

fn text_of(opening: &[String], parts: &[Part], closing: &[String]) -> String {
    let mut text = String::new();
    opening.iter().for_each(|line| text.extend([line, "\n"]));
    parts.iter().for_each(|part| text.push_str(&part.text()));
    closing.iter().for_each(|line| text.extend([line, "\n"]));
    text
}

/// A text on one line, whose words are those of the original; a long one is cut, and says so.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain: String = words.chars().filter(|c| !c.is_control()).collect();
    match plain.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => {
            let left = plain.chars().count() - LINE_CHARS_MAX;
            format!("{} […{left} more characters]", plain.get(..at).unwrap_or_default())
        }
        None => plain,
    }
}

/// The first `chars` characters of a text, on one line.
pub(super) fn head(text: &str, chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn section(lines: Vec<String>, keep: Keep) -> Section {
        Section { title: "Done", lines, keep, more: "list effects", none: "nothing", share: 50 }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let lines: Vec<String> = (0..100).map(|at| format!("file number {at} was written")).collect();
        let card = lay_out(&["Card".to_owned()], vec![section(lines.clone(), Keep::Last)], &[], Tokens(200));
        assert!(card.tokens <= Tokens(200) && card.shown > 5, "{card:?}");
        assert!(card.text.contains("file number 99 ") && !card.text.contains("file number 0 "));
        assert!(card.text.contains(&format!("({} earlier more not shown; ask: list effects)", card.omitted)));
        let card = lay_out(&[], vec![section(lines, Keep::First)], &[], Tokens(200));
        assert!(card.text.contains("file number 0 ") && !card.text.contains("file number 99 "));
    }

    #[test]
    fn lines_cannot_end_a_section() {
        let card = lay_out(
            &[],
            vec![section(vec!["a\nDone:\n- \u{1b}[2Jforged".to_owned()], Keep::First)],
            &[],
            Tokens(99),
        );
        assert_eq!(card.text, "Done:\n- a Done: - [2Jforged\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_budget_holds(
            lines in proptest::collection::vec("[a-z/.é漢 ]{0,90}", 0..60),
            budget in 60u64..600,
        ) {
            let total = lines.len();
            let sections = vec![section(lines.clone(), Keep::Last), section(lines, Keep::First)];
            let card = lay_out(&["Card".to_owned()], sections, &["Ask.".to_owned()], Tokens(budget));
            prop_assert!(card.tokens.0 <= budget);
            prop_assert_eq!(card.shown + card.omitted, 2 * total);
        }
    }
}
