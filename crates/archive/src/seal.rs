//! Sealing: how a key hides bytes and binds them to their place; docs/encryption.md specifies it.

use std::fmt;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use strongroom_core::error::{Error, Result};
use zeroize::Zeroizing;

use crate::hmac::Mac;
use crate::random::random;

/// The length of a nonce and of a key, in bytes.
const NONCE_BYTES: usize = 24;
pub(crate) const KEY_BYTES: usize = 32;

/// A key; it is wiped when it is dropped, and never printed.
#[derive(Clone)]
pub(crate) struct Key(Zeroizing<[u8; KEY_BYTES]>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    pub(crate) fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The key in `bytes`, if they are as many as a key has.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::new)
    }

    pub(crate) fn random() -> Result<Self> {
        random().map(Self::new)
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Another key, for what `parts` name.
    pub(crate) fn derive(&self, parts: &[&[u8]]) -> Self {
        Self::new(self.mac(parts))
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Mac::new(self.0.as_slice());
        parts.iter().for_each(|part| mac.part(part));
        mac.finish()
    }

    /// Seals `plain` under a random nonce, to be opened only at `place`.
    ///
    /// # Errors
    /// `Unavailable` when there are no random bytes.
    pub(crate) fn seal(&self, place: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        self.seal_under(random()?, place, plain)
    }

    /// Seals `plain` so that equal bytes at equal places look equal: the nonce is a code over both under `nonces`.
    ///
    /// # Errors
    /// `Bug` of more bytes than a cipher takes.
    pub(crate) fn seal_equal(&self, nonces: &Self, place: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        let code = nonces.mac(&[place, &[plain]].concat());
        let mut nonce = [0; NONCE_BYTES];
        nonce.iter_mut().zip(code).for_each(|(to, from)| *to = from);
        self.seal_under(nonce, place, plain)
    }

    fn seal_under(&self, nonce: [u8; NONCE_BYTES], place: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        let payload = Payload { msg: plain, aad: &spelled(place) };
        let hidden = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let hidden = hidden.map_err(|_| Error::bug("too many bytes to seal"))?;
        Ok([nonce.as_slice(), &hidden].concat())
    }

    /// What was sealed at `place` under this key; `None` of anything else.
    pub(crate) fn open(&self, place: &[&[u8]], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, hidden) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: hidden, aad: &spelled(place) };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&(*self.0).into())
    }
}

/// Parts, each prefixed by its length, so that no two lists are spelled alike.
fn spelled(parts: &[&[u8]]) -> Vec<u8> {
    let prefixed =
        |part: &&[u8]| [&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes(), *part].concat();
    parts.iter().flat_map(prefixed).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // draft-irtf-cfrg-xchacha-03, appendix A.3.1: the cipher below is the one that is specified.
    #[test]
    fn it_is_the_cipher_of_the_draft() {
        let plain: &[u8] = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let key: [u8; 32] = std::array::from_fn(|n| 0x80 + u8::try_from(n).unwrap());
        let nonce: [u8; 24] = std::array::from_fn(|n| 0x40 + u8::try_from(n).unwrap());
        let aad = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let hidden = Key::new(key).cipher().encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: &aad });
        let hidden = hidden.unwrap();
        assert_eq!(hidden[..8], [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b]);
        assert_eq!(hidden[hidden.len() - 4..], [0x78, 0x0a, 0xcf, 0x49]);
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_at_its_place_and_nowhere_else(
            plain in proptest::collection::vec(any::<u8>(), 0..200), flip in any::<usize>()
        ) {
            let key = Key::new([7; 32]);
            let nonces = Key::new([8; 32]);
            for mut sealed in [key.seal(&[b"a", b"b"], &plain).unwrap(), key.seal_equal(&nonces, &[b"a", b"b"], &plain).unwrap()] {
                prop_assert_eq!(key.open(&[b"a", b"b"], &sealed), Some(plain.clone()));
                prop_assert_eq!(key.open(&[b"ab", b""], &sealed), None);
                prop_assert_eq!(nonces.open(&[b"a", b"b"], &sealed), None);
                let at = flip % sealed.len();
                sealed[at] ^= 1;
                prop_assert_eq!(key.open(&[b"a", b"b"], &sealed), None);
            }
            prop_assert_ne!(key.seal(&[b"a"], &plain).unwrap(), key.seal(&[b"a"], &plain).unwrap());
            prop_assert_eq!(
                key.seal_equal(&nonces, &[b"a"], &plain).unwrap(), key.seal_equal(&nonces, &[b"a"], &plain).unwrap()
            );
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", Key::new([1; 32])), "Key(..)");
    }
}
