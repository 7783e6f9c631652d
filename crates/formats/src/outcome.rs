//! How a run ended, from the words that harnesses put in front of a result, and what they cut from it.

use memchr::memmem;
use strongroom_core::transcript::{Cut, Ending, ResultFacts};

use crate::json::{self, Value};
use crate::part::{content_texts, digits_before};

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

/// Words behind the number of units that were cut.
const CUT_MARKS: [&str; 4] =
    [" characters truncated]", " lines truncated]", " tokens truncated", " chars truncated"];

/// What harnesses and editors of context leave where a result stood: Claude Code and `OpenCode`, `LangChain`.
const PLACEHOLDERS: [&str; 3] =
    ["[Old tool result content cleared]", "[Old tool result content cleared to save context]", "[cleared]"];

/// What the harness puts in front of a preview whose full text it moved into a file.
pub(crate) const PERSISTED: &str = "<persisted-output>";

/// The decoded start of the first text of a content.
pub(crate) fn head(content: Value<'_>) -> String {
    let first = content_texts(content).first().copied();
    let offset = first.and_then(|text| usize::try_from(text.range.start() - content.range().start()).ok());
    let length =
        first.and_then(|text| usize::try_from(text.range.len()).ok()).unwrap_or_default().min(HEAD_BYTES);
    let inside = offset.and_then(|offset| content.raw().get(offset..offset + length)).unwrap_or_default();
    json::decode(inside).into_owned()
}

/// Completes the facts of a result in the API's form from its content.
///
/// Words of the harness count only where its error flag stands: without the flag the text is the tool's own.
pub(crate) fn complete(facts: &mut ResultFacts, content: Value<'_>) {
    let head = head(content);
    if facts.error == Some(true) {
        failed(facts, &head, content.raw());
    }
    facts.cuts.extend(cuts(content));
    if head.starts_with(PERSISTED) {
        facts.cuts.push(Cut::Truncated("only a preview of the output".to_owned()));
    }
}

fn failed(facts: &mut ResultFacts, head: &str, raw: &[u8]) {
    if let Some((_, ending)) = ENDINGS.iter().find(|(words, _)| head.starts_with(words)) {
        facts.ending = ending.clone();
    }
    if let Some(rest) = head.strip_prefix("Exit code ") {
        facts.exit_code = leading_number(rest);
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

/// The number at the start of a text.
pub(crate) fn leading_number(text: &str) -> Option<i32> {
    text.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
}

/// The cuts that marks in the raw text of a result name.
pub(crate) fn cuts(content: Value<'_>) -> Vec<Cut> {
    let head = head(content);
    if PLACEHOLDERS.contains(&head.trim()) {
        return vec![Cut::Placeholder(format!("the result was replaced by {}", head.trim()))];
    }
    let cut = |mark: &str| {
        let number = digits_before(content.raw(), mark)?;
        Some(Cut::Truncated(format!("{number}{}", mark.trim_end_matches(']'))))
    };
    CUT_MARKS.into_iter().filter_map(cut).collect()
}
