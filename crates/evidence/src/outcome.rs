//! How a call ended, and what that proves of its effects.

use std::sync::LazyLock;

use regex::bytes::Regex;
use strongroom_core::transcript::Ending;

use crate::effect::{Access, Effect, EffectKind, Outcome, Target};
use crate::trace::{Hinge, Proof, Report, Traced};

/// What the results of a call record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Whether there is a result at all.
    pub present: bool,
    /// The harness's error flag.
    pub error: Option<bool>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// How the run ended.
    pub ending: Ending,
    /// The text of the results.
    pub text: String,
}

/// Whether the tool is a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Its calls are scripts with an exit code.
    Shell,
    /// Its calls succeed or fail as a whole.
    Other,
}

// The patterns below read bytes: of characters, a bounded run of anything but a line feed is hundreds of automata.

/// Lines that show a failure somewhere in a script.
static FAILURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m-u)^(?:[^\s:]+: (?:line \d+: )?[^\n]{0,200}(?:command not found|No such file or directory|Permission denied|not permitted|Is a directory|No space left)",
        r"|fatal: |[Ee]rror: |ERROR[: ]|Traceback \(most recent call last\)|npm ERR!|panic: |<tool_use_error>|[^\s:]+: cannot )",
    ))
    .ok()
});

/// How harnesses begin a result in place of the output of a call that did not run to its end.
const STOPPED: &[(&str, Ending)] = &[
    ("The user doesn't want to", Ending::Refused),
    ("The user doesn\u{2019}t want to", Ending::Refused),
    ("Permission to use ", Ending::Refused),
    ("Permission denied by user", Ending::Refused),
    ("exec command rejected by user", Ending::Refused),
    ("patch rejected by user", Ending::Refused),
    ("rejected by user", Ending::Refused),
    ("The user denied", Ending::Refused),
    ("The user rejected", Ending::Refused),
    ("The tool call required approval from the user, but", Ending::Refused),
    ("The tool call was rejected", Ending::Refused),
    ("User rejected", Ending::Refused),
    ("User denied", Ending::Refused),
    ("User did not allow", Ending::Refused),
    ("Tool call rejected", Ending::Refused),
    ("Tool execution denied", Ending::Refused),
    ("Command execution rejected", Ending::Refused),
    ("Hook PreToolUse", Ending::Refused),
    ("PreToolUse:", Ending::Refused),
    ("[Request interrupted by user", Ending::Interrupted),
    ("[Tool execution was interrupted]", Ending::Interrupted),
    ("Tool execution was interrupted", Ending::Interrupted),
    ("[Operation Cancelled]", Ending::Interrupted),
    ("Operation cancelled", Ending::Interrupted),
    ("Command was cancelled", Ending::Interrupted),
    ("Tool call cancelled", Ending::Interrupted),
    ("aborted by user", Ending::Interrupted),
    ("Command aborted", Ending::Interrupted),
    ("Command timed out", Ending::TimedOut),
    ("command timed out", Ending::TimedOut),
    ("Timed out after", Ending::TimedOut),
    ("Command running in background", Ending::Background(String::new())),
];

/// How harnesses write an exit code that is not zero in front of a result or behind it.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)\A\s*<returncode>(-?\d+)</returncode>",
        r"|\A(?:[^\n]{0,200}\n){0,6}Process exited with code (-?\d+)\n",
        r"|\AExit code: (-?\d+)\n",
        r"|Command exited with code (-?\d+)\s*\z",
        r"|<shellId: [^>\n]{1,40} completed with exit code (-?\d+)>\s*\z",
        r"|\[The command completed with exit code (-?\d+)\.?\][^\n]{0,200}\s*\z",
        r"|\nExit Code: (-?\d+)\n[^\n]*\n?[^\n]*\n?[^\n]*\n?[^\n]*\z",
    ))
    .ok()
});

/// Whether the words of [`CODE`] stand where it looks for them: at the beginning or in the last lines. Most results say
/// nothing of a code, and a pattern that ends at the end of the text would read all of it.
fn may_state_code(text: &str) -> bool {
    const HEAD_BYTES: usize = 8_192;
    const LINES_BEHIND: usize = 5;
    let bytes = text.as_bytes();
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let lines =
        |text: &str, count: usize| memchr::memrchr_iter(b'\n', text.as_bytes()).nth(count - 1).unwrap_or(0);
    let tail = lines(text, LINES_BEHIND).min(lines(text.trim_end(), 1));
    let stands = |part: &[u8], words: &str| memchr::memmem::find(part, words.as_bytes()).is_some();
    ["<returncode>", "Process exited with code ", "Exit code: "].iter().any(|words| stands(head, words))
        || ["Command exited with code ", " completed with exit code ", "Exit Code: "]
            .iter()
            .any(|words| stands(bytes.get(tail..).unwrap_or_default(), words))
}

/// What shells say when a change of directory fails.
static NOT_MOVED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)\bcd: [^\n]{0,300}(?:no such file|not a directory|permission denied|can't cd|too many arguments|not set|file name too long)",
        r"|\bcan't cd to |\bcd: no such file|pushd: [^\n]{0,300}no such|the system cannot find the path",
    ))
    .ok()
});

/// Marks of harnesses in place of output that was left out.
const LEFT_OUT: &[&str] = &["truncated", "<persisted-output>", "elided"];

/// Results of tools that are no shells that begin like this report a failure.
const REFUSALS: &[&str] =
    &["Error", "error:", "<tool_use_error>", "ERROR", "Failed", "failed", "InputValidationError", "Invalid "];

impl Record {
    /// The exit code as recorded, or as the harness writes it at the start of a flagged result.
    fn code(&self) -> Option<i32> {
        let written = || {
            let rest = self.text.strip_prefix("Exit code ").filter(|_| self.error == Some(true))?;
            rest.split(|char: char| !(char.is_ascii_digit() || char == '-')).next()?.parse().ok()
        };
        self.exit_code.or_else(written).or_else(|| self.failing_code())
    }

    /// A code in the words of a harness, which counts only against success: the output may print such words too.
    fn failing_code(&self) -> Option<i32> {
        if !may_state_code(&self.text) {
            return None;
        }
        let found = CODE.as_ref()?.captures(self.text.as_bytes())?;
        let code = found.iter().skip(1).flatten().next()?.as_bytes();
        let code = std::str::from_utf8(code).ok()?.parse().ok()?;
        (code != 0).then_some(code)
    }

    /// How the run ended by the words in front of the result. Without the flag of the harness they may be output:
    /// then nothing is known.
    fn stopped(&self) -> Option<Outcome> {
        let text = self.text.trim_start();
        let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
        let text = text.strip_prefix("Error: ").unwrap_or(text);
        let (_, ending) = STOPPED.iter().find(|(words, _)| text.starts_with(words))?;
        Some(match (ending, self.error) {
            (Ending::Refused, Some(true)) => Outcome::Refused,
            (Ending::Interrupted | Ending::TimedOut, Some(true)) => Outcome::Interrupted,
            _ => Outcome::Unknown,
        })
    }

    /// Whether every change of directory succeeded: a complaint of one that failed would stand in the output.
    fn shows_moves(&self) -> bool {
        let complains = NOT_MOVED.as_ref().is_none_or(|words| words.is_match(self.text.as_bytes()));
        let whole = !LEFT_OUT.iter().any(|mark| self.says(mark));
        self.present && self.ending == Ending::Returned && whole && !complains
    }

    /// Whether the text is all that a call that succeeded showed.
    pub fn is_whole(&self) -> bool {
        let cut = || LEFT_OUT.iter().any(|mark| self.says(mark));
        self.returned() && !cut()
    }

    /// Whether the shell stays where the call left it, as far as the harness says.
    pub fn keeps_directory(&self) -> bool {
        self.returned() && !self.says("Shell cwd was reset")
    }

    /// Whether the call ran to its end and nothing says that it failed.
    fn returned(&self) -> bool {
        let failed = || self.error == Some(true) || self.code().is_some_and(|code| code != 0);
        self.present && self.ending == Ending::Returned && !failed()
    }

    fn says(&self, words: &str) -> bool {
        memchr::memmem::find(self.text.as_bytes(), words.as_bytes()).is_some()
    }

    fn shows_failure(&self, tool: ToolKind) -> bool {
        match tool {
            ToolKind::Shell => FAILURE.as_ref().is_some_and(|failure| failure.is_match(self.text.as_bytes())),
            ToolKind::Other => REFUSALS.iter().any(|start| self.text.starts_with(start)),
        }
    }

    /// The outcome of the call as a whole.
    fn whole(&self, tool: ToolKind) -> Outcome {
        if let Some(outcome) = self.ended() {
            return outcome;
        }
        match (self.code(), self.error) {
            (Some(0), _) => Outcome::Ok,
            (Some(_), _) | (None, Some(true)) => Outcome::Failed,
            (None, _) if self.shows_failure(tool) => Outcome::Unknown,
            (None, _) => Outcome::ReportedOk,
        }
    }

    /// The outcome of everything, where the ending decides it.
    fn ended(&self) -> Option<Outcome> {
        match (&self.ending, self.present) {
            (Ending::Refused, _) => Some(Outcome::Refused),
            (Ending::Interrupted | Ending::TimedOut, _) => Some(Outcome::Interrupted),
            (Ending::Background(_), _) | (Ending::Returned, false) => Some(Outcome::Unknown),
            (Ending::Returned, true) => self.stopped(),
        }
    }
}

/// Sets the outcomes of all effects in `report` and gives that of the call.
pub fn decide(report: Report, record: &Record, tool: ToolKind) -> (Vec<Effect>, Outcome) {
    let failure = record.shows_failure(tool);
    let commands = report.commands;
    let several = several(&report);
    let own = Own { record, tool, failure, several, commands };
    let moved = record.shows_moves();
    let effects: Vec<Effect> = report
        .effects
        .into_iter()
        .filter(|traced| !(moved && traced.hinge == Hinge::Stayed))
        .map(|traced| {
            let outcome = own.of(&traced);
            let scope = match traced.hinge {
                Hinge::Moved(scope) if moved => scope,
                Hinge::Moved(_) | Hinge::Free | Hinge::Stayed => traced.effect.scope,
            };
            Effect { scope, outcome, ..traced.effect }
        })
        .collect();
    let whole = record.whole(tool);
    let uniform =
        |wanted: Outcome| !effects.is_empty() && effects.iter().all(|effect| effect.outcome == wanted);
    let outcome =
        [Outcome::NoEffect, Outcome::DryRun].into_iter().find(|wanted| uniform(*wanted)).unwrap_or(whole);
    (effects, outcome)
}

/// The kinds of change of which there is more than one, or one on a set: a command that fails may have made some.
fn several(report: &Report) -> Vec<EffectKind> {
    let kinds: Vec<EffectKind> = report
        .effects
        .iter()
        .filter(|one| one.hinge != Hinge::Stayed && one.effect.kind.access() == Access::Mutation)
        .map(|one| one.effect.kind)
        .collect();
    // A run is one run, wherever it may have reached.
    let is_set =
        |one: &&Traced| matches!(one.effect.target, Target::Under(_)) && !one.effect.kind.is_under("exec");
    let sets = report.effects.iter().filter(is_set);
    let mut several: Vec<EffectKind> = sets.map(|one| one.effect.kind).collect();
    several.extend(kinds.iter().filter(|kind| kinds.iter().filter(|own| own == kind).count() > 1));
    several
}

struct Own<'a> {
    record: &'a Record,
    tool: ToolKind,
    failure: bool,
    several: Vec<EffectKind>,
    commands: usize,
}

/// Programs whose exit code speaks of the transfer and not of what the other side made of it.
const CARRIERS: &[&str] = &["curl", "http"];

impl Own<'_> {
    fn of(&self, traced: &Traced) -> Outcome {
        if let Some(outcome) = self.record.ended() {
            return outcome;
        }
        if traced.effect.outcome == Outcome::DryRun {
            return Outcome::DryRun;
        }
        if let Some(rule) = traced.rule {
            if rule.quiet.iter().any(|text| self.record.text.contains(text.as_str())) {
                return Outcome::NoEffect;
            }
            if rule.proves(&self.record.text) {
                return Outcome::Ok;
            }
        }
        let carried =
            traced.effect.kind == EffectKind::NetSend && CARRIERS.contains(&traced.effect.program.as_str());
        match (self.record.code(), self.record.error) {
            (_, _) if traced.proof == Proof::Later => Outcome::Unknown,
            (Some(0), _) if carried => self.of_success(Proof::Masked),
            (Some(0), _) => self.of_success(traced.proof),
            (Some(_), _) | (None, Some(true)) => self.of_failure(traced),
            (None, _) if self.failure => Outcome::Unknown,
            (None, _) => Outcome::ReportedOk,
        }
    }

    fn of_success(&self, proof: Proof) -> Outcome {
        match proof {
            Proof::Covered => Outcome::Ok,
            Proof::Before if self.commands <= 1 => Outcome::Ok,
            Proof::Masked | Proof::Before if self.failure => Outcome::Unknown,
            Proof::Masked | Proof::Before => Outcome::ReportedOk,
            Proof::Later => Outcome::Unknown,
        }
    }

    /// One failing command failed; of several, it is not known which. Files are truncated before a command runs.
    fn of_failure(&self, traced: &Traced) -> Outcome {
        let whole = self.commands <= 1 && !self.several.contains(&traced.effect.kind);
        match (self.tool, traced.proof) {
            (ToolKind::Other, _) => Outcome::Failed,
            (ToolKind::Shell, Proof::Covered | Proof::Masked) if whole => Outcome::Failed,
            (ToolKind::Shell, _) => Outcome::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::effect::Access;
    use crate::place::{Cwd, ProjectFacts};
    use crate::trace::{Artifacts, trace};

    fn outcomes(script: &str, record: &Record) -> Vec<Outcome> {
        let report = trace(script, Cwd::at("/app"), &ProjectFacts::default(), &mut Artifacts::default());
        let (effects, _) = decide(report, record, ToolKind::Shell);
        effects.iter().filter(|one| one.kind.access() == Access::Mutation).map(|one| one.outcome).collect()
    }

    proptest! {
        #[test]
        fn a_code_that_a_pattern_finds_is_looked_for(
            text in "([a-z\n ]{0,9}|<returncode>|</returncode>|Process exited with code |Exit code: |Exit Code: |-?[0-9]|[\\[\\]<>.\n]|Command exited with code |<shellId: 3|The command| completed with exit code ){0,14}"
        ) {
            prop_assert!(may_state_code(&text) || CODE.as_ref().unwrap().captures(text.as_bytes()).is_none());
        }
    }

    fn with(exit_code: Option<i32>, error: Option<bool>, text: &str) -> Record {
        Record { present: true, error, exit_code, ending: Ending::Returned, text: text.to_owned() }
    }

    #[test]
    fn only_what_the_exit_code_covers_is_proved() {
        assert_eq!(outcomes("rm a", &with(Some(0), None, "")), [Outcome::Ok]);
        assert_eq!(outcomes("rm a; rm b", &with(Some(0), None, "")), [Outcome::ReportedOk, Outcome::Ok]);
        assert_eq!(
            outcomes("rm a; rm b", &with(Some(0), None, "rm: cannot remove 'a'")),
            [Outcome::Unknown, Outcome::Ok]
        );
        assert_eq!(outcomes("rm a | tail", &with(Some(0), None, "")), [Outcome::ReportedOk]);
        assert_eq!(outcomes("rm a", &with(Some(1), None, "")), [Outcome::Failed]);
        assert_eq!(outcomes("rm a && rm b", &with(Some(1), None, "")), [Outcome::Unknown, Outcome::Unknown]);
        assert_eq!(outcomes("grep x f > out", &with(Some(1), None, "")), [Outcome::Unknown]);
        assert_eq!(outcomes("rm a", &with(None, Some(false), "")), [Outcome::ReportedOk]);
        assert_eq!(outcomes("rm a", &with(None, None, "fatal: no")), [Outcome::Unknown]);
        assert_eq!(outcomes("rm a", &with(None, Some(true), "Exit code 1\nrm: no")), [Outcome::Failed]);
        assert_eq!(outcomes("rm a", &Record::default()), [Outcome::Unknown]);
    }

    #[test]
    fn a_command_that_fails_may_have_done_a_part() {
        let failed = with(Some(1), None, "");
        assert_eq!(outcomes("rm a b", &failed), [Outcome::Unknown, Outcome::Unknown]);
        assert_eq!(outcomes("rm *.o", &failed), [Outcome::Unknown]);
        assert_eq!(outcomes("mv a b", &failed), [Outcome::Failed, Outcome::Failed]);
    }

    #[test]
    fn words_of_harnesses_count_only_against_success() {
        let plain = |text: &str| outcomes("rm a", &with(None, None, text));
        assert_eq!(plain("<returncode>1</returncode>\n<output>"), [Outcome::Failed]);
        assert_eq!(plain("<returncode>0</returncode>\n<output>"), [Outcome::ReportedOk]);
        assert_eq!(plain("no\nCommand exited with code 2"), [Outcome::Failed]);
        assert_eq!(plain("no\n<shellId: 3 completed with exit code 1>"), [Outcome::Failed]);
        assert_eq!(plain("x\nCommand exited with code 2\nand goes on"), [Outcome::ReportedOk]);
        assert_eq!(plain("The user denied this operation."), [Outcome::Unknown]);
        let flagged = |text: &str| outcomes("rm a", &with(None, Some(true), text));
        assert_eq!(flagged("The user denied this operation."), [Outcome::Refused]);
        assert_eq!(flagged("Error: Command timed out after 2m"), [Outcome::Interrupted]);
    }

    #[test]
    fn what_still_runs_is_not_done() {
        let fine = with(Some(0), None, "");
        assert_eq!(outcomes("rm a &", &fine), [Outcome::Unknown]);
        assert_eq!(outcomes("(rm a; rm b) & rm c", &fine)[..2], [Outcome::Unknown, Outcome::Unknown]);
        assert_eq!(outcomes("curl -d x http://h", &fine), [Outcome::ReportedOk]);
    }

    #[test]
    fn a_change_of_directory_that_does_not_complain_succeeded() {
        let targets = |script: &str, record: &Record| -> Vec<String> {
            let report = trace(script, Cwd::at("/app"), &ProjectFacts::default(), &mut Artifacts::default());
            let (effects, _) = decide(report, record, ToolKind::Shell);
            let changes = effects.iter().filter(|one| one.kind.access() == Access::Mutation);
            changes.map(|one| format!("{} {}", one.target.words(), one.scope)).collect()
        };
        let fine = with(Some(0), None, "");
        let failed = with(Some(0), None, "bash: line 1: cd: /etc/x: No such file or directory");
        assert_eq!(targets("cd /etc/x; rm a", &fine), ["/etc/x/a system"]);
        assert_eq!(targets("cd /etc/x; rm a", &failed), ["/etc/x/a unknown", "/app/a outside"]);
        assert_eq!(targets("cd /etc/x; rm a", &Record::default()).len(), 2);
        assert_eq!(targets("cd /etc/x 2>/dev/null; rm a", &fine), ["/etc/x/a unknown", "/app/a outside"]);
        let cut = with(Some(0), None, "... [125 characters truncated] ...");
        assert_eq!(targets("cd /etc/x; rm a", &cut).len(), 2);
    }

    #[test]
    fn endings_and_texts_of_rules_decide() {
        let refused = Record { ending: Ending::Refused, present: true, ..Record::default() };
        assert_eq!(outcomes("rm a", &refused), [Outcome::Refused]);
        let stopped = Record { ending: Ending::Interrupted, present: true, ..Record::default() };
        assert_eq!(outcomes("rm a", &stopped), [Outcome::Interrupted]);
        let quiet = with(Some(1), None, "nothing to commit, working tree clean");
        assert_eq!(outcomes("git commit -m x", &quiet), [Outcome::NoEffect, Outcome::NoEffect]);
        let proved = with(None, Some(false), "[main 1a2b3c4] x\n 1 file changed");
        assert_eq!(outcomes("git commit -m x | cat", &proved)[0], Outcome::Ok);
        assert_eq!(outcomes("git push", &with(Some(0), None, "Everything up-to-date"))[0], Outcome::NoEffect);
    }
}
