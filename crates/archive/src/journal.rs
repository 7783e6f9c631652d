//! The record of every act, as an RFC 6962 tree.
//!
//! Leaves are the hashes of entries. The roots of all complete subtrees are kept, so that the root of any size,
//! and every proof, costs a logarithmic number of look-ups.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension as _, params};
use strongroom_core::digest::{ArchiveId, Digest};
use strongroom_core::error::{Error, Result};

use crate::cover::{Cell, Cover};
use crate::fault::Outcome;
use crate::sql;

/// The journal's size and root at some moment. Kept elsewhere, it pins everything before that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The archive.
    pub archive: ArchiveId,
    /// The number of entries.
    pub size: u64,
    /// The RFC 6962 root over them.
    pub root: Digest,
}

const CHECKPOINT_WORD: &str = "strongroom-checkpoint";

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{CHECKPOINT_WORD} {} {} {}", self.archive, self.size, self.root)
    }
}

impl FromStr for Checkpoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = || {
            Error::invalid_input(format!(
                "{text:?} is no checkpoint; expected {CHECKPOINT_WORD} <archive> <size> <root>"
            ))
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [CHECKPOINT_WORD, archive, size, root] = words.as_slice() else { return Err(malformed()) };
        let size = size.parse().map_err(|_| malformed())?;
        Ok(Self { archive: archive.parse()?, size, root: root.parse()? })
    }
}

/// Where the roots of complete subtrees are kept.
pub(crate) trait Nodes {
    /// The number of leaves.
    fn size(&self) -> Outcome<u64>;

    /// Keeps the root over leaves `no * 2^level .. (no + 1) * 2^level`.
    fn put(&self, level: u32, no: u64, hash: Digest) -> Outcome<()>;

    /// A kept root.
    fn get(&self, level: u32, no: u64) -> Outcome<Option<Digest>>;
}

/// Nodes as rows of the archive's database.
pub(crate) struct SqlNodes<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) archive: i64,
    pub(crate) cover: &'c Cover,
}

impl Nodes for SqlNodes<'_> {
    fn size(&self) -> Outcome<u64> {
        let mut statement = self.connection.prepare_cached(sql::NODE_COUNT)?;
        Ok(statement.query_row(params![self.archive], |row| row.get::<_, i64>(0))?.unsigned_abs())
    }

    fn put(&self, level: u32, no: u64, hash: Digest) -> Outcome<()> {
        let mut statement = self.connection.prepare_cached(sql::NODE_INSERT)?;
        let hash = self.cover.put(Cell::Node, &node_place(level, no), hash.as_bytes())?;
        statement.execute(params![self.archive, level, no.cast_signed(), hash])?;
        Ok(())
    }

    fn get(&self, level: u32, no: u64) -> Outcome<Option<Digest>> {
        let mut statement = self.connection.prepare_cached(sql::NODE_GET)?;
        let found: Option<Vec<u8>> = statement
            .query_row(params![self.archive, level, no.cast_signed()], |row| row.get(0))
            .optional()?;
        let hash = found.map(|stored| self.cover.get_digest(Cell::Node, &node_place(level, no), stored));
        Ok(hash.transpose()?)
    }
}

/// Where a node stands, as bytes to seal it for.
pub(crate) fn node_place(level: u32, no: u64) -> [u8; 12] {
    let mut place = [0; 12];
    let bytes = level.to_be_bytes().into_iter().chain(no.to_be_bytes());
    place.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    place
}

/// A Merkle tree that only grows.
pub(crate) struct Tree<N>(pub(crate) N);

impl<N: Nodes> Tree<N> {
    pub(crate) fn size(&self) -> Outcome<u64> {
        self.0.size()
    }

    /// Appends a leaf and returns its number.
    pub(crate) fn append(&self, leaf: Digest) -> Outcome<u64> {
        let at = self.0.size()?;
        let (mut level, mut no, mut hash) = (0, at, leaf);
        self.0.put(level, no, hash)?;
        while no % 2 == 1 {
            hash = Digest::node(&self.node(level, no - 1)?, &hash);
            (level, no) = (level + 1, no / 2);
            self.0.put(level, no, hash)?;
        }
        Ok(at)
    }

    /// The root of a complete subtree, where it is kept.
    pub(crate) fn node_at(&self, level: u32, no: u64) -> Outcome<Option<Digest>> {
        self.0.get(level, no)
    }

    /// A node that must be there.
    fn node(&self, level: u32, no: u64) -> Outcome<Digest> {
        let missing = || Error::corrupt(format!("node {no} of level {level} is missing from the journal"));
        Ok(self.0.get(level, no)?.ok_or_else(missing)?)
    }

    /// The leaf `no`.
    pub(crate) fn leaf(&self, no: u64) -> Outcome<Digest> {
        self.node(0, no)
    }

    /// The root over the first `size` leaves.
    pub(crate) fn root(&self, size: u64) -> Outcome<Digest> {
        self.range_root(0, size)
    }

    /// The root over leaves `start..end`, where `start` is where a subtree of that extent may start.
    fn range_root(&self, start: u64, end: u64) -> Outcome<Digest> {
        let len = end - start;
        if len == 0 {
            return Ok(Digest::of(&[]));
        }
        if len.is_power_of_two() {
            let level = len.trailing_zeros();
            return self.node(level, start >> level);
        }
        let middle = start + split(len);
        Ok(Digest::node(&self.range_root(start, middle)?, &self.range_root(middle, end)?))
    }

    /// The proof that leaf `no` is in the tree of `size` leaves: siblings from the leaf up.
    pub(crate) fn inclusion(&self, no: u64, size: u64) -> Outcome<Vec<Digest>> {
        self.check_size(no.saturating_add(1), size)?;
        let (mut start, mut end) = (0, size);
        let mut proof = Vec::new();
        while end - start > 1 {
            let middle = start + split(end - start);
            if no < middle {
                proof.push(self.range_root(middle, end)?);
                end = middle;
            } else {
                proof.push(self.range_root(start, middle)?);
                start = middle;
            }
        }
        proof.reverse();
        Ok(proof)
    }

    /// The proof that the tree of `old` leaves is the beginning of the tree of `size` leaves.
    pub(crate) fn consistency(&self, old: u64, size: u64) -> Outcome<Vec<Digest>> {
        self.check_size(old, size)?;
        let (mut start, mut end) = (0, size);
        let mut proof = Vec::new();
        while old > 0 && old != end {
            let middle = start + split(end - start);
            if old <= middle {
                proof.push(self.range_root(middle, end)?);
                end = middle;
            } else {
                proof.push(self.range_root(start, middle)?);
                start = middle;
            }
        }
        // Where the old tree is itself one subtree, the verifier has its root.
        if start > 0 {
            proof.push(self.range_root(start, end)?);
        }
        proof.reverse();
        Ok(proof)
    }

    fn check_size(&self, needed: u64, size: u64) -> Outcome<()> {
        let known = self.size()?;
        if needed > size || size > known {
            let message = format!(
                "a proof about {needed} of {size} entries needs a journal that is longer than {known}"
            );
            return Err(Error::invalid_input(message).into());
        }
        Ok(())
    }
}

/// The largest power of two below `len`, which is at least 2.
fn split(len: u64) -> u64 {
    len.next_power_of_two() / 2
}

/// Whether `proof` shows that `leaf` is leaf `no` of the tree of `size` leaves with `root`.
pub fn proves_inclusion(leaf: Digest, no: u64, size: u64, proof: &[Digest], root: Digest) -> bool {
    if no >= size {
        return false;
    }
    let (mut at, mut last, mut hash) = (no, size - 1, leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            hash = Digest::node(sibling, &hash);
            while at % 2 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            hash = Digest::node(&hash, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && hash == root
}

/// Whether `proof` shows that the tree behind `old` is the beginning of the tree behind `new`.
pub fn proves_consistency(old: &Checkpoint, new: &Checkpoint, proof: &[Digest]) -> bool {
    if old.archive != new.archive || old.size > new.size {
        return false;
    }
    if old.size == new.size {
        return proof.is_empty() && old.root == new.root;
    }
    if old.size == 0 {
        return proof.is_empty() && old.root == Digest::of(&[]);
    }
    consistent(old, new, proof).unwrap_or(false)
}

/// RFC 9162, section 2.1.4.2.
fn consistent(old: &Checkpoint, new: &Checkpoint, proof: &[Digest]) -> Option<bool> {
    let (mut at, mut last) = (old.size - 1, new.size - 1);
    while at % 2 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let (first, rest) = if old.size.is_power_of_two() {
        (old.root, proof)
    } else {
        proof.split_first().map(|(first, rest)| (*first, rest))?
    };
    let (mut old_hash, mut new_hash) = (first, first);
    for sibling in rest {
        if last == 0 {
            return None;
        }
        if at % 2 == 1 || at == last {
            old_hash = Digest::node(sibling, &old_hash);
            new_hash = Digest::node(sibling, &new_hash);
            while at % 2 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            new_hash = Digest::node(&new_hash, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    Some(last == 0 && old_hash == old.root && new_hash == new.root)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::*;
    use crate::cover::Keys;
    use crate::seal::Key;

    #[derive(Default)]
    struct MemoryNodes(RefCell<BTreeMap<(u32, u64), Digest>>);

    impl Nodes for MemoryNodes {
        fn size(&self) -> Outcome<u64> {
            Ok(self.0.borrow().keys().filter(|(level, _)| *level == 0).count() as u64)
        }

        fn put(&self, level: u32, no: u64, hash: Digest) -> Outcome<()> {
            self.0.borrow_mut().insert((level, no), hash);
            Ok(())
        }

        fn get(&self, level: u32, no: u64) -> Outcome<Option<Digest>> {
            Ok(self.0.borrow().get(&(level, no)).copied())
        }
    }

    const LEAVES: u64 = 40;

    fn leaves() -> Vec<Digest> {
        (0..LEAVES).map(|n| Digest::leaf(&n.to_be_bytes())).collect()
    }

    fn checkpoint(size: u64) -> Checkpoint {
        let root = Digest::root(&leaves()[..usize::try_from(size).unwrap()]);
        Checkpoint { archive: ArchiveId::new(Digest::of(b"a")), size, root }
    }

    fn conforms(nodes: impl Nodes) {
        let tree = Tree(nodes);
        for (leaf, at) in leaves().into_iter().zip(0..) {
            assert_eq!(tree.root(at).unwrap(), checkpoint(at).root);
            assert_eq!(tree.append(leaf).unwrap(), at);
        }
        for size in 0..=LEAVES {
            assert_eq!(tree.root(size).unwrap(), checkpoint(size).root);
            every_inclusion_is_proved(&tree, size);
            every_beginning_is_proved(&tree, size);
        }
        assert!(tree.inclusion(3, 3).is_err() && tree.inclusion(0, LEAVES + 1).is_err());
        assert!(tree.consistency(4, 3).is_err() && tree.consistency(1, LEAVES + 1).is_err());
    }

    fn every_inclusion_is_proved(tree: &Tree<impl Nodes>, size: u64) {
        let root = checkpoint(size).root;
        for (leaf, no) in leaves().into_iter().zip(0..size) {
            let proof = tree.inclusion(no, size).unwrap();
            assert!(proves_inclusion(leaf, no, size, &proof, root), "{no} of {size}");
            assert!(!proves_inclusion(Digest::of(b"other"), no, size, &proof, root));
            assert!(!proves_inclusion(leaf, no ^ 1, size, &proof, root));
            assert!(!proves_inclusion(leaf, no, size, &[proof.clone(), vec![root]].concat(), root));
            assert!(proof.is_empty() || !proves_inclusion(leaf, no, size, &proof[1..], root));
        }
    }

    fn every_beginning_is_proved(tree: &Tree<impl Nodes>, size: u64) {
        let new = checkpoint(size);
        for old in (0..=size).map(checkpoint) {
            let proof = tree.consistency(old.size, size).unwrap();
            assert!(proves_consistency(&old, &new, &proof), "{} of {size}", old.size);
            let forged = Checkpoint { root: Digest::of(b"forged"), ..old };
            assert!(!proves_consistency(&forged, &new, &proof));
            let forged = Checkpoint { root: Digest::of(b"forged"), ..new };
            assert!(old.size == 0 || !proves_consistency(&old, &forged, &proof));
            assert!(!proves_consistency(&old, &new, &[proof, vec![new.root]].concat()));
        }
    }

    #[test]
    fn both_stores_conform() {
        conforms(MemoryNodes::default());
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql::SCHEMA).unwrap();
        let sealed = Cover::Sealed(Keys::of(&Key::new([1; 32]), [2; 16], ArchiveId::new(Digest::of(b"a"))));
        for (archive, cover) in [(1, &Cover::Plain), (2, &Cover::Plain), (3, &sealed)] {
            conforms(SqlNodes { connection: &connection, archive, cover });
        }
    }

    /// The same tree by another hand.
    #[test]
    fn another_implementation_has_the_same_roots_and_proofs() {
        let bytes =
            |digests: &[Digest]| -> Vec<u8> { digests.iter().flat_map(|one| *one.as_bytes()).collect() };
        let tree = Tree(MemoryNodes::default());
        let mut other = ct_merkle::mem_backed_tree::MemoryBackedTree::<sha2::Sha256, [u8; 8]>::new();
        for size in 1..=LEAVES {
            tree.append(leaves()[usize::try_from(size - 1).unwrap()]).unwrap();
            other.push((size - 1).to_be_bytes());
            assert_eq!(tree.root(size).unwrap().as_bytes(), other.root().as_bytes().as_slice());
            for no in 0..size {
                let proof = other.prove_inclusion(usize::try_from(no).unwrap());
                assert_eq!(bytes(&tree.inclusion(no, size).unwrap()), proof.as_bytes(), "{no} of {size}");
            }
            for old in 1..size {
                let proof = other.prove_consistency(usize::try_from(size - old).unwrap());
                assert_eq!(bytes(&tree.consistency(old, size).unwrap()), proof.as_bytes(), "{old} of {size}");
            }
        }
    }

    #[test]
    fn checkpoints_are_read_back() {
        let known = checkpoint(7);
        assert_eq!(known.to_string().parse::<Checkpoint>().unwrap(), known);
        assert!("strongroom-checkpoint 1 2".parse::<Checkpoint>().is_err());
    }
}
