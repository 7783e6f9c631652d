//! `strongroom redact`.

use serde_json::json;
use strongroom::archive::Order;
use strongroom::erasure::{Receipt, Redaction, Which};
use strongroom::files::read_all;
use strongroom::pointer::Pointer;
use strongroom::range::ByteRange;
use strongroom::{Error, Result};

use crate::args::{Args, RedactArgs};
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &RedactArgs) -> Result<End> {
    let which = which(own)?;
    let archive = place::open_for_changing(args)?;
    let policy = super::policy(args)?;
    super::check_may_delete("redacting", own.i_may_delete, &policy)?;
    let redaction = if let Ok(pointer) = own.what.parse::<Pointer>() {
        Redaction::plan(&archive, &policy, pointer, &which)?
    } else {
        let source = super::export::find(&archive, &own.what)?;
        Redaction::plan_source(&archive, &policy, &source, &which)?
    };
    let order = Order { who: own.by.clone(), reason: own.reason.clone(), at: clock::now() };
    let done = redaction.act(&archive, &order)?;
    super::tell_cleared(done.cleared);
    let names: Vec<String> = archive
        .sources()?
        .into_iter()
        .filter(|source| done.value.sources.contains(&source.meta.id))
        .map(|source| source.meta.name)
        .collect();
    print(args, (&done.value, redaction.bytes()), &names)
}

fn which(own: &RedactArgs) -> Result<Which> {
    match (&own.bytes, own.text.as_deref()) {
        (Some(range), _) => {
            let malformed = || Error::invalid_input(format!("{range:?} is no range of bytes such as 10..20"));
            let (start, end) = range.split_once("..").ok_or_else(malformed)?;
            let number = |text: &str| text.trim().parse::<u64>().map_err(|_| malformed());
            let (start, end) = (number(start)?, number(end)?);
            if start >= end {
                return Err(malformed());
            }
            Ok(Which::Bytes(ByteRange::new(start, end)))
        }
        (None, Some("-")) => {
            let bytes = read_all(&mut std::io::stdin().lock())?;
            let text =
                String::from_utf8(bytes).map_err(|_| Error::invalid_input("standard input holds no text"))?;
            Ok(Which::Text(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
        }
        (None, Some(text)) => Ok(Which::Text(text.to_owned())),
        (None, None) => Err(Error::invalid_input("give --bytes A..B or --text TEXT")),
    }
}

fn print(args: &Args, (receipt, bytes): (&Receipt, u64), names: &[String]) -> Result<End> {
    let key = super::keys::hex(&receipt.key);
    let cuts: Vec<_> = receipt
        .cuts
        .iter()
        .map(|(piece, range, commitment)| {
            json!({
                "piece": piece.to_string(), "start": range.start(), "end": range.end(),
                "commitment": commitment.to_string(),
            })
        })
        .collect();
    if args.json {
        let body = json!({
            "schema": 1, "bytes": bytes, "cuts": cuts, "key": key, "records": receipt.records.len(),
            "sources": names,
        });
        out::line(&body.to_string())?;
        return Ok(End::Done);
    }
    out::line(&format!("redacted {bytes} bytes in {} places", receipt.cuts.len()))?;
    names.iter().try_for_each(|name| out::line(&format!("    of {}", crate::table::visible(name))))?;
    for (piece, range, commitment) in &receipt.cuts {
        out::line(&format!("piece {piece} {}..{}: {commitment}", range.start(), range.end()))?;
    }
    out::line(&format!("key {key}"))?;
    out::hint(
        "with this key and the bytes somebody can show later what was taken out; the archive keeps neither",
    );
    Ok(End::Done)
}
