//! A compaction: from an opened session to compacted bytes whose every summary is bound.
//!
//! ```text
//! session --read--> spans --trace--> earlier generations --propose--> plan --deposit--> deposited
//!   --judge--> gated plan --choose(budget)--> selection --draft, check--> summary --bind--> bound --splice--> bytes
//! ```
//!
//! All work on an older generation is done from its originals; a summary is never summarised.

mod carried;
mod choose;
mod masks;
mod report;
mod selection;

use std::collections::{BTreeMap, BTreeSet};

use strongroom_archive::Archive;
use strongroom_archive::source::SessionItem;
use strongroom_core::bind::{Bound, Subject, bind, bind_narrative, tag};
use strongroom_core::compacted::Compacted;
pub use strongroom_core::deposit::DepositStep;
use strongroom_core::deposit::{Deposited, Originals, deposit};
use strongroom_core::digest::{Digest, PieceId, RevisionId, SourceId};
use strongroom_core::error::{Error, Result};
use strongroom_core::plan::{Candidate, Plan, Wanted};
use strongroom_core::span::SpanIndex;
use strongroom_core::summary::{CheckedSummary, Line, check};
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::{Form, Level};
use strongroom_core::vault::{Loaded, Location, Piece, PieceStat, Registry as _, Retention, Revision, Vault};
use strongroom_formats::Edit;

use crate::classes::{keep_by_class, origin};
use crate::consent::{self, Turn};
use crate::custody::{Intake, Terms, meta_of, present, record, take_in, take_in_output};
use crate::lineage::{Traced, trace};
use crate::policy::Policy;
use crate::prose::{self, Prose};
use crate::reading::{Decoded, ReadSpan, Reading};
use crate::summarise::{Gathered, Reclaimed, Texts};
use crate::summariser::Summariser;
use crate::tokens::{Budget, Tokens};
use crate::transcript::{SessionFiles, Transcript};

use carried::{Carried, CarriedReading};
use choose::{Choice, Costs, choose};
pub use report::Report;
use selection::{Candidates, Origin, Selection};

/// Prose gets one part in so many of what a summary may cost beside its frame.
const PROSE_SHARE: u64 = 3;

/// How a compaction is made.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// How many tokens the agent may send afterwards.
    pub budget: Budget,
    /// The evidence demand.
    pub policy: &'a Policy,
    /// The present.
    pub now: Timestamp,
    /// Whether secrets are hidden in the view.
    pub secrets: Secrets,
    /// What happens when the budget cannot be met.
    pub unmet: Unmet,
    /// Whether the agent will go on with the output.
    pub purpose: Purpose,
    /// Who writes the prose of a summary; without one it has none.
    pub summariser: Option<&'a dyn Summariser>,
}

/// What the output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A file beside the input.
    File,
    /// The agent goes on with it: link fields that name the session are its own.
    Resume,
}

/// Whether secrets are hidden in the compacted form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// They are hidden; the originals stay in custody.
    Mask,
    /// They stay as they are.
    Keep,
}

/// What happens when the budget cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    /// Nothing is written.
    Stop,
    /// The smallest reachable form is written.
    BestEffort,
}

/// A step that has just been completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The session is read and examined.
    Read,
    /// A step of the deposit.
    Deposit(DepositStep),
    /// Every span is judged.
    Judged,
    /// The summary is written and checked.
    Checked,
    /// The record is durable.
    Bound,
    /// The compacted bytes are made.
    Spliced,
}

/// What came of a compaction.
#[derive(Debug)]
pub enum Outcome {
    /// There was nothing to gain: the output is the input, byte for byte.
    Unchanged(Box<Report>),
    /// The transcript was compacted.
    Compacted(Box<Compacted>, Box<Report>),
    /// The budget cannot be met; nothing was bound.
    BudgetNotMet {
        /// The smallest size that can be reached.
        smallest: Tokens,
        /// What stood in the way.
        report: Box<Report>,
    },
}

/// Compacts the main transcript of `session`.
///
/// Without an archive only the narrative row of the gate's table is left.
///
/// # Errors
/// `Refused` for a format that is never written back, with the reason; `Unavailable` when the session cannot be read
/// or the record cannot be made durable. Nothing is reclaimed then.
pub fn compact(
    session: &SessionFiles,
    archive: Option<&Archive>,
    options: &Options<'_>,
    observe: &mut dyn FnMut(Step),
) -> Result<Outcome> {
    compact_above(session, archive, options, None, observe)
}

/// Compacts the main transcript of `session` once the agent would send more than `high` tokens; below that its bytes
/// stay as they are, so that what a vendor has cached of the prefix stays good. The report tells when it is due.
///
/// A compaction that would win back less than an eighth of what lies between the marks is not made.
///
/// # Errors
/// As [`compact`], and `InvalidInput` of a mark that is not above the budget.
pub fn compact_above(
    session: &SessionFiles,
    archive: Option<&Archive>,
    options: &Options<'_>,
    high: Option<Tokens>,
    observe: &mut dyn FnMut(Step),
) -> Result<Outcome> {
    refuse_read_only(&session.main)?;
    let decoded = Decoded::of(&session.main)?;
    refuse_unread(&decoded)?;
    let sends = decoded.context_tokens();
    let budget = options.budget.of(sends);
    let marks = Marks::new(budget, high)?;
    if sends <= marks.high {
        observe(Step::Read);
        let report = Report { due_above: high, ..Report::start(&decoded, budget) };
        return Ok(unchanged(&session.main, report, marks.why_not(sends)));
    }
    let traced = archive.map_or(Ok(Traced::default()), |archive| trace(&decoded.spans, archive))?;
    let report = Report { due_above: high, ..Report::start(&decoded, budget) };
    let reading = decoded.examined();
    observe(Step::Read);
    let intake = Intake::of(session.main.source(), source_of(session, archive)?)?;
    let originals = Carried::of(&reading, &traced, intake.revision.id, archive)?;
    let carried = originals.read(&reading)?;
    let run = Run { session, reading: &reading, traced: &traced, carried, archive, options, marks };
    run.go(intake, report, observe)
}

fn refuse_read_only(main: &Transcript) -> Result<()> {
    let Form::ReadOnly(why) = main.index().form else { return Ok(()) };
    let (name, format) = (main.name(), main.format().name());
    let advice = "it can be imported, asked and exported";
    Err(Error::refused(format!("{name} is not compacted: {format} is read-only, because {why}; {advice}")))
}

/// A transcript that is damaged so that nothing of it is sent is no small one.
fn refuse_unread(decoded: &Decoded<'_>) -> Result<()> {
    let main = decoded.transcript;
    let damage = main.index().findings.iter().find(|finding| finding.level == Level::Damage);
    match damage.filter(|_| decoded.context_tokens() == Tokens(0)) {
        Some(finding) => {
            let line = finding.line.map_or_else(String::new, |line| format!(" in line {line}"));
            let what = format!("{}{line}: {}", finding.code, finding.message);
            Err(Error::invalid_input(format!("nothing of {} can be read, {what}", main.name())))
        }
        None => Ok(()),
    }
}

/// Between which sizes a session is kept.
#[derive(Debug, Clone, Copy)]
struct Marks {
    /// What a compaction brings it down to.
    low: Tokens,
    /// Above what it is compacted.
    high: Tokens,
    /// What a compaction must win back to be worth a new prefix.
    least_gain: Tokens,
}

impl Marks {
    fn new(low: Tokens, high: Option<Tokens>) -> Result<Self> {
        match high {
            None => Ok(Self { low, high: low, least_gain: Tokens(0) }),
            Some(high) if high > low => Ok(Self { low, high, least_gain: Tokens((high.0 - low.0) / 8) }),
            Some(high) => Err(Error::invalid_input(format!(
                "a session that is compacted above {} tokens cannot be brought down to {}: the mark must lie above the budget",
                high.0, low.0
            ))),
        }
    }

    /// Why a session of that size is not compacted.
    fn why_not(self, sends: Tokens) -> &'static str {
        if sends <= self.low { "it fits the budget as it is" } else { "it is below the high mark" }
    }
}

/// The session stays as it is, and the agent goes on with it under its own name.
fn unchanged(main: &Transcript, report: Report, why: &'static str) -> Outcome {
    let resume = main.format().resume(main.index(), &Edit::default());
    Outcome::Unchanged(Box::new(Report { resume, ..report }.because(why)))
}

fn source_of(session: &SessionFiles, archive: Option<&Archive>) -> Result<SourceId> {
    match archive {
        Some(archive) => Ok(meta_of(&session.main, archive)?.id),
        None => Ok(SourceId::new(Digest::of(session.main.name().as_bytes()))),
    }
}

/// One compaction with everything it was given.
struct Run<'a, 'r> {
    session: &'a SessionFiles,
    reading: &'r Reading<'a>,
    traced: &'r Traced,
    carried: CarriedReading<'r>,
    archive: Option<&'a Archive>,
    options: &'a Options<'a>,
    marks: Marks,
}

impl Run<'_, '_> {
    fn go(self, intake: Intake, report: Report, observe: &mut dyn FnMut(Step)) -> Result<Outcome> {
        let (plan, origins) = self.candidates(intake.revision.id)?.propose(self.carried.first_free());
        let deposited = self.deposit(plan, &intake.revision, intake.pieces, observe)?;
        let demand = self.options.policy.demand(self.session.main.name())?;
        let gated = deposited.judge(&demand, self.options.now);
        observe(Step::Judged);
        let report = report.judged(&gated, self.reading, self.traced);
        let costs = Costs { reading: self.reading, traced: self.traced, carried: self.carried.tokens() };
        let choice = choose(&costs, Selection::new(gated, origins), self.marks.low);
        let whole = self.reading.context_tokens();
        if let (Some(smallest), Unmet::Stop) =
            (choice.smallest.map(|smallest| smallest.min(whole)), self.options.unmet)
        {
            return Ok(Outcome::BudgetNotMet { smallest, report: Box::new(report) });
        }
        if !choice.selection.reclaims_anything() {
            return Ok(unchanged(&self.session.main, report, "nothing more may be reclaimed"));
        }
        let gain = Tokens(whole.0.saturating_sub(choice.reached.0));
        if gain < self.marks.least_gain {
            let due = whole + Tokens(self.marks.least_gain.0 - gain.0);
            let report = Report { due_above: Some(due), ..report };
            return Ok(unchanged(&self.session.main, report, "too little can be won back yet"));
        }
        let (bound, prose) = self.bind(&choice, &intake.revision, observe)?;
        self.finish(bound, &choice.selection, Report { prose, ..report }, observe)
    }

    /// Writes, checks and binds the summary.
    fn bind(
        &self,
        choice: &Choice,
        revision: &Revision,
        observe: &mut dyn FnMut(Step),
    ) -> Result<(Bound, Option<Prose>)> {
        let selection = &choice.selection;
        let bound = match self.archive.filter(|_| selection.relies_on_record()) {
            Some(archive) => {
                let (subject, summary, prose) = self.worded(choice, revision, archive)?;
                observe(Step::Checked);
                (bind(selection.gated(), &summary, subject, archive, self.options.now)?, prose)
            }
            None => (bind_narrative(selection.gated())?, None),
        };
        observe(Step::Bound);
        Ok(bound)
    }

    /// The checked summary that keeps within the allowance, under the first tag of its spans that stands for no other:
    /// another budget words it differently.
    fn worded(
        &self,
        choice: &Choice,
        revision: &Revision,
        archive: &Archive,
    ) -> Result<(Subject, CheckedSummary, Option<Prose>)> {
        let selection = &choice.selection;
        let mut subject = self.subject(revision, selection);
        let spans = self.reclaimed(selection);
        let texts = Texts::of(&spans);
        let (told, prose) = self.told(&spans, &texts, choice.allowance);
        let gathered = Gathered::of(&spans, &texts, self.options.policy.going_on()?).with_told(told);
        let remaining: Vec<String> = subject.remaining.iter().map(|span| span.rendering.clone()).collect();
        let kept = report::kept(selection.gated());
        loop {
            let tag = tag(selection.gated(), &subject, archive);
            let write = |count: usize| {
                check(&gathered.draft(count, remaining.clone()), selection.gated(), tag, &kept, &texts)
                    .map_err(|faults| Error::bug(format!("the summary does not pass its check: {faults:?}")))
            };
            let summary = gathered.within(choice.allowance, &write)?;
            if archive.by_tag(tag)?.is_none_or(|known| known.summary == summary.digest()) {
                return Ok((subject, summary, prose));
            }
            subject.wording += 1;
        }
    }

    /// What the summariser tells of the spans that go, where there is one.
    fn told(&self, spans: &[Reclaimed<'_>], texts: &Texts, allowance: Tokens) -> (Vec<Line>, Option<Prose>) {
        let Some(summariser) = self.options.summariser else { return (Vec::new(), None) };
        let turns = self.turns();
        let room = Tokens(allowance.0.saturating_sub(choose::FRAME.0) / PROSE_SHARE);
        let subject = prose::Subject { spans, texts, turns: &turns, room };
        let (lines, prose) = prose::write(summariser, subject);
        (lines, Some(prose))
    }

    /// Who said what in the main transcript, in order.
    fn turns(&self) -> Vec<Turn> {
        let spans = self.reading.spans.iter().zip(0usize..);
        spans.filter_map(|(span, at)| consent::turn(&span.content, at)).collect()
    }

    /// Splices what is bound into the native format.
    fn finish(
        &self,
        bound: Bound,
        selection: &Selection,
        report: Report,
        observe: &mut dyn FnMut(Step),
    ) -> Result<Outcome> {
        let main = &self.session.main;
        let edit = self.edit(&bound, selection)?;
        let mut after = Tokens::default();
        let compacted = Compacted::splice(bound, |_| {
            let spliced = main.format().splice(main.source(), main.index(), main.spans(), &edit)?;
            let (bytes, index) = match self.options.purpose {
                Purpose::File => (spliced.bytes, spliced.index),
                Purpose::Resume => {
                    let bytes = main.format().resumable(spliced.bytes, &edit)?;
                    let index = main.format().index(&bytes)?;
                    (bytes, index)
                }
            };
            after = Reading::context_of(&bytes, &index)?;
            Ok(bytes)
        })?;
        observe(Step::Spliced);
        let resume = main.format().resume(main.index(), &edit);
        let report = Report { resume, ..report.finished(after, &compacted, selection.gated()) };
        if report.tokens_after >= report.tokens_before {
            return Ok(unchanged(main, report, "the compacted form would not be shorter"));
        }
        Ok(Outcome::Compacted(Box::new(compacted), Box::new(report)))
    }

    /// What may be wanted: spans carried over, then spans of the context that nothing pins, then spans that stay
    /// and hold secrets.
    fn candidates(&self, revision: RevisionId) -> Result<Candidates> {
        let mut candidates = Candidates::default();
        for at in 0..self.carried.len() {
            if let Some(candidate) = self.carried.candidate(at) {
                candidates.push(candidate, Origin::Carried(at));
            }
        }
        let pinned = self.pinned_groups();
        for span in self.own_spans() {
            let masked = self.options.secrets == Secrets::Mask && !span.examination.secrets.is_empty();
            let wanted = match pinned.contains(&span.content.span.group.0) {
                false => Wanted::Reclaim,
                true if masked => Wanted::Mask,
                true => continue,
            };
            let candidate = Candidate {
                wanted,
                group: span.content.span.group.0,
                carried: None,
                evidence: span.examination.evidence.clone(),
                location: Some(Location { revision, ranges: span.content.span.ranges.clone() }),
                hash: self.reading.hash(span.content.span)?,
                content: span.key,
            };
            candidates.push(candidate, Origin::Own(span.index()));
        }
        Ok(candidates)
    }

    /// Spans of the context that are neither a summary nor a stub of ours.
    fn own_spans(&self) -> impl Iterator<Item = &ReadSpan<'_>> {
        let lineage = self.traced.lineage.as_ref();
        let ours = move |span: &ReadSpan<'_>| {
            lineage.is_some_and(|lineage| {
                lineage.summaries.contains(&span.index()) || lineage.stubs.contains_key(&span.index())
            })
        };
        self.reading.spans.iter().filter(move |span| span.in_context() && !ours(span))
    }

    /// Groups that hold a pinned span, and the newest group of the context.
    fn pinned_groups(&self) -> BTreeSet<u32> {
        let mut groups: BTreeSet<u32> = self
            .own_spans()
            .filter(|span| span.examination.evidence.pinned.is_some())
            .map(|span| span.content.span.group.0)
            .collect();
        groups.extend(self.own_spans().last().map(|span| span.content.span.group.0));
        groups
    }

    fn deposit(
        &self,
        plan: Plan,
        revision: &Revision,
        pieces: Vec<Piece>,
        observe: &mut dyn FnMut(Step),
    ) -> Result<Deposited> {
        let now = self.archive.map_or(Ok(self.options.now), |archive| present(archive, self.options.now))?;
        let retention = self.options.policy.retention(origin(self.reading), now)?;
        let mut pieces = pieces.into_iter().map(Ok);
        let Some(archive) = self.archive else {
            let mut originals = Originals { pieces: &mut pieces, revisions: &[], retention };
            return Ok(deposit(plan, &mut originals, &NoArchive, &mut |_| {}));
        };
        let mut revisions = vec![revision.clone()];
        revisions.extend(self.carried.revisions().iter().cloned());
        let originals = Originals { pieces: &mut pieces, revisions: &revisions, retention };
        let terms = Terms { retention, now: self.options.now };
        let register = || self.register(archive, revision, terms);
        Ok(deposit_registered(plan, originals, archive, register, &mut |step| observe(Step::Deposit(step))))
    }

    /// Enters the session into the catalog: its main transcript, child transcripts and outputs.
    fn register(&self, archive: &Archive, revision: &Revision, terms: Terms) -> Result<()> {
        let main = meta_of(&self.session.main, archive)?;
        record(archive, &main, revision, terms)?;
        keep_by_class(archive, self.options.policy, self.reading, revision, present(archive, terms.now)?)?;
        let mut items = Vec::new();
        for child in &self.session.children {
            let meta = meta_of(child, archive)?;
            take_in(archive, child.source(), &meta, terms, &mut |_| {})?;
            let kind = format!("child {}", child.agent().unwrap_or_default());
            items.push(SessionItem { kind, source: meta.id });
        }
        for output in &self.session.outputs {
            let source = take_in_output(archive, output, terms)?;
            items.push(SessionItem { kind: format!("output {}", output.call_id), source });
        }
        archive.link(main.id, &items)
    }

    fn subject(&self, revision: &Revision, selection: &Selection) -> Subject {
        let reclaimed: BTreeSet<SpanIndex> = selection.reclaimed().into_iter().map(|(at, _)| at).collect();
        let masked: BTreeMap<SpanIndex, u32> = selection.masked().into_iter().collect();
        let kept = self.own_spans().filter(|span| !reclaimed.contains(&span.index()));
        let earlier = self.traced.lineage.as_ref().map(|lineage| &lineage.record);
        Subject {
            source: revision.source,
            revision: revision.id,
            format: self.session.main.format().name().to_owned(),
            generation: earlier.map_or(1, |record| record.generation + 1),
            parents: earlier.map_or_else(Vec::new, |record| vec![record.tag]),
            neighbours: kept.map(|span| masks::key(span, masked.get(&span.index()).copied())).collect(),
            remaining: self.carried.remaining(&selection.carried()),
            wording: 0,
        }
    }

    /// The spans under the tag as the summariser sees them, by number.
    fn reclaimed<'s>(&'s self, selection: &Selection) -> Vec<Reclaimed<'s>> {
        let mut spans: Vec<Reclaimed<'s>> = selection
            .spans()
            .filter_map(|(permitted, origin)| {
                let span = match origin {
                    Origin::Own(at) => self.reading.span(at)?,
                    Origin::Carried(at) => self.carried.span(at)?,
                };
                Some(Reclaimed {
                    ordinal: permitted.ordinal(),
                    form: permitted.form(),
                    wanted: permitted.candidate().wanted,
                    content: &span.content,
                    examination: &span.examination,
                })
            })
            .collect();
        spans.sort_by_key(|span| span.ordinal);
        spans
    }

    fn edit(&self, bound: &Bound, selection: &Selection) -> Result<Edit> {
        Ok(Edit {
            summary: bound.summary().to_owned(),
            seed: bound.seed(),
            reclaimed: selection.reclaimed(),
            replaced_summaries: self.replaced_summaries(),
            masks: masks::of(self.reading, &selection.masked())?,
        })
    }

    fn replaced_summaries(&self) -> Vec<SpanIndex> {
        let lineage = self.traced.lineage.as_ref();
        lineage.map_or_else(Vec::new, |lineage| lineage.summaries.iter().copied().collect())
    }
}

/// Deposits, and enters the sources into the catalog once their pieces are durable. A catalog that cannot be
/// written leaves every span without a pointer.
fn deposit_registered(
    plan: Plan,
    mut originals: Originals<'_>,
    archive: &Archive,
    register: impl FnOnce() -> Result<()>,
    observe: &mut dyn FnMut(DepositStep),
) -> Deposited {
    let vault = Registering { archive, register: std::cell::Cell::new(Some(register)) };
    deposit(plan, &mut originals, &vault, observe)
}

/// A vault that registers the sources between storing and reading back.
struct Registering<'a, F> {
    archive: &'a Archive,
    register: std::cell::Cell<Option<F>>,
}

impl<F: FnOnce() -> Result<()>> Vault for Registering<'_, F> {
    fn store(&self, pieces: &[Piece], retention: Retention) -> Result<()> {
        self.archive.store(pieces, retention)
    }

    fn extend(&self, pieces: &[PieceId], retention: Retention) -> Result<()> {
        if let Some(register) = self.register.take() {
            register()?;
        }
        self.archive.extend(pieces, retention)
    }

    fn load(&self, pieces: &[PieceId]) -> Result<Vec<Loaded>> {
        self.archive.load(pieces)
    }

    fn stat(&self, pieces: &[PieceId]) -> Result<Vec<Option<PieceStat>>> {
        self.archive.stat(pieces)
    }
}

/// No archive: nothing can be stored.
struct NoArchive;

impl Vault for NoArchive {
    fn store(&self, _: &[Piece], _: Retention) -> Result<()> {
        Err(Error::unavailable("there is no archive"))
    }

    fn extend(&self, _: &[PieceId], _: Retention) -> Result<()> {
        Err(Error::unavailable("there is no archive"))
    }

    fn load(&self, pieces: &[PieceId]) -> Result<Vec<Loaded>> {
        Ok(pieces.iter().map(|_| Loaded::Missing).collect())
    }

    fn stat(&self, pieces: &[PieceId]) -> Result<Vec<Option<PieceStat>>> {
        Ok(vec![None; pieces.len()])
    }
}
