//! Collects the figures that tests and measurements print into one table.

use std::path::Path;
use std::process::{Command, Stdio};

use testkit::figure::MARK;

/// What states figures on evidence: a package, a test of it, and what follows the options of the test runner.
const SOURCES: &[(&str, &str, &[&str])] = &[
    ("strongroom-evidence", "corpus", &[]),
    ("strongroom-evidence", "oracle", &[]),
    ("strongroom-evidence", "narrative", &[]),
    ("strongroom", "real", &["cases", "--include-ignored"]),
    ("strongroom", "real", &["all_absences", "--ignored"]),
];

/// The measurement of speed, which takes the folder.
const SPEED: &[&str] = &["run", "--release", "-p", "strongroom", "--example", "evidence_speed", "--"];

/// The table on evidence, as Markdown. What a test stated before it failed stands in it, and the failure below.
///
/// # Errors
/// A message where a program cannot be started.
pub(crate) fn evidence(folder: &Path) -> Result<String, String> {
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    let mut speed = Command::new("cargo");
    speed.args(SPEED).arg(folder);
    let tests = SOURCES.iter().map(|(package, test, rest)| {
        let mut command = Command::new("cargo");
        command.args(["test", "--release", "-p", *package, "--test", *test, "--", "--nocapture"]).args(*rest);
        command
    });
    for mut command in tests.chain([speed]) {
        let (text, succeeded) = output(&mut command)?;
        rows.extend(figures(&text));
        if !succeeded {
            failed.push(format!("{command:?}"));
        }
    }
    let line = |program: &str, arguments: &[&str]| output(Command::new(program).args(arguments));
    let (date, commit) =
        (line("date", &["-u", "+%F"])?.0, line("git", &["describe", "--always", "--dirty"])?.0);
    let mut text = table(&format!("{}, commit {}", date.trim(), commit.trim()), &rows);
    for command in failed {
        text.extend(["\nFailed: ", &command, "\n"]);
    }
    Ok(text)
}

/// What reads every file below a folder and prints how well.
const FORMATS: &[&str] =
    &["run", "--release", "-p", "strongroom-formats", "--example", "format_figures", "--"];

/// The table on formats, as Markdown.
///
/// # Errors
/// A message where the program cannot be started or fails.
pub(crate) fn formats(folder: &Path) -> Result<String, String> {
    let mut command = Command::new("cargo");
    let (text, succeeded) = output(command.args(FORMATS).arg(folder))?;
    if succeeded { Ok(text.trim_end().to_owned()) } else { Err(format!("{command:?} failed")) }
}

/// What a program printed, and whether it succeeded.
fn output(command: &mut Command) -> Result<(String, bool), String> {
    let ran = command.stderr(Stdio::inherit()).output().map_err(|why| format!("{command:?}: {why}"))?;
    Ok((String::from_utf8_lossy(&ran.stdout).into_owned(), ran.status.success()))
}

/// The figures in what was printed, in order.
fn figures(printed: &str) -> Vec<[String; 3]> {
    printed
        .lines()
        .filter_map(|line| {
            // A test runner writes its own words before the first line of a test.
            let (_, line) = line.split_once(MARK)?;
            let mut fields = line.strip_prefix('\t')?.split('\t');
            Some([fields.next()?, fields.next()?, fields.next()?].map(str::to_owned))
        })
        .collect()
}

fn table(title: &str, rows: &[[String; 3]]) -> String {
    let mut text = format!("## {title}\n\n| what | measured | target |\n|---|--:|--:|\n");
    for [what, value, target] in rows {
        text.extend(["| ", what, " | ", value, " | ", target, " |\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_behind_the_words_of_a_test_runner() {
        let printed = "running 2 tests\ntest a ... FIGURE\tmisses\t0 of 3\t0\nFIGURE\tshare\t7 %\t>= 5 %\nok\nFIGURE none\n";
        assert_eq!(
            figures(printed),
            [["misses", "0 of 3", "0"], ["share", "7 %", ">= 5 %"]].map(|row| row.map(str::to_owned))
        );
    }
}
