//! Replies: what an answerer said to a question, in a form that every answerer can be brought to.

use serde::{Deserialize, Serialize};

use crate::budget::Share;
use crate::phrases::SHOWN;

/// What an answer claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is asserted.
    Supported,
    /// It is denied: nothing of the kind happened.
    Absent,
    /// Sources disagree.
    Conflicting,
    /// Somebody says so.
    Unverified,
    /// Nothing is asserted.
    Insufficient,
    /// The question was not understood.
    NotUnderstood,
}

/// What stands in an answer's support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// The bytes in the transcript: the first, and the one behind the last.
    pub bytes: (u64, u64),
    /// The SHA-256 of the quoted text.
    pub quote_sha256: String,
    /// Who is said to speak.
    pub speaker: String,
    /// Where the answerer had another file than the transcript: whether those bytes of it decode to what is quoted, and
    /// which pieces of gold stand in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Vec<usize>>,
}

impl Cited {
    /// The bytes it names, as texts: as they are, as a JSON string, and as one inside another.
    pub fn texts(&self, file: &[u8]) -> Vec<String> {
        let range = usize::try_from(self.bytes.0).ok().zip(usize::try_from(self.bytes.1).ok());
        let bytes = range.and_then(|(start, end)| file.get(start..end));
        let Some(text) = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()) else { return Vec::new() };
        let decode = |text: &str| serde_json::from_str::<String>(&format!("\"{text}\"")).ok();
        let once = decode(text);
        let twice = once.as_deref().and_then(decode);
        [Some(text.to_owned()), once, twice].into_iter().flatten().collect()
    }

    /// The text it quotes, where the bytes it names in `file` decode to that.
    pub fn quote(&self, file: &[u8]) -> Option<String> {
        self.texts(file).into_iter().find(|text| crate::seed::hex(text) == self.quote_sha256)
    }
}

/// How a question was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Put {
    /// In the query language.
    Typed,
    /// In plain words, by the number of the phrasing.
    Plain(u8),
}

/// The words of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// The query language.
    Typed,
    /// Plain words.
    Plain,
    /// Plain words to which no reader of questions was fitted.
    HeldOut,
}

impl Wording {
    /// What tables put behind a condition.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Typed => "",
            Self::Plain => ", plain words",
            Self::HeldOut => ", plain words held out",
        }
    }
}

impl Put {
    /// The words that are used.
    pub const fn wording(self) -> Wording {
        match self {
            Self::Typed => Wording::Typed,
            Self::Plain(at) if at < SHOWN => Wording::Plain,
            Self::Plain(_) => Wording::HeldOut,
        }
    }
}

/// What the answerer had before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The whole transcript.
    Full,
    /// The records that matter and nothing else.
    Oracle,
    /// The compacted context alone.
    Context,
    /// The compacted context, and what can be retrieved from it.
    Retrieval,
    /// The compacted context without the store behind it.
    LostStore,
    /// The compacted context with another store.
    OtherStore,
    /// The compacted context with a store that was damaged.
    DamagedStore,
}

impl Condition {
    /// The words in tables.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Full => "full transcript",
            Self::Oracle => "oracle records",
            Self::Context => "context only",
            Self::Retrieval => "context + retrieval",
            Self::LostStore => "store lost",
            Self::OtherStore => "another store",
            Self::DamagedStore => "store damaged",
        }
    }

    /// Whether evidence is gone on purpose.
    pub const fn is_loss(self) -> bool {
        matches!(self, Self::LostStore | Self::OtherStore | Self::DamagedStore)
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The question's name.
    pub question: String,
    /// Who answered.
    pub answerer: String,
    /// The budget of the compaction, of the tokens before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Share>,
    /// What the answerer had.
    pub condition: Condition,
    /// How the question was put.
    pub put: Put,
    /// What the answer claims to be.
    pub verdict: Verdict,
    /// How the question was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// Of an answerer that only hands back text: whether the gold stands in it, under the right speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal: Option<bool>,
    /// Of an answerer that retrieves text without saying where it stands: whether the gold stands in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<bool>,
    /// The answer in words.
    pub answer: Option<String>,
    /// The values it gives, the last one last.
    pub values: Vec<String>,
    /// What supports it.
    pub citations: Vec<Cited>,
    /// What it says is missing.
    pub missing: Vec<String>,
    /// The tokens of the answer as it reaches a model.
    pub tokens: u64,
    /// How long it took, in microseconds; of questions asked together, the mean.
    pub micros: u64,
}

impl Reply {
    /// A reply of which nothing is known but its verdict, to a typed question put to an intact transcript.
    pub(crate) fn bare(question: &str, answerer: &str, verdict: Verdict) -> Self {
        Self {
            question: question.to_owned(),
            answerer: answerer.to_owned(),
            budget: None,
            condition: Condition::Full,
            put: Put::Typed,
            verdict,
            reading: None,
            literal: None,
            shown: None,
            answer: None,
            values: Vec::new(),
            citations: Vec::new(),
            missing: Vec::new(),
            tokens: 0,
            micros: 0,
        }
    }
}

/// A length of time in microseconds.
pub(crate) fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
