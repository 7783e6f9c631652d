//! The lock: what a passphrase or a key file opens.
//!
//! The master key is random and stands in the archive sealed under a key that is made of the secret; another
//! passphrase seals it again and changes nothing else.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use strongroom_core::digest::ArchiveId;
use strongroom_core::error::{Error, Result};
use zeroize::Zeroizing;

use crate::cover::Stamp;
use crate::random::random;
use crate::seal::{KEY_BYTES, Key};

const DOMAIN: &[u8] = b"strongroom.lock.v1";

/// The word before the key in a key file.
const KEY_FILE_WORD: &str = "STRONGROOM-KEY-1";

/// The work of a guess at a passphrase: RFC 9106, section 4, second choice.
const MEMORY_KIB: u32 = 64 << 10;
const PASSES: u32 = 3;
const LANES: u32 = 4;

/// The most work that a lock read from disk may ask for.
const MEMORY_KIB_MAX: u32 = 1 << 20;
const PASSES_MAX: u32 = 64;
const LANES_MAX: u32 = 64;

/// The shortest passphrase, in bytes: shorter ones are mistakes such as an empty file.
const PASSPHRASE_BYTES_MIN: usize = 8;

/// What opens an encrypted archive. It is never printed, and wiped when it is dropped.
#[derive(Clone)]
pub enum Secret {
    /// Words that a person or a password manager knows.
    Passphrase(Passphrase),
    /// 256 random bits from a key file.
    KeyFile(Zeroizing<[u8; KEY_BYTES]>),
}

/// Words, and the key that was made of them last: a program that opens an archive again and again makes it once.
#[derive(Clone)]
pub struct Passphrase {
    words: Zeroizing<Vec<u8>>,
    made: Arc<Mutex<Option<(Method, Salt, Key)>>>,
}

type Salt = [u8; 16];

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

impl Passphrase {
    fn key(&self, method: Method, salt: &Salt, work: (u32, u32, u32)) -> Result<Key> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, key)) = made.as_ref().filter(|(own, with, _)| (*own, with) == (method, salt)) {
            return Ok(key.clone());
        }
        let key = stretched(&self.words, salt, work)?;
        *made = Some((method, *salt, key.clone()));
        Ok(key)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// A passphrase; one line end behind it is not part of it.
    ///
    /// # Errors
    /// `InvalidInput` when it is shorter than 8 bytes.
    pub fn passphrase(bytes: Vec<u8>) -> Result<Self> {
        let bytes = Zeroizing::new(bytes);
        let own = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let own = own.strip_suffix(b"\r").unwrap_or(own);
        if own.len() < PASSPHRASE_BYTES_MIN {
            return Err(Error::invalid_input(format!(
                "a passphrase has at least {PASSPHRASE_BYTES_MIN} bytes, this one has {}",
                own.len()
            )));
        }
        let words = Zeroizing::new(own.to_vec());
        Ok(Self::Passphrase(Passphrase { words, made: Arc::default() }))
    }

    /// The key in the text of a key file.
    ///
    /// # Errors
    /// `InvalidInput` when the text is none.
    pub fn key_file(text: &str) -> Result<Self> {
        let malformed = || Error::invalid_input(format!("a key file holds {KEY_FILE_WORD} and a key"));
        let mut words = text.split_whitespace();
        let (Some(KEY_FILE_WORD), Some(key), None) = (words.next(), words.next(), words.next()) else {
            return Err(malformed());
        };
        let bytes = Zeroizing::new(STANDARD.decode(key).map_err(|_| malformed())?);
        let bytes: [u8; KEY_BYTES] = bytes.as_slice().try_into().map_err(|_| malformed())?;
        Ok(Self::KeyFile(Zeroizing::new(bytes)))
    }

    /// A new key, and the text of the file that keeps it.
    ///
    /// # Errors
    /// `Unavailable` when the system gives no random bytes.
    pub fn generate() -> Result<(Self, Zeroizing<String>)> {
        let bytes = Zeroizing::new(random::<KEY_BYTES>()?);
        let text = Zeroizing::new(format!("{KEY_FILE_WORD} {}\n", STANDARD.encode(bytes.as_slice())));
        Ok((Self::KeyFile(bytes), text))
    }

    const fn method(&self) -> Method {
        match self {
            Self::Passphrase(_) => {
                Method::Passphrase { memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES }
            }
            Self::KeyFile(_) => Method::KeyFile,
        }
    }
}

/// What kind of secret opens an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Needed {
    /// A passphrase.
    Passphrase,
    /// A key file.
    KeyFile,
}

/// How a key is made of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Passphrase { memory_kib: u32, passes: u32, lanes: u32 },
    KeyFile,
}

impl Method {
    pub(crate) const fn needed(self) -> Needed {
        match self {
            Self::Passphrase { .. } => Needed::Passphrase,
            Self::KeyFile => Needed::KeyFile,
        }
    }
}

/// A sealed master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) stamp: Stamp,
    pub(crate) method: Method,
    pub(crate) salt: Salt,
    pub(crate) sealed: Vec<u8>,
}

impl Lock {
    /// Locks `master` with `secret`.
    pub(crate) fn make(secret: &Secret, stamp: Stamp, archive: ArchiveId, master: &Key) -> Result<Self> {
        let (method, salt) = (secret.method(), random()?);
        let key = key_of(secret, method, &salt)?;
        let sealed = key.seal(&[DOMAIN, archive.digest().as_bytes(), &stamp], master.bytes())?;
        Ok(Self { stamp, method, salt, sealed })
    }

    /// The master key.
    ///
    /// # Errors
    /// `Unavailable` when `secret` is not the one, or of the other kind.
    pub(crate) fn open(&self, secret: &Secret, archive: ArchiveId) -> Result<Key> {
        let key = key_of(secret, self.method, &self.salt)?;
        let master = key.open(&[DOMAIN, archive.digest().as_bytes(), &self.stamp], &self.sealed);
        let master = master.map(Zeroizing::new).and_then(|master| Key::read(&master));
        master.ok_or_else(|| {
            let what = match self.method {
                Method::Passphrase { .. } => "this is not its passphrase",
                Method::KeyFile => "this is not its key file",
            };
            Error::unavailable(format!("the archive is encrypted, and {what}"))
        })
    }
}

fn key_of(secret: &Secret, method: Method, salt: &Salt) -> Result<Key> {
    match (secret, method) {
        (Secret::Passphrase(words), Method::Passphrase { memory_kib, passes, lanes }) => {
            words.key(method, salt, (memory_kib, passes, lanes))
        }
        (Secret::KeyFile(key), Method::KeyFile) => Ok(Key::new(**key).derive(&[DOMAIN, salt])),
        (Secret::Passphrase(_), Method::KeyFile) => {
            Err(Error::unavailable("the archive is encrypted with a key file, and a passphrase was given"))
        }
        (Secret::KeyFile(_), Method::Passphrase { .. }) => {
            Err(Error::unavailable("the archive is encrypted with a passphrase, and a key file was given"))
        }
    }
}

fn stretched(words: &[u8], salt: &[u8], (memory_kib, passes, lanes): (u32, u32, u32)) -> Result<Key> {
    if memory_kib > MEMORY_KIB_MAX || passes > PASSES_MAX || lanes > LANES_MAX {
        return Err(Error::corrupt("the archive's lock asks for more work than any lock of ours"));
    }
    let unusable =
        |error: argon2::Error| Error::corrupt(format!("the archive's lock cannot be used: {error}"));
    let params = Params::new(memory_kib, passes, lanes, Some(KEY_BYTES)).map_err(unusable)?;
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon.hash_password_into(words, salt, key.as_mut_slice()).map_err(unusable)?;
    Ok(Key::new(*key))
}

#[cfg(test)]
mod tests {
    use strongroom_core::digest::Digest;
    use strongroom_core::error::ErrorKind;

    use super::*;

    #[test]
    fn only_the_secret_opens_the_lock() {
        let archive = ArchiveId::new(Digest::of(b"archive"));
        let (file, text) = Secret::generate().unwrap();
        let words = Secret::passphrase(b"correct horse\r\n".to_vec()).unwrap();
        let master = Key::random().unwrap();
        let others = [Secret::generate().unwrap().0, Secret::passphrase(b"correct horsf".to_vec()).unwrap()];
        for (secret, again) in [
            (&file, Secret::key_file(&text).unwrap()),
            (&words, Secret::passphrase(b"correct horse".to_vec()).unwrap()),
        ] {
            let lock = Lock::make(secret, [1; 16], archive, &master).unwrap();
            assert_eq!(lock.open(&again, archive).unwrap().bytes(), master.bytes());
            for other in &others {
                assert_eq!(lock.open(other, archive).unwrap_err().kind(), ErrorKind::Unavailable);
            }
            let moved = Lock { stamp: [2; 16], ..lock };
            assert!(moved.open(&again, archive).is_err());
        }
    }

    #[test]
    fn a_lock_cannot_ask_for_all_memory() {
        let archive = ArchiveId::new(Digest::of(b"archive"));
        let method = Method::Passphrase { memory_kib: u32::MAX, passes: 3, lanes: 4 };
        let lock = Lock { stamp: [0; 16], method, salt: [0; 16], sealed: Vec::new() };
        let words = Secret::passphrase(b"correct horse".to_vec()).unwrap();
        assert_eq!(lock.open(&words, archive).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn what_is_no_secret_is_told() {
        for text in ["", "STRONGROOM-KEY-1", "STRONGROOM-KEY-1 AAAA", "STRONGROOM-KEY-2 AAAA", "a b c"] {
            assert_eq!(Secret::key_file(text).unwrap_err().kind(), ErrorKind::InvalidInput, "{text}");
        }
        assert_eq!(Secret::passphrase(b"\n".to_vec()).unwrap_err().kind(), ErrorKind::InvalidInput);
        let (secret, text) = Secret::generate().unwrap();
        assert!(!format!("{secret:?}").contains(text.split_whitespace().last().unwrap()));
    }
}
