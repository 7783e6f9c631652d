//! Whatever the messages are: what is reclaimed comes back exactly, and the output is never larger.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests, where clippy sees none"
)]

#[path = "properties/clocks.rs"]
mod clocks;
#[path = "properties/damaged.rs"]
mod damaged;
#[path = "properties/forgeries.rs"]
mod forgeries;
#[path = "properties/under_us.rs"]
mod under_us;

use proptest::prelude::*;
use serde_json::{Value, json};
use strongroom::archive::{Archive, Mode};
use strongroom::compact::{Options, Outcome, Purpose, Secrets, Unmet, compact};
use strongroom::policy::Policy;
use strongroom::show::bytes;
use strongroom::time::Timestamp;
use strongroom::tokens::Budget;
use strongroom::transcript::{SessionFiles, Transcript};

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,9}",
        "/[a-z]{1,6}/[a-z]{1,6}\\.rs",
        "[0-9]{1,6} ms",
        Just("never".to_owned()),
        Just("请不要".to_owned()),
        Just("[strongroom]#1".to_owned()),
        Just("sr1:00000000000000000000000000000000".to_owned()),
        "\\PC{1,4}",
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

/// A turn of the conversation: words, or a call with its result.
fn turn() -> impl Strategy<Value = (u8, String, String)> {
    (0..4u8, text(), text())
}

fn messages(turns: &[(u8, String, String)]) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": "Begin." })];
    for (at, (kind, one, two)) in turns.iter().enumerate() {
        let id = format!("call_{at}");
        match kind {
            0 => messages.push(json!({ "role": "user", "content": one })),
            1 => messages.push(json!({ "role": "assistant", "content": format!("{one}.") })),
            _ => messages.extend([
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": id, "type": "function",
                      "function": { "name": "shell", "arguments": json!({ "command": one }).to_string() } } ] }),
                json!({ "role": "tool", "tool_call_id": id, "content": two.repeat(6) }),
            ]),
        }
    }
    json!({ "messages": messages })
}

const NOW: Timestamp = Timestamp::from_ms(1_790_000_000_000);

fn compacted(bytes: &[u8], format: &str, archive: &Archive, percent: u64) -> Outcome {
    let policy = Policy::default();
    let options = Options {
        budget: Budget::Percent(percent),
        policy: &policy,
        now: NOW,
        secrets: Secrets::Mask,
        unmet: Unmet::BestEffort,
        purpose: Purpose::File,
        summariser: None,
    };
    compact(&SessionFiles::of(transcript(bytes, format)), Some(archive), &options, &mut |_| {}).unwrap()
}

fn transcript(bytes: &[u8], format: &str) -> Transcript {
    Transcript::from_bytes("session", bytes.to_vec(), Some(format)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn compact_then_show_equals_the_original(turns in prop::collection::vec(turn(), 1..14), percent in 1..100u64) {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::open(home.path(), Mode::CreateIfMissing).unwrap();
        let body = messages(&turns).to_string().into_bytes();
        let run = |body: &[u8]| compacted(body, "openai-chat", &archive, percent);
        let Outcome::Compacted(compacted, report) = run(&body) else { return Ok(()) };
        prop_assert!(report.tokens_after < report.tokens_before);
        let Some(record) = compacted.record() else { return Ok(()) };
        for span in &record.spans {
            let ranges = span.location.as_ref().unwrap().ranges.as_slice();
            let expected: Vec<u8> = ranges.iter().flat_map(|range| range.of(&body).unwrap().to_vec()).collect();
            prop_assert_eq!(bytes(&archive, span).unwrap(), expected);
        }
        // The same input gives the same bytes, and compacting the output again loses no span.
        let Outcome::Compacted(again, _) = run(&body) else { panic!("not deterministic") };
        prop_assert!(compacted.bytes() == again.bytes(), "the same input gave other bytes");
        if let Outcome::Compacted(second, _) = run(compacted.bytes()) {
            let ordinals = |record: Option<&strongroom::vault::CompactionRecord>| -> Vec<u32> {
                record.into_iter().flat_map(|record| &record.spans).map(|span| span.ordinal).collect()
            };
            let (first, second) = (ordinals(compacted.record()), ordinals(second.record()));
            prop_assert!(first.iter().all(|ordinal| second.contains(ordinal)));
        }
    }
}
