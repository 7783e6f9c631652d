//! The thin index over the original bytes: records, blocks, who speaks, what was found wrong.
//!
//! An adapter fills these types; everything else reads them. They hold kinds, ids, ranges and facts of the
//! envelope, never bodies: text is decoded from the bytes when it is needed.

use std::collections::BTreeSet;

use std::borrow::Cow;
use std::fmt;

use crate::error::Result;
use crate::range::ByteRange;
use crate::time::Timestamp;

/// The bytes of one item, read by range.
pub trait Bytes {
    /// The number of bytes.
    fn len(&self) -> u64;

    /// The bytes in `range`.
    ///
    /// # Errors
    /// `InvalidInput` when `range` ends behind the last byte, `Unavailable` when reading fails.
    fn read(&self, range: ByteRange) -> Result<Cow<'_, [u8]>>;

    /// Whether there is no byte.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Bytes for [u8] {
    fn len(&self) -> u64 {
        u64::try_from(<[u8]>::len(self)).unwrap_or(u64::MAX)
    }

    fn read(&self, range: ByteRange) -> Result<Cow<'_, [u8]>> {
        let missing = || {
            crate::error::Error::invalid_input(format!(
                "bytes {range:?} lie outside a source of {} bytes",
                self.len()
            ))
        };
        range.of(self).map(Cow::Borrowed).ok_or_else(missing)
    }
}

impl Bytes for Vec<u8> {
    fn len(&self) -> u64 {
        Bytes::len(self.as_slice())
    }

    fn read(&self, range: ByteRange) -> Result<Cow<'_, [u8]>> {
        self.as_slice().read(range)
    }
}

/// Who is speaking, taken from the envelope and never from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speaker {
    /// The person. In a child transcript the role "user" is the agent that spawned it: see [`Speaker::Agent`].
    User,
    /// System or developer messages and project instructions.
    Operator,
    /// The model.
    Assistant,
    /// What a tool returned.
    Tool,
    /// The program around the model: reminders, notices, progress.
    Harness,
    /// Another agent, e.g. the parent that prompts a child.
    Agent,
    /// Text made from other text: summaries. Never evidence.
    Derived,
    /// Not known.
    Unknown,
}

impl Speaker {
    /// The word for this speaker in queries, JSON and summaries.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operator => "operator",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Harness => "harness",
            Self::Agent => "agent",
            Self::Derived => "derived",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where the text of a JSON string, or plain text, stands in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextRange {
    /// The bytes of the text. For [`Encoding::Json`] and [`Encoding::JsonInJson`] they lie inside
    /// one string literal, without its quotes.
    pub range: ByteRange,
    /// How the bytes spell the text.
    pub encoding: Encoding,
}

/// How bytes spell a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Plain UTF-8.
    Plain,
    /// The inside of a JSON string literal, with escapes.
    Json,
    /// The inside of a string literal of a JSON text that is itself spelled inside a JSON string literal.
    JsonInJson,
    /// Lines of JSON, of which each has a piece of the text as a string at this path of keys; a line without one holds
    /// none, and what stands before a line's first brace is passed over.
    Pieces(&'static [&'static str]),
}

/// A record of a source: one line, message or row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The 1-based physical line (split at LF only), where the source has lines.
    pub line: Option<u32>,
    /// The JSON pointer of the record inside its item: empty for a line, `/messages/3` for a message.
    pub pointer: String,
    /// The record's bytes, without line end or separator.
    pub range: ByteRange,
    /// What the record is.
    pub kind: RecordKind,
    /// The adapter's own name for it, e.g. `progress/bash_progress`.
    pub label: String,
    /// The record's own id in the source, e.g. a `uuid`.
    pub id: Option<String>,
    /// The id of the API message it is part of.
    pub message_id: Option<String>,
    /// When it was written, as recorded.
    pub time: Option<Timestamp>,
    /// The working directory the envelope names.
    pub cwd: Option<String>,
    /// The session id the envelope names.
    pub session: Option<String>,
    /// The child agent the envelope names; `None` is the main agent.
    pub agent: Option<String>,
    /// Whether it lies on the path the agent would load.
    pub branch: Branch,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// An utterance, call or result.
    Message,
    /// Settings, titles, progress, usage: understood, and nobody's words.
    Meta,
    /// A compaction boundary that stands in the transcript.
    Boundary,
    /// Readable, of a kind this adapter does not know.
    Unknown,
    /// Not readable: not JSON, cut off, over a limit.
    Opaque,
}

/// Whether a record lies on the path the agent would load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Branch {
    /// On the path, or the format has no branches.
    Active,
    /// Left by a rewind or fork: still evidence of what was done.
    Abandoned,
}

/// Whether the agent would send a block with its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// It would be sent.
    Context,
    /// It was once part of the conversation: before a compaction, or abandoned.
    Past,
    /// It is never sent: side data, progress, copies for a user interface.
    Aside,
}

/// Names a block: index of the record and of the block in it, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockRef {
    /// Index into [`SourceIndex::records`].
    pub record: u32,
    /// Index into [`Record::blocks`].
    pub block: u32,
}

/// A part of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is, with the facts of its envelope.
    pub kind: BlockKind,
    /// Its bytes: a JSON value, or a part of a string literal where one text was split.
    pub range: ByteRange,
    /// Its JSON pointer inside the record, e.g. `/message/content/0`.
    pub pointer: String,
    /// Who speaks.
    pub speaker: Speaker,
    /// Whether the agent would send it.
    pub visibility: Visibility,
    /// The earlier block that this one is a copy of (streamed copy, UI twin, replay), by a rule of the adapter.
    pub copy_of: Option<BlockRef>,
    /// Where its text stands; the parts joined with a line feed are the text.
    pub text: Vec<TextRange>,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Prose.
    Text,
    /// A paste, log or file inside a user's message, attributed to the user and reclaimable.
    Paste,
    /// Reasoning; sealed reasoning has no text.
    Thinking,
    /// A tool call.
    Call(CallFacts),
    /// What a tool returned.
    Result(ResultFacts),
    /// Data about a result that the model does not see, e.g. `toolUseResult`.
    SideData {
        /// The call it belongs to.
        call_id: Option<String>,
    },
    /// An image or file by value.
    Attachment {
        /// The media type, as recorded.
        media_type: String,
    },
    /// A summary that the envelope marks as one.
    Summary,
    /// Not understood, or sealed, with the reason.
    Opaque(String),
}

/// The facts of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFacts {
    /// The id that pairs it with its result, as recorded.
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// Where its arguments stand.
    pub arguments: Arguments,
}

/// Where the arguments of a call stand and how they are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arguments {
    /// A JSON value.
    Json(ByteRange),
    /// A JSON text inside a string literal; the range is the inside of the literal.
    JsonInString(ByteRange),
    /// A JSON text inside a string literal of a JSON text that is itself inside a string literal; the range is the
    /// inside of the inner one.
    JsonInJson(ByteRange),
    /// A JSON text in pieces, as of [`Encoding::Pieces`].
    Pieces(ByteRange, &'static [&'static str]),
    /// Free text inside a string literal; the range is the inside of the literal.
    Text(ByteRange),
    /// Free text of a file that is itself text.
    Plain(ByteRange),
    /// None recorded.
    Missing,
}

impl Arguments {
    /// Their text and how its bytes spell it: a JSON text, or free text; `None` where none are recorded.
    pub const fn text(self) -> Option<TextRange> {
        let (range, encoding) = match self {
            Self::Json(range) | Self::Plain(range) => (range, Encoding::Plain),
            Self::JsonInString(range) | Self::Text(range) => (range, Encoding::Json),
            Self::JsonInJson(range) => (range, Encoding::JsonInJson),
            Self::Pieces(range, path) => (range, Encoding::Pieces(path)),
            Self::Missing => return None,
        };
        Some(TextRange { range, encoding })
    }
}

/// The facts of a result, as the harness recorded them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultFacts {
    /// The call it answers.
    pub call_id: Option<String>,
    /// The harness's error flag, where it has one.
    pub error: Option<bool>,
    /// The exit code of a command, where it is recorded.
    pub exit_code: Option<i32>,
    /// How the run ended.
    pub ending: Ending,
    /// What the harness cut from it or stored elsewhere.
    pub cuts: Vec<Cut>,
}

/// How the run behind a result ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ending {
    /// It returned.
    #[default]
    Returned,
    /// The user or a policy refused it: it did not run.
    Refused,
    /// It was stopped while it ran.
    Interrupted,
    /// It ran into its time limit.
    TimedOut,
    /// It goes on in the background under this id.
    Background(String),
}

/// A part of a result that is not in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// Cut by the harness; the text says how much.
    Truncated(String),
    /// Replaced by a placeholder.
    Placeholder(String),
    /// Stored in a side file of this session, named relative to the session's directory.
    SideFile(String),
}

/// Something wrong or notable in content; never an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// A stable code, e.g. `torn-record`.
    pub code: &'static str,
    /// The 1-based physical line, where there is one.
    pub line: Option<u32>,
    /// The JSON pointer, where there is one.
    pub pointer: String,
    /// What was found, lower case, naming the thing and the reason.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Something was read in a tolerant way.
    Warning,
    /// Something could not be read.
    Damage,
}

/// Bytes that belong to no span: line ends, separators, brackets. Text, calls and results never lie here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Framing {
    /// The bytes.
    pub range: ByteRange,
    /// What they are.
    pub name: &'static str,
}

/// A file of the same session, at a place that the adapter derived from the envelope or the session's directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SideItem {
    /// What it is.
    pub kind: SideKind,
    /// Places to look, relative to the directory of the main item, with `/`; the first that exists counts.
    pub places: Vec<String>,
    /// The index of the record that leads to it, where one does.
    pub record: Option<u32>,
}

/// What a side item is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideKind {
    /// The transcript of one child agent.
    Child {
        /// The agent's id.
        agent: String,
    },
    /// A directory in which every `agent-*.jsonl` is a child transcript.
    ChildDirectory,
    /// The full output of a call.
    Output {
        /// The call's id.
        call_id: String,
        /// The size the envelope names, in bytes, when it does.
        size_bytes: Option<u64>,
    },
}

/// How the compacted form of a format is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Session logs: a boundary, the summary and relinked copies are appended; earlier lines stay. Spans of
    /// one record move together.
    Fold,
    /// Request bodies: shells stay, contents are replaced, the summary is one message.
    Elide,
    /// Nothing is ever written back, because of what this says: the end of a sentence.
    ReadOnly(&'static str),
}

/// Token counts the transcript reports for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Index of the record that carries it.
    pub record: u32,
    /// Tokens of the whole context of that request: input, cache reads and cache writes.
    pub context_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Tokens of the context that were read from a cache.
    pub cached_tokens: u64,
}

/// Everything an adapter knows of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceIndex {
    /// The adapter's name, e.g. `claude-code`.
    pub format: &'static str,
    /// How its compacted form is made.
    pub form: Form,
    /// The number of bytes of the item.
    pub len: u64,
    /// The records, in order of their bytes.
    pub records: Vec<Record>,
    /// Bytes outside every record.
    pub framing: Vec<Framing>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Files that belong to the session.
    pub side_items: Vec<SideItem>,
    /// Token counts reported by the transcript, in order, each API message once.
    pub usage: Vec<Usage>,
    /// Names of tools of which a list of tools in the source says that they change something.
    pub changing_tools: BTreeSet<String>,
}

impl SourceIndex {
    /// The block `at`, if the index has it.
    pub fn block(&self, at: BlockRef) -> Option<&Block> {
        self.record(at)?.blocks.get(usize::try_from(at.block).ok()?)
    }

    /// The record that holds the block `at`.
    pub fn record(&self, at: BlockRef) -> Option<&Record> {
        self.records.get(usize::try_from(at.record).ok()?)
    }

    /// All blocks with their places, in order.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockRef, &Block)> {
        self.records.iter().zip(0u32..).flat_map(|(record, at)| {
            record.blocks.iter().zip(0u32..).map(move |(block, n)| (BlockRef { record: at, block: n }, block))
        })
    }
}

/// A decoded argument: a scalar at a place in the argument tree of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The JSON pointer inside the arguments, e.g. `/edits/0/old_string`; empty for free text.
    pub pointer: String,
    /// The decoded scalar.
    pub value: Scalar,
    /// The bytes that spell it, in the source; of a string the inside of its literal, of a JSON text inside a
    /// string the whole inside of that string.
    pub range: ByteRange,
}

/// A decoded JSON scalar. Numbers keep their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    /// `null`, or an empty list or object.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number as written.
    Number(String),
    /// A decoded string.
    String(String),
}

/// The arguments of a call, flattened to scalars in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArgumentTree {
    /// The scalars.
    pub leaves: Vec<Argument>,
    /// Whether the arguments could be read as what they claim to be.
    pub malformed: bool,
}

impl ArgumentTree {
    /// The string at `pointer`.
    pub fn string(&self, pointer: &str) -> Option<&str> {
        self.leaves.iter().find(|leaf| leaf.pointer == pointer).and_then(|leaf| match &leaf.value {
            Scalar::String(text) | Scalar::Number(text) => Some(text.as_str()),
            Scalar::Null | Scalar::Bool(_) => None,
        })
    }

    /// The strings of the list at `pointer`, in order.
    pub fn strings(&self, pointer: &str) -> Vec<&str> {
        let inside = |leaf: &&Argument| {
            leaf.pointer
                .strip_prefix(pointer)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        self.leaves
            .iter()
            .filter(inside)
            .filter_map(|leaf| match &leaf.value {
                Scalar::String(text) => Some(text.as_str()),
                Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => None,
            })
            .collect()
    }

    /// The truth value at `pointer`.
    pub fn flag(&self, pointer: &str) -> Option<bool> {
        self.leaves.iter().find(|leaf| leaf.pointer == pointer).and_then(|leaf| match leaf.value {
            Scalar::Bool(value) => Some(value),
            Scalar::Null | Scalar::Number(_) | Scalar::String(_) => None,
        })
    }
}
