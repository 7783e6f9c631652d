//! HMAC-SHA256 (RFC 2104).

use sha2::{Digest as _, Sha256};

/// The block size of SHA-256, in bytes.
const BLOCK_BYTES: usize = 64;

/// A message authentication code over parts, each prefixed by its length as 64 bits, big-endian.
pub(crate) struct Mac {
    inner: Sha256,
    outer: Sha256,
}

impl Mac {
    /// Starts a code under `key`.
    pub(crate) fn new(key: &[u8]) -> Self {
        Self { inner: masked(key, 0x36), outer: masked(key, 0x5c) }
    }

    /// Adds one part.
    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.raw(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.raw(bytes);
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
    }

    /// Ends the code.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.outer.update(self.inner.finalize());
        self.outer.finalize().into()
    }
}

/// A hash that has taken in the key, padded to a block and masked.
fn masked(key: &[u8], mask: u8) -> Sha256 {
    let mut block = [mask; BLOCK_BYTES];
    let hashed: [u8; 32] = Sha256::digest(key).into();
    let key = if key.len() > BLOCK_BYTES { hashed.as_slice() } else { key };
    block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
    let mut hash = Sha256::new();
    hash.update(block);
    hash
}

#[cfg(test)]
mod tests {
    use strongroom_core::digest::Digest;

    use super::*;

    fn check(key: &[u8], message: &[u8], expected: &str) {
        let mut mac = Mac::new(key);
        mac.raw(message);
        assert_eq!(Digest::from_bytes(mac.finish()).to_string(), expected);
    }

    // RFC 4231, test cases 1, 2, 3, 6 and 7.
    #[test]
    fn it_follows_rfc_4231() {
        check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
        check(
            &[0xaa; 131],
            b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        );
    }
}
