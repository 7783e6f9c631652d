//! What was there by kind, and what is left of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use strongroom_core::evidence::{AtomKind, Certainty};
use strongroom_evidence::effect::{Access, Target};

use super::account::{Rest, shell_line};
use super::{Later, Place};
use crate::reading::{ReadSpan, Reading};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Shell commands that changed something.
    Command,
    /// Files that were read, written or deleted.
    Path,
    /// Error lines and codes.
    Error,
    /// Values with a unit.
    Value,
    /// URLs.
    Url,
    /// Hashes, tickets, versions: what holds a digit.
    Id,
}

impl Kind {
    /// The plural in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Command => "commands that changed something",
            Self::Path => "files that were read or changed",
            Self::Error => "errors",
            Self::Value => "values with a unit",
            Self::Url => "URLs",
            Self::Id => "hashes, versions, ids",
        }
    }

    fn of(kind: AtomKind, text: &str) -> Option<Self> {
        match kind {
            AtomKind::Error => Some(Self::Error),
            AtomKind::Quantity => Some(Self::Value),
            AtomKind::Url => text.starts_with("http").then_some(Self::Url),
            AtomKind::Id => text.contains(|char: char| char.is_ascii_digit()).then_some(Self::Id),
            // Files are taken from calls; bare numbers stand in many texts by chance; words are counted as the user's.
            AtomKind::Path
            | AtomKind::LineRef
            | AtomKind::Number
            | AtomKind::Time
            | AtomKind::Quote
            | AtomKind::Code
            | AtomKind::Flag
            | AtomKind::Env
            | AtomKind::Negation
            | AtomKind::Constraint
            | AtomKind::Claim
            | AtomKind::Secret => None,
        }
    }
}

/// One distinct item that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostItem {
    /// It, as written.
    pub text: String,
    /// Where it stood last.
    pub place: Place,
    /// How often it had stood there.
    pub times: usize,
    /// Whether it was used again afterwards.
    pub needed: bool,
}

/// The distinct items of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The kind.
    pub kind: Kind,
    /// How many there were.
    pub before: usize,
    /// How many are left: as written, equal in normal form, or of a path its file name.
    pub left: usize,
    /// Those that are gone: what was used again first, then the most frequent; at most [`LISTED_MAX`].
    pub lost: Vec<LostItem>,
}

/// How many lost items of a kind are listed.
pub const LISTED_MAX: usize = 20;

struct Seen {
    text: String,
    place: Place,
    times: usize,
}

pub(super) fn tally(
    before: &Reading<'_>,
    gone: &[&ReadSpan<'_>],
    rest: &Rest,
    later: Later<'_, '_>,
) -> Vec<Tally> {
    let mut seen: BTreeMap<(Kind, String), Seen> = BTreeMap::new();
    for span in gone {
        for (kind, norm, text) in items(span) {
            let entry = seen.entry((kind, norm)).or_insert_with(|| Seen {
                text,
                place: Place::of_span(before.transcript, span),
                times: 0,
            });
            entry.times += 1;
            entry.place = Place::of_span(before.transcript, span);
        }
    }
    let used: BTreeSet<(Kind, String)> =
        later.spans().flat_map(items).map(|(kind, norm, _)| (kind, norm)).collect();
    let mut tallies: Vec<Tally> = Vec::new();
    for ((kind, norm), entry) in seen {
        if tallies.last().is_none_or(|tally| tally.kind != kind) {
            tallies.push(Tally { kind, before: 0, left: 0, lost: Vec::new() });
        }
        let Some(tally) = tallies.last_mut() else { continue };
        tally.before += 1;
        if is_left(kind, &norm, &entry.text, rest) {
            tally.left += 1;
        } else {
            let needed = used.contains(&(kind, norm));
            tally.lost.push(LostItem { text: entry.text, place: entry.place, times: entry.times, needed });
        }
    }
    for tally in &mut tallies {
        tally.lost.sort_by_key(|item| (!item.needed, std::cmp::Reverse(item.times)));
        tally.lost.truncate(LISTED_MAX);
    }
    tallies
}

fn is_left(kind: Kind, norm: &str, text: &str, rest: &Rest) -> bool {
    let own = match kind {
        Kind::Command => false,
        Kind::Path => rest.holds_atom(AtomKind::Path, norm),
        Kind::Error => rest.holds_atom(AtomKind::Error, norm),
        Kind::Value => rest.holds_atom(AtomKind::Quantity, norm),
        Kind::Url => rest.holds_atom(AtomKind::Url, norm),
        Kind::Id => rest.holds_atom(AtomKind::Id, norm),
    };
    own || rest.holds(text) || kind == Kind::Path && file_name(text).is_some_and(|name| rest.holds(name))
}

/// The name of a file with an ending: enough to find it again.
fn file_name(path: &str) -> Option<&str> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    name.contains('.').then_some(name)
}

/// The items of a span: kind, normal form, text.
fn items(span: &ReadSpan<'_>) -> Vec<(Kind, String, String)> {
    let mut all = Vec::new();
    for (at, atom) in &span.examination.atoms {
        let block = span.content.blocks.iter().find(|block| block.at == *at);
        let own = block.and_then(|block| block.text.get(atom.range.clone()));
        if let Some((kind, own)) = own.and_then(|own| Some((Kind::of(atom.kind, own)?, own))) {
            all.push((kind, atom.norm.clone(), own.to_owned()));
        }
    }
    for effect in &span.examination.effects {
        if let Target::Path { resolved, .. } = &effect.target {
            all.push((Kind::Path, resolved.clone(), resolved.clone()));
        }
    }
    all.extend(command(span).map(|command| (Kind::Command, super::account::plain(&command), command)));
    all
}

/// The first line of a shell command that changed something.
fn command(span: &ReadSpan<'_>) -> Option<String> {
    let changed =
        span.examination.effects.iter().any(|effect| {
            effect.kind.access() == Access::Mutation && effect.certainty == Certainty::Definite
        });
    let script = shell_line(span).filter(|_| changed)?;
    script.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
