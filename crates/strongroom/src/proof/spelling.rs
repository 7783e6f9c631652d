//! How cited bytes stand for the text that is quoted.

use serde::{Deserialize, Serialize};

/// How often a quotation was written as a JSON string before it stood in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Spelling {
    /// Not at all: the bytes are the text.
    Text,
    /// Once.
    Json,
    /// Twice.
    JsonInJson,
}

impl Spelling {
    const ALL: [Self; 3] = [Self::Text, Self::Json, Self::JsonInJson];

    /// The text that `bytes` stand for, where they do.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(bytes).ok()?;
        match self {
            Self::Text => Some(text.to_owned()),
            Self::Json => unquote(text),
            Self::JsonInJson => unquote(&unquote(text)?),
        }
    }

    /// The spelling in which `bytes` stand for `quote`, where there is one.
    pub(super) fn of(bytes: &[u8], quote: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|spelling| spelling.decode(bytes).as_deref() == Some(quote))
    }
}

fn unquote(text: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{text}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stand_for_a_quote_in_one_of_three_ways() {
        for (bytes, quote, spelling) in [
            ("a b", "a b", Some(Spelling::Text)),
            (r"a\nb", "a\nb", Some(Spelling::Json)),
            (r#"\\n\\\"\u0041"#, "\n\"A", Some(Spelling::JsonInJson)),
            (r#"a","b"#, "ab", None),
            (r"\q", "q", None),
        ] {
            assert_eq!(Spelling::of(bytes.as_bytes(), quote), spelling, "{bytes}");
        }
        assert_eq!(Spelling::of(b"\xff", "\u{fffd}"), None);
    }
}
