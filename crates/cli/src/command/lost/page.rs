//! The findings as one page that needs nothing else: no script, no network, fit for paper.

use std::fmt::Write as _;

use strongroom::lost::{Compaction, Fate, History, Invented, LostRule, Place};

use super::{Findings, Session, Share, Sums, bare, counted, grouped, short, short_name};
use crate::out::is_hidden;

const STYLE: &str = include_str!("lost.css");

/// How many rules, and statements that nothing bears out, the first part of the page quotes.
const FIRST_MAX: usize = 8;

/// Writing to a string cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ write!($out, $($arg)*).ok(); }};
}

pub(super) fn render(findings: &Findings) -> String {
    let sums = Sums::of(findings.compactions());
    let mut out = String::new();
    put!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>What compaction lost</title>\
         <style>{STYLE}</style></head><body><main>"
    );
    head(&mut out, findings, &sums);
    tiles(&mut out, &sums);
    bars(&mut out, &sums);
    vanished(&mut out, findings);
    unfounded(&mut out, findings);
    put!(out, "<section><h2>Sessions, the worst first</h2>");
    for session in &findings.sessions {
        one(&mut out, session);
    }
    put!(out, "</section>");
    foot(&mut out, findings);
    put!(out, "</main></body></html>\n");
    out
}

fn number(number: usize) -> String {
    grouped(u64::try_from(number).unwrap_or(u64::MAX))
}

fn head(out: &mut String, findings: &Findings, sums: &Sums) {
    put!(
        out,
        "<header><h1>What compaction lost</h1><p class=\"lead\">{} in {} of {} turned \
         <b>{}</b> tokens into <b>{}</b>.</p>",
        counted(sums.compactions, "compaction"),
        findings.sessions.len(),
        counted(findings.transcripts, "transcript"),
        grouped(sums.tokens_before),
        grouped(sums.tokens_after),
    );
    let notes = sums.notes();
    if !notes.is_empty() {
        put!(out, "<ul class=\"notes\">");
        for note in notes {
            put!(out, "<li>{}</li>", escape(&note));
        }
        put!(out, "</ul>");
    }
    put!(out, "</header>");
}

fn tiles(out: &mut String, sums: &Sums) {
    let tile = |out: &mut String, figure: String, of: String, what: &str, bad: bool| {
        let class = if bad { "bad" } else { "calm" };
        put!(out, "<li class=\"{class}\"><b>{figure}</b>{of} <span>{what}</span></li>");
    };
    let of = |whole: usize| format!("<i>of {}</i>", number(whole));
    put!(out, "<section aria-label=\"Headline figures\"><ul class=\"tiles\">");
    tile(
        out,
        number(sums.rules.gone),
        of(sums.rules.was),
        "rules the user set are gone",
        sums.rules.gone > 0,
    );
    tile(
        out,
        number(sums.rules_broken),
        String::new(),
        "rules broken after they were lost",
        sums.rules_broken > 0,
    );
    tile(
        out,
        number(sums.words.gone),
        of(sums.words.was),
        "words the user typed are gone",
        sums.words.gone > 0,
    );
    tile(
        out,
        grouped(sums.again_tokens),
        String::new(),
        "tokens spent to look up again what was known",
        sums.again_tokens > 0,
    );
    tile(
        out,
        number(sums.invented),
        String::new(),
        "statements that nothing before bears out",
        sums.invented > 0,
    );
    put!(out, "</ul></section>");
}

/// Bars need no script: their length is their style, and the figures stand beside them.
fn bars(out: &mut String, sums: &Sums) {
    put!(
        out,
        "<section><h2>Lost, by kind</h2><table class=\"bars\"><thead><tr><th scope=\"col\">what</th>\
         <td></td><th scope=\"col\">lost</th><th scope=\"col\">of</th></tr></thead><tbody>"
    );
    for (what, share) in sums.shares() {
        bar(out, what, share);
    }
    put!(out, "</tbody></table></section>");
}

fn bar(out: &mut String, what: &str, share: Share) {
    let percent = share.percent();
    let shown = percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent} %"));
    put!(
        out,
        "<tr><th scope=\"row\">{what}</th><td><div class=\"bar\" aria-hidden=\"true\"><i style=\"width:{}%\"></i></div></td>\
         <td><b>{}</b> <span>{shown}</span></td><td>{}</td></tr>",
        percent.unwrap_or(0),
        number(share.gone),
        number(share.was),
    );
}

/// The rules that are gone, of all sessions, those first that were broken.
fn vanished(out: &mut String, findings: &Findings) {
    let rules =
        |one: &'_ Compaction| one.rules.iter().filter(|rule| is_gone(rule)).cloned().collect::<Vec<_>>();
    let mut all: Vec<(&Session, LostRule)> = Vec::new();
    for session in &findings.sessions {
        all.extend(session.compactions.iter().flat_map(rules).map(|rule| (session, rule)));
    }
    all.sort_by_key(|(_, rule)| rule.broken.is_empty());
    put!(out, "<section><h2>Rules that vanished</h2>");
    if all.is_empty() {
        put!(
            out,
            "<p class=\"none\">None: every rule that the user set still stands, as said or in other words.</p>"
        );
    }
    for (session, rule) in all.iter().take(FIRST_MAX) {
        put!(out, "<figure class=\"rule\"><blockquote>{}</blockquote>", escape(&rule.quote));
        put!(out, "<figcaption>{}, {}</figcaption>", escape(&short_name(&session.file)), link(&rule.place));
        for broken in &rule.broken {
            put!(
                out,
                "<p class=\"then\"><b>and then</b> <code>{}</code> {}</p>",
                escape(&short(&broken.what, 200)),
                link(&broken.place)
            );
        }
        put!(out, "</figure>");
    }
    more(out, all.len());
    put!(out, "</section>");
}

fn is_gone(rule: &LostRule) -> bool {
    rule.fate == Fate::Lost || !rule.broken.is_empty()
}

fn more(out: &mut String, all: usize) {
    let rest = all.saturating_sub(FIRST_MAX);
    if rest > 0 {
        put!(out, "<p class=\"none\">{rest} more stand with their sessions below.</p>");
    }
}

fn unfounded(out: &mut String, findings: &Findings) {
    let mut all: Vec<(&Session, &Invented)> = Vec::new();
    for session in &findings.sessions {
        all.extend(session.compactions.iter().flat_map(|one| &one.invented).map(|found| (session, found)));
    }
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(_, found)| found.why);
    put!(out, "<section><h2>Said, and borne out by nothing</h2>");
    for (session, found) in all.iter().take(FIRST_MAX) {
        put!(
            out,
            "<figure class=\"said\"><blockquote>{}</blockquote><figcaption><b>{}</b>{} — {}, {}</figcaption></figure>",
            sentence(found),
            found.why.words(),
            against(found),
            escape(&short_name(&session.file)),
            link(&found.place),
        );
    }
    more(out, all.len());
    put!(out, "</section>");
}

fn against(found: &Invented) -> String {
    found.against.as_ref().map_or_else(String::new, |place| format!(": see {}", link(place)))
}

/// The sentence, and in it the words that are meant.
fn sentence(found: &Invented) -> String {
    let shown = short(bare(&found.sentence), 400);
    match shown.split_once(&found.text).filter(|_| found.text != found.sentence) {
        Some((before, behind)) => {
            format!("{}<mark>{}</mark>{}", escape(before), escape(&found.text), escape(behind))
        }
        None => escape(&shown),
    }
}

fn one(out: &mut String, session: &Session) {
    put!(
        out,
        "<article><h3>{}</h3><p class=\"path\">{}</p>",
        escape(&short_name(&session.file)),
        escape(&session.file)
    );
    for compaction in &session.compactions {
        section(out, compaction);
    }
    put!(out, "</article>");
}

fn section(out: &mut String, one: &Compaction) {
    put!(out, "<section class=\"one\"><h4>{}: ", link(&one.place));
    if one.history != History::Elsewhere {
        put!(out, "{} tokens became {}, ", grouped(one.tokens_before), grouped(one.tokens_after));
    }
    put!(out, "{}", one.account.words());
    if one.history != History::Whole {
        put!(out, "; {}", one.history.words());
    }
    put!(out, "</h4>");
    rules(out, one);
    invented(out, one);
    gone(out, one);
    put!(out, "</section>");
}

fn rules(out: &mut String, one: &Compaction) {
    list(
        out,
        "Rules of the user that do not stand as they were said",
        one.rules.iter().map(|rule| {
            let fate = if rule.fate == Fate::Reworded { "<em>perhaps reworded</em> " } else { "" };
            let then = |broken: &strongroom::lost::Broken| {
                format!(
                    "<p class=\"then\"><b>and then</b> <code>{}</code> {}</p>{}",
                    escape(&short(&broken.what, 200)),
                    link(&broken.place),
                    record(&broken.place)
                )
            };
            let broken: String = rule.broken.iter().map(then).collect();
            format!(
                "{fate}<q>{}</q> {}{}{broken}",
                escape(&rule.quote),
                link(&rule.place),
                record(&rule.place)
            )
        }),
    );
}

fn invented(out: &mut String, one: &Compaction) {
    list(
        out,
        "Said, and borne out by nothing",
        one.invented.iter().map(|found| {
            format!(
                "<b>{}</b>{}: <q>{}</q> {}{}{}",
                found.why.words(),
                against(found),
                sentence(found),
                link(&found.place),
                record(&found.place),
                found.against.as_ref().map(record).unwrap_or_default(),
            )
        }),
    );
}

/// What is not there any more, and what that cost.
fn gone(out: &mut String, one: &Compaction) {
    list(
        out,
        "Looked up again, and found as before",
        one.again.iter().map(|again| {
            format!(
                "<code>{}</code> {} and again {}, {} tokens{}",
                escape(&short(&again.what, 160)),
                link(&again.before),
                link(&again.after),
                grouped(again.tokens),
                record(&again.after),
            )
        }),
    );
    list(
        out,
        "Words of the user that are gone",
        one.words.lost.iter().map(|lost| {
            format!(
                "<q>{}</q> {}{}",
                escape(&short(&lost.quote, 400)),
                link(&lost.place),
                record(&lost.place)
            )
        }),
    );
    for tally in &one.kinds {
        let gone = tally.before - tally.left;
        let listed =
            if tally.lost.len() < gone { format!(", {} listed", tally.lost.len()) } else { String::new() };
        let title = format!("{}: {gone} of {} gone{listed}", tally.kind.words(), tally.before);
        list(
            out,
            &title,
            tally.lost.iter().map(|item| {
                let needed = if item.needed { " <em>used again later</em>" } else { "" };
                format!(
                    "<code>{}</code> {}{needed}{}",
                    escape(&short(&item.text, 200)),
                    link(&item.place),
                    record(&item.place)
                )
            }),
        );
    }
}

fn list(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return;
    }
    put!(out, "<details><summary>{} <b>{}</b></summary><ul>", escape(title), items.len());
    for item in items {
        put!(out, "<li>{item}</li>");
    }
    put!(out, "</ul></details>");
}

/// What stands in the record, around what is spoken of.
fn record(place: &Place) -> String {
    if place.excerpt.is_empty() {
        return String::new();
    }
    let (start, end) = place.bytes;
    format!(
        "<details class=\"record\"><summary>the record</summary><p>bytes {}–{} of {}</p><pre>{}</pre></details>",
        grouped(start),
        grouped(end),
        escape(&place.source),
        escape_lines(&place.excerpt)
    )
}

fn foot(out: &mut String, findings: &Findings) {
    put!(out, "<footer><h2>How to read this</h2>");
    if !findings.not_read.is_empty() {
        let kinds: Vec<String> =
            findings.not_read.iter().map(|(what, files)| format!("{what} ({})", files.len())).collect();
        put!(out, "<p>Of formats that are not read yet: {}.</p>", escape(&kinds.join(", ")));
    }
    put!(
        out,
        "<p>“Lost” means that neither the words nor an equal value stand in what the agent was sent next: of a path not \
         even its file name, of a hash not even its first seven digits, of a command not even most of its words. What may \
         have been kept in other words is not called lost. “Borne out by nothing” means that it stands in no earlier \
         record of the session, in no spelling. Secrets are hidden. Every line names the record it was read from; \
         browsers open the file at its beginning.</p></footer>"
    );
}

/// A link to the record: browsers open the file, and the text names the line.
fn link(place: &Place) -> String {
    let at = match (place.line, &place.json_pointer) {
        (Some(line), _) => format!("line {line}"),
        (None, Some(pointer)) => pointer.clone(),
        (None, None) => format!("bytes {}–{}", place.bytes.0, place.bytes.1),
    };
    let url: String = place
        .source
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    let title = format!("{} bytes {}..{}", place.source, place.bytes.0, place.bytes.1);
    format!("<a href=\"file://{url}\" title=\"{}\">{}</a>", escape(&title), escape(&at))
}

/// Text of a transcript is data: nothing in it may become markup, and invisible characters are shown.
fn escape(text: &str) -> String {
    escape_lines(text).replace(['\n', '\t'], " ")
}

/// As [`escape`], with lines and tabs as they are.
fn escape_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            hidden if is_hidden(hidden) => put!(out, "\\u{{{:x}}}", u32::from(hidden)),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        assert_eq!(escape("<script>\"'&\u{202e}\u{1b}\n"), "&lt;script&gt;&quot;&#39;&amp;\\u{202e}\\u{1b} ");
        let place = Place {
            source: "/a b/\"><x".to_owned(),
            line: Some(3),
            json_pointer: None,
            bytes: (0, 9),
            excerpt: "<b>\n".to_owned(),
        };
        assert!(!link(&place).contains("><x"));
        assert!(link(&place).contains("file:///a%20b/%22%3E%3Cx"));
        assert!(record(&place).contains("<pre>&lt;b&gt;\n</pre>"));
    }
}
