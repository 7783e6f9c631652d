//! Budgets: the share of a transcript's tokens that a compactor may keep.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A share, in tenths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(u32);

impl Share {
    /// So many percent.
    pub const fn percent(percent: u32) -> Self {
        Self(percent.saturating_mul(10))
    }

    /// The share in thousandths.
    pub fn per_mille(self) -> u64 {
        u64::from(self.0)
    }

    /// The share of `whole` tokens.
    pub fn of(self, whole: u64) -> u64 {
        whole.saturating_mul(self.per_mille()) / 1_000
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{} %", self.0 / 10),
            tenths => write!(f, "{}.{tenths} %", self.0 / 10),
        }
    }
}

impl FromStr for Share {
    type Err = String;

    /// Reads percent with at most one decimal: `3.2`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || format!("{text:?} is no share; give percent, like 10 or 3.2");
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        let whole: u32 = whole.parse().map_err(|_| malformed())?;
        match tenths.as_bytes() {
            [digit @ b'0'..=b'9'] if whole <= 100 => Ok(Self(whole * 10 + u32::from(digit - b'0'))),
            _ => Err(malformed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_written() {
        for (text, of, written) in [("10", 100, "10 %"), ("3.2", 32, "3.2 %"), ("0.5", 5, "0.5 %")] {
            let share: Share = text.parse().unwrap();
            assert_eq!((share.of(1_000), share.to_string().as_str()), (of, written));
        }
        for bad in ["", "x", "3.25", "3.", "-1", "101"] {
            assert!(bad.parse::<Share>().is_err(), "{bad}");
        }
    }
}
