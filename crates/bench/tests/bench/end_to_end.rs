//! Questions about the examples are made, put, scored and reported, and their answers are unique.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use strongroom_bench::budget::Share;
use strongroom_bench::corpus::{self, Disclosure, Making};
use strongroom_bench::judge::judge;
use strongroom_bench::plot::plot;
use strongroom_bench::protocol::Measured;
use strongroom_bench::question::{Expect, Question, Role};
use strongroom_bench::reply::Condition;
use strongroom_bench::report::Made;
use strongroom_bench::run::{Plan, run};
use strongroom_bench::{read, seed};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// One log and one request: each form of a compaction once.
const RUN: [&str; 2] = ["claude-code.jsonl", "openai-chat.json"];

fn made(seed: &str, disclosure: Disclosure) -> Vec<u8> {
    let mut out = Vec::new();
    corpus::make(&examples(), &Making { seed, disclosure, per_family: 1 }, &mut out).unwrap();
    out
}

fn questions() -> Vec<Question> {
    let text = String::from_utf8(made("s", Disclosure::Open)).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_same_seed_makes_the_same_bytes_and_another_seed_others() {
    let first = made("s", Disclosure::Open);
    assert_eq!(first, made("s", Disclosure::Open));
    assert_ne!(first, made("t", Disclosure::Open));
    let hidden = String::from_utf8(made("a hidden seed", Disclosure::Hidden)).unwrap();
    assert!(!hidden.contains("a hidden seed") && hidden.contains(&seed::hex("a hidden seed")));
}

#[test]
fn gold_stands_where_the_question_says_and_nowhere_else() {
    let mut files = BTreeMap::new();
    let mut checked = 0;
    for question in questions() {
        let session =
            files.entry((question.transcript.clone(), question.variant.as_ref().map(|own| own.name.clone())));
        let session = session.or_insert_with(|| {
            let bytes = std::fs::read(examples().join(&question.transcript)).unwrap();
            let bytes = question.variant.as_ref().map_or_else(|| bytes.clone(), |own| own.apply(&bytes));
            read::session(&question.transcript, bytes).unwrap()
        });
        for gold in &question.gold {
            let range = usize::try_from(gold.bytes.0).unwrap()..usize::try_from(gold.bytes.1).unwrap();
            assert_eq!(seed::hex_of(&session.bytes[range]), gold.sha256, "{}", question.id);
        }
        if question.kind == "argument-by-piece" {
            let piece = question.query.split('"').nth(1).unwrap();
            let holders = session.holders(piece, 100).unwrap().0;
            assert_eq!(holders.is_empty(), question.role == Role::Twin, "{}", question.query);
            assert!(holders.len() <= 2, "a call and its result: {}", question.query);
            checked += 1;
        }
        let for_nothing = question.expect == Expect::Refused && question.role == Role::Asked;
        assert!(!for_nothing, "{} asks for nothing", question.id);
    }
    assert!(checked >= 8, "{checked} pieces only");
}

#[test]
fn a_run_on_the_examples_has_no_silent_error() {
    let own = |question: &Question| RUN.contains(&question.transcript.as_str()) && question.variant.is_none();
    let questions: Vec<Question> = questions().into_iter().filter(own).collect();
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan {
        conditions: vec![Condition::Full, Condition::Context, Condition::Retrieval],
        budgets: vec![Share::percent(30)],
        plain: false,
        most: usize::MAX,
        baselines: true,
        memory: None,
        measured: Some(Measured { name: "echo".into(), compact: "cat".into(), answer: None }),
    };
    let mut replies = Vec::new();
    run(&examples(), &questions, &plan, &mut replies, &mut |_| {}).unwrap();
    let path = dir.path().join("replies.jsonl");
    std::fs::write(&path, &replies).unwrap();
    let header =
        serde_json::from_slice(made("s", Disclosure::Open).split(|&byte| byte == b'\n').next().unwrap())
            .unwrap();
    let mut faults = Vec::new();
    let scores = judge(&examples(), (header, &questions), &[path], &mut |fault| {
        faults.push(format!("{:?} {} {:?}", fault.score.mark, fault.question.query, fault.reply.condition));
        Ok(())
    })
    .unwrap();
    let rows = |condition| {
        scores
            .tallies
            .rows
            .iter()
            .find(|(group, _)| group.condition == condition && group.answerer == "strongroom")
            .unwrap()
    };
    let (full, retrieval) = (&rows(Condition::Full).1, &rows(Condition::Retrieval).1);
    assert!(full.replies >= 20, "{} replies", full.replies);
    assert_eq!(full.silent.hits + retrieval.silent.hits, 0, "{faults:#?}");
    assert!(retrieval.exact.share() > 0.9, "{faults:#?}");
    let echo = scores.tallies.rows.iter().find(|(group, _)| group.answerer == "echo").unwrap();
    assert!(
        (echo.1.exact.share() - 1.0).abs() < f64::EPSILON,
        "whoever returns everything has everything: {faults:#?}"
    );
    let page = scores.markdown(&Made::default());
    assert!(page.contains("| keep last, 30 % |") && plot(&scores).starts_with("<svg"));
}
