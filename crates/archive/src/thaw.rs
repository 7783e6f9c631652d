//! Objects of the cold tier, fetched for a look at the tables.
//!
//! Nobody waits for a store inside a transaction. Whoever meets a piece whose object was not fetched notes it and gives
//! up; then the object is fetched and the look begins again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use strongroom_core::error::{Error, Result};

use crate::cold::{Cold, ObjectName, Trouble};

/// What was fetched, and what is still to be.
#[derive(Debug, Default)]
pub(crate) struct Thawed {
    fetched: BTreeMap<ObjectName, std::result::Result<Vec<u8>, Trouble>>,
    wanted: RefCell<BTreeSet<Cold>>,
}

impl Thawed {
    /// The bytes of an object.
    ///
    /// # Errors
    /// `Unavailable` when it has to be fetched first; it is noted.
    pub(crate) fn body(&self, cold: &Cold) -> Result<std::result::Result<Vec<u8>, Trouble>> {
        if let Some(fetched) = self.fetched.get(&cold.object) {
            return Ok(fetched.clone());
        }
        self.wanted.borrow_mut().insert(*cold);
        Err(not_here())
    }

    /// Notes that an object will be needed.
    pub(crate) fn want(&self, cold: Cold) {
        if !self.fetched.contains_key(&cold.object) {
            self.wanted.borrow_mut().insert(cold);
        }
    }

    /// # Errors
    /// `Unavailable` when something has to be fetched first.
    pub(crate) fn check(&self) -> Result<()> {
        if self.wanted.borrow().is_empty() { Ok(()) } else { Err(not_here()) }
    }

    /// What was asked for and is not here.
    pub(crate) fn take_wanted(&self) -> Vec<Cold> {
        std::mem::take(&mut *self.wanted.borrow_mut()).into_iter().collect()
    }

    /// Takes in what was fetched, or why it was not.
    pub(crate) fn take_in(&mut self, object: ObjectName, fetched: std::result::Result<Vec<u8>, Trouble>) {
        self.fetched.insert(object, fetched);
    }
}

fn not_here() -> Error {
    Error::unavailable("a piece has to be fetched from the cold tier first")
}
