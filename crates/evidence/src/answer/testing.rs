//! Scopes built by hand for the tests of this crate: a transcript is written call by call, and every text stands
//! as plain bytes in one buffer, so that citations can be compared with what they quote.

use std::collections::BTreeSet;

use std::ops::Range;

use strongroom_core::evidence::{
    AtomCounts, AtomKind, CallRole, Certainty, ClaimRole, EvidentialClass, Omissions, SpanEvidence,
};
use strongroom_core::range::ByteRange;
use strongroom_core::span::{GroupIndex, Span, SpanIndex, SpanKind};
use strongroom_core::transcript::{
    Argument, ArgumentTree, Arguments, Block, BlockKind, BlockRef, Branch, CallFacts, Encoding, Form, Record,
    RecordKind, ResultFacts, Scalar, SourceIndex, Speaker, TextRange, Visibility,
};

use super::{Answer, Options, Strictness, answer};
use crate::atom::{Atom, Modality, Polarity};
use crate::content::{BlockContent, Next, SpanContent};
use crate::effect::{Assumption, Effect, EffectKind, Origin, Outcome, Privilege, Scope as Where, Target};
use crate::examine::{Examination, Secret};
use crate::query::parse;
use crate::session::{ExaminedSpan, Hole, HoleKind, RawMap, Scope, SideText, SourceView, SummaryText};

/// An effect of `kind` on `target`, definite and ok.
pub(super) fn effect(kind: EffectKind, target: &str) -> Effect {
    let target = match kind.word().split('.').next() {
        Some("fs") => Target::Path { resolved: target.to_owned(), written: target.to_owned() },
        _ => Target::Named(target.to_owned()),
    };
    Effect {
        kind,
        target,
        scope: Where::Project,
        certainty: Certainty::Definite,
        privilege: Privilege::User,
        outcome: Outcome::Ok,
        environment: None,
        program: "sh".to_owned(),
        bounded_by: None,
        origin: Origin::default(),
    }
}

/// A run of which nothing is known.
pub(super) fn opaque(bounded_by: Option<Assumption>) -> Effect {
    Effect {
        target: Target::Unknown,
        scope: Where::Unknown,
        certainty: Certainty::Possible,
        program: "python".to_owned(),
        bounded_by,
        ..effect(EffectKind::ExecOpaque, "")
    }
}

#[derive(Debug)]
struct Event {
    span: Span,
    texts: Vec<(BlockRef, String, Option<ArgumentTree>)>,
    examination: Examination,
}

/// One source, written event by event.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) agent: Option<String>,
    buffer: String,
    records: Vec<Record>,
    events: Vec<Event>,
    summaries: Vec<(BlockRef, String)>,
    sides: Vec<(BlockRef, String, String)>,
    pub(super) holes: Vec<Hole>,
}

impl Written {
    pub(super) fn new() -> Self {
        Self {
            name: "main.jsonl".to_owned(),
            agent: None,
            buffer: String::new(),
            records: Vec::new(),
            events: Vec::new(),
            summaries: Vec::new(),
            sides: Vec::new(),
            holes: Vec::new(),
        }
    }

    pub(super) fn child(agent: &str) -> Self {
        Self { name: format!("agent-{agent}.jsonl"), agent: Some(agent.to_owned()), ..Self::new() }
    }

    fn write(&mut self, text: &str) -> ByteRange {
        let start = self.buffer.len() as u64;
        self.buffer.push_str(text);
        self.buffer.push('\n');
        ByteRange::new(start, start + text.len() as u64)
    }

    fn record(&mut self, kind: RecordKind, range: ByteRange, blocks: Vec<Block>) -> u32 {
        let n = u32::try_from(self.records.len()).unwrap();
        self.records.push(Record {
            line: Some(n + 1),
            pointer: String::new(),
            range,
            kind,
            label: "record".to_owned(),
            id: None,
            message_id: None,
            time: None,
            cwd: None,
            session: None,
            agent: None,
            branch: Branch::Active,
            blocks,
        });
        n
    }

    fn block(kind: BlockKind, speaker: Speaker, range: ByteRange) -> Block {
        let text = TextRange { range, encoding: Encoding::Plain };
        Block {
            kind,
            range,
            pointer: "/text".to_owned(),
            speaker,
            visibility: Visibility::Context,
            copy_of: None,
            text: vec![text],
        }
    }

    fn event(
        &mut self,
        kind: SpanKind,
        texts: Vec<(BlockRef, String, Option<ArgumentTree>)>,
        outcome: Outcome,
        effects: Vec<Effect>,
    ) -> &mut Examination {
        let first = texts[0].0;
        let span = Span {
            index: SpanIndex(u32::try_from(self.events.len()).unwrap()),
            kind,
            blocks: texts.iter().map(|(at, _, _)| *at).collect(),
            record: first.record,
            ranges: std::iter::once(self.records[first.record as usize].range).collect(),
            group: GroupIndex(0),
            open: kind == SpanKind::Call && texts.len() == 1,
        };
        let call = if kind == SpanKind::Call { CallRole::Call } else { CallRole::NotCall };
        let evidence = SpanEvidence {
            class: EvidentialClass::Structured,
            holds: Omissions::Nameable(AtomCounts::default()),
            call,
            claims: ClaimRole::NoClaims,
            pinned: None,
        };
        let examination = Examination {
            evidence,
            atoms: Vec::new(),
            effects,
            outcome,
            programs: Vec::new(),
            secrets: Vec::new(),
            rules: Vec::new(),
            units: Vec::new(),
        };
        self.events.push(Event { span, texts, examination });
        &mut self.events.last_mut().unwrap().examination
    }

    pub(super) fn say(&mut self, speaker: Speaker, text: &str) -> &mut Self {
        self.text_event(SpanKind::Utterance, BlockKind::Text, speaker, text);
        self
    }

    pub(super) fn user(&mut self, text: &str) -> &mut Self {
        self.say(Speaker::User, text)
    }

    /// The assistant says `text`; every sentence is a firm claim.
    pub(super) fn assistant(&mut self, text: &str) -> &mut Self {
        let at = self.text_event(SpanKind::Utterance, BlockKind::Text, Speaker::Assistant, text);
        let atom = |range: Range<usize>| Atom {
            kind: AtomKind::Claim,
            range,
            norm: text.to_owned(),
            polarity: Polarity::Positive,
            modality: Modality::Asserted,
        };
        self.events.last_mut().unwrap().examination.atoms.push((at, atom(0..text.len())));
        self
    }

    pub(super) fn think(&mut self, text: &str) -> &mut Self {
        self.text_event(SpanKind::Thinking, BlockKind::Thinking, Speaker::Assistant, text);
        self
    }

    fn text_event(&mut self, span: SpanKind, kind: BlockKind, speaker: Speaker, text: &str) -> BlockRef {
        let range = self.write(text);
        let record = self.record(RecordKind::Message, range, vec![Self::block(kind, speaker, range)]);
        let at = BlockRef { record, block: 0 };
        self.event(span, vec![(at, text.to_owned(), None)], Outcome::Unknown, Vec::new());
        at
    }

    /// A call in one record and its result in the next; the effects take the outcome of the call where it is not ok.
    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: &[(&str, &str)],
        result: &str,
        effects: Vec<Effect>,
    ) -> &mut Self {
        self.call_ending(tool, arguments, Some(result), Outcome::Ok, effects)
    }

    pub(super) fn bash(&mut self, command: &str, result: &str, effects: Vec<Effect>) -> &mut Self {
        self.call("Bash", &[("command", command)], result, effects)
    }

    #[expect(clippy::too_many_arguments, reason = "a call is told in one line of a test")]
    pub(super) fn call_ending(
        &mut self,
        tool: &str,
        arguments: &[(&str, &str)],
        result: Option<&str>,
        outcome: Outcome,
        mut effects: Vec<Effect>,
    ) -> &mut Self {
        let mut leaves = Vec::new();
        for (key, value) in arguments {
            let range = self.write(value);
            leaves.push(Argument {
                pointer: format!("/{key}"),
                value: Scalar::String((*value).to_owned()),
                range,
            });
        }
        let start = leaves.first().map_or(self.buffer.len() as u64, |leaf: &Argument| leaf.range.start());
        let range = ByteRange::new(start, self.buffer.len() as u64);
        let facts = CallFacts { id: None, tool: tool.to_owned(), arguments: Arguments::Json(range) };
        let mut block = Self::block(BlockKind::Call(facts), Speaker::Assistant, range);
        block.text.clear();
        let record = self.record(RecordKind::Message, range, vec![block]);
        let tree = ArgumentTree { leaves, malformed: false };
        let mut texts = vec![(BlockRef { record, block: 0 }, String::new(), Some(tree))];
        if let Some(result) = result {
            let range = self.write(result);
            let block = Self::block(BlockKind::Result(ResultFacts::default()), Speaker::Tool, range);
            let record = self.record(RecordKind::Message, range, vec![block]);
            texts.push((BlockRef { record, block: 0 }, result.to_owned(), None));
        }
        if outcome != Outcome::Ok {
            for effect in &mut effects {
                effect.outcome = outcome;
            }
        }
        let first = arguments.first().map(|(_, value)| *value).unwrap_or_default();
        let program = if tool == "Bash" { first.split(' ').next().unwrap_or_default() } else { tool };
        self.event(SpanKind::Call, texts, outcome, effects).programs = vec![program.to_owned()];
        self
    }

    pub(super) fn boundary(&mut self) -> &mut Self {
        let range = self.write("boundary");
        self.record(RecordKind::Boundary, range, Vec::new());
        self
    }

    pub(super) fn summary(&mut self, text: &str) -> &mut Self {
        let range = self.write(text);
        let record = self.record(
            RecordKind::Message,
            range,
            vec![Self::block(BlockKind::Summary, Speaker::Derived, range)],
        );
        self.summaries.push((BlockRef { record, block: 0 }, text.to_owned()));
        self
    }

    /// The newest result is longer, and stands in a side file.
    pub(super) fn side(&mut self, name: &str, text: &str) -> &mut Self {
        let at = self.events.last().unwrap().texts.last().unwrap().0;
        self.sides.push((at, name.to_owned(), text.to_owned()));
        self
    }

    /// A hole at the newest record, or at a record of its own that cannot be read.
    pub(super) fn hole(&mut self, kind: HoleKind, text: &str) -> &mut Self {
        if kind == HoleKind::Unreadable {
            let range = self.write("{torn");
            self.record(RecordKind::Opaque, range, Vec::new());
        }
        let line = u32::try_from(self.records.len()).unwrap();
        let range = self.records.last().map_or(ByteRange::new(0, 0), |record| record.range);
        let why = format!("{} here", kind.words());
        self.holes.push(Hole {
            kind,
            source: self.name.clone(),
            line: Some(line),
            json_pointer: None,
            range,
            why,
            text: text.to_owned(),
        });
        self
    }

    /// Changes the newest record.
    pub(super) fn mark(&mut self, change: impl FnOnce(&mut Record)) -> &mut Self {
        change(self.records.last_mut().unwrap());
        self
    }

    /// Adds atoms to the newest event, in its first block.
    pub(super) fn atoms(&mut self, atoms: Vec<Atom>) -> &mut Self {
        let event = self.events.last_mut().unwrap();
        let at = event.texts[0].0;
        event.examination.atoms.extend(atoms.into_iter().map(|atom| (at, atom)));
        self
    }

    /// Marks `secret` in the newest text as a secret.
    pub(super) fn secret(&mut self, secret: &str) -> &mut Self {
        let event = self.events.last_mut().unwrap();
        let (at, text, _) = event.texts.last().unwrap();
        let start = text.find(secret).unwrap();
        event.examination.secrets.push(Secret {
            at: *at,
            argument: None,
            range: start..start + secret.len(),
            rule: "test-key",
        });
        self
    }

    pub(super) fn literal(&mut self, kind: AtomKind, text: &str) -> &mut Self {
        let event = self.events.last_mut().unwrap();
        let (at, own, _) = event.texts.last().unwrap();
        let start = own.find(text).unwrap();
        let atom = Atom {
            kind,
            range: start..start + text.len(),
            norm: text.to_owned(),
            polarity: Polarity::Positive,
            modality: Modality::Asserted,
        };
        event.examination.atoms.push((*at, atom));
        self
    }

    fn index(&self) -> SourceIndex {
        SourceIndex {
            format: "test",
            form: Form::Fold,
            len: self.buffer.len() as u64,
            records: self.records.clone(),
            framing: Vec::new(),
            findings: Vec::new(),
            side_items: Vec::new(),
            usage: Vec::new(),
            changing_tools: BTreeSet::new(),
        }
    }

    fn view<'a>(&'a self, index: &'a SourceIndex) -> SourceView<'a> {
        let spans = self.events.iter().map(|event| {
            let content = |(at, text, arguments): &(BlockRef, String, Option<ArgumentTree>)| BlockContent {
                at: *at,
                record: index.record(*at).unwrap(),
                block: index.block(*at).unwrap(),
                text: text.clone(),
                arguments: arguments.clone(),
            };
            let blocks = event.texts.iter().map(content).collect();
            let content = SpanContent { span: &event.span, blocks, next: Next::Other };
            ExaminedSpan { content, examination: event.examination.clone().into(), pointer: None }
        });
        SourceView {
            session: "s1".to_owned(),
            source: self.name.clone(),
            agent: self.agent.clone(),
            index,
            spans: spans.collect(),
        }
    }
}

/// Reads the buffers of written sources.
#[derive(Debug)]
struct Buffers<'w>(&'w [&'w Written]);

impl RawMap for Buffers<'_> {
    fn raw(&self, _source: usize, range: TextRange, decoded: Range<usize>) -> Option<ByteRange> {
        Some(ByteRange::new(decoded.start as u64, decoded.end as u64).shifted(range.range.start()))
    }

    fn argument(
        &self,
        source: usize,
        at: Arguments,
        pointer: &str,
        decoded: Range<usize>,
    ) -> Option<ByteRange> {
        let Arguments::Json(range) = at else { return None };
        let trees = self.0[source]
            .events
            .iter()
            .flat_map(|event| &event.texts)
            .filter_map(|(_, _, tree)| tree.as_ref());
        let leaf = trees
            .flat_map(|tree| &tree.leaves)
            .find(|leaf| range.contains(leaf.range) && leaf.pointer == pointer)?;
        Some(ByteRange::new(decoded.start as u64, decoded.end as u64).shifted(leaf.range.start()))
    }

    fn decoded(&self, source: usize, range: TextRange) -> Option<String> {
        let bytes = range.range.of(self.0[source].buffer.as_bytes())?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }
}

pub(super) fn ask_all(sources: &[&Written], strictness: Strictness, query: &str) -> Answer {
    let indexes: Vec<SourceIndex> = sources.iter().map(|written| written.index()).collect();
    let mut scope = Scope::default();
    for (n, (written, index)) in sources.iter().zip(&indexes).enumerate() {
        scope.sources.push(written.view(index));
        scope.holes.extend(written.holes.iter().cloned());
        scope.summaries.extend(written.summaries.iter().map(|(at, text)| SummaryText {
            source: n,
            at: *at,
            text: text.clone(),
        }));
        let side = |(at, name, text): &(BlockRef, String, String)| SideText {
            source: n,
            at: *at,
            name: name.clone(),
            text: text.clone(),
        };
        scope.side_texts.extend(written.sides.iter().map(side));
    }
    let raw = Buffers(sources);
    let options = Options { strictness, key: [7; 32], raw: &raw, ..Options::default() };
    let query = parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let answer = answer(&query, &scope, &options).unwrap_or_else(|error| panic!("{query}: {error}"));
    check_quotes(sources, &answer);
    answer
}

/// Every quotation is the decoding of its bytes.
fn check_quotes(sources: &[&Written], answer: &Answer) {
    let passed = answer.passed_over.iter().map(|passed| &passed.citation);
    for citation in answer.citations.iter().chain(passed) {
        let (start, end) = citation.bytes;
        let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
        let side = || {
            sources
                .iter()
                .flat_map(|written| &written.sides)
                .find(|(_, name, _)| *name == citation.source)
                .map(|(_, _, text)| text.as_str())
        };
        let own = sources
            .iter()
            .find(|written| written.name == citation.source)
            .map(|written| written.buffer.as_str());
        let text = own.or_else(side).unwrap_or_else(|| panic!("{citation:?}"));
        assert_eq!(text.get(range), Some(citation.quote.as_str()), "{citation:?}");
    }
}

pub(super) fn ask(written: &Written, query: &str) -> Answer {
    ask_all(&[written], Strictness::Assume, query)
}
