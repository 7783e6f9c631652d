//! `strongroom retention`.

use serde_json::json;
use strongroom::Result;
use strongroom::archive::Archive;
use strongroom::custody::present;
use strongroom::digest::SourceId;
use strongroom::policy::keep;
use strongroom::retention::{HoldKind, Outlook, SourceTerm, SummaryTerm, extend, outlook, release};
use strongroom::vault::Retention;

use crate::args::{Args, HoldArg, RetentionArgs};
use crate::exit::End;
use crate::table::{Line, lay_out, visible, width};
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &RetentionArgs) -> Result<End> {
    let changes = own.extend.is_some() || own.hold.is_some() || own.release;
    let archive = if changes { place::open_for_changing(args)? } else { place::open_existing(args)? };
    let source = own.source.as_deref().map(|wanted| super::export::find(&archive, wanted)).transpose()?;
    if let Some(source) = &source {
        change(&archive, source.meta.id, own)?;
    }
    let mut outlook = outlook(&archive, &super::policy(args)?, clock::now())?;
    if let Some(source) = source {
        outlook.sources.retain(|row| row.source == source.meta.id);
        outlook.summaries.retain(|summary| summary.source == source.meta.name);
    }
    if args.json {
        out::line(&form(&outlook).to_string())?;
    } else {
        print(&outlook)?;
    }
    Ok(End::Done)
}

fn change(archive: &Archive, source: SourceId, own: &RetentionArgs) -> Result<()> {
    if let Some(length) = &own.extend {
        let pieces = extend(archive, source, keep(length, present(archive, clock::now())?)?)?;
        out::note(&format!("{pieces} pieces are kept at least that long"));
    }
    if let (Some(kind), Some(reason)) = (own.hold, &own.reason) {
        let kind = match kind {
            HoldArg::Governance => HoldKind::Governance,
            HoldArg::Legal => HoldKind::Legal,
        };
        archive.hold(source, &kind.reason(reason))?;
    }
    if own.release {
        release(archive, source, own.i_may_release)?;
    }
    Ok(())
}

fn words(retention: Retention) -> String {
    match retention {
        Retention::Until(until) => until.day(),
        Retention::Indefinite => "without end".to_owned(),
        Retention::Unknown => "unknown".to_owned(),
    }
}

fn print(outlook: &Outlook) -> Result<()> {
    let line = |row: &SourceTerm| {
        let (first, last) = row.kept.map_or_else(
            || ("nothing left".to_owned(), String::new()),
            |(first, last)| (words(first), words(last)),
        );
        let mut notes: Vec<String> =
            row.hold.iter().map(|reason| format!("held: {}", visible(reason))).collect();
        if row.expired_bytes > 0 {
            notes.push(format!("the retention of {} bytes has ended", row.expired_bytes));
        }
        let id = row.source.digest().short(12);
        Line { cells: vec![id, row.bytes.to_string(), first, last, row.name.clone()], notes }
    };
    let lines: Vec<Line> = outlook.sources.iter().map(line).collect();
    out::text(&lay_out(&["source", "bytes", "kept until", "at most", "name"], &lines, width()))?;
    for summary in &outlook.summaries {
        out::line(&summary_words(summary))?;
    }
    if outlook.stray_bytes > 0 {
        out::line(&format!(
            "{} bytes belong to no source: an import that was cut short",
            outlook.stray_bytes
        ))?;
    }
    Ok(())
}

fn summary_words(summary: &SummaryTerm) -> String {
    let gone = if summary.gone > 0 { format!(", {} gone", summary.gone) } else { String::new() };
    let next = summary.next.map_or_else(
        || "no more of them end".to_owned(),
        |next| format!("stops being provable from {} on", next.day()),
    );
    let source = visible(&summary.source);
    format!("{}: {} originals{gone}; {next} ({source})", summary.pointer, summary.spans)
}

fn form(outlook: &Outlook) -> serde_json::Value {
    let sources = outlook.sources.iter().map(|row| {
        json!({
            "source": row.source.to_string(), "name": row.name, "bytes": row.bytes,
            "expired_bytes": row.expired_bytes, "kept_until": row.kept.map(|(first, _)| words(first)),
            "kept_at_most": row.kept.map(|(_, last)| words(last)), "hold": row.hold,
        })
    });
    let summaries = outlook.summaries.iter().map(|summary| {
        json!({
            "pointer": summary.pointer.to_string(), "source": summary.source, "originals": summary.spans,
            "gone": summary.gone, "unprovable_from": summary.next.map(clock::words),
        })
    });
    json!({
        "schema": 1, "sources": sources.collect::<Vec<_>>(), "summaries": summaries.collect::<Vec<_>>(),
        "stray_bytes": outlook.stray_bytes,
    })
}
