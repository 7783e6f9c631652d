//! The grammar of pointers.
//!
//! ```text
//! pointer = "sr1:" 32*hexdigit [ "#" ordinal ]
//! ordinal = 1*digit                              1-based number of a span under the tag
//! ```
//!
//! A pointer in text is a key to look up. It proves nothing by standing there.

use std::fmt;
use std::str::FromStr;

use crate::digest::Tag;
use crate::error::{Error, Result};

/// The text before the tag.
pub const SCHEME: &str = "sr1:";

/// A reference to all spans under a tag, or to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    /// The compaction.
    pub tag: Tag,
    /// The 1-based number of a span under it.
    pub ordinal: Option<u32>,
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.tag)?;
        self.ordinal.map_or(Ok(()), |ordinal| write!(f, "#{ordinal}"))
    }
}

impl FromStr for Pointer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = |why: &str| {
            Error::invalid_input(format!(
                "{text:?} is no pointer: {why}; expected {SCHEME}<32 hexadecimal digits>[#<span>]"
            ))
        };
        let rest =
            text.trim().strip_prefix(SCHEME).ok_or_else(|| malformed("it does not begin with the scheme"))?;
        let (tag, ordinal) = match rest.split_once('#') {
            Some((tag, ordinal)) => (tag, Some(ordinal)),
            None => (rest, None),
        };
        let tag = tag.parse().map_err(|_| malformed("its tag is not 32 hexadecimal digits"))?;
        let ordinal = ordinal
            .map(|ordinal| {
                ordinal
                    .parse::<u32>()
                    .ok()
                    .filter(|&n| n > 0)
                    .ok_or_else(|| malformed("its span is not a number from 1"))
            })
            .transpose()?;
        Ok(Self { tag, ordinal })
    }
}

/// The pointers that stand in `text`, in order; look-up keys, nothing more.
pub fn find_in(text: &str) -> Vec<Pointer> {
    text.match_indices(SCHEME)
        .filter_map(|(at, _)| {
            let rest = text.get(at..)?;
            let tag = rest.get(..SCHEME.len() + 32)?;
            let pointer: Pointer = tag.parse().ok()?;
            let ordinal = rest.get(tag.len()..)?.strip_prefix('#').and_then(|digits| {
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                digits.get(..end)?.parse().ok()
            });
            Some(Pointer { ordinal, ..pointer })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: &str = "000102030405060708090a0b0c0d0e0f";

    #[test]
    fn pointers_are_read_back_and_found_in_text() {
        for text in [format!("sr1:{TAG}"), format!("sr1:{TAG}#12")] {
            assert_eq!(text.parse::<Pointer>().unwrap().to_string(), text);
        }
        let found = find_in(&format!("see sr1:{TAG}#3, (sr1:{TAG}) and sr1:short é"));
        assert_eq!(found.iter().map(|pointer| pointer.ordinal).collect::<Vec<_>>(), [Some(3), None]);
    }

    #[test]
    fn malformed_pointers_say_what_is_wrong() {
        for (text, why) in [
            ("x", "scheme"),
            ("sr1:12", "32 hexadecimal"),
            ("sr1:000102030405060708090a0b0c0d0e0f#0", "number from 1"),
        ] {
            let message = text.parse::<Pointer>().unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }
}
