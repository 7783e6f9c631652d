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

use strongroom_archive::Archive;
use strongroom_archive::source::SessionItem;
use strongroom_core::bind::{Bound, Subject, bind, bind_narrative, tag};
use strongroom_core::compacted::Compacted;
pub use strongroom_core::deposit::DepositStep;
use strongroom_core::deposit::{Deposited, Originals, deposit};
use strongroom_core::digest::{Digest, PieceId, RevisionId, SourceId, Tag};
use strongroom_core::error::{Error, Result};
use strongroom_core::judge::{GatedPlan, Ground, Permitted};
use strongroom_core::plan::{Candidate, Plan, Wanted};
use strongroom_core::span::SpanIndex;
use strongroom_core::summary::{CheckedSummary, check};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Loaded, Location, Piece, PieceStat, Retention, Revision, Vault};
use strongroom_formats::Edit;

use crate::custody::{Intake, Terms, meta_of, record, take_in, take_in_output};
use crate::lineage::{Traced, stub, trace};
use crate::policy::Policy;
use crate::reading::{ReadSpan, Reading};
use crate::summarise::{Reclaimed, Texts, draft};
use crate::tokens::{self, Budget, Tokens};
use crate::transcript::SessionFiles;

use carried::{Carried, CarriedReading};
use choose::{Costs, choose};
pub use report::Report;

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
    Unchanged(Report),
    /// The transcript was compacted.
    Compacted(Compacted, Report),
    /// The budget cannot be met; nothing was bound.
    BudgetNotMet {
        /// The smallest size that can be reached.
        smallest: Tokens,
        /// What stood in the way.
        report: Report,
    },
}

/// Compacts the main transcript of `session`.
///
/// Without an archive only the narrative row of the gate's table is left.
///
/// # Errors
/// `Unavailable` when the session cannot be read or the record cannot be made durable; nothing is reclaimed then.
pub fn compact(
    session: &SessionFiles,
    archive: Option<&Archive>,
    options: &Options<'_>,
    observe: &mut dyn FnMut(Step),
) -> Result<Outcome> {
    let reading = Reading::of(&session.main)?;
    let traced = archive.map_or(Ok(Traced::default()), |archive| trace(&reading, archive))?;
    observe(Step::Read);
    let budget = options.budget.of(reading.context_tokens());
    let report = Report::start(&reading, budget);
    if reading.context_tokens() <= budget {
        return Ok(Outcome::Unchanged(report.because("it fits the budget as it is")));
    }
    let intake = Intake::of(session.main.source(), source_of(session, archive)?)?;
    let originals = Carried::of(&reading, &traced, intake.revision.id, archive)?;
    let carried = originals.read(&reading)?;
    let run = Run { session, reading: &reading, traced: &traced, carried, archive, options, budget };
    run.go(intake, report, observe)
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
    budget: Tokens,
}

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A span of the transcript.
    Own(SpanIndex),
    /// A span of an earlier generation, by its place among those carried over.
    Carried(usize),
}

/// The candidates of a plan, each with its origin.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    list: Vec<Candidate>,
    origins: Vec<Origin>,
}

impl Candidates {
    fn push(&mut self, candidate: Candidate, origin: Origin) {
        self.list.push(candidate);
        self.origins.push(origin);
    }
}

impl Run<'_, '_> {
    fn go(self, intake: Intake, report: Report, observe: &mut dyn FnMut(Step)) -> Result<Outcome> {
        let Candidates { list, origins } = self.candidates(intake.revision.id)?;
        let plan = Plan::propose(list, self.carried.first_free());
        let deposited = self.deposit(plan, &intake.revision, intake.pieces, observe)?;
        let demand = self.options.policy.demand(self.session.main.name())?;
        let gated = deposited.judge(&demand, self.options.now);
        observe(Step::Judged);
        let report = report.judged(&gated, self.reading, self.traced);
        let costs = Costs { reading: self.reading, traced: self.traced, origins: &origins };
        let choice = choose(&costs, gated, self.budget);
        if let (Some(smallest), Unmet::Stop) = (choice.smallest, self.options.unmet) {
            return Ok(Outcome::BudgetNotMet { smallest, report });
        }
        let selected = choice.selected;
        if !selected.permitted().iter().any(|permitted| is_fresh(permitted, &origins)) {
            return Ok(Outcome::Unchanged(report.because("nothing more may be reclaimed")));
        }
        let subject = self.subject(&intake.revision, &selected, &origins);
        let bound = match self.archive.filter(|_| relies_on_record(&selected)) {
            Some(archive) => {
                let summary = self.summarise(&selected, &origins, &subject, archive, choice.allowance)?;
                observe(Step::Checked);
                bind(&selected, &summary, subject, archive, self.options.now)?
            }
            None => bind_narrative(&selected)?,
        };
        observe(Step::Bound);
        let edit = self.edit(&bound, &selected, &origins)?;
        let main = &self.session.main;
        let resume = main.format().resume(main.index(), &edit);
        let compacted = Compacted::splice(bound, |_| self.splice(&edit))?;
        observe(Step::Spliced);
        let report = Report { resume, ..report.finished(&self.session.main, &compacted, &selected)? };
        if report.tokens_after >= report.tokens_before {
            return Ok(Outcome::Unchanged(report.because("the compacted form would not be shorter")));
        }
        Ok(Outcome::Compacted(compacted, report))
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
    fn pinned_groups(&self) -> std::collections::BTreeSet<u32> {
        let mut groups: std::collections::BTreeSet<u32> = self
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
        let retention = self.options.policy.retention(self.session.main.name(), self.options.now)?;
        let mut pieces = pieces.into_iter().map(Ok);
        let Some(archive) = self.archive else {
            let originals = Originals { pieces: &mut pieces, revisions: &[], retention };
            return Ok(deposit(plan, originals, &NoArchive, &mut |_| {}));
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

    fn subject(&self, revision: &Revision, selected: &GatedPlan, origins: &[Origin]) -> Subject {
        let reclaimed = reclaimed_spans(selected, origins);
        let masked = masks::masked(selected, origins);
        let neighbours = self
            .own_spans()
            .filter(|span| !reclaimed.contains(&span.index()))
            .map(|span| masks::key(span, &masked))
            .collect();
        let earlier = self.traced.lineage.as_ref().map(|lineage| &lineage.record);
        Subject {
            source: revision.source,
            revision: revision.id,
            format: self.session.main.format().name().to_owned(),
            generation: earlier.map_or(1, |record| record.generation + 1),
            parents: earlier.map_or_else(Vec::new, |record| vec![record.tag]),
            neighbours,
            remaining: self.carried.remaining(selected, origins),
        }
    }

    /// Drafts until the checked text keeps within `allowance`.
    fn summarise(
        &self,
        selected: &GatedPlan,
        origins: &[Origin],
        subject: &Subject,
        archive: &Archive,
        allowance: Tokens,
    ) -> Result<CheckedSummary> {
        let spans = self.reclaimed(selected, origins);
        let texts = Texts::of(&spans);
        let remaining: Vec<String> = subject.remaining.iter().map(|span| span.rendering.clone()).collect();
        let tag: Tag = tag(selected, subject, archive);
        let kept = report::kept(selected);
        let mut lines = allowance.0.saturating_sub(choose::FRAME.0);
        loop {
            let draft = draft(&spans, &texts, Tokens(lines), remaining.clone());
            let summary = check(&draft, selected, tag, &kept, &texts)
                .map_err(|faults| Error::bug(format!("the summary does not pass its check: {faults:?}")))?;
            let over = tokens::of_message(summary.text()).0.saturating_sub(allowance.0);
            if over == 0 || lines == 0 {
                return Ok(summary);
            }
            lines = lines.saturating_sub(over);
        }
    }

    fn reclaimed<'s>(&'s self, selected: &'s GatedPlan, origins: &[Origin]) -> Vec<Reclaimed<'s>> {
        let mut spans: Vec<Reclaimed<'s>> = selected
            .permitted()
            .iter()
            .filter_map(|permitted| {
                let span = match origins.get(usize::try_from(permitted.index()).ok()?)? {
                    Origin::Own(at) => self.reading.span(*at)?,
                    Origin::Carried(at) => self.carried.span(*at)?,
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

    fn splice(&self, edit: &Edit) -> Result<Vec<u8>> {
        let main = &self.session.main;
        let bytes = main.format().splice(main.source(), main.index(), main.spans(), edit)?;
        match self.options.purpose {
            Purpose::File => Ok(bytes),
            Purpose::Resume => main.format().resumable(bytes, edit),
        }
    }

    fn edit(&self, bound: &Bound, selected: &GatedPlan, origins: &[Origin]) -> Result<Edit> {
        Ok(Edit {
            summary: bound.summary().to_owned(),
            seed: bound.seed(),
            reclaimed: reclaimed_with_stubs(selected, origins),
            replaced_summaries: self.replaced_summaries(),
            masks: masks::of(self.reading, selected, origins)?,
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
    originals: Originals<'_>,
    archive: &Archive,
    register: impl FnOnce() -> Result<()>,
    observe: &mut dyn FnMut(DepositStep),
) -> Deposited {
    let vault = Registering { archive, register: std::cell::Cell::new(Some(register)) };
    deposit(plan, originals, &vault, observe)
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

fn is_fresh(permitted: &Permitted, origins: &[Origin]) -> bool {
    let origin = usize::try_from(permitted.index()).ok().and_then(|at| origins.get(at));
    permitted.candidate().wanted == Wanted::Reclaim && matches!(origin, Some(Origin::Own(_)))
}

fn relies_on_record(selected: &GatedPlan) -> bool {
    selected.permitted().iter().any(|permitted| !matches!(permitted.ground(), Ground::Narrative(_)))
}

fn reclaimed_with_stubs(selected: &GatedPlan, origins: &[Origin]) -> Vec<(SpanIndex, String)> {
    let own = |permitted: &Permitted| match origins.get(usize::try_from(permitted.index()).ok()?)? {
        Origin::Own(at) if permitted.candidate().wanted == Wanted::Reclaim => Some((*at, stub(permitted.ordinal()))),
        Origin::Own(_) | Origin::Carried(_) => None,
    };
    let mut spans: Vec<(SpanIndex, String)> = selected.permitted().iter().filter_map(own).collect();
    spans.sort();
    spans
}

fn reclaimed_spans(selected: &GatedPlan, origins: &[Origin]) -> std::collections::BTreeSet<SpanIndex> {
    reclaimed_with_stubs(selected, origins).into_iter().map(|(at, _)| at).collect()
}
