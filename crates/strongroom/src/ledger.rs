//! The ledger and the comparison of claims, on sessions made ready to be asked.

use strongroom_core::error::{Error, Result};
use strongroom_evidence::answer::{self, Answer, Conflicts, Gap, Ledger};
use strongroom_evidence::query::{Query, QueryError, parse};
use strongroom_evidence::session::HoleKind;

use crate::ask::{AskOptions, Asked};

/// What a gap in the records means for an operation that must be complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It was never there, or is somebody else's to give.
    Missing,
    /// An original that was kept is gone, damaged, or cannot be read.
    Damaged,
}

/// For each kind of hole: what it means. Others are [`Severity::Missing`].
const DAMAGED: &[HoleKind] =
    &[HoleKind::Unreadable, HoleKind::HashDiffers, HoleKind::NotRetrievable, HoleKind::OriginalGone];

/// For each kind of hole: what would close it.
const SETTLED_BY: &[(HoleKind, &str)] = &[
    (HoleKind::Unreadable, "an undamaged copy of the transcript"),
    (HoleKind::Cut, "the full output: look at what it shows now, or run the read-only command again"),
    (HoleKind::NotRetrievable, "the side file at the place the transcript names"),
    (HoleKind::HashDiffers, "the side file as it was when the transcript was written"),
    (HoleKind::ForeignSummary, "the transcript from before that compaction: import it into the archive"),
    (HoleKind::OriginalGone, "the archive that took the original into custody"),
    (HoleKind::NoResult, "the result of that call: look at the state it would have changed"),
    (HoleKind::NoCall, "the record of the call that this result belongs to"),
    (HoleKind::MissingChild, "the transcript of that child agent, beside the session"),
    (HoleKind::PromptsOnly, "the full transcript of that session"),
];

/// What would close a hole of the kind with these fixed words.
pub fn settled_by(words: &str) -> Option<&'static str> {
    SETTLED_BY.iter().find(|(kind, _)| kind.words() == words).map(|&(_, how)| how)
}

/// What a hole of this kind means.
pub fn severity(kind: HoleKind) -> Severity {
    if DAMAGED.contains(&kind) { Severity::Damaged } else { Severity::Missing }
}

/// The worst of several gaps; `None` where there is none.
pub fn worst(gaps: &[Gap]) -> Option<Severity> {
    gaps.iter().map(|gap| severity(gap.kind)).max()
}

/// The query that lists `noun` with values of fields and further terms, as flags and parameters give them.
///
/// # Errors
/// `InvalidInput` naming what was not understood and the nearest valid form.
pub fn filtered(noun: &str, fields: &[(&str, &[String])], terms: &[String]) -> Result<Query> {
    let mut text = format!("list {noun}");
    for (field, values) in fields.iter().filter(|(_, values)| !values.is_empty()) {
        let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        text.extend([" ", field, ":", &values.join("|")]);
    }
    for term in terms {
        text.extend([" ", term]);
    }
    parse(&text).map_err(|error| invalid(&error))
}

/// A value as the query language takes it.
fn quoted(value: &str) -> String {
    if value.contains(char::is_whitespace) {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        value.to_owned()
    }
}

fn invalid(error: &QueryError) -> Error {
    Error::invalid_input(error.to_string())
}

impl Asked {
    /// The ledger rows that meet `query`, a query on `effects` or `changes`.
    ///
    /// # Errors
    /// As [`Asked::answer`].
    pub fn ledger(&self, query: &Query, options: AskOptions) -> Result<Ledger> {
        self.with_scope(options, |scope, options| answer::ledger(query, scope, options))?
            .map_err(|error| invalid(&error))
    }

    /// A sentence, weighed against the originals.
    ///
    /// # Errors
    /// As [`Asked::answer`]; `InvalidInput` of a sentence that states nothing a record could show.
    pub fn claim(&self, sentence: &str, options: AskOptions) -> Result<Answer> {
        self.with_scope(options, |scope, options| answer::weigh(sentence, scope, options))?
            .map_err(|error| invalid(&error))
    }

    /// Everything that disagrees, worst first.
    ///
    /// # Errors
    /// As [`Asked::answer`].
    pub fn conflicts(&self, options: AskOptions) -> Result<Conflicts> {
        self.with_scope(options, answer::conflicts)?.map_err(|error| invalid(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_damage_has_a_way_to_be_settled() {
        for kind in DAMAGED {
            assert!(settled_by(kind.words()).is_some(), "{kind:?}");
        }
        assert_eq!(settled_by("no such hole"), None);
    }

    #[test]
    fn fields_and_terms_become_one_query() {
        let kinds = ["fs.write".to_owned(), "vcs".to_owned()];
        let query = filtered("effects", &[("kind", &kinds)], &["\"a b\"".to_owned()]).unwrap();
        assert_eq!(query.to_string(), "list effects kind:fs.write|vcs \"a b\"");
        assert!(filtered("effects", &[("scop", &kinds)], &[]).is_err());
    }
}
