//! The findings on one screen.

use std::fmt::Write as _;

use strongroom::lost::{Compaction, Fate, History, Place};

use super::{Findings, Session, Share, Sums, bare, counted, grouped, short, short_name};

/// How many sessions, and items of each, one screen holds.
const SESSIONS: usize = 3;
const ITEMS: usize = 3;

/// The columns where there is no terminal.
pub(super) const WIDTH: usize = 100;

/// Narrower, nothing is readable; wider, nothing is read.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=140;

/// Writing to a string cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ writeln!($out, $($arg)*).ok(); }};
}

/// How much is shown, and how wide.
#[derive(Debug, Clone, Copy)]
struct View {
    items: usize,
    width: usize,
}

pub(super) fn render(findings: &Findings, all: bool, width: usize) -> String {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let mut out = String::new();
    if findings.sessions.is_empty() {
        put!(out, "{} read; no compaction is recorded", counted(findings.transcripts, "transcript"));
        not_read(&mut out, findings, width);
        return out;
    }
    total(&mut out, findings, width);
    let shown = if all { usize::MAX } else { SESSIONS };
    put!(out, "\nworst first");
    for session in findings.sessions.iter().take(shown) {
        one(&mut out, session, View { items: if all { usize::MAX } else { ITEMS }, width });
    }
    let more = findings.sessions.len().saturating_sub(shown);
    if more > 0 {
        put!(out, "\n{more} more sessions: --all prints them, --html PAGE shows every item with its record");
    }
    out
}

/// A paragraph, wrapped.
fn paragraph(out: &mut String, text: &str, width: usize) {
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            put!(out, "{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    put!(out, "{line}");
}

fn not_read(out: &mut String, findings: &Findings, width: usize) {
    if findings.not_read.is_empty() {
        return;
    }
    let kinds: Vec<String> =
        findings.not_read.iter().map(|(what, files)| format!("{what} ({})", files.len())).collect();
    paragraph(out, &format!("not read yet: {}", kinds.join(", ")), width);
}

fn total(out: &mut String, findings: &Findings, width: usize) {
    let sums = Sums::of(findings.compactions());
    let head = format!(
        "{} in {} of {}: {} tokens became {} ({} %)",
        counted(sums.compactions, "compaction"),
        findings.sessions.len(),
        counted(findings.transcripts, "transcript"),
        grouped(sums.tokens_before),
        grouped(sums.tokens_after),
        sums.tokens_after * 100 / sums.tokens_before.max(1),
    );
    paragraph(out, &head, width);
    for note in sums.notes() {
        paragraph(out, &note, width);
    }
    not_read(out, findings, width);
    put!(out, "\n  {:<32} {:>7} {:>7}", "", "was", "lost");
    for (what, share) in sums.shares() {
        row(out, what, share, width);
    }
    put!(out, "");
    let count = |out: &mut String, number: usize, one: &str, more: &str| {
        put!(out, "{number:>5} {}", if number == 1 { one } else { more });
    };
    count(
        out,
        sums.rules_broken,
        "rule was broken after it was lost",
        "rules were broken after they were lost",
    );
    put!(
        out,
        "{:>5} looked up again and found as before, for {} tokens",
        sums.again,
        grouped(sums.again_tokens)
    );
    count(
        out,
        sums.invented,
        "statement in a summary that nothing before bears out",
        "statements in summaries that nothing before bears out",
    );
}

fn row(out: &mut String, what: &str, share: Share, width: usize) {
    let number = |number: usize| grouped(u64::try_from(number).unwrap_or(u64::MAX));
    let (was, gone) = (number(share.was), number(share.gone));
    let (percent, bar) = match share.percent() {
        Some(percent) => (format!("{percent} %"), bar(percent, width.saturating_sub(60).clamp(10, 40))),
        None => (String::new(), String::new()),
    };
    put!(out, "{}", format!("  {what:<32} {was:>7} {gone:>7} {percent:>5} {bar}").trim_end());
}

/// Percent as cells: one for each begun.
fn bar(percent: usize, cells: usize) -> String {
    let full = (percent * cells).div_ceil(100).min(cells);
    format!("{}{}", "█".repeat(full), "·".repeat(cells - full))
}

fn one(out: &mut String, session: &Session, view: View) {
    put!(out, "\n  {}", short(&short_name(&session.file), view.width - 2));
    for compaction in &session.compactions {
        heading(out, compaction, view.width);
        listed(out, compaction, view);
    }
}

fn heading(out: &mut String, one: &Compaction, width: usize) {
    let place = at(&one.place).map_or_else(String::new, |at| format!("{at}: "));
    let body = if one.history == History::Elsewhere {
        String::new()
    } else {
        format!("{} tokens became {}, ", grouped(one.tokens_before), grouped(one.tokens_after))
    };
    let history = one.history.words();
    let history = if history.is_empty() { String::new() } else { format!("; {history}") };
    let text = format!("{place}{body}{}{history}", one.account.words());
    put!(out, "  {}", short(&text, width - 2));
}

/// Where something stands in its file: the line, or the pointer in a document.
fn at(place: &Place) -> Option<String> {
    place.line.map(|line| format!("line {line}")).or_else(|| place.json_pointer.clone())
}

/// One item: what it is, the text, where it stands.
fn item(out: &mut String, what: &str, text: &str, place: Option<&Place>, width: usize) {
    let at = place.and_then(at).map_or_else(String::new, |at| format!("  {at}"));
    let room = width.saturating_sub(4 + 16 + at.len());
    put!(out, "    {what:<15} {}{at}", short(text, room));
}

fn listed(out: &mut String, one: &Compaction, view: View) {
    let gone = one.rules.iter().filter(|rule| rule.fate == Fate::Lost || !rule.broken.is_empty());
    for rule in gone.take(view.items) {
        item(out, "rule lost", &format!("“{}”", rule.quote), Some(&rule.place), view.width);
        for broken in rule.broken.iter().take(view.items) {
            item(out, "  and then", &broken.what, Some(&broken.place), view.width);
        }
    }
    for found in one.invented.iter().take(view.items) {
        let text = format!("“{}”", bare(&found.text));
        item(out, "not borne out", &text, Some(&found.place), view.width);
        item(out, "", found.why.words(), found.against.as_ref(), view.width);
    }
    for lost in one.words.lost.iter().take(view.items) {
        item(out, "words lost", &format!("“{}”", lost.quote), Some(&lost.place), view.width);
    }
    for again in one.again.iter().take(view.items) {
        let text = format!("{} ({} tokens)", again.what, grouped(again.tokens));
        item(out, "read again", &text, Some(&again.after), view.width);
    }
    for tally in &one.kinds {
        for lost in tally.lost.iter().filter(|lost| lost.needed).take(view.items.min(1)) {
            item(out, "used again", &lost.text, Some(&lost.place), view.width);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_within_the_width() {
        let mut out = String::new();
        item(&mut out, "rule lost", &"é".repeat(300), None, 80);
        paragraph(&mut out, &"word ".repeat(60), 80);
        row(&mut out, "hashes, versions, ids", Share { was: 12_345, gone: 12_344 }, 80);
        assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
        assert_eq!(bar(1, 10), "█·········");
        assert_eq!(bar(100, 10), "██████████");
        assert_eq!(Share { was: 1000, gone: 1 }.percent(), Some(1));
        assert_eq!(Share { was: 1000, gone: 999 }.percent(), Some(99));
        assert_eq!(Share { was: 3, gone: 3 }.percent(), Some(100));
        assert_eq!(Share::default().percent(), None);
    }
}
