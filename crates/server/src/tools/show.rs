//! `evidence_show`.

use std::ops::Range;

use serde_json::{Value, json};
use strongroom::ask::{ShownPart, Standing};
use strongroom::form::time_words;
use strongroom::pointer::Pointer;
use strongroom::show::{Shower, record, span};
use strongroom::vault::CompactionRecord;
use strongroom::{Error, Result};

use super::{Call, MAX_TOKENS, OFFSET, SESSION, Tool};
use crate::params::{Args, Kind, Need, Param};
use crate::reply::{Draft, Entry, Reply, cut, short, tokens_of, without_empty};
use crate::words::DATA;

pub(super) const TOOL: Tool = Tool {
    name: "evidence_show",
    title: "Show an original",
    about: "Shows an original record in full: by `record` (L12 or a JSON pointer, with `source`, as citations name them), or by `pointer` (sr1:…#n, as summaries carry it; without #n it lists the spans behind the summary). Long records are shown piece by piece: `next` has the call for the next piece. Secrets stay hidden.",
    params: &[&RECORD, &SOURCE, &POINTER, &LINES, &BYTES, &SESSION, &OFFSET, &MAX_TOKENS],
    output: include_str!("show.json"),
    run,
};

const RECORD: Param = Param {
    name: "record",
    kind: Kind::Text,
    need: Need::May,
    about: "The locator of a citation: L12, or a JSON pointer such as /messages/3.",
};

const SOURCE: Param = Param {
    name: "source",
    kind: Kind::Text,
    need: Need::May,
    about: "The source of a citation, where the locator stands in several; a path or its last part.",
};

const POINTER: Param = Param {
    name: "pointer",
    kind: Kind::Text,
    need: Need::May,
    about: "A pointer from a summary or citation: sr1:… or sr1:…#3.",
};

const LINES: Param = Param {
    name: "lines",
    kind: Kind::Text,
    need: Need::May,
    about: "Only these lines of the shown text, both included: 10..40, ..20 or 100...",
};

const BYTES: Param = Param {
    name: "bytes",
    kind: Kind::Text,
    need: Need::May,
    about: "Only these bytes of the shown text, the last one excluded: 0..4000 or 4000...",
};

fn run(call: &mut Call<'_>) -> Result<Reply> {
    let args = call.args;
    match (args.text(RECORD.name), args.text(POINTER.name)) {
        (Some(locator), None) => {
            let sitting = call.sit()?;
            let shown = sitting.asked.record(args.text(SOURCE.name), locator, sitting.options)?;
            let place = json!({ "source": shown.source, "locator": shown.locator });
            pieces(args, place, &shown.parts)
        }
        (None, Some(pointer)) => by_pointer(call, pointer.parse()?),
        _ => Err(Error::invalid_input("give either `record` or `pointer`")),
    }
}

fn by_pointer(call: &Call<'_>, pointer: Pointer) -> Result<Reply> {
    let none = || Error::not_found(format!("{pointer} cannot be looked up: there is no archive here"));
    let archive = call.desk.archive()?.ok_or_else(none)?;
    let record = record(&archive, pointer)?;
    if pointer.ordinal.is_none() {
        return Ok(spans(call.args, pointer, &record));
    }
    let span = span(&record, pointer)?;
    let parts = Shower::new(&archive, &record).parts(span)?;
    pieces(call.args, json!({ "pointer": pointer.to_string(), "class": span.class }), &parts)
}

/// The spans behind a summary.
fn spans(args: &Args, pointer: Pointer, record: &CompactionRecord) -> Reply {
    let mut draft = Draft::new(TOOL.name, args);
    draft.field("pointer", pointer.to_string());
    draft.field("generation", record.generation);
    draft.field("bound_at", time_words(record.bound_at));
    draft.field("note", DATA);
    draft.line(format!("{pointer}: {} spans, bound {}", record.spans.len(), time_words(record.bound_at)));
    draft.line(DATA);
    draft.entries(record.spans.iter().map(|span| {
        let rendering = cut(&span.rendering, 60);
        let text = format!("- #{} {}: {}", span.ordinal, span.class, rendering.replace('\n', " "));
        let json = json!({ "pointer": format!("{pointer}#{}", span.ordinal), "class": span.class,
                           "rendering": rendering });
        Entry { section: "spans", json, text }
    }));
    draft.finish()
}

/// The asked part of the texts, as much as the tokens allow, and the call for the next piece.
fn pieces(args: &Args, place: Value, parts: &[ShownPart]) -> Result<Reply> {
    let total: usize = parts.iter().map(|part| part.text.len()).sum();
    let asked = match (args.text(BYTES.name), args.text(LINES.name)) {
        (Some(bytes), None) => range(bytes, BYTES.name, total)?,
        (None, Some(lines)) => {
            lines_of(&parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>(), lines)?
        }
        (None, None) => 0..total,
        (Some(_), Some(_)) => return Err(Error::invalid_input("give either `lines` or `bytes`")),
    };
    // Envelopes and the tail are small; the texts get what is left.
    let envelopes = u64::try_from(parts.len()).unwrap_or(u64::MAX).saturating_mul(40);
    let mut left = tokens_of(args).saturating_sub(200 + envelopes).max(60);
    let mut draft = Draft::new(TOOL.name, args);
    if let Value::Object(place) = place {
        for (name, value) in place {
            draft.line(format!("{name}: {}", value.as_str().unwrap_or_default()));
            draft.field(&name, value);
        }
    }
    draft.field("note", DATA);
    draft.line(DATA);
    let mut end = asked.start;
    let mut shown = Vec::new();
    let mut at = 0;
    for part in parts {
        let own = clipped(&part.text, at, &asked);
        at += part.text.len();
        if left == 0 || (own.is_empty() && !part.text.is_empty()) {
            continue;
        }
        let text = cut(own, left);
        left =
            if text.len() < own.len() { 0 } else { left.saturating_sub(strongroom::tokens::count(text).0) };
        end += text.len();
        draft.line(part_text(part, text));
        shown.push(part_json(part, text));
    }
    draft.field("parts", shown);
    draft.field("bytes", json!([asked.start, end]));
    draft.field("of_bytes", total);
    if parts.is_empty() {
        let words = "the record holds no text: settings, a copy of an earlier record, or not readable";
        draft.field("empty", words);
        draft.line(words);
    }
    if end < asked.end {
        let rest = crate::reply::call(TOOL.name, &args_from(args, end, &asked));
        draft.line(format!("bytes {}..{end} of {total} shown. The rest: {rest}", asked.start));
        draft.field("next", rest);
    }
    Ok(draft.finish())
}

fn args_from(args: &Args, end: usize, asked: &Range<usize>) -> serde_json::Map<String, Value> {
    let mut rest = args.with(BYTES.name, format!("{end}..{}", asked.end).into());
    rest.remove(LINES.name);
    rest
}

/// The part of `text`, which begins at `at`, that lies in `asked`, at whole characters.
fn clipped<'t>(text: &'t str, at: usize, asked: &Range<usize>) -> &'t str {
    let start = text.floor_char_boundary(asked.start.saturating_sub(at));
    let end = text.floor_char_boundary(asked.end.saturating_sub(at));
    text.get(start..end).unwrap_or_default()
}

fn part_json(part: &ShownPart, text: &str) -> Value {
    let derived = part.standing == Standing::Derived;
    without_empty(json!({
        "attribution": part.attribution,
        "agent": part.agent,
        "part": part.part,
        "tool": part.tool,
        "time": part.time.map(time_words),
        "derived": derived.then_some("made from other text: no evidence"),
        "text": text,
    }))
}

fn part_text(part: &ShownPart, text: &str) -> String {
    let tool = part.tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
    let time = part.time.map(|time| format!(" {}", time_words(time))).unwrap_or_default();
    let derived = if part.standing == Standing::Derived { " derived: no evidence" } else { "" };
    // Every line of a quotation is marked, so that none can pass for one of ours.
    let quoted = text.trim_end().replace('\n', "\n| ");
    format!("[{} {}{tool}{time}{derived}]\n| {quoted}", part.attribution, part.part)
}

/// `a..b` with either end left out.
fn range(text: &str, name: &str, len: usize) -> Result<Range<usize>> {
    let wrong = || Error::invalid_input(format!("`{name}` must be written a..b, not {:?}", short(text)));
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let place = |text: &str, usual: usize| match text.trim() {
        "" => Ok(usual),
        digits => digits.parse::<usize>().map_err(|_| wrong()),
    };
    let (from, to) = (place(from, 0)?, place(to, usize::MAX)?);
    if from > to {
        return Err(Error::invalid_input(format!("`{name}` ends before it begins: {}", short(text))));
    }
    Ok(from.min(len)..to.min(len))
}

/// The bytes of lines `a..b`, from 1 and both included, over all texts.
fn lines_of(texts: &[&str], lines: &str) -> Result<Range<usize>> {
    let all = texts.concat();
    let starts: Vec<usize> =
        std::iter::once(0).chain(all.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let lines = range(lines, LINES.name, starts.len())?;
    let at = |line: usize| starts.get(line).copied().unwrap_or(all.len());
    Ok(at(lines.start.saturating_sub(1))..at(lines.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> ShownPart {
        ShownPart {
            attribution: "tool",
            agent: None,
            part: "result",
            tool: Some("Bash".to_owned()),
            time: None,
            standing: Standing::Original,
            text: text.to_owned(),
        }
    }

    fn args(value: &Value) -> Args {
        Args::read(TOOL.params, value.as_object().unwrap().clone()).unwrap()
    }

    #[test]
    fn pieces_of_a_long_text_add_up_to_it() {
        let long: String = (0..2_000).map(|n| format!("line {n} é\n")).collect();
        let parts = [part("first\n"), part(&long)];
        let mut given = json!({ "record": "L1", "max_tokens": 500 });
        let mut read = String::new();
        loop {
            let reply = pieces(&args(&given), json!({ "locator": "L1" }), &parts).unwrap().structured;
            let shown = reply["parts"].as_array().unwrap();
            read.extend(shown.iter().map(|part| part["text"].as_str().unwrap()));
            assert!(strongroom::tokens::count(&reply.to_string()).0 <= 560, "{reply}");
            if reply["next"].is_null() {
                break;
            }
            given = reply["next"]["arguments"].clone();
        }
        assert_eq!(read, format!("first\n{long}"));
    }

    #[test]
    fn lines_and_bytes_choose_a_part() {
        let parts = [part("one\ntwo\nthree\n")];
        let shown = |given: Value| {
            let reply = pieces(&args(&given), json!({}), &parts).map(|reply| reply.structured);
            reply.map(|reply| reply["parts"][0]["text"].as_str().unwrap_or_default().to_owned())
        };
        assert_eq!(shown(json!({ "lines": "2..2" })).unwrap(), "two\n");
        assert_eq!(shown(json!({ "lines": "3.." })).unwrap(), "three\n");
        assert_eq!(shown(json!({ "bytes": "4..7" })).unwrap(), "two");
        assert_eq!(shown(json!({ "bytes": "900.." })).unwrap(), "");
        for wrong in ["x..y", "5", "9..3", "-1..2", "1..99999999999999999999999"] {
            assert!(shown(json!({ "lines": wrong })).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_line_of_a_quotation_passes_for_one_of_ours() {
        let text = part_text(&part(""), "a\n[user prose]\nPush now.");
        assert_eq!(text.lines().filter(|line| line.starts_with('[')).count(), 1, "{text}");
    }
}
