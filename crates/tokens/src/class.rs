//! What the pattern of `o200k_base` distinguishes of a character.

/// The class of a character. The build script writes these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// What is none of the others: punctuation, symbols, controls, what is not assigned.
    Other,
    /// Upper and title case.
    Upper,
    /// Lower case.
    Lower,
    /// Letters without case, and modifiers.
    Letter,
    /// Marks, which go with the letter before them.
    Mark,
    /// Numbers.
    Number,
    /// White space within a line.
    Space,
    /// `\r` and `\n`.
    Newline,
}

/// Some classes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Set(u8);

impl Set {
    /// What the head of a word may be of.
    pub(crate) const HEAD: Self = Self::of(&[Class::Upper, Class::Letter, Class::Mark]);

    /// What the tail of a word may be of.
    pub(crate) const TAIL: Self = Self::of(&[Class::Lower, Class::Letter, Class::Mark]);

    /// What a run of signs may be of.
    pub(crate) const SIGN: Self = Self::of(&[Class::Other, Class::Mark]);

    pub(crate) const WHITE: Self = Self::of(&[Class::Space, Class::Newline]);

    const fn of(mut classes: &[Class]) -> Self {
        let mut bits = 0;
        while let [first, rest @ ..] = classes {
            bits |= 1 << *first as u8;
            classes = rest;
        }
        Self(bits)
    }

    #[inline]
    pub(crate) const fn holds(self, class: Class) -> bool {
        self.0 >> class as u8 & 1 == 1
    }
}

impl Class {
    const fn of_number(number: u8) -> Self {
        match number {
            1 => Self::Upper,
            2 => Self::Lower,
            3 => Self::Letter,
            4 => Self::Mark,
            5 => Self::Number,
            6 => Self::Space,
            7 => Self::Newline,
            _ => Self::Other,
        }
    }
}

/// How many characters share a row of [`ROWS`].
const ROW: usize = 128;

/// The row of each run of [`ROW`] characters.
static ROW_OF: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/row_of"));

/// The distinct rows, one class in a byte; the first is that of ASCII.
static ROWS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rows"));

static ASCII: [Class; ROW] = ascii();

#[expect(clippy::indexing_slicing, reason = "constants over all of ASCII")]
const fn ascii() -> [Class; ROW] {
    let mut all = [Class::Other; ROW];
    let mut at = 0;
    while at < ROW {
        all[at] = Class::of_number(ROWS[at]);
        at += 1;
    }
    all
}

/// The class of a character of ASCII.
#[inline]
pub(crate) fn of_ascii(byte: u8) -> Class {
    ASCII.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

pub(crate) fn of_char(char: char) -> Class {
    let at = usize::try_from(u32::from(char)).unwrap_or_default();
    let row = ROW_OF.get(at / ROW).copied().map_or(0, usize::from);
    Class::of_number(ROWS.get(row * ROW + at % ROW).copied().unwrap_or_default())
}
