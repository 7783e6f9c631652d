//! Atoms: verifiable items in a text.

mod lex;
mod number;
mod place;
mod scope;
mod token;
mod words;

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

/// An atom without its normal form: enough to count and to place it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What kind of item.
    pub kind: AtomKind,
    /// Where it stands in the decoded text, in bytes.
    pub range: Range<usize>,
    /// Whether a negation reaches it.
    pub polarity: Polarity,
    /// Whether it is said to be so, or only planned or supposed.
    pub modality: Modality,
}

impl Mark {
    fn new(kind: AtomKind, range: Range<usize>) -> Self {
        Self { kind, range, polarity: Polarity::Positive, modality: Modality::Asserted }
    }

    /// The atom with its normal form; `text` is the text it was found in.
    pub fn atom(self, text: &str) -> Atom {
        let norm = normal_form(self.kind, text.get(self.range.clone()).unwrap_or_default());
        Atom { kind: self.kind, range: self.range, norm, polarity: self.polarity, modality: self.modality }
    }
}

/// Marks the atoms of a text, in order of their first byte; ranges may lie inside one another.
///
/// Ranges stand on character boundaries. The time is linear in the text.
pub fn scan(text: &str) -> Vec<Mark> {
    let mut marks = lex::lex(text);
    scope::apply(text, &mut marks);
    marks
}

/// How each of `places` in a text is said: the polarity and the modality that reach it, as they would reach an atom
/// there. The places are in order of their starts.
pub fn stances(text: &str, places: &[Range<usize>]) -> Vec<(Polarity, Modality)> {
    let mut marks: Vec<Mark> = places.iter().map(|place| Mark::new(AtomKind::Code, place.clone())).collect();
    scope::apply(text, &mut marks);
    let own = marks.into_iter().filter(|mark| mark.kind == AtomKind::Code);
    own.map(|mark| (mark.polarity, mark.modality)).collect()
}

/// The atoms of a text: [`scan`] with normal forms.
pub fn extract(text: &str) -> Vec<Atom> {
    scan(text).into_iter().map(|mark| mark.atom(text)).collect()
}

/// The normal form of `text`, read as an atom of `kind`. Applying it twice changes nothing.
pub fn normal_form(kind: AtomKind, text: &str) -> String {
    match kind {
        AtomKind::Path => path_norm(text),
        AtomKind::LineRef => place::norm(text),
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

/// Paths without empty and dotted parts.
fn path_norm(text: &str) -> String {
    let path = text.trim_start_matches("file://");
    let bytes = path.as_bytes();
    let odd = |pair: &[u8]| matches!(pair, b"//" | b"/.");
    let normal = !path.starts_with(['.', '~'])
        && !path.ends_with('/')
        && !bytes.windows(2).any(odd)
        && memchr::memchr(b'\\', bytes).is_none();
    if normal { path.to_owned() } else { crate::place::normalise(path) }
}

/// The exact numbers of atoms by kind.
pub fn counts(kinds: impl IntoIterator<Item = AtomKind>) -> AtomCounts {
    let mut counts = AtomCounts::default();
    for kind in kinds {
        counts.add(kind, 1);
    }
    counts
}

#[cfg(test)]
mod tests;
