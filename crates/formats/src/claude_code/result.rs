//! The facts of a result: how the run ended, its exit code, what the harness cut from it.

use strongroom_core::transcript::{Cut, Ending, ResultFacts, SideItem, SideKind};

use crate::json::{Kind, Value};
use crate::outcome;
use crate::part::owned;

/// A result that stands in a file of the session.
#[derive(Debug)]
pub(super) struct SideFile {
    /// The name the harness gave the file, where the side data tells it.
    name: Option<String>,
    size_bytes: Option<u64>,
}

/// Completes `facts` from the side data of a result; returns the side file that holds the full text.
pub(super) fn complete(
    facts: &mut ResultFacts,
    part: Value<'_>,
    side: Option<Value<'_>>,
) -> Option<SideFile> {
    let head = part.get("content").map(outcome::head).unwrap_or_default();
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
    side_file(facts, &head, side)
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
    if !head.starts_with(outcome::PERSISTED) {
        return None;
    }
    let call = facts.call_id.clone().filter(|call| is_plain_name(call)).unwrap_or_default();
    facts.cuts.clear();
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
