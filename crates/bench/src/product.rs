//! Strongroom as an answerer, through its public interface.

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use strongroom::answer::{Answer, Citation, Strictness, render_text};
use strongroom::archive::{Archive, Mode};
use strongroom::ask::{AskOptions, Asked};
use strongroom::compact::{Options, Outcome, Purpose, Secrets, Unmet, compact};
use strongroom::policy::Policy;
use strongroom::query::{Query, read};
use strongroom::time::Timestamp;
use strongroom::tokens::Budget;
use strongroom::transcript::{SessionFiles, Transcript};

use crate::budget::Share;
use crate::question::Question;
use crate::reply::{Cited, Condition, Put, Reply, Verdict, micros};
use crate::seed::hex;

/// What Strongroom is called in tables.
pub const NAME: &str = "strongroom";

/// The instant at which everything happens: results do not depend on the day.
const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// At most so many citations of an answer are kept.
const CITATIONS: usize = 64;

/// What was asked, and how.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'q> {
    /// The question.
    pub question: &'q Question,
    /// How it is put.
    pub put: Put,
}

impl Asking<'_> {
    fn text(&self) -> &str {
        match self.put {
            Put::Typed => &self.question.query,
            Put::Plain(at) => self.question.plain.get(usize::from(at)).map_or("", String::as_str),
        }
    }
}

/// A transcript that can be asked.
#[derive(Debug)]
pub struct Ready {
    asked: Asked,
    key: [u8; 32],
}

/// Makes the transcript `bytes` ready; `store` holds what was reclaimed from it.
///
/// # Errors
/// What Strongroom says.
pub fn ready(name: &str, bytes: Vec<u8>, format: &str, store: Option<&Archive>) -> strongroom::Result<Ready> {
    let transcript = Transcript::from_bytes(name, bytes, Some(format))?;
    let mut asked = Asked::default();
    asked.add(SessionFiles::of(transcript), store)?;
    Ok(Ready { asked, key: store.map_or([0; 32], Archive::fingerprint_key) })
}

impl Ready {
    /// Answers all `asks`; what they are asked of is examined once.
    ///
    /// # Errors
    /// What Strongroom says of the source; a question that cannot be read is a reply.
    pub fn answer(
        &self,
        asks: &[Asking<'_>],
        condition: Condition,
        budget: Option<Share>,
    ) -> strongroom::Result<Vec<Reply>> {
        let mut queries: Vec<Query> = Vec::new();
        let mut places: Vec<Option<usize>> = Vec::new();
        for ask in asks {
            let query = read(ask.text()).ok();
            places.push(query.as_ref().map(|_| queries.len()));
            queries.extend(query);
        }
        let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: self.key };
        let start = Instant::now();
        let answers = self.asked.answer_all(&queries, options)?;
        let mean = micros(start.elapsed()) / u64::try_from(answers.len().max(1)).unwrap_or(1);
        let replies = asks.iter().zip(places).map(|(ask, place)| {
            let answer = place.and_then(|at| answers.get(at));
            let mut reply = answer.map_or_else(|| not_understood(ask), |answer| reply_of(ask, answer));
            (reply.condition, reply.budget, reply.micros) = (condition, budget, mean);
            reply
        });
        Ok(replies.collect())
    }
}

/// An answer with the words it quotes.
pub type Quoted = (Verdict, Vec<String>);

impl Ready {
    /// Answers all `asks` with the words that are quoted, for transcripts whose bytes are not the asker's.
    ///
    /// # Errors
    /// As [`Ready::answer`].
    pub fn quotes(&self, asks: &[Asking<'_>]) -> strongroom::Result<Vec<Quoted>> {
        let queries = asks
            .iter()
            .map(|ask| read(ask.text()).map_err(|error| strongroom::Error::invalid_input(error.to_string())));
        let queries = queries.collect::<strongroom::Result<Vec<Query>>>()?;
        let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: self.key };
        let answers = self.asked.answer_all(&queries, options)?;
        let quoted = |answer: &Answer| {
            (verdict(answer), answer.citations.iter().map(|own| own.quote.clone()).collect())
        };
        Ok(answers.iter().map(quoted).collect())
    }
}

fn not_understood(ask: &Asking<'_>) -> Reply {
    Reply { put: ask.put, ..Reply::bare(&ask.question.id, NAME, Verdict::NotUnderstood) }
}

/// What is said of a question that cannot be put because the store cannot be used.
pub fn unavailable(
    ask: &Asking<'_>,
    condition: Condition,
    budget: Option<Share>,
    error: &strongroom::Error,
) -> Reply {
    Reply {
        condition,
        budget,
        verdict: Verdict::Insufficient,
        missing: vec![error.to_string()],
        ..not_understood(ask)
    }
}

const fn verdict(answer: &Answer) -> Verdict {
    use strongroom::answer::Verdict as Own;
    match answer.verdict {
        Own::Supported => Verdict::Supported,
        Own::Absent => Verdict::Absent,
        Own::Conflicting => Verdict::Conflicting,
        Own::Unverified => Verdict::Unverified,
        Own::Insufficient => Verdict::Insufficient,
    }
}

fn reply_of(ask: &Asking<'_>, answer: &Answer) -> Reply {
    let mut missing: Vec<String> = answer
        .scope
        .blocking
        .iter()
        .map(|own| match &own.citation.note {
            Some(note) => format!("{}: {note}", own.why),
            None => own.why.clone(),
        })
        .collect();
    missing.truncate(8);
    missing.extend(answer.scope.holes.iter().map(|hole| hole.kind.clone()));
    Reply {
        verdict: verdict(answer),
        reading: (ask.put != Put::Typed).then(|| answer.reading.clone()),
        answer: answer.answer.as_deref().map(short),
        values: answer.values.iter().map(|own| short(&own.value)).take(CITATIONS).collect(),
        citations: answer.citations.iter().take(CITATIONS).map(cited).collect(),
        missing,
        tokens: crate::tokens::count(&render_text(answer)),
        ..not_understood(ask)
    }
}

fn short(text: &str) -> String {
    text.chars().take(300).collect()
}

fn cited(citation: &Citation) -> Cited {
    Cited {
        bytes: citation.bytes,
        quote_sha256: hex(&citation.quote),
        speaker: citation.attribution.clone(),
        elsewhere: None,
    }
}

/// A share as Strongroom takes it.
pub fn budget(share: Share) -> Budget {
    Budget::PerMille(share.per_mille())
}

/// What came of a compaction.
#[derive(Debug)]
pub struct Shortened {
    /// The compacted transcript.
    pub bytes: Vec<u8>,
    /// How long it took.
    pub time: Duration,
    /// What it was computed to cost the agent, before and after.
    pub tokens: (u64, u64),
}

/// Compacts a transcript into `store`.
///
/// # Errors
/// What Strongroom says.
pub fn shorten(
    name: &str,
    bytes: Vec<u8>,
    format: &str,
    store: &Archive,
    budget: Budget,
) -> strongroom::Result<Shortened> {
    let session = SessionFiles::of(Transcript::from_bytes(name, bytes.clone(), Some(format))?);
    let policy = Policy::default();
    let options = Options {
        budget,
        policy: &policy,
        now: NOW,
        secrets: Secrets::Keep,
        unmet: Unmet::BestEffort,
        purpose: Purpose::File,
        summariser: None,
    };
    let start = Instant::now();
    let outcome = compact(&session, Some(store), &options, &mut |_| {})?;
    let time = start.elapsed();
    Ok(match outcome {
        Outcome::Compacted(compacted, report) => Shortened {
            bytes: compacted.bytes().to_vec(),
            time,
            tokens: (report.tokens_before.0, report.tokens_after.0),
        },
        Outcome::Unchanged(report) | Outcome::BudgetNotMet { report, .. } => {
            Shortened { bytes, time, tokens: (report.tokens_before.0, report.tokens_before.0) }
        }
    })
}

static POINTER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"sr1:[0-9a-f]{32}(?:#(?:n|\d+))?|\bevidence_ask\b").ok());

static CALLS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m)^#[\d, -]+ .*?\bcalls (\d+)").ok());

/// A summary without the pointers in it, which name what was taken away and claim nothing about it.
pub fn without_pointers(summary: &str) -> String {
    POINTER.as_ref().map_or_else(|| summary.to_owned(), |own| own.replace_all(summary, "").into_owned())
}

/// How many calls a summary says that it stands for; `None` of a text that is none of Strongroom's summaries.
pub fn declared_calls(summary: &str) -> Option<u64> {
    let covered = summary.strip_prefix("[strongroom]")?.split_once("\n## Covers\n")?.1;
    let lines = CALLS.as_ref()?.captures_iter(covered);
    Some(lines.filter_map(|line| line.get(1)?.as_str().parse::<u64>().ok()).sum())
}

/// Opens the store in `dir`, or makes one.
///
/// # Errors
/// What Strongroom says.
pub fn store(dir: &Path) -> strongroom::Result<Archive> {
    Archive::open(dir, Mode::CreateIfMissing)
}

/// Opens the store in `dir` for reading.
///
/// # Errors
/// What Strongroom says.
pub fn store_for_reading(dir: &Path) -> strongroom::Result<Archive> {
    Archive::open(dir, Mode::ReadOnly)
}
