//! `strongroom ledger`.

use strongroom::Result;
use strongroom::answer::{Gap, LedgerRow, Match, Strictness};
use strongroom::ask::LostSpan;
use strongroom::effect::Privilege;
use strongroom::evidence::Certainty;
use strongroom::form::{EffectForm, RefusedForm};
use strongroom::ledger::filtered;
use strongroom::time::Timestamp;

use super::as_json;
use crate::args::{Args, LedgerArgs};
use crate::exit::End;
use crate::table::{Line, lay_out, visible, width};
use crate::{clock, out};

pub(super) fn run(args: &Args, own: &LedgerArgs) -> Result<End> {
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<String>>();
    let flags: [(&str, &[String]); 6] = [
        ("kind", &own.kind),
        ("scope", &own.scope),
        ("outcome", &own.outcome),
        ("certainty", &one(&own.certainty)),
        ("from", &one(&own.from)),
        ("to", &one(&own.to)),
    ];
    let query = filtered("effects", &flags, &own.terms)?;
    let (asked, options) = super::session(args, &own.file, own.format.as_deref(), Strictness::Assume)?;
    let ledger = asked.ledger(&query, options)?;
    if args.json {
        let rows = ledger.rows.iter().map(|row| as_json(&EffectForm::of(row)));
        let gaps = ledger.gaps.iter().map(|gap| as_json(&RefusedForm::of_gap(gap)));
        let lost = asked.lost().iter().map(|lost| as_json(&RefusedForm::of_lost(lost)));
        rows.chain(gaps).chain(lost).try_for_each(|line| out::line(&line?))?;
    } else {
        let titles = ["id", "time", "where", "kind", "scope", "outcome", "target"];
        let lines: Vec<Line> = ledger.rows.iter().map(line).collect();
        if !lines.is_empty() {
            out::text(&lay_out(&titles, &lines, width()))?;
        }
        out::line(&format!("{} of {} effects ({})", ledger.rows.len(), ledger.total, ledger.reading))?;
        tell_missing(&ledger.gaps, asked.lost())?;
    }
    Ok(super::end_of(&ledger.gaps, &asked))
}

/// What is missing, in lines.
pub(super) fn tell_missing(gaps: &[Gap], lost: &[LostSpan]) -> Result<()> {
    for lost in lost {
        out::line(&format!(
            "refused: {} ({}): its original is not retrievable: {}",
            lost.pointer, lost.class, lost.why
        ))?;
    }
    for gap in gaps {
        out::line(&format!("not seen: {}", gap_words(gap)))?;
    }
    Ok(())
}

fn gap_words(gap: &Gap) -> String {
    let citation = &gap.citation;
    let place = if citation.locator.is_empty() {
        format!("bytes {}..{}", citation.bytes.0, citation.bytes.1)
    } else {
        citation.locator.clone()
    };
    let why = citation.note.as_deref().unwrap_or(gap.kind.words());
    visible(&format!("{}:{place}: {why}", citation.source))
}

fn line(row: &LedgerRow) -> Line {
    let mark = match (row.certainty, row.standing) {
        (Certainty::Definite, Match::Certain) => "",
        (Certainty::Possible, _) | (_, Match::Possible) => "?",
    };
    let agent = row.call.agent.as_deref().map(|agent| format!("@{agent}")).unwrap_or_default();
    let cells = vec![
        format!("E{}", row.seq),
        row.time.map(short_time).unwrap_or_default(),
        format!("{}{agent}", row.call.locator),
        format!("{}{mark}", row.kind.word()),
        row.scope.clone(),
        row.outcome.word().to_owned(),
        row.target.clone(),
    ];
    Line { cells, notes: notes(row) }
}

/// The time of day with month and day.
fn short_time(time: Timestamp) -> String {
    clock::words(time).chars().skip(5).take(14).collect::<String>().replace('T', " ")
}

fn notes(row: &LedgerRow) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(row.rolled_back.as_ref().map(|back| format!("rolled back by E{}: {}", back.by, back.how)));
    notes.extend(row.retry_of.map(|first| format!("retry of E{first}")));
    notes.extend((row.renditions > 1).then(|| format!("stands in {} records, one event", row.renditions)));
    notes.extend(row.environment.as_ref().map(|env| format!("environment {env}")));
    notes.extend((row.privilege == Privilege::Root).then(|| "as root".to_owned()));
    notes.extend(row.artifact.map(|hash| format!("runs a text with the hash {hash}")));
    notes.extend(row.bounded_by.map(|assumption| format!("bounded by {assumption:?}")));
    notes.extend(
        (row.standing == Match::Possible)
            .then(|| "a possible match: a field that is asked for is not known".to_owned()),
    );
    notes.extend(row.call.pointer.as_ref().map(|pointer| format!("original {pointer}")));
    if notes.is_empty() { notes } else { vec![notes.join("; ")] }
}
