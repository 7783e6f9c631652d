//! Here is a piece id: where are the bytes?
//!
//! A blob is an encoded piece. Nothing here knows who needs a piece or for how long.

use rusqlite::{Connection, OptionalExtension as _, params};
use strongroom_core::digest::PieceId;

use crate::cover::{Cell, Cover};
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
    pub(crate) cover: &'c Cover,
}

impl Blobs for SqlBlobs<'_> {
    fn put(&self, id: PieceId, body: &[u8]) -> Outcome<()> {
        let id = self.cover.put_digest(Cell::Piece, id.digest())?;
        self.connection.prepare_cached(sql::BLOB_PUT)?.execute(params![self.archive, id, body])?;
        Ok(())
    }

    fn get(&self, id: PieceId) -> Outcome<Option<Vec<u8>>> {
        let id = self.cover.put_digest(Cell::Piece, id.digest())?;
        let mut statement = self.connection.prepare_cached(sql::BLOB_GET)?;
        Ok(statement.query_row(params![self.archive, id], |row| row.get(0)).optional()?)
    }

    fn ids(&self) -> Outcome<Vec<PieceId>> {
        let mut statement = self.connection.prepare_cached(sql::BLOB_IDS)?;
        let rows = statement.query_map(params![self.archive], |row| row.get::<_, Vec<u8>>(0))?;
        let mut ids = Vec::new();
        for stored in rows {
            ids.push(PieceId::new(self.cover.get_digest(Cell::Piece, &[], stored?)?));
        }
        // Sealed ids stand in another order.
        ids.sort_unstable();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use strongroom_core::digest::{ArchiveId, Digest};

    use super::*;
    use crate::cover::Keys;
    use crate::seal::Key;

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
        let sealed = Cover::Sealed(Keys::of(&Key::new([1; 32]), [2; 16], ArchiveId::new(Digest::of(b"a"))));
        for (archive, cover) in [(1, &Cover::Plain), (2, &Cover::Plain), (3, &sealed)] {
            conforms(&SqlBlobs { connection: &connection, archive, cover });
        }
    }
}
