//! A store in memory that fails when it is told to.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{ColdStore, ObjectName, Put, Reply};

/// What is asked of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Create,
    Get,
    Len,
    Delete,
}

/// How a request goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// No answer, and nothing happened.
    Silent,
    /// No answer, and it happened.
    SilentDone,
    /// It is said to have happened.
    Forgotten,
    /// One bit of what is given back, or kept, is another.
    Bit,
    /// The half of it.
    Half,
    /// It is said not to be there.
    Denied,
    /// What is there is written over.
    Overwritten,
}

type Director = dyn FnMut(Act) -> Option<Wrong> + Send;

pub(crate) struct MemoryStore {
    objects: Mutex<BTreeMap<ObjectName, Vec<u8>>>,
    director: Mutex<Box<Director>>,
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("objects", &self.objects().len()).finish_non_exhaustive()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self { objects: Mutex::default(), director: Mutex::new(Box::new(|_| None)) }
    }
}

impl MemoryStore {
    /// Has `director` say from now on which requests go wrong.
    pub(crate) fn direct(&self, director: impl FnMut(Act) -> Option<Wrong> + Send + 'static) {
        *self.director.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(director);
    }

    pub(crate) fn objects(&self) -> MutexGuard<'_, BTreeMap<ObjectName, Vec<u8>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrong(&self, act: Act) -> Option<Wrong> {
        (self.director.lock().unwrap_or_else(PoisonError::into_inner))(act)
    }

    fn create_one(&self, name: ObjectName, mut body: Vec<u8>) -> Reply<Put> {
        let wrong = self.wrong(Act::Create);
        match wrong {
            Some(Wrong::Silent) => return Err("connection reset".to_owned()),
            Some(Wrong::Forgotten) => return Ok(Put::Created),
            Some(Wrong::Bit) => body[0] ^= 1,
            Some(Wrong::Half) => body.truncate(body.len() / 2),
            _ => {}
        }
        let mut objects = self.objects();
        if objects.contains_key(&name) && wrong != Some(Wrong::Overwritten) {
            return Ok(Put::Exists);
        }
        objects.insert(name, body);
        if wrong == Some(Wrong::SilentDone) { Err("connection reset".to_owned()) } else { Ok(Put::Created) }
    }

    fn get_one(&self, name: ObjectName) -> Reply<Option<Vec<u8>>> {
        let mut found = self.objects().get(&name).cloned();
        match (self.wrong(Act::Get), &mut found) {
            (Some(Wrong::Silent | Wrong::SilentDone), _) => return Err("timed out".to_owned()),
            (Some(Wrong::Denied), _) => return Ok(None),
            // Another bit than creating changes: two wrongs make no right.
            (Some(Wrong::Bit), Some(body)) => body[0] ^= 2,
            (Some(Wrong::Half), Some(body)) => body.truncate(body.len() / 2),
            _ => {}
        }
        Ok(found)
    }

    fn delete_one(&self, name: ObjectName) -> Reply<()> {
        let wrong = self.wrong(Act::Delete);
        if !matches!(wrong, Some(Wrong::Silent | Wrong::Forgotten)) {
            self.objects().remove(&name);
        }
        match wrong {
            Some(Wrong::Silent | Wrong::SilentDone) => Err("503 slow down".to_owned()),
            _ => Ok(()),
        }
    }
}

impl ColdStore for MemoryStore {
    fn create(&self, objects: &[(ObjectName, Vec<u8>)]) -> Vec<Reply<Put>> {
        objects.iter().map(|(name, body)| self.create_one(*name, body.clone())).collect()
    }

    fn get(&self, names: &[ObjectName]) -> Vec<Reply<Option<Vec<u8>>>> {
        names.iter().map(|name| self.get_one(*name)).collect()
    }

    fn lens(&self, names: &[ObjectName]) -> Vec<Reply<Option<u64>>> {
        let one = |name: &ObjectName| {
            let found = self.objects().get(name).map(|body| u64::try_from(body.len()).unwrap());
            match self.wrong(Act::Len) {
                Some(Wrong::Silent | Wrong::SilentDone) => Err("timed out".to_owned()),
                Some(Wrong::Denied) => Ok(None),
                _ => Ok(found),
            }
        };
        names.iter().map(one).collect()
    }

    fn delete(&self, names: &[ObjectName]) -> Vec<Reply<()>> {
        names.iter().map(|name| self.delete_one(*name)).collect()
    }

    fn worst_read_ms(&self) -> u64 {
        3
    }
}
