//! Compaction records and the keys by which they are found.

use std::collections::BTreeSet;

use rusqlite::params;
use strongroom_core::digest::{ContentKey, Digest, SourceId, Tag};

use super::{Catalog, as_sql, row, rows, run, u32_of, u64_of};
use crate::cover::Cell;
use crate::fault::Outcome;
use crate::sql;

/// The keys of a record, without its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompactionRow {
    pub(crate) tag: Tag,
    pub(crate) source: SourceId,
    pub(crate) generation: u32,
    pub(crate) summary: Digest,
}

fn tags(catalog: Catalog<'_>, statement: &str, key: &[u8]) -> Outcome<Vec<Tag>> {
    rows(catalog.connection, statement, params![catalog.archive, key], |row| Ok(Tag::from_bytes(row.get(0)?)))
}

impl Catalog<'_> {
    /// The journal entry and the encoded body of a record.
    pub(crate) fn compaction(self, tag: Tag) -> Outcome<Option<(u64, Vec<u8>)>> {
        row(self.connection, sql::COMPACTION_GET, params![self.archive, tag.as_bytes()], |row| {
            Ok((u64_of(row, 0)?, self.cover.get(Cell::Record, tag.as_bytes(), row.get(1)?)?))
        })
    }

    pub(crate) fn put_compaction(self, keys: &CompactionRow, leaf: u64, body: &[u8]) -> Outcome<()> {
        let tag = keys.tag.as_bytes();
        let source = self.id(Cell::Source, keys.source.digest())?;
        let summary = self.id(Cell::Summary, &keys.summary)?;
        let body = self.cover.put(Cell::Record, tag, body)?;
        let values = params![self.archive, tag, source, keys.generation, summary, as_sql(leaf), body];
        run(self.connection, sql::COMPACTION_INSERT, values)?;
        Ok(())
    }

    /// Puts another body in place of a record's, described by the entry `leaf`.
    pub(crate) fn replace_compaction(self, tag: Tag, leaf: u64, body: &[u8]) -> Outcome<()> {
        let body = self.cover.put(Cell::Record, tag.as_bytes(), body)?;
        let values = params![self.archive, tag.as_bytes(), as_sql(leaf), body];
        run(self.connection, sql::COMPACTION_REPLACE, values)?;
        Ok(())
    }

    /// Every record's keys in the order in which they were bound.
    pub(crate) fn compactions(self) -> Outcome<Vec<CompactionRow>> {
        rows(self.connection, sql::COMPACTIONS, [self.archive], |row| {
            Ok(CompactionRow {
                tag: Tag::from_bytes(row.get(0)?),
                source: SourceId::new(self.digest_of(Cell::Source, row, 1)?),
                generation: u32_of(row, 2)?,
                summary: self.digest_of(Cell::Summary, row, 3)?,
            })
        })
    }

    /// The tags bound for a source, the newest first.
    pub(crate) fn tags_of_source(self, source: SourceId) -> Outcome<Vec<Tag>> {
        tags(self, sql::COMPACTIONS_OF, &self.id(Cell::Source, source.digest())?)
    }

    /// The tags whose summary has this hash, the newest generation first.
    pub(crate) fn tags_of_summary(self, summary: &Digest) -> Outcome<Vec<Tag>> {
        tags(self, sql::COMPACTION_BY_SUMMARY, &self.id(Cell::Summary, summary)?)
    }

    /// The tags that have `key` as a kept neighbour.
    pub(crate) fn tags_of_neighbour(self, key: ContentKey) -> Outcome<Vec<Tag>> {
        tags(self, sql::NEIGHBOUR_TAGS, &self.id(Cell::Content, key.digest())?)
    }

    pub(crate) fn generation(self, tag: Tag) -> Outcome<Option<u32>> {
        row(self.connection, sql::COMPACTION_GENERATION, params![self.archive, tag.as_bytes()], |row| {
            u32_of(row, 0)
        })
    }

    /// Makes `tag` findable by `keys`; returns those by which it was not.
    pub(crate) fn put_neighbours(self, tag: Tag, keys: &[ContentKey]) -> Outcome<Vec<ContentKey>> {
        let mut new = Vec::new();
        for &key in keys {
            let values = params![self.archive, self.id(Cell::Content, key.digest())?, tag.as_bytes()];
            if run(self.connection, sql::NEIGHBOUR_PUT, values)? > 0 {
                new.push(key);
            }
        }
        Ok(new)
    }

    /// Every neighbour with its tag, ascending.
    pub(crate) fn neighbours(self) -> Outcome<BTreeSet<(ContentKey, Tag)>> {
        let all = rows(self.connection, sql::NEIGHBOURS, [self.archive], |row| {
            let key = ContentKey::new(self.digest_of(Cell::Content, row, 0)?);
            Ok((key, Tag::from_bytes(row.get(1)?)))
        })?;
        Ok(all.into_iter().collect())
    }
}
