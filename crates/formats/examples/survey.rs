//! Prints what the adapters make of files: `survey FORMAT FILES…`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use std::collections::BTreeMap;
use strongroom_core::span::segment;
use strongroom_core::transcript::{BlockKind, RecordKind};
fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().expect("a format");
    let format =
        strongroom_formats::all().iter().find(|format| format.name() == name).expect("a known format");
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |key: String| *total.entry(key).or_default() += 1;
    let start = std::time::Instant::now();
    let mut bytes = 0;
    for path in arguments {
        let source = std::fs::read(&path).unwrap();
        bytes += source.len();
        let index = match format.index(&source) {
            Ok(index) => index,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        let spans = segment(&index);
        if let Err(error) = spans.check_cover(&index) {
            println!("COVER {path}: {error}");
        }
        for record in &index.records {
            count(format!("record {:?} {:?}", record.kind, record.branch));
            if matches!(record.kind, RecordKind::Unknown | RecordKind::Opaque) {
                println!("{path}:{:?} {} {:?}", record.line, record.label, record.kind);
            }
            for block in &record.blocks {
                let kind = match &block.kind {
                    BlockKind::Call(_) => "Call".to_owned(),
                    BlockKind::Result(f) => format!(
                        "Result {:?} err={:?} code={} cuts={}",
                        std::mem::discriminant(&f.ending),
                        f.error,
                        f.exit_code.is_some(),
                        f.cuts.len()
                    ),
                    BlockKind::SideData { .. } => "SideData".to_owned(),
                    BlockKind::Opaque(why) => format!("Opaque({})", &why[..why.len().min(40)]),
                    other => format!("{other:?}"),
                };
                count(format!(
                    "block {kind} {:?} {:?} copy={}",
                    block.speaker,
                    block.visibility,
                    block.copy_of.is_some()
                ));
            }
        }
        for finding in &index.findings {
            count(format!("finding {} {:?}", finding.code, finding.level));
        }
        for item in &index.side_items {
            count(format!("side {}", format!("{:?}", item.kind).chars().take(10).collect::<String>()));
        }
        for span in &spans.spans {
            count(format!("span {:?} open={}", span.kind, span.open));
        }
        count(format!("usage {}", usize::from(!index.usage.is_empty())));
    }
    let seconds = start.elapsed().as_secs_f64();
    for (key, count) in &total {
        println!("{count:8} {key}");
    }
    println!("{bytes} bytes in {seconds:.2} s");
}
