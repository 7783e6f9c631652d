//! Signed notes: a text that somebody put a name to, as C2SP signed-note writes it.
//!
//! ```text
//! strongroom/<archive id>          the text of a checkpoint: origin,
//! 17                               size,
//! qpW3…=                           and root in base64
//!                                  an empty line
//! — ops h1bZ…                      name, and in base64 key id and Ed25519 signature
//! ```

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use strongroom_core::digest::Digest;
use strongroom_core::error::{Error, Result};

use crate::journal::Checkpoint;

/// The signature type Ed25519 in key texts and key ids.
const ED25519: u8 = 1;

const PRIVATE_WORD: &str = "PRIVATE+KEY+";

const SIGNATURE_WORD: &str = "\u{2014} ";

const ORIGIN: &str = "strongroom/";

/// A key that signs notes.
pub struct PrivateKey {
    name: String,
    key: SigningKey,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, ..)", self.name)
    }
}

impl PrivateKey {
    /// A new key, made from the system's random bytes.
    ///
    /// # Errors
    /// `InvalidInput` of a name that is empty or has a space or `+` in it, `Unavailable` when the system gives no
    /// random bytes.
    pub fn generate(name: &str) -> Result<Self> {
        check_name(name)?;
        let mut seed = [0; 32];
        let failed =
            |error: getrandom::Error| Error::unavailable("the system gives no random bytes").caused_by(error);
        getrandom::fill(&mut seed).map_err(failed)?;
        Ok(Self::from_seed(name, &seed))
    }

    fn from_seed(name: &str, seed: &[u8; 32]) -> Self {
        Self { name: name.to_owned(), key: SigningKey::from_bytes(seed) }
    }

    /// Reads the text of a private key.
    ///
    /// # Errors
    /// `InvalidInput` when it is none; the text does not stand in the message.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::invalid_input("this is no private key of a signed note");
        let (name, id, seed) =
            text.trim().strip_prefix(PRIVATE_WORD).and_then(key_parts).ok_or_else(wrong)?;
        let key = Self::from_seed(name, &seed);
        if key.public().id() == id { Ok(key) } else { Err(wrong()) }
    }

    /// The text of the key: whoever has it can sign.
    pub fn secret_text(&self) -> String {
        let seed = self.key.to_bytes();
        format!("{PRIVATE_WORD}{}\n", key_text(&self.name, self.public().id(), &seed))
    }

    /// The key that checks what this one signs.
    pub fn public(&self) -> PublicKey {
        PublicKey { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// The note that says `text`, which ends in a line feed, under this key's name.
    pub fn sign(&self, text: &str) -> String {
        let mut signature = self.public().id().to_vec();
        signature.extend(self.key.sign(text.as_bytes()).to_bytes());
        format!("{text}\n{SIGNATURE_WORD}{} {}\n", self.name, BASE64.encode(signature))
    }
}

/// A key that checks signatures of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    key: VerifyingKey,
}

impl PublicKey {
    /// Reads `name+id+key`.
    ///
    /// # Errors
    /// `InvalidInput` when it is no such key.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::invalid_input(format!("{:?} is no public key of a signed note", text.trim()));
        let (name, id, bytes) = key_parts(text.trim()).ok_or_else(wrong)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| wrong())?;
        let key = Self { name: name.to_owned(), key };
        if key.id() == id && !key.key.is_weak() { Ok(key) } else { Err(wrong()) }
    }

    /// The name under which it signs.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> [u8; 4] {
        let text = [self.name.as_bytes(), &[b'\n', ED25519], self.key.as_bytes()].concat();
        let mut id = [0; 4];
        id.iter_mut().zip(Digest::of(&text).as_bytes()).for_each(|(to, from)| *to = *from);
        id
    }

    /// The text of a note, where this key signed it. Signatures of other keys are passed over.
    ///
    /// # Errors
    /// `InvalidInput` when it is no signed note, `Corrupt` when this key did not sign it.
    pub fn open<'n>(&self, note: &'n str) -> Result<&'n str> {
        let (text, signatures) = parts(note)?;
        let own = signatures.iter().find(|(name, id, _)| *name == self.name && *id == self.id());
        let Some((_, _, signature)) = own else {
            return Err(Error::corrupt(format!("the note is not signed by {}", self.name)));
        };
        let valid = self.key.verify_strict(text.as_bytes(), &Signature::from_bytes(signature));
        valid.map_err(|_| Error::corrupt(format!("the signature of {} does not hold", self.name)))?;
        Ok(text)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&key_text(&self.name, self.id(), self.key.as_bytes()))
    }
}

/// Name, key id and signature.
type SignatureLine<'n> = (&'n str, [u8; 4], [u8; 64]);

/// The text of a note and its signatures.
///
/// # Errors
/// `InvalidInput` when it is no signed note.
fn parts(note: &str) -> Result<(&str, Vec<SignatureLine<'_>>)> {
    let wrong = || Error::invalid_input("this is no signed note");
    let (text, lines) = note.rsplit_once("\n\n").ok_or_else(wrong)?;
    let text = note.get(..=text.len()).ok_or_else(wrong)?;
    let lines = lines.strip_suffix('\n').ok_or_else(wrong)?;
    let signatures: Option<Vec<_>> = lines.split('\n').map(signature_line).collect();
    Ok((text, signatures.ok_or_else(wrong)?))
}

fn signature_line(line: &str) -> Option<SignatureLine<'_>> {
    let (name, blob) = line.strip_prefix(SIGNATURE_WORD)?.split_once(' ')?;
    check_name(name).ok()?;
    let blob = BASE64.decode(blob).ok()?;
    let (id, signature) = blob.split_first_chunk::<4>()?;
    Some((name, *id, signature.try_into().ok()?))
}

/// The text of a note whoever signed it, for those who have no key to check it with.
///
/// # Errors
/// `InvalidInput` when it is no signed note.
pub fn text_unchecked(note: &str) -> Result<&str> {
    parts(note).map(|(text, _)| text)
}

fn check_name(name: &str) -> Result<()> {
    let wrong = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    if name.is_empty() || name.contains(wrong) {
        return Err(Error::invalid_input(format!("{name:?} is no name of a key: no spaces, no +")));
    }
    Ok(())
}

fn key_text(name: &str, id: [u8; 4], key: &[u8; 32]) -> String {
    let blob = BASE64.encode([&[ED25519], key.as_slice()].concat());
    format!("{name}+{:08x}+{blob}", u32::from_be_bytes(id))
}

fn key_parts(text: &str) -> Option<(&str, [u8; 4], [u8; 32])> {
    let (name, rest) = text.split_once('+')?;
    let (id, blob) = rest.split_once('+')?;
    check_name(name).ok()?;
    let number = u32::from_str_radix(id, 16).ok().filter(|number| format!("{number:08x}") == id)?;
    let blob = BASE64.decode(blob).ok()?;
    let (&[ED25519], key) = blob.split_first_chunk::<1>()? else { return None };
    Some((name, number.to_be_bytes(), key.try_into().ok()?))
}

impl Checkpoint {
    /// The text of this checkpoint in a signed note.
    pub fn note_text(&self) -> String {
        format!("{ORIGIN}{}\n{}\n{}\n", self.archive, self.size, BASE64.encode(self.root.as_bytes()))
    }

    /// Reads the text of a checkpoint in a signed note.
    ///
    /// # Errors
    /// `InvalidInput` when it is none.
    pub fn from_note_text(text: &str) -> Result<Self> {
        let read = || {
            let mut lines = text.split('\n');
            let archive = lines.next()?.strip_prefix(ORIGIN)?.parse().ok()?;
            let size = lines.next()?.parse().ok()?;
            let root: [u8; 32] = BASE64.decode(lines.next()?).ok()?.try_into().ok()?;
            Some(Self { archive, size, root: Digest::from_bytes(root) })
        };
        let found: Option<Self> = read();
        // One spelling alone is accepted: lines behind the root have no meaning here.
        found
            .filter(|checkpoint| checkpoint.note_text() == text)
            .ok_or_else(|| Error::invalid_input("this signed note is no checkpoint of an archive"))
    }
}

#[cfg(test)]
mod tests {
    use strongroom_core::digest::ArchiveId;

    use super::*;

    fn key() -> PrivateKey {
        PrivateKey::from_seed("ops.example", &[7; 32])
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint { archive: ArchiveId::new(Digest::of(b"a")), size: 17, root: Digest::of(b"r") }
    }

    // The example of golang.org/x/mod/sumdb/note.
    const PETER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const PETER_NOTE: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    #[test]
    fn a_note_of_another_program_is_read() {
        let peter = PublicKey::parse(PETER).unwrap();
        assert_eq!(peter.to_string(), PETER);
        assert!(peter.open(PETER_NOTE).unwrap().ends_with("what your problem is.\n"));
    }

    #[test]
    fn keys_and_notes_come_back() {
        let key = key();
        assert_eq!(PrivateKey::parse(&key.secret_text()).unwrap().public(), key.public());
        assert_eq!(PublicKey::parse(&key.public().to_string()).unwrap(), key.public());
        let note = key.sign(&checkpoint().note_text());
        let text = key.public().open(&note).unwrap();
        assert_eq!(Checkpoint::from_note_text(text).unwrap(), checkpoint());
        assert_eq!(text_unchecked(&note).unwrap(), text);
        assert!(!format!("{key:?}").contains("BwcH"), "the secret is not shown");
        assert!(PrivateKey::generate("a b").is_err() && PrivateKey::generate("").is_err());
        let one = PrivateKey::generate("x").unwrap();
        assert_ne!(one.public(), PrivateKey::generate("x").unwrap().public());
    }

    #[test]
    fn flipped_bits_of_a_note_or_key_are_refused() {
        let note = key().sign(&checkpoint().note_text());
        let public = key().public();
        let flipped = |text: &str, bit: usize| {
            let mut bytes = text.as_bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            String::from_utf8(bytes).ok()
        };
        for bit in (0..note.len() * 8).step_by(3) {
            let Some(note) = flipped(&note, bit) else { continue };
            assert!(public.open(&note).is_err(), "bit {bit}");
        }
        let text = public.to_string();
        for bit in 0..text.len() * 8 {
            let other = flipped(&text, bit).and_then(|text| PublicKey::parse(&text).ok());
            assert!(other.is_none(), "bit {bit}");
        }
    }

    #[test]
    fn two_may_sign_and_one_is_enough() {
        let note = key().sign("hello\n");
        let second = PrivateKey::from_seed("witness", &[9; 32]);
        let line = second.sign("hello\n").split_once("\n\n").unwrap().1.to_owned();
        let both = note.clone() + &line;
        assert_eq!(key().public().open(&both).unwrap(), "hello\n");
        assert_eq!(second.public().open(&both).unwrap(), "hello\n");
        assert!(second.public().open(&note).is_err());
        assert!(Checkpoint::from_note_text("hello\n").is_err());
    }
}
