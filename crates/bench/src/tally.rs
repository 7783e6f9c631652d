//! Tallies: marks of many replies become rates, with intervals over projects.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::budget::Share;
use crate::decay::Decay;
use crate::question::{Expect, Family, Question, Role};
use crate::reply::{Condition, Reply, Wording};
use crate::run::Compaction;
use crate::score::{Mark, Scored};
use crate::seed::Seed;

/// How often intervals are drawn.
const DRAWS: usize = 1_000;

/// Replies that are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Group {
    /// Who answered.
    pub answerer: String,
    /// The budget.
    pub budget: Option<Share>,
    /// What the answerer had.
    pub condition: Condition,
    /// The words in which questions were put.
    pub wording: Wording,
}

/// A share of replies, with the interval that holds 95 of 100 draws over projects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How many.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Rate {
    /// The share; nothing of nothing is nothing.
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    pub fn share(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hits as f64 / self.of as f64 }
    }
}

/// What a group of replies came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Replies.
    pub replies: u64,
    /// Exact answers among questions that have one and whose ground can be read.
    pub exact: Rate,
    /// Wrong assertions and wrong denials among all replies.
    pub silent: Rate,
    /// Twins refused or corrected.
    pub twins: Rate,
    /// True absences that were withheld.
    pub over_refusal: Rate,
    /// Refusals that were right, among refusals.
    pub abstention_precision: Rate,
    /// Refusals among questions that had to be refused.
    pub abstention_recall: Rate,
    /// Citations whose bytes decode to what is quoted.
    pub faithful: Rate,
    /// Faithful citations that hold gold, of answered questions with gold.
    pub citation_precision: Rate,
    /// Pieces of gold that are cited, of answered questions with gold.
    pub citation_recall: Rate,
    /// Refusals that name what is missing.
    pub named: Rate,
    /// Questions that were not understood.
    pub not_understood: Rate,
    /// Transcripts with a silent error.
    pub silent_transcripts: Rate,
    /// Tokens of all answers.
    pub tokens: u64,
    /// Microseconds of all answers.
    pub micros: u64,
    /// Exact answers by family.
    pub by_family: BTreeMap<String, Rate>,
    /// Silent errors by family.
    pub silent_by_family: BTreeMap<String, Rate>,
    /// Exact answers by class of evidence.
    pub by_class: BTreeMap<String, Rate>,
    /// Exact answers by the number of compactions since.
    pub by_age: BTreeMap<String, Rate>,
}

/// What compactions came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Compactions.
    pub compactions: u64,
    /// Tokens after, of tokens before.
    pub kept: Rate,
    /// Microseconds: median, 95 of 100, longest.
    pub micros: (u64, u64, u64),
    /// Microseconds for 100,000 tokens, over all.
    pub micros_per_100k: u64,
    /// Bytes of stores, of bytes of transcripts.
    pub store: Rate,
    /// Literals that stand nowhere in the transcript, among 1,000 tokens written.
    pub fabricated: Rate,
    /// Compactions whose number of calls left out is the true one, of those that name one.
    pub honest: Rate,
    /// The most memory that a command of its own held to compact, in KiB; `None` where that was not measured.
    #[serde(default)]
    pub peak_kib: Option<u64>,
}

/// All tallies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tallies {
    /// Rows by group.
    pub rows: Vec<(Group, Row)>,
    /// Costs by compactor and budget.
    pub costs: Vec<(String, Option<Share>, Cost)>,
    /// What is left of the beginning, by compactor and number of compactions.
    #[serde(default)]
    pub decays: Vec<(String, usize, Left)>,
    /// The most memory that a run has held, in KiB.
    #[serde(default)]
    pub peak_kib: u64,
}

/// What is left of the beginning after several compactions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// Exact answers.
    pub exact: Rate,
    /// Wrong assertions and denials.
    pub silent: u64,
    /// Sessions.
    pub sessions: u64,
}

/// One scored reply.
#[derive(Debug)]
pub struct Marked<'a> {
    /// The question.
    pub question: &'a Question,
    /// What was said.
    pub reply: Reply,
    /// What it was worth.
    pub scored: Scored,
}

/// Hits and trials of one rate, by project.
#[derive(Debug, Default)]
struct Trials(BTreeMap<String, (u64, u64)>);

impl Trials {
    fn add(&mut self, project: &str, hits: u64, of: u64) {
        let own = self.0.entry(project.to_owned()).or_default();
        own.0 += hits;
        own.1 += of;
    }

    fn try_one(&mut self, project: &str, hit: bool) {
        self.add(project, u64::from(hit), 1);
    }

    /// The rate, with an interval from drawing projects with replacement.
    fn rate(&self) -> Rate {
        let sums = self.0.values().fold((0, 0), |sums, own| (sums.0 + own.0, sums.1 + own.1));
        let projects: Vec<(u64, u64)> = self.0.values().copied().collect();
        let seed = Seed::new("bootstrap", "projects");
        let mut state = seed.below("start", usize::MAX);
        let mut shares: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let mut drawn = Rate::default();
                for _ in &projects {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let at = (state >> 33) % projects.len();
                    let own = projects.get(at).copied().unwrap_or_default();
                    drawn.hits += own.0;
                    drawn.of += own.1;
                }
                drawn.share()
            })
            .collect();
        shares.sort_by(f64::total_cmp);
        let at = |part: usize| shares.get(DRAWS * part / 1_000).copied().unwrap_or(0.0);
        Rate { hits: sums.0, of: sums.1, low: at(25), high: at(975) }
    }
}

/// A tally in the making.
#[derive(Debug, Default)]
struct Tally {
    trials: BTreeMap<&'static str, Trials>,
    family: BTreeMap<String, Trials>,
    silent_family: BTreeMap<String, Trials>,
    class: BTreeMap<String, Trials>,
    age: BTreeMap<String, Trials>,
    transcripts: BTreeMap<(String, String), bool>,
    replies: u64,
    tokens: u64,
    micros: u64,
}

impl Tally {
    fn add(&mut self, marked: &Marked<'_>) {
        let Marked { question, reply, scored } = marked;
        let (project, mark) = (question.project.as_str(), scored.mark);
        self.replies += 1;
        self.tokens += reply.tokens;
        self.micros += reply.micros;
        let silent = mark == Mark::Silent;
        self.trials.entry("silent").or_default().try_one(project, silent);
        self.trials.entry("not understood").or_default().try_one(project, mark == Mark::NotUnderstood);
        let transcript = (question.project.clone(), question.transcript.clone());
        *self.transcripts.entry(transcript).or_default() |= silent;
        self.silent_family.entry(question.family.word().to_owned()).or_default().try_one(project, silent);
        self.refusals(project, question, scored);
        self.answers(project, question, mark);
        self.citations(project, question, scored);
    }

    fn refusals(&mut self, project: &str, question: &Question, scored: &Scored) {
        let mark = scored.mark;
        let must = matches!(question.expect, Expect::Refused | Expect::Insufficient);
        let refused = matches!(mark, Mark::RightlyRefused | Mark::Withheld);
        if refused {
            self.trials.entry("precision").or_default().try_one(project, mark == Mark::RightlyRefused);
        }
        if mark == Mark::Withheld || must && refused {
            self.trials.entry("named").or_default().try_one(project, scored.named);
        }
        if must && mark != Mark::NotUnderstood {
            self.trials.entry("recall").or_default().try_one(project, mark == Mark::RightlyRefused);
        }
        if question.role == Role::Twin || question.expect == Expect::Insufficient {
            let right = matches!(mark, Mark::RightlyRefused | Mark::Exact | Mark::NotUnderstood);
            self.trials.entry("twins").or_default().try_one(project, right);
        }
        if question.expect == Expect::No && mark != Mark::RightlyRefused {
            self.trials.entry("over").or_default().try_one(project, mark == Mark::Withheld);
        }
    }

    fn answers(&mut self, project: &str, question: &Question, mark: Mark) {
        let has_answer = !matches!(question.expect, Expect::Refused | Expect::Insufficient | Expect::No);
        if !has_answer || mark == Mark::RightlyRefused {
            return;
        }
        let exact = mark == Mark::Exact;
        self.trials.entry("exact").or_default().try_one(project, exact);
        self.family.entry(question.family.word().to_owned()).or_default().try_one(project, exact);
        self.class.entry(question.class.clone()).or_default().try_one(project, exact);
        let age = match question.age.compactions {
            0 => "0",
            1 => "1",
            2 => "2",
            3..=5 => "3 to 5",
            _ => "more",
        };
        self.age.entry(age.to_owned()).or_default().try_one(project, exact);
    }

    fn citations(&mut self, project: &str, question: &Question, scored: &Scored) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let mut add = |name, hits, of| {
            if of > 0 {
                self.trials.entry(name).or_default().add(project, number(hits), number(of));
            }
        };
        add("faithful", scored.faithful, scored.citations);
        if matches!(scored.mark, Mark::Exact | Mark::Silent) && !question.gold.is_empty() {
            add("citation precision", scored.holding, scored.citations);
            add("citation recall", scored.covered, scored.gold);
        }
    }

    fn row(&self) -> Row {
        let rate = |name| self.trials.get(name).map(Trials::rate).unwrap_or_default();
        let rates = |own: &BTreeMap<String, Trials>| {
            own.iter().map(|(name, trials)| (name.clone(), trials.rate())).collect()
        };
        let mut transcripts = Trials::default();
        for ((project, _), &silent) in &self.transcripts {
            transcripts.try_one(project, silent);
        }
        Row {
            replies: self.replies,
            exact: rate("exact"),
            silent: rate("silent"),
            twins: rate("twins"),
            over_refusal: rate("over"),
            abstention_precision: rate("precision"),
            abstention_recall: rate("recall"),
            faithful: rate("faithful"),
            citation_precision: rate("citation precision"),
            citation_recall: rate("citation recall"),
            named: rate("named"),
            not_understood: rate("not understood"),
            silent_transcripts: transcripts.rate(),
            tokens: self.tokens,
            micros: self.micros,
            by_family: rates(&self.family),
            silent_by_family: rates(&self.silent_family),
            by_class: rates(&self.class),
            by_age: rates(&self.age),
        }
    }
}

/// Collects scored replies and compactions.
#[derive(Debug, Default)]
pub struct Tallying {
    rows: BTreeMap<Group, Tally>,
    costs: BTreeMap<(String, Option<Share>), Vec<Compaction>>,
    decays: BTreeMap<(String, usize), (Trials, Left)>,
    peak_kib: u64,
}

impl Tallying {
    /// Adds a reply.
    pub fn reply(&mut self, marked: &Marked<'_>) {
        let reply = &marked.reply;
        let group = Group {
            answerer: reply.answerer.clone(),
            budget: reply.budget,
            condition: reply.condition,
            wording: reply.put.wording(),
        };
        self.rows.entry(group).or_default().add(marked);
    }

    /// Adds a compaction.
    pub fn compaction(&mut self, compaction: Compaction) {
        self.costs.entry((compaction.answerer.clone(), compaction.budget)).or_default().push(compaction);
    }

    /// Adds what is left after several compactions.
    pub fn decay(&mut self, decay: &Decay) {
        let own = self.decays.entry((decay.answerer.clone(), decay.generations)).or_default();
        own.0.add(&decay.project, decay.exact, decay.of);
        own.1.silent += decay.silent;
        own.1.sessions += 1;
    }

    /// Adds the memory of a run.
    pub fn peak(&mut self, kib: u64) {
        self.peak_kib = self.peak_kib.max(kib);
    }

    /// What it all came to.
    pub fn finish(&self) -> Tallies {
        let rows = self.rows.iter().map(|(group, tally)| (group.clone(), tally.row())).collect();
        let costs =
            self.costs.iter().map(|((name, budget), all)| (name.clone(), *budget, cost(all))).collect();
        let decays = self.decays.iter().map(|((name, generations), (trials, left))| {
            (name.clone(), *generations, Left { exact: trials.rate(), ..left.clone() })
        });
        Tallies { rows, costs, decays: decays.collect(), peak_kib: self.peak_kib }
    }
}

fn cost(all: &[Compaction]) -> Cost {
    let mut times: Vec<u64> = all.iter().map(|own| own.micros).collect();
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1))).copied();
    let (mut kept, mut store, mut fabricated) = (Trials::default(), Trials::default(), Trials::default());
    let mut honest = Trials::default();
    for own in all {
        kept.add(&own.project, own.tokens_after, own.tokens_before);
        if let Some(bytes) = own.store_bytes {
            store.add(&own.project, bytes, own.bytes);
        }
        fabricated.add(&own.project, own.fabricated * 1_000, own.written_tokens);
        if let Some((declared, gone)) = own.left_out {
            honest.try_one(&own.project, declared == gone);
        }
    }
    let tokens: u64 = all.iter().map(|own| own.tokens_before).sum();
    let micros: u64 = times.iter().sum();
    Cost {
        compactions: u64::try_from(all.len()).unwrap_or(u64::MAX),
        kept: kept.rate(),
        micros: (at(50).unwrap_or(0), at(95).unwrap_or(0), times.last().copied().unwrap_or(0)),
        micros_per_100k: micros.saturating_mul(100_000) / tokens.max(1),
        store: store.rate(),
        fabricated: fabricated.rate(),
        honest: honest.rate(),
        peak_kib: all.iter().filter_map(|own| own.peak_kib).max(),
    }
}

/// The families of which a target says that every answer must be exact.
pub const EXACT: [Family; 7] =
    [Family::F1, Family::F2, Family::F3, Family::F4, Family::F5, Family::F6, Family::F7];

/// Exact answers of a row over the families of the target.
pub fn exact_of_target(row: &Row) -> Rate {
    let own: BTreeSet<&str> = EXACT.iter().map(|family| family.word()).collect();
    let rates = row.by_family.iter().filter(|(name, _)| own.contains(name.as_str()));
    rates.fold(Rate::default(), |sum, (_, rate)| Rate {
        hits: sum.hits + rate.hits,
        of: sum.of + rate.of,
        ..sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_drawn_over_projects_and_always_the_same() {
        let mut trials = Trials::default();
        for (project, hits) in [("a", 10), ("b", 0), ("c", 5)] {
            trials.add(project, hits, 10);
        }
        let rate = trials.rate();
        assert_eq!((rate.hits, rate.of), (15, 30));
        assert!(rate.low < rate.share() && rate.share() < rate.high, "{rate:?}");
        assert_eq!(rate, trials.rate());
        let mut one = Trials::default();
        one.add("a", 10, 10);
        assert!((one.rate().low - 1.0).abs() < f64::EPSILON);
        assert_eq!(Trials::default().rate().of, 0);
    }
}
