//! What a compaction that stands in a transcript has lost, and what it has invented.
//!
//! It knows what the agent would have sent just before and just after each boundary, and what was said and done
//! later. It does not know how any format writes a compaction, and it asks no archive: every statement leads to
//! bytes of the transcript.

mod text;

mod sides;

mod rest;

mod paste;

mod words;

mod kinds;

mod again;

mod broken;

mod said;

mod claims;

mod invented;

use serde::Serialize;
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;

use crate::reading::{ReadSpan, Reading};
use crate::transcript::{SessionFiles, Transcript};

use rest::Rest;
use said::Ground;
use sides::{Part, Sides};
use words::Stated;

pub use again::Again;
pub use broken::Broken;
pub use invented::{Invented, Why};
pub use kinds::{Kind, LISTED_MAX, LostItem, Tally};
pub use words::{Fate, LostRule, LostWords, UserWords};

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The transcript.
    pub source: String,
    /// The 1-based physical line, where there are lines.
    pub line: Option<u32>,
    /// The JSON pointer of the record, where it is no line.
    pub json_pointer: Option<String>,
    /// The bytes of the record: start and end.
    pub bytes: (u64, u64),
    /// The decoded text there around what is spoken of, secrets hidden; for pages, not for JSON, which has the bytes.
    #[serde(skip)]
    pub excerpt: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, &self.json_pointer) {
            (Some(line), _) => write!(f, "{}:{line}", self.source),
            (None, Some(pointer)) => write!(f, "{}:{pointer}", self.source),
            (None, None) => write!(f, "{}:bytes {}..{}", self.source, self.bytes.0, self.bytes.1),
        }
    }
}

impl Place {
    fn of(transcript: &Transcript, record: u32) -> Self {
        let record = usize::try_from(record).ok().and_then(|at| transcript.index().records.get(at));
        let range = record.map_or(ByteRange::new(0, 0), |record| record.range);
        Self {
            source: transcript.name().to_owned(),
            line: record.and_then(|record| record.line),
            json_pointer: record.map(|record| record.pointer.clone()).filter(|pointer| !pointer.is_empty()),
            bytes: (range.start(), range.end()),
            excerpt: String::new(),
        }
    }

    fn of_span(transcript: &Transcript, span: &ReadSpan<'_>) -> Self {
        Self::of(transcript, span.content.span.record)
    }

    /// The place of a span, with what stands there around `own`.
    fn around(transcript: &Transcript, span: &ReadSpan<'_>, own: &str) -> Self {
        let text = rest::text_of(&Part::whole(span));
        Self { excerpt: text::around(&text, own), ..Self::of_span(transcript, span) }
    }
}

/// How much of what was before a compaction is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    /// All of it.
    Whole,
    /// All but the answer to the last call: a summary may speak of what it said.
    OpenEnd,
    /// The beginning is in another file: nothing can be said to stand nowhere before.
    Cut,
    /// Nothing: the session goes on from another file.
    Elsewhere,
}

impl History {
    /// What to say of a history that is not whole; nothing of one that is.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::OpenEnd => "the answer to its last call is not in this file",
            Self::Cut => "the beginning of its history is not in this file",
            Self::Elsewhere => "its history is not in this file",
        }
    }
}

/// What stands in place of the originals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Account {
    /// A summary that can be read.
    Readable,
    /// A summary that is encrypted or otherwise not readable: what it holds cannot be known.
    Sealed,
    /// None: the originals were only dropped.
    None,
    /// A summary of ours: its originals are in custody.
    Ours,
    /// A placeholder for each result that is no longer sent.
    Cleared,
}

impl Account {
    /// What it is, in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Readable => "a summary",
            Self::Sealed => "a sealed summary that nobody can check",
            Self::None => "no summary in this file",
            Self::Ours => "a summary whose originals are in custody",
            Self::Cleared => "placeholders for the results of calls",
        }
    }
}

/// One compaction.
#[derive(Debug, Clone, Serialize)]
pub struct Compaction {
    /// The boundary.
    pub place: Place,
    /// The record's own id, the same in every copy of the session.
    pub id: Option<String>,
    /// What stands in place of the originals.
    pub account: Account,
    /// How much of what was before is in the file.
    pub history: History,
    /// What the agent would have sent just before it, in tokens of `o200k_base`.
    pub tokens_before: u64,
    /// The same just after it.
    pub tokens_after: u64,
    /// Standing rules of the user that are not there any more, worst first.
    pub rules: Vec<LostRule>,
    /// The number of standing rules of the user before it.
    pub rules_before: usize,
    /// The user's own words.
    pub words: UserWords,
    /// Paths, commands, values, errors: what was there and what is left.
    pub kinds: Vec<Tally>,
    /// What had to be looked up again.
    pub again: Vec<Again>,
    /// What the summary says and nothing before it bears out.
    pub invented: Vec<Invented>,
}

impl Compaction {
    /// How bad it is, to order by: rules broken, rules lost, contradictions and inventions, words.
    pub fn weight(&self) -> (usize, usize, usize, usize) {
        let broken = self.rules.iter().filter(|rule| !rule.broken.is_empty()).count();
        let lost = self.rules.iter().filter(|rule| rule.fate == Fate::Lost).count();
        (broken, lost, self.invented.len(), self.words.lost_words)
    }
}

/// Compares every compaction of a session's main transcript with what stood before it, in order. What its summary
/// says may also stand in the transcripts of child agents and in outputs that were stored apart.
///
/// # Errors
/// `Unavailable` when the bytes cannot be read.
pub fn lost(files: &SessionFiles) -> Result<Vec<Compaction>> {
    let boundaries = sides::boundaries(&files.main);
    if boundaries.is_empty() {
        return Ok(Vec::new());
    }
    let whole = Reading::uncounted(&files.main)?;
    let ground = Ground::of(&whole, &others(files)?);
    let ends = boundaries.iter().skip(1).map(|(at, _)| Some(*at)).chain([None]);
    let mut all = Vec::new();
    for (&boundary, end) in boundaries.iter().zip(ends) {
        let sides = Sides::of(&whole, boundary)?;
        all.push(compare(&sides, &ground, Later { whole: &whole, from: boundary.0, to: end }));
    }
    Ok(all)
}

/// Everything that stands in the other files of the session.
fn others(files: &SessionFiles) -> Result<String> {
    let mut all = String::new();
    for child in &files.children {
        for span in &Reading::uncounted(child)?.spans {
            all.push_str(&rest::text_of(&Part::whole(span)));
            all.push('\n');
        }
    }
    for output in &files.outputs {
        all.push_str(&String::from_utf8_lossy(&output.bytes));
        all.push('\n');
    }
    Ok(all)
}

/// The records behind a compaction, up to the next one.
#[derive(Debug, Clone, Copy)]
struct Later<'r, 'a> {
    whole: &'r Reading<'a>,
    from: u32,
    to: Option<u32>,
}

impl<'r, 'a> Later<'r, 'a> {
    fn spans(self) -> impl Iterator<Item = &'r ReadSpan<'a>> {
        self.whole.spans.iter().filter(move |span| {
            let record = span.content.span.record;
            record > self.from && self.to.is_none_or(|to| record < to)
        })
    }
}

fn compare(sides: &Sides<'_, '_>, ground: &Ground, later: Later<'_, '_>) -> Compaction {
    let transcript = sides.whole.transcript;
    let rest = Rest::of(sides);
    let gone = sides.gone();
    let stated = Stated::of(sides, &gone);
    let (mut rules, rules_before) = words::rules(transcript, &stated, &rest);
    for rule in &mut rules {
        rule.broken = broken::find(transcript, rule, later);
    }
    rules.sort_by_key(|rule| (rule.broken.is_empty(), rule.fate));
    let record = usize::try_from(sides.boundary).ok().and_then(|at| transcript.index().records.get(at));
    let (tokens_before, tokens_after) = sides.tokens();
    let said = ground.until(sides.earlier().count());
    let readable = rest.account == Account::Readable && !gone.is_empty();
    Compaction {
        place: Place::of(transcript, sides.boundary),
        id: record.and_then(|record| record.id.clone()),
        account: rest.account,
        history: if gone.is_empty() { History::Elsewhere } else { sides.history() },
        tokens_before,
        tokens_after,
        rules,
        rules_before,
        words: words::user_words(transcript, &stated, &rest),
        kinds: kinds::tally(sides, &gone, &rest, later),
        again: again::find(&gone, later),
        invented: if readable { invented::find(sides, &rest, &said) } else { Vec::new() },
    }
}
