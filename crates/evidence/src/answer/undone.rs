//! Whether an effect was taken back later, as a field of it.

use super::facet::Facet;
use super::position::Positions;
use super::possible;
use super::row::Row;

/// `yes` where a later act took the effect of `row` back. `no` says that none is seen; where a later run may have, `yes`
/// may hold as well.
pub(super) fn facet<'s>(row: &Row<'s>, positions: &Positions<'s>) -> Facet<'s> {
    let Some(effect) = row.effect() else { return Facet::Known(Vec::new()) };
    let rows = positions.effects();
    let own = |other: &Row<'s>| other.effect().is_some_and(|other| std::ptr::eq(other, effect));
    let at = rows.iter().position(own);
    if at.and_then(|at| positions.undone().get(at)).is_some_and(|undone| *undone) {
        return Facet::one("yes");
    }
    let later = |other: &&Row<'s>| other.source != row.source || other.start > row.start;
    let may = |other: &Row<'s>| {
        let opaque = other.effect().filter(|other| possible::is_opaque(other));
        opaque.is_some_and(|other| !possible::is_idle(other.outcome))
    };
    let no = vec!["no".into()];
    if rows.iter().filter(later).any(may) { Facet::AtLeast(no) } else { Facet::Known(no) }
}
