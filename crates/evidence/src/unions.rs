//! Named unions of effects: what `changes NAME` selects, as a table.
//!
//! A union is a list of alternatives; an alternative is a list of conditions that must all hold. The table is
//! `tables/unions.toml`.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

/// A named union.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Union {
    /// The name after `changes`.
    pub name: String,
    /// What the union is, in words, as answers print it.
    pub words: String,
    /// Verbs with which a person reports such a change as done.
    pub reported: Vec<String>,
    /// Text in a call that speaks of such a change without making it.
    #[serde(default)]
    pub mentions: Option<Pattern>,
    /// Whether secrets in texts belong to it.
    #[serde(default)]
    pub secret_literals: bool,
    /// The alternatives.
    pub any: Vec<Conditions>,
}

/// Conditions of one alternative; a missing one holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// Kinds, or words above kinds; `mutation` is every kind that changes something.
    pub kind: Vec<String>,
    /// Scopes of which one must hold.
    #[serde(default)]
    pub scope: Vec<String>,
    /// Scopes of which none may hold.
    #[serde(default)]
    pub not_scope: Vec<String>,
    /// Environments of which one must hold.
    #[serde(default)]
    pub env: Vec<String>,
    /// Whether the host must be another machine.
    #[serde(default)]
    pub host: Option<Host>,
    /// What the target must look like.
    #[serde(default)]
    pub target: Option<Pattern>,
    /// What must stand in the program, the target or the arguments of the call.
    #[serde(default)]
    pub text: Option<Pattern>,
    /// What must not stand there.
    #[serde(default)]
    pub unless: Option<Pattern>,
}

/// Which machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// Another machine than the one the agent works on.
    Remote,
}

/// A compiled regular expression of the table.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

impl Pattern {
    /// Whether it occurs in `text`.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Where it occurs in `text` first.
    pub fn find(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.0.find(text).map(|found| found.range())
    }
}

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, regex::Error> {
        Regex::new(&text).map(Self)
    }
}

/// Verbs that report effects of some kinds as done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Kinds, or words above kinds.
    pub kind: Vec<String>,
    /// The verbs, as they stand in a report.
    pub reported: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    union: Vec<Union>,
    report: Vec<Report>,
}

/// The table is a constant of the program and read in a test; were it damaged, no union would be known.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("tables/unions.toml")).unwrap_or_default());

/// All unions, in the order of the table.
pub fn all() -> &'static [Union] {
    &TABLE.union
}

/// The names of all unions.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().iter().map(|union| union.name.as_str())
}

/// The union with this name.
pub fn named(name: &str) -> Option<&'static Union> {
    all().iter().find(|union| union.name == name)
}

/// Which verbs report which kinds.
pub fn reports() -> &'static [Report] {
    &TABLE.report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::EffectKind;

    #[test]
    fn the_table_is_read_and_names_only_known_words() {
        let table: Table = toml::from_str(include_str!("tables/unions.toml")).unwrap();
        assert_eq!(table.union.len(), 11);
        let scopes =
            ["project", "temp", "home", "system", "outside", "remote", "container", "db", "cloud", "unknown"];
        for union in &table.union {
            assert!(!union.words.is_empty() && !union.any.is_empty(), "{}", union.name);
            for conditions in &union.any {
                for word in &conditions.kind {
                    let known = word == "mutation" || EffectKind::ALL.iter().any(|kind| kind.is_under(word));
                    assert!(known, "{}: {word}", union.name);
                }
                for word in conditions.scope.iter().chain(&conditions.not_scope) {
                    assert!(scopes.contains(&word.as_str()), "{}: {word}", union.name);
                }
            }
        }
        for report in &table.report {
            assert!(
                report.kind.iter().all(|word| EffectKind::ALL.iter().any(|kind| kind.is_under(word))),
                "{report:?}"
            );
        }
    }

    /// Whether an alternative of `union` for `kind` has a text that stands in `call`.
    fn speaks(union: &str, kind: &str, call: &str) -> bool {
        let alternatives = named(union).map(|union| union.any.as_slice()).unwrap_or_default();
        alternatives.iter().any(|any| {
            any.kind.iter().any(|own| own == kind) && any.text.as_ref().is_some_and(|text| text.is_in(call))
        })
    }

    #[test]
    fn texts_of_alternatives_tell_calls_apart() {
        for (union, kind, call, expected) in [
            ("deleted", "svc.state", "docker volume rm x", true),
            ("deleted", "svc.state", "docker compose down -v", true),
            ("deleted", "svc.state", "docker compose down", false),
            ("deleted", "svc.state", "docker start rm_worker", false),
            ("deleted", "net.send", "gh repo delete a/b --yes", true),
            ("deleted", "net.send", "gh api -X DELETE /repos/a/b", true),
            ("deleted", "net.send", "gh issue create -t 'delete x'", false),
            ("deleted", "cloud.mutate", "heroku pg:reset", true),
            ("deleted", "cloud.mutate", "heroku pg:promote x", false),
            ("deleted", "vcs.switch", "git branch -D feat", true),
            ("deleted", "vcs.switch", "git -C sub tag --delete v1", true),
            ("deleted", "vcs.switch", "git branch -m old new", false),
            ("deleted", "vcs.switch", "git branch --edit-description", false),
            ("deleted", "sys.device", "mkfs.ext4 /dev/sdb1", true),
            ("deleted", "sys.device", "mount /dev/sda1 /mnt", false),
            ("published", "net.send", "curl -X PUT https://registry.npmjs.org/x -d @a", true),
            ("published", "net.send", "curl -d @a https://example.com/x", false),
            ("user-config", "sys.config", "defaults write com.a b", true),
            ("user-config", "sys.config", "defaults read com.a b", false),
        ] {
            assert_eq!(speaks(union, kind, call), expected, "{union}: {call}");
        }
    }
}
