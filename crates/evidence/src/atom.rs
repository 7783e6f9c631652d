//! Atoms: verifiable items in a text.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;

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
