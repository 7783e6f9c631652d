//! How much of real sessions is proved narrative, by unit and by span, and how much of that holds evidence.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a measurement that prints; missing JSON is null, and a bad label must fail"
)]

mod labels;
mod rules;
mod sessions;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::content::{Calls, Next, join_calls};
use strongroom_evidence::narrative::{self, Beside, Proof, Unit};
use testkit::figure::figure;
use testkit::shared::shared;

use labels::{Grain, Holds, Label, Place};
use sessions::{Block, PROJECTS, Said, Session};

/// A text of a session with the proofs of its units.
struct Proved<'a> {
    block: &'a Block,
    kind: &'a BlockKind,
    text: &'a str,
    units: Vec<Unit>,
    whole: Option<Proof>,
    next: Option<Rc<str>>,
}

/// For each block, the calls behind it up to the next prose of the turn.
fn nexts(session: &Session) -> Vec<Option<Rc<str>>> {
    let mut next: Vec<Option<Rc<str>>> = vec![None; session.blocks.len()];
    let (mut run, mut spoken): (Vec<&str>, bool) = (Vec::new(), false);
    for (block, slot) in session.blocks.iter().zip(&mut next).rev() {
        match &block.said {
            Said::Call { text, .. } => {
                if std::mem::take(&mut spoken) {
                    run.clear();
                }
                run.push(text);
            }
            Said::Other { ends: true } | Said::Prose { speaker: Speaker::User, .. } => run.clear(),
            Said::Other { ends: false } => {}
            Said::Prose { .. } => {
                spoken = true;
                *slot = (!run.is_empty()).then(|| join_calls(run.iter().rev().copied()).into());
            }
        }
    }
    next
}

fn prove(session: &Session) -> Vec<Proved<'_>> {
    let mut previous = Calls::default();
    let mut all = Vec::new();
    for (block, next) in session.blocks.iter().zip(nexts(session)) {
        match &block.said {
            Said::Call { text, .. } => {
                previous.push(text.clone());
            }
            Said::Other { ends: true } => previous.clear(),
            Said::Other { .. } => {}
            Said::Prose { kind, speaker, text } => {
                if *speaker == Speaker::User {
                    previous.clear();
                }
                let following = next.as_ref().map_or(Next::Other, |call| Next::Call(call.as_ref().into()));
                let beside = Beside { next: &following, previous: &previous };
                let units = narrative::units(text, kind, *speaker, beside);
                let whole = narrative::whole(text, kind, &units);
                all.push(Proved { block, kind, text, units, whole, next });
            }
        }
    }
    all
}

/// How many there are, and how many of them are proved, by rule.
#[derive(Debug, Default, Clone)]
struct Share {
    all: usize,
    proved: usize,
    rules: BTreeMap<&'static str, usize>,
}

impl Share {
    fn add(&mut self, proof: Option<Proof>) {
        self.all += 1;
        if let Some(proof) = proof {
            self.proved += 1;
            *self.rules.entry(proof.rule()).or_default() += 1;
        }
    }

    fn join(&mut self, other: &Self) {
        self.all += other.all;
        self.proved += other.proved;
        for (rule, count) in &other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn percent(&self) -> f64 {
        self.proved as f64 * 100.0 / self.all.max(1) as f64
    }
}

/// The shares of a session by unit (prose units, calls with their results) and by span.
fn shares_of(session: &Session, proved: &[Proved<'_>]) -> [Share; 2] {
    let [mut units, mut spans] = [Share::default(), Share::default()];
    for block in &session.blocks {
        let parts = match block.said {
            Said::Prose { .. } => continue,
            Said::Call { .. } => 1,
            // Sealed, or the harness's: a span, but neither prose nor a call nor a result.
            Said::Other { .. } => 0,
        };
        spans.add(None);
        (0..parts).for_each(|_| units.add(None));
    }
    for own in proved {
        spans.add(own.whole);
        own.units.iter().for_each(|unit| units.add(unit.proof));
    }
    [units, spans]
}

/// Labels by grain and sample, as they come out now.
#[derive(Debug, Default)]
struct Outcome {
    narrative: usize,
    narrative_proved: usize,
    evidence: usize,
    wrong: Vec<String>,
}

fn is_proved(own: &Proved<'_>, label: &Label) -> bool {
    let bytes = &own.text[label.place.start..label.place.end];
    assert_eq!(labels::short_hash(bytes), label.place.hash, "{:?} is another text", label.place);
    match label.grain {
        Grain::Span => own.whole.is_some(),
        Grain::Unit => {
            let overlaps =
                |unit: &&Unit| unit.range.start < label.place.end && unit.range.end > label.place.start;
            own.units.iter().filter(overlaps).any(|unit| unit.proof.is_some())
        }
    }
}

/// Looks up the labels of one session.
fn check(
    path: &str,
    proved: &[Proved<'_>],
    labels: &[Label],
    found: &mut BTreeMap<(Grain, String), Outcome>,
) {
    for label in labels.iter().filter(|label| label.place.path == path) {
        let at = (label.place.line, label.place.block);
        let own = proved.iter().find(|own| (own.block.line, own.block.part) == at);
        let own = own.unwrap_or_else(|| panic!("nothing stands at {:?}", label.place));
        let outcome = found.entry((label.grain, label.seed.clone())).or_default();
        match (label.holds, is_proved(own, label)) {
            (Holds::Narrative, proved) => {
                outcome.narrative += 1;
                outcome.narrative_proved += usize::from(proved);
            }
            (Holds::Evidence, proved) => {
                outcome.evidence += 1;
                if proved {
                    outcome.wrong.push(format!("{} {:?}", label.reason, label.place));
                }
            }
        }
    }
}

/// The sample that no rule was mended by. Of what is proved in it, less than 1 % may hold evidence.
const FRESH: &str = "7";

#[test]
fn real_sessions_are_proved_where_they_hold_nothing() {
    let Some(folder) = shared("transcripts") else { return };
    let labels = labels::read();
    let mut found = BTreeMap::new();
    let mut overall = [Share::default(), Share::default()];
    for (project, adapter) in PROJECTS {
        let mut own = [Share::default(), Share::default()];
        for session in sessions::read(&folder, project, *adapter) {
            let proved = prove(&session);
            check(&session.path, &proved, &labels, &mut found);
            for (sum, share) in own.iter_mut().zip(shares_of(&session, &proved)) {
                sum.join(&share);
            }
        }
        for ((grain, share), sum) in ["units", "spans"].iter().zip(&own).zip(&mut overall) {
            println!("{project}: {:.1} % of {} {grain}, {:?}", share.percent(), share.all, share.rules);
            sum.join(share);
        }
    }
    let [units, spans] = overall;
    for (share, what) in [(&units, "units (prose units, calls with their results)"), (&spans, "spans")] {
        let value = testkit::figure::share(share.proved, share.all);
        figure(&format!("{what} of real sessions proved narrative"), value, ">= 10 %");
        println!("  {:?}", share.rules);
    }
    judge(&found, labels.len());
    assert!(units.percent() >= 10.0, "{:.2} % of units", units.percent());
    assert!(spans.percent() >= 5.3, "{:.2} % of spans", spans.percent());
}

fn judge(found: &BTreeMap<(Grain, String), Outcome>, labels: usize) {
    let mut read = 0;
    for ((grain, seed), outcome) in found {
        println!("{grain:?} of sample {seed}: {outcome:?}");
        if seed == FRESH {
            let value = testkit::figure::share(outcome.wrong.len(), outcome.narrative + outcome.evidence);
            let what =
                format!("{grain:?}s called narrative that hold evidence, in a sample no rule was mended by");
            figure(&what.to_lowercase(), value, "< 1 %");
        }
        read += outcome.narrative + outcome.evidence;
        let allowed =
            if seed == FRESH { (outcome.narrative + outcome.evidence).saturating_sub(1) / 100 } else { 0 };
        assert!(outcome.wrong.len() <= allowed, "{:?}", outcome.wrong);
        assert!(
            outcome.narrative_proved * 10 >= outcome.narrative * 9,
            "the labels say little of these rules"
        );
    }
    assert_eq!(read, labels, "every label was found");
}

/// The places in `session` that are proved, with what was read there.
fn proved_places(session: &Session) -> Vec<(Grain, Place, String)> {
    let mut all = Vec::new();
    for proved in prove(session) {
        let place = |range: Range<usize>| Place {
            path: session.path.clone(),
            line: proved.block.line,
            block: proved.block.part,
            hash: labels::short_hash(&proved.text[range.clone()]),
            start: range.start,
            end: range.end,
        };
        let next = proved.next.as_deref().unwrap_or_default();
        let shown = |range: Range<usize>| {
            let next: String = next.chars().take(110).collect();
            format!("{:?} {} | {}", proved.kind, &proved.text[range], next).replace('\n', " / ")
        };
        for unit in proved.units.iter().filter(|unit| unit.proof.is_some()) {
            all.push((Grain::Unit, place(unit.range.clone()), shown(unit.range.clone())));
        }
        if proved.whole.is_some() {
            all.push((Grain::Span, place(0..proved.text.len()), shown(0..proved.text.len())));
        }
    }
    all
}

/// At most 300 of each grain: of each project its share and at least ten, in the order of hashes with `FRESH`.
#[test]
#[ignore = "prints a sample to be read and labelled"]
fn sample() {
    const SIZE: usize = 300;
    let Some(folder) = shared("transcripts") else { return };
    let mut strata: BTreeMap<(Grain, &str), Vec<(Place, String)>> = BTreeMap::new();
    for (project, adapter) in PROJECTS {
        for session in sessions::read(&folder, project, *adapter) {
            for (grain, place, shown) in proved_places(&session) {
                strata.entry((grain, project)).or_default().push((place, shown));
            }
        }
    }
    for grain in [Grain::Unit, Grain::Span] {
        let total: usize =
            strata.iter().filter(|((own, _), _)| *own == grain).map(|(_, all)| all.len()).sum();
        for ((_, project), all) in strata.iter_mut().filter(|((own, _), _)| *own == grain) {
            all.sort_by_key(|(place, _)| place.rank(FRESH));
            all.dedup_by(|one, two| one.0.hash == two.0.hash);
            for (place, shown) in all.iter().take((all.len() * SIZE / total).max(10)) {
                println!("SAMPLE\t{FRESH}\t{grain:?}\t{project}\t{}\t{shown}", place.columns());
            }
        }
    }
}
