//! Splicing: identity, legal results, copies that are known as copies, texts that stay.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use strongroom_core::range::ByteRange;
use strongroom_core::span::{Segmentation, SpanIndex, in_context, segment};
use strongroom_core::transcript::{BlockKind, Bytes, Form, SourceIndex, Visibility};
use strongroom_formats::{Edit, Mask, text};

use crate::corpus::{Sample, fixture, fixtures, for_each_case, for_each_real};

fn edit_of(spans: impl IntoIterator<Item = SpanIndex>) -> Edit {
    Edit {
        summary: "Derived, not evidence.\nThe \"limit\" was read.".to_owned(),
        seed: b"seed".to_vec(),
        reclaimed: spans.into_iter().map(|span| (span, format!("[span {} reclaimed]", span.0))).collect(),
        ..Edit::default()
    }
}

/// The groups that would be sent, each with its spans, without what is never reclaimed.
fn groups(index: &SourceIndex, spans: &Segmentation) -> Vec<Vec<SpanIndex>> {
    let mut groups: Vec<Vec<SpanIndex>> = vec![Vec::new(); usize::try_from(spans.groups).unwrap()];
    let mut fixed = BTreeSet::new();
    for span in &spans.spans {
        groups[usize::try_from(span.group.0).unwrap()].push(span.index);
        if span.open || !in_context(index, span) && index.form == Form::Elide {
            fixed.insert(span.group);
        }
    }
    groups
        .into_iter()
        .filter(|group| group.iter().any(|&span| in_context(index, spans.span(span).unwrap())))
        .filter(|group| group.iter().all(|&span| !fixed.contains(&spans.span(span).unwrap().group)))
        .collect()
}

/// The texts that would be sent, of spans outside `gone`, in no order.
fn texts(
    bytes: &dyn Bytes,
    index: &SourceIndex,
    spans: &Segmentation,
    gone: &BTreeSet<SpanIndex>,
) -> Vec<String> {
    let mut texts = Vec::new();
    for span in spans.spans.iter().filter(|span| !gone.contains(&span.index)) {
        for &at in &span.blocks {
            let block = index.block(at).unwrap();
            // Request bodies keep the thinking that the API does not let go.
            let sealed =
                block.kind == BlockKind::Thinking && (block.text.is_empty() || index.form == Form::Elide);
            if block.visibility == Visibility::Context && block.kind != BlockKind::Summary && !sealed {
                texts.extend(block.text.iter().map(|range| text(bytes, *range).unwrap()));
            }
        }
    }
    texts.sort();
    texts
}

/// Compacts and checks what must hold of every result; returns it.
fn compact(sample: &Sample, edit: &Edit) -> Vec<u8> {
    let index = sample.format.index(&sample.bytes).unwrap();
    let spans = segment(&index);
    let out = sample
        .format
        .splice(&sample.bytes, &index, &spans, edit)
        .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
    let (out, checked) = (out.bytes, out.index);
    let after = sample.format.index(&out).unwrap();
    assert!(checked == after, "{}: checked as something else than it is", sample.name);
    let again = segment(&after);
    again.check_cover(&after).unwrap();
    let gone: BTreeSet<SpanIndex> =
        edit.reclaimed.iter().map(|(span, _)| *span).chain(edit.replaced_summaries.iter().copied()).collect();
    let kept = texts(&sample.bytes, &index, &spans, &gone);
    let mut now = texts(&out, &after, &again, &BTreeSet::new());
    if index.form == Form::Elide {
        now.retain(|text| !text.contains(" reclaimed]") && *text != edit.summary);
    } else {
        // A list of events is open at its end.
        let list_end = sample.bytes.iter().rposition(|byte| *byte == b']' && sample.bytes[0] == b'[');
        let before = sample.bytes[..list_end.unwrap_or(sample.bytes.len())].trim_ascii_end();
        assert!(out.starts_with(before), "{}: earlier lines stay", sample.name);
        let events = |spans: &Segmentation| spans.spans.iter().filter(|span| !span.blocks.is_empty()).count();
        assert!(events(&again) <= events(&spans) + 1, "{}: copies count as events", sample.name);
    }
    // What a microcompaction cleared is sent as a placeholder, and stays one in the copy.
    now.retain(|text| text != "[Old tool result content cleared]");
    if edit.masks.is_empty() {
        let missing: Vec<&String> = kept.iter().filter(|text| !now.contains(text)).collect();
        assert!(missing.is_empty(), "{}: no longer sent: {missing:?}", sample.name);
        assert_eq!(now.len(), kept.len(), "{}: sent more often than before", sample.name);
    }
    out
}

#[test]
fn an_edit_that_changes_nothing_gives_the_input() {
    let mut check = |sample: &Sample| {
        let index = sample.format.index(&sample.bytes).unwrap();
        let out =
            sample.format.splice(&sample.bytes, &index, &segment(&index), &Edit::default()).unwrap().bytes;
        assert!(out == sample.bytes, "{}", sample.name);
    };
    fixtures().iter().for_each(&mut check);
    for_each_case(&mut check);
    for_each_real(700_000, &mut check);
}

#[test]
fn everything_that_may_go_can_go() {
    for sample in fixtures() {
        let index = sample.format.index(&sample.bytes).unwrap();
        let all = groups(&index, &segment(&index));
        compact(&sample, &edit_of(all.into_iter().flatten()));
    }
}

#[test]
fn real_files_and_cases_can_be_compacted() {
    let mut check = |sample: &Sample| {
        let index = sample.format.index(&sample.bytes).unwrap();
        let spans = segment(&index);
        let all = groups(&index, &spans);
        if all.is_empty() || matches!(index.form, Form::ReadOnly(_)) {
            return;
        }
        for keep in [2, 3] {
            let gone =
                all.iter().enumerate().filter(|(at, _)| at % keep != 0).flat_map(|(_, group)| group.clone());
            compact(sample, &edit_of(gone));
        }
    };
    for_each_case(&mut check);
    for_each_real(700_000, &mut check);
}

#[test]
fn the_same_edit_gives_the_same_bytes() {
    for sample in fixtures() {
        let index = sample.format.index(&sample.bytes).unwrap();
        let edit = edit_of(groups(&index, &segment(&index)).into_iter().skip(1).flatten());
        assert_eq!(compact(&sample, &edit), compact(&sample, &edit));
    }
}

#[test]
fn generations_count_every_event_once() {
    let is_fold = |sample: &Sample| sample.format.index(&sample.bytes).unwrap().form == Form::Fold;
    for sample in fixtures().into_iter().filter(is_fold) {
        let mut current = Sample { name: sample.name.clone(), ..sample };
        let first = segment(&current.format.index(&current.bytes).unwrap());
        let events = first.spans.iter().filter(|span| !span.blocks.is_empty()).count();
        for generation in 0..6u8 {
            let index = current.format.index(&current.bytes).unwrap();
            let spans = segment(&index);
            let all = groups(&index, &spans);
            let is_summary = |span: &SpanIndex| {
                let blocks = &spans.span(*span).unwrap().blocks;
                blocks.iter().any(|&at| index.block(at).unwrap().kind == BlockKind::Summary)
            };
            let old: Vec<SpanIndex> = all.iter().flatten().copied().filter(is_summary).collect();
            let gone: Vec<SpanIndex> =
                all.iter().skip(1).take(1).flatten().copied().filter(|span| !is_summary(span)).collect();
            let edit = Edit {
                replaced_summaries: old,
                seed: vec![generation],
                summary: format!("generation {generation}"),
                ..edit_of(gone)
            };
            let bytes = compact(&current, &edit);
            current = Sample { bytes, ..current };
            let index = current.format.index(&current.bytes).unwrap();
            let now = segment(&index).spans.iter().filter(|span| !span.blocks.is_empty()).count();
            assert_eq!(
                now,
                events + usize::from(generation) + 1,
                "{}: one summary more, nothing else",
                current.name
            );
        }
    }
}

fn find(haystack: &[u8], needle: &str) -> Vec<usize> {
    let needle = needle.as_bytes();
    (0..haystack.len().saturating_sub(needle.len()))
        .filter(|&at| haystack[at..].starts_with(needle))
        .collect()
}

fn masks(bytes: &[u8], secret: &str) -> Vec<Mask> {
    let wide = |at: usize| u64::try_from(at).unwrap();
    let place = |at: usize| Mask {
        range: ByteRange::new(wide(at), wide(at + secret.len())),
        replacement: "\"hidden\"".to_owned(),
    };
    find(bytes, secret).into_iter().map(place).collect()
}

#[test]
fn masks_hide_text_in_request_bodies() {
    for name in ["openai-chat", "anthropic-messages", "openai-responses"] {
        let sample = fixture(name);
        let edit = Edit { masks: masks(&sample.bytes, "abc-123"), ..Edit::default() };
        let out = compact(&sample, &edit);
        assert!(find(&out, "abc-123").is_empty());
        assert_eq!(find(&out, r#"token=\"hidden\""#).len(), 1, "{name}");
    }
}

#[test]
fn masks_hide_text_in_copies_only_and_the_copies_are_still_known() {
    for (name, secret) in [
        ("claude-code", "sk-test-0000"),
        ("codex", "make check"),
        ("codex", "The limit is 7 now."),
        ("pi", "git diff --stat"),
        ("pi", "1 failed"),
    ] {
        let sample = fixture(name);
        let index = sample.format.index(&sample.bytes).unwrap();
        let spans = segment(&index);
        // Masks are made for the first rendition of an event only.
        let mut found = masks(&sample.bytes, secret);
        found.truncate(1);
        let edit = Edit { masks: found, ..edit_of([]) };
        let out = compact(&sample, &edit);
        assert!(out.starts_with(&sample.bytes));
        let tail: Vec<u8> = out[sample.bytes.len()..].to_vec();
        let in_side_data = usize::from(name == "claude-code");
        assert_eq!(find(&tail, secret).len(), in_side_data, "{name}: {}", String::from_utf8_lossy(&tail));
        assert_eq!(find(&tail, "hidden").len(), 1, "{name}");
        let again = segment(&sample.format.index(&out).unwrap());
        let events = |spans: &Segmentation| spans.spans.iter().filter(|span| !span.blocks.is_empty()).count();
        assert_eq!(events(&again), events(&spans) + 1, "{name} {secret}");
    }
}

#[test]
fn shells_names_and_cache_marks_survive_in_request_bodies() {
    for sample in [fixture("openai-chat"), fixture("anthropic-messages")] {
        let index = sample.format.index(&sample.bytes).unwrap();
        let all = groups(&index, &segment(&index));
        let out = String::from_utf8(compact(&sample, &edit_of(all.into_iter().flatten()))).unwrap();
        let value: serde_json::Value = serde_json::from_str(&out.replace(r"\ud83d", "")).unwrap();
        let before: serde_json::Value =
            serde_json::from_str(&String::from_utf8(sample.bytes).unwrap().replace(r"\ud83d", "")).unwrap();
        assert_eq!(
            value["messages"].as_array().unwrap().len(),
            before["messages"].as_array().unwrap().len() + 1
        );
        let count = |value: &serde_json::Value, word: &str| value.to_string().matches(word).count();
        for word in ["cache_control", "tool_call_id", "\"tool_use\"", "is_error", "\"ping\""] {
            assert_eq!(count(&value, word), count(&before, word), "{word}");
        }
        assert!(!out.contains("h1.example"), "{out}");
        assert!(!out.contains("retries"), "{out}");
    }
}

#[test]
fn summaries_stand_where_the_table_says_and_are_replaced_there() {
    for (name, place) in [
        ("openai-chat", "/messages/1"),
        ("anthropic-messages", "/messages/0"),
        ("openai-responses", "/input/1"),
    ] {
        let sample = fixture(name);
        let index = sample.format.index(&sample.bytes).unwrap();
        let call = groups(&index, &segment(&index)).into_iter().max_by_key(Vec::len).unwrap();
        let bytes = compact(&sample, &edit_of(call));
        let index = sample.format.index(&bytes).unwrap();
        let spans = segment(&index);
        let summary = index.records.iter().position(|record| record.pointer == place).unwrap();
        let old =
            spans.spans.iter().find(|span| usize::try_from(span.record).unwrap() == summary).unwrap().index;
        let same = Edit { replaced_summaries: vec![old], ..edit_of([]) };
        assert_eq!(
            sample.format.splice(&bytes, &index, &spans, &same).unwrap().bytes,
            bytes,
            "the same summary in its place"
        );
        let removed = Edit { replaced_summaries: vec![old], ..Edit::default() };
        let out = sample.format.splice(&bytes, &index, &spans, &removed).unwrap().bytes;
        let count = |bytes: &Vec<u8>| sample.format.index(bytes).unwrap().records.len();
        assert_eq!(count(&out), count(&bytes) - 1);
    }
}

#[test]
fn resumed_copies_have_names_and_ids_of_their_own() {
    let sample = fixture("claude-code");
    let index = sample.format.index(&sample.bytes).unwrap();
    let edit = edit_of(groups(&index, &segment(&index)).pop().unwrap());
    let resume = sample.format.resume(&index, &edit).unwrap();
    let session = resume.file_name.strip_suffix(".jsonl").unwrap();
    assert_eq!(resume.command, format!("claude --resume {session}"));
    assert_eq!(resume.directory.as_deref(), Some("/work/shop"));
    let out = compact(&sample, &edit);
    let after = sample.format.index(&out).unwrap();
    assert_eq!(after.records.last().unwrap().session.as_deref(), Some(session));
    assert!(!after.findings.iter().any(|finding| finding.code == "multiple-sessions"));

    let sample = fixture("codex");
    let index = sample.format.index(&sample.bytes).unwrap();
    let resume = sample.format.resume(&index, &edit).unwrap();
    assert!(resume.file_name.starts_with("rollout-2026-05-04T09-00-00-"), "{resume:?}");
    let renamed = sample.format.resumable(sample.bytes.clone(), &edit).unwrap();
    let id = resume.command.strip_prefix("codex resume ").unwrap();
    assert_eq!(
        String::from_utf8(renamed).unwrap().replace(id, "019e0000-cccc-7000-8000-000000000009").into_bytes(),
        sample.bytes
    );
}

/// The agent gathers all lines of a message it loads, wherever they stand.
#[test]
fn copies_belong_to_messages_of_their_own() {
    let sample = fixture("claude-code");
    let out = compact(&sample, &edit_of([]));
    let before = sample.format.index(&sample.bytes).unwrap();
    let after = sample.format.index(&out).unwrap();
    let old: BTreeSet<&str> =
        before.records.iter().filter_map(|record| record.message_id.as_deref()).collect();
    let mut copied: BTreeMap<&str, &str> = BTreeMap::new();
    for record in &after.records[before.records.len()..] {
        let (Some(id), Some(block)) = (record.message_id.as_deref(), record.blocks.first()) else { continue };
        assert!(!old.contains(id), "{id}");
        let original = after.record(block.copy_of.unwrap()).unwrap();
        let same = copied.entry(id).or_insert(original.message_id.as_deref().unwrap());
        assert_eq!(*same, original.message_id.as_deref().unwrap());
    }
    assert!(copied.len() > 1);
    assert_eq!(after.usage, before.usage, "a copy is no second request");

    let id = *copied.keys().next().unwrap();
    let forged = String::from_utf8_lossy(&out).replace(id, "msg_of_somebody").into_bytes();
    let forged = sample.format.index(&forged).unwrap();
    assert!(forged.findings.iter().any(|finding| finding.code == "copy-conflict"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_subset_of_groups_can_be_reclaimed(choice in prop::collection::vec(any::<bool>(), 40), seed in any::<[u8; 4]>()) {
        for sample in fixtures() {
            let index = sample.format.index(&sample.bytes).unwrap();
            let all = groups(&index, &segment(&index));
            let gone = all.into_iter().zip(&choice).filter(|(_, gone)| **gone).flat_map(|(group, _)| group);
            compact(&sample, &Edit { seed: seed.to_vec(), ..edit_of(gone) });
        }
    }
}

/// `LangChain` writes a call up to three times; what a view hides in one must not stand in another.
#[test]
fn masks_and_stubs_reach_every_rendition_of_a_call() {
    let sample = fixture("langchain");
    let mut first = masks(&sample.bytes, "token=abc-123");
    first.remove(0);
    first.truncate(1);
    let out = compact(&sample, &Edit { masks: first, ..Edit::default() });
    assert_eq!(find(&out, "token=abc-123").len(), 1, "only the user's own words are left");
    assert_eq!(find(&out, "hidden").len(), 2);
    for sample in fixtures().into_iter().filter(|sample| sample.format.name() == "langchain") {
        let index = sample.format.index(&sample.bytes).unwrap();
        let all = groups(&index, &segment(&index));
        let out = compact(&sample, &edit_of(all.into_iter().flatten()));
        for words in ["night.toml", "lamp.toml", "limit = 3"] {
            assert!(find(&out, words).is_empty(), "{words}: {}", String::from_utf8_lossy(&out));
        }
    }
}
