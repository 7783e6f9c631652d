//! `strongroom search`.

use std::collections::BTreeMap;
use std::num::NonZero;

use serde_json::{Value, json};
use strongroom::Result;
use strongroom::search::{Found, HITS_USUAL, Hit, Hole, HoleKind, Question, Searched, Searcher, Verdict};

use crate::args::{Args, SearchArgs};
use crate::exit::End;
use crate::{clock, out, place};

/// How many holes of a kind are named.
const HOLES_NAMED: usize = 3;

/// What is searched, and what is not.
const SCOPE: &str = "Searched are texts and arguments of calls, in every state of every source in the archive. A text is found within one text or argument and not across two. Side data, and JSON that stands in a string, are searched as they are spelled. Not searched are names of tools and files, images, parts of secrets, and records that say nothing to the agent (progress, snapshots, titles).";

pub(super) fn run(args: &Args, own: &SearchArgs) -> Result<End> {
    let archive = place::open_for_changing(args)?;
    let limit = if own.all { usize::MAX } else { own.limit.map_or(HITS_USUAL, NonZero::get) };
    let question = Question { text: own.text.clone(), sources: own.source.clone(), limit };
    let searcher = Searcher::open(&archive)?;
    let found = searcher.find(&question)?;
    if args.json {
        let searched = searcher.searched(&own.source)?;
        out::line(&body(&question, &found, &searched).to_string())?;
    } else {
        found.hits.iter().try_for_each(tell)?;
        conclude(&found)?;
    }
    Ok(if found.verdict == Verdict::Found { End::Done } else { End::No })
}

/// One hit: where it stands and whose it is, then the match with what stands around it.
fn tell(hit: &Hit) -> Result<()> {
    let mut head = Vec::from([place::shown(&hit.source)]);
    head.extend(Some(hit.locator.clone()).filter(|locator| !locator.is_empty()));
    head.push(hit.speaker.to_string());
    head.push(hit.part.word().to_owned());
    head.extend(hit.tool.clone());
    head.extend(hit.argument.clone().filter(|pointer| !pointer.is_empty()));
    head.extend(hit.agent.as_ref().map(|agent| format!("agent {agent}")));
    head.extend(hit.time.map(clock::words));
    if let (number, true) = hit.state {
        head.push(format!("(in state {number}, which a later one replaced)"));
    }
    if hit.matches > 1 {
        head.push(format!("({} times)", hit.matches));
    }
    out::line(&head.join(" "))?;
    let snippet = &hit.snippet;
    out::line(&format!("    {}»{}«{}", flat(&snippet.before), flat(&snippet.text), flat(&snippet.after)))
}

/// A text in one line.
fn flat(text: &str) -> String {
    text.replace('\n', "\\n").replace('\t', "\\t")
}

/// What it is worth, and what could not be searched.
fn conclude(found: &Found) -> Result<()> {
    let scope = format!(
        "{} texts of {} records in {} states of sources, {} bytes; journal of {} entries",
        found.texts, found.records, found.states, found.bytes, found.checkpoint.size
    );
    match found.verdict {
        Verdict::Found if found.more => {
            out::line(&format!(
                "found: the first {}; --limit N or --all lists more ({scope})",
                found.hits.len()
            ))?;
        }
        Verdict::Found => out::line(&format!("found: in {} texts of all ({scope})", found.hits.len()))?,
        Verdict::Absent => out::line(&format!("absent: in none of {scope}"))?,
        Verdict::Insufficient => {
            out::line(&format!(
                "insufficient evidence: in none of {scope}, and not everything could be searched"
            ))?;
        }
    }
    let mut by_kind: BTreeMap<HoleKind, Vec<(&str, &Hole)>> = BTreeMap::new();
    holes(found).for_each(|hole| by_kind.entry(hole.1.kind).or_default().push(hole));
    for (kind, holes) in by_kind {
        out::line(&format!("not searched: {} {}", holes.len(), kind.words()))?;
        for (source, hole) in holes.into_iter().take(HOLES_NAMED) {
            let line = hole.line.map(|line| format!(" L{line}")).unwrap_or_default();
            out::line(&format!("    {}{line}: {}", place::shown(source), hole.why))?;
        }
    }
    out::note(SCOPE);
    Ok(())
}

/// What could not be searched, each with its source.
fn holes(found: &Found) -> impl Iterator<Item = (&str, &Hole)> {
    found.holes.iter().flat_map(|own| own.holes.iter().map(|hole| (&*own.source, hole)))
}

fn body(question: &Question, found: &Found, searched: &[Searched]) -> Value {
    json!({
        "schema": 1,
        "text": question.text,
        "verdict": found.verdict.word(),
        "hits": found.hits.iter().map(hit).collect::<Vec<_>>(),
        "more": found.more,
        "searched": {
            "states": found.states, "records": found.records, "texts": found.texts, "bytes": found.bytes,
            "note": SCOPE,
            "journal": { "size": found.checkpoint.size, "root": found.checkpoint.root.to_string() },
            "sources": searched.iter().map(source).collect::<Vec<_>>(),
        },
        "holes": holes(found).map(|(source, own)| hole(source, own)).collect::<Vec<_>>(),
    })
}

fn hit(hit: &Hit) -> Value {
    json!({
        "source": hit.source, "session": hit.session, "state": hit.state.0, "replaced": hit.state.1,
        "locator": hit.locator, "attribution": hit.speaker.word(), "agent": hit.agent,
        "part": hit.part.word(), "tool": hit.tool, "argument": hit.argument,
        "time": hit.time.map(clock::words), "bytes": hit.bytes, "matches": hit.matches,
        "before": hit.snippet.before, "match": hit.snippet.text, "after": hit.snippet.after,
    })
}

fn source(own: &Searched) -> Value {
    json!({
        "source": own.source, "state": own.state, "root": own.root.to_string(), "bytes": own.bytes,
        "records": own.records, "texts": own.texts, "holes": own.holes.len(),
    })
}

fn hole(source: &str, own: &Hole) -> Value {
    json!({ "source": source, "kind": own.kind.words(), "line": own.line, "why": own.why })
}
