//! Tokens, by `o200k_base`.

/// The name of the tokenizer, which stands beside every count.
pub const TOKENIZER: &str = "o200k_base";

/// Counts the tokens of `text`.
pub fn count(text: &str) -> u64 {
    u64::try_from(bpe_openai::o200k_base().count(text)).unwrap_or(u64::MAX)
}
