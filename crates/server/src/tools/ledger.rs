//! `evidence_ledger`.

use serde_json::{Map, Value, json};
use strongroom::answer::{Citation, LedgerRow};
use strongroom::form::{EffectForm, RefusedForm};
use strongroom::ledger::filtered;
use strongroom::{Error, Result};

use super::{Call, MAX_TOKENS, OFFSET, SESSION, Tool};
use crate::params::{Kind, Need, Param};
use crate::reply::{Draft, Entry, Reply, citation_json, cut, without_empty};
use crate::words::DATA;

pub(super) const TOOL: Tool = Tool {
    name: "evidence_ledger",
    title: "List what was done",
    about: "Lists the effects of the sessions in order: what was written, deleted, committed, pushed, installed, sent or run, each with its outcome, what shows it, and what undid it. Use it before you repeat a side effect (was it already done? did it succeed?) and to account for what was changed. Reads are listed only where `kind` asks for them. `refused` entries are records that cannot be seen: the list may lack what they hold.",
    params: &[
        &KIND,
        &SCOPE,
        &OUTCOME,
        &CERTAINTY,
        &TARGET,
        &FROM,
        &TO,
        &TERMS,
        &SESSION,
        &OFFSET,
        &MAX_TOKENS,
    ],
    output: include_str!("ledger.json"),
    run,
};

const KIND: Param = Param {
    name: "kind",
    kind: Kind::Texts,
    need: Need::May,
    about: "Only these kinds or kinds below them: fs, fs.write, fs.delete, vcs, vcs.commit, vcs.remote, pkg.mutate, svc.state, sys, db, net.send, cloud.mutate, tool.mutate, exec.opaque, fs.read …",
};

const SCOPE: Param = Param {
    name: "scope",
    kind: Kind::Choices(&[
        "project",
        "worktree",
        "temp",
        "home",
        "system",
        "outside",
        "remote",
        "container",
        "db",
        "cloud",
    ]),
    need: Need::May,
    about: "Only effects in these places.",
};

const OUTCOME: Param = Param {
    name: "outcome",
    kind: Kind::Choices(&[
        "ok",
        "reported-ok",
        "failed",
        "no-effect",
        "refused",
        "interrupted",
        "dry-run",
        "unknown",
    ]),
    need: Need::May,
    about: "Only effects that ended like this.",
};

const CERTAINTY: Param = Param {
    name: "certainty",
    kind: Kind::Choices(&["definite", "possible"]),
    need: Need::May,
    about: "Only definite or only possible effects.",
};

const TARGET: Param = Param {
    name: "target",
    kind: Kind::Text,
    need: Need::May,
    about: "Only effects on this path, branch, package or host; * and ? stand for any characters.",
};

const FROM: Param = Param {
    name: "from",
    kind: Kind::Text,
    need: Need::May,
    about: "From this record (L12), time (2026-03-10T09:00) or compaction:N on.",
};

const TO: Param = Param {
    name: "to",
    kind: Kind::Text,
    need: Need::May,
    about: "Up to this record, time or compaction:N.",
};

const TERMS: Param = Param {
    name: "terms",
    kind: Kind::Texts,
    need: Need::May,
    about: "More terms of the query language, e.g. `-scope:temp`, `env:prod`, `reverted:no`.",
};

/// Fields at these values are left out of a row.
const USUAL: &[(&str, &str)] =
    &[("certainty", "definite"), ("match", "certain"), ("privilege", "user"), ("reversibility", "unknown")];

/// Fields that say again what another one says.
const TWICE: &[&str] = &["schema", "seq", "record", "bytes"];

/// The most tokens of a quotation in a row.
const QUOTE_TOKENS: u64 = 80;

fn run(call: &mut Call<'_>) -> Result<Reply> {
    let args = call.args;
    let one = |name: &str| args.text(name).map(str::to_owned).into_iter().collect::<Vec<String>>();
    let fields: [(&str, &[String]); 7] = [
        ("kind", &args.texts(KIND.name)),
        ("scope", &args.texts(SCOPE.name)),
        ("outcome", &args.texts(OUTCOME.name)),
        ("certainty", &args.texts(CERTAINTY.name)),
        ("target", &one(TARGET.name)),
        ("from", &one(FROM.name)),
        ("to", &one(TO.name)),
    ];
    let query = filtered("effects", &fields, &args.texts(TERMS.name))?;
    let sitting = call.sit()?;
    let ledger = sitting.asked.ledger(&query, sitting.options)?;
    let mut draft = Draft::new(TOOL.name, args);
    let lost = sitting.asked.lost();
    let refused = ledger.gaps.len() + lost.len();
    draft.field("reading", ledger.reading.as_str());
    draft.field("effects_found", ledger.rows.len());
    draft.field("effects_of_all", ledger.total);
    draft.field("refused_count", refused);
    draft.field("note", DATA);
    draft.line(format!("{} of {} effects ({})", ledger.rows.len(), ledger.total, ledger.reading));
    draft.line(DATA);
    if refused > 0 {
        let words = "Some records cannot be seen (`refused`): this list may lack what they hold. Do not conclude from it that something was not done; ask evidence_ask.";
        draft.field("what_to_do", words);
        draft.line(words);
    }
    let rows = ledger.rows.iter().map(row_entry).collect::<Result<Vec<_>>>()?;
    draft.entries(rows);
    let gaps = ledger.gaps.iter().map(|gap| {
        let place = citation_json(&gap.citation, args);
        refused_entry(&RefusedForm::of_gap(gap), Some(place))
    });
    draft.entries(gaps.collect::<Result<Vec<_>>>()?);
    let lost = lost.iter().map(|lost| refused_entry(&RefusedForm::of_lost(lost), None));
    draft.entries(lost.collect::<Result<Vec<_>>>()?);
    Ok(draft.finish())
}

fn object(form: &impl serde::Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(form) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::bug("a form is no object")),
        Err(error) => Err(Error::bug("a form is no JSON").caused_by(error)),
    }
}

/// A row without what is as usual; what was asked for and what shows the outcome are quoted in short.
fn row_entry(row: &LedgerRow) -> Result<Entry> {
    let mut json = object(&EffectForm::of(row))?;
    json.retain(|name, value| {
        !USUAL.iter().any(|(own, usual)| own == name && value.as_str() == Some(*usual))
    });
    json.retain(|name, _| !TWICE.contains(&name.as_str()));
    for (name, citation) in [("citation", &row.citation), ("outcome_evidence", &row.evidence)] {
        if let Some(citation) = citation {
            json.insert(name.to_owned(), quoted(citation));
        }
    }
    Ok(Entry { section: "effects", json: without_empty(Value::Object(json)), text: row_text(row) })
}

fn quoted(citation: &Citation) -> Value {
    json!({ "locator": citation.locator, "attribution": citation.attribution,
            "quote": cut(&citation.quote, QUOTE_TOKENS) })
}

fn row_text(row: &LedgerRow) -> String {
    let file = row.call.source.rsplit('/').next().unwrap_or_default();
    let back = row.rolled_back.as_ref().map(|back| format!("; undone by E{}", back.by)).unwrap_or_default();
    let retry = row.retry_of.map(|first| format!("; retry of E{first}")).unwrap_or_default();
    let sure = match EffectForm::of(row) {
        form if form.certainty == "possible" || form.standing == "possible" => " (possible)",
        _ => "",
    };
    format!(
        "- E{} {file}:{} {}{sure} {} [{}]: {}{back}{retry}",
        row.seq,
        row.call.locator,
        row.kind.word(),
        row.target,
        row.scope,
        row.outcome.word()
    )
}

fn refused_entry(form: &RefusedForm<'_>, place: Option<Value>) -> Result<Entry> {
    let mut json = object(form)?.remove("refused").unwrap_or_default();
    let words = |json: &Value, name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = words(&json, "kind").unwrap_or_default();
    let text = if let Some(place) = &place {
        let (locator, note) = (words(place, "locator"), words(place, "note"));
        format!("- not seen: {} {}", locator.unwrap_or_default(), note.unwrap_or(kind))
    } else {
        let (pointer, why) = (words(&json, "pointer"), words(&json, "why"));
        format!("- not seen: {} {kind}: {}", pointer.unwrap_or_default(), why.unwrap_or_default())
    };
    if let (Some(object), Some(place)) = (json.as_object_mut(), place) {
        object.insert("citation".to_owned(), place);
    }
    Ok(Entry { section: "refused", json, text })
}
