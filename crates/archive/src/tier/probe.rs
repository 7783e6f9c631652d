//! Does a store do what a cold tier must?

use strongroom_core::error::{Error, Result};

use super::unreachable;
use crate::cold::{ColdStore, ObjectName, Put, only};
use crate::random::random;

/// How many try to create one object at the same time.
const RACERS: u8 = 8;

/// The length of what they write, in bytes: about a usual piece, so that the time that reading takes is one too.
const RACER_BYTES: usize = 64 << 10;

/// Checks that of several that create one object one is first and all others are told, that what it wrote is there and
/// stays, and that it can be taken away.
///
/// # Errors
/// `Refused` when the store does not do that, `Unavailable` when it cannot be reached or used.
pub(crate) fn probe(store: &dyn ColdStore, url: &str) -> Result<()> {
    let name = ObjectName(random()?);
    let probed = run(store, url, name);
    let removed = only(store.delete(&[name]));
    probed?;
    removed.map_err(|why| {
        let error = unreachable(url, &why);
        Error::unavailable(format!("objects cannot be taken away, as erasing has to: {error}"))
    })?;
    match only(store.get(&[name])) {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err(refused(url, "an object that was taken away is still there")),
        Err(why) => Err(unreachable(url, &why)),
    }
}

fn run(store: &dyn ColdStore, url: &str, name: ObjectName) -> Result<()> {
    let racers: Vec<(ObjectName, Vec<u8>)> =
        (0..RACERS).map(|racer| (name, vec![racer; RACER_BYTES])).collect();
    let mut winners = Vec::new();
    for ((_, body), reply) in racers.iter().zip(store.create(&racers)) {
        match reply {
            Ok(Put::Created) => winners.push(body),
            Ok(Put::Exists) => {}
            Err(why) => return Err(unanswered(url, &why)),
        }
    }
    let late = (name, vec![RACERS; RACER_BYTES]);
    let is_kept = only(store.create(&[late])).map_err(|why| unanswered(url, &why))? == Put::Exists;
    let found = only(store.get(&[name])).map_err(|why| unreachable(url, &why))?;
    match (winners.as_slice(), found) {
        (_, None) => Err(refused(url, "it does not have an object that it took")),
        ([first], Some(found)) if is_kept && found == **first => Ok(()),
        // The answer to the one that was first may have been lost, and its second try told that it exists.
        ([], Some(found)) if is_kept && racers.iter().any(|(_, body)| *body == found) => Ok(()),
        (_, Some(_)) => Err(refused(
            url,
            "it lets an object be written over, so that two writers could undo one another (it has to honour If-None-Match, or x-goog-if-generation-match where it speaks as Google's)",
        )),
    }
}

/// An object could not be created: nobody is there, or somebody who speaks otherwise, and which it is nobody knows.
fn unanswered(url: &str, why: &str) -> Error {
    Error::unavailable(format!(
        "{url} cannot be made a cold tier: it cannot be reached, or does not answer as a store of its kind does ({why}); see that it is there and may be written, then try again"
    ))
}

fn refused(url: &str, why: &str) -> Error {
    Error::refused(format!("{url} cannot be a cold tier: {why}"))
}
