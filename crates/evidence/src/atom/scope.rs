//! Negations, claims, and how far cues reach.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;

use super::{Mark, Modality, Polarity};
use crate::cues::{self, Cue, Found};

/// Adds negations and claims, and sets polarity and modality of what they reach; all in order of their first byte.
pub(super) fn apply(text: &str, atoms: &mut Vec<Mark>) {
    in_order(atoms);
    let cues = cues::all(text);
    if cues.is_empty() {
        return;
    }
    let sentences = cues::sentences(text);
    let mut sentence_at = 0;
    let mut stops = Stops { found: &cues, at: 0 };
    for cue in &cues {
        let Some(sentence) = sentence_of(&sentences, &mut sentence_at, cue.range.start) else { continue };
        let mut right = || cue.range.end..stops.next(cue.range.end, sentence.end);
        match cue.cue {
            Cue::Negation => reach(atoms, right(), negate),
            Cue::NegationLeft => reach(atoms, sentence.start..cue.range.start, negate),
            Cue::Planned => reach(atoms, right(), |atom| raise(atom, Modality::Planned)),
            Cue::Hypothetical => reach(atoms, right(), |atom| raise(atom, Modality::Hypothetical)),
            Cue::Required => reach(atoms, right(), |atom| raise(atom, Modality::Required)),
            Cue::Pseudo | Cue::Terminator | Cue::Claim | Cue::Decision => {}
        }
    }
    for cue in cues {
        match cue.cue {
            Cue::Negation | Cue::NegationLeft => atoms.push(Mark::new(AtomKind::Negation, cue.range)),
            Cue::Claim => atoms.push(Mark::new(AtomKind::Claim, cue.range)),
            _ => {}
        }
    }
    in_order(atoms);
}

fn in_order(atoms: &mut [Mark]) {
    let key = |atom: &Mark| (atom.range.start, std::cmp::Reverse(atom.range.end));
    if !atoms.is_sorted_by_key(key) {
        atoms.sort_by_key(key);
    }
}

fn negate(atom: &mut Mark) {
    atom.polarity = match atom.polarity {
        Polarity::Positive => Polarity::Negative,
        Polarity::Negative | Polarity::Double => Polarity::Double,
    };
}

/// The weaker statement wins: supposed before demanded before planned.
fn raise(atom: &mut Mark, modality: Modality) {
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
fn reach(atoms: &mut [Mark], range: Range<usize>, change: impl Fn(&mut Mark)) {
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
