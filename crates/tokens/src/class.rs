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

impl Class {
    /// What the head of a word may be of.
    pub(crate) const fn is_head(self) -> bool {
        matches!(self, Self::Upper | Self::Letter | Self::Mark)
    }

    /// What the tail of a word may be of.
    pub(crate) const fn is_tail(self) -> bool {
        matches!(self, Self::Lower | Self::Letter | Self::Mark)
    }

    /// What a run of signs may be of.
    pub(crate) const fn is_sign(self) -> bool {
        matches!(self, Self::Other | Self::Mark)
    }

    pub(crate) const fn is_white(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }

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

/// The class of a character of ASCII.
pub(crate) fn of_ascii(byte: u8) -> Class {
    Class::of_number(ROWS.get(usize::from(byte)).copied().unwrap_or_default())
}

pub(crate) fn of_char(char: char) -> Class {
    let at = usize::try_from(u32::from(char)).unwrap_or_default();
    let row = ROW_OF.get(at / ROW).copied().map_or(0, usize::from);
    Class::of_number(ROWS.get(row * ROW + at % ROW).copied().unwrap_or_default())
}
