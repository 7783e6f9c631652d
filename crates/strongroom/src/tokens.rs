//! Token counts: what the agent would send, by `o200k_base`.

use strongroom_core::transcript::{Block, BlockKind, Visibility};

/// A number of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tokens(pub u64);

impl std::ops::Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl std::iter::Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        Self(counts.map(|count| count.0).sum())
    }
}

/// What a message costs beside its text: role, ids and separators.
const OVERHEAD: u64 = 4;

/// What an image costs, as vendors state it for a screenshot.
const IMAGE: u64 = 1_500;

/// Counts the tokens of `text`.
pub fn count(text: &str) -> Tokens {
    Tokens(strongroom_tokens::count(text))
}

/// What a block costs in the next request; nothing when the agent would not send it.
pub fn of_block(block: &Block, text: &str, arguments: &str) -> Tokens {
    if block.visibility != Visibility::Context {
        return Tokens(0);
    }
    let content = match &block.kind {
        BlockKind::Call(call) => count(&call.tool) + count(arguments),
        BlockKind::Attachment { .. } => Tokens(IMAGE),
        BlockKind::Text
        | BlockKind::Paste
        | BlockKind::Thinking
        | BlockKind::Result(_)
        | BlockKind::SideData { .. }
        | BlockKind::Summary
        | BlockKind::Opaque(_) => count(text),
    };
    content + Tokens(OVERHEAD)
}

/// What a message with `text` costs.
pub fn of_message(text: &str) -> Tokens {
    count(text) + Tokens(OVERHEAD)
}

/// A budget for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// A share of what the agent would send now, in percent.
    Percent(u64),
    /// A share of what the agent would send now, in thousandths.
    PerMille(u64),
    /// A number of tokens.
    Tokens(Tokens),
}

impl Budget {
    /// The budget in tokens, of a context of `whole` tokens.
    pub fn of(self, whole: Tokens) -> Tokens {
        match self {
            Self::Percent(percent) => Tokens(whole.0.saturating_mul(percent) / 100),
            Self::PerMille(share) => Tokens(whole.0.saturating_mul(share) / 1_000),
            Self::Tokens(tokens) => tokens,
        }
    }
}

impl std::str::FromStr for Budget {
    type Err = strongroom_core::error::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || {
            Self::Err::invalid_input(format!(
                "{text:?} is no budget; give a share like 20% or tokens like 30000 or 30k"
            ))
        };
        let number = |digits: &str| digits.trim().replace('_', "").parse::<u64>().map_err(|_| malformed());
        if let Some(percent) = text.strip_suffix('%') {
            if let Some((whole, tenth)) = percent.split_once('.') {
                return match (number(whole)?, number(tenth)?) {
                    (whole @ 0..100, tenth @ 0..10) if tenth + whole > 0 => {
                        Ok(Self::PerMille(whole * 10 + tenth))
                    }
                    _ => Err(malformed()),
                };
            }
            return match number(percent)? {
                percent @ 1..=100 => Ok(Self::Percent(percent)),
                _ => Err(malformed()),
            };
        }
        let tokens = match text.strip_suffix(['k', 'K']) {
            Some(thousands) => number(thousands)?.saturating_mul(1_000),
            None => number(text)?,
        };
        if tokens == 0 { Err(malformed()) } else { Ok(Self::Tokens(Tokens(tokens))) }
    }
}

/// Counts of a vendor whose tokenizer is not public, estimated from what the transcript itself reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The vendor's tokens for one of ours.
    pub factor: f64,
    /// How many reported requests it was learned from.
    pub requests: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read() {
        assert_eq!("20%".parse::<Budget>().unwrap(), Budget::Percent(20));
        assert_eq!("30k".parse::<Budget>().unwrap(), Budget::Tokens(Tokens(30_000)));
        assert_eq!("1_500".parse::<Budget>().unwrap().of(Tokens(9)), Tokens(1_500));
        assert_eq!(Budget::Percent(20).of(Tokens(1_001)), Tokens(200));
        assert_eq!("3.2%".parse::<Budget>().unwrap().of(Tokens(1_000)), Tokens(32));
        for bad in ["3.25%", "0.0%", "100.1%", "3.%", "", "0", "0k", "0%", "101%", "-3", "many"] {
            assert!(bad.parse::<Budget>().is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_are_of_o200k_base() {
        assert_eq!(count("hello world"), Tokens(2));
        assert_eq!(count(""), Tokens(0));
    }
}
