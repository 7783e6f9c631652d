//! The bytes of journal entries and records: fixed widths, big-endian, lists and texts with their length.

use strongroom_core::digest::Digest;
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

/// Writes fields one after another.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.raw(&value.to_be_bytes());
    }

    pub(crate) fn i64(&mut self, value: i64) {
        self.raw(&value.to_be_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn digest(&mut self, digest: &Digest) {
        self.raw(digest.as_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.raw(text.as_bytes());
    }

    pub(crate) fn retention(&mut self, retention: Retention) {
        match retention {
            Retention::Unknown => self.u8(0),
            Retention::Until(until) => {
                self.u8(1);
                self.i64(until.as_ms());
            }
            Retention::Indefinite => self.u8(2),
        }
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.count(items.len());
        for each in items {
            item(self, each);
        }
    }

    pub(crate) fn option<T>(&mut self, value: Option<&T>, item: impl FnOnce(&mut Self, &T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            item(self, value);
        }
    }

    /// Lists and texts of 2^32 and more do not occur: a source has at most 2^32 records, a record at most 256 MiB.
    fn count(&mut self, len: usize) {
        self.u32(u32::try_from(len).unwrap_or(u32::MAX));
    }
}

/// Reads fields one after another; never panics, whatever the bytes.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, which are `what` in messages.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// Ends the reading; nothing may be left.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("it has bytes behind its end")) }
    }

    /// The error that `why` makes these bytes unreadable.
    pub(crate) fn malformed(&self, why: &str) -> Error {
        Error::corrupt(format!("{} cannot be read: {why}", self.what))
    }

    pub(crate) fn raw(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(len).ok_or_else(|| self.malformed("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.raw(N)?;
        bytes.try_into().map_err(|_| self.malformed("it ends too early"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn digest(&mut self) -> Result<Digest> {
        self.array().map(Digest::from_bytes)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let len = usize::try_from(self.u32()?).map_err(|_| self.malformed("a text is too long"))?;
        let bytes = self.raw(len)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| self.malformed("a text is not UTF-8"))
    }

    pub(crate) fn retention(&mut self) -> Result<Retention> {
        match self.u8()? {
            0 => Ok(Retention::Unknown),
            1 => Ok(Retention::Until(Timestamp::from_ms(self.i64()?))),
            2 => Ok(Retention::Indefinite),
            other => Err(self.malformed(&format!("{other} is no kind of retention"))),
        }
    }

    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.u32()?;
        // The count is not trusted with an allocation: a short text may claim four thousand million items.
        (0..count).map(|_| item(self)).collect()
    }

    pub(crate) fn option<T>(&mut self, item: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        match self.u8()? {
            0 => Ok(None),
            1 => item(self).map(Some),
            other => Err(self.malformed(&format!("{other} is neither absent nor present"))),
        }
    }
}
