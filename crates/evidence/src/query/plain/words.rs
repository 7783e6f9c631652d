//! What a single word of a question can be: a literal, a name, a word of the language, or nothing that is known.

use std::sync::LazyLock;

use regex::Regex;

use crate::query::Atom;

/// Words that point, and name nothing.
pub(super) const POINTING: &[&str] =
    &["a", "an", "any", "our", "my", "your", "some", "its", "their", "the", "this", "that", "these", "those"];

/// Stands for an object without naming one.
pub(super) const ANYTHING: &[&str] = &["anything", "something", "it", "them", "one", "stuff", "things"];

/// Kinds of things, and what somebody thinks of them: no record would spell them the same way. They say nothing
/// beside a name; alone they cannot be looked for.
pub(super) const KINDS: &[&str] = &[
    "account",
    "accounts",
    "app",
    "application",
    "artifact",
    "artifacts",
    "backend",
    "branch",
    "branches",
    "bucket",
    "build",
    "cluster",
    "code",
    "command",
    "commands",
    "config",
    "configuration",
    "container",
    "containers",
    "crate",
    "customer",
    "customers",
    "data",
    "database",
    "databases",
    "db",
    "dependencies",
    "dependency",
    "directory",
    "docs",
    "documentation",
    "email",
    "emails",
    "environment",
    "feature",
    "file",
    "files",
    "folder",
    "frontend",
    "image",
    "important",
    "infrastructure",
    "instance",
    "libraries",
    "library",
    "linter",
    "live",
    "log",
    "logs",
    "machine",
    "mail",
    "mails",
    "message",
    "messages",
    "new",
    "newest",
    "notification",
    "notifications",
    "old",
    "oldest",
    "own",
    "package",
    "packages",
    "path",
    "people",
    "process",
    "program",
    "project",
    "record",
    "records",
    "release",
    "remote",
    "report",
    "repo",
    "repository",
    "resource",
    "resources",
    "schema",
    "script",
    "scripts",
    "secret",
    "secrets",
    "server",
    "servers",
    "service",
    "services",
    "site",
    "software",
    "suite",
    "system",
    "table",
    "tables",
    "tag",
    "tags",
    "temp",
    "temporary",
    "test",
    "tests",
    "tool",
    "tools",
    "unused",
    "user",
    "version",
    "versions",
    "volume",
    "website",
    "workspace",
];

/// Words that are no name wherever they stand: the grammar of a sentence, its time, its degree, and its doubts.
const NO_NAMES: &[&str] = &[
    "agent",
    "agents",
    "assistant",
    "worker",
    "workers",
    "subagent",
    "subagents",
    "flag",
    "flags",
    "option",
    "about",
    "above",
    "accident",
    "accidentally",
    "across",
    "after",
    "again",
    "against",
    "ago",
    "all",
    "alone",
    "along",
    "also",
    "always",
    "am",
    "among",
    "and",
    "another",
    "anybody",
    "anyone",
    "anywhere",
    "apart",
    "are",
    "around",
    "as",
    "aside",
    "at",
    "away",
    "back",
    "bad",
    "badly",
    "be",
    "because",
    "been",
    "before",
    "behind",
    "being",
    "below",
    "best",
    "better",
    "between",
    "both",
    "broken",
    "but",
    "by",
    "call",
    "called",
    "calls",
    "can",
    "come",
    "correct",
    "could",
    "day",
    "did",
    "different",
    "do",
    "does",
    "done",
    "down",
    "during",
    "each",
    "earlier",
    "early",
    "easily",
    "either",
    "else",
    "end",
    "enough",
    "entire",
    "error",
    "errors",
    "even",
    "ever",
    "every",
    "everybody",
    "everyone",
    "everything",
    "exact",
    "except",
    "far",
    "fast",
    "few",
    "fewer",
    "fine",
    "finally",
    "first",
    "for",
    "forbidden",
    "forth",
    "friday",
    "from",
    "full",
    "further",
    "future",
    "get",
    "give",
    "go",
    "good",
    "got",
    "had",
    "half",
    "hard",
    "has",
    "have",
    "he",
    "her",
    "here",
    "him",
    "his",
    "how",
    "i",
    "if",
    "immediately",
    "in",
    "inside",
    "instead",
    "into",
    "is",
    "just",
    "last",
    "late",
    "lately",
    "later",
    "latest",
    "least",
    "less",
    "like",
    "line",
    "lines",
    "lot",
    "made",
    "make",
    "many",
    "may",
    "me",
    "merely",
    "middle",
    "might",
    "minute",
    "minutes",
    "mistake",
    "monday",
    "month",
    "more",
    "most",
    "much",
    "must",
    "need",
    "neither",
    "never",
    "next",
    "no",
    "nobody",
    "none",
    "nor",
    "not",
    "nothing",
    "now",
    "of",
    "off",
    "often",
    "ok",
    "on",
    "once",
    "one",
    "only",
    "or",
    "order",
    "other",
    "others",
    "ought",
    "out",
    "output",
    "outputs",
    "outside",
    "over",
    "own",
    "past",
    "per",
    "perhaps",
    "permission",
    "please",
    "possible",
    "probably",
    "properly",
    "purpose",
    "quickly",
    "quite",
    "rather",
    "ready",
    "really",
    "recent",
    "recently",
    "result",
    "results",
    "right",
    "said",
    "same",
    "saturday",
    "say",
    "second",
    "see",
    "several",
    "shall",
    "she",
    "should",
    "since",
    "so",
    "somebody",
    "someone",
    "sometimes",
    "somewhere",
    "soon",
    "still",
    "such",
    "sunday",
    "sure",
    "than",
    "then",
    "there",
    "they",
    "third",
    "through",
    "thursday",
    "thus",
    "time",
    "times",
    "to",
    "today",
    "together",
    "tomorrow",
    "tonight",
    "too",
    "totally",
    "towards",
    "true",
    "tuesday",
    "twice",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "very",
    "via",
    "was",
    "way",
    "we",
    "wednesday",
    "week",
    "well",
    "went",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whole",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "work",
    "worked",
    "works",
    "would",
    "wrong",
    "year",
    "yes",
    "yesterday",
    "yet",
    "you",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "midnight",
    "noon",
    "morning",
    "evening",
    "afternoon",
    "night",
    "hour",
    "hours",
    "second",
    "seconds",
    "days",
    "weeks",
    "months",
    "years",
    "three",
    "two",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "zero",
];

/// Names of tools that are also plain words; others are known by their shape.
pub(super) const TOOLS: &str = "bash|shell|read|write|edit|multiedit|notebookedit|notebookread|glob|grep|ls|todowrite|todoread|webfetch|websearch|bashoutput|killshell|exitplanmode|askuserquestion|powershell|terminal";

/// Branches and remotes that go by a plain word everywhere.
pub(super) const BRANCHES: &[&str] = &["main", "master", "develop", "trunk", "origin"];

/// Words before a hyphen that make a plain word, not a name.
const PREFIXES: &[&str] = &[
    "re", "non", "pre", "post", "self", "well", "so", "co", "multi", "auto", "anti", "sub", "long", "short",
    "high", "low", "old", "new", "un", "over", "under", "up", "to", "e", "one", "two", "three", "first",
    "second", "last", "full", "half", "left", "right", "end", "open", "real", "hard", "soft", "in", "on",
    "off", "out", "by", "follow", "back", "check", "check", "double", "single", "day", "side", "user",
    "built", "read", "force", "cross", "ready", "all", "ever", "ill", "much", "state", "step", "clean",
    "semi", "pseudo", "mid",
];

struct Shapes {
    inner: Option<Regex>,
    amount: Option<Regex>,
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| Shapes {
    inner: Regex::new(r"^\p{L}*\p{Ll}\p{Lu}\w*$").ok(),
    amount: Regex::new(
        r"(?i)^(?:\d{1,3}|\d+(?:st|nd|rd|th|x|am|pm|s|ms|h|m|min|k|d|%)|\d{4}-\d\d-\d\d.*|\d\d?:\d\d.*)$",
    )
    .ok(),
});

fn among(list: &[&str], word: &str) -> bool {
    list.iter().any(|own| word.eq_ignore_ascii_case(own))
}

/// Whether `word` can only be meant literally: a path, an identifier, a version, an address, a flag.
pub(super) fn is_literal(word: &str) -> bool {
    if SHAPES.amount.as_ref().is_some_and(|regex| regex.is_match(word)) {
        return word.len() > 1 && word.starts_with('0') && word.bytes().all(|byte| byte.is_ascii_digit());
    }
    if !word.contains(char::is_alphanumeric) || word.contains(['\'', '’']) {
        return false;
    }
    let joined = word.contains(['/', '_', '@', '=', '#', '\\', '*']) && !["and/or", "he/she"].contains(&word);
    let dotted = word.trim_end_matches('.').contains('.');
    let digits = word.contains(|c: char| c.is_ascii_digit());
    let inner = SHAPES.inner.as_ref().is_some_and(|regex| regex.is_match(word));
    joined
        || dotted
        || digits
        || inner
        || is_hyphened(word)
        || word.contains("::")
        || word.contains(is_spaceless)
}

/// Scripts that are written without blanks: their words are no English.
fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}')
}

fn is_hyphened(word: &str) -> bool {
    if word.len() > 2 && word.starts_with('-') {
        return true;
    }
    let mut parts = word.split('-');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let whole = !rest.is_empty() && !first.is_empty() && rest.iter().all(|part| !part.is_empty());
    let verbal = rest.last().is_some_and(|part| part.ends_with("ed") || part.ends_with("ing"));
    let adverb = first.ends_with("ly") || among(PREFIXES, first);
    let grammar = rest.iter().any(|part| among(NO_NAMES, part));
    whole && !(verbal || adverb || grammar)
}

/// Whether `word` can be the path of a file.
pub(super) fn is_path(word: &str) -> bool {
    const FILES: &[&str] = &[
        "Makefile",
        "Dockerfile",
        "README",
        "LICENSE",
        "Justfile",
        "justfile",
        "Cargofile",
        "Procfile",
        "CHANGELOG",
        "Rakefile",
        "Gemfile",
        "Vagrantfile",
        "Jenkinsfile",
        "BUILD",
        "WORKSPACE",
        "CODEOWNERS",
    ];
    let extended =
        word.rsplit_once('.').is_some_and(|(_, end)| end.starts_with(|c: char| c.is_ascii_alphabetic()));
    let shaped = word.contains('/') || extended || word.starts_with('.');
    (is_literal(word) && shaped && !word.starts_with('-') && !word.contains(['@', '=']))
        || FILES.contains(&word)
}

/// Whether `word` is plain and may be a name, where a name is expected.
pub(super) fn is_name(word: &str) -> bool {
    let plain = word.chars().all(char::is_alphabetic);
    let grammar =
        among(NO_NAMES, word) || among(POINTING, word) || among(ANYTHING, word) || among(KINDS, word);
    plain && !grammar && !word.ends_with("ly") && word.chars().count() > 1
}

/// Whether `word` begins with a capital, as names do in the middle of a sentence.
pub(super) fn is_capitalised(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// Whether `word` is the key of a value: a literal, a word in capitals, or one that a settings file would hold.
pub(super) fn is_key(word: &str) -> bool {
    const KEYS: &[&str] = &[
        "port",
        "timeout",
        "version",
        "limit",
        "size",
        "rate",
        "budget",
        "address",
        "host",
        "hostname",
        "region",
        "model",
        "threshold",
        "interval",
        "latency",
        "throughput",
        "retries",
        "workers",
        "duration",
        "memory",
        "replicas",
        "temperature",
        "seed",
        "accuracy",
        "coverage",
        "score",
        "loss",
        "batch",
        "epochs",
        "schema",
        "commit",
    ];
    let spelled = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let letters = word.contains(char::is_alphabetic);
    let file = word.contains('.') && !word.contains('_');
    let shape = is_literal(word) && spelled && letters && !file;
    shape || among(KEYS, word)
}

/// Whether `name` is a program that can be run.
pub(super) fn is_program(name: &str) -> bool {
    /// Programs that the table of commands has no row for: they run others, or are read by code of their own.
    const PROGRAMS: &[&str] = &[
        "awk", "bash", "curl", "doas", "env", "find", "make", "mysql", "nice", "node", "nohup", "psql",
        "python", "python3", "rsync", "scp", "sed", "sh", "sqlite3", "ssh", "sudo", "tar", "time", "timeout",
        "wget", "xargs", "zsh",
    ];
    let words = ["time", "test", "tests", "install", "code", "link", "who", "at", "which", "it", "more"];
    !words.contains(&name) && (crate::commands::table().knows(name) || PROGRAMS.contains(&name))
}

/// A word as it can be typed: quoted where it would be read as something else.
pub(super) fn safe(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "_-./@+#*".contains(c));
    let flag = word.starts_with('-') && !word.starts_with("--");
    let order = matches!(word.to_lowercase().as_str(), "before" | "after");
    if plain && !flag && !order && !word.contains("..") {
        word.to_owned()
    } else {
        Atom::Quoted(word.to_owned()).to_string()
    }
}
