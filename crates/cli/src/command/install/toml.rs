//! An MCP server in Codex' `config.toml`: the table `mcp_servers.strongroom`.

use serde_json::{Value as Json, json};
use strongroom::{Error, Result};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::server::{NAME, is_own, taken};

const SERVERS: &str = "mcp_servers";

fn parsed(bytes: &[u8]) -> Result<DocumentMut> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Error::invalid_input("it is not UTF-8 text").caused_by(error))?;
    let wrong = |error: toml_edit::TomlError| {
        let words = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Error::invalid_input(format!("it is not TOML: {words}"))
    };
    text.parse::<DocumentMut>().map_err(wrong)
}

/// The entry of our name, as JSON.
fn entry(document: &DocumentMut) -> Option<Json> {
    let own = document.get(SERVERS)?.as_table_like()?.get(NAME)?.as_table_like()?;
    let words = own.get("args").and_then(Item::as_array);
    let words: Vec<&str> = words.into_iter().flatten().filter_map(toml_edit::Value::as_str).collect();
    Some(json!({ "command": own.get("command").and_then(Item::as_str), "args": words }))
}

/// Our entry as it stands in the file.
pub(super) fn own(bytes: &[u8]) -> Option<Json> {
    entry(&parsed(bytes).ok()?).filter(is_own)
}

/// The file with our entry.
///
/// # Errors
/// `InvalidInput` when the file is not TOML, or a server of this name is there that we did not put in.
pub(super) fn put(bytes: &[u8], wanted: Option<&Json>) -> Result<Vec<u8>> {
    let Some(wanted) = wanted else { return Ok(bytes.to_vec()) };
    let mut document = parsed(bytes)?;
    match entry(&document) {
        Some(there) if there == *wanted => return Ok(bytes.to_vec()),
        Some(there) if !is_own(&there) => return Err(taken()),
        Some(_) => document = parsed(&take(bytes)?)?,
        None => {}
    }
    let mut own = Table::new();
    own.insert("command", value(wanted.get("command").and_then(Json::as_str).unwrap_or_default()));
    let words = wanted.get("args").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    own.insert("args", value(words.collect::<Array>()));
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let wrong = || Error::invalid_input(format!("{SERVERS} is not a table"));
    match servers {
        Item::Table(servers) => {
            if !bytes.is_empty() {
                own.decor_mut().set_prefix("\n");
            }
            servers.insert(NAME, Item::Table(own));
        }
        other => {
            let inline = other.as_inline_table_mut().ok_or_else(wrong)?;
            inline.insert(NAME, toml_edit::Value::InlineTable(own.into_inline_table()));
        }
    }
    Ok(document.to_string().into_bytes())
}

/// The file without our entry; what it leaves empty goes with it.
///
/// # Errors
/// `InvalidInput` when the file is not TOML.
pub(super) fn take(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut document = parsed(bytes)?;
    if entry(&document).is_none_or(|entry| !is_own(&entry)) {
        return Ok(bytes.to_vec());
    }
    if let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        servers.remove(NAME);
    }
    let empty = document.get(SERVERS).and_then(Item::as_table_like).is_some_and(TableLike::is_empty);
    let implicit = document.get(SERVERS).and_then(Item::as_table).is_some_and(Table::is_implicit);
    if empty && implicit {
        document.remove(SERVERS);
    }
    Ok(document.to_string().into_bytes())
}

/// Whether the file turns hooks off.
pub(super) fn hooks_are_off(bytes: &[u8]) -> bool {
    let Ok(document) = parsed(bytes) else { return false };
    let features = document.get("features").and_then(Item::as_table_like);
    let off = |name: &str| features.and_then(|own| own.get(name)).and_then(Item::as_bool) == Some(false);
    off("hooks") || off("codex_hooks")
}
