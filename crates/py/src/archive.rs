//! The class `Archive`: a custodian, and one method for each of its operations.

use std::path::PathBuf;

use pyo3::prelude::*;
use strongroom::archive::{Mode, Options, Secret};
use strongroom::ask::{Asked, open};
use strongroom::compact::Outcome;
use strongroom::custodian::Custodian;
use strongroom::form::{ReportForm, SourceForm};
use strongroom::import::{ImportOptions, Progress, Recheck, import};
use strongroom::ledger::filtered;
use strongroom::pointer::Pointer;
use strongroom::policy::{Policy, Writer};
use strongroom::query::read;
use strongroom::show::{self, Reveal, Shower};
use strongroom::summariser::Summariser;
use strongroom::time::Timestamp;
use strongroom::{Error, Result};

use crate::failure::raised;
use crate::reply::{self, Answer, Compacted, LedgerForm, Original, Span, Tally};
use crate::request::{self, Of};
use crate::summarizer::Callable;

/// An archive that is open. It may be used from any thread.
#[pyclass(frozen, module = "strongroom._native")]
pub(crate) struct Archive {
    custodian: Custodian,
}

/// Works without the interpreter.
fn away<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| raised(&error))
}

/// What opens an encrypted archive.
fn secret(key_file: Option<PathBuf>, passphrase: Option<String>) -> Result<Option<Secret>> {
    match (key_file, passphrase) {
        (None, None) => strongroom_cli::usual_secret(),
        (Some(path), None) => strongroom_cli::key_in(&path).map(Some),
        (None, Some(words)) => Secret::passphrase(words.into_bytes()).map(Some),
        (Some(_), Some(_)) => Err(Error::invalid_input("a key file and a passphrase are given; give one")),
    }
}

#[pymethods]
impl Archive {
    /// Opens the archive in `dir`, where it is encrypted with the key or the passphrase that is given, else with the
    /// secret that the environment names; `policy` is the text of a policy file and its name.
    #[new]
    #[pyo3(signature = (dir, policy=None, key_file=None, passphrase=None))]
    fn open(
        py: Python<'_>,
        dir: PathBuf,
        policy: Option<(String, String)>,
        key_file: Option<PathBuf>,
        passphrase: Option<String>,
    ) -> PyResult<Self> {
        away(py, move || {
            let policy = policy.map_or(Ok(Policy::default()), |(text, name)| Policy::parse(&text, &name))?;
            let (secret, cloud) = (secret(key_file, passphrase)?, strongroom_cli::usual_cloud());
            let options = Options { secret, cloud, ..Options::new(Mode::CreateIfMissing) };
            Ok(Self { custodian: Custodian::open_with(&dir, &options, policy)? })
        })
    }

    /// Whether what it holds is sealed on disk.
    #[getter]
    fn encrypted(&self) -> bool {
        self.custodian.archive().is_encrypted()
    }

    /// The report, and the messages where they changed. `writer` takes a request as JSON and returns a draft; without
    /// one the request, and then the policy, says who writes prose.
    #[pyo3(signature = (request, messages, writer=None))]
    fn compact(
        &self,
        py: Python<'_>,
        request: &str,
        messages: &str,
        writer: Option<Py<PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        away(py, || self.compacted(request, messages, writer))
    }

    /// The answer to a question.
    fn ask(&self, py: Python<'_>, request: &str, messages: &str) -> PyResult<String> {
        away(py, || {
            let request: request::Ask = request::read(request)?;
            let query = read(&request.text).map_err(|error| Error::invalid_input(error.to_string()))?;
            let asked = self.gather(request.of, messages)?;
            let options = self.custodian.ask_options(request.strictness.into());
            reply::write(&Answer::of(&asked.answer(&query, options)?))
        })
    }

    /// What a sentence is worth.
    fn claim(&self, py: Python<'_>, request: &str, messages: &str) -> PyResult<String> {
        away(py, || {
            let request: request::Ask = request::read(request)?;
            let asked = self.gather(request.of, messages)?;
            let options = self.custodian.ask_options(request.strictness.into());
            reply::write(&Answer::of(&asked.claim(&request.text, options)?))
        })
    }

    /// What was done, in order.
    fn ledger(&self, py: Python<'_>, request: &str, messages: &str) -> PyResult<String> {
        away(py, || {
            let request: request::Ledger = request::read(request)?;
            let fields: Vec<(&str, &[String])> =
                request.fields.iter().map(|(field, values)| (field.as_str(), values.as_slice())).collect();
            let query = filtered("effects", &fields, &request.terms)?;
            let asked = self.gather(request.of, messages)?;
            let strictness = strongroom::answer::Strictness::Assume;
            let ledger = asked.ledger(&query, self.custodian.ask_options(strictness))?;
            reply::write(&LedgerForm::of(&ledger, &asked))
        })
    }

    /// The original of a span, in words; secrets are hidden unless `reveal`.
    fn show(&self, py: Python<'_>, pointer: &str, reveal: bool) -> PyResult<String> {
        away(py, || {
            let pointer: Pointer = pointer.parse()?;
            let archive = self.custodian.archive();
            let record = show::record(archive, pointer)?;
            let span = show::span(&record, pointer)?;
            let reveal = if reveal { Reveal::Reveal } else { Reveal::Mask };
            let text = Shower::new(archive, &record).text(span, reveal)?;
            reply::write(&Original { pointer: pointer.to_string(), class: &span.class, text })
        })
    }

    /// The exact bytes of a span, secrets included.
    fn original_bytes(&self, py: Python<'_>, pointer: &str) -> PyResult<Vec<u8>> {
        away(py, || {
            let pointer: Pointer = pointer.parse()?;
            let record = show::record(self.custodian.archive(), pointer)?;
            show::bytes(self.custodian.archive(), show::span(&record, pointer)?)
        })
    }

    /// The spans under a pointer.
    fn spans(&self, py: Python<'_>, pointer: &str) -> PyResult<String> {
        away(py, || {
            let pointer: Pointer = pointer.parse()?;
            let record = show::record(self.custodian.archive(), pointer)?;
            let tag = Pointer { ordinal: None, ..pointer }.to_string();
            let spans: Vec<Span<'_>> = record.spans.iter().map(|span| Span::of(&tag, span)).collect();
            reply::write(&spans)
        })
    }

    /// Takes files and trees into custody.
    fn import_paths(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        away(py, || {
            let request: request::Import = request::read(request)?;
            let now = Timestamp::from_ms(request.now_ms);
            let options = ImportOptions { policy: self.custodian.policy(), now, recheck: Recheck::Trust };
            let mut tally = Tally::default();
            import(self.custodian.archive(), &request.paths, options, &mut |step| {
                if let Progress::File(path, taken) = step {
                    tally.note(path, taken);
                }
            })?;
            reply::write(&tally)
        })
    }

    /// The sources in custody.
    fn sources(&self, py: Python<'_>) -> PyResult<String> {
        away(py, || {
            let sources = self.custodian.archive().sources()?;
            reply::write(&sources.iter().map(SourceForm::of).collect::<Vec<_>>())
        })
    }
}

impl Archive {
    fn compacted(
        &self,
        request: &str,
        messages: &str,
        writer: Option<Py<PyAny>>,
    ) -> Result<(String, Option<String>)> {
        let request: request::Compact = request::read(request)?;
        let summariser = self.summariser(request.summarizer, writer)?;
        let conversation = request.of.conversation(messages);
        let now = Timestamp::from_ms(request.now_ms);
        let unmet = request.unmet.into();
        let size = (request.budget.parse()?, unmet);
        let outcome = self.custodian.compact_told(conversation, size, now, summariser.as_deref())?;
        let told = |report, outcome, smallest| {
            reply::write(&Compacted { report: ReportForm::of(report, outcome), smallest })
        };
        match outcome {
            Outcome::Unchanged(report) => Ok((told(&report, "unchanged", None)?, None)),
            Outcome::Compacted(compacted, report) => {
                let messages = String::from_utf8(compacted.bytes().to_vec())
                    .map_err(|error| Error::bug("the compacted messages are no text").caused_by(error))?;
                Ok((told(&report, "compacted", None)?, Some(messages)))
            }
            Outcome::BudgetNotMet { smallest, report } => {
                Ok((told(&report, "budget-not-met", Some(smallest.0))?, None))
            }
        }
    }

    fn summariser(
        &self,
        named: Option<String>,
        writer: Option<Py<PyAny>>,
    ) -> Result<Option<Box<dyn Summariser>>> {
        if let Some(call) = writer {
            return Ok(Some(Box::new(Callable::new(named.unwrap_or_default(), call))));
        }
        let named: Option<Writer> = named.map(|named| named.parse()).transpose()?;
        strongroom_cli::summariser(named.as_ref(), self.custodian.policy())
    }

    /// Makes what is asked ready.
    fn gather(&self, of: Of, messages: &str) -> Result<Asked> {
        let archive = self.custodian.archive();
        match of {
            Of::Messages(named) => self.custodian.ready(named.conversation(messages)),
            Of::File { path, format } => {
                let mut asked = Asked::default();
                asked.add(open(&path, format.as_deref(), Some(archive))?, Some(archive))?;
                Ok(asked)
            }
            Of::Custody => {
                let mut asked = Asked::default();
                asked.add_archived(archive, None)?;
                Ok(asked)
            }
        }
    }
}
