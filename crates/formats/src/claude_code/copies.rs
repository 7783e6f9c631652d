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

/// The uuid of the copy of `original` behind `boundary`.
pub(super) fn copy_id(boundary: &str, original: &str) -> String {
    derive(COPY, &[boundary.as_bytes(), original.as_bytes()])
}

/// The members of a line that a relinked copy replaces.
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
            if self.says_the_same(earlier, record)? {
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

    fn says_the_same(&self, original: &Record, copy: &Record) -> Result<bool> {
        let (original, copy) = (self.source.read(original.range)?, self.source.read(copy.range)?);
        let (mut one, mut two) = (Tape::new(), Tape::new());
        if one.scan(&original).is_err() || two.scan(&copy).is_err() {
            return Ok(false);
        }
        Ok(one.root(&original, 0).zip(two.root(&copy, 0)).is_some_and(|(one, two)| same_but_links(one, two)))
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

/// Whether two lines are equal but for their links, and for parts of strings that a view hides.
fn same_but_links(original: Value<'_>, copy: Value<'_>) -> bool {
    let members = |value: Value<'_>| -> Vec<(Vec<u8>, Vec<u8>)> {
        let own = value.entries().filter(|(key, _)| !LINK_MEMBERS.iter().any(|link| key.is(link)));
        own.map(|(key, value)| (key.raw().to_vec(), value.raw().to_vec())).collect()
    };
    members(original) == members(copy) || same_shape(original, copy)
}

/// Members whose strings tell what a line is; in a copy they stand unchanged even where text is hidden.
const IDENTITY: [&str; 6] = ["type", "role", "id", "name", "tool_use_id", "subtype"];

/// Whether two values have the same members and scalars, strings other than names and ids aside.
fn same_shape(one: Value<'_>, two: Value<'_>) -> bool {
    let mut todo = vec![(one, two, false)];
    while let Some((one, two, identity)) = todo.pop() {
        if one.kind() != two.kind() {
            return false;
        }
        match one.kind() {
            Kind::Array => {
                let (ones, twos): (Vec<_>, Vec<_>) = (one.elements().collect(), two.elements().collect());
                if ones.len() != twos.len() {
                    return false;
                }
                todo.extend(ones.into_iter().zip(twos).map(|(one, two)| (one, two, false)));
            }
            Kind::Object => {
                let kept = |value: Value<'_>| {
                    value.entries().filter(|(key, _)| !LINK_MEMBERS.iter().any(|link| key.is(link))).count()
                };
                if kept(one) != kept(two) {
                    return false;
                }
                for ((key, one), (other, two)) in one.entries().zip(two.entries()) {
                    if key.raw() != other.raw() {
                        return false;
                    }
                    if !LINK_MEMBERS.iter().any(|link| key.is(link)) {
                        todo.push((one, two, IDENTITY.iter().any(|name| key.is(name))));
                    }
                }
            }
            Kind::String if !identity => {}
            Kind::Null | Kind::True | Kind::False | Kind::Number | Kind::String => {
                if one.raw() != two.raw() {
                    return false;
                }
            }
        }
    }
    true
}
