//! The evidence card: what of a session's past an agent must not lose, in a bounded number of tokens.
//!
//! An agent whose context was just replaced by a summary gets it as data: the user's standing constraints in their
//! own words, what was done so that it is not done again, what is open, and how to ask for the rest. Every line names
//! its record, and what does not fit is counted.

mod done;
mod open;
mod rules;
mod text;

use strongroom_archive::Archive;
use strongroom_core::error::{Error, Result};
use strongroom_core::transcript::RecordKind;
use strongroom_evidence::answer::{self, Masker, Options};
use strongroom_evidence::query::{Query, parse};
use strongroom_evidence::session::Scope;

use crate::ask::{AskOptions, Asked, TOLD_FIRST};
use crate::tokens::Tokens;
use crate::transcript::{SessionFiles, Transcript};

use text::{Keep, Section, lay_out};

/// How a card is made.
#[derive(Debug, Clone)]
pub struct CardOptions {
    /// How its questions are answered, and the key of fingerprints that stand for secrets.
    pub ask: AskOptions,
    /// The most tokens it may have.
    pub budget: Tokens,
    /// What it opens with, a line each, before anything from the transcript.
    pub opening: Vec<String>,
    /// How to ask for more, a line each.
    pub closing: Vec<String>,
}

/// An evidence card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its text.
    pub text: String,
    /// What it costs.
    pub tokens: Tokens,
    /// The lines of evidence in it.
    pub shown: usize,
    /// The lines of evidence that did not fit; the text counts them.
    pub omitted: usize,
}

/// The constraints in force, in the words of the main session's user.
const RULES: &str = "list rules by:user state:in-force limit:500";

/// Everything that was done, reads left out.
const EFFECTS: &str = "list effects";

/// What every card says of itself, behind [`TOLD_FIRST`].
const TITLE: &str = "evidence card of this session. L12 is line 12 of its transcript.";

impl Card {
    /// The card of a session.
    ///
    /// # Errors
    /// `Unavailable` when the transcript or the archive cannot be read.
    pub fn of(files: SessionFiles, archive: Option<&Archive>, options: &CardOptions) -> Result<Self> {
        let facts = Facts::of(&files.main);
        let mut asked = Asked::default();
        asked.add(files, archive)?;
        let (rules, effects) = (query(RULES)?, query(EFFECTS)?);
        let sections = asked.with_scope(options.ask, |scope, asking| -> Result<Vec<Section>> {
            let failed = |error: strongroom_evidence::query::QueryError| Error::bug(error.to_string());
            let rules = answer::answer(&rules, scope, asking).map_err(failed)?;
            let ledger = answer::ledger(&effects, scope, asking).map_err(failed)?;
            Ok(vec![
                rules::section(&rules, scope, &Masker::new(scope, asking)),
                done::section(&ledger.rows, &facts),
                open_section(scope, asking, &ledger.rows, &facts),
                open::unseen(&ledger.gaps),
            ])
        })??;
        let mut opening = options.opening.clone();
        opening.push(format!("{TOLD_FIRST}: {TITLE}"));
        opening.push(facts.words());
        Ok(lay_out(&opening, sections, &options.closing, options.budget))
    }
}

fn open_section(
    scope: &Scope<'_>,
    asking: &Options<'_>,
    rows: &[answer::LedgerRow],
    facts: &Facts,
) -> Section {
    let masker = Masker::new(scope, asking);
    let mut lines = open::unfinished(scope, &masker);
    lines.extend(open::not_done(rows, facts));
    Section {
        title: "Open",
        lines,
        keep: Keep::First,
        more: "list effects outcome:failed|interrupted|unknown",
        none: "nothing failed, unknown or unfinished was found",
        share: 25,
    }
}

fn query(text: &str) -> Result<Query> {
    parse(text).map_err(|error| Error::bug(format!("{text}: {error}")))
}

/// What the index of the main transcript tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    records: usize,
    compactions: usize,
    cwd: Option<String>,
}

impl Facts {
    fn of(main: &Transcript) -> Self {
        let records = &main.index().records;
        let compactions = records.iter().filter(|record| record.kind == RecordKind::Boundary).count();
        Self { records: records.len(), compactions, cwd: main.cwd().map(str::to_owned) }
    }

    fn words(&self) -> String {
        match self.compactions {
            0 => format!("Session of {} records.", self.records),
            1 => format!("Session of {} records with 1 compaction by the agent.", self.records),
            many => format!("Session of {} records with {many} compactions by the agent.", self.records),
        }
    }

    /// A path as it is short to read: relative to the working directory where it lies below it.
    fn short<'p>(&self, path: &'p str) -> &'p str {
        let below = self.cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix('/'));
        below.filter(|rest| !rest.is_empty()).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests;
