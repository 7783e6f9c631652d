//! Claims: what of the ledger shows them, and what contradicts them.

use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::transcript::Speaker;

use super::decide::Case;
use super::position::Lie;
use super::report::is_done;
use super::row::{self, Piece, Row, What, sentences};
use super::{facet, possible};
use crate::effect::{Effect, EffectKind, Outcome};
use crate::session::Scope;
use crate::unions;

/// What becomes of a claim.
#[derive(Debug, Clone)]
pub(super) enum Weight<'s> {
    /// This shows it.
    Supported(Box<Row<'s>>),
    /// This says otherwise.
    Contradicted(Box<Row<'s>>),
    /// Nothing shows it.
    Unverified,
}

impl Weight<'_> {
    /// The word of `status:`.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Supported(_) => "supported",
            Self::Contradicted(_) => "contradicted",
            Self::Unverified => "unverified",
        }
    }
}

/// How a sentence says that something was done or holds.
static CUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:pass(?:es|ed)?|exists?|saved|written|created|deployed|pushed|fixed|done|works?|verified|completed?|ran|applied|deleted|removed|installed|updated|merged|gone|green|backed\s+up|sent|restarted)\b",
    )
    .ok()
});

/// How a sentence says that a thing is there.
static THERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:exists?|saved|stored|in\s+place|written|created|available|backed\s+up)\b").ok()
});

/// A listing of a file without a byte; the first group is its name.
static EMPTY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?m)(?:[-l][rwxsStT-]{9}\S?\s+\d+\s+\S+\s+\S+\s+0\s+\S+\s+\S+\s+\S+|^0)\s+([^\s\\"]+)"#)
        .ok()
});

fn holds(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Sentences that claim: those that the examination found, and others of an assistant with a cue.
pub(super) fn rows<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = row::claims(scope);
    let found: Vec<_> = rows.iter().filter_map(place).collect();
    for said in row::said(scope).into_iter().filter(|row| matches!(row.what, What::Said)) {
        let Some(piece) = said.own.first().filter(|_| said.speaker() == Some(Speaker::Assistant)) else {
            continue;
        };
        for range in sentences(piece.text) {
            let text = piece.text.get(range.clone()).unwrap_or_default();
            let own = Piece { focus: Some(range), ..piece.clone() };
            let row = Row { what: What::Claim, own: vec![own], ..said.clone() };
            if is_claim(text) && place(&row).is_none_or(|place| !found.contains(&place)) {
                rows.push(row);
            }
        }
    }
    rows.sort_by_key(|row| {
        (
            row.source,
            row.start,
            row.own.first().and_then(|piece| piece.focus.as_ref()).map(|focus| focus.start),
        )
    });
    rows.dedup_by_key(|row| place(row));
    rows
}

/// The sentence of a claim, by source, block and first byte.
fn place(row: &Row<'_>) -> Option<(usize, strongroom_core::transcript::BlockRef, usize)> {
    let piece = row.own.first()?;
    Some((row.source, piece.at, piece.focus.as_ref()?.start))
}

/// Whether a sentence says that something was done or holds.
pub(super) fn is_claim(text: &str) -> bool {
    holds(&CUES, text) && is_done(text)
}

/// Weighs the claim of `row` against the ledger.
pub(super) fn weigh<'s>(case: &Case<'_, 's>, row: &Row<'s>, ledger: &[Row<'s>]) -> Weight<'s> {
    let Some(piece) = row.own.first() else { return Weight::Unverified };
    let text = piece.focused();
    let before: Vec<&Row<'s>> =
        ledger.iter().filter(|own| case.positions.lie(own, row) == Lie::Before).collect();
    if let Some(probe) = emptied(&before, text) {
        return Weight::Contradicted(Box::new(probe.clone()));
    }
    let kinds = kinds(text);
    let meant = |effect: &Effect| kinds.iter().any(|kind| effect.kind.is_under(kind));
    let related = before
        .iter()
        .rev()
        .filter(|own| own.effect().is_some_and(|effect| meant(effect) && is_about(own, effect, text)));
    for own in related {
        match own.outcome() {
            Some(outcome) if outcome.is_positive() => return Weight::Supported(Box::new((*own).clone())),
            Some(Outcome::Failed) => return Weight::Contradicted(Box::new((*own).clone())),
            _ => {}
        }
    }
    Weight::Unverified
}

/// For each line of the table of reports: its verbs as whole words, and its kinds.
static VERBS: LazyLock<Vec<(Regex, &'static [String])>> = LazyLock::new(|| {
    let compiled = unions::reports().iter().filter_map(|report| {
        let verbs: Vec<String> = report.reported.iter().map(|verb| regex::escape(verb)).collect();
        let regex = Regex::new(&format!(r"(?i)\b(?:{})\b", verbs.join("|"))).ok()?;
        Some((regex, report.kind.as_slice()))
    });
    compiled.collect()
});

/// The kinds whose verbs stand in a sentence.
pub(super) fn kinds(text: &str) -> Vec<&'static str> {
    let said = VERBS.iter().filter(|(regex, _)| regex.is_match(text));
    said.flat_map(|(_, kinds)| kinds.iter().map(String::as_str)).collect()
}

/// Whether an effect is what a sentence speaks of: the sentence names its target, or names no path at all. A run
/// must be one of tests where tests are spoken of.
fn is_about(row: &Row<'_>, effect: &Effect, text: &str) -> bool {
    if possible::is_opaque(effect) {
        let tests = text.to_lowercase().contains("test");
        return tests && row.own.iter().any(|piece| piece.text.to_lowercase().contains("test"));
    }
    let base = base_name(effect.target.words());
    let names_path =
        text.split_whitespace().any(|word| word.trim_end_matches(['.', ',']).contains(['/', '.']));
    (base.len() > 1 && text.contains(base)) || !names_path
}

fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The last look at a thing that a sentence says is there, where it shows nothing.
fn emptied<'r, 's>(before: &[&'r Row<'s>], text: &str) -> Option<&'r Row<'s>> {
    if !holds(&THERE, text) {
        return None;
    }
    let backup = text.to_lowercase().contains("backup");
    let products: Vec<&str> = before
        .iter()
        .filter(|row| {
            row.effect()
                .is_some_and(|effect| matches!(effect.kind, EffectKind::FsWrite | EffectKind::FsAppend))
        })
        .filter_map(|row| row.effect().map(|effect| base_name(effect.target.words())).map(|base| (row, base)))
        .filter(|(row, base)| base.len() > 1 && (text.contains(base) || (backup && is_backup(row))))
        .map(|(_, base)| base)
        .collect();
    let looks = |row: &&&'r Row<'s>| row.effect().is_some_and(|effect| effect.kind == EffectKind::FsRead);
    let last = before.iter().rev().filter(looks).find(|row| {
        products.iter().any(|base| row.own.iter().chain(&row.half).any(|piece| piece.text.contains(base)))
    })?;
    let empty = |name: &str| {
        EMPTY.as_ref().is_some_and(|regex| {
            last.half.iter().any(|piece| {
                regex
                    .captures_iter(piece.text)
                    .any(|found| found.get(1).is_some_and(|own| base_name(own.as_str()) == name))
            })
        })
    };
    (facet::is_missing(last) || products.iter().any(|base| empty(base))).then_some(*last)
}

fn is_backup(row: &Row<'_>) -> bool {
    let Some(union) = unions::named("backups") else { return false };
    let patterns = union.any.iter().flat_map(|any| any.text.iter().chain(&any.target));
    let texts = || row.own.iter().map(|piece| piece.text);
    patterns.into_iter().any(|pattern| texts().any(|text| pattern.is_in(text)))
}
