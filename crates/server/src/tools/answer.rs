//! An answer as a reply: verdict, what follows from it, and what shows it.

use serde_json::{Value, json};
use strongroom::answer::{Answer, Citation, PassedOver, Verdict};
use strongroom::desk::Sitting;
use strongroom::ledger::settled_by;

use crate::params::Args;
use crate::reply::{Draft, Entry, Reply, citation_json, citation_text, cut, tokens_of};
use crate::words::{DATA, follows};

/// What both tools that answer give back.
pub(super) const OUTPUT: &str = include_str!("answer.json");

/// An answer in words takes at most this part of a reply.
const WORDS_SHARE: u64 = 4;

/// The most names of sessions a reply lists.
const NAMES_MAX: usize = 3;

pub(super) fn reply(tool: &'static str, answer: &Answer, sitting: &Sitting, args: &Args) -> Reply {
    let mut draft = Draft::new(tool, args);
    let words = answer.answer.as_deref().map(|words| cut(words, tokens_of(args) / WORDS_SHARE));
    draft.field("verdict", answer.verdict.word());
    draft.field("answer", words);
    draft.field("reading", answer.reading.as_str());
    draft.field("what_to_do", follows(answer.verdict));
    draft.field("note", DATA);
    draft.line(match words {
        Some(words) => format!("{}: {words}", answer.verdict.words()),
        None => answer.verdict.words().to_owned(),
    });
    draft.line(format!("reading: {}", answer.reading));
    draft.line(follows(answer.verdict));
    draft.line(DATA);
    scope(&mut draft, answer, sitting);
    draft.entries(answer.values.iter().map(|finding| Entry {
        section: "values",
        json: json!({ "key": finding.key, "value": finding.value }),
        text: format!("- {}: {}", finding.key, finding.value),
    }));
    draft.entries(answer.citations.iter().map(|citation| cited(citation, args)));
    let passed = |section: &'static str| move |passed: &PassedOver| passed_over(section, passed, args);
    draft.entries(answer.scope.blocking.iter().map(passed("blocking")));
    draft.entries(answer.passed_over.iter().map(passed("passed_over")));
    draft.finish()
}

/// What was searched, what could not be, and what would settle the question.
fn scope(draft: &mut Draft<'_>, answer: &Answer, sitting: &Sitting) {
    let scope = &answer.scope;
    let holes: Vec<Value> =
        scope.holes.iter().map(|hole| json!({ "kind": hole.kind, "count": hole.count })).collect();
    draft.field(
        "scope",
        json!({ "sessions": scope.sessions, "records": scope.records, "calls": scope.calls, "holes": holes }),
    );
    draft.line(format!(
        "searched: {} sessions, {} records, {} calls",
        scope.sessions, scope.records, scope.calls
    ));
    let more = sitting.names.len().saturating_sub(NAMES_MAX);
    let mut names: Vec<String> = sitting.names.iter().take(NAMES_MAX).cloned().collect();
    names.extend((more > 0).then(|| format!("and {more} more")));
    draft.field("asked", names);
    draft.field("assumptions", answer.assumptions.clone());
    if let Some(certificate) = &answer.certificate {
        let (calls, effects) = (certificate.calls, certificate.effects);
        let sources = certificate.sources.len();
        draft.field(
            "certificate",
            json!({ "digest": certificate.digest, "sources": sources, "calls": calls, "effects": effects,
                    "opaque": certificate.opaque, "holes": certificate.holes }),
        );
        draft.line(format!(
            "certificate of absence: {} over {sources} sources, {calls} calls",
            certificate.digest
        ));
    }
    if answer.verdict == Verdict::Insufficient {
        let missing = missing(answer);
        for one in &missing {
            draft.line(format!("missing: {one}"));
        }
        draft.field("missing", missing);
    }
}

/// What keeps an answer from being a plain one, each with what would settle it.
fn missing(answer: &Answer) -> Vec<String> {
    let mut missing: Vec<String> = answer
        .scope
        .holes
        .iter()
        .map(|hole| {
            let settled = settled_by(&hole.kind).unwrap_or("the records that are not here");
            format!("{} ({}): settled by {settled}", hole.kind, hole.count)
        })
        .collect();
    let is_hole = |passed: &&PassedOver| {
        answer.scope.holes.iter().any(|hole| passed.why.starts_with(hole.kind.as_str()))
    };
    let possible = answer.scope.blocking.iter().filter(|passed| !is_hole(passed)).count();
    if possible > 0 {
        missing.push(format!(
            "{possible} calls may have done it (`blocking`): settled by reading them, and by looking at the state they would have changed"
        ));
    }
    if missing.is_empty() {
        missing.push("nothing recorded holds it: settled by whoever knows, or by looking now".to_owned());
    }
    missing
}

fn cited(citation: &Citation, args: &Args) -> Entry {
    Entry { section: "citations", json: citation_json(citation, args), text: citation_text(citation) }
}

fn passed_over(section: &'static str, passed: &PassedOver, args: &Args) -> Entry {
    let mut json = citation_json(&passed.citation, args);
    if let Some(object) = json.as_object_mut() {
        object.insert("why".to_owned(), passed.why.as_str().into());
    }
    Entry { section, json, text: format!("- {}\n  {}", passed.why, citation_text(&passed.citation)) }
}
