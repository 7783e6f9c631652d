//! `evidence_search`.

use serde_json::json;
use strongroom::Result;
use strongroom::answer::{Hit, Needle, Search};

use super::{Call, MAX_TOKENS, OFFSET, SESSION, Tool};
use crate::params::{Args, Kind, Need, Param};
use crate::reply::{Draft, Entry, Reply, citation_json, labelled_text};
use crate::words::DATA;

pub(super) const TOOL: Tool = Tool {
    name: "evidence_search",
    title: "Search the records",
    about: "Finds where an exact text or a literal stands in the original records, and who said it or which tool printed it. Use it for exact wording, paths, ids, numbers and error messages that you would otherwise quote from memory. A text that is not found is no proof that something was not done: ask evidence_ask for that.",
    params: &[&TEXT, &MATCH, &BY, &TOOL_NAME, &SESSION, &OFFSET, &MAX_TOKENS],
    output: include_str!("search.json"),
    run,
};

const TEXT: Param = Param {
    name: "text",
    kind: Kind::Text,
    need: Need::Must,
    about: "What is looked for, as it was written.",
};

const MATCH: Param = Param {
    name: "match",
    kind: Kind::Choice(&["exact", "any-case", "literal"]),
    need: Need::May,
    about: "exact: these characters; any-case: without regard to case; literal: the same number, path, id, time or quantity however it is written (1,000 is 1000).",
};

const BY: Param = Param {
    name: "by",
    kind: Kind::Choices(&["user", "operator", "assistant", "tool", "harness", "agent", "unknown"]),
    need: Need::May,
    about: "Only texts of these speakers. What a tool printed is by `tool`, the arguments of a call are by `assistant`.",
};

const TOOL_NAME: Param = Param {
    name: "tool",
    kind: Kind::Text,
    need: Need::May,
    about: "Only calls and results of this tool, e.g. Bash.",
};

fn run(call: &mut Call<'_>) -> Result<Reply> {
    let args = call.args;
    let text = args.text(TEXT.name).unwrap_or_default().to_owned();
    let needle = match args.text(MATCH.name) {
        Some("any-case") => Needle::AnyCase(text),
        Some("literal") => Needle::Literal(text),
        _ => Needle::Exact(text),
    };
    let search =
        Search { needle, by: args.texts(BY.name), tool: args.text(TOOL_NAME.name).map(str::to_owned) };
    let sitting = call.sit()?;
    let hits = sitting.asked.search(&search, sitting.options)?;
    let mut draft = Draft::new(TOOL.name, args);
    let matches: usize = hits.hits.iter().map(|hit| hit.matches).sum();
    draft.field("found", hits.hits.len());
    draft.field("matches", matches);
    let unit = if args.text(MATCH.name) == Some("literal") { "literals" } else { "texts" };
    draft.field("searched", json!({ unit: hits.texts, "sessions": sitting.names.len() }));
    draft.field("note", DATA);
    draft.line(format!("{matches} matches in {} of {} {unit}", hits.hits.len(), hits.texts));
    draft.line(DATA);
    if hits.summaries > 0 {
        draft.field("in_summaries", hits.summaries);
        draft.line(format!("{} summaries hold it too; they are no evidence", hits.summaries));
    }
    if hits.hits.is_empty() {
        let words = "Not found in the texts that could be searched. This alone does not show that it was never said or done: evidence_ask names what could not be searched.";
        draft.field("what_to_do", words);
        draft.line(words);
    }
    draft.entries(hits.hits.iter().map(|hit| entry(hit, args)));
    Ok(draft.finish())
}

fn entry(hit: &Hit, args: &Args) -> Entry {
    let mut json = citation_json(&hit.citation, args);
    if let Some(object) = json.as_object_mut() {
        object.insert("part".to_owned(), hit.part.into());
        object.extend(hit.tool.as_ref().map(|tool| ("tool".to_owned(), tool.as_str().into())));
        object.extend((hit.matches > 1).then(|| ("matches".to_owned(), hit.matches.into())));
    }
    let tool = hit.tool.as_ref().map(|tool| format!(" of {tool}")).unwrap_or_default();
    let text = labelled_text(&hit.citation, &format!(" ({}{tool})", hit.part));
    Entry { section: "hits", json, text }
}
