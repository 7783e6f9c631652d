//! Measures single calls of the library on a list of messages: the same that `bench/python_overhead.py` makes through
//! Python, in turns with this program.
//!
//! `calls FILE BUDGET QUESTION` reads the messages, and from standard input a call in each line: `compact`, `ask` or
//! `show`. It is made once, and answered by a line with its milliseconds.
#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use strongroom::compact::{Outcome, Unmet};
use strongroom::custodian::{Conversation, Custodian};
use strongroom::policy::Policy;
use strongroom::show;
use strongroom::time::Timestamp;
use strongroom::tokens::Budget;

type Measured<T> = Result<T, Box<dyn Error>>;

struct Calls {
    custodian: Custodian,
    messages: Vec<u8>,
    budget: Budget,
    question: String,
    /// The first span that a compaction of these messages puts into custody.
    pointer: Option<String>,
}

fn main() -> Measured<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, budget, question] = words.as_slice() else {
        return Err("calls FILE BUDGET QUESTION".into());
    };
    let home = tempfile::tempdir()?;
    let mut calls = Calls::new(home.path(), std::fs::read(file)?, budget.parse()?, question)?;
    for line in std::io::stdin().lines() {
        println!("{}", calls.made(line?.trim())?);
    }
    Ok(())
}

impl Calls {
    fn new(dir: &Path, messages: Vec<u8>, budget: Budget, question: &str) -> Measured<Self> {
        let custodian = Custodian::open(dir, Policy::default())?;
        let mut calls = Self { custodian, messages, budget, question: question.to_owned(), pointer: None };
        if let Some(tag) = calls.compact()? {
            let record = show::record(calls.custodian.archive(), tag.parse()?)?;
            calls.pointer = record.spans.first().map(|span| format!("{tag}#{}", span.ordinal));
        }
        Ok(calls)
    }

    /// Makes a call, and returns its milliseconds.
    fn made(&mut self, call: &str) -> Measured<f64> {
        let start = Instant::now();
        match call {
            "compact" => drop(self.compact()?),
            "ask" => drop(self.custodian.ask(self.conversation(), &self.question)?),
            "show" => drop(self.custodian.show(self.pointer.as_deref().ok_or("nothing was compacted")?)?),
            other => return Err(format!("no call: {other}").into()),
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn compact(&self) -> Measured<Option<String>> {
        let now = Timestamp::from_ms(0);
        match self.custodian.compact(self.conversation(), self.budget, Unmet::BestEffort, now)? {
            Outcome::Compacted(_, report) => Ok(report.pointer),
            _ => Ok(None),
        }
    }

    fn conversation(&self) -> Conversation {
        Conversation::new("bench", self.messages.clone())
    }
}
