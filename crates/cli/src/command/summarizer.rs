//! Who writes the prose of a summary: what was typed, else what the policy says.

use std::time::Duration;

use strongroom::policy::{Policy, SummarizerSettings, Writer};
use strongroom::summariser::Summariser;
use strongroom::{Error, Result};
use strongroom_model::command::{Exec, run};
use strongroom_model::dialect::Dialect;
use strongroom_model::endpoint::{Endpoint, Settings};
use strongroom_model::key::Key;
use strongroom_model::limits::Limits;

use crate::place;

/// Who writes the prose of summaries, where somebody does: what was typed, else what the policy says. Reads the
/// environment for a key and a proxy, and runs the command that prints a key.
///
/// # Errors
/// `InvalidInput` of an endpoint or key that cannot be used, `Unavailable` of a command that prints none.
pub fn chosen(typed: Option<&Writer>, policy: &Policy) -> Result<Option<Box<dyn Summariser>>> {
    let table = policy.summarizer()?;
    let limits = limits(&table);
    match typed.unwrap_or(&table.writer) {
        Writer::BuiltIn => Ok(None),
        Writer::Exec(command) => Ok(Some(Box::new(Exec::new(command, limits)))),
        Writer::Openai(model) => endpoint(Dialect::Openai, model, &table, limits),
        Writer::Anthropic(model) => endpoint(Dialect::Anthropic, model, &table, limits),
    }
}

fn limits(table: &SummarizerSettings) -> Limits {
    let usual = Limits::default();
    let total =
        table.timeout.and_then(|length| u64::try_from(length.as_ms()).ok()).map(Duration::from_millis);
    let total = total.unwrap_or(usual.total);
    Limits { total, idle: usual.idle.min(total), ..usual }
}

fn endpoint(
    dialect: Dialect,
    model: &str,
    table: &SummarizerSettings,
    limits: Limits,
) -> Result<Option<Box<dyn Summariser>>> {
    let endpoint = table.endpoint.clone().unwrap_or_else(|| dialect.usual_endpoint().to_owned());
    let key = key(dialect, table)?;
    let proxy = proxy(&endpoint);
    let settings = Settings { dialect, endpoint, model: model.to_owned(), key, proxy, limits };
    Ok(Some(Box::new(Endpoint::new(settings)?)))
}

/// How long a command may take that prints a key: somebody may have to unlock something.
const KEY_COMMAND: Duration = Duration::from_mins(1);

/// The key: that of the command or variable that the policy names, else that of the vendor's own variable. A server
/// of one's own may need none.
fn key(dialect: Dialect, table: &SummarizerSettings) -> Result<Option<Key>> {
    if let Some(command) = &table.key_command {
        let limits = Limits { total: KEY_COMMAND, reply_bytes_max: 64 << 10, ..Limits::default() };
        let output = run(command, None, &limits)
            .map_err(|error| Error::new(error.kind(), format!("key-command: {error}")))?;
        let first = String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned();
        return Key::new(&first, "what key-command prints").map(Some);
    }
    let usual = dialect.usual_variable();
    let name = table.key_env.as_deref().unwrap_or(usual);
    match place::named_variable(name) {
        Some(key) => Key::new(&key, &format!("${name}")).map(Some),
        None if table.key_env.is_none() && table.endpoint.is_some() => Ok(None),
        None => Err(Error::invalid_input(format!(
            "${name} holds no key for {}; the table [summarizer] of a policy may name another variable or a command",
            dialect.word()
        ))),
    }
}

/// The proxy that the environment names for an encrypted endpoint, unless it excepts the host.
fn proxy(endpoint: &str) -> Option<String> {
    let host = endpoint.strip_prefix("https://")?.split(['/', ':']).next()?;
    let named = |names: &[&str]| names.iter().find_map(|name| place::named_variable(name));
    let direct = named(&["NO_PROXY", "no_proxy"]).unwrap_or_default();
    let excepted =
        |own: &str| own == "*" || !own.is_empty() && host.ends_with(own.trim_start_matches(['*', '.']));
    if direct.split(',').map(str::trim).any(excepted) {
        return None;
    }
    named(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
}
