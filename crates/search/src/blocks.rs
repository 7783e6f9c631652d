//! Sets of blocks, a bit for each.

/// A set of blocks of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    bits: Vec<u8>,
}

impl Blocks {
    /// None of the first `count` blocks.
    pub fn none(count: u32) -> Self {
        Self { bits: vec![0; row_bytes(count)] }
    }

    /// The first `count` blocks.
    pub fn all(count: u32) -> Self {
        let mut bits = vec![0xff; row_bytes(count)];
        if let (Some(last), rest @ 1..) = (bits.last_mut(), count % 8) {
            *last = (1 << rest) - 1;
        }
        Self { bits }
    }

    /// Puts a block in; one that the segment does not have is passed over.
    pub fn insert(&mut self, block: u32) {
        if let Some(byte) = self.bits.get_mut(wide(block / 8)) {
            *byte |= 1 << (block % 8);
        }
    }

    /// Keeps those that are in `row` as well; what `row` does not reach goes.
    pub fn retain(&mut self, row: &[u8]) {
        let row = row.iter().chain(std::iter::repeat(&0));
        self.bits.iter_mut().zip(row).for_each(|(own, other)| *own &= other);
    }

    /// Adds those that are in `row`.
    pub(crate) fn extend(&mut self, row: &[u8]) {
        self.bits.iter_mut().zip(row).for_each(|(own, other)| *own |= other);
    }

    /// Whether all of `other` are here.
    pub(crate) fn contains_all(&self, other: &Self) -> bool {
        self.bits.iter().zip(&other.bits).all(|(own, other)| own & other == *other)
    }

    /// Whether a block is here.
    pub fn contains(&self, block: u32) -> bool {
        self.bits.get(wide(block / 8)).is_some_and(|byte| byte & (1 << (block % 8)) != 0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|byte| *byte == 0)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.bits.iter().map(|byte| byte.count_ones()).sum()
    }

    /// The blocks, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let of_byte = |(byte, first): (u8, u32)| {
            (0..8).filter_map(move |bit| (byte & (1 << bit) != 0).then_some(first + bit))
        };
        let firsts = (0u32..).step_by(8);
        self.bits.iter().copied().zip(firsts).filter(|(byte, _)| *byte != 0).flat_map(of_byte)
    }

    /// The bits, block 0 first, the lowest bit of a byte first.
    pub fn row(&self) -> &[u8] {
        &self.bits
    }
}

/// How many bytes hold a bit for each of `count` blocks.
pub(crate) fn row_bytes(count: u32) -> usize {
    wide(count.div_ceil(8))
}

/// A number of 32 bits as an offset.
pub(crate) fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
