//! `strongroom explain`.

use strongroom::Result;
use strongroom::evidence::Omissions;
use strongroom::explain::{Explanation, explain};
use strongroom::gate::Permit;
use strongroom::transcript::Transcript;

use crate::args::{Args, ExplainArgs};
use crate::exit::End;
use crate::{clock, json, out, place};

pub(super) fn run(args: &Args, own: &ExplainArgs) -> Result<End> {
    let transcript = Transcript::open(&own.file, own.format.as_deref())?;
    let archive = place::open_for_reading(args)?;
    let policy = super::policy(args)?;
    let explanations = explain(&transcript, archive.as_ref(), &policy, clock::now(), own.span)?;
    for explanation in &explanations {
        if args.json {
            out::line(&json::explanation(explanation).to_string())?;
        } else if own.span.is_some() {
            out::line(&long(explanation))?;
        } else {
            out::line(&short(explanation))?;
        }
    }
    if explanations.is_empty() {
        return Err(strongroom::Error::not_found(format!(
            "there are {} spans in {}",
            transcript.spans().spans.len(),
            transcript.name()
        )));
    }
    Ok(End::Done)
}

fn short(explanation: &Explanation) -> String {
    let verdict = explanation.pinned.unwrap_or_else(|| verdict(explanation));
    let effects = explanation.effects.first().map_or_else(String::new, |effect| format!("  {effect}"));
    format!(
        "{:>5}  {:<10} {:<14} {:>6} tok  {:<28} {}{effects}",
        explanation.number,
        explanation.place,
        explanation.class.word(),
        explanation.tokens.0,
        verdict,
        explanation.what,
    )
}

fn verdict(explanation: &Explanation) -> &'static str {
    match &explanation.verdict {
        Ok(Permit::Narrative(_)) => "may go: narrative",
        Ok(Permit::InCustody(_)) => "may go: in custody",
        Ok(Permit::Waived(..)) => "may go: waived",
        Err(refused) => match refused.pointer {
            strongroom::gate::PointerState::Missing(_) => "needs custody first",
            strongroom::gate::PointerState::Unretrievable(_)
            | strongroom::gate::PointerState::Proved { .. } => refused.reason.words(),
        },
    }
}

fn long(explanation: &Explanation) -> String {
    let holds = match &explanation.holds {
        Omissions::Nameable(atoms) if atoms.is_empty() => "nothing that is counted".to_owned(),
        Omissions::Nameable(atoms) => {
            atoms.iter().map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join(", ")
        }
        Omissions::Unnameable(why) => format!("not analysed: {why}"),
    };
    let mut lines = vec![
        format!("span        {} ({})", explanation.number, explanation.place),
        format!("what        {}", explanation.what),
        format!("class       {}", explanation.class),
        format!("holds       {holds}"),
        format!("costs       {} tokens of the next request", explanation.tokens.0),
        format!("provenance  {}", explanation.pointer),
        format!("protected   {}", protected(explanation)),
        format!("verdict     {}", verdict(explanation)),
    ];
    if explanation.units.all > 0 {
        let units = explanation.units;
        lines.push(format!("prose       {} of {} units proved narrative", units.narrative, units.all));
    }
    lines.extend(explanation.proof.map(|rule| format!("proof       narrative by rule {rule}")));
    lines.extend(explanation.pinned.map(|why| format!("pinned      never reclaimed: {why}")));
    lines.extend(explanation.effects.iter().map(|effect| format!("effect      {effect}")));
    lines.join("\n")
}

fn protected(explanation: &Explanation) -> String {
    let words: Vec<&str> = explanation.protected_by.iter().map(|operation| operation.word()).collect();
    if words.is_empty() { "by nothing".to_owned() } else { format!("by {}", words.join(", ")) }
}
