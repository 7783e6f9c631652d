//! The facts of a result: how the run ended, its exit code, what the harness cut from it.

use memchr::memmem;
use strongroom_core::transcript::{Cut, Ending, ResultFacts, SideItem, SideKind};

use crate::json::{self, Kind, Value};
use crate::part::{content_texts, digits_before, owned};

/// A result that stands in a file of the session.
#[derive(Debug)]
pub(super) struct SideFile {
    /// The name the harness gave the file, where the side data tells it.
    name: Option<String>,
    size_bytes: Option<u64>,
}

/// How much of a text is looked at for the words that the harness puts in front.
const HEAD_BYTES: usize = 400;

/// Words in front of a failed result and what they say.
const ENDINGS: [(&str, Ending); 5] = [
    ("The user doesn't want to proceed with this tool use", Ending::Refused),
    ("The user doesn't want to take this action right now", Ending::Refused),
    ("Permission to use ", Ending::Refused),
    ("Claude requested permissions to ", Ending::Refused),
    ("[Request interrupted by user", Ending::Interrupted),
];

/// Completes `facts` from the result and its side data; returns the side file that holds the full text.
///
/// Words of the harness count only where its error flag stands: without the flag the text is the tool's own.
pub(super) fn complete(
    facts: &mut ResultFacts,
    part: Value<'_>,
    side: Option<Value<'_>>,
) -> Option<SideFile> {
    let content = part.get("content");
    let raw = content.map(Value::raw).unwrap_or_default();
    let head = content.map(head).unwrap_or_default();
    if facts.error == Some(true) {
        failed(facts, &head, raw);
    }
    if let Some(side) = side.filter(|side| side.kind() == Kind::Object) {
        from_side_data(facts, side);
    }
    if let Some(id) = head
        .strip_prefix("Command running in background with ID: ")
        .filter(|_| facts.ending == Ending::Returned)
    {
        let id = id.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        facts.ending = Ending::Background(id.to_owned());
    }
    for mark in [" characters truncated]", " lines truncated]", " tokens truncated"] {
        if let Some(number) = digits_before(raw, mark) {
            facts.cuts.push(Cut::Truncated(format!("{number}{}", mark.trim_end_matches(']'))));
        }
    }
    side_file(facts, &head, side)
}

fn head(content: Value<'_>) -> String {
    let first = content_texts(content).first().copied();
    let offset = first.and_then(|text| usize::try_from(text.range.start() - content.range().start()).ok());
    let length =
        first.and_then(|text| usize::try_from(text.range.len()).ok()).unwrap_or_default().min(HEAD_BYTES);
    let inside = offset.and_then(|offset| content.raw().get(offset..offset + length)).unwrap_or_default();
    json::decode(inside).into_owned()
}

fn failed(facts: &mut ResultFacts, head: &str, raw: &[u8]) {
    if let Some((_, ending)) = ENDINGS.iter().find(|(words, _)| head.starts_with(words)) {
        facts.ending = ending.clone();
    }
    if let Some(rest) = head.strip_prefix("Exit code ") {
        let digits = rest.split(|c: char| !c.is_ascii_digit() && c != '-').next().unwrap_or_default();
        facts.exit_code = digits.parse().ok();
        if memmem::find(raw, b"Command timed out after ").is_some() {
            facts.ending = Ending::TimedOut;
        }
    }
    if head.starts_with("Command timed out") {
        facts.ending = Ending::TimedOut;
    }
    if facts.ending == Ending::Returned && memmem::find(raw, b"[Request interrupted by user").is_some() {
        facts.ending = Ending::Interrupted;
    }
}

fn from_side_data(facts: &mut ResultFacts, side: Value<'_>) {
    let flag = |key: &str| side.get(key).and_then(Value::bool) == Some(true);
    let number = |keys: &[&str]| side.path(keys).and_then(Value::integer);
    if flag("interrupted") && facts.ending == Ending::Returned {
        facts.ending = Ending::Interrupted;
    }
    let background =
        owned(side, "backgroundTaskId").or_else(|| owned(side, "agentId").filter(|_| flag("isAsync")));
    if let Some(id) = background {
        facts.ending = Ending::Background(id);
    }
    if let Some(code) = number(&["task", "exitCode"]).and_then(|code| i32::try_from(code).ok()) {
        facts.exit_code = Some(code);
    }
    if flag("truncated") {
        facts.cuts.push(Cut::Truncated("the list of matches is cut".to_owned()));
    }
    if let Some(limit) = number(&["appliedLimit"]) {
        facts.cuts.push(Cut::Truncated(format!("only the first {limit} matches are shown")));
    }
}

fn side_file(facts: &mut ResultFacts, head: &str, side: Option<Value<'_>>) -> Option<SideFile> {
    let name = side.and_then(|side| side.string_at("persistedOutputPath")).and_then(|path| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        is_plain_name(name).then(|| name.to_owned())
    });
    if !head.starts_with("<persisted-output>") {
        return None;
    }
    let call = facts.call_id.clone().filter(|call| is_plain_name(call)).unwrap_or_default();
    facts.cuts.push(Cut::SideFile(format!(
        "tool-results/{}",
        name.clone().unwrap_or_else(|| format!("{call}.txt"))
    )));
    let size = side.and_then(|side| side.get("persistedOutputSize")).and_then(Value::integer);
    Some(SideFile { name, size_bytes: size.and_then(|size| u64::try_from(size).ok()) })
}

/// The side item of a moved result. Its places are made of ids of the envelope, below the session's directory;
/// a path that stands in the text is not followed.
pub(super) fn side_item(
    session: Option<&str>,
    call: Option<&str>,
    file: &SideFile,
    record: u32,
) -> Option<SideItem> {
    let call = call.filter(|call| is_plain_name(call))?;
    let mut names = vec![format!("{call}.txt"), format!("{call}.json")];
    names.extend(file.name.clone());
    names.dedup();
    let session =
        session.filter(|session| is_plain_name(session)).map(|session| format!("{session}/tool-results"));
    let directories: Vec<String> = session.into_iter().chain(["tool-results".to_owned()]).collect();
    let places = directories
        .iter()
        .flat_map(|directory| names.iter().map(move |name| format!("{directory}/{name}")))
        .collect();
    let kind = SideKind::Output { call_id: call.to_owned(), size_bytes: file.size_bytes };
    Some(SideItem { kind, places, record: Some(record) })
}

/// Whether `name` can be one component of a path and nothing else.
pub(super) fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 128 && !name.starts_with('.') && name.bytes().all(plain)
}
