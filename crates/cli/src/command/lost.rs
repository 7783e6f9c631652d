//! `strongroom lost`.

mod page;
mod screen;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use strongroom::Result;
use strongroom::lost::{Account, Compaction, Fate, History, Kind, lost};
use strongroom::standard::Standard;
use strongroom::transcript::SessionFiles;

use crate::args::{Args, LostArgs};
use crate::exit::End;
use crate::{out, place, progress, table};

/// A session with compactions.
#[derive(Debug, Serialize)]
struct Session {
    /// The transcript.
    file: String,
    /// Its compactions, in order.
    compactions: Vec<Compaction>,
}

/// Everything that was looked at.
#[derive(Debug, Default, Serialize)]
struct Findings {
    schema: u32,
    /// How many transcripts were read.
    transcripts: usize,
    /// Transcripts of formats that are not read yet, by format.
    not_read: BTreeMap<&'static str, Vec<String>>,
    /// Sessions with compactions, the worst first.
    sessions: Vec<Session>,
}

pub(super) fn run(args: &Args, own: &LostArgs) -> Result<End> {
    let files = if own.files.is_empty() { standard_files() } else { own.files.clone() };
    let findings = look(&files, own)?;
    if let Some(html) = &own.html {
        strongroom::files::replace(html, page::render(&findings).as_bytes(), &mut || ())?;
        out::note(&format!("written to {}", html.display()));
    }
    if args.json {
        let body = serde_json::to_string(&findings)
            .map_err(|error| strongroom::Error::bug("the findings are no JSON").caused_by(error))?;
        out::line(&body)?;
    } else if own.html.is_none() || own.files.is_empty() {
        let width = table::width().unwrap_or(screen::WIDTH);
        out::text(&screen::render(&findings, own.all, width))?;
    }
    Ok(End::Done)
}

/// The sessions of every agent; what is known of the others and not read is told.
fn standard_files() -> Vec<PathBuf> {
    let places = place::standard_places();
    for hole in places.iter().flat_map(Standard::holes) {
        out::warning(&hole);
    }
    strongroom::standard::transcripts(&places).into_iter().map(|(path, _)| path).collect()
}

fn look(files: &[PathBuf], own: &LostArgs) -> Result<Findings> {
    let found = strongroom::import::transcripts(files)?;
    let bar = progress::bytes(found.iter().map(|(_, len)| len).sum());
    let mut findings = Findings { schema: 1, ..Findings::default() };
    for (path, len) in found {
        let named = own.files.contains(&path);
        match SessionFiles::open(&path, own.format.as_deref()) {
            Ok(files) => {
                findings.transcripts += 1;
                let compactions = lost(&files)?;
                if !compactions.is_empty() {
                    findings.sessions.push(Session { file: files.main.name().to_owned(), compactions });
                }
            }
            Err(error) => match strongroom::transcript::not_yet_read(&path) {
                Some(what) => {
                    findings.not_read.entry(what).or_default().push(path.display().to_string());
                }
                None if named => return Err(error),
                // Other files lie in these folders too.
                None => {}
            },
        }
        bar.inc(len);
    }
    bar.finish_and_clear();
    count_once(&mut findings.sessions);
    findings
        .sessions
        .sort_by_key(|session| Reverse(session.compactions.iter().map(Compaction::weight).max()));
    Ok(findings)
}

/// A fork copies its history: of the copies of a compaction the one with the most of its history counts.
fn count_once(sessions: &mut Vec<Session>) {
    let mut best: BTreeMap<String, (History, Reverse<u64>, usize)> = BTreeMap::new();
    for (session, at) in sessions.iter().zip(0usize..) {
        for one in &session.compactions {
            let Some(id) = &one.id else { continue };
            let rank = (one.history, Reverse(one.tokens_before), at);
            best.entry(id.clone()).and_modify(|best| *best = rank.min(*best)).or_insert(rank);
        }
    }
    for (session, at) in sessions.iter_mut().zip(0usize..) {
        let counts = |id: &String| best.get(id).is_some_and(|(_, _, best)| *best == at);
        session.compactions.retain(|one| one.id.as_ref().is_none_or(counts));
    }
    sessions.retain(|session| !session.compactions.is_empty());
}

impl Findings {
    fn compactions(&self) -> impl Iterator<Item = &Compaction> {
        self.sessions.iter().flat_map(|session| &session.compactions)
    }
}

/// What there was of something, and how much of it is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Share {
    was: usize,
    gone: usize,
}

impl Share {
    fn add(&mut self, was: usize, gone: usize) {
        self.was += was;
        self.gone += gone.min(was);
    }

    /// In percent: none only where none is gone, a hundred only where all is; `None` of nothing.
    fn percent(self) -> Option<usize> {
        let rounded = (self.gone * 200 + self.was).checked_div(self.was * 2)?;
        Some(if self.gone == 0 || self.gone == self.was { rounded } else { rounded.clamp(1, 99) })
    }
}

/// The sums over some compactions.
#[derive(Debug, Default)]
struct Sums {
    compactions: usize,
    sealed: usize,
    bare: usize,
    partial: usize,
    tokens_before: u64,
    tokens_after: u64,
    rules: Share,
    rules_reworded: usize,
    rules_broken: usize,
    words: Share,
    again: usize,
    again_tokens: u64,
    invented: usize,
    kinds: BTreeMap<Kind, Share>,
}

impl Sums {
    fn of<'c>(compactions: impl IntoIterator<Item = &'c Compaction>) -> Self {
        let mut sums = Self::default();
        for one in compactions {
            sums.add(one);
        }
        sums
    }

    fn add(&mut self, one: &Compaction) {
        self.compactions += 1;
        self.sealed += usize::from(one.account == Account::Sealed);
        self.bare += usize::from(one.account == Account::None);
        self.partial += usize::from(one.history != History::Whole);
        if one.history != History::Elsewhere {
            self.tokens_before += one.tokens_before;
            self.tokens_after += one.tokens_after;
        }
        let fates = |fate| one.rules.iter().filter(|rule| rule.fate == fate).count();
        self.rules.add(one.rules_before, fates(Fate::Lost));
        self.rules_reworded += fates(Fate::Reworded);
        self.rules_broken += one.rules.iter().filter(|rule| !rule.broken.is_empty()).count();
        self.words.add(one.words.words, one.words.lost_words);
        self.again += one.again.len();
        self.again_tokens += one.again.iter().map(|again| again.tokens).sum::<u64>();
        self.invented += one.invented.len();
        for tally in &one.kinds {
            self.kinds.entry(tally.kind).or_default().add(tally.before, tally.before - tally.left);
        }
    }

    /// What there was and what is gone, with what it is.
    fn shares(&self) -> Vec<(&'static str, Share)> {
        let first = [("rules the user set", self.rules), ("words the user typed", self.words)];
        first.into_iter().chain(self.kinds.iter().map(|(kind, share)| (kind.words(), *share))).collect()
    }

    /// What must be said of the summaries before the figures are read.
    fn notes(&self) -> Vec<String> {
        let say = |number: usize, one: &str, more: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {more}")),
        };
        let notes = [
            say(
                self.sealed,
                "summary is sealed: nobody can check what it holds",
                "summaries are sealed: nobody can check what they hold",
            ),
            say(
                self.bare,
                "has no summary in the file: what stands there is only what was kept",
                "have no summary in the file: what stands there is only what was kept",
            ),
            say(
                self.partial,
                "does not have its whole history in the file: there, nothing is called invented that may stand elsewhere",
                "do not have their whole history in the file: there, nothing is called invented that may stand elsewhere",
            ),
        ];
        notes.into_iter().flatten().collect()
    }
}

/// The last two parts of a path: enough to know a session by.
fn short_name(path: &str) -> String {
    let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.reverse();
    parts.join("/")
}

/// `1 transcript`, `2 transcripts`.
fn counted(number: usize, one: &str) -> String {
    format!(
        "{} {one}{}",
        grouped(u64::try_from(number).unwrap_or(u64::MAX)),
        if number == 1 { "" } else { "s" }
    )
}

/// A sentence without the sign of a list before it.
fn bare(sentence: &str) -> &str {
    sentence.trim_start_matches(['-', '*', '•', ' ']).trim()
}

/// Thousands with a separator.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One line of at most `width` characters, controls shown as blanks.
fn short(text: &str, width: usize) -> String {
    let plain: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain.chars().count() <= width {
        return plain;
    }
    let mut cut: String = plain.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
