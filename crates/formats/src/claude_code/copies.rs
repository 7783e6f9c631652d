//! Which lines are renditions of earlier ones: replayed lines, our own relinked copies, queued prompts.

use std::collections::{HashMap, VecDeque};

use strongroom_core::error::Result;
use strongroom_core::transcript::{BlockRef, Bytes, Finding, Level, Record};

use super::read::{Link, Prompt, Reader, Role};
use crate::ids::{derive, is_derived};
use crate::json::{Kind, Tape, Value};
use crate::part::finding;

/// The domain under which the ids of copies are derived.
const COPY: &str = "strongroom/claude-code/copy";

/// The domain under which the ids of copied messages are derived.
const COPY_MESSAGE: &str = "strongroom/claude-code/copy-message";

/// The uuid of the copy of `original` behind `boundary`.
pub(super) fn copy_id(boundary: &str, original: &str) -> String {
    derive(COPY, &[boundary.as_bytes(), original.as_bytes()])
}

/// The id of the API message that the copy of a line of `original` belongs to behind `boundary`.
///
/// The agent gathers all lines with the id of a message that it loads, wherever they stand in the file. A copy that
/// kept the id would bring back the lines before the boundary.
pub(super) fn copy_message_id(boundary: &str, original: &str) -> String {
    derive(COPY_MESSAGE, &[boundary.as_bytes(), original.as_bytes()])
}

/// The members of a line that a relinked copy replaces; with them goes the id of the message.
pub(super) const LINK_MEMBERS: [&str; 5] =
    ["uuid", "parentUuid", "sessionId", "sourceToolAssistantUUID", "logicalParentUuid"];

/// Sets `copy_of` of all blocks; returns what was found.
///
/// # Errors
/// As [`Bytes::read`].
pub(super) fn resolve(source: &dyn Bytes, records: &mut [Record], reader: &Reader) -> Result<Vec<Finding>> {
    let mut finder = Finder { source, findings: Vec::new(), originals: vec![None; records.len()] };
    finder.replayed(records, &reader.links)?;
    finder.relinked(records, &reader.links)?;
    finder.prompts(records, &reader.queued, &reader.delivered);
    let Finder { findings, originals, .. } = finder;
    for at in 0..records.len() {
        if let Some(original) = root(&originals, at) {
            mark(records, at, original);
        }
    }
    Ok(findings)
}

struct Finder<'s> {
    source: &'s dyn Bytes,
    findings: Vec<Finding>,
    originals: Vec<Option<usize>>,
}

/// The first of a row of copies.
fn root(originals: &[Option<usize>], at: usize) -> Option<usize> {
    let mut original = originals.get(at).copied().flatten()?;
    while let Some(earlier) = originals.get(original).copied().flatten() {
        original = earlier;
    }
    Some(original)
}

/// Copies point at earlier lines only, so that following them ends.
fn mark(records: &mut [Record], at: usize, original: usize) {
    let Some(count) = records.get(original).map(|record| record.blocks.len()) else { return };
    let Ok(number) = u32::try_from(original) else { return };
    let Some(copy) = records.get_mut(at).filter(|_| original < at) else { return };
    for (block, n) in copy.blocks.iter_mut().zip(0u32..).take(count) {
        block.copy_of = Some(BlockRef { record: number, block: n });
    }
}

impl Finder<'_> {
    fn set(&mut self, at: usize, original: usize) {
        if let Some(slot) = self.originals.get_mut(at).filter(|_| original < at) {
            *slot = Some(original);
        }
    }

    fn note(&mut self, level: Level, code: &'static str, record: &Record, message: String) {
        self.findings.push(finding(level, code, record.line, "", message));
    }

    /// Same uuid and same bytes: one line, written again. Same uuid and other bytes is a conflict.
    fn replayed(&mut self, records: &[Record], links: &[Link]) -> Result<()> {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (at, (record, link)) in records.iter().zip(links).enumerate() {
            let Some(id) = record.id.as_deref().filter(|_| link.role != Role::None) else { continue };
            let Some(&original) = first.get(id) else {
                first.insert(id, at);
                continue;
            };
            let Some(earlier) = records.get(original) else { continue };
            let same = self.source.read(earlier.range)? == self.source.read(record.range)?;
            let line = earlier.line.unwrap_or_default();
            if same {
                self.note(
                    Level::Note,
                    "duplicate-record",
                    record,
                    format!("the record of line {line} written again"),
                );
                self.set(at, original);
            } else {
                let message = format!("the uuid of line {line} with other content; both are kept");
                self.note(Level::Warning, "uuid-conflict", record, message);
            }
        }
        Ok(())
    }

    /// Lines behind a boundary with a derived uuid, whose own uuid is derived from that boundary's and an earlier
    /// line's, and which say the same.
    fn relinked(&mut self, records: &[Record], links: &[Link]) -> Result<()> {
        let mut boundary: Option<(&str, usize)> = None;
        let mut copies: HashMap<String, usize> = HashMap::new();
        let mut derived_for: Option<usize> = None;
        for (at, (record, link)) in records.iter().zip(links).enumerate() {
            let Some(id) = record.id.as_deref().filter(|id| is_derived(id) && link.role != Role::None) else {
                continue;
            };
            if link.role == Role::Boundary {
                boundary = Some((id, at));
                continue;
            }
            let Some((name, behind)) = boundary else { continue };
            if derived_for != Some(behind) {
                copies = self.candidates(records, behind, name);
                derived_for = Some(behind);
            }
            let Some(&original) = copies.get(id) else { continue };
            let Some(earlier) = records.get(original) else { continue };
            if self.says_the_same(earlier, record, name)? {
                self.set(at, original);
            } else {
                let line = earlier.line.unwrap_or_default();
                self.note(
                    Level::Warning,
                    "copy-conflict",
                    record,
                    format!("a copy of line {line} that says something else"),
                );
            }
        }
        Ok(())
    }

    fn candidates(&self, records: &[Record], before: usize, boundary: &str) -> HashMap<String, usize> {
        let originals =
            records.iter().take(before).enumerate().filter(|(at, _)| self.originals.get(*at) == Some(&None));
        originals.filter_map(|(at, record)| Some((copy_id(boundary, record.id.as_deref()?), at))).collect()
    }

    fn says_the_same(&self, original: &Record, copy: &Record, boundary: &str) -> Result<bool> {
        let (original, copy) = (self.source.read(original.range)?, self.source.read(copy.range)?);
        let (mut one, mut two) = (Tape::new(), Tape::new());
        if one.scan(&original).is_err() || two.scan(&copy).is_err() {
            return Ok(false);
        }
        Ok(one
            .root(&original, 0)
            .zip(two.root(&copy, 0))
            .is_some_and(|(one, two)| same_but_links(one, two, boundary)))
    }

    /// A prompt queued while the agent worked is delivered later as a line of its own.
    fn prompts(&mut self, records: &[Record], queued: &[Prompt], delivered: &[Prompt]) {
        let mut waiting: HashMap<(Option<&str>, &str), VecDeque<usize>> = HashMap::new();
        let mut queued = queued.iter().peekable();
        let session = |at: usize| records.get(at).and_then(|record| record.session.as_deref());
        for prompt in delivered {
            while let Some(earlier) = queued.next_if(|earlier| earlier.record < prompt.record) {
                let at = usize::try_from(earlier.record).unwrap_or(usize::MAX);
                waiting.entry((session(at), earlier.text.as_str())).or_default().push_back(at);
            }
            let at = usize::try_from(prompt.record).unwrap_or(usize::MAX);
            if self.originals.get(at) != Some(&None) {
                continue;
            }
            let key = (session(at), prompt.text.as_str());
            if let Some(original) = waiting.get_mut(&key).and_then(VecDeque::pop_front) {
                self.set(at, original);
            }
        }
    }
}

/// What a value is in a line, and so what may differ in a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The line itself.
    Line,
    /// Its `message`.
    Message,
    /// The id of the message, which in a copy is derived.
    MessageId,
    /// A string that tells what a line is; it stands unchanged even where text is hidden.
    Identity,
    /// Anything else: strings may differ, where a view hides a part of them.
    Other,
}

impl Part {
    /// What the member `key` is.
    fn member(self, key: Value<'_>) -> Self {
        match self {
            Self::Line if key.is("message") => Self::Message,
            Self::Message if key.is("id") => Self::MessageId,
            _ if IDENTITY.iter().any(|name| key.is(name)) => Self::Identity,
            _ => Self::Other,
        }
    }
}

/// Members whose strings tell what a line is.
const IDENTITY: [&str; 6] = ["type", "role", "id", "name", "tool_use_id", "subtype"];

/// Whether the line `copy` is `original` but for its links behind `boundary` and for parts of strings that a view
/// hides: the same members and scalars, the same names and ids.
fn same_but_links(original: Value<'_>, copy: Value<'_>, boundary: &str) -> bool {
    let mut todo = vec![(original, copy, Part::Line)];
    while let Some((one, two, part)) = todo.pop() {
        let same = one.kind() == two.kind()
            && match one.kind() {
                Kind::Array => same_elements(one, two, &mut todo),
                Kind::Object => same_members(one, two, part, &mut todo),
                Kind::String => same_string(one, two, part, boundary),
                Kind::Null | Kind::True | Kind::False | Kind::Number => one.raw() == two.raw(),
            };
        if !same {
            return false;
        }
    }
    true
}

/// Pairs of values that are still to be compared.
type Pairs<'v> = Vec<(Value<'v>, Value<'v>, Part)>;

fn same_elements<'v>(one: Value<'v>, two: Value<'v>, todo: &mut Pairs<'v>) -> bool {
    let before = todo.len();
    todo.extend(one.elements().zip(two.elements()).map(|(one, two)| (one, two, Part::Other)));
    let pairs = todo.len() - before;
    one.elements().count() == pairs && two.elements().count() == pairs
}

fn same_members<'v>(one: Value<'v>, two: Value<'v>, part: Part, todo: &mut Pairs<'v>) -> bool {
    let is_link = |key: Value<'_>| LINK_MEMBERS.iter().any(|link| key.is(link));
    let mut ones = one.entries().filter(|(key, _)| !is_link(*key));
    let mut twos = two.entries().filter(|(key, _)| !is_link(*key));
    loop {
        match (ones.next(), twos.next()) {
            (None, None) => return true,
            (Some((key, one)), Some((other, two))) if key.raw() == other.raw() => {
                todo.push((one, two, part.member(key)));
            }
            _ => return false,
        }
    }
}

fn same_string(one: Value<'_>, two: Value<'_>, part: Part, boundary: &str) -> bool {
    match part {
        Part::Line | Part::Message | Part::Identity => one.raw() == two.raw(),
        Part::MessageId => one.string().is_some_and(|id| two.is(&copy_message_id(boundary, &id))),
        Part::Other => true,
    }
}
