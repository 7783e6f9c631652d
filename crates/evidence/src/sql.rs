//! What SQL text does, by the first keyword of each statement.

use strongroom_core::evidence::Certainty;

use crate::effect::EffectKind;

/// One statement's effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlEffect {
    /// The kind.
    pub kind: EffectKind,
    /// The relation or other object the statement names.
    pub object: Option<String>,
    /// How certain.
    pub certainty: Certainty,
}

/// First keywords and what they do.
const KEYWORDS: &[(&str, EffectKind, Certainty)] = &[
    ("select", EffectKind::DbRead, Certainty::Definite),
    ("show", EffectKind::DbRead, Certainty::Definite),
    ("describe", EffectKind::DbRead, Certainty::Definite),
    ("desc", EffectKind::DbRead, Certainty::Definite),
    ("values", EffectKind::DbRead, Certainty::Definite),
    ("table", EffectKind::DbRead, Certainty::Definite),
    ("use", EffectKind::DbRead, Certainty::Definite),
    ("begin", EffectKind::DbRead, Certainty::Definite),
    ("start", EffectKind::DbRead, Certainty::Definite),
    ("commit", EffectKind::DbRead, Certainty::Definite),
    ("end", EffectKind::DbRead, Certainty::Definite),
    ("rollback", EffectKind::DbRead, Certainty::Definite),
    ("savepoint", EffectKind::DbRead, Certainty::Definite),
    ("release", EffectKind::DbRead, Certainty::Definite),
    ("fetch", EffectKind::DbRead, Certainty::Definite),
    ("insert", EffectKind::DbWrite, Certainty::Definite),
    ("update", EffectKind::DbWrite, Certainty::Definite),
    ("delete", EffectKind::DbWrite, Certainty::Definite),
    ("merge", EffectKind::DbWrite, Certainty::Definite),
    ("replace", EffectKind::DbWrite, Certainty::Definite),
    ("upsert", EffectKind::DbWrite, Certainty::Definite),
    ("truncate", EffectKind::DbWrite, Certainty::Definite),
    ("load", EffectKind::DbWrite, Certainty::Definite),
    ("import", EffectKind::DbWrite, Certainty::Definite),
    ("create", EffectKind::DbSchema, Certainty::Definite),
    ("alter", EffectKind::DbSchema, Certainty::Definite),
    ("drop", EffectKind::DbSchema, Certainty::Definite),
    ("rename", EffectKind::DbSchema, Certainty::Definite),
    ("comment", EffectKind::DbSchema, Certainty::Definite),
    ("reindex", EffectKind::DbSchema, Certainty::Definite),
    ("vacuum", EffectKind::DbSchema, Certainty::Definite),
    ("grant", EffectKind::DbPerm, Certainty::Definite),
    ("revoke", EffectKind::DbPerm, Certainty::Definite),
];

/// Words that are neither the object of a statement nor end the search for it.
const BETWEEN: &[&str] = &[
    "into",
    "from",
    "table",
    "if",
    "not",
    "exists",
    "or",
    "replace",
    "ignore",
    "only",
    "temp",
    "temporary",
    "unique",
    "index",
    "view",
    "materialized",
    "database",
    "schema",
    "low_priority",
    "concurrently",
    "role",
    "user",
    "extension",
    "function",
    "sequence",
    "type",
    "trigger",
    "on",
    "cascade",
    "all",
    "privileges",
    "column",
];

/// Functions that change something though they are called in a `SELECT`.
const CALLS: &[&str] = &[
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "setval",
    "nextval",
    "lo_import",
    "lo_export",
    "lo_unlink",
    "pg_switch_wal",
    "pg_drop_replication_slot",
    "dblink_exec",
    "pg_write_file",
    "set_config",
    "load_extension",
    "writefile",
];

/// The effects of all statements of `text`, in order.
pub fn effects(text: &str) -> Vec<SqlEffect> {
    statements(text).iter().filter_map(|statement| effect(statement)).collect()
}

fn effect(statement: &str) -> Option<SqlEffect> {
    let plain = statement.trim();
    if plain.is_empty() {
        return None;
    }
    if let Some(meta) = plain.strip_prefix(['\\', '.']) {
        return Some(meta_command(meta));
    }
    let lower = plain.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '`'))).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let first = *words.first()?;
    let possible = |kind| SqlEffect { kind, object: object(&words), certainty: Certainty::Possible };
    let read = SqlEffect { kind: EffectKind::DbRead, object: None, certainty: Certainty::Definite };
    let changing =
        words.iter().skip(1).find(|word| matches!(**word, "insert" | "update" | "delete" | "merge"));
    let found = match first {
        "explain" if words.get(1..4).is_some_and(|next| next.contains(&"analyze")) && changing.is_some() => {
            possible(EffectKind::DbWrite)
        }
        "with" if changing.is_some() => {
            SqlEffect { kind: EffectKind::DbWrite, object: object(&words), certainty: Certainty::Definite }
        }
        "explain" | "with" => read,
        "select" if words.contains(&"into") => possible(EffectKind::DbSchema),
        "select" if words.iter().any(|word| CALLS.contains(word)) => possible(EffectKind::DbWrite),
        "pragma" | "set" if !lower.contains('=') || first == "set" => read,
        "copy" if words.contains(&"to") && !words.contains(&"program") => read,
        _ => match KEYWORDS.iter().find(|(word, _, _)| *word == first) {
            Some(&(_, EffectKind::DbRead, certainty)) => {
                SqlEffect { kind: EffectKind::DbRead, object: None, certainty }
            }
            Some(&(_, kind, certainty)) => SqlEffect { kind, object: object(&words), certainty },
            None => possible(EffectKind::DbWrite),
        },
    };
    Some(found)
}

/// The commands of the client itself: `\d` lists, `\!` runs a shell.
fn meta_command(meta: &str) -> SqlEffect {
    let word: String = meta.chars().take_while(|c| !c.is_whitespace()).collect();
    let changes = matches!(
        word.as_str(),
        "!" | "copy"
            | "i"
            | "ir"
            | "o"
            | "w"
            | "g"
            | "gexec"
            | "e"
            | "shell"
            | "system"
            | "read"
            | "import"
            | "output"
            | "once"
            | "backup"
            | "save"
            | "restore"
            | "clone"
            | "dump_to"
            | "password"
            | "open"
            | "load"
            | "excel"
    );
    let (kind, certainty) = if changes {
        (EffectKind::DbWrite, Certainty::Possible)
    } else {
        (EffectKind::DbRead, Certainty::Definite)
    };
    SqlEffect { kind, object: None, certainty }
}

fn object(words: &[&str]) -> Option<String> {
    let named = words.iter().skip(1).find(|word| !BETWEEN.contains(word))?;
    Some(named.trim_matches(['"', '`']).to_owned())
}

/// Splits at `;` outside quotes, dollar quotes and comments; client commands end with their line.
fn statements(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut own = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let skip = if rest.starts_with("--") {
            let line = rest.find('\n').unwrap_or(rest.len());
            rest = rest.get(line..).unwrap_or_default();
            continue;
        } else if rest.starts_with("/*") && !rest.starts_with("/*!") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            rest = rest.get(end..).unwrap_or_default();
            own.push(' ');
            continue;
        } else if matches!(char, '\'' | '"' | '`') {
            quoted_end(rest, char)
        } else if rest.starts_with("$$") {
            rest.get(2..).and_then(|tail| tail.find("$$")).map_or(rest.len(), |end| end + 4)
        } else if matches!(char, '\\' | '.') && own.trim().is_empty() {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            char.len_utf8()
        };
        let (taken, tail) = rest.split_at_checked(skip).unwrap_or((rest, ""));
        let ends = char == ';' || (matches!(char, '\\' | '.') && own.trim().is_empty());
        if char != ';' {
            own.push_str(taken);
        }
        if ends {
            all.push(std::mem::take(&mut own));
        }
        rest = tail;
    }
    all.push(own);
    all
}

fn quoted_end(text: &str, quote: char) -> usize {
    text.char_indices()
        .skip(1)
        .find(|(_, char)| *char == quote)
        .map_or(text.len(), |(at, _)| at + quote.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        effects(text).iter().map(|effect| effect.kind.word()).collect()
    }

    #[test]
    fn the_first_keyword_decides() {
        assert_eq!(
            kinds("SELECT 1; insert into t values (1); DROP TABLE x"),
            ["db.read", "db.write", "db.schema"]
        );
        assert_eq!(kinds("-- delete\nselect ';drop'"), ["db.read"]);
        assert_eq!(kinds("with x as (delete from t returning *) select * from x"), ["db.write"]);
        assert_eq!(kinds("explain analyze delete from t"), ["db.write"]);
        assert_eq!(kinds("explain delete from t"), ["db.read"]);
        assert_eq!(kinds("\\d t\nselect 1"), ["db.read", "db.read"]);
        assert_eq!(kinds("\\! rm x"), ["db.write"]);
        assert_eq!(kinds("frobnicate"), ["db.write"]);
        assert_eq!(kinds("PRAGMA table_info(t)"), ["db.read"]);
        assert_eq!(kinds("PRAGMA journal_mode=WAL"), ["db.write"]);
    }

    #[test]
    fn the_object_is_named() {
        assert_eq!(effects("INSERT INTO users (a) VALUES (1)")[0].object.as_deref(), Some("users"));
        assert_eq!(effects("DROP TABLE IF EXISTS a.b")[0].object.as_deref(), Some("a.b"));
    }
}
