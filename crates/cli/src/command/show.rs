//! `strongroom show`.

use strongroom::Result;
use strongroom::pointer::Pointer;
use strongroom::show::{Reveal, Shower, bytes, record, span};
use strongroom::vault::{BoundSpan, CompactionRecord};

use crate::args::{Args, ShowArgs};
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &ShowArgs) -> Result<End> {
    let pointer: Pointer = own.pointer.parse()?;
    let archive = place::open_existing(args)?;
    let record = record(&archive, pointer)?;
    if pointer.ordinal.is_none() {
        return list(args, &record, pointer);
    }
    let span = span(&record, pointer)?;
    if own.raw {
        let raw = bytes(&archive, span)?;
        out::raw(&raw)?;
        return Ok(End::Done);
    }
    let reveal = if own.reveal { Reveal::Reveal } else { Reveal::Mask };
    let text = Shower::new(&archive, &record).text(span, reveal);
    match text {
        Ok(text) if args.json => {
            let body = serde_json::json!({ "schema": 1, "pointer": pointer.to_string(), "class": span.class, "text": text });
            out::line(&body.to_string())?;
        }
        Ok(text) => out::text(&text)?,
        Err(error) => return Err(error),
    }
    Ok(End::Done)
}

fn list(args: &Args, record: &CompactionRecord, pointer: Pointer) -> Result<End> {
    if args.json {
        let spans: Vec<_> = record
            .spans
            .iter()
            .map(|span| serde_json::json!({ "span": span.ordinal, "class": span.class, "rendering": span.rendering }))
            .collect();
        let body = serde_json::json!({
            "schema": 1, "pointer": pointer.to_string(), "generation": record.generation,
            "bound_at": clock::words(record.bound_at), "spans": spans,
        });
        out::line(&body.to_string())?;
        return Ok(End::Done);
    }
    out::line(&format!(
        "{pointer}: {} spans of a {} transcript, generation {}, bound {}",
        record.spans.len(),
        record.format,
        record.generation,
        clock::words(record.bound_at)
    ))?;
    for span in &record.spans {
        out::line(&format!("#{:<5} {:<14} {}", span.ordinal, span.class, first(span)))?;
    }
    Ok(End::Done)
}

fn first(span: &BoundSpan) -> &str {
    let shown = span.rendering.char_indices().nth(100).map_or(span.rendering.len(), |(at, _)| at);
    span.rendering.get(..shown).unwrap_or_default()
}
