//! Secrets in a text, by a table of forms. Commit hashes, UUIDs and digests of lock files are none.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    keywords: Vec<String>,
    pattern: String,
    #[serde(default)]
    run: usize,
    #[serde(default)]
    needs: String,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    check: Check,
    #[serde(default)]
    case: Case,
    #[serde(default = "default_span")]
    span: usize,
}

/// What a value must be beside its form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Check {
    /// Nothing.
    #[default]
    Form,
    /// A letter and a digit or sign.
    Mixed,
    /// That, and no name, placeholder or public hash.
    Assigned,
    /// Like it, behind the name of a service.
    Named,
    /// No placeholder of an address.
    Url,
    /// Typed on a command line: no placeholder.
    Typed,
}

/// Whether the case of a keyword counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Case {
    /// It does not.
    #[default]
    Any,
    /// It does.
    Exact,
}

const fn default_span() -> usize {
    420
}

#[derive(Debug, Deserialize)]
struct File {
    secret: Vec<Rule>,
}

struct Table {
    rules: Vec<(Rule, OnceLock<Option<Regex>>)>,
    /// The rule of each keyword of the automaton.
    owners: Vec<usize>,
    keywords: AhoCorasick,
}

static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| load().ok());

fn load() -> Result<Table, String> {
    let file: File =
        toml::from_str(include_str!("tables/secrets.toml")).map_err(|error| error.to_string())?;
    let mut rules = Vec::new();
    let (mut owners, mut words) = (Vec::new(), Vec::new());
    for (at, rule) in file.secret.into_iter().enumerate() {
        owners.extend(std::iter::repeat_n(at, rule.keywords.len()));
        words.extend(rule.keywords.iter().cloned());
        rules.push((rule, OnceLock::new()));
    }
    let keywords = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .build(words)
        .map_err(|error| error.to_string())?;
    Ok(Table { rules, owners, keywords })
}

/// How far before a keyword a match may begin, in bytes.
const LEAD: usize = 80;

/// The secrets of `text` with the rules that found them, in order and disjoint.
///
/// JSON may stand in a text as it is spelled. There a secret begins behind the letter of an escape, which is no part of a
/// word: around a keyword it is looked for once more without them.
pub fn find(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let Some(table) = TABLE.as_ref() else { return Vec::new() };
    let mut found: Vec<(Range<usize>, &'static str)> = Vec::new();
    let mut searched: Vec<usize> = Vec::new();
    for hit in table.keywords.find_overlapping_iter(text) {
        searched.resize(table.rules.len(), 0);
        let Some(&owner) = table.owners.get(hit.pattern().as_usize()) else { continue };
        let (Some((rule, pattern)), Some(done)) = (table.rules.get(owner), searched.get_mut(owner)) else {
            continue;
        };
        if hit.start() < *done || !rule.meets(text, &hit.range()) {
            continue;
        }
        let window = window(text, hit.start().saturating_sub(LEAD), hit.end() + rule.span);
        let spelled = text.get(window.clone()).unwrap_or_default();
        for around in [Some(Cow::Borrowed(spelled)), without_escapes(spelled)].into_iter().flatten() {
            if !rule.may_match(&around) {
                continue;
            }
            // Most rules are never tried; building all patterns at once would take longer than a small file.
            let Some(pattern) = pattern.get_or_init(|| compiled(&rule.pattern).ok()) else { continue };
            for range in matches(pattern, &around) {
                let (start, end) = (window.start + range.start, window.start + range.end);
                let range = text.floor_char_boundary(start)..text.ceil_char_boundary(end);
                // What ends at the window's end may go on behind it; a later hit sees it whole.
                *done = (*done).max(range.end);
                if rule.accepts(text, &range) {
                    found.push((range, rule.id.as_str()));
                }
            }
        }
    }
    disjoint(found)
}

/// What a pattern finds: of each match the first group that took part, or all of it.
fn matches<'t>(pattern: &'t Regex, text: &'t str) -> impl Iterator<Item = Range<usize>> + use<'t> {
    pattern.captures_iter(text.as_bytes()).filter_map(|captures| {
        let secret = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0))?;
        Some(secret.range())
    })
}

/// The text with blanks for `\n`, `\r` and `\t` as JSON spells them; `None` where there are none.
fn without_escapes(text: &str) -> Option<Cow<'_, str>> {
    const ESCAPES: [&str; 3] = [r"\n", r"\r", r"\t"];
    let any =
        memchr::memchr(b'\\', text.as_bytes()).is_some() && ESCAPES.iter().any(|own| text.contains(own));
    any.then(|| ESCAPES.iter().fold(text.to_owned(), |text, own| text.replace(own, "  ")).into())
}

/// Patterns are of ASCII and read bytes: with the classes of all scripts in runs of some hundred characters one of them
/// takes longer to compile than a session to read.
fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).build()
}

fn window(text: &str, start: usize, end: usize) -> Range<usize> {
    text.floor_char_boundary(start)..text.floor_char_boundary(end)
}

/// Of overlapping matches the first, and of those the rule that stands first in the table, stays.
fn disjoint(mut found: Vec<(Range<usize>, &'static str)>) -> Vec<(Range<usize>, &'static str)> {
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    found.retain(|(range, _)| {
        let free = range.start >= end;
        end = if free { range.end } else { end };
        free
    });
    found
}

/// Parts of values that stand for a secret and are none.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "xxxx",
    "****",
    "....",
    "your",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "placeholder",
    "process.env",
    "environ",
    "getenv",
    "secrets.",
    "env.",
    "dummy",
    "sample",
    "fake",
    "test-token",
    "mytoken",
    "my-token",
    "insert",
    "todo",
    "undefined",
    "null",
    "1234567",
    "abcdef",
    "config.",
    "settings.",
    "self.",
    "this.",
    "github.token",
    "string",
    "optional",
    "required",
    "none",
    "true",
    "false",
    "password",
    "secret",
    "<",
    "foobar",
];

impl Rule {
    /// Whether the keyword found at `range` is one of this rule's.
    fn meets(&self, text: &str, range: &Range<usize>) -> bool {
        self.case == Case::Any
            || text.get(range.clone()).is_some_and(|own| self.keywords.iter().any(|word| word == own))
    }

    /// Whether the pattern can match in `text` at all, as far as a look at its bytes tells.
    fn may_match(&self, text: &str) -> bool {
        has_run(text.as_bytes(), self.run)
            && (self.needs.is_empty()
                || memchr::memmem::find(text.as_bytes(), self.needs.as_bytes()).is_some())
    }

    fn accepts(&self, text: &str, range: &Range<usize>) -> bool {
        let Some(value) = text.get(range.clone()) else { return false };
        if self.entropy > 0.0 && entropy(value) < self.entropy {
            return false;
        }
        let lower = value.to_ascii_lowercase();
        match self.check {
            Check::Form => true,
            Check::Mixed => is_mixed(value),
            Check::Url => !is_placeholder_word(&lower) && !holds_placeholder(&lower, &["secret", "password"]),
            Check::Typed => {
                !is_placeholder_word(&lower) && !holds_placeholder(&lower, &["secret", "password", "string"])
            }
            Check::Assigned => {
                is_mixed(value) && !is_harmless(text, range, &lower) && !is_public(text, range)
            }
            Check::Named => {
                let id = |name: &str| {
                    ["_id", " id", "-id", "url", "uri", "version", "path"]
                        .iter()
                        .any(|own| name.contains(own))
                };
                is_mixed(value)
                    && !is_harmless(text, range, &lower)
                    && (!is_public(text, range) || is_uuid(value) && !id(&name_before(text, range)))
            }
        }
    }
}

/// Whether a run of `len` bytes stands in `bytes` that tokens are made of.
fn has_run(bytes: &[u8], len: usize) -> bool {
    let mut start = 0;
    while let Some(run) = bytes.get(start..start + len) {
        match run.iter().rposition(|byte| !in_token(*byte)) {
            None => return true,
            Some(at) => start += at + 1,
        }
    }
    false
}

const fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'/' | b'=' | b'.' | b'~' | b'%' | b'-')
}

/// Words that stand for a password in examples.
fn is_placeholder_word(lower: &str) -> bool {
    matches!(lower, "pass" | "pw" | "pwd" | "password" | "passwd" | "secret" | "port" | "token" | "user")
}

fn holds_placeholder(lower: &str, allowed: &[&str]) -> bool {
    PLACEHOLDERS.iter().any(|word| lower.contains(word) && !allowed.contains(word))
}

/// Calls, names and placeholders.
fn is_harmless(text: &str, range: &Range<usize>, lower: &str) -> bool {
    let called = matches!(text.as_bytes().get(range.end), Some(b'(' | b'[' | b'{'));
    called || holds_placeholder(lower, &[]) || text.get(range.clone()).is_some_and(is_name)
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36 && value.bytes().filter(|byte| *byte == b'-').count() == 4
}

/// The text just before a value, in lower case: what it is assigned to.
fn name_before(text: &str, range: &Range<usize>) -> String {
    let lead = window(text, range.start.saturating_sub(40), range.start);
    text.get(lead).unwrap_or_default().to_ascii_lowercase()
}

/// Shannon entropy in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let len = f64::from(u32::try_from(value.len().max(1)).unwrap_or(u32::MAX));
    let part = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

fn is_mixed(value: &str) -> bool {
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let other = value.bytes().any(|byte| byte.is_ascii_digit())
        || value.bytes().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*'));
    letter && other
}

/// Names, paths and calls: words joined by `_`, `.`, `/` or `-` with few digits.
fn is_name(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let parts: Vec<&str> = value.split(['_', '.', '/', '-']).filter(|part| !part.is_empty()).collect();
    let word = |part: &&str| {
        part.bytes().all(|byte| byte.is_ascii_alphabetic()) || part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let wordy = parts.len() > 1 && parts.iter().filter(|part| word(part)).count() * 3 >= parts.len() * 2;
    let path = value.starts_with('/') || value.starts_with("./") || value.starts_with('$');
    let type_name = value.len() < 24
        && digits <= 1
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().skip(1).any(|byte| byte.is_ascii_lowercase())
        && digits * 8 < value.len()
        && !value.ends_with(|char: char| char.is_ascii_digit());
    wordy || path || type_name
}

/// Hashes and ids by their form and by the name before them.
fn is_public(text: &str, range: &Range<usize>) -> bool {
    let value = text.get(range.clone()).unwrap_or_default();
    let uuid = is_uuid(value);
    let digest = value.starts_with("sha256-")
        || value.starts_with("sha512-")
        || value.starts_with("sha1-")
        || value.starts_with("sha384-");
    let name = name_before(text, range);
    let named = [
        "hash",
        "sha",
        "digest",
        "checksum",
        "integrity",
        "commit",
        "uuid",
        "count",
        "tokens",
        "tokenize",
        "tokenid",
        "token_id",
        "public",
    ]
    .iter()
    .any(|word| name.contains(word));
    uuid || digest || named
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(text: &str) -> Vec<(&str, &'static str)> {
        find(text).into_iter().map(|(range, rule)| (text.get(range).unwrap(), rule)).collect()
    }

    #[test]
    fn secrets_are_found_by_their_form() {
        for (rule, _) in load().unwrap().rules {
            compiled(&rule.pattern).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
        }
        // Built from parts, so that no scanner takes the test for a leak.
        let github = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        assert_eq!(rules(&format!("use {github} now")), [(github.as_str(), "github-token")]);
        let aws = format!("AKIA{}", "QYLPMN5HHHFPZAM2");
        assert_eq!(rules(&aws), [(aws.as_str(), "aws-access-key")]);
        let key = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
            "MIIEow".repeat(20)
        );
        assert_eq!(rules(&format!("x\n{key}\ny")), [(key.as_str(), "private-key")]);
        assert_eq!(rules("postgres://app:hunter2x@db:5432/shop"), [("hunter2x", "connection-string")]);
        assert_eq!(rules("DB_PASSWORD=\"Tr0ub4dor&3x\""), [("Tr0ub4dor&3x", "password")]);
        assert_eq!(
            rules("client_secret: 8sQ9xZ2mVb7LkPw4TnRc"),
            [("8sQ9xZ2mVb7LkPw4TnRc", "secret-assignment")]
        );
    }

    #[test]
    fn secrets_in_json_that_stands_in_a_text_are_found() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        for escape in [r"\n", r"\t", r"\r"] {
            let text = format!(r#"{{"stdout":"first{escape}{token}{escape}last"}}"#);
            assert_eq!(rules(&text), [(token.as_str(), "github-token")], "{text}");
        }
    }

    #[test]
    fn hashes_names_and_placeholders_are_no_secrets() {
        for text in [
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "id: 123e4567-e89b-12d3-a456-426614174000",
            "\"integrity\": \"sha512-abc123def456ghi789jkl012mno345pqr678stu901vwx==\"",
            "checksum = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
            "password: string",
            "password = os.environ['DB_PASSWORD1']",
            "token: process.env.GITHUB_TOKEN_2024",
            "max_tokens: 4096, input_tokens: 120000000000000000",
            "api_key=\"your-api-key-here-1234\"",
            "const accessToken = getAccessTokenFromStore2()",
            "https://user:password@host",
            "see https://example.com:8080/a@b",
        ] {
            assert_eq!(rules(text), [], "{text}");
        }
    }

    /// The lengths of runs of token characters in everything that a pattern matches, at least: at its beginning, at its
    /// end, the longest; and all of it, where it is nothing else.
    #[derive(Clone, Copy)]
    struct Runs {
        first: usize,
        last: usize,
        longest: usize,
        whole: Option<usize>,
    }

    impl Runs {
        fn whole(len: usize) -> Self {
            Self { first: len, last: len, longest: len, whole: Some(len) }
        }

        const BROKEN: Self = Self { first: 0, last: 0, longest: 0, whole: None };

        fn then(self, next: Self) -> Self {
            Self {
                first: self.whole.map_or(self.first, |own| own + next.first),
                last: next.whole.map_or(next.last, |own| self.last + own),
                longest: self.longest.max(next.longest).max(self.last + next.first),
                whole: self.whole.zip(next.whole).map(|(one, two)| one + two),
            }
        }

        fn or(self, other: Self) -> Self {
            Self {
                first: self.first.min(other.first),
                last: self.last.min(other.last),
                longest: self.longest.min(other.longest),
                whole: self.whole.zip(other.whole).map(|(one, two)| one.min(two)),
            }
        }

        fn of(hir: &regex_syntax::hir::Hir) -> Self {
            use regex_syntax::hir::{Class, HirKind};
            match hir.kind() {
                HirKind::Empty | HirKind::Look(_) => Self::whole(0),
                HirKind::Literal(literal) => {
                    let byte = |byte: &u8| if in_token(*byte) { Self::whole(1) } else { Self::BROKEN };
                    literal.0.iter().map(byte).fold(Self::whole(0), Self::then)
                }
                HirKind::Class(Class::Bytes(class)) => {
                    let all = |range: &regex_syntax::hir::ClassBytesRange| {
                        (range.start()..=range.end()).all(in_token)
                    };
                    if class.ranges().iter().all(all) { Self::whole(1) } else { Self::BROKEN }
                }
                HirKind::Class(Class::Unicode(_)) => Self::BROKEN,
                HirKind::Repetition(repetition) => {
                    let own = Self::of(&repetition.sub);
                    match (own.whole, repetition.min) {
                        (Some(len), min) => Self::whole(len * min as usize),
                        (None, 0) => Self::BROKEN,
                        (None, _) => own,
                    }
                }
                HirKind::Capture(capture) => Self::of(&capture.sub),
                HirKind::Concat(all) => all.iter().map(Self::of).fold(Self::whole(0), Self::then),
                HirKind::Alternation(all) => {
                    all.iter().map(Self::of).reduce(Self::or).unwrap_or(Self::BROKEN)
                }
            }
        }
    }

    #[test]
    fn every_match_holds_what_its_rule_says() {
        for (rule, _) in load().unwrap().rules {
            let parsed =
                regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(&rule.pattern);
            let runs = Runs::of(&parsed.unwrap());
            assert!(rule.run <= runs.longest, "{}: {} > {}", rule.id, rule.run, runs.longest);
            assert!(
                rule.needs.is_empty() || rule.pattern.contains(&format!("){}", rule.needs)),
                "{}",
                rule.id
            );
        }
        assert!(has_run(b"a/path-of_12.=~%+ b", 17) && !has_run(b"a/path-of_12.=~%+ b", 18));
        assert!(has_run(b"", 0) && !has_run(b"", 1) && !has_run("\u{17f}".as_bytes(), 2));
    }

    proptest! {
        #[test]
        fn ranges_are_disjoint_parts_of_the_text(text in "(password|token|=|: |sk-|://|@|[A-Za-z0-9é]{1,24}|\\PC){0,24}") {
            let all = find(&text);
            prop_assert!(all.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
            for (range, _) in all {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
