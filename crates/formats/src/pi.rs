//! Sessions of pi and `OpenClaw`: lines that form a tree by `id` and `parentId`; the oldest ones stand in a row.

mod read;

mod path;

mod write;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Form, SourceIndex};

use crate::copies;
use crate::format::{Edit, Format, Resume, Spliced, refuse_empty};
use crate::lines::read_records;

/// The format `pi`.
#[derive(Debug)]
pub(crate) struct Pi;

impl Format for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        refuse_empty(source)?;
        let mut reader = read::Reader::default();
        let mut parts = read_records(source, &mut |value, record, at| reader.read(value, record, at))?;
        path::resolve(&mut parts.records, &reader.entries);
        reader.findings.extend(copies::resolve(&mut parts.records, &reader.copied));
        let is_copy = |record: u32| usize::try_from(record).is_ok_and(|at| reader.copied.contains_key(&at));
        reader.usage.retain(|usage| !is_copy(usage.record));
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
