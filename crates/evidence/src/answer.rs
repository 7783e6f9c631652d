//! Answers: what the spans of a scope say to a query, with citations, or with what is missing.

mod absence;
mod agents;
mod cite;
mod claim;
mod conflict;
mod decide;
mod facet;
mod hole;
mod image;
mod ledger;
mod matching;
mod pattern;
mod position;
mod possible;
mod render;
mod repeat;
mod report;
mod row;
mod rule;
mod search;
mod secret;
mod select;
mod sentence;
mod statement;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod truth;
mod undo;
mod undone;
mod values;

use std::fmt;

use serde::Serialize;

pub use conflict::{Conflict, ConflictKind, Conflicts, conflicts};
pub use ledger::{CallPlace, Gap, Ledger, LedgerRow, Match, Reversibility, RolledBack, ledger};
pub use render::render_text;
pub use repeat::{CallRow, Calls, Repeat, calls};
pub use search::{Hit, Hits, Needle, Search, search};
pub use secret::{Masker, secrets_in};
pub use sentence::weigh;

use crate::query::{Query, QueryError};
use crate::session::{NoRawMap, RawMap, Scope};

/// How a question is answered.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Whether opaque runs are bounded by assumptions.
    pub strictness: Strictness,
    /// The key under which secrets are fingerprinted.
    pub key: [u8; 32],
    /// Access to the bytes behind texts.
    pub raw: &'o dyn RawMap,
    /// The most events that are cited, and that are named as blocking, where the query sets no limit.
    pub events_max: usize,
}

/// The most events that are cited where nobody asks for more.
const EVENTS_USUAL: usize = 50;

impl Default for Options<'_> {
    fn default() -> Self {
        Self { strictness: Strictness::Assume, key: [0; 32], raw: &NoRawMap, events_max: EVENTS_USUAL }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("strictness", &self.strictness).finish_non_exhaustive()
    }
}

/// Whether opaque runs are bounded by the assumptions A1 and A2.
///
/// A3 says what is spoken of, the recorded calls, and stands in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// They are; the answer prints those it rests on.
    Assume,
    /// They are not: whatever is not known blocks.
    Strict,
}

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The citations show it.
    Supported,
    /// Everything was searched and nothing is there.
    Absent,
    /// Two sources disagree; both are cited.
    Conflicting,
    /// Somebody says so, and nothing shows it.
    Unverified,
    /// What is missing is named.
    Insufficient,
}

impl Verdict {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Absent => "absent",
            Self::Conflicting => "conflicting",
            Self::Unverified => "unverified",
            Self::Insufficient => "insufficient",
        }
    }

    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Insufficient => "insufficient evidence",
            other => other.word(),
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The version of this form.
    pub schema: u32,
    /// The normalised query that was answered.
    pub reading: String,
    /// What the answer is worth.
    pub verdict: Verdict,
    /// The answer in words.
    pub answer: Option<String>,
    /// Recorded values, files, or other short findings, in order.
    pub values: Vec<Finding>,
    /// What shows it; of an insufficient answer, the last evidence.
    pub citations: Vec<Citation>,
    /// What nearly matched, nearest first.
    pub passed_over: Vec<PassedOver>,
    /// What was searched.
    pub scope: Searched,
    /// What the answer rests on, in words.
    pub assumptions: Vec<String>,
    /// The certificate of an absence.
    pub certificate: Option<Certificate>,
}

/// A short finding with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The key, path or kind.
    pub key: String,
    /// The value, or what was done.
    pub value: String,
}

/// A quotation with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// The session.
    pub session: String,
    /// The source, e.g. a path.
    pub source: String,
    /// The item in the source.
    pub item: String,
    /// `L12`, or a JSON pointer where there are no lines.
    pub locator: String,
    /// The 1-based physical line, where there are lines.
    pub record: Option<u32>,
    /// The JSON string that is quoted from; inside the line where there are lines.
    pub json_pointer: Option<String>,
    /// First byte and the byte behind the last, in the item.
    pub bytes: (u64, u64),
    /// Who speaks.
    pub attribution: String,
    /// The child agent; `None` is the main one.
    pub agent: Option<String>,
    /// Exactly the decoding of `bytes`.
    pub quote: String,
    /// The pointer that leads to it, where it was reclaimed.
    pub pointer: Option<String>,
    /// Outcome, branch, or what was left out.
    pub note: Option<String>,
}

/// Something that nearly matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Where it is.
    pub citation: Citation,
    /// Why it is no match, by a fixed word.
    pub why: String,
}

/// What was searched, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of records read.
    pub records: usize,
    /// The number of calls.
    pub calls: usize,
    /// What keeps the answer from being a plain one, rarest kind first.
    pub blocking: Vec<PassedOver>,
    /// All holes, by kind and number.
    pub holes: Vec<HoleCount>,
}

/// Holes of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HoleCount {
    /// The kind, by its fixed words.
    pub kind: String,
    /// How many.
    pub count: usize,
}

/// What was searched when nothing was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// A digest over the reading and all numbers, roots and places below.
    pub digest: String,
    /// The normal form of the query.
    pub reading: String,
    /// The assumptions that were used, in words.
    pub assumptions: Vec<String>,
    /// The sources, each with its number of records and bytes.
    pub sources: Vec<SourceCount>,
    /// Calls examined.
    pub calls: usize,
    /// Effects examined, reads included.
    pub effects: usize,
    /// Runs of which not all is known, shown to be disjoint from the question.
    pub opaque: usize,
    /// Holes that could hide a match: none.
    pub holes: usize,
}

/// A source in a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceCount {
    /// Its name.
    pub source: String,
    /// Its records.
    pub records: usize,
    /// Its bytes.
    pub bytes: u64,
    /// The root hash over its pieces, where its bytes can be read: the id of its revision in custody.
    pub root: Option<String>,
}

/// Answers `query` from `scope`.
///
/// # Errors
/// When a pattern is too large to compile.
pub fn answer(query: &Query, scope: &Scope<'_>, options: &Options<'_>) -> Result<Answer, QueryError> {
    decide::decide(query, scope, options)
}
