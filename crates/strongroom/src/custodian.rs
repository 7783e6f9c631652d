//! The custodian: an archive and a policy for a program that holds its messages in memory.
//!
//! It knows one conversation as bytes under a name, and no file of it. An agent's runtime calls it between two
//! requests; nothing of it is global, and no runtime for asynchronous work is needed.
//!
//! ```
//! use strongroom::answer::Verdict;
//! use strongroom::compact::{Outcome, Unmet};
//! use strongroom::custodian::{Conversation, Custodian};
//! use strongroom::policy::Policy;
//! use strongroom::time::Timestamp;
//! use strongroom::tokens::Budget;
//!
//! # fn main() -> strongroom::Result<()> {
//! # let dir = tempfile::tempdir().map_err(|error| strongroom::Error::bug(error.to_string()))?;
//! # let dir = dir.path();
//! let log = (0..400).map(|n| format!("{n} step done, checksum {:x}", n * 7919)).collect::<Vec<_>>().join("\n");
//! let messages = serde_json::json!([
//!     {"role": "user", "content": "Build it. Never touch the release branch."},
//!     {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
//!         "function": {"name": "run_command", "arguments": "{\"command\": \"make release\"}"}}]},
//!     {"role": "tool", "tool_call_id": "c1", "content": log},
//!     {"role": "assistant", "content": "The build is through."},
//!     {"role": "user", "content": "Thank you. What is next?"},
//! ]);
//! let custodian = Custodian::open(dir, Policy::default())?;
//! let before = Conversation::new("run-17", messages.to_string().into_bytes());
//! let now = Timestamp::from_ms(1_790_000_000_000);
//!
//! let outcome = custodian.compact(before, Budget::Percent(40), Unmet::Stop, now)?;
//! let Outcome::Compacted(compacted, _) = outcome else { panic!("{outcome:?}") };
//!
//! let after = Conversation::new("run-17", compacted.bytes().to_vec());
//! let answer = custodian.ask(after, "results \"checksum 1eef\"")?;
//! assert_eq!(answer.verdict, Verdict::Supported);
//! let pointer = answer.citations[0].pointer.clone().unwrap();
//! assert!(custodian.show(&pointer)?.contains("1 step done, checksum 1eef"));
//! # Ok(())
//! # }
//! ```

use std::path::Path;

use strongroom_archive::{Archive, Mode, Options as Opening};
use strongroom_core::error::{Error, Result};
use strongroom_core::pointer::Pointer;
use strongroom_core::time::Timestamp;
use strongroom_evidence::answer::{Answer, Strictness};
use strongroom_evidence::query::read;

use crate::ask::{AskOptions, Asked};
use crate::compact::{Options, Outcome, Purpose, Secrets, Unmet, compact_above};
use crate::policy::Policy;
use crate::show::{self, Reveal, Shower};
use crate::summariser::Summariser;
use crate::tokens::{Budget, Tokens};
use crate::transcript::{SessionFiles, Transcript};

/// A conversation in memory.
#[derive(Debug, Clone)]
pub struct Conversation {
    name: String,
    bytes: Vec<u8>,
    format: Option<String>,
}

impl Conversation {
    /// `bytes` are the messages as the agent sends them, bare or in a request body. `name` is what the archive calls
    /// the conversation: the same each time, and another for each conversation.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), bytes, format: None }
    }

    /// Says the format, which is told from the content otherwise; few messages can be read in more than one.
    #[must_use]
    pub fn in_format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    fn session(self) -> Result<SessionFiles> {
        Ok(SessionFiles::of(Transcript::of_conversation(self.name, self.bytes, self.format.as_deref())?))
    }
}

/// An archive with the policy by which it is filled.
#[derive(Debug)]
pub struct Custodian {
    archive: Archive,
    policy: Policy,
}

/// On what terms a conversation is compacted.
struct Terms<'a> {
    budget: Budget,
    unmet: Unmet,
    high: Option<Tokens>,
    summariser: Option<&'a dyn Summariser>,
}

impl Custodian {
    /// Opens the archive in `dir`, and makes one where there is none.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn open(dir: &Path, policy: Policy) -> Result<Self> {
        Ok(Self { archive: Archive::open(dir, Mode::CreateIfMissing)?, policy })
    }

    /// Opens the archive in `dir` as `options` say.
    ///
    /// # Errors
    /// As [`Archive::open_with`].
    pub fn open_with(dir: &Path, options: &Opening, policy: Policy) -> Result<Self> {
        Ok(Self { archive: Archive::open_with(dir, options)?, policy })
    }

    /// The archive.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The policy by which it is filled.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Compacts a conversation; what is reclaimed is in custody when this returns. Secrets are hidden in the output.
    ///
    /// # Errors
    /// As [`compact`], and `InvalidInput` of bytes that are no conversation.
    pub fn compact(
        &self,
        conversation: Conversation,
        budget: Budget,
        unmet: Unmet,
        now: Timestamp,
    ) -> Result<Outcome> {
        self.on(conversation, &Terms { budget, unmet, high: None, summariser: None }, now)
    }

    /// The same with prose by `summariser`, of which each sentence is proved or struck; the report tells which.
    ///
    /// # Errors
    /// As [`Custodian::compact`]; a summariser that fails is none.
    pub fn compact_told(
        &self,
        conversation: Conversation,
        (budget, unmet): (Budget, Unmet),
        now: Timestamp,
        summariser: Option<&dyn Summariser>,
    ) -> Result<Outcome> {
        self.on(conversation, &Terms { budget, unmet, high: None, summariser }, now)
    }

    /// As [`compact`](Self::compact), once the agent would send more than `high` tokens: until then the conversation
    /// comes back byte for byte, and the report says above which size it is due. Called before every request, it keeps
    /// the prefix of a conversation the same from one compaction to the next.
    ///
    /// # Errors
    /// As [`compact`](Self::compact), and `InvalidInput` of a mark that is not above the budget.
    pub fn compact_above(
        &self,
        conversation: Conversation,
        high: Option<Tokens>,
        (budget, unmet): (Budget, Unmet),
        now: Timestamp,
    ) -> Result<Outcome> {
        self.on(conversation, &Terms { budget, unmet, high, summariser: None }, now)
    }

    fn on(&self, conversation: Conversation, terms: &Terms<'_>, now: Timestamp) -> Result<Outcome> {
        let options = Options {
            budget: terms.budget,
            policy: &self.policy,
            now,
            secrets: Secrets::Mask,
            unmet: terms.unmet,
            purpose: Purpose::File,
            summariser: terms.summariser,
        };
        compact_above(&conversation.session()?, Some(&self.archive), &options, terms.high, &mut |_| ())
    }

    /// Answers a question, typed or plain, from a conversation and the originals behind the summaries in it.
    ///
    /// # Errors
    /// `InvalidInput` of a question that cannot be read, and as [`Asked::answer`].
    pub fn ask(&self, conversation: Conversation, question: &str) -> Result<Answer> {
        let query = read(question).map_err(|error| Error::invalid_input(error.to_string()))?;
        self.ready(conversation)?.answer(&query, self.ask_options(Strictness::Assume))
    }

    /// Makes a conversation ready for several questions.
    ///
    /// # Errors
    /// `InvalidInput` of bytes that are no conversation, and as [`Asked::add`].
    pub fn ready(&self, conversation: Conversation) -> Result<Asked> {
        let mut asked = Asked::default();
        asked.add(conversation.session()?, Some(&self.archive))?;
        Ok(asked)
    }

    /// How questions are answered from what is [`ready`](Self::ready).
    pub fn ask_options(&self, strictness: Strictness) -> AskOptions {
        AskOptions { strictness, fingerprint_key: self.archive.fingerprint_key() }
    }

    /// The original behind the pointer of one span, as text, secrets hidden.
    ///
    /// # Errors
    /// `InvalidInput` of a text that is no pointer to a span, and as [`show::bytes`].
    pub fn show(&self, pointer: &str) -> Result<String> {
        let pointer: Pointer = pointer.parse()?;
        let record = show::record(&self.archive, pointer)?;
        Shower::new(&self.archive, &record).text(show::span(&record, pointer)?, Reveal::Mask)
    }
}

#[cfg(test)]
mod tests;
