//! Hashes and identifiers.
//!
//! All stored digests are SHA-256. Hashes over several parts prefix each part with its length as 64 bits,
//! big-endian, after a domain string, so that no two inputs share an encoding. Trees follow RFC 6962:
//! a leaf is `SHA-256(0x00 ‖ bytes)`, a node `SHA-256(0x01 ‖ left ‖ right)`.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Wraps 32 bytes that already are a digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest's bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hashes `bytes` alone, as `sha256sum` does.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes `parts` under `domain`, each part prefixed by its length.
    pub fn of_parts<'a>(domain: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Hasher::new(domain);
        for part in parts {
            hasher.part(part);
        }
        hasher.finish()
    }

    /// The RFC 6962 hash of a leaf.
    pub fn leaf(bytes: &[u8]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update([0]);
        hasher.update(bytes);
        Self(hasher.finalize().into())
    }

    /// The RFC 6962 hash of an inner node.
    pub fn node(left: &Self, right: &Self) -> Self {
        let mut hasher = Sha256::new();
        hasher.update([1]);
        hasher.update(left.0);
        hasher.update(right.0);
        Self(hasher.finalize().into())
    }

    /// The RFC 6962 root over `leaves`, which are leaf hashes; of none it is the hash of the empty string.
    pub fn root(leaves: &[Self]) -> Self {
        match leaves {
            [] => Self::of(&[]),
            [leaf] => *leaf,
            _ => {
                let split = leaves.len().next_power_of_two() / 2;
                let (left, right) = leaves.split_at(split);
                Self::node(&Self::root(left), &Self::root(right))
            }
        }
    }

    /// The first `digits` hexadecimal digits, for display.
    pub fn short(&self, digits: usize) -> String {
        let mut hex = self.to_string();
        hex.truncate(digits);
        hex
    }
}

/// Hashes several parts under one domain, each prefixed by its length.
#[derive(Debug, Clone)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts a hash in `domain`.
    pub fn new(domain: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.part(domain.as_bytes());
        hasher
    }

    /// Adds one part.
    pub fn part(&mut self, bytes: &[u8]) {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.0.update(length.to_be_bytes());
        self.0.update(bytes);
    }

    /// Ends the hash.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

fn read_hex<const N: usize>(text: &str, what: &str) -> Result<[u8; N]> {
    let malformed =
        || Error::invalid_input(format!("{what} must be {} hexadecimal digits, not {text:?}", 2 * N));
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return Err(malformed());
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| malformed())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| malformed())?;
    }
    Ok(bytes)
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short(12))
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        read_hex(text, "a digest").map(Self)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Digest);

        impl $name {
            /// Wraps a digest that was made for this kind of id.
            pub const fn new(digest: Digest) -> Self {
                Self(digest)
            }

            /// The digest behind the id.
            pub const fn digest(&self) -> &Digest {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                text.parse().map(Self)
            }
        }
    )*};
}

ids! {
    /// Names one piece: the RFC 6962 leaf hash of its bytes.
    PieceId;
    /// Names one source in an archive.
    SourceId;
    /// Names one state of a source: the RFC 6962 root over its pieces.
    RevisionId;
    /// The hash over the exact bytes of a span.
    SpanHash;
    /// The hash over what a span says, whatever JSON spelling its bytes have.
    ContentKey;
    /// Names an archive.
    ArchiveId;
}

impl PieceId {
    /// The id of a piece with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Digest::leaf(bytes))
    }
}

impl RevisionId {
    /// The id of a revision with these pieces, in order.
    pub fn of(pieces: &[PieceId]) -> Self {
        let leaves: Vec<Digest> = pieces.iter().map(|piece| piece.0).collect();
        Self(Digest::root(&leaves))
    }
}

/// A keyed look-up key for one compaction: 128 bits over archive, source, generation and span hashes.
///
/// It stands in text and is nothing more than a key: what is believed is the archive's record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag([u8; 16]);

impl Tag {
    /// Wraps 16 bytes of a keyed hash.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The tag's bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({self})")
    }
}

impl FromStr for Tag {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        read_hex(text, "a tag").map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 6962 test vectors of the certificate-transparency project: roots over the first n of eight leaves.
    #[test]
    fn roots_follow_rfc_6962() {
        let leaves: Vec<Digest> = ["", "00", "10", "2021", "3031", "40414243"]
            .iter()
            .map(|hex| {
                let bytes: Vec<u8> = hex
                    .as_bytes()
                    .chunks(2)
                    .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
                    .collect();
                Digest::leaf(&bytes)
            })
            .collect();
        let root = |n: usize| Digest::root(&leaves[..n]).to_string();
        assert_eq!(root(0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(root(1), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        assert_eq!(root(2), "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
        assert_eq!(root(3), "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77");
        assert_eq!(root(4), "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7");
        assert_eq!(root(5), "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4");
    }

    #[test]
    fn parts_do_not_run_into_one_another() {
        let one = Digest::of_parts("d", [b"ab".as_slice(), b"c"]);
        let two = Digest::of_parts("d", [b"a".as_slice(), b"bc"]);
        assert_ne!(one, two);
    }

    #[test]
    fn hex_is_read_back_and_refused_when_malformed() {
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("zz".parse::<Tag>().is_err());
        assert!("é".repeat(16).parse::<Tag>().is_err());
    }
}
