//! The report: one table that is read in ten seconds, and what stands behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::budget::Share;
use crate::corpus::Header;
use crate::product;
use crate::question::Family;
use crate::reply::{Condition, Wording};
use crate::tally::{Cost, Group, Rate, Row, Tallies, exact_of_target};
use crate::tokens::TOKENIZER;

/// Everything a report is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Which questions were put.
    pub header: Header,
    /// Questions.
    pub questions: usize,
    /// Transcripts they are about.
    pub transcripts: usize,
    /// Projects those belong to.
    pub projects: usize,
    /// What came of it.
    pub tallies: Tallies,
}

/// Where and when a run was made; nothing of it is looked up.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// The date.
    pub date: String,
    /// The machine.
    pub machine: String,
    /// The commit.
    pub commit: String,
    /// The name of the plot's file beside the report.
    pub plot: String,
    /// What else is to be known of the run, as a paragraph; may be empty.
    pub note: String,
}

/// A share in percent; nothing but all of them is 100.
fn percent(rate: &Rate) -> String {
    match rate.share() * 100.0 {
        _ if rate.of == 0 => "–".to_owned(),
        share if rate.hits < rate.of => format!("{:.1} %", share.min(99.9)),
        share => format!("{share:.1} %"),
    }
}

/// A share in percent with its interval.
fn interval(rate: &Rate) -> String {
    if rate.of == 0 {
        return "–".to_owned();
    }
    format!("{} [{:.1}–{:.1}]", percent(rate), rate.low * 100.0, rate.high * 100.0)
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first % 3 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn ms(micros: u64) -> String {
    format!("{}.{}", thousands(micros / 1_000), micros % 1_000 / 100)
}

fn name(answerer: &str, budget: Option<Share>) -> String {
    budget.map_or_else(|| answerer.to_owned(), |budget| format!("{answerer}, {budget}"))
}

impl Scores {
    /// The replies to typed questions of one compactor under one condition.
    pub(crate) fn row(&self, answerer: &str, budget: Option<Share>, condition: Condition) -> Option<&Row> {
        let same = |group: &Group| {
            group.answerer == answerer
                && group.budget == budget
                && group.condition == condition
                && group.wording == Wording::Typed
        };
        self.tallies.rows.iter().find(|(group, _)| same(group)).map(|(_, row)| row)
    }

    /// The report as Markdown.
    pub fn markdown(&self, made: &Made) -> String {
        let mut out = String::from("# EvidenceBench\n\n");
        self.preamble(made, &mut out);
        self.compactors(&mut out);
        self.conditions(&mut out);
        self.families(&mut out);
        self.strata(&mut out);
        self.decays(&mut out);
        self.costs(&mut out);
        out.push_str(READING);
        out
    }

    fn preamble(&self, made: &Made, out: &mut String) {
        let header = &self.header;
        push(
            out,
            &format!(
                "{} questions about {} transcripts of {} projects. Run on {}, {}, commit {}. Generator {}, seed SHA-256 `{}`, corpus SHA-256 `{}`. Tokens are counted by `{TOKENIZER}`.\n",
                thousands(u64::try_from(self.questions).unwrap_or(u64::MAX)),
                self.transcripts,
                self.projects,
                made.date,
                made.machine,
                made.commit,
                header.generator,
                header.seed_sha256,
                header.corpus_sha256
            ),
        );
        if !made.note.is_empty() {
            push(out, &format!("{}\n", made.note));
        }
        push(out, &format!("![Exact answers against tokens kept]({})\n", made.plot));
    }

    /// The table: what each compactor keeps, and what can still be answered.
    fn compactors(&self, out: &mut String) {
        out.push_str("## After a compaction\n\n");
        out.push_str("| compactor | transcripts | tokens kept | exact from the context alone | exact with retrieval | silent errors with retrieval | tokens per retrieved answer |\n");
        out.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
        for (answerer, budget, cost) in &self.tallies.costs {
            let context = self.row(answerer, *budget, Condition::Context);
            let retrieval = self.row(answerer, *budget, Condition::Retrieval);
            let exact = |row: Option<&Row>| row.map_or_else(|| "–".to_owned(), |row| percent(&row.exact));
            let silent = retrieval.map_or_else(
                || "–".to_owned(),
                |row| format!("{} of {}", thousands(row.silent.hits), thousands(row.silent.of)),
            );
            let tokens = retrieval
                .filter(|row| row.replies > 0)
                .map_or_else(|| "–".to_owned(), |row| thousands(row.tokens / row.replies));
            push(
                out,
                &format!(
                    "| {} | {} | {} | {} | {} | {silent} | {tokens} |",
                    name(answerer, *budget),
                    cost.compactions,
                    percent(&cost.kept),
                    exact(context),
                    exact(retrieval)
                ),
            );
        }
        out.push('\n');
    }

    fn conditions(&self, out: &mut String) {
        out.push_str("## Strongroom under each condition\n\n");
        out.push_str("| condition | questions | exact, F1–F7 | exact, all | silent errors | transcripts with one | twins refused or corrected | true absences withheld | not understood | answer, mean ms |\n");
        out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
        for (group, row) in self.tallies.rows.iter().filter(|(group, _)| is_asked(group)) {
            let put = group.wording.words();
            push(
                out,
                &format!(
                    "| {}{put} | {} | {} | {} | {} ({}) | {} of {} ({}) | {} | {} | {} | {} |",
                    name(group.condition.words(), group.budget),
                    thousands(row.replies),
                    percent(&exact_of_target(row)),
                    interval(&row.exact),
                    thousands(row.silent.hits),
                    bound(&row.silent),
                    row.silent_transcripts.hits,
                    row.silent_transcripts.of,
                    bound(&row.silent_transcripts),
                    percent(&row.twins),
                    percent(&row.over_refusal),
                    percent(&row.not_understood),
                    ms(row.micros / row.replies.max(1))
                ),
            );
        }
        out.push_str("\n| condition | citations whose bytes are what is quoted | citations that hold gold | gold that is cited | refusals that were right | refusals where one was due | refusals that say what is missing |\n");
        out.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
        for (group, row) in self.tallies.rows.iter().filter(|(group, _)| is_typed(group)) {
            push(
                out,
                &format!(
                    "| {} | {} | {} | {} | {} | {} | {} |",
                    name(group.condition.words(), group.budget),
                    percent(&row.faithful),
                    percent(&row.citation_precision),
                    percent(&row.citation_recall),
                    percent(&row.abstention_precision),
                    percent(&row.abstention_recall),
                    percent(&row.named)
                ),
            );
        }
        out.push('\n');
    }

    fn families(&self, out: &mut String) {
        out.push_str("## By family: exact answers (silent errors)\n\n| family |");
        let groups: Vec<&(Group, Row)> = self
            .tallies
            .rows
            .iter()
            .filter(|(group, _)| is_asked(group) && !group.condition.is_loss())
            .collect();
        for (group, _) in &groups {
            let put = group.wording.words();
            push_str(out, &format!(" {}{put} |", name(group.condition.words(), group.budget)));
        }
        push_str(out, &format!("\n|---|{}\n", "--:|".repeat(groups.len())));
        for family in Family::ALL {
            push_str(out, &format!("| {} {} |", family.word(), family.title()));
            for (_, row) in &groups {
                let exact = row.by_family.get(family.word()).map_or_else(|| "–".to_owned(), percent);
                let silent = row.silent_by_family.get(family.word()).map_or(0, |rate| rate.hits);
                push_str(out, &format!(" {exact} ({silent}) |"));
            }
            out.push('\n');
        }
        out.push('\n');
    }

    /// By class of evidence and by age.
    fn strata(&self, out: &mut String) {
        self.stratum("class of evidence", |row| &row.by_class, out);
        self.stratum("compactions of the agent since", |row| &row.by_age, out);
    }

    fn stratum(&self, title: &str, of: fn(&Row) -> &BTreeMap<String, Rate>, out: &mut String) {
        let own = |group: &Group| !group.condition.is_loss() && group.wording == Wording::Typed;
        let rows: Vec<&(Group, Row)> = self.tallies.rows.iter().filter(|(group, _)| own(group)).collect();
        let columns: BTreeSet<&String> = rows.iter().flat_map(|(_, row)| of(row).keys()).collect();
        push(out, &format!("## By {title}: exact answers\n"));
        let heads: Vec<&str> = columns.iter().map(|column| column.as_str()).collect();
        push(out, &format!("| | {} |\n|---|{}", heads.join(" | "), "--:|".repeat(heads.len())));
        for (group, row) in rows {
            let cells: Vec<String> = columns
                .iter()
                .map(|&column| {
                    let rate = of(row).get(column).copied().unwrap_or_default();
                    if rate.of == 0 {
                        "–".to_owned()
                    } else {
                        format!("{} of {}", percent(&rate), thousands(rate.of))
                    }
                })
                .collect();
            let who = name(&group.answerer, group.budget);
            push(out, &format!("| {who}, {} | {} |", group.condition.words(), cells.join(" | ")));
        }
        out.push('\n');
    }

    fn decays(&self, out: &mut String) {
        if self.tallies.decays.is_empty() {
            return;
        }
        out.push_str("## After compacting again and again\n\nA session is cut into stretches; each is appended to what the last compaction left, and the whole is compacted again. Questions are about the first stretch.\n\n");
        out.push_str(
            "| compactor | compactions | sessions | exact | silent errors |\n|---|--:|--:|--:|--:|\n",
        );
        for (answerer, generations, left) in &self.tallies.decays {
            push(
                out,
                &format!(
                    "| {answerer} | {generations} | {} | {} of {} | {} |",
                    left.sessions,
                    percent(&left.exact),
                    left.exact.of,
                    left.silent
                ),
            );
        }
        out.push('\n');
    }

    fn costs(&self, out: &mut String) {
        out.push_str("## Cost\n\n| compactor | compactions | median, p95, longest, ms | ms per 100,000 tokens | peak memory, MiB | store / transcript, bytes | invented literals per 1,000 tokens written | omitted calls told exactly |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
        for (answerer, budget, cost) in &self.tallies.costs {
            push(out, &cost_line(&name(answerer, *budget), cost));
        }
        if self.tallies.peak_kib > 0 {
            let mib = self.tallies.peak_kib / 1_024;
            push(
                out,
                &format!(
                    "\nThe run that compacted and asked held at most {mib} MiB, transcripts and questions included."
                ),
            );
        }
        out.push('\n');
    }
}

fn cost_line(name: &str, cost: &Cost) -> String {
    let (median, late, longest) = cost.micros;
    let ratio = |rate: &Rate| if rate.of == 0 { "–".to_owned() } else { format!("{:.2}", rate.share()) };
    format!(
        "| {name} | {} | {}, {}, {} | {} | {} | {} | {} | {} |",
        cost.compactions,
        ms(median),
        ms(late),
        ms(longest),
        ms(cost.micros_per_100k),
        cost.peak_kib.map_or_else(|| "–".to_owned(), |kib| thousands(kib / 1_024)),
        ratio(&cost.store),
        ratio(&cost.fabricated),
        if cost.honest.of == 0 {
            "–".to_owned()
        } else {
            format!("{} of {}", cost.honest.hits, cost.honest.of)
        }
    )
}

fn is_asked(group: &Group) -> bool {
    group.answerer == product::NAME && group.condition != Condition::Context
}

fn is_typed(group: &Group) -> bool {
    is_asked(group) && group.wording == Wording::Typed
}

/// The share, or of nothing seen what it is below at 95 in 100.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn bound(rate: &Rate) -> String {
    match rate.of {
        0 => "–".to_owned(),
        of if rate.hits == 0 => format!("≤ {:.3} %", 300.0 / of as f64),
        _ => format!("{:.3} %", rate.share() * 100.0),
    }
}

/// Appends a line.
pub(crate) fn push(out: &mut String, line: &str) {
    push_str(out, line);
    out.push('\n');
}

fn push_str(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let written = write!(out, "{text}");
    debug_assert!(written.is_ok(), "a string takes everything");
}

const READING: &str = "## How to read this

- *Exact*: the answer is right and a citation covers the gold, whose bytes were read again. *Silent error*: asserted or denied, and wrong; a right answer with a wrong citation counts as one.
- *Twins* look like a question that has an answer and have none. *True absences withheld*: it never happened, and the answer does not say so.
- Compactors without an answerer are read by a benevolent literal reader: the gold string in their output, under the right speaker, counts as an exact answer. That is more than any real reader finds, and summaries written by a model were not made to keep literals.
- Intervals are drawn over projects, since questions about one transcript are not independent. For no error seen, the bound is 3/n, per question and per transcript.
- A kept share of tokens is that of the messages a compactor was given; for what retrieval costs add the tokens per answer, times the questions.
- `docs/benchmark-protocol.md` tells how another compactor is measured.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(1_234), "1,234");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(123_456), "123,456");
    }

    #[test]
    fn only_all_of_them_are_a_hundred_percent() {
        assert_eq!(percent(&Rate { hits: 9_999, of: 10_000, ..Rate::default() }), "99.9 %");
        assert_eq!(percent(&Rate { hits: 10_000, of: 10_000, ..Rate::default() }), "100.0 %");
        assert_eq!(percent(&Rate::default()), "–");
    }

    #[test]
    fn no_error_seen_is_a_bound() {
        assert_eq!(bound(&Rate { hits: 0, of: 30_000, ..Rate::default() }), "≤ 0.010 %");
        assert_eq!(bound(&Rate { hits: 3, of: 300, ..Rate::default() }), "1.000 %");
    }
}
