//! Families of questions: each makes questions whose answer is unique in the whole session.

mod absence;
mod arguments;
mod files;
mod order;
mod outcomes;
mod quotes;
mod rules;
mod values;
mod window;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::phrases;
use crate::question::{Age, Expect, Family, Gold, Question, Role, quoted};
use crate::seed::{Seed, hex, hex_of};
use crate::session::{Argument, Event, Kind, Outcome, Session};

/// How many places of a text are looked at before it is called frequent.
const FREQUENT: usize = 16;

/// A question before it has a name.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) kind: &'static str,
    pub(crate) query: String,
    /// What fills the gaps of the phrasings.
    pub(crate) slots: Vec<String>,
    pub(crate) expect: Expect,
    pub(crate) gold: Vec<Gold>,
    pub(crate) class: &'static str,
    pub(crate) age: Age,
}

/// A question and the one that looks like it.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) asked: Ask,
    pub(crate) twin: Option<Ask>,
}

/// A call that can be told from all others, with its result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'s> {
    pub(crate) at: usize,
    pub(crate) event: &'s Event,
    pub(crate) tool: &'s str,
    pub(crate) arguments: &'s [Argument],
    pub(crate) result: Option<usize>,
    pub(crate) outcome: Outcome,
}

/// What families work on.
#[derive(Debug)]
pub(crate) struct Ground<'s> {
    pub(crate) session: &'s Session,
    pub(crate) seed: Seed,
    pub(crate) calls: Vec<Call<'s>>,
}

impl<'s> Ground<'s> {
    pub(crate) fn new(session: &'s Session, seed: Seed) -> Self {
        let calls =
            session.events.iter().enumerate().filter_map(|(at, event)| call(session, at, event)).collect();
        Self { session, seed, calls }
    }

    /// The gold at `part` of a string.
    pub(crate) fn gold(&self, event: &Event, leaf: usize, part: Range<usize>) -> Option<Gold> {
        let own = self.session.leaves.get(leaf)?;
        let text = own.text.get(part.clone())?.to_owned();
        let bytes = own.bytes(&self.session.bytes, part.clone())?;
        let sha256 = hex_of(self.session.bytes.get(bytes.clone())?);
        let end = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
        let copies = self.session.copies(leaf, part).into_iter().filter_map(|(at, part)| {
            let bytes = self.session.leaves.get(at)?.bytes(&self.session.bytes, part)?;
            Some((end(bytes.start), end(bytes.end)))
        });
        Some(Gold {
            text,
            record: event.record,
            pointer: own.pointer.clone(),
            bytes: (end(bytes.start), end(bytes.end)),
            sha256,
            speaker: event.speaker.word().to_owned(),
            copies: copies.collect(),
        })
    }

    pub(crate) fn age(&self, event: &Event) -> Age {
        Age { turns: self.session.turns_behind(event), compactions: self.session.compactions_behind(event) }
    }

    /// A piece of an argument that stands in this call, its result, and nowhere else; with its argument.
    pub(crate) fn fragment(&self, call: &Call<'_>) -> Option<(usize, Range<usize>)> {
        let only: BTreeSet<usize> = std::iter::once(call.at).chain(call.result).collect();
        for argument in call.arguments {
            let text = self.session.text(argument.leaf);
            for part in window::fragments(text, &self.seed.sub(&format!("fragment:{}", call.at))) {
                let Some(piece) = text.get(part.clone()) else { continue };
                let Some((events, loose)) = self.session.holders(piece, FREQUENT) else { continue };
                if loose.is_empty() && events.is_subset(&only) && events.contains(&call.at) {
                    return Some((argument.leaf, part));
                }
            }
        }
        None
    }

    /// The gold of an argument: all of it, or of a long one the line around `part`.
    pub(crate) fn argument_gold(&self, call: &Call<'_>, leaf: usize, part: Range<usize>) -> Option<Gold> {
        let text = self.session.text(leaf);
        let whole =
            if text.chars().count() <= window::WHOLE { 0..text.len() } else { window::line(text, part) };
        self.gold(call.event, leaf, whole)
    }

    /// `piece` with one character changed, such that it stands nowhere.
    pub(crate) fn near_miss(&self, piece: &str) -> Option<String> {
        window::near_misses(piece, &self.seed).into_iter().find(|near| self.session.lacks(near))
    }
}

fn call<'s>(session: &'s Session, at: usize, event: &'s Event) -> Option<Call<'s>> {
    let Kind::Call { id, tool, arguments } = &event.kind else { return None };
    // An id that stands twice pairs nothing for certain.
    if session.call(id) != Some(at) || session.results(id) > 1 {
        return None;
    }
    let result = session.result(id);
    let outcome = result.and_then(|result| session.event(result)).map(|event| &event.kind);
    let outcome = match outcome {
        Some(Kind::Result { outcome, .. }) => *outcome,
        _ => Outcome::Unknown,
    };
    Some(Call { at, event, tool, arguments, result, outcome })
}

/// The class of a call, by the name of the tool.
pub(crate) fn class_of(tool: &str) -> &'static str {
    const READING: [&str; 12] = [
        "Read",
        "Grep",
        "Glob",
        "LS",
        "LSP",
        "WebSearch",
        "WebFetch",
        "TaskOutput",
        "TodoWrite",
        "TaskList",
        "update_plan",
        "ToolSearch",
    ];
    let reads = READING.contains(&tool) || tool.starts_with("get_") || tool.starts_with("search_");
    if reads { "structured" } else { "side-effecting" }
}

type Maker = fn(&Ground<'_>) -> Vec<Pair>;

const MAKERS: [(Family, Maker); 11] = [
    (Family::F1, arguments::exact),
    (Family::F2, values::exact),
    (Family::F3, files::trail),
    (Family::F4, quotes::quotes),
    (Family::F5, outcomes::errors),
    (Family::F6, order::pairs),
    (Family::F7, order::counts),
    (Family::F8, absence::never),
    (Family::F9, values::latest),
    (Family::F10, rules::standing),
    (Family::F11, outcomes::effects),
];

/// All questions about a session, at most `most` pairs of a family.
pub fn questions(session: &Session, seed: &str, most: usize) -> Vec<Question> {
    let hash = session.hash();
    let seed = Seed::new(&hash, seed);
    let mut found = Vec::new();
    for (family, make) in MAKERS {
        let own = seed.sub(family.word());
        let pairs = make(&Ground::new(session, own.clone()));
        for pair in own.pick(pairs, most, |pair| pair.asked.query.clone()) {
            let asked = named(session, &hash, family, Role::Asked, pair.asked);
            if let Some(twin) = pair.twin {
                let mut twin = named(session, &hash, family, Role::Twin, twin);
                twin.twin_of = Some(asked.id.clone());
                found.push(asked);
                found.push(twin);
            } else {
                found.push(asked);
            }
        }
    }
    found
}

pub(crate) fn named(session: &Session, hash: &str, family: Family, role: Role, ask: Ask) -> Question {
    let word = if role == Role::Twin { "twin" } else { "asked" };
    let key = hex(&format!("{hash}:{}:{word}:{}:{}", family.word(), ask.kind, ask.query));
    let id = format!("{}-{}", family.word(), key.get(..16).unwrap_or_default());
    Question {
        id,
        family,
        kind: ask.kind.to_owned(),
        role,
        twin_of: None,
        transcript: session.name.clone(),
        transcript_sha256: hash.to_owned(),
        project: session.project.clone(),
        format: session.format.word().to_owned(),
        variant: None,
        plain: if in_words(session, &ask) { phrases::of(ask.kind, &ask.slots) } else { Vec::new() },
        query: ask.query,
        expect: ask.expect,
        gold: ask.gold,
        class: ask.class.to_owned(),
        age: ask.age,
        open: needs_all(ask.kind, role) && session.has_holes(),
    }
}

/// Whether a question can be put in plain words, in which the case of letters means nothing.
fn in_words(session: &Session, ask: &Ask) -> bool {
    let missing = matches!(ask.expect, Expect::No | Expect::Refused);
    let other_case = ask
        .slots
        .iter()
        .any(|slot| session.find(slot, 1).is_empty() && !session.find_any_case(slot, 1).is_empty());
    !(missing && other_case)
}

/// Whether a question can be answered only by somebody who has read everything.
fn needs_all(kind: &str, role: Role) -> bool {
    kind.starts_with("count-")
        || kind.ends_with("-of-tool")
        || kind.starts_with("ever-") && role == Role::Asked
}

/// `arg:"…"`.
pub(crate) fn arg(piece: &str) -> String {
    format!("arg:{}", quoted(piece))
}
