//! Told sentences: which of their parts are literals, and how they stand in a summary.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;
use strongroom_core::summary::{Line, Literal, Part};
use strongroom_evidence::atom;

/// A literal in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// What kind of item it is.
    pub(crate) kind: AtomKind,
    /// Its bytes, without quotation marks and counted nouns.
    pub(crate) range: Range<usize>,
    /// The normal form of the whole item.
    pub(crate) norm: String,
}

/// Marks around quotations and code.
const MARKS: [char; 7] = ['`', '"', '\'', '“', '”', '‘', '’'];

/// The literals of a sentence that somebody else wrote. Numbers in words are none: nobody can look them up.
pub(crate) fn literals(sentence: &str) -> Vec<Told> {
    let told = |atom: atom::Atom| {
        let own = sentence.get(atom.range.clone())?;
        let inner = match atom.kind {
            AtomKind::Quote | AtomKind::Code => own.trim_matches(MARKS),
            AtomKind::Number | AtomKind::Quantity => own.split_whitespace().next()?,
            AtomKind::Error if own.contains(char::is_whitespace) => return None,
            AtomKind::Negation | AtomKind::Constraint | AtomKind::Claim | AtomKind::Secret => return None,
            _ => own,
        };
        let start = atom.range.start + own.find(inner)?;
        let spelled = matches!(atom.kind, AtomKind::Number | AtomKind::Quantity | AtomKind::Time)
            && !inner.bytes().any(|byte| byte.is_ascii_digit());
        let range = start..start + inner.len();
        (!inner.is_empty() && !spelled).then_some(Told { kind: atom.kind, range, norm: atom.norm })
    };
    atom::extract(sentence).into_iter().filter_map(told).collect()
}

/// The heading above told sentences.
const HEADING: &str = "## Told by a model (each literal stands in the spans behind it; not evidence, and not all that happened)";

/// The lines of a summary that hold told sentences, each with its proofs and the spans it rests on. They stand for no
/// span: what becomes of a span must not hang on somebody else's words.
pub(crate) fn lines(sentences: Vec<(String, Vec<Literal>, Vec<u32>)>) -> Vec<Line> {
    let heading = Line { parts: vec![Part::Words(HEADING)], covers: Vec::new() };
    let line = |(text, proofs, spans): (String, Vec<Literal>, Vec<u32>)| {
        let mut parts = vec![Part::Words("- "), Part::Told { text, proofs }];
        for (at, span) in spans.into_iter().enumerate() {
            parts.extend([Part::Words(if at == 0 { " [" } else { " " }), Part::Span(span)]);
        }
        parts.push(Part::Words("]"));
        Line { parts, covers: Vec::new() }
    };
    let told: Vec<Line> = sentences.into_iter().map(line).collect();
    if told.is_empty() { told } else { std::iter::once(heading).chain(told).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_what_can_be_looked_up() {
        let found = |text: &str| -> Vec<String> {
            literals(text).into_iter().map(|told| text.get(told.range).unwrap().to_owned()).collect()
        };
        assert_eq!(
            found("It wrote `port: 8434` to /etc/app/conf.yaml."),
            ["port: 8434", "8434", "/etc/app/conf.yaml"]
        );
        assert_eq!(
            found("All 42 tests took 412.7 ms at 3f9a2c1d, three failed."),
            ["42", "412.7", "3f9a2c1d"]
        );
        assert_eq!(found("The user said \"never push to main\"."), ["never push to main"]);
        assert_eq!(found("Nothing of this can be looked up."), Vec::<String>::new());
    }
}
