//! Which items are said: an order in which every beginning is a good choice. It knows numbers only.

use super::item::Half;
use super::weights::{GO_ON, GO_ON_ADDED};

/// What the allocation knows of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    pub(super) half: Half,
    pub(super) density: u64,
    pub(super) cost: u64,
}

/// The places of `offers` in the order in which they are taken: the densest first, what serves going on earlier where
/// its share would fall short. A larger budget takes more of the same order and so contains a smaller one.
///
/// `whole` is the size of the originals in tokens.
pub(super) fn order(offers: &[Offer], whole: u64) -> Vec<usize> {
    let ranked = |half: Half| {
        let mut own: Vec<(usize, &Offer)> =
            (0..).zip(offers).filter(|(_, offer)| offer.half == half).collect();
        own.sort_by_key(|&(at, offer)| (std::cmp::Reverse(offer.density), at));
        own.into_iter().peekable()
    };
    let (mut go_on, mut answer) = (ranked(Half::GoOn), ranked(Half::Answer));
    let (mut spent, mut spent_go_on) = (0, 0);
    let mut order = Vec::with_capacity(offers.len());
    loop {
        let behind = spent_go_on * 1_000 < share(spent, whole) * spent;
        let first = match (go_on.peek(), answer.peek()) {
            (Some((_, one)), Some((_, two))) => behind || one.density >= two.density,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return order,
        };
        let Some((at, offer)) = (if first { go_on.next() } else { answer.next() }) else { return order };
        spent += offer.cost;
        spent_go_on += if first { offer.cost } else { 0 };
        order.push(at);
    }
}

/// The least share of what serves going on, in thousandths, of `spent` tokens for originals of `whole`.
fn share(spent: u64, whole: u64) -> u64 {
    GO_ON + (GO_ON_ADDED * spent * 10 / whole.max(1)).min(GO_ON_ADDED)
}

/// The longest beginning of an order of `len` items for which `fits` holds, by bisection around `guess`.
pub(super) fn longest(len: usize, guess: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    let (mut fit, mut over) = (0, len + 1);
    let near = len / 64 + 1;
    for probe in [guess, guess.saturating_sub(near), guess + near] {
        if probe > fit && probe < over {
            if fits(probe) { fit = probe } else { over = probe }
        }
    }
    while over - fit > 1 {
        let probe = fit.midpoint(over);
        if fits(probe) { fit = probe } else { over = probe }
    }
    fit
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_beginning_gives_its_share_to_going_on(
            offers in prop::collection::vec((any::<bool>(), 1..5_000u64, 1..300u64), 0..60),
        ) {
            let offers: Vec<Offer> = offers
                .iter()
                .map(|&(go_on, density, cost)| {
                    Offer { half: if go_on { Half::GoOn } else { Half::Answer }, density, cost }
                })
                .collect();
            let order = order(&offers, 10_000);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..offers.len()).collect::<Vec<_>>());
            let mut left: u64 = offers.iter().filter(|offer| offer.half == Half::GoOn).count() as u64;
            let (mut spent, mut go_on, mut largest) = (0, 0, 0);
            for at in order {
                let offer = offers[at];
                spent += offer.cost;
                largest = largest.max(offer.cost);
                if offer.half == Half::GoOn {
                    go_on += offer.cost;
                    left -= 1;
                }
                prop_assert!(left == 0 || (go_on + largest) * 1_000 >= GO_ON * spent);
            }
        }

        #[test]
        fn the_longest_beginning_is_found(len in 0..500usize, guess in 0..600usize, limit in 0..500usize) {
            prop_assert_eq!(longest(len, guess, |probe| probe <= limit), limit.min(len));
        }
    }
}
