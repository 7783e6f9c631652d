//! What took an effect back: content that is as it was, edits thrown away, moves and commands in the other direction.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use strongroom_core::evidence::Certainty;

use super::pattern::TableRegex;
use super::row::{PieceOf, Row};
use super::{facet, possible};
use crate::effect::{Effect, EffectKind, Target};
use crate::place::is_inside;

/// What took an effect back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Undone {
    /// The index of the row that did.
    pub(super) by: usize,
    /// How.
    pub(super) how: &'static str,
}

/// Commands that take back what others did.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inverse {
    /// The kinds of effect.
    kind: Vec<String>,
    /// A command that does.
    did: TableRegex,
    /// A command that undoes.
    undid: TableRegex,
    /// What must be the same of both.
    same: Same,
    /// How it was undone.
    how: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Same {
    /// The target of the effect.
    Target,
    /// The last word of the command.
    Word,
    /// Nothing: the last one that was done is meant.
    Last,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    inverse: Vec<Inverse>,
}

/// The table is a constant of the program and read in a test; were it damaged, no command would be an inverse.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../tables/undo.toml")).unwrap_or_default());

/// For each row, what took it back. Rows are in the order of the ledger.
pub(super) fn find(rows: &[Row<'_>]) -> Vec<Option<Undone>> {
    let mut search = Search { rows, undone: vec![None; rows.len()], files: BTreeMap::new() };
    for (at, row) in rows.iter().enumerate() {
        let Some(effect) = row.effect().filter(|effect| is_done(effect)) else {
            if let Some(effect) = row.effect().filter(|effect| facet::mutates(effect.kind)) {
                search.unsettle(row, effect);
            }
            continue;
        };
        search.content(at, row, effect);
        search.edit_back(at, row, effect);
        search.discard(at, row, effect);
        search.move_back(at, row, effect);
        search.inverse(at, row, effect);
        search.transaction(at, row, effect);
    }
    search.undone
}

fn is_done(effect: &Effect) -> bool {
    facet::mutates(effect.kind) && effect.certainty == Certainty::Definite && effect.outcome.is_positive()
}

/// What a path holds, as far as the ledger tells.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Unknown,
    Absent,
    Text(String),
}

/// What a path held before each row that changed it.
#[derive(Debug, Default)]
struct History {
    /// The row and what stood there before it.
    before: Vec<(usize, Content)>,
    now: Option<Content>,
}

struct Search<'r, 's> {
    rows: &'r [Row<'s>],
    undone: Vec<Option<Undone>>,
    files: BTreeMap<(usize, String), History>,
}

impl<'s> Search<'_, 's> {
    /// Earlier rows of the same source that stand and were done.
    fn live(&self, at: usize) -> impl Iterator<Item = (usize, &Row<'s>, &Effect)> {
        let earlier = self.rows.iter().enumerate().take(at);
        let source = self.rows.get(at).map(|row| row.source);
        earlier
            .rev()
            .filter(move |(n, row)| {
                Some(row.source) == source && self.undone.get(*n).is_some_and(Option::is_none)
            })
            .filter_map(|(n, row)| Some((n, row, row.effect().filter(|effect| is_done(effect))?)))
    }

    fn mark(&mut self, rows: &[usize], by: usize, how: &'static str) {
        for &row in rows {
            if let Some(slot) = self.undone.get_mut(row) {
                slot.get_or_insert(Undone { by, how });
            }
        }
    }

    /// A change that is not all known leaves contents unknown.
    fn unsettle(&mut self, row: &Row<'s>, effect: &Effect) {
        if effect.outcome.is_negative() {
            return;
        }
        for ((source, path), history) in &mut self.files {
            if *source == row.source && may_touch(effect, path) {
                history.now = Some(Content::Unknown);
            }
        }
    }

    /// A file that holds again what it held before earlier rows: they are taken back.
    fn content(&mut self, at: usize, row: &Row<'s>, effect: &Effect) {
        let Target::Path { resolved, .. } = &effect.target else { return self.unsettle(row, effect) };
        if possible::is_opaque(effect) {
            return self.unsettle(row, effect);
        }
        if !effect.kind.is_under("fs") {
            return;
        }
        let history = self.files.entry((row.source, resolved.clone())).or_default();
        let before = history.now.clone().unwrap_or_else(|| first_content(row, effect));
        let now = content_after(row, effect, &before);
        history.before.push((at, before));
        history.now = Some(now.clone());
        if now == Content::Unknown {
            return;
        }
        let Some(from) = history.before.iter().position(|(_, held)| *held == now) else { return };
        let back: Vec<usize> = history.before.drain(from..).map(|(n, _)| n).filter(|&n| n != at).collect();
        let how = if now == Content::Absent {
            "created, and deleted again"
        } else {
            "the file holds its earlier text again"
        };
        self.mark(&back, at, how);
    }

    /// An edit with old and new text in exchange.
    fn edit_back(&mut self, at: usize, row: &Row<'s>, effect: &Effect) {
        let Some((old, new)) = edited(row).filter(|(old, new)| old != new && !old.is_empty()) else { return };
        let same = self.live(at).find(|(_, other, own)| {
            own.target == effect.target && edited(other).is_some_and(|(was, made)| was == new && made == old)
        });
        let found: Vec<usize> = same.map(|(n, _, _)| n).into_iter().collect();
        self.mark(&found, at, "the edit is made in the other direction");
    }

    /// Uncommitted edits of the same path that were thrown away.
    fn discard(&mut self, at: usize, row: &Row<'s>, effect: &Effect) {
        let stashed = row.own.iter().any(|piece| piece.text.contains("git stash"));
        if effect.kind != EffectKind::FsDiscard || stashed {
            return;
        }
        let since = self.live(at).take_while(|(_, _, own)| own.kind != EffectKind::VcsCommit);
        let lost = since.filter(|(_, other, own)| {
            let file = own.kind.is_under("fs") && own.kind != EffectKind::FsDiscard;
            let tracked =
                || edited(other).is_some() || matches!(own.kind, EffectKind::FsAppend | EffectKind::FsDelete);
            file && match (&effect.target, &own.target) {
                (Target::Path { resolved, .. }, Target::Path { resolved: path, .. }) => {
                    resolved == path || (is_inside(path, resolved) && tracked())
                }
                (Target::Under(base), Target::Path { resolved: path, .. }) => {
                    is_inside(path, base) && tracked()
                }
                _ => false,
            }
        });
        let lost: Vec<usize> = lost.map(|(n, _, _)| n).collect();
        self.mark(&lost, at, "uncommitted edits were thrown away");
    }

    /// A move of the same thing in the other direction.
    fn move_back(&mut self, at: usize, row: &Row<'s>, effect: &Effect) {
        if effect.kind != EffectKind::FsMove {
            return;
        }
        let Some((from, to)) = self.moved(row, effect) else { return };
        let first = self.live(at).find(|(_, other, own)| {
            own.kind == EffectKind::FsMove && self.moved(other, own) == Some((to, from))
        });
        let Some(span) = first.map(|(_, other, _)| other.span) else { return };
        let parts: Vec<usize> =
            self.live(at).filter(|(_, other, _)| other.span == span).map(|(n, _, _)| n).collect();
        self.mark(&parts, at, "moved back");
    }

    /// From where to where a call moves its only file.
    fn moved<'r>(&'r self, row: &Row<'s>, effect: &'r Effect) -> Option<(&'r str, &'r str)> {
        let mut own = self.rows.iter().filter(|other| other.source == row.source && other.span == row.span);
        let to = own.find_map(|other| other.effect().filter(|one| one.kind == EffectKind::FsWrite))?;
        match (&effect.target, &to.target) {
            (Target::Path { resolved: from, .. }, Target::Path { resolved: to, .. }) => Some((from, to)),
            _ => None,
        }
    }

    /// A command that the table names as the inverse of an earlier one.
    fn inverse(&mut self, at: usize, row: &Row<'s>, effect: &Effect) {
        for line in &TABLE.inverse {
            let Some(undoing) = commands(row, &line.undid.0).next() else { continue };
            if !line.kind.iter().any(|kind| effect.kind.is_under(kind)) {
                continue;
            }
            let word = last_word(undoing);
            let found = self.live(at).find(|(_, other, own)| {
                let meant = line.kind.iter().any(|kind| own.kind.is_under(kind));
                let target = line.same != Same::Target || own.target == effect.target;
                meant && target && other.span != row.span && does(other, line, own, word)
            });
            let found: Vec<usize> = found.map(|(n, _, _)| n).into_iter().collect();
            self.mark(&found, at, &line.how);
        }
    }

    /// A transaction that is rolled back in the call that opened it.
    fn transaction(&mut self, at: usize, row: &Row<'s>, effect: &Effect) {
        let back = |text: &str| {
            let text = text.to_lowercase();
            let (begun, ended) = (find_word(&text, "begin"), text.rfind("rollback"));
            begun.zip(ended).is_some_and(|(begun, ended)| begun < ended)
                && find_word(&text, "commit").is_none()
        };
        if effect.kind.is_under("db") && row.own.iter().any(|piece| back(piece.text)) {
            self.mark(&[at], at, "the transaction was rolled back");
        }
    }
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric())
    })
}

/// Whether the call of `row` holds a command that does what `line` undoes.
fn does(row: &Row<'_>, line: &Inverse, effect: &Effect, word: &str) -> bool {
    commands(row, &line.did.0).any(|command| {
        !line.undid.0.is_match(command)
            && match line.same {
                Same::Last => true,
                Same::Word => last_word(command) == word,
                Same::Target => match &effect.target {
                    Target::Path { written, .. } => command.contains(written.as_str()),
                    Target::Named(name) => command.contains(name.as_str()),
                    Target::Under(_) | Target::Unknown => false,
                },
            }
    })
}

/// The simple commands in a call that match `regex`.
fn commands<'s>(row: &Row<'s>, regex: &Regex) -> impl Iterator<Item = &'s str> {
    let texts: Vec<&'s str> = row.own.iter().map(|piece| piece.text).collect();
    texts.into_iter().flat_map(move |text| {
        let found: Vec<Range<usize>> = regex.find_iter(text).map(|found| found.range()).collect();
        found.into_iter().filter_map(move |range| {
            let rest = text.get(range.start..)?;
            let end = rest.find([';', '&', '|', '\n']).unwrap_or(rest.len());
            rest.get(..end.max(range.len()))
        })
    })
}

fn last_word(command: &str) -> &str {
    command.split_whitespace().next_back().unwrap_or_default()
}

/// The string argument at `pointer` of the call of a row.
pub(super) fn argument<'s>(row: &Row<'s>, pointer: &str) -> Option<&'s str> {
    row.own.iter().find_map(|piece| match piece.of {
        PieceOf::Argument(_, argument) if argument.pointer == pointer => Some(piece.text),
        _ => None,
    })
}

/// Arguments that hold old and new text of an edit.
const EDITS: &[(&str, &str)] = &[
    ("/old_string", "/new_string"),
    ("/old_str", "/new_str"),
    ("/oldText", "/newText"),
    ("/old_text", "/new_text"),
];

/// Arguments that hold the whole text of a file.
pub(super) const WHOLE_TEXTS: &[&str] = &["/content", "/file_text", "/contents", "/file_content"];

fn edited<'s>(row: &Row<'s>) -> Option<(&'s str, &'s str)> {
    EDITS.iter().find_map(|(old, new)| Some((argument(row, old)?, argument(row, new)?)))
}

/// Whether the call writes the whole text of a file.
pub(super) fn whole_text<'s>(row: &Row<'s>) -> Option<&'s str> {
    WHOLE_TEXTS.iter().find_map(|pointer| argument(row, pointer)).filter(|_| edited(row).is_none())
}

/// What stood at a path before the first row that changes it: nothing, where the tool says that it made the file.
fn first_content(row: &Row<'_>, effect: &Effect) -> Content {
    let made = |text: &str| {
        ["created successfully", "Created file", "File created"].iter().any(|word| text.contains(word))
    };
    let new = effect.kind == EffectKind::FsWrite && row.half.iter().any(|piece| made(piece.text));
    if new { Content::Absent } else { Content::Unknown }
}

fn content_after(row: &Row<'_>, effect: &Effect, before: &Content) -> Content {
    match effect.kind {
        EffectKind::FsDelete | EffectKind::FsMove => Content::Absent,
        EffectKind::FsMeta => before.clone(),
        EffectKind::FsWrite => match (whole_text(row), edited(row), before) {
            (Some(text), _, _) => Content::Text(text.to_owned()),
            (None, Some((old, new)), Content::Text(text))
                if !old.is_empty() && text.matches(old).count() == 1 =>
            {
                Content::Text(text.replacen(old, new, 1))
            }
            _ => Content::Unknown,
        },
        _ => Content::Unknown,
    }
}

/// Whether an effect may touch `path`.
pub(super) fn may_touch(effect: &Effect, path: &str) -> bool {
    if !facet::mutates(effect.kind) {
        return false;
    }
    match &effect.target {
        Target::Path { resolved, .. } => {
            effect.kind.is_under("fs") && (resolved == path || is_inside(path, resolved))
        }
        Target::Under(base) => is_inside(path, base),
        Target::Unknown => effect.kind.is_under("fs") || possible::is_opaque(effect),
        Target::Named(_) => possible::is_opaque(effect),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_names_only_known_kinds() {
        let table: Table = toml::from_str(include_str!("../tables/undo.toml")).unwrap();
        assert!(table.inverse.len() > 10);
        for line in &table.inverse {
            assert!(!line.how.is_empty(), "{line:?}");
            for kind in &line.kind {
                assert!(EffectKind::ALL.iter().any(|own| own.is_under(kind)), "{kind}");
            }
        }
    }
}
