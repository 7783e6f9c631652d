//! Objects of the cold tier, believed only by their names.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use strongroom_core::digest::{Digest, PieceId};
use strongroom_core::error::{Error, Result};

use super::Archive;
use crate::cold::{Cold, ColdStore, ObjectName, Reply, Trouble, only};
use crate::thaw::Thawed;

pub(crate) const OBJECT_DOMAIN: &str = "strongroom.cold.v1";

impl Archive {
    /// The name of the object that holds `body`, the bytes of `piece` as they are stored.
    pub(crate) fn object_name(&self, piece: PieceId, body: &[u8]) -> ObjectName {
        ObjectName(self.keyed(OBJECT_DOMAIN, object_parts(piece.digest(), &Digest::of(body))))
    }

    /// The store behind the cold tier, and its address.
    ///
    /// # Errors
    /// `NotFound` where there is no cold tier, `Unavailable` when it cannot be used.
    pub(crate) fn cold_store(&self) -> Result<(String, Arc<dyn ColdStore>)> {
        let none = Thawed::default();
        let tier = self.database.read(|connection| self.catalog(connection, &none)?.cold_tier())?;
        let tier = tier.ok_or_else(|| Error::not_found("the archive has no cold tier"))?;
        let mut held = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.as_ref().filter(|(url, _)| *url == tier.url) {
            return Ok(known.clone());
        }
        let store = self.cloud.open(&tier.url, self.id)?;
        Ok(held.insert((tier.url, store)).clone())
    }

    /// Fetches objects; what is not there or not what it should be has its reason in place of bytes.
    pub(super) fn fetch(&self, wanted: &[Cold], thawed: &mut Thawed) {
        for (cold, fetched) in wanted.iter().zip(self.objects(wanted)) {
            if matches!(fetched, Err(Trouble::Unreachable(_))) {
                self.silence.store(true, Ordering::Relaxed);
            }
            thawed.take_in(cold.object, fetched);
        }
    }

    /// The bytes of objects, in order, compared with their names.
    pub(crate) fn objects(&self, wanted: &[Cold]) -> Vec<std::result::Result<Vec<u8>, Trouble>> {
        let is_named = |cold: &Cold, body: &[u8]| self.object_name(cold.piece, body) == cold.object;
        let ask = |store: &dyn ColdStore, names: &[ObjectName]| {
            let mut found = store.get(names);
            // A wrong answer can be one that went wrong on its way; a second one is of the store.
            for (cold, reply) in wanted.iter().zip(&mut found) {
                if matches!(reply, Ok(Some(body)) if !is_named(cold, body)) {
                    *reply = only(store.get(&[cold.object]));
                }
            }
            found
        };
        self.asked(wanted, ask, |url, cold, body| {
            if is_named(cold, &body) {
                return Ok(body);
            }
            Err(Trouble::Damaged(format!("its object in the cold tier {url} was changed")))
        })
    }

    /// What is wrong with objects, as far as their lengths tell, in order.
    pub(crate) fn check_objects(&self, wanted: &[Cold]) -> Vec<Option<Trouble>> {
        let ask = |store: &dyn ColdStore, names: &[ObjectName]| store.lens(names);
        let judged = self.asked(wanted, ask, |url, cold, len| {
            if len == cold.len {
                return Ok(());
            }
            let told =
                format!("its object in the cold tier {url} has {len} bytes and should have {}", cold.len);
            Err(Trouble::Damaged(told))
        });
        judged.into_iter().map(std::result::Result::err).collect()
    }

    /// What `judge` makes of what `ask` finds of each object, in order.
    fn asked<T, J>(
        &self,
        wanted: &[Cold],
        ask: impl Fn(&dyn ColdStore, &[ObjectName]) -> Vec<Reply<Option<T>>>,
        judge: impl Fn(&str, &Cold, T) -> std::result::Result<J, Trouble>,
    ) -> Vec<std::result::Result<J, Trouble>> {
        let (url, store) = match self.cold_store() {
            Ok(opened) => opened,
            Err(error) => {
                return wanted.iter().map(|_| Err(Trouble::Unreachable(error.to_string()))).collect();
            }
        };
        let names: Vec<ObjectName> = wanted.iter().map(|cold| cold.object).collect();
        let found = ask(store.as_ref(), &names);
        let is_ours = found.iter().all(|reply| !matches!(reply, Ok(None)))
            || self.bears_mark(store.as_ref()) == Ok(true);
        let judged = wanted.iter().zip(found).map(|(cold, reply)| match reply {
            Ok(Some(found)) => judge(&url, cold, found),
            Ok(None) => Err(absent(&url, is_ours)),
            Err(why) => Err(Trouble::Unreachable(out_of_reach(&url, &why))),
        });
        judged.collect()
    }

    /// The content of the mark by which a store is known to be this archive's.
    pub(crate) fn mark(&self) -> Vec<u8> {
        format!("strongroom cold tier of archive {}\n", self.id).into_bytes()
    }

    /// Whether a store bears the mark of this archive.
    pub(crate) fn bears_mark(&self, store: &dyn ColdStore) -> Reply<bool> {
        only(store.get(&[ObjectName::MARKER])).map(|found| found == Some(self.mark()))
    }
}

/// What the name of an object is made of.
pub(crate) fn object_parts<'d>(piece: &'d Digest, body: &'d Digest) -> [&'d [u8]; 2] {
    [piece.as_bytes(), body.as_bytes()]
}

/// What is wrong with a store that is not known to be the right one.
pub(crate) const NOT_OURS: &str = "what is there does not bear the mark of this archive";

/// What it means that an object is not found: in a store that is not known to be the right one, nothing.
fn absent(url: &str, is_ours: bool) -> Trouble {
    if is_ours {
        Trouble::Damaged(format!("its object is not in the cold tier {url}"))
    } else {
        Trouble::Unreachable(out_of_reach(url, NOT_OURS))
    }
}

/// In words, that a store does not answer, why, and what to do.
pub(crate) fn out_of_reach(url: &str, why: &str) -> String {
    format!(
        "the cold tier {url} cannot be reached ({why}); see that it is there and may be read, then try again"
    )
}
