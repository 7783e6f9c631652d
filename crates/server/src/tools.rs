//! The tools: one table, one module for each.

mod answer;

mod ask;

mod claim;

mod ledger;

mod search;

mod sessions;

mod show;

use serde_json::{Map, Value};
use strongroom::Result;
use strongroom::answer::Strictness;
use strongroom::desk::{Desk, Sitting, Watch, Which};

use crate::params::{Args, Kind, Need, Param, schema};
use crate::reply::{Reply, TOKENS_MAX, TOKENS_MIN, TOKENS_USUAL};

/// A tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) params: &'static [&'static Param],
    /// The JSON schema of what it gives back.
    output: &'static str,
    pub(crate) run: fn(&mut Call<'_>) -> Result<Reply>,
}

/// A call of a tool.
pub(crate) struct Call<'c> {
    pub(crate) desk: &'c Desk,
    pub(crate) args: &'c Args,
    pub(crate) watch: &'c mut Watch<'c>,
}

/// Every tool, in the order in which they are listed.
pub(crate) const TOOLS: &[Tool] =
    &[ask::TOOL, search::TOOL, show::TOOL, ledger::TOOL, claim::TOOL, sessions::TOOL];

/// The tool of this name.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    pub(crate) fn input_schema(&self) -> Map<String, Value> {
        schema(self.params)
    }

    pub(crate) fn output_schema(&self) -> Map<String, Value> {
        serde_json::from_str(self.output).unwrap_or_default()
    }
}

impl Call<'_> {
    /// The sessions that are meant, ready to be asked.
    fn sit(&mut self) -> Result<Sitting> {
        let which = match self.args.text(SESSION.name) {
            None => Which::Usual,
            Some("all") => Which::All,
            Some(name) => Which::Named(name),
        };
        let strictness = if self.args.flag(STRICT.name) { Strictness::Strict } else { Strictness::Assume };
        self.desk.sit(which, strictness, self.watch)
    }
}

pub(crate) const SESSION: Param = Param {
    name: "session",
    kind: Kind::Text,
    need: Need::May,
    about: "Which session: a session id (or its beginning), a path or file name as evidence_sessions lists it, or `all`. Left out: the sessions of this project.",
};

pub(crate) const STRICT: Param = Param {
    name: "strict",
    kind: Kind::Flag,
    need: Need::May,
    about: "Make no assumptions about test runners and unprivileged processes: fewer answers, on less trust.",
};

pub(crate) const OFFSET: Param = Param {
    name: "offset",
    kind: Kind::Count { min: 0, max: 1_000_000, usual: 0 },
    need: Need::May,
    about: "The first entry of the reply; `next` of a reply has the right number.",
};

pub(crate) const MAX_TOKENS: Param = Param {
    name: "max_tokens",
    kind: Kind::Count { min: TOKENS_MIN, max: TOKENS_MAX, usual: TOKENS_USUAL },
    need: Need::May,
    about: "About how many tokens the reply may take.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_schemas_that_clients_accept() {
        for tool in TOOLS {
            let output = tool.output_schema();
            assert_eq!(output["type"], "object", "{}", tool.name);
            assert!(output["properties"].is_object(), "{}", tool.name);
            for schema in [Value::Object(tool.input_schema()), Value::Object(output)] {
                assert!(!schema.to_string().contains("uint"), "{}", tool.name);
            }
            assert!(tool.about.len() < 1_200 && tool.title.len() < 40, "{}", tool.name);
        }
    }
}
