//! Searching: where a text or a literal stands, and who said it or which tool printed it.

use std::ops::Range;

use memchr::memmem;
use regex::{Regex, RegexBuilder};
use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{BlockKind, Speaker};

use super::cite::Citer;
use super::decide::Ground;
use super::row::{self, Piece, Row, What};
use super::{Citation, Options};
use crate::atom::normal_form;
use crate::query::{Clause, Noun, QueryError};
use crate::session::Scope;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needle {
    /// One exact run of characters, case included.
    Exact(String),
    /// The same without regard to case.
    AnyCase(String),
    /// A number, path, id or other literal, however it is written: `1,000` is `1000`.
    Literal(String),
}

impl Needle {
    /// The text as it was asked for.
    pub fn text(&self) -> &str {
        match self {
            Self::Exact(text) | Self::AnyCase(text) | Self::Literal(text) => text,
        }
    }
}

/// A search, and whose texts are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// What is looked for.
    pub needle: Needle,
    /// Only texts of these speakers, by their words; all where none is named.
    pub by: Vec<String>,
    /// Only calls and results of this tool.
    pub tool: Option<String>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    /// The places, in the order of the records.
    pub hits: Vec<Hit>,
    /// How many summaries hold the text too; they are never evidence and are not among the hits.
    pub summaries: usize,
    /// How many texts, or of a literal how many literals, were looked at.
    pub texts: usize,
}

/// One text that holds what is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The lines around the first match, with their place and speaker.
    pub citation: Citation,
    /// The tool that was called or printed it.
    pub tool: Option<String>,
    /// What the text is: `prose`, `thinking`, `call`, `result`, `attachment` or `other`.
    pub part: &'static str,
    /// How often it stands in this text.
    pub matches: usize,
}

/// Looks through every text of `scope`. A part of a secret is never met.
///
/// # Errors
/// When nothing is asked for, or the text is too long to be compiled.
pub fn search(search: &Search, scope: &Scope<'_>, options: &Options<'_>) -> Result<Hits, QueryError> {
    if search.needle.text().trim().is_empty() {
        return Err(QueryError::new("there is no text to look for", 0));
    }
    let finder = Finder::new(&search.needle)?;
    let ground = Ground::of(scope);
    let everything = Clause { noun: Noun::Records, name: None, terms: Vec::new() };
    let clause = ground.compile(&everything, options)?;
    let citer = Citer { scope, clause: &clause, options, secrets: &ground.secrets };
    let mut hits = Hits { hits: Vec::new(), summaries: 0, texts: 0 };
    for row in rows(scope, &search.needle).iter().filter(|row| search.admits(row)) {
        for piece in &row.own {
            hits.texts += 1;
            hits.hits.extend(hit(row, piece, &finder, &citer));
        }
    }
    let held = |text: &str| !finder.open(text, &ground.secrets.ranges(text)).is_empty();
    hits.summaries = scope.summaries.iter().filter(|summary| held(&summary.text)).count();
    Ok(hits)
}

impl Search {
    fn admits(&self, row: &Row<'_>) -> bool {
        let speaker = row.speaker().unwrap_or(Speaker::Assistant).word();
        let tool = self.tool.as_deref().is_none_or(|tool| row.tool() == Some(tool));
        tool && (self.by.is_empty() || self.by.iter().any(|by| by == speaker))
    }
}

/// A needle, ready to be looked for.
enum Finder {
    Exact(String),
    AnyCase(Regex),
    Literal(String),
}

impl Finder {
    fn new(needle: &Needle) -> Result<Self, QueryError> {
        Ok(match needle {
            Needle::Exact(text) => Self::Exact(text.clone()),
            Needle::Literal(text) => Self::Literal(text.clone()),
            Needle::AnyCase(text) => {
                let built = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
                Self::AnyCase(built.map_err(|_| QueryError::new("the text is too long", 0))?)
            }
        })
    }

    fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        match self {
            Self::Exact(exact) | Self::Literal(exact) => {
                let found = memmem::find_iter(text.as_bytes(), exact.as_bytes());
                found.map(|at| at..at + exact.len()).collect()
            }
            Self::AnyCase(regex) => regex.find_iter(text).map(|found| found.range()).collect(),
        }
    }

    /// The matches that touch no secret: none must be felt out character by character.
    fn open(&self, text: &str, secrets: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut found = self.find_all(text);
        found.retain(|own| !secrets.iter().any(|secret| secret.start < own.end && own.start < secret.end));
        found
    }

    /// The matches in a piece; of a literal, its place where its normal form is the one that is asked for.
    fn matches<'s>(&self, row: &Row<'s>, piece: &Piece<'s>, citer: &Citer<'_, 's>) -> Vec<Range<usize>> {
        let Self::Literal(wanted) = self else {
            // Secrets are looked for only where there is something to hide them from.
            let any = !self.find_all(piece.text).is_empty();
            return if any { self.open(piece.text, &citer.hidden(row, piece)) } else { Vec::new() };
        };
        match (&row.what, &piece.focus) {
            (What::Literal(AtomKind::Secret, _), _) | (_, None) => Vec::new(),
            (What::Literal(kind, norm), Some(focus)) if normal_form(*kind, wanted) == *norm => {
                Vec::from([focus.clone()])
            }
            _ => Vec::new(),
        }
    }
}

/// Every text of every event, side files included; of literals, every literal.
fn rows<'s>(scope: &'s Scope<'s>, needle: &Needle) -> Vec<Row<'s>> {
    if matches!(needle, Needle::Literal(_)) {
        return row::literals(scope);
    }
    let mut rows = row::calls(scope);
    rows.extend(row::results(scope));
    rows.extend(row::said(scope));
    rows.extend(row::others(scope));
    rows.sort_by_key(|row| (row.source, row.own.first().map_or(row.start, |piece| piece.at)));
    rows
}

fn hit<'s>(row: &Row<'s>, piece: &Piece<'s>, finder: &Finder, citer: &Citer<'_, 's>) -> Option<Hit> {
    let found = finder.matches(row, piece, citer);
    let citation = citer.around(row, piece, found.first()?.clone())?;
    let part = match row.view.index.block(piece.at).map(|block| &block.kind) {
        Some(BlockKind::Call(_)) => "call",
        Some(BlockKind::Result(_) | BlockKind::SideData { .. }) => "result",
        Some(BlockKind::Thinking) => "thinking",
        Some(BlockKind::Text | BlockKind::Paste) => "prose",
        Some(BlockKind::Attachment { .. }) => "attachment",
        Some(BlockKind::Summary | BlockKind::Opaque(_)) | None => "other",
    };
    Some(Hit { citation, tool: row.tool().map(str::to_owned), part, matches: found.len() })
}
