//! What the package asks for, in JSON.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use strongroom::answer::Strictness;
use strongroom::compact::Unmet;
use strongroom::custodian::Conversation;
use strongroom::{Error, Result};

/// Messages and how the archive calls them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) format: Option<String>,
}

impl Named {
    pub(crate) fn conversation(self, messages: &str) -> Conversation {
        let conversation = Conversation::new(self.name, messages.as_bytes().to_vec());
        match self.format {
            Some(format) => conversation.in_format(format),
            None => conversation,
        }
    }
}

/// A compaction.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compact {
    pub(crate) of: Named,
    pub(crate) budget: String,
    pub(crate) unmet: UnmetWord,
    /// Who writes prose, in the words of the command line; the name of the callable where one does.
    #[serde(default)]
    pub(crate) summarizer: Option<String>,
    /// The present, in milliseconds since 1970.
    pub(crate) now_ms: i64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UnmetWord {
    Stop,
    BestEffort,
}

impl From<UnmetWord> for Unmet {
    fn from(word: UnmetWord) -> Self {
        match word {
            UnmetWord::Stop => Self::Stop,
            UnmetWord::BestEffort => Self::BestEffort,
        }
    }
}

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Of {
    /// The messages that stand beside the request.
    Messages(Named),
    /// A transcript on disk, or in custody under its path.
    File { path: PathBuf, format: Option<String> },
    /// Everything in custody.
    Custody,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StrictnessWord {
    Assume,
    Strict,
}

impl From<StrictnessWord> for Strictness {
    fn from(word: StrictnessWord) -> Self {
        match word {
            StrictnessWord::Assume => Self::Assume,
            StrictnessWord::Strict => Self::Strict,
        }
    }
}

/// A question, or a sentence to be weighed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) of: Of,
    pub(crate) text: String,
    pub(crate) strictness: StrictnessWord,
}

/// A ledger, of the effects that meet all fields and terms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    pub(crate) of: Of,
    pub(crate) fields: Vec<(String, Vec<String>)>,
    pub(crate) terms: Vec<String>,
}

/// An import.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Import {
    pub(crate) paths: Vec<PathBuf>,
    /// The present, in milliseconds since 1970.
    pub(crate) now_ms: i64,
}

/// Reads a request.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::invalid_input(format!("the request: {error}")))
}
