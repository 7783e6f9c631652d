//! Numbers by a seed: the same seed gives the same numbers on every machine.

/// Deterministic dice.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice of a seed, whose numbers have nothing in common with those of its neighbours.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Dice that begin in a state.
    pub const fn starting_at(state: u64) -> Self {
        Self(state)
    }

    /// A number below `bound`; 0 where that is 0.
    pub fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    /// A place below `bound`; 0 where that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll(u64::try_from(bound).unwrap_or(u64::MAX))).unwrap_or(0)
    }
}
