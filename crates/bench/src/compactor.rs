//! The compactors that are built in, behind the protocol: a command of its own for each, so that its memory can be
//! measured as that of any other.

use std::io;
use std::path::Path;

use serde_json::json;

use crate::baseline::Baseline;
use crate::loss;
use crate::messages::Message;
use crate::product;
use crate::protocol::{Given, Returned};
use strongroom::tokens::{Budget, Tokens};

/// Reads what a compactor is given on standard input and returns what it hands back; `dir` is a folder of its own.
///
/// # Errors
/// When `name` is no compactor, the input is something else, or the compaction fails.
pub fn compactor(name: &str, input: &[u8], dir: &Path) -> io::Result<Vec<u8>> {
    let given: Given = serde_json::from_slice(input)?;
    let messages = match Baseline::ALL.into_iter().find(|own| own.name() == name) {
        Some(baseline) => baseline.compact(&given.messages, given.budget_tokens),
        None if name == product::NAME => ours(&given, dir)?,
        None => return Err(io::Error::other(format!("no compactor is called {name:?}"))),
    };
    Ok(serde_json::to_vec(&Returned { messages })?)
}

fn ours(given: &Given, dir: &Path) -> io::Result<Vec<Message>> {
    let failed = |error: strongroom::Error| io::Error::other(error.to_string());
    let body = json!({ "model": "any", "messages": given.messages }).to_string().into_bytes();
    let store = product::store(dir).map_err(failed)?;
    let budget = Budget::Tokens(Tokens(given.budget_tokens));
    let shortened = product::shorten("messages", body, "openai-chat", &store, budget).map_err(failed)?;
    Ok(loss::messages_of(&shortened.bytes))
}
