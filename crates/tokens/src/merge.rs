//! Byte pairs: a piece that is no token is the tokens left after merging neighbours, the lowest rank first and of equal
//! ranks the first, until no two neighbours are a token.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::table::rank;

/// Up to this many bytes all ranks are looked through for the lowest; beyond it they are kept in a heap, so that the
/// time does not grow with the square of a run.
const FEW: usize = 96;

/// The rank of two neighbours that are no token.
const NONE: u32 = u32::MAX;

/// Merges pieces; it keeps its memory between them.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    /// For each part where it begins, and the rank of it and the next part as one token.
    parts: Vec<(usize, u32)>,
    heap: BinaryHeap<Reverse<(u32, usize, usize)>>,
    links: Vec<Link>,
}

/// The neighbours of a part that begins at this byte of a piece.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: usize,
    /// Where the part ends; its own place where it was merged with the part before.
    end: usize,
}

impl Merger {
    /// The number of tokens of `piece`, some bytes of `text`.
    pub(crate) fn count(&mut self, text: &[u8], piece: &Range<usize>) -> u64 {
        let parts = if piece.len() <= FEW { self.few(text, piece) } else { self.many(text, piece) };
        parts as u64
    }

    fn few(&mut self, text: &[u8], piece: &Range<usize>) -> usize {
        let pair = |from: usize, to: Option<usize>| to.and_then(|to| rank(text, &(from..to))).unwrap_or(NONE);
        self.parts.clear();
        self.parts.extend(piece.clone().map(|at| {
            let end = at + 2;
            (at, pair(at, (end <= piece.end).then_some(end)))
        }));
        while let Some((at, _)) = lowest(&self.parts) {
            self.parts.remove(at + 1);
            // The end of the part behind the one at `at`, where there is one.
            let end = |parts: &[(usize, u32)], at: usize| {
                parts.get(at + 1).map(|_| parts.get(at + 2).map_or(piece.end, |&(start, _)| start))
            };
            for at in at.saturating_sub(1)..=at {
                let end = end(&self.parts, at);
                if let Some((start, rank)) = self.parts.get_mut(at) {
                    *rank = pair(*start, end);
                }
            }
        }
        self.parts.len()
    }

    fn many(&mut self, text: &[u8], piece: &Range<usize>) -> usize {
        let len = piece.len();
        self.heap.clear();
        self.links.clear();
        self.links.extend((0..len).map(|at| Link { before: at.wrapping_sub(1), end: at + 1 }));
        (0..len).for_each(|at| self.offer(text, piece, at));
        let mut count = len;
        while let Some(Reverse((_, start, end))) = self.heap.pop() {
            let Some(middle) = self.link(start).map(|link| link.end) else { continue };
            // What was merged since stands in the heap again.
            if middle == start || self.link(middle).is_none_or(|link| link.end != end) {
                continue;
            }
            count -= 1;
            self.set(middle, |link| link.end = middle);
            self.set(start, |link| link.end = end);
            self.set(end, |link| link.before = start);
            self.offer(text, piece, start);
            if let Some(before) = self.link(start).map(|link| link.before) {
                self.offer(text, piece, before);
            }
        }
        count
    }

    fn link(&self, at: usize) -> Option<Link> {
        self.links.get(at).copied()
    }

    fn set(&mut self, at: usize, change: impl FnOnce(&mut Link)) {
        if let Some(link) = self.links.get_mut(at) {
            change(link);
        }
    }

    /// Puts the part at `at` with the next one into the heap, where they are a token.
    fn offer(&mut self, text: &[u8], piece: &Range<usize>, at: usize) {
        let Some(next) = self.link(at).and_then(|link| self.link(link.end)) else { return };
        if let Some(rank) = rank(text, &(piece.start + at..piece.start + next.end)) {
            self.heap.push(Reverse((rank, at, next.end)));
        }
    }
}

/// The first pair of the lowest rank.
fn lowest(parts: &[(usize, u32)]) -> Option<(usize, u32)> {
    let ranks = parts.iter().map(|&(_, rank)| rank).enumerate();
    ranks.min_by_key(|&(_, rank)| rank).filter(|&(_, rank)| rank != NONE)
}
