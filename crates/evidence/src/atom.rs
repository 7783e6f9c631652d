//! Atoms: verifiable items in a text.

mod lex;
mod number;
mod scope;
mod token;

use std::ops::Range;

use strongroom_core::evidence::{AtomCounts, AtomKind};

/// One verifiable item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    /// What kind of item.
    pub kind: AtomKind,
    /// Where it stands in the decoded text, in bytes.
    pub range: Range<usize>,
    /// The normal form: two atoms of a kind are equal when these are.
    pub norm: String,
    /// Whether a negation reaches it.
    pub polarity: Polarity,
    /// Whether it is said to be so, or only planned or supposed.
    pub modality: Modality,
}

/// Whether a negation reaches an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Polarity {
    /// No negation reaches it.
    Positive,
    /// A negation reaches it.
    Negative,
    /// Two negations reach it; kept as written, never simplified.
    Double,
}

/// How firmly something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modality {
    /// Stated.
    Asserted,
    /// Going to be done.
    Planned,
    /// Supposed, asked or conditional.
    Hypothetical,
    /// Demanded or forbidden.
    Required,
}

impl Atom {
    fn new(kind: AtomKind, range: Range<usize>, norm: String) -> Self {
        Self { kind, range, norm, polarity: Polarity::Positive, modality: Modality::Asserted }
    }
}

/// The atoms of a text, in order of their first byte; ranges may lie inside one another.
///
/// Ranges stand on character boundaries. The time is linear in the text.
pub fn extract(text: &str) -> Vec<Atom> {
    let mut atoms = lex::lex(text);
    scope::apply(text, &mut atoms);
    atoms.sort_by_key(|atom| (atom.range.start, std::cmp::Reverse(atom.range.end)));
    atoms
}

/// The normal form of `text`, read as an atom of `kind`. Applying it twice changes nothing.
pub fn normal_form(kind: AtomKind, text: &str) -> String {
    match kind {
        AtomKind::Path => crate::place::normalise(text.trim_start_matches("file://")),
        AtomKind::Url => token::url_norm(text),
        AtomKind::Id => token::id_norm(text),
        AtomKind::Number => number::number_norm(text),
        AtomKind::Quantity => number::quantity_norm(text),
        AtomKind::Time => number::time_norm(text),
        AtomKind::Quote | AtomKind::Code | AtomKind::Error => token::squeezed(text),
        AtomKind::Negation | AtomKind::Constraint | AtomKind::Claim => token::squeezed(text).to_lowercase(),
        AtomKind::Flag | AtomKind::Env | AtomKind::Secret => text.to_owned(),
    }
}

/// The exact numbers of atoms by kind.
pub fn counts<'a>(atoms: impl IntoIterator<Item = &'a Atom>) -> AtomCounts {
    let mut counts = AtomCounts::default();
    for atom in atoms {
        counts.add(atom.kind, 1);
    }
    counts
}

#[cfg(test)]
mod tests;
