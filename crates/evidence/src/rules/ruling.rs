//! How a sentence rules: the table of `rulings.toml` applied to it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    no_verb: String,
    opener: String,
    openers: Vec<String>,
    ban: Vec<Row>,
    duty: Vec<Row>,
    gate: Vec<Row>,
    approval: Vec<Row>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    clause: Option<String>,
    sentence: Option<String>,
    unless: Option<String>,
    asks: bool,
}

/// Where a form of ruling is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Clause,
    Sentence,
}

/// A form in which sentences rule.
#[derive(Debug)]
struct Form {
    kind: &'static str,
    place: Place,
    rules: Regex,
    unless: Option<Regex>,
    asks: bool,
}

#[derive(Debug)]
struct Forms {
    all: Vec<Form>,
    no_verb: BTreeSet<String>,
    opening: Option<Regex>,
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../tables/rulings.toml")).unwrap_or_default();
    Forms::read(&table)
});

/// What parts clauses: a mark, a dash between blanks, or a word that begins the next one.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[;:,.!?()…](?: |$)| [–—-]+ |(?-u:\b)(?:and|but|so|then|because|plus)(?-u:\b)").ok()
});

/// A line that repeats output: a quote mark, a drawn tree, a place in a file.
static REPEATED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:>|⎿|⏺|[^ ]+:[0-9]+:)|[│├└╭╰]").ok());

impl Forms {
    fn read(table: &Table) -> Self {
        let kinds = [
            ("ban", &table.ban),
            ("duty", &table.duty),
            ("gate", &table.gate),
            ("approval", &table.approval),
        ];
        let rows = kinds.into_iter().flat_map(|(kind, rows)| rows.iter().map(move |row| (kind, row)));
        Self {
            all: rows.filter_map(|(kind, row)| Form::read(kind, row)).collect(),
            no_verb: table.no_verb.split_whitespace().map(str::to_owned).collect(),
            opening: opening(table),
        }
    }

    /// Whether `pattern` is found with a verb wherever it wants one.
    fn is_in(&self, pattern: &Regex, text: &str) -> bool {
        pattern
            .captures_iter(text)
            .any(|found| found.iter().skip(1).flatten().all(|word| !self.no_verb.contains(word.as_str())))
    }

    fn opened<'t>(&self, text: &'t str) -> &'t str {
        let end = self.opening.as_ref().and_then(|opening| opening.find(text)).map_or(0, |found| found.end());
        text.get(end..).unwrap_or(text)
    }

    fn rules(&self, form: &Form, text: &str) -> bool {
        self.is_in(&form.rules, text) && !form.unless.as_ref().is_some_and(|unless| self.is_in(unless, text))
    }
}

impl Form {
    fn read(kind: &'static str, row: &Row) -> Option<Self> {
        let (place, pattern) = match (&row.clause, &row.sentence) {
            (Some(clause), _) => (Place::Clause, format!("^(?:{clause})")),
            (None, Some(sentence)) => (Place::Sentence, sentence.clone()),
            (None, None) => return None,
        };
        let unless = match &row.unless {
            Some(unless) => Some(compiled(unless)?),
            None => None,
        };
        Some(Self { kind, place, rules: compiled(&pattern)?, unless, asks: row.asks })
    }
}

/// A pattern of the table; its letters are those of ASCII, which keeps it small.
fn compiled(pattern: &str) -> Option<Regex> {
    let pattern = pattern
        .replace("{verb}", "([a-z][a-z-]+)")
        .replace(r"[\w", "[0-9a-z_")
        .replace(r"\w", "[0-9a-z_]")
        .replace(r"\d", "[0-9]")
        .replace(r"\b", r"(?-u:\b)");
    Regex::new(&pattern).ok()
}

fn opening(table: &Table) -> Option<Regex> {
    let words: Vec<&str> =
        table.opener.split_whitespace().chain(table.openers.iter().map(String::as_str)).collect();
    let words = words.join("|");
    let list = r#"[ >#_`"'“(–—-]|[0-9]+[.):] "#;
    Regex::new(&format!(
        r"^(?:\$[a-z]+ +)?(?:{list}|(?:{words})(?:[ ,.:!…–—-]+|$)|(?:no|nah)(?:[,.!;:]+ *|$))*"
    ))
    .ok()
}

/// A sentence as the table wants it.
fn plain(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('*', "").replace(['’', '‘'], "'");
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ").trim_matches('_').to_owned()
}

fn clauses(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut at = 0;
    for part in PARTS.iter().flat_map(|parts| parts.find_iter(text)) {
        all.extend(text.get(at..part.start()));
        // A word belongs to the clause that it begins.
        let is_word = part.as_str().bytes().all(|byte| byte.is_ascii_alphabetic());
        at = if is_word { part.start() } else { part.end() };
    }
    all.extend(text.get(at..));
    all
}

/// The list mark or number before a sentence.
fn unlisted(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '>', '#', '_', '`', '"', '\'', '“', '(', '-']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).unwrap_or_default();
    let numbered = digits > 0 && rest.starts_with(['.', ')']);
    if numbered { rest.get(1..).unwrap_or_default().trim_start() } else { text }
}

/// The longest sentence that is one rule, in bytes.
pub(super) const RULE_MAX: usize = 2_000;

/// The kinds of rule that `sentence` states: none where it tells, asks or repeats something.
pub fn kinds(sentence: &str) -> Vec<&'static str> {
    if sentence.len() > RULE_MAX || REPEATED.as_ref().is_some_and(|repeated| repeated.is_match(sentence)) {
        return Vec::new();
    }
    let forms = &*FORMS;
    let text = plain(sentence);
    let asks = text.ends_with(['?', '？']);
    let (whole, own) = (unlisted(&text), forms.opened(&text));
    let parts: Vec<&str> = clauses(&text).into_iter().chain([whole]).map(|part| forms.opened(part)).collect();
    let states = |form: &&Form| match form.place {
        Place::Clause => parts.iter().any(|part| forms.rules(form, part)),
        Place::Sentence => forms.rules(form, whole) || forms.rules(form, own),
    };
    let mut found: Vec<&'static str> = Vec::new();
    for form in forms.all.iter().filter(|form| !asks || form.asks) {
        if !found.contains(&form.kind) && states(&form) {
            found.push(form.kind);
        }
    }
    found
}

/// Whether a sentence states a rule.
pub fn is_rule(sentence: &str) -> bool {
    !kinds(sentence).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_row_of_the_table_compiles() {
        let table: Table = toml::from_str(include_str!("../tables/rulings.toml")).unwrap();
        let rows = [&table.ban, &table.duty, &table.gate, &table.approval];
        for row in rows.into_iter().flatten() {
            assert!(Form::read("ban", row).is_some(), "{row:?}");
        }
        assert!(FORMS.opening.is_some() && PARTS.is_some() && REPEATED.is_some());
    }

    #[test]
    fn kinds_are_told_apart() {
        for (sentence, kind) in [
            ("Never push to main", "ban"),
            ("ok, and don't rewrite the history", "ban"),
            ("Leave the vendored folder alone.", "ban"),
            ("keep config.toml as it is", "ban"),
            ("The rest of billing/ stays off limits.", "ban"),
            ("Summarise it without editing files.", "ban"),
            ("can you check it without changing anything?", "ban"),
            ("No new dependencies!", "ban"),
            ("I'll do the release.", "ban"),
            ("put it in the docs, not in the readme", "ban"),
            ("a broken theme must never crash the program", "ban"),
            ("只能在测试环境运行", "ban"),
            ("Always run the linter", "duty"),
            ("From now on use tabs.", "duty"),
            ("Fix it and make sure the build is green.", "duty"),
            ("every event needs a version field", "duty"),
            ("When you are done, tell the reviewer.", "duty"),
            ("ask me before you run any migration", "gate"),
            ("Hold off on the deploy", "gate"),
            ("Wait until I have looked at it.", "gate"),
            ("Merge only when the checks are green.", "gate"),
            ("you can edit billing/tax.rs only", "approval"),
            ("I approve deleting the folder", "approval"),
            ("go ahead", "approval"),
            ("yes, do it", "approval"),
            ("It's fine to break the old format.", "approval"),
        ] {
            assert!(kinds(sentence).contains(&kind), "{sentence}: {:?}", kinds(sentence));
        }
    }

    #[test]
    fn what_tells_asks_or_repeats_states_no_rule() {
        for sentence in [
            "Shall I go ahead?",
            "The port is 8080",
            "I don't have the number with me.",
            "The function is never called.",
            "it was only used in tests",
            "I can't remember which one, sorry.",
            "why do we always rebuild?",
            "There must be a mistake.",
            "I'll make sure to bring it.",
            "> never push to main",
            "src/a.rs:12: must not be empty",
            "the parser fails when the file does not exist",
            "add a test for the cache",
        ] {
            assert!(!is_rule(sentence), "{sentence}: {:?}", kinds(sentence));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(never |don't |, |only |[a-zé ]{0,6}|[*>?。不要]){0,30}") {
            prop_assert_eq!(kinds(&text), kinds(&text));
        }
    }
}
