//! The scanner and its tape.

use std::fmt;

use memchr::memchr2;

use super::value::{Kind, Value};

/// The deepest nesting that is read. The deepest record seen in a gigabyte of real transcripts has 27 levels.
pub const DEPTH_MAX: usize = 1024;

/// The most values (keys included) that one record or document may hold: 64 MiB of tape.
pub const VALUES_MAX: usize = 1 << 22;

/// Why bytes are not a JSON value that is read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The bytes end inside the value.
    CutOff,
    /// The bytes end inside a string of the value.
    CutInString,
    /// A byte that cannot stand here.
    Unexpected(u8),
    /// A raw control byte inside a string.
    ControlByte(u8),
    /// A backslash that starts no escape.
    BadEscape,
    /// A number that is not one.
    BadNumber,
    /// More than [`DEPTH_MAX`] levels.
    TooDeep,
    /// More than [`VALUES_MAX`] values.
    TooMany,
    /// More than 4 GiB.
    TooLong,
}

/// Where and why scanning stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the byte, from the start of the scanned bytes.
    pub offset: usize,
    /// What is wrong there.
    pub reason: Reason,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.offset;
        match self.reason {
            Reason::CutOff | Reason::CutInString => write!(f, "the JSON value is cut off at byte {at}"),
            Reason::Unexpected(byte) => write!(f, "unexpected byte 0x{byte:02x} at byte {at}"),
            Reason::ControlByte(byte) => write!(f, "raw control byte 0x{byte:02x} in a string at byte {at}"),
            Reason::BadEscape => write!(f, "unknown escape in a string at byte {at}"),
            Reason::BadNumber => write!(f, "malformed number at byte {at}"),
            Reason::TooDeep => write!(f, "nested deeper than the limit of {DEPTH_MAX} levels at byte {at}"),
            Reason::TooMany => write!(f, "more values than the limit of {VALUES_MAX} at byte {at}"),
            Reason::TooLong => f.write_str("longer than the limit of 4 GiB"),
        }
    }
}

/// Something legal or tolerated that strict readers stumble over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// `NaN`, `Infinity` or `-Infinity`.
    NonFinite,
    /// An escaped surrogate without its partner.
    LoneSurrogate,
    /// An escaped NUL character.
    NulEscape,
    /// An integer of more than 19 digits.
    HugeInteger,
    /// A line feed inside a string that is not escaped.
    RawLineFeed,
}

impl Oddity {
    /// All oddities.
    pub const ALL: [Self; 5] =
        [Self::NonFinite, Self::LoneSurrogate, Self::NulEscape, Self::HugeInteger, Self::RawLineFeed];

    /// The stable code of the finding.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NonFinite => "non-finite-number",
            Self::LoneSurrogate => "lone-surrogate",
            Self::NulEscape => "nul-escape",
            Self::HugeInteger => "huge-integer",
            Self::RawLineFeed => "raw-line-feed",
        }
    }

    /// What was found, for the finding.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NonFinite => {
                "holds a number that is not finite (NaN or Infinity), which JSON does not have"
            }
            Self::LoneSurrogate => "holds an escaped surrogate without its partner; it is read as U+FFFD",
            Self::NulEscape => "holds an escaped NUL character",
            Self::HugeInteger => "holds an integer of more than 19 digits; its spelling is kept",
            Self::RawLineFeed => "holds a string with a line feed that is not escaped",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// One value on the tape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Whether a string holds a backslash.
    pub(super) escaped: bool,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the node behind this value and everything in it.
    pub(super) next: u32,
}

/// The values of one JSON text in order of their bytes: a container is followed by its members, an object's
/// members alternate between key and value. Reusable: each scan replaces the last.
#[derive(Debug, Default)]
pub struct Tape {
    pub(super) nodes: Vec<Node>,
    open: Vec<u32>,
    oddities: u8,
}

/// What the scanner expects next.
#[derive(Clone, Copy)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    SeparatorOrEnd,
}

impl Tape {
    /// Makes an empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// Scans one value at the start of `bytes`, behind whitespace; returns the offset behind it.
    ///
    /// # Errors
    /// The place and reason where the bytes stop being a value.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<usize, Damage> {
        self.nodes.clear();
        self.open.clear();
        self.oddities = 0;
        if u32::try_from(bytes.len()).is_err() {
            return Err(Damage { offset: 0, reason: Reason::TooLong });
        }
        let mut at = 0;
        let mut expect = Expect::Value;
        loop {
            at = skip_whitespace(bytes, at);
            let Some(&byte) = bytes.get(at) else {
                return Err(Damage { offset: at, reason: Reason::CutOff });
            };
            (at, expect) = match (expect, byte) {
                (Expect::ValueOrEnd, b']') | (Expect::KeyOrEnd, b'}') => {
                    (self.close(at), Expect::SeparatorOrEnd)
                }
                (Expect::Value | Expect::ValueOrEnd, _) => self.value(bytes, at, byte)?,
                (Expect::Key | Expect::KeyOrEnd, b'"') => (self.key(bytes, at)?, Expect::Value),
                (Expect::Key | Expect::KeyOrEnd, _) => return Err(unexpected(at, byte)),
                (Expect::SeparatorOrEnd, _) => self.separator(at, byte)?,
            };
            if self.open.is_empty() {
                return Ok(at);
            }
        }
    }

    /// The value that was scanned; `bytes` are the scanned ones and stand at `base` in their source.
    pub fn root<'t>(&'t self, bytes: &'t [u8], base: u64) -> Option<Value<'t>> {
        Value::new(self, bytes, base, 0)
    }

    /// What was tolerated.
    pub fn oddities(&self) -> impl Iterator<Item = Oddity> + use<> {
        let found = self.oddities;
        Oddity::ALL.into_iter().filter(move |oddity| found & oddity.bit() != 0)
    }

    fn push(&mut self, kind: Kind, escaped: bool, start: usize, end: usize) -> Result<(), Damage> {
        if self.nodes.len() >= VALUES_MAX {
            return Err(Damage { offset: start, reason: Reason::TooMany });
        }
        let next = narrow(self.nodes.len()) + 1;
        self.nodes.push(Node { kind, escaped, start: narrow(start), end: narrow(end), next });
        Ok(())
    }

    fn value(&mut self, bytes: &[u8], at: usize, byte: u8) -> Result<(usize, Expect), Damage> {
        match byte {
            b'{' => self.open(Kind::Object, at).map(|at| (at, Expect::KeyOrEnd)),
            b'[' => self.open(Kind::Array, at).map(|at| (at, Expect::ValueOrEnd)),
            b'"' => self.string(bytes, at).map(|at| (at, Expect::SeparatorOrEnd)),
            _ => self.scalar(bytes, at, byte).map(|at| (at, Expect::SeparatorOrEnd)),
        }
    }

    fn open(&mut self, kind: Kind, at: usize) -> Result<usize, Damage> {
        if self.open.len() >= DEPTH_MAX {
            return Err(Damage { offset: at, reason: Reason::TooDeep });
        }
        self.open.push(narrow(self.nodes.len()));
        self.push(kind, false, at, at)?;
        Ok(at + 1)
    }

    fn close(&mut self, at: usize) -> usize {
        let next = narrow(self.nodes.len());
        if let Some(node) = self.open.pop().and_then(|node| self.nodes.get_mut(widen(node))) {
            node.end = narrow(at + 1);
            node.next = next;
        }
        at + 1
    }

    fn separator(&mut self, at: usize, byte: u8) -> Result<(usize, Expect), Damage> {
        let inside = self.open.last().and_then(|&node| self.nodes.get(widen(node))).map(|node| node.kind);
        match (inside, byte) {
            (Some(Kind::Object), b',') => Ok((at + 1, Expect::Key)),
            (Some(Kind::Array), b',') => Ok((at + 1, Expect::Value)),
            (Some(Kind::Object), b'}') | (Some(Kind::Array), b']') => {
                Ok((self.close(at), Expect::SeparatorOrEnd))
            }
            _ => Err(unexpected(at, byte)),
        }
    }

    fn key(&mut self, bytes: &[u8], at: usize) -> Result<usize, Damage> {
        let end = self.string(bytes, at)?;
        let at = skip_whitespace(bytes, end);
        match bytes.get(at) {
            Some(b':') => Ok(at + 1),
            Some(&byte) => Err(unexpected(at, byte)),
            None => Err(Damage { offset: at, reason: Reason::CutOff }),
        }
    }

    fn string(&mut self, bytes: &[u8], start: usize) -> Result<usize, Damage> {
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(hit) = memchr2(b'"', b'\\', rest) else {
                self.check_control_bytes(rest, at)?;
                return Err(Damage { offset: bytes.len(), reason: Reason::CutInString });
            };
            self.check_control_bytes(rest.get(..hit).unwrap_or_default(), at)?;
            at += hit;
            if bytes.get(at) == Some(&b'"') {
                self.push(Kind::String, escaped, start, at + 1)?;
                return Ok(at + 1);
            }
            escaped = true;
            at = self.escape(bytes, at)?;
        }
    }

    /// Folding over the run instead of searching lets the compiler use vector instructions. Writers that do not
    /// escape a line feed exist; what they meant is plain.
    fn check_control_bytes(&mut self, run: &[u8], offset: usize) -> Result<(), Damage> {
        if run.iter().fold(0, |found, &byte| found | u8::from(byte < 0x20)) == 0 {
            return Ok(());
        }
        self.oddities |= Oddity::RawLineFeed.bit();
        match run.iter().position(|&byte| byte < 0x20 && byte != b'\n') {
            None => Ok(()),
            Some(hit) => {
                let byte = run.get(hit).copied().unwrap_or_default();
                Err(Damage { offset: offset + hit, reason: Reason::ControlByte(byte) })
            }
        }
    }

    /// Reads the escape at `at`, a surrogate pair as a whole; returns the offset behind it.
    fn escape(&mut self, bytes: &[u8], at: usize) -> Result<usize, Damage> {
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => {
                let unit = hex4(bytes, at + 2)?;
                let mut end = at + 6;
                match unit {
                    0 => self.oddities |= Oddity::NulEscape.bit(),
                    0xD800..=0xDBFF if is_low_surrogate(bytes, end) => end += 6,
                    0xD800..=0xDFFF => self.oddities |= Oddity::LoneSurrogate.bit(),
                    _ => {}
                }
                Ok(end)
            }
            Some(_) => Err(Damage { offset: at, reason: Reason::BadEscape }),
            None => Err(Damage { offset: bytes.len(), reason: Reason::CutOff }),
        }
    }

    fn scalar(&mut self, bytes: &[u8], at: usize, byte: u8) -> Result<usize, Damage> {
        let rest = bytes.get(at..).unwrap_or_default();
        for (word, kind) in WORDS {
            if rest.starts_with(word) {
                if kind == Kind::Number {
                    self.oddities |= Oddity::NonFinite.bit();
                }
                self.push(kind, false, at, at + word.len())?;
                return Ok(at + word.len());
            }
            if !rest.is_empty() && word.starts_with(rest) {
                return Err(Damage { offset: bytes.len(), reason: Reason::CutOff });
            }
        }
        if byte != b'-' && !byte.is_ascii_digit() {
            return Err(unexpected(at, byte));
        }
        let (length, integer_digits) = number(rest).map_err(|reason| Damage { offset: at, reason })?;
        if integer_digits > 19 {
            self.oddities |= Oddity::HugeInteger.bit();
        }
        self.push(Kind::Number, false, at, at + length)?;
        Ok(at + length)
    }
}

const WORDS: [(&[u8], Kind); 6] = [
    (b"null", Kind::Null),
    (b"true", Kind::True),
    (b"false", Kind::False),
    (b"NaN", Kind::Number),
    (b"Infinity", Kind::Number),
    (b"-Infinity", Kind::Number),
];

/// The length of the number at the start of `bytes` and the digits of its integer where it has no fraction.
fn number(bytes: &[u8]) -> Result<(usize, usize), Reason> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let need = |from: usize| match digits(from) {
        0 if from >= bytes.len() => Err(Reason::CutOff),
        0 => Err(Reason::BadNumber),
        count => Ok(count),
    };
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let integer = need(sign)?;
    if integer > 1 && bytes.get(sign) == Some(&b'0') {
        return Err(Reason::BadNumber);
    }
    let mut at = sign + integer;
    let mut is_integer = true;
    if bytes.get(at) == Some(&b'.') {
        is_integer = false;
        at += 1 + need(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        is_integer = false;
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at += need(at)?;
    }
    Ok((at, if is_integer { integer } else { 0 }))
}

fn unexpected(offset: usize, byte: u8) -> Damage {
    Damage { offset, reason: Reason::Unexpected(byte) }
}

fn skip_whitespace(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

fn hex4(bytes: &[u8], at: usize) -> Result<u16, Damage> {
    let mut unit = 0;
    for offset in at..at + 4 {
        let Some(&byte) = bytes.get(offset) else {
            return Err(Damage { offset: bytes.len(), reason: Reason::CutOff });
        };
        let digit = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
        unit = unit << 4 | digit.ok_or(Damage { offset, reason: Reason::BadEscape })?;
    }
    Ok(unit)
}

fn is_low_surrogate(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..at + 2) == Some(br"\u")
        && hex4(bytes, at + 2).is_ok_and(|unit| (0xDC00..=0xDFFF).contains(&unit))
}

/// Offsets are checked to fit when a scan begins.
pub(super) fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

pub(super) fn widen(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
