//! The findings as one page that needs nothing else: no script, no network.

use std::fmt::Write as _;

use strongroom::lost::{Compaction, Fate, Place};

use super::{Findings, Session, Sums, grouped, percent, short};

const STYLE: &str = include_str!("lost.css");

/// Writing to a string cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ write!($out, $($arg)*).ok(); }};
}

pub(super) fn render(findings: &Findings) -> String {
    let sums = Sums::of(findings.sessions.iter().flat_map(|session| &session.compactions));
    let mut out = String::new();
    put!(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>What compaction lost</title><style>{STYLE}</style><main><h1>What compaction lost</h1>"
    );
    put!(
        out,
        "<p class=\"lead\">{} compactions in {} of {} transcripts turned <b>{}</b> tokens into <b>{}</b>.</p>",
        sums.compactions,
        findings.sessions.len(),
        findings.transcripts,
        grouped(sums.tokens_before),
        grouped(sums.tokens_after),
    );
    tiles(&mut out, &sums);
    bars(&mut out, &sums);
    for session in &findings.sessions {
        one(&mut out, session);
    }
    put!(
        out,
        "<footer>Every line names the record it was read from. “Lost” means that neither the words nor an equal value \
         stand in what the agent was sent next; of a path, not even its file name.</footer></main></html>\n"
    );
    out
}

fn tiles(out: &mut String, sums: &Sums) {
    let tile = |out: &mut String, number: String, what: &str| {
        put!(out, "<div><b>{number}</b><span>{what}</span></div>");
    };
    put!(out, "<section class=\"tiles\">");
    tile(out, format!("{} / {}", sums.rules_lost, sums.rules), "standing rules of the user lost");
    tile(out, sums.rules_broken.to_string(), "rules broken after they were lost");
    tile(out, format!("{} %", percent(sums.words_lost, sums.words.max(1))), "of the user’s words lost");
    tile(out, grouped(sums.again_tokens), "tokens spent on looking things up again");
    tile(out, sums.invented.to_string(), "statements nothing bears out");
    put!(out, "</section>");
}

/// Bars need no script: their length is their style.
fn bars(out: &mut String, sums: &Sums) {
    put!(out, "<table class=\"bars\"><caption>What is left, by kind</caption>");
    let mut rows = vec![
        ("standing rules of the user", sums.rules, sums.rules - sums.rules_lost.min(sums.rules)),
        ("words of the user", sums.words, sums.words - sums.words_lost.min(sums.words)),
    ];
    rows.extend(sums.kinds.iter().map(|(kind, before, left)| (kind.words(), *before, *left)));
    for (what, before, left) in rows {
        let share = percent(left, before);
        put!(
            out,
            "<tr><th>{what}</th><td><div class=\"bar\"><i style=\"width:{share}%\"></i></div></td><td>{share} %</td>\
             <td class=\"of\">{} of {}</td></tr>",
            grouped(u64::try_from(left).unwrap_or(u64::MAX)),
            grouped(u64::try_from(before).unwrap_or(u64::MAX)),
        );
    }
    put!(out, "</table>");
}

fn one(out: &mut String, session: &Session) {
    put!(out, "<article><h2>{}</h2>", escape(&session.file));
    for compaction in &session.compactions {
        section(out, compaction);
    }
    put!(out, "</article>");
}

fn section(out: &mut String, one: &Compaction) {
    let account = one.account.words();
    put!(
        out,
        "<section><h3>{}: {} tokens became {}, {account}</h3>",
        link(&one.place),
        grouped(one.tokens_before),
        grouped(one.tokens_after),
    );
    list(
        out,
        "Rules that vanished",
        one.rules.iter().map(|rule| {
            let fate = if rule.fate == Fate::Reworded { "<em>reworded</em> " } else { "" };
            let broken: String = rule
                .broken
                .iter()
                .map(|broken| {
                    format!("<br><strong>then:</strong> {} {}", escape(&broken.what), link(&broken.place))
                })
                .collect();
            format!("{fate}<q>{}</q> {}{broken}", escape(&rule.quote), link(&rule.place))
        }),
    );
    list(
        out,
        "Said, and borne out by nothing",
        one.invented.iter().map(|found| {
            let against =
                found.against.as_ref().map_or_else(String::new, |place| format!(" — see {}", link(place)));
            let sentence = if found.text == found.sentence {
                String::new()
            } else {
                format!("<br><small>{}</small>", escape(&short(&found.sentence, 300)))
            };
            format!(
                "<q>{}</q> {}: {}{against}{sentence}",
                escape(&found.text),
                link(&found.place),
                found.why.words()
            )
        }),
    );
    gone(out, one);
    put!(out, "</section>");
}

/// What is not there any more, and what that cost.
fn gone(out: &mut String, one: &Compaction) {
    list(
        out,
        "Looked up again",
        one.again.iter().map(|again| {
            format!(
                "<code>{}</code> {} → {}, {} tokens",
                escape(&short(&again.what, 160)),
                link(&again.before),
                link(&again.after),
                grouped(again.tokens)
            )
        }),
    );
    list(
        out,
        "Words of the user that are gone",
        one.words
            .lost
            .iter()
            .map(|lost| format!("<q>{}</q> {}", escape(&short(&lost.quote, 400)), link(&lost.place))),
    );
    for tally in &one.kinds {
        let title = format!("{}: {} of {} left", tally.kind.words(), tally.left, tally.before);
        list(
            out,
            &title,
            tally.lost.iter().map(|item| {
                let needed = if item.needed { " <em>used again later</em>" } else { "" };
                format!("<code>{}</code> {}{needed}", escape(&short(&item.text, 200)), link(&item.place))
            }),
        );
    }
}

fn list(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return;
    }
    put!(
        out,
        "<details{}><summary>{} <b>{}</b></summary><ul>",
        if items.len() <= 8 { " open" } else { "" },
        escape(title),
        items.len()
    );
    for item in items {
        put!(out, "<li>{item}</li>");
    }
    put!(out, "</ul></details>");
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
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                put!(out, "\\u{{{:x}}}", u32::from(char));
            }
            control if control.is_control() => put!(out, "\\u{{{:x}}}", u32::from(control)),
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
        assert_eq!(escape("<script>\"'&\u{202e}\u{1b}"), "&lt;script&gt;&quot;&#39;&amp;\\u{202e}\\u{1b}");
        let place =
            Place { source: "/a b/\"><x".to_owned(), line: Some(3), json_pointer: None, bytes: (0, 9) };
        assert!(!link(&place).contains("><x"));
        assert!(link(&place).contains("file:///a%20b/%22%3E%3Cx"));
    }
}
