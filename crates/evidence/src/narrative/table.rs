//! The words that the proofs rest on.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Table {
    pub(super) lead: Vec<String>,
    pub(super) announce: Vec<String>,
    pub(super) adverbs: BTreeSet<String>,
    pub(super) verbs: BTreeSet<String>,
    pub(super) asks: Vec<String>,
    pub(super) presumes: Vec<String>,
    pub(super) gerunds: BTreeSet<String>,
    pub(super) joins: BTreeSet<String>,
    pub(super) prepositions: BTreeSet<String>,
    pub(super) muses: Vec<String>,
    pub(super) chooses: Vec<String>,
    pub(super) shown: BTreeSet<String>,
    pub(super) looks: BTreeSet<String>,
    pub(super) small: BTreeSet<String>,
    pub(super) orient: Vec<String>,
    pub(super) orient_words: BTreeSet<String>,
    pub(super) courtesy: Vec<String>,
    pub(super) courtesy_words: BTreeSet<String>,
    pub(super) plain_tone: BTreeSet<String>,
    pub(super) faults: BTreeSet<String>,
    pub(super) accept: BTreeSet<String>,
    pub(super) ack: BTreeSet<String>,
    pub(super) user_ack: BTreeSet<String>,
    pub(super) numbers: BTreeSet<String>,
    pub(super) common: BTreeSet<String>,
    pub(super) refused: BTreeSet<String>,
    pub(super) reports: BTreeSet<String>,
    pub(super) states: BTreeSet<String>,
}

pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let mut table: Table = toml::from_str(include_str!("../tables/narrative.toml")).unwrap_or_default();
        table.lead.sort_by_key(|lead| std::cmp::Reverse(lead.len()));
        table.announce.sort_by_key(|opening| std::cmp::Reverse(opening.len()));
        table.orient.sort_by_key(|opening| std::cmp::Reverse(opening.len()));
        table
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        assert!(toml::from_str::<Table>(include_str!("../tables/narrative.toml")).is_ok());
    }
}
