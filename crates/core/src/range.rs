//! Byte ranges of a source.

use std::fmt;

/// A half-open range of bytes, `start..end`.
///
/// Invariant: `start <= end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    start: u64,
    end: u64,
}

impl ByteRange {
    /// Makes `start..end`; an `end` before `start` gives the empty range at `start`.
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// The offset of the first byte.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// The offset behind the last byte.
    pub const fn end(self) -> u64 {
        self.end
    }

    /// The number of bytes.
    pub const fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether no byte is in the range.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `other` lies wholly inside.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two share a byte.
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The range moved up by `offset` bytes.
    #[must_use]
    pub const fn shifted(self, offset: u64) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    /// The bytes of `source` in this range, where it lies inside `source`.
    pub fn of(self, source: &[u8]) -> Option<&[u8]> {
        let start = usize::try_from(self.start).ok()?;
        let end = usize::try_from(self.end).ok()?;
        source.get(start..end)
    }
}

impl fmt::Debug for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Disjoint byte ranges in ascending order; neighbours that touch are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RangeSet(Vec<ByteRange>);

impl RangeSet {
    /// The ranges, ascending and disjoint.
    pub fn as_slice(&self) -> &[ByteRange] {
        &self.0
    }

    /// The number of bytes in all ranges.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| range.len()).sum()
    }

    /// Whether no byte is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first byte's offset, 0 of the empty set.
    pub fn start(&self) -> u64 {
        self.0.first().map_or(0, |range| range.start)
    }

    /// Whether a byte of `range` is in the set.
    pub fn overlaps(&self, range: ByteRange) -> bool {
        let at = self.0.partition_point(|own| own.end <= range.start);
        self.0.get(at).is_some_and(|own| own.overlaps(range))
    }

    /// The bytes of `outer` that are not in this set.
    #[must_use]
    pub fn gaps_in(&self, outer: ByteRange) -> Self {
        let mut gaps = Vec::new();
        let mut at = outer.start;
        for range in &self.0 {
            if range.end <= outer.start || range.start >= outer.end {
                continue;
            }
            gaps.push(ByteRange::new(at, range.start.max(at)));
            at = at.max(range.end);
        }
        gaps.push(ByteRange::new(at.min(outer.end), outer.end));
        gaps.into_iter().collect()
    }
}

impl FromIterator<ByteRange> for RangeSet {
    fn from_iter<I: IntoIterator<Item = ByteRange>>(ranges: I) -> Self {
        let mut ranges: Vec<ByteRange> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable();
        let mut joined: Vec<ByteRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        Self(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pairs: &[(u64, u64)]) -> RangeSet {
        pairs.iter().map(|&(start, end)| ByteRange::new(start, end)).collect()
    }

    #[test]
    fn touching_ranges_are_joined_and_gaps_are_what_is_left() {
        let own = set(&[(5, 7), (0, 3), (3, 4), (9, 9)]);
        assert_eq!(own.as_slice(), [ByteRange::new(0, 4), ByteRange::new(5, 7)]);
        assert_eq!(own.gaps_in(ByteRange::new(2, 10)), set(&[(4, 5), (7, 10)]));
        assert_eq!(own.gaps_in(ByteRange::new(0, 4)), set(&[]));
        assert!(own.overlaps(ByteRange::new(6, 20)));
        assert!(!own.overlaps(ByteRange::new(4, 5)));
    }
}
