//! Negations, claims, and how far cues reach.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;

use super::{Atom, Modality, Polarity, normal_form};
use crate::cues::{self, Cue, Found};

/// Adds negations and claims, and sets polarity and modality of what they reach.
pub(super) fn apply(text: &str, atoms: &mut Vec<Atom>) {
    atoms.sort_by_key(|atom| atom.range.start);
    let polarity = cues::polarity(text);
    let tone = cues::tone(text);
    if polarity.is_empty() && tone.is_empty() {
        return;
    }
    let sentences = cues::sentences(text);
    let mut sentence_at = 0;
    let mut stops = Stops { found: &polarity, at: 0 };
    for cue in &polarity {
        let Some(sentence) = sentence_of(&sentences, &mut sentence_at, cue.range.start) else { continue };
        match cue.cue {
            Cue::Negation => reach(atoms, cue.range.end..stops.next(cue.range.end, sentence.end), negate),
            Cue::NegationLeft => reach(atoms, sentence.start..cue.range.start, negate),
            _ => {}
        }
    }
    sentence_at = 0;
    stops.at = 0;
    for cue in &tone {
        let Some(sentence) = sentence_of(&sentences, &mut sentence_at, cue.range.start) else { continue };
        let modality = match cue.cue {
            Cue::Planned => Modality::Planned,
            Cue::Hypothetical => Modality::Hypothetical,
            Cue::Required => Modality::Required,
            _ => continue,
        };
        reach(atoms, cue.range.end..stops.next(cue.range.end, sentence.end), |atom| raise(atom, modality));
    }
    add(text, atoms, &polarity, |cue| matches!(cue, Cue::Negation | Cue::NegationLeft), AtomKind::Negation);
    add(text, atoms, &tone, |cue| cue == Cue::Claim, AtomKind::Claim);
}

fn add(text: &str, atoms: &mut Vec<Atom>, found: &[Found], wanted: impl Fn(Cue) -> bool, kind: AtomKind) {
    for cue in found.iter().filter(|cue| wanted(cue.cue)) {
        if let Some(own) = text.get(cue.range.clone()) {
            atoms.push(Atom::new(kind, cue.range.clone(), normal_form(kind, own)));
        }
    }
}

fn negate(atom: &mut Atom) {
    atom.polarity = match atom.polarity {
        Polarity::Positive => Polarity::Negative,
        Polarity::Negative | Polarity::Double => Polarity::Double,
    };
}

/// The weaker statement wins: supposed before demanded before planned.
fn raise(atom: &mut Atom, modality: Modality) {
    let rank = |modality: Modality| match modality {
        Modality::Asserted => 0,
        Modality::Planned => 1,
        Modality::Required => 2,
        Modality::Hypothetical => 3,
    };
    if rank(modality) > rank(atom.modality) {
        atom.modality = modality;
    }
}

/// The longest reach of a cue, in bytes: what is no sentence in logs does not make every cue search far.
const REACH_MAX: usize = 600;

/// Changes the atoms that lie in `range`; they are in order of their starts.
fn reach(atoms: &mut [Atom], range: Range<usize>, change: impl Fn(&mut Atom)) {
    let end = range.end.min(range.start + REACH_MAX);
    let from = atoms.partition_point(|atom| atom.range.start < range.start);
    for atom in atoms.iter_mut().skip(from).take_while(|atom| atom.range.start < end) {
        if atom.range.end <= end {
            change(atom);
        }
    }
}

fn sentence_of<'s>(sentences: &'s [Range<usize>], at: &mut usize, place: usize) -> Option<&'s Range<usize>> {
    while sentences.get(*at).is_some_and(|sentence| sentence.end <= place) {
        *at += 1;
    }
    sentences.get(*at).filter(|sentence| sentence.start <= place)
}

/// Where the reach of cues ends inside a sentence.
struct Stops<'a> {
    found: &'a [Found],
    at: usize,
}

impl Stops<'_> {
    fn next(&mut self, from: usize, end: usize) -> usize {
        while self.found.get(self.at).is_some_and(|cue| cue.range.start < from) {
            self.at += 1;
        }
        let rest = self.found.get(self.at..).unwrap_or_default();
        let stop = rest.iter().take_while(|cue| cue.range.start < end).find(|cue| cue.cue == Cue::Terminator);
        stop.map_or(end, |cue| cue.range.start)
    }
}
