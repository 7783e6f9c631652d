//! Databases of tools: read through `SQLite`, read-only and with what stands in the log beside them, and each session
//! written out in the form of the tool's own export.
//!
//! A database is never copied and never written. What is read together is read in one transaction.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use strongroom_core::error::{Error, Result};

use crate::packed::UNPACKED_BYTES_MAX;
use crate::text;

/// How databases begin.
const BEGINNING: &[u8] = b"SQLite format 3\0";

/// How long a writer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A session that a database keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its id, which is letters, digits, `_` and `-`.
    pub id: String,
    /// How many rows it has besides its own.
    pub rows: u64,
    /// The bytes of what they hold.
    pub bytes: u64,
    /// When the newest of its rows was written, in milliseconds since 1970, as the tool notes it.
    pub changed_ms: i64,
}

/// A tool whose databases are known.
#[derive(Debug)]
struct Tool {
    /// Tables that only its databases have together.
    tables: &'static [&'static str],
    /// Each session, or the one that is named, with its number of rows, their bytes, and when the newest was written.
    sessions: &'static str,
    /// Writes out one session.
    export: fn(&Connection, &str) -> rusqlite::Result<Option<Vec<u8>>>,
}

const TOOLS: [Tool; 2] = [
    Tool {
        tables: &["session", "message", "part"],
        sessions: "SELECT id, \
            (SELECT count(*) FROM message WHERE session_id = own.id) + (SELECT count(*) FROM part WHERE session_id = own.id), \
            (SELECT coalesce(sum(octet_length(data)), 0) FROM message WHERE session_id = own.id) \
            + (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = own.id), \
            max(time_updated, (SELECT coalesce(max(time_updated), 0) FROM message WHERE session_id = own.id), \
            (SELECT coalesce(max(time_updated), 0) FROM part WHERE session_id = own.id)) \
            FROM session AS own WHERE ?1 IS NULL OR id = ?1 ORDER BY id",
        export: opencode,
    },
    Tool {
        tables: &["schema_version", "sessions", "messages"],
        sessions: "SELECT id, (SELECT count(*) FROM messages WHERE session_id = own.id), \
            (SELECT coalesce(sum(octet_length(content_json)), 0) FROM messages WHERE session_id = own.id), \
            1000 * coalesce(unixepoch(updated_at), 0) FROM sessions AS own WHERE ?1 IS NULL OR id = ?1 ORDER BY id",
        export: goose,
    },
];

/// A database of a tool, open for reading.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    tool: &'static Tool,
}

/// Whether a file that begins so is a database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(BEGINNING)
}

impl Database {
    /// Opens the database `path`, where it is one of a tool that is known.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let failed = |error: rusqlite::Error| unreadable(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        let names: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            .and_then(|mut tables| tables.query_map([], |row| row.get(0))?.collect())
            .map_err(failed)?;
        let has = |table: &&str| names.iter().any(|name| name == table);
        let tool = TOOLS.iter().find(|tool| tool.tables.iter().all(has));
        Ok(tool.map(|tool| Self { connection, tool }))
    }

    /// The sessions, in the order of their ids. One whose id cannot be the name of a file is left out.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be read, or is laid out in a way that is not known.
    pub fn sessions(&self) -> Result<Vec<Kept>> {
        self.kept(None)
    }

    /// The session `id`, if there is one.
    ///
    /// # Errors
    /// As [`Database::sessions`].
    pub fn session(&self, id: &str) -> Result<Option<Kept>> {
        Ok(self.kept(Some(id))?.pop())
    }

    fn kept(&self, id: Option<&str>) -> Result<Vec<Kept>> {
        let kept = |row: &Row<'_>| {
            let number = |at: usize| row.get::<_, i64>(at).map(|number| u64::try_from(number).unwrap_or(0));
            Ok(Kept { id: row.get(0)?, rows: number(1)?, bytes: number(2)?, changed_ms: row.get(3)? })
        };
        let all: rusqlite::Result<Vec<Kept>> = self
            .connection
            .prepare(self.tool.sessions)
            .and_then(|mut sessions| sessions.query_map([id], kept)?.collect());
        let mut all = all.map_err(|error| self.unreadable(error))?;
        all.retain(|kept| is_plain(&kept.id));
        Ok(all)
    }

    /// Writes out the session `id` as the tool's own export does.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Unavailable` when it is over a limit or the database cannot be read.
    pub fn export(&self, id: &str) -> Result<Vec<u8>> {
        let missing = || Error::not_found(format!("there is no session {id:?} in the database"));
        let kept = self.session(id)?.ok_or_else(missing)?;
        if kept.bytes > UNPACKED_BYTES_MAX {
            let message =
                format!("the session {id} of {} bytes is over the limit of {UNPACKED_BYTES_MAX}", kept.bytes);
            return Err(Error::unavailable(message));
        }
        let read = || {
            // What the tool writes meanwhile is in none of the rows.
            let transaction = self.connection.unchecked_transaction()?;
            (self.tool.export)(&transaction, id)
        };
        read().map_err(|error| self.unreadable(error))?.ok_or_else(missing)
    }

    fn unreadable(&self, error: rusqlite::Error) -> Error {
        unreadable(Path::new(self.connection.path().unwrap_or_default()), error)
    }
}

fn unreadable(path: &Path, error: rusqlite::Error) -> Error {
    Error::unavailable(format!("the database {} cannot be read", path.display())).caused_by(error)
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// How a column is written.
#[derive(Clone, Copy)]
enum As {
    /// As its own type.
    Value,
    /// A JSON text.
    Json,
}

/// The columns of a session of `OpenCode` and where the export has them; those of one group stand together.
const SESSION: [(&str, &str, &str, As); 30] = [
    ("id", "", "id", As::Value),
    ("slug", "", "slug", As::Value),
    ("project_id", "", "projectID", As::Value),
    ("workspace_id", "", "workspaceID", As::Value),
    ("directory", "", "directory", As::Value),
    ("path", "", "path", As::Value),
    ("parent_id", "", "parentID", As::Value),
    ("title", "", "title", As::Value),
    ("agent", "", "agent", As::Value),
    ("model", "", "model", As::Json),
    ("version", "", "version", As::Value),
    ("summary_additions", "summary", "additions", As::Value),
    ("summary_deletions", "summary", "deletions", As::Value),
    ("summary_files", "summary", "files", As::Value),
    ("summary_diffs", "summary", "diffs", As::Json),
    ("cost", "", "cost", As::Value),
    ("tokens_input", "tokens", "input", As::Value),
    ("tokens_output", "tokens", "output", As::Value),
    ("tokens_reasoning", "tokens", "reasoning", As::Value),
    ("tokens_cache_read", "tokens/cache", "read", As::Value),
    ("tokens_cache_write", "tokens/cache", "write", As::Value),
    ("share_url", "share", "url", As::Value),
    ("revert", "", "revert", As::Json),
    ("permission", "", "permission", As::Json),
    ("metadata", "", "metadata", As::Json),
    ("time_created", "time", "created", As::Value),
    ("time_updated", "time", "updated", As::Value),
    ("time_compacting", "time", "compacting", As::Value),
    ("time_archived", "time", "archived", As::Value),
    ("time_initialized", "time", "initialized", As::Value),
];

/// A session of `OpenCode` as `opencode export` writes it: what rows hold stays as it is, and their ids stand behind it.
fn opencode(connection: &Connection, id: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut out = b"{\"info\":".to_vec();
    let mut session = connection.prepare("SELECT * FROM session WHERE id = ?1")?;
    let columns: Vec<String> = session.column_names().map(str::to_owned).collect();
    let mut rows = session.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut object = text::Object::new(&mut out);
    for (column, group, key, spelled) in SESSION {
        let Some(at) = columns.iter().position(|name| name == column) else { continue };
        if let Some(value) = spell(row.get_ref(at)?, spelled) {
            object.member(group, key, &value);
        }
    }
    object.end();
    let mut parts: BTreeMap<String, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    let mut all = connection
        .prepare("SELECT message_id, id, data FROM part WHERE session_id = ?1 ORDER BY message_id, id")?;
    let mut rows = all.query([id])?;
    while let Some(row) = rows.next()? {
        parts.entry(row.get(0)?).or_default().push((row.get(1)?, bytes(row.get_ref(2)?)));
    }
    out.extend_from_slice(b",\"messages\":[");
    let mut all =
        connection.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut rows = all.query([id])?;
    let mut first = true;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        out.extend_from_slice(if first { b"\n{\"info\":" } else { b",\n{\"info\":" });
        first = false;
        text::with_ids(&mut out, &bytes(row.get_ref(1)?), &[("id", &message), ("sessionID", id)]);
        out.extend_from_slice(b",\"parts\":[");
        for (at, (part, data)) in parts.remove(&message).unwrap_or_default().into_iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
            text::with_ids(&mut out, &data, &[("id", &part), ("sessionID", id), ("messageID", &message)]);
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"\n]}\n");
    Ok(Some(out))
}

/// A session of goose as `goose session export --format json` writes it.
fn goose(connection: &Connection, id: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    let mut session = connection.prepare("SELECT * FROM sessions WHERE id = ?1")?;
    let columns: Vec<String> = session.column_names().map(str::to_owned).collect();
    let mut rows = session.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut object = text::Object::new(&mut out);
    for (at, column) in columns.iter().enumerate() {
        let (key, spelled) = match column.strip_suffix("_json") {
            Some(key) => (key, As::Json),
            None if column == "extension_data" => (column.as_str(), As::Json),
            None => (column.as_str(), As::Value),
        };
        if let Some(value) = spell(row.get_ref(at)?, spelled) {
            object.member("", key, &value);
        }
    }
    let mut messages = b"[".to_vec();
    let mut all = connection.prepare(
        "SELECT message_id, role, created_timestamp, content_json, metadata_json FROM messages WHERE session_id = ?1 ORDER BY id",
    )?;
    let mut rows = all.query([id])?;
    while let Some(row) = rows.next()? {
        messages.extend_from_slice(if messages.len() == 1 { b"\n" } else { b",\n" });
        let mut message = text::Object::new(&mut messages);
        for (at, key, spelled) in [
            (0, "id", As::Value),
            (1, "role", As::Value),
            (2, "created", As::Value),
            (3, "content", As::Json),
            (4, "metadata", As::Json),
        ] {
            if let Some(value) = spell(row.get_ref(at)?, spelled) {
                message.member("", key, &value);
            }
        }
        message.end();
    }
    messages.extend_from_slice(b"\n]");
    object.member("", "conversation", &messages);
    object.end();
    out.push(b'\n');
    Ok(Some(out))
}

fn bytes(value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Vec::new(),
    }
}

/// A column as JSON; nothing where it is not set.
fn spell(value: ValueRef<'_>, spelled: As) -> Option<Vec<u8>> {
    match (value, spelled) {
        (ValueRef::Null, _) => None,
        (ValueRef::Integer(number), _) => Some(number.to_string().into_bytes()),
        (ValueRef::Real(number), _) => Some(number.to_string().into_bytes()),
        (ValueRef::Text(json) | ValueRef::Blob(json), As::Json) if text::is_container(json) => {
            Some(json.to_vec())
        }
        (ValueRef::Text(plain) | ValueRef::Blob(plain), _) => {
            let mut out = Vec::new();
            text::string(&mut out, &String::from_utf8_lossy(plain));
            Some(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENCODE: &str = r#"
        CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
            summary_diffs TEXT, cost REAL, tokens_input INTEGER, tokens_cache_read INTEGER, model TEXT, time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
        INSERT INTO session VALUES ('ses_1', 'p', NULL, '/w "x"', 'T', '1.2', '[{"file":"a"}]', 0.5, 7, 2, '{"id":"m"}', 1, 2);
        INSERT INTO session VALUES ('ses_2', 'p', 'ses_1', '/w', 'U', '1.2', NULL, 0, 0, 0, NULL, 1, 9);
        INSERT INTO session VALUES ('../ses_3', 'p', NULL, '/w', 'U', '1.2', NULL, 0, 0, 0, NULL, 1, 9);
        INSERT INTO message VALUES ('msg_2', 'ses_1', 5, 6, '{"role":"assistant" }'), ('msg_1', 'ses_1', 4, 4, ' {"role":"user"}');
        INSERT INTO message VALUES ('msg_3', 'ses_1', 7, 7, '{}'), ('msg_4', 'ses_1', 8, 8, 'torn {');
        INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', 5, 8, '{"type":"text","text":"b"}'), ('prt_1', 'msg_2', 'ses_1', 5, 5, '{"type":"step-start"}');
    "#;

    const EXPORT: &str = r#"{"info":{"id":"ses_1","projectID":"p","directory":"/w \"x\"","title":"T","model":{"id":"m"},"version":"1.2","summary":{"diffs":[{"file":"a"}]},"cost":0.5,"tokens":{"input":7,"cache":{"read":2}},"time":{"created":1,"updated":2}},"messages":[
{"info":{"role":"user","id":"msg_1","sessionID":"ses_1"},"parts":[]},
{"info":{"role":"assistant","id":"msg_2","sessionID":"ses_1"},"parts":[
{"type":"step-start","id":"prt_1","sessionID":"ses_1","messageID":"msg_2"},
{"type":"text","text":"b","id":"prt_2","sessionID":"ses_1","messageID":"msg_2"}]},
{"info":{"id":"msg_3","sessionID":"ses_1"},"parts":[]},
{"info":{"data":"torn {","id":"msg_4","sessionID":"ses_1"},"parts":[]}
]}
"#;

    #[test]
    fn a_session_is_written_out_as_the_tool_does_while_the_tool_writes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("opencode.db");
        let tool = Connection::open(&path).unwrap();
        tool.pragma_update(None, "journal_mode", "wal").unwrap();
        tool.execute_batch(OPENCODE).unwrap();
        let database = Database::open(&path).unwrap().unwrap();
        let kept = database.sessions().unwrap();
        let facts: Vec<(&str, u64, i64)> =
            kept.iter().map(|kept| (kept.id.as_str(), kept.rows, kept.changed_ms)).collect();
        assert_eq!(facts, [("ses_1", 6, 8), ("ses_2", 0, 9)], "an id that is a path is no session's");
        assert_eq!(String::from_utf8(database.export("ses_1").unwrap()).unwrap(), EXPORT);
        assert_eq!(database.export("ses_9").unwrap_err().kind(), strongroom_core::error::ErrorKind::NotFound);
        tool.execute_batch("BEGIN; UPDATE part SET time_updated = 99, data = '{}'; DELETE FROM message")
            .unwrap();
        assert_eq!(String::from_utf8(database.export("ses_1").unwrap()).unwrap(), EXPORT);
        tool.execute_batch("COMMIT").unwrap();
        assert_eq!(database.session("ses_1").unwrap().unwrap().changed_ms, 99);
        assert!(database.connection.execute("DELETE FROM session", []).is_err());
    }

    #[test]
    fn a_session_of_goose_is_written_out_with_its_conversation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        let tool = Connection::open(&path).unwrap();
        tool.execute_batch(
            r#"CREATE TABLE schema_version (version INTEGER);
            CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, updated_at TIMESTAMP, recipe_json TEXT, total_tokens INTEGER);
            CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
            INSERT INTO sessions VALUES ('20260101_1', 'n', '/w', '1970-01-01 00:00:02', '{"a":1}', NULL);
            INSERT INTO messages VALUES (1, 'm1', '20260101_1', 'user', '[{"type":"text","text":"hi"}]', 5, '{"userVisible":true}');"#,
        )
        .unwrap();
        let database = Database::open(&path).unwrap().unwrap();
        let expected = Kept { id: "20260101_1".to_owned(), rows: 1, bytes: 29, changed_ms: 2000 };
        assert_eq!(database.sessions().unwrap(), [expected]);
        let export = r#"{"id":"20260101_1","name":"n","working_dir":"/w","updated_at":"1970-01-01 00:00:02","recipe":{"a":1},"conversation":[
{"id":"m1","role":"user","created":5,"content":[{"type":"text","text":"hi"}],"metadata":{"userVisible":true}}
]}
"#;
        assert_eq!(String::from_utf8(database.export("20260101_1").unwrap()).unwrap(), export);
    }

    #[test]
    fn other_databases_and_what_is_none_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
        assert!(is_database(&std::fs::read(&path).unwrap()));
        assert!(Database::open(&path).unwrap().is_none());
        std::fs::write(&path, "SQLite format 3\0and no more").unwrap();
        assert!(Database::open(&path).is_err());
        assert!(Database::open(&dir.path().join("none.db")).is_err());
    }
}
