//! An MCP server in a JSON file: `mcpServers.strongroom`.

use serde_json::Value as Json;
use strongroom::{Error, Result};

use super::entries::MARK;
use super::json::{Leaf, add, len, or_empty, read, remove, with_root};

/// The name of our server.
pub(super) const NAME: &str = "strongroom";

const SERVERS: &str = "mcpServers";

/// Whether an entry is one that we put in.
pub(super) fn is_own(entry: &Json) -> bool {
    let words: Vec<&str> =
        entry.get("args").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    words.windows(2).any(|pair| pair == MARK)
}

/// Our entry as it stands in the file.
pub(super) fn own(bytes: &[u8]) -> Option<Json> {
    let entry = with_root(or_empty(bytes), |root| root.path(&[SERVERS, NAME]).map(read)).ok()??;
    is_own(&entry).then_some(entry)
}

/// The file with our entry.
///
/// # Errors
/// `InvalidInput` when the file is not JSON, or a server of this name is there that we did not put in.
pub(super) fn put(bytes: &[u8], entry: Option<&Json>) -> Result<Vec<u8>> {
    let Some(entry) = entry else { return Ok(bytes.to_vec()) };
    let text = or_empty(bytes);
    let there = with_root(text, |root| root.path(&[SERVERS, NAME]).map(read))?;
    match there {
        Some(there) if there == *entry => Ok(bytes.to_vec()),
        Some(there) if !is_own(&there) => Err(taken()),
        Some(_) => add(&take(text)?, &[SERVERS], Leaf::Member(NAME), entry),
        None => add(text, &[SERVERS], Leaf::Member(NAME), entry),
    }
}

pub(super) fn taken() -> Error {
    Error::invalid_input(format!(
        "an MCP server called {NAME} is there that this program did not install; remove or rename it first"
    ))
}

/// The file without our entry; what it leaves empty goes with it.
///
/// # Errors
/// `InvalidInput` when the file is not JSON.
pub(super) fn take(bytes: &[u8]) -> Result<Vec<u8>> {
    if own(bytes).is_none() {
        with_root(or_empty(bytes), |_| ())?;
        return Ok(bytes.to_vec());
    }
    let shorter = with_root(bytes, |root| {
        let servers = root.get(SERVERS)?;
        let (servers_key, _) = root.entries().filter(|(key, _)| key.is(SERVERS)).last()?;
        let (own_key, _) = servers.entries().filter(|(key, _)| key.is(NAME)).last()?;
        Some(if len(servers) == 1 {
            remove(bytes, root, servers_key)
        } else {
            remove(bytes, servers, own_key)
        })
    })?;
    Ok(shorter.unwrap_or_else(|| bytes.to_vec()))
}
