//! Child agents: who was started, and what became of each.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::transcript::{Ending, Speaker};

use super::row::{self, Row, What};
use crate::session::Scope;

/// What became of a child agent, as far as the transcript shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It was started, and nothing shows that it ended.
    Running,
    /// It is reported as done; its answer was not fetched.
    Finished,
    /// Its answer is in the transcript.
    Collected,
    /// It ended with an error.
    Failed,
    /// It can no longer be collected: closed before it answered, or left without result.
    Lost,
}

impl State {
    /// The word of `state:`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Collected => "collected",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }

    /// Whether its end is known.
    const fn is_settled(self) -> bool {
        matches!(self, Self::Finished | Self::Collected | Self::Failed)
    }
}

/// An expression of a table below.
type Cue = LazyLock<Option<Regex>>;

const fn cue(read: fn() -> Option<Regex>) -> Cue {
    LazyLock::new(read)
}

/// How a result names the agent it started; the first group is the id.
static HANDLE: Cue = cue(|| {
    Regex::new(r#"(?i)\b(?:agent|task|thread|session|worker|child|job)[_ -]?id\b["'>]?\s*[:=>]\s*["'`]?([\w.-]{3,})"#).ok()
});

/// How a result says that it is only a receipt.
static RECEIPT: Cue =
    cue(|| Regex::new(r"(?i)\b(?:launched|started|spawned|running|queued|background|async\w*)\b").ok());

/// How an answer is introduced; without one a short result with an id is a receipt, too.
static ANSWER: Cue = cue(|| {
    Regex::new(r#"(?i)["'<]?\b(?:result|answer|output|content|summary|report|message)\b["'>]?\s*[:>]"#).ok()
});

/// A named status; the first group is the word.
static STATUS: Cue =
    cue(|| Regex::new(r#"(?i)\b(?:status|state)\b["'>]?\s*[:=>]\s*["'{]?\s*"?([a-z_-]+)"#).ok());

/// Words of a status, with what they say.
static STATUSES: LazyLock<Vec<(State, Regex)>> = LazyLock::new(|| {
    let rows = [
        (
            State::Running,
            r"(?i)^(?:running|pending|queued|waiting|started|launched|in[_ -]?progress|active|timed?[_ -]?out|timeout|not[_ -]\w+)$",
        ),
        (State::Failed, r"(?i)^(?:fail\w*|error\w*|crash\w*|abort\w*|killed|exception)$"),
        (State::Lost, r"(?i)^(?:closed?|shut[_ -]?down|cancell?ed|stopped|terminated|not_found|lost)$"),
        (State::Collected, r"(?i)^(?:complete\w*|finish\w*|done|succe\w*|ok|exited|ready|idle)$"),
    ];
    rows.into_iter().filter_map(|(state, words)| Some((state, Regex::new(words).ok()?))).collect()
});

/// What a tool that names the agent does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Fetch,
    Close,
    Resume,
}

/// Words of the names of tools.
static USES: LazyLock<Vec<(Use, Regex)>> = LazyLock::new(|| {
    let rows = [
        (Use::Close, r"(?i)kill|stop|close|cancel|terminate|shut"),
        (Use::Resume, r"(?i)send|input|resume|message|reply"),
        (Use::Fetch, r"(?i)wait|output|result|collect|get|join|poll|status|check|read|fetch"),
    ];
    rows.into_iter().filter_map(|(own, words)| Some((own, Regex::new(words).ok()?))).collect()
});

fn is_met(cue: &Cue, text: &str) -> bool {
    cue.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// One row for each agent that was started, with its id and state.
pub(super) fn rows<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let children: Vec<&str> = scope.sources.iter().filter_map(|view| view.agent.as_deref()).collect();
    let spawned: Vec<(Row<'s>, Option<String>)> = row::spawns(scope)
        .into_iter()
        .map(|row| {
            let id = id_of(&row, &children);
            (row, id)
        })
        .collect();
    let events = if spawned.is_empty() { Vec::new() } else { events(scope) };
    let ids: Vec<&str> = spawned.iter().filter_map(|(_, id)| id.as_deref()).collect();
    let settled = spawned.iter().map(|(row, id)| {
        let state = follow(row, id.as_deref(), &ids, &events);
        Row { what: What::Agent(id.clone(), state), ..row.clone() }
    });
    settled.collect()
}

/// Calls with their results and everything said, in order: where an agent may be spoken of again.
fn events<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut events = row::calls(scope);
    events.extend(row::said(scope).into_iter().filter(|row| row.speaker() == Some(Speaker::Harness)));
    events.sort_by_key(|row| (row.source, row.start));
    events
}

fn id_of(row: &Row<'_>, children: &[&str]) -> Option<String> {
    let blocks = row.examined().map(|examined| examined.content.blocks.as_slice()).unwrap_or_default();
    let texts = || {
        let pieces = row.own.iter().chain(&row.half).map(|piece| piece.text);
        pieces.chain(blocks.iter().map(|content| content.text.as_str()))
    };
    let named = children.iter().find(|id| texts().any(|text| text.contains(**id)));
    let handle = || {
        let mut results =
            row.half.iter().map(|piece| piece.text).chain(blocks.iter().map(|own| own.text.as_str()));
        results.find_map(|text| HANDLE.as_ref()?.captures(text)?.get(1)).map(|id| id.as_str().to_owned())
    };
    named.map(|id| (*id).to_owned()).or_else(handle)
}

/// The state after the last event that speaks of the agent.
fn follow(row: &Row<'_>, id: Option<&str>, ids: &[&str], events: &[Row<'_>]) -> State {
    let later = || events.iter().filter(|event| event.source == row.source && event.start > row.start);
    let mut state = match started(row, id) {
        Some(state) => state,
        None if later().next().is_some() => State::Lost,
        None => State::Running,
    };
    let Some(id) = id.filter(|_| state == State::Running) else { return state };
    for event in later() {
        if let Some(next) = told(event, id, ids, state) {
            state = next;
        }
    }
    state
}

/// What the result of the call that started it says; `None` without one.
fn started(row: &Row<'_>, id: Option<&str>) -> Option<State> {
    const RECEIPT_BYTES_MAX: usize = 600;
    let facts = row.results().next()?;
    if facts.error == Some(true)
        || facts.exit_code.is_some_and(|code| code != 0)
        || matches!(facts.ending, Ending::Refused | Ending::Interrupted | Ending::TimedOut)
    {
        return Some(State::Failed);
    }
    if matches!(facts.ending, Ending::Background(_)) {
        return Some(State::Running);
    }
    let text: usize = row.half.iter().map(|piece| piece.text.len()).sum();
    let says = |cue: &Cue| row.half.iter().any(|piece| is_met(cue, piece.text));
    let blocks = row.examined().map(|examined| examined.content.blocks.as_slice()).unwrap_or_default();
    let told = blocks.iter().find_map(|content| status(&content.text, id.unwrap_or_default(), &[]));
    if let Some(state) = told.filter(|state| matches!(state, State::Collected | State::Failed)) {
        return Some(state);
    }
    let handle = says(&HANDLE) && !says(&ANSWER);
    let receipt = id.is_some() && text <= RECEIPT_BYTES_MAX && (says(&RECEIPT) || handle);
    Some(if receipt { State::Running } else { State::Collected })
}

/// What `event` says of the agent `id`, if anything.
fn told(event: &Row<'_>, id: &str, ids: &[&str], before: State) -> Option<State> {
    let names = |piece: &row::Piece<'_>| piece.text.contains(id);
    if matches!(event.what, What::Said) {
        let piece = event.own.iter().find(|piece| names(piece))?;
        let state = status(piece.text, id, ids)?;
        let answered = state == State::Collected && !piece.text.contains("<result>");
        return Some(if answered && before != State::Collected { State::Finished } else { state });
    }
    let own = event.own.iter().any(names);
    let result = event.half.iter().find(|piece| names(piece));
    if !own && result.is_none() {
        return None;
    }
    let facts = event.results().next()?;
    let tool = event.tool().unwrap_or_default();
    let does = USES.iter().find(|(_, words)| words.is_match(tool)).map(|(own, _)| *own)?;
    let text = result.or(event.half.first()).map_or("", |piece| piece.text);
    match does {
        Use::Close if before.is_settled() => None,
        Use::Close => Some(State::Lost),
        Use::Resume if before == State::Collected => Some(State::Running),
        Use::Resume => None,
        Use::Fetch if facts.ending == Ending::TimedOut => None,
        Use::Fetch => status(text, id, ids)
            .or(if facts.error == Some(true) { None } else { Some(State::Collected) })
            .filter(|state| !(before == State::Collected && *state == State::Lost)),
    }
}

/// The named status nearest behind the id, before another agent is named; else the first one.
fn status(text: &str, id: &str, ids: &[&str]) -> Option<State> {
    let part = part_of(text, id, ids);
    let own = text.get(part).unwrap_or(text);
    let regex = STATUS.as_ref()?;
    let word = regex.captures(own).or_else(|| regex.captures(text)).and_then(|found| found.get(1));
    let read = |word: &str| STATUSES.iter().find(|(_, words)| words.is_match(word)).map(|(state, _)| *state);
    // `{"status":{"ID":{"completed":…}}}`: the key behind the id is the word.
    let key = || own.split(|c: char| !c.is_alphanumeric() && c != '_').skip(1).take(8).find_map(read);
    word.and_then(|word| read(word.as_str())).or_else(key)
}

fn part_of(text: &str, id: &str, ids: &[&str]) -> Range<usize> {
    let Some(start) = text.find(id) else { return 0..text.len() };
    let rest = start + id.len();
    let next =
        ids.iter().filter(|other| **other != id).filter_map(|other| text.get(rest..)?.find(*other)).min();
    start..next.map_or(text.len(), |next| rest + next)
}
