//! Claude Code session logs: one JSON object per line, bound into a tree by `uuid` and `parentUuid`.

mod attachment;

mod result;

mod read;

mod path;

mod copies;

mod write;

use std::collections::BTreeSet;

use strongroom_core::error::Result;
use strongroom_core::span::Segmentation;
use strongroom_core::transcript::{Bytes, Form, Level, Record, SideItem, SideKind, SourceIndex};

use crate::format::{CUT_HISTORY, Edit, Format, Resume, Spliced};
use crate::lines::read_records;
use crate::part::finding;

/// The format `claude-code`.
#[derive(Debug)]
pub(crate) struct ClaudeCode;

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn index(&self, source: &dyn Bytes) -> Result<SourceIndex> {
        crate::format::refuse_empty(source)?;
        let mut reader = read::Reader::default();
        let mut parts = read_records(source, &mut |value, record, at| reader.read(value, record, at))?;
        reader.links.resize_with(parts.records.len(), read::Link::default);
        path::name_side_chains(&mut parts.records, &reader.links);
        let sessions = path::resolve(&mut parts.records, &reader.links);
        let found = copies::resolve(source, &mut parts.records, &reader)?;
        if sessions > 1 {
            let message =
                format!("{sessions} sessions in one file whose records do not follow from one another");
            parts.findings.push(finding(Level::Warning, "multiple-sessions", None, "", message));
        }
        if let Some(first) = path::cut_at(&parts.records, &reader.links) {
            let message = "the first message answers one that is not in this file".to_owned();
            parts.findings.push(finding(Level::Note, CUT_HISTORY, first.line, "", message));
        }
        let usage = reader.usage(|at| is_relinked(&parts.records, at));
        reader.findings.extend(found);
        let side_items = side_items(&parts.records, reader.side_items);
        let index = parts.into_index(self.name(), Form::Fold, source, reader.findings);
        Ok(SourceIndex { side_items, usage, ..index })
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
}

fn is_copy(records: &[Record], at: u32) -> bool {
    let record = usize::try_from(at).ok().and_then(|at| records.get(at));
    record.is_some_and(|record| record.blocks.iter().any(|block| block.copy_of.is_some()))
}

/// Whether the record is a copy that a compaction of ours has written.
fn is_relinked(records: &[Record], at: u32) -> bool {
    let record = usize::try_from(at).ok().and_then(|at| records.get(at));
    record.and_then(|record| record.id.as_deref()).is_some_and(crate::ids::is_derived) && is_copy(records, at)
}

/// Side files of lines that are no copies, and the directory of child transcripts of every session in the file.
fn side_items(records: &[Record], found: Vec<SideItem>) -> Vec<SideItem> {
    let mut items: Vec<SideItem> =
        found.into_iter().filter(|item| !item.record.is_some_and(|at| is_copy(records, at))).collect();
    let mut sessions: BTreeSet<&str> = BTreeSet::new();
    for record in records.iter().filter(|record| record.agent.is_none()) {
        let own = record
            .session
            .as_deref()
            .filter(|session| result::is_plain_name(session) && !crate::ids::is_derived(session));
        if let Some(session) = own.filter(|_| record.id.is_some()).filter(|session| sessions.insert(session))
        {
            let places = vec![format!("{session}/subagents")];
            items.push(SideItem { kind: SideKind::ChildDirectory, places, record: None });
        }
    }
    items
}
