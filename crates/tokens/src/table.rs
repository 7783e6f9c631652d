//! The vocabulary: from the bytes of a token to its rank.

mod layout;

use std::ops::Range;

use layout::{SLOT, SLOTS, home, key};

/// Bytes at an address that keeps each slot within a line of the processor's cache.
#[repr(C, align(64))]
struct Aligned<B>(B);

static TABLE: Aligned<[u8; SLOTS * SLOT]> = Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/slots")));

/// The bytes of the tokens that are longer than a key.
static LONG: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/long"));

/// The rank of the token that the `range` of `text` is; the lower is merged first.
pub(crate) fn rank(text: &[u8], range: &Range<usize>) -> Option<u32> {
    let key = key(text, range);
    let mut at = home(key, range.len());
    let (slots, _) = TABLE.0.as_chunks::<SLOT>();
    loop {
        let slot = Slot::of(slots.get(at % SLOTS)?);
        if slot.len() == 0 {
            return None;
        }
        if slot.key == key && slot.len() == range.len() && slot.holds(text, range) {
            return Some(slot.rank());
        }
        at += 1;
    }
}

struct Slot {
    key: u64,
    rank_and_len: u32,
    place: u32,
}

impl Slot {
    fn of(bytes: &[u8; SLOT]) -> Self {
        let [k0, k1, k2, k3, k4, k5, k6, k7, r0, r1, r2, r3, p0, p1, p2, p3] = *bytes;
        Self {
            key: u64::from_le_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
            rank_and_len: u32::from_le_bytes([r0, r1, r2, r3]),
            place: u32::from_le_bytes([p0, p1, p2, p3]),
        }
    }

    /// Nothing where no token stands.
    fn len(&self) -> usize {
        (self.rank_and_len & 0xFF) as usize
    }

    fn rank(&self) -> u32 {
        self.rank_and_len >> 8
    }

    fn holds(&self, text: &[u8], range: &Range<usize>) -> bool {
        let place = self.place as usize;
        self.len() <= layout::SHORT || LONG.get(place..place + self.len()) == text.get(range.clone())
    }
}
