//! `strongroom conflicts`.

use serde_json::json;
use strongroom::Result;
use strongroom::answer::{Citation, Conflict, Strictness};
use strongroom::form::RefusedForm;

use super::as_json;
use super::ledger::tell_missing;
use crate::args::{Args, ConflictsArgs};
use crate::exit::End;
use crate::out;
use crate::table::visible;

/// The most characters of a quotation that a list for people shows.
const QUOTE_CHARS: usize = 160;

pub(super) fn run(args: &Args, own: &ConflictsArgs) -> Result<End> {
    let (asked, options) = super::session(args, &own.file, own.format.as_deref(), Strictness::Assume)?;
    let conflicts = asked.conflicts(options)?;
    if args.json {
        for conflict in &conflicts.found {
            let body = json!({ "schema": 1, "kind": conflict.kind.word(), "conflict": conflict.words,
                               "said": conflict.said, "shown": conflict.shown });
            out::line(&body.to_string())?;
        }
        let gaps = conflicts.gaps.iter().map(|gap| as_json(&RefusedForm::of_gap(gap)));
        let lost = asked.lost().iter().map(|lost| as_json(&RefusedForm::of_lost(lost)));
        gaps.chain(lost).try_for_each(|line| out::line(&line?))?;
    } else {
        conflicts.found.iter().map(words).try_for_each(|text| out::line(&text))?;
        out::line(&format!("{} conflicts; {} claims were weighed", conflicts.found.len(), conflicts.claims))?;
        tell_missing(&conflicts.gaps, asked.lost())?;
    }
    let end = super::end_of(&conflicts.gaps, &asked);
    Ok(if end == End::Done && !conflicts.found.is_empty() { End::No } else { end })
}

fn words(conflict: &Conflict) -> String {
    let mut lines = vec![format!("{:<8} {}", conflict.kind.word(), visible(&conflict.words))];
    lines.extend(conflict.said.iter().map(|citation| cited("said", citation)));
    lines.extend(conflict.shown.iter().map(|citation| cited("shown", citation)));
    lines.join("\n")
}

fn cited(side: &str, citation: &Citation) -> String {
    let quote: String = citation.quote.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = quote.chars().take(QUOTE_CHARS).collect();
    let more = if short.len() < quote.len() { "…" } else { "" };
    let pointer = citation.pointer.as_deref().map(|pointer| format!(" {pointer}")).unwrap_or_default();
    format!(
        "  {side:<6} {}:{} {}{pointer}: {}{more}",
        citation.source,
        citation.locator,
        citation.attribution,
        visible(&short)
    )
}
