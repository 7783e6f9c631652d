//! JSON output. Every object carries `"schema": 1`; fields may be added.

use serde_json::{Map, Value, json};
use strongroom::compact::Report;
use strongroom::evidence::Omissions;
use strongroom::explain::Explanation;

use crate::clock;

fn counts<K: AsRef<str>, N: Copy + Into<u64>>(counts: &std::collections::BTreeMap<K, N>) -> Value {
    let entries = counts.iter().map(|(key, &count)| (key.as_ref().to_owned(), Value::from(count.into())));
    Value::Object(entries.collect::<Map<String, Value>>())
}

/// A report of a compaction; `outcome` is `compacted`, `unchanged` or `budget-not-met`.
pub(crate) fn report(report: &Report, outcome: &str) -> Value {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({ "code": finding.code, "line": finding.line, "pointer": finding.pointer, "message": finding.message })
        })
        .collect();
    json!({
        "schema": 1,
        "outcome": outcome,
        "reason": report.unchanged,
        "name": report.name,
        "format": report.format,
        "tokens": { "before": report.tokens_before.0, "after": report.tokens_after.0, "budget": report.budget.0,
                    "tokenizer": "o200k_base",
                    "vendor_factor": report.estimate.map(|estimate| estimate.factor) },
        "bytes": { "before": report.bytes_before, "after": report.bytes_after },
        "spans": report.spans,
        "reclaimed": counts(&report.reclaimed),
        "grounds": counts(&report.grounds),
        "refused": counts(&report.refused),
        "pinned": counts(&report.pinned),
        "masked": report.masked,
        "unknown_summaries": report.unknown_summaries,
        "pointer": report.pointer,
        "kept": report.kept,
        "findings": findings,
    })
}

/// An explanation of a span.
pub(crate) fn explanation(explanation: &Explanation) -> Value {
    let holds = match &explanation.holds {
        Omissions::Nameable(atoms) => {
            let entries = atoms.iter().map(|(kind, count)| (kind.word().to_owned(), Value::from(count)));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
        Omissions::Unnameable(why) => json!({ "not_analysed": why }),
    };
    let verdict = match &explanation.verdict {
        Ok(permit) => json!({ "may_go": true, "permit": format!("{permit:?}") }),
        Err(refused) => json!({
            "may_go": false,
            "reason": refused.reason.words(),
            "pointer": refused.pointer.to_string(),
            "needed_until": clock::words(refused.needed_until),
            "demanded_by": refused.demanded_by.iter().map(|operation| operation.word()).collect::<Vec<_>>(),
        }),
    };
    json!({
        "schema": 1,
        "span": explanation.number,
        "place": explanation.place,
        "what": explanation.what,
        "class": explanation.class.word(),
        "proof": explanation.proof,
        "units": { "all": explanation.units.all, "narrative": explanation.units.narrative },
        "holds": holds,
        "effects": explanation.effects,
        "tokens": explanation.tokens.0,
        "pinned": explanation.pinned,
        "pointer": explanation.pointer.to_string(),
        "protected_by": explanation.protected_by.iter().map(|operation| operation.word()).collect::<Vec<_>>(),
        "verdict": verdict,
    })
}
