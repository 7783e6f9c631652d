//! Here is a piece id: where are the bytes?
//!
//! A blob is an encoded piece. Nothing here knows who needs a piece or for how long.

use rusqlite::{Connection, OptionalExtension as _, params};
use strongroom_core::digest::PieceId;

use crate::fault::Outcome;
use crate::sql;

/// A store of encoded pieces.
pub(crate) trait Blobs {
    /// Stores a piece in place of whatever is there.
    fn put(&self, id: PieceId, body: &[u8]) -> Outcome<()>;

    /// The encoded piece, if there is one.
    fn get(&self, id: PieceId) -> Outcome<Option<Vec<u8>>>;

    /// The ids of all blobs, ascending.
    fn ids(&self) -> Outcome<Vec<PieceId>>;
}

/// Blobs as rows of the archive's database.
pub(crate) struct SqlBlobs<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) archive: i64,
}

impl Blobs for SqlBlobs<'_> {
    fn put(&self, id: PieceId, body: &[u8]) -> Outcome<()> {
        self.connection.prepare_cached(sql::BLOB_PUT)?.execute(params![
            self.archive,
            id.digest().as_bytes(),
            body
        ])?;
        Ok(())
    }

    fn get(&self, id: PieceId) -> Outcome<Option<Vec<u8>>> {
        let mut statement = self.connection.prepare_cached(sql::BLOB_GET)?;
        Ok(statement.query_row(params![self.archive, id.digest().as_bytes()], |row| row.get(0)).optional()?)
    }

    fn ids(&self) -> Outcome<Vec<PieceId>> {
        sql::digests(self.connection, sql::BLOB_IDS, params![self.archive])
            .map(|ids| ids.into_iter().map(PieceId::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Default)]
    struct MemoryBlobs(RefCell<BTreeMap<PieceId, Vec<u8>>>);

    impl Blobs for MemoryBlobs {
        fn put(&self, id: PieceId, body: &[u8]) -> Outcome<()> {
            self.0.borrow_mut().insert(id, body.to_vec());
            Ok(())
        }

        fn get(&self, id: PieceId) -> Outcome<Option<Vec<u8>>> {
            Ok(self.0.borrow().get(&id).cloned())
        }

        fn ids(&self) -> Outcome<Vec<PieceId>> {
            Ok(self.0.borrow().keys().copied().collect())
        }
    }

    fn conforms(blobs: &dyn Blobs) {
        let ids = [b"1", b"2", b"3"].map(|bytes| PieceId::of(bytes));
        assert_eq!(blobs.get(ids[0]).unwrap(), None);
        blobs.put(ids[0], b"first").unwrap();
        blobs.put(ids[1], b"").unwrap();
        assert_eq!(blobs.get(ids[0]).unwrap().unwrap(), b"first");
        blobs.put(ids[0], b"new").unwrap();
        blobs.put(ids[2], &vec![7; 2_000_000]).unwrap();
        assert_eq!(blobs.get(ids[0]).unwrap().unwrap(), b"new");
        assert_eq!(blobs.get(ids[1]).unwrap().unwrap(), b"");
        assert_eq!(blobs.get(ids[2]).unwrap().unwrap(), vec![7; 2_000_000]);
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        assert_eq!(blobs.ids().unwrap(), sorted);
    }

    #[test]
    fn both_stores_conform_and_archives_do_not_mix() {
        conforms(&MemoryBlobs::default());
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql::SCHEMA).unwrap();
        conforms(&SqlBlobs { connection: &connection, archive: 1 });
        conforms(&SqlBlobs { connection: &connection, archive: 2 });
    }
}
