//! JSON output. Every object carries `"schema": 1`; fields may be added.

use serde_json::{Map, Value, json};
use strongroom::evidence::Omissions;
use strongroom::explain::Explanation;

use crate::clock;

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
