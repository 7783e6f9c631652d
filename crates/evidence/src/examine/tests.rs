use super::*;
use crate::content::Next;
use strongroom_core::evidence::Certainty;
use strongroom_core::range::{ByteRange, RangeSet};
use strongroom_core::span::{GroupIndex, Span, SpanIndex};
use strongroom_core::transcript::{
    Argument, ArgumentTree, Arguments, Block, Branch, CallFacts, Record, RecordKind, ResultFacts, Visibility,
};

/// A span under construction: blocks of one record.
struct Draft {
    kind: SpanKind,
    blocks: Vec<(BlockKind, Speaker, String, Option<ArgumentTree>)>,
    cwd: Option<&'static str>,
    next: Next,
    open: bool,
}

fn says(speaker: Speaker, text: &str) -> Draft {
    let blocks = vec![(BlockKind::Text, speaker, text.to_owned(), None)];
    Draft { kind: SpanKind::Utterance, blocks, cwd: None, next: Next::Other, open: false }
}

fn calls(tool: &str, leaves: &[(&str, &str)], result: Option<(ResultFacts, &str)>) -> Draft {
    let leaf = |(pointer, text): &(&str, &str)| Argument {
        pointer: (*pointer).to_owned(),
        value: Scalar::String((*text).to_owned()),
        range: ByteRange::new(0, 0),
    };
    let tree = ArgumentTree { leaves: leaves.iter().map(leaf).collect(), malformed: false };
    let facts = CallFacts { id: None, tool: tool.to_owned(), arguments: Arguments::Missing };
    let mut blocks = vec![(BlockKind::Call(facts), Speaker::Assistant, String::new(), Some(tree))];
    let open = result.is_none();
    blocks
        .extend(result.map(|(facts, text)| (BlockKind::Result(facts), Speaker::Tool, text.to_owned(), None)));
    Draft { kind: SpanKind::Call, blocks, cwd: Some("/app"), next: Next::Other, open }
}

fn examine(examiner: &mut Examiner, draft: Draft) -> Examination {
    let at = |block: usize| BlockRef { record: 0, block: u32::try_from(block).unwrap() };
    let blocks = draft.blocks.iter().map(|(kind, speaker, _, _)| Block {
        kind: kind.clone(),
        range: ByteRange::new(0, 0),
        pointer: String::new(),
        speaker: *speaker,
        visibility: Visibility::Context,
        copy_of: None,
        text: Vec::new(),
    });
    let record = Record {
        line: None,
        pointer: String::new(),
        range: ByteRange::new(0, 0),
        kind: RecordKind::Message,
        label: String::new(),
        id: None,
        message_id: None,
        time: None,
        cwd: draft.cwd.map(str::to_owned),
        session: None,
        agent: None,
        branch: Branch::Active,
        blocks: blocks.collect(),
    };
    let span = Span {
        index: SpanIndex(0),
        kind: draft.kind,
        blocks: (0..draft.blocks.len()).map(at).collect(),
        record: 0,
        ranges: RangeSet::default(),
        group: GroupIndex(0),
        open: draft.open,
    };
    let contents = draft.blocks.into_iter().enumerate().zip(&record.blocks).map(
        |((n, (_, _, text, arguments)), block)| BlockContent {
            at: at(n),
            record: &record,
            block,
            text,
            arguments,
        },
    );
    let content = SpanContent { span: &span, blocks: contents.collect(), next: draft.next };
    let mut alone = Examiner {
        facts: examiner.facts.clone(),
        changing_tools: examiner.changing_tools.clone(),
        agents: examiner.agents.clone(),
    };
    let class = alone.classify(&content);
    let examined = examiner.examine(&content);
    assert_eq!(class, examined.evidence.class, "the class alone is the class of the whole");
    assert_eq!(format!("{:?}", alone.agents), format!("{:?}", examiner.agents), "both remember the same");
    examined
}

fn alone(draft: Draft) -> Examination {
    examine(&mut Examiner::new(ProjectFacts::default()), draft)
}

fn success() -> ResultFacts {
    ResultFacts { exit_code: Some(0), ..ResultFacts::default() }
}

#[test]
fn writes_are_side_effects_and_reads_are_structured() {
    let wrote = alone(calls(
        "Write",
        &[("/file_path", "/etc/app/conf.yaml"), ("/content", "a: 1")],
        Some((success(), "ok")),
    ));
    assert_eq!(wrote.evidence.class, EvidentialClass::SideEffecting(Certainty::Definite));
    assert_eq!(wrote.evidence.call, CallRole::Call);
    assert_eq!(wrote.effects[0].scope.word(), "system");
    assert_eq!(wrote.outcome, Outcome::Ok);
    let read = alone(calls("Bash", &[("/command", "cat a | head -3")], Some((success(), "x"))));
    assert_eq!(read.evidence.class, EvidentialClass::Structured);
    assert_eq!(read.programs, ["cat", "head"]);
    let tested = alone(calls("Bash", &[("/command", "cargo test 2>&1 | tail")], Some((success(), ""))));
    assert_eq!(tested.evidence.class, EvidentialClass::SideEffecting(Certainty::Possible));
    assert!(tested.effects.iter().any(|effect| effect.bounded_by.is_some()));
}

#[test]
fn pins_follow_the_speaker() {
    assert_eq!(alone(says(Speaker::User, "fix the parser")).evidence.pinned, Some(Pin::UserProse));
    assert_eq!(
        alone(says(Speaker::User, "never push to main")).evidence.pinned,
        Some(Pin::StandingConstraint)
    );
    assert_eq!(alone(says(Speaker::Operator, "You are an agent.")).evidence.pinned, Some(Pin::Instructions));
    assert_eq!(alone(says(Speaker::Assistant, "I never push to main")).evidence.pinned, None);
    let open = alone(calls("Bash", &[("/command", "ls")], None));
    assert_eq!((open.evidence.pinned, open.outcome), (Some(Pin::OpenCall), Outcome::Unknown));
}

#[test]
fn narrative_needs_its_call() {
    let mut draft = says(Speaker::Assistant, "Let me look at the tests.");
    draft.next = Next::Call("".into());
    assert!(matches!(alone(draft).evidence.class, EvidentialClass::Narrative(_)));
    assert_eq!(
        alone(says(Speaker::Assistant, "Let me look at the tests.")).evidence.class,
        EvidentialClass::Structured
    );
}

#[test]
fn claims_are_prose_and_counts_are_exact() {
    let claimed = alone(says(Speaker::Assistant, "All tests passed and src/a.rs was not changed."));
    assert_eq!(claimed.evidence.claims, ClaimRole::Claims);
    let Omissions::Nameable(counts) = &claimed.evidence.holds else { panic!() };
    assert_eq!((counts.get(AtomKind::Path), counts.get(AtomKind::Negation)), (1, 1));
    let printed = alone(calls("Bash", &[("/command", "ls")], Some((success(), "5 tests passed"))));
    assert_eq!(printed.evidence.claims, ClaimRole::NoClaims);
}

#[test]
fn what_is_not_read_is_not_nameable() {
    let mut draft = says(Speaker::Assistant, "");
    draft.kind = SpanKind::Opaque;
    draft.blocks[0].0 = BlockKind::Opaque("not JSON".to_owned());
    assert_eq!(alone(draft).evidence.holds, Omissions::Unnameable("not JSON".to_owned()));
    let mut sealed = says(Speaker::Assistant, "");
    sealed.kind = SpanKind::Thinking;
    sealed.blocks[0].0 = BlockKind::Thinking;
    assert!(matches!(alone(sealed).evidence.holds, Omissions::Unnameable(_)));
}

#[test]
fn secrets_are_no_other_atoms() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let found = alone(calls(
        "Bash",
        &[("/command", &format!("curl -H 'Authorization: {token}' https://h/x"))],
        Some((success(), "")),
    ));
    assert_eq!(found.secrets.len(), 1);
    assert_eq!(found.secrets[0].argument.as_deref(), Some("/command"));
    assert!(found.atoms.iter().all(|(_, atom)| !atom.norm.contains(&token)));
}

#[test]
fn a_tool_that_is_said_to_change_something_may_have() {
    let mut examiner =
        Examiner::new(ProjectFacts::default()).with_changing_tools(["get_quote".to_owned()].into());
    let mut call =
        |tool: &str| examine(&mut examiner, calls(tool, &[], Some((success(), "")))).evidence.class;
    assert_eq!(call("get_quote"), EvidentialClass::SideEffecting(Certainty::Possible));
    assert_eq!(call("get_issue"), EvidentialClass::Structured);
}

#[test]
fn later_spans_know_what_earlier_ones_wrote() {
    let mut examiner = Examiner::new(ProjectFacts::default());
    let script = "cat > t.py <<'EOF'\nimport shutil\nshutil.rmtree('build')\nEOF";
    examine(&mut examiner, calls("Bash", &[("/command", script)], Some((success(), ""))));
    let ran = examine(&mut examiner, calls("Bash", &[("/command", "python t.py")], Some((success(), ""))));
    assert!(
        ran.effects
            .iter()
            .any(|effect| effect.kind.word() == "fs.delete" && effect.target.words() == "/app/build")
    );
}
