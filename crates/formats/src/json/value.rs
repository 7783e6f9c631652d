//! Reading a tape.

use std::borrow::Cow;
use std::fmt;

use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Encoding, TextRange};

use super::scan::{Node, Oddity, Tape, narrow, widen};
use super::string::decode;

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true`.
    True,
    /// `false`.
    False,
    /// A number, `NaN` and infinities included.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A value on a tape, with the bytes that spell it. Ranges are offsets in the source the bytes come from.
#[derive(Clone, Copy)]
pub struct Value<'t> {
    tape: &'t Tape,
    bytes: &'t [u8],
    base: u64,
    at: u32,
    node: Node,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.kind(), String::from_utf8_lossy(self.raw()))
    }
}

impl<'t> Value<'t> {
    pub(super) fn new(tape: &'t Tape, bytes: &'t [u8], base: u64, at: u32) -> Option<Self> {
        let node = *tape.nodes.get(widen(at))?;
        Some(Self { tape, bytes, base, at, node })
    }

    /// Its kind.
    pub fn kind(self) -> Kind {
        self.node.kind
    }

    /// Its bytes, quotes and brackets included.
    pub fn raw(self) -> &'t [u8] {
        self.bytes.get(widen(self.node.start)..widen(self.node.end)).unwrap_or_default()
    }

    /// Its place in the source.
    pub fn range(self) -> ByteRange {
        ByteRange::new(u64::from(self.node.start), u64::from(self.node.end)).shifted(self.base)
    }

    /// The whitespace in front of it.
    pub(crate) fn space_before(self) -> Cow<'t, [u8]> {
        let before = self.bytes.get(..widen(self.node.start)).unwrap_or_default();
        let space = before.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        Cow::Borrowed(before.get(before.len() - space..).unwrap_or_default())
    }

    /// The inside of a string literal, without its quotes.
    pub fn text_range(self) -> Option<TextRange> {
        let range = self.range();
        (self.node.kind == Kind::String).then(|| TextRange {
            range: ByteRange::new(range.start() + 1, range.end() - 1),
            encoding: Encoding::Json,
        })
    }

    /// The raw bytes between the quotes of a string.
    fn inside(self) -> Option<&'t [u8]> {
        let raw = self.raw();
        (self.node.kind == Kind::String).then(|| raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default())
    }

    /// The decoded string.
    pub fn string(self) -> Option<Cow<'t, str>> {
        let inside = self.inside()?;
        Some(if self.node.escaped { decode(inside) } else { String::from_utf8_lossy(inside) })
    }

    /// Whether it is the string `text`.
    pub fn is(self, text: &str) -> bool {
        self.inside().is_some_and(|inside| {
            if self.node.escaped { decode(inside) == text } else { inside == text.as_bytes() }
        })
    }

    /// The truth value.
    pub fn bool(self) -> Option<bool> {
        match self.node.kind {
            Kind::True => Some(true),
            Kind::False => Some(false),
            Kind::Null | Kind::Number | Kind::String | Kind::Array | Kind::Object => None,
        }
    }

    /// The number, where it is an integer that fits.
    pub fn integer(self) -> Option<i64> {
        let raw = (self.node.kind == Kind::Number).then(|| self.raw())?;
        std::str::from_utf8(raw).ok()?.parse().ok()
    }

    /// The members of an array; nothing of any other value.
    pub fn elements(self) -> Children<'t> {
        self.children(Kind::Array)
    }

    /// The members of an object in order, duplicate keys included; nothing of any other value.
    pub fn entries(self) -> impl Iterator<Item = (Self, Self)> {
        let mut children = self.children(Kind::Object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The member `key` of an object; of duplicate keys the last, as JavaScript reads it.
    pub fn get(self, key: &str) -> Option<Self> {
        self.entries().filter(|(name, _)| name.is(key)).last().map(|(_, value)| value)
    }

    /// The member reached by one key after the other.
    pub fn path(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The decoded string member `key`.
    pub fn string_at(self, key: &str) -> Option<Cow<'t, str>> {
        self.get(key)?.string()
    }

    /// The value at a JSON pointer below this one.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        pointer.split('/').skip(1).try_fold(self, |value, token| match value.kind() {
            Kind::Array => value.elements().nth(token.parse().ok()?),
            _ => value.get(&token.replace("~1", "/").replace("~0", "~")),
        })
    }

    /// What the scan of the whole JSON text tolerated.
    pub fn oddities(self) -> impl Iterator<Item = Oddity> + use<> {
        self.tape.oddities()
    }

    /// A key that stands twice in this object.
    pub fn duplicate_key(self) -> Option<Cow<'t, str>> {
        let mut keys: Vec<&[u8]> = self.entries().map(|(key, _)| key.raw()).collect();
        keys.sort_unstable();
        let twice = keys.windows(2).find(|pair| pair.first() == pair.last())?;
        let raw = twice.first()?;
        Some(decode(raw.get(1..raw.len().saturating_sub(1))?))
    }

    fn children(self, kind: Kind) -> Children<'t> {
        let end = if self.node.kind == kind { self.node.next } else { self.at };
        Children { parent: self, at: self.at.saturating_add(1), end }
    }

    /// Index of the value behind this one and everything in it.
    fn next_sibling(self) -> u32 {
        self.node.next.max(narrow(widen(self.at) + 1))
    }
}

/// The direct members of a container.
#[derive(Debug)]
pub struct Children<'t> {
    parent: Value<'t>,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Value<'t>;

    fn next(&mut self) -> Option<Value<'t>> {
        if self.at >= self.end {
            return None;
        }
        let child = Value::new(self.parent.tape, self.parent.bytes, self.parent.base, self.at)?;
        self.at = child.next_sibling();
        Some(child)
    }
}
