//! What the agents' own rules make of a log: boundaries, rewinds, replays, turns taken back.

use strongroom_core::span::{SpanKind, segment};
use strongroom_core::transcript::{BlockKind, Branch, Ending, SourceIndex, Speaker, Visibility};
use strongroom_formats::{Edit, by_name, text};

/// A Claude Code line in the chain; `more` are further members.
fn line(id: &str, parent: Option<&str>, kind: &str, more: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s1","type":"{kind}","uuid":"{id}"{more}}}"#
    )
}

fn user(id: &str, parent: Option<&str>, words: &str) -> String {
    line(id, parent, "user", &format!(r#","message":{{"role":"user","content":"{words}"}}"#))
}

fn assistant(id: &str, parent: &str, message: &str, part: &str) -> String {
    line(
        id,
        Some(parent),
        "assistant",
        &format!(r#","message":{{"id":"{message}","role":"assistant","content":[{part}]}}"#),
    )
}

fn says(words: &str) -> String {
    format!(r#"{{"type":"text","text":"{words}"}}"#)
}

fn calls(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{id}"}}}}"#)
}

fn result(id: &str, parent: &str, call: &str) -> String {
    let content = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"output of {call}"}}"#);
    line(id, Some(parent), "user", &format!(r#","message":{{"role":"user","content":[{content}]}}"#))
}

fn boundary(id: &str, logical: &str, more: &str) -> String {
    line(
        id,
        None,
        "system",
        &format!(r#","subtype":"compact_boundary","logicalParentUuid":"{logical}"{more}"#),
    )
}

fn summary(id: &str, parent: &str) -> String {
    line(
        id,
        Some(parent),
        "user",
        r#","message":{"role":"user","content":"The summary."},"isCompactSummary":true"#,
    )
}

fn index(format: &str, lines: &[String]) -> (Vec<u8>, SourceIndex) {
    let bytes = (lines.join("\n") + "\n").into_bytes();
    let index = by_name(format).unwrap().index(&bytes).unwrap();
    segment(&index).check_cover(&index).unwrap();
    (bytes, index)
}

/// The first texts that would be sent.
fn sent((bytes, index): &(Vec<u8>, SourceIndex)) -> Vec<String> {
    let sent = index.blocks().filter(|(_, block)| block.visibility == Visibility::Context);
    sent.filter_map(|(_, block)| block.text.first().map(|range| text(bytes, *range).unwrap())).collect()
}

fn abandoned(index: &SourceIndex) -> Vec<&str> {
    let gone = index.records.iter().filter(|record| record.branch == Branch::Abandoned);
    gone.filter_map(|record| record.id.as_deref()).collect()
}

#[test]
fn what_stands_before_a_boundary_is_past_and_not_abandoned() {
    let read = index(
        "claude-code",
        &[
            user("1", None, "old"),
            assistant("2", "1", "m1", &says("old answer")),
            boundary("3", "2", ""),
            summary("4", "3"),
            user("5", Some("4"), "new"),
        ],
    );
    assert_eq!(sent(&read), ["The summary.", "new"]);
    assert!(abandoned(&read.1).is_empty());
    let block = &read.1.records[3].blocks[0];
    assert_eq!((&block.kind, block.speaker), (&BlockKind::Summary, Speaker::Derived));
}

#[test]
fn preserved_messages_stand_before_the_boundary_and_are_sent() {
    let segment =
        r#","compactMetadata":{"preservedSegment":{"headUuid":"3","anchorUuid":"6","tailUuid":"4"}}"#;
    let read = index(
        "claude-code",
        &[
            user("1", None, "old"),
            assistant("2", "1", "m1", &says("old answer")),
            user("3", Some("2"), "kept"),
            assistant("4", "3", "m2", &says("kept answer")),
            boundary("5", "4", segment),
            summary("6", "5"),
            user("7", Some("4"), "new"),
        ],
    );
    assert_eq!(sent(&read), ["kept", "kept answer", "The summary.", "new"]);
    assert!(abandoned(&read.1).is_empty());
}

#[test]
fn rewinds_are_abandoned_and_parallel_calls_are_not() {
    let read = index(
        "claude-code",
        &[
            user("1", None, "go"),
            assistant("2", "1", "m1", &calls("a")),
            assistant("3", "2", "m1", &calls("b")),
            result("4", "2", "a"),
            result("5", "3", "b"),
            assistant("6", "5", "m2", &says("wrong way")),
            user("7", Some("6"), "Redis."),
            user("8", Some("6"), "Postgres."),
        ],
    );
    assert_eq!(sent(&read), ["go", "output of a", "output of b", "wrong way", "Postgres."]);
    assert_eq!(abandoned(&read.1), ["7"]);
}

#[test]
fn replayed_lines_are_copies_and_other_bytes_are_a_conflict() {
    let charge =
        [user("1", None, "charge once"), assistant("2", "1", "m1", &calls("c")), result("3", "2", "c")];
    let mut lines = charge.to_vec();
    lines.extend([boundary("4", "3", ""), summary("5", "4")]);
    lines.extend(charge);
    lines.push(user("1", None, "something else"));
    let (_, index) = index("claude-code", &lines);
    let spans = segment(&index);
    assert_eq!(spans.spans.iter().filter(|span| span.kind == SpanKind::Call).count(), 1);
    let codes: Vec<(&str, u32)> =
        index.findings.iter().map(|finding| (finding.code, finding.line.unwrap())).collect();
    assert_eq!(
        codes,
        [("duplicate-record", 6), ("duplicate-record", 7), ("duplicate-record", 8), ("uuid-conflict", 9)]
    );
}

#[test]
fn cleared_results_are_past_and_stay_placeholders_in_copies() {
    let cleared = r#","subtype":"microcompact_boundary","microcompactMetadata":{"compactedToolIds":["a"],"clearedAttachmentUUIDs":[]}"#;
    let (bytes, index) = index(
        "claude-code",
        &[
            user("1", None, "go"),
            assistant("2", "1", "m1", &calls("a")),
            result("3", "2", "a"),
            line("4", Some("3"), "system", cleared),
            assistant("5", "4", "m2", &says("done")),
        ],
    );
    assert_eq!(index.records[2].blocks[0].visibility, Visibility::Past);
    let edit = Edit { summary: "S".to_owned(), seed: vec![1], ..Edit::default() };
    let out = by_name("claude-code").unwrap().splice(&bytes, &index, &segment(&index), &edit).unwrap().bytes;
    let tail = String::from_utf8(out[bytes.len()..].to_vec()).unwrap();
    assert!(tail.contains("[Old tool result content cleared]") && !tail.contains("output of a"), "{tail}");
}

#[test]
fn two_sessions_in_one_file_are_told_apart() {
    let other = |line: String| line.replace("\"s1\"", "\"s2\"");
    let read = index(
        "claude-code",
        &[
            user("1", None, "drop it"),
            other(user("2", None, "never drop")),
            assistant("3", "1", "m1", &says("dropped")),
            other(assistant("4", "2", "m2", &says("I will not"))),
        ],
    );
    assert_eq!(sent(&read), ["never drop", "I will not"]);
    assert!(abandoned(&read.1).is_empty());
    assert_eq!(read.1.findings[0].code, "multiple-sessions");
    assert_eq!(read.1.records[0].session.as_deref(), Some("s1"));
}

#[test]
fn rings_and_missing_parents_end() {
    let read = index(
        "claude-code",
        &[user("1", Some("2"), "a"), user("2", Some("1"), "b"), user("3", Some("gone"), "c")],
    );
    assert_eq!(sent(&read), ["c"]);
    let ring = index("claude-code", &[user("1", Some("1"), "a")]);
    assert_eq!(sent(&ring), ["a"]);
}

#[test]
fn a_child_transcript_is_addressed_by_its_parent_agent() {
    let child =
        |line: String| line.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a9\"");
    let read = index(
        "claude-code",
        &[child(user("1", None, "audit")), child(assistant("2", "1", "m", &says("ok")))],
    );
    assert_eq!(sent(&read), ["audit", "ok"]);
    assert_eq!(read.1.records[0].blocks[0].speaker, Speaker::Agent);
    assert_eq!(read.1.records[0].agent.as_deref(), Some("a9"));
}

#[test]
fn harness_words_count_only_under_the_error_flag() {
    let failed = |content: &str, flag: bool| {
        let part =
            format!(r#"{{"type":"tool_result","tool_use_id":"a","content":"{content}","is_error":{flag}}}"#);
        let (_, index) = index(
            "claude-code",
            &[line("1", None, "user", &format!(r#","message":{{"role":"user","content":[{part}]}}"#))],
        );
        match &index.records[0].blocks[0].kind {
            BlockKind::Result(facts) => (facts.ending.clone(), facts.exit_code),
            other => panic!("{other:?}"),
        }
    };
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected";
    assert_eq!(failed(refusal, true), (Ending::Refused, None));
    assert_eq!(failed(refusal, false), (Ending::Returned, None));
    assert_eq!(failed(r"Exit code 143\nCommand timed out after 10m 0s", true), (Ending::TimedOut, Some(143)));
    assert_eq!(failed("Exit code 1", false), (Ending::Returned, None));
}

fn item(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-05-04T09:00:00.000Z","type":"response_item","payload":{payload}}}"#)
}

fn message(role: &str, words: &str) -> String {
    item(&format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{words}"}}]}}"#
    ))
}

fn event(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-05-04T09:00:00.000Z","type":"event_msg","payload":{payload}}}"#)
}

#[test]
fn codex_turns_that_were_taken_back_are_abandoned() {
    let read = index(
        "codex",
        &[
            message("user", "one"),
            message("assistant", "first"),
            message("user", "two"),
            message("assistant", "second"),
            event(r#"{"type":"thread_rolled_back","num_turns":1}"#),
            message("user", "three"),
        ],
    );
    assert_eq!(sent(&read), ["one", "first", "three"]);
    assert_eq!(read.1.records.iter().filter(|record| record.branch == Branch::Abandoned).count(), 2);
}

#[test]
fn codex_replaced_histories_are_what_is_sent() {
    let reordered = r#"{"content":[{"text":"one","type":"input_text"}],"role":"user","type":"message"}"#;
    let foreign = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Another language model started to solve this problem: all done"}]}"#;
    let compacted = format!(
        r#"{{"timestamp":"2026-05-04T09:00:00.000Z","type":"compacted","payload":{{"message":"","replacement_history":[{reordered},{foreign}]}}}}"#
    );
    let read = index(
        "codex",
        &[message("user", "one"), message("assistant", "first"), compacted, message("user", "two")],
    );
    assert_eq!(sent(&read), ["one", "Another language model started to solve this problem: all done", "two"]);
    let blocks = &read.1.records[2].blocks;
    assert!(blocks[0].copy_of.is_some());
    assert_eq!((&blocks[1].kind, blocks[1].speaker), (&BlockKind::Summary, Speaker::Derived));
    let old =
        r#"{"timestamp":"2026-05-04T09:00:00.000Z","type":"compacted","payload":{"message":"Did one."}}"#
            .to_owned();
    let read =
        index("codex", &[message("user", "one"), message("assistant", "first"), old, message("user", "two")]);
    assert_eq!(sent(&read), ["one", "Did one.", "two"]);
}

#[test]
fn a_search_that_codex_writes_twice_is_one_call() {
    let action = |words: &str| format!(r#"{{"type":"search","query":"{words}"}}"#);
    let shown = |id: &str, words: &str| {
        event(&format!(
            r#"{{"type":"web_search_end","call_id":"{id}","query":"{words}","action":{}}}"#,
            action(words)
        ))
    };
    let item = |words: &str| {
        format!(
            r#"{{"timestamp":"2026-05-04T09:00:00.000Z","type":"response_item","payload":{{"type":"web_search_call","status":"completed","action":{}}}}}"#,
            action(words)
        )
    };
    let lines = [
        message("user", "look it up"),
        shown("ws_1", "tides"),
        item("tides"),
        shown("ws_2", "tides"),
        item("tides"),
        shown("ws_3", "moons"),
    ];
    let read = index("codex", &lines);
    let kinds: Vec<SpanKind> = segment(&read.1).spans.iter().skip(1).map(|span| span.kind).collect();
    assert_eq!(kinds, [SpanKind::Call; 3]);
    assert!(read.1.findings.is_empty(), "{:?}", read.1.findings);
}

#[test]
fn pi_loads_the_last_branch_behind_its_last_compaction() {
    let sample = crate::corpus::fixture("pi");
    let read = (sample.bytes.clone(), sample.format.index(&sample.bytes).unwrap());
    assert_eq!(
        sent(&read),
        [
            "Two files.",
            "limit = 3",
            "1 failed\n\nCommand exited with code 2",
            "The user wants a higher limit.",
            "Successfully replaced text in lamp.toml.",
            " lamp.toml | 2 +-",
            "High water at 04:12.",
            "The limit is 7 now.",
        ]
    );
    assert_eq!(abandoned(&read.1), ["a0000004"]);
    let failed = read.1.blocks().find_map(|(_, block)| match &block.kind {
        BlockKind::Result(facts) if facts.error == Some(true) => Some(facts.clone()),
        _ => None,
    });
    let failed = failed.unwrap();
    assert_eq!((failed.exit_code, failed.cuts.len()), (Some(2), 1));
    assert_eq!(read.1.usage.len(), 4);
}

/// In the oldest form entries stand in a row, and a compaction counts entries.
#[test]
fn pi_sessions_without_ids_are_folded_in_their_own_form() {
    let says = |role: &str, words: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2025-12-08T22:00:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{words}"}}]}}}}"#
        )
    };
    let compacted = r#"{"type":"compaction","timestamp":"2025-12-08T22:00:00.000Z","summary":"One was said.","firstKeptEntryIndex":2,"tokensBefore":9}"#;
    let read = index(
        "pi",
        &[
            r#"{"type":"session","id":"s","timestamp":"2025-12-08T22:00:00.000Z","cwd":"/w","provider":"p"}"#
                .to_owned(),
            says("user", "one"),
            says("user", "two"),
            compacted.to_owned(),
            says("assistant", "three"),
        ],
    );
    assert_eq!(sent(&read), ["two", "One was said.", "three"]);
    let edit = Edit { summary: "S".to_owned(), seed: vec![1], ..Edit::default() };
    let (bytes, before) = read;
    let out = by_name("pi").unwrap().splice(&bytes, &before, &segment(&before), &edit).unwrap().bytes;
    let tail = String::from_utf8(out[bytes.len()..].to_vec()).unwrap();
    assert!(tail.starts_with(r#"{"type":"compaction","timestamp":"2025-12-08T22:00:00.000Z","summary":"S","firstKeptEntryIndex":5"#), "{tail}");
    let after = by_name("pi").unwrap().index(&out).unwrap();
    assert_eq!(sent(&(out, after)), ["S", "two", "One was said.", "three"]);
}

#[test]
fn gemini_logs_count_the_last_line_of_an_id_and_take_back_what_was_rewound() {
    let bytes = include_bytes!("../fixtures/gemini-cli.jsonl").to_vec();
    let read = by_name("gemini-cli").unwrap().index(&bytes).unwrap();
    assert_eq!(abandoned(&read), ["x1", "x2"]);
    let spans = segment(&read);
    let said = |words: &str| {
        let is_it = |span: &&strongroom_core::span::Span| {
            span.blocks.iter().any(|&at| {
                let block = read.block(at).unwrap();
                block.text.first().is_some_and(|range| text(&bytes, *range).unwrap() == words)
            })
        };
        spans.spans.iter().filter(is_it).map(|span| span.blocks.len()).collect::<Vec<_>>()
    };
    assert_eq!(said("I read the file."), [2], "a message written again is one event");
    let endings: Vec<(Option<i32>, Option<bool>, Ending)> = read
        .blocks()
        .filter_map(|(_, block)| match &block.kind {
            BlockKind::Result(facts) => Some((facts.exit_code, facts.error, facts.ending.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(
        endings,
        [
            (None, Some(false), Ending::Returned),
            (Some(2), Some(false), Ending::Returned),
            (None, Some(true), Ending::Refused)
        ]
    );
    assert_eq!(
        sent(&(bytes, read)),
        [
            "Raise the lamp's limit. token=abc-123",
            "I read the file.",
            "limit = 3",
            "Command: make check\nDirectory: (root)\nOutput: 1 failed\nError: (none)\nExit Code: 2\nSignal: 0",
            "[Operation Cancelled] Reason: User did not allow tool call",
            "Leave it at three. é",
            "The limit stays.",
        ]
    );
}

#[test]
fn gemini_checkpoints_of_the_program_replace_the_conversation() {
    let message = |id: &str, kind: &str, words: &str| {
        format!(
            r#"{{"id":"{id}","timestamp":"2026-05-04T09:00:00.000Z","type":"{kind}","content":"{words}"}}"#
        )
    };
    let checkpoint = format!(
        r#"{{"$set":{{"messages":[{},{}]}}}}"#,
        message("s", "user", "<state_snapshot>all</state_snapshot>"),
        message("b", "gemini", "second")
    );
    let read = index(
        "gemini-cli",
        &[
            r#"{"sessionId":"s","projectHash":"p","startTime":"2026-05-04T09:00:00.000Z"}"#.to_owned(),
            message("a", "user", "first"),
            message("b", "gemini", "second"),
            checkpoint,
            message("c", "user", "third"),
        ],
    );
    assert_eq!(sent(&read), ["<state_snapshot>all</state_snapshot>", "second", "third"]);
    let summary = &read.1.records[3].blocks[0];
    assert_eq!((&summary.kind, summary.speaker), (&BlockKind::Summary, Speaker::Derived));
    assert!(read.1.records[3].blocks[1].copy_of.is_some());
    assert!(abandoned(&read.1).is_empty());
}

#[test]
fn cline_texts_that_the_program_wrote_are_not_the_users_and_calls_in_text_are_holes() {
    let bytes = include_bytes!("../fixtures/cline-task.json").to_vec();
    let read = by_name("cline").unwrap().index(&bytes).unwrap();
    let speakers: Vec<Speaker> = read.blocks().map(|(_, block)| block.speaker).collect();
    let expected = [
        Speaker::User,
        Speaker::Harness,
        Speaker::Assistant,
        Speaker::Harness,
        Speaker::User,
        Speaker::Derived,
        Speaker::Assistant,
        Speaker::Assistant,
        Speaker::Tool,
        Speaker::Assistant,
    ];
    assert_eq!(speakers, expected);
    assert!(matches!(read.records[1].blocks[0].kind, BlockKind::Opaque(_)));
    assert_eq!(sent(&(bytes, read))[0], "The limit is three.");
    let sample = crate::corpus::fixture("cline");
    let read = sample.format.index(&sample.bytes).unwrap();
    let summaries = read.blocks().filter(|(_, block)| block.kind == BlockKind::Summary).count();
    assert_eq!((summaries, read.blocks().next().unwrap().1.speaker), (1, Speaker::User));
}

#[test]
fn costs_and_copies_of_requests_are_no_holes_in_a_claude_code_log() {
    let cost = r#"{"type":"cost-state","sessionId":"s1","totalCostUSD":0.5}"#.to_owned();
    let request = r#"{"type":"api-request-blob","sessionId":"s1","blob":"H4sIAAAA"}"#.to_owned();
    let read =
        index("claude-code", &[user("1", None, "go"), cost, request, assistant("2", "1", "m", &says("ok"))]);
    assert_eq!(sent(&read), ["go", "ok"]);
    assert!(read.1.findings.is_empty(), "{:?}", read.1.findings);
    assert!(!read.1.blocks().any(|(_, block)| matches!(block.kind, BlockKind::Opaque(_))));
    let copy = &read.1.records[2].blocks[0];
    assert_eq!((copy.speaker, copy.visibility), (Speaker::Harness, Visibility::Aside));
}
