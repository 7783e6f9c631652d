//! Which items are said: an order in which every beginning is a good choice. It knows numbers only.

use super::item::Half;
use crate::policy::GoingOn;

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
pub(super) fn order(offers: &[Offer], whole: u64, least: GoingOn) -> Vec<usize> {
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
        let behind = spent_go_on * 1_000 < share(spent, whole, least) * spent;
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
fn share(spent: u64, whole: u64, least: GoingOn) -> u64 {
    let added = least.tenth.saturating_sub(least.smallest) * 10;
    least.smallest * 10 + (added * spent * 10 / whole.max(1)).min(added)
}

/// How much of an allowance may stay unused, as a divisor.
const UNUSED: u64 = 200;

/// A beginning of an order whose `size` is at most `allowance` and nearly it, or the longest such. `sums` estimates the
/// sizes of all beginnings, from none to all items, up to a factor that changes slowly.
pub(super) fn longest(sums: &[u64], allowance: u64, mut size: impl FnMut(usize) -> u64) -> usize {
    let all = sums.len().saturating_sub(1);
    let at = |count: usize| sums.get(count).copied().unwrap_or(u64::MAX);
    let (mut fit, mut over) = ((0, 0), None);
    for round in 1_u32.. {
        let (count, own) = fit;
        let end = over.map_or(all + 1, |(end, _)| end);
        if count + 1 >= end || allowance - own <= allowance / UNUSED {
            return count;
        }
        let room = u128::from(allowance - own);
        let step = match over {
            Some((end, beyond)) => u128::from(at(end) - at(count)) * room / u128::from(beyond - own).max(1),
            None if own == 0 => room,
            None => u128::from(at(count)) * room / u128::from(own),
        };
        let wanted = at(count).saturating_add(u64::try_from(step).unwrap_or(u64::MAX));
        let near = sums.partition_point(|&sum| sum <= wanted).saturating_sub(1);
        // A line through two points may come nearer from one side only.
        let guess = if over.is_some() && round % 3 == 0 { count.midpoint(end) } else { near };
        let probe = guess.clamp(count + 1, end - 1);
        match size(probe) {
            exact if exact <= allowance => fit = (probe, exact.max(own)),
            exact => over = Some((probe, exact)),
        }
    }
    fit.0
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
            let order = order(&offers, 10_000, GoingOn::default());
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
                prop_assert!(left == 0 || (go_on + largest) * 100 >= GoingOn::default().smallest * spent);
            }
        }

        #[test]
        fn a_beginning_that_nearly_fills_the_allowance_is_found(
            costs in prop::collection::vec(0..90u64, 0..300),
            percent in 20..180u64,
            allowance in 0..9_000u64,
        ) {
            let mut sums = vec![0];
            sums.extend(costs.iter().scan(0, |sum, cost| { *sum += cost; Some(*sum) }));
            let size = |count: usize| sums[count] * percent / 100;
            let mut probes = 0;
            let found = longest(&sums, allowance, |count| { probes += 1; size(count) });
            let all = sums.len() - 1;
            prop_assert!(size(found) <= allowance);
            prop_assert!(found == all || size(found + 1) > allowance || size(found) + allowance / UNUSED >= allowance);
            prop_assert!(probes < 40, "{probes}");
        }
    }
}
