//! Cutting a source into pieces at places that its content decides.
//!
//! A piece ends after a line when the line's hash says so, so that sources which share lines share pieces.
//! Where a piece ends depends only on the bytes before that end: an append changes the last piece alone.

use strongroom_core::parallel;
use strongroom_core::vault::{PIECE_BYTES_MAX, Piece};

/// The number of bytes after which a piece ends on average.
const TARGET_BYTES: u64 = 128 << 10;

/// A piece shorter than this does not end for a line's hash.
const LINE_CUT_BYTES_MIN: usize = 16 << 10;

#[expect(
    clippy::cast_possible_truncation,
    reason = "1 MiB is a usize on every machine with an address space for it"
)]
const BYTES_MAX: usize = PIECE_BYTES_MAX as usize;

/// Cuts a stream of bytes into the bytes of pieces, at most [`PIECE_BYTES_MAX`] each, holding one of them in memory;
/// [`pieces`] makes pieces of them.
///
/// How the bytes are divided over calls of [`Cutter::push`] makes no difference.
#[derive(Debug, Default)]
pub struct Cutter {
    /// The bytes of the piece that is not yet ended.
    open: Vec<u8>,
    /// Where the last line begins in `open`; everything before it is whole lines.
    line: usize,
    /// The number of bytes of the last line that are in pieces already.
    line_before: u64,
}

impl Cutter {
    /// A cutter at the start of a source.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next bytes and returns those of the pieces that end in them.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let room = BYTES_MAX.saturating_sub(self.open.len());
            let line_end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
            let (taken, rest) = bytes.split_at(line_end.min(room));
            self.open.extend_from_slice(taken);
            bytes = rest;
            if taken.last() == Some(&b'\n') {
                pieces.extend(self.end_line());
            } else if self.open.len() >= BYTES_MAX {
                pieces.push(self.end_full());
            }
        }
        pieces
    }

    /// Ends the source: the bytes of the last piece, unless nothing is left.
    pub fn finish(self) -> Option<Vec<u8>> {
        (!self.open.is_empty()).then_some(self.open)
    }

    /// A line has ended: ends the piece too where the line's hash says so.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = self.open.get(self.line..).unwrap_or_default();
        let len = self.line_before.saturating_add(line.len().try_into().unwrap_or(u64::MAX));
        let ends =
            self.open.len() >= LINE_CUT_BYTES_MIN && (len >= TARGET_BYTES || hash(line) % TARGET_BYTES < len);
        self.line_before = 0;
        self.line = self.open.len();
        ends.then(|| {
            self.line = 0;
            std::mem::take(&mut self.open)
        })
    }

    /// No more bytes fit: ends the piece before its last line, or inside it when it is all there is.
    fn end_full(&mut self) -> Vec<u8> {
        let at = if self.line == 0 { self.open.len() } else { self.line };
        let rest = self.open.split_off(at);
        if rest.is_empty() {
            self.line_before = self.line_before.saturating_add(PIECE_BYTES_MAX);
        }
        self.line = 0;
        std::mem::replace(&mut self.open, rest)
    }
}

/// The pieces that were cut, each under the hash of its bytes, which is found on all processors.
pub fn pieces(cut: Vec<Vec<u8>>) -> Vec<Piece> {
    parallel::map(cut, Piece::new)
}

/// Cuts a whole source.
pub fn cut(bytes: &[u8]) -> Vec<Piece> {
    let mut cutter = Cutter::new();
    let mut cut = cutter.push(bytes);
    cut.extend(cutter.finish());
    pieces(cut)
}

/// Mixes a line into 64 bits, eight bytes a step; it decides where pieces end and proves nothing.
fn hash(line: &[u8]) -> u64 {
    let (words, tail) = line.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    let state = words.iter().chain([&last]).fold(line.len() as u64, |state, word| {
        let mixed = (state ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    });
    state.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 24
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(pieces: &[Piece]) -> Vec<u8> {
        pieces.iter().flat_map(Piece::bytes).copied().collect()
    }

    /// Lines of lengths that reach every rule: short, longer than the target, longer than a piece.
    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let len = prop_oneof![8 => 0..400usize, 4 => 400..40_000usize, 1 => 100_000..200_000usize, 1 => 1_000_000..2_300_000usize];
        let line = (len, any::<u8>(), any::<u32>()).prop_map(|(len, fill, seed)| {
            let mut line = vec![if fill == b'\n' { b'x' } else { fill }; len];
            line.extend(seed.to_string().bytes());
            line.push(b'\n');
            line
        });
        (proptest::collection::vec(line, 0..20), proptest::collection::vec(any::<u8>(), 0..50))
            .prop_map(|(lines, tail)| lines.into_iter().flatten().chain(tail).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn pieces_joined_are_the_source(source in lines(), step in 1..300_000usize) {
            let whole = cut(&source);
            prop_assert_eq!(&joined(&whole), &source);
            prop_assert!(whole.iter().all(|piece| !piece.bytes().is_empty() && piece.bytes().len() <= BYTES_MAX));
            let mut cutter = Cutter::new();
            let mut stepped: Vec<Vec<u8>> = source.chunks(step).flat_map(|chunk| cutter.push(chunk)).collect();
            stepped.extend(cutter.finish());
            prop_assert_eq!(pieces(stepped), whole);
        }

        #[test]
        fn an_append_changes_the_last_piece_alone(source in lines(), more in lines()) {
            let before = cut(&source);
            let after = cut(&[source, more].concat());
            let stable = before.len().saturating_sub(1);
            prop_assert_eq!(&before[..stable], &after[..stable]);
        }
    }

    fn transcript(lines: usize) -> Vec<u8> {
        (0..lines)
            .flat_map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "word ".repeat(n % 97)).into_bytes())
            .collect()
    }

    #[test]
    fn pieces_end_with_lines_and_average_near_the_target() {
        let source = transcript(40_000);
        let pieces = cut(&source);
        assert!(pieces.iter().all(|piece| piece.bytes().ends_with(b"\n")));
        let average = source.len() / pieces.len();
        assert!((64 << 10..256 << 10).contains(&average), "{average} bytes");
    }

    #[test]
    fn sources_that_share_lines_share_pieces() {
        let source = transcript(20_000);
        let fork =
            [b"another first line\n".to_vec(), source.clone(), b"another last line\n".to_vec()].concat();
        let known: std::collections::BTreeSet<_> = cut(&source).iter().map(Piece::id).collect();
        let new: usize = cut(&fork)
            .iter()
            .filter(|piece| !known.contains(&piece.id()))
            .map(|piece| piece.bytes().len())
            .sum();
        assert!(new < source.len() / 4, "{new} of {} bytes are new", source.len());
    }

    #[test]
    fn a_line_longer_than_a_piece_is_split_and_nothing_else_is() {
        let source = [b"short\n".to_vec(), vec![b'x'; 2 * BYTES_MAX + 5], b"\nshort\n".to_vec()].concat();
        let lens: Vec<usize> = cut(&source).iter().map(|piece| piece.bytes().len()).collect();
        assert_eq!(lens, [6, BYTES_MAX, BYTES_MAX, 12]);
    }
}
