//! The distinct literals of reclaimed spans, ranked by how likely they are needed again.

use std::collections::HashMap;

use strongroom_core::summary::{Literal, SourceText};
use strongroom_core::transcript::Speaker;

use super::scan::{Kind, scan};
use super::texts::{Origin, Texts};
use super::weights::{density, points};
use super::{Flow, Reclaimed, item};
use crate::tokens;

/// A distinct literal with what is known of its use.
#[derive(Debug)]
struct Entry {
    kind: Kind,
    literal: Literal,
    /// In how many spans it stands, and the last one.
    spans: u32,
    last: u32,
    /// The percent of the text behind the last place where the agent wrote it.
    agent: Option<u64>,
    /// The percent of the text behind its last place.
    behind: u64,
    last_user: bool,
}

/// All literals, found by their text.
#[derive(Debug, Default)]
pub(super) struct Literals<'t> {
    entries: Vec<Entry>,
    /// `None` where a literal may not be listed.
    by_text: HashMap<&'t str, Option<usize>>,
}

impl<'t> Literals<'t> {
    pub(super) fn of(spans: &[Reclaimed<'_>], texts: &'t Texts, flow: &Flow) -> Self {
        let mut all = Self::default();
        for span in spans.iter().filter(|span| span.is_quotable()) {
            for (source, text, origin) in texts.each(span.ordinal) {
                if origin != Origin::Tool {
                    all.add(span.ordinal, (source, text), texts, flow);
                }
            }
        }
        all
    }

    fn add(&mut self, ordinal: u32, (source, text): (usize, &'t SourceText), texts: &Texts, flow: &Flow) {
        let behind = flow.behind(ordinal);
        scan(&text.text, &mut |kind, range| {
            let Some(own) = text.text.get(range.clone()) else { return };
            let literal = || Literal { text: own.to_owned(), ordinal, source, at: range.start };
            let known = self.by_text.entry(own).or_insert_with(|| {
                let literal = texts.literal(literal())?;
                let entry = Entry { kind, literal, spans: 0, last: 0, agent: None, behind, last_user: false };
                self.entries.push(entry);
                Some(self.entries.len() - 1)
            });
            let Some(entry) = known.and_then(|at| self.entries.get_mut(at)) else { return };
            if entry.spans == 0 || entry.last != ordinal {
                entry.spans += 1;
                entry.last = ordinal;
            }
            entry.behind = behind;
            if text.speaker == Speaker::Assistant {
                entry.agent = Some(behind);
            }
            entry.last_user |= text.speaker == Speaker::User && flow.is_last_user(ordinal, 2);
        });
    }

    /// The places among all of the literals in `text`, also of those that are parts of others.
    pub(super) fn in_text(&self, text: &str) -> Vec<usize> {
        let mut all = Vec::new();
        scan(text, &mut |_, range| {
            let own = text.get(range).unwrap_or_default();
            all.extend(self.place(own));
            parts(own, &mut |part| all.extend(self.place(part)));
        });
        all
    }

    fn place(&self, text: &str) -> Option<usize> {
        self.by_text.get(text).copied().flatten()
    }

    /// One item for each literal, in the order of their places, and the places of the others that a reader finds in it.
    pub(super) fn items(&self) -> impl Iterator<Item = (item::Item, Vec<usize>)> {
        self.entries.iter().enumerate().map(|(at, entry)| {
            let mut held = self.in_text(&entry.literal.text);
            held.retain(|&other| other != at);
            (entry.item(), held)
        })
    }
}

/// The most parts of a path that are taken in runs.
const PARTS_MAX: usize = 12;

/// Finds what a reader finds in a literal besides: of a path all runs of its parts, of a name with dots what stands
/// between them.
fn parts<'t>(literal: &'t str, found: &mut dyn FnMut(&'t str)) {
    let own = literal.split_once("://").map_or(literal, |(_, own)| own);
    let slashes: Vec<usize> = own.match_indices('/').map(|(at, _)| at).take(PARTS_MAX).collect();
    let starts = std::iter::once(0).chain(slashes.iter().map(|at| at + 1));
    let ends: Vec<usize> = slashes.iter().copied().chain([own.len()]).collect();
    for start in starts {
        for &end in ends.iter().filter(|end| **end > start) {
            // With the slash behind it, it names a directory.
            let ways = [own.get(start..end), own.get(start..=end)];
            ways.into_iter().flatten().filter(|part| part.len() < literal.len()).for_each(&mut *found);
        }
    }
    let words = own.split('/').filter(|part| part.contains('.')).flat_map(|part| part.split('.'));
    words.for_each(found);
}

impl Entry {
    fn points(&self) -> u32 {
        let within = |percent: u64| self.agent.is_some_and(|behind| behind < percent);
        let signs = [
            (self.agent.is_some(), points::AGENT),
            (within(50), points::AGENT_HALF),
            (within(2), points::AGENT_NOW),
            (self.last_user, points::LAST_USER),
            (self.spans > 1, points::AGAIN),
            (self.behind < 25, points::LATE),
            (self.kind != Kind::Hash, points::NAMED),
        ];
        signs.iter().filter(|(sign, _)| *sign).map(|(_, points)| points).sum()
    }

    fn item(&self) -> item::Item {
        // A path shares all but its last part with others.
        let own = match self.kind {
            Kind::Path | Kind::Url => {
                self.literal.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
            }
            Kind::Identifier | Kind::Number | Kind::Hash => &self.literal.text,
        };
        let cost = tokens::count(&format!(" {own}")).0.max(1) + u64::from(self.kind == Kind::Path);
        let seen = 100 + (100 - self.behind.min(100)) / 4;
        let density = (density::LITERAL << self.points()) / 2 * seen / 100 / cost;
        item::Item {
            section: item::Section::Literals,
            half: item::Half::Answer,
            order: (self.literal.ordinal, 0),
            also: Vec::new(),
            density,
            cost,
            say: item::Say::Literal(self.kind, self.literal.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_holds_the_runs_of_its_parts() {
        let mut all = Vec::new();
        parts("a/b_c/d.go", &mut |part| all.push(part));
        assert_eq!(all, ["a", "a/", "a/b_c", "a/b_c/", "b_c", "b_c/", "b_c/d.go", "d.go", "d", "go"]);
        all.clear();
        parts("https://a.io/x", &mut |part| all.push(part));
        assert_eq!(all, ["a.io", "a.io/", "a.io/x", "x", "a", "io"]);
        all.clear();
        parts("plain_name", &mut |part| all.push(part));
        assert_eq!(all, Vec::<&str>::new());
    }
}
