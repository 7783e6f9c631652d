//! A session as the benchmark sees it: events made of decoded strings, and a search over everything.
//!
//! It is read from the agent's own JSON and shares no code with what is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memchr::memmem;

use crate::leaf::Leaf;

/// A format of transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Session logs of Claude Code.
    ClaudeCode,
    /// Rollouts of Codex.
    Codex,
    /// Request bodies of Chat Completions.
    OpenAiChat,
    /// Request bodies of the Messages API.
    AnthropicMessages,
}

impl Format {
    /// The word in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenAiChat => "openai-chat",
            Self::AnthropicMessages => "anthropic-messages",
        }
    }

    /// Whether a record is a line of its own, so that questions can name it.
    pub const fn has_lines(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaker {
    /// The person at the main session, beyond doubt.
    User,
    /// System and developer messages.
    Operator,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// The program around the model, or text of which it is not clear that a person wrote it.
    Harness,
    /// A summary.
    Derived,
}

impl Speaker {
    /// The word in files, and after `by:`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operator => "operator",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Harness => "harness",
            Self::Derived => "summary",
        }
    }
}

/// What a tool said about its own success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The envelope says nothing.
    Unknown,
    /// The envelope says that it worked.
    Worked,
    /// The envelope says that it failed.
    Failed,
}

/// A string argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name, `command`, or a pointer below the arguments, `edits/0/old_string`.
    pub name: String,
    /// The string.
    pub leaf: usize,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Somebody said something.
    Said,
    /// The model thought something.
    Thinking,
    /// A tool was called.
    Call {
        /// The id that pairs it with its result.
        id: String,
        /// The tool.
        tool: String,
        /// Its string arguments.
        arguments: Vec<Argument>,
    },
    /// A tool answered.
    Result {
        /// The id of the call.
        id: String,
        /// What the envelope says.
        outcome: Outcome,
    },
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The record it stands in, from 1.
    pub record: u32,
    /// Who speaks.
    pub speaker: Speaker,
    /// What happened.
    pub kind: Kind,
    /// Its strings.
    pub leaves: Vec<usize>,
    /// How many things the user had said before.
    pub turn: u32,
    /// How many compactions the session had seen before.
    pub era: u32,
}

/// A session.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its place below the folder of transcripts.
    pub name: String,
    /// The project it belongs to: the folder it lies in.
    pub project: String,
    /// Its format.
    pub format: Format,
    /// The file.
    pub bytes: Vec<u8>,
    /// Every string of it.
    pub leaves: Vec<Leaf>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The bytes of each record.
    pub records: Vec<Range<usize>>,
    /// Records that are no JSON.
    pub unreadable: Vec<u32>,
    /// Records at which the history was compacted.
    pub boundaries: Vec<u32>,
    /// Whether what a summary in it replaced is recorded in no line of it.
    pub foreign_past: bool,
    hay: String,
    low: String,
    squeezed: String,
    starts: Vec<usize>,
    owners: Vec<Option<usize>>,
    calls: BTreeMap<String, Vec<usize>>,
    results: BTreeMap<String, Vec<usize>>,
    ended: Vec<String>,
}

/// What a reader has found so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) events: Vec<Event>,
    pub(crate) records: Vec<Range<usize>>,
    pub(crate) unreadable: Vec<u32>,
    pub(crate) boundaries: Vec<u32>,
    pub(crate) foreign_past: bool,
    /// Strings that repeat what a call or its result holds, with the id of the call.
    pub(crate) repeats: Vec<(usize, String)>,
    /// Calls whose end the screen was told of.
    pub(crate) ended: Vec<String>,
    /// The first string of the value that is being read.
    pub(crate) first: usize,
    turn: u32,
}

impl Draft {
    /// Notes an event of the record `record`.
    pub(crate) fn event(&mut self, record: u32, speaker: Speaker, kind: Kind, leaves: Vec<usize>) {
        let era = u32::try_from(self.boundaries.len()).unwrap_or(u32::MAX);
        self.events.push(Event { record, speaker, kind, leaves, turn: self.turn, era });
        if speaker == Speaker::User {
            self.turn += 1;
        }
    }

    /// The strings of `record` whose pointers begin with `pointer`.
    pub(crate) fn below(&self, record: u32, pointer: &str) -> Vec<usize> {
        let own = self.leaves.iter().enumerate().skip(self.first);
        own.filter(|(_, leaf)| {
            leaf.record == record
                && leaf.pointer.strip_prefix(pointer).is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with(['/', '#']) || pointer.ends_with('#')
                })
        })
        .map(|(at, _)| at)
        .collect()
    }

    /// The string at `pointer`.
    pub(crate) fn at(&self, record: u32, pointer: &str) -> Option<usize> {
        self.below(record, pointer).into_iter().find(|&at| self.text_pointer(at) == pointer)
    }

    fn text_pointer(&self, leaf: usize) -> &str {
        self.leaves.get(leaf).map_or("", |leaf| leaf.pointer.as_str())
    }

    /// Strings below `pointer` as arguments, named by what follows it.
    pub(crate) fn arguments(&self, record: u32, pointer: &str) -> Vec<Argument> {
        let named = |leaf: usize| Argument {
            name: self.text_pointer(leaf).get(pointer.len()..).unwrap_or("").trim_matches(['/', '#']).into(),
            leaf,
        };
        self.below(record, pointer).into_iter().map(named).filter(|own| !own.name.is_empty()).collect()
    }
}

impl Session {
    pub(crate) fn new(name: &str, format: Format, bytes: Vec<u8>, draft: Draft) -> Self {
        let project = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let mut session = Self {
            name: name.to_owned(),
            project,
            format,
            bytes,
            hay: String::new(),
            low: String::new(),
            squeezed: String::new(),
            starts: Vec::with_capacity(draft.leaves.len()),
            owners: vec![None; draft.leaves.len()],
            leaves: draft.leaves,
            events: draft.events,
            records: draft.records,
            unreadable: draft.unreadable,
            boundaries: draft.boundaries,
            foreign_past: draft.foreign_past,
            calls: BTreeMap::new(),
            results: BTreeMap::new(),
            ended: draft.ended,
        };
        session.link(&draft.repeats);
        session
    }

    fn link(&mut self, repeats: &[(usize, String)]) {
        for leaf in &self.leaves {
            self.starts.push(self.hay.len());
            self.hay.push_str(&leaf.text);
            self.hay.push('\0');
        }
        self.low = self.hay.to_ascii_lowercase();
        self.squeezed = squeeze(&self.low);
        for (at, event) in self.events.iter().enumerate() {
            for &leaf in &event.leaves {
                if let Some(owner) = self.owners.get_mut(leaf) {
                    *owner = Some(at);
                }
            }
            match &event.kind {
                Kind::Call { id, .. } => self.calls.entry(id.clone()).or_default().push(at),
                Kind::Result { id, .. } => self.results.entry(id.clone()).or_default().push(at),
                Kind::Said | Kind::Thinking => {}
            }
        }
        for (leaf, id) in repeats {
            let owner = self.calls.get(id).and_then(|calls| calls.first()).copied();
            if let Some(own) = self.owners.get_mut(*leaf) {
                *own = owner;
            }
        }
    }

    /// The SHA-256 of the file.
    pub fn hash(&self) -> String {
        crate::seed::hex_of(&self.bytes)
    }

    /// The text of a string.
    pub fn text(&self, leaf: usize) -> &str {
        self.leaves.get(leaf).map_or("", |leaf| leaf.text.as_str())
    }

    /// The whole text of an event.
    pub fn text_of(&self, event: &Event) -> String {
        let texts: Vec<&str> = event.leaves.iter().map(|&leaf| self.text(leaf)).collect();
        texts.join("\n")
    }

    /// Where `needle` stands: strings and offsets in them, at most `most`.
    pub fn find(&self, needle: &str, most: usize) -> Vec<(usize, usize)> {
        self.places(&self.hay, needle, most)
    }

    /// As [`Session::find`], without regard to the case of ASCII letters.
    pub fn find_any_case(&self, needle: &str, most: usize) -> Vec<(usize, usize)> {
        self.places(&self.low, &needle.to_ascii_lowercase(), most)
    }

    /// How often a key stands in the session, whatever signs join its parts; at most `most`.
    pub fn squeezed(&self, key: &str, most: usize) -> usize {
        let key = squeeze(&key.to_ascii_lowercase());
        if key.is_empty() {
            return 0;
        }
        memmem::find_iter(self.squeezed.as_bytes(), key.as_bytes()).take(most).count()
    }

    /// Whether a string belongs to an event.
    pub fn is_event(&self, leaf: usize) -> bool {
        self.owners
            .get(leaf)
            .copied()
            .flatten()
            .is_some_and(|owner| self.events.get(owner).is_some_and(|event| event.leaves.contains(&leaf)))
    }

    fn places(&self, hay: &str, needle: &str, most: usize) -> Vec<(usize, usize)> {
        if needle.is_empty() {
            return Vec::new();
        }
        memmem::find_iter(hay.as_bytes(), needle.as_bytes())
            .take(most)
            .map(|at| {
                let leaf = self.starts.partition_point(|&start| start <= at).saturating_sub(1);
                (leaf, at - self.starts.get(leaf).copied().unwrap_or(0))
            })
            .collect()
    }

    /// Whether `needle` stands nowhere: neither in a decoded string nor in the bytes as written.
    pub fn lacks(&self, needle: &str) -> bool {
        memmem::find(self.hay.as_bytes(), needle.as_bytes()).is_none()
            && memmem::find(&self.bytes, needle.as_bytes()).is_none()
    }

    /// The events that hold `needle`, and strings of no event that do; `None` where there are more than `most`.
    pub fn holders(&self, needle: &str, most: usize) -> Option<(BTreeSet<usize>, Vec<usize>)> {
        let hits = self.find(needle, most + 1);
        if hits.len() > most {
            return None;
        }
        let mut events = BTreeSet::new();
        let mut loose = Vec::new();
        for (leaf, _) in hits {
            match self.owners.get(leaf).copied().flatten() {
                Some(event) => {
                    events.insert(event);
                }
                None => loose.push(leaf),
            }
        }
        Some((events, loose))
    }

    /// Every string that tells what the result of a call was: its own, and those that repeat it for the screen.
    pub fn strings_of_result(&self, call: usize, result: usize) -> Vec<usize> {
        let own = self.events.get(call).map(|event| event.leaves.as_slice()).unwrap_or_default();
        let owners = self.owners.iter().enumerate();
        owners
            .filter(|(leaf, owner)| {
                **owner == Some(result)
                    || **owner == Some(call) && !own.contains(leaf) && self.text(*leaf).len() >= 4
            })
            .map(|(leaf, _)| leaf)
            .collect()
    }

    /// The only call with this id, and whether it is the only one.
    pub fn call(&self, id: &str) -> Option<usize> {
        match self.calls.get(id).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            _ => None,
        }
    }

    /// The only result with this id.
    pub fn result(&self, id: &str) -> Option<usize> {
        match self.results.get(id).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            _ => None,
        }
    }

    /// How many results have this id.
    pub fn results(&self, id: &str) -> usize {
        self.results.get(id).map_or(0, Vec::len)
    }

    /// Whether something of it cannot be read, so that a "no" or a number may rightly be withheld: records that are no
    /// JSON, a past that only a summary knows, results of calls that are not there, agents with transcripts elsewhere.
    pub fn has_holes(&self) -> bool {
        let unknown = |id: &String| id.is_empty() || !self.calls.contains_key(id);
        let orphan = self.results.keys().chain(&self.ended).any(unknown);
        let child = self.events.iter().any(|event| {
            matches!(&event.kind, Kind::Call { tool, .. } if matches!(tool.as_str(), "Task" | "Agent" | "spawn_agent"))
        });
        orphan || child || !self.unreadable.is_empty() || self.foreign_past
    }

    /// Other places of `part` of a string: in side data of the same event, and in strings that say the same.
    pub fn copies(&self, leaf: usize, part: Range<usize>) -> Vec<(usize, Range<usize>)> {
        const SHORTEST: usize = 8;
        const MOST: usize = 64;
        let whole = self.text(leaf);
        let Some(piece) = whole.get(part.clone()).filter(|piece| piece.len() >= SHORTEST) else {
            return Vec::new();
        };
        let owner = self.owners.get(leaf).copied().flatten();
        let own = |at: usize| owner.is_some() && self.owners.get(at).copied().flatten() == owner;
        let hits = self.find(piece, MOST).into_iter();
        hits.filter(|&(at, start)| (at, start) != (leaf, part.start))
            .filter(|&(at, _)| own(at) || self.text(at) == whole)
            .map(|(at, start)| (at, start..start + piece.len()))
            .collect()
    }

    /// The event at `at`.
    pub fn event(&self, at: usize) -> Option<&Event> {
        self.events.get(at)
    }

    /// Things the user said after `event`.
    pub fn turns_behind(&self, event: &Event) -> u32 {
        let last = self.events.last().map_or(0, |last| last.turn);
        last.saturating_sub(event.turn)
    }

    /// Compactions of the session after `event`.
    pub fn compactions_behind(&self, event: &Event) -> u32 {
        u32::try_from(self.boundaries.len()).unwrap_or(u32::MAX).saturating_sub(event.era)
    }
}

/// A text without the signs that join the parts of keys.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '_' | '-' | '.' | '/' | ' ')).collect()
}
