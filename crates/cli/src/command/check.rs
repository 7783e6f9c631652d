//! `strongroom check`.

use serde_json::{Value, json};
use strongroom::Result;
use strongroom::files::io_error;
use strongroom::proof::{Checked, Shown, Signer, Statement, check};

use super::keys;
use crate::args::{Args, CheckArgs};
use crate::exit::End;
use crate::out;
use crate::table::visible;

pub(super) fn run(args: &Args, own: &CheckArgs) -> Result<End> {
    let bytes = std::fs::read(&own.bundle).map_err(|error| io_error(&own.bundle, "read", error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        strongroom::Error::new(strongroom::ErrorKind::Corrupt, "this is no bundle").caused_by(error)
    })?;
    let known = own.public_key.as_deref().map(keys::public).transpose()?;
    let checked = check(&text, known.as_ref())?;
    if args.json {
        out::line(&form(&checked).to_string())?;
    } else {
        out::text(&words(&checked, own.show))?;
        if checked.signer == Signer::NamedByBundle {
            out::warning(
                "no --public-key: the key stands in the bundle alone, and whoever made the one can have made the other",
            );
        }
    }
    Ok(End::Done)
}

fn form(checked: &Checked) -> Value {
    let statements: Vec<Value> = checked.statements.iter().map(statement_form).collect();
    json!({
        "schema": 1, "holds": true, "archive": checked.checkpoint.archive.to_string(),
        "size": checked.checkpoint.size, "root": checked.checkpoint.root.to_string(),
        "public_key": checked.key.to_string(), "key_known": checked.signer == Signer::Known,
        "statements": statements,
    })
}

fn statement_form(statement: &Statement) -> Value {
    match statement {
        Statement::Span(pointer, shown) => {
            json!({ "kind": "span", "pointer": pointer.to_string(), "original": shown_form(shown) })
        }
        Statement::Source(shown) => json!({ "kind": "source", "original": shown_form(shown) }),
        Statement::Answer { answer, shown, open, searched } => json!({
            "kind": "answer", "answer": answer,
            "shown": shown.iter().map(|(at, own)| json!({ "citation": at, "original": shown_form(own) })).collect::<Vec<_>>(),
            "open": open.iter().map(|(at, why)| json!({ "citation": at, "why": why })).collect::<Vec<_>>(),
            "searched": searched.iter().map(|(source, id)| json!({ "source": source, "revision": id.to_string() })).collect::<Vec<_>>(),
        }),
    }
}

fn shown_form(shown: &Shown) -> Value {
    json!({
        "source": shown.source, "revision": shown.revision.to_string(), "ranges": shown.ranges,
        "text": String::from_utf8_lossy(&shown.bytes),
    })
}

fn words(checked: &Checked, show: bool) -> String {
    let checkpoint = &checked.checkpoint;
    let mut text = format!(
        "holds: signed by {}, journal of archive {} with {} entries\n",
        checked.key,
        checkpoint.archive.digest().short(12),
        checkpoint.size
    );
    for statement in &checked.statements {
        match statement {
            Statement::Span(pointer, shown) => push_shown(&mut text, &pointer.to_string(), shown, show),
            Statement::Source(shown) => push_shown(&mut text, "source", shown, show),
            Statement::Answer { answer, shown, open, searched } => {
                let field = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or("no value");
                text.extend(["answer: ", &visible(field("verdict")), ": ", &visible(field("answer")), "\n"]);
                text.extend(["reading: ", &visible(field("reading")), "\n"]);
                for (at, own) in shown {
                    push_shown(&mut text, &format!("citation {}", at + 1), own, show);
                }
                for (at, why) in open {
                    text.extend([&*format!("citation {} is not shown: {}", at + 1, visible(why)), "\n"]);
                }
                for (source, revision) in searched {
                    text.extend([
                        &*format!(
                            "searched {} as of revision {}",
                            visible(source),
                            revision.digest().short(12)
                        ),
                        "\n",
                    ]);
                }
            }
        }
    }
    text
}

fn push_shown(text: &mut String, what: &str, shown: &Shown, show: bool) {
    let ranges: Vec<String> = shown.ranges.iter().map(|(start, end)| format!("{start}..{end}")).collect();
    let (source, ranges) = (visible(&shown.source), ranges.join(", "));
    text.extend([&*format!("{what}: {} bytes, {ranges} of {source}", shown.bytes.len()), "\n"]);
    if show {
        for line in String::from_utf8_lossy(&shown.bytes).lines() {
            text.extend(["    ", &visible(line), "\n"]);
        }
    }
}
