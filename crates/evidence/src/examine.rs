//! The examination of one span: its atoms, effects, rules, secrets and class.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use strongroom_core::evidence::{
    AtomKind, CallRole, Certainty, ClaimRole, EvidentialClass, NarrativeProof, Omissions, Pin, SpanEvidence,
};
use strongroom_core::span::SpanKind;
use strongroom_core::transcript::{BlockKind, BlockRef, Scalar, Speaker};

use crate::atom::{self, Atom, Modality, Polarity};
use crate::content::{self, BlockContent, Calls, SpanContent};
use crate::effect::{Access, Effect, Outcome};
use crate::narrative::{self, Beside, Proof, Unit};
use crate::outcome::{self, ToolKind};
pub use crate::place::ProjectFacts;
use crate::tools::{self, ToolCall};
use crate::trace::{Artifacts, Report};
use crate::{rules, secrets};

/// What one span proves.
#[derive(Debug, Clone)]
pub struct Examination {
    /// The facts for the gate.
    pub evidence: SpanEvidence,
    /// The atoms, each with the block it stands in.
    pub atoms: Vec<(BlockRef, Atom)>,
    /// The effects of a call, reads included; empty of anything else.
    pub effects: Vec<Effect>,
    /// How the call ended.
    pub outcome: Outcome,
    /// Programs of a shell line, through wrappers; the tool's name otherwise.
    pub programs: Vec<String>,
    /// Secrets in decoded texts, to be masked in every view.
    pub secrets: Vec<Secret>,
    /// Standing rules stated in it: the sentence's place in the decoded text.
    pub rules: Vec<(BlockRef, Range<usize>)>,
    /// The units of prose in an utterance or in thinking, each with the proof that it is narrative where there is one.
    pub units: Vec<(BlockRef, Unit)>,
}

/// A secret in a decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The block.
    pub at: BlockRef,
    /// The JSON pointer inside the arguments where it stands in one; `None` in the block's text.
    pub argument: Option<String>,
    /// Its bytes in the decoded text or argument.
    pub range: Range<usize>,
    /// Which rule found it, e.g. `aws-access-key`.
    pub rule: &'static str,
}

/// Examines the spans of one source, in order.
///
/// It remembers what later spans are read against: the working directory, scripts written earlier, links.
#[derive(Debug)]
pub struct Examiner {
    facts: ProjectFacts,
    changing_tools: BTreeSet<String>,
    agents: BTreeMap<Option<String>, Memory>,
}

/// What is remembered of one agent.
#[derive(Debug, Clone, Default)]
struct Memory {
    shell: tools::ShellPlace,
    artifacts: Artifacts,
    /// The last calls of the turn.
    called: Calls,
}

impl Examiner {
    /// Starts at the beginning of a source.
    pub fn new(facts: ProjectFacts) -> Self {
        Self { facts, changing_tools: BTreeSet::new(), agents: BTreeMap::new() }
    }

    /// With the names of tools whose own servers say that they change something.
    #[must_use]
    pub fn with_changing_tools(self, changing_tools: BTreeSet<String>) -> Self {
        Self { changing_tools, ..self }
    }

    /// Examines the next span.
    pub fn examine(&mut self, content: &SpanContent<'_>) -> Examination {
        self.examine_found(content, Found::of(content))
    }

    /// Examines the next span, of which is known what its texts hold.
    pub fn examine_found(&mut self, content: &SpanContent<'_>, found: Found) -> Examination {
        let (reports, record) = self.follow(content);
        let unread = unread(content);
        let units = self.units(content);
        let whole = |block: &BlockContent<'_>| {
            let own = units.iter().filter(|(at, _)| *at == block.at).map(|(_, unit)| unit);
            narrative::whole(&block.text, &block.block.kind, own)
        };
        let readable = || unread.is_none() && found.secrets.is_empty();
        let class = class(content, certainty(&reports), whole, readable);
        self.remember(content);
        let call = CallResult::of(reports, &record);
        let evidence = SpanEvidence {
            class,
            holds: found.holds(content, unread.as_deref()),
            call: if content.span.kind == SpanKind::Call { CallRole::Call } else { CallRole::NotCall },
            claims: found.claims(),
            pinned: pin(content, &found),
        };
        Examination {
            evidence,
            atoms: found.atoms,
            effects: call.effects,
            outcome: call.outcome,
            programs: call.programs,
            secrets: found.secrets,
            rules: found.rules,
            units,
        }
    }

    /// Passes over a span that nobody asks about: later spans are read against it, and its secrets are known, so that no
    /// view shows them. It proves nothing, and holds what cannot be named.
    pub fn pass(&mut self, content: &SpanContent<'_>) -> Examination {
        let class = EvidentialClass::SideEffecting(Certainty::Possible);
        self.follow(content);
        self.remember(content);
        let secrets = texts(content).flat_map(|(at, argument, text)| {
            secrets::find(text).into_iter().map(move |found| secret(at, argument, found))
        });
        let secrets = secrets.collect();
        Examination {
            evidence: SpanEvidence {
                class,
                holds: Omissions::Unnameable("not examined".to_owned()),
                call: CallRole::NotCall,
                claims: ClaimRole::NoClaims,
                pinned: None,
            },
            atoms: Vec::new(),
            effects: Vec::new(),
            outcome: Outcome::Unknown,
            programs: Vec::new(),
            secrets,
            rules: Vec::new(),
            units: Vec::new(),
        }
    }

    /// The units of prose; of anything else there are none.
    fn units(&self, content: &SpanContent<'_>) -> Vec<(BlockRef, Unit)> {
        if !matches!(content.span.kind, SpanKind::Utterance | SpanKind::Thinking) {
            return Vec::new();
        }
        let nothing = Calls::default();
        let beside = self.beside(content, &nothing);
        let units = |block: &BlockContent<'_>| {
            let found = narrative::units(&block.text, &block.block.kind, block.block.speaker, beside);
            let at = block.at;
            found.into_iter().map(move |unit| (at, unit))
        };
        content.blocks.iter().flat_map(units).collect()
    }

    /// The calls beside a span; `nothing` where its agent has made none.
    fn beside<'a>(&'a self, content: &'a SpanContent<'_>, nothing: &'a Calls) -> Beside<'a> {
        let agent = content.blocks.first().and_then(|block| block.record.agent.as_ref());
        let memory = self.agents.get(&agent.cloned());
        Beside { next: &content.next, previous: memory.map_or(nothing, |memory| &memory.called) }
    }

    /// The class of the next span, as [`Self::examine`] gives it, and nothing else.
    ///
    /// Results and arguments are not searched for atoms: a call's class is that of its effects, and only what may
    /// be narrative needs a proof. Both ways may be mixed; later spans are read against the same memory.
    pub fn classify(&mut self, content: &SpanContent<'_>) -> EvidentialClass {
        let (reports, _) = self.follow(content);
        let nothing = Calls::default();
        let beside = self.beside(content, &nothing);
        let whole = |block: &BlockContent<'_>| {
            narrative::prove(&block.text, &block.block.kind, block.block.speaker, beside)
        };
        let readable = || unread(content).is_none() && !holds_secret(content);
        let class = class(content, certainty(&reports), whole, readable);
        self.remember(content);
        class
    }

    /// Follows the calls of the span, in order, and joins what its results record.
    fn follow(&mut self, content: &SpanContent<'_>) -> (Vec<(Report, ToolKind)>, outcome::Record) {
        let record = content.blocks.first().map(|block| block.record);
        if let (None, Some(cwd)) = (&self.facts.cwd, record.and_then(|record| record.cwd.clone())) {
            self.facts.cwd = Some(cwd);
        }
        let calls: Vec<(&str, &BlockContent<'_>)> = content
            .blocks
            .iter()
            .filter_map(|block| match &block.block.kind {
                BlockKind::Call(facts) => Some((facts.tool.as_str(), block)),
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            return (Vec::new(), outcome::Record::default());
        }
        let record = record_of(content);
        let reports = calls.into_iter().map(|(tool, block)| self.call(tool, block, &record)).collect();
        (reports, record)
    }

    /// Notes the call that later prose of the turn stands behind; somebody else's words end the turn.
    fn remember(&mut self, content: &SpanContent<'_>) {
        let Some(first) = content.blocks.first() else { return };
        let memory = self.agents.entry(first.record.agent.clone()).or_default();
        match content.span.kind {
            SpanKind::Call => {
                memory.called.push(content::call_text(&content.blocks));
            }
            SpanKind::Thinking | SpanKind::Meta => {}
            SpanKind::Utterance if first.block.speaker == Speaker::Assistant => {}
            SpanKind::Utterance
            | SpanKind::OrphanResult
            | SpanKind::Attachment
            | SpanKind::Derived
            | SpanKind::Opaque => memory.called.clear(),
        }
    }

    fn call(&mut self, tool: &str, block: &BlockContent<'_>, record: &outcome::Record) -> (Report, ToolKind) {
        let memory = self.agents.entry(block.record.agent.clone()).or_default();
        let stated = block.record.cwd.as_deref();
        let cwd = memory.shell.start(tool, stated, &self.facts);
        let empty = strongroom_core::transcript::ArgumentTree::default();
        let arguments = block.arguments.as_ref().unwrap_or(&empty);
        let request = ToolCall { tool, arguments, cwd, places: &self.facts };
        let mut report = tools::examine(&request, &mut memory.artifacts);
        if self.changing_tools.contains(tool) {
            tools::raise(&mut report, tool);
        }
        if let Some(file) = tools::shown_recipe(&request).filter(|_| record.is_whole()) {
            tools::note_read(&request, file, &record.text, &mut memory.artifacts);
        }
        if !tools::is_shell(tool) {
            return (report, ToolKind::Other);
        }
        let left = report.cwd.clone().filter(|_| record.keeps_directory() && block.record.agent.is_none());
        // A call that fails leaves the shell where it was.
        memory.shell.leave(stated, left);
        (report, ToolKind::Shell)
    }
}

/// How certain it is that the calls changed something.
fn certainty(reports: &[(Report, ToolKind)]) -> Option<Certainty> {
    let effects = reports.iter().flat_map(|(report, _)| &report.effects).map(|traced| &traced.effect);
    effects.filter(|effect| effect.kind.access() == Access::Mutation).map(|effect| effect.certainty).max()
}

/// What a call did, and how it ended.
#[derive(Debug)]
struct CallResult {
    effects: Vec<Effect>,
    outcome: Outcome,
    programs: Vec<String>,
}

impl CallResult {
    fn of(reports: Vec<(Report, ToolKind)>, record: &outcome::Record) -> Self {
        let mut all = Self { effects: Vec::new(), outcome: Outcome::Unknown, programs: Vec::new() };
        for (mut report, kind) in reports {
            all.programs.append(&mut report.programs);
            let (effects, outcome) = outcome::decide(report, record, kind);
            all.effects.extend(effects);
            all.outcome = outcome;
        }
        all
    }
}

/// What the results of the span record, joined.
fn record_of(content: &SpanContent<'_>) -> outcome::Record {
    let mut record = outcome::Record::default();
    for block in &content.blocks {
        let BlockKind::Result(facts) = &block.block.kind else { continue };
        record.present = true;
        record.error = facts.error.or(record.error);
        record.exit_code = facts.exit_code.or(record.exit_code);
        record.ending = facts.ending.clone();
        if !record.text.is_empty() {
            record.text.push('\n');
        }
        record.text.push_str(&block.text);
    }
    record
}

/// Whether a text is somebody's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    /// It is.
    Somebody,
    /// Output or arguments.
    Nobody,
}

/// What stands in the texts of a span, whatever stands around it: of many spans it may be looked for in any order.
#[derive(Debug, Default)]
pub struct Found {
    atoms: Vec<(BlockRef, Atom)>,
    secrets: Vec<Secret>,
    rules: Vec<(BlockRef, Range<usize>)>,
}

impl Found {
    /// Looks through the texts of `content`.
    pub fn of(content: &SpanContent<'_>) -> Self {
        let mut found = Self::default();
        for block in &content.blocks {
            found.block(block);
        }
        found
    }

    fn block(&mut self, content: &BlockContent<'_>) {
        let prose = matches!(content.block.kind, BlockKind::Text | BlockKind::Paste | BlockKind::Thinking);
        self.text(content.at, None, &content.text, if prose { Voice::Somebody } else { Voice::Nobody });
        if prose && !matches!(content.block.speaker, Speaker::Tool | Speaker::Harness | Speaker::Derived) {
            self.rules(content);
        }
        let leaves = content.arguments.iter().flat_map(|arguments| &arguments.leaves);
        for leaf in leaves {
            if let Scalar::String(text) | Scalar::Number(text) = &leaf.value {
                self.text(content.at, Some(&leaf.pointer), text, Voice::Nobody);
            }
        }
    }

    /// Atoms and secrets of one decoded text. A secret is no other atom: whoever lists atoms must not repeat it.
    fn text(&mut self, at: BlockRef, argument: Option<&str>, text: &str, voice: Voice) {
        let secrets = secrets::find(text);
        // Secrets are in order and disjoint.
        let hidden = |atom: &Atom| {
            let at = secrets.partition_point(|(range, _)| range.end <= atom.range.start);
            secrets.get(at).is_some_and(|(range, _)| range.start < atom.range.end)
        };
        for atom in atom::extract(text) {
            // A claim is somebody's; what a tool prints is a result.
            if (voice == Voice::Somebody || atom.kind != AtomKind::Claim) && !hidden(&atom) {
                self.atoms.push((at, atom));
            }
        }
        for (range, rule) in secrets {
            let (polarity, modality) = (Polarity::Positive, Modality::Asserted);
            self.atoms.push((
                at,
                Atom {
                    kind: AtomKind::Secret,
                    range: range.clone(),
                    norm: rule.to_owned(),
                    polarity,
                    modality,
                },
            ));
            self.secrets.push(secret(at, argument, (range, rule)));
        }
    }

    fn rules(&mut self, content: &BlockContent<'_>) {
        for range in rules::find(&content.text) {
            let norm =
                atom::normal_form(AtomKind::Constraint, content.text.get(range.clone()).unwrap_or_default());
            let (polarity, modality) = (Polarity::Positive, Modality::Required);
            let atom = Atom { kind: AtomKind::Constraint, range: range.clone(), norm, polarity, modality };
            self.atoms.push((content.at, atom));
            self.rules.push((content.at, range));
        }
    }

    fn holds(&self, content: &SpanContent<'_>, unread: Option<&str>) -> Omissions {
        let foreign =
            matches!(content.span.kind, SpanKind::Derived | SpanKind::Opaque | SpanKind::Attachment);
        match unread {
            Some(why) => Omissions::Unnameable(why.to_owned()),
            None if foreign => Omissions::Unnameable("not analysed".to_owned()),
            None => Omissions::Nameable(atom::counts(self.atoms.iter().map(|(_, atom)| atom.kind))),
        }
    }

    fn claims(&self) -> ClaimRole {
        let claims = self.atoms.iter().any(|(_, atom)| atom.kind == AtomKind::Claim);
        if claims { ClaimRole::Claims } else { ClaimRole::NoClaims }
    }
}

/// Why a detector could not read the span; `None` where all of it was read.
fn unread(content: &SpanContent<'_>) -> Option<String> {
    let malformed =
        |block: &BlockContent<'_>| block.arguments.as_ref().is_some_and(|arguments| arguments.malformed);
    if content.blocks.iter().any(malformed) {
        return Some("the arguments are malformed".to_owned());
    }
    if content.blocks.is_empty() {
        let opaque = content.span.kind == SpanKind::Opaque;
        let why = if opaque { "a record that cannot be read" } else { "a record without decoded text" };
        return Some(why.to_owned());
    }
    content.blocks.iter().find_map(|block| match &block.block.kind {
        BlockKind::Opaque(why) => Some(why.clone()),
        BlockKind::Summary => Some("a summary without its original".to_owned()),
        BlockKind::Attachment { media_type } => Some(format!("an attachment ({media_type}) is not analysed")),
        BlockKind::Thinking if block.text.is_empty() => Some("sealed reasoning".to_owned()),
        _ => None,
    })
}

/// The decoded texts of a span, each with its block and, inside arguments, its JSON pointer.
fn texts<'c>(
    content: &'c SpanContent<'_>,
) -> impl Iterator<Item = (BlockRef, Option<&'c str>, &'c str)> + use<'c> {
    content.blocks.iter().flat_map(|block| {
        let leaves = block.arguments.iter().flat_map(|arguments| &arguments.leaves);
        let leaves = leaves.filter_map(|leaf| match &leaf.value {
            Scalar::String(text) | Scalar::Number(text) => Some((Some(leaf.pointer.as_str()), text.as_str())),
            Scalar::Null | Scalar::Bool(_) => None,
        });
        let own = std::iter::once((None, block.text.as_str()));
        own.chain(leaves).map(|(argument, text)| (block.at, argument, text))
    })
}

fn secret(at: BlockRef, argument: Option<&str>, (range, rule): (Range<usize>, &'static str)) -> Secret {
    Secret { at, argument: argument.map(str::to_owned), range, rule }
}

fn holds_secret(content: &SpanContent<'_>) -> bool {
    texts(content).any(|(_, _, text)| !secrets::find(text).is_empty())
}

/// Possible effects count as possible; only proof makes narrative: of every block the `whole` text.
fn class(
    content: &SpanContent<'_>,
    certainty: Option<Certainty>,
    whole: impl Fn(&BlockContent<'_>) -> Option<Proof>,
    readable: impl FnOnce() -> bool,
) -> EvidentialClass {
    if let Some(certainty) = certainty {
        return EvidentialClass::SideEffecting(certainty);
    }
    let prose = matches!(content.span.kind, SpanKind::Utterance | SpanKind::Thinking);
    let proofs = content.blocks.iter().filter(|_| prose).map(whole);
    let proof = proofs.reduce(|one, other| Some(one?.max(other?))).flatten().filter(|_| readable());
    let named = |proof: Proof| EvidentialClass::Narrative(NarrativeProof::by_rule(proof.rule()));
    proof.map_or(EvidentialClass::Structured, named)
}

fn pin(content: &SpanContent<'_>, found: &Found) -> Option<Pin> {
    let speaks = |speaker: Speaker| content.blocks.iter().any(|block| block.block.speaker == speaker);
    let states = found.rules.iter().any(|(at, _)| {
        let block = content.blocks.iter().find(|block| block.at == *at);
        block.is_some_and(|block| {
            matches!(block.block.kind, BlockKind::Text)
                && matches!(block.block.speaker, Speaker::User | Speaker::Operator)
        })
    });
    let prose = content
        .blocks
        .iter()
        .any(|block| block.block.speaker == Speaker::User && matches!(block.block.kind, BlockKind::Text));
    if content.span.open {
        Some(Pin::OpenCall)
    } else if states {
        Some(Pin::StandingConstraint)
    } else if prose {
        Some(Pin::UserProse)
    } else {
        speaks(Speaker::Operator).then_some(Pin::Instructions)
    }
}

#[cfg(test)]
mod tests;
