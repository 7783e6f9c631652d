//! `evidence-bench`: makes questions, puts them, scores the replies, reports.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use strongroom_bench::budget::Share;
use strongroom_bench::compactor::compactor;
use strongroom_bench::corpus::{self, Disclosure, Making};
use strongroom_bench::decay::decay;
use strongroom_bench::judge::judge;
use strongroom_bench::plot::plot;
use strongroom_bench::protocol::{Launcher, Measured, launch};
use strongroom_bench::read;
use strongroom_bench::reply::Condition;
use strongroom_bench::report::{Made, Scores};
use strongroom_bench::run::{Line, Plan, run};
use strongroom_bench::session::Session;

/// Questions with gold answers from transcripts, and what compactors answer to them.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Makes questions about the transcripts below a folder.
    Gen {
        /// The folder, or one transcript.
        dir: PathBuf,
        /// Where the questions go.
        #[arg(long, default_value = "questions.jsonl")]
        out: PathBuf,
        /// The seed.
        #[arg(long, default_value = "open")]
        seed: String,
        /// Reads the seed from this file and tells only its hash.
        #[arg(long, value_name = "FILE")]
        release: Option<PathBuf>,
        /// Pairs of a family from one transcript, at most.
        #[arg(long, default_value_t = 20)]
        per_family: usize,
    },
    /// Puts the questions.
    Run {
        /// The folder the questions were made of.
        dir: PathBuf,
        /// The questions.
        #[arg(long, default_value = "questions.jsonl")]
        questions: PathBuf,
        /// Where the replies go.
        #[arg(long, default_value = "replies.jsonl")]
        out: PathBuf,
        /// What the answerer has.
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "full,oracle,context,retrieval,lost-store,other-store,damaged-store"
        )]
        conditions: Vec<String>,
        /// Budgets, in percent.
        #[arg(long, value_delimiter = ',', default_value = "3.2,10,20")]
        budgets: Vec<Share>,
        /// Puts the plain phrasings as well.
        #[arg(long)]
        plain: bool,
        /// Questions of one transcript that are put in plain words, and where evidence is gone, at most.
        #[arg(long, default_value_t = 40)]
        most: usize,
        /// Runs the baselines as well.
        #[arg(long)]
        baselines: bool,
        /// Measures memory; what is built in is compacted once more for that, in processes of their own.
        #[arg(long)]
        memory: bool,
        /// Measures a compactor: its name.
        #[arg(long, requires = "command")]
        name: Option<String>,
        /// Measures a compactor: the command that speaks the protocol.
        #[arg(long, requires = "name")]
        command: Option<String>,
        /// Measures a compactor: the command that answers from its store.
        #[arg(long, requires = "command")]
        answer: Option<String>,
    },
    /// Compacts the same talk again and again, and asks for its beginning.
    Decay {
        /// The folder of transcripts, or one of them.
        dir: PathBuf,
        /// Where the lines go; `score` reads them among replies.
        #[arg(long, default_value = "decay.jsonl")]
        out: PathBuf,
        /// After how many compactions questions are put.
        #[arg(long, value_delimiter = ',', default_value = "1,2,5,20,100")]
        generations: Vec<usize>,
        /// The budget of each compaction, in percent.
        #[arg(long, default_value = "30")]
        budget: Share,
        /// Sessions, at most: the longest.
        #[arg(long, default_value_t = 8)]
        sessions: usize,
    },
    /// Scores the replies.
    Score {
        /// The folder the questions were made of.
        dir: PathBuf,
        /// The questions.
        #[arg(long, default_value = "questions.jsonl")]
        questions: PathBuf,
        /// The replies, from one run or several.
        #[arg(long, default_value = "replies.jsonl")]
        replies: Vec<PathBuf>,
        /// Where the scores go.
        #[arg(long, default_value = "scores.json")]
        out: PathBuf,
        /// Where replies that are wrong, withheld or not understood go, with their questions.
        #[arg(long)]
        faults: Option<PathBuf>,
    },
    /// Speaks the protocol for a compactor that is built in.
    Compactor {
        /// Its name in tables.
        name: String,
    },
    /// Runs a command and notes how much memory it held.
    Launch {
        /// Where that goes, in KiB.
        note: PathBuf,
        /// The command.
        command: String,
    },
    /// Writes the report and its plot.
    Report(ReportArgs),
}

#[derive(Debug, Parser)]
struct ReportArgs {
    /// The scores.
    #[arg(long, default_value = "scores.json")]
    scores: PathBuf,
    /// Where the report goes; the plot goes beside it.
    #[arg(long, default_value = "docs/benchmark.md")]
    out: PathBuf,
    /// The date of the run.
    #[arg(long, default_value = "an unnamed day")]
    date: String,
    /// The machine.
    #[arg(long, default_value = "an unnamed machine")]
    machine: String,
    /// The commit.
    #[arg(long, default_value = "unnamed")]
    commit: String,
    /// What else is to be known of the run.
    #[arg(long, default_value = "")]
    note: String,
}

const CONDITIONS: [(&str, Condition); 7] = [
    ("full", Condition::Full),
    ("oracle", Condition::Oracle),
    ("context", Condition::Context),
    ("retrieval", Condition::Retrieval),
    ("lost-store", Condition::LostStore),
    ("other-store", Condition::OtherStore),
    ("damaged-store", Condition::DamagedStore),
];

fn condition(word: &str) -> io::Result<Condition> {
    let found = CONDITIONS.iter().find(|(own, _)| *own == word).map(|&(_, condition)| condition);
    let known = CONDITIONS.map(|(own, _)| own).join(", ");
    found.ok_or_else(|| io::Error::other(format!("condition {word:?} is none of {known}")))
}

fn main() -> io::Result<()> {
    match Args::parse().command {
        Task::Gen { dir, out, seed, release, per_family } => {
            make(&dir, &out, (&seed, release.as_deref()), per_family)
        }
        Task::Run {
            dir,
            questions,
            out,
            conditions,
            budgets,
            plain,
            most,
            baselines,
            memory,
            name,
            command,
            answer,
        } => {
            let conditions = conditions.iter().map(|word| condition(word)).collect::<io::Result<_>>()?;
            let measured = name.zip(command).map(|(name, compact)| Measured { name, compact, answer });
            let memory = memory.then(std::env::current_exe).transpose()?.map(Launcher);
            let plan = Plan { conditions, budgets, plain, most, baselines, memory, measured };
            let (_, questions) = corpus::questions(&questions)?;
            let mut out = corpus::writer(&out)?;
            run(&dir, &questions, &plan, &mut out, &mut |line| tell(line))?;
            if let Some(kib) = peak_kib() {
                serde_json::to_writer(&mut out, &Line::Peak { kib })?;
                out.write_all(b"\n")?;
            }
            out.flush()
        }
        Task::Score { dir, questions, replies, out, faults } => {
            let (header, questions) = corpus::questions(&questions)?;
            let mut faults = faults.as_deref().map(corpus::writer).transpose()?;
            let scores = judge(&dir, (header, &questions), &replies, &mut |fault| match &mut faults {
                Some(out) => {
                    serde_json::to_writer(&mut *out, fault)?;
                    out.write_all(b"\n")
                }
                None => Ok(()),
            })?;
            fs::write(out, serde_json::to_vec(&scores)?)
        }
        Task::Decay { dir, out, generations, budget, sessions } => {
            let mut file = corpus::writer(&out)?;
            for session in longest(&dir, sessions)? {
                for left in decay(&session, &generations, budget)?.into_iter().flatten() {
                    serde_json::to_writer(&mut file, &Line::Decay(left))?;
                    file.write_all(b"\n")?;
                }
                tell(&session.name);
            }
            file.flush()
        }
        Task::Compactor { name } => {
            let dir = std::env::var_os("EVIDENCE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
            let mut input = Vec::new();
            io::stdin().lock().read_to_end(&mut input)?;
            io::stdout().lock().write_all(&compactor(&name, &input, &dir)?)
        }
        Task::Launch { note, command } => match launch(&note, &command)? {
            status if status.success() => Ok(()),
            status => Err(io::Error::other(format!("{command} ended with {status}"))),
        },
        Task::Report(args) => report(&args),
    }
}

/// The most memory that this process has held; `None` where the system does not say.
fn peak_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The sessions with the most events, longest first.
fn longest(dir: &Path, most: usize) -> io::Result<Vec<Session>> {
    let mut found: Vec<Session> = Vec::new();
    for path in corpus::files(dir)? {
        found.extend(read::file(dir, &path)?);
        found.sort_by_key(|session| std::cmp::Reverse(session.events.len()));
        found.truncate(most);
    }
    Ok(found)
}

fn report(args: &ReportArgs) -> io::Result<()> {
    let scores: Scores = serde_json::from_slice(&fs::read(&args.scores)?)?;
    let svg = args.out.with_extension("svg");
    let plot_name = svg.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let made = Made {
        date: args.date.clone(),
        machine: args.machine.clone(),
        commit: args.commit.clone(),
        plot: plot_name,
        note: args.note.clone(),
    };
    fs::write(&args.out, scores.markdown(&made))?;
    fs::write(svg, plot(&scores))
}

fn tell(line: &str) {
    let mut out = io::stderr().lock();
    // Progress that nobody can read is no reason to stop.
    drop(writeln!(out, "{line}"));
}

fn make(dir: &Path, out: &Path, seed: (&str, Option<&Path>), per_family: usize) -> io::Result<()> {
    let hidden = seed.1.map(fs::read_to_string).transpose()?;
    let (seed, disclosure) = match &hidden {
        Some(seed) => (seed.trim(), Disclosure::Hidden),
        None => (seed.0, Disclosure::Open),
    };
    let mut file = corpus::writer(out)?;
    let header = corpus::make(dir, &Making { seed, disclosure, per_family }, &mut file)?;
    file.flush()?;
    tell(&format!("{} transcripts, corpus {}", header.transcripts, header.corpus_sha256));
    Ok(())
}
