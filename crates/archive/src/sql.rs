//! Every word of SQL: the schema and the statements, named by what they do.
//!
//! Keys start with the number of the archive, parameter 1 of every statement.

/// `SRG1`.
pub(crate) const APPLICATION_ID: i64 = 0x5352_4731;

/// The format version of docs/archive-format.md.
pub(crate) const FORMAT_VERSION: i64 = 3;

/// The first version with locks, keys of sources, erasures and redactions.
pub(crate) const VERSION_OF_ORDERS: i64 = 2;

/// The first version with a cold tier.
pub(crate) const VERSION_OF_TIERS: i64 = 3;

/// What a new database needs before its log.
pub(crate) const CREATE_PAGES: &str = "PRAGMA page_size = 4096";

/// What it needs before its first table.
pub(crate) const CREATE: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA application_id = 0x53524731;
    PRAGMA user_version = 2;
";

/// Gives a database its log for good; says which kind of journal it has then, also when that is another.
pub(crate) const KEEP_LOG: &str = "PRAGMA journal_mode = WAL";

/// Brings everything from the log into the database and flushes it; the first column says whether something was in the
/// way.
pub(crate) const EMPTY_LOG: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// What every connection is set to. With a log `EXTRA` does what `FULL` does; without one it flushes the end of the
/// rollback journal as well, so that an archive that another program took the log from is durable too.
pub(crate) const CONNECT: &str = "
    PRAGMA synchronous = EXTRA;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -8192;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA secure_delete = ON;
";

/// What a connection that only reads is set to.
pub(crate) const CONNECT_READER: &str = "PRAGMA query_only = ON;";

pub(crate) const READ_APPLICATION_ID: &str = "PRAGMA application_id";
pub(crate) const READ_FORMAT_VERSION: &str = "PRAGMA user_version";
pub(crate) const READ_PAGE_BYTES: &str = "PRAGMA page_size";
pub(crate) const READ_BYTES: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
pub(crate) const VACUUM: &str = "VACUUM";
pub(crate) const TEMP_IN_FILES: &str = "PRAGMA temp_store = FILE";
pub(crate) const TEMP_IN_MEMORY: &str = "PRAGMA temp_store = MEMORY";
pub(crate) const CHECK_INTEGRITY: &str = "PRAGMA integrity_check(20)";

/// Limits the database to this many pages.
pub(crate) fn limit_pages(pages: u64) -> String {
    format!("PRAGMA max_page_count = {pages}")
}

pub(crate) const SCHEMA: &str = "
    CREATE TABLE archive (
        no INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, key BLOB NOT NULL,
        cap_kind INTEGER NOT NULL, cap_ms INTEGER
    ) STRICT;
    CREATE TABLE blob (
        no INTEGER PRIMARY KEY, archive INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL,
        UNIQUE (archive, id)
    ) STRICT;
    CREATE TABLE piece (
        archive INTEGER NOT NULL, id BLOB NOT NULL, len INTEGER NOT NULL,
        kind INTEGER NOT NULL, until_ms INTEGER, tier INTEGER NOT NULL,
        PRIMARY KEY (archive, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE source (
        archive INTEGER NOT NULL, id BLOB NOT NULL, name TEXT NOT NULL, format TEXT NOT NULL, session TEXT,
        size INTEGER NOT NULL, mtime_ms INTEGER NOT NULL, inode INTEGER NOT NULL, device INTEGER NOT NULL,
        leaf INTEGER NOT NULL,
        PRIMARY KEY (archive, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX source_by_name ON source (archive, name);
    CREATE TABLE revision (
        archive INTEGER NOT NULL, source BLOB NOT NULL, number INTEGER NOT NULL, id BLOB NOT NULL,
        len INTEGER NOT NULL, pieces INTEGER NOT NULL, relation INTEGER NOT NULL, shared INTEGER NOT NULL,
        at_ms INTEGER NOT NULL, leaf INTEGER NOT NULL,
        PRIMARY KEY (archive, source, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX revision_by_id ON revision (archive, id);
    CREATE TABLE source_piece (
        archive INTEGER NOT NULL, source BLOB NOT NULL, seq INTEGER NOT NULL, since INTEGER NOT NULL,
        piece BLOB NOT NULL, len INTEGER NOT NULL,
        PRIMARY KEY (archive, source, seq, since)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX source_piece_by_piece ON source_piece (archive, piece);
    CREATE TABLE session_item (
        archive INTEGER NOT NULL, main BLOB NOT NULL, kind TEXT NOT NULL, source BLOB NOT NULL,
        PRIMARY KEY (archive, main, kind, source)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE hold (
        archive INTEGER NOT NULL, source BLOB NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (archive, source)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE compaction (
        no INTEGER PRIMARY KEY, archive INTEGER NOT NULL, tag BLOB NOT NULL, source BLOB NOT NULL,
        generation INTEGER NOT NULL, summary BLOB NOT NULL, leaf INTEGER NOT NULL, body BLOB NOT NULL,
        UNIQUE (archive, tag)
    ) STRICT;
    CREATE INDEX compaction_by_summary ON compaction (archive, summary);
    CREATE TABLE neighbour (
        archive INTEGER NOT NULL, key BLOB NOT NULL, tag BLOB NOT NULL,
        PRIMARY KEY (archive, key, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tombstone (
        archive INTEGER NOT NULL, keyed BLOB NOT NULL, reason TEXT NOT NULL, at_ms INTEGER NOT NULL,
        PRIMARY KEY (archive, keyed)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE journal_entry (
        archive INTEGER NOT NULL, no INTEGER NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (archive, no)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE journal_node (
        archive INTEGER NOT NULL, level INTEGER NOT NULL, no INTEGER NOT NULL, hash BLOB NOT NULL,
        PRIMARY KEY (archive, level, no)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE piece_key (
        archive INTEGER NOT NULL, piece BLOB NOT NULL, source BLOB NOT NULL, wrapped BLOB NOT NULL,
        PRIMARY KEY (archive, piece, source)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE dictionary (
        archive INTEGER NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (archive, id)
    ) STRICT, WITHOUT ROWID;
";

/// What version 2 adds.
pub(crate) const SCHEMA_2: &str = "
    CREATE TABLE lock (
        archive INTEGER PRIMARY KEY, stamp BLOB NOT NULL, method INTEGER NOT NULL, salt BLOB NOT NULL,
        memory_kib INTEGER NOT NULL, passes INTEGER NOT NULL, lanes INTEGER NOT NULL, sealed BLOB NOT NULL
    ) STRICT;
    CREATE TABLE source_key (
        archive INTEGER NOT NULL, source BLOB NOT NULL, wrapped BLOB NOT NULL,
        PRIMARY KEY (archive, source)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE erasure (
        archive INTEGER NOT NULL, keyed BLOB NOT NULL, who TEXT NOT NULL, reason TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (archive, keyed)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE purge (archive INTEGER PRIMARY KEY) STRICT;
";

/// Brings a database of version 1 to version 2.
pub(crate) const UPGRADE: &str = "PRAGMA user_version = 2";

/// What version 3 adds.
pub(crate) const SCHEMA_3: &str = "
    CREATE TABLE cold_tier (
        archive INTEGER PRIMARY KEY, url TEXT NOT NULL, declared_ms INTEGER NOT NULL, measured_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE cold (
        archive INTEGER NOT NULL, piece BLOB NOT NULL, object BLOB NOT NULL, len INTEGER NOT NULL,
        PRIMARY KEY (archive, piece)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE leaving (
        archive INTEGER NOT NULL, object BLOB NOT NULL,
        PRIMARY KEY (archive, object)
    ) STRICT, WITHOUT ROWID;
";

/// Brings a database of version 2 to version 3.
pub(crate) const UPGRADE_TO_TIERS: &str = "PRAGMA user_version = 3";

/// The values of a column, each once.
pub(crate) fn distinct(table: &str, column: &str) -> String {
    let archive = archive_column(table);
    format!("SELECT DISTINCT {column} FROM {table} WHERE {archive} = ?1 AND {column} IS NOT NULL")
}

/// Puts value 3 in place of value 2 of a column.
pub(crate) fn replace(table: &str, column: &str) -> String {
    let archive = archive_column(table);
    format!("UPDATE {table} SET {column} = ?3 WHERE {archive} = ?1 AND {column} = ?2")
}

/// The column with the number of the archive.
fn archive_column(table: &str) -> &'static str {
    if table == "archive" { "no" } else { "archive" }
}

// The archive itself.
pub(crate) const ARCHIVE_INSERT: &str = "INSERT INTO archive (no, id, key, cap_kind) VALUES (?1, ?2, ?3, 2)";
pub(crate) const ARCHIVE_ID: &str = "SELECT id FROM archive WHERE no = ?1";
pub(crate) const ARCHIVE_KEY: &str = "SELECT key FROM archive WHERE no = ?1";
pub(crate) const CAP_GET: &str = "SELECT cap_kind, cap_ms FROM archive WHERE no = ?1";
pub(crate) const CAP_SET: &str = "UPDATE archive SET cap_kind = ?2, cap_ms = ?3 WHERE no = ?1";

// Keys.
pub(crate) const LOCK_PUT: &str = "
    INSERT OR REPLACE INTO lock (archive, stamp, method, salt, memory_kib, passes, lanes, sealed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
pub(crate) const LOCK_GET: &str =
    "SELECT stamp, method, salt, memory_kib, passes, lanes, sealed FROM lock WHERE archive = ?1";
pub(crate) const LOCK_STAMP: &str = "SELECT stamp FROM lock WHERE archive = ?1";
pub(crate) const SOURCE_KEY_PUT: &str =
    "INSERT OR REPLACE INTO source_key (archive, source, wrapped) VALUES (?1, ?2, ?3)";
pub(crate) const SOURCE_KEY_GET: &str = "SELECT wrapped FROM source_key WHERE archive = ?1 AND source = ?2";
pub(crate) const SOURCE_KEY_DELETE: &str = "DELETE FROM source_key WHERE archive = ?1 AND source = ?2";
pub(crate) const PIECE_KEY_PUT: &str =
    "INSERT OR REPLACE INTO piece_key (archive, piece, source, wrapped) VALUES (?1, ?2, ?3, ?4)";
pub(crate) const PIECE_KEYS: &str = "SELECT source, wrapped FROM piece_key WHERE archive = ?1 AND piece = ?2";
pub(crate) const PIECE_KEY_DELETE: &str =
    "DELETE FROM piece_key WHERE archive = ?1 AND piece = ?2 AND source = ?3";
pub(crate) const PIECE_KEYS_DELETE: &str = "DELETE FROM piece_key WHERE archive = ?1 AND piece = ?2";
pub(crate) const SOURCE_WRAPS_DELETE: &str = "DELETE FROM piece_key WHERE archive = ?1 AND source = ?2";

// Erasure by order, and what it leaves to be cleared.
pub(crate) const ERASURE_PUT: &str =
    "INSERT OR REPLACE INTO erasure (archive, keyed, who, reason, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
pub(crate) const ERASURE_GET: &str =
    "SELECT who, reason, at_ms FROM erasure WHERE archive = ?1 AND keyed = ?2";
pub(crate) const ERASURE_DELETE: &str = "DELETE FROM erasure WHERE archive = ?1 AND keyed = ?2";
pub(crate) const ERASURES: &str = "SELECT keyed, who, reason, at_ms FROM erasure WHERE archive = ?1";
pub(crate) const PURGE_PUT: &str = "INSERT OR REPLACE INTO purge (archive) VALUES (?1)";
pub(crate) const PURGE_GET: &str = "SELECT EXISTS (SELECT 1 FROM purge WHERE archive = ?1)";
pub(crate) const PURGE_DELETE: &str = "DELETE FROM purge WHERE archive = ?1";

// Blobs.
pub(crate) const BLOB_PUT: &str = "INSERT INTO blob (archive, id, body) VALUES (?1, ?2, ?3) ON CONFLICT (archive, id) DO UPDATE SET body = ?3";
pub(crate) const BLOB_GET: &str = "SELECT body FROM blob WHERE archive = ?1 AND id = ?2";
pub(crate) const BLOB_IDS: &str = "SELECT id FROM blob WHERE archive = ?1 ORDER BY id";

// Pieces.
pub(crate) const PIECE_INSERT: &str =
    "INSERT INTO piece (archive, id, len, kind, until_ms, tier) VALUES (?1, ?2, ?3, ?4, ?5, 0)";
pub(crate) const PIECE_GET: &str =
    "SELECT len, kind, until_ms, tier FROM piece WHERE archive = ?1 AND id = ?2";
pub(crate) const PIECE_KEEP: &str =
    "UPDATE piece SET kind = ?3, until_ms = ?4 WHERE archive = ?1 AND id = ?2";
pub(crate) const PIECES: &str = "SELECT id, len, kind, until_ms FROM piece WHERE archive = ?1 ORDER BY id";
// A cross join keeps its order: few rows have the piece, while a held source may have very many.
pub(crate) const PIECE_HELD: &str = "
    SELECT EXISTS (
        SELECT 1 FROM source_piece s CROSS JOIN hold h ON h.archive = s.archive AND h.source = s.source
        WHERE s.archive = ?1 AND s.piece = ?2)";
pub(crate) const PIECE_SOURCES: &str =
    "SELECT DISTINCT source FROM source_piece WHERE archive = ?1 AND piece = ?2 ORDER BY source";
pub(crate) const PIECE_DELETE: &str = "DELETE FROM piece WHERE archive = ?1 AND id = ?2";
pub(crate) const BLOB_DELETE: &str = "DELETE FROM blob WHERE archive = ?1 AND id = ?2";
pub(crate) const TOMBSTONE_GET: &str =
    "SELECT reason, at_ms FROM tombstone WHERE archive = ?1 AND keyed = ?2";
pub(crate) const TOMBSTONE_PUT: &str =
    "INSERT OR REPLACE INTO tombstone (archive, keyed, reason, at_ms) VALUES (?1, ?2, ?3, ?4)";
pub(crate) const TOMBSTONES: &str =
    "SELECT keyed, reason, at_ms FROM tombstone WHERE archive = ?1 ORDER BY keyed";
pub(crate) const LAST_IMPORT: &str = "SELECT max(at_ms) FROM revision WHERE archive = ?1";
pub(crate) const LAST_TIME: &str = "
    SELECT max(at_ms) FROM (
        SELECT max(at_ms) AS at_ms FROM revision WHERE archive = ?1
        UNION ALL SELECT max(at_ms) FROM tombstone WHERE archive = ?1)";
pub(crate) const LAST_ERASURE: &str = "SELECT max(at_ms) FROM erasure WHERE archive = ?1";

// The cold tier: where it is, what is there, and what is to be taken away from there.
pub(crate) const TIER_GET: &str = "SELECT url, declared_ms, measured_ms FROM cold_tier WHERE archive = ?1";
pub(crate) const TIER_PUT: &str =
    "INSERT OR REPLACE INTO cold_tier (archive, url, declared_ms, measured_ms) VALUES (?1, ?2, ?3, ?4)";
pub(crate) const TIER_MEASURED: &str =
    "UPDATE cold_tier SET measured_ms = max(measured_ms, ?2) WHERE archive = ?1";
pub(crate) const PIECE_TIER: &str = "UPDATE piece SET tier = ?3 WHERE archive = ?1 AND id = ?2";
pub(crate) const COLD_PUT: &str = "INSERT INTO cold (archive, piece, object, len) VALUES (?1, ?2, ?3, ?4)";
pub(crate) const COLD_GET: &str = "SELECT object, len FROM cold WHERE archive = ?1 AND piece = ?2";
pub(crate) const COLD_DELETE: &str = "DELETE FROM cold WHERE archive = ?1 AND piece = ?2";
pub(crate) const COLD_ALL: &str = "SELECT piece, object, len FROM cold WHERE archive = ?1";
pub(crate) const LEAVING_PUT: &str =
    "INSERT INTO leaving (archive, object) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
pub(crate) const LEAVING_DELETE: &str = "DELETE FROM leaving WHERE archive = ?1 AND object = ?2";
pub(crate) const LEAVING_ALL: &str = "SELECT object FROM leaving WHERE archive = ?1 ORDER BY object";

// Sources and revisions.
pub(crate) const SOURCE_PUT: &str = "
    INSERT OR REPLACE INTO source (archive, id, name, format, session, size, mtime_ms, inode, device, leaf)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
pub(crate) const SOURCE_GET: &str = "
    SELECT id, name, format, session, size, mtime_ms, inode, device, leaf FROM source WHERE archive = ?1 AND id = ?2";
pub(crate) const SOURCE_NAMED: &str = "
    SELECT id, name, format, session, size, mtime_ms, inode, device, leaf FROM source
    WHERE archive = ?1 AND name = ?2 ORDER BY leaf DESC LIMIT 1";
pub(crate) const SOURCES: &str = "
    SELECT id, name, format, session, size, mtime_ms, inode, device, leaf FROM source
    WHERE archive = ?1 ORDER BY name, id";
pub(crate) const REVISION_INSERT: &str = "
    INSERT INTO revision (archive, source, number, id, len, pieces, relation, shared, at_ms, leaf)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
pub(crate) const REVISION_LATEST: &str = "
    SELECT source, number, id, len, pieces, relation, shared, at_ms, leaf FROM revision
    WHERE archive = ?1 AND source = ?2 ORDER BY number DESC LIMIT 1";
pub(crate) const REVISION_BY_ID: &str = "
    SELECT source, number, id, len, pieces, relation, shared, at_ms, leaf FROM revision
    WHERE archive = ?1 AND id = ?2 ORDER BY leaf LIMIT 1";
pub(crate) const REVISIONS: &str = "
    SELECT source, number, id, len, pieces, relation, shared, at_ms, leaf FROM revision
    WHERE archive = ?1 ORDER BY leaf";
pub(crate) const SOURCE_PIECES: &str =
    "SELECT DISTINCT piece FROM source_piece WHERE archive = ?1 AND source = ?2";
pub(crate) const SOURCE_PIECE_INSERT: &str = "
    INSERT INTO source_piece (archive, source, seq, since, piece, len) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
// A bare column beside max() comes from the row that has the maximum.
pub(crate) const REVISION_PIECES: &str = "
    SELECT piece, len, max(since) FROM source_piece
    WHERE archive = ?1 AND source = ?2 AND since <= ?3 AND seq < ?4 GROUP BY seq ORDER BY seq";

// Sessions and holds.
pub(crate) const SESSION_ITEM_PUT: &str = "
    INSERT INTO session_item (archive, main, kind, source) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
pub(crate) const SESSION_ITEMS: &str =
    "SELECT kind, source FROM session_item WHERE archive = ?1 AND main = ?2 ORDER BY kind, source";
pub(crate) const SESSION_LINKS: &str =
    "SELECT main, kind, source FROM session_item WHERE archive = ?1 ORDER BY main, kind, source";
pub(crate) const HOLD_PUT: &str = "INSERT OR REPLACE INTO hold (archive, source, reason) VALUES (?1, ?2, ?3)";
pub(crate) const HOLD_GET: &str = "SELECT reason FROM hold WHERE archive = ?1 AND source = ?2";
pub(crate) const HOLD_DELETE: &str = "DELETE FROM hold WHERE archive = ?1 AND source = ?2";
pub(crate) const HOLDS: &str = "SELECT source, reason FROM hold WHERE archive = ?1 ORDER BY source";

// Compactions.
pub(crate) const COMPACTION_INSERT: &str = "
    INSERT INTO compaction (archive, tag, source, generation, summary, leaf, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
pub(crate) const COMPACTION_GET: &str = "SELECT leaf, body FROM compaction WHERE archive = ?1 AND tag = ?2";
pub(crate) const COMPACTION_REPLACE: &str =
    "UPDATE compaction SET leaf = ?3, body = ?4 WHERE archive = ?1 AND tag = ?2";
pub(crate) const COMPACTION_GENERATION: &str =
    "SELECT generation FROM compaction WHERE archive = ?1 AND tag = ?2";
pub(crate) const COMPACTIONS: &str =
    "SELECT tag, source, generation, summary FROM compaction WHERE archive = ?1 ORDER BY leaf";
pub(crate) const COMPACTIONS_OF: &str =
    "SELECT tag FROM compaction WHERE archive = ?1 AND source = ?2 ORDER BY leaf DESC";
pub(crate) const COMPACTION_BY_SUMMARY: &str =
    "SELECT tag FROM compaction WHERE archive = ?1 AND summary = ?2 ORDER BY generation DESC, tag";
pub(crate) const NEIGHBOUR_PUT: &str =
    "INSERT INTO neighbour (archive, key, tag) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
pub(crate) const NEIGHBOUR_TAGS: &str =
    "SELECT tag FROM neighbour WHERE archive = ?1 AND key = ?2 ORDER BY tag";
pub(crate) const NEIGHBOURS: &str = "SELECT key, tag FROM neighbour WHERE archive = ?1 ORDER BY key, tag";

// The journal.
pub(crate) const ENTRY_INSERT: &str = "INSERT INTO journal_entry (archive, no, body) VALUES (?1, ?2, ?3)";
pub(crate) const ENTRY_GET: &str = "SELECT body FROM journal_entry WHERE archive = ?1 AND no = ?2";
pub(crate) const ENTRY_COUNT: &str = "SELECT coalesce(max(no) + 1, 0) FROM journal_entry WHERE archive = ?1";
pub(crate) const ENTRY_REPLACE: &str = "UPDATE journal_entry SET body = ?3 WHERE archive = ?1 AND no = ?2";
pub(crate) const NODES: &str = "SELECT level, no FROM journal_node WHERE archive = ?1";
pub(crate) const NODE_REPLACE: &str =
    "UPDATE journal_node SET hash = ?4 WHERE archive = ?1 AND level = ?2 AND no = ?3";
pub(crate) const NODE_INSERT: &str =
    "INSERT INTO journal_node (archive, level, no, hash) VALUES (?1, ?2, ?3, ?4)";
pub(crate) const NODE_GET: &str =
    "SELECT hash FROM journal_node WHERE archive = ?1 AND level = ?2 AND no = ?3";
pub(crate) const NODE_COUNT: &str =
    "SELECT coalesce(max(no) + 1, 0) FROM journal_node WHERE archive = ?1 AND level = 0";
