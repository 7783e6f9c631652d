//! What never happened in real sessions, and what did, found by regular expressions over the raw bytes and asked as
//! typed queries: no wrong "no", no wrong "yes", and most absences answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;
use strongroom::answer::{Answer, Strictness, Verdict};
use strongroom::ask::{AskOptions, Asked};
use strongroom::query::parse;
use strongroom::transcript::SessionFiles;
use testkit::figure::{figure, share};
use testkit::shared::shared;

use crate::walk::files;

/// How much is asked.
struct Size {
    /// Every how manieth file, of those up to `bytes_max`.
    step: usize,
    bytes_max: u64,
    /// The most questions of each kind asked of one file: of what never happened, and of what did.
    absent: usize,
    present: usize,
}

const SAMPLE: Size = Size { step: 7, bytes_max: 250_000, absent: 3, present: 4 };

const EVERYTHING: Size = Size { step: 1, bytes_max: 3_000_000, absent: 5, present: 80 };

/// The least share of true absences that must be answered, in percent.
const ANSWERED_MIN: usize = 60;

/// What is known of a question without asking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Absent,
    Present,
}

/// A question with its truth, and the kind it is counted under.
struct Question {
    kind: &'static str,
    query: String,
    truth: Truth,
}

#[derive(Default)]
struct Tally {
    absent: usize,
    answered: usize,
    present: usize,
    found: usize,
}

#[test]
fn a_sample_of_absences_and_presences_is_answered_rightly() {
    run(&SAMPLE);
}

#[test]
#[ignore = "asks thousands of questions of every real session; minutes"]
fn all_absences_and_presences_are_answered_rightly() {
    let (absent, present) = run(&EVERYTHING).unwrap_or((2_000, 1_500));
    assert!(absent >= 2_000 && present >= 1_500, "{absent} absences, {present} presences");
}

/// Asks everything; the numbers of absences and presences, where there are sessions.
fn run(size: &Size) -> Option<(usize, usize)> {
    let root = shared("transcripts")?;
    let parts = ["claude-code", "codex", "derived"];
    let mut paths: Vec<PathBuf> = parts.iter().flat_map(|part| files(&root.join(part))).collect();
    paths.retain(|path| {
        path.metadata().unwrap().len() <= size.bytes_max && !path.to_string_lossy().contains("subagents")
    });
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut blocks: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in paths.iter().step_by(size.step) {
        let strange = paths.iter().find(|other| other.parent() != path.parent()).unwrap_or(path);
        ask(path, strange, size, (&mut tallies, &mut blocks, &mut wrong));
    }
    let sum = |of: fn(&Tally) -> usize| tallies.values().map(of).sum::<usize>();
    for (kind, tally) in &tallies {
        println!(
            "{kind}: {} of {} absences answered, {} of {} presences found",
            tally.answered, tally.absent, tally.found, tally.present
        );
    }
    let (absent, answered, present) =
        (sum(|own| own.absent), sum(|own| own.answered), sum(|own| own.present));
    let wrong_in_all = share(wrong.len(), absent + present);
    figure("true absences and presences of real sessions, answered wrongly", wrong_in_all, "0");
    figure("true absences of real sessions, answered absent", share(answered, absent), ">= 60 %");
    println!("  {} presences found", share(sum(|own| own.found), present));
    let mut blocks: Vec<_> = blocks.into_iter().collect();
    blocks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (why, count) in blocks.iter().take(25) {
        println!("blocks {count}: {why}");
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(answered * 100 >= absent * ANSWERED_MIN, "{answered} of {absent}");
    Some((absent, present))
}

type Books<'b> =
    (&'b mut BTreeMap<&'static str, Tally>, &'b mut BTreeMap<String, usize>, &'b mut Vec<String>);

fn ask(path: &Path, strange: &Path, size: &Size, (tallies, blocks, wrong): Books<'_>) {
    let Ok(session) = SessionFiles::open(path, None) else { return };
    let mut asked = Asked::default();
    asked.add(session, None).unwrap();
    let raw: String = asked
        .names()
        .iter()
        .map(|name| std::fs::read(name).unwrap_or_default())
        .fold(String::new(), |all, bytes| all + &String::from_utf8_lossy(&bytes));
    let questions = questions(&Raw::of(&raw), strange, size);
    let queries: Vec<_> = questions.iter().map(|own| parse(&own.query).unwrap()).collect();
    let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
    for (own, answer) in questions.iter().zip(asked.answer_all(&queries, options).unwrap()) {
        let (no, yes) = (says(&answer, "no"), says(&answer, "yes"));
        let tally = tallies.entry(own.kind).or_default();
        let bad = match own.truth {
            Truth::Absent => {
                tally.absent += 1;
                tally.answered += usize::from(no);
                if !no && !yes {
                    *blocks.entry(why(&answer)).or_default() += 1;
                }
                yes
            }
            Truth::Present => {
                tally.present += 1;
                tally.found += usize::from(yes);
                no
            }
        };
        if bad {
            wrong.push(format!("{}: {} ({:?}) {:?}", path.display(), own.query, own.truth, answer.answer));
        }
    }
}

/// Whether an answer is a "yes", or a "no".
fn says(answer: &Answer, word: &str) -> bool {
    let words = answer.answer.as_deref().unwrap_or_default();
    let sure = matches!(answer.verdict, Verdict::Supported | Verdict::Absent);
    sure && (words == word
        || words.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ',', ':', ';'])))
}

fn why(answer: &Answer) -> String {
    let first = answer.scope.blocking.first().map_or("nothing", |first| first.why.as_str());
    let short: String = first.chars().take(70).collect();
    format!("{} {short}", answer.verdict.word())
}

/// One call as the raw bytes show it.
struct RawCall {
    tool: String,
    /// The arguments with the escapes of strings inside strings taken off once.
    input: String,
    /// Whether a result without an error mark is recorded.
    done: bool,
}

struct Raw {
    lower: String,
    calls: Vec<RawCall>,
}

impl Raw {
    fn of(text: &str) -> Self {
        let ids: BTreeMap<String, bool> = results(text);
        let mut calls = Vec::new();
        let block = Regex::new(r#""id"\s*:\s*"([^"]+)"\s*,\s*"name"\s*:\s*"([^"]+)"\s*,\s*"input"\s*:\s*(\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})"#).unwrap();
        let first = Regex::new(r#""type"\s*:\s*"function_call"[^{}]*"name"\s*:\s*"([^"]+)"\s*,\s*"arguments"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"call_id"\s*:\s*"([^"]+)""#).unwrap();
        let second = Regex::new(r#""id"\s*:\s*"([^"]+)"\s*,\s*(?:"type"\s*:\s*"function"\s*,\s*)?"function"\s*:\s*\{\s*"name"\s*:\s*"([^"]+)"\s*,\s*"arguments"\s*:\s*"((?:[^"\\]|\\.)*)""#).unwrap();
        let mut add = |id: &str, tool: &str, input: String| {
            let done = ids.get(id).copied().unwrap_or(false);
            calls.push(RawCall { tool: tool.to_owned(), input, done });
        };
        block.captures_iter(text).for_each(|found| add(&found[1], &found[2], found[3].to_owned()));
        first.captures_iter(text).for_each(|found| add(&found[3], &found[1], unescaped(&found[2])));
        second.captures_iter(text).for_each(|found| add(&found[1], &found[2], unescaped(&found[3])));
        Self { lower: text.to_lowercase(), calls }
    }

    /// Whether `word` stands anywhere, in any case.
    fn holds(&self, word: &str) -> bool {
        self.lower.contains(&word.to_lowercase())
    }

    fn done(&self) -> impl Iterator<Item = &RawCall> {
        self.calls.iter().filter(|call| call.done)
    }
}

fn unescaped(text: &str) -> String {
    text.replace(r#"\""#, "\"").replace(r"\\", r"\")
}

/// The ids of results, and whether no mark of an error or refusal stands beside them.
fn results(text: &str) -> BTreeMap<String, bool> {
    let id = Regex::new(r#""(?:tool_use_id|tool_call_id|call_id)"\s*:\s*"([^"]+)""#).unwrap();
    let bad = Regex::new(
        r#""is_error"\s*:\s*true|doesn't want to|rejected|[Ii]nterrupted by user|requested permissions"#,
    )
    .unwrap();
    let output = Regex::new(r#""(?:tool_result|function_call_output|tool)""#).unwrap();
    let mut found = BTreeMap::new();
    let pretty = text.lines().nth(1).is_some_and(|line| !line.starts_with('{'));
    let parts: Vec<&str> =
        if pretty || text.lines().count() < 3 { vec![text] } else { text.lines().collect() };
    for part in parts {
        if output.is_match(part) {
            let good = parts_are_good(part, &bad);
            id.captures_iter(part).for_each(|own| {
                found.insert(own[1].to_owned(), good);
            });
        }
    }
    found
}

/// In one large document marks cannot be told apart by line: there an error anywhere spoils everything.
fn parts_are_good(part: &str, bad: &Regex) -> bool {
    !bad.is_match(part)
}

const PROGRAMS: &[&str] = &[
    "kubectl",
    "terraform",
    "psql",
    "docker",
    "ssh",
    "scp",
    "rsync",
    "curl",
    "wget",
    "systemctl",
    "sudo",
    "rm",
    "mv",
    "cp",
    "chmod",
    "npm",
    "yarn",
    "pnpm",
    "pip",
    "cargo",
    "go",
    "make",
    "git",
    "gh",
    "python3",
    "node",
    "apt-get",
    "brew",
    "redis-cli",
    "mysql",
    "aws",
    "gcloud",
    "helm",
    "sed",
    "awk",
    "grep",
    "find",
    "tar",
    "crontab",
    "mount",
    "dd",
    "cat",
    "ls",
    "mkdir",
    "rg",
    "head",
    "tail",
    "wc",
    "bun",
    "npx",
    "echo",
    "sqlite3",
    "jq",
    "ansible",
    "vagrant",
    "nginx",
    "openssl",
    "gpg",
];

const TOOLS: &[&str] = &[
    "Bash",
    "Read",
    "Edit",
    "Write",
    "Grep",
    "Glob",
    "Task",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "NotebookEdit",
    "MultiEdit",
    "Skill",
    "exec_command",
    "apply_patch",
    "update_plan",
    "view_image",
    "write_stdin",
    "spawn_agent",
    "KillShell",
    "BashOutput",
    "book_reservation",
    "cancel_reservation",
    "get_user_details",
    "AskUserQuestion",
    "SlashCommand",
    "transfer_to_human_agents",
];

/// A query about effects with what stands somewhere in the bytes whenever one happened.
const ACTS: &[(&str, &str)] = &[
    ("effects kind:vcs.remote", r"push|\bgh\b|glab|pull_request|mcp__|remote"),
    ("effects kind:vcs.commit", r"commit|merge|rebase|cherry|revert|\bam\b|pull"),
    ("effects kind:db.schema", r"sql|migrat|database|\bdb\b|mongo|prisma|supabase|drop|table"),
    (
        "effects kind:cloud.mutate",
        r"kubectl|terraform|\baws\b|gcloud|azure|cloud|heroku|vercel|fly|helm|deploy|pulumi|book|cancel|update_res",
    ),
    ("effects kind:svc.state", r"docker|systemctl|service|podman|compose|launchctl|nginx|restart|daemon"),
    (
        "effects kind:pkg.mutate",
        r"install|\badd\b|brew|apt|npm|pnpm|yarn|pip|cargo|\bgo get\b|\bgo mod\b|\bbun\b|upgrade|\buv\b|npx|gem",
    ),
    (
        "changes system-config",
        r"sudo|/etc|/usr|/var|/opt|/boot|/lib|systemctl|sysctl|launchctl|defaults|brew|apt|crontab|\broot\b|docker",
    ),
    ("changes published", r"push|publish|release|upload|\bgh\b|registry|mcp__"),
    (
        "changes backups",
        r"backup|back up|\bbak\b|dump|snapshot|bundle|\.orig|\.old|restic|borg|before|\bpre\b|safe",
    ),
    (
        "changes deleted",
        r"delet|\brm\b|remov|unlink|drop|truncat|prune|clean|reset|checkout|restore|discard|destroy|cancel|rebase|amend|trash|rmdir|erase|stash|mcp__",
    ),
    ("files op:deleted", r"delet|\brm\b|remov|unlink|clean|reset|checkout|trash|rmdir|stash|prune"),
    (
        "changes installed",
        r"install|\badd\b|brew|apt|npm|pnpm|yarn|pip|cargo|go get|go mod|\bbun\b|upgrade|\buv\b|npx|gem",
    ),
];

fn questions(raw: &Raw, strange: &Path, size: &Size) -> Vec<Question> {
    let mut all = Vec::new();
    let mut add = |kind: &'static str, truth: Truth, queries: BTreeSet<String>| {
        let most = if truth == Truth::Absent { size.absent } else { size.present };
        let step = (queries.len() / most).max(1);
        let some = queries.into_iter().step_by(step).take(most);
        all.extend(some.map(|query| Question { kind, query, truth }));
    };
    let set = |queries: Vec<String>| queries.into_iter().collect::<BTreeSet<String>>();
    let absent = |words: &[&str], form: &dyn Fn(&str) -> String| {
        set(words.iter().filter(|word| !raw.holds(word)).map(|word| form(word)).collect())
    };
    let program = |word: &str| format!("ever calls cmd:{word}");
    let tool = |word: &str| format!("ever calls tool:{word}");
    add("cmd", Truth::Absent, absent(PROGRAMS, &program));
    add("cmd", Truth::Present, set(programs(raw).iter().map(|word| program(word)).collect()));
    add("tool", Truth::Absent, absent(TOOLS, &tool));
    add("tool", Truth::Present, set(raw.done().map(|call| tool(&call.tool)).collect()));
    let foreign = Raw::of(&std::fs::read_to_string(strange).unwrap_or_default());
    let names = paths(&foreign);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for op in ["written", "read", "deleted"] {
        add("path", Truth::Absent, absent(&names, &|name| format!("ever files op:{op} path:{name}")));
    }
    add("path", Truth::Present, written(raw));
    let words = words(&foreign);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    add("arg", Truth::Absent, absent(&words, &|word| format!("ever calls arg:{word}")));
    add(
        "arg",
        Truth::Present,
        set(self::words(raw).iter().map(|word| format!("ever calls arg:{word}")).collect()),
    );
    let never = |(query, cue): &(&str, &str)| {
        let trace = Regex::new(cue).unwrap().is_match(&raw.lower);
        (!trace).then(|| format!("ever {query}"))
    };
    add("act", Truth::Absent, ACTS.iter().filter_map(never).collect());
    add("act", Truth::Present, acts(raw));
    all
}

/// Programs that a shell line begins with.
fn programs(raw: &Raw) -> BTreeSet<String> {
    let start = Regex::new(r#"^\{\s*"(?:command|cmd)"\s*:\s*"([a-z0-9_-]+)[ "]"#).unwrap();
    let found = raw.done().filter_map(|call| start.captures(&call.input)).map(|found| found[1].to_owned());
    found.filter(|word| PROGRAMS.contains(&word.as_str())).collect()
}

/// Base names of paths in arguments, plain enough to be typed.
fn paths(raw: &Raw) -> BTreeSet<String> {
    let path = Regex::new(r#""file_path"\s*:\s*"[^"]*/([A-Za-z0-9_-]{4,}\.[a-z]{1,4})""#).unwrap();
    raw.calls.iter().filter_map(|call| path.captures(&call.input)).map(|found| found[1].to_owned()).collect()
}

/// Files that a tool wrote or read.
fn written(raw: &Raw) -> BTreeSet<String> {
    let path = Regex::new(r#""file_path"\s*:\s*"([A-Za-z0-9_./-]+)""#).unwrap();
    let rows = [("Write", "written"), ("Edit", "written"), ("Read", "read")];
    let query = |call: &RawCall| {
        let (_, op) = rows.iter().find(|(tool, _)| *tool == call.tool)?;
        Some(format!("ever files op:{op} path:{}", &path.captures(&call.input)?[1]))
    };
    raw.done().filter_map(query).collect()
}

/// Long words of arguments.
fn words(raw: &Raw) -> BTreeSet<String> {
    let word =
        Regex::new(r"[ /(.=*]([a-z]{4,12}_[a-z]{4,12}|[A-Z][a-z]{4,9}[A-Z][a-z]{4,9})[ )(,.;=|*]").unwrap();
    let found = raw.done().filter_map(|call| Some(word.captures(&call.input)?[1].to_owned()));
    found.collect()
}

/// Acts that a result shows.
fn acts(raw: &Raw) -> BTreeSet<String> {
    let rows = [
        ("effects kind:vcs.commit", r#"^\{\s*"(?:command|cmd)"\s*:\s*"git commit "#),
        ("effects kind:fs.write", r#"^\{\s*"file_path"\s*:\s*"[^"]+"\s*,\s*"content"\s*:"#),
        ("changes deleted", r#"^\{\s*"(?:command|cmd)"\s*:\s*"rm [^|;&*?$]+"[,}]"#),
        ("effects kind:fs.write", r#"^\{\s*"(?:command|cmd)"\s*:\s*"sed -i [^|;&]+"[,}]"#),
        ("effects kind:vcs.index", r#"^\{\s*"(?:command|cmd)"\s*:\s*"git add [^|;&]+"[,}]"#),
        ("effects kind:vcs.remote", r#"^\{\s*"(?:command|cmd)"\s*:\s*"git push"#),
    ];
    let happened = |(query, call): (&str, &str)| {
        let regex = Regex::new(call).unwrap();
        raw.done().any(|own| regex.is_match(&own.input)).then(|| format!("ever {query}"))
    };
    rows.into_iter().filter_map(happened).collect()
}
