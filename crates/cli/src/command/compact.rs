//! `strongroom compact`.

use std::path::{Path, PathBuf};

use strongroom::compact::{Options, Outcome, Purpose, Report, Secrets, Step, Unmet, compact_above};
use strongroom::files::{read_all, replace};
use strongroom::form::ReportForm;
use strongroom::prose::Prose;
use strongroom::tokens::{Budget, Tokens};
use strongroom::transcript::{SessionFiles, Transcript};
use strongroom::{Error, Result};

use crate::args::{Args, CompactArgs, SecretsArg};
use crate::command::summarizer;
use crate::exit::End;
use crate::{clock, out, place};

pub(super) fn run(args: &Args, own: &CompactArgs) -> Result<End> {
    if own.resume && own.file == Path::new("-") {
        return Err(Error::invalid_input(
            "--resume writes beside the input, and standard input has no place",
        ));
    }
    let session = open(own)?;
    let archive = (!own.without_archive).then(|| place::open_for_writing(args)).transpose()?;
    if archive.as_ref().is_some_and(strongroom::archive::Archive::is_read_only) {
        out::warning("the archive is read-only; spans that need custody stay");
    }
    let policy = super::policy(args)?;
    let summariser = summarizer::chosen(own.summarizer.as_ref(), &policy)?;
    let marks = Marks::of(own)?;
    let options = Options {
        budget: marks.low,
        policy: &policy,
        now: clock::now(),
        secrets: match own.secrets {
            SecretsArg::Mask => Secrets::Mask,
            SecretsArg::Keep => Secrets::Keep,
        },
        purpose: if own.resume { Purpose::Resume } else { Purpose::File },
        unmet: if own.best_effort { Unmet::BestEffort } else { Unmet::Stop },
        summariser: summariser.as_deref(),
    };
    let mut observe = |step| pause::at(step_name(step));
    let outcome = compact_above(&session, archive.as_ref(), &options, marks.high, &mut observe)?;
    match outcome {
        Outcome::BudgetNotMet { smallest, report } => {
            tell(args, &report, "budget-not-met")?;
            let at_least = format!("{} tokens is the smallest size that can be reached", smallest.0);
            out::note(&format!("nothing written: {at_least}, the budget is {}", report.budget.0));
            out::hint(&format!("--budget {} or --best-effort", smallest.0));
            Ok(End::No)
        }
        Outcome::Unchanged(report) if own.resume => {
            tell(args, &report, "unchanged")?;
            // The agent goes on with the session as it is; a copy would be a second one.
            match &report.resume {
                Some(resume) => go_on(&resume.command, &own.file)?,
                None => out::note("this format names no command that goes on with a session"),
            }
            Ok(End::Done)
        }
        Outcome::Unchanged(report) => {
            let target = Target::of(own, None);
            target.write(&own.file, &session.main.all_bytes()?)?;
            tell_on(&target, args, &report, "unchanged")?;
            Ok(End::Done)
        }
        Outcome::Compacted(compacted, report) => {
            let resume = own.resume.then(|| report.resume.clone()).flatten();
            let target = Target::of(own, resume.as_ref().map(|resume| resume.file_name.as_str()));
            target.write(&own.file, compacted.bytes())?;
            tell_on(&target, args, &report, "compacted")?;
            if let (Some(resume), Target::File(path)) = (resume, &target) {
                go_on(&resume.command, path)?;
            }
            Ok(End::Done)
        }
    }
}

/// Between which sizes the session is kept.
struct Marks {
    low: Budget,
    high: Option<Tokens>,
}

impl Marks {
    fn of(own: &CompactArgs) -> Result<Self> {
        let window = match own.window {
            Some(Budget::Tokens(window)) => Some(window),
            Some(Budget::Percent(_) | Budget::PerMille(_)) => {
                return Err(Error::invalid_input("--window is a number of tokens like 200k"));
            }
            None => None,
        };
        let low = window.map_or(own.budget, |window| Budget::Tokens(own.budget.of(window)));
        let high = match (own.above, window) {
            (Some(Budget::Percent(_) | Budget::PerMille(_)), None) => {
                return Err(Error::invalid_input(
                    "--above as a share is one of the context window: say it with --window, like --window 200k",
                ));
            }
            (Some(Budget::Tokens(high)), _) => Some(high),
            (Some(share), Some(window)) => Some(share.of(window)),
            (None, _) => None,
        };
        Ok(Self { low, high })
    }
}

/// Prints the command by which the agent goes on.
fn go_on(command: &str, file: &Path) -> Result<()> {
    out::line(&command.replace("{file}", &file.display().to_string()))
}

fn open(own: &CompactArgs) -> Result<SessionFiles> {
    strongroom::reading::prepare();
    if own.file != Path::new("-") {
        return SessionFiles::open(&own.file, own.format.as_deref());
    }
    let bytes = read_all(&mut std::io::stdin().lock())?;
    Ok(SessionFiles::of(Transcript::from_bytes("standard input", bytes, own.format.as_deref())?))
}

/// Where the compacted form goes.
enum Target {
    Stdout,
    File(PathBuf),
}

impl Target {
    fn of(own: &CompactArgs, resume_name: Option<&str>) -> Self {
        let stdin = own.file == Path::new("-");
        match (&own.out, resume_name) {
            (Some(out), _) if out == Path::new("-") => Self::Stdout,
            (Some(out), _) => Self::File(out.clone()),
            (None, Some(name)) if !stdin => Self::File(own.file.with_file_name(name)),
            (None, _) if stdin => Self::Stdout,
            (None, _) => Self::File(place::compacted_name(&own.file)),
        }
    }

    fn write(&self, input: &Path, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stdout => out::raw(bytes),
            Self::File(path) => {
                if input.canonicalize().is_ok_and(|input| path.canonicalize().is_ok_and(|path| path == input))
                {
                    return Err(Error::invalid_input(format!(
                        "{} is the input, which is never modified",
                        path.display()
                    )));
                }
                replace(path, bytes, &mut || pause::at("written"))?;
                pause::at("renamed");
                Ok(())
            }
        }
    }
}

/// Tells what was done: on standard error when the data goes to standard output.
fn tell_on(target: &Target, args: &Args, report: &Report, outcome: &'static str) -> Result<()> {
    match target {
        Target::Stdout if args.json => {
            out::note(&super::as_json(&ReportForm::of(report, outcome))?);
            Ok(())
        }
        Target::Stdout => {
            words(report, outcome).iter().for_each(|line| out::note(line));
            Ok(())
        }
        Target::File(path) => {
            tell(args, report, outcome)?;
            out::note(&format!("written to {}", path.display()));
            Ok(())
        }
    }
}

fn tell(args: &Args, report: &Report, outcome: &'static str) -> Result<()> {
    if args.json {
        return out::line(&super::as_json(&ReportForm::of(report, outcome))?);
    }
    words(report, outcome).iter().try_for_each(|line| out::line(line))
}

fn words(report: &Report, outcome: &str) -> Vec<String> {
    let mut lines =
        vec![format!("{} ({}): {outcome}{}", place::shown(&report.name), report.format, reason(report))];
    let share = report.tokens_after.0 * 100 / report.tokens_before.0.max(1);
    lines.push(format!(
        "tokens     {} -> {} ({share} %), budget {} [o200k_base, what the agent sends next]",
        report.tokens_before.0, report.tokens_after.0, report.budget.0
    ));
    if let Some(estimate) = report.estimate {
        lines.push(format!(
            "           the vendor counts about {:.2} of its tokens for one of these, by {} requests in the transcript",
            estimate.factor, estimate.requests
        ));
    }
    lines.push(format!("file       {} -> {} bytes", report.bytes_before, report.bytes_after));
    lines.extend(list("reclaimed ", &report.reclaimed));
    if report.carried > 0 {
        lines.push(format!(
            "told again {} spans of earlier compactions, from their originals",
            report.carried
        ));
    }
    lines.extend(list("because   ", &report.grounds));
    lines.extend(list("refused   ", &report.refused));
    lines.extend(list("kept      ", &report.pinned));
    if report.masked > 0 {
        lines.push(format!("masked     {} kept spans with secrets hidden", report.masked));
    }
    lines.extend(report.prose.as_ref().map(prose));
    lines.extend(report.due_above.map(|due| {
        let left = due.0.saturating_sub(report.tokens_after.0);
        format!("next       due above {} tokens, {left} more than now", due.0)
    }));
    if let Some(pointer) = &report.pointer {
        lines.push(format!("pointer    {pointer}, originals kept {}", report.kept));
    }
    let damage = report.findings.iter().filter(|finding| finding.level == strongroom::source::Level::Damage);
    lines.extend(damage.map(|finding| {
        let line = finding.line.map_or_else(String::new, |line| format!(" line {line}"));
        format!("damage    {line} {}: {}", finding.code, finding.message)
    }));
    lines.extend(not_understood(report));
    lines
}

fn sentences(count: usize) -> String {
    if count == 1 { "1 sentence".to_owned() } else { format!("{count} sentences") }
}

/// Who wrote prose, and what of it stands.
fn prose(prose: &Prose) -> String {
    let reasons: Vec<String> =
        prose.reasons().iter().map(|(why, count)| format!("{count} {}", why.words())).collect();
    let struck = match prose.struck.len() {
        0 => String::new(),
        count => format!(", {} struck: {}", sentences(count), reasons.join(", ")),
    };
    match &prose.failure {
        Some(failure) => format!("prose      none by {}: {failure}{struck}", prose.by),
        None => format!("prose      {} by {}{struck}", sentences(prose.sentences), prose.by),
    }
}

/// How many records and parts of unknown kinds there are, and the first of them.
fn not_understood(report: &Report) -> Option<String> {
    let unknown = |code: &str| matches!(code, "unknown-record" | "unknown-part");
    let mut found = report.findings.iter().filter(|finding| unknown(finding.code));
    let first = found.next()?;
    let line = first.line.map_or_else(String::new, |line| format!(" in line {line}"));
    Some(format!("unknown    {} records or parts, the first{line}: {}", 1 + found.count(), first.message))
}

fn reason(report: &Report) -> String {
    report.unchanged.map_or_else(String::new, |why| format!(", {why}"))
}

fn list<K: std::fmt::Display>(title: &str, counts: &std::collections::BTreeMap<K, u64>) -> Option<String> {
    let parts: Vec<String> = counts.iter().map(|(key, count)| format!("{count} {key}")).collect();
    (!parts.is_empty()).then(|| format!("{title} {}", parts.join(", ")))
}

const fn step_name(step: Step) -> &'static str {
    use strongroom::compact::DepositStep;
    match step {
        Step::Read => "read",
        Step::Deposit(DepositStep::Stored(_)) => "stored",
        Step::Deposit(DepositStep::AllStored) => "all-stored",
        Step::Deposit(DepositStep::ReadBack(_)) => "read-back",
        Step::Judged => "judged",
        Step::Checked => "checked",
        Step::Bound => "bound",
        Step::Spliced => "spliced",
    }
}

/// Stopping at a named step, so that tests can kill the process or tamper with the archive there. Builds for use
/// do not have it.
mod pause {
    #[cfg(not(debug_assertions))]
    pub(super) const fn at(_: &str) {}

    #[cfg(debug_assertions)]
    #[expect(clippy::disallowed_methods, reason = "test builds only")]
    pub(super) fn at(step: &str) {
        let wanted = std::env::var("STRONGROOM_TEST_PAUSE_AT").unwrap_or_default();
        let Ok(flag) = std::env::var("STRONGROOM_TEST_PAUSE_FILE") else { return };
        if wanted == step {
            drop(std::fs::write(&flag, step));
            while std::path::Path::new(&flag).exists() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
    }
}
