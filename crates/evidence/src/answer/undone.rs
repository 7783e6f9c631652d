//! Whether an effect was undone later.

use super::facet::Facet;
use super::position::Positions;
use super::possible;
use super::row::Row;
use crate::effect::{Effect, Target};

/// Kinds, and the kinds that undo them on the same target.
const UNDOES: &[(&[&str], &[&str])] = &[
    (&["fs.write", "fs.append", "fs.move", "fs.link", "fs.meta"], &["fs.discard", "fs.delete"]),
    (&["fs.delete"], &["fs.discard", "fs.write", "fs.move"]),
    (&["pkg.mutate"], &["pkg.mutate"]),
    (&["vcs.remote"], &["vcs.remote"]),
];

/// Kinds, and the kinds that may undo them whatever their target is called.
const MAY_UNDO: &[(&str, &str)] = &[("vcs.commit", "vcs.history"), ("vcs.switch", "vcs.switch")];

/// Words by which an act of the same kind is told to be the opposite.
const OPPOSITE: &[&str] = &["uninstall", "remove", "--delete", "purge", " -d "];

/// `yes` where a later act is shown to undo the effect of `row`. `no` says that none is seen; where a later run may have
/// undone it, `yes` may hold as well.
pub(super) fn facet<'s>(row: &Row<'s>, positions: &Positions<'s>) -> Facet<'s> {
    let Some(effect) = row.effect() else { return Facet::Known(Vec::new()) };
    let mut open = false;
    for later in positions.effects().iter().filter(|later| is_later(later, row)) {
        let Some(other) = later.effect().filter(|other| !other.outcome.is_negative()) else { continue };
        if possible::is_opaque(other) {
            open |= !possible::is_idle(other.outcome);
        } else if undoes(other, later, effect) {
            if other.outcome.is_positive() {
                return Facet::one("yes");
            }
            open = true;
        } else {
            open |= MAY_UNDO.iter().any(|(own, undo)| effect.kind.is_under(own) && other.kind.is_under(undo));
        }
    }
    let no = vec!["no".into()];
    if open { Facet::AtLeast(no) } else { Facet::Known(no) }
}

fn is_later(later: &Row<'_>, row: &Row<'_>) -> bool {
    later.source != row.source || later.start > row.start
}

fn undoes(other: &Effect, row: &Row<'_>, effect: &Effect) -> bool {
    let pair = UNDOES.iter().find(|(own, _)| own.iter().any(|kind| effect.kind.is_under(kind)));
    let opposite = pair.is_some_and(|(_, undo)| undo.iter().any(|kind| other.kind.is_under(kind)));
    let told = other.kind != effect.kind
        || row.own.iter().any(|piece| OPPOSITE.iter().any(|word| piece.text.contains(word)));
    opposite && told && covers(&other.target, &effect.target)
}

fn covers(outer: &Target, inner: &Target) -> bool {
    let (one, two) = (outer.words(), inner.words());
    match outer {
        Target::Unknown => false,
        Target::Under(_) => two.starts_with(one.trim_end_matches(['*', '.'])),
        Target::Path { .. } | Target::Named(_) => {
            one == two || one.split_whitespace().last() == two.split_whitespace().last()
        }
    }
}
