//! Sources, their revisions, the sessions they belong to, and holds.

use rusqlite::{Row, params};
use strongroom_core::digest::{PieceId, RevisionId, SourceId};
use strongroom_core::error::Error;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::PIECE_BYTES_MAX;

use super::{Catalog, as_sql, digest_of, row, rows, run, u32_of, u64_of};
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

fn source_of(row: &Row<'_>) -> Outcome<(SourceMeta, u64)> {
    let facts = ItemFacts {
        size_bytes: u64_of(row, 4)?,
        mtime_ms: row.get(5)?,
        inode: u64_of(row, 6)?,
        device: u64_of(row, 7)?,
    };
    let id = SourceId::new(digest_of(row, 0)?);
    let meta = SourceMeta { id, name: row.get(1)?, format: row.get(2)?, session: row.get(3)?, facts };
    Ok((meta, u64_of(row, 8)?))
}

fn revision_of(row: &Row<'_>) -> Outcome<RevisionRow> {
    let code: u8 = row.get(5)?;
    let relation =
        Relation::from_code(code).ok_or_else(|| Error::corrupt(format!("{code} is no relation")))?;
    let revision = StoredRevision {
        id: RevisionId::new(digest_of(row, 2)?),
        number: u32_of(row, 1)?,
        len: u64_of(row, 3)?,
        pieces: u32_of(row, 4)?,
        relation,
        shared: u32_of(row, 6)?,
        at: Timestamp::from_ms(row.get(7)?),
    };
    Ok(RevisionRow { source: SourceId::new(digest_of(row, 0)?), revision, leaf: u64_of(row, 8)? })
}

impl Catalog<'_> {
    pub(crate) fn put_source(self, meta: &SourceMeta, leaf: u64) -> Outcome<()> {
        let id = meta.id.digest().as_bytes();
        let facts = meta.facts;
        let (size, inode, device) = (as_sql(facts.size_bytes), as_sql(facts.inode), as_sql(facts.device));
        let values = params![
            self.archive,
            id,
            meta.name,
            meta.format,
            meta.session,
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
        row(self.connection, sql::SOURCE_GET, params![self.archive, id.digest().as_bytes()], source_of)
    }

    /// The source of this name that was imported last.
    pub(crate) fn source_named(self, name: &str) -> Outcome<Option<SourceMeta>> {
        Ok(row(self.connection, sql::SOURCE_NAMED, params![self.archive, name], source_of)?
            .map(|(meta, _)| meta))
    }

    /// All sources by name, each with the journal entry that describes it.
    pub(crate) fn sources(self) -> Outcome<Vec<(SourceMeta, u64)>> {
        rows(self.connection, sql::SOURCES, [self.archive], source_of)
    }

    pub(crate) fn put_revision(self, source: SourceId, revision: &StoredRevision, leaf: u64) -> Outcome<()> {
        let (source, id) = (source.digest().as_bytes(), revision.id.digest().as_bytes());
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
            let (source, piece) = (source.digest().as_bytes(), piece.digest().as_bytes());
            run(
                self.connection,
                sql::SOURCE_PIECE_INSERT,
                params![self.archive, source, seq, since, piece, as_sql(*len)],
            )?;
        }
        Ok(())
    }

    pub(crate) fn latest_revision(self, source: SourceId) -> Outcome<Option<RevisionRow>> {
        row(
            self.connection,
            sql::REVISION_LATEST,
            params![self.archive, source.digest().as_bytes()],
            revision_of,
        )
    }

    /// The revision with this id; of several sources with the same bytes, the first.
    pub(crate) fn revision(self, id: RevisionId) -> Outcome<Option<RevisionRow>> {
        row(self.connection, sql::REVISION_BY_ID, params![self.archive, id.digest().as_bytes()], revision_of)
    }

    /// Every revision in the order in which they came.
    pub(crate) fn revisions(self) -> Outcome<Vec<RevisionRow>> {
        rows(self.connection, sql::REVISIONS, [self.archive], revision_of)
    }

    /// The pieces of a revision, in order, each with its length.
    ///
    /// # Errors
    /// `Corrupt` when they are not as many and as long as the revision says.
    pub(crate) fn revision_pieces(self, of: &RevisionRow) -> Outcome<Vec<(PieceId, u64)>> {
        let key =
            params![self.archive, of.source.digest().as_bytes(), of.revision.number, of.revision.pieces];
        let pieces = rows(self.connection, sql::REVISION_PIECES, key, |row| {
            Ok((PieceId::new(digest_of(row, 0)?), u64_of(row, 1)?))
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
        let (main, source) = (main.digest().as_bytes(), item.source.digest().as_bytes());
        Ok(run(self.connection, sql::SESSION_ITEM_PUT, params![self.archive, main, item.kind, source])? > 0)
    }

    pub(crate) fn session_items(self, main: SourceId) -> Outcome<Vec<SessionItem>> {
        rows(self.connection, sql::SESSION_ITEMS, params![self.archive, main.digest().as_bytes()], |row| {
            Ok(SessionItem { kind: row.get(0)?, source: SourceId::new(digest_of(row, 1)?) })
        })
    }

    /// Every link: main source and item.
    pub(crate) fn session_links(self) -> Outcome<Vec<(SourceId, SessionItem)>> {
        rows(self.connection, sql::SESSION_LINKS, [self.archive], |row| {
            let item = SessionItem { kind: row.get(1)?, source: SourceId::new(digest_of(row, 2)?) };
            Ok((SourceId::new(digest_of(row, 0)?), item))
        })
    }

    pub(crate) fn put_hold(self, source: SourceId, reason: &str) -> Outcome<()> {
        run(self.connection, sql::HOLD_PUT, params![self.archive, source.digest().as_bytes(), reason])?;
        Ok(())
    }

    pub(crate) fn hold(self, source: SourceId) -> Outcome<Option<String>> {
        row(self.connection, sql::HOLD_GET, params![self.archive, source.digest().as_bytes()], |row| {
            Ok(row.get(0)?)
        })
    }

    pub(crate) fn delete_hold(self, source: SourceId) -> Outcome<()> {
        run(self.connection, sql::HOLD_DELETE, params![self.archive, source.digest().as_bytes()])?;
        Ok(())
    }

    /// Every hold with its reason.
    pub(crate) fn holds(self) -> Outcome<Vec<(SourceId, String)>> {
        rows(self.connection, sql::HOLDS, [self.archive], |row| {
            Ok((SourceId::new(digest_of(row, 0)?), row.get(1)?))
        })
    }
}
