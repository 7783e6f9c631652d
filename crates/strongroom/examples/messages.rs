//! Measures compactions of message lists in memory, through the library, custody included: a made-up agent that reads
//! files, runs tests and edits, for 60 steps (127 messages) and for 600 (1,243 messages).
//!
//! `cold` is the first compaction of a process, into a new archive that is made in that time; `warm` is the median of
//! the others, each of a conversation of its own in the same archive.
//!
//! `cargo run --release -p strongroom --example messages`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use serde_json::{Value, json};
use strongroom::compact::{Outcome, Unmet};
use strongroom::custodian::{Conversation, Custodian};
use strongroom::policy::Policy;
use strongroom::time::Timestamp;
use strongroom::tokens::{self, Budget};

type Measured<T> = Result<T, Box<dyn Error>>;

/// How often a conversation is compacted, the first time apart.
const RUNS: usize = 15;

fn main() -> Measured<()> {
    match std::env::args().nth(1) {
        None => [60, 600].into_iter().try_for_each(elsewhere),
        Some(steps) => here(steps.parse()?),
    }
}

/// Measures in a process of its own, so that each size pays for its own start.
fn elsewhere(steps: usize) -> Measured<()> {
    let status = std::process::Command::new(std::env::current_exe()?).arg(steps.to_string()).status()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

fn here(steps: usize) -> Measured<()> {
    let home = tempfile::tempdir()?;
    let all = messages(steps);
    let start = (Instant::now(), processor_ms());
    let custodian = Custodian::open(home.path(), Policy::default())?;
    let opened = since(start);
    let cold = compacted(&custodian, &all, 0)?;
    let mut warm = (1..=RUNS).map(|run| compacted(&custodian, &all, run)).collect::<Measured<Vec<_>>>()?;
    warm.sort_by(|one, two| one.1.total_cmp(&two.1));
    let warm = warm.get(RUNS / 2).copied().unwrap_or_default();
    let text = all.to_string();
    println!(
        "{} messages, {} bytes, {} tokens",
        all.as_array().map_or(0, Vec::len),
        text.len(),
        tokens::count(&text).0
    );
    for (name, (clock, processor)) in [("new archive", opened), ("cold", cold), ("warm", warm)] {
        println!("  {name:<12} {clock:.1} ms, {processor:.1} ms of processor time");
    }
    Ok(())
}

fn compacted(custodian: &Custodian, all: &Value, run: usize) -> Measured<(f64, f64)> {
    // Another first message, so that no piece is in the archive already.
    let mut all = all.clone();
    if let Some(content) = all.pointer_mut("/0/content") {
        *content = json!(format!("Run {run}. You are an agent that repairs a service."));
    }
    let conversation = Conversation::new(format!("run-{run}"), all.to_string().into_bytes());
    let start = (Instant::now(), processor_ms());
    let outcome =
        custodian.compact(conversation, Budget::Percent(20), Unmet::BestEffort, Timestamp::from_ms(0))?;
    let spent = since(start);
    match outcome {
        Outcome::Compacted(..) => Ok(spent),
        other => Err(format!("not compacted: {other:?}").into()),
    }
}

fn since((clock, processor): (Instant, f64)) -> (f64, f64) {
    (clock.elapsed().as_secs_f64() * 1e3, processor_ms() - processor)
}

/// What this thread has had of the processor; nothing where the system does not tell.
fn processor_ms() -> f64 {
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    ran.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e6
}

/// The messages of an agent that takes `steps` steps: a call and its result each, and a word of the user or of the
/// agent now and then.
fn messages(steps: usize) -> Value {
    let mut all = vec![
        json!({"role": "system", "content": "You are an agent that repairs a service."}),
        json!({"role": "user", "content": "Find out why checkout fails. Never push to main, and keep port 8443."}),
    ];
    for step in 0..steps {
        let (tool, arguments, result) = call(step);
        let id = format!("call_{step:04}");
        let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}});
        all.push(json!({"role": "assistant", "content": format!("Step {step}: let me look at that."), "tool_calls": [call]}));
        all.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        if step % 30 == 29 {
            all.push(json!({"role": "assistant", "content": format!("Part {step} is done: retries are {}.", step * 3)}));
            all.push(json!({"role": "user", "content": format!("Go on, ticket OPS-{}.", 1_000 + step)}));
        }
    }
    all.push(json!({"role": "assistant", "content": "All of it is done."}));
    json!(all)
}

fn call(step: usize) -> (&'static str, Value, String) {
    let file = format!("src/checkout/part_{}.rs", step % 17);
    match step % 3 {
        0 => ("read_file", json!({"path": file}), source(step)),
        1 => (
            "run_command",
            json!({"command": format!("cargo test -p checkout part_{step} 2>&1 | tail -40")}),
            log(step),
        ),
        _ => (
            "edit_file",
            json!({"path": file, "old": format!("retries = {step}"), "new": format!("retries = {}", step + 1)}),
            format!("{file} was changed in 1 place:\n{}", source(step + 1)),
        ),
    }
}

fn source(step: usize) -> String {
    let mut text = String::new();
    for line in 0..22 {
        let value = (step * 7_919 + line * 104_729) % 65_521;
        writeln!(text, "{line:4}    let limit_{line} = config.load(\"/srv/app/{value:x}.toml\", {value})?; // v1.{step}.{line}").ok();
    }
    text
}

fn log(step: usize) -> String {
    let mut text = String::new();
    for line in 0..20 {
        let value = (step * 6_101 + line * 15_485_863) % 99_991;
        writeln!(
            text,
            "test checkout::part_{step}::case_{line} ... ok in {value} ms at 10.0.{}.{line}:8443",
            step % 250
        )
        .ok();
    }
    writeln!(text, "error: 1 of 20 failed, run {step:08x} took {}.{}s", step % 9, step % 7).ok();
    text
}
