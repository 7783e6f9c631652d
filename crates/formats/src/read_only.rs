//! Formats that are read and asked, and never written back: one row each, with the reason.

use strongroom_core::error::{Error, Result};
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Form, SourceIndex};

use crate::format::{Edit, Format, Spliced};
use crate::{
    acp, agui, aider, atif, copilot_cli, inspect, mini_swe_agent, opencode, otel, specstory, swe_agent,
    tau_bench, text,
};

/// A format that is never written back.
#[derive(Debug)]
pub(crate) struct ReadOnly {
    /// The name users give with `--format`.
    name: &'static str,
    /// What its files are called, as the signs of a format name them.
    looks: &'static str,
    /// Why nothing is written back: the end of a sentence.
    why: &'static str,
    /// Reads a source; the index gets the name and form of the row.
    read: fn(&dyn Bytes) -> Result<SourceIndex>,
}

/// The formats.
pub(crate) static READ_ONLY: [ReadOnly; 14] = [
    ReadOnly {
        name: "swe-agent",
        looks: "a SWE-agent trajectory",
        why: "nothing resumes from a trajectory: it is the record of a run",
        read: swe_agent::index,
    },
    ReadOnly {
        name: "mini-swe-agent",
        looks: "a mini-swe-agent trajectory",
        why: "nothing resumes from a trajectory: it is the record of a run",
        read: mini_swe_agent::index,
    },
    ReadOnly {
        name: "tau-bench",
        looks: "a list of tau-bench trajectories",
        why: "it holds the results of a benchmark, which no agent goes on with",
        read: tau_bench::index,
    },
    ReadOnly {
        name: "tau2-bench",
        looks: "a tau2 simulation",
        why: "it holds the results of a benchmark, which no agent goes on with",
        read: tau_bench::index,
    },
    ReadOnly {
        name: "inspect",
        looks: "an Inspect log",
        why: "it holds the results of an evaluation, which no agent goes on with",
        read: inspect::index,
    },
    ReadOnly {
        name: "atif",
        looks: "an ATIF trajectory",
        why: "nothing resumes from a trajectory: it is the record of a run",
        read: atif::index,
    },
    ReadOnly {
        name: "copilot-cli",
        looks: "a Copilot CLI session",
        why: "the agent keeps an index beside its sessions, and how it takes up a changed one is not known",
        read: copilot_cli::index,
    },
    ReadOnly {
        name: "opencode",
        looks: "an OpenCode export",
        why: "the agent keeps its sessions in a database, and an export under a known id would take the place of one there",
        read: opencode::index,
    },
    ReadOnly {
        name: "otel",
        looks: "an OpenTelemetry export",
        why: "it is the record of a run, which is read by tools that watch it and by no agent",
        read: otel::index,
    },
    ReadOnly {
        name: "ag-ui",
        looks: "an AG-UI event log",
        why: "it is the record of a run as a user interface saw it",
        read: agui::index,
    },
    ReadOnly {
        name: "acp",
        looks: "an ACP log",
        why: "it is the record of what an editor and an agent said to each other, and the agent keeps its own session",
        read: acp::index,
    },
    ReadOnly {
        name: "aider",
        looks: "an Aider history",
        why: "the program reads its whole history again by marks that a text may hold, too",
        read: aider::index,
    },
    ReadOnly {
        name: "specstory",
        looks: "a SpecStory export",
        why: "it is an export, and the agent keeps its own session",
        read: specstory::index,
    },
    ReadOnly {
        name: "text",
        looks: "a text of numbered steps",
        why: "a text has no place that only its writer could fill",
        read: text::index,
    },
];

/// The format whose files are called `looks`.
pub(crate) fn by_looks(looks: &str) -> Option<&'static ReadOnly> {
    READ_ONLY.iter().find(|row| row.looks == looks)
}

impl Format for ReadOnly {
    fn name(&self) -> &'static str {
        self.name
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        let index = (self.read)(source)?;
        Ok(SourceIndex { format: self.name, form: Form::ReadOnly(self.why), ..index })
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        _spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        if edit.is_empty() {
            let bytes = source.read(strongroom_core::range::ByteRange::new(0, index.len))?.into_owned();
            return Ok(Spliced { bytes, index: index.clone() });
        }
        Err(Error::refused(format!("{} is read-only, because {}", self.name, self.why)))
    }
}
