//! How a piece is spelled in a blob: one byte of encoding, then its data.

use strongroom_core::error::{Error, Result};

const RAW: u8 = 0x00;
const ZSTD: u8 = 0x01;

/// Bytes were taken out: the number of the journal entry that says which, and an encoded body follow.
pub(crate) const REDACTED: u8 = 0x40;

/// Added where what follows is sealed.
pub(crate) const SEALED: u8 = 0x80;

/// A zstd compression level; higher is smaller and slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub i32);

impl Default for Level {
    /// Level 1: see docs/archive-format.md for the measurement.
    fn default() -> Self {
        Self(1)
    }
}

/// Encodes bodies, reusing one compression context.
pub(crate) struct Encoder(zstd::bulk::Compressor<'static>);

impl Encoder {
    pub(crate) fn new(level: Level) -> Result<Self> {
        let unusable = |error: std::io::Error| Error::bug("zstd does not start").caused_by(error);
        let mut compressor = zstd::bulk::Compressor::new(level.0).map_err(unusable)?;
        compressor.include_checksum(true).map_err(unusable)?;
        compressor.include_contentsize(true).map_err(unusable)?;
        Ok(Self(compressor))
    }

    /// The shorter of the two spellings of `bytes`.
    pub(crate) fn encode(&mut self, bytes: &[u8]) -> Vec<u8> {
        let frame = self.0.compress(bytes).ok().filter(|frame| frame.len() < bytes.len());
        let (encoding, data) = frame.as_deref().map_or((RAW, bytes), |frame| (ZSTD, frame));
        let mut body = Vec::with_capacity(data.len() + 1);
        body.push(encoding);
        body.extend_from_slice(data);
        body
    }
}

/// The bytes behind `body`, or a sentence saying why there are none. Nothing over `len_max` bytes is allocated.
pub(crate) fn decode(body: &[u8], len_max: u64) -> std::result::Result<Vec<u8>, String> {
    let (&encoding, data) = body.split_first().ok_or("an encoded piece has no byte")?;
    match encoding {
        RAW if u64::try_from(data.len()).is_ok_and(|len| len <= len_max) => Ok(data.to_vec()),
        RAW => Err(format!("{} bytes are more than {len_max}", data.len())),
        ZSTD => decompress(data, len_max),
        other => Err(format!("encoding {other:#04x} is not known to this version")),
    }
}

fn decompress(frame: &[u8], len_max: u64) -> std::result::Result<Vec<u8>, String> {
    let len = zstd::zstd_safe::get_frame_content_size(frame)
        .map_err(|error| format!("the zstd frame is damaged: {error}"))?
        .filter(|len| *len <= len_max)
        .ok_or_else(|| format!("the zstd frame does not say that it holds at most {len_max} bytes"))?;
    let capacity = usize::try_from(len).map_err(|error| error.to_string())?;
    let bytes = zstd::bulk::decompress(frame, capacity)
        .map_err(|error| format!("the zstd frame is damaged: {error}"))?;
    if bytes.len() == capacity {
        Ok(bytes)
    } else {
        Err(format!("the zstd frame holds {} of {len} bytes", bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEN_MAX: u64 = 1 << 20;

    proptest! {
        #[test]
        fn what_is_encoded_comes_back(bytes in proptest::collection::vec(0..4u8, 0..5_000), level in -5..10i32) {
            let body = Encoder::new(Level(level)).unwrap().encode(&bytes);
            prop_assert!(body.len() <= bytes.len() + 1);
            prop_assert_eq!(decode(&body, LEN_MAX), Ok(bytes));
        }

        #[test]
        fn anything_may_stand_in_a_blob(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(bytes) = decode(&body, LEN_MAX) {
                prop_assert!(bytes.len() <= 1 << 20);
            }
        }
    }

    #[test]
    fn every_flipped_bit_of_a_frame_is_noticed() {
        let text = "the same line again and again\n".repeat(40);
        let body = Encoder::new(Level::default()).unwrap().encode(text.as_bytes());
        assert_eq!(body[0], ZSTD);
        for bit in 8..body.len() * 8 {
            let mut damaged = body.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The reserved bits of the frame header mean nothing; whatever comes back must be the original.
            if let Ok(bytes) = decode(&damaged, LEN_MAX) {
                assert_eq!(bytes, text.as_bytes(), "bit {bit}");
            }
        }
    }

    #[test]
    fn a_frame_that_promises_too_much_is_refused_before_it_is_opened() {
        let body = Encoder::new(Level::default()).unwrap().encode(&vec![0; 2 << 20]);
        assert!(decode(&body, LEN_MAX).unwrap_err().contains("at most 1048576 bytes"));
    }
}
