//! Collects the figures that tests and measurements print into one table.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::figure::MARK;

/// What states figures on evidence: the arguments of `cargo`, before those of the program itself.
const SOURCES: &[&[&str]] = &[
    &["test", "--release", "-p", "strongroom-evidence", "--test", "corpus", "--", "--nocapture"],
    &["test", "--release", "-p", "strongroom-evidence", "--test", "oracle", "--", "--nocapture"],
    &["test", "--release", "-p", "strongroom-evidence", "--test", "narrative", "--", "--nocapture"],
    &[
        "test",
        "--release",
        "-p",
        "strongroom",
        "--test",
        "real",
        "--",
        "--nocapture",
        "cases",
        "--include-ignored",
    ],
    &[
        "test",
        "--release",
        "-p",
        "strongroom",
        "--test",
        "real",
        "--",
        "--nocapture",
        "all_absences",
        "--ignored",
    ],
];

/// The measurement of speed, which takes the folder.
const SPEED: &[&str] = &["run", "--release", "-p", "strongroom", "--example", "evidence_speed", "--"];

/// Prints the table on evidence, as Markdown; what failed is told and has no rows.
///
/// # Errors
/// A message where a program cannot be started or fails.
pub(crate) fn evidence(folder: &Path) -> Result<String, String> {
    let mut rows = Vec::new();
    for source in SOURCES {
        rows.extend(figures(&output(Command::new("cargo").args(*source))?));
    }
    rows.extend(figures(&output(Command::new("cargo").args(SPEED).arg(folder))?));
    let line = |program: &str, arguments: &[&str]| output(Command::new(program).args(arguments));
    let (date, commit) = (line("date", &["-u", "+%F"])?, line("git", &["describe", "--always", "--dirty"])?);
    Ok(table(&format!("{}, commit {}", date.trim(), commit.trim()), &rows))
}

/// What a program printed.
fn output(command: &mut Command) -> Result<String, String> {
    let ran = command.stderr(Stdio::inherit()).output().map_err(|why| format!("{command:?}: {why}"))?;
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.success() { Ok(text) } else { Err(format!("{command:?} failed:\n{text}")) }
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
        let _ = writeln!(text, "| {what} | {value} | {target} |");
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
