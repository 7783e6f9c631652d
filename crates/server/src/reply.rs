//! Replies: entries are added until the tokens are spent; the reply ends with the call that gets the rest.

use serde_json::{Map, Value, json};
use strongroom::answer::Citation;
use strongroom::tokens::count;

use crate::params::Args;

/// The tokens of a reply where the caller names none.
pub(crate) const TOKENS_USUAL: u64 = 2_000;

/// The fewest tokens of a reply.
pub(crate) const TOKENS_MIN: u64 = 300;

/// The most tokens of a reply.
pub(crate) const TOKENS_MAX: u64 = 20_000;

/// What is kept free for the page and the next call.
const TOKENS_TAIL: u64 = 120;

/// A quotation takes at most this part of a reply.
const QUOTE_SHARE: u64 = 3;

/// The most characters of a quotation in the short text.
const SHORT_CHARS: usize = 600;

/// What a tool gives back: the same as an object and as a short text.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) structured: Value,
    pub(crate) text: String,
}

/// One thing that was found.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The list of the object it stands in.
    pub(crate) section: &'static str,
    pub(crate) json: Value,
    pub(crate) text: String,
}

/// A reply that is being put together.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    tool: &'static str,
    args: &'a Args,
    head: Map<String, Value>,
    lines: Vec<String>,
    entries: Vec<Entry>,
}

/// What entries of a reply often share; it then stands once, beside the lists.
const SHARED: &[&str] = &["source", "session"];

impl<'a> Draft<'a> {
    pub(crate) fn new(tool: &'static str, args: &'a Args) -> Self {
        let mut head = Map::new();
        head.insert("schema".to_owned(), 1.into());
        Self { tool, args, head, lines: Vec::new(), entries: Vec::new() }
    }

    /// A field of the object; nothing where the value is empty.
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if !is_empty(&value) {
            self.head.insert(name.to_owned(), value);
        }
    }

    /// A line of the text.
    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(crate) fn entries(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.entries.extend(entries);
    }

    /// The entries from the offset on, as many as the tokens allow, and the call that gets the rest.
    pub(crate) fn finish(mut self) -> Reply {
        SHARED.iter().for_each(|name| self.share(name));
        let max = tokens_of(self.args);
        let total = self.entries.len();
        let offset = usize::try_from(self.args.count("offset", 0)).unwrap_or(usize::MAX).min(total);
        let mut spent = count(&Value::Object(self.head.clone()).to_string()).0 + TOKENS_TAIL;
        let mut shown = 0;
        let mut sections: Map<String, Value> = Map::new();
        for entry in self.entries.into_iter().skip(offset) {
            spent += count(&entry.json.to_string()).0;
            if shown > 0 && spent > max {
                break;
            }
            shown += 1;
            let list = sections.entry(entry.section).or_insert_with(|| Value::Array(Vec::new()));
            if let Some(list) = list.as_array_mut() {
                if list.is_empty() {
                    self.lines.push(format!("{}:", entry.section.replace('_', " ")));
                }
                list.push(entry.json);
            }
            self.lines.push(entry.text);
        }
        self.head.append(&mut sections);
        let end = offset + shown;
        if total > 0 {
            self.head.insert("page".to_owned(), json!({ "offset": offset, "shown": shown, "total": total }));
        }
        if end < total {
            let next = call(self.tool, &self.args.with("offset", end.into()));
            self.lines.push(format!("{} of {total} entries shown. The rest: {next}", end - offset));
            self.head.insert("next".to_owned(), next);
        }
        Reply { structured: Value::Object(self.head), text: self.lines.join("\n") }
    }
}

impl Draft<'_> {
    /// Moves a field that has one value in all entries that have it out of them.
    fn share(&mut self, name: &str) {
        let mut values = self.entries.iter().filter_map(|entry| entry.json.get(name));
        let Some(first) = values.next().cloned() else { return };
        if self.head.contains_key(name) || !values.all(|value| *value == first) {
            return;
        }
        for entry in &mut self.entries {
            if let Some(object) = entry.json.as_object_mut() {
                object.remove(name);
            }
        }
        self.head.insert(name.to_owned(), first);
    }
}

/// The tokens a reply may take.
pub(crate) fn tokens_of(args: &Args) -> u64 {
    args.count("max_tokens", TOKENS_USUAL)
}

/// A call of a tool, as it is to be made.
pub(crate) fn call(tool: &str, arguments: &Map<String, Value>) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::String(_) | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `value` without fields that say nothing.
pub(crate) fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().map(|(name, value)| (name, without_empty(value)));
            Value::Object(kept.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

/// The beginning of `text` that has at most `tokens` tokens.
pub(crate) fn cut(text: &str, tokens: u64) -> &str {
    // No token of prose or code is longer on average; the count decides.
    let mut len = usize::try_from(tokens.saturating_mul(8)).unwrap_or(usize::MAX).min(text.len());
    loop {
        len = text.floor_char_boundary(len);
        let head = text.get(..len).unwrap_or_default();
        if len == 0 || count(head).0 <= tokens {
            return head;
        }
        len = len * 3 / 4;
    }
}

/// A citation as an object: the fields of the command line's, without those that say nothing. A long quotation is
/// cut, with the call that shows all of it.
pub(crate) fn citation_json(citation: &Citation, args: &Args) -> Value {
    let quote = cut(&citation.quote, tokens_of(args) / QUOTE_SHARE);
    let (start, end) = citation.bytes;
    let mut json = without_empty(json!({
        "source": citation.source,
        "locator": citation.locator,
        "session": citation.session,
        "attribution": citation.attribution,
        "agent": citation.agent,
        "quote": quote,
        "bytes": [start, end],
        "json_pointer": citation.json_pointer,
        "pointer": citation.pointer,
        "note": citation.note,
    }));
    if let Some(object) = json.as_object_mut().filter(|_| quote.len() < citation.quote.len()) {
        let words = format!("{} of {} bytes of the quote", quote.len(), citation.quote.len());
        object.insert("cut".to_owned(), words.into());
        object.insert("rest".to_owned(), show_call(&citation.source, &citation.locator, args));
    }
    json
}

/// The call that shows a record.
pub(crate) fn show_call(source: &str, locator: &str, args: &Args) -> Value {
    let mut arguments = Map::new();
    arguments.insert("record".to_owned(), locator.into());
    arguments.insert("source".to_owned(), source.into());
    if let Some(session) = args.text("session") {
        arguments.insert("session".to_owned(), session.into());
    }
    call("evidence_show", &arguments)
}

/// A citation as text: its place and speaker, and the quotation below. Every line of the quotation is marked, so that
/// none can pass for one of ours.
pub(crate) fn citation_text(citation: &Citation) -> String {
    labelled_text(citation, "")
}

/// A citation as text, with a label behind its speaker.
pub(crate) fn labelled_text(citation: &Citation, label: &str) -> String {
    let file = citation.source.rsplit('/').next().unwrap_or_default();
    let agent = citation.agent.as_ref().map(|agent| format!(" (agent {agent})")).unwrap_or_default();
    let note = citation.note.as_ref().map(|note| format!(" [{note}]")).unwrap_or_default();
    let pointer = citation.pointer.as_ref().map(|pointer| format!(" {pointer}")).unwrap_or_default();
    let quote = short(&citation.quote).replace('\n', "\n    | ");
    let (locator, speaker) = (&citation.locator, &citation.attribution);
    format!("- {file}:{locator} {speaker}{label}{agent}{note}{pointer}\n    | {quote}")
}

/// The beginning of a longer text, marked as cut.
pub(crate) fn short(text: &str) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(SHORT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: usize) -> Entry {
        let words = format!("entry {n} {}", "word ".repeat(60));
        Entry { section: "things", json: json!({ "n": n, "words": words }), text: words }
    }

    fn args(value: &Value) -> Args {
        let params: [&crate::params::Param; 2] = [&crate::tools::OFFSET, &crate::tools::MAX_TOKENS];
        Args::read(&params, value.as_object().unwrap().clone()).unwrap()
    }

    #[test]
    fn pages_follow_one_another_without_gap_or_overlap() {
        let mut seen = Vec::new();
        let mut given = json!({ "max_tokens": 400 });
        loop {
            let args = args(&given);
            let mut draft = Draft::new("t", &args);
            draft.entries((0..23).map(entry));
            let reply = draft.finish();
            assert!(count(&reply.structured.to_string()).0 <= 400, "{}", reply.structured);
            let things = reply.structured["things"].as_array().unwrap().clone();
            seen.extend(things.iter().map(|thing| thing["n"].as_u64().unwrap()));
            if reply.structured["next"].is_null() {
                break;
            }
            given = reply.structured["next"]["arguments"].clone();
            assert!(reply.text.contains("The rest: "), "{}", reply.text);
        }
        assert_eq!(seen, (0..23).collect::<Vec<u64>>());
    }

    #[test]
    fn an_offset_behind_the_end_gives_an_empty_page() {
        let args = args(&json!({ "offset": 500 }));
        let mut draft = Draft::new("t", &args);
        draft.entries((0..3).map(entry));
        let reply = draft.finish();
        assert_eq!(reply.structured["page"], json!({ "offset": 3, "shown": 0, "total": 3 }));
    }

    #[test]
    fn what_all_entries_share_stands_once() {
        let args = args(&json!({}));
        let mut draft = Draft::new("t", &args);
        let entry = |source: &str, session: &str| Entry {
            section: "things",
            json: json!({ "source": source, "session": session }),
            text: String::new(),
        };
        draft.entries([entry("a", "s"), entry("b", "s")]);
        let reply = draft.finish().structured;
        assert_eq!((&reply["session"], &reply["source"]), (&json!("s"), &Value::Null));
        assert_eq!(reply["things"], json!([{ "source": "a" }, { "source": "b" }]));
    }

    #[test]
    fn texts_are_cut_at_characters() {
        let text = "é1 ".repeat(4_000);
        let head = cut(&text, 50);
        assert!(text.starts_with(head) && !head.is_empty() && count(head).0 <= 50);
        assert_eq!(cut("short", 50), "short");
        assert_eq!(cut("x", 0), "");
    }
}
