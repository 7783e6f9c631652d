//! Sources, their revisions, the sessions they belong to, and holds.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, params};
use strongroom_core::digest::{PieceId, RevisionId, SourceId};
use strongroom_core::error::Error;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::PIECE_BYTES_MAX;

use super::{Catalog, as_sql, row, rows, run, u32_of, u64_of};
use crate::cover::Cell;
use crate::fault::Outcome;
use crate::source::{ItemFacts, Relation, SessionItem, SourceMeta, StoredRevision};
use crate::sql;

/// A revision with what it is a state of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RevisionRow {
    pub(crate) source: SourceId,
    pub(crate) revision: StoredRevision,
    pub(crate) leaf: u64,
}

impl Catalog<'_> {
    fn source_of(self, row: &Row<'_>) -> Outcome<(SourceMeta, u64)> {
        let facts = ItemFacts {
            size_bytes: u64_of(row, 4)?,
            mtime_ms: row.get(5)?,
            inode: u64_of(row, 6)?,
            device: u64_of(row, 7)?,
        };
        let id = SourceId::new(self.digest_of(Cell::Source, row, 0)?);
        let session: Option<String> = row.get(3)?;
        let session = session.map(|session| self.cover.get_text(session)).transpose()?;
        let (name, format) = (self.text_of(row, 1)?, self.text_of(row, 2)?);
        Ok((SourceMeta { id, name, format, session, facts }, u64_of(row, 8)?))
    }

    fn revision_of(self, row: &Row<'_>) -> Outcome<RevisionRow> {
        let code: u8 = row.get(5)?;
        let relation =
            Relation::from_code(code).ok_or_else(|| Error::corrupt(format!("{code} is no relation")))?;
        let revision = StoredRevision {
            id: RevisionId::new(self.digest_of(Cell::Revision, row, 2)?),
            number: u32_of(row, 1)?,
            len: u64_of(row, 3)?,
            pieces: u32_of(row, 4)?,
            relation,
            shared: u32_of(row, 6)?,
            at: Timestamp::from_ms(row.get(7)?),
        };
        let source = SourceId::new(self.digest_of(Cell::Source, row, 0)?);
        Ok(RevisionRow { source, revision, leaf: u64_of(row, 8)? })
    }

    pub(crate) fn put_source(self, meta: &SourceMeta, leaf: u64) -> Outcome<()> {
        let id = self.id(Cell::Source, meta.id.digest())?;
        let (name, format) = (self.cover.put_text(&meta.name)?, self.cover.put_text(&meta.format)?);
        let session = meta.session.as_deref().map(|session| self.cover.put_text(session)).transpose()?;
        let facts = meta.facts;
        let (size, inode, device) = (as_sql(facts.size_bytes), as_sql(facts.inode), as_sql(facts.device));
        let values = params![
            self.archive,
            id,
            name,
            format,
            session,
            size,
            facts.mtime_ms,
            inode,
            device,
            as_sql(leaf)
        ];
        run(self.connection, sql::SOURCE_PUT, values)?;
        Ok(())
    }

    pub(crate) fn source(self, id: SourceId) -> Outcome<Option<(SourceMeta, u64)>> {
        let id = self.id(Cell::Source, id.digest())?;
        row(self.connection, sql::SOURCE_GET, params![self.archive, id], |row| self.source_of(row))
    }

    /// The source of this name that was imported last.
    pub(crate) fn source_named(self, name: &str) -> Outcome<Option<SourceMeta>> {
        let name = self.cover.put_text(name)?;
        let found =
            row(self.connection, sql::SOURCE_NAMED, params![self.archive, name], |row| self.source_of(row))?;
        Ok(found.map(|(meta, _)| meta))
    }

    /// All sources by name, each with the journal entry that describes it.
    pub(crate) fn sources(self) -> Outcome<Vec<(SourceMeta, u64)>> {
        let mut all = rows(self.connection, sql::SOURCES, [self.archive], |row| self.source_of(row))?;
        all.sort_by(|(one, _), (two, _)| (&one.name, one.id).cmp(&(&two.name, two.id)));
        Ok(all)
    }

    pub(crate) fn put_revision(self, source: SourceId, revision: &StoredRevision, leaf: u64) -> Outcome<()> {
        let source = self.id(Cell::Source, source.digest())?;
        let id = self.id(Cell::Revision, revision.id.digest())?;
        let (len, at, leaf) = (as_sql(revision.len), revision.at.as_ms(), as_sql(leaf));
        let (relation, shared) = (revision.relation.code(), revision.shared);
        let values = params![
            self.archive,
            source,
            revision.number,
            id,
            len,
            revision.pieces,
            relation,
            shared,
            at,
            leaf
        ];
        run(self.connection, sql::REVISION_INSERT, values)?;
        Ok(())
    }

    /// Lists `pieces` from place `seq` on for revision `since` and, until they are replaced, later ones.
    pub(crate) fn put_revision_pieces(
        self,
        source: SourceId,
        since: u32,
        seq: u32,
        pieces: &[(PieceId, u64)],
    ) -> Outcome<()> {
        for ((piece, len), seq) in pieces.iter().zip(i64::from(seq)..) {
            let source = self.id(Cell::Source, source.digest())?;
            let piece = self.id(Cell::Piece, piece.digest())?;
            run(
                self.connection,
                sql::SOURCE_PIECE_INSERT,
                params![self.archive, source, seq, since, piece, as_sql(*len)],
            )?;
        }
        Ok(())
    }

    pub(crate) fn latest_revision(self, source: SourceId) -> Outcome<Option<RevisionRow>> {
        let source = self.id(Cell::Source, source.digest())?;
        let key = params![self.archive, source];
        row(self.connection, sql::REVISION_LATEST, key, |row| self.revision_of(row))
    }

    /// The revision with this id; of several sources with the same bytes, the first.
    pub(crate) fn revision(self, id: RevisionId) -> Outcome<Option<RevisionRow>> {
        let key = params![self.archive, self.id(Cell::Revision, id.digest())?];
        row(self.connection, sql::REVISION_BY_ID, key, |row| self.revision_of(row))
    }

    /// Every revision in the order in which they came.
    pub(crate) fn revisions(self) -> Outcome<Vec<RevisionRow>> {
        rows(self.connection, sql::REVISIONS, [self.archive], |row| self.revision_of(row))
    }

    /// The pieces of a revision, in order, each with its length.
    ///
    /// # Errors
    /// `Corrupt` when they are not as many and as long as the revision says.
    pub(crate) fn revision_pieces(self, of: &RevisionRow) -> Outcome<Vec<(PieceId, u64)>> {
        let source = self.id(Cell::Source, of.source.digest())?;
        let key = params![self.archive, source, of.revision.number, of.revision.pieces];
        let pieces = rows(self.connection, sql::REVISION_PIECES, key, |row| {
            Ok((PieceId::new(self.digest_of(Cell::Piece, row, 0)?), u64_of(row, 1)?))
        })?;
        let len = pieces.iter().fold(0u64, |sum, (_, len)| sum.saturating_add(*len));
        let complete = u32::try_from(pieces.len()) == Ok(of.revision.pieces) && len == of.revision.len;
        if complete && pieces.iter().all(|(_, len)| *len <= PIECE_BYTES_MAX) {
            return Ok(pieces);
        }
        Err(Error::corrupt(format!("the list of pieces of revision {} is damaged", of.revision.id)).into())
    }

    /// Links a source to a session; says whether it was not linked before.
    pub(crate) fn put_session_item(self, main: SourceId, item: &SessionItem) -> Outcome<bool> {
        let main = self.id(Cell::Source, main.digest())?;
        let source = self.id(Cell::Source, item.source.digest())?;
        let values = params![self.archive, main, self.cover.put_text(&item.kind)?, source];
        Ok(run(self.connection, sql::SESSION_ITEM_PUT, values)? > 0)
    }

    pub(crate) fn session_items(self, main: SourceId) -> Outcome<Vec<SessionItem>> {
        let key = params![self.archive, self.id(Cell::Source, main.digest())?];
        let mut items = rows(self.connection, sql::SESSION_ITEMS, key, |row| self.item_of(row, 0))?;
        items.sort();
        Ok(items)
    }

    fn item_of(self, row: &Row<'_>, kind: usize) -> Outcome<SessionItem> {
        let source = SourceId::new(self.digest_of(Cell::Source, row, kind + 1)?);
        Ok(SessionItem { kind: self.text_of(row, kind)?, source })
    }

    /// Every link: main source and item.
    pub(crate) fn session_links(self) -> Outcome<BTreeSet<(SourceId, SessionItem)>> {
        let all = rows(self.connection, sql::SESSION_LINKS, [self.archive], |row| {
            Ok((SourceId::new(self.digest_of(Cell::Source, row, 0)?), self.item_of(row, 1)?))
        })?;
        Ok(all.into_iter().collect())
    }

    pub(crate) fn put_hold(self, source: SourceId, reason: &str) -> Outcome<()> {
        let source = self.id(Cell::Source, source.digest())?;
        run(self.connection, sql::HOLD_PUT, params![self.archive, source, self.cover.put_text(reason)?])?;
        Ok(())
    }

    pub(crate) fn hold(self, source: SourceId) -> Outcome<Option<String>> {
        let source = self.id(Cell::Source, source.digest())?;
        row(self.connection, sql::HOLD_GET, params![self.archive, source], |row| self.text_of(row, 0))
    }

    pub(crate) fn delete_hold(self, source: SourceId) -> Outcome<()> {
        let source = self.id(Cell::Source, source.digest())?;
        run(self.connection, sql::HOLD_DELETE, params![self.archive, source])?;
        Ok(())
    }

    /// Every hold with its reason.
    pub(crate) fn holds(self) -> Outcome<BTreeMap<SourceId, String>> {
        let all = rows(self.connection, sql::HOLDS, [self.archive], |row| {
            Ok((SourceId::new(self.digest_of(Cell::Source, row, 0)?), self.text_of(row, 1)?))
        })?;
        Ok(all.into_iter().collect())
    }
}
