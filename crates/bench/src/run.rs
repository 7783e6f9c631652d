//! Runs: every question is put to every answerer under every condition.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::baseline::{Baseline, literals_in, size};
use crate::budget::Share;
use crate::corpus::by_transcript;
use crate::decay::Decay;
use crate::literal::Reader;
use crate::messages::{self, Message};
use crate::product::{self, Asking, Ready};
use crate::protocol::{Answered, Launcher, Measured};
use crate::question::{Expect, Gold, Question, Role};
use crate::reply::{Condition, Put, Reply, Verdict, micros};
use crate::seed::Seed;
use crate::session::{Format, Kind, Session, Speaker};
use crate::{loss, protocol, read, tokens};

/// What came of compacting one transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The transcript.
    pub transcript: String,
    /// The project.
    pub project: String,
    /// Who compacted.
    pub answerer: String,
    /// The budget; none where the compactor knows none.
    pub budget: Option<Share>,
    /// Tokens of the messages before.
    pub tokens_before: u64,
    /// Tokens of the messages after.
    pub tokens_after: u64,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Bytes of the transcript.
    pub bytes: u64,
    /// Bytes of the store, where there is one.
    pub store_bytes: Option<u64>,
    /// Tokens the compactor wrote itself.
    pub written_tokens: u64,
    /// Typed literals in what it wrote that stand nowhere in the transcript.
    pub fabricated: u64,
    /// Where the compactor says how many calls are left out: that number, and the true one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<(u64, u64)>,
    /// The most memory that a command of its own held to compact the messages, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_kib: Option<u64>,
}

/// A line of a file of replies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// A reply.
    Reply(Reply),
    /// A compaction.
    Compaction(Compaction),
    /// What is left of the beginning after several compactions.
    Decay(Decay),
    /// The most memory that a run has held, in KiB.
    Peak {
        /// KiB.
        kib: u64,
    },
}

/// What is run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Under which conditions Strongroom answers.
    pub conditions: Vec<Condition>,
    /// Budgets, of the tokens before.
    pub budgets: Vec<Share>,
    /// Whether plain phrasings are put as well.
    pub plain: bool,
    /// At most so many questions are put in plain words, and as many where evidence is gone, of one transcript.
    pub most: usize,
    /// Whether baselines are run.
    pub baselines: bool,
    /// The program that measures memory; its `compactor NAME` speaks the protocol for what is built in.
    pub memory: Option<Launcher>,
    /// A compactor to be measured.
    pub measured: Option<Measured>,
}

/// Puts `questions` about the transcripts below `root`; replies go to `out`, progress to `tell`.
///
/// # Errors
/// When a transcript cannot be read, or a reply cannot be written. What an answerer cannot do is told and passed over.
pub fn run(
    root: &Path,
    questions: &[Question],
    plan: &Plan,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(&str),
) -> io::Result<()> {
    for ((name, variant), questions) in by_transcript(questions) {
        let path = if root.is_file() { root.to_owned() } else { root.join(name) };
        let bytes = fs::read(path)?;
        let change = questions.first().and_then(|question| question.variant.as_ref());
        let bytes = change.map_or_else(|| bytes.clone(), |change| change.apply(&bytes));
        let Some(session) = read::session(name, bytes) else { continue };
        let start = Instant::now();
        let mut one =
            One { session: &session, questions: &questions, plan, out: &mut *out, tell: &mut *tell };
        one.go(variant)?;
        tell(&format!(
            "{name} {} {} questions, {:.1} s",
            variant.unwrap_or(""),
            questions.len(),
            start.elapsed().as_secs_f64()
        ));
    }
    Ok(())
}

/// One transcript with its questions.
struct One<'a> {
    session: &'a Session,
    questions: &'a [&'a Question],
    plan: &'a Plan,
    out: &'a mut dyn Write,
    tell: &'a mut dyn FnMut(&str),
}

impl<'a> One<'a> {
    fn go(&mut self, variant: Option<&str>) -> io::Result<()> {
        let format = self.session.format.word();
        if self.plan.conditions.contains(&Condition::Full) {
            let ready = product::ready(&self.session.name, self.session.bytes.clone(), format, None);
            self.ask(ready, Condition::Full, None, self.questions.to_vec())?;
        }
        if variant.is_some() {
            return Ok(());
        }
        if self.plan.conditions.contains(&Condition::Oracle) && self.session.format.has_lines() {
            let ready =
                product::ready(&self.session.name, loss::oracle(self.session, self.questions), format, None);
            let shown = self.questions.iter().filter(|own| own.role == Role::Asked && !own.gold.is_empty());
            let shown: Vec<&Question> = shown.copied().collect();
            self.ask(ready, Condition::Oracle, None, shown)?;
        }
        let before = messages::of(self.session);
        for &budget in &self.plan.budgets {
            self.compacted(&before, budget)?;
        }
        if self.plan.baselines {
            self.baselines(&before)?;
            self.recorded()?;
        }
        for (own, &budget) in
            self.plan.measured.iter().flat_map(|own| self.plan.budgets.iter().map(move |at| (own, at)))
        {
            self.measured(&before, own, budget)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut *self.out, line)?;
        self.out.write_all(b"\n")
    }

    /// Puts questions to Strongroom.
    fn ask(
        &mut self,
        ready: strongroom::Result<Ready>,
        condition: Condition,
        had: Option<(Share, &[u8])>,
        questions: Vec<&'a Question>,
    ) -> io::Result<()> {
        let (budget, had) = had.unzip();
        let plain = self.plan.plain && !condition.is_loss() && condition != Condition::Oracle;
        let some = |questions: &[&'a Question]| {
            Seed::new(&self.session.name, "some")
                .pick(questions.to_vec(), self.plan.most, |own| own.id.clone())
        };
        let questions = if condition.is_loss() { some(&questions) } else { questions };
        let worded = if plain { some(&questions) } else { Vec::new() };
        let mut asks: Vec<Asking<'_>> =
            questions.iter().map(|&question| Asking { question, put: Put::Typed }).collect();
        for question in worded {
            let phrasings = u8::try_from(question.plain.len()).unwrap_or(0);
            asks.extend((0..phrasings).map(|at| Asking { question, put: Put::Plain(at) }));
        }
        match ready.and_then(|ready| ready.answer(&asks, condition, budget)) {
            Ok(replies) => asks.iter().zip(replies).try_for_each(|(ask, reply)| {
                let reply = if let Some(file) = had { checked(reply, ask.question, file) } else { reply };
                self.line(&Line::Reply(reply))
            }),
            // That the store cannot be used is said of every question that is put to it.
            Err(error) if condition.is_loss() => asks.iter().try_for_each(|ask| {
                self.line(&Line::Reply(product::unavailable(ask, condition, budget, &error)))
            }),
            Err(error) => {
                (self.tell)(&format!("{}: {}: {error}", self.session.name, condition.words()));
                Ok(())
            }
        }
    }

    /// Compacts with Strongroom and asks under every condition that follows a compaction.
    fn compacted(&mut self, before: &[Message], budget: Share) -> io::Result<()> {
        let after: Vec<Condition> = self
            .plan
            .conditions
            .iter()
            .copied()
            .filter(|own| !matches!(own, Condition::Full | Condition::Oracle))
            .collect();
        if after.is_empty() {
            return Ok(());
        }
        let dir = tempfile::tempdir()?;
        let (name, format) = (self.session.name.clone(), self.session.format.word());
        let shortened = product::store(dir.path()).and_then(|store| {
            product::shorten(&name, self.session.bytes.clone(), format, &store, product::budget(budget))
        });
        let shortened = match shortened {
            Ok(shortened) => shortened,
            Err(error) => {
                (self.tell)(&format!("{name}: not compacted: {error}"));
                return Ok(());
            }
        };
        let context = loss::context(self.session, &shortened.bytes);
        let left = loss::messages_of(&context);
        let peak_kib = self.peak(product::NAME, before, budget.of(size(before)));
        self.note(
            before,
            &left,
            product::NAME,
            &Cost { budget: Some(budget), micros: micros(shortened.time), store: Some(dir.path()), peak_kib },
        )?;
        for condition in after {
            if condition == Condition::Context {
                let reader = Reader::new(before, &left);
                self.read(&reader, product::NAME, Some(budget))?;
                continue;
            }
            let other = tempfile::tempdir()?;
            let ready = loss::store(condition, dir.path(), other.path())
                .and_then(|store| product::ready(&name, context.clone(), format, store.as_ref()));
            self.ask(ready, condition, Some((budget, &context)), self.questions.to_vec())?;
        }
        Ok(())
    }

    /// The memory that a built-in compactor takes in a process of its own.
    fn peak(&self, name: &str, before: &[Message], allowed: u64) -> Option<u64> {
        let launcher = self.plan.memory.as_ref()?;
        let dir = tempfile::tempdir().ok()?;
        let command = format!("exec '{}' compactor '{name}'", launcher.0.display());
        protocol::compact(&command, dir.path(), (before, allowed), Some(launcher)).ok()?.peak_kib
    }

    /// Writes down what a compaction cost and what it invented.
    fn note(
        &mut self,
        before: &[Message],
        after: &[Message],
        answerer: &str,
        cost: &Cost<'_>,
    ) -> io::Result<()> {
        let (written, fabricated) = invented(self.session, before, after);
        let compaction = Compaction {
            transcript: self.session.name.clone(),
            project: self.session.project.clone(),
            answerer: answerer.to_owned(),
            budget: cost.budget,
            tokens_before: size(before),
            tokens_after: size(after),
            micros: cost.micros,
            bytes: u64::try_from(self.session.bytes.len()).unwrap_or(u64::MAX),
            store_bytes: cost.store.and_then(|dir| dir_bytes(dir).ok()),
            written_tokens: written,
            fabricated,
            left_out: left_out(self.session, after),
            peak_kib: cost.peak_kib,
        };
        self.line(&Line::Compaction(compaction))
    }

    /// Lets the literal reader answer what it can.
    fn read(&mut self, reader: &Reader, answerer: &str, budget: Option<Share>) -> io::Result<()> {
        for question in self.questions.iter().filter(|own| own.role == Role::Asked) {
            if let Some(found) = reader.finds(question) {
                let verdict = if found { Verdict::Supported } else { Verdict::Insufficient };
                self.line(&Line::Reply(literal(question, answerer, budget, verdict)))?;
            }
        }
        Ok(())
    }

    fn baselines(&mut self, before: &[Message]) -> io::Result<()> {
        let whole = size(before);
        for baseline in Baseline::ALL {
            let budgets: Vec<Option<Share>> = if baseline.has_budget() {
                self.plan.budgets.iter().copied().map(Some).collect()
            } else {
                vec![None]
            };
            for budget in budgets {
                let allowed = budget.map_or(0, |budget| budget.of(whole));
                let start = Instant::now();
                let after = baseline.compact(before, allowed);
                let micros = micros(start.elapsed());
                let peak_kib = self.peak(baseline.name(), before, allowed);
                let cost = Cost { budget, micros, store: None, peak_kib };
                self.note(before, &after, baseline.name(), &cost)?;
                self.read(&Reader::new(before, &after), baseline.name(), budget)?;
            }
        }
        Ok(())
    }

    /// A compactor behind a command.
    fn measured(&mut self, before: &[Message], own: &Measured, budget: Share) -> io::Result<()> {
        let allowed = budget.of(size(before));
        let dir = tempfile::tempdir()?;
        let start = Instant::now();
        let after =
            match protocol::compact(&own.compact, dir.path(), (before, allowed), self.plan.memory.as_ref()) {
                Ok(after) => after,
                Err(error) => {
                    (self.tell)(&format!("{}: {}: {error}", self.session.name, own.name));
                    return Ok(());
                }
            };
        let store = own.answer.is_some().then_some(dir.path());
        let micros_taken = micros(start.elapsed());
        let (after, peak_kib) = (after.messages, after.peak_kib);
        let cost = Cost { budget: Some(budget), micros: micros_taken, store, peak_kib };
        self.note(before, &after, &own.name, &cost)?;
        self.read(&Reader::new(before, &after), &own.name, Some(budget))?;
        let Some(command) = &own.answer else { return Ok(()) };
        let start = Instant::now();
        match protocol::answer(command, dir.path(), self.questions) {
            Ok(answers) => {
                let mean = micros(start.elapsed()) / u64::try_from(answers.len().max(1)).unwrap_or(1);
                let questions = self.questions.iter();
                questions.zip(answers).try_for_each(|(question, answer)| {
                    let reply = answered(question, own, answer);
                    self.line(&Line::Reply(Reply { budget: Some(budget), micros: mean, ..reply }))
                })
            }
            Err(error) => {
                (self.tell)(&format!("{}: {}: {error}", self.session.name, own.name));
                Ok(())
            }
        }
    }

    /// The compactions that the agent itself recorded: the summary is read, for evidence before its boundary.
    fn recorded(&mut self) -> io::Result<()> {
        const NAME: &str = "recorded compactions";
        if self.session.format != Format::ClaudeCode {
            return Ok(());
        }
        let summaries: Vec<_> =
            self.session.events.iter().filter(|event| event.speaker == Speaker::Derived).collect();
        let Some(last) = summaries.last() else { return Ok(()) };
        let old: Vec<&Question> = self
            .questions
            .iter()
            .copied()
            .filter(|own| own.role == Role::Asked && own.gold.iter().all(|gold| gold.record < last.record))
            .collect();
        let text = self.session.text_of(last);
        let before = messages::until(self.session, last.record);
        let after = [Message::new("user", text.clone())];
        self.note(&before, &after, NAME, &Cost { budget: None, micros: 0, store: None, peak_kib: None })?;
        let reader = Reader::of_text(&text);
        for question in old {
            if let Some(found) = reader.finds(question) {
                let verdict = if found { Verdict::Supported } else { Verdict::Insufficient };
                self.line(&Line::Reply(literal(question, NAME, None, verdict)))?;
            }
        }
        Ok(())
    }
}

/// What a command said, as a reply.
fn answered(question: &Question, own: &Measured, answer: Answered) -> Reply {
    let said = |gold: &Gold| answer.speaker.as_ref().is_none_or(|speaker| *speaker == gold.speaker);
    let holds = |gold: &Gold| answer.text.contains(&gold.text) && said(gold);
    let shown = match question.expect {
        Expect::AllCited | Expect::Order(_) => question.gold.iter().all(holds),
        _ => question.gold.is_empty() || question.gold.iter().any(holds),
    };
    Reply {
        condition: Condition::Retrieval,
        literal: None,
        shown: Some(shown),
        tokens: tokens::count(&answer.text),
        answer: answer.answer,
        values: answer.values,
        ..literal(question, &own.name, None, answer.verdict)
    }
}

/// Citations of a compacted context name bytes of it: they are read again there.
fn checked(mut reply: Reply, question: &Question, file: &[u8]) -> Reply {
    for cited in &mut reply.citations {
        if let Some(text) = cited.quote(file) {
            let pieces = question.gold.iter().enumerate().filter(|(_, gold)| gold.stands_in(&text));
            cited.elsewhere = Some(pieces.map(|(at, _)| at).collect());
        }
    }
    reply
}

/// What a compaction cost.
struct Cost<'a> {
    budget: Option<Share>,
    micros: u64,
    store: Option<&'a Path>,
    peak_kib: Option<u64>,
}

fn literal(question: &Question, answerer: &str, budget: Option<Share>, verdict: Verdict) -> Reply {
    Reply {
        budget,
        condition: Condition::Context,
        literal: Some(verdict == Verdict::Supported),
        ..Reply::bare(&question.id, answerer, verdict)
    }
}

/// The tokens that a compactor wrote itself, and the typed literals among them that the transcript does not hold.
fn invented(session: &Session, before: &[Message], after: &[Message]) -> (u64, u64) {
    let known: BTreeSet<String> = before.iter().map(Message::text).collect();
    let own = after.iter().map(Message::text).filter(|text| !known.contains(text));
    let (mut written, mut fabricated) = (0, 0);
    for text in own {
        written += tokens::count(&text);
        let text = product::without_pointers(&text);
        let typed =
            literals_in(&text).filter(|literal| !literal.chars().all(|c| c.is_ascii_digit() || c == '.'));
        let unknown = typed
            .map(|literal| literal.trim_end_matches(['.', ',', ':', '…']))
            .filter(|literal| session.lacks(literal));
        fabricated += u64::try_from(unknown.count()).unwrap_or(u64::MAX);
    }
    (written, fabricated)
}

/// The calls that a summary says are left out, and those that are: of what the agent still had before.
fn left_out(session: &Session, after: &[Message]) -> Option<(u64, u64)> {
    let declared = after.iter().find_map(|message| product::declared_calls(&message.text()))?;
    let kept: BTreeSet<&str> =
        after.iter().flat_map(|own| &own.tool_calls).map(|call| call.id.as_str()).collect();
    let boundary = session.boundaries.last().copied().unwrap_or(0);
    let had = session.events.iter().filter(|event| event.record > boundary);
    let ids: BTreeSet<&str> = had
        .filter_map(|event| match &event.kind {
            Kind::Call { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    let gone = ids.iter().filter(|id| !kept.contains(**id)).count();
    Some((declared, u64::try_from(gone).unwrap_or(u64::MAX)))
}

fn dir_bytes(dir: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(dir)? {
        total += entry?.metadata()?.len();
    }
    Ok(total)
}
