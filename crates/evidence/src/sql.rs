//! What SQL text does: each statement by its syntax tree, and one that no dialect's parser takes by its first keyword.

use std::convert::Infallible;
use std::ops::ControlFlow;

use sqlparser::ast::{
    CopyTarget, Expr, FromTable, ObjectName, Select, Statement, TableFactor, TableObject, TableWithJoins,
    Visit, Visitor,
};
use sqlparser::dialect::{
    Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
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

/// Words by which a text that no parser takes may change something after all.
const CHANGING: &[&str] = &[
    "insert", "update", "delete", "merge", "drop", "create", "alter", "truncate", "grant", "revoke", "exec",
    "call",
];

/// A statement longer than this, in bytes, or with more operators than this, is not parsed: trees of expressions are
/// walked by recursion.
const MOST_BYTES: usize = 1 << 16;
const MOST_OPERATORS: usize = 300;

/// The effects of all statements of `text`, in order.
pub fn effects(text: &str) -> Vec<SqlEffect> {
    statements(text).iter().flat_map(|statement| of_one(statement)).collect()
}

fn of_one(statement: &str) -> Vec<SqlEffect> {
    let plain = statement.trim();
    if plain.is_empty() {
        return Vec::new();
    }
    if let Some(meta) = plain.strip_prefix(['\\', '.']) {
        return vec![meta_command(meta)];
    }
    let Some(parsed) = parsed(plain) else { return by_keyword(plain, Grasp::Words).into_iter().collect() };
    parsed.iter().flat_map(|own| by_tree(own, plain)).collect()
}

/// What the first dialect says that takes the whole text. The order matters only for texts that two dialects read
/// differently; none of those is known to change its kind.
fn parsed(text: &str) -> Option<Vec<Statement>> {
    let dialects: [&dyn Dialect; 5] =
        [&GenericDialect {}, &PostgreSqlDialect {}, &SQLiteDialect {}, &MySqlDialect {}, &MsSqlDialect {}];
    let operators = text.bytes().filter(|byte| b"+-*/|=<>%&^(".contains(byte)).count()
        + text
            .split_whitespace()
            .filter(|word| ["and", "or", "not"].iter().any(|own| word.eq_ignore_ascii_case(own)))
            .count();
    if text.len() > MOST_BYTES || operators > MOST_OPERATORS {
        return None;
    }
    dialects
        .into_iter()
        .find_map(|dialect| Parser::parse_sql(dialect, text).ok())
        .filter(|all| !all.is_empty())
}

/// The effects of a statement and of those within it that run with it.
fn by_tree(statement: &Statement, text: &str) -> Vec<SqlEffect> {
    let mut within = Within::default();
    match statement {
        Statement::Explain { analyze, options, statement, .. } => {
            let listed = options.iter().flatten().any(|own| own.name.value.eq_ignore_ascii_case("analyze"));
            if *analyze || listed {
                within.walk(statement);
            }
        }
        Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Merge(_) => within.walk(statement),
        Statement::Truncate(own) => within.writes(own.table_names.iter().map(|table| name(&table.name))),
        Statement::Drop { names, .. } => {
            within.all.extend(names.iter().map(|own| definite(EffectKind::DbSchema, Some(name(own)))));
        }
        Statement::Copy { to: true, target, .. } if !matches!(target, CopyTarget::Program { .. }) => {}
        _ => return by_keyword(text, Grasp::Tree).into_iter().collect(),
    }
    if within.all.is_empty() {
        within.all.push(definite(EffectKind::DbRead, None));
    }
    within.all
}

fn definite(kind: EffectKind, object: Option<String>) -> SqlEffect {
    SqlEffect { kind, object, certainty: Certainty::Definite }
}

/// A name as it is compared: without quotes, and in small letters where none stood.
fn name(own: &ObjectName) -> String {
    let part = |part: &sqlparser::ast::ObjectNamePart| match part.as_ident() {
        Some(ident) if ident.quote_style.is_some() => ident.value.clone(),
        Some(ident) => ident.value.to_lowercase(),
        None => part.to_string().to_lowercase(),
    };
    own.0.iter().map(part).collect::<Vec<_>>().join(".")
}

/// The changes that a statement makes, whether in itself, in a `WITH`, or by a function that it calls.
#[derive(Debug, Default)]
struct Within {
    all: Vec<SqlEffect>,
}

impl Within {
    fn walk(&mut self, statement: &Statement) {
        let ControlFlow::Continue(()) = statement.visit(self);
    }

    fn writes(&mut self, names: impl Iterator<Item = String>) {
        let before = self.all.len();
        self.all.extend(names.map(|name| definite(EffectKind::DbWrite, Some(name))));
        if self.all.len() == before {
            self.all.push(definite(EffectKind::DbWrite, None));
        }
    }

    fn calls(&mut self, function: &ObjectName) {
        let function = name(function);
        let own = function.rsplit('.').next().unwrap_or_default();
        if CALLS.contains(&own) {
            self.all.push(SqlEffect {
                kind: EffectKind::DbWrite,
                object: Some(own.to_owned()),
                certainty: Certainty::Possible,
            });
        }
    }
}

/// The tables that a factor names.
fn tables<'a>(all: impl IntoIterator<Item = &'a TableFactor>) -> Vec<String> {
    let named = |factor: &TableFactor| match factor {
        TableFactor::Table { name: own, .. } => Some(name(own)),
        _ => None,
    };
    all.into_iter().filter_map(named).collect()
}

fn first_tables(from: &[TableWithJoins]) -> Vec<String> {
    tables(from.iter().map(|table| &table.relation))
}

impl Visitor for Within {
    type Break = Infallible;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Infallible> {
        match statement {
            Statement::Insert(own) => {
                let table = match &own.table {
                    TableObject::TableName(table) => Some(name(table)),
                    _ => None,
                };
                self.writes(table.into_iter());
            }
            Statement::Update(own) => self.writes(tables([&own.table.relation]).into_iter()),
            Statement::Delete(own) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &own.from;
                let named: Vec<String> = own.tables.iter().map(name).collect();
                self.writes(if named.is_empty() { first_tables(from) } else { named }.into_iter());
            }
            Statement::Merge(own) => self.writes(tables([&own.table]).into_iter()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Infallible> {
        if let Some(into) = &select.into {
            // A new table in some dialects, variables in others.
            let object = into.targets.first().map(|target| target.to_string().to_lowercase());
            self.all.push(SqlEffect { kind: EffectKind::DbSchema, object, certainty: Certainty::Possible });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Infallible> {
        if let TableFactor::Table { name: own, args: Some(_), .. } | TableFactor::Function { name: own, .. } =
            factor
        {
            self.calls(own);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        if let Expr::Function(function) = expr {
            self.calls(&function.name);
        }
        ControlFlow::Continue(())
    }
}

/// How much of a statement is known to whoever reads its first keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grasp {
    /// A parser took it, so that nothing hides behind the keyword.
    Tree,
    /// None did.
    Words,
}

fn by_keyword(plain: &str, grasp: Grasp) -> Option<SqlEffect> {
    let lower = plain.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '`'))).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let first = *words.first()?;
    let possible = |kind| SqlEffect { kind, object: object(&words), certainty: Certainty::Possible };
    let changing = words.iter().skip(1).any(|word| CHANGING.contains(word) || CALLS.contains(word));
    let read = definite(EffectKind::DbRead, None);
    let found = match first {
        "pragma" if lower.contains('=') => possible(EffectKind::DbWrite),
        "set" if matches!(words.get(1), Some(&("global" | "persist" | "persist_only"))) => {
            possible(EffectKind::DbWrite)
        }
        "copy" if words.contains(&"to") && !words.contains(&"program") => read,
        "with" | "explain" | "pragma" | "set" if !changing => read,
        "select" if words.contains(&"into") => possible(EffectKind::DbSchema),
        _ => match KEYWORDS.iter().find(|(word, _, _)| *word == first) {
            Some((_, EffectKind::DbRead, _)) if grasp == Grasp::Words && changing => {
                possible(EffectKind::DbWrite)
            }
            Some((_, EffectKind::DbRead, _)) => read,
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

    /// Each text with its effects in order, a possible one with a question mark.
    const READ: &[(&str, &[&str])] = &[
        ("SELECT 'delete from t' AS note, updated FROM t", &["db.read"]),
        ("SELECT count(*) FROM t WHERE action = 'insert' FOR UPDATE", &["db.read"]),
        (
            "WITH gone AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM gone",
            &["db.write a", "db.write b"],
        ),
        ("WITH n AS (SELECT 1) SELECT * FROM n", &["db.read"]),
        ("EXPLAIN ANALYZE UPDATE t SET a = 1", &["db.write t"]),
        ("EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t", &["db.write t"]),
        ("EXPLAIN UPDATE t SET a = 1", &["db.read"]),
        ("SELECT * INTO fresh FROM t", &["db.schema fresh ?"]),
        ("SELECT setval('s', 1)", &["db.write setval ?"]),
        (
            "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_stat_activity",
            &["db.write pg_terminate_backend ?"],
        ),
        ("UPDATE Users u SET a = 1 FROM other WHERE u.id = other.id", &["db.write users"]),
        ("UPDATE \"Users\" SET a = 1", &["db.write Users"]),
        ("DELETE a FROM a JOIN b ON a.id = b.id", &["db.write a"]),
        ("TRUNCATE a, b", &["db.write a", "db.write b"]),
        ("DROP TABLE IF EXISTS a, b CASCADE", &["db.schema a", "db.schema b"]),
        ("INSERT INTO t SELECT * FROM u", &["db.write t"]),
        ("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE", &["db.write t"]),
        ("COPY t TO STDOUT", &["db.read"]),
        ("COPY t TO PROGRAM 'rm -rf x'", &["db.write t ?"]),
        ("COPY t FROM STDIN", &["db.write t ?"]),
        ("SET search_path = app", &["db.read"]),
        ("SET GLOBAL max_connections = 5", &["db.write global ?"]),
        ("CREATE FUNCTION f() RETURNS int AS $$ DELETE FROM t; SELECT 1 $$ LANGUAGE sql", &["db.schema f"]),
        ("CALL purge()", &["db.write purge ?"]),
        ("DO $$ BEGIN DELETE FROM t; END $$", &["db.write begin ?"]),
        ("GRANT SELECT ON t TO r", &["db.perm select"]),
        ("select {{ column }} from {{ ref('orders') }}", &["db.read"]),
        ("select {{ a }} from x; delete from {{ y }}", &["db.read", "db.write y"]),
    ];

    #[test]
    fn a_statement_is_read_by_its_tree() {
        for (text, wanted) in READ {
            let told = |effect: SqlEffect| {
                let mark =
                    if effect.certainty == Certainty::Possible { "?".to_owned() } else { String::new() };
                let parts = [effect.kind.word().to_owned(), effect.object.unwrap_or_default(), mark];
                parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
            };
            let found: Vec<String> = effects(text).into_iter().map(told).collect();
            assert_eq!(found, *wanted, "{text}");
        }
    }

    #[test]
    fn a_deep_statement_is_read_by_its_words() {
        let deep = [
            format!("SELECT {}1", "1+".repeat(100_000)),
            format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)),
            format!("SELECT {}1", "not ".repeat(50_000)),
            format!("SELECT 1 WHERE {}1", "a and ".repeat(299)),
            format!("DELETE FROM t WHERE {}1", "a or ".repeat(30_000)),
        ];
        let found: Vec<_> = deep.iter().flat_map(|text| kinds(text)).collect();
        assert_eq!(found, ["db.read", "db.read", "db.read", "db.read", "db.write"]);
    }

    #[test]
    fn the_object_is_named() {
        assert_eq!(effects("INSERT INTO users (a) VALUES (1)")[0].object.as_deref(), Some("users"));
        assert_eq!(effects("DROP TABLE IF EXISTS a.b")[0].object.as_deref(), Some("a.b"));
    }
}
