//! Negations, claims, and how far cues reach.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;

use super::{Mark, Modality, Polarity};
use crate::cues::{self, Cue, Found, Part};

/// Adds negations and claims, and sets polarity and modality of what cues reach; all in order of their first byte.
pub(super) fn apply(text: &str, atoms: &mut Vec<Mark>) {
    let cues = cues::all(text);
    for found in &cues {
        if found.cue.negates() {
            atoms.push(Mark::new(AtomKind::Negation, found.range.clone()));
        } else if found.cue == Cue::Claim {
            atoms.push(Mark::new(AtomKind::Claim, found.range.clone()));
        }
    }
    in_order(atoms);
    if atoms.is_empty() {
        return;
    }
    let sentences = if cues.is_empty() && memchr::memchr2(b'?', 0xEF, text.as_bytes()).is_none() {
        Vec::new()
    } else {
        cues::sentences(text)
    };
    questions(text, &sentences, atoms);
    let mut sentence_at = 0;
    let mut again = Vec::new();
    for (at, found) in cues.iter().enumerate() {
        let Some(sentence) = sentence_of(&sentences, &mut sentence_at, found.range.start) else { continue };
        let clause = Clause { text, cues: &cues, at, own: &found.range, sentence };
        match found.cue {
            // `0042: none`: what stands before the colon is denied.
            Cue::Negation if is_answer(text, found.range.start) => {
                reach(atoms, clause.left(), negate);
                reach(atoms, clause.right(), negate);
            }
            Cue::Negation | Cue::NegationAgain if holds(atoms, &clause.to_stop()) => {
                reach(atoms, clause.right(), negate);
            }
            Cue::NegationBoth => {
                if holds(atoms, &(sentence.start..found.range.start)) {
                    reach(atoms, clause.left(), negate);
                }
                if holds(atoms, &clause.to_stop()) {
                    reach(atoms, clause.right(), negate);
                }
            }
            Cue::NegationLeft => reach(atoms, clause.all_left(), negate),
            Cue::NegationConcord => again.push(clause.right()),
            Cue::Planned => reach(atoms, clause.to_stop(), |atom| raise(atom, Modality::Planned)),
            Cue::Hypothetical => reach(atoms, clause.to_stop(), |atom| raise(atom, Modality::Hypothetical)),
            Cue::Required => reach(atoms, clause.to_stop(), |atom| raise(atom, Modality::Required)),
            _ => {}
        }
    }
    for range in again {
        reach(atoms, range, |atom| {
            if atom.polarity == Polarity::Positive {
                atom.polarity = Polarity::Negative;
            }
        });
    }
}

/// What is asked is not said to be so.
fn questions(text: &str, sentences: &[Range<usize>], atoms: &mut [Mark]) {
    for sentence in sentences {
        if text.get(sentence.clone()).is_some_and(|own| own.ends_with(['?', '？'])) {
            reach(atoms, sentence.clone(), |atom| raise(atom, Modality::Hypothetical));
        }
    }
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
        if atom.range.end <= end && atom.kind != AtomKind::Negation {
            change(atom);
        }
    }
}

/// Whether an atom begins in `range`.
fn holds(atoms: &[Mark], range: &Range<usize>) -> bool {
    let from = atoms.partition_point(|atom| atom.range.start < range.start);
    atoms.get(from).is_some_and(|atom| atom.range.start < range.end)
}

fn sentence_of<'s>(sentences: &'s [Range<usize>], at: &mut usize, place: usize) -> Option<&'s Range<usize>> {
    while sentences.get(*at).is_some_and(|sentence| sentence.end <= place) {
        *at += 1;
    }
    sentences.get(*at).filter(|sentence| sentence.start <= place)
}

/// The sentence around a cue, and where the reach of the cue ends in it.
struct Clause<'a> {
    text: &'a str,
    cues: &'a [Found],
    /// The place of the cue among `cues`.
    at: usize,
    own: &'a Range<usize>,
    sentence: &'a Range<usize>,
}

impl<'a> Clause<'a> {
    fn behind(&self) -> impl Iterator<Item = &'a Found> {
        let end = self.sentence.end.min(self.own.end + REACH_MAX);
        let rest = self.cues.get(self.at + 1..).unwrap_or_default();
        rest.iter().take_while(move |cue| cue.range.start < end)
    }

    fn before(&self) -> impl Iterator<Item = &'a Found> {
        let start = self.sentence.start.max(self.own.start.saturating_sub(REACH_MAX));
        let rest = self.cues.get(..self.at).unwrap_or_default();
        rest.iter().rev().take_while(move |cue| cue.range.start >= start)
    }

    /// From the cue to what ends the reach of every cue.
    fn to_stop(&self) -> Range<usize> {
        let stop = self.behind().find(|cue| matches!(cue.cue, Cue::Terminator | Cue::NegationAgain));
        self.own.end..stop.map_or(self.sentence.end, |cue| cue.range.start)
    }

    /// From the cue to the end of its clause: another subject, verb or negation begins another.
    fn right(&self) -> Range<usize> {
        let mut whole = self.to_stop();
        let end = self.text.floor_char_boundary(whole.end.min(whole.start + REACH_MAX));
        // A wide comma parts clauses; lists have a mark of their own.
        if let Some(pause) = self.text.get(whole.start..end).and_then(|own| own.find(['，', '；'])) {
            whole.end = whole.start + pause;
        }
        let end = end.min(whole.end);
        let (mut joined, mut fresh) = (None, None);
        for (place, word) in words(self.text, whole.start..end) {
            if opens_clause(self.text, place) {
                fresh = Some(place);
            }
            let part = cues::part(word);
            if part == Part::Coordinator {
                (joined, fresh) = (Some(place), Some(place));
                continue;
            }
            let begins = fresh.take().filter(|begin| {
                part == Part::Subject
                    || joined == Some(*begin) && self.says(place..place + 1, |cue| cue == Cue::Claim)
            });
            let negated = joined.filter(|_| self.says(place..place + word.len(), Cue::negates_clause));
            if let Some(edge) = begins.or(negated) {
                return whole.start..edge;
            }
        }
        whole
    }

    /// Whether a cue of a kind begins in `range`, behind the own one.
    fn says(&self, range: Range<usize>, kind: impl Fn(Cue) -> bool) -> bool {
        self.behind().any(|cue| range.contains(&cue.range.start) && kind(cue.cue))
    }

    /// From the beginning of the clause to the cue: its subject, or an object that stands before the verb.
    fn left(&self) -> Range<usize> {
        let (mut from, to) =
            (self.sentence.start.max(self.own.start.saturating_sub(REACH_MAX)), self.own.start);
        let stop = self.before().find(|cue| {
            cue.cue.negates() || matches!(cue.cue, Cue::Terminator | Cue::LeftStop | Cue::Hypothetical)
        });
        from = stop.map_or(from, |cue| cue.range.end.max(from)).min(to);
        let from = self.text.ceil_char_boundary(from);
        let body = self.text.get(from..to).unwrap_or_default().trim_end();
        let body = body.strip_suffix([':', '：']).unwrap_or(body);
        let from = from + last_pause(body);
        let mut edge = from;
        let mut subject = false;
        for (place, word) in words(self.text, from..to) {
            match cues::part(word) {
                Part::Coordinator if subject || self.only_helpers(place + word.len()) => {
                    (edge, subject) = (place, false);
                }
                Part::Subject => subject = true,
                Part::Coordinator | Part::Helper | Part::Other => {}
            }
        }
        edge..to
    }

    /// Whether nothing but auxiliaries and pronouns stands between `place` and the cue.
    fn only_helpers(&self, place: usize) -> bool {
        words(self.text, place..self.own.start)
            .all(|(_, word)| matches!(cues::part(word), Part::Helper | Part::Subject))
    }

    /// In languages that negate behind the verb everything before it, to what ends a clause.
    fn all_left(&self) -> Range<usize> {
        let stop = self.before().find(|cue| cue.cue == Cue::Terminator);
        stop.map_or(self.sentence.start, |cue| cue.range.end)..self.own.start
    }
}

/// Whether a colon and a blank stand before `place`.
fn is_answer(text: &str, place: usize) -> bool {
    text.get(..place).is_some_and(|before| before.ends_with(": "))
}

/// Whether a comma or dash stands before the word at `place`.
fn opens_clause(text: &str, place: usize) -> bool {
    text.get(..place).is_some_and(|before| before.trim_end_matches(' ').ends_with([',', '—', '–', ';']))
}

/// Behind the last comma, bracket, dash or colon that parts clauses; 0 where there is none.
fn last_pause(text: &str) -> usize {
    let parts = |(at, char): &(usize, char)| {
        let blank = || text.as_bytes().get(at + 1).is_none_or(u8::is_ascii_whitespace);
        match char {
            ',' | ':' => blank(),
            ';' | '(' | ')' | '—' | '–' | '，' | '；' | '：' => true,
            _ => false,
        }
    };
    text.char_indices().rev().find(parts).map_or(0, |(at, char)| at + char.len_utf8())
}

/// The words in a range, with their places; what atoms are made of hangs together.
fn words(text: &str, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let start = range.start;
    let own = text.get(range).unwrap_or_default();
    let mut at = 0;
    own.split_inclusive(|char: char| char.is_whitespace()).filter_map(move |part| {
        let place = at;
        at += part.len();
        let edge = |char: char| !char.is_alphanumeric();
        let opened = part.trim_start_matches(edge);
        let word = opened.trim_end_matches(edge);
        (!word.is_empty()).then_some((start + place + part.len() - opened.len(), word))
    })
}
