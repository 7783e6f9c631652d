//! The findings on one screen.

use std::fmt::Write as _;

use strongroom::lost::{Account, Compaction, Fate};

use super::{Findings, Session, Sums, grouped, percent, short};

/// How many sessions, and items of each, one screen holds.
const SESSIONS: usize = 3;
const ITEMS: usize = 3;
const WIDTH: usize = 96;

/// Writing to a string cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ writeln!($out, $($arg)*).ok(); }};
}

pub(super) fn render(findings: &Findings, all: bool) -> String {
    let mut out = String::new();
    if findings.sessions.is_empty() {
        put!(out, "{} transcripts read; none holds a compaction", findings.transcripts);
        return out;
    }
    let sums = Sums::of(findings.sessions.iter().flat_map(|session| &session.compactions));
    total(&mut out, findings, &sums);
    let shown = if all { usize::MAX } else { SESSIONS };
    for session in findings.sessions.iter().take(shown) {
        one(&mut out, session, if all { usize::MAX } else { ITEMS });
    }
    let more = findings.sessions.len().saturating_sub(shown);
    if more > 0 {
        put!(out, "\n{more} more sessions: --all prints them, --html PAGE shows everything with its records");
    }
    out
}

fn total(out: &mut String, findings: &Findings, sums: &Sums) {
    put!(
        out,
        "{} compactions in {} of {} transcripts: {} tokens became {} ({} %)",
        sums.compactions,
        findings.sessions.len(),
        findings.transcripts,
        grouped(sums.tokens_before),
        grouped(sums.tokens_after),
        sums.tokens_after * 100 / sums.tokens_before.max(1),
    );
    if sums.sealed > 0 {
        put!(out, "{} of the summaries are sealed: what they hold cannot be read", sums.sealed);
    }
    put!(out, "");
    let row = |out: &mut String, lost: usize, of: usize, what: &str| {
        put!(out, "{:>7} of {:<7} {:>3} % {} {what}", lost, of, percent(lost, of.max(1)), bar(lost, of));
    };
    put!(out, "   lost");
    row(out, sums.rules_lost, sums.rules, "standing rules of the user");
    row(out, sums.words_lost, sums.words, "words of the user");
    for (kind, before, left) in &sums.kinds {
        row(out, before - left, *before, kind.words());
    }
    put!(out, "");
    put!(out, "{:>7} rules were broken after they were lost", sums.rules_broken);
    put!(out, "{:>7} things were looked up again, for {} tokens", sums.again, grouped(sums.again_tokens));
    put!(out, "{:>7} statements of summaries that nothing before them bears out", sums.invented);
}

/// Twenty cells.
fn bar(part: usize, whole: usize) -> String {
    let full = part * 20 / whole.max(1);
    format!("{}{}", "█".repeat(full), "·".repeat(20 - full.min(20)))
}

fn one(out: &mut String, session: &Session, items: usize) {
    put!(out, "\n{}", session.file);
    for compaction in &session.compactions {
        heading(out, compaction);
        listed(out, compaction, items);
    }
}

fn heading(out: &mut String, one: &Compaction) {
    let account = match one.account {
        Account::Readable => String::new(),
        other => format!("; in their place {}", other.words()),
    };
    let place = one.place.line.map_or_else(String::new, |line| format!("line {line}: "));
    put!(out, "  {place}{} tokens became {}{account}", grouped(one.tokens_before), grouped(one.tokens_after));
}

fn listed(out: &mut String, one: &Compaction, items: usize) {
    let at = |place: &strongroom::lost::Place| {
        place.line.map_or_else(String::new, |line| format!(" (line {line})"))
    };
    for rule in one.rules.iter().filter(|rule| rule.fate == Fate::Lost || !rule.broken.is_empty()).take(items)
    {
        put!(out, "    rule lost      “{}”{}", short(&rule.quote, WIDTH), at(&rule.place));
        for broken in rule.broken.iter().take(items) {
            put!(out, "      then         {}{}", short(&broken.what, WIDTH), at(&broken.place));
        }
    }
    for found in one.invented.iter().take(items) {
        put!(out, "    not borne out  “{}”: {}", short(&found.text, WIDTH - 40), found.why.words());
    }
    for again in one.again.iter().take(items) {
        let cost = grouped(again.tokens);
        put!(
            out,
            "    read again     {} for {cost} tokens{}",
            short(&again.what, WIDTH - 30),
            at(&again.after)
        );
    }
    for tally in &one.kinds {
        for item in tally.lost.iter().filter(|item| item.needed).take(1) {
            put!(out, "    used again     {}{}", short(&item.text, WIDTH), at(&item.place));
        }
    }
}
