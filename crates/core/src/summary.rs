//! The honest summary: everything quoted occurs in the cited bytes, everything left out is counted.
//!
//! A draft is made of our own fixed words, typed numbers, quotes and lists of literals. Nothing else can be written
//! down, so a summary cannot hold a string, number or id that its originals do not hold. The check proves the quotes:
//! same text, same speaker, and no negation or condition of the quoted sentence left behind. Of a list it proves that
//! every string a reader expands from it stands, delimited, where the list says; that is all a list says. The one part
//! that is not made of these is a told sentence, which somebody else wrote: it stands only with a proof of every literal
//! in it, and stands for no span.
//!
//! ```compile_fail
//! use strongroom_core::{bind::Subject, judge::GatedPlan, summary::Draft, time::Timestamp, vault::Registry};
//! fn unchecked(gated: &GatedPlan, draft: &Draft, subject: Subject, registry: &dyn Registry) {
//!     strongroom_core::bind::bind(gated, draft, subject, registry, Timestamp::from_ms(0)).ok();
//! }
//! ```
//!
//! ```
//! use strongroom_core::{bind::Subject, judge::GatedPlan, summary::CheckedSummary, time::Timestamp, vault::Registry};
//! fn checked(gated: &GatedPlan, summary: &CheckedSummary, subject: Subject, registry: &dyn Registry) {
//!     strongroom_core::bind::bind(gated, summary, subject, registry, Timestamp::from_ms(0)).ok();
//! }
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use crate::digest::{Digest, Tag};
use crate::evidence::{AtomCounts, Omissions};
use crate::gate::ReclaimForm;
use crate::index;
use crate::judge::GatedPlan;
use crate::pointer::{Pointer, SCHEME};
use crate::transcript::Speaker;

/// The word every summary and stub of ours begins with.
pub const OPENING: &str = "[strongroom]";

/// The words every summary of ours begins with.
pub const FIRST_WORDS: &str = "[strongroom] Derived, not evidence: ";

/// A piece of a summary line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Our own fixed words.
    Words(&'static str),
    /// A number that was counted.
    Count(u64),
    /// The number of a span under the tag, written `#n`.
    Span(u32),
    /// Consecutive spans, written `#n-m`.
    Spans(u32, u32),
    /// Text of a cited span, exactly as it stands there.
    Quote {
        /// The span, by its number under the tag.
        ordinal: u32,
        /// Who says it.
        speaker: Speaker,
        /// The words; one line.
        text: String,
    },
    /// Literals, written as [`index::encode`] does: they occur, and nothing more is said of them.
    List(Vec<Literal>),
    /// A value with its key, written `key=value`.
    Value {
        /// The key.
        key: Literal,
        /// The value, behind the key in the same text with nothing but quotation marks, spaces, `:` and `=` between.
        value: Literal,
    },
    /// Files with what was done with them, written as a list of `path:R2[1..40]E3W`.
    Files(Vec<FileUse>),
    /// A sentence in the words of somebody who is no summariser of ours.
    Told {
        /// The sentence; one line.
        text: String,
        /// For each literal of the sentence a place where it stands.
        proofs: Vec<Literal>,
    },
}

/// The longest told sentence, in bytes.
pub const TOLD_BYTES_MAX: usize = 600;

/// A literal with the place that proves it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Literal {
    /// The literal as it stands there.
    pub text: String,
    /// The span, by its number under the tag.
    pub ordinal: u32,
    /// Which of the texts of the span, from 0.
    pub source: usize,
    /// Where in that text, in bytes.
    pub at: usize,
}

/// What was done with a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileUse {
    /// The path, as written in one of the calls.
    pub path: Literal,
    /// How often it was read.
    pub read: u32,
    /// The lines that were read, first and last, in order.
    pub lines: Vec<(u64, u64)>,
    /// How often it was edited.
    pub edited: u32,
    /// How often it was written whole.
    pub written: u32,
}

impl FileUse {
    /// The path and what was done, as one string.
    fn render(&self) -> String {
        let mut text = format!("{}:", self.path.text);
        let mut push = |letter: char, count: u32| {
            if count > 0 {
                text.push(letter);
            }
            if count > 1 {
                text.push_str(&count.to_string());
            }
        };
        push('E', self.edited);
        push('W', self.written);
        push('R', self.read);
        if !self.lines.is_empty() {
            let lines: Vec<String> =
                self.lines.iter().map(|(first, last)| format!("{first}..{last}")).collect();
            write!(text, "[{}]", lines.join("+")).ok();
        }
        text
    }
}

/// Literals as a list.
fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    index::encode(&texts.collect())
}

/// A line of a summary with the spans it accounts for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub parts: Vec<Part>,
    /// The spans it stands for, by number under the tag.
    pub covers: Vec<u32>,
}

impl Line {
    /// The line as text.
    pub fn render(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Words(words) => Cow::Borrowed(*words),
            Part::Count(count) => Cow::Owned(count.to_string()),
            Part::Span(ordinal) => Cow::Owned(format!("#{ordinal}")),
            Part::Spans(first, last) => Cow::Owned(format!("#{first}-{last}")),
            Part::Quote { text, .. } | Part::Told { text, .. } => Cow::Borrowed(text.as_str()),
            Part::List(literals) => Cow::Owned(list(literals.iter().map(|literal| literal.text.as_str()))),
            Part::Value { key, value } => Cow::Owned(format!("{}={}", key.text, value.text)),
            Part::Files(files) => {
                let files: Vec<String> = files.iter().map(FileUse::render).collect();
                Cow::Owned(list(files.iter().map(String::as_str)))
            }
        });
        parts.collect()
    }

    /// The literals and quotes of the line, each as a reader has it after expanding the lists.
    fn read(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| match part {
            Part::Words(_) | Part::Count(_) | Part::Span(_) | Part::Spans(..) => Vec::new(),
            Part::Quote { text, .. } => vec![text.as_str()],
            Part::List(literals) => literals.iter().map(|literal| literal.text.as_str()).collect(),
            Part::Value { key, value } => vec![key.text.as_str(), value.text.as_str()],
            Part::Files(files) => files.iter().map(|file| file.path.text.as_str()).collect(),
            Part::Told { proofs, .. } => proofs.iter().map(|proof| proof.text.as_str()).collect(),
        })
    }
}

/// What a summariser wrote, not yet believed.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// Lines carried over verbatim whose originals are gone.
    pub remaining_accounts: Vec<String>,
}

/// A text of a span with its speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Who says it.
    pub speaker: Speaker,
    /// The decoded text.
    pub text: String,
}

/// Gives the decoded texts of reclaimed spans.
pub trait Sources {
    /// All texts of the span with this number under the tag: prose, argument strings, results.
    fn texts(&self, ordinal: u32) -> &[SourceText];

    /// The atoms of a text, by kind.
    fn count(&self, text: &str) -> AtomCounts;

    /// Where the literals of a sentence stand in it: what must be proved when somebody else wrote it. In bytes, on
    /// boundaries of characters.
    fn literals(&self, sentence: &str) -> Vec<Range<usize>>;
}

/// What is wrong with a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryFault {
    /// A span is not accounted for by any line.
    NotCovered(u32),
    /// A quote does not stand in the cited span under the stated speaker.
    NotInOriginal {
        /// The cited span.
        ordinal: u32,
        /// The quote.
        quote: String,
    },
    /// A quote leaves a negation or condition of its sentence behind.
    CueLost {
        /// The cited span.
        ordinal: u32,
        /// The quote.
        quote: String,
    },
    /// A quote imitates our own markers or holds a line break.
    Imitation {
        /// The cited span.
        ordinal: u32,
        /// The quote.
        quote: String,
    },
    /// A listed literal does not stand, delimited, where the list says, or a value not behind its key.
    NotListed(Literal),
    /// What a reader expands from a list is not what the list holds.
    ListUnreadable,
    /// A told sentence holds a literal without a proof.
    NotProved {
        /// The sentence.
        sentence: String,
        /// The literal.
        literal: String,
    },
    /// A told sentence is empty, too long, or could be taken for ours.
    NotTellable(String),
    /// Text of a transcript begins a line, where only our own words stand.
    BeginsLine,
    /// Fixed words hold a digit: numbers must be typed.
    UntypedNumber(&'static str),
    /// A span that goes whole and by name is quoted.
    QuotedWhole(u32),
}

/// A summary that passed the check, with its complete omission record.
#[derive(Debug, Clone)]
pub struct CheckedSummary {
    tag: Tag,
    text: String,
    digest: Digest,
    renderings: BTreeMap<u32, String>,
    omitted: AtomCounts,
}

impl CheckedSummary {
    /// The tag it carries.
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The hash of its text.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The atoms of the originals that it does not hold.
    pub const fn omitted(&self) -> &AtomCounts {
        &self.omitted
    }

    /// How a span stands in it.
    pub fn rendering(&self, ordinal: u32) -> &str {
        self.renderings.get(&ordinal).map_or("", String::as_str)
    }
}

/// Words whose loss changes what a sentence says. Matched as whole words, without case.
const CUES: &[&str] = &[
    "not", "never", "no", "none", "nothing", "nor", "neither", "without", "cannot", "unless", "except",
    "only", "if", "would", "could", "might", "should", "maybe", "probably", "plan", "planned", "dry",
    "nicht", "kein", "keine", "nie", "ohne", "ne", "pas", "jamais", "sans", "nunca", "sin", "mai", "senza",
    "não", "sem", "не", "нет", "без", "nie", "bez",
];

/// Cues of scripts without spaces, matched anywhere.
const CUES_ANYWHERE: &[&str] = &[
    "n't",
    "n’t",
    "不",
    "没",
    "沒",
    "無",
    "无",
    "未",
    "别",
    "勿",
    "禁止",
    "ない",
    "ません",
    "않",
    "못",
    "없",
    "금지",
];

/// Checks a draft for the spans of `gated` and writes the summary.
///
/// `kept` says in words how long the originals are kept, e.g. `until 2027-05-28`.
///
/// # Errors
/// Every [`SummaryFault`] found; the transcript then stays as it is.
pub fn check(
    draft: &Draft,
    gated: &GatedPlan,
    tag: Tag,
    kept: &str,
    sources: &dyn Sources,
) -> Result<CheckedSummary, Vec<SummaryFault>> {
    let mut faults = Vec::new();
    let mut renderings: BTreeMap<u32, String> = BTreeMap::new();
    let mut body = String::new();
    let mut read = String::new();
    let forms = gated.permitted().iter().map(|permitted| (permitted.ordinal(), permitted.form())).collect();
    let mut checker = Checker { forms, sources, faults: &mut faults };
    for line in &draft.lines {
        checker.line(line);
        line.read().for_each(|text| push_line(&mut read, text));
        let text = line.render();
        for &ordinal in &line.covers {
            renderings.entry(ordinal).or_insert_with(|| text.clone());
        }
        push_line(&mut body, &text);
    }
    if !draft.remaining_accounts.is_empty() {
        push_line(&mut body, "only remaining account of originals that are gone, not evidence:");
        draft.remaining_accounts.iter().for_each(|line| push_line(&mut body, line));
    }
    let ordinals = gated.permitted().iter().map(crate::judge::Permitted::ordinal);
    faults.extend(ordinals.filter(|ordinal| !renderings.contains_key(ordinal)).map(SummaryFault::NotCovered));
    if !faults.is_empty() {
        return Err(faults);
    }
    let (held, unnameable) = total(gated);
    let omitted = held.minus(&sources.count(&read));
    let mut text = opening(gated.permitted().len(), kept, tag);
    text.push_str(&body);
    push_line(&mut text, &omission_line(&omitted, unnameable));
    text.truncate(text.trim_end().len());
    Ok(CheckedSummary { tag, digest: Digest::of(text.as_bytes()), text, renderings, omitted })
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn opening(spans: usize, kept: &str, tag: Tag) -> String {
    let pointer = Pointer { tag, ordinal: None };
    format!(
        "{FIRST_WORDS}{spans} spans, originals kept {kept}. Exact values, did we, never: strongroom ask or evidence_ask.\n\
         pointer {pointer}, with #n behind it for span n\n"
    )
}

fn total(gated: &GatedPlan) -> (AtomCounts, u64) {
    let mut held = AtomCounts::default();
    let mut unnameable = 0;
    for permitted in gated.permitted() {
        match &permitted.candidate().evidence.holds {
            Omissions::Nameable(counts) => held.add_all(counts),
            Omissions::Unnameable(_) => unnameable += 1,
        }
    }
    (held, unnameable)
}

fn omission_line(omitted: &AtomCounts, unnameable: u64) -> String {
    let count = |(kind, count): (crate::evidence::AtomKind, u32)| format!("{kind} {count}");
    let counts: Vec<String> = omitted.iter().map(count).collect();
    let counts = if counts.is_empty() { "nothing that is counted".to_owned() } else { counts.join(", ") };
    let whole =
        if unnameable > 0 { format!("; {unnameable} spans not analysed, gone whole") } else { String::new() };
    format!("left out: {counts}{whole}")
}

struct Checker<'a> {
    forms: BTreeMap<u32, ReclaimForm>,
    sources: &'a dyn Sources,
    faults: &'a mut Vec<SummaryFault>,
}

impl Checker<'_> {
    fn line(&mut self, line: &Line) {
        let first = line.parts.first();
        let ours =
            matches!(first, None | Some(Part::Words(_) | Part::Count(_) | Part::Span(_) | Part::Spans(..)));
        if !ours {
            self.faults.push(SummaryFault::BeginsLine);
        }
        for part in &line.parts {
            match part {
                Part::Words(words) if words.bytes().any(|byte| byte.is_ascii_digit()) => {
                    self.faults.push(SummaryFault::UntypedNumber(words));
                }
                Part::Quote { ordinal, speaker, text } => {
                    self.whole(*ordinal);
                    let texts = self.sources.texts(*ordinal);
                    self.faults.extend(quote_fault(*ordinal, *speaker, text, texts));
                }
                Part::List(literals) => self.list(literals),
                Part::Value { key, value } => self.value(key, value),
                Part::Files(files) => self.files(files),
                Part::Told { text, proofs } => self.told(text, proofs),
                Part::Words(_) | Part::Count(_) | Part::Span(_) | Part::Spans(..) => {}
            }
        }
    }

    fn told(&mut self, sentence: &str, proofs: &[Literal]) {
        if sentence.trim().is_empty()
            || sentence.len() > TOLD_BYTES_MAX
            || imitates(sentence)
            || sentence.chars().any(is_hidden)
        {
            self.faults.push(SummaryFault::NotTellable(sentence.to_owned()));
        }
        proofs.iter().for_each(|proof| self.literal(proof));
        for range in self.sources.literals(sentence) {
            let literal = sentence.get(range).unwrap_or_default();
            if !proofs.iter().any(|proof| proof.text == literal) {
                let (sentence, literal) = (sentence.to_owned(), literal.to_owned());
                self.faults.push(SummaryFault::NotProved { sentence, literal });
            }
        }
    }

    fn whole(&mut self, ordinal: u32) {
        if self.forms.get(&ordinal) == Some(&ReclaimForm::WholeByName) {
            self.faults.push(SummaryFault::QuotedWhole(ordinal));
        }
    }

    fn list(&mut self, literals: &[Literal]) {
        literals.iter().for_each(|literal| self.literal(literal));
        let texts: BTreeSet<&str> = literals.iter().map(|literal| literal.text.as_str()).collect();
        self.readable(&texts);
    }

    fn files(&mut self, files: &[FileUse]) {
        files.iter().for_each(|file| self.literal(&file.path));
        let texts: Vec<String> = files.iter().map(FileUse::render).collect();
        self.readable(&texts.iter().map(String::as_str).collect());
    }

    /// Proves that a reader expands `texts` and nothing else from the list of them.
    fn readable(&mut self, texts: &BTreeSet<&str>) {
        let read = index::expand(&index::encode(texts));
        if !read.is_ok_and(|read| read.iter().map(String::as_str).eq(texts.iter().copied())) {
            self.faults.push(SummaryFault::ListUnreadable);
        }
    }

    fn literal(&mut self, literal: &Literal) {
        self.whole(literal.ordinal);
        let stands = stands(literal, self.sources.texts(literal.ordinal));
        if !stands || !self.forms.contains_key(&literal.ordinal) || imitates(&literal.text) {
            self.faults.push(SummaryFault::NotListed(literal.clone()));
        }
    }

    fn value(&mut self, key: &Literal, value: &Literal) {
        self.literal(key);
        self.literal(value);
        let between = key.at + key.text.len()..value.at;
        let text =
            self.sources.texts(key.ordinal).get(key.source).and_then(|source| source.text.get(between));
        let joined = text.is_some_and(|text| {
            text.contains([':', '=']) && text.len() <= 8 && text.chars().all(|c| " \t\"'`:=".contains(c))
        });
        let spaced = key.text.contains(char::is_whitespace) || value.text.contains(char::is_whitespace);
        if !joined || spaced || (key.ordinal, key.source) != (value.ordinal, value.source) {
            self.faults.push(SummaryFault::NotListed(value.clone()));
        }
    }
}

/// Whether a literal stands where it says, and is not a part of a longer word, number or path there.
pub fn stands(literal: &Literal, texts: &[SourceText]) -> bool {
    let Some(source) = texts.get(literal.source) else { return false };
    let end = literal.at + literal.text.len();
    let Some((before, behind)) = source.text.get(..literal.at).zip(source.text.get(end..)) else {
        return false;
    };
    let same = source.text.get(literal.at..end) == Some(literal.text.as_str());
    same && !literal.text.is_empty()
        && ends_before(before, &literal.text)
        && begins_behind(&literal.text, behind)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn ends_before(before: &str, text: &str) -> bool {
    let mut last = before.chars().rev();
    let (Some(first), Some(near)) = (text.chars().next(), last.next()) else { return true };
    match first {
        '/' => !(is_word(near) || matches!(near, '.' | '~' | '-' | '/')),
        _ if first.is_ascii_digit() => {
            !(is_word(near) || matches!(near, '.' | ',') && last.next().is_some_and(|c| c.is_ascii_digit()))
        }
        _ => !is_word(near),
    }
}

fn begins_behind(text: &str, behind: &str) -> bool {
    let mut next = behind.chars();
    let (Some(last), Some(near)) = (text.chars().next_back(), next.next()) else { return true };
    if last == '/' {
        return true;
    }
    let decimal = last.is_ascii_digit() && matches!(near, '.' | ',');
    !(is_word(near) || decimal && next.next().is_some_and(|c| c.is_ascii_digit()))
}

/// What is wrong with quoting `quote` from a span with these texts; `None` when it may stand in a summary.
pub fn quote_fault(
    ordinal: u32,
    speaker: Speaker,
    quote: &str,
    texts: &[SourceText],
) -> Option<SummaryFault> {
    let fault = |make: fn(u32, String) -> SummaryFault| Some(make(ordinal, quote.to_owned()));
    if imitates(quote) {
        return fault(|ordinal, quote| SummaryFault::Imitation { ordinal, quote });
    }
    let mut found = false;
    for source in texts.iter().filter(|source| source.speaker == speaker) {
        let mut places = Places::of(&source.text);
        for (at, _) in source.text.match_indices(quote) {
            found = true;
            if places.keep_cues(at, quote.len()) {
                return None;
            }
        }
    }
    if found {
        fault(|ordinal, quote| SummaryFault::CueLost { ordinal, quote })
    } else {
        fault(|ordinal, quote| SummaryFault::NotInOriginal { ordinal, quote })
    }
}

/// Whether text of a transcript could be taken for ours, also by whoever does not see what stands between its letters,
/// would break a line, or says something that is not seen.
pub fn imitates(text: &str) -> bool {
    let marked = |text: &str| text.contains(SCHEME) || text.contains(OPENING);
    let veiled = || text.chars().any(is_hidden) && marked(&text.replace(is_hidden, ""));
    text.contains(['\n', '\r']) || text.contains(is_veil) || marked(text) || veiled()
}

/// Whether a character turns the order of its neighbours round, or spells a letter that nobody sees and models read.
fn is_veil(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character cannot be seen and may change how its neighbours are: all such but line feeds and tabs.
pub fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        // Tags, which spell text that nobody sees and models read.
        | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// Places of quotes in one text, in order. A sentence is read once, however many quotes stand in it.
struct Places<'t> {
    text: &'t str,
    /// The sentence in which the last quote began, and the one in which it ended.
    first: Sentence,
    last: Sentence,
}

impl<'t> Places<'t> {
    fn of(text: &'t str) -> Self {
        // Nothing lies in a sentence that ends before it begins.
        let none = || Sentence { start: 1, end: 0, cues: Vec::new() };
        Self { text, first: none(), last: none() }
    }

    /// Whether the sentence around the `len` bytes at `at` has no cue outside of them.
    fn keep_cues(&mut self, at: usize, len: usize) -> bool {
        self.first.move_to(self.text, at);
        if (self.first.start..=self.first.end).contains(&(at + len)) {
            let (before, behind) = (self.first.start..at, at + len..self.first.end);
            return !self.first.has_cue_in(&before) && !self.first.has_cue_in(&behind);
        }
        self.last.move_to(self.text, at + len);
        let (before, behind) = (self.first.start..at, at + len..self.last.end);
        !self.first.has_cue_in(&before) && !self.last.has_cue_in(&behind)
    }
}

/// A sentence with the places of its cues.
#[derive(Debug, Clone)]
struct Sentence {
    start: usize,
    end: usize,
    /// In order of their starts.
    cues: Vec<Range<usize>>,
}

impl Sentence {
    fn around(text: &str, at: usize) -> Self {
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let start = before.char_indices().rfind(|(_, char)| is_sentence_end(*char));
        let start = start.map_or(0, |(end, char)| end + char.len_utf8());
        let end = at + after.find(is_sentence_end).unwrap_or(after.len());
        let cues = cues(text.get(start..end).unwrap_or_default());
        Self { start, end, cues: cues.into_iter().map(|cue| start + cue.start..start + cue.end).collect() }
    }

    fn move_to(&mut self, text: &str, at: usize) {
        if !(self.start..=self.end).contains(&at) {
            *self = Self::around(text, at);
        }
    }

    /// Whether a cue lies in `range`, wholly or in part.
    fn has_cue_in(&self, range: &Range<usize>) -> bool {
        let behind = self.cues.partition_point(|cue| cue.start < range.end);
        let longest = CUES_ANYWHERE.iter().chain(CUES).map(|cue| cue.len()).max().unwrap_or(0);
        let near = self.cues.get(..behind).unwrap_or_default().iter().rev();
        near.take_while(|cue| cue.start + longest > range.start).any(|cue| cue.end > range.start)
    }
}

fn is_sentence_end(c: char) -> bool {
    matches!(c, '\n' | '!' | '?' | ';' | '。' | '！' | '？')
}

/// The lengths of the cues that begin with a byte, one bit each: most words are passed over by them.
const CUE_LENGTHS: [u32; 256] = cue_lengths();

#[expect(clippy::indexing_slicing, reason = "constants over all 256 bytes")]
const fn cue_lengths() -> [u32; 256] {
    let mut all = [0; 256];
    let mut at = 0;
    while at < CUES.len() {
        let cue = CUES[at].as_bytes();
        let first = cue[0] as usize;
        all[first] |= 1 << cue.len();
        all[cue[0].to_ascii_uppercase() as usize] |= 1 << cue.len();
        at += 1;
    }
    all
}

fn is_cue(word: &str) -> bool {
    let lengths = word.bytes().next().and_then(|first| CUE_LENGTHS.get(usize::from(first)));
    lengths.is_some_and(|lengths| word.len() < 32 && lengths >> word.len() & 1 == 1)
        && CUES.iter().any(|cue| word.eq_ignore_ascii_case(cue))
}

/// The places of all cues in `text`, in order.
fn cues(text: &str) -> Vec<Range<usize>> {
    // Of the cues that stand anywhere only one is of ASCII.
    let anywhere = if text.is_ascii() { CUES_ANYWHERE.get(..1).unwrap_or_default() } else { CUES_ANYWHERE };
    let mut all: Vec<Range<usize>> =
        anywhere.iter().flat_map(|cue| text.match_indices(cue).map(|(at, cue)| at..at + cue.len())).collect();
    let mut at = 0;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        if is_cue(word) {
            all.push(at..at + word.len());
        }
        at += part.len();
    }
    all.sort_by_key(|cue| cue.start);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_keeps_the_negation_of_its_sentence() {
        let text = "I did not run migration 0042.\nThen I pushed v1.8.0";
        let at = |quote: &str| text.find(quote).unwrap();
        let keeps = |text: &str, quote: &str| Places::of(text).keep_cues(at(quote), quote.len());
        assert!(!keeps(text, "run migration 0042"));
        assert!(keeps(text, "did not run migration 0042"));
        assert!(keeps(text, "pushed v1.8.0"));
        assert!(!keeps(text, "t run"), "half a cue is left behind");
        assert!(cues("notes on nothingness").is_empty());
        assert_eq!(cues("don't, 请不要"), [2..5, 10..13]);
    }

    #[test]
    fn a_long_line_full_of_quotes_is_read_once() {
        let mut text = "not ".to_owned();
        text.push_str(&"ab ".repeat(200_000));
        let texts = [SourceText { speaker: Speaker::Tool, text }];
        let fault = quote_fault(1, Speaker::Tool, "ab", &texts);
        assert!(matches!(fault, Some(SummaryFault::CueLost { .. })));
    }

    #[test]
    fn our_own_markers_are_never_quoted() {
        assert!(imitates("sr1:00"));
        assert!(imitates("[strongroom] Derived"));
        assert!(imitates("two\nlines"));
        assert!(imitates("[stro\u{200b}ngroom] Derived"));
        assert!(imitates("\u{e0068}\u{e0069}") && imitates("\u{202e}ti od"));
        assert!(!imitates("plain") && !imitates("👨\u{200d}👩") && !imitates("\u{1b}[31mFAILED\u{1b}[0m"));
    }

    struct Fixed(Vec<SourceText>);

    impl Sources for Fixed {
        fn texts(&self, ordinal: u32) -> &[SourceText] {
            if ordinal == 1 { &self.0 } else { &[] }
        }

        fn count(&self, _: &str) -> AtomCounts {
            AtomCounts::default()
        }

        fn literals(&self, sentence: &str) -> Vec<Range<usize>> {
            let digit =
                |at: usize| sentence.get(at..=at).is_some_and(|c| c.bytes().all(|b| b.is_ascii_digit()));
            let starts = (0..sentence.len()).filter(|&at| digit(at) && (at == 0 || !digit(at - 1)));
            starts
                .map(|at| at..(at..sentence.len()).find(|&end| !digit(end)).unwrap_or(sentence.len()))
                .collect()
        }
    }

    const TEXT: &str = "port: 8080 for /srv/app/a.rs and v1.5, not ./tmp/x or fooBar_baz 2.75";

    fn literal(text: &str, at: usize) -> Literal {
        Literal { text: text.to_owned(), ordinal: 1, source: 0, at }
    }

    fn place(text: &str) -> Literal {
        literal(text, TEXT.find(text).unwrap())
    }

    fn faults_of(part: Part) -> Vec<SummaryFault> {
        let sources = Fixed(vec![SourceText { speaker: Speaker::Tool, text: TEXT.to_owned() }]);
        let mut faults = Vec::new();
        let forms = BTreeMap::from([(1, ReclaimForm::Summary), (2, ReclaimForm::WholeByName)]);
        let line = Line { parts: vec![Part::Words("x: "), part], covers: Vec::new() };
        Checker { forms, sources: &sources, faults: &mut faults }.line(&line);
        faults
    }

    #[test]
    fn a_listed_literal_stands_delimited_where_the_list_says() {
        for text in ["8080", "/srv/app/a.rs", "./tmp/x", "v1.5", "fooBar_baz", "a.rs", "/srv/", "2.75"] {
            assert_eq!(faults_of(Part::List(vec![place(text)])), [], "{text}");
        }
        for text in ["808", "080", "/a.rs", "/tmp/x", "/srv/ap", "Bar_baz", "fooBar", "75", "2", "1"] {
            assert_eq!(faults_of(Part::List(vec![place(text)])).len(), 1, "{text}");
        }
        for wrong in [literal("8080", 0), literal("gone", 3), literal("8080", 900), literal("", 0)] {
            assert!(!faults_of(Part::List(vec![wrong])).is_empty());
        }
        let whole = Literal { ordinal: 2, ..place("8080") };
        assert!(faults_of(Part::List(vec![whole])).contains(&SummaryFault::QuotedWhole(2)));
        let elsewhere = Literal { ordinal: 3, ..place("8080") };
        assert_eq!(faults_of(Part::List(vec![elsewhere.clone()])), [SummaryFault::NotListed(elsewhere)]);
    }

    #[test]
    fn a_told_sentence_proves_each_of_its_literals() {
        let told = |text: &str, proofs: Vec<Literal>| faults_of(Part::Told { text: text.to_owned(), proofs });
        assert_eq!(told("It listens on 8080.", vec![place("8080")]), []);
        assert_eq!(told("Nothing is said exactly.", Vec::new()), []);
        let unproved = |sentence: &str, literal: &str| {
            let (sentence, literal) = (sentence.to_owned(), literal.to_owned());
            [SummaryFault::NotProved { sentence, literal }]
        };
        assert_eq!(told("It listens on 8081.", vec![place("8080")]), unproved("It listens on 8081.", "8081"));
        assert_eq!(told("It listens on 8080.", Vec::new()), unproved("It listens on 8080.", "8080"));
        assert_eq!(told("On 808.", vec![place("808")]).len(), 1, "a part of a number proves nothing");
        assert_eq!(told("On 8080.", vec![Literal { ordinal: 2, ..place("8080") }]).len(), 2, "gone whole");
        for text in ["", " ", "two\nlines", "see [strongroom] here", &"word ".repeat(200)] {
            assert_eq!(told(text, Vec::new()), [SummaryFault::NotTellable(text.to_owned())]);
        }
        let part = Part::Told { text: "It listens on 8080.".to_owned(), proofs: vec![place("8080")] };
        let line = Line { parts: vec![part], covers: Vec::new() };
        assert_eq!(
            (line.render(), line.read().collect::<Vec<_>>()),
            ("It listens on 8080.".to_owned(), vec!["8080"])
        );
    }

    #[test]
    fn a_value_stands_behind_its_key() {
        let value = |key: &str, value: &str| Part::Value { key: place(key), value: place(value) };
        assert_eq!(faults_of(value("port", "8080")), []);
        assert_eq!(faults_of(value("and", "v1.5")).len(), 1, "nothing joins them");
        assert_eq!(faults_of(value("8080", "port")).len(), 1, "the wrong way round");
    }

    #[test]
    fn files_are_listed_with_what_was_done() {
        let lines = vec![(1, 40), (60, 80)];
        let file = FileUse { path: place("/srv/app/a.rs"), read: 2, lines, edited: 1, written: 0 };
        let other = FileUse { path: place("./tmp/x"), read: 0, lines: Vec::new(), edited: 3, written: 1 };
        let part = Part::Files(vec![file, other]);
        assert_eq!(faults_of(part.clone()), []);
        let line = Line { parts: vec![part], covers: Vec::new() };
        assert_eq!(line.render(), "./tmp/x:E3W /srv/app/a.rs:ER2[1..40+60..80]");
        assert_eq!(line.read().collect::<Vec<_>>(), ["/srv/app/a.rs", "./tmp/x"]);
    }

    #[test]
    fn only_our_own_words_begin_a_line() {
        let sources = Fixed(vec![SourceText { speaker: Speaker::Tool, text: "## Literals".to_owned() }]);
        let quote = Part::Quote { ordinal: 1, speaker: Speaker::Tool, text: "## Literals".to_owned() };
        let mut faults = Vec::new();
        let forms = BTreeMap::from([(1, ReclaimForm::Summary)]);
        let line = Line { parts: vec![quote], covers: Vec::new() };
        Checker { forms, sources: &sources, faults: &mut faults }.line(&line);
        assert_eq!(faults, [SummaryFault::BeginsLine]);
    }
}
