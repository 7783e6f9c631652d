//! Codex rollouts: lines `{timestamp, type, payload}` of items, events and settings.

mod read;

mod history;

mod write;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Form, SourceIndex};

use crate::format::{Edit, Format, Resume, Spliced, refuse_empty};
use crate::lines::read_records;

/// The format `codex`.
#[derive(Debug)]
pub(crate) struct Codex;

impl Format for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        refuse_empty(source)?;
        let mut reader = read::Reader::new();
        let mut parts = read_records(source, &mut |value, record, at| reader.read(value, record, at))?;
        reader.steps.resize_with(parts.records.len(), read::Step::default);
        if reader.is_child() {
            let agent = reader.session().map(str::to_owned);
            parts.records.iter_mut().for_each(|record| record.agent.clone_from(&agent));
        }
        history::resolve(&mut parts.records, &reader.steps);
        history::apply_outcomes(&mut parts.records, &reader.outcomes);
        history::mark_copies(source, &mut parts.records, &reader)?;
        let index = parts.into_index(self.name(), Form::Fold, source, reader.findings);
        Ok(SourceIndex { usage: reader.usage, ..index })
    }

    fn splice(
        &self,
        source: &dyn Bytes,
        index: &SourceIndex,
        spans: &Segmentation,
        edit: &Edit,
    ) -> Result<Spliced> {
        write::splice(self, source, index, spans, edit)
    }

    fn resume(&self, index: &SourceIndex, edit: &Edit) -> Option<Resume> {
        write::resume(index, edit)
    }

    fn resumable(&self, compacted: Vec<u8>, edit: &Edit) -> Result<Vec<u8>> {
        write::resumable(&compacted, edit)
    }
}
