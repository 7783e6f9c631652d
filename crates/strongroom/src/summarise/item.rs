//! Items: what could be said, each with what it is worth and what it costs.

use strongroom_core::summary::{FileUse, Literal, Part};

use super::scan::Kind;

/// The parts of a summary, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Section {
    User,
    Now,
    Files,
    Commands,
    Errors,
    Searched,
    Assistant,
    Edits,
    Values,
    Literals,
    Cover,
}

impl Section {
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::User => "## User, verbatim",
            Self::Now => "## Plan",
            Self::Files => "## Files (E edited, W written, R read [lines]; p{a b} = pa pb)",
            Self::Commands => {
                "## Commands in order ($ reads, ! changes, ? may change; what [outcome: reported-ok unless said])"
            }
            Self::Errors => "## Errors",
            Self::Searched => "## Searched for",
            Self::Assistant => "## Assistant said",
            Self::Edits => "## Written into files",
            Self::Values => "## Values (they occur, nothing more)",
            Self::Literals => {
                "## Literals (they occur, nothing more; p{a b} = pa pb; n..m = all from n to m)"
            }
            Self::Cover => "## Covers",
        }
    }
}

/// What an item serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Half {
    /// Going on with the work.
    GoOn,
    /// Answering questions about it.
    Answer,
}

/// How an item stands in its section.
#[derive(Debug, Clone)]
pub(super) enum Say {
    /// On a line of its own.
    Line(Vec<Part>),
    /// As a part of the text of a span, behind the parts before it.
    Chunk(Vec<Part>),
    /// Among others on one line.
    Word(Vec<Part>),
    /// In the list of files.
    File(FileUse),
    /// In a list of literals.
    Literal(Kind, Literal),
}

/// Something that could be said.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) section: Section,
    pub(super) half: Half,
    /// The span it stands for, and its place among the items of that span.
    pub(super) order: (u32, u32),
    /// Other spans that say the same.
    pub(super) also: Vec<u32>,
    /// What a token of it is worth, in hundredths.
    pub(super) density: u64,
    /// What it costs at most, in tokens.
    pub(super) cost: u64,
    pub(super) say: Say,
}
