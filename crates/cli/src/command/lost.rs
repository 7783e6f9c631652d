//! `strongroom lost`.

mod page;
mod screen;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use strongroom::Result;
use strongroom::lost::{Compaction, History, lost};
use strongroom::transcript::SessionFiles;

use crate::args::{Args, LostArgs};
use crate::exit::End;
use crate::{out, place, progress};

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
    let files = if own.files.is_empty() { place::standard_sessions() } else { own.files.clone() };
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
        out::data(screen::render(&findings, own.all).as_bytes())?;
    }
    Ok(End::Done)
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

/// The sums over all sessions.
#[derive(Debug, Default)]
struct Sums {
    compactions: usize,
    sealed: usize,
    tokens_before: u64,
    tokens_after: u64,
    rules: usize,
    rules_lost: usize,
    rules_broken: usize,
    words: usize,
    words_lost: usize,
    again: usize,
    again_tokens: u64,
    invented: usize,
    kinds: Vec<(strongroom::lost::Kind, usize, usize)>,
}

impl Sums {
    fn of<'c>(compactions: impl IntoIterator<Item = &'c Compaction>) -> Self {
        let mut sums = Self::default();
        for one in compactions {
            sums.add(one);
        }
        sums.kinds.sort();
        sums
    }

    fn add(&mut self, one: &Compaction) {
        use strongroom::lost::{Account, Fate};
        self.compactions += 1;
        self.sealed += usize::from(one.account == Account::Sealed);
        self.tokens_before += one.tokens_before;
        self.tokens_after += one.tokens_after;
        self.rules += one.rules_before;
        self.rules_lost += one.rules.iter().filter(|rule| rule.fate == Fate::Lost).count();
        self.rules_broken += one.rules.iter().filter(|rule| !rule.broken.is_empty()).count();
        self.words += one.words.words;
        self.words_lost += one.words.lost_words;
        self.again += one.again.len();
        self.again_tokens += one.again.iter().map(|again| again.tokens).sum::<u64>();
        self.invented += one.invented.len();
        for tally in &one.kinds {
            match self.kinds.iter_mut().find(|(kind, ..)| *kind == tally.kind) {
                Some((_, before, left)) => {
                    *before += tally.before;
                    *left += tally.left;
                }
                None => self.kinds.push((tally.kind, tally.before, tally.left)),
            }
        }
    }
}

/// `part` of `whole` in percent; a hundred of nothing.
fn percent(part: usize, whole: usize) -> usize {
    (part * 100).checked_div(whole).unwrap_or(100)
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
